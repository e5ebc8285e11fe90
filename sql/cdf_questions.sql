-- Questions to a released CDF. The answers depend on the value alone, and their number has no limit.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_cdf_questions;
CREATE SCHEMA AUTHORIZATION regress_dpq_cdf_questions;
SELECT dp_grant_budget('regress_dpq_cdf_questions', 1);
SET ROLE regress_dpq_cdf_questions;
CREATE TABLE cdfs (name text PRIMARY KEY, cdf dp_cdf);
INSERT INTO cdfs VALUES
  -- Bins [0, 10), [10, 20), [20, 30), [30, 40] with 10, 0, 30 and 0 rows
  ('continuous', '{"lower": 0, "upper": 40, "bins": 4, "method": "tree", "epsilon": 0.1, "branching": [4],
                   "level_epsilon": [0.1], "rows": 40, "cumulative": [10, 10, 40, 40]}'),
  -- 0, 5, 1, 0 and 2 rows at -2, -1, 0, 1 and 2
  ('discrete', '{"lower": -2, "upper": 2, "granularity": 1, "bins": 5, "method": "tree", "epsilon": 0.1, "branching": [5],
                 "level_epsilon": [0.1], "rows": 8, "cumulative": [0, 5, 6, 6, 8]}'),
  -- 1, 2, 3 and 4 rows at 0, 4, 8 and 10: the last step is shorter
  ('short step', '{"lower": 0, "upper": 10, "granularity": 4, "bins": 4, "method": "tree", "epsilon": 0.1, "branching": [4],
                   "level_epsilon": [0.1], "rows": 10, "cumulative": [1, 3, 6, 10]}'),
  ('one bin', '{"lower": -1, "upper": 1, "bins": 1, "method": "histogram", "epsilon": 0.1, "branching": [1],
                "level_epsilon": [0.1], "rows": 4, "cumulative": [4]}'),
  ('one value', '{"lower": 0, "upper": 1, "granularity": 5, "bins": 1, "method": "histogram", "epsilon": 0.1, "branching": [1],
                  "level_epsilon": [0.1], "rows": 4, "cumulative": [4]}'),
  ('no rows', '{"lower": 0, "upper": 40, "bins": 4, "method": "tree", "epsilon": 0.1, "branching": [4],
                "level_epsilon": [0.1], "rows": 0, "cumulative": [0, 0, 0, 0]}'),
  ('no rows, discrete', '{"lower": 0, "upper": 3, "granularity": 1, "bins": 4, "method": "tree", "epsilon": 0.1, "branching": [4],
                          "level_epsilon": [0.1], "rows": 0, "cumulative": [0, 0, 0, 0]}'),
  ('none', NULL);
SET extra_float_digits = 0;

SELECT name, dp_cdf_rows(cdf) FROM cdfs ORDER BY name;

-- The fraction of rows up to x is a straight line within a bin and has a step at each cell of the value grid.
SELECT x, dp_cdf_probability(cdf, x)
  FROM cdfs, unnest('{-Infinity,-1e308,-0.001,0,1,9.9,10,15,20,21,29.9999,30,40,40.001,1e308,Infinity}'::float8[]) x
 WHERE name = 'continuous' ORDER BY x;
SELECT x, dp_cdf_probability(cdf, x)
  FROM cdfs, unnest('{-Infinity,-2.001,-2,-1.001,-1,-0.001,0,0.5,1,1.999,2,Infinity}'::float8[]) x
 WHERE name = 'discrete' ORDER BY x;
SELECT x, dp_cdf_probability(cdf, x) FROM cdfs, unnest('{-1,0,3.999,4,8,9.999,10,11}'::float8[]) x
 WHERE name = 'short step' ORDER BY x;
SELECT name, dp_cdf_probability(cdf, -1) AS "-1", dp_cdf_probability(cdf, 0) AS "0",
       dp_cdf_probability(cdf, 0.5) AS "0.5",
       dp_cdf_probability(cdf, 'Infinity') AS "Infinity"
  FROM cdfs ORDER BY name;
SELECT dp_cdf_probability(cdf, 'NaN') FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_probability(cdf, 'NaN') FROM cdfs WHERE name = 'no rows';
SELECT dp_cdf_probability(cdf, NULL) IS NULL AS "null" FROM cdfs WHERE name = 'continuous';

-- The rows from one value to another. On a value grid both are included.
SELECT "from", "to", dp_cdf_count(cdf, "from", "to")
  FROM cdfs, (VALUES (0::float8, 10::float8), (0, 5), (5, 25), (10, 20), (20, 30), (25, 25), (-5, 100), (30, 40),
                     (40, 50), (-9, -1),
                     ('-Infinity', 'Infinity'), ('-Infinity', '-Infinity'), ('Infinity', 'Infinity'),
                     ('-Infinity', 20), (20, 'Infinity')) v("from", "to")
 WHERE name = 'continuous' ORDER BY 1, 2;
