\echo Use "ALTER EXTENSION dpquantile UPDATE TO '0.2.0'" to load this file. \quit

-- All names resolve in pg_catalog, as in CREATE EXTENSION.
SET LOCAL search_path = pg_catalog, pg_temp;

-- The library of 0.1.0 does not compare versions. If it is still loaded, it must not meet the new objects.
DO $$
BEGIN
  CREATE FUNCTION dpquantile.check_version() RETURNS void
    LANGUAGE C STABLE PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'dpq_check_version';
EXCEPTION WHEN undefined_function THEN
  RAISE EXCEPTION 'this session has loaded the library of another version of dpquantile than 0.2.0'
    USING ERRCODE = 'object_not_in_prerequisite_state',
          HINT = 'Reconnect. If the server preloads the library, restart it.';
END
$$;
COMMENT ON FUNCTION dpquantile.check_version() IS
  'Fails unless the library that this session has loaded is of the same version as the extension''s objects in this '
  'database. Tells nothing about any data.';
REVOKE EXECUTE ON FUNCTION dpquantile.check_version() FROM PUBLIC;

-- They check the version before they change a budget.
CREATE OR REPLACE FUNCTION @extschema@.dp_grant_budget(role regrole, epsilon float8, delta float8 DEFAULT NULL,
                                            accountant text DEFAULT NULL, smallest_charge float8 DEFAULT NULL)
  RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  grantee CONSTANT regrole := dp_grant_budget.role;
  budget dpquantile.budget;
  -- The limit that the accountant compares with the sum of the charges.
  total_limit numeric;
  name_now name;
