-- Counts, sums, means and spreads. At an epsilon of 1000 the noise is far below the tolerances here.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_summaries;
CREATE SCHEMA regress_dpq_summaries AUTHORIZATION regress_dpq_summaries;
CREATE ROLE regress_dpq_summaries_zcdp;
GRANT regress_dpq_summaries TO regress_dpq_summaries_zcdp;
SELECT dp_grant_budget('regress_dpq_summaries', 1e6, 0.5, smallest_charge => 1e-6), dp_grant_budget('regress_dpq_summaries_zcdp', 1e6, 0.5, 'zcdp');
SET ROLE regress_dpq_summaries;
SET search_path = regress_dpq_summaries, public;
SET DateStyle = 'ISO';
CREATE TABLE t AS SELECT i, i::float8 AS x, i::numeric / 8 AS n, i % 3 AS k, NULLIF(i % 4, 0) AS gap, date '2000-01-01' + i AS day,
                         timestamptz '2024-01-01' + i * interval '1 minute' AS at, i * interval '1 minute' AS stay
                    FROM generate_series(1, 1000) AS i;
CREATE TABLE empty (x float8);

-- Counts of rows, of values and of different values
SELECT dp_count(900) AS rows, dp_count(gap, 900) AS values, dp_count_distinct(gap, 900) AS distinct, dp_count(NULL::text, 900) AS nulls,
       dp_count(900) FILTER (WHERE i > 10) AS filtered, dp_count(DISTINCT k, 900) AS distinct_too
  FROM t;
SELECT dp_count_distinct(x, 900) AS x, dp_count_distinct(n, 900) AS n, dp_count_distinct(day, 900) AS day, dp_count_distinct(at, 900) AS at,
       dp_count_distinct(stay, 900) AS stay, dp_count_distinct(i::text, 900) AS text, dp_count_distinct(ARRAY[k, i % 7], 900) AS arrays,
       dp_count_distinct(i > 5, 900) AS booleans
  FROM t;
-- Equal values have one hash.
SELECT dp_count_distinct(v, 900) FROM (VALUES (1.0), (1.00), (1)) s(v);
SELECT dp_count_distinct(v, 900) FROM unnest('{0,-0,NaN,NaN}'::float8[]) v;
SELECT dp_count_distinct(v, 900) FROM unnest('{24 hours,1 day,30 days,1 mon}'::interval[]) v;
SELECT dp_count_distinct(v, 900) FROM (VALUES ('a'::char(5)), ('a'::char(1)::char(5))) s(v);
SELECT k, dp_count(900), dp_count_distinct(i % 10, 900) FROM t GROUP BY k;

-- Sums, means and spreads of values clamped to the bounds
SELECT abs(dp_sum(x, 900, 0, 1000) - sum(x)) < 20 AS sum, abs(dp_sum(x, 900, 0, 100) - sum(least(x, 100))) < 5 AS clamped,
       abs(dp_sum(-x, 900, -1000, 10) - sum(-x)) < 20 AS negative, abs(dp_avg(x, 900, 0, 1000) - avg(x)) < 0.1 AS avg,
       abs(dp_var_pop(x, 900, 0, 1000) - var_pop(x)) < 200 AS var_pop, abs(dp_var_samp(x, 900, 0, 1000) - var_samp(x)) < 200 AS var_samp,
       abs(dp_variance(x, 900, 0, 1000) - variance(x)) < 200 AS variance, abs(dp_stddev_pop(x, 900, 0, 1000) - stddev_pop(x)) < 1 AS stddev_pop,
       abs(dp_stddev_samp(x, 900, 0, 1000) - stddev_samp(x)) < 1 AS stddev_samp, abs(dp_stddev(x, 900, 0, 1000) - stddev(x)) < 1 AS stddev
  FROM t;
-- Five times the error is exceeded with a probability below 0.05^5 = 3.2e-7.
SELECT s.count, s.count_error <= 1 AS count_error, abs(s.sum - e.sum) <= 5 * s.sum_error AS sum, abs(s.avg - e.avg) <= 5 * s.avg_error AS avg,
       abs(s.variance - e.variance) <= 5 * s.variance_error AS variance, abs(s.stddev - e.stddev) <= 5 * s.stddev_error AS stddev,
       s.avg_error < 0.1 AND s.stddev_error < 0.2 AS small_errors
  FROM (SELECT (dp_stats(x, 900, 0, 1000)).* FROM t) s, (SELECT sum(x), avg(x), variance(x), stddev(x) FROM t) e;
-- The types of answers
SELECT pg_typeof(dp_sum(i, 1, 0, 9)) AS integer, pg_typeof(dp_sum(i::bigint, 1, 0, 9)) AS bigint, pg_typeof(dp_sum(n, 1, 0, 9)) AS numeric,
       pg_typeof(dp_sum(x, 1, 0, 9)) AS float8, pg_typeof(dp_sum(stay, 1, '0', '1 day')) AS interval
  FROM t;
