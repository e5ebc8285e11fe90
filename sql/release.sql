-- A release node gives the private answers of a query: charged before the first row is read, in the order of the groups'
-- keys, never in a parallel worker.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_release;
CREATE SCHEMA AUTHORIZATION regress_dpq_release;
SELECT dp_grant_budget('regress_dpq_release', 100000, 0.1, smallest_charge => 1e-6);
SET ROLE regress_dpq_release;
CREATE TABLE t AS
  SELECT i AS id, i::float8 AS x, i * 37 % 60 AS k, 'k' || (i * 37 % 60) AS word, i % 10 AS u FROM generate_series(1, 400) i;
ANALYZE t;
-- The charges since the last call
SET regress.spent = 0;
CREATE FUNCTION charged() RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  before CONSTANT numeric := current_setting('regress.spent');
BEGIN
  PERFORM set_config('regress.spent', (SELECT epsilon_spent FROM dp_budget)::text, false);
  RETURN trim_scale(current_setting('regress.spent')::numeric - before);
END
$$;

-- ---------------------------------------------------------------------------------------------
-- threat 46: the order of groups tells nothing of the rows.
-- ---------------------------------------------------------------------------------------------

-- The orders of the groups that a query shows for the table without one row, for every fourth row: how many are
-- different, and whether they are the order of the keys.
CREATE FUNCTION orders(keys text, sets text, OUT orders bigint, OUT sorted boolean) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format($query$
    SELECT count(DISTINCT keys), bool_and(keys = sorted AND answers = cardinality(keys))
      FROM (SELECT removed, array_agg(key) AS keys, array_agg(key ORDER BY key NULLS LAST) AS sorted, count(answer) AS answers
              FROM generate_series(0, 400, 4) removed,
                   LATERAL (SELECT %s AS key, dp_median(x, 1e-5, 0, 400) AS answer FROM t WHERE id <> removed GROUP BY %s) groups
             GROUP BY removed) o$query$, keys, sets) INTO orders, sorted;
END
$$;
SET enable_sort = off;
SELECT * FROM orders('k', 'k');
SELECT * FROM orders('word', 'word');
SELECT orders FROM orders('word || u', 'word, u');
SELECT * FROM orders('k::numeric', 'k::numeric');
SELECT orders FROM orders('coalesce(k, -1)', 'ROLLUP (k)');
SELECT orders FROM orders('format(''%s %s %s'', k, u, grouping(k, u))', 'GROUPING SETS ((k), (u), (), (k, u))');
RESET enable_sort;
SET enable_hashagg = off;
SELECT * FROM orders('k', 'k');
SELECT orders FROM orders('format(''%s %s %s'', k, u, grouping(k, u))', 'GROUPING SETS ((k), (u), (), (k, u))');
RESET enable_hashagg;
-- NULL as a key is not the total. The order of groups is that of GROUP BY, or that of ORDER BY.
CREATE TABLE nulls AS SELECT NULLIF(i % 3, 2) AS a, NULLIF(i % 2, 1) AS b, i::float8 AS x FROM generate_series(1, 30) i;
SELECT a, b, grouping(a, b), dp_median(x, 0.01, 0, 30) IS NOT NULL AS answered FROM nulls GROUP BY CUBE (a, b);
SELECT a, b, dp_median(x, 0.01, 0, 30) IS NOT NULL AS answered FROM nulls GROUP BY a, b ORDER BY b DESC, a NULLS FIRST;
SELECT b, a, dp_median(x, 0.01, 0, 30) IS NOT NULL AS answered FROM nulls GROUP BY b, a;
-- Keys that are the same expression are different keys. (The answers are 66 ranks or more from another
-- cell, at a lambda of 100 or more: a probability below 1e-300.)
SET enable_sort = off;
SELECT a, b, grouping(a), grouping(b), dp_median(x, 1000, 0, 40, '{"granularity": 10}')
  FROM (SELECT (id % 3 = 0)::int AS a, (id % 3 = 0)::int AS b, CASE WHEN id % 3 = 0 THEN 30 ELSE 10 END AS x FROM t) s
 GROUP BY CUBE (a, b);
