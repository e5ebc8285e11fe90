-- dp_iqr: its answers, when it declines, and its charges.
--
-- At epsilon 1000 the test and the answer have an epsilon of 492 each; with thousands of rows they have 328 and
-- 656, and the scale is finer. So for a delta of 1e-6 or more, noise changes the outcome of the test with a
-- probability below exp(-328) < 1e-140. (Without noise the test fails if and only if one replaced row can move
-- the range out of its bin.) An answer to 2000 rows or more is off by one hundredth (82 or more of the 1024 steps
-- of the scale) with a probability below 2 exp(-39) < 1e-16.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_iqr;
CREATE SCHEMA AUTHORIZATION regress_dpq_iqr;
SELECT dp_grant_budget('regress_dpq_iqr', 1000000, 0.99, smallest_charge => 1e-6);
SET ROLE regress_dpq_iqr;

-- Sorted, the values are (i / 20000)^3 for i = 1 .. 20000: the quartiles are 1/64 and 27/64.
CREATE TABLE t AS
  SELECT x::float8, x::numeric AS n, i % 2 AS a, i % 5 AS b
    FROM (SELECT i, ((i * 7919 % 20000 + 1) / 20000.0)^3 AS x FROM generate_series(1, 20000) i) s;
CREATE FUNCTION is_near(answer float8, expected float8) RETURNS boolean LANGUAGE sql
  RETURN abs(answer / expected - 1) < 0.01;

SELECT pg_typeof(dp_iqr(x, 1, 1e-6)) AS type FROM t;
-- Values of any scale and location need no bounds.
SELECT is_near(dp_iqr(x, 1000, 1e-6), 13 / 32.0) AS plain,
       is_near(dp_iqr(n, 1000, 1e-6), 13 / 32.0) AS numeric,
       is_near(dp_iqr(x, 1000, 1e-6, '{}'), 13 / 32.0) AS options,
       is_near(dp_iqr(n, 1000, 1e-6, NULL), 13 / 32.0) AS numeric_options,
       is_near(dp_iqr(x, 1000, 1e-6, dp_options('propose-test-release')), 13 / 32.0) AS method,
       is_near(dp_iqr(-x, 1000, 1e-6), 13 / 32.0) AS negative,
       is_near(dp_iqr(1000 * x - 123, 1000, 1e-6), 13000 / 32.0) AS both_signs,
       is_near(dp_iqr(x * 1e300, 1000, 1e-6), 13e300 / 32) AS large,
       is_near(dp_iqr(x * 1e-300, 1000, 1e-6), 13e-300 / 32) AS small
  FROM t;
SELECT is_near(dp_iqr((10000 * x)::int2, 1000, 1e-6), 4063) AS int2,
       is_near(dp_iqr((1e9 * x)::int4, 1000, 1e-6), 13e9 / 32) AS int4,
       is_near(dp_iqr((1e18 * n)::int8, 1000, 1e-6), 13e18 / 32) AS int8,
       is_near(dp_iqr(x::float4, 1000, 1e-6), 13 / 32.0) AS float4
  FROM t;
-- The answer is (1 + 1/ln 500)^(j / 1024) with a whole number j. (The noise of the number of rows has scale 0.064:
-- the noisy number differs from 500 with a probability below 4e-7.)
SELECT abs(j - round(j)) < 1e-5 AS on_grid
  FROM (SELECT 1024 * ln(dp_iqr(x, 1000, 1e-6)) / ln(1 + 1 / ln(500::float8)) AS j
          FROM (SELECT x FROM t LIMIT 500) few) s;
-- With more rows the scale is finer and its unit is below 0.01. The noise has a scale of 1/656 of the unit, so an
-- answer is off by 0.0005 with a probability below 1e-14. (On the coarser scale above at least one of ten answers
-- would be off by that much, except with a probability below 1e-9.)
SELECT bool_and(abs(a / (13 / 32.0) - 1) < 0.0005) AS close
  FROM (SELECT dp_iqr(x, 1000, 1e-6) AS a FROM t, generate_series(1, 10) g GROUP BY g) s;
-- At an epsilon of 1 the answer is noisy: it is off by a factor of 1.1^(+-2). Each step has a probability below
-- 0.0003, so ten answers are the same with a probability below 1e-30. One of them is off by a factor of 30 with a
-- probability below 1e-6.
SELECT count(DISTINCT a) > 1 AS fresh, bool_and(a BETWEEN 13 / 32.0 / 30 AND 13 / 32.0 * 30) AS near
  FROM (SELECT dp_iqr(x, 1, 1e-6) AS a FROM t, generate_series(1, 10) g GROUP BY g) s;

