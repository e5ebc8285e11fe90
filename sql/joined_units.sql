-- Protected tables of one unit, joined by the columns that name their users. With epsilon 50 a row, noise on a count is 0 except with
-- a probability below 1e-20. (privacy_unit.sql: one table with max_rows.)
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_join_owner LOGIN;
CREATE ROLE regress_dpq_join_other LOGIN;
CREATE ROLE regress_dpq_join_analyst LOGIN;
CREATE ROLE regress_dpq_join_replacer LOGIN;
CREATE ROLE regress_dpq_join_writer;
CREATE SCHEMA regress_dpq_join AUTHORIZATION regress_dpq_join_owner;
GRANT ALL ON SCHEMA regress_dpq_join TO regress_dpq_join_other;
GRANT USAGE ON SCHEMA regress_dpq_join TO regress_dpq_join_analyst, regress_dpq_join_replacer;
SELECT dp_grant_budget('regress_dpq_join_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_grant_budget('regress_dpq_join_replacer', 1000, neighbours => 'replace');
SELECT dp_restrict_role('regress_dpq_join_analyst'), dp_restrict_role('regress_dpq_join_replacer');
CREATE COLLATION regress_dpq_join.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SET SESSION AUTHORIZATION regress_dpq_join_owner;
SET search_path = regress_dpq_join, public;
CREATE TABLE region (id int PRIMARY KEY, name text NOT NULL UNIQUE);
INSERT INTO region VALUES (1, 'north'), (2, 'south'), (3, 'nowhere');
GRANT SELECT ON region TO regress_dpq_join_analyst;
-- 20 patients, whose ids begin at 1; patient p has p % 4 visits. Patient 100 has 30, and three stays.
CREATE TABLE patients (id int PRIMARY KEY, region int, birth int, name text);
INSERT INTO patients SELECT p, 1 + p % 2, 1950 + p, 'patient ' || p FROM generate_series(1, 20) p;
INSERT INTO patients VALUES (100, 1, 2000, 'patient 100');
CREATE TABLE visits (number int, patient bigint, doctor int, cost int, ward text);
INSERT INTO visits SELECT 10 * p + i, p, 7, 100, 'a' FROM generate_series(1, 20) p, generate_series(1, p % 4) i;
INSERT INTO visits SELECT 1000 + i, 100, 20, 500, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END FROM generate_series(1, 30) i;
-- Visits without a patient, and of a patient of whom nothing is known
INSERT INTO visits SELECT 2000 + i, NULL, 7, 100, 'a' FROM generate_series(1, 5) i;
INSERT INTO visits SELECT 3000 + i, 999, 7, 100, 'a' FROM generate_series(1, 2) i;
CREATE TABLE stays (patient int, days int) PARTITION BY RANGE (days);
CREATE TABLE short_stays PARTITION OF stays FOR VALUES FROM (MINVALUE) TO (10);
CREATE TABLE long_stays PARTITION OF stays FOR VALUES FROM (10) TO (MAXVALUE);
INSERT INTO stays SELECT 100, i FROM generate_series(9, 11) i;
INSERT INTO stays SELECT p, p FROM generate_series(1, 10) p;
CREATE VIEW costly AS SELECT patient AS person, cost FROM visits WHERE cost > 200;
CREATE TABLE staff (id int PRIMARY KEY, name text);
CREATE TABLE letters (patient char(8), pages int);
CREATE TABLE calls (patient varchar(20), minutes int);
CREATE TABLE notes (patient text, words int);
CREATE TABLE mixed (patient text COLLATE nocase, words int);

-- What the owner states
SELECT dp_protect_table('patients', unit => 'patient');
SELECT dp_protect_table('patients', 'id', 1);
SELECT dp_protect_table('patients', 'id', 1, 'patient');
SELECT dp_protect_table('patients', 'id', 1, 'patient');
SELECT dp_protect_table('visits', 'patient', 4, 'patient'), dp_protect_table('stays', 'patient', 2, 'patient'),
       dp_protect_table('costly', 'person', 3, 'patient'), dp_protect_table('staff');
SELECT dp_protect_table(t, 'patient', 2, 'patient') FROM unnest('{letters,calls,notes,mixed}'::regclass[]) t;
SELECT dp_set_domain('visits', 'cost', 0, 600, 1), dp_set_domain('visits', 'ward', '{a,b,c}'), dp_set_domain('patients', 'region', '{1,2}');
SELECT dp_grant_private_access(t, 'regress_dpq_join_analyst', epsilon => 100, delta => 1e-6)
  FROM unnest('{patients,visits,stays,costly,staff,letters,calls,notes,mixed}'::regclass[]) t;
SELECT relation, user_id, max_rows, unit FROM dp_protected_tables ORDER BY relation::text;

SET SESSION AUTHORIZATION regress_dpq_join_analyst;
SET search_path = regress_dpq_join, public;

-- 30 visits of patients 1 to 20, all of which are seen, and 4 of patient 100: each joined row is a row of one patient.
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient = p.id;
SELECT function, epsilon, neighbours, tables FROM dp_ledger;
-- All charges name both tables; dp_explain tells it before.
SELECT private_aggregate, epsilon, tables, problem FROM dp_explain('SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient = p.id');
SELECT dp_count(200) FROM visits v, patients p WHERE v.patient = p.id AND p.birth > 1900;
SELECT dp_count(200) FROM patients p, visits v, region r WHERE r.id = p.region AND p.id = v.patient AND r.name = 'north';
SELECT dp_count(200) AS inner_rows FROM visits v JOIN patients p ON p.id = v.patient AND p.region = 2 AND v.ward = 'a';
-- 26 more without a visit of theirs or of a known patient: 5 of patients 4, 8, ..., 20; 5 + 2 visits are of no patient, or of patient 999.
SELECT dp_count(200) FROM patients p LEFT JOIN visits v ON v.patient = p.id;
SELECT dp_count(v.number, 200) FROM patients p LEFT JOIN visits v ON v.patient = p.id;
SELECT dp_count(200) FROM patients p RIGHT JOIN visits v ON v.patient = p.id;
SELECT dp_count(200) FROM visits v LEFT JOIN patients p ON v.patient = p.id;
SELECT dp_count(p.birth, 200) FROM visits v LEFT JOIN patients p ON v.patient = p.id;

-- threat 129: a list of keys of both tables is compared where it is joined with both, and one in two joins for each row.
SELECT private_aggregate, problem FROM dp_explain('SELECT p.region, v.ward, floor(v.cost / 100.0), count(*) FROM patients p JOIN visits v ON v.patient = p.id GROUP BY 1, 2, 3');
SELECT private_aggregate, problem FROM dp_explain('SELECT k, dp_count(v.cost, 1) FROM generate_series(1::numeric, 8) k LEFT JOIN patients p ON p.region / 1.5 = k LEFT JOIN visits v ON v.patient = p.id AND v.cost / 1.5 = k GROUP BY k');

-- threat 82: more rows of a person than the largest limit, 4
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient = p.id WHERE p.id = 100;
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient = p.id JOIN stays s ON s.patient = v.patient WHERE p.id = 100;
SELECT dp_count(200) FROM (SELECT patient FROM visits) v JOIN (SELECT * FROM stays) s USING (patient) WHERE patient = 100;
SELECT dp_count(200) FROM (SELECT v.cost FROM patients p JOIN visits v ON v.patient = p.id WHERE v.patient = 100) t;
WITH v AS (SELECT v.cost, p.region FROM patients p LEFT JOIN visits v ON v.patient = p.id WHERE p.id = 100)
SELECT dp_count(200) FROM v;
SELECT sum(n) FROM (SELECT r.name, dp_count(t.id, 200) AS n FROM region r
  LEFT JOIN (SELECT p.region, p.id FROM patients p JOIN visits v ON v.patient = p.id WHERE p.id = 100) t ON t.region = r.id GROUP BY r.name) g;
SELECT dp_count(200) FILTER (WHERE v.ward = 'a') + dp_count(200) FILTER (WHERE v.ward = 'b') AS wards
  FROM patients p JOIN visits v ON v.patient = p.id WHERE v.patient = 100;
-- After a public side, whose rows stay: 'nowhere' has no patient. 10 visits of 10 patients and 4 of patient 100 are in the north, 20 of 10 patients in the south.
SELECT r.name, dp_count(v.number, 200) AS visits, dp_count(p.birth, 200) AS patients FROM region r LEFT JOIN patients p ON p.region = r.id
  LEFT JOIN visits v ON v.patient = p.id GROUP BY r.name ORDER BY 1;
SELECT r.name, dp_count(v.number, 200) AS visits FROM visits v RIGHT JOIN (SELECT r.name, p.id FROM region r LEFT JOIN patients p ON p.region = r.id AND p.id = 100) r ON v.patient = r.id
 GROUP BY r.name ORDER BY 1;
SELECT r.name, count(v.number) AS visits FROM region r LEFT JOIN patients p ON p.region = r.id LEFT JOIN visits v ON v.patient = p.id AND v.ward = 'b' GROUP BY r.name ORDER BY 1;
-- Only what is joined to the kept rows is public, not what is joined to rows that may be absent.
SELECT r.name, dp_count(v.number, 200) AS visits FROM region r LEFT JOIN patients p ON p.region = r.id LEFT JOIN (visits v JOIN region d ON d.id = 3) ON v.patient = p.id
  GROUP BY r.name ORDER BY 1;
-- A column of users that an outer join may make NULL does not say whose a row is, however deep it is.
SELECT dp_count(200) FROM (SELECT v.patient, p.id FROM patients p LEFT JOIN visits v ON v.patient = p.id AND v.cost = 500) a;
SELECT dp_count(200) FROM (SELECT * FROM (SELECT v.patient, p.id FROM patients p LEFT JOIN visits v ON v.patient = p.id AND v.cost = 500) a) b;
-- A table without rows leaves those that an outer join keeps.
SELECT dp_count(200) FROM (SELECT p.id FROM patients p LEFT JOIN (SELECT * FROM visits WHERE false) x ON x.patient = p.id) y;
SELECT dp_count(200) FROM (SELECT p.id FROM patients p JOIN (SELECT * FROM visits WHERE patient < 0) x ON x.patient = p.id) y;
-- A view of a table of the unit; its limit is 3.
SELECT dp_count(200) FROM patients p JOIN costly c ON c.person = p.id;
SELECT dp_count(200) FROM costly c LEFT JOIN stays s ON s.patient = c.person;

-- Aggregates over users, and groups that are chosen
SELECT dp_count_distinct(p.id, 200) AS ids, dp_count_distinct(v.patient, 200) AS patients FROM patients p LEFT JOIN visits v ON v.patient = p.id;
SELECT v.ward, dp_count(200) BETWEEN 1 AND 34 AS n FROM patients p JOIN visits v ON v.patient = p.id
 GROUP BY v.ward HAVING dp_keep_group(v.patient, 100, 1e-6, 4) ORDER BY 1;
SELECT dp_user_mean(v.patient, v.cost, 100, 0, 600, dp_options(method => 'bounded', max_contributions => 2)) IS NOT NULL AS mean
  FROM patients p JOIN visits v ON v.patient = p.id;

-- Plain SQL
SELECT count(*), count(DISTINCT p.id) AS patients, avg(v.cost) BETWEEN 100 AND 200 AS avg FROM patients p JOIN visits v ON v.patient = p.id;
SELECT p.region, count(*) AS visits FROM patients p JOIN visits v ON v.patient = p.id GROUP BY p.region ORDER BY 1;
SELECT v.ward, count(*) FROM patients p LEFT JOIN visits v ON v.patient = p.id WHERE p.id <> 100 GROUP BY 1 ORDER BY 1;
SELECT p.region, v.ward, count(*) FILTER (WHERE p.birth > 1950) AS n FROM visits v JOIN patients p ON p.id = v.patient WHERE p.id < 100 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT p.name, count(*) FROM patients p JOIN visits v ON v.patient = p.id GROUP BY p.name HAVING count(*) > 1000;
SELECT private_aggregate, epsilon, tables, problem FROM dp_explain(
  'SELECT p.region, count(*), avg(v.cost) FROM patients p JOIN visits v ON v.patient = p.id GROUP BY p.region');
SELECT dp_error_of(count(*)) = dp_histogram_error(25, 0.95) AS rows, dp_error_of(count(DISTINCT v.patient)) = dp_histogram_error(100, 0.95) AS persons
  FROM patients p JOIN visits v ON v.patient = p.id;

-- threat 83: joins in which a row is of several persons, or its person is not known
SELECT dp_count(200) FROM patients p JOIN visits v ON v.number = p.id;
SELECT dp_count(200) FROM patients p JOIN visits v ON v.doctor = p.id;
SELECT dp_count(200) FROM patients p CROSS JOIN visits v;
SELECT dp_count(200) FROM patients p, visits v;
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient <> p.id;
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient >= p.id AND v.patient <= p.id;
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient = p.id OR v.cost = 100;
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient = p.id + 1;
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient::numeric = p.id::numeric;
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient IN (p.id, 100);
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient IS NOT DISTINCT FROM p.id;
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient = 100 AND p.id = 100;
SELECT dp_count(200) FROM patients p LEFT JOIN visits v ON true WHERE v.patient = p.id;
SELECT dp_count(200) FROM patients p FULL JOIN visits v ON v.patient = p.id;
SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient = p.id JOIN stays s ON s.days = p.id;
SELECT dp_count(200) FROM patients p NATURAL JOIN visits v;
SELECT dp_count(200) FROM (SELECT id + 0 AS patient FROM patients) p JOIN visits v USING (patient);
SELECT dp_count(200) FROM (SELECT region AS patient FROM patients) p JOIN visits v USING (patient);
SELECT dp_count(200) FROM patients p JOIN LATERAL (SELECT * FROM visits v WHERE v.patient = p.id) t ON true;
SELECT dp_count(200) FROM patients p WHERE EXISTS (SELECT FROM visits v WHERE v.patient <> p.id);
SELECT dp_count(200) FROM visits v JOIN visits w ON w.patient = v.patient;
SELECT dp_count(200) FROM visits v JOIN costly c ON c.person = v.patient;
WITH v AS (SELECT patient FROM visits) SELECT dp_count(200) FROM v a JOIN v b ON a.patient = b.patient;
SELECT r.name, dp_count(v.cost, 200) FROM region r LEFT JOIN patients p ON p.region = r.id JOIN visits v ON v.patient = p.id GROUP BY r.name;
SELECT r.name, dp_count(v.cost, 200) FROM region r LEFT JOIN patients p ON p.region = r.id RIGHT JOIN visits v ON v.patient = p.id GROUP BY r.name;
SELECT r.name, dp_count(v.cost, 200) FROM region r LEFT JOIN patients p ON p.region = r.id, visits v WHERE v.patient = p.id GROUP BY r.name;
-- threat 174: a public table within the absent side: its keys would tell whether patient 3 has a visit
SELECT d.name, dp_count(v.cost, 200) FROM region r LEFT JOIN patients p ON p.region = r.id LEFT JOIN (visits v JOIN region d ON d.id = 3) ON v.patient = p.id AND p.id = 3 GROUP BY d.name;
SELECT d.name, dp_count(v.cost, 200) FROM region r LEFT JOIN patients p ON p.region = r.id LEFT JOIN (visits v LEFT JOIN region d ON d.id = 3) ON v.patient = p.id AND p.id = 3 GROUP BY d.name;
SELECT d.k, dp_count(v.cost, 200) FROM region r LEFT JOIN patients p ON p.region = r.id LEFT JOIN (visits v JOIN (VALUES (1)) AS d (k) ON d.k = 1) ON v.patient = p.id AND p.id = 3 GROUP BY d.k;
SELECT d.name, dp_count(v.cost, 200) FROM (visits v JOIN region d ON d.id = 3) RIGHT JOIN (SELECT r.id AS region, p.id FROM region r LEFT JOIN patients p ON p.region = r.id) t ON v.patient = t.id AND t.id = 3 GROUP BY d.name;
SELECT r.name, dp_count(v.cost, 200) FROM region r LEFT JOIN patients p ON p.region = r.id LEFT JOIN (visits v JOIN region d ON d.id = 3) ON v.patient = p.id AND p.id = 3 WHERE d.name = 'nowhere' GROUP BY r.name;
SELECT r.name, dp_count(v.cost, 200) FROM region r LEFT JOIN patients p ON p.region = r.id LEFT JOIN visits v ON v.doctor = p.id GROUP BY r.name;
SELECT r.name, dp_sum(coalesce(v.cost, 1), 200, 0, 600) FROM region r LEFT JOIN patients p ON p.region = r.id LEFT JOIN visits v ON v.patient = p.id GROUP BY r.name;
SELECT dp_count(200) FROM staff s JOIN patients p ON p.id = s.id;
-- Ids of which several are equal: blanks at the end, and a collation by which letters are. One type is compared, by its own equality.
SELECT dp_count(200) FROM letters l JOIN notes n ON n.patient = l.patient;
SELECT dp_count(200) FROM mixed m JOIN notes n ON n.patient = m.patient COLLATE "C";
SELECT dp_count(200) FROM mixed m JOIN notes n ON n.patient COLLATE "C" = m.patient COLLATE "C";
SELECT dp_count(200) FROM notes n JOIN calls c ON c.patient = n.patient;
SELECT dp_count(200) FROM notes n JOIN calls c ON c.patient OPERATOR(pg_catalog.~~) n.patient;
SELECT dp_count(200) FROM notes n JOIN patients p ON p.id::text = n.patient;
-- As character, ids that differ in blanks at the end are equal. PostgreSQL takes the cast for a relabelling.
SELECT dp_count(200) FROM notes n JOIN calls c ON c.patient::bpchar = n.patient::bpchar;
SELECT dp_count(200) FROM notes n JOIN calls c ON c.patient::bpchar = n.patient;

-- threat 84: only the owner states a unit, and for both tables; a role needs access to both.
SET SESSION AUTHORIZATION regress_dpq_join_owner;
SELECT dp_protect_table('stays', 'patient', 2, 'person');
SELECT dp_grant_private_access('visits', 'regress_dpq_join_analyst', 0.5, epsilon => 20, max_epsilon => 200);
SET SESSION AUTHORIZATION regress_dpq_join_analyst;
SELECT dp_count(200) FROM patients p JOIN stays s ON s.patient = p.id;
-- The smaller epsilon is that of the query, and the larger smallest_epsilon and the smaller max_epsilon hold.
SELECT epsilon, problem FROM dp_explain('SELECT count(*) FROM patients p JOIN visits v ON v.patient = p.id');
SELECT dp_count(0.4) FROM patients p JOIN visits v ON v.patient = p.id;
SELECT dp_count(201) FROM patients p JOIN visits v ON v.patient = p.id;
SELECT p.name, count(*) FROM patients p JOIN visits v ON v.patient = p.id GROUP BY p.name;
PREPARE joined AS SELECT dp_count(200) FROM patients p JOIN visits v ON v.patient = p.id WHERE p.id = 100;
EXECUTE joined;
SET SESSION AUTHORIZATION regress_dpq_join_owner;
SELECT dp_protect_table('visits', 'patient', 2, 'patient');
SET SESSION AUTHORIZATION regress_dpq_join_analyst;
EXECUTE joined;
SET SESSION AUTHORIZATION regress_dpq_join_owner;
SELECT dp_protect_table('visits', 'patient', 2, unit => '');
SET SESSION AUTHORIZATION regress_dpq_join_analyst;
EXECUTE joined;
SET SESSION AUTHORIZATION regress_dpq_join_owner;
SELECT dp_protect_table('visits', 'patient', 0, 'patient');
SET SESSION AUTHORIZATION regress_dpq_join_analyst;
-- A table without max_rows lets only aggregates over users be asked.
EXECUTE joined;
SELECT dp_count_distinct(p.id, 200) FROM patients p JOIN visits v ON v.patient = p.id;
SET SESSION AUTHORIZATION regress_dpq_join_owner;
SELECT dp_protect_table('visits', 'patient', 4, 'patient');
SELECT dp_revoke_private_access('visits', 'regress_dpq_join_analyst');
SET SESSION AUTHORIZATION regress_dpq_join_analyst;
EXECUTE joined;
SET SESSION AUTHORIZATION regress_dpq_join_owner;
SELECT dp_grant_private_access('visits', 'regress_dpq_join_analyst', epsilon => 100);
SET SESSION AUTHORIZATION regress_dpq_join_analyst;
EXECUTE joined;
SET SESSION AUTHORIZATION regress_dpq_join_owner;
SELECT dp_unprotect_table('patients');
SET SESSION AUTHORIZATION regress_dpq_join_analyst;
EXECUTE joined;
SET SESSION AUTHORIZATION regress_dpq_join_owner;
SELECT dp_protect_table('patients', 'id', 1, 'patient');
SELECT dp_grant_private_access('patients', 'regress_dpq_join_analyst', epsilon => 100);
-- A table of another owner, whose patients are others, and one that somebody may write who may not read the other
RESET SESSION AUTHORIZATION;
ALTER TABLE regress_dpq_join.stays OWNER TO regress_dpq_join_other;
SET SESSION AUTHORIZATION regress_dpq_join_other;
SET search_path = regress_dpq_join, public;
SELECT dp_protect_table('stays', 'patient', 2, 'patient');
SET SESSION AUTHORIZATION regress_dpq_join_analyst;
SELECT dp_count(200) FROM patients p JOIN stays s ON s.patient = p.id;
EXECUTE joined;
RESET SESSION AUTHORIZATION;
ALTER TABLE regress_dpq_join.stays OWNER TO regress_dpq_join_owner;
ALTER TABLE regress_dpq_join.short_stays OWNER TO regress_dpq_join_owner;
GRANT INSERT ON regress_dpq_join.short_stays TO regress_dpq_join_writer;
SET SESSION AUTHORIZATION regress_dpq_join_analyst;
SELECT dp_count(200) FROM patients p JOIN stays s ON s.patient = p.id;
SELECT dp_count(200) FROM stays WHERE patient = 100;

-- Budgets for both tables pay. What was asked before counts, 7700.
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_join_analyst', 7710, 0.1, on_table => 'regress_dpq_join.visits'), dp_grant_budget('regress_dpq_join_analyst', 7715, 0.1, on_table => 'regress_dpq_join.patients');
SET SESSION AUTHORIZATION regress_dpq_join_analyst;
SELECT dp_count(6) >= 0 AS n FROM patients p JOIN visits v ON v.patient = p.id;
SELECT on_table, epsilon_spent FROM dp_budget WHERE on_table IS NOT NULL ORDER BY on_table::text;
SELECT dp_count(6) FROM patients p JOIN visits v ON v.patient = p.id;
SELECT dp_count(6) >= 0 AS n FROM patients;

-- For replacing a value of one row a join costs twice the epsilon, because all rows of a person may change. Of dp_user_mean and of a number of
-- persons it is less without a join.
SET SESSION AUTHORIZATION regress_dpq_join_owner;
SELECT dp_grant_private_access('visits', 'regress_dpq_join_replacer'), dp_grant_private_access('patients', 'regress_dpq_join_replacer');
SET SESSION AUTHORIZATION regress_dpq_join_replacer;
SET search_path = regress_dpq_join, public;
SELECT dp_count_distinct(patient, 10) >= 0 AS n FROM visits;
SELECT dp_user_mean(patient, cost, 10, 0, 600, dp_options(method => 'bounded', max_contributions => 4)) IS NOT NULL AS mean FROM visits;
SELECT dp_count_distinct(v.patient, 10) >= 0 AS n FROM patients p JOIN visits v ON v.patient = p.id;
SELECT dp_user_mean(v.patient, v.cost, 10, 0, 600, dp_options(method => 'bounded', max_contributions => 4)) IS NOT NULL AS mean
  FROM patients p JOIN visits v ON v.patient = p.id;
SELECT dp_count(10) >= 0 AS n FROM visits;
SELECT dp_count(10) >= 0 AS n FROM patients p JOIN visits v ON v.patient = p.id;
-- A view with a join costs what the join does.
SET SESSION AUTHORIZATION regress_dpq_join_owner;
CREATE VIEW visitors AS SELECT v.patient, v.cost FROM patients p JOIN visits v ON v.patient = p.id;
SELECT dp_protect_table('visitors', 'patient', 4, 'patient'), dp_grant_private_access('visitors', 'regress_dpq_join_replacer');
SET SESSION AUTHORIZATION regress_dpq_join_replacer;
SELECT dp_count_distinct(patient, 10) >= 0 AS n FROM visitors;
SELECT dp_count(10) >= 0 AS n FROM visitors;
SELECT function, neighbours, round(epsilon, 3) AS epsilon, tables FROM dp_ledger ORDER BY number;
RESET SESSION AUTHORIZATION;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_join CASCADE;
DROP OWNED BY regress_dpq_join_owner, regress_dpq_join_other, regress_dpq_join_analyst, regress_dpq_join_replacer, regress_dpq_join_writer;
DROP ROLE regress_dpq_join_owner, regress_dpq_join_other, regress_dpq_join_analyst, regress_dpq_join_replacer, regress_dpq_join_writer;
