-- A restore or a failover may lose charges, and a copy of the database has charges that this one lacks.
CREATE OR REPLACE FUNCTION dpquantile.check_added_charge(epsilon numeric, delta numeric, rho numeric) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NOT coalesce(coalesce(epsilon, rho) BETWEEN 1e-30 AND 1e30
                  AND coalesce(rho, 1) BETWEEN 1e-30 AND 1e30, false) THEN
    RAISE EXCEPTION 'epsilon and rho must be between 1e-30 and 1e30, got % and %',
                    coalesce(left(epsilon::text, 40), 'NULL'), coalesce(left(rho::text, 40), 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'One of them may be NULL: the epsilon of queries stated in rho alone, or the rho of other queries.';
  END IF;
  IF delta <> 0 AND (delta < 0 OR delta >= 1) THEN
    RAISE EXCEPTION 'delta must be at least 0 and below 1, got %', left(delta::text, 40)
      USING ERRCODE = 'invalid_parameter_value', HINT = 'Only dp_iqr and dp_keep_group spend delta.';
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.check_added_charge(numeric, numeric, numeric) IS
  'The amounts of dp_add_charge. An error if they are no charge.';

CREATE OR REPLACE FUNCTION dpquantile.check_accountants(role regrole, on_table regclass, epsilon numeric) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  counted record;
BEGIN
  FOR counted IN
    SELECT b.relation, b.accountant FROM dpquantile.present_budget b
     WHERE b.role = check_accountants.role AND NOT b.revoked AND (b.relation IS NULL OR b.relation = check_accountants.on_table)
       AND b.accountant = 'pure' AND check_accountants.epsilon IS NULL
     ORDER BY b.relation NULLS FIRST
  LOOP
    RAISE EXCEPTION 'accountant % of role % cannot add a charge without an epsilon', counted.accountant,
                    check_accountants.role || coalesce(' for table ' || counted.relation, '')
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Revoke the budget first with dp_revoke_budget. A later grant chooses the accountant.';
  END LOOP;
END
$$;
COMMENT ON FUNCTION dpquantile.check_accountants(regrole, regclass, numeric) IS
  'role, on_table: whose budgets a charge counts in; epsilon: of the charge. An error if an accountant cannot add it.';

CREATE OR REPLACE FUNCTION dpquantile.add_to_budgets(charged regrole, on_table regclass, added_epsilon numeric, added_delta numeric, added_rho numeric,
                                                     added_at timestamptz) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  -- It counts in the present period, whichever period the latest charge belongs to.
  UPDATE dpquantile.budget b
     SET epsilon_spent = b.epsilon_spent + coalesce(added_epsilon, 0), delta_spent = b.delta_spent + added_delta,
         rho_spent = b.rho_spent + added_rho, converted_delta = b.converted_delta + added_delta, has_rho_alone = b.has_rho_alone OR added_epsilon IS NULL,
         epsilon_before = dpquantile.before_at(added_at, b.every, b.period_start, b.epsilon_spent, b.epsilon_before),
         delta_before = dpquantile.before_at(added_at, b.every, b.period_start, b.delta_spent, b.delta_before),
         rho_before = dpquantile.before_at(added_at, b.every, b.period_start, b.rho_spent, b.rho_before),
         period_start = greatest(b.period_start, dpquantile.period_start(b.every, added_at)),
         charges = b.charges + 1
   WHERE b.role = charged
     AND (b.table_id IS NULL OR b.table_id = (SELECT i.table_id FROM dpquantile.table_identity i WHERE i.relation = add_to_budgets.on_table));
END
$$;
COMMENT ON FUNCTION dpquantile.add_to_budgets(regrole, regclass, numeric, numeric, numeric, timestamptz) IS
  'The charge of dp_add_charge, in the general budget of the role and in that for the table, of which the first is locked.';

CREATE OR REPLACE FUNCTION dpquantile.budget_to_charge(charged regrole) RETURNS dpquantile.budget
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  budget dpquantile.budget;
BEGIN
  SELECT * INTO budget FROM dpquantile.budget b WHERE b.role = charged AND b.table_id IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role % has no privacy budget', coalesce(charged::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Grant one first with dp_grant_budget.';
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = charged) THEN
    RAISE EXCEPTION 'role % has been dropped', charged
      USING ERRCODE = 'undefined_object',
            HINT = 'Create a role with the last name that the ledger has for it, and grant it a budget: the budget starts with '
                   'the spending of the dropped role.';
  END IF;
  RETURN budget;
