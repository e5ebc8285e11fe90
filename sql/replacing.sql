-- Budgets with neighbours "replace": every query is charged what it costs for replacing the value of one row.
\set SHOW_CONTEXT never
CREATE TABLE person AS SELECT i AS id, i % 3 AS team, i % 90 AS age, i % 7 - 3 AS change, i % 20 AS visitor FROM generate_series(1, 60) i;
CREATE ROLE regress_dpq_replace;
CREATE ROLE regress_dpq_zrow;
GRANT SELECT ON person TO regress_dpq_replace, regress_dpq_zrow;

SELECT dp_grant_budget('regress_dpq_replace', 1, neighbours => 'add');
SELECT dp_grant_budget('regress_dpq_replace', 100, 0.01, neighbours => 'replace', smallest_charge => 0.0001);
SELECT epsilon_limit, accountant, neighbours FROM dp_budget WHERE role = 'regress_dpq_replace';
-- The charge of one query, in the unit of the budget.
CREATE FUNCTION charge_of(query text) RETURNS TABLE (epsilon numeric, delta numeric, rho numeric)
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'SET ROLE regress_dpq_replace';
  EXECUTE query;
  EXECUTE 'RESET ROLE';
  RETURN QUERY SELECT round(l.epsilon, 9), l.delta, round(l.rho, 9) FROM dp_ledger l
                WHERE l.role = 'regress_dpq_replace' AND l.neighbours = 'replace the value of one row' ORDER BY l.number DESC LIMIT 1;
END
$$;
SELECT title, (charge_of('SELECT ' || call || ' FROM person')).*
  FROM (VALUES (1, 'count', 'dp_count(0.1)'),
               (2, 'distinct', 'dp_count_distinct(age, 0.1)'),
               (3, 'sum of one sign', 'dp_sum(age, 0.1, 0, 90)'),
               (4, 'sum of both signs', 'dp_sum(change, 0.1, -3, 4)'),
               (5, 'mean', 'dp_avg(age, 0.1, 0, 90)'),
               (6, 'statistics', 'dp_stats(age, 0.1, 0, 90)'),
               (7, 'histogram', 'dp_histogram(age, 0.1, ''{0,30,60,90}'')'),
               (8, 'median', 'dp_median(age, 0.1, 0, 90)'),
               (9, 'quantile 0.9', 'dp_quantile(age, 0.9, 0.1, 0, 90)'),
               (10, 'quantile 0.1', 'dp_quantile(age, 0.1, 0.1, 0, 90)'),
               (11, 'joint quantiles', 'dp_quantiles(age, ''{0.8,0.9}'', 0.1, 0, 90, dp_options(method => ''joint''))'),
               (12, 'level by level', 'dp_quantiles(age, ''{0.8,0.9,0.95}'', 0.1, 0, 90, dp_options(method => ''approximate''))'),
               (13, 'CDF', 'dp_cdf(age, 0.1, 0, 90, dp_options(bins => 9))'),
               (14, 'iqr', 'dp_iqr(age, 0.1, 1e-6)'),
               (15, 'iqr by quantiles', 'dp_iqr(age, 0.1, 0, dp_options(method => ''quantiles'', lower => 0, upper => 90))'),
               (16, 'users', 'dp_user_mean(visitor, age, 0.1, 0, 90)'),
               (17, 'bounded, 1', 'dp_user_mean(visitor, age, 0.1, 0, 90, dp_options(method => ''bounded'', max_contributions => 1))'),
               (18, 'bounded, 10', 'dp_user_variance(visitor, age, 0.1, 0, 90, dp_options(method => ''bounded'', max_contributions => 10))'))
    AS v (number, title, call)
 ORDER BY number;
SELECT title, (charge_of('SELECT team FROM person GROUP BY team HAVING ' || call)).*
  FROM (VALUES (1, 'rows', 'dp_keep_group(0.1, 1e-6)'),
               (2, 'users, 1', 'dp_keep_group(visitor, 0.1, 1e-6, 1)'),
               (3, 'users, 4', 'dp_keep_group(visitor, 0.1, 1e-6, 4)')) AS v (number, title, call)
 ORDER BY number;
-- The budget has the same amounts. All entries of the ledger are for replacing.
SELECT b.epsilon_spent = l.epsilon AS epsilon, b.delta_spent = l.delta AS delta, l.neighbours
  FROM dp_budget b, (SELECT sum(epsilon) AS epsilon, sum(delta) AS delta, array_agg(DISTINCT neighbours) AS neighbours
                       FROM dp_ledger WHERE role = 'regress_dpq_replace') l
 WHERE role = 'regress_dpq_replace';

-- What is spent cannot be counted for other neighbours. A grant without them keeps them, also after a revocation.
SELECT dp_grant_budget('regress_dpq_replace', 200, neighbours => 'add or remove');
SELECT dp_grant_budget('regress_dpq_replace', 200, neighbours => 'replace');
SELECT dp_revoke_budget('regress_dpq_replace');
SELECT dp_grant_budget('regress_dpq_replace', 5.2);
SELECT neighbours, epsilon_spent > 0 AS spent FROM dp_budget WHERE role = 'regress_dpq_replace';
SELECT dp_add_charge('regress_dpq_replace', 0.1);
SELECT function, neighbours FROM dp_ledger WHERE role = 'regress_dpq_replace' ORDER BY number DESC LIMIT 1;

