-- The node GroupedRows groups rows, where there may be many groups or large states part by part. A private count with epsilon 1000 differs from PostgreSQL's count with a
-- probability below e^-900.
\set SHOW_CONTEXT errors
CREATE ROLE regress_dpq_grouped;
CREATE ROLE regress_dpq_grouped_analyst LOGIN;
SELECT dp_grant_budget('regress_dpq_grouped', 1e9, smallest_charge => 1), dp_grant_budget('regress_dpq_grouped_analyst', 1e9, delta => 0.01, smallest_charge => 1);
SELECT dp_restrict_role('regress_dpq_grouped_analyst');
CREATE SCHEMA regress_dpq_grouped;
GRANT ALL ON SCHEMA regress_dpq_grouped TO regress_dpq_grouped;
GRANT USAGE ON SCHEMA regress_dpq_grouped TO regress_dpq_grouped_analyst;
SET search_path = regress_dpq_grouped, public;
-- Integers by their last digit
CREATE FUNCTION ten_lt(int, int) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1 % 10 < $2 % 10';
CREATE FUNCTION ten_eq(int, int) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1 % 10 = $2 % 10';
CREATE FUNCTION ten_cmp(int, int) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1 % 10 - $2 % 10';
CREATE FUNCTION ten_hash(int) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1 % 10';
CREATE OPERATOR <# (leftarg = int, rightarg = int, function = ten_lt, restrict = scalarltsel);
CREATE OPERATOR =# (leftarg = int, rightarg = int, function = ten_eq, hashes, merges, commutator = =#, restrict = eqsel, join = eqjoinsel);
CREATE OPERATOR CLASS ten_ops FOR TYPE int USING btree AS OPERATOR 1 <#, OPERATOR 3 =#, FUNCTION 1 ten_cmp(int, int);
CREATE OPERATOR CLASS ten_hash_ops FOR TYPE int USING hash AS OPERATOR 1 =#, FUNCTION 1 ten_hash(int);
-- Texts that nobody may compare but by their bytes
CREATE FUNCTION never_eq(text, text) RETURNS bool LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RAISE EXCEPTION 'compared'; END $$;
CREATE OPERATOR <# (leftarg = text, rightarg = text, function = text_lt, restrict = scalarltsel);
CREATE OPERATOR =# (leftarg = text, rightarg = text, function = never_eq, hashes, merges, commutator = =#, restrict = eqsel, join = eqjoinsel);
CREATE OPERATOR CLASS never_ops FOR TYPE text USING btree AS OPERATOR 1 <#, OPERATOR 3 =#, FUNCTION 1 bttextcmp(text, text);
CREATE OPERATOR CLASS never_hash_ops FOR TYPE text USING hash AS OPERATOR 1 =#, FUNCTION 1 hashtext(text);
SET SESSION AUTHORIZATION regress_dpq_grouped;
SET max_parallel_workers_per_gather = 0;
-- Half of the rows have no k, and one n has a third of the rows. b is 1.0 or 1.00, and f 0 or -0: equal keys that look different. l is compressed.
CREATE TABLE visits AS
  SELECT i AS id, CASE WHEN i % 2 = 0 THEN i % 5000 END AS k, 'name ' || i % 3000 AS t, CASE WHEN i % 3 = 0 THEN 0 ELSE i % 4000 END AS n,
         CASE WHEN i % 8 < 4 THEN i % 2500 + 1.0 ELSE i % 2500 + 1.00 END AS b, repeat('x', 2100 + i % 2500) AS l, i % 100 AS v,
         CASE WHEN i % 6000 = 0 THEN '-0' ELSE (i % 3000)::float8 END AS f
    FROM generate_series(1, 20000) i;
CREATE TABLE few AS SELECT i % 20 AS k, i % 100 AS v FROM generate_series(1, 30000) i;
CREATE TABLE wide AS SELECT repeat(i::text || ' ', 100) AS w FROM generate_series(1, 3000) i;
CREATE INDEX ON visits (id);
VACUUM ANALYZE wide;
VACUUM ANALYZE visits;
VACUUM ANALYZE few;

