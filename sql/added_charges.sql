-- threat 58: charges that the owner of the extension adds, because a failover has lost them, or a copy of the database has made them
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_added_pure;
CREATE ROLE regress_dpq_added_zcdp;
CREATE ROLE regress_dpq_added_none;
CREATE TABLE added_charge_values AS SELECT x::float8 FROM generate_series(1, 100) x;
GRANT SELECT ON added_charge_values TO regress_dpq_added_pure, regress_dpq_added_zcdp;
SELECT dp_grant_budget('regress_dpq_added_pure', 3, 1e-5), dp_grant_budget('regress_dpq_added_zcdp', 1, 1e-6, 'zcdp');
CREATE TEMP VIEW spending AS
  SELECT role, trim_scale(epsilon_spent) AS epsilon, trim_scale(delta_spent) AS delta, trim_scale(rho_spent) AS rho,
         has_rho_alone, charges
    FROM dpquantile.budget WHERE role::text LIKE 'regress\_dpq\_added\_%' ORDER BY role::text COLLATE "C";

-- An added charge counts like any other, in the budget and in the ledger.
SELECT dp_add_charge('regress_dpq_added_pure', 1.5, note => 'lost in the failover');
SELECT dp_add_charge('regress_dpq_added_pure', 0.5, 1e-6);
SELECT dp_add_charge('regress_dpq_added_pure', 0.1, rho => 0.001, note => 'lost in the failover');
SELECT dp_add_charge('regress_dpq_added_zcdp', 0.1), dp_add_charge('regress_dpq_added_zcdp', NULL, rho => 0.005);
SELECT * FROM spending;
SELECT role, number, session_role = session_user AS by_owner, function, mechanism, neighbours, epsilon, delta, rho, accountant,
       query
  FROM dp_ledger WHERE role LIKE 'regress\_dpq\_added\_%' ORDER BY role COLLATE "C", number;
SET ROLE regress_dpq_added_pure;
SELECT dp_median(x, 1, 0, 100) FROM added_charge_values;
SELECT dp_median(x, 0.9, 0, 100) IS NOT NULL AS answered FROM added_charge_values;
SELECT number, function, epsilon, query FROM dp_ledger ORDER BY number;
SET ROLE regress_dpq_added_zcdp;
SELECT dp_median(x, 1, 0, 100) FROM added_charge_values;
RESET ROLE;

-- The spending may exceed the limit, and no later answer fits.
SELECT dp_add_charge('regress_dpq_added_zcdp', 2);
SELECT epsilon_spent > epsilon_limit AS above, epsilon_remaining, rho_remaining FROM dp_budget
 WHERE role = 'regress_dpq_added_zcdp';
SET ROLE regress_dpq_added_zcdp;
SELECT dp_median(x, 1e-3, 0, 100) FROM added_charge_values;
RESET ROLE;

-- A role that is dropped and created again keeps it (threat 51), also after an archiving.
SELECT count(*) > 0 AS archived FROM dp_archive_ledger('infinity');
DROP OWNED BY regress_dpq_added_pure;
DROP ROLE regress_dpq_added_pure;
CREATE ROLE regress_dpq_added_pure;
SELECT dp_grant_budget('regress_dpq_added_pure', 5, 1e-5);
SELECT * FROM spending;
-- While the role is dropped nothing can be added to its budget.
CREATE ROLE regress_dpq_added_gone;
SELECT dp_grant_budget('regress_dpq_added_gone', 5);
SELECT 'regress_dpq_added_gone'::regrole::oid AS gone \gset
DROP ROLE regress_dpq_added_gone;
\set VERBOSITY sqlstate
SELECT dp_add_charge(:gone::regrole, 1);
\set VERBOSITY default

