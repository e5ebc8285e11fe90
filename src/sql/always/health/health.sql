CREATE OR REPLACE FUNCTION dpquantile.health_of_version()
  RETURNS TABLE (check_name text, subject text, status text, detail text)
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  WITH version AS (
    SELECT e.extversion AS sql, dpquantile.library_version() AS library, dpquantile.advice_on_versions() AS advice,
           dpquantile.is_preloaded() AS preloaded, nullif(a.default_version, e.extversion) AS other_files
      FROM pg_extension e LEFT JOIN pg_available_extensions a ON a.name = e.extname
     WHERE e.extname = 'dpquantile'
  )
  SELECT 'version', v.sql,
         CASE WHEN v.advice IS NOT NULL THEN 'critical'
              WHEN v.other_files IS NULL THEN 'ok'
              WHEN v.preloaded THEN 'warning'
              ELSE 'critical' END,
         CASE WHEN v.advice IS NOT NULL THEN format('charges fail, because the library is version %s. %s', v.library, v.advice)
              WHEN v.other_files IS NULL THEN 'the installed version'
              WHEN v.preloaded
              THEN format('version %s is installed: restart the server, and then update each database', v.other_files)
              ELSE format('charges of new sessions fail, because version %s is installed: reconnect', v.other_files) END
    FROM version v
$$;
COMMENT ON FUNCTION dpquantile.health_of_version() IS 'What dp_health tells of the versions of library and SQL objects.';

CREATE OR REPLACE FUNCTION dpquantile.health_of_workers()
  RETURNS TABLE (check_name text, subject text, status text, detail text)
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  WITH slots AS (
    -- An owner who may not read the statistics of other roles sees their processes without a type.
    SELECT current_setting('max_worker_processes')::integer AS number, count(*) AS taken,
           bool_or(backend_type IS NULL) AS hidden
      FROM pg_stat_activity
     WHERE backend_type IS NULL
        OR backend_type NOT IN ('archiver', 'autovacuum launcher', 'autovacuum worker', 'background writer', 'checkpointer',
                                'client backend', 'io worker', 'logger', 'slotsync worker', 'standalone backend', 'startup',
                                'walreceiver', 'walsender', 'walsummarizer', 'walwriter')
  )
  SELECT 'workers', CASE WHEN v.preloaded THEN 'preloaded' ELSE 'not preloaded' END,
         CASE WHEN s.hidden THEN 'warning'
              WHEN s.taken >= s.number THEN 'critical' WHEN 2 * s.taken > s.number THEN 'warning' ELSE 'ok' END,
         CASE WHEN s.hidden THEN format('the workers cannot be seen: GRANT pg_read_all_stats TO %I', current_user)
              ELSE format('%s of %s max_worker_processes are taken', s.taken, s.number) END
    FROM slots s, (SELECT dpquantile.is_preloaded() AS preloaded) v
$$;
COMMENT ON FUNCTION dpquantile.health_of_workers() IS 'What dp_health tells of the processes that make charges.';

CREATE OR REPLACE FUNCTION dpquantile.health_of_server()
  RETURNS TABLE (check_name text, subject text, status text, detail text)
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT 'durability', s.name, CASE s.setting WHEN 'on' THEN 'ok' ELSE 'critical' END,
         CASE s.setting WHEN 'on' THEN 'on'
              ELSE s.setting || ': a crash of the operating system may lose or damage charges' END
    FROM pg_settings s WHERE s.name IN ('fsync', 'full_page_writes')
  UNION ALL
  SELECT 'standby', 'this server', 'ok', 'a standby refuses private queries' WHERE pg_is_in_recovery()
  UNION ALL
  SELECT 'standby', coalesce(r.application_name, 'unknown'),
         CASE WHEN r.sync_state <> 'async' THEN 'ok' ELSE 'warning' END,
         CASE WHEN r.sync_state <> 'async' THEN 'synchronous'
              WHEN r.sync_state = 'async' THEN 'asynchronous: a failover to it may lose the latest charges'
              ELSE format('its state cannot be seen: GRANT pg_read_all_stats TO %I', current_user) END
    FROM pg_stat_replication r
   WHERE r.state IS DISTINCT FROM 'backup'
     AND NOT EXISTS (SELECT FROM pg_replication_slots l WHERE l.active_pid = r.pid AND l.slot_type = 'logical')
$$;
COMMENT ON FUNCTION dpquantile.health_of_server() IS 'What dp_health tells of durability and of standbys.';

