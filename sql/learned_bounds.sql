-- Bounds of values of which nothing is known. With epsilon 100 a noise that is not 0 has a probability below 1e-38 for all cells together, so what is shown is certain: the edges of
-- the cells of the values.
\set SHOW_CONTEXT never
SET TimeZone = 'UTC';
CREATE ROLE regress_dpq_learner;
CREATE ROLE regress_dpq_zcdp_learner;
CREATE SCHEMA regress_dpq_learner;
GRANT ALL ON SCHEMA regress_dpq_learner TO regress_dpq_learner, regress_dpq_zcdp_learner;
SELECT dp_grant_budget('regress_dpq_learner', 1e6), dp_grant_budget('regress_dpq_zcdp_learner', 1000, 1e-6, 'zcdp');
SET ROLE regress_dpq_learner;
SET search_path = regress_dpq_learner, public;
CREATE TABLE visits AS SELECT i AS id, i % 60 + 20 AS age, 1.25 * (i % 60) - 30 AS amount, timestamptz '2024-01-01' + i * interval '30 minutes' AS at FROM generate_series(1, 6000) i;
GRANT SELECT ON visits TO regress_dpq_zcdp_learner;

-- Values of every type, in their type
SELECT dp_learn_bounds(age, 100) AS integer, dp_learn_bounds(age::smallint, 100) AS smallint, dp_learn_bounds(age::bigint * 1000000000000, 100) AS bigint, dp_learn_bounds(amount, 100) AS numeric,
       dp_learn_bounds(amount::float8, 100) AS float8, dp_learn_bounds(amount::real, 100) AS real FROM visits;
SELECT dp_learn_bounds(at, 100) AS timestamptz, dp_learn_bounds(at::timestamp, 100) AS timestamp, dp_learn_bounds(at::date, 100) AS date, dp_learn_bounds(at::time, 100) AS time,
       dp_learn_bounds(at - '2024-01-01', 100) AS interval FROM visits;
SELECT pg_typeof(dp_learn_bounds(age::smallint, 100)) AS smallint, pg_typeof(dp_learn_bounds(amount::real, 100)) AS real, pg_typeof(dp_learn_bounds(at::date, 100)) AS date FROM visits;
-- Groups share the price.
SELECT id % 2 AS half, dp_learn_bounds(age, 100) FILTER (WHERE age < 40) AS bounds FROM visits GROUP BY 1 ORDER BY 1;

-- They are the bounds of other questions.
SELECT b[1] AS lower, b[2] AS upper FROM (SELECT dp_learn_bounds(amount, 100) AS b FROM visits) AS learned \gset
SELECT abs(dp_avg(amount, 100, :lower, :upper) - avg(amount)) < 0.1 AS close FROM visits;
-- In one statement, too: they are answers, not data.
SELECT abs(a - (SELECT avg(amount) FROM visits)) < 0.1 AS close
  FROM (SELECT dp_learn_bounds(amount, 100) AS b FROM visits) AS l, LATERAL (SELECT dp_avg(amount, 100, b[1], b[2]) AS a FROM visits) AS m;
SELECT dp_avg(amount, 1, 0, (SELECT max(amount) FROM visits)) FROM visits;
SELECT dp_avg(amount, 1, b[1], b[2]) FROM (SELECT array_agg(amount) AS b FROM visits) AS l, visits;
-- Where there are none, the second answer is refused, and the first is charged.
SELECT a FROM (SELECT dp_learn_bounds(amount, 1) AS b FROM visits WHERE id < 0) AS l, LATERAL (SELECT dp_avg(amount, 1, b[1], b[2]) AS a FROM visits) AS m;

-- threat 220: one row that decides a bound, which would tell its value. A row far away from all others needs others beside it: 30 / epsilon of them are told from noise.
SELECT (dp_learn_bounds(v, 1))[2] < 1000 AS of_one, (dp_learn_bounds(v, 1) FILTER (WHERE v < 1e300))[2] < 1000 AS of_none
  FROM (SELECT age::float8 AS v FROM visits UNION ALL SELECT 1e300) AS s;
-- threat 221: a NULL that tells that there are few rows. It is as likely as the noise makes it: 30 rows are just as many as it takes without noise, and some 27 of 100 groups of them have no bounds.
-- Fewer than 40 or more than 180 of 400 have none with a probability below 1e-9.
SELECT count(*) FILTER (WHERE b IS NULL) BETWEEN 40 AND 180 AS sometimes
  FROM (SELECT dp_learn_bounds(5, 1) AS b FROM generate_series(1, 400) draw, generate_series(1, 30) GROUP BY draw) s;
SELECT dp_learn_bounds(age, 1) AS of_none FROM visits WHERE id < 0;
-- Odd values: NULL, NaN and infinities do not count, nor do numbers that are infinite as float8.
SELECT dp_learn_bounds(v, 100) AS odd FROM unnest('{NaN,NULL,5}'::float8[]) v;
SELECT dp_learn_bounds(v, 100) AS infinite FROM unnest('{Infinity,1}'::float8[]) v;
SELECT dp_learn_bounds(v, 100) AS infinite FROM unnest('{-infinity,2024-02-29}'::date[]) v;
SELECT dp_learn_bounds(v, 100) AS largest FROM unnest('{2147483647}'::int[]) v;
SELECT dp_learn_bounds(v, 100) AS subnormal FROM unnest('{4.9e-324,-4.9e-324}'::float8[]) v;
SELECT dp_learn_bounds(v, 100) AS equal FROM unnest('{0,0,0}'::int[]) v;
-- Bounds of whole numbers are the least and the largest of their cells: an edge belongs to the cell that is farther from 0.
SELECT dp_learn_bounds(v, 100) AS flags FROM unnest('{0,1}'::int[]) v;
SELECT dp_learn_bounds(v, 100) AS ratings, dp_learn_bounds(-v, 100) AS negative, dp_learn_bounds(v - 3, 100) AS both_signs, dp_learn_bounds(v::smallint, 100) AS smallint,
       dp_learn_bounds(v * interval '1 microsecond', 100) AS interval, dp_learn_bounds(v::numeric, 100) AS not_whole FROM generate_series(1, 5) v;
