CREATE OR REPLACE FUNCTION @extschema@.dp_budget_fits(epsilon float8, on_table regclass)
  RETURNS TABLE (role text, accountant text, query text, rho_each numeric, fits bigint)
  LANGUAGE sql STABLE PARALLEL RESTRICTED
  BEGIN ATOMIC
    SELECT b.role, (array_agg(b.accountant ORDER BY b.on_table IS NULL))[1], k.title, trim_scale(min(c.rho)),
           min(CASE WHEN NOT dpquantile.is_closed_table(b.role::regrole, dp_budget_fits.on_table) IS TRUE
                         AND dpquantile.verdict(b.accountant, b.smallest_charge, b.delta_limit, b.epsilon_limit - b.epsilon_spent,
                                                b.delta_limit - b.delta_spent, b.rho_remaining,
                                                epsilon => c.epsilon, delta => 0, rho => c.rho,
                                                least_epsilon => c.epsilon, least_rho => c.rho) = 'fits'
                    THEN least(CASE b.accountant WHEN 'zcdp' THEN div(b.rho_remaining, c.rho) ELSE div(b.epsilon_remaining, c.epsilon) END,
                               9223372036854775807)
                    ELSE 0 END)::bigint
      FROM @extschema@.dp_budget b
     CROSS JOIN (VALUES (1, 'one quantile', 'one quantile'),
                        (2, 'nine quantiles', 'nine quantiles in one call, default method'),
                        (3, 'nine quantiles, auto', 'nine quantiles in one call, method auto'),
                        (4, 'dp_cdf', 'dp_cdf with default options'),
                        (5, 'other', 'any other without delta')) AS k (number, query, title)
     CROSS JOIN LATERAL (SELECT dpquantile.charged_rho(k.query, dp_budget_fits.epsilon, b.neighbours) AS rho,
                                dpquantile.charged_epsilon(k.query, dp_budget_fits.epsilon, b.neighbours) AS epsilon
                         OFFSET 0) AS c -- computed once
     WHERE dp_budget_fits.epsilon IS NOT NULL AND (b.role::regrole = dpquantile.charged_role() OR dpquantile.sees_all_budgets()) AND (b.on_table IS NULL OR b.on_table = dp_budget_fits.on_table)
     GROUP BY b.role, k.number, k.title
     ORDER BY b.role, k.number;
  END;
COMMENT ON FUNCTION @extschema@.dp_budget_fits(float8, regclass) IS
  'The number of further queries of rows of a protected table that the budgets pay for: the role''s budget for the table and its general '
  'budget, whichever pays for fewer. epsilon: the epsilon of each query, from 1e-6 to 1000; on_table: the table, or NULL for the general '
  'budget alone. One row for each kind of query, as dp_budget_fits(epsilon) has them: role; accountant: that of the budget for the table, if '
  'there is one; query; rho_each; fits, 0 below a smallest charge, and if the budget for the table has been revoked. Reads no data and costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_budget_fits(epsilon float8)
  RETURNS TABLE (role text, accountant text, query text, rho_each numeric, fits bigint)
  LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
  BEGIN ATOMIC
    SELECT * FROM @extschema@.dp_budget_fits(dp_budget_fits.epsilon, NULL::regclass);
  END;
COMMENT ON FUNCTION @extschema@.dp_budget_fits(float8) IS
  'The number of further queries that the general budget pays for. epsilon: the epsilon of each query, from 1e-6 to 1000. One '
  'row for each kind of query: role; accountant; query; rho_each: the rho that accountant zcdp charges for one query; '
  'fits: the number of queries that fit if the role asks nothing else, 0 below the smallest charge. If the budget is for '
  'replacing a value, one quantile is the median and any other query the dearest. dp_iqr with '
  'method propose-test-release has a delta and is not included. A role sees its own budget, the owner of the '
  'extension sees all budgets. Reads no data and costs no budget.';
