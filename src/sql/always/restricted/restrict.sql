CREATE OR REPLACE FUNCTION dpquantile.check_restrictable(login regrole) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  refusal record;
BEGIN
  IF login IS NULL OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = login) THEN
    RAISE EXCEPTION 'role must be an existing role, got %', coalesce(login::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Create it first: CREATE ROLE analyst LOGIN.';
  END IF;
  IF NOT (SELECT r.rolcanlogin FROM pg_roles r WHERE r.oid = login) THEN
    RAISE EXCEPTION 'role % cannot be restricted: it cannot log in', login
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'A session has the settings of the role that logs in, not those of roles that it is a member of.',
            HINT = 'Restrict each role that logs in.';
  END IF;
  SELECT m.oid::regrole AS member, CASE WHEN m.rolsuper THEN 'a superuser'
                                        WHEN m.rolcreaterole THEN 'a role with CREATEROLE'
                                        WHEN m.rolreplication THEN 'a role with REPLICATION'
                                        ELSE 'a predefined role' END AS reason
    INTO refusal
    FROM pg_roles m
   WHERE (m.rolsuper OR m.rolcreaterole OR m.rolreplication OR starts_with(m.rolname, 'pg_'))
     AND m.rolname <> 'pg_database_owner' AND pg_has_role(login, m.oid, 'MEMBER')
   ORDER BY m.oid <> login, m.rolname LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'role % cannot be restricted: it is %', login,
                    CASE WHEN refusal.member = login THEN refusal.reason
                         ELSE format('a member of %s, %s', refusal.member, refusal.reason) END
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'Such a role reads data or statistics past any restriction, or can undo it.',
            HINT = 'Take the attribute or the membership away first.';
  END IF;
  SELECT p.parname AS name INTO refusal
    FROM pg_parameter_acl p
   WHERE p.parname IN ('session_preload_libraries', 'dpquantile.restricted', 'log_temp_files', 'temp_file_limit')
     AND has_parameter_privilege(login, p.parname, 'SET, ALTER SYSTEM')
   ORDER BY 1 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'role % cannot be restricted: it may set %', login, refusal.name
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('REVOKE SET, ALTER SYSTEM ON PARAMETER %s from the role, its roles or PUBLIC.', refusal.name);
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.check_restrictable(regrole) IS
  'login: any role. An error if it could read data past the restrictions of dp_restrict_role, undo them, or has no sessions.';

CREATE OR REPLACE FUNCTION @extschema@.dp_restrict_role(role regrole) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  login CONSTANT regrole := dp_restrict_role.role;
  libraries text;
  scope record;
BEGIN
  PERFORM dpquantile.check_restrictable(login);
  -- For all databases, and once more for each database whose own settings would have precedence or whose own
  -- libraries the settings for all databases would rescope.
  FOR scope IN
    SELECT '' AS clause, dpquantile.stored_setting(0, login, 'session_preload_libraries') AS libraries
    UNION ALL
    SELECT format(' IN DATABASE %I', d.datname),
           coalesce(dpquantile.stored_setting(d.oid, login, 'session_preload_libraries'),
                    dpquantile.stored_setting(0, login, 'session_preload_libraries'),
                    dpquantile.stored_setting(d.oid, 0, 'session_preload_libraries'))
      FROM pg_database d
     WHERE EXISTS (SELECT FROM pg_db_role_setting s WHERE s.setdatabase = d.oid AND s.setrole = login)
        OR dpquantile.stored_setting(d.oid, 0, 'session_preload_libraries') IS NOT NULL
  LOOP
    libraries := coalesce(scope.libraries, dpquantile.server_libraries());
    IF NOT EXISTS (SELECT FROM regexp_split_to_table(libraries, ',') AS e (entry) WHERE dpquantile.is_library(e.entry))
    THEN
      libraries := concat_ws(', ', nullif(libraries, ''), 'dpquantile');
    END IF;
    PERFORM dpquantile.store_libraries(login, scope.clause, libraries);
    EXECUTE format('ALTER ROLE %s%s SET dpquantile.restricted = on', login, scope.clause);
    EXECUTE format('ALTER ROLE %s%s SET log_temp_files = -1', login, scope.clause);
    EXECUTE format('ALTER ROLE %s%s SET temp_file_limit = -1', login, scope.clause);
  END LOOP;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_restrict_role(regrole) IS
  'Takes from a role the functions and settings by which PostgreSQL tells exact facts about data that the role cannot '
  'read: statistics, sizes, locks, numbers of rows in catalogs, EXPLAIN ANALYZE, log messages. role: a role that logs '
  'in. Holds for sessions that begin afterwards. For the owner of the extension: restrict every untrusted login of the cluster, also '
  'one that may not call approved functions.';

CREATE OR REPLACE FUNCTION @extschema@.dp_unrestrict_role(role regrole) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  login CONSTANT regrole := dp_unrestrict_role.role;
  libraries text;
  scope record;
BEGIN
  FOR scope IN
    SELECT s.setdatabase AS database,
           CASE WHEN d.oid IS NULL THEN '' ELSE format(' IN DATABASE %I', d.datname) END AS clause
      FROM pg_db_role_setting s LEFT JOIN pg_database d ON d.oid = s.setdatabase
     WHERE s.setrole = login
       AND dpquantile.stored_setting(s.setdatabase, login, 'dpquantile.restricted') IS NOT NULL
  LOOP
    SELECT string_agg(btrim(e.entry), ', ' ORDER BY e.number) INTO libraries
      FROM regexp_split_to_table(dpquantile.stored_setting(scope.database, login, 'session_preload_libraries'), ',')
           WITH ORDINALITY AS e (entry, number)
     WHERE NOT dpquantile.is_library(e.entry);
    -- dp_restrict_role has copied what the role would have without it.
    IF coalesce(libraries, '') IN ('', coalesce(dpquantile.stored_setting(scope.database, 0, 'session_preload_libraries'),
                                                dpquantile.server_libraries())) THEN
      EXECUTE format('ALTER ROLE %s%s RESET session_preload_libraries', login, scope.clause);
    ELSE
      PERFORM dpquantile.store_libraries(login, scope.clause, libraries);
    END IF;
    EXECUTE format('ALTER ROLE %s%s RESET dpquantile.restricted', login, scope.clause);
    EXECUTE format('ALTER ROLE %s%s RESET log_temp_files', login, scope.clause);
    EXECUTE format('ALTER ROLE %s%s RESET temp_file_limit', login, scope.clause);
  END LOOP;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role % is not restricted', coalesce(login::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'In psql, \drds lists the settings of roles.';
  END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_unrestrict_role(regrole) IS
  'Takes the settings of dp_restrict_role back. role: a restricted role. Libraries that the role had besides stay in '
  'its session_preload_libraries. Holds for sessions that begin afterwards.';
