-- dp_protect_table, dp_grant_private_access and what takes them back: which tables, which roles, who may call them.
-- (test/t/protected_catalog.pl: dump, restore and changes by other sessions.)
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_owner LOGIN;
CREATE ROLE regress_dpq_analyst LOGIN;
CREATE ROLE regress_dpq_team;
CREATE ROLE regress_dpq_stranger LOGIN;
CREATE SCHEMA regress_dpq_hr AUTHORIZATION regress_dpq_owner;
GRANT ALL ON SCHEMA regress_dpq_hr TO regress_dpq_stranger;
SET search_path = regress_dpq_hr, public;
CREATE TEMP VIEW protected AS
  SELECT relation, user_column, a.attname AS column_of_number
    FROM dpquantile.protected_table LEFT JOIN pg_attribute a ON attrelid = relation AND attnum = user_number ORDER BY relation::text;
CREATE TEMP VIEW granted AS
  SELECT relation, grantee, grantee_oid = r.oid AS same_role, smallest_epsilon, granted_at > now() - interval '1 day' AS has_time,
         granted_by
    FROM dpquantile.private_grant LEFT JOIN pg_roles r ON rolname = grantee ORDER BY relation::text, grantee;
GRANT SELECT ON protected, granted TO PUBLIC;

SET ROLE regress_dpq_owner;
CREATE TABLE visit (patient text, "When" date, cost numeric, points float8, codes int[], span daterange, note jsonb, id bigint);
CREATE TABLE staff (name text PRIMARY KEY, salary integer);

-- Tables, partitioned tables, materialized views and views
CREATE TABLE event (at date) PARTITION BY RANGE (at);
CREATE TABLE event_now PARTITION OF event DEFAULT;
CREATE VIEW adult AS SELECT * FROM staff WHERE salary > 0;
CREATE MATERIALIZED VIEW copy AS SELECT * FROM staff;
SELECT dp_protect_table('staff'), dp_protect_table('event'), dp_protect_table('adult'), dp_protect_table('copy');
RESET ROLE;
TABLE protected;
SET ROLE regress_dpq_owner;
SELECT dp_unprotect_table('event'), dp_unprotect_table('adult'), dp_unprotect_table('copy');
SELECT dp_unprotect_table('copy');
SELECT dp_unprotect_table(NULL);

