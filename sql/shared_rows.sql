-- Tables that have rows in common by partitions and inheritance, each protected by itself: whoever asks one of them is bounded by what the
-- others protect (threat 93), and no row is joined with itself (threat 94). With epsilon 50 a row, noise on a count is 0 except with a
-- probability below 1e-20.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_rows_owner LOGIN;
CREATE ROLE regress_dpq_rows_other LOGIN;
CREATE ROLE regress_dpq_rows_analyst LOGIN;
CREATE SCHEMA regress_dpq_rows AUTHORIZATION regress_dpq_rows_owner;
GRANT ALL ON SCHEMA regress_dpq_rows TO regress_dpq_rows_other;
GRANT USAGE ON SCHEMA regress_dpq_rows TO regress_dpq_rows_analyst;
SELECT dp_grant_budget('regress_dpq_rows_analyst', 1e6);
SELECT dp_restrict_role('regress_dpq_rows_analyst');
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
SET search_path = regress_dpq_rows, public;
CREATE TABLE visits (patient int, doctor int, day int) PARTITION BY LIST (day);
CREATE TABLE monday PARTITION OF visits FOR VALUES IN (1);
-- Its columns have other numbers than those of its parent.
CREATE TABLE tuesday (day int, doctor int, patient int);
CREATE TABLE rows_of_tuesday PARTITION OF visits FOR VALUES IN (2) PARTITION BY LIST (doctor);
INSERT INTO monday SELECT p, 7, 1 FROM generate_series(1, 10) p;
INSERT INTO tuesday SELECT 2, 8, p FROM generate_series(1, 20) p;
CREATE VIEW view_of_visits AS SELECT doctor, patient AS person FROM visits;
CREATE VIEW view_of_monday AS SELECT patient AS person, doctor FROM monday;

-- One column protects all.
SELECT dp_protect_table('visits', 'patient', 4), dp_protect_table('monday', 'patient', 2), dp_protect_table('tuesday', 'patient', 8);
SELECT dp_protect_table('view_of_visits', 'person', 4);
SELECT dp_grant_private_access(t, 'regress_dpq_rows_analyst') FROM unnest('{visits,monday,tuesday,view_of_visits}'::regclass[]) t;
ALTER TABLE rows_of_tuesday ATTACH PARTITION tuesday FOR VALUES IN (8);
SELECT relation, user_id, problem FROM dp_protected_tables ORDER BY relation::text;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SET search_path = regress_dpq_rows, public;
SELECT dp_count(200) FROM visits;
SELECT dp_count(100) FROM monday;
SELECT dp_count(400) FROM tuesday;
SELECT dp_count(200) FROM view_of_visits;

-- threat 93: a partition that is protected by another column, or not by persons, is attached later.
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
ALTER TABLE rows_of_tuesday DETACH PARTITION tuesday;
SELECT dp_unprotect_table('tuesday');
SELECT dp_protect_table('tuesday', 'doctor', 4);
SELECT dp_grant_private_access('tuesday', 'regress_dpq_rows_analyst');
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
PREPARE of_parent AS SELECT dp_count(200) FROM visits;
PREPARE of_view AS SELECT dp_count(200) FROM view_of_visits;
PREPARE of_child AS SELECT dp_count(200) FROM tuesday;
PREPARE of_sibling AS SELECT dp_count(100) FROM monday;
EXECUTE of_parent;
EXECUTE of_view;
EXECUTE of_child;
EXECUTE of_sibling;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
ALTER TABLE rows_of_tuesday ATTACH PARTITION tuesday FOR VALUES IN (8);
SELECT relation, user_id, problem FROM dp_protected_tables ORDER BY relation::text;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
EXECUTE of_parent;
EXECUTE of_view;
EXECUTE of_child;
SELECT dp_count(200) FROM visits;
SELECT dp_count(200) FROM visits WHERE day = 1;
SELECT dp_count(200) FROM view_of_visits;
SELECT dp_count(200) FROM tuesday;
SELECT problem FROM dp_explain('SELECT dp_count(200) FROM visits');
-- No row of it is in the other partition.
EXECUTE of_sibling;

