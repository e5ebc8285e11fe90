-- Values of every common type: bounds of the same type, answers of the same type. Each answer is compared with that of
-- the numbers behind the values: a very large epsilon leaves no noise on the value grid.
\set SHOW_CONTEXT never
SET TimeZone = 'Europe/Berlin';
SET DateStyle = 'ISO, DMY';
SET IntervalStyle = 'postgres';
CREATE ROLE regress_dpq_types;
CREATE SCHEMA regress_dpq_types AUTHORIZATION regress_dpq_types;
SELECT dp_grant_budget('regress_dpq_types', 1e6, 0.5);
SET ROLE regress_dpq_types;
SET search_path = regress_dpq_types, public;

CREATE TABLE visits AS
SELECT i::smallint AS small, i::integer AS whole, i::bigint * 1000000000 AS big, i::real AS single, i::float8 AS double, i + 0.25 AS amount,
       date '1999-12-31' + i AS day, timestamp '1999-12-31 12:00' + i * interval '1 day' AS at_local,
       timestamptz '2024-03-01 00:00+00' + i * interval '1 day' AS at, time '06:00' + i * interval '1 minute' AS clock,
       i * interval '1 hour' AS stay
  FROM generate_series(1, 101) AS i;

-- Medians: row 51 of 101
SELECT dp_median(small, 900, 0, 200) AS small, dp_median(whole, 900, 0, 200) AS whole, dp_median(big, 900, 0, 1000000000000) / 1000000000 AS big,
       dp_median(single, 900, 0, 128, dp_options(granularity => 1)) AS single, dp_median(double, 900, 0, 128, dp_options(granularity => 1)) AS double,
       dp_median(amount, 900, 0, 200, dp_options(granularity => 0.05)) AS amount, round(dp_median(amount, 900, 0, 200), 1) AS rounded
  FROM visits;
SELECT dp_median(day, 900, '1990-01-01', '2010-01-01') AS day, dp_median(at_local, 900, '1999-01-01', '2001-01-01') - '2000-02-20 12:00' < '1 minute' AS at_local,
       abs(extract(epoch FROM dp_median(at, 900, '2024-01-01', '2025-01-01') - '2024-04-20 23:00+00')) < 60 AS at,
       abs(extract(epoch FROM dp_median(clock, 900, '00:00', '24:00') - '06:51')) < 1 AS clock,
       abs(extract(epoch FROM dp_median(stay, 900, '0', '200 hours') - '51 hours')) < 1 AS stay
  FROM visits;
SELECT pg_typeof(dp_median(small, 1, 0, 9)) AS small, pg_typeof(dp_median(whole, 1, 0, 9)) AS whole, pg_typeof(dp_median(big, 1, 0, 9)) AS big,
       pg_typeof(dp_median(single, 1, 0, 9)) AS single, pg_typeof(dp_median(amount, 1, 0, 9)) AS amount,
       pg_typeof(dp_median(day, 1, '2000-01-01', '2001-01-01')) AS day, pg_typeof(dp_median(at, 1, '2000-01-01', '2001-01-01')) AS at,
       pg_typeof(dp_median(at_local, 1, '2000-01-01', '2001-01-01')) AS at_local, pg_typeof(dp_median(clock, 1, '0:00', '1:00')) AS clock,
       pg_typeof(dp_median(stay, 1, '0', '1 day')) AS stay
  FROM visits;

-- The other functions
SELECT dp_quantiles(whole, '{0.1,0.5}', 900, 0, 200) AS whole, dp_quantile(day, 0.1, 900, '1990-01-01', '2010-01-01') AS day,
       dp_quantiles(amount, '{0.1,0.5}', 900, 0, 200, dp_options(granularity => 0.25)) AS amount,
       dp_quantiles(at_local, '{0.1,0.9}', 900, '1999-01-01', '2001-01-01', '{"granularity": "12:00"}') AS at_local
  FROM visits;
SELECT pg_typeof(dp_synthesize(day, 3, 1, '2000-01-01', '2001-01-01')) AS day, pg_typeof(dp_synthesize(whole, 3, 1, 0, 9)) AS whole,
       cardinality(dp_synthesize(stay, 3::bigint, 1, '0', '1 day')) AS size
  FROM visits;
SELECT pg_typeof(dp_iqr(at, 1, 1e-6)) AS at, pg_typeof(dp_iqr(day, 1, 1e-6)) AS day, pg_typeof(dp_iqr(stay, 1, 1e-6)) AS stay,
       pg_typeof(dp_iqr(amount, 1, 1e-6)) AS amount, pg_typeof(dp_iqr(whole, 1, 1e-6)) AS whole
  FROM visits;
