-- Where there are many groups, the node ClusteredRows gives the rows of each together, and PostgreSQL keeps one state at a time. An exact count, with epsilon 1000, differs
-- from that of PostgreSQL with a probability below e^-900.
\set SHOW_CONTEXT errors
CREATE ROLE regress_dpq_clustered;
CREATE ROLE regress_dpq_clustered_analyst LOGIN;
SELECT dp_grant_budget('regress_dpq_clustered', 1e9, smallest_charge => 1), dp_grant_budget('regress_dpq_clustered_analyst', 1e9, delta => 0.01, smallest_charge => 1);
SELECT dp_restrict_role('regress_dpq_clustered_analyst');
CREATE SCHEMA regress_dpq_clustered;
GRANT ALL ON SCHEMA regress_dpq_clustered TO regress_dpq_clustered;
GRANT USAGE ON SCHEMA regress_dpq_clustered TO regress_dpq_clustered_analyst;
SET SESSION AUTHORIZATION regress_dpq_clustered;
SET search_path = regress_dpq_clustered, public;
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

CREATE FUNCTION is_clustered(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    IF line ~ 'ClusteredRows' THEN RETURN true; END IF;
  END LOOP;
  RETURN false;
END $$;

-- Only beside many groups, where all aggregates are private and neither sort their rows nor leave some out, and no index gives the order.
EXPLAIN (COSTS OFF) SELECT k, dp_median(v, 1, 0, 99) FROM visits GROUP BY k;
SELECT is_clustered(query), query FROM (VALUES
  ('SELECT t, dp_avg(v, 1, 0, 99), dp_count(1) FILTER (WHERE n > 7) FROM visits WHERE id > 5 GROUP BY t HAVING dp_keep_group(1, 1e-6)'),
  ('SELECT a.k, dp_count(a.v, 1) FROM visits a JOIN visits b USING (id) GROUP BY a.k'),
  ('SELECT k, dp_median(v, 1, 0, 99) FROM few GROUP BY k'),
  ('SELECT k, dp_median(v, 1, 0, 99), count(*) FROM visits GROUP BY k'),
  ('SELECT k, dp_count_distinct(DISTINCT v, 1) FROM visits GROUP BY k'),
  ('SELECT k, dp_count(1) FROM visits GROUP BY GROUPING SETS ((k), ())'),
  ('SELECT w, dp_count(1) FROM wide GROUP BY w'),
  ('SELECT id, dp_count(1) FROM visits GROUP BY id')) q(query);
-- Beside few groups only where their states would not fit into the memory: values of many cells
SET work_mem = '64kB';
SELECT is_clustered(format('SELECT k, %s FROM few GROUP BY k', answer)), answer FROM unnest('{"dp_median(v, 1, 0, 99)","dp_median(v, 1, 0, 99999)","dp_median(v::float8, 1, 0, 99)",
  "dp_avg(v, 1, 0, 99999)","dp_user_mean(v, v, 1, 0, 99999)"}'::text[]) answer;
SELECT count(*), min(round(m)), max(round(m)), max(n) FROM (SELECT k, dp_count(1000) AS n, dp_median(k::float8, 1000, 0, 20) AS m FROM few GROUP BY k) s;
SET work_mem = '16MB';
SELECT is_clustered('SELECT k, dp_median(v, 1, 0, 99999) FROM few GROUP BY k');
RESET work_mem;
SET enable_hashagg = off;
SELECT is_clustered('SELECT k, dp_count(1) FROM visits GROUP BY k') AS instead_of_a_sort;
RESET enable_hashagg;
-- Parallel workers, where each of them would have a state for nearly each row
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT is_clustered('SELECT k, dp_count(1) FROM visits GROUP BY k') AS instead_of_workers;
SELECT count(*), sum(n) FROM (SELECT k, dp_count(1000) AS n FROM visits GROUP BY k) s;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;

-- Nothing is lost, doubled or in another group: with memory for all rows, for few, and for less than a part of them.
CREATE TABLE keys (number int, keys text, condition text);
INSERT INTO keys VALUES (1, 'k', 'v = k % 100'), (2, 't', 'id % 3000 = substr(t, 6)::int'), (3, 'n', 'n = id % 4000'), (4, 'b', 'b = id % 2500 + 1'),
  (5, 'k, t', 'k % 3000 = substr(t, 6)::int'), (6, 'id % 2600', 'id % 100 = v'), (7, 'l', 'length(l) = 2100 + id % 2500'), (8, 'f', 'f = id % 3000');
CREATE TABLE results (number int, memory text, kind text, answer jsonb);
CREATE PROCEDURE ask(memory text) LANGUAGE plpgsql AS $$
DECLARE
  asked record;
BEGIN
  PERFORM set_config('work_mem', memory, true);
  FOR asked IN SELECT * FROM keys ORDER BY number LOOP
    IF NOT is_clustered(format('SELECT %s, dp_count(1000) FROM visits GROUP BY %1$s', asked.keys)) THEN
      RAISE EXCEPTION '% with % is planned otherwise', asked.keys, memory;
    END IF;
    EXECUTE format('INSERT INTO results SELECT %s, %L, ''private'', to_jsonb(s) FROM (SELECT %s, dp_count(1000) AS n, dp_count(1000) FILTER (WHERE %s) AS m, '
                   'dp_count_distinct(v, 1000) AS d FROM visits GROUP BY %3$s) s', asked.number, memory, asked.keys, asked.condition);
    EXECUTE format('INSERT INTO results SELECT %s, %L, ''exact'', to_jsonb(s) FROM (SELECT %s, count(*) AS n, count(*) FILTER (WHERE %s) AS m, '
                   'count(DISTINCT v) AS d FROM visits GROUP BY %3$s) s', asked.number, memory, asked.keys, asked.condition);
  END LOOP;
END $$;
CALL ask('64MB');
CALL ask('1MB');
CALL ask('64kB');
SELECT number, count(*) FILTER (WHERE kind = 'private') / 3 AS groups,
       count(*) FILTER (WHERE kind = 'private') = count(*) FILTER (WHERE kind = 'exact') AS as_many
  FROM results GROUP BY number ORDER BY number;
SELECT count(*) AS others FROM (
  (SELECT number, memory, answer FROM results WHERE kind = 'private' EXCEPT ALL SELECT number, memory, answer FROM results WHERE kind = 'exact')
  UNION ALL
  (SELECT number, memory, answer FROM results WHERE kind = 'exact' EXCEPT ALL SELECT number, memory, answer FROM results WHERE kind = 'private')) s;

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
SELECT dp_grant_private_access(t, 'regress_dpq_clustered_analyst', epsilon => 100, delta => 1e-6) FROM unnest('{staff,calls}'::regclass[]) t;
SET SESSION AUTHORIZATION regress_dpq_clustered_analyst;
SET search_path = regress_dpq_clustered, public;
SELECT k, count(*) FROM staff WHERE k IN (0, 1, 2499) GROUP BY k;
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
-- Executions with other outer values read all parts again, also where the rows stay the same.
SELECT o, (SELECT sum(n) FROM (SELECT j, count(*) AS n FROM staff WHERE j % 3 = o GROUP BY j) q) FROM generate_series(0, 2) o;
SELECT o, (SELECT count(*) FROM (SELECT j, count(*) AS n FROM staff GROUP BY j HAVING count(*) > o) q) FROM generate_series(37, 39) o;
RESET client_min_messages;

RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_clustered CASCADE;
DROP OWNED BY regress_dpq_clustered, regress_dpq_clustered_analyst;
DROP ROLE regress_dpq_clustered, regress_dpq_clustered_analyst;
