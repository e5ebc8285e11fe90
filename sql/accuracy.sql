-- With a large epsilon the answers are the true quantiles, within a few ranks.
--
-- One draw misses its rank by k or more with a probability of at most e N n lambda exp(-lambda k), for N
-- cells, n rows and lambda >= epsilon / (2 levels). With several quantiles each level adds its own miss.
-- That probability is below 1e-20 for one quantile with epsilon 200 (lambda >= 99) and k = 1, and for 9
-- quantiles (4 levels) with epsilon 1000 (lambda >= 124) and k = 4. So all of these tests together fail by
-- chance with a probability below 1e-9.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_accuracy;
CREATE SCHEMA AUTHORIZATION regress_dpq_accuracy;
SELECT dp_grant_budget('regress_dpq_accuracy', 100000, smallest_charge => 1e-6);
SET ROLE regress_dpq_accuracy;
-- Uniform data, skewed data with a long tail, whole numbers with many ties, and nearly all rows at one value
CREATE TABLE t AS
  SELECT data, x, x::numeric AS n
    FROM (SELECT i, ((i * 7919) % 10000) / 10000.0::float8 AS u FROM generate_series(1, 10000) i) s,
         LATERAL (VALUES ('uniform', 1000 * u - 500),
                         ('skewed', least(-50 * ln(1 - u), 400)),
                         ('ties', floor(100 * u * u)),
                         ('one value', CASE WHEN i <= 9000 THEN 7 ELSE 100 * u END)) v(data, x);

-- The number of ranks by which an answer misses the quantile. A value may lie half a step from its cell.
CREATE FUNCTION miss(data text, quantile float8, answer float8, step float8) RETURNS float8 LANGUAGE sql STABLE RETURN (
  SELECT greatest(count(*) FILTER (WHERE x < answer - 0.51 * step) - quantile * count(*),
                  quantile * count(*) - count(*) FILTER (WHERE x <= answer + 0.51 * step), 0)
    FROM t WHERE t.data = miss.data);

SELECT data, miss(data, 0.5, m, 1000 / 1048575.0) < 1 AS median, miss(data, 0.9, q, 1000 / 1048575.0) < 1 AS quantile,
       miss(data, 0.01, n, 1000 / 1048575.0) < 1 AS numeric
  FROM (SELECT data, dp_median(x, 200, -500, 500) AS m, dp_quantile(x, 0.9, 200, -500, 500) AS q,
               dp_quantile(n, 0.01, 200, -500, 500) AS n
          FROM t GROUP BY data) s ORDER BY data;
\set deciles 'ARRAY[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]::float8[]'
SELECT data, bool_and(miss(data, q, default_grid, 1000 / 1048575.0) < 4) AS default_grid,
       bool_and(miss(data, q, units, 1) < 4) AS units, bool_and(miss(data, q, cents, 0.01) < 4) AS cents
  FROM (SELECT data, dp_quantiles(x, :deciles, 1000, -500, 500) AS a,
               dp_quantiles(x, :deciles, 1000, -500, 500, '{"granularity": 1}') AS b,
               dp_quantiles(n, :deciles, 1000, -500, 500, '{"granularity": 0.01}') AS c
          FROM t GROUP BY data) s,
       unnest(:deciles, a, b, c) AS v(q, default_grid, units, cents)
 GROUP BY data ORDER BY data;
-- Extreme quantiles, in any order.
SELECT data, bool_and(miss(data, q, answer, 1000 / 1048575.0) < 3) AS extremes
  FROM (SELECT data, dp_quantiles(x, '{1,0,0.999,0.001}', 1000, -500, 500) AS a FROM t GROUP BY data) s,
       unnest('{1,0,0.999,0.001}'::float8[], a) AS v(q, answer)
 GROUP BY data ORDER BY data;

-- The state of a single group of many rows grows several times.
SELECT abs(dp_median(x, 200, 0, 1048575) - 150000.5) < 2 AS median FROM generate_series(1, 300000) x;
-- Bounds that cut off a tenth of the rows at each end
SELECT abs(dp_median(x, 200, 1000, 9000, dp_options(granularity => 1)) - 5000) <= 2 AS median,
       dp_quantiles(x, '{0.05,0.95}', 200, 1000, 9000) AS ends
  FROM generate_series(1, 10000) x;

-- A small epsilon is not accurate. Here the answer is nearly uniform on 2^32 cells: it lies in the middle
-- thousandth with a probability of about 0.001, and all ten answers do with a probability below 1e-29.
SELECT bool_and(abs(a - 2147483648.0) < 2147484) AS accurate
  FROM (SELECT dp_median(x + g * 0, 1e-6, 0, 4294967295, dp_options(granularity => 1)) AS a
          FROM generate_series(2147483000, 2147484000) x, generate_series(1, 10) g GROUP BY g) s;

RESET ROLE;
DROP OWNED BY regress_dpq_accuracy;
DROP ROLE regress_dpq_accuracy;
