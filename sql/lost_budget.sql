-- threat 13: the spending is not forgotten if a budget row is lost, for example in a restore where another role
-- was missing. The ledger has the charges.
CREATE ROLE regress_dpq_lost;
SELECT dp_grant_budget('regress_dpq_lost', 3, 1e-6);
SET ROLE regress_dpq_lost;
SELECT dp_median(x, 0.5, 0, 1) IS NOT NULL AS answered FROM generate_series(0, 1, 0.5) x;
SELECT x > 0 AS k, dp_median(x, 0.25, 0, 1) IS NOT NULL AS answered
  FROM generate_series(0, 1, 0.5) x GROUP BY ROLLUP (1) ORDER BY k;
-- (There are only three rows: dp_iqr declines, except with probability 1e-9.)
SELECT dp_iqr(x, 0.05, 1e-9) AS declined FROM generate_series(0, 1, 0.5) x;
RESET ROLE;
SELECT epsilon_spent, delta_spent FROM dp_budget WHERE role::text = 'regress_dpq_lost';

DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_lost'::regrole;
SELECT dp_grant_budget('regress_dpq_lost', 1.1);
SELECT epsilon_limit, epsilon_spent, epsilon_remaining, delta_spent FROM dp_budget WHERE role::text = 'regress_dpq_lost';
SET ROLE regress_dpq_lost;
SELECT dp_median(x, 0.2, 0, 1) FROM generate_series(0, 1, 0.5) x;
RESET ROLE;

-- threat 51: the same holds for a role that is dropped and created again under its name.
DROP ROLE regress_dpq_lost;
CREATE ROLE regress_dpq_lost;
SET ROLE regress_dpq_lost;
SELECT dp_median(x, 0.1, 0, 1) FROM generate_series(0, 1, 0.5) x;
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_lost', 5);
SELECT epsilon_spent FROM dp_budget WHERE role::text = 'regress_dpq_lost';
DELETE FROM dpquantile.ledger WHERE role_name = 'regress_dpq_lost';
DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_lost'::regrole;
DROP ROLE regress_dpq_lost;
