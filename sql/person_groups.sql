-- Rows of persons: GROUP BY and DISTINCT with the column that identifies the persons, below private aggregates. A count of persons
-- has epsilon 100, and one of rows 25: noise on it is 0 except with a probability below 1e-10.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_persons_owner LOGIN;
CREATE ROLE regress_dpq_persons_analyst LOGIN;
CREATE SCHEMA regress_dpq_persons AUTHORIZATION regress_dpq_persons_owner;
GRANT USAGE ON SCHEMA regress_dpq_persons TO regress_dpq_persons_analyst;
SELECT dp_grant_budget('regress_dpq_persons_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_persons_analyst');
SET SESSION AUTHORIZATION regress_dpq_persons_owner;
SET search_path = regress_dpq_persons, public;
CREATE TABLE region (id int PRIMARY KEY, name text NOT NULL UNIQUE);
INSERT INTO region VALUES (1, 'north'), (2, 'south');
GRANT SELECT ON region TO regress_dpq_persons_analyst;
-- 40 patients; patient p has p % 4 visits, the last ones in 2025. Patient 100 has 30 visits. Five visits are nobody's.
CREATE TABLE patients (id int PRIMARY KEY, region int, birth int, name text);
INSERT INTO patients SELECT p, 1 + p % 2, 1950 + p, 'patient ' || p FROM generate_series(1, 40) p;
INSERT INTO patients VALUES (100, 1, 2000, 'patient 100');
CREATE TABLE visits (patient bigint, day date, cost numeric(8, 2), minutes int, kind text NOT NULL, paid boolean);
INSERT INTO visits SELECT p, date '2023-06-15' + 365 * i, 10 * i, 5 * i, CASE WHEN i = 1 THEN 'web' ELSE 'ward' END, i < 3
  FROM generate_series(1, 40) p, generate_series(1, p % 4) i;
INSERT INTO visits SELECT 100, '2024-01-01', 20, i, 'ward', true FROM generate_series(1, 30) i;
INSERT INTO visits SELECT NULL, '2024-01-01', 20, 10, 'ward', true FROM generate_series(1, 5) i;
CREATE TABLE calls (patient bigint, minutes int);
INSERT INTO calls SELECT i % 10, i FROM generate_series(1, 50) i;
CREATE TABLE letters (sender text, words int);
INSERT INTO letters SELECT CASE WHEN i <= 2 THEN repeat(i::text, 70000) ELSE i::text END, 10 * i FROM generate_series(1, 10) i, generate_series(1, 2);
-- A child has keys of its own, which may be those of other rows.
CREATE TABLE accounts (id int PRIMARY KEY, holder int, amount int);
CREATE TABLE old_accounts () INHERITS (accounts);
INSERT INTO accounts SELECT i, i, 50 FROM generate_series(1, 20) i;
INSERT INTO old_accounts SELECT i, i, 0 FROM generate_series(1, 20) i;
CREATE TABLE rows_alone (patient bigint, minutes int);
SELECT dp_protect_table('patients', 'id', 1, 'patient'), dp_protect_table('visits', 'patient', 4, 'patient'),
       dp_protect_table('calls', 'patient', unit => 'patient'), dp_protect_table('letters', 'sender', 2, 'sender'), dp_protect_table('accounts', 'holder', 2), dp_protect_table('rows_alone');
SELECT dp_set_domain('visits', 'cost', 0, 100), dp_set_domain('visits', 'minutes', 0, 60), dp_set_domain('visits', 'kind', '{web,ward}'),
       dp_set_domain('visits', 'day', '2022-01-01', '2026-12-31'), dp_set_domain('calls', 'minutes', 0, 100);
SELECT dp_grant_private_access(t, 'regress_dpq_persons_analyst', epsilon => 100, delta => 1e-6)
  FROM unnest('{patients,visits,calls,letters,accounts,rows_alone}'::regclass[]) t;
SET SESSION AUTHORIZATION regress_dpq_persons_analyst;
SET search_path = regress_dpq_persons, public;

