CREATE OR REPLACE FUNCTION dpquantile.told_by_function(function regprocedure) RETURNS text
  LANGUAGE C STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_told_by_function';
COMMENT ON FUNCTION dpquantile.told_by_function(regprocedure) IS
  'function: any function. What exact facts it tells, if a restricted role may not execute it; otherwise NULL.';

CREATE OR REPLACE FUNCTION dpquantile.stored_setting(database oid, role oid, setting text) RETURNS text
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT substr(c.entry, length(stored_setting.setting) + 2)
      FROM pg_catalog.pg_db_role_setting s
     CROSS JOIN unnest(s.setconfig) AS c (entry)
     WHERE s.setdatabase = stored_setting.database AND s.setrole = stored_setting.role
       AND starts_with(c.entry, stored_setting.setting || '=');
  END;
COMMENT ON FUNCTION dpquantile.stored_setting(oid, oid, text) IS
  'What ALTER ROLE or ALTER DATABASE has stored for a setting. database: an OID, or 0 for all databases; role: an '
  'OID, or 0 for all roles; setting: its name. NULL if nothing is stored.';

CREATE OR REPLACE FUNCTION dpquantile.server_libraries() RETURNS text
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT CASE WHEN s.source IN ('default', 'configuration file', 'command line') THEN s.setting
                ELSE coalesce((SELECT f.setting FROM pg_catalog.pg_file_settings f
                                WHERE f.name = 'session_preload_libraries' AND f.applied), '') END
      FROM pg_catalog.pg_settings s WHERE s.name = 'session_preload_libraries';
  END;
COMMENT ON FUNCTION dpquantile.server_libraries() IS
  'The server''s session_preload_libraries, whatever the current database and role have.';

CREATE OR REPLACE FUNCTION dpquantile.is_library(entry text) RETURNS boolean
  LANGUAGE sql IMMUTABLE
  RETURN btrim(entry, ' "') ~ '^(.*/)?dpquantile(\.so)?$';
COMMENT ON FUNCTION dpquantile.is_library(text) IS
  'entry: of a list of libraries. Whether it is the library of this extension.';

CREATE OR REPLACE FUNCTION dpquantile.store_libraries(role regrole, in_database text, libraries text) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  before CONSTANT text := current_setting('session_preload_libraries');
BEGIN
  IF EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'citus') THEN
    RAISE EXCEPTION 'roles cannot be restricted in a database with the extension citus'
      USING ERRCODE = 'feature_not_supported',
            DETAIL = 'The restrictions of the role would not hold on the workers.',
            HINT = 'Keep the role from the workers, for example in pg_hba.conf. What concerns its other databases, call in one without citus.';
  END IF;
  -- FROM CURRENT takes a whole list. A literal would have to be split.
  PERFORM set_config('session_preload_libraries', libraries, true);
  EXECUTE format('ALTER ROLE %s%s SET session_preload_libraries FROM CURRENT', role, in_database);
  PERFORM set_config('session_preload_libraries', before, true);
END
$$;
COMMENT ON FUNCTION dpquantile.store_libraries(regrole, text, text) IS
  'Stores session_preload_libraries for a role. in_database: empty or '' IN DATABASE name''; libraries: the list.';

CREATE OR REPLACE FUNCTION dpquantile.unrestricted_code() RETURNS text
  LANGUAGE C STABLE
  AS 'MODULE_PATHNAME', 'dpq_unrestricted_code';
COMMENT ON FUNCTION dpquantile.unrestricted_code() IS
  'Which restricted role owns a table or may create one, here or in another database, so that autovacuum would run its code '
  'without the library; NULL if none, or if the library is in shared_preload_libraries. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.is_restricted(role oid) RETURNS boolean
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT coalesce(dpquantile.stored_setting(d.oid, is_restricted.role, 'dpquantile.restricted'),
                    dpquantile.stored_setting(0, is_restricted.role, 'dpquantile.restricted')) = 'on'
           AND EXISTS (SELECT FROM regexp_split_to_table(
                                     coalesce(dpquantile.stored_setting(d.oid, is_restricted.role, 'session_preload_libraries'),
                                              dpquantile.stored_setting(0, is_restricted.role, 'session_preload_libraries')),
                                     ',') AS e (entry)
                        WHERE dpquantile.is_library(e.entry))
      FROM pg_catalog.pg_database d WHERE d.datname = current_database();
  END;
COMMENT ON FUNCTION dpquantile.is_restricted(oid) IS
  'role: an OID. Whether dp_restrict_role has restricted its sessions in this database. Tells nothing about any data.';