-- How the rows below a release node are grouped: by the node, part by part, as they come or in parallel workers, or by PostgreSQL.
CREATE FUNCTION grouping_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan json;
  node json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  node := plan #> '{0,Plan,Plans,0}';
  WHILE node ->> 'Node Type' = 'Gather' LOOP node := node #> '{Plans,0}'; END LOOP;
  RETURN CASE WHEN node ->> 'Partial Mode' = 'Finalize' AND node::text ~ 'GroupedRows' THEN 'by workers'
              WHEN node ->> 'Custom Plan Provider' IS DISTINCT FROM 'GroupedRows' THEN coalesce(node ->> 'Strategy' || ' ', '') || (node ->> 'Node Type')
              WHEN node ->> 'In Parts' = 'true' THEN 'part by part' ELSE 'as they come' END;
END $$;

-- Only where all aggregates are private and neither sort their rows nor are DISTINCT, and no index gives the order; part by part beside many groups of narrow rows.
EXPLAIN (COSTS OFF) SELECT k, dp_median(v, 1, 0, 99) FROM visits GROUP BY k;
EXPLAIN (COSTS OFF) SELECT a.k % 3 AS rest, a.t, dp_count(1) FROM few JOIN visits a USING (k) WHERE a.v = 1 GROUP BY a.k % 3, a.t;
SELECT grouping_of(query), query FROM (VALUES
  ('SELECT t, dp_avg(v, 1, 0, 99), dp_count(1) FILTER (WHERE n > 7) FROM visits WHERE id > 5 GROUP BY t HAVING dp_keep_group(1, 1e-6)'),
  ('SELECT a.k, dp_count(a.v, 1) FROM visits a JOIN visits b USING (id) GROUP BY a.k'),
  ('SELECT k, dp_median(v, 1, 0, 99) FROM few GROUP BY k'),
  ('SELECT k, dp_median(v, 1, 0, 99), count(*) FROM visits GROUP BY k'),
  ('SELECT k, dp_count_distinct(DISTINCT v, 1) FROM visits GROUP BY k'),
  ('SELECT k, dp_count(1) FROM visits GROUP BY GROUPING SETS ((k), ())'),
  ('SELECT dp_count(1) FROM visits'),
  ('SELECT w, dp_count(1) FROM wide GROUP BY w'),
  ('SELECT id, dp_count(1) FROM visits GROUP BY id')) q(query);
-- Beside few groups part by part only where their states would not fit into the memory: values of many cells
SET work_mem = '64kB';
SELECT grouping_of(format('SELECT k, %s FROM few GROUP BY k', answer)), answer FROM unnest('{"dp_median(v, 1, 0, 99)","dp_median(v, 1, 0, 99999)","dp_median(v::float8, 1, 0, 99)",
  "dp_avg(v, 1, 0, 99999)","dp_user_mean(v, v, 1, 0, 99999)"}'::text[]) answer;
SELECT count(*), min(round(m)), max(round(m)), max(n) FROM (SELECT k, dp_count(1000) AS n, dp_median(k::float8, 1000, 0, 20) AS m FROM few GROUP BY k) s;
SET work_mem = '16MB';
SELECT grouping_of('SELECT k, dp_median(v, 1, 0, 99999) FROM few GROUP BY k');
RESET work_mem;
SET enable_hashagg = off;
SELECT grouping_of('SELECT k, dp_count(1) FROM visits GROUP BY k') AS instead_of_a_sort;
RESET enable_hashagg;
-- Parallel workers, where each of them would have a state for nearly each row
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT grouping_of('SELECT k, dp_count(1) FROM visits GROUP BY k') AS instead_of_workers, grouping_of('SELECT k, dp_count(1) FROM few GROUP BY k') AS by_workers;
SELECT count(*), sum(n) FROM (SELECT k, dp_count(1000) AS n FROM visits GROUP BY k) s;
SELECT count(*), min(n), max(n), bool_and(m = k) AS medians, bool_and(abs(a) < 0.5) AS means
  FROM (SELECT k, dp_count(1000) AS n, round(dp_median(k::float8, 1000, 0, 20)) AS m, dp_avg(k + v, 1000, 0, 119.5) - dp_avg(v, 1000, 0, 119) - k AS a FROM few GROUP BY k) s;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;

