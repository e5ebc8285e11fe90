-- dp_user_mean: every method is near the true mean if epsilon is large, on inputs of every shape.
--
-- Noise of scale s is 20 s or more with a probability of e^-20 = 2e-9. Each tolerance is at least 20 s, and there
-- are fewer than 100 such draws, so these tests fail by chance with a probability below 1e-6. The private
-- intervals of 'quantile', which 'auto' may take, miss their rank with a probability below 1e-20 (epsilon of 250 or more, 50 arrays).
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_user_mean;
CREATE SCHEMA AUTHORIZATION regress_dpq_user_mean;
SELECT dp_grant_budget('regress_dpq_user_mean', 10000000, smallest_charge => 1e-6);
SET ROLE regress_dpq_user_mean;
-- 50 users have 20 rows each, and the rows of a user are equal. So the mean is 25.5, whichever rows are kept.
CREATE TABLE t AS SELECT u, u::float8 AS x, x AS i FROM generate_series(1, 50) u, generate_series(1, 20) x;

-- With all rows the noise has the scale 100 * 20 / 1000 / epsilon = 0.002, with one row of each user 100 * 1 / 50 / epsilon.
CREATE TABLE calls (number int, options text, tolerance float8);
INSERT INTO calls VALUES
  (1, '{}', 0.04), (2, '{"method": "array"}', 0.04), (3, '{"method": "baseline"}', 0.04),
  (4, '{"max_contributions": "median"}', 0.04), (5, '{"max_contributions": "optimal"}', 0.04),
  (6, '{"max_contributions": 1}', 0.04), (7, '{"max_contributions": "7"}', 0.04),
  -- More than the rows of any user
  (8, '{"max_contributions": 21}', 0.04), (9, '{"max_contributions": 4294967295}', 0.04),
  -- A part of epsilon is for the interval of 'quantile'. It clips the same number of arrays at both ends, except one or two, so
  -- the mean hardly changes.
  (10, '{"method": "levy"}', 0.5), (11, '{"method": "levy", "max_contributions": 20}', 0.5),
  (12, '{"method": "quantile"}', 0.5), (13, '{"method": "quantile", "max_contributions": "median"}', 0.5),
  (14, '{"method": "quantile-adaptive"}', 0.5), (15, '{"method": "levy", "max_contributions": 1}', 0.5),
  -- The sums of both parts of 1000 rows, with noise of 20 / epsilon rows
  (16, '{"method": "bounded", "max_contributions": 20}', 0.1),
  (17, '{"method": "bounded", "max_contributions": "1"}', 0.1),
  (18, '{"method": "auto"}', 0.04);
