-- Covariance, correlation and the least-squares line of two columns. With epsilon 100 each of at most 9 noisy sums is off by more than 0.3 rows with a
-- probability below 1e-12, so the answers over 6000 rows agree with those of PostgreSQL to three digits.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_pairs SUPERUSER;
CREATE ROLE regress_dpq_pairs_analyst LOGIN;
SELECT dp_restrict_role('regress_dpq_pairs_analyst');
SELECT dp_grant_budget(role, 1e6, smallest_charge => 0.001) FROM unnest('{regress_dpq_pairs,regress_dpq_pairs_analyst}'::regrole[]) role;
SET ROLE regress_dpq_pairs;
CREATE SCHEMA regress_dpq_pairs;
GRANT USAGE ON SCHEMA regress_dpq_pairs TO regress_dpq_pairs_analyst;
SET search_path = regress_dpq_pairs, public;
CREATE TABLE points (id int PRIMARY KEY, x int, y numeric, z real, half text);
INSERT INTO points SELECT i, i % 60, 10 + 0.5 * (i % 60) + (i * 7) % 13, 100 - (i * i) % 37, CASE WHEN i <= 3000 THEN 'first' ELSE 'second' END
  FROM generate_series(1, 6000) i;
CREATE FUNCTION agrees(answer float8, exact float8) RETURNS boolean LANGUAGE sql AS $$ SELECT abs(answer - exact) <= 0.004 * greatest(abs(exact), 1) $$;

-- Each statistic, of columns of several types
SELECT agrees(dp_covar_pop(y, x, 100, 0, 60, 0, 60), covar_pop(y, x)) AS covar_pop, agrees(dp_covar_samp(y, x, 100, 0, 60, 0, 60), covar_samp(y, x)) AS covar_samp,
       agrees(dp_corr(y, x, 100, 0, 60, 0, 60), corr(y, x)) AS corr, agrees(dp_corr(z, x, 100, 0, 100, 0, 60), corr(z, x)) AS corr_of_real,
       agrees(dp_regr_slope(y, x, 100, 0, 60, 0, 60), regr_slope(y, x)) AS slope,
       agrees(dp_regr_intercept(y, x, 100, 0, 60, 0, 60), regr_intercept(y, x)) AS intercept, agrees(dp_regr_r2(y, x, 100, 0, 60, 0, 60), regr_r2(y, x)) AS r2
  FROM points;
SELECT half, agrees(dp_corr(y, x, 100, 0, 60, 0, 60) FILTER (WHERE id > 5), corr(y, x) FILTER (WHERE id > 5)) AS corr FROM points GROUP BY half ORDER BY half;
-- Which argument is which: the line predicts value from x.
SELECT agrees(dp_regr_slope(2 * x + 5, x, 100, 0, 200, 0, 60), 2) AS slope, agrees(dp_regr_intercept(2 * x + 5, x, 100, 0, 200, 0, 60), 5) AS intercept,
       agrees(dp_regr_slope(x, 2 * x + 5, 100, 0, 60, 0, 200), 0.5) AS inverse, agrees(dp_corr(-x, x, 100, -60, 0, 0, 60), -1) AS falling FROM points;

-- threat 203: a conversion of either value that fails for one row. A row of which either is NULL or NaN does not count. Values outside the bounds count as the nearer bound, however large.
SELECT agrees(dp_covar_pop(v, x, 100, 0, 10, 0, 10), 25) AS clamped
  FROM (VALUES ('-1e400'::numeric, '-Infinity'::float8), (1e400, 'Infinity'), (NULL, 3), (4, NULL), ('NaN', 5), (6, 'NaN')) s (v, x), generate_series(1, 300);
SELECT dp_covar_pop(v, x, 1000, 0, 10, 0, 10) BETWEEN 23 AND 25 AS of_all, dp_covar_samp(v, x, 1000, 0, 10, 0, 10) BETWEEN 31 AND 36 AS of_a_sample
  FROM (VALUES (0, 0), (10, 10), (0, -7), (99, 10)) s (v, x);
-- Without rows there is an answer of noise, within what is possible, or NULL.
SELECT abs(dp_covar_pop(y, x, 1, 0, 60, 0, 60)) <= 900 AS covar_pop, abs(dp_covar_samp(y, x, 1, 0, 60, 0, 60)) <= 1800 AS covar_samp,
       coalesce(abs(dp_corr(y, x, 1, 0, 60, 0, 60)) <= 1, true) AS corr, coalesce(dp_regr_r2(y, x, 1, 0, 60, 0, 60) BETWEEN 0 AND 1, true) AS r2 FROM points WHERE id < 0;
-- threat 202: a NULL that tells that all rows have one x. Whether the slope is NULL depends on the noise, which takes the two sums for the upper bound of x below 0 in one of four draws, and hides
-- that x has one value. Of 200 draws fewer than 15 or more than 100 are NULL with a probability below 1e-8.
SELECT count(*) FILTER (WHERE slope IS NULL) BETWEEN 15 AND 100 AS sometimes
  FROM (SELECT dp_regr_slope(id, 0, 1, 0, 60, 0, 60) AS slope FROM points, generate_series(1, 200) draw WHERE id <= 60 GROUP BY draw) s;