SELECT pg_typeof(dp_avg(i, 1, 0, 9)) AS integer, pg_typeof(dp_avg(n, 1, 0, 9)) AS numeric, pg_typeof(dp_avg(day, 1, '2000-01-01', '2001-01-01')) AS date,
       pg_typeof(dp_avg(at, 1, '2000-01-01', '2001-01-01')) AS timestamptz, pg_typeof(dp_avg(stay, 1, '0', '1 day')) AS interval,
       pg_typeof(dp_stddev(day, 1, '2000-01-01', '2001-01-01')) AS of_dates, pg_typeof(dp_stddev(n, 1, 0, 9)) AS of_numeric, pg_typeof(dp_variance(n, 1, 0, 9)) AS variance,
       pg_typeof(dp_stats(n, 1, 0, 9)) AS stats
  FROM t;
SELECT dp_avg(day, 900, '2000-01-01', '2003-12-31') BETWEEN '2001-05-14' AND '2001-05-17' AS day, extract(epoch FROM dp_avg(stay, 900, '0', '1000 minutes') - '500 minutes 30 seconds') BETWEEN -10 AND 10 AS stay,
       dp_sum(stay, 900, '0', '1000 minutes') BETWEEN '8300 hours' AND '8400 hours' AS sum,
       abs(extract(epoch FROM dp_stddev(stay, 900, '0', '1000 minutes')) / 60 - stddev(i)) < 1 AS stddev
  FROM t;
-- Granularity rounds the answer.
-- The mean may be the upper bound, though 0.6 / 0.1 is less than 6 in floating point.
SELECT dp_avg(x, 900, 0.1, 0.7, dp_options(granularity => 0.1)) AS upper FROM t;
SELECT dp_avg(x, 900, 0, 1000, dp_options(granularity => 50)) AS avg, dp_sum(i, 900, 0, 1000, dp_options(granularity => 1000)) % 1000 = 0 AS sum FROM t;

-- Every answer but a sum is possible, with and without rows.
SELECT count(*) FILTER (WHERE c >= 0) AS counts, count(*) FILTER (WHERE a BETWEEN -3 AND 5) AS means, count(*) FILTER (WHERE v BETWEEN 0 AND 16) AS variances,
       count(*) FILTER (WHERE s < 0) BETWEEN 10 AND 90 AS sums, count(DISTINCT a) > 1 AS differ
  FROM generate_series(1, 100) g,
       LATERAL (SELECT dp_count(0.001) AS c, dp_avg(x, 0.001, -3, 5) AS a, dp_var_pop(x, 0.001, -3, 5) AS v, dp_sum(x, 0.001, 1, 2) AS s
                  FROM empty WHERE x > g OR x IS NULL) l;
-- Sums of groups add up. The mean of 2000 has a standard deviation of 32. It was 504 with sums cut off at 0. A larger deviation than here has
-- a probability below 1e-9.
SELECT avg(s) BETWEEN -200 AND 206 AS without_bias FROM (SELECT dp_sum(3.0, 0.1, 0, 100) AS s FROM generate_series(1, 2000) g GROUP BY g) t;
-- No answer of few different values seems certain. Of 2000 answers more than ten had an error of 0.
SELECT count(*) AS answers, min(avg_error) > 0 AS avg, min(variance_error) > 0 AS variance, min(stddev_error) > 0 AS stddev
  FROM (SELECT (dp_stats((i = 1)::int, 0.1, 0, 1)).* FROM generate_series(1, 2000) g, generate_series(1, 100) i GROUP BY g) t;
SELECT dp_avg(v, 900, 0, 10) BETWEEN 9.9 AND 10 AS infinite, dp_count(v, 900) AS all_values FROM unnest('{NaN,Infinity,1e308,NULL,Infinity}'::float8[]) v;
SELECT dp_avg(v, 900, 0, 10) BETWEEN 9.9 AND 10 AS beyond FROM unnest('{NaN,Infinity,1e400,NULL,1e400}'::numeric[]) v;

-- Parallel plans, grouping sets, rho
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
ALTER TABLE t SET (parallel_workers = 2);
EXPLAIN (COSTS OFF) SELECT dp_count(1), dp_count_distinct(i, 1), dp_avg(x, 1, 0, 1000), dp_histogram(x, 1, ARRAY[0, 500, 1000]), dp_keep_group(1, 1e-6) FROM t;
SELECT dp_count(900) AS count, dp_count_distinct(i, 900) AS distinct, round(dp_avg(x, 900, 0, 1000)) IN (500, 501) AS avg, dp_histogram(x, 900, ARRAY[0, 500.5, 1000]) AS histogram FROM t;
SELECT k, dp_count(900), dp_count_distinct(i, 900) FROM t GROUP BY k;
COMMIT;
SELECT k, dp_count(900) FROM t GROUP BY ROLLUP (k);
SET ROLE regress_dpq_summaries_zcdp;
SELECT dp_count(NULL, dp_options(rho => 900)) AS count, dp_count_distinct(k, NULL, dp_options(rho => 900)) AS distinct,
       round(dp_avg(x, NULL, 0, 1000, dp_options(rho => 900))) IN (500, 501) AS avg
  FROM t;
