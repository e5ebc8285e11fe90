-- threat 125: an error that only a row can raise shows no more than that there was one, and closes private access to the tables of
-- the query until their owner opens it again. Nothing that is known raises one: here a value that is stored out of line is lost.
-- (test/t/protected_charges.pl: cancels, timeouts and the end of a session.)
\set SHOW_CONTEXT errors
CREATE ROLE regress_dpq_owner LOGIN;
CREATE ROLE regress_dpq_watcher LOGIN;
CREATE ROLE regress_dpq_team;
CREATE ROLE regress_dpq_colleague LOGIN;
CREATE SCHEMA regress_dpq_hr AUTHORIZATION regress_dpq_owner;
GRANT USAGE ON SCHEMA regress_dpq_hr TO regress_dpq_watcher, regress_dpq_team, regress_dpq_colleague;
SELECT dp_grant_budget('regress_dpq_watcher', 1e6), dp_restrict_role('regress_dpq_watcher');
SET SESSION AUTHORIZATION regress_dpq_owner;
SET search_path = regress_dpq_hr, public;
CREATE TABLE staff (id int PRIMARY KEY, note text);
ALTER TABLE staff ALTER note SET STORAGE EXTERNAL;
INSERT INTO staff SELECT i, CASE i WHEN 7 THEN repeat('x', 3000) ELSE 'short' END FROM generate_series(1, 60) i;
CREATE VIEW team AS SELECT id, note FROM staff;
CREATE TABLE visit (id int PRIMARY KEY);
SELECT dp_protect_table('staff'), dp_protect_table('visit'), dp_protect_table('team');
SELECT dp_grant_private_access(t, 'regress_dpq_watcher') FROM unnest('{staff,visit,team}'::regclass[]) t;
RESET SESSION AUTHORIZATION;
SET search_path = regress_dpq_hr, public;
SET allow_system_table_mods = on;
SELECT reltoastrelid::regclass AS toast, reltoastrelid AS toast_oid FROM pg_class WHERE oid = 'staff'::regclass \gset
UPDATE pg_class SET relkind = 'r' WHERE oid = :toast_oid;
DELETE FROM :toast;
UPDATE pg_class SET relkind = 't' WHERE oid = :toast_oid;
VACUUM :toast;
RESET allow_system_table_mods;
-- What the server log has
\set VERBOSITY sqlstate
SELECT count(*) FROM staff WHERE note < 'sp';
\set VERBOSITY default

-- What the role sees: no text, no code, no place. It cannot undo that its access is closed.
SET SESSION AUTHORIZATION regress_dpq_watcher;
SELECT dp_count(100) FROM staff WHERE id < 5;
BEGIN;
DO $$
BEGIN
  PERFORM dp_count(100) FROM staff WHERE note < 'sp';
EXCEPTION WHEN OTHERS THEN
  DECLARE
    detail text;
    place text;
    column_name text;
  BEGIN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, place = PG_EXCEPTION_CONTEXT, column_name = COLUMN_NAME;
    RAISE NOTICE '% % (%) % %', SQLSTATE, SQLERRM, detail, column_name, split_part(place, E'\n', 1);
  END;
END
$$;
SELECT dp_count(100) FROM staff WHERE id < 5;
ROLLBACK;
SELECT dp_count(100) FROM staff WHERE id < 5;
SELECT relation, role, problem FROM dp_protected_tables;
SELECT dp_open_private_access('staff', 'regress_dpq_watcher');

-- Each table for itself, and a view too
SELECT dp_count(100) FROM visit;
SELECT dp_count(100) FROM team WHERE note < 'sp';
SELECT relation, problem IS NULL AS is_open FROM dp_protected_tables;
RESET SESSION AUTHORIZATION;
SELECT relation, grantee, sqlstate, closes FROM dpquantile.failed_read;
SELECT subject, status, regexp_replace(detail, '\d{4}-\d\d-\d\d [\d:]+', 'then') AS detail FROM dp_health() WHERE subject LIKE 'regress%';

