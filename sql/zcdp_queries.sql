-- Queries that state their guarantee in rho (option rho). Answers are random. The printed answers are 10 ranks or more away
-- from the next cell, at a lambda of 30 or more, or of 8 if drawn jointly, or come from Gaussian noise of a rho of 60 or more:
-- other answers have a probability below 1e-20. By method factorization, with a rho of 1000, those of other rows have one below 1e-18.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_rho;
CREATE SCHEMA AUTHORIZATION regress_dpq_rho;
SELECT dp_grant_budget('regress_dpq_rho', 100000, 1e-6, 'zcdp', 1e-12);
SET ROLE regress_dpq_rho;
CREATE TABLE t AS SELECT v::float8 AS x, v::numeric AS n, v % 2 AS k FROM generate_series(0, 100) v, generate_series(1, 100);

SELECT dp_options(rho => 0.01), dp_options('joint', 1, rho => 0.1::float8 + 0.2);
SELECT dp_options(rho => 0);
SELECT dp_options(rho => 9e-13);
SELECT dp_options(rho => 1000.1);
SELECT dp_options(rho => 'NaN');
SELECT dp_options(rho => '-Infinity');

SELECT dp_median(x, NULL, 0, 100, dp_options(granularity => 1, rho => 1000)) AS median,
       dp_quantile(x, 0.25, NULL, 0, 100, dp_options(granularity => 1, rho => 1000)) AS quartile,
       dp_quantiles(x, '{0.9,0.1}', NULL, 0, 100, dp_options(granularity => 1, rho => 1000)) AS quantiles,
       dp_median(n, NULL, 0, 100, dp_options(granularity => 1, rho => 1000)) AS numeric_median
  FROM t;
SELECT dp_quantiles(x, '{0.9,0.1}', NULL, 0, 100, dp_options('joint', 1, rho => 1000)) AS joint,
       dp_quantiles(x, '{0.9,0.1}', NULL, 0, 100, dp_options('independent', 1, rho => 1000)) AS independent,
       dp_quantiles(x, '{0.9,0.1}', NULL, 0, 100, dp_options('tree', 1, rho => 1000)) AS tree,
       dp_quantiles(x, '{0.9,0.1}', NULL, 0, 100, dp_options('auto', 1, rho => 1000)) AS auto
  FROM t;
SELECT dp_cdf(x, NULL, 0, 100, dp_options('tree', bins => 2, rho => 500))::jsonb AS tree,
       dp_cdf(n, NULL, 0, 100, dp_options('histogram', granularity => 50, rho => 500))::jsonb - 'level_rho' AS histogram
  FROM t;
SELECT dp_cdf_quantile(c, 0.5) AS median, dp_cdf_rows(c) AS rows
  FROM (SELECT dp_cdf(x, NULL, 0, 100, dp_options(granularity => 1, rho => 1000)) AS c FROM t) s;
SELECT dp_cdf(x, NULL, 0, 100, dp_options(bins => 2, rho => 1000)) AS by_default,
       dp_cdf(x, NULL, 0, 100, dp_options('factorization', granularity => 50, rho => 1000)) AS by_name FROM t;
SELECT dp_synthesize(x, 3, NULL, 0, 100, dp_options(granularity => 1, rho => 1000)) AS sample,
       dp_synthesize(n, 3, NULL, 0, 100, dp_options('approximate', 1, rho => 1000)) AS numeric_sample FROM t;
-- GROUP BY, empty input, only NULL
SELECT k, dp_quantiles(x, '{0.27,0.77}', NULL, 0, 100, dp_options('auto', 1, rho => 1000)) AS auto,
       dp_cdf_rows(dp_cdf(x, NULL, 0, 100, dp_options(bins => 2, rho => 1000))) AS rows
  FROM t GROUP BY k ORDER BY k;
SELECT dp_median(x, NULL, 0, 100, dp_options(rho => 0.01)) BETWEEN 0 AND 100 AS median,
       dp_cdf_rows(dp_cdf(x, NULL, 0, 100, dp_options(bins => 4, rho => 0.01))) >= 0 AS rows,
       dp_median(NULLIF(x, x), NULL, 0, 100, dp_options(rho => 0.01)) BETWEEN 0 AND 100 AS only_null
  FROM t WHERE x < 0;
-- A prepared statement
PREPARE median(float8, float8) AS SELECT dp_median(x, $1, 0, 100, dp_options(granularity => 1, rho => $2)) FROM t;
SET plan_cache_mode = force_generic_plan;
EXECUTE median(NULL, 1000);
EXECUTE median(1000, NULL);
EXECUTE median(1000, 1000);
EXECUTE median(NULL, NULL);
RESET plan_cache_mode;
-- The smallest and largest rho
SELECT dp_median(x, NULL, 0, 100, dp_options(rho => 1e-12)) BETWEEN 0 AND 100 AS least,
       dp_cdf(x, NULL, 0, 100, dp_options(bins => 2, rho => 1e-12)) IS NOT NULL AS least_cdf FROM t;

