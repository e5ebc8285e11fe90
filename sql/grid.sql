-- threat 22: answers lie on the public value grid lower + i * granularity and never outside lower .. upper.
-- Their low bits reveal nothing.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_grid;
CREATE SCHEMA AUTHORIZATION regress_dpq_grid;
SELECT dp_grant_budget('regress_dpq_grid', 10000, smallest_charge => 1e-6);
SET ROLE regress_dpq_grid;
-- Values that are on none of the value grids. Each k is a group, so one charge gives many answers.
CREATE TABLE t AS SELECT k, k / 7.0::float8 + v * pi() AS x FROM generate_series(1, 500) k, generate_series(0, 2) v;
ANALYZE t;

CREATE FUNCTION answers(lower float8, upper float8, options jsonb) RETURNS SETOF float8 LANGUAGE sql AS
  'SELECT unnest(dp_quantiles(x, ''{0,0.1,0.5,0.9,1}'', 1, lower, upper, options)) FROM t GROUP BY k';

-- If the step is a decimal number, the answers are exact decimals.
SELECT lower, upper, step, count(a) AS answers, bool_and(a BETWEEN lower AND upper) AS between,
       bool_and(a = upper OR (a::text::numeric - lower::text::numeric) % step::text::numeric = 0) AS on_grid
  FROM (VALUES (1, 0::float8, 100::float8, 1::float8), (2, 0, 100, 0.01), (3, -10, 10, 0.5), (4, 17, 95, 1),
               (5, 0.5, 99.5, 1), (6, -1e6, 1e6, 1000), (7, 0, 1, 0.1), (8, 0, 10, 3), (9, 0, 10, 4),
               (10, -0.3, 0.4, 0.1), (11, 1e9, 1e9 + 1, 0.001), (12, 0, 4294967295, 1)) g(number, lower, upper, step),
       answers(lower, upper, dp_options(granularity => step)) a
 GROUP BY number, lower, upper, step ORDER BY number;

-- By default there are 2^20 cells. A step may also be too small for decimals. Such answers are rounded, but
-- each cell has one value.
SELECT lower, upper, sum(n) AS answers, bool_and(first >= lower AND last <= upper) AS between,
       bool_and(abs(first - lower - cell * step) <= 1e-14 * greatest(abs(lower), abs(upper))) AS on_grid,
       bool_and(first = last) AS one_value
  FROM (SELECT number, lower, upper, step, round((a - lower) / step) AS cell, min(a) AS first, max(a) AS last,
               count(*) AS n
          FROM (VALUES (1, 0::float8, 1048575::float8, 1::float8, '{}'::jsonb), (2, 0, 1, 1 / 1048575.0, '{}'),
                       (3, -7, 300, 307 / 1048575.0, '{}'), (4, 0, 1e-300, 1e-302, '{"granularity": 1e-302}'),
                       (5, 1, 2, 1 / 7.0::float8, dp_options(granularity => 1 / 7.0::float8)))
               g(number, lower, upper, step, options), answers(lower, upper, options) a
         GROUP BY number, lower, upper, step, cell) c
 GROUP BY number, lower, upper ORDER BY number;

-- Each cell is a possible answer, and no other value is. At this epsilon each of 12 cells has a probability of
-- at least 0.08; 4000 answers miss one of them with a probability below 12 * 0.92^4000 < 1e-100.
SELECT array_agg(DISTINCT a ORDER BY a) AS cells
  FROM (SELECT dp_median(x, 0.001, 0, 11, '{"granularity": 1}') AS a FROM t, generate_series(1, 8) c GROUP BY k, c) s;
-- The last step ends at the upper bound. It is left out if it is shorter than half of the other steps.
SELECT array_agg(DISTINCT a ORDER BY a) AS cells
  FROM (SELECT dp_median(x, 0.001, 0, 10, '{"granularity": 4}') AS a FROM t GROUP BY k) s;
SELECT array_agg(DISTINCT a ORDER BY a) AS cells
  FROM (SELECT dp_median(x, 0.001, 0, 10, '{"granularity": 3}') AS a FROM t GROUP BY k) s;

-- A value grid of one cell has one answer.
SELECT DISTINCT dp_quantiles(x, '{0,0.5,1}', 0.1, 5, 6, '{"granularity": 100}') AS one FROM t GROUP BY k;

-- Values are rounded to the nearest cell. The median is 500 ranks away from the next cell, at a lambda of 999
-- or more: other answers have a probability below exp(-400000).
SELECT dp_median(x, 1000, 0, 10, '{"granularity": 1}') AS m
  FROM (VALUES (1, 3.49), (2, 3.5), (3, 4.49), (4, 4.51)) v(number, x), generate_series(1, 1000)
 GROUP BY number ORDER BY number;

RESET ROLE;
DROP OWNED BY regress_dpq_grid;
DROP ROLE regress_dpq_grid;