SELECT "from", "to", dp_cdf_count(cdf, "from", "to")
  FROM cdfs, (VALUES (-2::float8, 2::float8), (-1, -1), (-1, 0), (-1.5, -0.5), (-0.9, 0.9), (0, 0), (1, 1), (2, 2),
                     (1.5, 9), (2.001, 9),
                     (3, 9), (-9, -3), ('-Infinity', 'Infinity'), ('Infinity', 'Infinity'), ('-Infinity', -1),
                     (2, 'Infinity')) v("from", "to")
 WHERE name = 'discrete' ORDER BY 1, 2;
SELECT "from", "to", dp_cdf_count(cdf, "from", "to")
  FROM cdfs, (VALUES (0::float8, 0::float8), (4, 8), (9, 10), (10, 10), (10, 99), (10.001, 99), (11, 99), (12, 99),
                     (13, 99)) v("from", "to")
 WHERE name = 'short step' ORDER BY 1, 2;
SELECT name, dp_cdf_count(cdf, '-Infinity', 'Infinity') AS all, dp_cdf_count(cdf, 0, 0) AS zero FROM cdfs
  ORDER BY name;
SELECT dp_cdf_count(cdf, 3, 2) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_count(cdf, 'NaN', 2) FROM cdfs WHERE name = 'discrete';
SELECT dp_cdf_count(cdf, 2, 'NaN') FROM cdfs WHERE name = 'no rows';
SELECT dp_cdf_count(cdf, NULL, 2) IS NULL AND dp_cdf_count(cdf, 2, NULL) IS NULL AS "null" FROM cdfs
  WHERE name = 'discrete';

-- A quantile is the least value up to which the curve reaches the fraction. Where there are no rows, the curve
-- is flat and the quantile is the start of the flat part.
SELECT q, dp_cdf_quantile(cdf, q) FROM cdfs, unnest('{0,0.1,0.125,0.25,0.2500001,0.5,0.625,0.999,1}'::float8[]) q
 WHERE name = 'continuous' ORDER BY q;
SELECT q, dp_cdf_quantile(cdf, q) FROM cdfs, unnest('{0,0.1,0.5,0.625,0.626,0.75,0.751,1}'::float8[]) q
 WHERE name = 'discrete' ORDER BY q;
SELECT name, dp_cdf_quantile(cdf, 0) AS "0", dp_cdf_quantile(cdf, 0.5) AS "0.5", dp_cdf_quantile(cdf, 1) AS "1"
  FROM cdfs ORDER BY name;
SELECT dp_cdf_quantile(cdf, -0.001) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_quantile(cdf, 1.001) FROM cdfs WHERE name = 'discrete';
SELECT dp_cdf_quantile(cdf, 'NaN'::float8) FROM cdfs WHERE name = 'no rows';
SELECT dp_cdf_quantile(cdf, NULL::float8) IS NULL AS "null" FROM cdfs WHERE name = 'discrete';
-- In arrays of any shape
SELECT name, dp_cdf_quantiles(cdf, '{1,0,0.5,0.5}'::float8[]), dp_cdf_quantiles(cdf, ARRAY[0.5]) AS one,
       dp_cdf_quantiles(cdf, '{}'::float8[]) AS none, dp_cdf_quantiles(cdf, '{0.5,NULL,1}'::float8[]) AS "null",
       dp_cdf_quantiles(cdf, '{{0,0.5},{1,NULL}}'::float8[]) AS square,
       dp_cdf_quantiles(cdf, '[3:4]={0,1}'::float8[]) AS bounds
  FROM cdfs WHERE name IN ('discrete', 'no rows', 'none') ORDER BY name;
SELECT dp_cdf_quantiles(cdf, NULL::float8[]) IS NULL AS "null" FROM cdfs WHERE name = 'discrete';
SELECT dp_cdf_quantiles(cdf, '{0.5,1.5}'::float8[]) FROM cdfs WHERE name = 'discrete';
SELECT dp_cdf_quantiles(cdf, '{0.5,NaN}'::float8[]) FROM cdfs WHERE name = 'no rows';
SELECT cardinality(dp_cdf_quantiles(cdf, array_fill(0.5::float8, ARRAY[100000]))) FROM cdfs WHERE name = 'discrete';

-- The SQLSTATE of each of these errors
\set VERBOSITY sqlstate
SELECT dp_cdf_probability(cdf, 'NaN') FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_count(cdf, 3, 2) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_quantile(cdf, 2) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_quantiles(cdf, '{2}'::float8[]) FROM cdfs WHERE name = 'continuous';
\set VERBOSITY default