CREATE VIEW twins AS SELECT id, k AS a, k AS b, x FROM t;
SELECT count(DISTINCT keys) AS orders, sum(answers) AS answers
  FROM (SELECT removed, array_agg(key) AS keys, count(answer) AS answers
          FROM generate_series(0, 400, 20) removed,
               LATERAL (SELECT a, min(b) AS key, dp_median(x, 1e-5, 0, 400) AS answer FROM twins
                         WHERE id <> removed GROUP BY GROUPING SETS ((a), (b))) s
         WHERE a IS NULL GROUP BY removed) o;
RESET enable_sort;
-- An expression of GROUPING() is right, or refused where PostgreSQL would take it for that of the other key (before 18).
CREATE FUNCTION right_or_refused(sum bigint, query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  actual bigint;
BEGIN
  EXECUTE format('SELECT sum(v) FROM (%s) s WHERE m IS NOT NULL', query) INTO actual;
  RETURN actual IS NOT DISTINCT FROM sum;
EXCEPTION WHEN feature_not_supported THEN RETURN SQLERRM = 'GROUPING() cannot tell two keys apart that are the same expression';
END
$$;
SELECT right_or_refused(402, 'SELECT grouping(a) + grouping(b) AS v, dp_median(x, 0.01, 0, 40) + 0 AS m FROM (SELECT id AS a, id AS b, x FROM t) s GROUP BY ROLLUP (a, b)');
SELECT right_or_refused(400, 'SELECT 1 AS v, dp_median(x, 0.01, 0, 40) AS m FROM (SELECT id AS a, id AS b, x FROM t) s GROUP BY CUBE (a, b) HAVING grouping(b) = 0 AND grouping(a) = 1');
SELECT a, b, ab, m IS NOT NULL AS answered
  FROM (SELECT a, b, grouping(a) * 2 + grouping(b) AS ab, dp_median(x, 0.01, 0, 40) AS m
          FROM (SELECT id % 2 AS a, u % 3 AS b, x FROM t) s GROUP BY CUBE (a, b) HAVING grouping(b) = 0) s;
SELECT 'x' AS a, dp_median(x, 0.01, 0, 400) IS NOT NULL AS answered FROM t GROUP BY ROLLUP (1);
SELECT count(*) > 3 AS all FROM (SELECT (random() * 2)::int AS a, (random() * 2)::int AS b, dp_median(x, 0.01, 0, 400) AS m FROM t GROUP BY 1, 2) s
 WHERE m >= 0 AND a <> b;
-- A key without an order is refused and costs nothing. With the cast of the hint it is answered.
SELECT charged() IS NOT NULL AS reset;
SELECT dp_median(x, 0.01, 0, 400) FROM t GROUP BY id::text::xid;
SELECT count(m) AS groups FROM (SELECT dp_median(x, 0.01, 0, 400) AS m FROM t GROUP BY (k::text::xid)::text) s;
SELECT charged();

-- ---------------------------------------------------------------------------------------------
-- threat 47: no row is read before the charge.
-- ---------------------------------------------------------------------------------------------

-- The owner's approved query with a filter, and what PostgreSQL's statistics tell its caller.
RESET ROLE;
CREATE ROLE regress_dpq_caller;
SELECT dp_grant_budget('regress_dpq_caller', 1);
CREATE TABLE person (id int PRIMARY KEY, age float8);
INSERT INTO person SELECT i, i % 100 FROM generate_series(1, 1000) i;
ANALYZE person;
CREATE FUNCTION median_of(asked int, epsilon float8) RETURNS float8 LANGUAGE sql SECURITY DEFINER STABLE AS
  'SELECT dp_median(age, epsilon, 0, 100) FROM person WHERE id = asked';
CREATE FUNCTION mean_of(asked int, epsilon float8) RETURNS float8 LANGUAGE sql SECURITY DEFINER STABLE AS
  'SELECT max(m) FROM (SELECT dp_user_mean(id, age, epsilon, 0, 100) AS m FROM person WHERE id = asked GROUP BY id % 3) s';
CREATE FUNCTION medians_of(asked int, epsilon float8) RETURNS float8 LANGUAGE sql SECURITY DEFINER STABLE AS
  'SELECT max(m) FROM (SELECT dp_median(age, epsilon, 0, 100) AS m FROM person WHERE id = asked GROUP BY id % 3) s';
-- Calls the function and returns what the statistics say of its scan, the error, and the charge.
CREATE FUNCTION observe(call text, OUT fetched bigint, OUT scans bigint, OUT error text, OUT charged numeric) LANGUAGE plpgsql AS $$
DECLARE
  before record;
  spent CONSTANT numeric := (SELECT epsilon_spent FROM dp_budget WHERE role = current_user);
BEGIN
  SELECT idx_tup_fetch, idx_scan INTO before FROM pg_stat_xact_user_tables WHERE relid = 'public.person'::regclass;
  BEGIN
    EXECUTE 'SELECT ' || call;
    error := 'none';
  EXCEPTION WHEN OTHERS THEN error := SQLSTATE;
  END;
  SELECT idx_tup_fetch - before.idx_tup_fetch, idx_scan - before.idx_scan INTO fetched, scans
    FROM pg_stat_xact_user_tables WHERE relid = 'public.person'::regclass;
  charged := (SELECT trim_scale(epsilon_spent - spent) FROM dp_budget WHERE role = current_user);
END
$$;
SET SESSION AUTHORIZATION regress_dpq_caller;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
-- Charged, then read
SELECT call, observe.* FROM unnest('{median_of(5\, 0.1),median_of(-5\, 0.1)}'::text[]) call, observe(call);
-- Refused: nothing is read, whether the person is there or not.
SELECT person, name, observe.*
  FROM unnest('{5,-5}'::int[]) person, unnest('{median_of,medians_of,mean_of}'::text[]) name,
       observe(format('%s(%s, %s)', name, person, 2)) ORDER BY name, person;
-- So are absurd parameters.
SELECT person, epsilon, observe.*
  FROM unnest('{5,-5}'::int[]) person, unnest('{-1,NaN}'::float8[]) epsilon,
       observe(format('median_of(%s, %L)', person, epsilon)) ORDER BY epsilon, person;
RESET SESSION AUTHORIZATION;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- A scan that fails in the middle is charged: a dp_user_ function for one group.
CREATE FUNCTION failing(call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT %s FROM t WHERE 1 / (x - 200) IS NOT NULL GROUP BY k', call);
  RETURN 'none';
EXCEPTION WHEN division_by_zero THEN RETURN 'division by zero';
END
$$;
SET ROLE regress_dpq_release;
SET search_path = regress_dpq_release, public;
SELECT charged() IS NOT NULL AS reset;
SELECT failing('dp_median(x, 0.5, 0, 400)'), charged();
SELECT failing('dp_cdf(x, 0.5, 0, 400), dp_iqr(x, 0.25, 1e-9)'), charged();
SELECT failing('dp_user_mean(u, x, 0.5, 0, 400)'), charged();
-- A query that never asks for an answer costs nothing.
SELECT dp_median(x, 0.5, 0, 400) FROM t LIMIT 0;
SELECT CASE WHEN false THEN (SELECT dp_median(x, 0.5, 0, 400) FROM t) END AS never;
SELECT charged();

-- ---------------------------------------------------------------------------------------------
-- threat 14: no parallel worker releases an answer. Below the release node, plans are parallel.
-- ---------------------------------------------------------------------------------------------

CREATE TABLE big AS SELECT (i % 1000)::float8 AS x, i % 7 AS k FROM generate_series(1, 300000) i;
CREATE TABLE other AS SELECT * FROM big;
ANALYZE big, other;
SELECT pg_relation_size('big') > 8 * 1024 * 1024 AS large;
CREATE FUNCTION nodes(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  lines text[];
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
    IF line ~ '->|^\S' THEN lines := lines || substring(line FROM '(?:-> +)?(\w+(?: \w+)*(?: \(\w+\))?)'); END IF;
  END LOOP;
  RETURN array_to_string(lines, ', ');
END
$$;
SELECT nodes('SELECT dp_median(x, 1, 0, 1000) FROM big UNION ALL SELECT dp_median(x, 2, 0, 1000) FROM other');
SELECT charged() IS NOT NULL AS reset;
-- (The true median of all rows and of each group is within 1 of 499.5. An error of 30 is 9000 rows, or 1280 of a group: its
-- probability is below 2^20 exp(-640).)
SELECT m BETWEEN 470 AND 530 AS near FROM (SELECT dp_median(x, 1, 0, 1000) FROM big UNION ALL SELECT dp_median(x, 2, 0, 1000) FROM other) s(m);
SELECT charged();
SELECT count(*) AS rows, sum(m) BETWEEN 8 * 470 AND 8 * 530 AS near
  FROM (SELECT dp_median(x, 1, 0, 1000) FROM big UNION ALL SELECT m FROM (SELECT k, dp_median(x, 1, 0, 1000) AS m FROM big GROUP BY k) g) s(m);
SELECT charged();
-- A function that claims to be safe in a parallel worker is refused there, without a charge.
CREATE FUNCTION unsafe(k int) RETURNS float8 LANGUAGE plpgsql STABLE PARALLEL SAFE AS
  'BEGIN RETURN (SELECT dp_median(t.x, 0.001, 0, 1000) FROM t WHERE t.k = unsafe.k); END';
CREATE TABLE few WITH (parallel_workers = 2) AS SELECT 1 AS k FROM generate_series(1, 100);
ANALYZE few;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_leader_participation = off;
SELECT nodes('SELECT count(*) FROM few WHERE unsafe(k) > 0');
SELECT count(*) FROM few WHERE unsafe(k) > 0;
RESET parallel_leader_participation;
RESET parallel_setup_cost;
RESET min_parallel_table_scan_size;
SELECT charged();

-- threat 16: partitions that are aggregated by themselves, with whole rows and another order of columns
CREATE TABLE parts (k int PRIMARY KEY, x float8) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (3);
CREATE TABLE parts_2 (x float8, k int PRIMARY KEY);
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (3) TO (6);
INSERT INTO parts SELECT i, i * 10 FROM generate_series(0, 5) i;
ANALYZE parts;
SET enable_partitionwise_aggregate = on;
SELECT nodes('SELECT parts, dp_median(x, 1000, 0, 60, dp_options(granularity => 10)) FROM parts GROUP BY k') LIKE '%Append, HashAggregate%' AS by_partition;
SELECT parts, dp_median(x, 1000, 0, 60, dp_options(granularity => 10)) FROM parts
 GROUP BY k HAVING parts.k <> 2 AND dp_median(x, 1000, 0, 60, dp_options(granularity => 10)) < 50;
RESET enable_partitionwise_aggregate;

-- ---------------------------------------------------------------------------------------------
-- threats 4, 43: all private aggregates of a query level are charged together, or none of them.
-- ---------------------------------------------------------------------------------------------

RESET ROLE;
-- The smallest charge, of which a notice tells, is of the charges above, some of which PostgreSQL 15 to 17 refuse.
SET client_min_messages = warning;
SELECT dp_grant_budget('regress_dpq_release', epsilon_spent::float8 + 1, 0.1)
  FROM dp_budget WHERE role = 'regress_dpq_release';
RESET client_min_messages;
SET ROLE regress_dpq_release;
SELECT charged() IS NOT NULL AS reset;
SELECT dp_median(x, 0.6, 0, 400), dp_cdf(x, 0.6, 0, 400) FROM t;
SELECT dp_median(x, 0.6, 0, 400), dp_user_mean(u, x, 0.6, 0, 400) FROM t GROUP BY k;
SELECT charged();
-- A dp_user_ query whose budget does not suffice for one group is not charged. If the budget suffices for one and not for
-- all, the price of one is the price of reading the rows.
SELECT dp_user_mean(u, x, 1.5, 0, 400) FROM t GROUP BY k % 3;
SELECT charged();
SELECT dp_user_mean(u, x, 0.3, 0, 400) FROM t GROUP BY k % 4;
SELECT charged();
SELECT count(m) AS groups FROM (SELECT dp_user_mean(u, x, 0.2, 0, 400) AS m FROM t GROUP BY k % 3) s;
SELECT charged();
SELECT function, epsilon, groups FROM dp_ledger ORDER BY number DESC LIMIT 1;
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_release', 200000, 0.1, smallest_charge => 1e-6);
SET ROLE regress_dpq_release;
-- The charges of a level are one transaction.
SELECT dp_median(x, 0.1, 0, 400) IS NOT NULL AS m, dp_quantile(x, 0.9, 0.2, 0, 400) IS NOT NULL AS q,
       dp_cdf(x, 0.3, 0, 400) IS NOT NULL AS c, dp_user_mean(u, x, 0.4, 0, 400) IS NOT NULL AS u
  FROM t;
RESET ROLE;
SELECT count(*) AS charges, count(DISTINCT l.xmin::text) AS transactions, sum(epsilon) AS epsilon
  FROM dpquantile.ledger l JOIN dpquantile.query_text USING (budget_id, query_hash)
 WHERE query LIKE 'SELECT dp\_median(x, 0.1, 0, 400) IS NOT NULL AS m%';
SET ROLE regress_dpq_release;
-- More than 100 private aggregates are refused together.
CREATE FUNCTION many(number int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  total float8;
BEGIN
  EXECUTE (SELECT format('SELECT %s FROM t', string_agg(format('dp_quantile(x, %s, 0.01, 0, 400)', i / 1000.0), ' + '))
             FROM generate_series(1, number) i) INTO total;
  RETURN 'answered';
END
$$;
SELECT charged() IS NOT NULL AS reset;
SELECT many(100);
SELECT many(101);
SELECT charged();

-- ---------------------------------------------------------------------------------------------
-- threats 10, 12: a parameter may also be a group key.
-- ---------------------------------------------------------------------------------------------

SELECT charged() IS NOT NULL AS reset;
PREPARE keyed(float8) AS SELECT $1 AS key, dp_median(x, $1, 0, 400) IS NOT NULL AS answered FROM t GROUP BY $1;
SET plan_cache_mode = force_generic_plan;
SELECT nodes('EXECUTE keyed(0.5)');
EXECUTE keyed(0.5);
SET enable_hashagg = off;
EXECUTE keyed(0.25);
RESET enable_hashagg;
RESET plan_cache_mode;
SELECT charged();
SELECT e, (SELECT dp_median(x, e, 0, 400) FROM t GROUP BY e) IS NOT NULL AS answered FROM (VALUES (0.1::float8), (0.2)) v(e);
SELECT charged();

-- threat 11: one role pays for all groups.
RESET ROLE;
CREATE ROLE regress_dpq_other;
SELECT dp_grant_budget('regress_dpq_other', 10);
GRANT regress_dpq_other TO regress_dpq_release;
SET SESSION AUTHORIZATION regress_dpq_release;
CREATE FUNCTION become(role text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', role, false);
  RETURN true;
END
$$;
SELECT k % 3, dp_user_mean(u, x, 0.1, 0, 400) FROM t WHERE become('regress_dpq_other') GROUP BY k % 3;
RESET SESSION AUTHORIZATION;
SELECT epsilon_spent FROM dp_budget WHERE role = 'regress_dpq_other';
SET ROLE regress_dpq_release;

-- ---------------------------------------------------------------------------------------------
-- EXPLAIN shows the release node and its price.
-- ---------------------------------------------------------------------------------------------

EXPLAIN (COSTS off) SELECT dp_median(x, 0.1, 0, 400) FROM t;
EXPLAIN (COSTS off) SELECT k, dp_median(x, 0.1, 0, 400), dp_iqr(x, 0.2, 1e-9), dp_cdf(x, NULL, 0, 400, dp_options(rho => 0.01)) FROM t GROUP BY k;
EXPLAIN (COSTS off) SELECT k, dp_median(x, 0.1, 0, 400), dp_user_mean(u, x, 0.2, 0, 400) FROM t GROUP BY ROLLUP (k);
CREATE FUNCTION prices(query text, how text DEFAULT '') RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE format('EXPLAIN (FORMAT json %s) %s', how, query) INTO plan;
  RETURN plan #> '{0,Plan,Price}';
END
$$;
SELECT prices('SELECT dp_median(x, (SELECT 0.1::float8), 0, 400), dp_cdf(x, 0.2, 0, 400) FROM t GROUP BY CUBE (k)');
SELECT prices('SELECT dp_median(x, (SELECT 0.1::float8), 0, 400) FROM t', ', ANALYZE');
PREPARE priced(float8) AS SELECT dp_median(x, $1, 0, 400) FROM t;
SET plan_cache_mode = force_generic_plan;
SELECT prices('EXECUTE priced(0.3)');
RESET plan_cache_mode;
EXPLAIN (COSTS off) SELECT dp_median(x, -0.1, 0, 400) FROM t;
-- The plan around a release does not follow the rows below it: its costs and its number of rows are constants.
CREATE FUNCTION costs(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE format('EXPLAIN (FORMAT json) %s', query) INTO plan;
  RETURN format('%s..%s, %s rows', plan #>> '{0,Plan,Startup Cost}', plan #>> '{0,Plan,Total Cost}', plan #>> '{0,Plan,Plan Rows}');
END
$$;
SELECT costs('SELECT dp_count(0.1) FROM t') AS of_t, costs('SELECT dp_count(0.1) FROM big') AS of_big,
       costs('SELECT k, dp_count(0.1) FROM t GROUP BY k') AS groups_of_t, costs('SELECT k, dp_count(0.1) FROM big GROUP BY k') AS groups_of_big;
-- threat 143: of a group that dp_keep_group hides nothing else is drawn, and no answer is stored that HAVING would have to leave out.
CREATE FUNCTION hidden_answers(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE format('EXPLAIN (ANALYZE, TIMING off, FORMAT json) %s', query) INTO plan;
  RETURN coalesce(plan #>> '{0,Plan,Rows Removed by Filter}', '0');
END
$$;
SELECT hidden_answers('SELECT x::int, dp_count(0.1) FROM t GROUP BY 1 HAVING dp_keep_group(0.01, 1e-12)') AS of_keep_group,
       hidden_answers('SELECT x::int, dp_count(0.1) FROM t GROUP BY 1 HAVING dp_count(0.2) > 1e6') AS of_counts;
-- A release node gives its groups in order, so ORDER BY needs no further sort.
EXPLAIN (COSTS off) SELECT k, dp_median(x, 0.1, 0, 400) FROM t GROUP BY k ORDER BY k DESC;
EXPLAIN (COSTS off) SELECT k FROM t GROUP BY k HAVING dp_median(x, 0.1, 0, 400) > 5 ORDER BY dp_median(x, 0.1, 0, 400);

RESET ROLE;
DROP FUNCTION median_of, mean_of, medians_of, observe, failing;
DROP TABLE person;
DROP OWNED BY regress_dpq_release, regress_dpq_caller, regress_dpq_other;
DROP ROLE regress_dpq_release, regress_dpq_caller, regress_dpq_other;