SELECT pg_typeof(dp_user_mean(whole, day, 900, '1990-01-01', '2010-01-01')) AS day, pg_typeof(dp_user_mean(whole, amount, 900, 0, 200)) AS amount,
       abs(dp_user_mean(whole, amount, 900, 0, 200) - 51.25) < 1 AS mean,
       abs(extract(epoch FROM dp_user_mean(whole, stay, 900, '0', '200 hours') - '51 hours')) < 3600 AS stay
  FROM visits;

-- Means and spreads of integers are numeric, as those of avg().
SELECT pg_typeof(dp_avg(small, 1, 0, 9)) AS small, pg_typeof(dp_variance(whole, 1, 0, 9)) AS whole, pg_typeof(dp_stddev(big, 1, 0, 9)) AS big,
       pg_typeof(dp_avg(single, 1, 0, 9)) AS single, pg_typeof(dp_stats(whole, 1, 0, 9)) AS stats, pg_typeof(dp_stats(single, 1, 0, 9)) AS single_stats,
       round(dp_avg(whole, 900, 0, 200), 0) AS rounded, dp_avg(whole, 900, 0, 200, dp_options(granularity => 0.5)) AS step
  FROM visits;

-- Groups, parallel plans and approved functions work as for numbers. The groups have 49 rows each: between two rows in the middle a
-- draw may take either day.
SELECT small % 2 AS parity, dp_median(day, 900, '1990-01-01', '2010-01-01') AS day FROM visits WHERE small < 99 GROUP BY 1;
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
ALTER TABLE visits SET (parallel_workers = 2);
SELECT dp_median(day, 900, '1990-01-01', '2010-01-01') AS day, dp_median(whole, 900, 0, 200) AS whole FROM visits;
COMMIT;

-- threat 61: no value is an error.
-- Dates: days. Infinite dates count as the nearer bound, and so does BC. The 29th of February is a day like another.
SELECT dp_median(d, 900, '2024-02-28', '2024-03-01') FROM unnest('{2024-02-29,2024-02-29,2024-02-29}'::date[]) AS d;
SELECT dp_median(d, 900, '2024-02-01', '2024-03-01') FROM unnest('{infinity,infinity,infinity}'::date[]) AS d;
SELECT dp_median(d, 900, '2024-02-01', '2024-03-01') FROM unnest('{-infinity,0044-03-15 BC,-infinity}'::date[]) AS d;
SELECT dp_median(d, 900, '0100-01-01 BC', '0001-01-01 BC') FROM unnest('{0044-03-15 BC,0044-03-15 BC,0044-03-15 BC}'::date[]) AS d;
SELECT dp_median(d, 900, '2024-01-01', '2024-12-31', dp_options(granularity => 7)) AS number,
       dp_median(d, 900, '2024-01-01', '2024-12-31', dp_time_options('7 days')) AS interval,
       dp_median(d, 900, '2024-01-01', '2024-12-31', '{"granularity": "1 week"}') AS json
  FROM unnest('{2024-02-29,2024-02-29,2024-02-29}'::date[]) AS d;
-- Moments: microseconds in UTC. The hour that summer time skips or repeats is no special case.
SELECT dp_median(t, 900, '2024-03-31 00:00', '2024-03-31 06:00', dp_time_options('1 hour')) AS skipped
  FROM unnest('{2024-03-31 03:00,2024-03-31 03:00,2024-03-31 03:00}'::timestamptz[]) AS t;
SELECT dp_median(t, 900, '2024-10-27 00:00', '2024-10-27 06:00', dp_time_options('1 hour')) AS repeated
  FROM unnest('{2024-10-27 01:00+00,2024-10-27 01:00+00,2024-10-27 01:00+00}'::timestamptz[]) AS t;