-- An accountant gets no charge that it cannot add. A revoked budget gets any.
SELECT dp_add_charge('regress_dpq_added_pure', NULL, rho => 0.1);
CREATE ROLE regress_dpq_added_rho;
SELECT dp_grant_budget('regress_dpq_added_rho', 10), dp_revoke_budget('regress_dpq_added_rho');
SELECT dp_add_charge('regress_dpq_added_rho', NULL, rho => 0.1);
SELECT dp_grant_budget('regress_dpq_added_rho', 10);
DROP ROLE regress_dpq_added_rho;
-- Accountant zcdp adds delta and rho; the rho of answers with a delta is half the square of epsilon, or what is stated.
SELECT dp_grant_budget('regress_dpq_added_zcdp', 10, 1e-5, 'zcdp', charged_delta => 3e-6);
SELECT dp_add_charge('regress_dpq_added_zcdp', 0.1, 1e-6), dp_add_charge('regress_dpq_added_zcdp', 0.1, 1e-6, 0.004),
       dp_add_charge('regress_dpq_added_zcdp', NULL, 1e-6, 0.001);
SELECT number, epsilon, delta, rho FROM dp_ledger WHERE role = 'regress_dpq_added_zcdp' AND delta > 0 ORDER BY number;
SELECT delta_spent, delta_remaining FROM dp_budget WHERE role = 'regress_dpq_added_zcdp';

-- Amounts are rounded up to 50 decimals, and a note has 2048 bytes at most, so neither budget nor ledger grows with what is given.
SELECT dp_add_charge('regress_dpq_added_pure', 1 + 1e-16000, 1 - 1e-16000, note => repeat('é', 1024));
SELECT dp_add_charge('regress_dpq_added_pure', 0.1, rho => 0.001 + 1e-16000);
-- The smallest delta of dp_iqr
SELECT dp_add_charge('regress_dpq_added_pure', 0.1, 1e-300);
SELECT dp_add_charge('regress_dpq_added_pure', 1 + 1e-40, note => repeat('é', 1025));
SELECT number, epsilon, delta, rho, octet_length(query) AS bytes FROM dp_ledger
 WHERE role = 'regress_dpq_added_pure' ORDER BY number;

-- All that is left of the largest limit can be added at once.
CREATE ROLE regress_dpq_added_much;
SELECT dp_grant_budget('regress_dpq_added_much', 1e30);
SELECT dp_add_charge(role::regrole, epsilon_remaining) FROM dp_budget WHERE role = 'regress_dpq_added_much';
SELECT epsilon_remaining FROM dp_budget WHERE role = 'regress_dpq_added_much';
DROP ROLE regress_dpq_added_much;

-- Bad arguments
SELECT dp_add_charge('regress_dpq_added_pure', 0);
SELECT dp_add_charge('regress_dpq_added_pure', 1e131000);
SELECT dp_add_charge('regress_dpq_added_pure', -1);
SELECT dp_add_charge('regress_dpq_added_pure', 'Infinity');
SELECT dp_add_charge('regress_dpq_added_pure', 2e30);
SELECT dp_add_charge('regress_dpq_added_pure', 1, rho => 1e-31);
SELECT dp_add_charge('regress_dpq_added_pure', 'NaN');
SELECT dp_add_charge('regress_dpq_added_pure', NULL);
SELECT dp_add_charge('regress_dpq_added_pure', 1, rho => 'NaN');
SELECT dp_add_charge('regress_dpq_added_pure', 1, rho => 0);
SELECT dp_add_charge('regress_dpq_added_pure', NULL, 1e-6);
SELECT dp_add_charge('regress_dpq_added_pure', 1, 1);
SELECT dp_add_charge('regress_dpq_added_pure', 1, -1);
SELECT dp_add_charge('regress_dpq_added_pure', 1, 'NaN');
SELECT dp_add_charge('regress_dpq_added_none', 1);
SELECT dp_add_charge(NULL, 1);
SELECT * FROM spending WHERE role = 'regress_dpq_added_pure'::regrole;

DROP TABLE added_charge_values;
DROP VIEW spending;
DROP OWNED BY regress_dpq_added_pure, regress_dpq_added_zcdp;
DROP ROLE regress_dpq_added_pure, regress_dpq_added_zcdp, regress_dpq_added_none;