-- If all rows are equal, the answer is exactly 0 from five rows on. With four or fewer, one row decides.
SELECT n, dp_iqr(7, 1000, 1e-6) AS equal, dp_iqr(7.5, 1000, 0.4) AS large_delta,
       dp_iqr(7::numeric, 1000, 1e-6) AS numeric
  FROM unnest('{1,2,3,4,5,6,7,8,100}'::int[]) n, generate_series(1, n)
 GROUP BY n ORDER BY n;
SELECT dp_iqr(i, 1000, 1e-6) AS one FROM generate_series(1, 1) i;
SELECT dp_iqr(i, 1000, 1e-6) AS two FROM generate_series(1, 2) i;
SELECT dp_iqr(i, 1000, 1e-6) AS three FROM generate_series(1, 3) i;
SELECT dp_iqr(i, 1000, 1e-6) AS four FROM generate_series(1, 4) i;
-- Half of the rows are equal. If they lie exactly between the quartiles, one row decides. With two more of them at
-- each end the answer is 0. If they lie elsewhere, the answer is ordinary.
SELECT dp_iqr(CASE WHEN i BETWEEN 5000 AND 15000 THEN 10000 ELSE i END, 1000, 1e-6) AS exactly,
       dp_iqr(CASE WHEN i BETWEEN 4998 AND 15002 THEN 10000 ELSE i END, 1000, 1e-6) AS middle,
       is_near(dp_iqr(greatest(i, 10000), 1000, 1e-6), 5000) AS low,
       is_near(dp_iqr(greatest(i, 10000), 1000, 1e-6) FILTER (WHERE i % 2 = 0), 5000) AS low_filtered
  FROM generate_series(1, 20000) i;

-- The test and the answer get the epsilon and the delta of the call. The interquartile range of 1000 equal rows
-- changes if 250 of them change. The test needs a noisy distance of 188, 351, 373 and 177: another outcome has a
-- probability below exp(-29).
SELECT dp_iqr(1, 1, 1e-40) AS answered, dp_iqr(1, 1, 1e-75) AS less_delta, dp_iqr(1, 0.5, 1e-40) AS less_epsilon,
       dp_iqr(1, 2, 1e-75) AS more_epsilon
  FROM generate_series(1, 1000);
-- With few rows an answer has a probability of at most delta.
SELECT n, dp_iqr(g, 1, 1e-9) AS answer, dp_iqr(1e6 * g, 0.1, 1e-12) AS far
  FROM generate_series(1, 4) n, generate_series(1, n) g GROUP BY n ORDER BY n;

-- If one row decides, an answer has the probability exp(-6 e) / (1 + exp(-e)) = 0.0324 here, with e = 63/128. So 648
-- of 20000 groups get an answer on average. By Chernoff's inequality fewer than 448 or more than 848 do with a
-- probability below 1e-12.
SELECT count(a) BETWEEN 448 AND 848 AS answers, max(a) AS most
  FROM (SELECT dp_iqr(i, 1, 0.05) AS a FROM generate_series(1, 20000) i GROUP BY i) s;

-- threat 20: no rows, or no values
CREATE TABLE empty (x float8, n numeric);
SELECT dp_iqr(x, 1, 1e-9) AS x, dp_iqr(n, 1, 1e-9) AS n FROM empty;
SELECT dp_iqr(x, 1, 1e-9) AS x, dp_iqr(n, 1, 1e-9, dp_options()) AS n FROM t WHERE false;
SELECT dp_iqr(x, 1, 1e-9) FILTER (WHERE x > 2) AS filtered, dp_iqr(NULLIF(x, x), 1, 1e-9) AS nulls,
       dp_iqr(NULLIF(n, n), 1, 1e-9) AS null_numerics, dp_iqr('NaN'::float8, 1, 1e-9) AS nans,
       dp_iqr('NaN'::numeric, 1, 1e-9) AS nan_numerics
  FROM t;
SELECT count(*) FILTER (WHERE a BETWEEN 0 AND 10) AS answers
  FROM (SELECT dp_iqr(x, 1, 0, '{"method": "quantiles", "lower": 10, "upper": 20}') AS a FROM empty
        UNION ALL SELECT dp_iqr(n, 1, 0, '{"method": "quantiles", "lower": 10, "upper": 20}') FROM t WHERE false
        UNION ALL SELECT dp_iqr(NULLIF(x, x), 1, 0, '{"method": "quantiles", "lower": 10, "upper": 20}') FROM t) s;

