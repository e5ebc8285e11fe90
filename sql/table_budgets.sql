-- threat 80: budgets of a role for protected tables. What private access to a table answers is charged to the budget for the table and
-- to the general budget of the role, if there is one: all or nothing. (table_spending.sql: what is spent is never lost.)
\set SHOW_CONTEXT never
\set VERBOSITY terse
CREATE ROLE regress_dpq_tb_owner LOGIN;
CREATE ROLE regress_dpq_tb LOGIN;
CREATE SCHEMA regress_dpq_tb AUTHORIZATION regress_dpq_tb_owner;
GRANT USAGE ON SCHEMA regress_dpq_tb TO regress_dpq_tb;
SELECT dp_restrict_role('regress_dpq_tb');
SET search_path = regress_dpq_tb, public;
SET SESSION AUTHORIZATION regress_dpq_tb_owner;
CREATE TABLE visits (patient text, cost float8);
INSERT INTO visits SELECT 'patient ' || i % 20, i FROM generate_series(1, 100) i;
CREATE TABLE staff (name text, salary float8);
INSERT INTO staff SELECT 'name ' || i, i FROM generate_series(1, 100) i;
CREATE TABLE papers (title text, pages float8);
CREATE VIEW cheap AS SELECT patient, cost FROM visits WHERE cost < 50;
CREATE TABLE numbers AS SELECT x::float8 FROM generate_series(1, 10) x;
GRANT SELECT ON numbers TO regress_dpq_tb;
CREATE FUNCTION approved() RETURNS boolean LANGUAGE sql SECURITY DEFINER SET search_path = regress_dpq_tb, public, pg_temp
  RETURN (SELECT dp_count(1) IS NOT NULL FROM visits);
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_tb', 3, on_table => 'visits');
SET SESSION AUTHORIZATION regress_dpq_tb_owner;
SELECT dp_protect_table(t), dp_grant_private_access(t, 'regress_dpq_tb', epsilon => 0.5)
  FROM unnest('{visits,staff,papers,cheap}'::regclass[]) t;
RESET SESSION AUTHORIZATION;
CREATE VIEW budgets AS
  SELECT on_table, epsilon_limit AS epsilon, epsilon_spent AS spent, epsilon_remaining AS remaining, delta_remaining AS delta, accountant
    FROM dp_budget WHERE role::text = 'regress_dpq_tb' ORDER BY on_table::text NULLS FIRST;
CREATE VIEW charges AS
  SELECT number, function, epsilon, tables FROM dp_ledger WHERE role = 'regress_dpq_tb' ORDER BY number;
\set count_visits 'SELECT dp_count(1) IS NOT NULL AS answered FROM visits'
\set count_staff 'SELECT dp_count(1) IS NOT NULL AS answered FROM staff'

-- ---- Without a general budget ----------------------------------------------------------------------

SELECT dp_grant_budget('regress_dpq_tb', 3, on_table => 'visits'), dp_grant_budget('regress_dpq_tb', 5, on_table => 'staff');
SELECT * FROM budgets;
SET SESSION AUTHORIZATION regress_dpq_tb;
:count_visits;
-- Standard aggregates are charged like private ones.
SELECT count(*) IS NOT NULL AS answered FROM visits;
-- A session may lower the epsilon of its grant, and not raise it.
SET dpquantile.epsilon = 0.75;
SELECT count(*) FROM visits;
RESET dpquantile.epsilon;
:count_visits;
:count_visits;
SELECT dp_count(0.5) IS NOT NULL AS answered FROM visits;
:count_staff;
-- A table without a budget, and rows that are of no protected table, would be charged to the general budget.
SELECT dp_count(1) FROM papers;
SELECT dp_count(1) FROM cheap;
SELECT dp_count(1) FROM numbers;
SELECT approved();
SELECT on_table, epsilon_spent FROM dp_budget ORDER BY on_table::text;
-- Threats 80 and 121: a list that a query names like the mark of a query level is no mark.
SELECT tables FROM dp_explain('SELECT dp_count(1) FROM visits JOIN (VALUES (1.0::float8), (2)) AS "dpquantile level"(x) ON x = cost');
RESET SESSION AUTHORIZATION;
SELECT * FROM budgets;
SELECT * FROM charges;
\set VERBOSITY default
SET SESSION AUTHORIZATION regress_dpq_tb;
SELECT dp_count(1) FROM papers;
:count_visits;
RESET SESSION AUTHORIZATION;
\set VERBOSITY terse

