-- Parameters that come from the data would tell them: the smallest value as the lower bound, the number of rows as 1/delta.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_bounds;
CREATE SCHEMA regress_dpq_bounds AUTHORIZATION regress_dpq_bounds;
SELECT dp_grant_budget('regress_dpq_bounds', 1000, 0.5);
SET ROLE regress_dpq_bounds;
SET search_path = regress_dpq_bounds, public;
CREATE TABLE staff AS SELECT i::float8 AS salary FROM generate_series(1, 100) i;
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE query;
  RETURN 'answer';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;
SELECT dp_median(salary, 1, (SELECT min(salary) FROM staff), 100) FROM staff;
-- threat 59
SELECT query, outcome(query) FROM (VALUES
  ('SELECT dp_median(salary, 1, 0, (SELECT max(salary) FROM staff)) FROM staff'),
  ('SELECT dp_avg(salary, 1, 0, (SELECT max(salary) FROM staff)) FROM staff'),
  ('SELECT dp_histogram(salary, 1, ARRAY(SELECT salary FROM staff ORDER BY 1)) FROM staff'),
  ('SELECT dp_median(salary, 1, 0, 100, dp_options(granularity => (SELECT min(salary) FROM staff))) FROM staff'),
  ('SELECT dp_iqr(salary, 1, 0, dp_options(method => ''quantiles'', lower => (SELECT min(salary) FROM staff), upper => 9)) FROM staff'),
  ('WITH b AS (SELECT max(salary) AS m FROM staff) SELECT dp_median(salary, 1, 0, (SELECT m FROM b)) FROM staff'),
  ('SELECT dp_median(salary, 1, 0, (SELECT (SELECT max(salary) FROM staff))) FROM staff'),
  ('SELECT dp_median(salary, 1, 0, (SELECT m FROM (SELECT max(salary) AS m FROM staff) b)) FROM staff'),
  ('SELECT dp_median(salary, 1, 0, 1 + (SELECT max(salary) FROM staff)) FROM staff'),
  ('SELECT dp_median(salary, 1, 0, (SELECT random())) FROM staff'),
  ('SELECT (SELECT dp_median(salary, 1, 0, m) FROM staff) FROM (SELECT max(salary) AS m FROM staff) b'),
  ('SELECT a FROM (SELECT max(salary) AS m FROM staff) b, LATERAL (SELECT dp_median(salary, 1, 0, m) AS a FROM staff) l'),
  ('SELECT a FROM staff b, LATERAL (SELECT dp_median(s.salary, 1, 0, b.salary) AS a FROM staff s) l'),
  ('SELECT dp_user_mean(salary::int, salary, 1, 0, (SELECT max(salary) FROM staff)) FROM staff'),
  ('SELECT cardinality(dp_synthesize(salary, (SELECT count(*) FROM staff), 1, 0, 100)) FROM staff'),
  ('SELECT dp_quantile(salary, (SELECT avg((salary < 20)::int) FROM staff), 1, 0, 100) FROM staff'),
  ('SELECT dp_count((SELECT salary / 100 FROM staff WHERE salary = 7)) FROM staff'),
  ('SELECT dp_keep_group(1, (SELECT 0.1 / count(*) FROM staff)) FROM staff'),
  ('SELECT dp_keep_group(salary::int, 1, 1e-6, (SELECT count(*) FROM staff)) FROM staff')) AS q (query);
-- LATERAL items, joins and conditions bring data into the rows of an outer query.
CREATE FUNCTION smallest() RETURNS float8 STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT min(salary) FROM staff); END $$;
SELECT outcome('SELECT x, (SELECT dp_median(salary, 1, x, 400) FROM staff) FROM generate_series(0, 40) x GROUP BY x HAVING EXISTS (SELECT FROM staff WHERE salary = x)') AS having,
       outcome('SELECT x, (SELECT (SELECT dp_median(s.salary, 1, v.x, 400) FROM staff s) FROM staff t WHERE t.salary = v.x LIMIT 1) FROM generate_series(0, 9) v (x)') AS level_between;
SELECT query, outcome(format('SELECT a FROM %s, LATERAL (SELECT dp_avg(salary, 1, g, 1000) AS a FROM staff) q %s', query, condition)),
       outcome(format('SELECT (SELECT dp_avg(salary, 1, g, 1000) FROM staff) FROM %s %s', query, condition)) AS in_list
  FROM (VALUES
  ('(SELECT min(salary) AS m FROM staff) s, LATERAL generate_series(m::int, m::int) g', ''),
  ('(SELECT min(salary) AS m FROM staff) s, unnest(ARRAY[m]) g', ''),
  ('(SELECT min(salary) AS m FROM staff) s, LATERAL (VALUES (m), (m + 1)) v (g)', ''),
  ('(SELECT min(salary) AS m FROM staff) s, LATERAL (SELECT m AS g OFFSET 0) v', ''),
  ('(SELECT min(salary) AS m FROM staff) s, LATERAL (SELECT m AS g UNION ALL SELECT m + 1) v', ''),
  ('generate_series(0, 9) g', 'WHERE g = (SELECT floor(min(salary)) FROM staff)'),
  ('generate_series(0, 9) g', 'WHERE EXISTS (SELECT FROM staff WHERE salary = g)'),
  ('generate_series(0, 9) g JOIN (SELECT floor(min(salary)) AS m FROM staff) s ON s.m = g', ''),
  ('generate_series(0, 9) g LEFT JOIN staff s ON s.salary = g', ''),
  ('(SELECT min(salary) AS g, dp_count(0.1) FROM staff) s', ''),
  ('(SELECT salary AS g, dp_count(0.1) FROM staff GROUP BY salary) s', ''),
  ('generate_series(0, 9) g', 'WHERE g = smallest()'),
  ('generate_series(0, 9) g', 'LIMIT (SELECT count(*) FROM staff)'),
  ('generate_series(0, 9) g', 'OFFSET (SELECT min(salary) FROM staff)'),
  ('generate_series(0, 9) g', ''),
  ('(VALUES (0), (1)) v (g) CROSS JOIN generate_series(1, 2) h', 'WHERE g < h'),
  ('(SELECT dp_count(1) AS rows FROM staff) s, (SELECT 1 AS g) v', '')) AS q (query, condition);
