-- threat 16: in every place where SQL allows an aggregate, the private aggregates answer and charge correctly.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_syntax;
CREATE SCHEMA AUTHORIZATION regress_dpq_syntax;
SELECT dp_grant_budget('regress_dpq_syntax', 100000, 0.1);
SET ROLE regress_dpq_syntax;
CREATE TABLE t AS SELECT x::float8, x % 2 AS a, x % 5 AS b FROM generate_series(1, 1000) x;
CREATE VIEW median AS SELECT dp_median(x, 0.1, 0, 1000) AS m FROM t;
CREATE TABLE answers (m float8);

-- Runs a query and returns the number of its rows and its charge.
CREATE FUNCTION run(query text, OUT rows bigint, OUT charged numeric) LANGUAGE plpgsql AS $$
DECLARE
  before CONSTANT numeric := (SELECT epsilon_spent FROM dp_budget);
BEGIN
  EXECUTE query;
  GET DIAGNOSTICS rows = ROW_COUNT;
  charged := (SELECT epsilon_spent FROM dp_budget) - before;
END
$$;

SELECT rows, charged, query FROM (VALUES
  (1, 'SELECT dp_median(x, 0.1, 0, 1000) FROM t'),
  -- threat 16: the groups of a GROUP BY are disjoint
  (2, 'SELECT a, dp_median(x, 0.1, 0, 1000) FROM t GROUP BY a'),
  (3, 'SELECT dp_median(x, 0.1, 0, 1000) FROM t GROUP BY a, b'),
  (4, 'SELECT DISTINCT dp_median(x, 0.1, 0, 1000, ''{"granularity": 1000}'') IS NULL FROM t GROUP BY a'),
  (5, 'SELECT a FROM t GROUP BY a HAVING dp_median(x, 0.1, 0, 1000) >= 0'),
  (6, 'SELECT a FROM t GROUP BY a HAVING dp_median(x, 0.1, 0, 1000) < 0'),
  (7, 'SELECT a FROM t GROUP BY a ORDER BY dp_median(x, 0.1, 0, 1000) LIMIT 1'),
  (8, 'SELECT b, rank() OVER (ORDER BY dp_median(x, 0.1, 0, 1000)) FROM t GROUP BY b'),
  -- threat 16: modifiers of the call
  (10, 'SELECT dp_median(DISTINCT x, 0.1, 0, 1000) FROM t'),
  (11, 'SELECT dp_quantiles(DISTINCT x, ''{0.1,0.9}'', 0.1, 0, 1000, dp_options(granularity => 1)) FROM t'),
  (12, 'SELECT dp_median(x, 0.1, 0, 1000 ORDER BY x) FROM t'),
  (13, 'SELECT dp_median(x, 0.1, 0, 1000 ORDER BY a DESC, b) FROM t GROUP BY a'),
  (14, 'SELECT dp_median(DISTINCT x, 0.1, 0, 1000 ORDER BY x DESC) FROM t'),
  (15, 'SELECT dp_median(x, 0.1, 0, 1000) FILTER (WHERE x > 500) FROM t'),
  (16, 'SELECT a, dp_median(DISTINCT x, 0.1, 0, 1000 ORDER BY x) FILTER (WHERE b = 1) FROM t GROUP BY a'),
  (17, 'SELECT dp_median(ALL x, 0.1, 0, 1000) FROM t'),
  (18, 'SELECT dp_iqr(DISTINCT x, 0.1, 1e-6 ORDER BY x DESC) FILTER (WHERE b = 1) FROM t GROUP BY a'),
  (19, 'SELECT a FROM t GROUP BY a HAVING dp_iqr(x, 0.1, 1e-6) IS NULL OR dp_iqr(x, 0.1, 1e-6) >= 0 ORDER BY a'),
  -- Each different call is charged; a call that is written twice runs once.
  (20, 'SELECT dp_median(x, 0.1, 0, 1000), dp_median(x, 0.2, 0, 1000) FROM t'),
  (21, 'SELECT dp_median(x, 0.1, 0, 1000), dp_quantile(x, 0.5, 0.1, 0, 1000) FROM t'),
  (22, 'SELECT a, dp_quantile(x, 0.1, 0.1, 0, 1000), dp_quantiles(x, ''{0.1}'', 0.1, 0, 1000) FROM t GROUP BY a'),
  (23, 'SELECT dp_median(x, 0.1, 0, 1000), dp_median(x, 0.1, 0, 1000) FILTER (WHERE a = 1) FROM t'),
  (24, 'SELECT dp_median(x, 0.1, 0, 1000), dp_median(DISTINCT x, 0.1, 0, 1000) FROM t'),
  (25, 'SELECT dp_median(x, 0.1, 0, 1000), dp_median(x, 0.1, 0, 1000) FROM t'),
  (26, 'SELECT dp_median(x, 0.1, 0, 1000) AS m FROM t HAVING dp_median(x, 0.1, 0, 1000) >= 0 ORDER BY m'),
  (27, 'SELECT dp_median(x, 0.1, 0, 1000), sum(x), count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM t'),
  (28, 'SELECT CASE WHEN count(*) = 0 THEN dp_median(x, 0.1, 0, 1000) END FROM t'),
  -- threat 16: sub-selects
  (30, 'SELECT (SELECT dp_median(x, 0.1, 0, 1000) FROM t)'),
  (31, 'SELECT (SELECT dp_median(x, 0.1, 0, 1000) FROM t), (SELECT dp_median(x, 0.1, 0, 1000) FROM t)'),
  (32, 'SELECT m, m + 1 FROM (SELECT dp_median(x, 0.1, 0, 1000) AS m FROM t) s'),
  (33, 'SELECT count(*) FROM t WHERE x < (SELECT dp_median(x, 0.1, 0, 1000) FROM t)'),
  (34, 'WITH s AS (SELECT dp_median(x, 0.1, 0, 1000) AS m FROM t) SELECT p.m, q.m FROM s p, s q'),
  (35, 'WITH s AS NOT MATERIALIZED (SELECT dp_median(x, 0.1, 0, 1000) AS m FROM t) SELECT p.m, q.m FROM s p, s q'),
  (36, 'SELECT dp_median(x, 0.1, 0, 1000) FROM t UNION ALL SELECT dp_median(x, 0.1, 0, 1000) FROM t'),
  (37, 'SELECT dp_median(m, 0.1, 0, 1000) FROM (SELECT dp_median(x, 0.2, 0, 1000) AS m FROM t GROUP BY b) s'),
  (38, 'SELECT m FROM median'),
  (39, 'SELECT p.m, q.m FROM median p, median q'),
  (40, 'SELECT u.x, (SELECT dp_median(t.x, 0.1, 0, 1000)) FROM t, (VALUES (1), (2)) u(x) GROUP BY u.x'),
  -- Statements that write
  (50, 'INSERT INTO answers SELECT dp_median(x, 0.1, 0, 1000) FROM t GROUP BY b'),
  (51, 'UPDATE answers SET m = (SELECT dp_median(x, 0.1, 0, 1000) FROM t)'),
  (52, 'CREATE TABLE copy AS SELECT dp_median(x, 0.1, 0, 1000) FROM t'),
  (53, 'SELECT * FROM copy, generate_series(1, 3)')
) AS q(number, query), run(query) ORDER BY number;
SELECT count(DISTINCT m) AS answers, count(*) AS rows FROM answers;
WITH s AS (SELECT dp_median(x, 0.1, 0, 1000) AS m FROM t) SELECT p.m = q.m AS same FROM s p, s q;
SELECT dp_median(x, 0.1, 0, 1000) = dp_median(x, 0.1, 0, 1000) AS same FROM t;