-- ---- Several tables in one query -------------------------------------------------------------------

-- Each release is charged to its own table.
SELECT dp_grant_budget('regress_dpq_tb', 10, on_table => t) FROM unnest('{visits,staff}'::regclass[]) t;
SET SESSION AUTHORIZATION regress_dpq_tb;
SELECT count(*) FROM (SELECT dp_count(1) FROM visits UNION ALL SELECT dp_count(0.25) FROM staff) q;
SELECT (SELECT dp_count(1) FROM visits) + (SELECT dp_count(0.25) FROM staff) IS NOT NULL AS answered;
WITH v AS (SELECT dp_sum(cost, 1, 0, 100) AS s FROM visits), s AS (SELECT dp_sum(salary, 0.25, 0, 100) AS s FROM (SELECT * FROM staff) t)
SELECT v.s + s.s IS NOT NULL AS answered FROM v, s;
-- A release over answers of others, or over rows that one may read, is for the general budget, which is missing.
SELECT dp_count(1) FROM (SELECT dp_count(0.5) FROM visits) v;
SELECT (SELECT dp_count(1) FROM numbers) + (SELECT dp_count(0.5) FROM visits) IS NOT NULL AS answered;
RESET SESSION AUTHORIZATION;
SELECT * FROM budgets;
SELECT * FROM charges WHERE number > 4;

-- ---- With a general budget -------------------------------------------------------------------------

-- It caps everything, and starts with all that was charged.
SELECT dp_grant_budget('regress_dpq_tb', 11);
SELECT * FROM budgets;
SET SESSION AUTHORIZATION regress_dpq_tb;
:count_visits;
SELECT dp_count(0.25) IS NOT NULL AS answered FROM papers;
SELECT approved();
SELECT dp_count(0.125) IS NOT NULL AS answered FROM numbers;
-- The general budget is used up, those for tables are not.
SELECT dp_count(1) FROM visits;
RESET SESSION AUTHORIZATION;
SELECT * FROM budgets;
SELECT dp_grant_budget('regress_dpq_tb', 100, 1e-5), dp_grant_budget('regress_dpq_tb', 8.5, on_table => 'visits');
SET SESSION AUTHORIZATION regress_dpq_tb;
-- A refusal by one of the budgets charges none, also if only one of several aggregates does not fit.
SELECT dp_count(1), dp_sum(cost, 0.9, 0, 100) FROM visits;
SELECT dp_count(0.9), dp_sum(cost, 0.9, 0, 100) FROM visits;
RESET SESSION AUTHORIZATION;
SELECT * FROM budgets;

-- ---- Terms -----------------------------------------------------------------------------------------

-- Each budget has its own accountant, delta and smallest charge. All must take the charge.
SELECT dp_grant_budget('regress_dpq_tb', 10, 1e-6, 'zcdp', on_table => 'staff');
SET SESSION AUTHORIZATION regress_dpq_tb;
SELECT dp_iqr(salary, 1, 1e-9) FROM staff;
SELECT dp_median(salary, NULL, 0, 100, dp_options(rho => 0.01)) FROM staff;
SELECT dp_sum(salary, 0.5, 0, 100) IS NOT NULL AS answered FROM staff;
SELECT fits FROM dp_budget_fits(0.5) WHERE query = 'any other without delta';
SELECT accountant, fits FROM dp_budget_fits(0.5, 'staff') WHERE query = 'any other without delta';
SELECT accountant, fits FROM dp_budget_fits(0.5, 'visits') WHERE query = 'any other without delta';
SELECT accountant, fits FROM dp_budget_fits(0.5::text::float8, 'visits') WHERE query = 'any other without delta';
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_tb', 20, smallest_charge => 0.4, on_table => 'visits');
SET SESSION AUTHORIZATION regress_dpq_tb;
SELECT dp_count(0.3) FROM visits;
SELECT dp_iqr(cost, 1, 1e-9) FROM visits;
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_tb', 20, neighbours => 'replace', on_table => 'visits');
SELECT dp_grant_budget('regress_dpq_tb', 20, every => '30 days', on_table => 'visits');
-- A general budget that is renewed, and one for a table that is not.
SELECT dp_grant_budget('regress_dpq_tb', 1, every => '1 year');
UPDATE dpquantile.budget SET period_start = period_start - interval '1 year' WHERE role::text = 'regress_dpq_tb' AND table_id IS NULL;
SELECT dp_grant_budget('regress_dpq_tb', 9.5, on_table => 'visits');
SET SESSION AUTHORIZATION regress_dpq_tb;
SELECT dp_count(0.6) IS NOT NULL AS answered FROM visits;
SELECT dp_count(0.6) FROM staff;
RESET SESSION AUTHORIZATION;
SELECT on_table, every, epsilon_spent, epsilon_sum FROM dp_budget WHERE role::text = 'regress_dpq_tb' ORDER BY on_table::text;
-- And the other way round
SELECT dp_grant_budget('regress_dpq_tb', 2, every => '1 month', on_table => 'visits');
UPDATE dpquantile.budget b SET period_start = b.period_start - interval '1 month' FROM dpquantile.table_identity i
 WHERE b.role::text = 'regress_dpq_tb' AND i.table_id = b.table_id AND i.relation = 'visits'::regclass;