-- dp_cdf_quantile inverts dp_cdf_probability where the curve rises: for every number of rows up to 100 the
-- fraction at a cell of the value grid leads back to this cell.
SELECT count(*) AS fractions,
       count(*) FILTER (WHERE dp_cdf_quantile(cdf, dp_cdf_probability(cdf, 0)) <> 0) AS astray
  FROM (SELECT format('{"lower": 0, "upper": 1, "granularity": 1, "bins": 2, "method": "tree", "epsilon": 1, "branching": [2],
                        "level_epsilon": [1], "rows": %s, "cumulative": [%s, %1$s]}', n, k)::dp_cdf AS cdf
          FROM generate_series(1, 100) n, generate_series(1, n) k) s;
SELECT bool_and(abs(dp_cdf_quantile(cdf, dp_cdf_probability(cdf, x::float8)) - x::float8) < 1e-12) AS back
  FROM cdfs, generate_series(0.5, 9.5, 0.25) x WHERE name = 'continuous';
-- A decimal that is not exact in binary still means the intended value or edge of a bin.
CREATE TABLE cents AS
  SELECT format('{"lower": -0.3, "upper": 0.3, %s"bins": %s, "method": "tree", "epsilon": 1, "branching": [%2$s],
                  "level_epsilon": [1], "rows": %2$s, "cumulative": [%s]}', step, bins,
                (SELECT string_agg(i::text, ', ') FROM generate_series(1, bins) i))::dp_cdf AS cdf, step, bins
    FROM (VALUES ('"granularity": 0.01, ', 61), ('', 60)) v(step, bins);
SELECT bins, bool_and(abs(dp_cdf_probability(cdf, cent / 100.0::float8) * bins - up_to) < 1e-9) AS probability,
       bool_and(abs(dp_cdf_count(cdf, -30 * 0.01::float8, cent * 0.01::float8) - up_to) < 1e-9) AS count,
       bool_and(step = '' OR dp_cdf_count(cdf, cent * 0.01::float8, cent * 0.01::float8) = 1) AS at,
       bool_and(CASE step WHEN '' THEN abs(quantile - cent / 100.0::float8) < 1e-9 ELSE quantile = (cent / 100.0)::float8 END)
         AS quantile
  FROM cents, generate_series(-30, 30) cent,
       LATERAL (SELECT cent + bins - 30 AS up_to,
                       dp_cdf_quantile(cdf, dp_cdf_probability(cdf, cent / 100.0::float8)) AS quantile) s
 GROUP BY bins ORDER BY bins;

-- Questions to a stored release cost nothing and need no budget.
INSERT INTO cdfs SELECT 'released', dp_cdf(x, 0.5, 0, 1000) FROM generate_series(1, 1000) x;
SELECT epsilon_spent FROM dp_budget;
RESET ROLE;
SELECT dp_revoke_budget('regress_dpq_cdf_questions');
SET ROLE regress_dpq_cdf_questions;
SELECT dp_cdf_rows(cdf) = dp_cdf_count(cdf, '-Infinity', 'Infinity') AS rows,
       dp_cdf_quantiles(cdf, '{0,0.5,1}'::float8[]) = dp_cdf_quantiles(cdf, '{0,0.5,1}'::float8[]) AS quantiles,
       dp_cdf_probability(cdf, 500) = dp_cdf_count(cdf, '-Infinity', 500) / dp_cdf_rows(cdf) AS probability,
       (dp_cdf_error(cdf)).rows > 0 AS error, (SELECT count(*) FROM dp_cdf_points(cdf)) AS points,
       (SELECT count(*) > 0 FROM dp_cdf_plot(cdf)) AS plot, length(dp_cdf_svg(cdf)) > 0 AS svg,
       (dp_cdf_expected_error(0.5)).simultaneous = (dp_cdf_error(cdf)).rows AS expected
  FROM cdfs WHERE name = 'released';
SELECT count(*) FROM dp_cdf_points((SELECT cdf FROM cdfs WHERE name = 'none'));
SELECT count(*) AS charges FROM dp_ledger;
RESET ROLE;
SELECT count(*) AS charges, sum(epsilon) AS epsilon FROM dp_ledger WHERE role = 'regress_dpq_cdf_questions';

-- The functions are immutable: an index, a generated column and parallel workers can use them. Texts of times depend on
-- the time zone of the session.
SELECT proname, provolatile, proparallel, proisstrict FROM pg_proc WHERE proname ~ '^dp_cdf_'
  ORDER BY proname, pronargs, provolatile;
CREATE TABLE regress_dpq_cdf_questions.report (
  cdf dp_cdf, median float8 GENERATED ALWAYS AS (dp_cdf_quantile(cdf, 0.5)) STORED);
INSERT INTO regress_dpq_cdf_questions.report SELECT cdf FROM regress_dpq_cdf_questions.cdfs WHERE name = 'continuous';
SELECT median FROM regress_dpq_cdf_questions.report;

SET client_min_messages = warning;
DROP SCHEMA regress_dpq_cdf_questions CASCADE;
DROP OWNED BY regress_dpq_cdf_questions;
DROP ROLE regress_dpq_cdf_questions;