SELECT dp_median(t, 900, '2024-01-01', '2024-01-02') AS infinite FROM unnest('{infinity,infinity,infinity}'::timestamp[]) AS t;
SELECT dp_median(t, 900, '2024-01-01', '2024-01-02') AS far FROM unnest('{294276-12-31,294276-12-31,294276-12-31}'::timestamp[]) AS t;
SELECT dp_median(t, 900, '00:00', '24:00') AS midnight FROM unnest('{24:00,24:00,24:00}'::time[]) AS t;
-- Intervals: a month counts as 30 days, a day as 24 hours.
SELECT dp_median(i, 900, '0', '60 days', dp_time_options('1 day')) AS month FROM unnest('{1 mon,1 mon,1 mon}'::interval[]) AS i;
SELECT dp_median(i, 900, '-1 day', '1 day', dp_time_options('1 hour')) AS negative FROM unnest('{-5 hours,-5 hours,-5 hours}'::interval[]) AS i;
SELECT dp_median(i, 900, '0', '1 day', dp_time_options('1 hour')) AS long FROM unnest('{178000000 years,178000000 years,178000000 years}'::interval[]) AS i;
-- Equal intervals are in one bin, also where a double cannot hold the microseconds of one of them: DISTINCT takes any of them.
SELECT dp_histogram(i, 900, ARRAY['0', '504249 days 23:47:34.740998', '800000 days']::interval[]) AS equal
  FROM unnest(ARRAY['400000 days 9007199254740997 microseconds', '504249 days 85654740997 microseconds']::interval[]) AS i;
-- The ends of integer and bigint
SELECT dp_median(i, 900, -2147483648, 2147483647) AS last FROM unnest('{2147483647,2147483647,2147483647}'::int[]) AS i;
SELECT dp_median(i, 900, -9223372036854775808, 9223372036854775807) AS last FROM unnest('{9223372036854775807,9223372036854775807,9223372036854775807}'::bigint[]) AS i;

-- Bounds of integers between integers
SELECT dp_quantiles(i, '{0.1,0.9}', 900, 0.5, 10.5) AS fractions, dp_median(i, 900, 4.5, 4.75) AS narrow FROM unnest('{3,3,3,5,7,7,7}'::int[]) AS i;

-- Bad parameters
SELECT dp_median(day, 1, '2010-01-01', '1990-01-01') FROM visits;
SELECT dp_median(at, 1, '2024-07-01', '2024-07-01') FROM visits;
SELECT dp_median(clock, 1, '13:00', '12:00') FROM visits;
SELECT dp_median(stay, 1, '2 days', '1 mon -29 days') FROM visits;
SELECT dp_median(day, 1, '-infinity', '1990-01-01') FROM visits;
SELECT dp_median(at, 1, '1990-01-01', 'infinity') FROM visits;
SELECT dp_median(day, 1, NULL, '1990-01-01') FROM visits;
SELECT dp_median(day, 1, '2000-01-01', '2001-01-01', dp_options(granularity => 0.5)) FROM visits;
SELECT dp_median(day, 1, '2000-01-01', '2001-01-01', dp_time_options('12:00')) FROM visits;
SELECT dp_median(day, 1, '2000-01-01', '2001-01-01', dp_time_options('1 mon')) FROM visits;
SELECT dp_median(at, 1, '2000-01-01', '2001-01-01', dp_options(granularity => 1)) FROM visits;
SELECT dp_median(at, 1, '2000-01-01', '2001-01-01', dp_time_options('1 year')) FROM visits;
SELECT dp_median(at, 1, '2000-01-01', '2001-01-01', dp_time_options('-1 hour')) FROM visits;
SELECT dp_median(at, 1, '2000-01-01', '2001-01-01', '{"granularity": "often"}') FROM visits;
SELECT dp_median(whole, 1, 0, 200, dp_options(granularity => 0.5)) FROM visits;
SELECT dp_median(whole, 1, 0, 200, dp_options(granularity => 1.5)) FROM visits;
SELECT dp_median(whole, 1, 0, 200, dp_time_options('1 hour')) FROM visits;
SELECT dp_time_options(NULL);
SELECT dp_iqr(day, 1, 0, dp_options(method => 'quantiles', lower => 0, upper => 9)) FROM visits;
SELECT dp_histogram(day, 1, '{2001-01-01,2000-01-01}') FROM visits;
SELECT dp_histogram(at_local, 1, '{infinity,2000-01-01}') FROM visits;

-- threat 61: a cast of the values that fails for some of them is refused, unless the analyst writes it.
SELECT dp_median(day, 1, timestamp '2000-01-01', '2001-01-01') FROM visits;
SELECT dp_quantiles(day, '{0.5}', 1, timestamptz '2000-01-01', '2001-01-01') FROM visits;
SELECT dp_avg(at_local, 1, timestamptz '2000-01-01', '2001-01-01') FROM visits;
SELECT dp_user_mean(whole, day, 1, timestamp '2000-01-01', '2001-01-01') FROM visits;
SELECT dp_median(day::timestamp, 900, timestamp '1990-01-01', '2010-01-01') IS NOT NULL AS own_cast,
       dp_median(clock::interval, 900, interval '0', '1 day') IS NOT NULL AS never_fails
  FROM visits;
