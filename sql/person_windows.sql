-- Rows of persons: window functions whose PARTITION BY has the column that identifies the persons, and DISTINCT ON, below private
-- aggregates (threats 190 and 191). A count of rows has epsilon 25 for each, and one of persons 100: noise on it is 0 except with a probability below 1e-10.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_windows_owner LOGIN;
CREATE ROLE regress_dpq_windows_analyst LOGIN;
CREATE ROLE regress_dpq_windows_replacer LOGIN;
CREATE SCHEMA regress_dpq_windows AUTHORIZATION regress_dpq_windows_owner;
GRANT USAGE ON SCHEMA regress_dpq_windows TO regress_dpq_windows_analyst, regress_dpq_windows_replacer;
SELECT dp_grant_budget('regress_dpq_windows_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_grant_budget('regress_dpq_windows_replacer', 1000, neighbours => 'replace');
SELECT dp_restrict_role('regress_dpq_windows_analyst'), dp_restrict_role('regress_dpq_windows_replacer');
SET SESSION AUTHORIZATION regress_dpq_windows_owner;
SET search_path = regress_dpq_windows, public;
CREATE TABLE region (id int PRIMARY KEY, name text NOT NULL UNIQUE);
INSERT INTO region VALUES (1, 'north'), (2, 'south');
GRANT SELECT ON region TO regress_dpq_windows_analyst;
CREATE TABLE patients (id int PRIMARY KEY, region int, birth int);
INSERT INTO patients SELECT p, 1 + p % 2, 1950 + p FROM generate_series(1, 40) p;
-- Patient p has p % 4 visits, the first one on the web. Four visits are nobody's.
CREATE TABLE visits (patient bigint, day date, minutes int, kind text NOT NULL, cost numeric, weight float8);
INSERT INTO visits SELECT p, date '2023-06-15' + 100 * i, 5 * i, CASE WHEN i = 1 THEN 'web' ELSE 'ward' END, 10 * i, i
  FROM generate_series(1, 40) p, generate_series(1, p % 4) i;
INSERT INTO visits SELECT NULL, '2024-01-01', 20, 'ward', 10, 1 FROM generate_series(1, 4);
-- The same visits of one day each, in two orders: which of them comes first depends on what is in them, with 1.0 and 1.00, and with
-- long texts, some of which are compressed.
CREATE TABLE up (patient int, day date, cost numeric, note text);
INSERT INTO up SELECT p, '2024-01-01', CASE WHEN i < 3 THEN 1.0 ELSE 1.00 END,
       CASE WHEN p % 2 = 0 THEN repeat(chr(97 + (7 * i + p) % 4), 5000) ELSE chr(97 + (7 * i + p) % 4) END FROM generate_series(1, 60) p, generate_series(1, 4) i;
INSERT INTO up VALUES (61, '2024-01-01', 1, repeat('x', 20000));
CREATE TABLE down (LIKE up);
INSERT INTO down SELECT * FROM up ORDER BY patient DESC, cost::text DESC, note DESC;
CREATE TABLE rows_alone (patient bigint, day date);
SELECT dp_protect_table('patients', 'id', 1, 'patient'), dp_protect_table('visits', 'patient', 4, 'patient'),
       dp_protect_table('up', 'patient', 4), dp_protect_table('down', 'patient', 4), dp_protect_table('rows_alone');
SELECT dp_set_domain('visits', 'minutes', 0, 60), dp_set_domain('visits', 'kind', '{web,ward}');
SELECT dp_grant_private_access(t, 'regress_dpq_windows_analyst', epsilon => 100, delta => 1e-6)
  FROM unnest('{patients,visits,up,down,rows_alone}'::regclass[]) t;
SELECT dp_grant_private_access('visits', 'regress_dpq_windows_replacer');
SET SESSION AUTHORIZATION regress_dpq_windows_analyst;
SET search_path = regress_dpq_windows, public;

-- Which row of its person a row is
SELECT kind, count(*) FROM (SELECT *, row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM visits) v WHERE n = 2 GROUP BY kind ORDER BY 1;
-- Numbers with more than 400 digits are NULL, so that no sum of them overflows.
SELECT count(s), count(a) FROM (SELECT sum(CASE WHEN minutes > 0 THEN 9e131071 END) OVER (PARTITION BY patient) > 0 AS s,
                                       avg(CASE WHEN minutes > 0 THEN 9e131071 END) OVER (PARTITION BY patient) > 0 AS a FROM visits) v;
SELECT count(*) FROM (SELECT sum(9e131071::numeric) OVER (PARTITION BY patient) AS s FROM visits) v WHERE s > 0;
SELECT count(*) FROM (SELECT rank() OVER (PARTITION BY patient ORDER BY day DESC) AS n FROM visits) v WHERE n <= 2;
SELECT count(*) FROM (SELECT ntile(2) OVER (PARTITION BY patient ORDER BY day) AS half FROM visits) v WHERE half = 2;
SELECT dp_count(25) FROM (SELECT dense_rank() OVER w AS d, percent_rank() OVER w AS p, cume_dist() OVER w AS c FROM visits
  WINDOW w AS (PARTITION BY patient ORDER BY kind), unused AS (ORDER BY day)) v WHERE d = 2 AND p > 0.4 AND c = 1;
-- What the rows before and after it have
SELECT count(*) FROM (SELECT day - lag(day) OVER (PARTITION BY patient ORDER BY day) AS gap FROM visits) v WHERE gap = 100;
SELECT count(*) FROM (SELECT lead(minutes, 2, -1) OVER (PARTITION BY patient ORDER BY day) AS later FROM visits) v WHERE later = -1;
SELECT count(*) FROM (SELECT *, first_value(kind) OVER w AS first, last_value(day) OVER w AS last, nth_value(minutes, 2) OVER w AS second FROM visits
  WINDOW w AS (PARTITION BY patient ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) v
  WHERE kind = first AND last > day AND second = 10;
-- Totals until then
SELECT count(*) FROM (SELECT sum(cost) OVER (PARTITION BY patient ORDER BY day) AS total FROM visits) v WHERE total > 20;
SELECT count(*) FROM (SELECT max(minutes) OVER (PARTITION BY patient ORDER BY day ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS most,
       count(*) FILTER (WHERE kind = 'ward') OVER (PARTITION BY patient) AS wards FROM visits) v WHERE most = 15 AND wards = 2;
SELECT count(*) FROM (SELECT minutes, avg(minutes) OVER (PARTITION BY patient) AS mean FROM visits) v WHERE minutes > mean;
SELECT count(*) FROM (SELECT cost, weight, max(cost) OVER (PARTITION BY patient) AS most, min(weight) OVER (PARTITION BY patient) AS least FROM visits) v
  WHERE cost = most AND weight > least;
-- Bounds follow from those of what is computed.
SELECT abs(sum(n) - 100) < 4 AS right FROM (SELECT row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM visits) v;
SELECT abs(sum(first) - 300) < 60 AS right FROM (SELECT first_value(minutes) OVER (PARTITION BY patient ORDER BY day) AS first FROM visits) v;
-- Nobody's visits are no person's.
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY patient ORDER BY minutes) AS n FROM visits WHERE minutes = 20) v;
-- Over groups of a person, joins and other window functions, and in WITH
SELECT kind, count(*) FROM (SELECT patient, kind, rank() OVER (PARTITION BY patient ORDER BY count(*) DESC) AS r FROM visits GROUP BY patient, kind) v
  WHERE r = 1 GROUP BY kind ORDER BY 1;
SELECT r.name, count(*) FROM (SELECT p.region, row_number() OVER (PARTITION BY p.id ORDER BY v.day) AS n FROM patients p JOIN visits v ON v.patient = p.id) x
  JOIN region r ON r.id = x.region WHERE x.n = 3 GROUP BY r.name ORDER BY 1;
WITH n AS (SELECT patient, row_number() OVER (PARTITION BY patient ORDER BY day) + 1 AS n FROM visits)
  SELECT count(*) FROM (SELECT n, max(n) OVER (PARTITION BY patient) AS most FROM n) x WHERE n = most;
SELECT count(*) FROM (SELECT patient, count(*) FROM (SELECT DISTINCT patient, dense_rank() OVER (PARTITION BY patient ORDER BY kind) AS d FROM visits) x
  GROUP BY patient) y;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY patient, kind ORDER BY day) AS n, count(*) OVER (PARTITION BY patient, day) AS m,
       rank() OVER (PARTITION BY patient ORDER BY weight) AS r FROM visits) x WHERE n = 1 AND m = 1 AND r < 3;