-- What reads no table is as public as a literal.
SELECT query, outcome(query) FROM (VALUES
  ('SELECT dp_median(salary, 1, (SELECT 0), (SELECT 50 + 50)) FROM staff'),
  ('SELECT dp_median(salary, (SELECT 0.5), 0, 100) FROM staff'),
  ('SELECT dp_histogram(salary, 1, ARRAY(SELECT generate_series(0, 100, 10))) FROM staff'),
  ('SELECT a FROM (VALUES (0, 100), (0, 200)) b (lower, upper), LATERAL (SELECT dp_median(salary, 1, lower, upper) AS a FROM staff) l'),
  ('SELECT a FROM generate_series(10, 20, 10) u, LATERAL (SELECT dp_median(salary, 1, 0, u) AS a FROM staff) l'),
  ('SELECT dp_quantiles(salary, ARRAY(SELECT i / 10.0 FROM generate_series(1, 9) i), 1, 0, 100) FROM staff')) AS q (query);
-- So are the clock, the time zone and other settings: they are read once when the query starts.
SET my.last = '2024-12-31';
CREATE TABLE visits AS SELECT timestamptz '2024-01-01' + i * interval '1 hour' AS at, date '2024-01-01' + i AS day FROM generate_series(1, 100) i;
SELECT query, outcome(query) FROM (VALUES
  ('SELECT dp_median(at, 1, now() - interval ''30 days'', now()) FROM visits'),
  ('SELECT dp_median(day, 1, current_date - 30, current_date) FROM visits'),
  ('SELECT dp_median(at, 1, date_trunc(''year'', now()), current_timestamp) FROM visits'),
  ('SELECT dp_median(day, 1, ''2024-01-01'', (SELECT current_setting(''my.last'')::date)) FROM visits'),
  ('SELECT dp_median(at, 1, date ''2024-01-01'', timestamp ''2025-01-01'') FROM visits'),
  ('SELECT dp_median(day, 1, text ''2024-01-01''::date, varchar ''2025-01-01''::date) FROM visits'),
  ('SELECT dp_histogram(at, 1, ARRAY[date ''2024-01-01'', ''2024-02-01'', ''2025-01-01'']) FROM visits'),
  ('SELECT dp_histogram(at, 1, ARRAY(SELECT generate_series(timestamptz ''2024-01-01'', ''2024-02-01'', ''1 day''))) FROM visits'),
  ('SELECT dp_histogram(at, 1, text ''{2024-01-01,2024-02-01}''::timestamptz[]) FROM visits')) AS q (query);
SELECT query, outcome(query) FROM (VALUES
  ('SELECT dp_median(at, 1, clock_timestamp() - interval ''30 days'', ''2025-01-01'') FROM visits'),
  ('SELECT dp_median(at, 1, pg_postmaster_start_time(), ''2055-01-01'') FROM visits'),
  ('SELECT dp_median(salary, 1, 0, length(current_user)) FROM staff'),
  ('SELECT dp_median(salary, 1, 0, pg_relation_size(''staff'')) FROM staff'),
  ('SELECT dp_median(at, 1, (SELECT min(at) FROM visits), now()) FROM visits')) AS q (query);
PREPARE text_bounds(varchar, text) AS
  SELECT dp_median(day, 1, $1::date, CAST($2 AS date)) BETWEEN '2024-01-01' AND '2024-12-31' AS answered,
         cardinality(dp_histogram(day, 1, CAST($2 || '' AS date) || ARRAY[date '2030-01-01'])) AS bins
    FROM visits;
EXECUTE text_bounds('2024-01-01', '2024-12-31');
SET plan_cache_mode = force_generic_plan;
EXECUTE text_bounds('2024-01-01', '2024-12-31');
EXECUTE text_bounds('2024-01-01', 'never');
RESET plan_cache_mode;
SELECT dp_avg(0.1, salary, 0, 100) FROM staff;
SELECT dp_quantile(salary, salary, 1, 0, 100) FROM staff;
SELECT dp_quantiles(salary, ARRAY[salary], 1, 0, 100) FROM staff;
SELECT dp_user_mean(salary::int, 1, salary, 0, 100) FROM staff;
PREPARE bounds AS SELECT dp_median(salary, 1, $1, $2) BETWEEN 0 AND 100 AS answered FROM staff;
EXECUTE bounds(0, 100);
SELECT count(*) AS charges FROM dp_ledger WHERE role = 'regress_dpq_bounds';

RESET ROLE;
SET client_min_messages = warning;
DROP OWNED BY regress_dpq_bounds;
DROP ROLE regress_dpq_bounds;