-- One row for each person: an aggregate of them has all its epsilon, whatever max_rows is, and needs none.
SELECT count(*) FROM (SELECT DISTINCT patient FROM visits) p;
SELECT round(avg(n)) AS mean, count(*) FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) p;
SELECT count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING count(*) >= 3) p;
SELECT n, count(*) FROM (SELECT count(*) AS n FROM visits GROUP BY patient) p GROUP BY n ORDER BY n;
SELECT count(*), round(dp_avg(n, 100, 0, 10)) AS mean FROM (SELECT patient, count(*) AS n FROM calls GROUP BY patient) p;
SELECT private_aggregate, epsilon, problem FROM dp_explain('SELECT count(*) FROM (SELECT DISTINCT patient FROM visits) p');
SELECT count(*) FROM (SELECT v.patient FROM patients p JOIN visits v ON v.patient = p.id GROUP BY v.patient) p;
-- Ids that are too long to be read
SELECT count(*) FROM (SELECT sender, sum(words) AS words FROM letters GROUP BY sender) p;
SELECT count(*) FROM (SELECT sender FROM letters GROUP BY sender HAVING count(*) = 2) p JOIN (SELECT DISTINCT sender FROM letters) q ON q.sender = p.sender;
SELECT words > 50 AS long, count(*) FROM (SELECT sum(words) AS words FROM letters GROUP BY sender) p GROUP BY 1 ORDER BY 1;
-- A person's first row, totals, and what all its rows have
SELECT extract(year FROM first)::int AS year, count(*) FROM (SELECT patient, min(day) AS first FROM visits GROUP BY patient) p GROUP BY 1;
SELECT abs(sum(least(total, 40)) - 840) < 40 AS right FROM (SELECT patient, sum(cost) AS total FROM visits GROUP BY patient) p;
SELECT always, count(*) FROM (SELECT patient, bool_and(paid) AS always FROM visits GROUP BY patient) p GROUP BY always ORDER BY 1;
SELECT count(*) FROM (SELECT patient, sum(minutes) AS long, avg(minutes) AS mean FROM visits GROUP BY patient) p WHERE long > 2 * mean;
-- What a person group computes, as a key
SELECT k, count(*) FROM (SELECT patient, min(kind) AS k FROM visits GROUP BY patient) p GROUP BY k ORDER BY k;
SELECT k, count(*) FROM (SELECT patient, count(DISTINCT kind) AS k FROM visits GROUP BY patient) p GROUP BY k ORDER BY k;
SELECT k, count(*) FROM (SELECT patient, sum(minutes) AS k FROM visits WHERE patient < 100 GROUP BY patient) p GROUP BY k HAVING count(*) > 5 ORDER BY k;
SELECT k, count(*) FROM (SELECT patient, percentile_disc(0.5) WITHIN GROUP (ORDER BY minutes) AS k FROM visits WHERE patient < 100 GROUP BY patient) p GROUP BY k HAVING count(*) > 5 ORDER BY k;
SELECT k, count(*) FROM (SELECT patient, floor(avg(minutes)) AS k FROM visits WHERE patient < 100 GROUP BY patient) p GROUP BY k HAVING count(*) > 5 ORDER BY k;
SELECT n, count(*) FROM (SELECT row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM visits WHERE patient < 100) p GROUP BY n ORDER BY n;
-- Patient 100 has 30 visits, more than max_rows. A key that has bounds of its own, or gets them by WHERE, lists all numbers.
SELECT count(*) AS groups, max(n) FILTER (WHERE c > 0) AS last, sum(c) AS persons FROM (SELECT n, count(*) AS c FROM (SELECT patient, least(count(*), 12) AS n FROM visits GROUP BY patient) p GROUP BY n) q;
SELECT n, count(*) FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) p WHERE n BETWEEN 28 AND 30 GROUP BY n ORDER BY n;
SELECT n % 3 AS n, count(*), mod(n, 3) = 0 AS whole FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) p GROUP BY 1, 3 HAVING count(*) > 0 ORDER BY 1;
SELECT floor(least(n, 20) / 10) * 10 AS n, count(*) FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) p GROUP BY 1 ORDER BY 1;
SELECT least(total, 6) AS total, count(*) FROM (SELECT patient, sum(minutes) AS total FROM visits GROUP BY patient) p GROUP BY 1 HAVING count(*) > 0 ORDER BY 1;
SELECT n, count(*) FROM (SELECT row_number() OVER (PARTITION BY patient ORDER BY day) AS n FROM visits) p WHERE n BETWEEN 4 AND 5 GROUP BY n ORDER BY n;
SELECT n / 2 AS half, count(*) FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) p GROUP BY 1 ORDER BY 1;
-- Whole numbers between bounds are keys with a list, whatever they are computed by: all are shown, and none is chosen privately.
\pset format unaligned
CREATE FUNCTION pg_temp.keys(key text, source text) RETURNS TABLE (n text, persons bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT (%s)::text, count(*) FROM (SELECT patient, %s FROM visits WHERE patient < 100 GROUP BY patient) p GROUP BY %1$s ORDER BY %1$s', key, source);
END $$;
SET client_min_messages = warning;
SELECT key, source, string_agg(n || ':' || persons, ' ') AS persons FROM (VALUES
  ('n', 'count(*) AS n'), ('n', 'count(paid) AS n'), ('n', 'count(*) FILTER (WHERE kind = ''ward'') AS n'), ('n', 'count(DISTINCT kind) AS n'),
  ('least(n, 2)', 'count(*) AS n'), ('greatest(n, 2)', 'count(*) AS n'), ('n / 2', 'count(*) AS n'), ('n % 2', 'count(*) AS n'), ('10 * n', 'count(*) AS n'),
  ('-n', 'count(*) AS n'), ('n::int', 'count(*) AS n'), ('CASE WHEN n > 2 THEN 2 ELSE n END', 'count(*) AS n'), ('n::text', 'count(*) AS n'),
  ('n - w', 'count(*) AS n, count(*) FILTER (WHERE kind = ''web'') AS w'), ('(n - w) * 5', 'count(*) AS n, count(*) FILTER (WHERE kind = ''web'') AS w'),
  ('(n - w)::text', 'count(*) AS n, count(*) FILTER (WHERE kind = ''web'') AS w'), ('div(total, 50)', 'sum(cost) AS total'), ('(total / 100)::int', 'sum(cost) AS total'),
  ('years / 365', 'max(day) - min(day) AS years'), ('last', 'max(kind) FILTER (WHERE paid) AS last'), ('n / 100', 'sum(minutes) AS n'), ('n', 'sum(minutes / 30) AS n')
) AS q (key, source), pg_temp.keys(key, source) GROUP BY 1, 2 ORDER BY 1, 2;
RESET client_min_messages;
SELECT n, count(*) FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) p WHERE n > 2 GROUP BY n;
SELECT n, w, count(*) FROM (SELECT patient, count(*) AS n, bool_or(kind = 'web') AS w FROM visits GROUP BY patient HAVING count(*) > 2) p GROUP BY n, w;
SELECT private_aggregate, epsilon, delta FROM dp_explain('SELECT n, count(*) FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) p GROUP BY n');
SELECT n, count(*) FROM (SELECT patient, least(count(*), 6) AS n FROM calls GROUP BY patient) p GROUP BY n;
SELECT private_aggregate, epsilon, delta FROM dp_explain('SELECT least(n, 10), count(*) FROM (SELECT patient, count(*) AS n FROM calls GROUP BY patient) p GROUP BY 1');
SELECT min(n), max(n), round(avg(n), 1) AS mean FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) p;
-- What a person has none of is NULL.
SELECT n, count(*) FROM (SELECT patient, lag(minutes) OVER (PARTITION BY patient ORDER BY day) / 30 AS n FROM visits WHERE patient < 100) p GROUP BY n;
SELECT n, count(*) FROM (SELECT ntile(2) OVER (PARTITION BY patient ORDER BY day) AS n FROM visits WHERE patient < 100) p GROUP BY n;
SELECT n, count(*) FROM (SELECT count(*) OVER (PARTITION BY patient) AS n FROM visits WHERE patient < 100) p GROUP BY n;
SELECT n, count(*) FROM (SELECT count(*) OVER (PARTITION BY patient ORDER BY day ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING) AS n FROM visits WHERE patient < 100) p GROUP BY n HAVING count(*) > 5;
\pset format aligned
-- Deviations, percentiles, different values
SELECT count(*) FROM (SELECT patient, stddev(cost) AS s, percentile_cont(0.5) WITHIN GROUP (ORDER BY minutes::float8) AS m, count(DISTINCT kind) AS kinds FROM visits GROUP BY patient) p
  WHERE s > 9 AND m = 10 AND kinds = 2;
