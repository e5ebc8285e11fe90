-- threat 16: GROUPING SETS, CUBE and ROLLUP put each row into several groups, so epsilon is charged for each
-- set. All other grouping is charged once, for any number of groups and any plan.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_grouping;
CREATE SCHEMA AUTHORIZATION regress_dpq_grouping;
SELECT dp_grant_budget('regress_dpq_grouping', 1000);
SET ROLE regress_dpq_grouping;
CREATE TABLE t AS SELECT x::float8, x % 2 AS a, x % 3 AS b, x % 5 AS c FROM generate_series(1, 300) x;
ANALYZE t;

-- Runs SELECT dp_median(...) FROM t with this GROUP BY. Returns how rows are grouped below the release, the number
-- of rows and the charge.
CREATE FUNCTION run(clause text, OUT strategy text, OUT rows bigint, OUT charged numeric) LANGUAGE plpgsql AS $$
DECLARE
  before CONSTANT numeric := (SELECT epsilon_spent FROM dp_budget);
  query CONSTANT text := format('SELECT dp_median(x, 0.1, 0, 300) FROM t GROUP BY %s', clause);
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  strategy := coalesce(plan #>> '{0,Plan,Plans,0,Strategy}', plan #>> '{0,Plan,Plans,0,Custom Plan Provider}');
  EXECUTE query;
  GET DIAGNOSTICS rows = ROW_COUNT;
  charged := (SELECT epsilon_spent FROM dp_budget) - before;
END
$$;
CREATE TABLE clauses (number int, clause text);
INSERT INTO clauses VALUES
  (1, 'a'), (2, 'a, b'), (3, 'GROUPING SETS ((a))'), (4, 'GROUPING SETS ((a), (b))'),
  (5, 'GROUPING SETS ((a, b), (a))'), (6, 'GROUPING SETS ((a), (a))'), (7, 'GROUPING SETS ((a), (b), (c))'),
  (8, 'GROUPING SETS ((a, b), (b, c), (a, c))'), (9, 'a, GROUPING SETS ((b), (c))'),
  (10, 'GROUPING SETS ((a), ())'), (11, 'GROUPING SETS ((), (), ())'), (12, 'GROUPING SETS (())'),
  (13, 'ROLLUP (a)'), (14, 'ROLLUP (a, b)'), (15, 'ROLLUP (a, b, c)'), (16, 'CUBE (a, b)'), (17, 'CUBE (a, b, c)'),
  (18, 'ROLLUP (a), ROLLUP (b)'), (19, 'DISTINCT ROLLUP (a, b), ROLLUP (a, c)'), (20, 'ROLLUP (a, b), ROLLUP (a, c)'),
  (21, 'GROUPING SETS (ROLLUP (a, b), CUBE (a, b), ())');

-- The planner's choice
SELECT rows, charged, clause FROM clauses, run(clause) ORDER BY number;
-- Sorted
SET enable_hashagg = off;
SELECT strategy, rows, charged, clause FROM clauses, run(clause) ORDER BY number;
RESET enable_hashagg;
-- Hashed; mixed with an empty set
SET enable_sort = off;
SELECT strategy, rows, charged, clause FROM clauses, run(clause) ORDER BY number;
-- Mixed, with several sorts and a hash table for some of the sets
RESET enable_sort;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
INSERT INTO t SELECT x, x % 20000, x % 3, x % 5 FROM generate_series(1, 20000) x;
ANALYZE t;
SELECT strategy, charged, clause
  FROM (VALUES ('GROUPING SETS ((a), (b), (c))'), ('GROUPING SETS ((a, b), (b), (c), ())')) c(clause), run(clause)
 ORDER BY charged;
RESET work_mem;
RESET hash_mem_multiplier;

-- The ledger
SELECT epsilon, grouping_sets, count(*) FROM dp_ledger GROUP BY epsilon, grouping_sets ORDER BY grouping_sets;

-- Two aggregates
SELECT epsilon_spent AS spent FROM dp_budget \gset
SELECT count(m) AS medians, count(q) AS quantiles
  FROM (SELECT dp_median(x, 0.1, 0, 300) AS m, dp_quantile(x, 0.9, 0.01, 0, 300) AS q
          FROM t WHERE x <= 10 GROUP BY CUBE (b, c)) s;
SELECT epsilon_spent - :spent AS charged FROM dp_budget;

-- threat 16: a hash table that spills is charged once. (PostgreSQL groups for count(*).)
CREATE TABLE many AS SELECT x::float8, x % 5000 AS a FROM generate_series(1, 10000) x;
ANALYZE many;
CREATE FUNCTION batches(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
  RETURN plan #>> '{0,Plan,Plans,0,HashAgg Batches}';
END
$$;
SET enable_sort = off;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT epsilon_spent AS spent FROM dp_budget \gset
SELECT batches('SELECT dp_median(x, 0.1, 0, 10000), count(*) FROM many GROUP BY a') > 1 AS spilled;
SELECT epsilon_spent - :spent AS charged FROM dp_budget;
SELECT count(*) AS groups, count(m) AS answers FROM (SELECT dp_median(x, 0.1, 0, 10000) AS m, count(*) FROM many GROUP BY a) s;
SELECT epsilon_spent - :spent AS charged FROM dp_budget;

-- threat 115: a function in GROUP BY that returns a set puts each row into several groups, too. How many is not known before
-- the rows are read, so nothing is charged. In FROM it makes rows.
SELECT epsilon_spent AS spent FROM dp_budget \gset
SELECT unnest(ARRAY[a, b]) AS key, dp_count(0.1) FROM t GROUP BY key;
SELECT dp_count(0.1) FROM t GROUP BY b, 1 + generate_series(1, a);
SELECT dp_count(0.1) FROM t GROUP BY ROLLUP (unnest(ARRAY[a, b]));
SELECT epsilon_spent - :spent AS charged FROM dp_budget;
SELECT key, dp_count(100) FROM (VALUES (1, 2), (2, 3)) AS few (a, b), unnest(ARRAY[a, b]) AS key GROUP BY key;
SELECT dp_count(100), generate_series(1, 2) AS answer FROM (VALUES (1), (2)) AS few (a);

-- Without rows only the total has a group: there is an answer for ().
SELECT a, dp_median(x, 0.1, 0, 300) IS NOT NULL AS answered FROM t WHERE false GROUP BY GROUPING SETS ((a), ());

RESET ROLE;
DROP OWNED BY regress_dpq_grouping;
DROP ROLE regress_dpq_grouping;
