-- If the server compiles, inlines and optimises everything, answers and charges are the same. (Without a JIT
-- provider these queries run without JIT.)
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_jit;
CREATE SCHEMA AUTHORIZATION regress_dpq_jit;
SELECT dp_grant_budget('regress_dpq_jit', 100000, 0.1);
SET ROLE regress_dpq_jit;
CREATE TABLE t AS SELECT x::float8, x::numeric AS n, x % 3 AS k FROM generate_series(1, 300) x;
CREATE TABLE draws (k int, a float8);
SET jit = on;
SET jit_above_cost = 0;
SET jit_inline_above_cost = 0;
SET jit_optimize_above_cost = 0;

-- The answers lie 6 ranks or more from the next cell, at a lambda of 300 or more: other answers have a
-- probability below exp(-1500).
SELECT k, dp_median(x, 1000, 0, 300, '{"granularity": 80}') AS m,
       dp_median(n, 1000, 0, 300, '{"granularity": 80}') AS mn,
       dp_quantile(x, 0.5, 1000, 0, 300, '{"granularity": 80}') AS q,
       dp_quantile(n, 0.5, 1000, 0, 300, '{"granularity": 80}') AS qn,
       dp_quantiles(x, '{0.2,0.5}', 1000, 0, 300, '{"granularity": 80}') AS qs,
       dp_quantiles(n, '{0.2,0.5}', 1000, 0, 300, '{"granularity": 80}') AS qsn
  FROM t GROUP BY k ORDER BY k;
-- The interquartile range is 150; the answer is off by 5 with a probability below exp(-80). With method quantiles the
-- ends of the range lie 8 ranks or more from the next cell, at a lambda of 8: another answer has a probability below
-- exp(25 - 8 * 8 / 0.75) < 1e-25.
SELECT k, dp_iqr(x, 1000, 1e-6) BETWEEN 145 AND 155 AS iqr, dp_iqr(n, 1000, 1e-6) BETWEEN 145 AND 155 AS iqr_n,
       dp_iqr(x, 1, 1e-9) FILTER (WHERE x < 4) AS few,
       dp_iqr(n, 1000, 0, dp_options('quantiles', 80, lower => 0, upper => 320)) AS by_quantiles
  FROM t GROUP BY k ORDER BY k;
SELECT dp_median(x, 1, 0, 300) IS NOT NULL AS m, dp_quantile(n, 0.5, 1, 0, 300) IS NOT NULL AS q,
       dp_quantiles(DISTINCT x, '{0.5}', 1, 0, 300 ORDER BY x) FILTER (WHERE k = 1) IS NOT NULL AS qs
  FROM t;
SELECT epsilon_spent FROM dp_budget;
-- threat 8: rescans
INSERT INTO draws
  SELECT k, a
    FROM generate_series(1, 3) i, LATERAL (SELECT k, dp_median(x, 1, 0, 300) AS a FROM t WHERE x <> i GROUP BY k) s;
SELECT epsilon_spent FROM dp_budget;
SELECT count(*) AS draws FROM draws;
-- threat 12: errors
SELECT dp_median(x, -1, 0, 300) FROM t;
SELECT dp_median(x, x, 0, 300) FROM t;
SELECT dp_median(n, 1, 300, 0) FROM t;
SELECT dp_median(x, 1, 0, 300) OVER () FROM t;
SELECT dp_iqr(x, 1, x) FROM t;
SELECT dp_iqr(x, 1, 0) FROM t;
SELECT epsilon_spent FROM dp_budget;

-- The other families
SELECT dp_cdf_rows(dp_cdf(x, 1000, 0, 300)) AS rows, dp_cdf_rows(dp_cdf(n, 1000, 0, 300)) AS rows_n,
       cardinality(dp_synthesize(x, 2, 1000, 0, 300)) AS sample,
       dp_user_mean(k, x, 1000, 0, 300) BETWEEN 0 AND 300 AS mean, dp_user_mean(k, n, 1000, 0, 300) BETWEEN 0 AND 300 AS mean_n,
       dp_user_variance(k, x, 1000, 0, 300) >= 0 AS variance, cardinality(dp_user_grid_stats(k, 'g', x, 1000, 0, 300)) AS grids
  FROM t;
SELECT count(*) AS forecasts FROM dp_user_expected_error('{1}', '{100}', 1, 0, 300);
SELECT count(*) AS forecasts FROM dp_quantiles_expected_error(100, '{0.5}', 1, 0, 300);
SELECT (dp_cdf_expected_error(1, 100)).pointwise > 0 AS forecast, dp_iqr_min_rows(1, 1e-6) > 0 AS min_rows;

RESET ROLE;
DROP OWNED BY regress_dpq_jit;
DROP ROLE regress_dpq_jit;