-- The first row of each person
SELECT kind, count(*) FROM (SELECT DISTINCT ON (patient) * FROM visits ORDER BY patient, day DESC) v GROUP BY kind ORDER BY 1;
SELECT count(*) FROM (SELECT DISTINCT ON (patient, kind) minutes + 1 AS m FROM visits ORDER BY kind, patient, day) v WHERE m = 11;

-- One row of each person has all of epsilon, others a part, also in a join with a public table.
SET dpquantile.epsilon = 1;
SELECT dp_error_of(count(*)) = dp_histogram_error(1, 0.95) AS whole FROM (SELECT DISTINCT ON (patient) kind FROM visits ORDER BY patient, day) v;
SELECT dp_error_of(count(*)) = dp_histogram_error(1, 0.95) AS whole FROM (SELECT kind, row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM visits) v
  WHERE kind = 'web' AND 2 = n;
SELECT dp_error_of(count(*)) = dp_histogram_error(1, 0.95) AS whole FROM (SELECT region, row_number() OVER (PARTITION BY id) AS n FROM patients) p
  JOIN region r ON r.id = p.region WHERE n = 1;
SELECT dp_error_of(count(*)) = dp_histogram_error(0.25, 0.95) AS quarter FROM (SELECT row_number() OVER (PARTITION BY patient, kind ORDER BY day) AS n FROM visits) v WHERE n = 1;
SELECT dp_error_of(count(*)) = dp_histogram_error(0.25, 0.95) AS quarter FROM (SELECT rank() OVER (PARTITION BY patient ORDER BY kind) AS n FROM visits) v WHERE n = 1;
SELECT dp_error_of(count(*)) = dp_histogram_error(0.25, 0.95) AS quarter FROM (SELECT row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM visits) v WHERE n <= 1;
SELECT dp_error_of(count(*)) = dp_histogram_error(0.25, 0.95) AS quarter FROM (SELECT kind, row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM visits) v WHERE n = 1 OR kind = 'web';
SELECT dp_error_of(count(*)) = dp_histogram_error(0.25, 0.95) AS quarter
  FROM (SELECT x.n FROM visits v JOIN (SELECT id, row_number() OVER (PARTITION BY id) AS n FROM patients) x ON x.id = v.patient) z WHERE n = 1;