PREPARE percentiles(float8) AS SELECT count(*) FROM (SELECT patient, percentile_disc($1) WITHIN GROUP (ORDER BY minutes) AS m FROM visits WHERE patient <> 100 GROUP BY patient) p WHERE m >= 10;
EXECUTE percentiles(0);
EXECUTE percentiles(1);
EXECUTE percentiles(NULL);
-- Nobody's visits are no person's.
SELECT count(*) FROM (SELECT patient FROM visits WHERE day = '2024-01-01' GROUP BY patient) p;
-- Several rows of a person: at most max_rows of them
SELECT kind, count(*) FROM (SELECT DISTINCT patient, kind FROM visits) p GROUP BY kind;
SELECT kind, abs(sum(n) - 30) < 20 AS right, count(patient) AS persons FROM (SELECT patient, kind, count(*) AS n FROM visits GROUP BY 1, 2) p GROUP BY 1;
SELECT count(*) FROM (SELECT DISTINCT patient, minutes FROM visits) p WHERE patient = 100;
-- threat 231: rows of one group do not stand one after the other
SELECT count(*) FROM (SELECT DISTINCT patient, minutes % 10 AS m FROM visits WHERE patient < 100) p;
SELECT n, count(*) FROM (SELECT patient, minutes % 10 AS m, count(*) AS n FROM visits WHERE patient < 100 GROUP BY patient, m) p GROUP BY n HAVING count(*) > 2 ORDER BY n;
-- The errors tell: all of epsilon, or a part of it. With epsilon 100 all of them would be 0.
SET dpquantile.epsilon = 1;
SELECT dp_error_of(count(*)) = dp_histogram_error(1, 0.95) AS whole FROM (SELECT DISTINCT patient FROM visits) p;
SELECT dp_error_of(count(*)) = dp_histogram_error(0.25, 0.95) AS quarter FROM (SELECT DISTINCT patient, kind FROM visits) p;
SELECT dp_error_of(count(*)) = dp_histogram_error(1, 0.95) AS whole FROM patients p JOIN (SELECT DISTINCT patient FROM visits) f ON f.patient = p.id;
RESET dpquantile.epsilon;
-- Joined with tables of the unit, with public ones, and with the table itself
SELECT count(*) FROM patients p JOIN (SELECT patient, min(day) AS first FROM visits GROUP BY patient) f ON f.patient = p.id WHERE p.birth < 1960;
SELECT r.name, count(*) FROM (SELECT id, region FROM patients GROUP BY id) p JOIN region r ON r.id = p.region GROUP BY r.name ORDER BY 1;
SELECT r.name, count(n) FROM region r LEFT JOIN (SELECT p.id, p.region, count(v.day) AS n FROM patients p LEFT JOIN visits v ON v.patient = p.id GROUP BY p.id) t
  ON t.region = r.id GROUP BY r.name ORDER BY 1;
