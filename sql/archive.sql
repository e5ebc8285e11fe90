-- threat 49: dp_archive_ledger takes charges out of the ledger, and the spending stays.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_archive;
CREATE ROLE regress_dpq_archive_zcdp;
SELECT dp_grant_budget('regress_dpq_archive', 10, 1e-6), dp_grant_budget('regress_dpq_archive_zcdp', 10, 1e-6, 'zcdp');
-- What is spent, according to the budgets and to ledger and archive. The archive of other roles is left alone.
CREATE VIEW regress_dpq_archived AS
  SELECT b.role::text, b.epsilon_spent, b.charges = (SELECT count(*) FROM dpquantile.ledger l WHERE l.budget_id = b.budget_id)
                                                    + sum(n.charges) AS charges_agree,
         b.epsilon_spent = e.epsilon + sum(n.epsilon) AND b.delta_spent = e.delta + sum(n.delta)
         AND b.rho_spent = e.rho + sum(n.rho) AND b.has_rho_alone = (e.alone OR bool_or(n.has_rho_alone)) AS agree,
         sum(n.charges) AS archived, count(*) AS names
    FROM dpquantile.budget b
    JOIN dpquantile.budget_name n USING (budget_id)
   CROSS JOIN LATERAL (SELECT coalesce(sum(l.epsilon), 0) AS epsilon, coalesce(sum(l.delta), 0) AS delta,
                              coalesce(sum(l.rho), 0) AS rho, coalesce(bool_or(l.epsilon IS NULL), false) AS alone
                         FROM dpquantile.ledger l WHERE l.budget_id = b.budget_id) e
   WHERE b.role IN (SELECT oid FROM pg_roles WHERE rolname LIKE 'regress\_dpq\_archive%')
   GROUP BY b.role, b.budget_id, b.charges, b.epsilon_spent, b.delta_spent, b.rho_spent, b.has_rho_alone, e.epsilon, e.delta, e.rho, e.alone
   ORDER BY 1;
-- Only what these roles were charged is made old.
CREATE FUNCTION regress_dpq_make_old() RETURNS void LANGUAGE sql AS $$
  UPDATE dpquantile.ledger SET charged_at = charged_at - interval '1000 years' WHERE role_name LIKE 'regress\_dpq\_archive%'
$$;
CREATE TABLE regress_dpq_t AS SELECT x::float8 FROM generate_series(0, 2) x;
GRANT SELECT ON regress_dpq_t TO PUBLIC;

SET ROLE regress_dpq_archive;
SELECT dp_median(x, 1, 0, 1) IS NOT NULL AS m, dp_cdf(x, 0.5, 0, 1) IS NOT NULL AS c FROM regress_dpq_t;
SELECT dp_iqr(x, 0.05, 1e-9) AS declined FROM regress_dpq_t;
SET ROLE regress_dpq_archive_zcdp;
SELECT dp_median(x, 1, 0, 1) IS NOT NULL AS m FROM regress_dpq_t;
SELECT dp_median(x, NULL, 0, 1, dp_options(rho => 0.01)) IS NOT NULL AS m FROM regress_dpq_t;
-- Only the owner of the extension may archive.
SELECT * FROM dp_archive_ledger('infinity');
RESET ROLE;
SELECT regress_dpq_make_old();
SET ROLE regress_dpq_archive;
SELECT dp_median(x, 1, 0, 1) IS NOT NULL AS m, dp_cdf(x, 0.5, 0, 1) IS NOT NULL AS c FROM regress_dpq_t;
SELECT dp_quantile(x, 0.9, 0.25, 0, 1) IS NOT NULL AS q FROM regress_dpq_t;
RESET ROLE;
SELECT * FROM regress_dpq_archived;
SELECT * FROM dp_archive_ledger(NULL);
\echo :SQLSTATE
-- A rollback keeps the charges in the ledger.
BEGIN;
SELECT count(*) AS archived FROM dp_archive_ledger(now() - interval '900 years');
ROLLBACK;
SELECT * FROM regress_dpq_archived;