-- A refusal tells the amount for replacing.
SELECT dp_grant_budget('regress_dpq_zrow', 0.3);
SELECT dp_grant_budget('regress_dpq_zrow', 0.15, neighbours => 'replace', smallest_charge => 0.05);
SET ROLE regress_dpq_zrow;
SELECT dp_median(age, 0.1, 0, 90) FROM person;
SELECT dp_quantile(age, 0.75, 0.03, 0, 90) FROM person;
SELECT dp_iqr(age, 0.1, 1e-6) FROM person;
SELECT dp_keep_group(visitor, 0.1, 1e-6, 1) FROM person;
SELECT query, fits FROM dp_budget_fits(0.05);
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_zrow', 1, 1e-6);
SET ROLE regress_dpq_zrow;
SELECT count(dp_keep_group) FROM (SELECT dp_keep_group(visitor, 0.1, 1e-6, 1) FROM person) s;
RESET ROLE;

-- With nothing spent they may be changed. With accountant zcdp, rho is for replacing as well.
SELECT dp_grant_budget('regress_dpq_zrow', 1, 1e-6, 'zcdp', neighbours => 'add or remove');
SELECT dp_grant_budget('regress_dpq_zrow', 1, 1e-6, neighbours => 'replace');
SELECT accountant, neighbours FROM dp_budget WHERE role = 'regress_dpq_zrow';
SELECT query, round(rho_each::numeric, 12) AS rho_each, fits FROM dp_budget_fits(0.05) WHERE role = 'regress_dpq_zrow';
SET ROLE regress_dpq_zrow;
SELECT dp_count(NULL, dp_options(rho => 1e-4)) IS NOT NULL AS count,
       dp_sum(change, NULL, -4, 4, dp_options(rho => 1e-4)) IS NOT NULL AS sum,
       dp_avg(age, NULL, 0, 90, dp_options(rho => 1e-4)) IS NOT NULL AS avg,
       dp_cdf(age, NULL, 0, 90, dp_options(bins => 9, rho => 1e-4)) IS NOT NULL AS cdf,
       dp_median(age, NULL, 0, 90, dp_options(rho => 1e-4)) IS NOT NULL AS median,
       dp_user_mean(visitor, age, NULL, 0, 90, dp_options(rho => 1e-4)) IS NOT NULL AS users,
       dp_user_grid_stats(visitor, 'a', age, NULL, 0, 90, dp_options(rho => 1e-4)) IS NOT NULL AS grids,
       dp_user_mean(visitor, age, NULL, 0, 90, dp_options('bounded', max_contributions => '1', rho => 1e-4)) IS NOT NULL AS bounded_1,
       dp_user_variance(visitor, age, NULL, 0, 90, dp_options('bounded', max_contributions => '10', rho => 1e-2)) IS NOT NULL AS bounded_10,
       dp_count(0.01) IS NOT NULL AS count_of_epsilon, dp_histogram(age, 0.01, '{0,90}') IS NOT NULL AS histogram FROM person;
SELECT function, neighbours, epsilon, rho FROM dp_ledger ORDER BY number;
SELECT dp_median(age, NULL, 0, 90, dp_options(rho => 0.01)) FROM person;
RESET ROLE;

-- A role that is made again keeps the neighbours of its spending. Where the name has both, all counts for replacing: the rest twice, in rho
-- four times.
CREATE ROLE regress_dpq_again;
SELECT dp_grant_budget('regress_dpq_again', 9, neighbours => 'replace');
SELECT dp_add_charge('regress_dpq_again', 1, 0, 0.5);
SELECT count(*) FROM dp_archive_ledger('infinity') WHERE role = 'regress_dpq_again';
DROP ROLE regress_dpq_again;
CREATE ROLE regress_dpq_again;
SELECT dp_grant_budget('regress_dpq_again', 9, neighbours => 'add or remove');
SELECT dp_grant_budget('regress_dpq_again', 9);
SELECT neighbours, epsilon_spent, rho_spent FROM dp_budget WHERE role = 'regress_dpq_again';
CREATE ROLE regress_dpq_other;
SELECT dp_grant_budget('regress_dpq_other', 9);
SELECT dp_add_charge('regress_dpq_other', 1, 0, 0.5);
DROP ROLE regress_dpq_again;
ALTER ROLE regress_dpq_other RENAME TO regress_dpq_again;
SELECT dp_grant_budget('regress_dpq_again', 9);
SELECT neighbours, epsilon_spent, rho_spent FROM dp_budget WHERE role = 'regress_dpq_again';
DROP ROLE regress_dpq_again;
CREATE ROLE regress_dpq_again;
SELECT dp_grant_budget('regress_dpq_again', 9);
SELECT neighbours, epsilon_spent, rho_spent FROM dp_budget WHERE role = 'regress_dpq_again';

DROP TABLE person;
DROP FUNCTION charge_of;
DROP ROLE regress_dpq_replace, regress_dpq_zrow, regress_dpq_again;
