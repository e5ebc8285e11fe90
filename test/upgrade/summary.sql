-- What a database holds that an upgrade must keep (contents.sql makes it): terms and spending of each budget, the ledger,
-- its texts and its archive, released values, and what the views show. For psql -Atq as a superuser.
SET TimeZone = 'UTC';
SELECT 'budget', role, budget_id, epsilon_limit, epsilon_spent, delta_limit, delta_spent, rho_limit, rho_spent,
       has_rho_alone, accountant, smallest_charge, charges, revoked, charged_delta, converted_delta
  FROM dpquantile.budget WHERE role IN (SELECT oid FROM pg_roles) ORDER BY role::text, budget_id;
SELECT 'ledger', budget_id, number, charged_at, role_name, session_role_name, function, mechanism, neighbours, epsilon,
       delta, rho, accountant, grouping_sets, groups, query_hash
  FROM dpquantile.ledger ORDER BY budget_id, number;
SELECT 'text', budget_id, query_hash, query FROM dpquantile.query_text ORDER BY budget_id, query_hash;
SELECT 'name', budget_id, role_name, charges, epsilon, delta, rho, has_rho_alone, last_charged_at, converted_delta
  FROM dpquantile.budget_name ORDER BY budget_id, role_name;
SELECT 'released', name, md5(cdf::text), md5(dpquantile.cdf_send(cdf)), dp_cdf_rows(cdf), median FROM release ORDER BY name;
SELECT 'dp_budget', role, epsilon_limit, epsilon_spent, epsilon_remaining, delta_spent, delta_remaining, accountant,
       rho_spent, rho_remaining, epsilon_sum, smallest_charge
  FROM dp_budget WHERE role::regrole IN (SELECT oid FROM pg_roles) ORDER BY role;
SET SESSION AUTHORIZATION analyst;
SELECT 'analyst sees', role, epsilon_limit, epsilon_spent, epsilon_remaining FROM dp_budget;
SELECT 'analyst sees', number, charged_at, role, session_role, function, epsilon, query FROM dp_ledger;
RESET SESSION AUTHORIZATION;
