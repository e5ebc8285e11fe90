-- The demo of dpquantile, for psql as the superuser. All connections are to a private cluster.
\set ON_ERROR_STOP on
\pset footer off
\pset linestyle unicode
\pset border 1

-- The owner creates tables, a role and a budget, protects the tables, and lets the role ask them private queries.
SELECT 'CREATE DATABASE demo' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'demo') \gexec
\connect demo
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpquantile;
ALTER EXTENSION dpquantile UPDATE;

DROP TABLE IF EXISTS people;
CREATE TABLE people (id int PRIMARY KEY, department text NOT NULL, age int NOT NULL, born date NOT NULL, salary numeric(10, 2));

DO $$ BEGIN PERFORM setseed(0.42); END $$;
WITH department (name, from_share, to_share, median, sigma) AS (
  VALUES ('Engineering', 0.00, 0.34, 68000, 0.35),
         ('Sales',       0.34, 0.60, 52000, 0.50),
         ('Support',     0.60, 0.80, 38000, 0.25),
         ('Operations',  0.80, 0.94, 45000, 0.30),
         ('Management',  0.94, 1.00, 115000, 0.60)
), draw AS MATERIALIZED (
  SELECT id, random() AS share, random() AS u, random() AS v, random() AS young, random() AS old, random() AS known
  FROM generate_series(1, 50000) AS id
)
INSERT INTO people
SELECT id, CASE WHEN id = 1 THEN 'Archive' ELSE name END, floor(years), date '2025-01-01' - (365.25 * years)::int,
       -- Log-normal; one salary in twenty is unknown.
       CASE WHEN known >= 0.05 THEN median * exp(sigma * sqrt(-2 * ln(1 - u)) * cos(2 * pi() * v)) END
FROM draw JOIN department ON share >= from_share AND share < to_share, LATERAL (SELECT 18 + 25 * young + 27 * old AS years) AS age;
ANALYZE people;

-- Each bus has many rows, and some buses have very many.
DROP FUNCTION IF EXISTS speeds_of_areas;
DROP TABLE IF EXISTS readings;
CREATE TABLE readings AS
SELECT bus, 'area ' || (bus + floor(1.4 * random())::int) % 10 AS area,
       greatest(0, least(65, 24 + bus % 11 + 12 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))) AS speed
FROM (SELECT bus, 1 + floor(-20 * ln(1 - random()))::int AS count FROM generate_series(1, 3000) AS bus) AS buses,
     generate_series(1, count);
ANALYZE readings;

SELECT 'CREATE ROLE analyst LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'analyst') \gexec
SELECT dp_protect_table('people'), dp_protect_table('readings', user_id => 'bus') \g /dev/null
SELECT dp_set_domain('people', 'age', 0, 120),
       dp_set_domain('people', 'department', '{Engineering,Management,Operations,Sales,Support}') \g /dev/null
SELECT dp_grant_private_access('people', 'analyst', epsilon => 0.1), dp_grant_private_access('readings', 'analyst') \g /dev/null
-- The second way: a query that protected tables do not allow, in a function that the owner has approved.
CREATE FUNCTION speeds_of_areas(epsilon float8)
  RETURNS TABLE (area text, mean float8, mean_error float8, areas_per_bus int)
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
BEGIN ATOMIC
  SELECT s.grid, s.mean, s.mean_error, s.grids_per_user
  FROM unnest((SELECT dp_user_grid_stats(bus, area, speed, epsilon, 0, 65) FROM readings)) AS s;
END;
REVOKE EXECUTE ON FUNCTION speeds_of_areas FROM PUBLIC;
GRANT EXECUTE ON FUNCTION speeds_of_areas TO analyst;
-- The spending remains, so a second run of the demo needs a higher limit.
SELECT coalesce(max(epsilon_spent), 0) + 7 AS epsilon_limit, coalesce(max(delta_spent), 0) + 2e-6 AS delta_limit
FROM dp_budget WHERE role::text = 'analyst' \gset
SELECT dp_grant_budget('analyst', :epsilon_limit, :delta_limit) \g /dev/null

-- The distance from q * n to the answer's rank. With ties the rank is a range.
CREATE OR REPLACE FUNCTION rank_error(q float8, below bigint, up_to bigint, n bigint) RETURNS numeric
  LANGUAGE sql IMMUTABLE AS 'SELECT round(greatest(0, below - q * n, q * n - up_to)::numeric, 1)';

SELECT count(*) AS people, count(salary) AS salaries FROM people \gset
\echo
\echo A table of :people people. The salaries of :salaries of them are known. The role analyst asks. It has no right
\echo on the table, but private access to it, and a budget of epsilon = 7 and delta = 2e-6 left. "private" is the
\echo answer. The owner adds "true" and the rank error: the number of rows between the answer and the requested
\echo quantile.