SELECT number, charged_at < now() - interval '900 years' AS old, role, session_role = session_user AS session, function,
       mechanism, neighbours, epsilon, delta, grouping_sets, groups, query, round(rho, 8) AS rho, accountant
  FROM dp_archive_ledger(now() - interval '900 years') WITH ORDINALITY ORDER BY ordinality;
SELECT * FROM regress_dpq_archived;
SELECT count(*) AS more FROM dp_archive_ledger(now() - interval '900 years');
-- The other charges and their texts are there, and the texts of no other charges.
SELECT role, number, function, epsilon, query FROM dp_ledger WHERE role LIKE 'regress\_dpq\_archive%';
SELECT count(*) AS unused FROM dpquantile.query_text t JOIN dpquantile.budget b USING (budget_id)
 WHERE b.role IN ('regress_dpq_archive'::regrole, 'regress_dpq_archive_zcdp'::regrole)
   AND NOT EXISTS (SELECT FROM dpquantile.ledger l WHERE l.budget_id = t.budget_id AND l.query_hash = t.query_hash);
-- Charges go on, with the next number and with a text that was archived. So does archiving, and under another name.
ALTER ROLE regress_dpq_archive RENAME TO regress_dpq_archive_later;
SET ROLE regress_dpq_archive_later;
SELECT dp_median(x, 1, 0, 1) IS NOT NULL AS m, dp_cdf(x, 0.5, 0, 1) IS NOT NULL AS c FROM regress_dpq_t;
SELECT min(number), max(number), count(query) FROM dp_ledger;
RESET ROLE;
SELECT regress_dpq_make_old();
SELECT count(*) AS archived FROM dp_archive_ledger(now() - interval '900 years');
SELECT * FROM regress_dpq_archived;
SELECT role_name, charges, epsilon, delta::float8, round(rho, 8) AS rho, has_rho_alone, last_charged_at < now() - interval '900 years' AS old
  FROM dpquantile.budget_name WHERE role_name LIKE 'regress\_dpq\_archive%' ORDER BY 1;

-- A lost budget starts with the archived spending. threat 51: so does a role that is created again under its first name.
CREATE TEMP TABLE kept AS SELECT epsilon_spent, delta_spent, rho_spent, has_rho_alone FROM dpquantile.budget
 WHERE role IN ('regress_dpq_archive_later'::regrole, 'regress_dpq_archive_zcdp'::regrole);
DELETE FROM dpquantile.budget WHERE role IN ('regress_dpq_archive_later'::regrole, 'regress_dpq_archive_zcdp'::regrole);
CREATE ROLE regress_dpq_archive;
SELECT dp_grant_budget('regress_dpq_archive', 10, 1e-6), dp_grant_budget('regress_dpq_archive_later', 10, 1e-6);
-- A query stated in rho alone binds the role to zcdp.
SELECT dp_grant_budget('regress_dpq_archive_zcdp', 10, 1e-6);
SELECT dp_grant_budget('regress_dpq_archive_zcdp', 10, 1e-6, 'zcdp');
SELECT b.role, k.* IS NOT NULL AS same
  FROM dpquantile.budget b LEFT JOIN kept k USING (epsilon_spent, delta_spent, rho_spent, has_rho_alone)
 WHERE role IN ('regress_dpq_archive'::regrole, 'regress_dpq_archive_later'::regrole, 'regress_dpq_archive_zcdp'::regrole)
 ORDER BY role::text;

DELETE FROM dpquantile.budget WHERE role::text LIKE 'regress\_dpq\_archive%';
DELETE FROM dpquantile.budget_name WHERE role_name LIKE 'regress\_dpq\_archive%';
DROP VIEW regress_dpq_archived;
DROP FUNCTION regress_dpq_make_old();
DROP TABLE regress_dpq_t;
DROP ROLE regress_dpq_archive, regress_dpq_archive_later, regress_dpq_archive_zcdp;