-- To protect rows of persons as rows is refused. Persons of another column, too, whichever comes first.
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
SELECT dp_protect_table('rows_of_tuesday', 'patient');
SELECT dp_protect_table('rows_of_tuesday');
SELECT dp_unprotect_table('tuesday');
SELECT dp_protect_table('tuesday', 'doctor');
SELECT dp_protect_table('tuesday');
SELECT dp_unprotect_table('visits'), dp_unprotect_table('view_of_visits');
SELECT dp_protect_table('visits', 'doctor');
SELECT dp_protect_table('visits');
-- A view of a parent or of a child of what protects persons
SELECT dp_protect_table('view_of_visits'), dp_protect_table('view_of_monday');
SELECT dp_protect_table('view_of_monday');
SELECT dp_unprotect_table('monday');
SELECT dp_protect_table('view_of_monday'), dp_protect_table('view_of_visits'), dp_protect_table('visits'), dp_protect_table('tuesday');
SELECT dp_grant_private_access(t, 'regress_dpq_rows_analyst') FROM unnest('{view_of_monday,view_of_visits,visits,tuesday}'::regclass[]) t;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
EXECUTE of_parent;
EXECUTE of_view;
-- More protection closes what protects less, and the owner is told.
BEGIN;
DECLARE opened CURSOR FOR SELECT dp_count(200) FROM visits;
SET LOCAL SESSION AUTHORIZATION regress_dpq_rows_owner;
SELECT dp_protect_table('tuesday', 'patient', 1);
SET LOCAL SESSION AUTHORIZATION regress_dpq_rows_analyst;
FETCH opened;
ROLLBACK;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
SELECT dp_protect_table('tuesday', 'patient', 1);
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
EXECUTE of_parent;
EXECUTE of_view;
SELECT dp_count(200) FROM view_of_monday;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
SELECT dp_protect_table('visits', 'patient', 1);
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(50) FROM visits;
SELECT dp_count(50) FROM view_of_monday;
-- Renamed columns stay the same.
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
ALTER TABLE visits RENAME patient TO person;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(50) FROM visits;

-- Two parents that are no parents of each other have the rows of one child.
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
CREATE TABLE guests (id int, host int);
CREATE TABLE hosts (id int, host int);
CREATE TABLE both_of_them (id int, host int);
INSERT INTO both_of_them SELECT i, 1 FROM generate_series(1, 5) i;
SELECT dp_protect_table('guests', 'id', 1), dp_protect_table('hosts', 'host', 5);
SELECT dp_grant_private_access(t, 'regress_dpq_rows_analyst') FROM unnest('{guests,hosts}'::regclass[]) t;
ALTER TABLE both_of_them INHERIT guests;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(50) FROM guests;
SELECT dp_count(250) FROM hosts;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
ALTER TABLE both_of_them INHERIT hosts;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(50) FROM guests;
SELECT dp_count(250) FROM hosts;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
ALTER TABLE both_of_them NO INHERIT guests;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(50) FROM guests;
SELECT dp_count(250) FROM hosts;

-- A view of a view names users by its own column, wherever that is in the other.
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
CREATE TABLE calls (caller int, minutes int);
INSERT INTO calls SELECT 1, m FROM generate_series(1, 9) m;
CREATE VIEW inner_calls AS SELECT caller, minutes FROM calls;
CREATE VIEW by_minutes AS SELECT minutes AS who, caller AS what FROM inner_calls;
CREATE VIEW by_caller AS SELECT minutes AS what, caller AS who FROM (SELECT * FROM inner_calls) c;
SELECT dp_protect_table('calls', 'caller', 9), dp_protect_table('by_minutes', 'who', 1), dp_protect_table('by_caller', 'who', 9);
SELECT dp_grant_private_access(t, 'regress_dpq_rows_analyst') FROM unnest('{by_minutes,by_caller}'::regclass[]) t;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(50) FROM by_minutes;
SELECT dp_count(450) FROM by_caller;

-- Of a materialized view, too, whatever its columns are called, also if its table is protected later.
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
CREATE MATERIALIZED VIEW stored_calls AS SELECT minutes AS caller, caller AS who, caller + 1 AS next FROM inner_calls;
CREATE MATERIALIZED VIEW stored_twice AS SELECT s.caller, s.who FROM stored_calls s JOIN visits v ON v.person = s.who GROUP BY s.caller, s.who;
CREATE VIEW view_of_stored AS SELECT who, caller FROM stored_calls;
SELECT dp_protect_table('stored_calls');
SELECT dp_unprotect_table('calls'), dp_unprotect_table('by_minutes'), dp_unprotect_table('by_caller');
SELECT dp_protect_table('stored_calls'), dp_protect_table('stored_twice', 'who', 9);
SELECT dp_grant_private_access(t, 'regress_dpq_rows_analyst') FROM unnest('{stored_calls,stored_twice}'::regclass[]) t;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
PREPARE of_stored AS SELECT dp_count(50) FROM stored_calls;
EXECUTE of_stored;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
SELECT dp_protect_table('calls', 'caller', 9);
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
EXECUTE of_stored;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
CREATE FUNCTION protect_stored(column_name name) RETURNS void LANGUAGE sql AS $$
  SELECT dp_unprotect_table('stored_calls');
  SELECT dp_protect_table('stored_calls', column_name, 9);
  SELECT dp_grant_private_access('stored_calls', 'regress_dpq_rows_analyst');