-- threat 21: one odd value raises no error, no warning and no notice. The answer to five equal rows is 0. NULL and
-- NaN do not count as rows, so beside them there are still five rows. Any other value is a row: dp_iqr declines if
-- one of six rows differs, but answers if one of 21 rows differs.
SET client_min_messages = log;
CREATE TABLE floats (x float8);
INSERT INTO floats VALUES
  (NULL), ('NaN'), ('Infinity'), ('-Infinity'), (1.7976931348623157e308), (-1.7976931348623157e308), (5e-324),
  (-5e-324), (2.2250738585072014e-308), ('-0'), (-1), (1e15);
CREATE TABLE numerics (x numeric);
INSERT INTO numerics VALUES
  (NULL), ('NaN'), ('Infinity'), ('-Infinity'), (1e400), (-1e400), ('1e131000'), ('-1e131000'), (1e-400), (-1e-400),
  ('1e-16000'), (1.7976931348623157e308), (1.7976931348623159e308), (-0.0), (-1), (repeat('9', 1000)::numeric);
CREATE TABLE ones AS SELECT n, 1 AS x FROM unnest('{0,3,4,5,20}'::int[]) n, generate_series(1, n);
SELECT n, coalesce(odd.x::text, 'NULL') IN ('NULL', 'NaN') AS missing, count(DISTINCT odd) AS values,
       count(a) AS answers, max(a) AS answer
  FROM floats odd, unnest('{0,3,4,5,20}'::int[]) n,
       LATERAL (SELECT dp_iqr(v, 1000, 1e-6) AS a
                  FROM (SELECT odd.x AS v UNION ALL SELECT ones.x FROM ones WHERE ones.n = n.n) u) s
 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT n, coalesce(odd.x::text, 'NULL') IN ('NULL', 'NaN') AS missing, count(DISTINCT odd) AS values,
       count(a) AS answers, max(a) AS answer
  FROM numerics odd, unnest('{0,3,4,5,20}'::int[]) n,
       LATERAL (SELECT dp_iqr(v, 1000, 1e-6) AS a
                  FROM (SELECT odd.x AS v UNION ALL SELECT ones.x FROM ones WHERE ones.n = n.n) u) s
 GROUP BY 1, 2 ORDER BY 1, 2;
-- Many odd values. Infinities and values beyond float8 count as the largest finite numbers. The interquartile range
-- is at most the largest finite number, and the answer at most 10^307.5. (The noise may make it a little smaller.)
SELECT dp_iqr('Infinity'::float8, 1000, 1e-6) AS infinities, dp_iqr(1e400, 1000, 1e-6) AS beyond,
       dp_iqr('-Infinity'::numeric, 1000, 1e-6) AS negative, dp_iqr(5e-324, 1000, 1e-6) AS denormals,
       dp_iqr(1.7976931348623157e308, 1000, 1e-6) AS largest
  FROM generate_series(1, 20);
CREATE FUNCTION is_largest(answer float8) RETURNS boolean LANGUAGE sql RETURN answer BETWEEN 1e307 AND 4e307;
SELECT is_largest(dp_iqr(i * 'Infinity'::float8, 1000, 1e-6)) AS infinities,
       is_largest(dp_iqr(i * 1.7976931348623157e308, 1000, 1e-6)) AS largest,
       is_largest(dp_iqr(i * 1.5e308, 1000, 1e-6)) AS large,
       is_largest(dp_iqr(i * 1e400, 1000, 1e-6)) AS beyond,
       is_largest(dp_iqr(i * 'Infinity'::numeric, 1000, 1e-6)) AS numeric_infinities,
       is_largest(dp_iqr(CASE i WHEN 1 THEN 1e400 ELSE 0 END, 1000, 1e-6)) AS half_beyond,
       dp_iqr(i * 5e-324, 1000, 1e-6) BETWEEN 1e-308 AND 1e-307 AS denormals,
       dp_iqr(i * 1e-400, 1000, 1e-6) AS underflow
  FROM unnest('{-1,1}'::int[]) i, generate_series(1, 20);