SELECT count(*) FROM visits v JOIN (SELECT patient, max(day) AS last FROM visits GROUP BY patient) l ON l.patient = v.patient WHERE v.day = l.last;
SELECT count(*) FROM patients p LEFT JOIN (SELECT patient FROM visits WHERE kind = 'web' GROUP BY patient) w ON w.patient = p.id WHERE w.patient IS NULL;
WITH n AS (SELECT patient, count(*) AS n FROM visits GROUP BY patient)
  SELECT count(*) FROM n a JOIN n b ON a.patient = b.patient WHERE a.n = b.n;
SELECT count(*) FROM (SELECT a.patient FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) a GROUP BY a.patient, a.n HAVING n > 1) p;
-- Persons that are texts, and keys that are computed. A group has rows of one person, whatever the lengths of the ids are.
SELECT count(*) FROM (SELECT DISTINCT sender FROM letters) w;
SELECT count(*) FROM (SELECT sender FROM letters GROUP BY sender HAVING count(*) < 3) w;
SELECT count(*) FROM (SELECT DISTINCT sender, words % 2 AS odd FROM letters) w;
SELECT count(*) FROM letters l JOIN (SELECT sender, max(words) AS most FROM letters GROUP BY sender) w ON w.sender = l.sender WHERE l.words = w.most;
SELECT count(*) FROM (SELECT sender FROM (SELECT DISTINCT sender, words FROM letters) w GROUP BY sender HAVING count(*) = 3) w;
SELECT count(*) FROM (SELECT patient, minutes % 2 FROM visits GROUP BY patient, minutes % 2) p WHERE patient = 100;
SELECT count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING false) p;
SELECT count(*) FROM (SELECT patient FROM visits GROUP BY patient LIMIT 0) p;
-- Nor has one of a constant key, or one of which nothing is used.
SELECT count(*) < 100 AS of_one FROM (SELECT DISTINCT patient FROM visits WHERE patient = 2) p;
SELECT count(*) < 100 AS of_one FROM (SELECT patient FROM visits WHERE patient = 2 GROUP BY patient) p;
SELECT count(p.n) AS counted FROM (VALUES (1), (2)) v (id) LEFT JOIN (SELECT patient, count(*) AS n FROM visits GROUP BY patient) p ON p.patient = v.id;
-- By the other column of the persons of a join
SELECT count(*) FROM (SELECT v.patient, count(*) FROM patients p JOIN visits v ON v.patient = p.id GROUP BY v.patient) p;
SELECT count(*) FROM (SELECT v.patient, count(*) FROM patients p LEFT JOIN visits v ON v.patient = p.id GROUP BY v.patient) p;
SELECT count(*) FROM (SELECT v.patient, p.id FROM patients p LEFT JOIN visits v ON v.patient = p.id GROUP BY v.patient, p.id) p;
SELECT kind, count(*) FROM (SELECT v.patient, v.kind FROM patients p LEFT JOIN visits v ON v.patient = p.id GROUP BY v.patient, v.kind) g GROUP BY kind;