SELECT dp_revoke_budget('regress_dpq_tb'), dp_grant_budget('regress_dpq_tb', 100), dp_grant_budget('regress_dpq_tb', 2, every => '1 month', on_table => 'visits');
SET SESSION AUTHORIZATION regress_dpq_tb;
SELECT dp_count(1.5) IS NOT NULL AS answered FROM visits;
SELECT dp_count(1.5) FROM visits;
RESET SESSION AUTHORIZATION;
SELECT subject, status, detail FROM dp_health() WHERE check_name = 'budget' AND subject LIKE 'regress\_dpq\_tb%' ORDER BY 1;
UPDATE dpquantile.budget b SET period_start = b.period_start + interval '1 year' FROM dpquantile.table_identity i
 WHERE b.role::text = 'regress_dpq_tb' AND i.table_id = b.table_id AND i.relation = 'visits'::regclass;
SET SESSION AUTHORIZATION regress_dpq_tb;
SELECT dp_count(1.5) FROM visits;
RESET SESSION AUTHORIZATION;
SELECT subject, status FROM dp_health() WHERE check_name = 'budget' AND subject LIKE 'regress\_dpq\_tb%' ORDER BY 1, 2;

-- ---- Revocation ------------------------------------------------------------------------------------

-- A revoked budget closes its table, also if there is a general one.
SELECT dp_grant_budget('regress_dpq_tb', 100, on_table => t) FROM unnest('{visits,staff}'::regclass[]) t;
SELECT dp_revoke_budget('regress_dpq_tb', 'visits');
SELECT dp_revoke_budget('regress_dpq_tb', 'visits');
SELECT dp_revoke_budget('regress_dpq_tb', 'papers');
SET SESSION AUTHORIZATION regress_dpq_tb;
:count_visits;
:count_staff;
SELECT dp_count(1) IS NOT NULL AS answered FROM papers;
SELECT query, fits FROM dp_budget_fits(1, 'visits') LIMIT 1;
SELECT query, fits > 0 AS fits FROM dp_budget_fits(1, 'staff') LIMIT 1;
SELECT private_aggregate, epsilon, problem FROM dp_explain('SELECT dp_count(1) FROM visits');
SELECT private_aggregate, epsilon, problem FROM dp_explain('SELECT dp_count(1) FROM staff');
RESET SESSION AUTHORIZATION;
SELECT role, fits FROM dp_budget_fits(1, 'visits') WHERE role = 'regress_dpq_tb' LIMIT 1;
-- Without a table all are revoked.
SELECT dp_revoke_budget('regress_dpq_tb');
SELECT * FROM budgets;
SET SESSION AUTHORIZATION regress_dpq_tb;
:count_staff;
SELECT dp_count(1) FROM papers;
SELECT dp_count(1) FROM numbers;
RESET SESSION AUTHORIZATION;
SELECT dp_revoke_budget('regress_dpq_tb');
SELECT dp_grant_budget('regress_dpq_tb', 100, on_table => 'staff');
SET SESSION AUTHORIZATION regress_dpq_tb;
:count_staff;
SELECT dp_count(1) FROM numbers;
RESET SESSION AUTHORIZATION;
-- Without a general budget those for tables decide which method is the cheapest, and the ledger has their accountant.
SELECT dp_grant_budget('regress_dpq_tb', 100, 1e-6, 'zcdp', on_table => 'staff');
SET SESSION AUTHORIZATION regress_dpq_tb;
SELECT dp_quantiles(salary, '{0.25, 0.5, 0.75}', 0.1, 0, 100) IS NOT NULL AS answered FROM staff;
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_tb', 100, accountant => 'pure', on_table => 'staff');
SET SESSION AUTHORIZATION regress_dpq_tb;
SELECT dp_quantiles(salary, '{0.25, 0.5, 0.75}', 0.1, 0, 100) IS NOT NULL AS answered FROM staff;
SELECT mechanism, accountant FROM dp_ledger ORDER BY number DESC LIMIT 2;
RESET SESSION AUTHORIZATION;
SELECT dp_revoke_budget('regress_dpq_tb');
-- threat 207: plain SQL chooses groups under accountant zcdp, with the delta that is granted to charges.
SET SESSION AUTHORIZATION regress_dpq_tb_owner;
SELECT dp_grant_private_access('visits', 'regress_dpq_tb', epsilon => 0.05, delta => 1e-9);
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_tb', 100, 1e-6, 'zcdp', on_table => 'visits');
\set keys 'SELECT count(*) >= 0 AS answered FROM (SELECT patient, count(*) FROM visits GROUP BY patient) v'
SET SESSION AUTHORIZATION regress_dpq_tb;
:keys;
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_tb', 100, charged_delta => 1e-9, on_table => 'visits');
SELECT dp_grant_budget('regress_dpq_tb', 100, on_table => 'visits');
SET SESSION AUTHORIZATION regress_dpq_tb;
:keys;
:keys;
SELECT function, delta, rho > 0 AS has_rho, accountant FROM dp_ledger ORDER BY number DESC LIMIT 1;
RESET SESSION AUTHORIZATION;
SELECT dp_revoke_budget('regress_dpq_tb');
-- dp_explain tells at which aggregate a budget ends: the general one, that for a table, in epsilon or rho, and also of what is asked before. Of what fits it says nothing.
CREATE FUNCTION problems(query text) RETURNS TABLE (number bigint, problem text) LANGUAGE sql AS
  'SELECT number, left(problem, 110) FROM dp_explain(query) WITH ORDINALITY e (a, b, c, d, e, f, g, h, problem, i, j, number) WHERE problem IS NOT NULL';
