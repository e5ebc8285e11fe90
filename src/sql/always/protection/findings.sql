CREATE OR REPLACE FUNCTION dpquantile.findings_about_rights() RETURNS TABLE (subject text, status text, detail text)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT format('%I on %s', p.grantee, p.relation), 'critical', 'the role learns exact facts about the table: ' || p.own_right
      FROM dpquantile.private_access p WHERE p.own_right NOT LIKE 'PUBLIC %' OR p.own_right LIKE '%, which %'
    UNION ALL
    SELECT format('%s on %s', m.member::regrole, p.relation), 'critical',
           format('the role learns exact facts about the table, to which it has private access as a member of %I: %s', p.grantee, m.reason)
      FROM dpquantile.private_access p CROSS JOIN LATERAL dpquantile.rights_of_members(p.relation, p.grantee_oid) m
     WHERE p.role_problem IS NULL
    UNION ALL
    SELECT format('%s on %s', m.oid::regrole, m.relation), 'critical',
           format('the role has private access and is not restricted: SELECT dp_restrict_role(%L)', m.oid::regrole)
      FROM (SELECT DISTINCT p.relation, m.oid
              FROM dpquantile.private_access p
              JOIN pg_catalog.pg_roles m ON m.rolcanlogin AND pg_catalog.pg_has_role(m.oid, p.grantee_oid, 'MEMBER')
             WHERE p.role_problem IS NULL AND NOT dpquantile.is_restricted(m.oid)
               AND (dpquantile.own_right(p.relation, m.oid)).reason IS NULL) m (relation, oid);
  END;
COMMENT ON FUNCTION dpquantile.findings_about_rights() IS
  'What protection_findings tells about roles with private access that have other rights, too, or are not restricted.';

CREATE OR REPLACE FUNCTION dpquantile.findings_about_names() RETURNS TABLE (subject text, status text, detail text)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    -- A tool such as dbt makes a table anew, renames the old one, and drops it: the protection goes with the old one.
    SELECT c.oid::regclass::text, 'warning',
           format('it is not protected, and another table of this name was: SELECT dp_protect_table(%L, ...), and grant private access again. If nobody is to '
                  'ask it, SELECT dp_unprotect_table(%L) after that', c.oid::regclass, c.oid::regclass)
      FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
       AND EXISTS (SELECT FROM dpquantile.table_name n WHERE n.name = s.nspname || '.' || c.relname)
       -- One that is or was protected itself is as its owner wants it.
       AND NOT EXISTS (SELECT FROM dpquantile.table_identity i WHERE i.relation = c.oid);
  END;
COMMENT ON FUNCTION dpquantile.findings_about_names() IS
  'What protection_findings tells about tables that have taken the name of a protected one, and are not protected.';

CREATE OR REPLACE FUNCTION dpquantile.readers_of_tables() RETURNS TABLE (relation regclass, classid oid, objid oid)
  LANGUAGE sql STABLE ROWS 10
  BEGIN ATOMIC
    WITH RECURSIVE private_aggregate (oid) AS (
      SELECT p.oid
        FROM pg_catalog.pg_extension e
        JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.refobjid = e.oid AND d.classid = 'pg_catalog.pg_proc'::regclass
        JOIN pg_catalog.pg_proc p ON p.oid = d.objid AND p.prokind = 'a'
       WHERE e.extname = 'dpquantile'
    ), reader (relation, classid, objid, is_invoker) AS (
      SELECT t.relation, 'pg_catalog.pg_class'::regclass::oid, t.relation::oid, false FROM dpquantile.protected_table t
      UNION
      SELECT r.relation, n.classid, n.objid, n.is_invoker
        FROM reader r
        JOIN pg_catalog.pg_depend d ON d.refclassid = r.classid AND d.refobjid = r.objid
                                   AND d.classid IN ('pg_catalog.pg_rewrite'::regclass, 'pg_catalog.pg_proc'::regclass)
       CROSS JOIN LATERAL (
         SELECT 'pg_catalog.pg_class'::regclass::oid, c.oid, c.relowner,
                EXISTS (SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) o WHERE o.option_name = 'security_invoker' AND o.option_value::boolean)
           FROM pg_catalog.pg_rewrite w
           JOIN pg_catalog.pg_class c ON c.oid = w.ev_class AND c.relkind IN ('v', 'm')
          WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass AND w.oid = d.objid
         UNION ALL
         SELECT d.classid, p.oid, p.proowner, NOT p.prosecdef
           FROM pg_catalog.pg_proc p WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND p.oid = d.objid) n (classid, objid, owner, is_invoker)
       -- What calls a private aggregate has been approved.
       WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_depend a JOIN private_aggregate g ON g.oid = a.refobjid
                          WHERE a.classid = d.classid AND a.objid = d.objid AND a.refclassid = 'pg_catalog.pg_proc'::regclass)
         -- A view calls functions, and reads views with security_invoker, with the rights of who asks it.
         AND NOT (n.classid = 'pg_catalog.pg_class'::regclass AND (r.is_invoker OR r.classid <> n.classid))
         AND (n.is_invoker OR r.classid <> 'pg_catalog.pg_class'::regclass OR pg_catalog.has_any_column_privilege(n.owner, r.objid, 'SELECT'))
    )
    SELECT r.relation, r.classid, r.objid FROM reader r WHERE r.objid <> r.relation AND NOT r.is_invoker;
  END;