BEGIN
  PERFORM dpquantile.check_version();
  IF grantee IS NULL OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = grantee) THEN
    RAISE EXCEPTION 'role must be an existing role, got %', coalesce(grantee::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Create it first: CREATE ROLE analyst LOGIN.';
  END IF;
  IF NOT coalesce(dp_grant_budget.epsilon > 0 AND dp_grant_budget.epsilon < 'Infinity', false) THEN
    RAISE EXCEPTION 'epsilon must be a positive finite number, got %', coalesce(dp_grant_budget.epsilon::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'To take a budget away, use dp_revoke_budget.';
  END IF;
  IF dp_grant_budget.delta < 0 OR dp_grant_budget.delta >= 1 THEN
    RAISE EXCEPTION 'delta must be at least 0 and less than 1, got %', dp_grant_budget.delta
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A useful delta is far below one over the number of rows, or 0.';
  END IF;
  IF dp_grant_budget.accountant NOT IN ('pure', 'zcdp') THEN
    RAISE EXCEPTION 'accountant must be pure or zcdp, got %', dp_grant_budget.accountant
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'pure adds epsilons; zcdp adds rhos, so many small queries cost much less.';
  END IF;

  -- A new row starts with the earlier spending under this name: a restore without some roles may have
  -- lost the row, or the role may have been dropped and created again. The row has no terms yet, like
  -- a revoked budget.
  SELECT r.rolname INTO STRICT name_now FROM pg_roles r WHERE r.oid = grantee;
  IF NOT EXISTS (SELECT FROM dpquantile.budget b WHERE b.role = grantee) THEN
    INSERT INTO dpquantile.budget
           (role, epsilon_limit, epsilon_spent, delta_limit, delta_spent, rho_spent, has_rho_alone, smallest_charge, revoked)
    SELECT grantee, 0, s.epsilon, 0, s.delta, s.rho, s.has_rho_alone, 0, true
      FROM dpquantile.earlier_spending(name_now) s
    ON CONFLICT ON CONSTRAINT budget_pkey DO NOTHING;
  END IF;
  SELECT * INTO STRICT budget FROM dpquantile.budget b WHERE b.role = grantee FOR UPDATE;
  INSERT INTO dpquantile.budget_name (budget_id, role_name) VALUES (budget.budget_id, name_now)
  ON CONFLICT ON CONSTRAINT budget_name_pkey DO NOTHING;

  -- The new terms. An omitted argument keeps its old value, or gets its default after a revocation.
  budget.epsilon_limit := dpquantile.decimal(dp_grant_budget.epsilon);
  budget.delta_limit := coalesce(dpquantile.decimal(dp_grant_budget.delta),
                                 CASE WHEN budget.revoked THEN 0 ELSE budget.delta_limit END);
  budget.accountant := coalesce(dp_grant_budget.accountant,
                                CASE WHEN budget.revoked THEN 'pure' ELSE budget.accountant END);
  budget.rho_limit := NULL;
  IF budget.accountant = 'zcdp' THEN
    IF budget.delta_limit = 0 THEN
      RAISE EXCEPTION 'accountant zcdp needs a delta above 0, got 0'
        USING ERRCODE = 'invalid_parameter_value',
              HINT = format('It converts rho to epsilon at that delta. For example: dp_grant_budget(%L, %s, 1e-6, %L), '
                            'with a delta far below one over the number of rows.',
                            grantee, dp_grant_budget.epsilon, 'zcdp');
    END IF;
    IF budget.delta_spent > 0 THEN
      RAISE EXCEPTION 'role % cannot have accountant zcdp: it has been charged delta %', grantee,
                      trim_scale(budget.delta_spent)
        USING ERRCODE = 'object_not_in_prerequisite_state',
              DETAIL = 'A charge with a delta has no rho.',
              HINT = 'Grant with accountant pure.';
    END IF;
    budget.rho_limit := dpquantile.rho_within(budget.epsilon_limit::float8, budget.delta_limit::float8);
    IF budget.rho_limit = 0 THEN
      RAISE EXCEPTION 'a limit of epsilon % and delta % is worth no rho', budget.epsilon_limit, budget.delta_limit
        USING ERRCODE = 'invalid_parameter_value', HINT = 'No query would fit. Grant more epsilon or delta.';
    END IF;
  ELSIF budget.has_rho_alone THEN
    RAISE EXCEPTION 'role % cannot have accountant pure: it has been charged for queries stated in rho alone', grantee
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'Such a query has no epsilon to add to the others.',
            HINT = format('Grant with accountant zcdp: dp_grant_budget(%L, %s, 1e-6, %L).',
                          grantee, dp_grant_budget.epsilon, 'zcdp');
  END IF;
  -- Computed anew if it is omitted: the old one may be in the unit of another accountant. A limit pays for at most a
  -- million charges then.
  total_limit := coalesce(budget.rho_limit, budget.epsilon_limit);
  budget.smallest_charge := coalesce(dpquantile.decimal(dp_grant_budget.smallest_charge), total_limit * 1e-6);
  IF NOT (budget.smallest_charge > 0 AND budget.smallest_charge <= total_limit) THEN
    RAISE EXCEPTION 'smallest_charge must be positive and at most the limit of %, got %',
                    format('%s %s', CASE budget.accountant WHEN 'zcdp' THEN 'rho' ELSE 'epsilon' END,
                           trim_scale(total_limit)),
                    dp_grant_budget.smallest_charge
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'It is in epsilon with accountant pure, in rho with zcdp. Leave it out for a millionth of the limit.';
  END IF;
  UPDATE dpquantile.budget AS b
     SET epsilon_limit = budget.epsilon_limit, delta_limit = budget.delta_limit, rho_limit = budget.rho_limit,
         accountant = budget.accountant, smallest_charge = budget.smallest_charge, revoked = false
   WHERE b.role = grantee;
END
$$;

CREATE OR REPLACE FUNCTION @extschema@.dp_revoke_budget(role regrole) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM dpquantile.check_version();
  UPDATE dpquantile.budget AS b SET revoked = true
   WHERE b.role = dp_revoke_budget.role AND NOT b.revoked;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role % has no privacy budget', coalesce(dp_revoke_budget.role::text, 'NULL')
      USING ERRCODE = 'undefined_object',
            HINT = 'The view dp_budget lists the budgets.';
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION @extschema@.dp_archive_ledger(before timestamptz)
  RETURNS TABLE (budget_id uuid, number bigint, charged_at timestamptz, role name, session_role name, function name,
                 mechanism text, neighbours text, epsilon numeric, delta numeric, grouping_sets integer, groups integer,
                 query text, rho numeric, accountant text)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  budgets uuid[];
BEGIN
  PERFORM dpquantile.check_version();
  IF dp_archive_ledger.before IS NULL THEN
    RAISE EXCEPTION 'before must be a time, got NULL'
      USING ERRCODE = 'null_value_not_allowed',
            HINT = 'For example: SELECT * FROM dp_archive_ledger(now() - interval ''1 year'').';
  END IF;
  -- One archiving at a time. Charges and grants do not wait for this lock.
  LOCK TABLE dpquantile.budget_name IN SHARE UPDATE EXCLUSIVE MODE;
  -- The charges of these budgets wait, as they do for dp_grant_budget: a charge under way may refer to a text that no
  -- other charge refers to, and would not see that the text is removed.
  budgets := ARRAY(SELECT DISTINCT l.budget_id FROM dpquantile.ledger l WHERE l.charged_at < dp_archive_ledger.before);
  PERFORM FROM dpquantile.budget b WHERE b.budget_id = ANY (budgets) ORDER BY b.role FOR UPDATE;
  RETURN QUERY
    WITH archived AS (
      DELETE FROM dpquantile.ledger l
       WHERE l.budget_id = ANY (budgets) AND l.charged_at < dp_archive_ledger.before
      RETURNING l.*
    ), summed AS (
      INSERT INTO dpquantile.budget_name AS n
             (budget_id, role_name, charges, epsilon, delta, rho, has_rho_alone, last_charged_at)
      SELECT a.budget_id, a.role_name, count(*), coalesce(sum(a.epsilon), 0), sum(a.delta), coalesce(sum(a.rho), 0),
             bool_or(a.epsilon IS NULL), max(a.charged_at)
        FROM archived a GROUP BY a.budget_id, a.role_name
      ON CONFLICT ON CONSTRAINT budget_name_pkey DO UPDATE
         SET charges = n.charges + excluded.charges, epsilon = n.epsilon + excluded.epsilon,
             delta = n.delta + excluded.delta, rho = n.rho + excluded.rho,
             has_rho_alone = n.has_rho_alone OR excluded.has_rho_alone,
             last_charged_at = greatest(n.last_charged_at, excluded.last_charged_at)
    )
    SELECT a.budget_id, a.number, a.charged_at, a.role_name, a.session_role_name, a.function, a.mechanism,
           a.neighbours, trim_scale(a.epsilon), trim_scale(a.delta), a.grouping_sets, a.groups, t.query,
           trim_scale(a.rho), a.accountant
      FROM archived a LEFT JOIN dpquantile.query_text t USING (budget_id, query_hash)
     ORDER BY a.charged_at, a.budget_id, a.number;
  DELETE FROM dpquantile.query_text t
   WHERE t.budget_id = ANY (budgets)
     AND NOT EXISTS (SELECT FROM dpquantile.ledger l
                      WHERE l.budget_id = t.budget_id AND l.query_hash = t.query_hash);
END
$$;

-- A function that returns dp_number. The cast with float8(float4) would need the cast of float8, and pg_upgrade would make
-- that one later: it makes casts in the order of their names.
CREATE FUNCTION dpquantile.number_of_real(float4) RETURNS @extschema@.dp_number
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'ftod';
COMMENT ON FUNCTION dpquantile.number_of_real(float4) IS
  'The cast of real to dp_number, that to float8. Tells nothing about any data.';
-- It may be gone: the guide tells to drop it before pg_upgrade of 0.1.0.
DROP CAST IF EXISTS (float4 AS @extschema@.dp_number);
CREATE CAST (float4 AS @extschema@.dp_number) WITH FUNCTION dpquantile.number_of_real(float4) AS IMPLICIT;
COMMENT ON CAST (float4 AS @extschema@.dp_number) IS 'For parameters that a driver sends as text. Costs no budget.';

-- A restore or a failover may lose charges, and a copy of the database has charges that this one lacks.
CREATE FUNCTION @extschema@.dp_add_charge(role regrole, epsilon numeric, delta numeric DEFAULT 0, rho numeric DEFAULT NULL,
                                          note text DEFAULT NULL)
  RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  charged CONSTANT regrole := dp_add_charge.role;
  added_epsilon numeric := dp_add_charge.epsilon;
  added_delta numeric := coalesce(dp_add_charge.delta, 0);
  added_rho numeric;
  budget dpquantile.budget;
  text_hash bytea;
BEGIN
  PERFORM dpquantile.check_version();
  IF NOT coalesce(coalesce(added_epsilon, dp_add_charge.rho) BETWEEN 1e-30 AND 1e30
                  AND coalesce(dp_add_charge.rho, 1) BETWEEN 1e-30 AND 1e30, false) THEN
    RAISE EXCEPTION 'epsilon and rho must be between 1e-30 and 1e30, got % and %',
                    coalesce(left(added_epsilon::text, 40), 'NULL'), coalesce(left(dp_add_charge.rho::text, 40), 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'One of them may be NULL: the epsilon of queries stated in rho alone, or the rho of other queries.';
  END IF;
  IF added_delta <> 0 AND (added_delta < 0 OR added_delta >= 1 OR added_epsilon IS NULL OR dp_add_charge.rho IS NOT NULL) THEN
    RAISE EXCEPTION 'delta must be 0 or more, below 1, and 0 beside a rho, got %', left(added_delta::text, 40)
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Only dp_iqr spends delta, and it has no rho. Add its charges apart from those of the others.';
  END IF;
  IF octet_length(dp_add_charge.note) > 2048 THEN
    RAISE EXCEPTION 'note must have at most 2048 bytes, got %', octet_length(dp_add_charge.note)
      USING ERRCODE = 'invalid_parameter_value', HINT = 'The ledger cuts the texts of queries at this length.';
  END IF;
  -- Each later charge computes with the sums, so their digits are bounded. Upwards: no spending is forgotten.
  added_epsilon := ceil(added_epsilon * 1e50) * 1e-50;
  added_delta := ceil(added_delta * 1e50) * 1e-50;
  IF added_delta = 0 THEN
    -- Answers that are epsilon-differentially private together are epsilon^2/2-zCDP.
    added_rho := ceil(coalesce(dp_add_charge.rho, added_epsilon * added_epsilon / 2) * 1e50) * 1e-50;
  END IF;
  SELECT * INTO budget FROM dpquantile.budget b WHERE b.role = charged FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role % has no privacy budget', coalesce(charged::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Grant one first with dp_grant_budget.';
  END IF;
  IF NOT budget.revoked AND (budget.accountant = 'zcdp' AND added_delta > 0 OR budget.accountant = 'pure' AND added_epsilon IS NULL)
  THEN
    RAISE EXCEPTION 'accountant % of role % cannot add a charge %', budget.accountant, charged,
                    CASE WHEN added_delta > 0 THEN 'with a delta' ELSE 'without an epsilon' END
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Revoke the budget first with dp_revoke_budget. A later grant chooses the accountant.';
  END IF;
  UPDATE dpquantile.budget b
     SET epsilon_spent = b.epsilon_spent + coalesce(added_epsilon, 0), delta_spent = b.delta_spent + added_delta,
         rho_spent = b.rho_spent + coalesce(added_rho, 0), has_rho_alone = b.has_rho_alone OR added_epsilon IS NULL,
         charges = b.charges + 1
   WHERE b.role = charged;
  IF dp_add_charge.note IS NOT NULL THEN
    text_hash := sha256(convert_to(dp_add_charge.note, getdatabaseencoding()));
    INSERT INTO dpquantile.query_text (budget_id, query_hash, query) VALUES (budget.budget_id, text_hash, dp_add_charge.note)
    ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO dpquantile.ledger (budget_id, number, role_name, session_role_name, function, mechanism, neighbours, epsilon,
                                 delta, rho, accountant, grouping_sets, query_hash)
  VALUES (budget.budget_id, budget.charges + 1, (SELECT r.rolname FROM pg_roles r WHERE r.oid = charged), session_user,
          'dp_add_charge', 'none', 'unknown', added_epsilon, added_delta, added_rho, budget.accountant, 1, text_hash);
END
$$;
COMMENT ON FUNCTION @extschema@.dp_add_charge(regrole, numeric, numeric, numeric, text) IS
  'Adds a charge to the budget of a role, for answers that this database does not know of: they were charged in a copy of '
  'the database, or a restore or a failover has lost their charges. role: a role with a budget, also a revoked one; '
  'epsilon: what the answers have spent together, or NULL if they were stated in rho alone; delta: likewise, 0 or '
  'more and below 1 (default: 0); rho: likewise (default: half the square of epsilon if delta is 0, which is '
  'enough for answers without a delta); note: what the ledger shows as the query, also to the role, at most 2048 bytes. '
  'Amounts are rounded up to 50 decimals. The spending may exceed the limit; then the role gets no more answers. For '
  'the data owner.';

CREATE FUNCTION @extschema@.dp_health()
  RETURNS TABLE (check_name text, subject text, status text, detail text)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH spent AS (
    SELECT b.role::text AS role, s.*
      FROM dpquantile.budget b
      JOIN pg_roles r ON r.oid = b.role
     CROSS JOIN LATERAL (
       SELECT * FROM (VALUES ('epsilon', b.epsilon_spent, CASE b.accountant WHEN 'pure' THEN b.epsilon_limit END),
                             ('delta', b.delta_spent, CASE b.accountant WHEN 'pure' THEN nullif(b.delta_limit, 0) END),
                             ('rho', b.rho_spent, b.rho_limit)) AS v (unit, spent, granted)
        WHERE v.granted IS NOT NULL ORDER BY v.spent / v.granted DESC LIMIT 1) AS s
     WHERE NOT b.revoked
  ), slots AS (
    SELECT current_setting('max_worker_processes')::integer AS number, count(*) AS taken
      FROM pg_stat_activity
     WHERE backend_type NOT IN ('archiver', 'autovacuum launcher', 'autovacuum worker', 'background writer', 'checkpointer',
                                'client backend', 'io worker', 'logger', 'slotsync worker', 'standalone backend', 'startup',
                                'walreceiver', 'walsender', 'walsummarizer', 'walwriter')
  )
  SELECT 'version', e.extversion, CASE WHEN a.default_version = e.extversion THEN 'ok' ELSE 'warning' END,
         CASE WHEN a.default_version = e.extversion THEN 'the installed version'
              ELSE format('version %s is installed: ALTER EXTENSION dpquantile UPDATE', a.default_version) END
    FROM pg_extension e JOIN pg_available_extensions a ON a.name = e.extname
   WHERE e.extname = 'dpquantile'
  UNION ALL
  SELECT 'workers', CASE WHEN EXISTS (SELECT FROM pg_shmem_allocations m WHERE m.name = 'dpquantile charges')
                         THEN 'preloaded' ELSE 'not preloaded' END,
         CASE WHEN s.taken >= s.number THEN 'critical' WHEN 2 * s.taken > s.number THEN 'warning' ELSE 'ok' END,
         format('%s of %s max_worker_processes are taken', s.taken, s.number)
    FROM slots s
  UNION ALL
  SELECT 'durability', s.name, CASE s.setting WHEN 'on' THEN 'ok' ELSE 'critical' END,
         CASE s.setting WHEN 'on' THEN 'on'
              ELSE s.setting || ': a crash of the operating system may lose or damage charges' END
    FROM pg_settings s WHERE s.name IN ('fsync', 'full_page_writes')
  UNION ALL
  SELECT 'standby', 'this server', 'ok', 'a standby refuses private queries' WHERE pg_is_in_recovery()
  UNION ALL
  SELECT 'standby', r.application_name, CASE r.sync_state WHEN 'async' THEN 'warning' ELSE 'ok' END,
         CASE r.sync_state WHEN 'async' THEN 'asynchronous: a failover to it may lose the latest charges'
              ELSE 'synchronous' END
    FROM pg_stat_replication r
   WHERE r.state <> 'backup'
     AND NOT EXISTS (SELECT FROM pg_replication_slots l WHERE l.active_pid = r.pid AND l.slot_type = 'logical')
  UNION ALL
  SELECT 'subscription', c.relname, 'critical',
         'logical replication may change this table, so charges are refused: SELECT dpquantile.protect_tables()'
    FROM pg_class c
   WHERE c.relnamespace = 'dpquantile'::regnamespace AND c.relkind = 'r'
     AND EXISTS (SELECT FROM pg_subscription s
                   JOIN pg_database d ON d.oid = s.subdbid WHERE d.datname = current_database())
     AND 2 > (SELECT count(*) FROM pg_trigger t
               WHERE t.tgrelid = c.oid AND t.tgname IN ('skip_replicated', 'refuse_replicated_truncate')
                 AND t.tgenabled IN ('R', 'A'))
  UNION ALL
  SELECT 'budget', s.role, CASE WHEN s.spent >= 0.9 * s.granted THEN 'warning' ELSE 'ok' END,
         format('%s %% of the %s is spent', floor(100 * s.spent / s.granted), s.unit)
    FROM spent s
  UNION ALL
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
   WHERE EXISTS (SELECT FROM dpquantile.budget_name n
                  WHERE n.role_name = r.rolname
                    AND NOT EXISTS (SELECT FROM dpquantile.budget o WHERE o.budget_id = n.budget_id))
     AND (s.epsilon > b.epsilon_spent OR s.delta > b.delta_spent OR s.rho > b.rho_spent)
  UNION ALL
  SELECT 'ledger', 'size', CASE WHEN s.bytes > 1e9 THEN 'warning' ELSE 'ok' END,
         pg_size_pretty(s.bytes) || CASE WHEN s.bytes > 1e9 THEN ': archive old charges with dp_archive_ledger' ELSE '' END
    FROM (SELECT pg_total_relation_size('dpquantile.ledger') + pg_total_relation_size('dpquantile.query_text') AS bytes) AS s
   ORDER BY 1, 2
$$;
COMMENT ON FUNCTION @extschema@.dp_health() IS
  'What the person who runs the server should know. check_name: version, workers, durability, standby, subscription, '
  'budget or ledger; subject: what was checked, for example a role; status: ok; warning: look at it soon; critical: '
  'charges fail, or what was spent can be lost; detail: one line of text. A budget is a warning from 90 % on. For the '
  'owner of the extension, who may grant it to a monitoring role: it shows the spending of all roles. Reads no data and '
  'costs no budget.';

REVOKE EXECUTE ON FUNCTION @extschema@.dp_add_charge(regrole, numeric, numeric, numeric, text),
                           @extschema@.dp_health() FROM PUBLIC;
