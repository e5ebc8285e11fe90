-- Bounds that come from the data would tell them: the smallest value as the lower bound.
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
  ('SELECT dp_median(salary, 1, 0, (SELECT current_setting(''my.setting'', true)::float8)) FROM staff'),
  ('SELECT (SELECT dp_median(salary, 1, 0, m) FROM staff) FROM (SELECT max(salary) AS m FROM staff) b'),
  ('SELECT a FROM (SELECT max(salary) AS m FROM staff) b, LATERAL (SELECT dp_median(salary, 1, 0, m) AS a FROM staff) l'),
  ('SELECT a FROM staff b, LATERAL (SELECT dp_median(s.salary, 1, 0, b.salary) AS a FROM staff s) l'),
  ('SELECT dp_user_mean(salary::int, salary, 1, 0, (SELECT max(salary) FROM staff)) FROM staff')) AS q (query);
-- What reads no table is as public as a literal.
SELECT query, outcome(query) FROM (VALUES
  ('SELECT dp_median(salary, 1, (SELECT 0), (SELECT 50 + 50)) FROM staff'),
  ('SELECT dp_median(salary, (SELECT 0.5), 0, 100) FROM staff'),
  ('SELECT dp_histogram(salary, 1, ARRAY(SELECT generate_series(0, 100, 10))) FROM staff'),
  ('SELECT a FROM (VALUES (0, 100), (0, 200)) b (lower, upper), LATERAL (SELECT dp_median(salary, 1, lower, upper) AS a FROM staff) l'),
  ('SELECT a FROM generate_series(10, 20, 10) u, LATERAL (SELECT dp_median(salary, 1, 0, u) AS a FROM staff) l'),
  ('SELECT dp_quantiles(salary, ARRAY(SELECT i / 10.0 FROM generate_series(1, 9) i), 1, 0, 100) FROM staff')) AS q (query);
PREPARE bounds AS SELECT dp_median(salary, 1, $1, $2) BETWEEN 0 AND 100 AS answered FROM staff;
EXECUTE bounds(0, 100);
SELECT count(*) AS charges FROM dp_ledger WHERE role = 'regress_dpq_bounds';

RESET ROLE;
SET client_min_messages = warning;
DROP OWNED BY regress_dpq_bounds;
DROP ROLE regress_dpq_bounds;
