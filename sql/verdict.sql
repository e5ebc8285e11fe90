-- dpquantile.verdict: whether charges fit in a budget. The workers, grants and dp_budget_fits ask it.
CREATE VIEW regress_dpq_asked AS
  SELECT number, note, dpquantile.verdict(accountant, smallest_charge => 0.1, delta_limit => delta_limit, epsilon_left => epsilon_left,
                                          delta_left => delta_left, rho_left => 0.5, epsilon => epsilon, delta => delta, rho => rho,
                                          least_epsilon => epsilon, least_rho => rho) AS verdict
    FROM (VALUES (1, 'all that is left', 'pure', 0, 1, 0, 1, 0, NULL),
                 (2, 'with a delta', 'pure', 1e-6, 1, 1e-6, 1, 1e-6, NULL),
                 (3, 'more than is left', 'pure', 0, 1, 0, 1.0000000001, 0, 0.5),
                 (4, 'more delta than is left', 'pure', 1e-6, 1, 5e-7, 1, 1e-6, NULL),
                 (5, 'delta without a limit', 'pure', 0, 1, 0, 1, 1e-6, NULL),
                 (6, 'delta is overspent', 'pure', 1e-6, 1, -1e-9, 1, 0, NULL),
                 (7, 'epsilon is overspent', 'pure', 0, -1, 0, 1e-9, 0, NULL),
                 (8, 'below the smallest charge', 'pure', 0, 1, 0, 0.0999, 0, NULL),
                 (9, 'stated in rho', 'pure', 0, 1, 0, NULL, 0, 0.5),
                 (10, 'all rho that is left', 'zcdp', 1e-6, 1, 0, 100, 0, 0.5),
                 (11, 'more rho than is left', 'zcdp', 1e-6, 1, 0, 0.1, 0, 0.5000001),
                 (12, 'rho below the smallest charge', 'zcdp', 1e-6, 1, 0, 1, 0, 0.09),
                 (13, 'rho with all delta that is left', 'zcdp', 1e-6, 1, 1e-7, 0.1, 1e-7, 0.5),
                 (14, 'rho with more delta than is left', 'zcdp', 1e-6, 1, 1e-7, 0.1, 1.0001e-7, 0.5),
                 (15, 'rho with delta without a limit', 'zcdp', 0, 1, 0, 0.1, 1e-9, 0.5),
                 (16, 'rho where delta is overspent', 'zcdp', 1e-6, 1, -1e-9, 0.1, 0, 0.5),
                 (17, 'rho and delta, more rho than is left', 'zcdp', 1e-6, 1, 1e-7, 0.1, 1e-7, 0.6),
                 -- No charge has such costs, and no budget such terms: nothing of this fits.
                 (20, 'negative', 'pure', 0, 1, 0, -1, 0, NULL),
                 (21, 'negative delta', 'pure', 1e-6, 1, 0, 1, -1, NULL),
                 (22, 'negative rho', 'zcdp', 1e-6, 1, 0, 1, 0, -1),
                 (23, 'no number', 'pure', 0, 1, 0, 'NaN', 0, NULL),
                 (24, 'no number in delta', 'pure', 1e-6, 1, 1e-6, 1, 'NaN', NULL),
                 (25, 'no number in rho', 'zcdp', 1e-6, 1, 0, 1, 0, 'NaN'),
                 (26, 'infinite', 'pure', 0, 1, 0, 'Infinity', 0, NULL),
                 (27, 'infinite rho', 'zcdp', 1e-6, 1, 0, 1, 0, 'Infinity'),
                 (34, 'rho with a negative delta', 'zcdp', 1e-6, 1, 1e-7, 1, -1, 0.5),
                 (35, 'rho with unknown delta', 'zcdp', 1e-6, 1, 1e-7, 1, NULL, 0.5),
                 (36, 'unknown rho', 'zcdp', 1e-6, 1, 1e-7, 1, 0, NULL),
                 (28, 'minus infinity', 'pure', 0, 1, 0, '-Infinity', 0, NULL),
                 (29, 'huge', 'pure', 0, 1, 0, 1e100000::numeric, 0, NULL),
                 (30, 'unknown left', 'pure', 0, NULL, 0, 1, 0, NULL),
                 (31, 'unknown delta', 'pure', 1e-6, 1, 1e-6, 1, NULL, NULL),
                 (32, 'unknown accountant', 'none', 0, 1, 0, 1, 0, 0.5),
                 (33, 'no accountant', NULL, 0, 1, 0, 1, 0, 0.5))
         t (number, note, accountant, delta_limit, epsilon_left, delta_left, epsilon, delta, rho);
SELECT * FROM regress_dpq_asked ORDER BY number;
DROP VIEW regress_dpq_asked;
-- Without a smallest charge, or one that is larger than all costs
SELECT dpquantile.verdict('pure', NULL, 0, 1, 0, NULL, 1, 0, 1, 1, 1) IS NULL AS without_smallest,
       dpquantile.verdict('pure', 'NaN', 0, 1, 0, NULL, 1, 0, 1, 1, 1) AS no_number;

-- What is spent in the period of a charge, and before it. The clock may go back.
SELECT at, dpquantile.spent_at(at, every, start, 5, 2) AS spent, dpquantile.before_at(at, every, start, 5, 2) AS before
  FROM (VALUES ('month', timestamptz '2026-02-01 UTC'), (NULL, NULL)) b (every, start)
 CROSS JOIN unnest('{2026-01-31 23:59 UTC,2026-02-01 UTC,2026-02-28 23:59 UTC,2026-03-01 UTC,2027-02-01 UTC}'::timestamptz[]) at
 ORDER BY every, at;
-- PostgreSQL puts their bodies in the place of the calls.
CREATE FUNCTION regress_dpq_calls(names text, query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  calls bigint := 0;
  line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE) ' || query LOOP
    calls := calls + (line ~ names)::int;
  END LOOP;
  RETURN calls;
END
$$;
\set rules '''(verdict|delta_to_charge|spent_at|before_at|period_start)[(]'''
SELECT regress_dpq_calls(:rules, $$
         SELECT dpquantile.verdict(b.accountant, b.smallest_charge, dpquantile.delta_to_charge(b.accountant, b.delta_limit, b.charged_delta),
                                   b.epsilon_limit - dpquantile.spent_at(now(), b.every, b.period_start, b.epsilon_spent, b.epsilon_before),
                                   dpquantile.delta_to_charge(b.accountant, b.delta_limit, b.charged_delta) - dpquantile.spent_at(now(), b.every, b.period_start, b.delta_spent, b.delta_before),
                                   b.rho_limit - dpquantile.spent_at(now(), b.every, b.period_start, b.rho_spent, b.rho_before),
                                   CASE b.neighbours WHEN 'replace' THEN 2 ELSE b.epsilon_spent END, 0, 1, 0, 1)
           FROM dpquantile.budget b$$) AS in_a_charge,
       regress_dpq_calls(:rules, 'SELECT * FROM dp_budget') AS in_a_view,
       regress_dpq_calls('charged_role[(]', 'SELECT * FROM dp_budget') AS of_another_function;
DROP FUNCTION regress_dpq_calls(text, text);
