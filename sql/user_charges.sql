-- The user-level aggregates are charged for each group: a user may be in several groups, so their answers compose.
-- threats 8, 9, 16, 20
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_user_charges;
CREATE SCHEMA AUTHORIZATION regress_dpq_user_charges;
SELECT dp_grant_budget('regress_dpq_user_charges', 1000);
SET ROLE regress_dpq_user_charges;
CREATE TABLE t AS
  SELECT x % 10 AS u, x::float8 AS x, x % 2 AS a, x % 3 AS b, 'g' || x % 4 AS g FROM generate_series(1, 300) x;
CREATE TABLE empty (u int, x float8, a int, b int, g text);
ANALYZE t;

-- Runs a query and returns the number of its rows and its charge.
CREATE FUNCTION run(query text, OUT rows bigint, OUT charged numeric) LANGUAGE plpgsql AS $$
DECLARE
  before CONSTANT numeric := (SELECT epsilon_spent FROM dp_budget);
BEGIN
  EXECUTE query;
  GET DIAGNOSTICS rows = ROW_COUNT;
  charged := trim_scale((SELECT epsilon_spent FROM dp_budget) - before);
END
$$;
CREATE TABLE calls (number int, call text);
INSERT INTO calls VALUES
  (1, 'dp_user_mean(u, x, 0.1, 0, 300)'), (2, 'dp_user_variance(u, x::numeric, 0.1, 0, 300)'),
  (3, 'dp_user_mean(u, x, 0.1, 0, 300, ''{"method": "bounded", "max_contributions": 5}'')'),
  (4, 'dp_user_grid_stats(u, g, x, 0.1, 0, 300)');
CREATE TABLE clauses (number int, clause text);
INSERT INTO clauses VALUES
  (1, ''), (2, 'GROUP BY ()'), (3, 'GROUP BY a'), (4, 'GROUP BY a, b'), (5, 'GROUP BY GROUPING SETS ((a), (b))'),
  (6, 'GROUP BY ROLLUP (a, b)'), (7, 'GROUP BY CUBE (a, b)'), (8, 'GROUP BY GROUPING SETS ((a), ())'),
  (9, 'GROUP BY u HAVING count(*) > 0'), (10, 'WHERE false'), (11, 'WHERE false GROUP BY a'),
  (12, 'WHERE false GROUP BY GROUPING SETS ((a), ())'), (13, 'GROUP BY a HAVING a = 0');
SELECT clause, rows, charged, count(*) AS calls
  FROM calls, clauses, run(format('SELECT %s FROM t %s', call, clause)) GROUP BY clauses.number, clause, rows, charged ORDER BY clauses.number;
-- Sorted, and hashed
SET enable_hashagg = off;
SELECT clause, rows, charged, count(*) AS calls
  FROM calls, clauses, run(format('SELECT %s FROM t %s', call, clause)) GROUP BY clauses.number, clause, rows, charged ORDER BY clauses.number;
RESET enable_hashagg;
SET enable_sort = off;
SELECT clause, rows, charged, count(*) AS calls
  FROM calls, clauses, run(format('SELECT %s FROM t %s', call, clause)) GROUP BY clauses.number, clause, rows, charged ORDER BY clauses.number;
RESET enable_sort;

-- The ledger has a charge for the first group, which is made before the rows are read, and one for all others.
SELECT function, mechanism, neighbours, epsilon, delta, grouping_sets, groups, count(*) FROM dp_ledger
 GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY function::text COLLATE "C", mechanism COLLATE "C", epsilon;
SELECT dp_user_mean(u, x, 0.1, 0, 300, dp_options(m)) BETWEEN 0 AND 300 AS levy FROM t, (VALUES ('levy')) v(m);
SELECT dp_user_mean(u, x, 0.1, 0, 300, dp_options('levy')) BETWEEN 0 AND 300 AS levy,
       dp_user_mean(u, x, 0.1, 0, 300, dp_options('quantile')) BETWEEN 0 AND 300 AS quantile,
       dp_user_mean(u, x, 0.1, 0, 300, dp_options('quantile-adaptive')) BETWEEN 0 AND 300 AS adaptive,
       dp_user_mean(u, x, 0.1, 0, 300, dp_options('baseline')) BETWEEN 0 AND 300 AS baseline,
       dp_user_variance(u, x, 0.1, 0, 300, dp_options('baseline')) BETWEEN 0 AND 22500 AS baseline_variance,
       dp_user_variance(u, x, 0.1, 0, 300, dp_options('bounded', max_contributions => '3')) BETWEEN 0 AND 22500 AS bounded_variance,
       dp_user_grid_stats(u, g, x, 0.1, 0, 300, dp_options(suppress => false)) IS NOT NULL AS grids
  FROM t;
SELECT function, mechanism, neighbours FROM dp_ledger WHERE query LIKE '%quantile-adaptive%' AND query LIKE '%AS adaptive%'
 ORDER BY 1, 2;
SELECT epsilon_spent = (SELECT sum(epsilon) FROM dp_ledger) AS agree FROM dp_budget;