RESET dpquantile.epsilon;
SELECT count(*) FROM visits v JOIN (SELECT DISTINCT ON (patient) patient, day FROM visits ORDER BY patient, day) f ON f.patient = v.patient WHERE v.day > f.day;

-- Rows with equal keys come in the order of what is in them, not in that of the table.
SELECT (SELECT count(*) FROM (SELECT note, cost, row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM up) v WHERE n = 2 AND (note < 'c' OR cost::text = '1.0'))
     = (SELECT count(*) FROM (SELECT note, cost, row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM down) v WHERE n = 2 AND (note < 'c' OR cost::text = '1.0')) AS same;
SELECT (SELECT count(*) FROM (SELECT note, lag(note) OVER (PARTITION BY patient ORDER BY day) AS before FROM up) v WHERE note < before)
     = (SELECT count(*) FROM (SELECT note, lag(note) OVER (PARTITION BY patient ORDER BY day) AS before FROM down) v WHERE note < before) AS same;
SELECT (SELECT count(*) FROM (SELECT DISTINCT ON (patient) patient, cost FROM up ORDER BY patient, day) v WHERE cost::text = '1.0')
     = (SELECT count(*) FROM (SELECT DISTINCT ON (patient) patient, cost FROM down ORDER BY patient, day) v WHERE cost::text = '1.0') AS same;

-- Beyond 16 kB of values that are not stored as they are, one is NULL: its bytes would have to be fetched.
SELECT count(note) AS notes, count(*) AS rows FROM (SELECT note, row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM up) v WHERE n > 0;