-- Each call has its options as a literal.
CREATE FUNCTION answer(call text, source text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  answer float8;
BEGIN
  EXECUTE format('SELECT %s FROM %s', call, source) INTO answer;
  RETURN answer;
END
$$;
SELECT options, abs(answer(format('dp_user_mean(u, x, 1000, 0, 100, %L)', options), 't') - 25.5) < tolerance AS float8,
       abs(answer(format('dp_user_mean(u, x::numeric, 1000, 0, 100, %L)', options), 't') - 25.5) < tolerance AS numeric
  FROM calls ORDER BY number;
SELECT abs(dp_user_mean(u, x, 1000, 0, 100) - 25.5) < 0.04 AS without_options,
       abs(dp_user_mean(u, x::numeric, 1000, 0, 100) - 25.5) < 0.04 AS numeric,
       abs(dp_user_mean(u, x::int, 1000, 0, 100, NULL) - 25.5) < 0.04 AS int,
       abs(dp_user_mean(u, x, 1000, 0, 100, dp_options(max_contributions => '1')) - 25.5) < 0.04 AS one_row,
       abs(dp_user_mean(u, x, 1000, 0, 100, dp_options('bounded', max_contributions => '20')) - 25.5) < 0.1 AS bounded
  FROM t;

-- Rows with a NULL user or a NULL or NaN value do not count. Values outside the bounds count as the nearer bound.
CREATE TABLE odd AS
  SELECT u, x FROM t
  UNION ALL SELECT NULL, 100 FROM generate_series(1, 5000)
  UNION ALL SELECT u, NULL FROM generate_series(1, 50) u, generate_series(1, 100)
  UNION ALL SELECT u, 'NaN' FROM generate_series(1, 500) u, generate_series(1, 10)
  UNION ALL SELECT NULL, NULL FROM generate_series(1, 100);
SELECT options, abs(answer(format('dp_user_mean(u, x, 1000, 0, 100, %L)', options), 'odd') - 25.5) < tolerance AS float8,
       abs(answer(format('dp_user_mean(u, x::numeric, 1000, 0, 100, %L)', options), 'odd') - 25.5) < tolerance AS numeric
  FROM calls WHERE number IN (1, 3, 6, 16) ORDER BY number;
-- 10 users each with -Infinity (-> 10), 5, 10, 20, 1e300 (-> 20), Infinity (-> 20): 90 / 6.
SELECT abs(dp_user_mean(u, x, 1000, 10, 20) - 15) < 0.02 AS clamped
  FROM generate_series(1, 10) u, unnest('{-Infinity,5,10,20,1e300,Infinity}'::float8[]) x;
SELECT abs(dp_user_mean(u, x, 1000, 10, 20) - 15) < 0.02 AS clamped
  FROM generate_series(1, 10) u, unnest('{-Infinity,-1e1000,10,20,1e1000,Infinity}'::numeric[]) x;
SELECT dp_user_mean(u, u, 1000, 1000, 1001) BETWEEN 1000 AND 1001 AS above,
       dp_user_mean(u, u, 1000, -2, -1) > -1.05 AS below FROM generate_series(1, 100) u;

-- A heavy user has 10 000 rows with 100; 99 other users have one row with 0 each.
CREATE TABLE heavy AS
  SELECT 0 AS u, 100 AS x FROM generate_series(1, 10000) UNION ALL SELECT u, 0 FROM generate_series(1, 99) u;
SELECT abs(dp_user_mean(u, x, 1000, 0, 100, '{"max_contributions": 1}') - 1) < 0.04 AS one_row_each,
       abs(dp_user_mean(u, x, 1000, 0, 100, '{"max_contributions": "median"}') - 1) < 0.04 AS median,
       abs(dp_user_mean(u, x, 1000, 0, 100, '{"max_contributions": 99}') - 50) < 1.1 AS half,
       abs(dp_user_mean(u, x, 1000, 0, 100, '{"method": "baseline"}') - 99.02) < 2 AS all,
       abs(dp_user_mean(u, x, 1000, 0, 100, '{"method": "bounded", "max_contributions": 1}') - 1) < 0.1 AS bounded
  FROM heavy;
-- With a small epsilon one row of each user gives the least worst-case error.
SELECT * FROM dp_user_expected_error(ARRAY[1, 10000], ARRAY[99, 1], 0.01, 0, 100);

-- One user; one row; equal rows; two rows that differ. The noise of a single user has scale 100 / epsilon.
SELECT abs(dp_user_mean(1, x, 1000, 0, 100) - 50.5) < 2 AS one_user FROM generate_series(1, 100) x;
SELECT abs(dp_user_mean(1, 70, 1000, 0, 100) - 70) < 2 AS one_row;
SELECT abs(dp_user_mean(u, 7, 1000, 0, 100) - 7) < 0.04 AS all_equal FROM generate_series(1, 50) u;
SELECT options, answer(format('dp_user_mean(1, 70, 1000, 0, 100, %L)', options), 'generate_series(1, 1)') BETWEEN 0 AND 100 AS one_row,
       answer(format('dp_user_mean(1, x, 1000, 0, 100, %L)', options), 'generate_series(1, 2) x') BETWEEN 0 AND 100 AS two_rows
  FROM calls ORDER BY number;

-- The choice of the rows that are kept does not depend on their order or on the plan. With one row of each of 50
-- users, another choice would move the mean by about 4; the noise has scale 0.002.
CREATE TABLE mixed AS SELECT u, (u * 7919 + x * 104729) % 101 AS x FROM generate_series(1, 50) u, generate_series(1, 20) x;
SELECT max(m) - min(m) < 0.08 AS same
  FROM (SELECT unnest(ARRAY[
          dp_user_mean(u, x, 1000, 0, 100, '{"max_contributions": 1}'),
          dp_user_mean(u, x, 1000, 0, 100, '{"max_contributions": 1}' ORDER BY x),
          dp_user_mean(u, x, 1000, 0, 100, '{"max_contributions": 1}' ORDER BY x DESC, u),
          dp_user_mean(u, x, 1000, 0, 100, '{"max_contributions": 1}' ORDER BY u DESC, x),
          dp_user_mean(u, x::numeric, 1000, 0, 100, '{"max_contributions": 1}')]) AS m FROM mixed) a;

-- The state of many rows grows several times.
SELECT abs(dp_user_mean(x % 1000, x % 101, 1000, 0, 100) - 50) < 0.1 AS many FROM generate_series(1, 202000) x;
-- Answers lie within the bounds, on the public lattice of 2^31 steps.
SELECT bool_and(m * 2147483648 = floor(m * 2147483648)) AS on_grid, bool_and(m BETWEEN 0 AND 1) AS inside,
       count(DISTINCT m) > 1 AS differ
  FROM (SELECT dp_user_mean(g * 0 + x, 0.5::float8, 0.1, 0, 1) AS m
          FROM generate_series(1, 30) x, generate_series(1, 10) g GROUP BY g) a;

RESET ROLE;
DROP OWNED BY regress_dpq_user_mean;
DROP ROLE regress_dpq_user_mean;
