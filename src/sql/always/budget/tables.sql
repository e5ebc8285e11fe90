COMMENT ON TABLE dpquantile.budget IS
  'The privacy budgets of each role: its general budget, and those for protected tables. Only dp_grant_budget, dp_revoke_budget, dp_add_charge and '
  'the workers that charge change it. The spending never goes down. A charge counts in the general budget, also in a revoked one, and in those for the '
  'tables whose rows were asked about. Whoever locks a budget for a table has locked the general one of the role before.';
COMMENT ON COLUMN dpquantile.budget.budget_id IS
  'The ledger has the charges of a role under that of its general budget.';
COMMENT ON COLUMN dpquantile.budget.table_id IS
  'That of the protected table in table_identity; NULL in the general budget.';
COMMENT ON COLUMN dpquantile.budget.epsilon_spent IS
  'The sum of the epsilons charged, under either accountant.';
COMMENT ON COLUMN dpquantile.budget.rho_limit IS
  'With accountant zcdp, the limit in rho that follows from epsilon_limit and delta_limit less charged_delta; set by dp_grant_budget.';
COMMENT ON COLUMN dpquantile.budget.rho_spent IS
  'The sum of the rhos of all charges, under either accountant. A charge of a build before 0.3.0 with a delta has none.';
COMMENT ON COLUMN dpquantile.budget.charged_delta IS
  'With accountant zcdp, the part of delta_limit that charges may spend; the rest converts rho to epsilon. Set by dp_grant_budget, else 0.';
COMMENT ON COLUMN dpquantile.budget.converted_delta IS
  'The part of delta_spent of charges whose rho is in rho_spent: all of it, unless a build before 0.3.0 has made charges.';
COMMENT ON COLUMN dpquantile.budget.has_rho_alone IS
  'Whether a charge was stated in rho alone. Then epsilon_spent does not include all charges.';
COMMENT ON COLUMN dpquantile.budget.smallest_charge IS
  'A smaller charge is refused, because each one takes a row of the ledger. In epsilon with accountant pure, in rho with '
  'zcdp; set by dp_grant_budget.';
COMMENT ON COLUMN dpquantile.budget.charges IS
  'The number of charges so far. The ledger numbers those of a general budget from 1.';
COMMENT ON COLUMN dpquantile.budget.neighbours IS
  'What the limits and all spending are for: ''add or remove'', the neighbours of each function itself, or ''replace'', replacing '
  'the value of one row. Only a role that has spent nothing may change it. All budgets of a role have the same.';
COMMENT ON COLUMN dpquantile.budget.every IS
  'The limits are for each day, week (from Monday), month, quarter or year of the calendar in UTC; NULL if they are for ever.';
COMMENT ON COLUMN dpquantile.budget.period_start IS
  'When the period began to which the latest charge belongs. It never goes back, whatever the clock does.';
COMMENT ON COLUMN dpquantile.budget.epsilon_before IS
  'The part of epsilon_spent that was charged before this period. What is spent in the period is the rest.';
COMMENT ON COLUMN dpquantile.budget.delta_before IS 'Likewise of delta_spent.';
COMMENT ON COLUMN dpquantile.budget.rho_before IS 'Likewise of rho_spent.';

-- A dump includes the spending. It leaves out the budgets of dropped roles, because their OIDs could
-- belong to other roles in the cluster of the restore. A budget for a table that is not restored counts for no table.
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.budget', 'WHERE role IN (SELECT oid FROM pg_catalog.pg_roles)');