-- Infinities in the outer quarters change nothing.
SELECT is_near(dp_iqr(CASE WHEN x < 0.001 THEN '-Infinity' WHEN x > 0.8 THEN 'Infinity' ELSE x END, 1000, 1e-6),
               13 / 32.0) AS outer_infinities,
       is_near(dp_iqr(CASE WHEN x < 0.001 THEN -1e400 WHEN x > 0.8 THEN 1e400 ELSE n END, 1000, 1e-6),
               13 / 32.0) AS outer_beyond,
       is_near(dp_iqr(v, 1000, 1e-6), 13 / 32.0) AS beside_missing
  FROM t, unnest(ARRAY[x, 'NaN', NULL]) v;
RESET client_min_messages;

-- Groups, filters and other modifiers of the call
SELECT a, is_near(dp_iqr(x, 1000, 1e-6), 13 / 32.0) AS near, is_near(dp_iqr(n, 1000, 1e-6), 13 / 32.0) AS numeric,
       is_near(dp_iqr(x, 1000, 1e-6) FILTER (WHERE x <= 27 / 64.0), 702 / 4096.0) AS filtered,
       dp_iqr(x, 1000, 1e-6) FILTER (WHERE a = 1 AND x < 0) AS nothing
  FROM t GROUP BY a ORDER BY a;
SELECT a, b, is_near(dp_iqr((1 + b) * x, 1000, 1e-6), (1 + b) * 13 / 32.0) AS near
  FROM t GROUP BY ROLLUP (b, a) HAVING b IS NOT NULL ORDER BY b, a;
SELECT g, is_near(dp_iqr(g * x, 1000, 1e-6), g * 13 / 32.0) AS near
  FROM t, unnest('{1,1000,1000000}'::int[]) g GROUP BY g ORDER BY g;
-- 900 of 1000 rows are 0. A plain call aggregates all rows, DISTINCT their 101 different values.
SELECT dp_iqr(x, 1000, 1e-6) AS plain, dp_iqr(DISTINCT x, 1000, 1e-6) BETWEEN 45 AND 55 AS "distinct",
       dp_iqr(x, 1000, 1e-6 ORDER BY x DESC) AS ordered
  FROM (SELECT greatest(i - 900, 0) AS x FROM generate_series(1, 1000) i) s;

-- Method quantiles: the difference of two private quartiles between bounds. The quartiles lie 24 rows or more from
-- the next cell, at a lambda of 8. So F is 32 or more in other cells, and these have a probability below
-- exp(60 - 8 * 32) < 1e-80.
CREATE TABLE u AS
  SELECT v AS x, v::numeric AS n, v % 2 AS a FROM generate_series(-40, 40) v, generate_series(1, 100);
SELECT dp_iqr(x, 1000, 0, dp_options('quantiles', granularity => 1, lower => -100, upper => 50)) AS x,
       dp_iqr(n, 1000, 0, dp_options('quantiles', granularity => 1, lower => -100, upper => 50)) AS n,
       dp_iqr(x + 60, 1000, 0, dp_options('quantiles', granularity => 1, lower => 10, upper => 110)) AS moved,
       dp_iqr(x, 1000, 0, dp_options('quantiles', granularity => 1, lower => -40, upper => 15)) AS cut_off,
       dp_iqr(x, 1000, 0, dp_options('quantiles', granularity => 1, lower => 0, upper => 10)) AS cut_off_twice,
       dp_iqr(x, 1000, 0, dp_options('quantiles', granularity => 1, lower => 60, upper => 70)) AS outside,
       dp_iqr(x / 100.0, 1000, 0, dp_options('quantiles', 0.01, lower => -1, upper => 1)) AS cents,
       abs(dp_iqr(x, 1000, 0, dp_options('quantiles', lower => -100, upper => 50)) - 40) < 0.001 AS default_grid
  FROM u;
SELECT a, dp_iqr(x, 1000, 0, '{"method": "quantiles", "granularity": 10, "lower": -100, "upper": 50}') AS a_group
  FROM u GROUP BY a ORDER BY a;
-- dp_iqr spends its epsilon like dp_quantiles: of 5000 groups, both find about the same number with two different
-- quartiles. By Hoeffding's inequality the numbers differ by 300 or more with a probability below 2 exp(-18).
SELECT count(*) AS groups, abs(sum(a) - sum(b[2] - b[1])) < 300 AS same
  FROM (SELECT dp_iqr(v, 0.5, 0, dp_options('quantiles', 1, lower => 0, upper => 1)) AS a,
               dp_quantiles(v, '{0.25,0.75}', 0.5, 0, 1, dp_options('auto', 1)) AS b
          FROM generate_series(1, 5000) g, unnest('{0,0,0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1,1,1}'::int[]) v GROUP BY g) s;
