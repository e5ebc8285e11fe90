-- threat 20: an input without a value is answered and charged like any other input, and its cause makes no
-- difference. A NULL or an error would reveal the one row that a filter may select. (parameters.sql checks that
-- bad parameters raise the same errors.)
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_empty;
CREATE SCHEMA AUTHORIZATION regress_dpq_empty;
SELECT dp_grant_budget('regress_dpq_empty', 100, 0.1);
SET ROLE regress_dpq_empty;
CREATE TABLE t AS SELECT x::float8, x % 3 AS k FROM generate_series(1, 100) x;
CREATE TABLE empty (x float8, k int);
CREATE TABLE nulls AS SELECT NULL::float8 AS x, k FROM generate_series(1, 20000) k;
CREATE TABLE nans AS SELECT 'NaN'::float8 AS x, k FROM generate_series(1, 20000) k;
ANALYZE nulls;
ANALYZE nans;

CREATE TABLE calls (call text);
INSERT INTO calls VALUES
  ('dp_median(x, 0.1, 10, 20) $'),
  ('dp_median(x, 0.1, 10, 20, dp_options(granularity => 1)) $'),
  ('dp_median(DISTINCT x, 0.1, 10, 20 ORDER BY x) $'),
  ('dp_quantile(x, 0.9, 0.1, 10, 20) $'),
  ('dp_quantile(x, 0, 0.1, 10, 20, dp_options(granularity => 1)) $'),
  ('(dp_quantiles(x, ''{0.25,0.75}'', 0.1, 10, 20) $)[2]'),
  ('(dp_quantiles(x, ''{0.25,0.75}'', 0.1, 10, 20, dp_options(granularity => 1)) $)[2]'),
  ('dp_median(x::numeric, 0.1, 10, 20) $'),
  ('dp_quantile(x::numeric, 0.9, 0.1, 10, 20, dp_options(granularity => 1)) $'),
  ('(dp_quantiles(x::numeric, ''{0.25,0.75}'', 0.1, 10, 20) $)[2]'),
  ('10 + dp_iqr(x, 0.1, 0, dp_options(''quantiles'', lower => 10, upper => 20)) $'),
  ('10 + dp_iqr(x::numeric, 0.1, 0, dp_options(''quantiles'', lower => 10, upper => 20)) $'),
  -- NULL is an ordinary answer of this method: see sql/iqr.sql.
  ('coalesce(dp_iqr(x, 0.1, 1e-12) $, 15)');
CREATE TABLE inputs (number int, filter text, input text);
INSERT INTO inputs VALUES
  (1, '', 't'), (2, '', 't WHERE x > 1000'), (3, '', 't WHERE false'), (4, '', 'empty'), (5, '', 'nulls'),
  (6, '', 'nans'), (7, '', '(SELECT x FROM t LIMIT 0) s'), (8, '', 'empty GROUP BY ()'),
  (9, 'FILTER (WHERE x > 1000)', 't'), (10, 'FILTER (WHERE false)', 't'), (11, 'FILTER (WHERE NULL)', 't');

-- Runs a query that returns one number.
CREATE FUNCTION run(query text, OUT answer float8, OUT rows bigint, OUT charged numeric) LANGUAGE plpgsql AS $$
DECLARE
  before CONSTANT numeric := (SELECT epsilon_spent FROM dp_budget);
BEGIN
  EXECUTE query INTO answer;
  GET DIAGNOSTICS rows = ROW_COUNT;
  charged := (SELECT epsilon_spent FROM dp_budget) - before;
END
$$;
SELECT filter, input, sum(rows) AS rows, count(*) FILTER (WHERE answer BETWEEN 10 AND 20) AS answers,
       sum(charged) AS charged
  FROM calls, inputs, run(format('SELECT %s FROM %s', replace(call, '$', filter), input))
 GROUP BY number, filter, input ORDER BY number;

-- Groups without a value, beside other groups and alone
SELECT epsilon_spent AS spent FROM dp_budget \gset
SELECT k, dp_median(x, 0.1, 10, 20) FILTER (WHERE k = 1) BETWEEN 10 AND 20 AS m,
       (SELECT bool_and(v BETWEEN 10 AND 20)
          FROM unnest(dp_quantiles(x, '{0.2,0.8}', 0.1, 10, 20) FILTER (WHERE k = 1)) v) AS qs
  FROM t GROUP BY k ORDER BY k;
SELECT epsilon_spent - :spent AS charged FROM dp_budget;
-- Without a row there is no group, except the group of the set ().
SELECT k, dp_median(x, 0.1, 10, 20) BETWEEN 10 AND 20 AS m FROM empty GROUP BY k;
SELECT k, dp_median(x, 0.1, 10, 20) BETWEEN 10 AND 20 AS m FROM empty GROUP BY ROLLUP (k);

-- The noise is ordinary: all 11 cells are equally likely. Each is drawn 1818 times on average. By Hoeffding's
-- inequality the count of some cell deviates by 500 or more with a probability of at most
-- 22 exp(-2 500^2 / 20000) < 1e-9.
CREATE TEMP TABLE answers AS
  SELECT 'nulls' AS input, dp_quantile(x, 0.9, 1, 10, 20, '{"granularity": 1}') AS a FROM nulls GROUP BY k
  UNION ALL
  SELECT 'nans', dp_quantile(x, 0.9, 1, 10, 20, '{"granularity": 1}') FROM nans GROUP BY k
  UNION ALL
  SELECT 'filter', dp_quantile(k, 0.9, 1, 10, 20, '{"granularity": 1}') FILTER (WHERE false) FROM nans GROUP BY k;
SELECT input, count(*) AS cells, sum(n) AS answers, bool_and(n BETWEEN 1318 AND 2318) AS uniform
  FROM (SELECT input, a, count(*) AS n FROM answers GROUP BY input, a) c GROUP BY input ORDER BY input;

RESET ROLE;
DROP OWNED BY regress_dpq_empty;
DROP ROLE regress_dpq_empty;