-- The analyst runs each query. Then the owner compares the answer with the truth.
\set quantiles '{0.1, 0.25, 0.5, 0.75, 0.9}'

\echo
\echo 1. What is not private is refused
\set query 'SELECT * FROM people'
\connect - analyst
\echo '   analyst=>' :query
\set ON_ERROR_STOP off
:query;
\set ON_ERROR_STOP on

\echo
\echo 2. Number of people, mean and standard deviation of their age, for epsilon = 0.5 in total
\set query 'SELECT (dp_stats(age, 0.5, 0, 120)).* FROM people'
\connect - analyst
\echo '   analyst=>' :query
:query \gset
\connect - postgres
SELECT statistic, round(private, 3) AS private, round(truth, 3) AS true, round(error, 3) AS "95 % error bound"
FROM (SELECT count(age), avg(age), stddev(age) FROM people) AS exact,
     LATERAL (VALUES ('count', :count, :count_error, count), ('avg', :avg, :avg_error, avg),
                     ('stddev', :stddev, :stddev_error, stddev)) AS answer (statistic, private, error, truth);

\echo 3. Five quantiles of the salaries, which lie between 0 and 500000, for epsilon = 1
\set query 'SELECT dp_quantiles(salary, ''{0.1, 0.25, 0.5, 0.75, 0.9}'', 1, 0, 500000) AS answer FROM people'
\connect - analyst
\echo '   analyst=>' :query
:query \gset
\connect - postgres
SELECT q AS quantile, round(a::numeric, 2) AS private, truth AS true,
       rank_error(q, below, up_to, :salaries) AS "rank error (rows)",
       round(100 * rank_error(q, below, up_to, :salaries) / :salaries, 3) AS "rank error (%)"
FROM unnest(:'quantiles'::float8[], :'answer'::float8[]) AS answer (q, a),
     LATERAL (SELECT percentile_disc(q) WITHIN GROUP (ORDER BY salary) AS truth,
                     count(*) FILTER (WHERE salary < a) AS below, count(*) FILTER (WHERE salary <= a) AS up_to
              FROM people) AS exact;

\echo 4. The median day of birth of those in Sales who earn more than 60000, for epsilon = 0.1
\set query 'SELECT dp_median(born, 0.1, ''1920-01-01'', ''2010-01-01'') AS answer FROM people WHERE department = ''Sales'' AND salary > 60000'
\connect - analyst
\echo '   analyst=>' :query
:query \gset
\connect - postgres
SELECT :'answer' AS private, percentile_disc(0.5) WITHIN GROUP (ORDER BY born) AS true,
       rank_error(0.5, count(*) FILTER (WHERE born < :'answer'), count(*) FILTER (WHERE born <= :'answer'), count(*)) AS "rank error (rows)"
FROM people WHERE department = 'Sales' AND salary > 60000;

\echo 5. People and median salary of each department, for epsilon = 1 and delta = 1e-6 in total: nobody is in two departments.
\echo '  ' Archive does not appear: it has one person.
\set query 'SELECT department, dp_count(0.2) AS people, dp_median(salary, 0.5, 0, 500000) AS answer FROM people GROUP BY department HAVING dp_keep_group(0.3, 1e-6)'
\connect - analyst
\echo '   analyst=>' :query
SELECT json_agg(groups) AS answers FROM (:query) AS groups \gset
\connect - postgres
SELECT department, answers.people, count(*) AS "true people", round(answer, 2) AS median,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY salary) AS "true median",
       rank_error(0.5, count(*) FILTER (WHERE salary < answer), count(*) FILTER (WHERE salary <= answer), count(salary)) AS "rank error (rows)"
FROM people JOIN json_to_recordset(:'answers') AS answers (department text, people bigint, answer numeric) USING (department)
GROUP BY department, answers.people, answer ORDER BY count(salary) DESC;

\echo 6. What a BI tool sends, for epsilon = 0.1: the owner has stated the bounds of the age, a list of departments, and an
\echo '  ' epsilon of 0.1. It pays for the count and the mean together.
\set query 'SELECT department, count(*) AS people, avg(age) AS age FROM people GROUP BY department'
\connect - analyst
\echo '   analyst=>' :query
SELECT json_agg(groups) AS answers FROM (:query) AS groups \gset
\connect - postgres
SELECT department, answers.people, count(*) AS "true people", round(answers.age, 2) AS age, round(avg(people.age), 2) AS "true age"
FROM people JOIN json_to_recordset(:'answers') AS answers (department text, people bigint, age numeric) USING (department)
GROUP BY department, answers.people, answers.age ORDER BY count(*) DESC;