-- Infinities and values beyond float8 count as the nearer bound. NULL and NaN are ignored. There is always an answer.
SELECT dp_iqr(v, 1000, 0, dp_options('quantiles', granularity => 1, lower => -100, upper => 50)) AS ignored
  FROM u, unnest(ARRAY[x, 'NaN', NULL]::float8[]) v;
SELECT dp_iqr(v, 1000, 0, dp_options('quantiles', granularity => 1, lower => -100, upper => 50)) AS bounds,
       dp_iqr(v::float8, 1000, 0, dp_options('quantiles', granularity => 1, lower => -100, upper => 50)) AS float_bounds
  FROM u, unnest(ARRAY['-Infinity', 'Infinity']::numeric[]) v;
SELECT dp_iqr(v, 1000, 0, dp_options('quantiles', granularity => 1, lower => -100, upper => 50)) AS bounds
  FROM u, unnest(ARRAY[-1e400, 1e400]) v;
SELECT bool_and(a BETWEEN 0 AND 150) AS answered
  FROM (SELECT dp_iqr(x, 0.1, 0, dp_options('quantiles', lower => -100, upper => 50)) AS a FROM numerics GROUP BY x) s;
SELECT dp_iqr(x, 1, 0, dp_options('quantiles', lower => -8e307, upper => 8e307)) BETWEEN 0 AND 1.6e308 AS wide,
       dp_iqr(x, 1, 0, dp_options('quantiles', lower => 1e-300, upper => 2e-300)) BETWEEN 0 AND 1e-300 AS narrow
  FROM floats;

-- Charges
CREATE FUNCTION run(query text, OUT rows bigint, OUT epsilon numeric, OUT delta numeric) LANGUAGE plpgsql AS $$
DECLARE
  before record;
BEGIN
  SELECT epsilon_spent, delta_spent INTO before FROM dp_budget;
  EXECUTE query;
  GET DIAGNOSTICS rows = ROW_COUNT;
  SELECT epsilon_spent - before.epsilon_spent, delta_spent - before.delta_spent INTO epsilon, delta FROM dp_budget;
END
$$;
SELECT rows, trim_scale(epsilon) AS epsilon, trim_scale(delta) AS delta, query FROM (VALUES
  (1, 'SELECT dp_iqr(x, 0.5, 1e-6) FROM t'),
  (2, 'SELECT dp_iqr(n, 0.25, 1e-7, dp_options()) FROM t'),
  -- An answer that is NULL, and one without input
  (3, 'SELECT dp_iqr(x, 0.5, 1e-9) FROM t WHERE x = 1'),
  (4, 'SELECT dp_iqr(x, 0.5, 1e-9) FROM t WHERE false'),
  (5, 'SELECT dp_iqr(x, 0.5, 1e-9) FILTER (WHERE false) FROM t GROUP BY b'),
  (6, 'SELECT dp_iqr(NULL::float8, 0.5, 1e-9) FROM t'),
  (7, 'SELECT dp_iqr(x, 0.5, 1e-9) FROM t WHERE false GROUP BY a'),
  (8, 'SELECT a, b, dp_iqr(x, 0.5, 1e-6) FROM t GROUP BY a, b'),
  (9, 'SELECT a, b, dp_iqr(x, 0.5, 1e-6) FROM t GROUP BY CUBE (a, b)'),
  (10, 'SELECT dp_iqr(x, 0.5, 1e-6), dp_iqr(x, 0.25, 1e-7) FROM t'),
  (11, 'SELECT dp_iqr(x, 0.5, 1e-6), dp_iqr(x, 0.5, 1e-7) FROM t'),
  (12, 'SELECT dp_iqr(x, 0.5, 1e-6) + dp_iqr(x, 0.5, 1e-6) FROM t'),
  (13, 'SELECT i, (SELECT dp_iqr(x, 0.5, 1e-6) FROM t WHERE a <> i) FROM generate_series(1, 3) i'),
  (14, 'SELECT dp_iqr(x, 0.5, 0, dp_options(''quantiles'', lower => 0, upper => 1)) FROM t'),
  (15, 'SELECT dp_iqr(x, 0.5, -0.0::float8, dp_options(''quantiles'', lower => 0, upper => 1)) FROM t'),
  (16, 'SELECT a, dp_iqr(x, 0.5, 0, ''{"method": "quantiles", "lower": 0, "upper": 1}'') FROM t GROUP BY a')
) AS q(number, query), run(query) ORDER BY number;
SELECT function, mechanism, neighbours, epsilon, delta, grouping_sets, groups, count(*) AS charges
  FROM dp_ledger
 WHERE query LIKE '%FROM (VALUES%'
 GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 2, 4, 5, 6, 7;