-- A call needs either epsilon or rho.
SELECT dp_median(x, 0.5, 0, 100, dp_options(rho => 0.01)) FROM t;
SELECT dp_quantile(x, 0.5, 0.5, 0, 100, '{"rho": 0.01}') FROM t;
SELECT dp_quantiles(n, '{0.5}', 0.5, 0, 100, '{"rho": 0.01}') FROM t;
-- Method factorization, the default of dp_cdf with rho, has no guarantee in epsilon.
SELECT dp_cdf(x, 0.5, 0, 100, dp_options('factorization')) FROM t;
SELECT dp_cdf(x, 0.5, 0, 100, '{"rho": 0.01}') FROM t;
\echo :SQLSTATE
SELECT dp_median(x, NULL, 0, 100) FROM t;
SELECT dp_median(x, NULL, 0, 100, '{}') FROM t;
SELECT dp_cdf(x, NULL, 0, 100, NULL) FROM t;
\echo :SQLSTATE
SELECT dp_median(x, NULL, 0, 100, '{"rho": null}') FROM t;
SELECT dp_median(x, NULL, 0, 100, '{"rho": "1"}') FROM t;
SELECT dp_median(x, NULL, 0, 100, '{"rho": 0}') FROM t;
SELECT dp_median(x, NULL, 0, 100, '{"rho": 1e400}') FROM t;
SELECT dp_median(x, NULL, 0, 100, '{"Rho": 1}') FROM t;
SELECT dp_median(x, NULL, 0, 100, CASE WHEN x > 1 THEN dp_options(rho => 1) END) FROM t;
-- The same without rows
SELECT dp_median(x, 0.5, 0, 100, dp_options(rho => 0.01)) FROM t WHERE x < 0;
SELECT dp_median(x, NULL, 0, 100) FROM t WHERE x < 0;
-- Only functions that can state their guarantee in rho have the option.
SELECT dp_iqr(x, NULL, 0, dp_options('quantiles', lower => 0, upper => 100, rho => 0.01)) FROM t;
SELECT dp_iqr(x, NULL, 1e-6) FROM t;
SELECT dp_keep_group(NULL, 1e-6) FROM t;

-- Users: 101 have 100 rows each. The sigma of a mean is 100 / 101 / sqrt(2000) = 0.022, that of a variance 2.2. The tolerances are 40 of them or
-- more; the interval of levy cuts off 1.4. The variance of 0 .. 100 is 850.
SELECT abs(dp_user_mean(x::int, x, NULL, 0, 100, dp_options(rho => 1000)) - 50) < 1 AS by_default,
       abs(dp_user_mean(x::int, x, NULL, 0, 100, dp_options('array', rho => 1000)) - 50) < 1 AS "array",
       abs(dp_user_mean(x::int, x, NULL, 0, 100, dp_options('baseline', rho => 1000)) - 50) < 1 AS baseline,
       abs(dp_user_mean(x::int, x, NULL, 0, 100, dp_options('levy', rho => 1000)) - 50) < 5 AS levy,
       abs(dp_user_mean(x::int, x, NULL, 0, 100, dp_options('quantile', rho => 1000)) - 50) < 2 AS quantile,
       abs(dp_user_mean(x::int, x, NULL, 0, 100, dp_options('quantile-adaptive', rho => 1000)) - 50) < 2 AS adaptive,
       abs(dp_user_mean(x::int, x, NULL, 0, 100, dp_options('bounded', max_contributions => '100', rho => 1000)) - 50) < 2 AS bounded,
       abs(dp_user_mean(x::text, n, NULL, 0, 100, dp_options(max_contributions => 'median', rho => 1000)) - 50) < 1 AS numeric
  FROM t;
SELECT abs(dp_user_variance(x::int, x, NULL, 0, 100, dp_options(rho => 1000)) - 850) < 100 AS by_default,
       abs(dp_user_variance(x::int, x, NULL, 0, 100, dp_options('baseline', rho => 1000)) - 850) < 100 AS baseline,
       abs(dp_user_variance(x::int, x, NULL, 0, 100, dp_options('bounded', max_contributions => '100', rho => 1000)) - 850) < 200 AS bounded
  FROM t;
SELECT (s).grid, abs((s).mean - 50) < 2 AS mean, abs((s).variance - 850) < 200 AS variance, (s).grids_per_user
  FROM unnest((SELECT dp_user_grid_stats(x::int, 'g' || k, x, NULL, 0, 100, dp_options(rho => 1000)) FROM t)) s;