\echo 7. The whole distribution of salaries for epsilon = 0.5: all questions to it are free
\set query 'SELECT dp_cdf(salary, 0.5, 0, 200000, dp_options(bins => 500)) AS answer FROM people'
\connect - analyst
\echo '   analyst=>' :query
:query \gset
\echo '   analyst=> SELECT dp_cdf_plot(answer)'
\pset tuples_only on
\pset format unaligned
SELECT dp_cdf_plot(:'answer');
\o :svg
SELECT dp_cdf_svg(:'answer', title => 'Salaries: a private CDF for epsilon = 0.5');
\o
\pset format aligned
\pset tuples_only off
\echo
\echo :svg 'has the same plot as SVG: dp_cdf_svg(answer)'
\echo '   analyst=> SELECT dp_cdf_quantile(answer, 0.1), ...; SELECT dp_cdf_error(answer)'
\connect - postgres
SELECT q AS quantile, round(dp_cdf_quantile(:'answer', q)::numeric, 2) AS private, truth AS true,
       round(rows::numeric) AS "+- rows (95 % band)"
FROM unnest(:'quantiles'::float8[]) AS q, dp_cdf_error(:'answer'),
     LATERAL (SELECT percentile_disc(q) WITHIN GROUP (ORDER BY salary) AS truth FROM people) AS exact;

\echo 8. The interquartile range of salaries without known bounds, for epsilon = 1 and delta = 1e-6
\set query 'SELECT dp_iqr(salary, 1, 1e-6) AS answer FROM people'
\connect - analyst
\echo '   analyst=>' :query
:query \gset
\connect - postgres
SELECT round(:'answer'::numeric, 2) AS private, round((q[2] - q[1])::numeric, 2) AS true,
       round(100 * abs(:'answer' / (q[2] - q[1]) - 1)::numeric, 1) AS "error (%)",
       round(100 * dp_iqr_expected_error(1, 1e-6, 50000)::numeric, 1) AS "95 % error bound (%)"
FROM (SELECT percentile_disc('{0.25, 0.75}'::float8[]) WITHIN GROUP (ORDER BY salary::float8) AS q FROM people) AS exact;

SELECT sum(count) AS readings, count(*) AS buses, max(count) AS most
FROM (SELECT count(*) FROM readings GROUP BY bus) AS of_bus \gset
\echo 9. The mean speed for epsilon = 0.5, with all readings of a bus protected together. There are :readings readings
\echo '  ' of :buses buses, and :most of one bus. The owner named the column bus when protecting the table. So only
\echo '  ' method bounded is allowed. It takes at most 40 readings of a bus here, and also hides whether a bus is in the table.
\set query 'SELECT dp_user_mean(bus, speed, 0.5, 0, 65, dp_options(''bounded'', max_contributions => 40)) AS answer FROM readings'
\connect - analyst
\echo '   analyst=>' :query
:query \gset
\connect - postgres
SELECT round(:'answer'::numeric, 2) AS private, round(avg(speed)::numeric, 2) AS true,
       round(abs(:'answer' - avg(speed))::numeric, 2) AS error
FROM readings;

\echo 10. The mean speed in each area for epsilon = 1 in total: a bus is in at most two areas, not in ten.
\echo '  ' dp_user_grid_stats takes for public in which areas a bus is and how often. Protected tables refuse it. Here the
\echo '  ' owner knows that this is public, and has approved a function that asks it.
\set query 'SELECT * FROM speeds_of_areas(1)'
\connect - analyst
\echo '   analyst=>' :query
SELECT json_agg(stats) AS answers FROM (:query) AS stats \gset
\connect - postgres
SELECT area, round(mean::numeric, 2) AS "private mean", round(avg(speed)::numeric, 2) AS "true mean",
       round(mean_error::numeric, 2) AS "expected error", areas_per_bus AS "areas of a bus"
FROM json_to_recordset(:'answers') AS answers (area text, mean float8, mean_error float8, areas_per_bus int)
JOIN readings USING (area) GROUP BY area, mean, mean_error, areas_per_bus ORDER BY area LIMIT 4;

-- The budget.
\connect - analyst
\echo 11. A query that is rolled back stays charged
\set query 'SELECT dp_median(age, 0.2, 0, 120) FROM people'
SELECT epsilon_spent AS spent FROM dp_budget \gset
\echo '   analyst=> BEGIN;' :query; ROLLBACK
BEGIN;
:query \g /dev/null
ROLLBACK;
SELECT :spent AS "epsilon spent before", epsilon_spent AS "and after" FROM dp_budget;

\echo 12. A query that costs more than is left gets no answer
\set query 'SELECT dp_median(age, 50, 0, 120) FROM people'
\echo '   analyst=>' :query
\set ON_ERROR_STOP off
:query;
\set ON_ERROR_STOP on
\echo
\set query 'SELECT role, epsilon_limit, epsilon_spent, epsilon_remaining, delta_remaining FROM dp_budget'
\echo '   analyst=>' :query
:query;
