CREATE OR REPLACE VIEW dpquantile.present_budget WITH (security_barrier) AS
  SELECT b.role, i.relation, b.revoked, b.accountant, b.neighbours, b.smallest_charge, b.has_rho_alone,
         b.epsilon_limit, b.delta_limit, b.rho_limit, b.charged_delta,
         dpquantile.spent_at(statement_timestamp(), b.every, b.period_start, b.epsilon_spent, b.epsilon_before) AS epsilon_spent,
         dpquantile.spent_at(statement_timestamp(), b.every, b.period_start, b.delta_spent, b.delta_before) AS delta_spent,
         dpquantile.spent_at(statement_timestamp(), b.every, b.period_start, b.rho_spent, b.rho_before) AS rho_spent,
         b.epsilon_spent AS epsilon_ever, b.delta_spent AS delta_ever, b.converted_delta,
         b.every, greatest(b.period_start, dpquantile.period_start(b.every, statement_timestamp())) AS period_start
    FROM dpquantile.budget b LEFT JOIN dpquantile.table_identity i USING (table_id)
   WHERE b.table_id IS NULL OR i.relation IS NOT NULL;
COMMENT ON VIEW dpquantile.present_budget IS
  'The general budgets (relation is NULL) and those for tables, with what is spent in the present period, as the next charge finds them; '
  'epsilon_ever and delta_ever: what was ever spent.';

CREATE OR REPLACE FUNCTION dpquantile.has_revoked_budget(role oid, relation regclass) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT EXISTS (SELECT FROM dpquantile.budget b JOIN dpquantile.table_identity i USING (table_id)
                    WHERE b.role = has_revoked_budget.role AND i.relation = has_revoked_budget.relation AND b.revoked);
  END;
COMMENT ON FUNCTION dpquantile.has_revoked_budget(oid, regclass) IS 'What is_closed_table does.';

CREATE OR REPLACE FUNCTION dpquantile.exceeded_budget(role oid, relation regclass, epsilon float8, delta float8, rho float8) RETURNS text
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT coalesce((SELECT CASE WHEN b.accountant = 'pure' AND exceeded_budget.epsilon::numeric > b.epsilon_limit - b.epsilon_spent
                                 THEN 'epsilon ' || trim_scale(greatest(b.epsilon_limit - b.epsilon_spent, 0))
                                 WHEN b.accountant = 'zcdp' AND exceeded_budget.rho::numeric > b.rho_limit - b.rho_spent
                                 THEN 'rho ' || trim_scale(greatest(b.rho_limit - b.rho_spent, 0))
                                 WHEN exceeded_budget.delta::numeric > d.charged - b.delta_spent
                                 THEN 'delta ' || trim_scale(greatest(d.charged - b.delta_spent, 0)) END
                       FROM dpquantile.present_budget b
                      CROSS JOIN LATERAL (SELECT dpquantile.delta_to_charge(b.accountant, b.delta_limit, b.charged_delta) AS charged) d
                      WHERE b.role = exceeded_budget.role AND b.relation IS NOT DISTINCT FROM exceeded_budget.relation AND NOT b.revoked
                        AND b.neighbours = 'add or remove'), '');
  END;
COMMENT ON FUNCTION dpquantile.exceeded_budget(oid, regclass, float8, float8, float8) IS
  'role: that is charged; relation: a protected table, or NULL for the general budget; epsilon, delta, rho: what charges cost together, NULL where it is unknown. What is left of the budget, if that is less; '
  'else, and of budgets for replacing a value, which charge other amounts, an empty text. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.is_closed_table(role oid, relation regclass) RETURNS boolean
  LANGUAGE C STABLE STRICT PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dpq_is_closed_table';
COMMENT ON FUNCTION dpquantile.is_closed_table(oid, regclass) IS
  'role: that is charged; relation: a protected table. Whether the budget of the role for the table has been revoked. Tells a role its own '
  'budgets only, the owner of the extension all. Tells nothing about any data.';

CREATE OR REPLACE VIEW @extschema@.dp_budget WITH (security_barrier) AS
  SELECT b.role::text AS role,
         trim_scale(b.epsilon_limit) AS epsilon_limit,
         e.epsilon_spent,
         trim_scale(greatest(b.epsilon_limit - e.epsilon_spent, 0)) AS epsilon_remaining,
         trim_scale(b.delta_limit) AS delta_limit,
         trim_scale(d.converting + b.delta_spent) AS delta_spent,
         trim_scale(greatest(b.delta_limit - d.converting - b.delta_spent, 0)) AS delta_remaining,
         b.accountant,
         trim_scale(b.rho_limit) AS rho_limit,
         CASE WHEN b.delta_ever <= b.converted_delta THEN trim_scale(b.rho_spent) END AS rho_spent,
         CASE WHEN b.rho_limit IS NOT NULL THEN trim_scale(greatest(b.rho_limit - b.rho_spent, 0)) END AS rho_remaining,
         CASE WHEN NOT b.has_rho_alone THEN trim_scale(b.epsilon_ever) END AS epsilon_sum,
         trim_scale(b.smallest_charge) AS smallest_charge,
         b.neighbours,
         CASE b.every WHEN 'quarter' THEN '3 months' ELSE '1 ' || b.every END AS every,
         dpquantile.period_end(b.every, b.period_start) AS renewed_at,
         b.relation AS on_table,
         CASE b.accountant WHEN 'zcdp' THEN trim_scale(b.charged_delta) END AS charged_delta,
         p.epsilon AS published_epsilon,
         p.delta AS published_delta
    FROM dpquantile.present_budget b
    LEFT JOIN dpquantile.published_spending p ON p.relation = b.relation
   CROSS JOIN LATERAL (SELECT b.delta_limit - dpquantile.delta_to_charge(b.accountant, b.delta_limit, b.charged_delta) AS converting) d
   CROSS JOIN LATERAL (SELECT dpquantile.total_epsilon(b.accountant, b.epsilon_spent, b.rho_spent, b.epsilon_limit, d.converting,
                                                       b.rho_limit) AS epsilon_spent) e
   WHERE NOT b.revoked
     AND (b.role = dpquantile.charged_role() OR dpquantile.sees_all_budgets()
          OR pg_has_role(current_user, (SELECT c.relowner FROM pg_class c WHERE c.oid = b.relation), 'USAGE'));