$$;
SELECT protect_stored('caller');
SELECT dp_protect_table('view_of_stored', 'caller', 9);
SELECT dp_grant_private_access('view_of_stored', 'regress_dpq_rows_analyst');
SELECT relation, problem FROM dp_protected_tables WHERE relation::text LIKE '%stored%' ORDER BY relation::text;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(450) FROM stored_calls;
SELECT dp_count(450) FROM view_of_stored;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
SELECT protect_stored('next');
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(450) FROM stored_calls;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
SELECT protect_stored('who');
SELECT dp_unprotect_table('view_of_stored');
SELECT dp_protect_table('view_of_stored', 'who', 9);
SELECT dp_grant_private_access('view_of_stored', 'regress_dpq_rows_analyst');
SELECT relation, problem FROM dp_protected_tables WHERE relation::text LIKE '%stored%' ORDER BY relation::text;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(450) FROM stored_calls;
SELECT dp_count(450) FROM view_of_stored;
-- Its rows are of persons of two tables, which nobody has said to be the same.
SELECT dp_count(450) FROM stored_twice;
BEGIN;
SET LOCAL SESSION AUTHORIZATION regress_dpq_rows_owner;
SELECT dp_protect_table('calls', 'caller', 9, 'patient'), dp_protect_table('visits', 'person', 1, 'patient');
SELECT dp_protect_table('monday', 'person', 1, 'patient'), dp_protect_table('tuesday', 'person', 1, 'patient');
SET LOCAL SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(450) FROM stored_twice;
ROLLBACK;

-- threat 94: a partition is joined with its parent, a child with another parent of its child, also through views: the same rows.
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
SELECT dp_unprotect_table('view_of_visits'), dp_unprotect_table('view_of_monday'), dp_unprotect_table('guests');
SELECT dp_protect_table('monday', 'person', 1), dp_protect_table('view_of_visits', 'person', 1);
SELECT dp_protect_table(t, 'person', 1, 'patient') FROM unnest('{visits,monday,tuesday,view_of_visits}'::regclass[]) t;
SELECT dp_protect_table('guests', 'host', 1, 'patient');
SELECT dp_protect_table('hosts', 'host', 5, 'patient');
SELECT dp_grant_private_access(t, 'regress_dpq_rows_analyst') FROM unnest('{visits,monday,tuesday,view_of_visits,guests,hosts}'::regclass[]) t;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(50) FROM visits v JOIN monday m ON m.person = v.person;
SELECT dp_count(50) FROM monday m JOIN view_of_visits v ON v.person = m.person;
SELECT dp_count(50) FROM visits v JOIN (SELECT person FROM tuesday) t ON t.person = v.person;
SELECT dp_count(50) FROM hosts h JOIN monday m ON m.person = h.host JOIN visits v ON v.person = m.person;
-- Partitions have no row in common.
SELECT dp_count(50) FROM monday m JOIN tuesday t ON t.person = m.person;
SELECT dp_count(250) FROM hosts h JOIN guests g ON g.host = h.host;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
ALTER TABLE both_of_them INHERIT guests;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
SELECT dp_count(250) FROM hosts h JOIN guests g ON g.host = h.host;

-- What is joined with other tables of a unit has rows of tables of this unit only.
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
ALTER TABLE both_of_them NO INHERIT guests;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
PREPARE joined AS SELECT dp_count(250) FROM hosts h JOIN visits v ON v.person = h.host;
EXECUTE joined;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
SELECT dp_protect_table('tuesday', 'person', 1, 'tourist');
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
EXECUTE joined;
SELECT dp_count(250) FROM hosts h JOIN visits v ON v.person = h.host;
SELECT dp_count(250) FROM hosts h JOIN view_of_visits v ON v.person = h.host;
SELECT dp_count(250) FROM hosts h JOIN monday m ON m.person = h.host;
SELECT dp_count(50) FROM visits;
SET SESSION AUTHORIZATION regress_dpq_rows_owner;
SELECT dp_protect_table('tuesday', 'person', 1, 'patient');
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
EXECUTE joined;
RESET SESSION AUTHORIZATION;
ALTER TABLE regress_dpq_rows.tuesday OWNER TO regress_dpq_rows_other;
SET SESSION AUTHORIZATION regress_dpq_rows_analyst;
EXECUTE joined;
RESET SESSION AUTHORIZATION;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_rows CASCADE;
DROP OWNED BY regress_dpq_rows_owner, regress_dpq_rows_other, regress_dpq_rows_analyst;
DROP ROLE regress_dpq_rows_owner, regress_dpq_rows_other, regress_dpq_rows_analyst;
