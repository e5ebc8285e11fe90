CREATE OR REPLACE FUNCTION dpquantile.check_budget_terms(role regrole, epsilon float8, delta float8, accountant text, neighbours text,
                                                         charged_delta float8) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  IF check_budget_terms.role IS NULL OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = check_budget_terms.role) THEN
    RAISE EXCEPTION 'role must be an existing role, got %', coalesce(check_budget_terms.role::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Create it first: CREATE ROLE analyst LOGIN.';
  END IF;
  -- dp_add_charge takes no more at once.
  IF NOT coalesce(check_budget_terms.epsilon > 0 AND check_budget_terms.epsilon <= 1e30, false) THEN
    RAISE EXCEPTION 'epsilon must be above 0 and at most 1e30, got %', coalesce(check_budget_terms.epsilon::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'To take a budget away, use dp_revoke_budget.';
  END IF;
  IF check_budget_terms.delta < 0 OR check_budget_terms.delta >= 1 THEN
    RAISE EXCEPTION 'delta must be at least 0 and less than 1, got %', check_budget_terms.delta
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A useful delta is far below one over the number of rows, or 0.';
  END IF;
  IF check_budget_terms.accountant NOT IN ('pure', 'zcdp') THEN
    RAISE EXCEPTION 'accountant must be pure or zcdp, got %', check_budget_terms.accountant
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'pure adds epsilons; zcdp adds rhos, so many small queries cost much less.';
  END IF;
  IF check_budget_terms.neighbours NOT IN ('add or remove', 'replace') THEN
    RAISE EXCEPTION 'neighbours must be "add or remove" or "replace", got "%"', check_budget_terms.neighbours
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'replace promises the limit for replacing the value of one row, whatever the role asks.';
  END IF;
  IF NOT (check_budget_terms.charged_delta >= 0 AND check_budget_terms.charged_delta < 1) THEN
    RAISE EXCEPTION 'charged_delta must be at least 0 and less than delta, got %', check_budget_terms.charged_delta
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'It is the part of delta that charges may spend; accountant zcdp converts rho to epsilon at the rest.';
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.check_budget_terms(regrole, float8, float8, text, text, float8) IS
  'The arguments of dp_grant_budget. An error for the first that no budget can have.';

CREATE OR REPLACE FUNCTION dpquantile.calendar_of(every interval) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres
AS $$
#variable_conflict use_column
DECLARE
  -- By its text: PostgreSQL takes 30 days for equal to a month.
  calendar CONSTANT text := CASE calendar_of.every::text WHEN '1 day' THEN 'day' WHEN '7 days' THEN 'week'
                                                         WHEN '1 mon' THEN 'month' WHEN '3 mons' THEN 'quarter'
                                                         WHEN '1 year' THEN 'year' END;
BEGIN
  IF calendar_of.every IS NOT NULL AND calendar IS NULL THEN
    RAISE EXCEPTION 'every must be 1 day, 1 week, 1 month, 3 months or 1 year, got %', calendar_of.every
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'The budget begins anew with each day, week (on Monday), month, quarter or year of the calendar in UTC.';
  END IF;
  RETURN calendar;
END
$$;
COMMENT ON FUNCTION dpquantile.calendar_of(interval) IS
  'every: of dp_grant_budget. The unit of date_trunc that it stands for, NULL for NULL; another interval is an error.';

CREATE OR REPLACE FUNCTION dpquantile.require_protected(on_table regclass) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  IF require_protected.on_table IS NOT NULL
     AND NOT EXISTS (SELECT FROM dpquantile.protected_table t WHERE t.relation = require_protected.on_table) THEN
    RAISE EXCEPTION 'on_table must be a protected table, got %', require_protected.on_table
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('Its owner protects it: SELECT dp_protect_table(%L).', require_protected.on_table);
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.require_protected(regclass) IS
  'on_table: of dp_grant_budget and dp_add_charge. An error, unless it is a protected table or NULL.';

CREATE OR REPLACE FUNCTION dpquantile.locked_budget(role regrole) RETURNS dpquantile.budget
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  general dpquantile.budget;
  name_now name;
BEGIN
  -- A new row starts with the earlier spending under this name: a restore without some roles may have
  -- lost the row, or the role may have been dropped and created again. The row has no terms yet, like
  -- a revoked budget.
  SELECT r.rolname INTO name_now FROM pg_roles r WHERE r.oid = locked_budget.role;
  PERFORM dpquantile.note_role_names();
  IF NOT EXISTS (SELECT FROM dpquantile.budget b WHERE b.role = locked_budget.role AND b.table_id IS NULL) THEN
    INSERT INTO dpquantile.budget
           (role, epsilon_limit, epsilon_spent, delta_limit, delta_spent, rho_spent, has_rho_alone, smallest_charge, revoked,
            neighbours, converted_delta)
    SELECT locked_budget.role, 0, s.epsilon, 0, s.delta, s.rho, s.has_rho_alone, 0, true, s.neighbours, s.converted_delta
      FROM dpquantile.earlier_spending(name_now) s
    ON CONFLICT ON CONSTRAINT budget_of_role DO NOTHING;
  END IF;
  SELECT * INTO STRICT general FROM dpquantile.budget b WHERE b.role = locked_budget.role AND b.table_id IS NULL FOR UPDATE;
  INSERT INTO dpquantile.budget_name (budget_id, role_name) VALUES (general.budget_id, name_now)
  ON CONFLICT ON CONSTRAINT budget_name_pkey DO NOTHING;
  RETURN general;
END
$$;
COMMENT ON FUNCTION dpquantile.locked_budget(regrole) IS
  'role: an existing role. Its general budget, locked. A role without one gets it, with what was spent under its name.';

CREATE OR REPLACE FUNCTION dpquantile.locked_terms(general dpquantile.budget, on_table regclass) RETURNS dpquantile.budget
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked uuid;
  budget dpquantile.budget;
BEGIN
  IF locked_terms.on_table IS NULL THEN
    RETURN locked_terms.general;
  END IF;
  PERFORM dpquantile.require_protected(locked_terms.on_table);
  PERFORM dpquantile.note_table_name(locked_terms.on_table);
  SELECT i.table_id INTO STRICT asked FROM dpquantile.table_identity i WHERE i.relation = locked_terms.on_table;
  -- Likewise a new row for a table, with the earlier spending under this name on tables that are connected with it.
  INSERT INTO dpquantile.budget
         (role, table_id, epsilon_limit, epsilon_spent, delta_limit, delta_spent, rho_spent, has_rho_alone, smallest_charge, revoked,
          neighbours, converted_delta)
  SELECT general.role, asked, 0, s.epsilon, 0, s.delta, s.rho, s.has_rho_alone, 0, true,
         CASE WHEN s.epsilon > 0 OR s.delta > 0 OR s.rho > 0 THEN s.neighbours ELSE general.neighbours END, s.converted_delta
    -- The subquery runs once. PostgreSQL would put the function itself beside each row of the ledger.
    FROM dpquantile.earlier_spending(
           (SELECT r.rolname FROM pg_roles r WHERE r.oid = general.role), (SELECT dpquantile.connected_tables(locked_terms.on_table))) s
   WHERE NOT EXISTS (SELECT FROM dpquantile.budget b WHERE b.role = general.role AND b.table_id = asked)
  ON CONFLICT ON CONSTRAINT budget_of_role DO NOTHING;
  SELECT * INTO STRICT budget FROM dpquantile.budget b WHERE b.role = general.role AND b.table_id = asked FOR UPDATE;
  RETURN budget;
END
$$;
COMMENT ON FUNCTION dpquantile.locked_terms(dpquantile.budget, regclass) IS
  'general: of locked_budget; on_table: a protected table or NULL. The budget that a grant changes: general, or that for the table, '
  'locked, which is made if there is none.';

CREATE OR REPLACE FUNCTION dpquantile.in_calendar(terms dpquantile.budget, calendar text) RETURNS dpquantile.budget
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  changed dpquantile.budget := in_calendar.terms;
BEGIN
  changed.every := coalesce(in_calendar.calendar, CASE WHEN NOT changed.revoked THEN changed.every END);
  -- What was spent before the period is not known for another calendar, so everything counts until the next period.
  IF changed.every IS DISTINCT FROM terms.every THEN
    changed.epsilon_before := 0;
    changed.delta_before := 0;
    changed.rho_before := 0;
    changed.period_start := CASE WHEN changed.every IS NOT NULL
                                THEN greatest(changed.period_start, dpquantile.period_start(changed.every, clock_timestamp())) END;
  END IF;
  RETURN changed;
END
$$;
COMMENT ON FUNCTION dpquantile.in_calendar(dpquantile.budget, text) IS
  'terms: of a grant; calendar: of calendar_of. The terms with this period; NULL leaves the one they have.';

CREATE OR REPLACE FUNCTION dpquantile.neighbours_of_grant(general dpquantile.budget, neighbours text, on_table regclass) RETURNS text
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  charged text;
  granted text;
BEGIN
  -- All budgets of the role have the same neighbours. What is spent, perhaps under an earlier role of this name, cannot be counted for others.
  SELECT max(b.neighbours) INTO charged
    FROM dpquantile.budget b
   WHERE b.role = general.role AND (b.epsilon_spent > 0 OR b.delta_spent > 0 OR b.rho_spent > 0);
  granted := coalesce(neighbours_of_grant.neighbours,
                      CASE WHEN general.revoked AND neighbours_of_grant.on_table IS NULL
                                AND NOT EXISTS (SELECT FROM dpquantile.present_budget b WHERE b.role = general.role AND NOT b.revoked)
                           THEN coalesce(charged, 'add or remove') ELSE general.neighbours END);
  IF EXISTS (SELECT FROM dpquantile.budget b
              WHERE b.role = general.role AND b.neighbours <> granted AND (b.epsilon_spent > 0 OR b.delta_spent > 0 OR b.rho_spent > 0)) THEN
    RAISE EXCEPTION 'role % cannot have neighbours "%": it has been charged for "%"', general.role, granted,
                    CASE granted WHEN 'replace' THEN 'add or remove' ELSE 'replace' END
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'The same answers cost other amounts for other neighbours.',
            HINT = CASE WHEN neighbours_of_grant.neighbours IS NULL THEN 'Grant a budget to a new role.'
                        ELSE 'Leave neighbours out, or grant a budget to a new role.' END;
  END IF;
  RETURN granted;
END
$$;
COMMENT ON FUNCTION dpquantile.neighbours_of_grant(dpquantile.budget, text, regclass) IS
  'general: of locked_budget; the others: of dp_grant_budget. What all limits and spending of the role are for after the grant.';

CREATE OR REPLACE FUNCTION dpquantile.charged_delta_of_grant(had dpquantile.budget, terms dpquantile.budget, charged_delta float8) RETURNS numeric
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF terms.accountant <> 'zcdp' AND charged_delta_of_grant.charged_delta IS NOT NULL THEN
    RAISE EXCEPTION 'charged_delta is for accountant zcdp; that of role % is %', terms.role, terms.accountant
      USING ERRCODE = 'invalid_parameter_value', HINT = 'With accountant pure charges may spend all of delta. Leave charged_delta out.';
  END IF;
  RETURN CASE WHEN terms.accountant = 'zcdp'
              THEN coalesce(dpquantile.decimal(charged_delta_of_grant.charged_delta), CASE WHEN NOT had.revoked THEN had.charged_delta END, 0)
              ELSE 0 END;
END
$$;
COMMENT ON FUNCTION dpquantile.charged_delta_of_grant(dpquantile.budget, dpquantile.budget, float8) IS
  'had, terms: of a budget, before and after a grant; charged_delta: of dp_grant_budget. What charges may spend of delta by accountant zcdp.';

CREATE OR REPLACE FUNCTION dpquantile.check_charged_delta(terms dpquantile.budget) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  spent CONSTANT numeric := dpquantile.spent_at(clock_timestamp(), terms.every, terms.period_start, terms.delta_spent, terms.delta_before);
BEGIN
  IF terms.charged_delta >= terms.delta_limit THEN
    RAISE EXCEPTION 'charged_delta must be less than delta, which is %, got %', trim_scale(terms.delta_limit), trim_scale(terms.charged_delta)
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Accountant zcdp converts rho to epsilon at the rest of delta. Half of it is a good choice.';
  END IF;
  IF terms.delta_spent > terms.converted_delta THEN
    RAISE EXCEPTION 'role % cannot have accountant zcdp: it has been charged delta % by a build before 0.3.0', terms.role,
                    trim_scale(terms.delta_spent - terms.converted_delta)
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'Such a charge has no rho.',
            HINT = 'Grant with accountant pure.';
  END IF;
  IF spent > terms.charged_delta THEN
    RAISE EXCEPTION 'charged_delta of role % must be at least the delta that it has been charged, %, got %', terms.role,
                    trim_scale(spent), trim_scale(terms.charged_delta)
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('For example: dp_grant_budget(%L, %s, %s, %L, charged_delta => %s).', terms.role, trim_scale(terms.epsilon_limit),
                          trim_scale(greatest(terms.delta_limit, 2 * spent)), 'zcdp', trim_scale(spent));
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.check_charged_delta(dpquantile.budget) IS
  'terms: of a grant with accountant zcdp. An error if its charged_delta leaves nothing to convert rho, or is less than is spent.';

CREATE OR REPLACE FUNCTION dpquantile.rho_limit_of_grant(terms dpquantile.budget, epsilon float8) RETURNS numeric
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  rho_limit numeric;
BEGIN
  IF terms.accountant = 'zcdp' THEN
    IF terms.delta_limit = 0 THEN
      RAISE EXCEPTION 'accountant zcdp needs a delta above 0, got 0'
        USING ERRCODE = 'invalid_parameter_value',
              HINT = format('It converts rho to epsilon at that delta. For example: dp_grant_budget(%L, %s, 1e-6, %L), '
                            'with a delta far below one over the number of rows.',
                            terms.role, rho_limit_of_grant.epsilon, 'zcdp');
    END IF;
    PERFORM dpquantile.check_charged_delta(terms);
    rho_limit := dpquantile.rho_within(terms.epsilon_limit::float8, (terms.delta_limit - terms.charged_delta)::float8);
    IF rho_limit = 0 THEN
      RAISE EXCEPTION 'a limit of epsilon % and delta % is worth no rho', terms.epsilon_limit, terms.delta_limit - terms.charged_delta
        USING ERRCODE = 'invalid_parameter_value', HINT = 'No query would fit. Grant more epsilon or delta.';
    END IF;
  ELSIF terms.has_rho_alone THEN
    RAISE EXCEPTION 'role % cannot have accountant pure: it has been charged for queries stated in rho alone', terms.role
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'Such a query has no epsilon to add to the others.',
            HINT = format('Grant with accountant zcdp: dp_grant_budget(%L, %s, 1e-6, %L).',
                          terms.role, rho_limit_of_grant.epsilon, 'zcdp');
  END IF;
  RETURN rho_limit;
END
$$;
COMMENT ON FUNCTION dpquantile.rho_limit_of_grant(dpquantile.budget, float8) IS
  'terms: the new ones; epsilon: of dp_grant_budget. The limit in rho, NULL with accountant pure. An error if what is spent does '
  'not fit the accountant.';

CREATE OR REPLACE FUNCTION dpquantile.smallest_charge_of_grant(terms dpquantile.budget, smallest_charge float8) RETURNS numeric
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  -- The limit that the accountant compares with the sum of the charges.
  total_limit CONSTANT numeric := coalesce(terms.rho_limit, terms.epsilon_limit);
  smallest numeric;
BEGIN
  -- Computed anew if it is omitted: the old one may be an amount of what another accountant adds. A limit pays for at most a
  -- million charges then.
  smallest := coalesce(dpquantile.decimal(smallest_charge_of_grant.smallest_charge), total_limit * 1e-6);
  IF NOT (smallest > 0 AND smallest <= total_limit) THEN
    RAISE EXCEPTION 'smallest_charge must be positive and at most the limit of %, got %',
                    format('%s %s', CASE terms.accountant WHEN 'zcdp' THEN 'rho' ELSE 'epsilon' END,
                           trim_scale(total_limit)),
                    smallest_charge_of_grant.smallest_charge
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'It is in epsilon with accountant pure, in rho with zcdp. Leave it out for a millionth of the limit.';
  END IF;
  RETURN smallest;
END
$$;
COMMENT ON FUNCTION dpquantile.smallest_charge_of_grant(dpquantile.budget, float8) IS
  'terms: the new ones; smallest_charge: of dp_grant_budget. The smallest charge of the new terms.';

CREATE OR REPLACE FUNCTION dpquantile.tell_raised_charge(had dpquantile.budget, terms dpquantile.budget) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  -- A smallest charge that nobody has stated follows the limit, and matters only where it is as large as ordinary queries.
  was_stated CONSTANT boolean := had.smallest_charge <> coalesce(had.rho_limit, had.epsilon_limit) * 1e-6;
BEGIN
  IF NOT had.revoked AND had.accountant = terms.accountant AND (was_stated OR terms.accountant = 'pure' AND terms.smallest_charge > 0.01)
     AND terms.smallest_charge > had.smallest_charge THEN
    RAISE NOTICE 'the smallest charge of role % is % now; until now %', terms.role, trim_scale(terms.smallest_charge), trim_scale(had.smallest_charge)
      USING HINT = 'It is a millionth of the limit unless smallest_charge is stated, each time.';
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.tell_raised_charge(dpquantile.budget, dpquantile.budget) IS
  'had, terms: of a budget, before and after a grant that leaves smallest_charge out. A notice if a smallest charge that was stated, or that ordinary queries do not '
  'reach, has become larger.';

CREATE OR REPLACE FUNCTION dpquantile.store_terms(terms dpquantile.budget) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  UPDATE dpquantile.budget AS b
     SET epsilon_limit = terms.epsilon_limit, delta_limit = terms.delta_limit, rho_limit = terms.rho_limit,
         accountant = terms.accountant, smallest_charge = terms.smallest_charge, charged_delta = terms.charged_delta,
         every = terms.every, period_start = terms.period_start, epsilon_before = terms.epsilon_before,
         delta_before = terms.delta_before, rho_before = terms.rho_before, revoked = false
   WHERE b.budget_id = terms.budget_id;
  UPDATE dpquantile.budget AS b SET neighbours = terms.neighbours WHERE b.role = terms.role AND b.neighbours <> terms.neighbours;
END
$$;
COMMENT ON FUNCTION dpquantile.store_terms(dpquantile.budget) IS
  'terms: of a grant. Writes them into the budget, which is locked, and the neighbours into all budgets of the role.';

CREATE OR REPLACE FUNCTION @extschema@.dp_grant_budget(role regrole, epsilon float8, delta float8 DEFAULT NULL,
                                                       accountant text DEFAULT NULL, smallest_charge float8 DEFAULT NULL,
                                                       neighbours text DEFAULT NULL, every interval DEFAULT NULL,
                                                       on_table regclass DEFAULT NULL, charged_delta float8 DEFAULT NULL)
  RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres
AS $$
#variable_conflict use_column
DECLARE
  calendar text;
  -- The budget that counts all charges of the role, and the one to be changed: the same, or that for a table.
  general dpquantile.budget;
  budget dpquantile.budget;
  had dpquantile.budget;
BEGIN
  PERFORM dpquantile.check_version();
  PERFORM dpquantile.check_budget_terms(dp_grant_budget.role, dp_grant_budget.epsilon, dp_grant_budget.delta, dp_grant_budget.accountant,
                                        dp_grant_budget.neighbours, dp_grant_budget.charged_delta);
  calendar := dpquantile.calendar_of(dp_grant_budget.every);
  general := dpquantile.locked_budget(dp_grant_budget.role);
  budget := dpquantile.locked_terms(general, dp_grant_budget.on_table);
  had := budget;

  -- The new terms. An omitted argument keeps its old value, or gets its default after a revocation.
  budget.epsilon_limit := dpquantile.decimal(dp_grant_budget.epsilon);
  budget.delta_limit := coalesce(dpquantile.decimal(dp_grant_budget.delta),
                                 CASE WHEN budget.revoked THEN 0 ELSE budget.delta_limit END);
  budget.accountant := coalesce(dp_grant_budget.accountant,
                                CASE WHEN budget.revoked THEN 'pure' ELSE budget.accountant END);
  budget.charged_delta := dpquantile.charged_delta_of_grant(had, budget, dp_grant_budget.charged_delta);
  budget := dpquantile.in_calendar(budget, calendar);
  budget.neighbours := dpquantile.neighbours_of_grant(general, dp_grant_budget.neighbours, dp_grant_budget.on_table);
  budget.rho_limit := dpquantile.rho_limit_of_grant(budget, dp_grant_budget.epsilon);
  budget.smallest_charge := dpquantile.smallest_charge_of_grant(budget, dp_grant_budget.smallest_charge);
  IF dp_grant_budget.smallest_charge IS NULL THEN
    PERFORM dpquantile.tell_raised_charge(had, budget);
  END IF;
  PERFORM dpquantile.store_terms(budget);
END
$$;
COMMENT ON FUNCTION @extschema@.dp_grant_budget(regrole, float8, float8, text, float8, text, interval, regclass, float8) IS
  'Sets the limit of a role''s privacy budget. role: an existing role; epsilon: total limit, above 0 and at most '
  '1e30; delta: total limit, 0 or more and below 1 (default: the old value, at first 0; dp_iqr and dp_keep_group spend it, and accountant zcdp converts rho at it); '
  'accountant: ''pure'' adds epsilons and deltas; ''zcdp'' adds rhos and answers while their sum implies (epsilon, '
  'delta)-differential privacy, which allows many more small queries and needs a delta above 0 (default: the old '
  'value, at first pure); smallest_charge: a query of the role with a smaller charge is refused, in epsilon with pure '
  'and in rho with zcdp, positive and at most the limit (default: a millionth of the new limit, also where another was stated before, of which a notice tells); neighbours: ''add or remove'' '
  'charges each query for the neighbours of its own guarantee; ''replace'' charges each query for replacing the value of one '
  'row, which moves it to another group if a key depends on it, but leaves it and rows that refer to it with their persons, and promises the limit for that, whatever the role asks '
  '(default: the old one, at first add or remove). A budget of '
  'which something is spent keeps its neighbours. every: ''1 day'', ''1 week'', ''1 month'', ''3 months'' or ''1 year'': the limits are for each such '
  'period of the calendar in UTC, a week from Monday and 3 months from January, April, July or October, so all answers of k periods together have the privacy loss k times epsilon and k '
  'times delta, without an end (default: the old value, at first for ever, also after a revocation). Until the first period of a new '
  'calendar begins, all that was ever spent counts. on_table: a protected table: the limit is for what private access to the '
  'table answers, beside the general budget of the role, if it has one; a query is charged to both, and must fit in both (default: the '
  'general budget). charged_delta: with accountant zcdp, the part of delta that dp_keep_group and dp_iqr without bounds may spend, 0 or more '
  'and less than delta; rho is converted to epsilon at the rest, so that the limits hold for all answers together (default: the old value, at '
  'first 0, also after a revocation). The earlier spending '
  'of the role still counts, also if the role was renamed, dropped and created again under any of its names; then '
  'everything counts that was ever charged to a budget of one of these names. The same holds for tables. For the owner of the extension: the limit is '
  'the privacy loss that all answers to the role together may reach, or with every those of one period.';
