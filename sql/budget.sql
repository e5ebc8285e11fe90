-- Granting, spending, exhausting and revoking a privacy budget
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_budget;
CREATE SCHEMA AUTHORIZATION regress_dpq_budget;
SET ROLE regress_dpq_budget;
CREATE TABLE t AS SELECT x::float8 FROM generate_series(1, 100) x;

-- Without a budget there is no answer.
SELECT dp_median(x, 0.1, 0, 100) FROM t;
\echo :SQLSTATE
SELECT count(*) AS budgets FROM dp_budget;

-- Twenty charges of 0.05 add up to exactly 1 (in floating point: to more than 1), and so do ten charges of 0.1 (in
-- floating point: to less than 1).
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_budget', 1);
SET ROLE regress_dpq_budget;
SELECT role, epsilon_limit, epsilon_spent, epsilon_remaining, delta_limit, delta_spent, delta_remaining, accountant
  FROM dp_budget;
DO $$ BEGIN FOR i IN 1..20 LOOP PERFORM dp_median(x, 0.05, 0, 100) FROM t; END LOOP; END $$;
SELECT epsilon_limit, epsilon_spent, epsilon_remaining FROM dp_budget;
SELECT dp_median(x, 0.05, 0, 100) FROM t;
\echo :SQLSTATE
SELECT dp_median(x, 1e-6, 0, 100) FROM t;

-- A new limit keeps the spending.
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_budget', 2, 1e-9);
SET ROLE regress_dpq_budget;
SELECT epsilon_limit, epsilon_spent, epsilon_remaining, delta_limit, delta_spent, delta_remaining FROM dp_budget;
DO $$ BEGIN FOR i IN 1..10 LOOP PERFORM dp_median(x, 0.1, 0, 100) FROM t; END LOOP; END $$;
SELECT epsilon_limit, epsilon_spent, epsilon_remaining FROM dp_budget;
SELECT dp_median(x, 1e-6, 0, 100) FROM t;

-- A query that does not fit is refused as a whole and costs nothing. A smaller query still fits.
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_budget', 2.3);
SET ROLE regress_dpq_budget;
SELECT dp_median(x, 0.300000000000001, 0, 100) FROM t;
\echo :SQLSTATE
SELECT x > 50, dp_median(x, 0.2, 0, 100) FROM t GROUP BY ROLLUP (x > 50);
SELECT epsilon_remaining FROM dp_budget;
SELECT dp_median(x, 0.3, 0, 100) IS NOT NULL AS answered FROM t;
SELECT epsilon_remaining FROM dp_budget;

-- Nothing remains under a limit below the spending. Under a higher limit only the difference remains.
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_budget', 0.5);
SET ROLE regress_dpq_budget;
SELECT epsilon_limit, epsilon_spent, epsilon_remaining FROM dp_budget;
SELECT dp_median(x, 0.1, 0, 100) FROM t;
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_budget', 2.4);
SELECT epsilon_limit, epsilon_spent, epsilon_remaining FROM dp_budget WHERE role = 'regress_dpq_budget';

-- The spending survives a revocation and a new grant.
SELECT dp_revoke_budget('regress_dpq_budget');
SELECT count(*) AS budgets FROM dp_budget WHERE role = 'regress_dpq_budget';
SELECT dp_revoke_budget('regress_dpq_budget');
\echo :SQLSTATE
SET ROLE regress_dpq_budget;
SELECT dp_median(x, 0.1, 0, 100) FROM t;
\echo :SQLSTATE
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_budget', 2.4);
SET ROLE regress_dpq_budget;
SELECT epsilon_limit, epsilon_spent, epsilon_remaining FROM dp_budget;
SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL AS answered FROM t;
SELECT dp_median(x, 0.1, 0, 100) FROM t;
RESET ROLE;

-- The limit is the shortest decimal that reads back as the same float8.
SELECT dp_grant_budget('regress_dpq_budget', 0.1::float8 + 0.2, 0.1);
SELECT epsilon_limit, delta_limit FROM dp_budget WHERE role = 'regress_dpq_budget';
SELECT dp_grant_budget('regress_dpq_budget', 1e-300, 1e-300);
SELECT epsilon_limit = 1e-300 AND delta_limit = 1e-300 AS exact
  FROM dp_budget WHERE role = 'regress_dpq_budget';
-- An omitted delta keeps its old value, but after a revocation it is 0.
SELECT dp_grant_budget('regress_dpq_budget', 1);
SELECT epsilon_limit, delta_limit = 1e-300 AS same FROM dp_budget WHERE role = 'regress_dpq_budget';
SELECT dp_grant_budget('regress_dpq_budget', 1, 0);
SELECT dp_grant_budget('regress_dpq_budget', 1, 0.25);
SELECT dp_grant_budget('regress_dpq_budget', 1, NULL);
SELECT delta_limit FROM dp_budget WHERE role = 'regress_dpq_budget';
SELECT dp_revoke_budget('regress_dpq_budget');
SELECT dp_grant_budget('regress_dpq_budget', 1);
SELECT delta_limit FROM dp_budget WHERE role = 'regress_dpq_budget';