-- Not others
SELECT dp_protect_table(NULL);
SELECT dp_protect_table('nothing');
SELECT dp_protect_table(99999999);
SELECT dp_protect_table('staff_pkey');
CREATE VIEW invoker WITH (security_invoker) AS SELECT * FROM staff;
SELECT dp_protect_table('invoker');
ALTER VIEW invoker SET (security_invoker = off);
SELECT dp_protect_table('invoker');
CREATE TABLE listed (id int, note text);
CREATE TABLE listed_child () INHERITS (listed);
CREATE FUNCTION is_listed(int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 5';
CREATE INDEX listed_note ON listed_child (note) WHERE id < 3 OR is_listed(id);
SELECT dp_protect_table('listed');
DROP INDEX listed_note;
CREATE INDEX ON listed_child (is_listed(id)) WHERE id + 1 < 3;
SELECT dp_protect_table('listed');
SELECT problem FROM dp_protected_tables WHERE relation = 'listed'::regclass;
CREATE INDEX listed_note ON listed_child (note) WHERE id < 3 OR is_listed(id);
SELECT problem FROM dp_protected_tables WHERE relation = 'listed'::regclass;
SET client_min_messages = warning;
DROP TABLE listed CASCADE;
RESET client_min_messages;
DROP FUNCTION is_listed;
CREATE TABLE secret (id int);
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
SELECT dp_protect_table('secret');
ALTER TABLE secret DISABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT dp_protect_table('secret');
RESET ROLE;
CREATE TEMP TABLE passing (id int);
SELECT dp_protect_table('passing');
SELECT dp_protect_table('pg_authid');
SELECT dp_protect_table('information_schema.sql_features');
SELECT dp_protect_table('dpquantile.ledger');
SELECT dp_protect_table('dp_budget');
CREATE FOREIGN DATA WRAPPER regress_dpq_fdw;
CREATE SERVER regress_dpq_server FOREIGN DATA WRAPPER regress_dpq_fdw;
CREATE FOREIGN TABLE far (at date) SERVER regress_dpq_server;
SELECT dp_protect_table('far');
CREATE TABLE past PARTITION OF event FOR VALUES FROM ('2000-01-01') TO ('2001-01-01') PARTITION BY LIST (at);
ALTER TABLE past ATTACH PARTITION far FOR VALUES IN ('2000-02-02');
SELECT dp_protect_table('event');
DROP TABLE past;
-- Since PostgreSQL 18
SET client_min_messages = warning;
DO $$
DECLARE
  computed regclass;
BEGIN
  IF current_setting('server_version_num')::int >= 180000 THEN
    EXECUTE 'CREATE TABLE parent (a int)';
    EXECUTE 'CREATE TABLE child (double int GENERATED ALWAYS AS (2 * a) VIRTUAL) INHERITS (parent)';
    FOREACH computed IN ARRAY '{parent,child}'::regclass[] LOOP
      BEGIN
        PERFORM dp_protect_table(computed);
        RAISE '% is protected', computed;
      EXCEPTION WHEN wrong_object_type THEN
        ASSERT SQLERRM = format('regress_dpq_hr.%s cannot be protected: column "double"%s is a virtual generated column',
                                computed, CASE computed WHEN 'parent'::regclass THEN ' of its child regress_dpq_hr.child' END), SQLERRM;
      END;
    END LOOP;
    EXECUTE 'DROP TABLE parent CASCADE';
  END IF;
END
$$;
RESET client_min_messages;

-- The column of users: what the user argument of the private aggregates takes
SET ROLE regress_dpq_owner;
SELECT dp_protect_table('visit', 'doctor');
SELECT dp_protect_table('visit', 'when');
SELECT dp_protect_table('visit', 'ctid');
SELECT dp_protect_table('visit', 'points');
SELECT dp_protect_table('visit', 'codes');
SELECT dp_protect_table('visit', 'span');
SELECT dp_protect_table('visit', 'note');
DO $$
DECLARE
  user_id name;
BEGIN
  FOREACH user_id IN ARRAY '{patient,When,cost,id}'::name[] LOOP
    PERFORM dp_protect_table('visit', user_id);
    PERFORM dp_unprotect_table('visit');
  END LOOP;
END
$$;

-- A table that is protected already can be protected more, and not less, and not in another way.
SELECT dp_protect_table('visit');
SELECT dp_protect_table('visit');
SELECT dp_protect_table('visit', 'patient');
SELECT dp_protect_table('visit', user_id => 'patient');
SELECT dp_protect_table('visit', 'id');
SELECT dp_protect_table('visit');
SELECT * FROM protected WHERE relation = 'visit'::regclass;

-- The user column may get another name, also by a rename of the parent's column or of a type's attribute.
ALTER TABLE visit RENAME patient TO person;
ALTER TABLE visit RENAME TO consultation;
SELECT * FROM protected WHERE relation = 'consultation'::regclass;
ALTER TABLE consultation RENAME TO visit;
BEGIN;
ALTER TABLE visit RENAME person TO anyone;
ALTER TABLE visit RENAME id TO person;
SELECT * FROM protected WHERE relation = 'visit'::regclass;
ROLLBACK;
SELECT * FROM protected WHERE relation = 'visit'::regclass;
CREATE TABLE visit_parent (person text, id bigint);
CREATE TABLE visit_child () INHERITS (visit_parent);
CREATE TYPE visit_type AS (person text, id bigint);
CREATE TABLE visit_typed OF visit_type;
CREATE VIEW visit_view AS SELECT * FROM visit;
CREATE MATERIALIZED VIEW visit_copy AS SELECT * FROM visit;
-- What reads a table of users protects users.
SELECT dp_protect_table('visit_view');
SELECT dp_protect_table('visit_copy');
CREATE TABLE stay (person text) PARTITION BY LIST (person);
CREATE TABLE stay_now PARTITION OF stay DEFAULT;
SELECT dp_protect_table('stay', 'person');
SELECT dp_protect_table('stay_now');
DROP TABLE stay;
SELECT dp_protect_table(t, 'person') FROM unnest('{visit_child,visit_typed,visit_view,visit_copy}'::regclass[]) t;
ALTER TABLE visit_parent RENAME person TO patient;
SELECT * FROM protected WHERE relation = 'visit_child'::regclass;
ALTER TYPE visit_type RENAME ATTRIBUTE person TO patient CASCADE;
SELECT * FROM protected WHERE relation = 'visit_typed'::regclass;
ALTER VIEW visit_view RENAME person TO patient;
SELECT * FROM protected WHERE relation = 'visit_view'::regclass;
ALTER MATERIALIZED VIEW visit_copy RENAME person TO patient;
SELECT * FROM protected WHERE relation = 'visit_copy'::regclass;
DROP TABLE visit_parent CASCADE;
DROP TYPE visit_type CASCADE;
DROP VIEW visit_view;
DROP MATERIALIZED VIEW visit_copy;
-- A new column of the same name is not the same.
BEGIN;
ALTER TABLE visit DROP COLUMN person;
ALTER TABLE visit ADD COLUMN person text;
SELECT * FROM protected WHERE relation = 'visit'::regclass;
SELECT relation, user_id, problem FROM dp_protected_tables WHERE relation = 'visit'::regclass;
SAVEPOINT before;
SELECT dp_protect_table('visit');
ROLLBACK TO before;
SELECT dp_protect_table('visit', 'person');
SELECT * FROM protected WHERE relation = 'visit'::regclass;
SELECT relation, user_id, problem FROM dp_protected_tables WHERE relation = 'visit'::regclass;
ROLLBACK;

-- A rename that is not followed closes private access.
RESET ROLE;
BEGIN;
ALTER EVENT TRIGGER dpquantile_follow_renamed_columns DISABLE;
ALTER TABLE visit RENAME person TO anyone;
SELECT relation, user_id, problem FROM dp_protected_tables WHERE relation = 'visit'::regclass;
ALTER TABLE visit RENAME id TO person;
SELECT relation, user_id, problem FROM dp_protected_tables WHERE relation = 'visit'::regclass;
ROLLBACK;
SET ROLE regress_dpq_owner;

-- Private access is for roles without any right on the table: each of these tells exact facts.
SELECT dp_grant_private_access('secret', 'regress_dpq_analyst');
SELECT dp_grant_private_access(NULL, 'regress_dpq_analyst');
SELECT dp_grant_private_access('staff', NULL);
SELECT dp_grant_private_access('staff', 'regress_dpq_nobody');
SELECT dp_grant_private_access('staff', 'public');
SELECT dp_grant_private_access('staff', 99999999);
SELECT dp_grant_private_access('staff', 'regress_dpq_owner');
GRANT DELETE ON staff TO regress_dpq_analyst;
SELECT dp_grant_private_access('staff', 'regress_dpq_analyst');
REVOKE DELETE ON staff FROM regress_dpq_analyst;
GRANT SELECT (salary) ON staff TO regress_dpq_analyst;
SELECT dp_grant_private_access('staff', 'regress_dpq_analyst');
REVOKE SELECT (salary) ON staff FROM regress_dpq_analyst;
GRANT SELECT ON staff TO PUBLIC;
SELECT dp_grant_private_access('staff', 'regress_dpq_analyst');
REVOKE SELECT ON staff FROM PUBLIC;
GRANT REFERENCES (name) ON staff TO regress_dpq_team;
RESET ROLE;
GRANT regress_dpq_team TO regress_dpq_analyst;
SELECT dp_grant_private_access('staff', 'regress_dpq_analyst');
REVOKE REFERENCES (name) ON staff FROM regress_dpq_team;
ALTER ROLE regress_dpq_analyst NOINHERIT;
GRANT regress_dpq_owner TO regress_dpq_team;
SELECT dp_grant_private_access('staff', 'regress_dpq_analyst');
REVOKE regress_dpq_owner FROM regress_dpq_team;
ALTER ROLE regress_dpq_analyst INHERIT;
ALTER ROLE regress_dpq_team SUPERUSER;
SELECT dp_grant_private_access('staff', 'regress_dpq_team');
SELECT dp_grant_private_access('staff', 'regress_dpq_analyst');
ALTER ROLE regress_dpq_team NOSUPERUSER;
GRANT pg_read_all_data TO regress_dpq_team;
SELECT dp_grant_private_access('staff', 'regress_dpq_team');
SELECT dp_grant_private_access('staff', 'regress_dpq_analyst');
REVOKE pg_read_all_data FROM regress_dpq_team;
GRANT pg_write_all_data TO regress_dpq_analyst;
SELECT dp_grant_private_access('staff', 'regress_dpq_analyst');
REVOKE pg_write_all_data FROM regress_dpq_analyst;
REVOKE regress_dpq_team FROM regress_dpq_analyst;
-- Parents have the rows of their children.
SET ROLE regress_dpq_owner;
SELECT dp_protect_table('event'), dp_protect_table('event_now');
GRANT SELECT ON event TO regress_dpq_analyst;
SELECT dp_grant_private_access('event_now', 'regress_dpq_analyst');
REVOKE SELECT ON event FROM regress_dpq_analyst;
GRANT SELECT ON event_now TO regress_dpq_analyst;
SELECT dp_grant_private_access('event', 'regress_dpq_analyst');
REVOKE SELECT ON event_now FROM regress_dpq_analyst;
SELECT dp_unprotect_table('event'), dp_unprotect_table('event_now');
SELECT count(*) AS grants FROM granted;

-- Only a superuser restricts a role by the way. A role that cannot log in has no sessions.
SELECT dp_grant_private_access('staff', 'regress_dpq_analyst');
SELECT dp_grant_private_access('staff', 'regress_dpq_team');
RESET ROLE;
SELECT dp_grant_private_access('staff', 'regress_dpq_analyst');
SELECT setconfig FROM pg_db_role_setting WHERE setrole = 'regress_dpq_analyst'::regrole;
SELECT dp_grant_private_access('staff', 'regress_dpq_analyst', 0.5);
TABLE granted;
SELECT dp_unrestrict_role('regress_dpq_analyst');
ALTER ROLE regress_dpq_analyst SET dpquantile.restricted = on;
SET ROLE regress_dpq_owner;
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst');
RESET ROLE;
SELECT dp_restrict_role('regress_dpq_analyst');
ALTER ROLE regress_dpq_analyst IN DATABASE :DBNAME SET dpquantile.restricted = off;
SET ROLE regress_dpq_owner;
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst');
RESET ROLE;
ALTER ROLE regress_dpq_analyst IN DATABASE :DBNAME RESET ALL;
-- The settings of a superuser would not hold.
ALTER ROLE regress_dpq_stranger CREATEROLE;
SELECT dp_grant_private_access('staff', 'regress_dpq_stranger');
ALTER ROLE regress_dpq_stranger NOCREATEROLE;

-- The owner may grant, change and revoke.
SET ROLE regress_dpq_owner;
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', smallest_epsilon => 0.1);
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', 100);
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', 0);
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', -1);
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', 100.1);
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', 'NaN');
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', 'Infinity');
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', NULL);
TABLE granted;
-- threat 218: the largest epsilon is at least the others. What a grant drops or changes without being asked is told.
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', 0.5, max_epsilon => 0.4);
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', epsilon => 0.5, max_epsilon => 0.4);
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', max_epsilon => 1001);
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', max_epsilon => 'NaN');
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', 0.5, epsilon => 0.5, most_cancels => 20, max_epsilon => 0.5);
SELECT relation, role, smallest_epsilon, max_epsilon FROM dp_protected_tables WHERE relation = 'visit'::regclass;
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst');
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst', 5);
SELECT relation, role, smallest_epsilon, max_epsilon FROM dp_protected_tables WHERE relation = 'visit'::regclass;
SELECT dp_revoke_private_access('visit', 'regress_dpq_analyst');
SELECT dp_revoke_private_access('visit', 'regress_dpq_analyst');
SELECT dp_revoke_private_access('visit', NULL);
SELECT dp_revoke_private_access('visit', 'not a name');
SELECT dp_revoke_private_access('staff', 'regress_dpq_team'::regrole);
TABLE granted;
SELECT dp_grant_private_access('staff', 'regress_dpq_team');

-- What a role sees: what it may ask, and its own tables.
SELECT * FROM dp_protected_tables;
SET ROLE regress_dpq_analyst;
SELECT * FROM dp_protected_tables;
SET ROLE regress_dpq_team;
SELECT relation, role, smallest_epsilon FROM dp_protected_tables;
SET ROLE regress_dpq_stranger;
SELECT * FROM dp_protected_tables;
RESET ROLE;
GRANT regress_dpq_team TO regress_dpq_stranger;
SET ROLE regress_dpq_stranger;
SELECT relation, role, smallest_epsilon FROM dp_protected_tables;
RESET ROLE;

-- Nobody else protects, grants, or writes what is protected and granted.
SET ROLE regress_dpq_stranger;
SELECT dp_protect_table('secret');
SELECT dp_protect_table('staff', 'name');
SELECT dp_unprotect_table('staff');
SELECT dp_grant_private_access('staff', 'regress_dpq_stranger');
SELECT dp_revoke_private_access('staff', 'regress_dpq_team');
SELECT dp_revoke_private_access('staff', 'regress_dpq_team'::regrole);
SELECT dpquantile.set_protection('staff', NULL, NULL, NULL, NULL, NULL, 10);
INSERT INTO dpquantile.private_grant (relation, grantee, smallest_epsilon, granted_by) VALUES ('staff', 'regress_dpq_stranger', 1, 'me');
INSERT INTO dp_protected_tables (relation) VALUES ('secret');
RESET ROLE;
GRANT USAGE ON SCHEMA dpquantile TO regress_dpq_stranger;
SET ROLE regress_dpq_stranger;
SELECT dpquantile.set_protection('staff', NULL, NULL, NULL, NULL, NULL, 10);
SELECT dpquantile.end_protection('staff', 10);
SELECT dpquantile.set_private_grant('staff', 'regress_dpq_stranger', 1, NULL, NULL, NULL, 100, NULL, 10);
SELECT dpquantile.end_private_grant('staff', 'regress_dpq_team', 10);
SELECT dpquantile.protection_findings();
TABLE dpquantile.protected_table;
TABLE dpquantile.private_grant;
TABLE dpquantile.private_access;
UPDATE dpquantile.private_grant SET grantee = 'regress_dpq_stranger';
DELETE FROM dpquantile.protected_table;
TRUNCATE dpquantile.protected_table;
BEGIN;
LOCK TABLE dpquantile.protected_table;
ROLLBACK;
ALTER EVENT TRIGGER dpquantile_forget_dropped_tables DISABLE;
RESET ROLE;
REVOKE USAGE ON SCHEMA dpquantile FROM regress_dpq_stranger;
-- Code of others does not use the rights of a superuser or an owner who runs it: the functions look at the current user.
SET ROLE regress_dpq_stranger;
CREATE TABLE bait (x int);
INSERT INTO bait VALUES (1);
CREATE FUNCTION take(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 1; END';
CREATE INDEX ON bait (take(x));
CREATE OR REPLACE FUNCTION take(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  PERFORM public.dp_grant_private_access('regress_dpq_hr.staff', 'regress_dpq_stranger');
  RETURN 1;
END
$$;
CREATE FUNCTION take() RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
  SELECT public.dp_grant_private_access('regress_dpq_hr.staff', 'regress_dpq_stranger');
$$;
RESET ROLE;
REINDEX TABLE bait;
SET ROLE regress_dpq_owner;
SELECT take();
RESET ROLE;
DROP TABLE bait;
-- Members of the owner who inherit its rights may do what the owner may.
GRANT regress_dpq_owner TO regress_dpq_stranger;
SET ROLE regress_dpq_stranger;
SELECT dp_protect_table('secret');
ALTER TABLE secret NO FORCE ROW LEVEL SECURITY;
SELECT dp_protect_table('secret'), dp_unprotect_table('secret');
RESET ROLE;
REVOKE regress_dpq_owner FROM regress_dpq_stranger;

-- A grant is for one role, under the name that it had.
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst');
ALTER ROLE regress_dpq_analyst RENAME TO "Regress_dpq new";
SELECT relation, role, problem FROM dp_protected_tables WHERE relation = 'visit'::regclass;
SELECT * FROM dp_health() WHERE check_name = 'protection';
SET ROLE "Regress_dpq new";
SELECT * FROM dp_protected_tables;
RESET ROLE;
CREATE ROLE regress_dpq_analyst;
SELECT relation, role, problem FROM dp_protected_tables WHERE relation = 'visit'::regclass;
SET ROLE regress_dpq_analyst;
SELECT * FROM dp_protected_tables;
RESET ROLE;
-- A grant under the new name replaces it.
SELECT dp_grant_private_access('visit', '"Regress_dpq new"');
SELECT relation, role, problem FROM dp_protected_tables WHERE relation = 'visit'::regclass;
SELECT * FROM granted WHERE relation = 'visit'::regclass;
DROP ROLE "Regress_dpq new";
SELECT relation, role, problem FROM dp_protected_tables WHERE relation = 'visit'::regclass;
CREATE ROLE "Regress_dpq new" LOGIN;
SELECT relation, role, problem FROM dp_protected_tables WHERE relation = 'visit'::regclass;
SELECT * FROM dp_health() WHERE check_name = 'protection';
SET ROLE "Regress_dpq new";
SELECT * FROM dp_protected_tables;
RESET ROLE;
DROP ROLE "Regress_dpq new";
-- It can be revoked from a role that is gone.
SELECT dp_revoke_private_access(relation, role) FROM dp_protected_tables WHERE relation = 'visit'::regclass;
SELECT * FROM granted WHERE relation = 'visit'::regclass;

-- What dp_health tells of later changes
SELECT * FROM dp_health() WHERE check_name = 'protection';
SELECT dp_grant_private_access('visit', 'regress_dpq_analyst');
BEGIN;
ALTER ROLE regress_dpq_analyst LOGIN;
SELECT * FROM dp_health() WHERE check_name = 'protection';
SELECT dp_restrict_role('regress_dpq_analyst'), dp_restrict_role('regress_dpq_stranger');
SELECT * FROM dp_health() WHERE check_name = 'protection';
ROLLBACK;
BEGIN;
GRANT SELECT ON visit TO regress_dpq_team;
GRANT INSERT, UPDATE (salary) ON staff TO PUBLIC;
GRANT regress_dpq_team TO regress_dpq_analyst;
SELECT * FROM dp_health() WHERE check_name = 'protection';
SELECT relation, role, problem FROM dp_protected_tables;
ROLLBACK;
BEGIN;
ALTER TABLE staff ENABLE ROW LEVEL SECURITY;
ALTER TABLE visit DROP COLUMN person;
SELECT * FROM dp_health() WHERE check_name = 'protection';
SELECT relation, role, problem FROM dp_protected_tables;
SET ROLE regress_dpq_analyst;
SELECT relation, role, problem FROM dp_protected_tables;
RESET ROLE;
ROLLBACK;

-- Plans of a table are made anew when its protection or its grants change, and not when those of another table do.
CREATE FUNCTION planning() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE NOTICE ''planning''; RETURN true; END';
SET plan_cache_mode = force_generic_plan;
SELECT dp_unprotect_table('staff'), dp_unprotect_table('visit');
PREPARE q AS SELECT count(*) FROM staff WHERE planning();
EXECUTE q;
EXECUTE q;
SELECT dp_protect_table('staff');
EXECUTE q;
SELECT dp_protect_table('staff', 'name');
EXECUTE q;
SELECT dp_grant_private_access('staff', 'regress_dpq_team');
EXECUTE q;
SELECT dp_grant_private_access('staff', 'regress_dpq_team', 1);
EXECUTE q;
SELECT dp_revoke_private_access('staff', 'regress_dpq_team');
EXECUTE q;
SELECT dp_protect_table('visit'), dp_grant_private_access('visit', 'regress_dpq_team');
EXECUTE q;
-- Also where an administrator changes a row, for both tables that it names.
UPDATE dpquantile.private_grant SET relation = 'staff'::regclass WHERE relation = 'visit'::regclass;
EXECUTE q;
UPDATE dpquantile.private_grant SET relation = 'visit'::regclass WHERE relation = 'staff'::regclass;
EXECUTE q;
SELECT dp_unprotect_table('staff');
EXECUTE q;
DEALLOCATE q;
RESET plan_cache_mode;
-- The tables themselves are read again as well.
PREPARE q AS SELECT count(*) FROM dpquantile.protected_table WHERE planning();
SET plan_cache_mode = force_generic_plan;
EXECUTE q;
EXECUTE q;
SELECT dp_unprotect_table('visit');
EXECUTE q;
DEALLOCATE q;
PREPARE q AS SELECT count(*) FROM dpquantile.private_grant WHERE planning();
SELECT dp_protect_table('visit');
EXECUTE q;
SELECT dp_grant_private_access('visit', 'regress_dpq_team');
EXECUTE q;
DEALLOCATE q;
RESET plan_cache_mode;

-- Dropped tables leave nothing, however they are dropped.
SELECT dp_protect_table('staff'), dp_grant_private_access('staff', 'regress_dpq_team');
CREATE TABLE dropped (id int);
SELECT dp_protect_table('dropped'), dp_grant_private_access('dropped', 'regress_dpq_team');
TABLE granted;
DROP TABLE dropped;
TABLE granted;
-- Also in a session that acts as a replica
SET session_replication_role = replica;
CREATE TABLE dropped (id int);
SELECT dp_protect_table('dropped', 'id'), dp_grant_private_access('dropped', 'regress_dpq_team');
TABLE granted;
TABLE protected;
SELECT dp_unprotect_table('dropped');
TABLE granted;
SELECT dp_protect_table('dropped', 'id'), dp_grant_private_access('dropped', 'regress_dpq_team');
ALTER TABLE dropped RENAME id TO number;
TABLE protected;
DROP TABLE dropped;
TABLE granted;
RESET session_replication_role;
-- A table that is protected anew has no grant, whatever an administrator has done to these tables.
CREATE TABLE dropped (id int);
SELECT dp_protect_table('dropped'), dp_grant_private_access('dropped', 'regress_dpq_team');
DELETE FROM dpquantile.protected_table WHERE relation = 'dropped'::regclass;
SELECT dp_protect_table('dropped');
TABLE granted;
SET client_min_messages = warning;
DROP OWNED BY regress_dpq_owner CASCADE;
RESET client_min_messages;
TABLE protected;
TABLE granted;

DROP SERVER regress_dpq_server;
DROP FOREIGN DATA WRAPPER regress_dpq_fdw;
DROP VIEW protected, granted;
DROP OWNED BY regress_dpq_stranger;
DROP ROLE regress_dpq_owner, regress_dpq_analyst, regress_dpq_team, regress_dpq_stranger;
