-- threat 23: each repetition of a query gets a new answer and a new charge, until the budget is spent.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_repeat;
CREATE SCHEMA AUTHORIZATION regress_dpq_repeat;
SELECT dp_grant_budget('regress_dpq_repeat', 0.5);
SET ROLE regress_dpq_repeat;
CREATE TABLE t AS SELECT x::float8 FROM generate_series(1, 100) x;

SELECT dp_median(x, 0.1, 0, 4294967295, '{"granularity": 1}') AS first FROM t \gset
SELECT epsilon_spent FROM dp_budget;
SELECT dp_median(x, 0.1, 0, 4294967295, '{"granularity": 1}') AS second FROM t \gset
SELECT epsilon_spent FROM dp_budget;
SELECT dp_median(x, 0.1, 0, 4294967295, '{"granularity": 1}') AS third FROM t \gset
SELECT epsilon_spent FROM dp_budget;
-- No cell has a probability above exp(0.1 * 50) / 2^32, so all three answers are the same with a probability
-- below 1e-14.
SELECT NOT (:first = :second AND :second = :third) AS fresh;

-- Repetitions in one transaction and in one query
BEGIN;
SELECT dp_median(x, 0.05, 0, 100) IS NOT NULL AS answered FROM t;
SELECT dp_median(x, 0.05, 0, 100) IS NOT NULL AS answered FROM t;
COMMIT;
SELECT epsilon_spent FROM dp_budget;
SELECT (SELECT dp_median(x, 0.02, 0, 100) FROM t) + (SELECT dp_median(x, 0.02, 0, 100) FROM t) IS NOT NULL AS answered;
SELECT epsilon_spent FROM dp_budget;

-- The rest of the budget is enough for three more queries.
SELECT dp_median(x, 0.02, 0, 100) IS NOT NULL AS answered FROM t;
SELECT dp_median(x, 0.02, 0, 100) IS NOT NULL AS answered FROM t;
SELECT dp_median(x, 0.02, 0, 100) IS NOT NULL AS answered FROM t;
SELECT dp_median(x, 0.02, 0, 100) FROM t;
SELECT epsilon_spent FROM dp_budget;

RESET ROLE;
DROP OWNED BY regress_dpq_repeat;
DROP ROLE regress_dpq_repeat;
