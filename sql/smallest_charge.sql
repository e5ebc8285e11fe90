-- threat 49: a smallest charge for each budget, so that a limit does not pay for more than a million rows of the ledger
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_small;
CREATE ROLE regress_dpq_small_zcdp;
CREATE TABLE regress_dpq_small AS SELECT x::float8, x % 2 AS k, x % 10 AS person FROM generate_series(1, 100) x;
GRANT SELECT ON regress_dpq_small TO PUBLIC;
CREATE VIEW regress_dpq_small_terms AS
  SELECT epsilon_limit, round(rho_limit, 12) AS rho_limit, accountant, round(smallest_charge, 18) AS smallest_charge,
         smallest_charge = coalesce(rho_limit, epsilon_limit) * 1e-6 AS is_default
    FROM dp_budget WHERE role::text LIKE 'regress\_dpq\_small%';
GRANT SELECT ON regress_dpq_small_terms TO PUBLIC;

-- Without an argument it is a millionth of the limit.
SELECT dp_grant_budget('regress_dpq_small', 2);
SET ROLE regress_dpq_small;
SELECT * FROM regress_dpq_small_terms;
SELECT fits FROM dp_budget_fits(1e-6);
SELECT fits FROM dp_budget_fits(2e-6);
SELECT dp_median(x, 0.0000019, 0, 100) FROM regress_dpq_small;
\echo :SQLSTATE
SELECT dp_median(x, 2e-6, 0, 100) IS NOT NULL AS answered FROM regress_dpq_small;
-- What counts is the charge: epsilon times the number of grouping sets.
SELECT count(m) AS groups
  FROM (SELECT k, person, dp_median(x, 1e-6, 0, 100) AS m FROM regress_dpq_small GROUP BY ROLLUP (k, person)) s;
-- One charge that is too small refuses all charges of the query.
SELECT dp_median(x, 0.5, 0, 100), dp_cdf(x, 1e-6, 0, 100) FROM regress_dpq_small;
-- A dp_user_ function is charged for one group first, and this charge must be large enough.
SELECT dp_user_mean(person, x, 1e-6, 0, 100) FROM regress_dpq_small GROUP BY k;
SELECT epsilon, count(*) FROM dp_ledger GROUP BY 1 ORDER BY 1;
SELECT epsilon_spent FROM dp_budget;
-- A charge that exceeds what is left is refused for that.
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_small', 0.000005, smallest_charge => 0.000005);
SET ROLE regress_dpq_small;
SELECT dp_median(x, 1e-6, 0, 100) FROM regress_dpq_small;
RESET ROLE;

-- The owner may choose it. A grant without the argument computes it anew.
SELECT dp_grant_budget('regress_dpq_small', 2, smallest_charge => 0.25);
SELECT * FROM regress_dpq_small_terms;
SET ROLE regress_dpq_small;
SELECT dp_median(x, 0.2, 0, 100) FROM regress_dpq_small;
SELECT dp_median(x, 0.25, 0, 100) IS NOT NULL AS answered FROM regress_dpq_small;
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_small', 0.3, smallest_charge => 0.1::float8 + 0.2);
SELECT dp_grant_budget('regress_dpq_small', 0.3, smallest_charge => 0.3);
SELECT dp_grant_budget('regress_dpq_small', 4);
SELECT * FROM regress_dpq_small_terms;
SELECT dp_grant_budget('regress_dpq_small', 4, smallest_charge => 1e-12);
SELECT * FROM regress_dpq_small_terms;
-- A notice tells when one that was stated becomes larger. One that was not follows the limit.
SELECT dp_grant_budget('regress_dpq_small', 5);
SELECT dp_grant_budget('regress_dpq_small', 6);
SELECT dp_grant_budget('regress_dpq_small', 1e6);
SELECT dp_grant_budget('regress_dpq_small', 4, smallest_charge => 1e-12);
SELECT dp_grant_budget('regress_dpq_small', 4, smallest_charge => 0);
\echo :SQLSTATE
SELECT dp_grant_budget('regress_dpq_small', 4, smallest_charge => -1);
SELECT dp_grant_budget('regress_dpq_small', 4, smallest_charge => 'NaN');
SELECT dp_grant_budget('regress_dpq_small', 4, smallest_charge => 'Infinity');
SELECT dp_grant_budget('regress_dpq_small', 4, 1e-6, 'zcdp', 4);
SELECT * FROM regress_dpq_small_terms;

-- With accountant zcdp it is in rho. A change of the accountant does not keep a number in another unit.
SELECT dp_grant_budget('regress_dpq_small', 4, 1e-6, 'zcdp');
SELECT * FROM regress_dpq_small_terms;
SELECT dp_grant_budget('regress_dpq_small', 4, accountant => 'pure');
SELECT * FROM regress_dpq_small_terms;
SELECT dp_grant_budget('regress_dpq_small_zcdp', 1, 1e-6, 'zcdp');
SET ROLE regress_dpq_small_zcdp;
SELECT dp_median(x, NULL, 0, 100, dp_options(rho => 1e-12)) FROM regress_dpq_small;
SELECT dp_median(x, 1e-6, 0, 100) FROM regress_dpq_small;
SELECT bool_and(fits = 0) AS none FROM dp_budget_fits(1e-6);
SELECT query, fits FROM dp_budget_fits(0.0005);
SELECT dp_median(x, 0.0005, 0, 100) IS NOT NULL AS answered FROM regress_dpq_small;
SELECT dp_median(x, NULL, 0, 100, dp_options(rho => 0.0000000244)) IS NOT NULL AS answered FROM regress_dpq_small;
SELECT dp_median(x, 0.0005, 0, 100), dp_median(x, NULL, 0, 90, dp_options(rho => 1e-12)) FROM regress_dpq_small;
RESET ROLE;

-- A lost budget gets its terms from the new grant.
DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_small'::regrole;
SELECT dp_grant_budget('regress_dpq_small', 3);
SELECT * FROM regress_dpq_small_terms WHERE accountant = 'pure';

-- No NULL in the table lets a charge pass.
BEGIN;
ALTER TABLE dpquantile.budget ALTER smallest_charge DROP NOT NULL;
UPDATE dpquantile.budget SET smallest_charge = NULL WHERE role = 'regress_dpq_small'::regrole;
COMMIT;
SET ROLE regress_dpq_small;
SELECT dp_median(x, 0.5, 0, 100) FROM regress_dpq_small;
RESET ROLE;
DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_small'::regrole;
ALTER TABLE dpquantile.budget ALTER smallest_charge SET NOT NULL;

DROP VIEW regress_dpq_small_terms;
DROP TABLE regress_dpq_small;
DROP ROLE regress_dpq_small, regress_dpq_small_zcdp;