-- Beside a row-level aggregate. The groups of that aggregate share one charge.
SELECT charged FROM run('SELECT a, dp_user_mean(u, x, 0.1, 0, 300), dp_median(x, 1, 0, 300) FROM t GROUP BY a');
-- An identical call runs once. Each different call is charged.
SELECT charged FROM run('SELECT dp_user_mean(u, x, 0.1, 0, 300), dp_user_mean(u, x, 0.1, 0, 300) + 1 FROM t');
SELECT charged FROM run('SELECT dp_user_mean(u, x, 0.1, 0, 300), dp_user_mean(a, x, 0.1, 0, 300), dp_user_variance(u, x, 0.1, 0, 300) FROM t');
-- If HAVING reads the answers, the groups that it removes are charged too.
SELECT charged FROM run('SELECT dp_user_mean(u, x, 0.1, 0, 300) FROM t GROUP BY a HAVING dp_user_mean(u, x, 0.1, 0, 300) < 0');
-- threat 8: an execution for other outer values is charged. A rescan for the same values is not, also if the value is
-- added to the answer afterwards.
SELECT charged FROM run('SELECT (SELECT dp_user_mean(u, x, 0.1, 0, 300) FROM t WHERE a <> -i) FROM generate_series(1, 3) i');
SELECT charged FROM run('SELECT m FROM generate_series(1, 3) i, LATERAL (SELECT dp_user_mean(u, x, 0.1, 0, 300) AS m FROM t WHERE b <> -i GROUP BY a) s');
SET enable_material = off;
SELECT rows, charged FROM run('SELECT (SELECT count(m) FROM (SELECT dp_user_mean(u, x, 0.1, 0, 300) + 0 * i AS m FROM t GROUP BY a OFFSET 0) s) FROM generate_series(1, 3) i');
SELECT rows, charged FROM run('SELECT (SELECT count(s) FROM (SELECT cardinality(dp_user_grid_stats(u, g, x, 0.1, 0, 300)) + 0 * i AS s FROM t GROUP BY a OFFSET 0) s) FROM generate_series(1, 3) i');
RESET enable_material;

-- threat 20: an input without rows is answered and charged like any other input.
SELECT call, bool_and(rows = 1 AND charged = 0.1) AS charged, count(*)
  FROM (SELECT call, r.* FROM calls,
          unnest('{"empty","t WHERE x > 1000","(SELECT NULL::int AS u, x, g FROM t) s","(SELECT u, NULL::float8 AS x, g FROM t) s",
                   "(SELECT u, ''NaN''::float8 AS x, g FROM t) s","empty GROUP BY ()"}'::text[]) source,
          run(format('SELECT %s FROM %s', call, source)) r) c
 GROUP BY call ORDER BY call COLLATE "C";
SELECT dp_user_mean(u, x, 0.1, 10, 20) FILTER (WHERE x > 1000) BETWEEN 10 AND 20 AS mean,
       dp_user_mean(u, x, 0.1, 10, 20, dp_options('levy')) FILTER (WHERE x > 1000) BETWEEN 10 AND 20 AS levy,
       dp_user_mean(u, x, 0.1, 10, 20, dp_options('quantile')) FILTER (WHERE false) BETWEEN 10 AND 20 AS quantile,
       dp_user_mean(u, x, 0.1, 10, 20, dp_options('bounded', max_contributions => '2')) FILTER (WHERE NULL) BETWEEN 10 AND 20 AS bounded,
       dp_user_variance(u, x, 0.1, 10, 20) FILTER (WHERE x > 1000) BETWEEN 0 AND 25 AS variance,
       dp_user_grid_stats(u, g, x, 0.1, 10, 20) FILTER (WHERE x > 1000) AS grids
  FROM t;
SELECT a, dp_user_mean(u, x, 100, 0, 300) FILTER (WHERE a = 1) BETWEEN 0 AND 300 AS filtered FROM t GROUP BY a ORDER BY a;
-- threat 23: each repetition costs the same again and gives another answer.
SELECT count(DISTINCT m) AS answers, count(*)
  FROM (SELECT dp_user_mean(u, x, 5, 0, 300) AS m FROM t, generate_series(1, 20) i GROUP BY i) r;

-- threats 16, 40: DISTINCT would make the number of rows of a user depend on the values.
SELECT dp_user_mean(DISTINCT u, x, 0.1, 0, 300) FROM t;
SELECT dp_user_mean(DISTINCT u, x, 0.1, 0, 300) FROM empty;
SELECT dp_user_variance(DISTINCT u, x, 0.1, 0, 300, dp_options('baseline')) FROM t GROUP BY a;
SELECT dp_user_grid_stats(DISTINCT u, g, x, 0.1, 0, 300) FROM t;
SELECT dp_user_mean(DISTINCT u, x, 0.1, 0, 300, dp_options('bounded', max_contributions => '3')) BETWEEN 0 AND 300 AS bounded FROM t;
SELECT rows, charged FROM run('SELECT dp_user_mean(u, x, 0.1, 0, 300 ORDER BY x DESC, a) FROM t GROUP BY a');
-- threat 9: no window functions
SELECT dp_user_mean(u, x, 0.1, 0, 300) OVER (PARTITION BY a) FROM t;
SELECT dp_user_grid_stats(u, g, x, 0.1, 0, 300) OVER () FROM t;

-- threat 43: the budget is too small for all groups: only the first group is charged, and no answer is shown.
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_user_charges', epsilon_spent::float8 + 0.25)
  FROM dp_budget WHERE role = 'regress_dpq_user_charges';
SET ROLE regress_dpq_user_charges;
SELECT b, dp_user_mean(u, x, 0.1, 0, 300) FROM t GROUP BY b;
SELECT epsilon_remaining FROM dp_budget;
-- The first group does not fit either.
SELECT b, dp_user_mean(u, x, 0.2, 0, 300) FROM t GROUP BY b;
SELECT epsilon_remaining FROM dp_budget;

RESET ROLE;
DROP OWNED BY regress_dpq_user_charges;
DROP ROLE regress_dpq_user_charges;