CREATE OR REPLACE FUNCTION dpquantile.health_of_tables()
  RETURNS TABLE (check_name text, subject text, status text, detail text)
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT 'subscription', c.relname::text, 'critical',
         'logical replication may change this table, so charges are refused: SELECT dpquantile.protect_tables()'
    FROM pg_class c
   WHERE c.relnamespace = 'dpquantile'::regnamespace AND c.relkind = 'r'
     AND EXISTS (SELECT FROM pg_subscription s
                   JOIN pg_database d ON d.oid = s.subdbid WHERE d.datname = current_database())
     AND 2 > (SELECT count(*) FROM pg_trigger t
               WHERE t.tgrelid = c.oid AND t.tgname IN ('skip_replicated', 'refuse_replicated_truncate')
                 AND t.tgenabled IN ('R', 'A'))
  UNION ALL
  SELECT 'tables', 'owners', 'critical',
         'charges fail, because the owners differ: '
           || string_agg(format('%s of %s', c.relowner::regrole, c.relname), ', ' ORDER BY c.relname)
    FROM pg_class c
   WHERE c.relnamespace = 'dpquantile'::regnamespace AND c.relname IN ('budget', 'ledger', 'query_text', 'table_identity', 'table_name', 'failed_read')
  HAVING count(DISTINCT c.relowner) > 1
  UNION ALL
  SELECT 'tables', 'user_key', 'critical', format('dp_user_ queries fail, because it has %s rows instead of one', count(*))
    FROM dpquantile.user_key
  HAVING count(*) <> 1
$$;
COMMENT ON FUNCTION dpquantile.health_of_tables() IS 'What dp_health tells of the tables in this schema.';