COMMENT ON VIEW @extschema@.dp_budget IS
  'Privacy budgets: limit, spent and remaining (epsilon, delta), for ever, or in the present period if the budget is renewed. The '
  'accountant adds up the charges: pure adds '
  'epsilons and deltas, zcdp adds rhos and converts their sum. A role sees its own budget and the budgets for tables that it owns, the owner of the '
  'extension sees all budgets. The view shows charges only; their number can depend on the data of a query (docs/privacy.md).';
COMMENT ON COLUMN @extschema@.dp_budget.role IS 'The role that spends it, as SQL writes its name, so that role::regrole is the role.';
COMMENT ON COLUMN @extschema@.dp_budget.epsilon_limit IS 'What dp_grant_budget granted.';
COMMENT ON COLUMN @extschema@.dp_budget.epsilon_spent IS
  'With accountant pure the sum of the charges; with zcdp the epsilon that rho_spent implies at delta_limit less charged_delta, '
  'rounded up.';
COMMENT ON COLUMN @extschema@.dp_budget.epsilon_remaining IS
  'epsilon_limit - epsilon_spent. With accountant zcdp a query of that epsilon may not fit, and many smaller queries '
  'may fit: rho_remaining decides, and dp_budget_fits gives the number.';
COMMENT ON COLUMN @extschema@.dp_budget.delta_limit IS 'What dp_grant_budget granted.';
COMMENT ON COLUMN @extschema@.dp_budget.delta_spent IS
  'The sum of the charges; with zcdp also the part of delta_limit at which rho is converted to epsilon. '
  'epsilon_spent holds with this delta.';
COMMENT ON COLUMN @extschema@.dp_budget.delta_remaining IS 'delta_limit - delta_spent: what charges may still spend of it.';
COMMENT ON COLUMN @extschema@.dp_budget.accountant IS 'How charges add up: pure or zcdp.';
COMMENT ON COLUMN @extschema@.dp_budget.rho_limit IS
  'With accountant zcdp, the limit in rho that follows from epsilon_limit and delta_limit less charged_delta; else NULL.';
COMMENT ON COLUMN @extschema@.dp_budget.rho_spent IS
  'The sum of the rhos of the charges, under either accountant; NULL if a build before 0.3.0 made a charge with a delta, which had none.';
COMMENT ON COLUMN @extschema@.dp_budget.rho_remaining IS
  'With accountant zcdp, rho_limit - rho_spent: a query is answered if its rho is not larger; else NULL.';
COMMENT ON COLUMN @extschema@.dp_budget.epsilon_sum IS
  'The sum of the epsilons of all charges ever, under either accountant; NULL if a charge was stated in rho alone.';
COMMENT ON COLUMN @extschema@.dp_budget.smallest_charge IS
  'A query with a smaller charge is refused. In epsilon with accountant pure, in rho with zcdp.';
COMMENT ON COLUMN @extschema@.dp_budget.neighbours IS
  'What limits and spending are for. add or remove: each query is charged for the neighbours of its own guarantee. replace: each '
  'query is charged for replacing the value of one row.';
COMMENT ON COLUMN @extschema@.dp_budget.every IS
  'The limits are for each such period of the calendar in UTC: 1 day, 1 week (from Monday), 1 month, 3 months (from January) or 1 year; NULL if they are for ever.';
COMMENT ON COLUMN @extschema@.dp_budget.renewed_at IS
  'When the next period begins, in which nothing is spent yet; NULL if the budget is for ever.';
COMMENT ON COLUMN @extschema@.dp_budget.on_table IS
  'The protected table that the budget is for; NULL for the general budget of the role, which each query is charged to. Compare it with ''visits''::regclass.';
COMMENT ON COLUMN @extschema@.dp_budget.charged_delta IS
  'With accountant zcdp, what dp_grant_budget granted of delta_limit to charges with a delta of their own; else NULL.';
COMMENT ON COLUMN @extschema@.dp_budget.published_epsilon IS
  'What all that is published of the table in on_table costs together (dp_learn_domain, dp_learn_keys, dp_learn_limits, dp_learn_groups): for every role, beside what it spends. NULL if nothing is, and '
  'in the row of the general budget: it pays for any table, and dp_protected_tables shows what is published of each.';
COMMENT ON COLUMN @extschema@.dp_budget.published_delta IS 'The delta that this costs besides.';