SELECT dp_learn_bounds(v, 100) AS five, dp_learn_bounds(-v, 100) AS minus_five, dp_learn_bounds(2 * v + 6, 100) AS sixteen, dp_learn_bounds(-2 * v - 6, 100) AS minus_sixteen FROM generate_series(5, 5) v;
SELECT dp_learn_bounds(v, 100) AS bounds, dp_learn_bounds(-v, 100) AS negative FROM unnest('{9007199254740991,9007199254740992,9223372036854775807}'::bigint[]) v GROUP BY v ORDER BY v;
SELECT dp_learn_bounds(date '2000-01-01' + v, 100) AS dates FROM generate_series(-127, 127) v;
SELECT dp_learn_bounds(date '2000-01-01' - v, 100) AS before_2000, dp_learn_bounds(date '2000-01-01' + v, 100) AS from_2000 FROM generate_series(1, 128) v;
-- Two different values, also at the end of a type, where both edges of a cell are one value, and of values that are all 0
SELECT dp_learn_bounds(v, 100) AS least FROM unnest('{-2147483648}'::int[]) v;
SELECT dp_learn_bounds(v, 100) AS largest FROM unnest('{9223372036854775807}'::bigint[]) v;
SELECT dp_learn_bounds(v, 100) AS least FROM unnest('{-32768}'::smallint[]) v;
SELECT dp_learn_bounds(v, 100) AS least FROM unnest('{4714-11-24 BC}'::date[]) v;
SELECT dp_learn_bounds(v, 100) AS least FROM unnest('{4714-11-24 00:00 BC}'::timestamp[]) v;
SELECT dp_learn_bounds(v, 100) AS largest FROM unnest('{24:00}'::time[]) v;
SELECT dp_learn_bounds(v, 100) AS largest FROM unnest('{178000000 years}'::interval[]) v;
SELECT dp_learn_bounds(v, 100) AS least FROM unnest('{-178000000 years}'::interval[]) v;
SELECT dp_learn_bounds(v, 100) AS largest FROM unnest('{3.4028235e+38}'::real[]) v;
SELECT dp_learn_bounds(v, 100) AS zeros, dp_learn_bounds(v::float8, 100) AS float8, dp_learn_bounds(v::numeric, 100) AS numeric FROM unnest('{0,0}'::real[]) v;
SELECT dp_learn_bounds(v, 100) AS subnormal FROM unnest('{1e-45}'::real[]) v;
SELECT abs(a) < 1 AS zeros FROM (SELECT dp_learn_bounds(v, 100) AS b FROM unnest('{0,0}'::float8[]) v) AS l, LATERAL (SELECT dp_avg(v, 100, b[1], b[2]) AS a FROM unnest('{0,0}'::float8[]) v) AS m;
SELECT dp_learn_bounds(v, 100) AS beyond_float8 FROM unnest('{1e400,-1e400,NaN,3}'::numeric[]) v;
SELECT dp_learn_bounds(v, 1) AS of_none FROM generate_series(1, 100), unnest('{infinity,-infinity}'::timestamp[]) v;

-- Parameters
SELECT dp_learn_bounds(age, 0) FROM visits;
SELECT dp_learn_bounds(age, NULL) FROM visits;
SELECT dp_learn_bounds(age, age) FROM visits;
SELECT dp_learn_bounds(age::text, 1) FROM visits;
SELECT dp_learn_bounds(age, 1, dp_options(granularity => 1)) FROM visits;
SELECT dp_learn_bounds(age, NULL, dp_options(rho => 1)) FROM visits;
EXPLAIN (COSTS OFF) SELECT dp_learn_bounds(age, 1) FROM visits;
SELECT function, mechanism, neighbours, epsilon, groups, count(*) FROM dp_ledger WHERE role = 'regress_dpq_learner' AND function = 'dp_learn_bounds' GROUP BY 1, 2, 3, 4, 5 ORDER BY 4, 5;

SET ROLE regress_dpq_zcdp_learner;
SELECT (dp_learn_bounds(age, NULL, dp_options(rho => 1)))[2] BETWEEN 60 AND 112 AS rho, (dp_learn_bounds(age, 1))[1] BETWEEN 0 AND 30 AS epsilon FROM visits;
SELECT function, mechanism, epsilon, round(rho::numeric, 4) AS rho FROM dp_ledger ORDER BY 3;

RESET ROLE;
SET client_min_messages = warning;
DROP OWNED BY regress_dpq_learner, regress_dpq_zcdp_learner;
DROP SCHEMA regress_dpq_learner CASCADE;
DROP ROLE regress_dpq_learner, regress_dpq_zcdp_learner;
