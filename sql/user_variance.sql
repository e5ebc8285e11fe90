-- dp_user_variance: every method is near the true population variance if epsilon is large.
--
-- As in user_mean.sql, each tolerance is 20 scales of the noise or more. These tests fail by chance with a
-- probability below 1e-6.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_user_variance;
CREATE SCHEMA AUTHORIZATION regress_dpq_user_variance;
SELECT dp_grant_budget('regress_dpq_user_variance', 10000000, smallest_charge => 1e-6);
SET ROLE regress_dpq_user_variance;
-- The variance of 1 .. 50 is 208.25 for any choice of the rows that are kept.
CREATE TABLE t AS SELECT u, u::float8 AS x FROM generate_series(1, 50) u, generate_series(1, 20) x;
SELECT var_pop(x) FROM t;

-- The noise has scale 100^2 * 0.02 * 0.98 / 1000 = 0.196, with all rows and with one of each user.
SELECT abs(dp_user_variance(u, x, 1000, 0, 100) - 208.25) < 4 AS "default",
       abs(dp_user_variance(u, x::numeric, 1000, 0, 100) - 208.25) < 4 AS numeric,
       abs(dp_user_variance(u, x, 1000, 0, 100, NULL) - 208.25) < 4 AS "null",
       abs(dp_user_variance(u, x, 1000, 0, 100, '{"method": "array"}') - 208.25) < 4 AS "array",
       abs(dp_user_variance(u, x, 1000, 0, 100, '{"method": "baseline"}') - 208.25) < 4 AS baseline,
       abs(dp_user_variance(u, x::numeric, 1000, 0, 100, dp_options(max_contributions => 'median')) - 208.25) < 4 AS median,
       abs(dp_user_variance(u, x, 1000, 0, 100, dp_options(max_contributions => '1')) - 208.25) < 4 AS one,
       abs(dp_user_variance(u, x, 1000, 0, 100, dp_options(max_contributions => '3')) - 208.25) < 4 AS three,
       abs(dp_user_variance(u, x, 1000, 0, 100, dp_options(max_contributions => '100')) - 208.25) < 4 AS many,
       -- Three sums of 50 rows, with noise of scale 0.001 rows each
       abs(dp_user_variance(u, x, 1000, 0, 100, dp_options('bounded', max_contributions => '1')) - 208.25) < 15 AS bounded
  FROM t;

-- Rows without a user or a value do not count. Values outside the bounds count as the nearer bound.
SELECT abs(dp_user_variance(u, x, 1000, 0, 100) - 208.25) < 4 AS odd
  FROM (SELECT u, x FROM t UNION ALL SELECT NULL, 100 FROM t UNION ALL SELECT u, NULL FROM t
        UNION ALL SELECT u, 'NaN' FROM t) o;
SELECT abs(dp_user_variance(u, x, 1000, 0, 100) - 2500) < 20 AS clamped
  FROM generate_series(1, 50) u, unnest('{-Infinity,-1,0,100,101,Infinity}'::float8[]) x;

-- A heavy user has more than half of all rows, so the noise has the largest scale, 2.5.
SELECT abs(dp_user_variance(u, x, 1000, 0, 100, '{"method": "baseline"}') - 2500) < 51 AS "all",
       dp_user_variance(u, x, 1000, 0, 100, '{"max_contributions": 1}') < 205 AS one_row_each
  FROM (SELECT 0 AS u, x % 2 * 100 AS x FROM generate_series(1, 10000) x
        UNION ALL SELECT u, u % 99 / 98 * 100 FROM generate_series(1, 99) u) h;

-- A single row has variance 0, which needs no noise. One user; equal rows.
SELECT dp_user_variance(1, 70, 0.001, 0, 100) AS one_row;
SELECT dp_user_variance(u, x, 0.001, 0, 100, '{"max_contributions": 1}') AS one_row_kept
  FROM (VALUES (1, 70), (1, 80), (1, 5)) v(u, x);
SELECT abs(dp_user_variance(1, x, 1000, 0, 100) - 833.25) < 50 AS one_user FROM generate_series(1, 100) x;
SELECT dp_user_variance(u, 7, 1000, 0, 100) < 4 AS all_equal FROM generate_series(1, 50) u;
SELECT abs(dp_user_variance(u, u * 100, 1000, 0, 100) - 2500) < 50 AS two_users FROM generate_series(0, 1) u;

-- The answer lies between 0 and a quarter of the squared width for any noise.
SELECT bool_and(v BETWEEN 0 AND 25) AS inside, count(DISTINCT v) > 1 AS differ
  FROM (SELECT dp_user_variance(g * 0 + x, 5, 1e-3, 0, 10) AS v
          FROM generate_series(1, 30) x, generate_series(1, 20) g GROUP BY g) a;
-- The squared width may be very large or very small.
SELECT dp_user_variance(u, 0, 1, -5e153, 5e153) BETWEEN 0 AND 2.5e307 AS wide,
       dp_user_variance(u, 0, 1, 0, 2e-154) BETWEEN 0 AND 1e-308 AS narrow FROM generate_series(1, 3) u;

RESET ROLE;
DROP OWNED BY regress_dpq_user_variance;
DROP ROLE regress_dpq_user_variance;
