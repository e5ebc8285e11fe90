-- dp_restrict_role and dp_unrestrict_role: which roles, and which settings. (test/t/restricted_*.pl: what they close.)
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_analyst LOGIN;
CREATE ROLE regress_dpq_team;
CREATE ROLE regress_dpq_admin LOGIN;
CREATE TEMP VIEW settings AS
  SELECT coalesce(d.datname = current_database(), false) AS here, split_part(c, '=', 1) AS setting,
         split_part(c, '=', 2) AS value
    FROM pg_db_role_setting s LEFT JOIN pg_database d ON d.oid = setdatabase CROSS JOIN unnest(setconfig) c
   WHERE setrole::regrole::text = 'regress_dpq_analyst' ORDER BY here, split_part(c, '=', 1) COLLATE "C";

SELECT dp_restrict_role('regress_dpq_analyst');
TABLE settings;
SELECT dp_restrict_role('regress_dpq_analyst');
TABLE settings;
SELECT dp_unrestrict_role('regress_dpq_analyst');
TABLE settings;
SELECT dp_unrestrict_role('regress_dpq_analyst');
SELECT dp_unrestrict_role(NULL);

-- Libraries that the role or the database has stay. Settings for a database are changed too: they have precedence.
ALTER ROLE regress_dpq_analyst SET session_preload_libraries = 'auto_explain', '$libdir/pg_stat_statements';
ALTER ROLE regress_dpq_analyst SET work_mem = '5MB';
ALTER ROLE regress_dpq_analyst IN DATABASE :DBNAME SET log_temp_files = 0;
SELECT dp_restrict_role('regress_dpq_analyst');
TABLE settings;
SELECT dp_unrestrict_role('regress_dpq_analyst');
TABLE settings;
ALTER ROLE regress_dpq_analyst RESET ALL;
ALTER ROLE regress_dpq_analyst IN DATABASE :DBNAME RESET ALL;
BEGIN;
ALTER DATABASE :DBNAME SET session_preload_libraries = 'auto_explain';
SELECT dp_restrict_role('regress_dpq_analyst');
TABLE settings;
SELECT dp_unrestrict_role('regress_dpq_analyst');
TABLE settings;
ROLLBACK;

-- threat 52: a role that would read past the restriction, or undo it, is refused.
SELECT dp_restrict_role(NULL);
SELECT dp_restrict_role(12345678);
SELECT dp_restrict_role('regress_dpq_nobody');
SELECT dp_restrict_role('regress_dpq_team');
ALTER ROLE regress_dpq_analyst SUPERUSER;
SELECT dp_restrict_role('regress_dpq_analyst');
ALTER ROLE regress_dpq_analyst NOSUPERUSER CREATEROLE;
SELECT dp_restrict_role('regress_dpq_analyst');
ALTER ROLE regress_dpq_analyst NOCREATEROLE REPLICATION;
SELECT dp_restrict_role('regress_dpq_analyst');
ALTER ROLE regress_dpq_analyst NOREPLICATION;
GRANT pg_monitor TO regress_dpq_team;
GRANT regress_dpq_team TO regress_dpq_analyst;
SELECT dp_restrict_role('regress_dpq_analyst');
REVOKE pg_monitor FROM regress_dpq_team;
GRANT pg_read_all_data TO regress_dpq_analyst;
SELECT dp_restrict_role('regress_dpq_analyst');
REVOKE pg_read_all_data FROM regress_dpq_analyst;
GRANT SET ON PARAMETER session_preload_libraries TO regress_dpq_team;
SELECT dp_restrict_role('regress_dpq_analyst');
REVOKE SET ON PARAMETER session_preload_libraries FROM regress_dpq_team;
GRANT ALTER SYSTEM ON PARAMETER dpquantile.restricted TO PUBLIC;
SELECT dp_restrict_role('regress_dpq_analyst');
REVOKE ALTER SYSTEM ON PARAMETER dpquantile.restricted FROM PUBLIC;
TABLE settings;

-- Only the owner of the extension, or whom it lets.
SET ROLE regress_dpq_admin;
SELECT dp_restrict_role('regress_dpq_analyst');
SELECT dp_unrestrict_role('regress_dpq_analyst');
RESET ROLE;
GRANT EXECUTE ON FUNCTION dp_restrict_role(regrole) TO regress_dpq_admin;
SET ROLE regress_dpq_admin;
SELECT dp_restrict_role('regress_dpq_analyst');
RESET ROLE;
TABLE settings;

REVOKE EXECUTE ON FUNCTION dp_restrict_role(regrole) FROM regress_dpq_admin;
DROP ROLE regress_dpq_analyst, regress_dpq_team, regress_dpq_admin;
