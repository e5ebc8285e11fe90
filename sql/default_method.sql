-- The method of dp_quantiles that names none. It depends on what is stated and on the terms of the budget.
-- The printed answers are 10 ranks or more away from the next cell, at a lambda of 8: others have a probability below 1e-20.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_default;
CREATE SCHEMA AUTHORIZATION regress_dpq_default;
SELECT dp_grant_budget('regress_dpq_default', 10000, 1e-6, 'pure', smallest_charge => 1e-6);
SET ROLE regress_dpq_default;
-- Every value 0 .. 100 a hundred times
CREATE TABLE t AS SELECT v::float8 AS x, v % 2 AS k FROM generate_series(0, 100) v, generate_series(1, 100);

SELECT dp_quantiles(x, '{0.1,0.3,0.5,0.7,0.9}', 100, 0, 100, dp_options('blocks', 1)) AS blocks,
       dp_quantiles(x, '{0.9,0.1,0.1}', 16, 0, 100, dp_options('default', 1)) AS "default",
       dp_quantiles(x, '{0.1,0.9}', 16, 0, 100, dp_options(granularity => 1)) AS unnamed,
       dp_median(x, 100, 0, 100, dp_options(granularity => 1)) AS median
  FROM t;
PREPARE nine AS
  SELECT count(a) FROM (SELECT dp_quantiles(x, '{0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9}', 0.1, 0, 100) AS a FROM t GROUP BY k) s;
EXECUTE nine;
SELECT count(*) AS forecast FROM dp_quantiles_expected_error(1000, '{0.1,0.5,0.9}', 1, 0, 100);

-- Under accountant zcdp an epsilon costs what it costs with method approximate, also in a prepared statement.
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_default', 10000, 1e-6, 'zcdp', smallest_charge => 1e-12);
SET ROLE regress_dpq_default;
EXECUTE nine;
SELECT dp_quantiles(x, '{0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9}', 0.1, 0, 100, dp_options('blocks')) IS NOT NULL AS blocks FROM t;
SELECT dp_quantiles(x, '{0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9}', NULL, 0, 100, dp_options(rho => 0.01)) IS NOT NULL AS rho FROM t;
SELECT number, function, mechanism, accountant, epsilon, CASE WHEN epsilon = 0.1 OR epsilon IS NULL THEN round(rho, 8) END AS rho
  FROM dp_ledger ORDER BY number;

-- A budget for replacing the value of one row pays 4/3 and 2 times the epsilons of two levels, but twice that of a joint draw.
RESET ROLE;
CREATE ROLE regress_dpq_replacing;
GRANT USAGE ON SCHEMA regress_dpq_default TO regress_dpq_replacing;
GRANT SELECT ON regress_dpq_default.t TO regress_dpq_replacing;
SELECT dp_grant_budget('regress_dpq_replacing', 10000, 0, 'pure', neighbours => 'replace');
SET ROLE regress_dpq_replacing;
SELECT dp_quantiles(x, '{0.25,0.75}', 0.3, 0, 100) IS NOT NULL AS two,
       dp_quantiles(x, '{0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9}', 0.3, 0, 100) IS NOT NULL AS nine
  FROM regress_dpq_default.t;
SELECT mechanism, round(epsilon, 6) AS epsilon FROM dp_ledger ORDER BY number;

RESET ROLE;
DROP OWNED BY regress_dpq_default, regress_dpq_replacing;
DROP ROLE regress_dpq_default, regress_dpq_replacing;