END
$$;
COMMENT ON FUNCTION dpquantile.budget_to_charge(regrole) IS 'charged: of dp_add_charge. Its general budget, locked. An error if there is none, or no role.';

CREATE OR REPLACE FUNCTION @extschema@.dp_add_charge(role regrole, epsilon numeric, delta numeric DEFAULT 0, rho numeric DEFAULT NULL,
                                                     note text DEFAULT NULL, on_table regclass DEFAULT NULL)
  RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  charged CONSTANT regrole := dp_add_charge.role;
  name_now CONSTANT name := (SELECT r.rolname FROM pg_roles r WHERE r.oid = dp_add_charge.role);
  added_epsilon numeric := dp_add_charge.epsilon;
  added_delta numeric := coalesce(dp_add_charge.delta, 0);
  added_rho numeric;
  budget dpquantile.budget;
  added_at CONSTANT timestamptz := clock_timestamp();
  text_hash bytea;
BEGIN
  PERFORM dpquantile.check_version();
  PERFORM dpquantile.check_added_charge(added_epsilon, added_delta, dp_add_charge.rho);
  PERFORM dpquantile.require_protected(dp_add_charge.on_table);
  IF octet_length(dp_add_charge.note) > 2048 THEN
    RAISE EXCEPTION 'note must have at most 2048 bytes, got %', octet_length(dp_add_charge.note)
      USING ERRCODE = 'invalid_parameter_value', HINT = 'The ledger cuts the texts of queries at this length.';
  END IF;
  -- Each later charge computes with the sums, so their digits are bounded. Upwards: no spending is forgotten.
  added_epsilon := ceil(added_epsilon * 1e50) * 1e-50;
  added_delta := ceil(added_delta * 1e50) * 1e-50;
  -- Answers that are (epsilon, delta)-differentially private together are delta-approximately epsilon^2/2-zCDP.
  added_rho := ceil(coalesce(dp_add_charge.rho, added_epsilon * added_epsilon / 2) * 1e50) * 1e-50;
  budget := dpquantile.budget_to_charge(charged);
  PERFORM dpquantile.check_accountants(charged, dp_add_charge.on_table, added_epsilon);
  PERFORM dpquantile.add_to_budgets(charged, dp_add_charge.on_table, added_epsilon, added_delta, added_rho, added_at);
  PERFORM dpquantile.note_table_name(dp_add_charge.on_table);
  IF dp_add_charge.note IS NOT NULL THEN
    text_hash := sha256(convert_to(dp_add_charge.note, getdatabaseencoding()));
    INSERT INTO dpquantile.query_text (budget_id, query_hash, query) VALUES (budget.budget_id, text_hash, dp_add_charge.note)
    ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO dpquantile.ledger (budget_id, number, role_name, session_role_name, function, mechanism, neighbours, epsilon,
                                 delta, rho, accountant, grouping_sets, query_hash, tables, table_ids)
  VALUES (budget.budget_id, budget.charges + 1, name_now, session_user, 'dp_add_charge', 'none',
          CASE budget.neighbours WHEN 'replace' THEN 'replace the value of one row' ELSE 'unknown' END, added_epsilon, added_delta, added_rho,
          budget.accountant, 1, text_hash,
          CASE WHEN dp_add_charge.on_table IS NOT NULL THEN ARRAY[dpquantile.name_of_table(dp_add_charge.on_table)] END,
          (SELECT ARRAY[i.table_id] FROM dpquantile.table_identity i WHERE i.relation = dp_add_charge.on_table));
END
$$;
COMMENT ON FUNCTION @extschema@.dp_add_charge(regrole, numeric, numeric, numeric, text, regclass) IS
  'Adds a charge to the budget of a role, for answers that this database does not know of: they were charged in a copy of '
  'the database, or a restore or a failover has lost their charges. role: a role with a budget, also a revoked one; '
  'epsilon: what the answers have spent together, for the neighbours of the budget, or NULL if they were stated in rho alone (in a budget with neighbours '
  'replace, answers of which only an epsilon and a delta for adding or removing a row are known spend 2 epsilon and (1 + e^epsilon) delta); '
  'delta: likewise, 0 or '
  'more and below 1 (default: 0); rho: likewise (default: half the square of epsilon, which is '
  'enough for answers that have an epsilon); note: what the ledger shows as the query, also to the role, at most 2048 bytes; on_table: the '
  'protected table whose rows were asked about, so that the charge counts in the budget for it, too (default: none). '
  'Amounts are rounded up to 50 decimals. The spending may exceed the limit; then the role gets no more answers, of a renewed '
  'budget none in the present period. For the owner of the extension.';