-- What is no row of a person
SELECT patient, count(*) FROM visits GROUP BY patient;
SELECT * FROM (SELECT patient, count(*) AS n FROM visits GROUP BY patient) p;
SELECT count(*) FROM (SELECT patient, array_agg(kind) FROM visits GROUP BY patient) p;
SELECT count(*) FROM (SELECT patient, sum(cost ORDER BY day) FROM visits GROUP BY patient) p;
SELECT count(*) FROM (SELECT patient, string_agg(kind, ',') FROM visits GROUP BY patient) p;
SELECT count(*) FROM (SELECT patient, count(*) FROM visits GROUP BY GROUPING SETS ((patient), ())) p;
SELECT count(*) FROM (SELECT patient, GROUPING(patient) AS g FROM visits GROUP BY patient) p WHERE g = 0;
-- What is computed of one person's rows is exact, and has no error. Threat 298: a query that was taken apart for ever.
SELECT count(*) FROM (SELECT patient, dp_error_of(count(*)) AS e FROM visits GROUP BY patient) p WHERE e < 1;
SELECT count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING dp_error_of(count(*)) < 1) p;
DO $$
BEGIN
  EXECUTE (SELECT 'SELECT count(*) FROM (' || repeat('SELECT * FROM (', 100) || 'SELECT * FROM visits' || string_agg(format(') q%s', i), '') || ') p' FROM generate_series(1, 100) i);
EXCEPTION WHEN statement_too_complex THEN RAISE NOTICE '%', SQLERRM;
END $$;
SELECT count(*) FROM (SELECT holder, id, amount FROM accounts GROUP BY holder, id) p WHERE amount = 0;
SELECT count(*) < 10 AS are_chosen FROM (SELECT id, count(*) FROM accounts GROUP BY id) p;
SELECT count(*) FROM (SELECT id, birth FROM patients GROUP BY id) p WHERE birth > 1960;
SELECT count(*) FROM (SELECT patient % 2 AS odd FROM visits GROUP BY patient % 2) p;
SELECT count(n) FROM (SELECT patient, count(*) AS n FROM rows_alone GROUP BY patient) p;
SELECT count(*) FROM (SELECT patient, count(*) OVER () FROM visits GROUP BY patient) p;
SELECT count(*) FROM (SELECT patient FROM visits GROUP BY patient LIMIT 3) p;

-- What the ledger says is protected: a person, also where each row of a group is one.
SELECT DISTINCT neighbours FROM dp_ledger WHERE tables && '{regress_dpq_persons.visits}';

-- threat 196: WITH queries that double
SELECT 'WITH a0 AS (SELECT DISTINCT patient FROM visits)' ||
         string_agg(format(', a%s AS (SELECT x.patient FROM a%s x JOIN a%2$s y ON x.patient = y.patient)', i, i - 1), '' ORDER BY i) ||
         ' SELECT count(*) FROM a12' AS doubled FROM generate_series(1, 12) i \gset
SELECT problem FROM dp_explain(:'doubled');
RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_persons CASCADE;
DROP OWNED BY regress_dpq_persons_owner, regress_dpq_persons_analyst;
DROP ROLE regress_dpq_persons_owner, regress_dpq_persons_analyst;