-- Another grant does not open it. The owner does.
SET SESSION AUTHORIZATION regress_dpq_owner;
SELECT dp_grant_private_access('staff', 'regress_dpq_watcher', most_cancels => 0);
SELECT relation, most_cancels, problem FROM dp_protected_tables;
SELECT dp_open_private_access('staff', 'regress_dpq_watcher');
SELECT dp_open_private_access('staff', 'regress_dpq_watcher');
SELECT dp_open_private_access('staff', NULL);
SELECT dp_unprotect_table('team');
SELECT dp_open_private_access('team', 'regress_dpq_watcher');
SET SESSION AUTHORIZATION regress_dpq_watcher;
SELECT dp_count(100) FROM staff WHERE id < 5;
RESET SESSION AUTHORIZATION;
TABLE dpquantile.failed_read;

-- A role that has access as a member of another one loses its own, whichever of its roles has failed and asks. Other members do not.
GRANT regress_dpq_team TO regress_dpq_watcher, regress_dpq_colleague;
SELECT dp_grant_budget('regress_dpq_team', 1e6), dp_grant_budget('regress_dpq_colleague', 1e6), dp_restrict_role('regress_dpq_colleague');
SET SESSION AUTHORIZATION regress_dpq_owner;
SELECT dp_revoke_private_access('staff', 'regress_dpq_watcher'::regrole), dp_grant_private_access('staff', 'regress_dpq_team');
SET SESSION AUTHORIZATION regress_dpq_watcher;
SET ROLE regress_dpq_team;
SELECT dp_count(100) FROM staff WHERE note < 'sp';
SELECT dp_count(100) FROM staff WHERE id < 5;
RESET ROLE;
SELECT dp_count(100) FROM staff WHERE id < 5;
SELECT relation, role, problem FROM dp_protected_tables;
SET SESSION AUTHORIZATION regress_dpq_colleague;
SELECT dp_count(100) FROM staff WHERE id < 5;
SET ROLE regress_dpq_team;
SELECT dp_count(100) FROM staff WHERE id < 5;
SET SESSION AUTHORIZATION regress_dpq_owner;
SELECT relation, role, problem FROM dp_protected_tables;
RESET SESSION AUTHORIZATION;
SELECT subject, status FROM dp_health() WHERE subject LIKE 'regress%';

-- A budget that does not suffice for the groups after the first is no early end.
SELECT dp_grant_budget('regress_dpq_colleague', epsilon_spent + 1, smallest_charge => 0.1) FROM dp_budget WHERE role = 'regress_dpq_colleague';
SET SESSION AUTHORIZATION regress_dpq_owner;
SELECT dp_grant_private_access('staff', 'regress_dpq_colleague');
SELECT dp_protect_table('visit', 'id', 1), dp_grant_private_access('visit', 'regress_dpq_colleague');
SET SESSION AUTHORIZATION regress_dpq_colleague;
SELECT k, dp_user_mean(v.id, v.id, 0.4, 0, 9, dp_options('bounded', max_contributions => 1)) FROM (VALUES (1), (2), (3)) l (k) LEFT JOIN visit v ON v.id = l.k GROUP BY k;
RESET SESSION AUTHORIZATION;
SELECT relation, grantee, sqlstate FROM dpquantile.failed_read WHERE relation = 'visit'::regclass;

-- How many queries may end early
SET SESSION AUTHORIZATION regress_dpq_owner;
\set SHOW_CONTEXT never
SELECT dp_grant_private_access('staff', 'regress_dpq_team', most_cancels => -1);
SELECT dp_grant_private_access('staff', 'regress_dpq_team', most_cancels => NULL);
RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_hr CASCADE;
RESET client_min_messages;
TABLE dpquantile.failed_read;
DROP ROLE regress_dpq_watcher, regress_dpq_colleague, regress_dpq_team, regress_dpq_owner;
