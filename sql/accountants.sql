-- threat 18: the two accountants: what they charge, how many queries they allow, and how a role changes its accountant.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE ROLE regress_dpq_zcdp;
CREATE ROLE regress_dpq_pure;
CREATE SCHEMA regress_dpq_accountants;
GRANT USAGE ON SCHEMA regress_dpq_accountants TO PUBLIC;
SET search_path = public, regress_dpq_accountants;
CREATE TABLE t AS SELECT x::float8, x % 2 AS k, x % 10 AS person FROM generate_series(1, 100) x;
GRANT SELECT ON t TO PUBLIC;

-- Repeats a query until the budget is too small.
CREATE FUNCTION count_answers(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answers int := 0;
BEGIN
  LOOP
    BEGIN
      EXECUTE query;
    EXCEPTION WHEN configuration_limit_exceeded THEN
      RETURN format('%s answers, then: %s', answers, SQLERRM);
    END;
    answers := answers + 1;
  END LOOP;
END
$$;
-- A new budget, with nothing spent.
CREATE FUNCTION renew(epsilon float8, delta float8, accountant text, charged_delta float8 DEFAULT NULL) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  DELETE FROM dpquantile.ledger WHERE role_name = 'regress_dpq_zcdp';
  DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_zcdp'::regrole;
  PERFORM dp_grant_budget('regress_dpq_zcdp', epsilon, delta, accountant, charged_delta => charged_delta);
END
$$;
CREATE VIEW budget AS
  SELECT accountant, epsilon_limit, epsilon_spent, epsilon_remaining, delta_limit, delta_spent, delta_remaining,
         round(rho_limit, 8) AS rho_limit, round(rho_spent, 8) AS rho_spent, round(rho_remaining, 8) AS rho_remaining,
         epsilon_sum
    FROM dp_budget WHERE role::text = 'regress_dpq_zcdp';
GRANT SELECT ON budget TO PUBLIC;

-- Valid and invalid grants
SELECT dp_grant_budget('regress_dpq_zcdp', 1, accountant => 'zcdp');
\echo :SQLSTATE
SELECT dp_grant_budget('regress_dpq_zcdp', 1, 0, 'zcdp');
SELECT dp_grant_budget('regress_dpq_zcdp', 1, 1e-6, 'ZCDP');
\echo :SQLSTATE
SELECT dp_grant_budget('regress_dpq_zcdp', 1, 1e-6, '');
SELECT dp_grant_budget('regress_dpq_zcdp', 'NaN', 1e-6, 'zcdp');
SELECT dp_grant_budget('regress_dpq_zcdp', 1, 1, 'zcdp');
SELECT count(*) AS budgets FROM dp_budget WHERE role = 'regress_dpq_zcdp';
SELECT dp_grant_budget('regress_dpq_zcdp', 1, 1e-6, 'zcdp');
SELECT * FROM budget;
-- An omitted argument keeps its old value.
SELECT rho_limit AS before FROM dp_budget WHERE role = 'regress_dpq_zcdp' \gset
SELECT dp_grant_budget('regress_dpq_zcdp', 1);
SELECT accountant, delta_limit, rho_limit = :before AS same FROM dp_budget WHERE role = 'regress_dpq_zcdp';
SELECT dp_grant_budget('regress_dpq_zcdp', 1, 0);
-- After a revocation it gets its default again.
SELECT dp_revoke_budget('regress_dpq_zcdp');
SELECT dp_grant_budget('regress_dpq_zcdp', 1);
SELECT accountant, delta_limit, rho_limit FROM budget;
-- Every limit has a positive rho, and this rho converts back to no more than the limit.
SELECT e AS epsilon, d AS delta, dpquantile.six_digits(rho, false)::float8 AS rho, rho > 0 AS some,
       dpquantile.epsilon_of_rho(rho::float8, d) <= e::numeric * (1 + 1e-12) AS within
  FROM (VALUES (1e-6::float8), (1), (1e300)) AS es (e), (VALUES (1e-300::float8), (1e-6), (0.999)) AS ds (d),
       LATERAL (SELECT dpquantile.rho_within(e, d) AS rho) AS r;
-- Displayed values are rounded to the safe side.
SELECT v::float8 AS value, dpquantile.six_digits(v, false)::float8 AS down, dpquantile.six_digits(v, true)::float8 AS up
  FROM (VALUES (0), (1), (0.1), (123456.5), (1234567), (0.000012345678), (1e-300), (1e300), (999999.5)) AS v (v);

-- With limits epsilon = 1 and delta = 1e-6, how many queries of epsilon = 0.05 does each accountant answer?
SELECT dp_grant_budget('regress_dpq_pure', 1);
SET ROLE regress_dpq_pure;
SELECT role, accountant, query, round(rho_each, 12) AS rho_each, fits FROM dp_budget_fits(0.05);
SELECT count_answers('SELECT dp_median(x, 0.05, 0, 100) FROM t');
SELECT query, fits FROM dp_budget_fits(0.05);
SELECT epsilon_spent, epsilon_remaining, round(rho_spent, 12) AS rho_spent, rho_limit, rho_remaining, epsilon_sum
  FROM dp_budget;
SET ROLE regress_dpq_zcdp;
SELECT renew(1, 1e-6, 'zcdp');
SELECT role, accountant, query, round(rho_each, 12) AS rho_each, fits FROM dp_budget_fits(0.05);
SELECT count_answers('SELECT dp_median(x, 0.05, 0, 100) FROM t');
SELECT query, fits FROM dp_budget_fits(0.05);
SELECT * FROM budget;
-- A smaller query still fits. The charges in the ledger add up to the spending.
SELECT dp_median(x, 0.04, 0, 100) IS NOT NULL AS answered FROM t;
SELECT sum(epsilon) = (SELECT epsilon_sum FROM dp_budget) AS epsilons, sum(rho) = (SELECT rho_spent FROM dp_budget) AS rhos,
       min(accountant), max(accountant)
  FROM dp_ledger;
SELECT renew(1, 1e-6, 'zcdp');
SELECT count_answers('SELECT dp_quantiles(x, ''{0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9}'', 0.05, 0, 100) FROM t');
SELECT epsilon_sum FROM budget;
SELECT renew(1, 1e-6, 'zcdp');
SELECT count_answers('SELECT dp_cdf(x, 0.05, 0, 100) FROM t');
SELECT renew(1, 1e-6, 'zcdp');
SELECT count_answers('SELECT dp_user_mean(person, x, 0.05, 0, 100) FROM t');
-- After 50 medians, dp_budget_fits predicts how many calls of dp_quantiles still fit.
SELECT renew(1, 1e-6, 'zcdp');
DO $$ BEGIN FOR i IN 1..50 LOOP PERFORM dp_median(x, 0.05, 0, 100) FROM t; END LOOP; END $$;
SELECT query, fits FROM dp_budget_fits(0.1);
SELECT count_answers('SELECT dp_quantiles(x, ''{0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9}'', 0.1, 0, 100) FROM t');

-- Each function is charged at least its rho in exact arithmetic, and hardly more.
SELECT renew(1000, 1e-3, 'zcdp', 5e-4);
RESET ROLE;
CREATE FUNCTION pg_temp.pure(epsilon numeric) RETURNS numeric LANGUAGE sql
  RETURN epsilon * (exp(epsilon) - 1) / (exp(epsilon) + 1);
CREATE FUNCTION pg_temp.laplace(epsilon numeric) RETURNS numeric LANGUAGE sql
  RETURN epsilon + exp(-epsilon) - 1 + epsilon * (epsilon / 256) ^ 2 / 6;
-- Theorem 11b, with two stages: the count, a test with a third of the rest, and a release with two thirds
CREATE FUNCTION pg_temp.iqr(epsilon numeric) RETURNS numeric LANGUAGE sql
  RETURN pg_temp.pure(epsilon / 64) + pg_temp.pure(epsilon * 63 / 192) + epsilon * 63 / 96 + exp(-epsilon * 63 / 96) - 1
         + epsilon * 63 / 96 * (epsilon * 63 / 96 / 1024) ^ 2 / 6;
CREATE TEMP TABLE costs (query text, rho numeric);
INSERT INTO costs VALUES
  ('SELECT dp_median(x, 0.5, 0, 100) FROM t', 0.5 * 0.5 / 8),
  ('SELECT dp_quantile(x::numeric, 0.9, 0.5, 0, 100) FROM t', 0.5 * 0.5 / 8),
  ('SELECT dp_quantiles(x, ''{0.25,0.75}'', 0.5, 0, 100) FROM t', 0.5 * 0.5 / 16),
  ('SELECT dp_quantiles(x, ''{0.9,0.5,0.9,0,-0}'', 0.5, 0, 100) FROM t', 0.5 * 0.5 / 16),
  ('SELECT dp_quantiles(x, ''{0.1,0.2,0.3,0.4}'', 0.5, 0, 100) FROM t', 0.5 * 0.5 / 24),
  ('SELECT dp_quantiles(x, ''{0.5,0.5,0.5,0.5}'', 0.5, 0, 100) FROM t', 0.5 * 0.5 / 8),
  ('SELECT dp_median(x, 20, 0, 100) FROM t', pg_temp.pure(20)),
  ('SELECT dp_iqr(x, 0.5, 0, dp_options(''quantiles'', lower => 0, upper => 100)) FROM t', 0.5 * 0.5 / 8),
  ('SELECT dp_cdf(x, 0.5, 0, 100, dp_options(''histogram'')) FROM t', pg_temp.pure(0.5)),
  ('SELECT dp_cdf(x, 0.5, 0, 100, dp_options(''binary'', bins => 16)) FROM t', 4 * pg_temp.pure(0.125)),
  ('SELECT dp_user_mean(person, x, 0.5, 0, 100) FROM t', pg_temp.laplace(0.5)),
  ('SELECT dp_user_mean(person, x, 0.5, 0, 100, dp_options(''quantile'')) FROM t', pg_temp.laplace(0.5)),
  ('SELECT dp_user_variance(person, x, 0.5, 0, 100) FROM t', pg_temp.laplace(0.5)),
  ('SELECT dp_user_grid_stats(person, k::text, x, 0.5, 0, 100) FROM t', pg_temp.laplace(0.5)),
  ('SELECT dp_median(x, 0.5, 0, 100) FROM t GROUP BY k', 0.5 * 0.5 / 8),
  ('SELECT dp_median(x, 0.5, 0, 100) FROM t GROUP BY CUBE (k, person)', 4 * 0.5 * 0.5 / 8),
  ('SELECT dp_user_mean(person, x, 0.5, 0, 100) FROM t GROUP BY k', 2 * pg_temp.laplace(0.5)),
  ('SELECT dp_iqr(x, 0.5, 1e-6) FROM t', pg_temp.iqr(0.5)),
  ('SELECT dp_iqr(x, 0.5, 1e-6) FROM t GROUP BY CUBE (k)', 2 * pg_temp.iqr(0.5)),
  ('SELECT dp_keep_group(0.5, 1e-6) FROM t GROUP BY k', pg_temp.pure(0.5)),
  ('SELECT dp_keep_group(person, 0.5, 1e-6, 1) FROM t GROUP BY k', pg_temp.pure(0.5)),
  ('SELECT dp_keep_group(person, 0.5, 1e-6, 4) FROM t GROUP BY k', 4 * pg_temp.pure(0.125));
GRANT SELECT ON costs TO PUBLIC;
SET ROLE regress_dpq_zcdp;
DO $$
DECLARE
  cost record;
  before numeric;
  charged numeric;
BEGIN
  FOR cost IN SELECT * FROM costs LOOP
    before := (SELECT rho_spent FROM dp_budget);
    EXECUTE cost.query;
    charged := (SELECT rho_spent FROM dp_budget) - before;
    RAISE INFO '% %: %', round(cost.rho, 8),
      CASE WHEN charged BETWEEN cost.rho * (1 - 1e-10) AND cost.rho * (1 + 1e-10) THEN 'charged' ELSE format('but charged %s', charged) END,
      cost.query;
  END LOOP;
END
$$;
SELECT bool_and(rho >= epsilon * epsilon / 8) AS never_less FROM dp_ledger WHERE function = 'dp_median' AND epsilon < 1;
SELECT DISTINCT ON (rho) function, epsilon, delta, grouping_sets, round(rho, 8) AS rho, accountant
  FROM dp_ledger WHERE function = 'dp_median' ORDER BY rho, number;

-- Queries that do not fit, and queries that the accountant cannot charge
SELECT renew(1, 1e-6, 'zcdp');
SELECT dp_median(x, 1, 0, 100) FROM t;
\echo :SQLSTATE
SELECT person, dp_median(x, 0.4, 0, 100) FROM t GROUP BY ROLLUP (person);
SELECT dp_user_mean(person, x, 0.2, 0, 100) FROM t GROUP BY k;
SELECT rho_spent > 0 AS one_group_is_charged FROM budget;
-- The role's delta converts rho; charges may spend none of it unless charged_delta is granted.
SELECT dp_iqr(x, 0.1, 1e-9) FROM t;
\echo :SQLSTATE
SELECT k, dp_count(0.01) FROM t GROUP BY k HAVING dp_keep_group(0.1, 1e-9);
SELECT dp_iqr(x, 0.1, 0, dp_options('quantiles', lower => 0, upper => 100)) IS NOT NULL AS answered FROM t;
SELECT dp_budget_fits(0);
SELECT dp_budget_fits(1001);
SELECT count(*) AS none FROM dp_budget_fits(NULL);
RESET ROLE;
CREATE ROLE regress_dpq_nobody;
SET ROLE regress_dpq_nobody;
SELECT dp_iqr(x, 0.1, 1e-9) FROM t;
SELECT count(*) AS budgets FROM dp_budget_fits(0.1);
RESET ROLE;
DROP ROLE regress_dpq_nobody;
-- The owner sees all budgets.
SELECT DISTINCT role::text, accountant FROM dp_budget_fits(0.1) WHERE role::text LIKE 'regress\_dpq\_%' ORDER BY accountant;

-- From pure to zcdp: the rho of earlier charges is known and counts.
SELECT renew(1, 0, 'pure');
SET ROLE regress_dpq_zcdp;
SELECT count_answers('SELECT dp_median(x, 0.05, 0, 100) FROM t');
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_zcdp', 1, 1e-6, 'zcdp');
SELECT * FROM budget;
SET ROLE regress_dpq_zcdp;
SELECT count_answers('SELECT dp_median(x, 0.05, 0, 100) FROM t');
SELECT * FROM budget;
RESET ROLE;
-- From zcdp to pure: the sum of the epsilons is known. It exceeds the limit, so nothing remains.
SELECT dp_grant_budget('regress_dpq_zcdp', 1, accountant => 'pure');
SELECT * FROM budget;
SET ROLE regress_dpq_zcdp;
SELECT dp_median(x, 0.05, 0, 100) FROM t;
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_zcdp', 4);
SET ROLE regress_dpq_zcdp;
SELECT count_answers('SELECT dp_median(x, 0.05, 0, 100) FROM t');
RESET ROLE;
-- A limit below the spending
SELECT dp_grant_budget('regress_dpq_zcdp', 0.5, 1e-6, 'zcdp');
SELECT * FROM budget;
SELECT fits FROM dp_budget_fits(0.05) WHERE role = 'regress_dpq_zcdp';
SET ROLE regress_dpq_zcdp;
SELECT dp_median(x, 1e-6, 0, 100) FROM t;
RESET ROLE;

-- threat 207: a delta is divided between charges and the conversion of rho, and counts once.
SELECT renew(1, 1e-6, 'zcdp', 1e-6);
\echo :SQLSTATE
SELECT renew(1, 1e-6, 'zcdp', -1e-7);
SELECT renew(1, 1e-6, 'zcdp', 'NaN');
SELECT renew(1, 1e-6, 'pure', 0);
\echo :SQLSTATE
SELECT renew(1, 1e-6, 'zcdp', 6e-7);
SELECT rho_limit = dpquantile.rho_within(1, 4e-7) AS of_the_rest, rho_limit < dpquantile.rho_within(1, 1e-6) AS less, charged_delta
  FROM dp_budget WHERE role = 'regress_dpq_zcdp';
SELECT * FROM budget;
SET ROLE regress_dpq_zcdp;
SELECT count(*) >= 0 AS answered FROM (SELECT k, dp_count(0.01) FROM t GROUP BY k HAVING dp_keep_group(0.1, 4e-7)) s;
SELECT function, epsilon, delta, round(rho, 8) AS rho, accountant FROM dp_ledger ORDER BY number;
SELECT * FROM budget;
SELECT dp_iqr(x, 0.01, 3e-7) FROM t;
\echo :SQLSTATE
SELECT dp_iqr(x, 0.3, 1e-7) FROM t;
SELECT dp_iqr(x, 0.01, 2e-7) AS declined FROM generate_series(0, 1, 0.5) x;
SELECT dp_iqr(x, 0.01, 1e-200) FROM t;
SELECT delta_spent, delta_remaining FROM budget;
SELECT private_aggregate, epsilon, delta, round(rho::numeric, 8) AS rho FROM dp_explain('SELECT dp_iqr(x, 0.1, 1e-9), dp_median(x, 0.1, 0, 100) FROM t');
RESET ROLE;
SELECT epsilon_spent = dpquantile.six_digits(dpquantile.epsilon_of_rho(rho_spent::float8, 4e-7), true) AS at_the_rest
  FROM dp_budget WHERE role = 'regress_dpq_zcdp';

-- threat 208: a change of the division, or of the accountant, forgets no delta.
SELECT renew(3, 1e-6, 'pure');
SET ROLE regress_dpq_zcdp;
-- (There are too few rows: dp_iqr declines, except with probability 1e-9.)
SELECT dp_iqr(x, 0.05, 1e-9) AS declined FROM generate_series(0, 1, 0.5) x;
SELECT function, epsilon, delta, round(rho, 8) AS rho, accountant FROM dp_ledger;
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-6, 'zcdp');
\echo :SQLSTATE
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-6, 'zcdp', charged_delta => 1.5e-9);
SELECT * FROM budget;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, charged_delta => 5e-10);
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-9);
SET ROLE regress_dpq_zcdp;
SELECT dp_iqr(x, 0.05, 1e-9) FROM t;
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, accountant => 'pure');
SELECT * FROM budget;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, accountant => 'zcdp');
-- The same holds after the budget row was lost, because the ledger has the charge, and after an archiving.
DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_zcdp'::regrole;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-6, 'zcdp');
SELECT count(*) AS budgets FROM budget;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-6, 'zcdp', charged_delta => 1e-9);
SELECT * FROM budget;
SELECT count(*) AS archived FROM dp_archive_ledger('infinity') WHERE role = 'regress_dpq_zcdp';
DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_zcdp'::regrole;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-6, 'zcdp', charged_delta => 1e-9);
SELECT * FROM budget;
DELETE FROM dpquantile.budget_name WHERE role_name = 'regress_dpq_zcdp';
-- A build before 0.3.0 gave a charge with a delta no rho: it cannot be counted.
SELECT renew(3, 1e-6, 'pure');
SET ROLE regress_dpq_zcdp;
SELECT dp_iqr(x, 0.05, 1e-9) AS declined FROM generate_series(0, 1, 0.5) x;
RESET ROLE;
UPDATE dpquantile.ledger SET rho = NULL WHERE role_name = 'regress_dpq_zcdp';
UPDATE dpquantile.budget SET rho_spent = 0, converted_delta = 0 WHERE role = 'regress_dpq_zcdp'::regrole;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-6, 'zcdp', charged_delta => 1e-9);
\echo :SQLSTATE
SELECT * FROM budget;
DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_zcdp'::regrole;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-6, 'zcdp', charged_delta => 1e-9);
SELECT dp_grant_budget('regress_dpq_zcdp', 3);
SELECT * FROM budget;

