-- threat 102: the library is not preloaded, so autovacuum runs code of a table's owner without it. No private query is answered while
-- a restricted role owns a table or may create one. (The tests of test/t/protected_*.pl have analysts with tables, and the library preloaded.)
\set SHOW_CONTEXT never
\set VERBOSITY terse
SHOW shared_preload_libraries;
CREATE ROLE regress_dpq_code_owner LOGIN;
CREATE ROLE regress_dpq_code_analyst LOGIN;
CREATE ROLE regress_dpq_code_friend LOGIN;
CREATE ROLE regress_dpq_code_group;
CREATE ROLE regress_dpq_code_team;
CREATE DATABASE regress_dpq_code_other;
SELECT current_database() AS database \gset
CREATE SCHEMA regress_dpq_code AUTHORIZATION regress_dpq_code_owner;
CREATE SCHEMA regress_dpq_code_own;
GRANT USAGE ON SCHEMA regress_dpq_code, regress_dpq_code_own TO PUBLIC;
CREATE TABLE regress_dpq_code_own.list (id int);
SELECT dp_restrict_role('regress_dpq_code_analyst'), dp_restrict_role('regress_dpq_code_friend'), dp_grant_budget('regress_dpq_code_analyst', 1000);
SET ROLE regress_dpq_code_owner;
CREATE TABLE regress_dpq_code.staff (id int);
SELECT dp_protect_table('regress_dpq_code.staff'), dp_grant_private_access('regress_dpq_code.staff', 'regress_dpq_code_analyst');
RESET ROLE;

SET SESSION AUTHORIZATION regress_dpq_code_analyst;
SELECT dp_count(1) IS NOT NULL FROM regress_dpq_code.staff;
-- Only its session reads a temporary table. A view of its own, or a function, needs no right to create either.
CREATE TEMP TABLE own (id int);
SELECT dp_count(1) IS NOT NULL FROM regress_dpq_code.staff;
RESET SESSION AUTHORIZATION;

-- Each change is undone afterwards.
CREATE FUNCTION after_change(statement text) RETURNS TABLE (code text, problem text, finding text, answer text) LANGUAGE plpgsql AS $$
BEGIN
  BEGIN
    EXECUTE statement;
    code := dpquantile.unrestricted_code();
    SELECT p.problem INTO after_change.problem FROM dp_protected_tables p WHERE p.relation = 'regress_dpq_code.staff'::regclass;
    SELECT string_agg(f.status, ' ') INTO finding FROM dpquantile.protection_findings() f WHERE f.subject = 'regress_dpq_code.staff';
    SET LOCAL SESSION AUTHORIZATION regress_dpq_code_analyst;
    BEGIN
      answer := (SELECT dp_count(1) IS NOT NULL FROM regress_dpq_code.staff);
    EXCEPTION WHEN others THEN
      answer := sqlstate;
    END;
    RAISE EXCEPTION 'undo';
  EXCEPTION WHEN raise_exception THEN
    NULL;
  END;
  RETURN NEXT;