SELECT dp_time_options('1 hour', method => 'joint', rho => 0.1);


-- Value and bounds have one type in common, which is that of the answer. Whole numbers stay on a grid of whole numbers.
SELECT dp_median(whole, 900, 0, 99.5) AS numeric, dp_median(whole, 900, 0::float8, 200) AS float8, dp_median(small, 900, '0', '200') AS smallint,
       dp_quantiles(big, '{0.1,0.5}', 900, 0::numeric, 2e11) AS numerics, dp_median(single, 900, 0, 128.5::real, dp_options(granularity => 1)) AS real
  FROM visits;
SELECT pg_typeof(dp_median(whole, 1, 0, 9.5)) AS numeric, pg_typeof(dp_median(amount, 1, 0::float8, 9)) AS float8, pg_typeof(dp_median(small, 1, '0', '9')) AS smallint,
       pg_typeof(dp_quantiles(whole, '{0.5}', 1, 0, 9.5)) AS numerics, pg_typeof(dp_synthesize(single, 3, 1, '0', '9')) AS reals,
       pg_typeof(dp_avg(whole, 1, 0::float8, 9.5)) AS avg, pg_typeof(dp_user_mean(whole, whole, 1, 0, 9)) AS user_mean, pg_typeof(dp_sum(small, 1, 0, 9)) AS sum
  FROM visits;
SELECT pg_typeof(dp_median(stay, 1, '0', '1 day')) AS interval, pg_typeof(dp_stddev(clock, 1, '0:00', '1:00')) AS stddev, pg_typeof(dp_iqr(at, 1, 1e-6)) AS iqr,
       pg_typeof(dp_avg(at, 1, '2024-01-01', now())) AS avg
  FROM visits;
-- A domain is its type.
CREATE DOMAIN age AS int CHECK (value >= 0);
SELECT dp_median(a, 900, 0, 200) AS median, dp_median(a, 900, 0, 200.5) AS numeric, round(dp_avg(a, 900, 0, 200)) AS avg FROM (SELECT whole::age AS a FROM visits) s;

-- threat 61: the cast of a numeric to the type of the bounds fails for 1e400, which is the upper bound for the aggregate: in one process,
-- in parallel workers, by partitions, and in the order of the answers.
CREATE TABLE amounts (half int, amount numeric) PARTITION BY LIST (half);
CREATE TABLE amounts_0 PARTITION OF amounts FOR VALUES IN (0);
CREATE TABLE amounts_1 PARTITION OF amounts FOR VALUES IN (1);
INSERT INTO amounts SELECT i % 2, 10 FROM generate_series(1, 100) i;
INSERT INTO amounts SELECT i % 2, '1e400' FROM generate_series(1, 300) i;
CREATE VIEW asked AS
  SELECT half, dp_median(amount, 900, 0::float8, 64::float8, '{"granularity": 1}') AS float8, dp_median(amount, 900, 0::real, 64::real, '{"granularity": 1}') AS real,
         dp_cdf_quantile(dp_cdf(amount, 900, 0, 64, '{"granularity": 1}'), 0.9) AS cdf, dp_histogram(amount, 900, '{0,64,Infinity}'::float8[]) AS histogram,
         dp_user_mean(half, amount, 900, 0, 64) BETWEEN 50 AND 51 AS mean, dp_count(amount, 900) AS count
    FROM amounts GROUP BY GROUPING SETS ((half));
