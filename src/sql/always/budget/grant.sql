CREATE OR REPLACE FUNCTION @extschema@.dp_grant_budget(role regrole, epsilon float8, delta float8 DEFAULT NULL,
                                            accountant text DEFAULT NULL, smallest_charge float8 DEFAULT NULL,
                                            neighbours text DEFAULT NULL, every interval DEFAULT NULL,
                                            on_table regclass DEFAULT NULL)
  RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres
AS $$
#variable_conflict use_column
DECLARE
  grantee CONSTANT regrole := dp_grant_budget.role;
  -- The row of the role, which counts all its charges, and the terms to be changed: its own, or those for a table.
  general dpquantile.budget;
  budget dpquantile.budget;
  -- The limit that the accountant compares with the sum of the charges.
  total_limit numeric;
  name_now name;
  -- By its text: PostgreSQL takes 30 days for equal to a month.
  calendar CONSTANT text := CASE dp_grant_budget.every::text WHEN '1 day' THEN 'day' WHEN '7 days' THEN 'week'
                                                             WHEN '1 mon' THEN 'month' WHEN '1 year' THEN 'year' END;
  every_before text;
BEGIN
  PERFORM dpquantile.check_version();
  IF grantee IS NULL OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = grantee) THEN
    RAISE EXCEPTION 'role must be an existing role, got %', coalesce(grantee::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Create it first: CREATE ROLE analyst LOGIN.';
  END IF;
  -- dp_add_charge takes no more at once.
  IF NOT coalesce(dp_grant_budget.epsilon > 0 AND dp_grant_budget.epsilon <= 1e30, false) THEN
    RAISE EXCEPTION 'epsilon must be above 0 and at most 1e30, got %', coalesce(dp_grant_budget.epsilon::text, 'NULL')
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
  IF dp_grant_budget.neighbours NOT IN ('add or remove', 'replace') THEN
    RAISE EXCEPTION 'neighbours must be "add or remove" or "replace", got "%"', dp_grant_budget.neighbours
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'replace promises the limit for replacing the value of one row, whatever the role asks.';
  END IF;
  IF dp_grant_budget.every IS NOT NULL AND calendar IS NULL THEN
    RAISE EXCEPTION 'every must be 1 day, 1 week, 1 month or 1 year, got %', dp_grant_budget.every
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'The budget begins anew with each day, week (on Monday), month or year of the calendar in UTC.';
  END IF;
  IF dp_grant_budget.on_table IS NOT NULL
     AND NOT EXISTS (SELECT FROM dpquantile.protected_table t WHERE t.relation = dp_grant_budget.on_table) THEN
    RAISE EXCEPTION 'on_table must be a protected table, got %', dp_grant_budget.on_table
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('Its owner protects it: SELECT dp_protect_table(%L).', dp_grant_budget.on_table);
  END IF;

  -- A new row starts with the earlier spending under this name: a restore without some roles may have
  -- lost the row, or the role may have been dropped and created again. The row has no terms yet, like
  -- a revoked budget.
  SELECT r.rolname INTO STRICT name_now FROM pg_roles r WHERE r.oid = grantee;
  PERFORM dpquantile.note_role_names();
  IF NOT EXISTS (SELECT FROM dpquantile.budget b WHERE b.role = grantee) THEN
    INSERT INTO dpquantile.budget
           (role, epsilon_limit, epsilon_spent, delta_limit, delta_spent, rho_spent, has_rho_alone, smallest_charge, revoked,
            neighbours)
    SELECT grantee, 0, s.epsilon, 0, s.delta, s.rho, s.has_rho_alone, 0, true, s.neighbours
      FROM dpquantile.earlier_spending(name_now) s
    ON CONFLICT ON CONSTRAINT budget_pkey DO NOTHING;
  END IF;
  SELECT * INTO STRICT general FROM dpquantile.budget b WHERE b.role = grantee FOR UPDATE;
  INSERT INTO dpquantile.budget_name (budget_id, role_name) VALUES (general.budget_id, name_now)
  ON CONFLICT ON CONSTRAINT budget_name_pkey DO NOTHING;
  budget := general;
  -- Likewise a new row for a table, with the earlier spending under this name on tables that are connected with it.
  IF dp_grant_budget.on_table IS NOT NULL THEN
    INSERT INTO dpquantile.table_budget
           (role, relation, epsilon_limit, epsilon_spent, delta_limit, delta_spent, rho_spent, has_rho_alone, smallest_charge, revoked)
    SELECT grantee, dp_grant_budget.on_table, 0, s.epsilon, 0, s.delta, s.rho, s.has_rho_alone, 0, true
      -- The subquery runs once. PostgreSQL would put the function itself beside each row of the ledger.
      FROM dpquantile.earlier_spending(name_now, (SELECT dpquantile.connected_tables(dp_grant_budget.on_table))) s
     WHERE NOT EXISTS (SELECT FROM dpquantile.table_budget t WHERE t.role = grantee AND t.relation = dp_grant_budget.on_table)
    ON CONFLICT ON CONSTRAINT table_budget_pkey DO NOTHING;
    PERFORM dpquantile.note_table_name(dp_grant_budget.on_table);
    SELECT t.epsilon_spent, t.delta_limit, t.delta_spent, t.rho_spent, t.has_rho_alone, t.accountant, t.revoked, t.every, t.period_start,
           t.epsilon_before, t.delta_before, t.rho_before
      INTO STRICT budget.epsilon_spent, budget.delta_limit, budget.delta_spent, budget.rho_spent, budget.has_rho_alone,
           budget.accountant, budget.revoked, budget.every, budget.period_start,
           budget.epsilon_before, budget.delta_before, budget.rho_before
      FROM dpquantile.table_budget t WHERE t.role = grantee AND t.relation = dp_grant_budget.on_table FOR UPDATE;
  END IF;

  -- The new terms. An omitted argument keeps its old value, or gets its default after a revocation.
  budget.epsilon_limit := dpquantile.decimal(dp_grant_budget.epsilon);
  budget.delta_limit := coalesce(dpquantile.decimal(dp_grant_budget.delta),
                                 CASE WHEN budget.revoked THEN 0 ELSE budget.delta_limit END);
  budget.accountant := coalesce(dp_grant_budget.accountant,
                                CASE WHEN budget.revoked THEN 'pure' ELSE budget.accountant END);
  every_before := budget.every;
  budget.every := coalesce(calendar, CASE WHEN NOT budget.revoked THEN budget.every END);
  -- What was spent before the period is not known for another calendar, so everything counts until the next period.
  IF budget.every IS DISTINCT FROM every_before THEN
    budget.epsilon_before := 0;
    budget.delta_before := 0;
    budget.rho_before := 0;
    budget.period_start := CASE WHEN budget.every IS NOT NULL
                                THEN greatest(budget.period_start, dpquantile.period_start(budget.every, clock_timestamp())) END;
  END IF;
  -- All budgets of the role have the same neighbours. What is spent cannot be counted for others.
  IF general.epsilon_spent = 0 AND general.delta_spent = 0 AND general.rho_spent = 0 THEN
    budget.neighbours := coalesce(dp_grant_budget.neighbours,
                                  CASE WHEN general.revoked AND dp_grant_budget.on_table IS NULL
                                            AND NOT EXISTS (SELECT FROM dpquantile.table_budget t WHERE t.role = grantee AND NOT t.revoked)
                                       THEN 'add or remove' ELSE general.neighbours END);
  ELSIF dp_grant_budget.neighbours <> general.neighbours THEN
    RAISE EXCEPTION 'role % cannot have neighbours "%": it has been charged for "%"', grantee, dp_grant_budget.neighbours,
                    general.neighbours
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'The same answers cost other amounts for other neighbours.',
            HINT = 'Leave neighbours out, or grant a budget to a new role.';
  END IF;
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
  -- Computed anew if it is omitted: the old one may be an amount of what another accountant adds. A limit pays for at most a
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
  IF dp_grant_budget.on_table IS NULL THEN
    UPDATE dpquantile.budget AS b
       SET epsilon_limit = budget.epsilon_limit, delta_limit = budget.delta_limit, rho_limit = budget.rho_limit,
           accountant = budget.accountant, smallest_charge = budget.smallest_charge, neighbours = budget.neighbours,
           every = budget.every, period_start = budget.period_start, epsilon_before = budget.epsilon_before,
           delta_before = budget.delta_before, rho_before = budget.rho_before, revoked = false
     WHERE b.role = grantee;
  ELSE
    UPDATE dpquantile.budget AS b SET neighbours = budget.neighbours WHERE b.role = grantee;
    UPDATE dpquantile.table_budget AS t
       SET epsilon_limit = budget.epsilon_limit, delta_limit = budget.delta_limit, rho_limit = budget.rho_limit,
           accountant = budget.accountant, smallest_charge = budget.smallest_charge,
           every = budget.every, period_start = budget.period_start, epsilon_before = budget.epsilon_before,
           delta_before = budget.delta_before, rho_before = budget.rho_before, revoked = false
     WHERE t.role = grantee AND t.relation = dp_grant_budget.on_table;
  END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_grant_budget(regrole, float8, float8, text, float8, text, interval, regclass) IS
  'Sets the limit of a role''s privacy budget. role: an existing role; epsilon: total limit, above 0 and at most '
  '1e30; delta: total limit, 0 or more and below 1 (default: the old value, at first 0; with accountant pure only dp_iqr spends delta); '
  'accountant: ''pure'' adds epsilons and deltas; ''zcdp'' adds rhos and answers while their sum implies (epsilon, '
  'delta)-differential privacy, which allows many more small queries and needs a delta above 0 (default: the old '
  'value, at first pure); smallest_charge: a query of the role with a smaller charge is refused, in epsilon with pure '
  'and in rho with zcdp, positive and at most the limit (default: a millionth of the new limit); neighbours: ''add or remove'' '
  'charges each query for the neighbours of its own guarantee; ''replace'' charges each query for replacing the value of one '
  'row, which moves it to another group if a key depends on it, and promises the limit for that, whatever the role asks '
  '(default: the old one, at first add or remove). A budget of '
  'which something is spent keeps its neighbours. every: ''1 day'', ''1 week'', ''1 month'' or ''1 year'': the limits are for each such '
  'period of the calendar in UTC, a week from Monday, so all answers of k periods together have the privacy loss k times epsilon and k '
  'times delta, without an end (default: the old value, at first for ever, also after a revocation). Until the first period of a new '
  'calendar begins, all that was ever spent counts. on_table: a protected table: the limit is for what private access to the '
  'table answers, beside the general budget of the role, if it has one; a query is charged to both, and must fit in both (default: the '
  'general budget). The earlier spending '
  'of the role still counts, also if the role was renamed, dropped and created again under any of its names; then '
  'everything counts that was ever charged to a budget of one of these names. The same holds for tables. For the data owner: the limit is '
  'the privacy loss that all answers to the role together may reach, or with every those of one period.';