END
$$;
\x
SELECT * FROM after_change('SELECT 1');
SELECT * FROM after_change('GRANT CREATE ON SCHEMA regress_dpq_code_own TO regress_dpq_code_analyst');
SELECT * FROM after_change('GRANT CREATE ON SCHEMA regress_dpq_code_own TO PUBLIC');
SELECT * FROM after_change('ALTER SCHEMA regress_dpq_code_own OWNER TO regress_dpq_code_analyst');
SELECT * FROM after_change('ALTER SCHEMA regress_dpq_code_own OWNER TO regress_dpq_code_analyst; REVOKE ALL ON SCHEMA regress_dpq_code_own FROM regress_dpq_code_analyst');
SELECT * FROM after_change('ALTER TABLE regress_dpq_code_own.list OWNER TO regress_dpq_code_analyst');
SELECT * FROM after_change('CREATE MATERIALIZED VIEW regress_dpq_code_own.m AS SELECT 1; ALTER MATERIALIZED VIEW regress_dpq_code_own.m OWNER TO regress_dpq_code_analyst');
SELECT * FROM after_change(format('GRANT CREATE ON DATABASE %I TO regress_dpq_code_analyst', current_database()));
SELECT * FROM after_change(format('ALTER DATABASE %I OWNER TO regress_dpq_code_analyst', current_database()));
-- Autovacuum of another database sees the counters of this one.
SELECT * FROM after_change('GRANT CREATE ON DATABASE regress_dpq_code_other TO regress_dpq_code_analyst');
SELECT * FROM after_change('GRANT CREATE ON DATABASE regress_dpq_code_other TO PUBLIC');
SELECT * FROM after_change('ALTER DATABASE regress_dpq_code_other OWNER TO regress_dpq_code_friend');
-- Another restricted role could tell what it has seen.
SELECT * FROM after_change('ALTER TABLE regress_dpq_code_own.list OWNER TO regress_dpq_code_friend');
-- Rights of groups, also without INHERIT and over several steps
SELECT * FROM after_change('GRANT CREATE ON SCHEMA regress_dpq_code_own TO regress_dpq_code_team; GRANT regress_dpq_code_team TO regress_dpq_code_group; '
                           'GRANT regress_dpq_code_group TO regress_dpq_code_friend; ALTER ROLE regress_dpq_code_friend NOINHERIT');
SELECT * FROM after_change('ALTER TABLE regress_dpq_code_own.list OWNER TO regress_dpq_code_team; GRANT regress_dpq_code_team TO regress_dpq_code_analyst');
-- None of these is code that others run
SELECT * FROM after_change('ALTER TABLE regress_dpq_code_own.list OWNER TO regress_dpq_code_team; GRANT CREATE ON SCHEMA regress_dpq_code_own TO regress_dpq_code_group');
SELECT * FROM after_change('CREATE VIEW regress_dpq_code_own.v AS SELECT 1; ALTER VIEW regress_dpq_code_own.v OWNER TO regress_dpq_code_analyst');
SELECT * FROM after_change('ALTER TABLE regress_dpq_code_own.list OWNER TO regress_dpq_code_friend; SELECT public.dp_unrestrict_role(''regress_dpq_code_friend'')');
-- Objects of another database
\c regress_dpq_code_other
CREATE SCHEMA own AUTHORIZATION regress_dpq_code_analyst;
CREATE TABLE list (id int);
\c :database
SELECT * FROM after_change('SELECT 1');
\c regress_dpq_code_other
ALTER SCHEMA own OWNER TO regress_dpq_code_owner;
ALTER TABLE list OWNER TO regress_dpq_code_friend;
\c :database
SELECT * FROM after_change('SELECT 1');
\c regress_dpq_code_other
ALTER TABLE list OWNER TO regress_dpq_code_owner;
\c :database
SELECT * FROM after_change('SELECT 1');
\x
-- What is prepared before is refused, too.
SET SESSION AUTHORIZATION regress_dpq_code_analyst;
PREPARE ask AS SELECT dp_count(1) IS NOT NULL FROM regress_dpq_code.staff;
EXECUTE ask;
RESET SESSION AUTHORIZATION;
GRANT CREATE ON SCHEMA regress_dpq_code_own TO regress_dpq_code_analyst;
SELECT epsilon_spent FROM dp_budget WHERE role::text = 'regress_dpq_code_analyst';
SET SESSION AUTHORIZATION regress_dpq_code_analyst;
\set VERBOSITY default
EXECUTE ask;
\set VERBOSITY terse
SELECT problem IS NOT NULL FROM dp_explain('SELECT dp_count(1) FROM regress_dpq_code.staff');
RESET SESSION AUTHORIZATION;
SELECT epsilon_spent FROM dp_budget WHERE role::text = 'regress_dpq_code_analyst';
SET client_min_messages = error;
DROP DATABASE regress_dpq_code_other;
DROP FUNCTION after_change;
DROP SCHEMA regress_dpq_code, regress_dpq_code_own CASCADE;
DROP OWNED BY regress_dpq_code_owner, regress_dpq_code_analyst;
DROP ROLE regress_dpq_code_owner, regress_dpq_code_analyst, regress_dpq_code_friend, regress_dpq_code_group, regress_dpq_code_team;