-- EXPLAIN is charged if it runs the query.
SELECT charged FROM run('EXPLAIN SELECT dp_median(x, 0.1, 0, 1000) FROM t');
SELECT charged FROM run('EXPLAIN ANALYZE SELECT dp_median(x, 0.1, 0, 1000) FROM t');

-- threat 16: only the rows that the modifiers keep count. The median is half a rank or more away from the
-- next value, at a lambda of 999 or more: another answer has a probability below 1e-200.
CREATE TABLE skewed AS
  SELECT 100 * greatest(i - 100, 1) AS x FROM generate_series(1, 111) i, generate_series(1, 100);
CREATE FUNCTION median_of(arguments text, filter text DEFAULT 'true') RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  answer float8;
BEGIN
  EXECUTE format('SELECT dp_median(%s) FILTER (WHERE %s) FROM skewed', arguments, filter) INTO answer;
  RETURN answer;
END
$$;
SELECT median_of('x, 1000, 0, 1100, ''{"granularity": 100}''') AS plain,
       median_of('x, 1000, 0, 1100, ''{"granularity": 100}'' ORDER BY x DESC') AS ordered,
       median_of('DISTINCT x, 1000, 0, 1100, ''{"granularity": 100}''') AS "distinct",
       median_of('DISTINCT x, 1000, 0, 1100, ''{"granularity": 100}'' ORDER BY x') AS distinct_ordered,
       median_of('x, 1000, 0, 1100, ''{"granularity": 100}''', 'x > 100 AND x < 900') AS filtered,
       median_of('DISTINCT x, 1000, 0, 1100, ''{"granularity": 100}''', 'x > 400') AS distinct_filtered;