-- Nothing is lost, doubled or in another group: with memory for all rows, for few, for less than the groups of a part, and for less than those of a part of such a part. Of
-- grown, PostgreSQL expects few rows, of few groups, so that rows are put aside while they come.
CREATE TABLE grown (LIKE visits);
ALTER TABLE grown SET (autovacuum_enabled = off);
INSERT INTO grown SELECT 1, 1, 'a', 1, 1.0, 'a', 1, 1 FROM generate_series(1, 100);
ANALYZE grown;
TRUNCATE grown;
INSERT INTO grown SELECT * FROM visits;
CREATE TABLE keys (number int, keys text, condition text);
INSERT INTO keys VALUES (1, 'k', 'v = k % 100'), (2, 't', 'id % 3000 = substr(t, 6)::int'), (3, 'n', 'n = id % 4000'), (4, 'b', 'b = id % 2500 + 1'),
  (5, 'k, t', 'k % 3000 = substr(t, 6)::int'), (6, 'id % 2600', 'id % 100 = v'), (7, 'l', 'length(l) = 2100 + id % 2500'), (8, 'f', 'f = id % 3000');
CREATE TABLE results (rows text, number int, memory text, kind text, answer jsonb);
CREATE PROCEDURE ask(rows text, grouping_wanted text, memory text) LANGUAGE plpgsql AS $$
DECLARE
  asked record;
BEGIN
  PERFORM set_config('work_mem', memory, true);
  FOR asked IN SELECT * FROM keys ORDER BY number LOOP
    IF grouping_of(format('SELECT %s, dp_count(1000) FROM %s GROUP BY %1$s', asked.keys, rows)) <> grouping_wanted THEN
      RAISE EXCEPTION '% of % with % is planned otherwise', asked.keys, rows, memory;
    END IF;
    EXECUTE format('INSERT INTO results SELECT %L, %s, %L, ''private'', to_jsonb(s) FROM (SELECT %s, dp_count(1000) AS n, dp_count(1000) FILTER (WHERE %s) AS m, '
                   'dp_count_distinct(v, 1000) AS d FROM %1$s GROUP BY %4$s) s', rows, asked.number, memory, asked.keys, asked.condition);
    EXECUTE format('INSERT INTO results SELECT %L, %s, %L, ''exact'', to_jsonb(s) FROM (SELECT %s, count(*) AS n, count(*) FILTER (WHERE %s) AS m, '
                   'count(DISTINCT v) AS d FROM %1$s GROUP BY %4$s) s', rows, asked.number, memory, asked.keys, asked.condition);
  END LOOP;
END $$;
CALL ask('visits', 'part by part', '64MB');
CALL ask('visits', 'part by part', '1MB');
CALL ask('visits', 'part by part', '128kB');
CALL ask('visits', 'part by part', '64kB');
CALL ask('grown', 'as they come', '64MB');
CALL ask('grown', 'as they come', '1MB');
CALL ask('grown', 'as they come', '64kB');
SELECT number, count(*) FILTER (WHERE kind = 'private') / 7 AS groups,
       count(*) FILTER (WHERE kind = 'private') = count(*) FILTER (WHERE kind = 'exact') AS as_many
  FROM results GROUP BY number ORDER BY number;
SELECT count(*) AS others FROM (
  (SELECT rows, number, memory, answer FROM results WHERE kind = 'private' EXCEPT ALL SELECT rows, number, memory, answer FROM results WHERE kind = 'exact')
  UNION ALL
  (SELECT rows, number, memory, answer FROM results WHERE kind = 'exact' EXCEPT ALL SELECT rows, number, memory, answer FROM results WHERE kind = 'private')) s;
