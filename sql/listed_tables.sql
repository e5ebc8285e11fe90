-- Tools find tables by information_schema and has_table_privilege(): there a role without SELECT sees the tables that it has private access
-- to. What a right decides elsewhere is as ever.
\set SHOW_CONTEXT never
\set VERBOSITY terse
CREATE ROLE regress_dpq_lt_owner LOGIN;
CREATE ROLE regress_dpq_lt_analyst LOGIN;
CREATE ROLE regress_dpq_lt_other LOGIN;
CREATE SCHEMA regress_dpq_lt AUTHORIZATION regress_dpq_lt_owner;
GRANT USAGE ON SCHEMA regress_dpq_lt TO regress_dpq_lt_analyst, regress_dpq_lt_other;
SELECT dp_restrict_role('regress_dpq_lt_analyst'), dp_restrict_role('regress_dpq_lt_other');
SET SESSION AUTHORIZATION regress_dpq_lt_owner;
SET search_path = regress_dpq_lt, public;
CREATE TABLE visits (id int PRIMARY KEY, cost float8 NOT NULL);
CREATE TABLE staff (id int PRIMARY KEY);
CREATE TABLE note (text text);
INSERT INTO note VALUES ('secret');
SELECT dp_protect_table('visits'), dp_protect_table('staff');
SELECT dp_grant_private_access('visits', 'regress_dpq_lt_analyst');
-- Whoever wrote these lets rights decide.
CREATE VIEW told AS SELECT text FROM note WHERE has_table_privilege('visits', 'SELECT');
CREATE VIEW told_without_table AS SELECT 'secret' AS text WHERE has_table_privilege('visits', 'SELECT');
GRANT SELECT ON told, told_without_table TO regress_dpq_lt_analyst;
CREATE FUNCTION told_by_owner(reader name) RETURNS SETOF text LANGUAGE plpgsql SECURITY DEFINER
  AS 'BEGIN IF has_table_privilege(reader, ''regress_dpq_lt.visits'', ''SELECT'') THEN RETURN QUERY SELECT text FROM regress_dpq_lt.note; END IF; END';

-- Nor does a function see it, whoever calls it.
CREATE FUNCTION may_see(seen text) RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN has_table_privilege(seen, ''SELECT''); END';
CREATE FUNCTION may_see_in_sql(seen text) RETURNS boolean LANGUAGE sql STABLE SET search_path = regress_dpq_lt, pg_temp
  AS 'SELECT has_table_privilege(seen, ''SELECT'')';
CREATE TABLE guarded (seen text);
INSERT INTO guarded VALUES ('visits');
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY guard ON guarded USING (may_see(seen) OR may_see_in_sql(seen));
GRANT SELECT ON guarded TO regress_dpq_lt_analyst;
SET SESSION AUTHORIZATION regress_dpq_lt_analyst;
SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'regress_dpq_lt' ORDER BY 1;
SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_name IN ('visits', 'staff') AND table_schema = 'regress_dpq_lt' ORDER BY 1, ordinal_position;
PREPARE listed AS SELECT table_name FROM information_schema.tables WHERE table_schema = 'regress_dpq_lt' AND table_type = 'BASE TABLE';
EXECUTE listed;
-- As Metabase asks
SELECT t.tablename, has_any_column_privilege(current_user, '"' || t.schemaname || '"."' || t.tablename || '"', 'select') AS "select",
       has_any_column_privilege(current_user, '"' || t.schemaname || '"."' || t.tablename || '"', 'update') AS "update"
  FROM pg_tables t WHERE t.schemaname = 'regress_dpq_lt' ORDER BY 1;
SELECT has_table_privilege('visits', 'INSERT, SELECT') AS "either", has_table_privilege('visits', 'INSERT') AS "insert",
       has_table_privilege('visits'::regclass, 'select') AS "select", has_column_privilege('visits'::regclass, 1::int2, 'SELECT') AS column,
       has_table_privilege('regress_dpq_lt_owner', 'visits', 'SELECT') AS owner, has_table_privilege('regress_dpq_lt_other', 'visits', 'SELECT') AS other,
       has_table_privilege('staff', 'SELECT') AS staff;
-- Neither rights nor what they decide
SELECT * FROM visits;
TABLE told;
TABLE told_without_table;
SELECT * FROM told_by_owner(current_user);
TABLE guarded;
SELECT may_see('visits'), may_see_in_sql('visits');
SELECT n.text, has_table_privilege('visits', 'SELECT') FROM told_without_table n RIGHT JOIN (SELECT 1) AS one ON true;
SELECT count(*) FROM pg_stats WHERE tablename = 'visits';

SET SESSION AUTHORIZATION regress_dpq_lt_other;
EXECUTE listed;
SET SESSION AUTHORIZATION regress_dpq_lt_owner;
SELECT dp_revoke_private_access('visits', 'regress_dpq_lt_analyst');
SET SESSION AUTHORIZATION regress_dpq_lt_analyst;
SELECT table_name FROM information_schema.tables WHERE table_schema = 'regress_dpq_lt' AND table_type = 'BASE TABLE';
RESET SESSION AUTHORIZATION;
DROP OWNED BY regress_dpq_lt_owner CASCADE;
DROP ROLE regress_dpq_lt_owner, regress_dpq_lt_analyst, regress_dpq_lt_other;