SELECT * FROM asked ORDER BY float8, half;
SET enable_partitionwise_aggregate = on;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE FUNCTION shape(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
    IF line ~ 'Partial|Finalize|Gather|Append|PARTIAL' THEN RETURN NEXT line; END IF;
  END LOOP;
END
$$;
SELECT shape('SELECT dp_median(amount, 900, 0::float8, 64::float8) FROM amounts');
SELECT dp_median(amount, 900, 0::float8, 64::float8, '{"granularity": 1}') AS median FROM amounts;
SELECT half, dp_median(amount, 900, 0::float8, 64::float8, '{"granularity": 1}') AS median FROM amounts GROUP BY half HAVING dp_count(amount, 900) > 0 ORDER BY 2, 1;
SET enable_partitionwise_aggregate = off;
SELECT half, dp_median(amount, 900, 0::float8, 64::float8, '{"granularity": 1}') AS median FROM amounts GROUP BY half ORDER BY 2, 1;
SET max_parallel_workers_per_gather = 0;
SELECT half, dp_median(amount, 900, 0::float8, 64::float8, '{"granularity": 1}') AS median FROM amounts GROUP BY half ORDER BY 2, 1;
RESET enable_partitionwise_aggregate;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
-- Where PostgreSQL sorts by the cast value, it is refused; without a cast that fails it is not.
SELECT dp_median(DISTINCT amount, 1, 0::float8, 64::float8) FROM amounts;
SELECT dp_median(amount, 1, 0::float8, 64::float8 ORDER BY amount) FROM amounts;
SELECT dp_median(DISTINCT amount, 1, 0, 64) IS NULL AS missing, dp_cdf(DISTINCT amount, 1, 0, 64) IS NULL AS missing FROM amounts;
SELECT dp_median(DISTINCT half, 900, -1.0, 2.0, '{"granularity": 1}') IN (0, 1) AS answered, dp_count(DISTINCT big, 900) AS big, dp_count(DISTINCT amount, 900) AS amounts
  FROM (SELECT half, amount, 9007199254740992 + half AS big FROM amounts) s;

-- Domains are the types that they are over: of values, bounds and answers, also if all three are of one domain.
CREATE DOMAIN a_date AS date CHECK (VALUE > '1900-01-01');
CREATE DOMAIN a_number AS numeric;
CREATE DOMAIN a_whole AS int;
CREATE DOMAIN a_stay AS interval;
CREATE TABLE domains AS
  SELECT i::a_whole AS whole, i::numeric::a_number AS amount, (date '2000-01-01' + i)::a_date AS day, (i * interval '1 min')::a_stay AS stay FROM generate_series(1, 1000) i;
SELECT pg_typeof(dp_median(day, 900, '2000-01-01', '2003-01-01')) AS type, dp_median(day, 900, '2000-01-01', '2003-01-01') - date '2001-05-15' BETWEEN -1 AND 1 AS day,
       abs(dp_median(whole, 900, 0, 1000) - 500) < 3 AS whole, abs(dp_median(amount, 900, '0', '1000'::a_number) - 500) < 3 AS amount,
       dp_median(stay, 900, '0', '3 days') BETWEEN '8:15' AND '8:25' AS stay, abs((dp_quantiles(amount, '{0.5}', 900, '0', '1000'))[1] - 500) < 3 AS amounts,
       abs((dp_synthesize(whole, 3, 900, '0', '1000'))[2] - 500) < 9 AS wholes
  FROM domains;
SELECT dp_histogram(day, 900, '{2000-01-01,2001-01-01,2003-01-01}') AS days, dp_histogram(stay, 900, ARRAY['0', '500 min', '3 days']::a_stay[]) AS stays,
       dp_avg(day, 900, '2000-01-01', '2003-01-01') - date '2001-05-15' BETWEEN -1 AND 1 AS day, dp_avg(stay, 900, '0', '3 days') BETWEEN '8:15' AND '8:25' AS stay,
       dp_stddev(stay, 900, '0', '3 days') BETWEEN '4:40' AND '4:55' AS deviation, dp_cdf_rows(dp_cdf(day, 900, '2000-01-01', '2003-01-01')) AS rows,
       dp_user_mean(whole, day, 900, '2000-01-01', '2003-01-01') - date '2001-05-15' BETWEEN -1 AND 1 AS mean_of_users
  FROM domains;

-- Values of other types. Nothing is charged.
SELECT epsilon_spent AS before FROM dp_budget \gset
SELECT dp_median('a'::text, 1, 'a', 'z') FROM visits;
SELECT dp_quantiles(true, '{0.5}', 1, false, true) FROM visits;
SELECT dp_avg(inet '::1', 1, '::1', '::2') FROM visits;
SELECT dp_stddev(uuid '00000000-0000-0000-0000-000000000000', 1, NULL, NULL) FROM visits;
SELECT dp_iqr('{1}'::int[], 1, 1e-6) FROM visits;
SELECT dp_user_mean(whole, timetz '0:00', 1, '0:00', '1:00') FROM visits;
SELECT dp_median(day, 1, '2000-01-01', now()) FROM visits;
SELECT dp_median(whole, 1, 0::oid, 9::oid) FROM visits;
\set VERBOSITY terse
SELECT dp_median(clock, 1, interval '0', '1 day') FROM visits;
\set VERBOSITY default
SELECT epsilon_spent = :before AS nothing_charged FROM dp_budget;

RESET ROLE;
SET client_min_messages = warning;
DROP OWNED BY regress_dpq_types;
DROP ROLE regress_dpq_types;