COMMENT ON FUNCTION dpquantile.readers_of_tables() IS
  'Views, materialized views and functions with SECURITY DEFINER that read a protected table, relation, with the rights of an owner who may. Those of whose '
  'queries the catalogs know nothing, such as functions in PL/pgSQL, and copies of rows are not among them. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.findings_about_readers() RETURNS TABLE (subject text, status text, detail text)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT format('%s on %s', m.oid::regrole, r.relation), 'warning',
           format('beside private answers the role may see what %s shows of the table. Take the right on it from the role, its groups and PUBLIC, unless that is meant for it',
                  string_agg(DISTINCT pg_catalog.pg_describe_object(r.classid, r.objid, 0), ', '))
      FROM dpquantile.readers_of_tables() r
     CROSS JOIN pg_catalog.pg_roles m
     WHERE m.rolcanlogin AND NOT m.rolsuper
       AND (EXISTS (SELECT FROM dpquantile.present_budget b WHERE NOT b.revoked AND pg_catalog.pg_has_role(m.oid, b.role, 'MEMBER'))
            OR EXISTS (SELECT FROM dpquantile.private_grant g
                        WHERE g.grantee_oid IN (SELECT n.oid FROM pg_catalog.pg_roles n) AND pg_catalog.pg_has_role(m.oid, g.grantee_oid, 'MEMBER')))
       AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles h
                        WHERE pg_catalog.pg_has_role(m.oid, h.oid, 'MEMBER') AND pg_catalog.has_any_column_privilege(h.oid, r.relation, 'SELECT'))
       AND EXISTS (SELECT FROM pg_catalog.pg_roles h
                    WHERE pg_catalog.pg_has_role(m.oid, h.oid, 'MEMBER')
                      AND CASE r.classid WHEN 'pg_catalog.pg_class'::regclass THEN pg_catalog.has_any_column_privilege(h.oid, r.objid, 'SELECT')
                                         ELSE pg_catalog.has_function_privilege(h.oid, r.objid, 'EXECUTE') END)
     GROUP BY m.oid, r.relation;
  END;
COMMENT ON FUNCTION dpquantile.findings_about_readers() IS
  'What protection_findings tells about roles with a budget or private access that may read protected tables by what runs with the rights of others.';

CREATE OR REPLACE FUNCTION dpquantile.protection_findings() RETURNS TABLE (subject text, status text, detail text)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    SELECT p.relation::text, 'warning', 'private access is closed: ' || min(p.table_problem)
      FROM dpquantile.private_access p WHERE p.table_problem IS NOT NULL GROUP BY p.relation
    UNION ALL
    SELECT t.relation::text, 'critical',
           format('every role may do more than ask private queries: PUBLIC has %s', string_agg(DISTINCT e.privilege_type, ', '))
      FROM dpquantile.protected_table t
      JOIN pg_catalog.pg_class c ON c.oid = t.relation
     CROSS JOIN LATERAL (SELECT c.relacl AS acl
                         UNION ALL
                         SELECT a.attacl FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped) o
     CROSS JOIN pg_catalog.aclexplode(o.acl) e
     WHERE e.grantee = 0 GROUP BY t.relation
    UNION ALL
    SELECT d.relation::text, 'warning', format('a domain is not used: %s. Set it again (dp_set_domain)', d.problem)
      FROM dpquantile.column_domains d WHERE d.problem IS NOT NULL
    UNION ALL
    SELECT format('%I on %s', p.grantee, p.relation), 'warning',
           'answers are not kept for reuse, because the library is not in shared_preload_libraries'
      FROM dpquantile.private_access p
     WHERE p.reuse IS NOT NULL AND p.role_problem IS NULL
       AND NOT dpquantile.keeps_answers()
    UNION ALL
    SELECT format('%I on %s', p.grantee, p.relation), 'warning',
           format('private access is closed: %s. Grant it again (dp_grant_private_access) or remove it '
                  '(dp_revoke_private_access)', p.role_problem)
      FROM dpquantile.private_access p WHERE p.role_problem IS NOT NULL
    UNION ALL
    SELECT format('%s on %s', e.grantee_oid::regrole, e.relation),
           CASE WHEN e.problem IS NOT NULL THEN 'critical' WHEN 2 * e.cancels > e.most_cancels THEN 'warning' ELSE 'ok' END,
           CASE WHEN e.problem IS NOT NULL
                THEN format('private access is closed since %s: %s. Look at the server log, then SELECT dp_open_private_access(%L, %L)',
                            to_char(e.last_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS UTC'), e.problem, e.relation, e.grantee_oid::regrole)
                ELSE format('queries that were cancelled, or ran out of time or memory, while they read rows: %s; private access closes after %s',
                            e.cancels, e.most_cancels) END
      FROM dpquantile.early_ends e
     WHERE e.most_cancels IS NOT NULL
    UNION ALL
    SELECT DISTINCT m.oid::regrole::text, 'warning', 'private queries fail: ' || dpquantile.missing_right(m.oid)
      FROM dpquantile.private_access p
      JOIN pg_catalog.pg_roles m ON m.rolcanlogin AND pg_catalog.pg_has_role(m.oid, p.grantee_oid, 'MEMBER')
     WHERE p.role_problem IS NULL AND dpquantile.missing_right(m.oid) IS NOT NULL
    UNION ALL
    SELECT * FROM dpquantile.findings_about_rights()
    UNION ALL
    SELECT * FROM dpquantile.findings_about_names()
    UNION ALL
    SELECT * FROM dpquantile.findings_about_readers()
     ORDER BY 1, 2, 3;
  END;
COMMENT ON FUNCTION dpquantile.protection_findings() IS
  'What dp_health tells about protected tables: subject, status, detail. Reads no data.';