-- Where a group has been refused for want of room, none comes in later, also if the states that are there take less memory again: here those of a large group, of which PostgreSQL
-- expects few rows, and whose list of values is compressed. Else a group would have two answers.
CREATE TABLE shrinking (k int, x float8) WITH (autovacuum_enabled = off);
INSERT INTO shrinking SELECT 1, 1 FROM generate_series(1, 100);
ANALYZE shrinking;
TRUNCATE shrinking;
INSERT INTO shrinking SELECT CASE WHEN i > 700000 AND i % 20 = 0 THEN 1 + i / 20 % 1000 ELSE 0 END, 5 FROM generate_series(1, 2400000) i;
SET work_mem = '4MB';
SET hash_mem_multiplier = 2;
SELECT count(*), count(DISTINCT k) AS groups, sum(n) AS rows, count(m) AS medians
  FROM (SELECT k, dp_count(1000) AS n, dp_median(x, 1000, 0, 1e9, '{"granularity": 0.25}') AS m FROM shrinking WHERE x + 0 = 5 GROUP BY k) s;
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE shrinking;
-- Keys that differ and have one hash
SELECT hashtext('name 8065') = hashtext('name 275570') AS one_hash;
SELECT t, dp_count(1000) FROM (SELECT 'name ' || (CASE WHEN i % 3 = 0 THEN 8065 ELSE 275570 END) AS t FROM generate_series(1, 300) i) s GROUP BY t ORDER BY t;
-- Columns that a key decides, a key that is written twice, keys that are not shown, and states that wait for other groups
CREATE TABLE clinics (id int PRIMARY KEY, name text, note text);
INSERT INTO clinics SELECT i, 'clinic ' || i, 'note ' || i FROM generate_series(0, 19) i;
SELECT c.id, c.name, upper(c.note) AS note, dp_count(1000) FROM few JOIN clinics c ON c.id = few.k GROUP BY c.id ORDER BY c.id LIMIT 3;
SELECT k, k + 1 AS next, k AS again, dp_count(1000) + 1 AS more FROM few GROUP BY k, few.k ORDER BY k DESC LIMIT 2;
SELECT count(*), sum(n) FROM (SELECT dp_count(1000) AS n FROM few GROUP BY k, v) s;
SELECT k, GROUPING(k), 'all' AS what, dp_count(1000) FROM few WHERE k = 3 GROUP BY k, 3;
SELECT few.k % 2 + 0 AS rest, (SELECT max(name) FROM clinics c WHERE c.id = few.k % 2) AS name, dp_count(1000) FROM few WHERE few.k % 2 = 1 GROUP BY 1, 2;
-- threat 346: texts that are stored, computed and read of a part are compared by their bytes, whichever comes first.
SELECT o, (SELECT string_agg(t || n, ',') FROM (SELECT t, dp_count(1000) AS n FROM (SELECT CASE WHEN id % 3 = o THEN lower(t) ELSE t END AS t FROM grown WHERE id % 3000 = 7) g
                                                 GROUP BY t ORDER BY t USING <#) s) FROM generate_series(0, 2) o;
SELECT count(*), sum(n) FROM (SELECT t, dp_count(1000) AS n FROM (SELECT CASE WHEN id % 3 = 0 THEN lower(t) ELSE t END AS t FROM visits) g GROUP BY t ORDER BY t USING <#) s;
-- Sub-selects of filters, which EXPLAIN shows below the node
SELECT grouping_of('SELECT k, dp_count(1) FILTER (WHERE EXISTS (SELECT 1 FROM clinics c WHERE c.id = f.k AND c.id > f.v)) FROM few f GROUP BY k');
SELECT count(*), sum(n) FROM (SELECT k, dp_count(1000) FILTER (WHERE (SELECT c.id FROM clinics c WHERE c.id = f.k) >= 10) AS n FROM few f GROUP BY k) s;
-- NULL beside -1, an equality that is not that of the type, and the price of what is asked within a condition
SELECT a, b, dp_count(1000) FROM (SELECT CASE WHEN i % 2 = 0 THEN -1::bigint END AS a, CASE WHEN i % 3 = 0 THEN -1::bigint END AS b FROM generate_series(1, 600) i) s GROUP BY a, b ORDER BY a, b;
SELECT dp_count(1000) FROM few GROUP BY k ORDER BY k USING <# LIMIT 2;
SELECT private_aggregate, epsilon FROM dp_explain('SELECT k, dp_count(1000) FILTER (WHERE v IN (SELECT dp_count(5)::int FROM few)) FROM few GROUP BY k');
SELECT k, round(dp_user_mean(v, 50 + k, 1000, 0, 100)) AS mean, dp_count(1000) FROM few GROUP BY k ORDER BY k LIMIT 3;
-- Keys that are constant, by themselves or by WHERE
SELECT grouping_of('SELECT ''all'' AS c, k % 2 AS odd, k, dp_count(1) FROM few WHERE k % 2 = 1 GROUP BY 1, 2, 3');
SELECT 'all' AS c, k % 2 AS odd, (SELECT max(id) FROM clinics) AS last, k, dp_count(1000) FROM few WHERE k % 2 = 1 GROUP BY 1, 2, 3, 4 ORDER BY k LIMIT 2;
SELECT o, (SELECT count(*) || ' groups of ' || min(outside) || ' and ' || max(rest) FROM (SELECT o + 1 AS outside, id % 2 AS rest, k FROM visits WHERE id % 2 = 0 GROUP BY o + 1, id % 2, k
  HAVING dp_count(1000) > 0) s) FROM generate_series(0, 1) o;
SET jit = on;
SET jit_above_cost = 0;
SELECT count(*), sum(n) FROM (SELECT k, dp_count(1000) AS n FROM grown GROUP BY k) s;
SELECT count(*), sum(n) FROM (SELECT k, dp_count(1000) AS n FROM visits GROUP BY k) s;
RESET jit;
RESET jit_above_cost;

-- Executions with other outer values, an early end, and no rows
SELECT o, (SELECT sum(n) FROM (SELECT k, dp_count(1000) AS n FROM visits WHERE id % 3 = o GROUP BY k) s) FROM generate_series(0, 2) o;
SELECT k, dp_count(1000) FROM visits GROUP BY k ORDER BY k NULLS FIRST LIMIT 2;
SELECT k, dp_count(1000) FROM visits WHERE v > 100 GROUP BY k;
BEGIN;
SET LOCAL work_mem = '64kB';
DECLARE c CURSOR FOR SELECT n, dp_count(1000) FROM visits GROUP BY n;
FETCH 1 FROM c;
CLOSE c;
COMMIT;

-- threats 290, 333: protected rows come part by part where lists name many keys, or none: in memory, on disk, and of persons of whom few rows are chosen. A count has epsilon
-- 25 or more, so noise on all of them is 0 except with a probability below 1e-6.
CREATE TABLE staff AS SELECT i % 2600 AS k, 'name ' || i % 3000 AS t, i % 2600 AS j, (i % 1000)::numeric(9, 1) AS d, CASE WHEN i % 2 = 0 THEN i % 1300 END AS e,
         CASE WHEN i % 4 < 2 THEN 'name ' || i % 400 END AS s, i % 2 = 0 AS b FROM generate_series(1, 100000) i;
CREATE TABLE calls AS SELECT i % 50000 AS person, i % 2600 AS k, i % 2600 AS j FROM generate_series(1, 100000) i;
SELECT dp_protect_table('staff'), dp_protect_table('calls', 'person', 2);
SELECT dp_set_domain('staff', 'k', (SELECT array_agg(i) FROM generate_series(0, 2499) i)), dp_set_domain('calls', 'k', (SELECT array_agg(i) FROM generate_series(0, 2499) i)),
       dp_set_domain('staff', 't', (SELECT array_agg('name ' || i) FROM generate_series(0, 2499) i));
SELECT dp_grant_private_access(t, 'regress_dpq_grouped_analyst', epsilon => 100, delta => 1e-6) FROM unnest('{staff,calls}'::regclass[]) t;
SET SESSION AUTHORIZATION regress_dpq_grouped_analyst;
SET search_path = regress_dpq_grouped, public;
SELECT k, count(*) FROM staff WHERE k IN (0, 1, 2499) GROUP BY k;
SELECT 'all' AS c, k % 2 AS odd, k, count(*) FROM staff WHERE k IN (1, 2499) AND k % 2 = 1 GROUP BY 1, 2, 3;
SELECT 'all' AS c, k, count(*) FROM calls WHERE k IN (0, 1, 2499) GROUP BY 1, 2;
SELECT count(*), count(*) FILTER (WHERE n <> 38 + (k BETWEEN 1 AND 1200)::int) AS wrong FROM (SELECT k, count(*) AS n FROM staff WHERE k IS NOT NULL GROUP BY k) s;
SELECT count(*), count(*) FILTER (WHERE n <> 38 + (k BETWEEN 1 AND 1200)::int) AS wrong FROM (SELECT k, count(*) AS n FROM calls WHERE k IS NOT NULL GROUP BY k) s;
SELECT count(*), min(n), max(n), sum(n) FROM (SELECT t, count(*) AS n FROM staff WHERE t IS NOT NULL GROUP BY t) s;
SET work_mem = '64kB';
SELECT count(*), count(*) FILTER (WHERE n <> 38 + (k BETWEEN 1 AND 1200)::int) AS wrong FROM (SELECT k, count(*) AS n FROM staff WHERE k IS NOT NULL GROUP BY k) s;
SELECT count(*), count(*) FILTER (WHERE n <> 38 + (k BETWEEN 1 AND 1200)::int) AS wrong FROM (SELECT k, count(*) AS n FROM calls WHERE k IS NOT NULL GROUP BY k) s;
SELECT count(*), min(n), max(n), sum(n) FROM (SELECT t, count(*) AS n FROM staff WHERE t IS NOT NULL GROUP BY t) s;
RESET work_mem;
-- Keys that no list names, of several types, some of them NULL
CREATE TEMP TABLE chosen (memory text, keys text, groups bigint, rows numeric, least numeric, most numeric);
CREATE PROCEDURE pg_temp.choose(memory text) LANGUAGE plpgsql AS $$
DECLARE
  keys text;
  answers record;
BEGIN
  PERFORM set_config('work_mem', memory, true);
  FOREACH keys IN ARRAY '{j,d,e,s,"e, s","j, b"}'::text[] LOOP
    EXECUTE format('SELECT count(*) AS groups, sum(n) AS rows, min(n) AS least, max(n) AS most FROM (SELECT %s, count(*) AS n FROM staff GROUP BY %1$s) q', keys) INTO answers;
    INSERT INTO chosen VALUES (memory, keys, answers.groups, answers.rows, answers.least, answers.most);
  END LOOP;
  SELECT count(*) AS groups, sum(n) AS rows, min(n) AS least, max(n) AS most INTO answers FROM (SELECT j, count(*) AS n FROM calls GROUP BY j) q;
  INSERT INTO chosen VALUES (memory, 'j of persons', answers.groups, answers.rows, answers.least, answers.most);
END $$;
SET client_min_messages = warning;
CALL pg_temp.choose('64MB');
CALL pg_temp.choose('64kB');
SELECT keys, groups, rows, least, most, count(*) FROM chosen GROUP BY 1, 2, 3, 4, 5 ORDER BY 1;
SELECT s, count(*) FROM staff WHERE s IN ('name 1', 'name 4') OR s IS NULL GROUP BY s;
-- No rows
SELECT j, count(*) FROM staff WHERE j > 3000 GROUP BY j;
-- The plan reads no rows of persons, which is no reason to refuse the query.
SELECT n, count(*) FROM (SELECT person, count(*) AS n FROM calls GROUP BY person LIMIT 0) s WHERE n IN (1, 2) GROUP BY n;
-- Executions with other outer values read all parts again, also where the rows stay the same.
SELECT o, (SELECT sum(n) FROM (SELECT j, count(*) AS n FROM staff WHERE j % 3 = o GROUP BY j) q) FROM generate_series(0, 2) o;
SELECT o, (SELECT count(*) FROM (SELECT j, count(*) AS n FROM staff GROUP BY j HAVING count(*) > o) q) FROM generate_series(37, 39) o;
RESET client_min_messages;

RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_grouped CASCADE;
DROP OWNED BY regress_dpq_grouped, regress_dpq_grouped_analyst;
DROP ROLE regress_dpq_grouped, regress_dpq_grouped_analyst;