CREATE OR REPLACE FUNCTION dpquantile.health_of_privileges()
  RETURNS TABLE (check_name text, subject text, status text, detail text)
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  WITH member AS (
    SELECT d.classid, d.objid
      FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
     WHERE e.extname = 'dpquantile' AND d.deptype = 'e'
  ), powers AS (
    -- What a role may use by which it can change budgets, itself or by SET ROLE. Superusers and the owner may use all.
    SELECT b.role::text AS role, o.name
      FROM dpquantile.present_budget b
      JOIN pg_roles r ON r.oid = b.role AND NOT r.rolsuper
      JOIN pg_extension e ON e.extname = 'dpquantile' AND e.extowner <> b.role
      JOIN pg_roles m ON pg_has_role(b.role, m.oid, 'MEMBER')
     CROSS JOIN LATERAL (
       SELECT p.proname::text AS name FROM pg_proc p
        WHERE p.oid IN (SELECT objid FROM member WHERE classid = 'pg_proc'::regclass)
          AND p.proname IN ('dp_grant_budget', 'dp_revoke_budget', 'dp_add_charge', 'dp_archive_ledger', 'dp_unrestrict_role')
          AND has_function_privilege(m.oid, p.oid, 'EXECUTE')
        UNION ALL
       SELECT c.oid::regclass::text FROM pg_class c
        WHERE c.oid IN (SELECT objid FROM member WHERE classid = 'pg_class'::regclass) AND c.relkind IN ('r', 'v')
          AND (has_table_privilege(m.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
               OR has_any_column_privilege(m.oid, c.oid, 'INSERT, UPDATE'))) AS o
     WHERE NOT b.revoked
  )
  SELECT 'privileges', w.role, 'critical', 'the role has a budget and may change budgets by ' || string_agg(DISTINCT w.name, ', ' ORDER BY w.name)
    FROM powers w
   GROUP BY w.role
$$;
COMMENT ON FUNCTION dpquantile.health_of_privileges() IS 'What dp_health tells of roles with a budget that may change budgets.';

CREATE OR REPLACE FUNCTION dpquantile.health_of_budgets()
  RETURNS TABLE (check_name text, subject text, status text, detail text)
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  WITH spent AS (
    SELECT b.role::text || coalesce(' on ' || b.relation, '') AS role, b.every, s.*
      FROM dpquantile.present_budget b
      JOIN pg_roles r ON r.oid = b.role
     CROSS JOIN LATERAL (
       SELECT * FROM (VALUES ('epsilon', b.epsilon_spent, CASE b.accountant WHEN 'pure' THEN b.epsilon_limit END),
                             ('delta', b.delta_spent, nullif(dpquantile.delta_to_charge(b.accountant, b.delta_limit, b.charged_delta), 0)),
                             ('rho', b.rho_spent, b.rho_limit)) AS v (unit, spent, granted)
        WHERE v.granted IS NOT NULL ORDER BY v.spent / v.granted DESC LIMIT 1) AS s
     WHERE NOT b.revoked
  )
  SELECT 'budget', s.role, CASE WHEN s.spent >= 0.9 * s.granted THEN 'warning' ELSE 'ok' END,
         format('%s %% of the %s is spent%s', floor(100 * s.spent / s.granted), s.unit, ' in this ' || s.every)
    FROM spent s
  UNION ALL
  SELECT 'budget', b.role::text || coalesce(' on ' || b.relation, ''), 'warning',
         format('it begins anew only on %s (UTC), because a charge was made while the clock was ahead',
                to_char(dpquantile.period_end(b.every, b.period_start) AT TIME ZONE 'UTC', 'YYYY-MM-DD'))
    FROM dpquantile.present_budget b
    JOIN pg_roles r ON r.oid = b.role
   WHERE NOT b.revoked AND b.period_start > statement_timestamp()
$$;
COMMENT ON FUNCTION dpquantile.health_of_budgets() IS 'What dp_health tells of what budgets have left.';

CREATE OR REPLACE FUNCTION dpquantile.health_of_ledger()
  RETURNS TABLE (check_name text, subject text, status text, detail text)
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT 'ledger', b.role::text, 'critical',
         'the ledger is newer than the budget, so charges are refused: was only a part of the tables restored?'
    FROM dpquantile.budget b
   WHERE b.charges < (SELECT max(l.number) FROM dpquantile.ledger l WHERE l.budget_id = b.budget_id)
  UNION ALL
  -- Charges of a budget that is not here, under the name of a role that has another one.
  SELECT 'ledger', b.role::text, 'critical',
         'the ledger has charges under this name that the budget does not count: was only a part of the tables restored?'
    FROM dpquantile.budget b
    JOIN pg_roles r ON r.oid = b.role
   CROSS JOIN LATERAL dpquantile.earlier_spending(r.rolname) AS s
   WHERE b.table_id IS NULL
     AND EXISTS (SELECT FROM dpquantile.budget_name n
                  WHERE n.role_name = r.rolname
                    AND NOT EXISTS (SELECT FROM dpquantile.budget o WHERE o.budget_id = n.budget_id))
     AND (s.epsilon > b.epsilon_spent OR s.delta > b.delta_spent OR s.rho > b.rho_spent)
  UNION ALL
  SELECT 'ledger', 'size', CASE WHEN s.bytes > 1e9 THEN 'warning' ELSE 'ok' END,
         pg_size_pretty(s.bytes) || CASE WHEN s.bytes > 1e9 THEN ': archive old charges with dp_archive_ledger' ELSE '' END
    FROM (SELECT pg_total_relation_size('dpquantile.ledger') + pg_total_relation_size('dpquantile.query_text') AS bytes) AS s
$$;
COMMENT ON FUNCTION dpquantile.health_of_ledger() IS 'What dp_health tells of the ledger: whether it agrees with the budgets, and its size.';

-- The planner expects many rows, for which it would compile the query.
CREATE OR REPLACE FUNCTION @extschema@.dp_health()
  RETURNS TABLE (check_name text, subject text, status text, detail text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
  SELECT * FROM dpquantile.health_of_version()
  UNION ALL
  SELECT * FROM dpquantile.health_of_workers()
  UNION ALL
  SELECT * FROM dpquantile.health_of_server()
  UNION ALL
  SELECT * FROM dpquantile.health_of_tables()
  UNION ALL
  SELECT * FROM dpquantile.health_of_privileges()
  UNION ALL
  SELECT * FROM dpquantile.health_of_budgets()
  UNION ALL
  SELECT * FROM dpquantile.health_of_ledger()
  UNION ALL
  SELECT 'protection', f.subject, f.status, f.detail FROM dpquantile.protection_findings() f
  UNION ALL
  SELECT 'published', s.relation::text, CASE WHEN s.epsilon > 10 THEN 'warning' ELSE 'ok' END,
         format('what is published of it costs epsilon %s%s, for every role, beside what it spends', s.epsilon, ' and delta ' || nullif(s.delta, 0))
         || CASE WHEN s.epsilon > 10 THEN ': an epsilon above 10 may tell of single rows or persons' ELSE '' END
    FROM dpquantile.published_spending s
  UNION ALL
  SELECT 'restriction', 'autovacuum', 'warning',
         code || ', and autovacuum would run its code without restriction: dpquantile is not in shared_preload_libraries'
    FROM dpquantile.unrestricted_code() AS code
   WHERE code IS NOT NULL
   ORDER BY 1, 2
$$;
COMMENT ON FUNCTION @extschema@.dp_health() IS
  'What the person who runs the server should know. check_name: version, workers, durability, standby, subscription, '
  'tables, privileges, budget, ledger, protection, published or restriction; subject: what was checked, for example a role; status: ok; '
  'warning: look at it soon; critical: charges fail, what was spent can be lost, or a role learns exact facts about a '
  'protected table; detail: one line of text. A budget is a warning from 90 % on. For the owner of the extension, who may '
  'grant it to a monitoring role: it shows the spending of all roles. Reads no data and costs no budget.';