-- A lost budget row of accountant zcdp is restored from the ledger.
SELECT renew(3, 1e-6, 'zcdp');
SET ROLE regress_dpq_zcdp;
SELECT dp_median(x, 0.5, 0, 100) IS NOT NULL AS answered FROM t;
SELECT dp_user_mean(person, x, 0.25, 0, 100) IS NOT NULL AS answered FROM t;
RESET ROLE;
CREATE TEMP TABLE kept AS SELECT * FROM dp_budget WHERE role = 'regress_dpq_zcdp';
DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_zcdp'::regrole;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-6, 'zcdp');
SELECT * FROM kept EXCEPT SELECT * FROM dp_budget;
SELECT accountant, round(rho_spent, 8) AS rho_spent, epsilon_sum FROM budget;

-- A role cannot change back to pure after a query stated in rho alone. (Updates of the tables simulate such a query.)
UPDATE dpquantile.ledger SET epsilon = NULL WHERE role_name = 'regress_dpq_zcdp' AND function = 'dp_median';
UPDATE dpquantile.budget SET has_rho_alone = true, epsilon_spent = 0.25 WHERE role = 'regress_dpq_zcdp'::regrole;
SELECT accountant, epsilon_spent, epsilon_sum FROM budget;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, accountant => 'pure');
\echo :SQLSTATE
SELECT dp_grant_budget('regress_dpq_zcdp', 4);
DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_zcdp'::regrole;
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-6);
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-6, 'zcdp');
SELECT accountant, round(rho_spent, 8) AS rho_spent, epsilon_sum FROM budget;
SELECT dp_revoke_budget('regress_dpq_zcdp');
SELECT dp_grant_budget('regress_dpq_zcdp', 3, 1e-6);
SELECT count(*) AS budgets FROM budget;

-- An unknown accountant allows no query.
BEGIN;
ALTER TABLE dpquantile.budget DROP CONSTRAINT budget_accountant_check, DROP CONSTRAINT budget_check;
UPDATE dpquantile.budget SET accountant = 'none', revoked = false WHERE role = 'regress_dpq_zcdp'::regrole;
COMMIT;
SET ROLE regress_dpq_zcdp;
SELECT dp_median(x, 1e-6, 0, 100) FROM t;
RESET ROLE;
DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_zcdp'::regrole;
ALTER TABLE dpquantile.budget
  ADD CONSTRAINT budget_accountant_check CHECK (accountant IN ('pure', 'zcdp')),
  ADD CONSTRAINT budget_check CHECK ((accountant = 'zcdp') = (rho_limit IS NOT NULL));

DELETE FROM dpquantile.ledger WHERE role_name IN ('regress_dpq_zcdp', 'regress_dpq_pure');
DELETE FROM dpquantile.budget WHERE role::text IN ('regress_dpq_zcdp', 'regress_dpq_pure');
DROP TABLE costs, kept;
DROP SCHEMA regress_dpq_accountants CASCADE;
DROP ROLE regress_dpq_zcdp, regress_dpq_pure;
