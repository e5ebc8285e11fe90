-- The last file: owner and privileges of what the script has made. What was there before keeps both: the owner of the extension may
-- have granted and revoked since, and a REVOKE or GRANT here would also hide that from dumps. So each block leaves out the earlier
-- members (begin.sql). An update that changes privileges of what is there does so in its file of updates/.

-- It belongs to the owner of the extension, who need not be the superuser that updates it. Only a superuser can own an event trigger.
DO $$
DECLARE
  made record;
BEGIN
  FOR made IN
    SELECT i.type, i.identity, e.extowner::regrole AS owner
      FROM pg_extension e
      JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
     CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) i
     WHERE e.extname = 'dpquantile' AND e.extowner <> current_user::regrole
       AND format('%s:%s', d.classid::oid, d.objid) NOT IN (SELECT unnest(string_to_array(current_setting('dpq_upgrade.earlier_members'), ',')))
       AND (i.type IN ('function', 'aggregate', 'table', 'view')
            OR i.type = 'event trigger' AND (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = e.extowner)
            -- Not the type of an array or of the rows of a table.
            OR EXISTS (SELECT FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
                        WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid
                          AND t.typsubscript <> 'array_subscript_handler'::regproc AND coalesce(c.relkind = 'c', true)))
  LOOP
    EXECUTE format('ALTER %s %s OWNER TO %s', made.type, made.identity, made.owner);
  END LOOP;
END
$$;

-- Only the aggregates may use the support functions: other roles could build their own aggregates from them and read the state. Only
-- the owner may call what runs with the owner's rights. ALTER DEFAULT PRIVILEGES may have granted these functions to more roles than
-- PUBLIC.
DO $$
DECLARE
  support record;
BEGIN
  FOR support IN
    SELECT p.oid, p.oid::regprocedure AS signature,
           (SELECT string_agg(', ' || g.grantee::regrole, '') FROM aclexplode(p.proacl) g WHERE g.grantee NOT IN (0, p.proowner)) AS others
      FROM pg_extension e
      JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass
      JOIN pg_proc p ON p.oid = d.objid
     WHERE e.extname = 'dpquantile'
       AND format('%s:%s', d.classid::oid, d.objid) NOT IN (SELECT unnest(string_to_array(current_setting('dpq_upgrade.earlier_members'), ',')))
       AND (p.prosecdef
            -- All roles may call these.
            OR p.pronamespace = 'dpquantile'::regnamespace AND p.proname NOT IN (
                 'charged_role', 'sees_all_budgets', 'epsilon_of_rho', 'charged_rho', 'charged_epsilon', 'six_digits', 'total_epsilon',
                 'period_start', 'period_end', 'decimal', 'cdf_in', 'cdf_out', 'cdf_recv', 'cdf_send', 'number_in', 'number_out',
                 'number_recv', 'number_send', 'number_of_real', 'unprotectable', 'problem_of_predicate', 'problem_of_reference', 'problem_of_view', 'relations_in_view', 'own_right', 'uncallable', 'missing_right', 'keyed_tables', 'objects_of_tables',
                 'rights_on_tables', 'rights_beside_tables', 'code_in_other_sessions', 'tables_with_same_rows',
                 'table_with_other_users', 'unrestricted_code', 'series', 'distinct_values', 'short_value', 'inline_value', 'group_hash', 'of_answers', 'kept_answers',
                 'distributed_groups', 'is_closed_table', 'before_at', 'spent_at', 'verdict', 'delta_to_charge', 'total', 'total_stable', 'or_null', 'only_element', 'of_person'))
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC%s', support.signature, support.others);
    IF obj_description(support.oid, 'pg_proc') IS NULL THEN
      EXECUTE format('COMMENT ON FUNCTION %s IS %L', support.signature,
                     'Support function of the private aggregates. Handles exact data, gives no privacy by itself, and cannot be called directly.');
    END IF;
  END LOOP;
END
$$;

-- Nobody else uses the schema and the tables. All roles read three views. The REVOKE takes what ALTER DEFAULT PRIVILEGES gave.
DO $$
DECLARE
  made record;
BEGIN
  FOR made IN
    SELECT o.name, o.is_for_all, (SELECT string_agg(', ' || g.grantee::regrole, '') FROM aclexplode(o.acl) g WHERE g.grantee NOT IN (0, o.owner)) AS others
      FROM pg_extension e
      JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
     CROSS JOIN LATERAL (SELECT 'SCHEMA ' || n.nspname, n.nspowner, n.nspacl, false
                           FROM pg_namespace n WHERE d.classid = 'pg_namespace'::regclass AND n.oid = d.objid
                          UNION ALL
                         SELECT c.oid::regclass::text, c.relowner, c.relacl, c.relname IN ('dp_budget', 'dp_ledger', 'dp_protected_tables')
                           FROM pg_class c WHERE d.classid = 'pg_class'::regclass AND c.oid = d.objid AND c.relkind IN ('r', 'v')
                        ) o (name, owner, acl, is_for_all)
     WHERE e.extname = 'dpquantile' AND d.classid IN ('pg_namespace'::regclass, 'pg_class'::regclass)
       AND format('%s:%s', d.classid::oid, d.objid) NOT IN (SELECT unnest(string_to_array(current_setting('dpq_upgrade.earlier_members'), ',')))
       AND (o.is_for_all OR EXISTS (SELECT FROM aclexplode(o.acl) g WHERE g.grantee <> o.owner))
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM PUBLIC%s', made.name, made.others);
    IF made.is_for_all THEN
      EXECUTE format('GRANT SELECT ON %s TO PUBLIC', made.name);
    END IF;
  END LOOP;
END
$$;

-- Who could call a function that has other arguments now can call the new one: a file of updates/ leaves in dpq_upgrade.kept_grants
-- [{"made": the new function, "grantee": a role}, ...]. A dump leaves out what the script of an extension has granted, and these grants
-- are not the script's own.
DO $$
DECLARE
  kept record;
  initial aclitem[];
BEGIN
  FOR kept IN
    SELECT k.made::regprocedure AS made, k.grantee
      FROM jsonb_to_recordset(nullif(current_setting('dpq_upgrade.kept_grants', true), '')::jsonb) k (made text, grantee text)
  LOOP
    SELECT i.initprivs INTO initial FROM pg_init_privs i WHERE i.classoid = 'pg_proc'::regclass AND i.objoid = kept.made AND i.objsubid = 0;
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', kept.made, kept.grantee);
    UPDATE pg_init_privs i SET initprivs = initial WHERE i.classoid = 'pg_proc'::regclass AND i.objoid = kept.made AND i.objsubid = 0;
    -- Since PostgreSQL 17 roles that pg_init_privs names are in pg_shdepend, too.
    DELETE FROM pg_shdepend d
     WHERE d.dbid = (SELECT b.oid FROM pg_database b WHERE b.datname = current_database())
       AND d.classid = 'pg_proc'::regclass AND d.objid = kept.made AND d.deptype = 'i';
  END LOOP;
END
$$;