SELECT k, abs(dp_user_mean(x::int, x, NULL, 0, 100, dp_options(rho => 900)) - 50) < 2 AS mean FROM t GROUP BY k ORDER BY k;
-- The least rho; without rows
SELECT dp_user_mean(x::int, x, NULL, 0, 100, dp_options(rho => 1e-12)) BETWEEN 0 AND 100 AS mean,
       dp_user_mean(x::int, x, NULL, 0, 100, dp_options('bounded', max_contributions => '1', rho => 1e-12)) BETWEEN 0 AND 100 AS bounded,
       dp_user_variance(x::int, x, NULL, 0, 100, dp_options(rho => 1e-12)) BETWEEN 0 AND 2500 AS variance FROM t;
SELECT dp_user_mean(k, x, NULL, 0, 100, dp_options(rho => 0.02)) BETWEEN 0 AND 100 AS mean,
       dp_user_variance(k, x, NULL, 0, 100, dp_options(rho => 0.02)) BETWEEN 0 AND 2500 AS variance,
       dp_user_grid_stats(k, 'a', x, NULL, 0, 100, dp_options(rho => 0.02)) AS grids FROM t WHERE x < 0;
PREPARE user_mean(float8, float8) AS SELECT abs(dp_user_mean(x::int, x, $1, 0, 100, dp_options(rho => $2)) - 50) < 1 AS mean FROM t;
EXECUTE user_mean(NULL, 1000);
EXECUTE user_mean(1000, 1000);
EXECUTE user_mean(NULL, NULL);
SELECT dp_user_mean(k, x, NULL, 0, 100) FROM t;
SELECT dp_user_mean(k, x, 0.5, 0, 100, dp_options(rho => 0.01)) FROM t;
\echo :SQLSTATE
SELECT dp_user_variance(k, x, 0.5, 0, 100, dp_options(rho => 0.01)) FROM t;
SELECT dp_user_grid_stats(k, 'a', x, 0.5, 0, 100, dp_options(rho => 0.01)) FROM t;
SELECT dp_user_mean(k, x, NULL, 0, 100, '{"rho": 0}') FROM t;
SELECT dp_user_variance(k, x, NULL, 0, 100, '{"rho": 1001}') FROM t;
\echo :SQLSTATE
SELECT dp_user_mean(k, x, NULL, 0, 100, dp_options('bounded', rho => 0.01)) FROM t;
SELECT dp_user_variance(k, x, NULL, 0, 100, dp_options('levy', rho => 0.01)) FROM t;
-- A user in 600 grids leaves each statistic too small a part of rho.
SELECT dp_user_grid_stats(1, i::text, i, NULL, 0, 100, dp_options(rho => 1e-12)) FROM generate_series(1, 600) i;
\echo :SQLSTATE
-- Their price
EXPLAIN (COSTS OFF) SELECT dp_user_mean(k, x, NULL, 0, 100, dp_options(rho => 0.01)), dp_user_grid_stats(k, 'a', x, NULL, 0, 100, dp_options(rho => 0.02)) FROM t GROUP BY k;

-- The ledger has the rho of the call times the number of grouping sets, and no epsilon.
SELECT count(*) AS sets FROM (SELECT dp_median(x, NULL, 0, 100, dp_options(rho => 0.01)) FROM t GROUP BY GROUPING SETS ((k), (), (x))) s;
SELECT function, mechanism, neighbours, epsilon, delta, rho, accountant, grouping_sets, groups, count(*) FROM dp_ledger
 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 ORDER BY function COLLATE "C", mechanism COLLATE "C", rho, grouping_sets, groups;
SELECT rho_spent = (SELECT sum(rho) FROM dp_ledger) AS sum FROM dp_budget;

-- A budget that is too small
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_rho', 1, 1e-6, 'zcdp');
SET ROLE regress_dpq_rho;
\set VERBOSITY sqlstate
SELECT dp_median(x, NULL, 0, 100, dp_options(rho => 0.01)) FROM t;
\set VERBOSITY default
-- A budget that adds epsilons cannot charge rho.
RESET ROLE;
CREATE ROLE regress_dpq_epsilon;
SELECT dp_grant_budget('regress_dpq_epsilon', 1000);
SET ROLE regress_dpq_epsilon;
SELECT dp_median(1, NULL, 0, 100, dp_options(rho => 0.01));
SELECT dp_cdf(1, NULL, 0, 100, dp_options(rho => 0.01));
SELECT dp_synthesize(1, 5, NULL, 0, 100, dp_options(rho => 0.01));
SELECT dp_user_mean(1, 5, NULL, 0, 100, dp_options(rho => 0.01));
SELECT dp_user_grid_stats(1, 'a', 5, NULL, 0, 100, dp_options(rho => 0.01));
\echo :SQLSTATE
SELECT epsilon_spent, epsilon_sum, rho_spent FROM dp_budget;

RESET ROLE;
DROP OWNED BY regress_dpq_rho;
DROP ROLE regress_dpq_rho, regress_dpq_epsilon;
