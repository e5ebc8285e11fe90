-- What budgets have spent and whether a charge fits, for the workers that charge, for grants and for the views. PostgreSQL puts the bodies in the
-- place of the calls, so that a worker plans them once with its statements: they have no subqueries, and no settings of their own. They
-- take columns, and not a row of the table: the table could get no column while a function refers to columns of its rows.

-- A charge moves the row to its period, so until the first charge of a period the row is of an earlier one.
CREATE OR REPLACE FUNCTION dpquantile.before_at(at timestamptz, every text, period_start timestamptz, spent numeric, before numeric) RETURNS numeric
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN CASE WHEN dpquantile.period_start(every, at) > period_start THEN spent ELSE before END;
COMMENT ON FUNCTION dpquantile.before_at(timestamptz, text, timestamptz, numeric, numeric) IS
  'at: the time of a charge; the others: columns of a budget. What was spent before the period of the charge: the later one of that with the '
  'time and that of the latest charge. 0 for a budget without periods. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.spent_at(at timestamptz, every text, period_start timestamptz, spent numeric, before numeric) RETURNS numeric
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN spent - dpquantile.before_at(at, every, period_start, spent, before);
COMMENT ON FUNCTION dpquantile.spent_at(timestamptz, text, timestamptz, numeric, numeric) IS
  'at: the time of a charge; the others: columns of a budget. What counts towards the limit: all that was spent, or what was spent in the '
  'period of the charge. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.delta_to_charge(accountant text, delta_limit numeric, charged_delta numeric) RETURNS numeric
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE accountant WHEN 'pure' THEN delta_limit ELSE charged_delta END;
COMMENT ON FUNCTION dpquantile.delta_to_charge(text, numeric, numeric) IS
  'accountant and the other columns of a budget: what all charges may spend of delta. Tells nothing about any data.';

-- Each "fits" follows from comparisons that must be true: a NULL or a negative cost refuses the charge.
CREATE OR REPLACE FUNCTION dpquantile.verdict(accountant text, smallest_charge numeric, delta_limit numeric, epsilon_left numeric,
                                              delta_left numeric, rho_left numeric, epsilon numeric, delta numeric, rho numeric,
                                              least_epsilon numeric, least_rho numeric) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
         WHEN accountant = 'pure' AND epsilon IS NULL THEN 'rho alone'
         ELSE CASE (CASE accountant WHEN 'pure' THEN epsilon <= epsilon_left WHEN 'zcdp' THEN rho <= rho_left END)
              WHEN true THEN
                CASE WHEN delta >= 0 AND delta <= delta_left THEN
                       CASE (CASE accountant WHEN 'pure' THEN least_epsilon ELSE least_rho END) >= smallest_charge
                       WHEN true THEN 'fits' WHEN false THEN 'too small' END
                     WHEN delta_left < 0 THEN 'overspent delta'
                     WHEN delta_limit > 0 THEN 'delta'
                     ELSE 'no delta' END
              WHEN false THEN CASE accountant WHEN 'pure' THEN 'epsilon' ELSE 'rho' END
              END
         END;
COMMENT ON FUNCTION dpquantile.verdict(text, numeric, numeric, numeric, numeric, numeric, numeric, numeric, numeric, numeric, numeric) IS
  'accountant, smallest_charge: terms of a budget; delta_limit: of delta_to_charge; epsilon_left, delta_left, rho_left: its limits less what is '
  'spent; epsilon, delta, rho: what charges cost together, NULL where one has no epsilon; least_epsilon, least_rho: the least of their costs. What the '
  'budget does with the charges: ''fits'', or why it refuses them: ''epsilon'', ''delta'' or ''rho'': more than is left; ''overspent '
  'delta'': more delta is spent than the limit; ''no delta'': the limit is 0; ''rho alone'': the accountant cannot add them; ''too '
  'small'': below the smallest charge. NULL if the terms are corrupt. Tells nothing about any data.';