SELECT x > 500 AS much, dp_median(x, 1000, 0, 1100, '{"granularity": 100}'),
       dp_median(DISTINCT x, 1000, 0, 1100, '{"granularity": 100}') AS "distinct",
       dp_median(x, 1000, 0, 1100, '{"granularity": 100}') FILTER (WHERE x <= 800) AS filtered
  FROM skewed WHERE x <= 1000 GROUP BY x > 500 ORDER BY 1;

-- threat 16: rows from several partitions can belong to one group, also if the plan aggregates each partition
-- separately first. The answers lie 15 ranks or more from the next value, at a lambda of 300 or more.
CREATE TABLE parts (x float8, a boolean, b int) PARTITION BY LIST (a);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES IN (false);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES IN (true);
INSERT INTO parts SELECT x, x > 500, b FROM t;
ANALYZE parts;
SET enable_partitionwise_aggregate = on;
CREATE FUNCTION is_partial(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan::text LIKE '%"Partial Mode": "Partial"%';
END
$$;
SELECT is_partial('SELECT b, dp_median(x, 0.1, 0, 1000) FROM parts GROUP BY b') AS partial;
SELECT b, dp_median(x, 1000, 0, 1000, dp_options(granularity => 250)) AS m,
       dp_quantiles(x::numeric, '{0.2,0.8}', 1000, 0, 1000, dp_options(granularity => 250)) AS qs
  FROM parts GROUP BY b ORDER BY b;
SELECT rows, charged FROM run('SELECT b, dp_median(x, 0.1, 0, 1000) FROM parts GROUP BY b');
SELECT rows, charged FROM run('SELECT dp_median(x, 0.1, 0, 1000) FROM parts');
-- The test of dp_iqr needs a distance of 188, with noise of scale 64/31. The distance is 250 for 1000 equal rows
-- and 125 for half of them: another outcome has a probability below exp(-29).
SELECT is_partial('SELECT dp_iqr(x * 0, 1, 1e-40) FROM parts') AS partial;
SELECT dp_iqr(x * 0, 1, 1e-40) AS both_parts, dp_iqr(x * 0, 1, 1e-40) FILTER (WHERE a) AS one,
       dp_iqr(x * 0, 1, 1e-40) FILTER (WHERE NOT a) AS the_other
  FROM parts;
SELECT rows, charged FROM run('SELECT b, dp_iqr(x, 0.1, 1e-6) FROM parts GROUP BY b');
-- Partial aggregation of an empty input
SELECT rows, charged FROM run('SELECT dp_median(x, 0.1, 0, 1000) FROM parts WHERE x < 0');
SELECT rows, charged FROM run('SELECT b, dp_median(x, 0.1, 0, 1000) FILTER (WHERE x < 0) FROM parts GROUP BY b');
SELECT dp_median(x, x, 0, 1000) FROM parts;
SELECT b, dp_median(x, 0.1, 1000, 0) FILTER (WHERE x < 0) FROM parts GROUP BY b;
-- A plan that aggregates each partition completely is charged once for all partitions.
SELECT is_partial('SELECT a, dp_median(x, 0.1, 0, 1000) FROM parts GROUP BY a') AS partial;
SELECT rows, charged FROM run('SELECT a, dp_median(x, 0.1, 0, 1000) FROM parts GROUP BY a');
RESET enable_partitionwise_aggregate;
SELECT rows, charged FROM run('SELECT a, dp_median(x, 0.1, 0, 1000) FROM parts GROUP BY a');

RESET ROLE;
SET client_min_messages = warning;
DROP OWNED BY regress_dpq_syntax CASCADE;
DROP ROLE regress_dpq_syntax;
