-- An administrator may have put the extension into a schema of its own, or have taken EXECUTE from PUBLIC. Also a query with PostgreSQL's
-- own aggregates, such as count(*), calls what is there.
CREATE OR REPLACE FUNCTION dpquantile.uncallable(role oid) RETURNS SETOF oid
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT p.oid
      FROM pg_extension e
      JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass
      JOIN pg_proc p ON p.oid = d.objid
     WHERE e.extname = 'dpquantile'
       AND (p.prokind = 'a' AND p.pronamespace = e.extnamespace
            OR p.pronamespace = 'dpquantile'::regnamespace
               AND p.proname IN ('total', 'total_stable', 'or_null', 'only_element', 'of_person', 'of_answers', 'group_hash', 'short_value', 'inline_value'))
       AND NOT has_function_privilege(uncallable.role, p.oid, 'EXECUTE');
  END;
COMMENT ON FUNCTION dpquantile.uncallable(oid) IS 'role: with private access. The functions that private queries call and that the role may not call.';

CREATE OR REPLACE FUNCTION dpquantile.missing_right(role oid) RETURNS text
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT CASE WHEN NOT has_schema_privilege(missing_right.role, e.extnamespace, 'USAGE')
                THEN format('the role has no USAGE on schema %I, in which the extension is: GRANT USAGE ON SCHEMA %1$I TO %s', n.nspname, missing_right.role::regrole)
                WHEN u.number > 0
                THEN format('the role may not call %s functions of the extension, such as %s: when the owner of the extension grants private access again, the role gets EXECUTE', u.number, u.name) END
      FROM pg_extension e
      JOIN pg_namespace n ON n.oid = e.extnamespace
     CROSS JOIN (SELECT count(*) AS number, min(p.proname) AS name
                   FROM dpquantile.uncallable(missing_right.role) f JOIN pg_proc p ON p.oid = f) u
     WHERE e.extname = 'dpquantile';
  END;
COMMENT ON FUNCTION dpquantile.missing_right(oid) IS 'role: with private access. What it lacks of the rights on the extension that each private query needs, or NULL.';

CREATE OR REPLACE FUNCTION dpquantile.grant_use(role oid, caller oid) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  extension CONSTANT pg_extension := (SELECT e FROM pg_extension e WHERE e.extname = 'dpquantile');
  may_grant CONSTANT boolean := pg_has_role(grant_use.caller, extension.extowner, 'USAGE');
  uncalled oid;
  missing text;
BEGIN
  IF may_grant AND NOT has_schema_privilege(grant_use.role, extension.extnamespace, 'USAGE')
     AND has_schema_privilege(extension.extnamespace, 'USAGE WITH GRANT OPTION') THEN
    EXECUTE format('GRANT USAGE ON SCHEMA %s TO %s', extension.extnamespace::regnamespace, grant_use.role::regrole);
  END IF;
  FOR uncalled IN SELECT f FROM dpquantile.uncallable(grant_use.role) f WHERE may_grant AND has_function_privilege(f, 'EXECUTE WITH GRANT OPTION') LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', uncalled::regprocedure, grant_use.role::regrole);
  END LOOP;
  missing := dpquantile.missing_right(grant_use.role);
  IF missing IS NOT NULL THEN
    RAISE WARNING 'private queries of role % will fail: %', grant_use.role::regrole, missing
      USING HINT = 'Also plain SQL such as count(*) needs this right.';
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.grant_use(oid, oid) IS
  'role: one that gets private access. Grants it what it lacks of the rights on the extension that each private query needs, if caller is the owner of the extension, and warns if it still lacks any.';