-- Parameters
SELECT dp_corr(y, x, 1, 0, 60, 60, 0) FROM points;
SELECT dp_corr(y, x, 1, 60, 0, 0, 60) FROM points;
SELECT dp_corr(y, x, 1, 0, 60, 'NaN', 60) FROM points;
SELECT dp_corr(y, x, 1, 0, 60, NULL, 60) FROM points;
SELECT dp_corr(y, x, 1, 0, 60, 0, x) FROM points;
SELECT dp_corr(y, x, 1, 0, 1e-200, 0, 1e200) FROM points;
SELECT dp_corr(y, x, -1, 0, 60, 0, 60) FROM points;
SELECT dp_corr(y, x, 1, 0, 60, 0, 60, dp_options(granularity => 1)) FROM points;
\set VERBOSITY terse
SELECT dp_corr(half, x, 1, 0, 60, 0, 60) FROM points;
\set VERBOSITY default
SELECT function, mechanism, neighbours, epsilon, groups, count(*) FROM dp_ledger WHERE role = 'regress_dpq_pairs' GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 4, 5;
SELECT private_aggregate, epsilon, round(expected_error) AS expected_error, error_in
  FROM dp_explain('SELECT dp_covar_pop(y, x, 1, 0, 60, 0, 60), dp_covar_samp(y, x, 1, 0, 60, 0, 60), dp_corr(y, x, 1, 0, 60, 0, 60) FROM points', 100);

-- Over a protected table, also of PostgreSQL's own aggregates
SELECT dp_protect_table('points'), dp_set_domain('points', 'y', 0, 60), dp_set_domain('points', 'half', '{first,second,third}');
CREATE TABLE visits AS SELECT id / 3 AS person, x, y FROM points;
SELECT dp_protect_table('visits', user_id => 'person', max_rows => 3), dp_set_domain('visits', 'y', 0, 60), dp_set_domain('visits', 'x', 0, 60),
       dp_grant_private_access('visits', 'regress_dpq_pairs_analyst', epsilon => 10);
SELECT dp_grant_private_access('points', 'regress_dpq_pairs_analyst', epsilon => 100);
SET SESSION AUTHORIZATION regress_dpq_pairs_analyst;
SET search_path = regress_dpq_pairs, public;
SELECT dp_corr(y, x, 1, 0, 60, 0, 60) BETWEEN 0.8 AND 1 AS corr FROM points;
SELECT corr(y, x) FROM points;
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_pairs;
SELECT dp_set_domain('points', 'x', 0, 60);
SELECT covar_pop(y, x) AS covar_pop, covar_samp(y, x) AS covar_samp, corr(y, x) AS corr, regr_slope(y, x) AS slope, regr_intercept(y, x) AS intercept,
       regr_r2(y, x) AS r2, regr_slope(x, y) AS inverse, corr(y, x) FILTER (WHERE half = 'first') AS first FROM points \gset
SET SESSION AUTHORIZATION regress_dpq_pairs_analyst;
SET search_path = regress_dpq_pairs, public;
CREATE TEMP TABLE answer AS
  SELECT covar_pop(y, x) AS covar_pop, covar_samp(y, x) AS covar_samp, corr(y, x) AS corr, regr_slope(y, x) AS slope, regr_intercept(y, x) AS intercept,
         regr_r2(y, x) AS r2, regr_slope(x, y) AS inverse, corr(y, x) FILTER (WHERE half = 'first') AS first FROM points;
SELECT agrees(covar_pop, :covar_pop) AS covar_pop, agrees(covar_samp, :covar_samp) AS covar_samp, agrees(corr, :corr) AS corr, agrees(slope, :slope) AS slope,
       agrees(intercept, :intercept) AS intercept, agrees(r2, :r2) AS r2, agrees(inverse, :inverse) AS inverse, agrees(first, :first) AS first FROM answer;
DROP TABLE answer;
SELECT half, corr(y, x) BETWEEN -1 AND 1 AS possible FROM points WHERE half <> 'third' GROUP BY half ORDER BY half;
SELECT count(*), bool_and(abs(covar_pop) <= 900) AS possible FROM (SELECT covar_pop(y, x) FROM points GROUP BY half) s;
SELECT corr(DISTINCT y, x) FROM points;
SELECT corr(y, id) FROM points;
SELECT dp_error_of(corr(y, x)) FROM points;
-- Rows of a person are limited, and each of their rows has a part of epsilon.
SELECT corr(y, x) BETWEEN 0.8 AND 1 AS corr, covar_pop(y, x) BETWEEN 0 AND 900 AS covar_pop FROM visits;
SELECT function, epsilon, count(*) FROM dp_ledger GROUP BY 1, 2 ORDER BY 1, 2;

RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
DROP OWNED BY regress_dpq_pairs, regress_dpq_pairs_analyst;
DROP ROLE regress_dpq_pairs, regress_dpq_pairs_analyst;