SELECT delta = 1e-300 AS exact FROM run('SELECT dp_iqr(x, 0.5, 1e-300) FROM t');
SELECT epsilon_spent = (SELECT sum(epsilon) FROM dp_ledger) AS epsilon_agrees,
       delta_spent = (SELECT sum(delta) FROM dp_ledger) AS delta_agrees FROM dp_budget;

-- threat 12: bad parameters cost nothing for any data.
SELECT epsilon_spent AS epsilon_before, delta_spent AS delta_before FROM dp_budget \gset
SELECT dp_iqr(x, 'NaN', 1e-6) FROM t;
SELECT dp_iqr(x, 0, 1e-6) FROM t;
SELECT dp_iqr(x, 1001, 1e-6) FROM t;
SELECT dp_iqr(x, NULL, 1e-6) FROM t;
SELECT dp_iqr(x, 1, 'NaN') FROM t;
SELECT dp_iqr(x, 1, 0) FROM t;
SELECT dp_iqr(x, 1, -1e-6) FROM t;
SELECT dp_iqr(x, 1, 9.9e-301) FROM t;
SELECT dp_iqr(x, 1, 0.51) FROM t;
SELECT dp_iqr(x, 1, 'Infinity') FROM t;
SELECT dp_iqr(x, 1, NULL) FROM t;
\echo :SQLSTATE
SELECT dp_iqr(x, 1, x) FROM t;
SELECT dp_iqr(x, x, 1e-6) FROM t;
SELECT dp_iqr(x, 1, random()) FROM t;
SELECT dp_iqr(x, 1, 1e-6, jsonb_build_object('method', 'quantiles')) FROM t;
-- Options of both methods, of one method, of other functions, and no options
SELECT dp_iqr(x, 1, 1e-6, dp_options(lower => 0)) FROM t;
SELECT dp_iqr(x, 1, 1e-6, dp_options(upper => 1)) FROM t;
SELECT dp_iqr(x, 1, 1e-6, dp_options('propose-test-release', 1)) FROM t;
SELECT dp_iqr(x, 1, 1e-6, dp_options('quantiles', lower => 0, upper => 1)) FROM t;
SELECT dp_iqr(x, 1, 'NaN', dp_options('quantiles', lower => 0, upper => 1)) FROM t;
SELECT dp_iqr(x, 1, NULL, dp_options('quantiles', lower => 0, upper => 1)) FROM t;
SELECT dp_iqr(x, 0, 0, dp_options('quantiles', lower => 0, upper => 1)) FROM t;
SELECT dp_iqr(x, 1, 0, dp_options('quantiles')) FROM t;
SELECT dp_iqr(x, 1, 0, dp_options('quantiles', lower => 0)) FROM t;
SELECT dp_iqr(x, 1, 0, dp_options('quantiles', upper => 1)) FROM t;
\echo :SQLSTATE
SELECT dp_iqr(x, 1, 0, dp_options('quantiles', lower => 1, upper => 0)) FROM t;
SELECT dp_iqr(x, 1, 0, dp_options('quantiles', 1e-10, lower => 0, upper => 1)) FROM t;
SELECT dp_iqr(x, 1, 0, '{"method": "quantiles", "lower": 0, "upper": 1e400}') FROM t;
SELECT dp_iqr(x, 1, 0, '{"method": "quantiles", "lower": "0", "upper": 1}') FROM t;
SELECT dp_iqr(x, 1, 0, '{"method": "quantiles", "lower": null, "upper": 1}') FROM t;
SELECT dp_iqr(x, 1, 0, '{"method": "quantiles", "granularity": 0, "lower": 0, "upper": 1}') FROM t;
SELECT dp_iqr(x, 1, 1e-6, '{"Method": "quantiles"}') FROM t;
SELECT dp_iqr(x, 1, 1e-6, '{"bins": 10}') FROM t;
SELECT dp_iqr(x, 1, 1e-6, '{"method": "approximate"}') FROM t;
SELECT dp_iqr(x, 1, 1e-6, '{"method": "tree"}') FROM t;
SELECT dp_iqr(x, 1, 1e-6, '[]') FROM t;
SELECT dp_median(x, 1, 0, 1, dp_options(lower => 0)) FROM t;
SELECT dp_cdf(x, 1, 0, 1, dp_options('quantiles')) FROM t;
-- The error is the same for both types of value and for any input: it depends on the parameters, not on the data.
CREATE FUNCTION error_of(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE query;
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
SELECT parameters, min(error) AS error, count(DISTINCT error) AS errors
  FROM (VALUES ('''NaN'', 1e-6'), ('1e308, 1e-6'), ('NULL, 1e-6'), ('1, 0'), ('1, ''NaN'''), ('1, 1'), ('1, NULL'),
               ('1, x'), ('random(), 1e-6'), ('1, 1e-6, ''{"lower": 1}'''), ('1, 1e-6, ''{"upper": 1}'''),
               ('1, 1e-6, ''{"granularity": 1}'''), ('1, 1e-6, ''{"Lower": 1}'''),
               ('1, 0, ''{"method": "quantiles"}'''), ('1, 1e-6, ''{"method": "quantiles", "lower": 0, "upper": 1}'''),
               ('1, 0, ''{"method": "quantiles", "lower": 0, "upper": 0}''')) p(parameters),
       (VALUES ('t'), ('t WHERE false'), ('(SELECT NULLIF(x, x) AS x FROM t) s')) i(input),
       (VALUES ('x'), ('x::numeric')) v(value),
       error_of(format('SELECT dp_iqr(%s, %s) FROM %s', value, parameters, input)) error
 GROUP BY parameters ORDER BY parameters COLLATE "C";
SELECT epsilon_spent = :epsilon_before AND delta_spent = :delta_before AS not_charged FROM dp_budget;
-- dp_options checks its arguments.
SELECT dp_options(lower => 'Infinity');
SELECT dp_options(upper => 'NaN');
\echo :SQLSTATE
SELECT dp_options('quantiles', lower => -0.1, upper => 0.1::float8 + 0.2);
SELECT dp_options(upper => 5, lower => NULL), dp_options('quantiles', 1, NULL, 0, 10);

-- The smallest and largest parameters
SELECT dp_iqr(x, 1e-6, 1e-300) AS smallest, is_near(dp_iqr(x, 1000, 0.5), 13 / 32.0) AS largest FROM t;

-- There is no charge unless both epsilon and delta fit.
RESET ROLE;
CREATE ROLE regress_dpq_iqr_delta;
GRANT USAGE ON SCHEMA regress_dpq_iqr TO regress_dpq_iqr_delta;
GRANT SELECT ON regress_dpq_iqr.t TO regress_dpq_iqr_delta;
SELECT dp_grant_budget('regress_dpq_iqr_delta', 3);
SET ROLE regress_dpq_iqr_delta;
SET search_path = regress_dpq_iqr, public;
SELECT dp_iqr(x, 1, 1e-6) FROM t;
\echo :SQLSTATE
SELECT dp_iqr(x, 1, 1e-12) FROM t WHERE false;
SELECT dp_iqr(x, 1, 0, dp_options('quantiles', lower => 0, upper => 1)) IS NOT NULL AS quantiles FROM t;
SELECT dp_iqr(x, 1, '-0', dp_options('quantiles', lower => 0, upper => 1)) IS NOT NULL AS quantiles FROM t;
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_iqr_delta', 3.5, 3e-6);
SET ROLE regress_dpq_iqr_delta;
-- Ten charges of 0.1e-6 add up to exactly 1e-6.
DO $$ BEGIN FOR i IN 1..10 LOOP PERFORM dp_iqr(x, 0.01, 1e-7) FROM t; END LOOP; END $$;
SELECT epsilon_spent, epsilon_remaining, delta_spent * 1e6 AS delta_spent, delta_remaining * 1e6 AS delta_remaining
  FROM dp_budget;
SELECT dp_iqr(x, 0.1, 2.1e-6) FROM t;
SELECT a, dp_iqr(x, 0.1, 1e-6) FROM t GROUP BY GROUPING SETS ((a), (b), ());
SELECT dp_iqr(x, 1.5, 1e-6) FROM t;
-- (Each group has at most one row, so there is no answer.)
SELECT count(*) AS rows, count(i) AS answers
  FROM (SELECT dp_iqr(x, 0.1, 1e-6) FILTER (WHERE x < 1e-12) AS i FROM t GROUP BY GROUPING SETS ((a), (b))) s;
SELECT epsilon_spent, delta_spent * 1e6 AS delta_spent, delta_remaining FROM dp_budget;
SELECT dp_iqr(x, 0.1, 1e-12) FROM t;
SELECT dp_median(x, 0.1, 0, 1) IS NOT NULL AS median FROM t;
-- A limit below the delta that is spent closes the budget, also for queries without a delta.
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_iqr_delta', 3.5, 2e-6);
SET ROLE regress_dpq_iqr_delta;
SELECT DISTINCT fits FROM dp_budget_fits(0.1);
SELECT dp_median(x, 0.1, 0, 1) FROM t;
RESET search_path;
RESET ROLE;

-- dp_iqr_min_rows depends on the parameters alone.
SELECT epsilon, dp_iqr_min_rows(epsilon, 1e-6) AS rows FROM unnest('{0.5,1,3}'::float8[]) epsilon;
SELECT pg_typeof(dp_iqr_min_rows(1, 1e-6)) AS type, dp_iqr_min_rows(NULL, 1e-6), dp_iqr_min_rows(1, NULL),
       dp_iqr_min_rows(1e-6, 1e-300) BETWEEN 1e8 AND 1e12 AS most,
       dp_iqr_min_rows(1000, 0.5) BETWEEN 5 AND 1000 AS least;
SELECT bool_and(rows < less_epsilon) AS by_epsilon, bool_and(rows <= less_delta) AS by_delta,
       bool_or(rows < less_delta) AS by_delta_strictly
  FROM (SELECT dp_iqr_min_rows(epsilon, delta) AS rows, dp_iqr_min_rows(epsilon / 2, delta) AS less_epsilon,
               dp_iqr_min_rows(epsilon, delta / 10) AS less_delta
          FROM unnest('{0.01,0.1,0.5,1,2,10}'::float8[]) epsilon,
               unnest('{0.1,1e-3,1e-6,1e-12,1e-100}'::float8[]) delta) s;
SELECT dp_iqr_min_rows(0, 1e-6);
SELECT dp_iqr_min_rows('NaN', 1e-6);
SELECT dp_iqr_min_rows(1001, 1e-6);
SELECT dp_iqr_min_rows(1, 0);
SELECT dp_iqr_min_rows(1, 0.6);
SELECT dp_iqr_min_rows(1, 'NaN');
\echo :SQLSTATE
SELECT dp_iqr_min_rows(1e-6, 0.4) > dp_iqr_min_rows(0.4, 1e-6) AS epsilon_comes_first;
-- The expected error is NULL for too few rows. The argument rows may be very large.
SELECT rows, round(dp_iqr_expected_error(1, 1e-6, rows)::numeric, 3) AS error
  FROM unnest('{1,3025,3026,10000,100000,1000000,1e300,Infinity}'::float8[]) rows;
SELECT pg_typeof(dp_iqr_expected_error(1, 1e-6, 5000)) AS type, dp_iqr_expected_error(1, 1e-6, 1e6) < 0.01 AS numeric,
       dp_iqr_expected_error(1, 1e-6, 5000000000) < 0.01 AS bigint, dp_iqr_expected_error(1, 1e-6, NULL),
       dp_iqr_expected_error(epsilon => 3, delta => 1e-6, rows => 1e5) < dp_iqr_expected_error(1, 1e-6, 1e5) AS by_name;
SELECT dp_iqr_expected_error(1, 1e-6, 0);
SELECT dp_iqr_expected_error(1, 1e-6, 'NaN');
SELECT dp_iqr_expected_error(0, 1e-6, 5000);
SELECT dp_iqr_expected_error(1, 0, 5000);
-- dp_iqr_min_rows is right. For uniform values the test needs a distance of 94, with noise of scale 64/31. Three times
-- as many rows have a distance of 500 or more, and a tenth of the rows has a distance of 35 or less: each outcome
-- differs from the expected one with a probability below exp(-27) < 1e-11.
SET ROLE regress_dpq_iqr;
SET search_path = regress_dpq_iqr, public;
SELECT share, bool_or(answer IS NOT NULL) AS some, bool_and(answer IS NOT NULL) AS "all"
  FROM unnest('{0.1,3}'::float8[]) share, generate_series(1, 10) g,
       LATERAL (SELECT dp_iqr(i + g * 0, 1, 1e-20) AS answer
                  FROM generate_series(1, (share * dp_iqr_min_rows(1, 1e-20))::int) i) s
 GROUP BY share ORDER BY share;

RESET search_path;
RESET ROLE;
DROP OWNED BY regress_dpq_iqr, regress_dpq_iqr_delta;
DROP ROLE regress_dpq_iqr, regress_dpq_iqr_delta;