-- Superusers and the owner of the extension are not exempt.
CREATE ROLE regress_dpq_budget_super SUPERUSER;
SET ROLE regress_dpq_budget_super;
SELECT dp_median(x, 0.1, 0, 100) FROM regress_dpq_budget.t;
SELECT dp_grant_budget('regress_dpq_budget_super', 0.1);
SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL AS answered FROM regress_dpq_budget.t;
SELECT dp_median(x, 0.1, 0, 100) FROM regress_dpq_budget.t;
RESET ROLE;

-- threat 11: the outer user is charged, not the owner of the function or view.
CREATE FUNCTION regress_dpq_budget.approved() RETURNS float8 LANGUAGE sql SECURITY DEFINER
  AS 'SELECT dp_median(x, 0.1, 0, 100) FROM regress_dpq_budget.t';
CREATE VIEW regress_dpq_budget.approved AS SELECT dp_median(x, 0.1, 0, 100) AS m FROM regress_dpq_budget.t;
GRANT SELECT ON regress_dpq_budget.approved TO regress_dpq_budget;
SELECT dp_grant_budget('regress_dpq_budget', 2.7);
SELECT epsilon_spent FROM dp_budget WHERE role = 'regress_dpq_budget';
SET ROLE regress_dpq_budget;
SELECT approved() IS NOT NULL AS answered;
SELECT m IS NOT NULL AS answered FROM approved;
SELECT epsilon_spent FROM dp_budget;
SET SESSION AUTHORIZATION regress_dpq_budget;
SELECT approved() IS NOT NULL AS answered;
SELECT epsilon_spent FROM dp_budget;
SELECT approved();
RESET SESSION AUTHORIZATION;

-- The hint is correct SQL for any role name.
CREATE ROLE "regress_dpq_budget 'Ann'";
SET ROLE "regress_dpq_budget 'Ann'";
SELECT dp_median(1, 0.1, 0, 100);
RESET ROLE;
SELECT dp_grant_budget('"regress_dpq_budget ''Ann''"', 1);
SET ROLE "regress_dpq_budget 'Ann'";
SELECT dp_median(1, 0.1, 0, 100) IS NOT NULL AS answered;
SELECT role, epsilon_spent FROM dp_budget;
SELECT role FROM dp_ledger;
RESET ROLE;
DROP ROLE "regress_dpq_budget 'Ann'";

-- Invalid grants and revocations
SELECT dp_grant_budget('regress_dpq_nobody', 1);
SELECT dp_grant_budget('4294967294', 1);
\echo :SQLSTATE
SELECT dp_grant_budget(NULL, 1);
\echo :SQLSTATE
SELECT dp_grant_budget('regress_dpq_budget', 0);
SELECT dp_grant_budget('regress_dpq_budget', -1);
SELECT dp_grant_budget('regress_dpq_budget', 'NaN');
SELECT dp_grant_budget('regress_dpq_budget', 'Infinity');
SELECT dp_grant_budget('regress_dpq_budget', 1.0000001e30);
SELECT dp_grant_budget('regress_dpq_budget', NULL);
\echo :SQLSTATE
SELECT dp_grant_budget('regress_dpq_budget', 1, -1e-9);
SELECT dp_grant_budget('regress_dpq_budget', 1, 1);
SELECT dp_grant_budget('regress_dpq_budget', 1, 'NaN');
SELECT dp_grant_budget(NULL, 1, 0.1);
\echo :SQLSTATE
SELECT dp_revoke_budget(NULL);
SELECT dp_revoke_budget('4294967294');
SELECT epsilon_limit, epsilon_spent, delta_limit FROM dp_budget WHERE role = 'regress_dpq_budget';

-- A later role of the same name has no budget. When it gets one, the charges under this name count.
DROP VIEW regress_dpq_budget.approved;
DROP FUNCTION regress_dpq_budget.approved();
DROP OWNED BY regress_dpq_budget;
DROP ROLE regress_dpq_budget;
CREATE ROLE regress_dpq_budget;
SET ROLE regress_dpq_budget;
SELECT dp_median(1, 0.1, 0, 100);
SELECT count(*) AS budgets FROM dp_budget;
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_budget', 2.8, 0.5);
SET ROLE regress_dpq_budget;
SELECT epsilon_limit, epsilon_spent, delta_limit, delta_spent FROM dp_budget;
SELECT dp_median(1, 0.1, 0, 100) IS NOT NULL AS answered;
SELECT dp_median(1, 0.1, 0, 100);
RESET ROLE;
DROP ROLE regress_dpq_budget, regress_dpq_budget_super;