\set four 'SELECT * FROM problems(''SELECT dp_count(0.1), dp_count(0.11), dp_count(0.12), dp_count(0.13) FROM visits'')'
SELECT dp_grant_budget('regress_dpq_tb', 1000, 0.1, 'pure'), dp_grant_budget('regress_dpq_tb', 1000, 0.1, 'pure', on_table => 'visits');
SET SESSION AUTHORIZATION regress_dpq_tb;
SELECT epsilon_spent + 0.25 AS general FROM dp_budget WHERE on_table IS NULL \gset
SELECT epsilon_spent + 0.35 AS of_visits FROM dp_budget WHERE on_table IS NOT NULL \gset
:four;
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_tb', :of_visits, 0.1, on_table => 'visits');
SET SESSION AUTHORIZATION regress_dpq_tb;
:four;
SELECT * FROM problems('SELECT count(*) FROM visits WHERE cost > (SELECT dp_count(0.34) FROM visits)');
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_tb', :general, 0.1);
SET SESSION AUTHORIZATION regress_dpq_tb;
:four;
SELECT * FROM problems('SELECT dp_count(0.1), dp_count(0.11), dp_count(0.12) FROM generate_series(1, 3)');
SELECT dp_count(0.1), dp_count(0.11), dp_count(0.12) FROM visits;
SELECT abs(dp_count(0.1)) >= 0 AS a, abs(dp_count(0.11)) >= 0 AS b FROM visits;
RESET SESSION AUTHORIZATION;
SELECT dp_revoke_budget('regress_dpq_tb');

DROP FUNCTION problems(text);
DROP VIEW budgets, charges;
RESET search_path;
SET client_min_messages = error;
DROP SCHEMA regress_dpq_tb CASCADE;
DROP OWNED BY regress_dpq_tb_owner, regress_dpq_tb;
SELECT count(*) AS rows_of_dropped_tables FROM dpquantile.budget WHERE table_id IS NOT NULL;
DELETE FROM dpquantile.ledger WHERE role_name = 'regress_dpq_tb';
DELETE FROM dpquantile.budget_name WHERE role_name = 'regress_dpq_tb';
DELETE FROM dpquantile.budget WHERE role::text = 'regress_dpq_tb';
DROP ROLE regress_dpq_tb_owner, regress_dpq_tb;