SELECT dp_keep_group(1, 1e-6) FROM t;
SET ROLE regress_dpq_summaries;

-- Groups that may be shown (threat 60): large ones always, a group of one row almost never, none without rows
SELECT * FROM dp_keep_group_rows(1, 1e-6);
SELECT k, dp_count(900) FROM (SELECT k FROM t UNION ALL VALUES (7), (8), (8)) s GROUP BY k HAVING dp_keep_group(1, 1e-9);
SELECT dp_keep_group(1, 0.5) AS kept FROM empty;
SELECT count(*) FROM (SELECT i FROM t GROUP BY i HAVING dp_keep_group(0.1, 1e-9)) s;

-- Users in several groups: everybody counts in few of them. 300 users in each of a, b and c, 40 in d as well, one alone.
CREATE TABLE visits AS
  SELECT u, city FROM generate_series(1, 300) u, unnest('{a,b,c}'::text[]) city
   UNION ALL SELECT u, 'd' FROM generate_series(1, 40) u
   UNION ALL SELECT 1000, 'rare';
SELECT city FROM visits GROUP BY city HAVING dp_keep_group(u, 1, 1e-9, 4);
SELECT city, dp_keep_group(u, 12, 1e-9, 4) AS in_four, dp_keep_group(u, 1, 1e-15, 1) AS in_one FROM visits GROUP BY city;
SELECT dp_keep_group(u, 1, 1e-9, 1) AS all, (SELECT dp_keep_group(u, 1, 1e-9, 1) FROM visits WHERE false) AS none FROM visits;
-- Five users in 2000 groups each leave five groups of one user, or fewer.
SELECT count(*) FROM (SELECT g FROM generate_series(1, 2000) g, generate_series(1, 5) u GROUP BY g HAVING dp_keep_group(u, 1, 1e-9, 1)) s;
-- Keys that are equal but look different, several keys, NULL keys
SELECT k, dp_keep_group(u, 1, 1e-9, 2) FROM (SELECT u, (ARRAY['x ', 'x', NULL])[1 + u % 3]::char(3) AS k FROM generate_series(1, 300) u) s GROUP BY k;
-- threat 63: a key that looks different from its equals would be that of one row.
SELECT k, dp_keep_group(1, 1e-9) FROM (SELECT (ARRAY[1.0, 1.00])[1 + u % 2] AS k FROM generate_series(1, 300) u) s GROUP BY k;
SELECT k, dp_keep_group(u, 1, 1e-9, 2) FROM (SELECT u, u % 2 * interval '1 day' AS k FROM generate_series(1, 300) u) s GROUP BY k;
SELECT k, dp_keep_group(1, 1e-9) FROM (SELECT u % 2 * 0.50::numeric(4,2) AS k FROM generate_series(1, 300) u) s GROUP BY k;
SELECT k, dp_keep_group(1, 1e-9) FROM (SELECT (u % 2 * 0.50)::numeric(4,2) AS k FROM generate_series(1, 300) u) s GROUP BY k;
SELECT k, dp_keep_group(1, 1e-9) FROM (SELECT (ARRAY[1.0, 1.00])[1 + u % 2] AS k FROM generate_series(1, 300) u) s WHERE k = 1 GROUP BY k;
-- threat 62: dp_keep_group is asked first, so nothing else is computed of the other groups.
CREATE FUNCTION told(city text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', city; RETURN true; END $$;
SELECT city FROM visits WHERE city <> 'Oslo' OR u < 2 GROUP BY city HAVING told(city || min(u)) AND dp_keep_group(1, 1e-9);
SELECT city FROM visits GROUP BY city HAVING 1 / (length(min(city)) - 4) < 2 AND dp_keep_group(1, 1e-9);
SELECT city FROM visits GROUP BY city HAVING 1 / (length(min(city)) - 4) < 2 AND dp_keep_group(1, 1e-9) IS TRUE;
SELECT city FROM visits GROUP BY city HAVING (1 / (length(min(city)) - 4) < 2 OR dp_keep_group(1, 1e-9)) AND dp_keep_group(1, 1e-9);
SELECT a, b, dp_keep_group(u, 1, 1e-9, 2) FROM (SELECT u, u % 2 AS a, 'x'::text AS b FROM generate_series(1, 300) u) s GROUP BY ROLLUP (a, b);
-- threat 62: a charge for each group would tell the number of all groups.
SELECT city, dp_user_mean(u, 1, 1, 0, 9) FROM visits GROUP BY city HAVING dp_keep_group(u, 1, 1e-9, 4);
SELECT city, dp_user_mean(u, 1, 1, 0, 9) FROM visits GROUP BY city HAVING dp_keep_group(1, 1e-9);
SELECT dp_user_mean(u, 1, 1, 0, 9) IS NOT NULL AS mean, dp_keep_group(1, 1e-9) AS kept FROM visits;
SELECT dp_keep_group(u, 1, 1e-9, 0) FROM visits;
SELECT dp_keep_group(u, 1, 1e-9, NULL) FROM visits;
SELECT dp_keep_group(u::float8, 1, 1e-9, 1) FROM visits;

-- Histograms
SELECT dp_histogram(x, 900, ARRAY[1, 10, 100, 1000]) AS x, dp_histogram(n, 900, '{0,50,100}') AS n, dp_histogram(x, 900, '{-Infinity,500,Infinity}') AS all FROM t;
SELECT * FROM dp_histogram_rows('{1,10,100,1000}'::int[], (SELECT dp_histogram(x, 900, '{1,10,100,1000}') FROM t));
SELECT * FROM dp_histogram_rows('{2000-01-01,2001-01-01,2003-01-01}'::date[], (SELECT dp_histogram(day, 900, '{2000-01-01,2001-01-01,2003-01-01}') FROM t));
SELECT dp_histogram(x, 900, '{0,1}') AS none FROM empty;
SELECT dp_histogram_error(1) AS error, dp_histogram_error(0.1, 0.99) AS more;

-- The ledger
SELECT function, mechanism, neighbours, trim_scale(epsilon) AS epsilon, delta, rho IS NOT NULL AS has_rho
  FROM (SELECT DISTINCT ON (function) * FROM dp_ledger WHERE role = 'regress_dpq_summaries' ORDER BY function, number) l ORDER BY function COLLATE "C";

-- Errors to expect
SELECT round(count::numeric, 2) AS count, round(sum::numeric, 1) AS sum, round(avg::numeric, 4) AS avg, round(variance::numeric, 1) AS variance,
       round(stddev::numeric, 2) AS stddev
  FROM dp_stats_expected_error(1000, 1, 0, 120);
-- With little noise the count, a whole number, is mostly exact.
SELECT count BETWEEN 0.045 AND 0.055 AS count FROM dp_stats_expected_error(1000, 10, 0, 120);
SELECT expected_error BETWEEN 0.00009 AND 0.000092 AS count FROM dp_explain('SELECT dp_count(10)');

-- Bad parameters
SELECT dp_count(0) FROM t;
SELECT dp_count(NULL) FROM t;
SELECT dp_count(1, dp_options(granularity => 1)) FROM t;
SELECT dp_count_distinct(point(i, i), 1) FROM t;
SELECT dp_avg(x, 1, 10, 0) FROM t;
SELECT dp_avg(x, 0, 500000, 0.5) FROM t;
SELECT dp_avg(i, 1, 0, 9, dp_options(method => 'tree')) FROM t;
SELECT dp_sum(i, 1, 0, 9, dp_options(granularity => 0.5)) FROM t;
SELECT dp_variance(x, 1, 0, 1e-200) FROM t;
SELECT dp_count(x) FROM t;
SELECT dp_histogram_error(1, 1);
SELECT dp_histogram_error(1, 'NaN');
SELECT * FROM dp_histogram_rows('{0,1,2}'::int[], '{5,6,7}');
SELECT * FROM dp_histogram_rows('{0,1,NULL}'::int[], '{5,6}');
SELECT * FROM dp_histogram_rows('{{0,1},{2,3}}'::int[], '{5,6,7}');
SELECT dp_keep_group(1, 0) FROM t;
SELECT dp_keep_group(1, 0.6) FROM t;
SELECT dp_histogram(x, 1, '{3,2,1}') FROM t;
SELECT dp_histogram(x, 1, '{1}') FROM t;
SELECT dp_histogram(x, 1, '{1,NULL}') FROM t;
SELECT dp_histogram(x, 1, '{{1,2},{3,4}}') FROM t;
SELECT dp_histogram(x, 1, NULL) FROM t;
SELECT dp_stats_expected_error(0, 1, 0, 120);
SELECT dp_stats_expected_error(NULL, 1, 0, 120);

RESET ROLE;
SET client_min_messages = warning;
DROP OWNED BY regress_dpq_summaries, regress_dpq_summaries_zcdp;
DROP ROLE regress_dpq_summaries_zcdp, regress_dpq_summaries;