-- What is no window of the rows of a person
SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY day) AS n FROM visits) v;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY patient) AS n, rank() OVER (PARTITION BY kind ORDER BY day) FROM visits) v;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY patient % 2) AS n FROM visits) v;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY v.patient) AS n FROM patients p LEFT JOIN visits v ON v.patient = p.id) x;
SELECT count(n) FROM (SELECT r.id, row_number() OVER (PARTITION BY p.id) AS n FROM region r LEFT JOIN patients p ON p.region = r.id) x;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY patient) AS n FROM rows_alone) x;
-- The median by numbers of rows, which many texts have
SELECT min(CASE WHEN n >= 0.5 * total THEN cost END) FROM (SELECT cost, row_number() OVER (ORDER BY cost) AS n, count(*) OVER () AS total FROM visits) v;
SELECT avg(n + 1) FROM (SELECT n FROM (SELECT row_number() OVER (ORDER BY day) AS n FROM visits) v) w;
SELECT row_number() OVER (PARTITION BY patient) FROM visits;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM visits ORDER BY day LIMIT 5) v;
-- What may fail, or takes long, for some rows
SELECT count(*) FROM (SELECT sum(weight) OVER (PARTITION BY patient ORDER BY day) AS s FROM visits) v;
SELECT count(*) FROM (SELECT string_agg(kind, ',') OVER (PARTITION BY patient ORDER BY day) AS s FROM visits) v;
SELECT count(*) FROM (SELECT ntile(minutes) OVER (PARTITION BY patient ORDER BY day) AS s FROM visits) v;
PREPARE steps(int) AS SELECT count(*) FROM (SELECT lag(day, $1) OVER (PARTITION BY patient ORDER BY day) AS s FROM visits) v;
EXECUTE steps(1);
SELECT count(*) FROM (SELECT ntile(0) OVER (PARTITION BY patient ORDER BY day) AS s FROM visits) v;
SELECT count(*) FROM (SELECT lag(day, minutes) OVER (PARTITION BY patient ORDER BY day) AS s FROM visits) v;
SELECT count(*) FROM (SELECT min(minutes) OVER (PARTITION BY patient ORDER BY day RANGE '1 day' PRECEDING) AS s FROM visits) v;
SELECT count(*) FROM (SELECT min(minutes) OVER (PARTITION BY patient ORDER BY day ROWS -1 PRECEDING) AS s FROM visits) v;
SELECT count(*) FROM (SELECT min(minutes) OVER (PARTITION BY patient ORDER BY day ROWS 1000 PRECEDING) AS s FROM visits) v;
SELECT count(*) FROM (SELECT min(minutes) OVER (PARTITION BY patient ORDER BY day ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s FROM visits) v;
SELECT count(*) FROM (SELECT count(*) OVER (PARTITION BY patient ORDER BY day ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) AS s FROM visits) v;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY patient ORDER BY 1 / minutes) AS s FROM visits) v;

-- For replacing a value of one row, a number of persons costs more above a window: all rows of a person may change.
-- Each window sorts and copies all columns. So many would take longer than a millisecond for a row.
SELECT format('SELECT count(*) FROM (SELECT %s FROM visits) v WHERE %s', string_agg(format('lag(minutes, %s) OVER (PARTITION BY patient ORDER BY minutes + %1$s) AS c%1$s', i), ', '),
              string_agg(format('c%s IS NULL', i), ' AND ')) AS many FROM generate_series(1, 120) i \gset
SELECT problem FROM dp_explain(:'many');
-- Since PostgreSQL 19. Whether a function may ignore NULLs is looked at when it comes to a row (threat 227).
DO $$
DECLARE
  call text;
BEGIN
  FOREACH call IN ARRAY CASE WHEN current_setting('server_version_num')::int >= 190000 THEN '{lag(minutes) IGNORE NULLS,row_number() RESPECT NULLS}' ELSE '{}' END::text[] LOOP
    ASSERT EXISTS (SELECT FROM dp_explain(format('SELECT count(*) FROM (SELECT %s OVER (PARTITION BY patient ORDER BY day) AS n FROM visits) v WHERE n = 1', call))
                    WHERE problem LIKE 'IGNORE NULLS and RESPECT NULLS are not supported over protected rows%'), call;
  END LOOP;
END
$$;
SET SESSION AUTHORIZATION regress_dpq_windows_replacer;
SET search_path = regress_dpq_windows, public;
SELECT dp_count_distinct(patient, 10) >= 0 AS n FROM visits;
SELECT dp_count_distinct(patient, 10) >= 0 AS n FROM (SELECT patient, row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM visits) v WHERE n > 2;
SELECT function, neighbours, epsilon FROM dp_ledger ORDER BY number;
RESET SESSION AUTHORIZATION;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_windows CASCADE;
DROP OWNED BY regress_dpq_windows_owner, regress_dpq_windows_analyst, regress_dpq_windows_replacer;
DROP ROLE regress_dpq_windows_owner, regress_dpq_windows_analyst, regress_dpq_windows_replacer;
