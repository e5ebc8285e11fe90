-- An answer that was seen stays charged, also if its transaction rolls back.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_transactions;
CREATE SCHEMA AUTHORIZATION regress_dpq_transactions;
SELECT dp_grant_budget('regress_dpq_transactions', 10);
SET ROLE regress_dpq_transactions;
CREATE TABLE t AS SELECT x::float8 FROM generate_series(1, 100) x;

-- threat 1: ROLLBACK
BEGIN;
SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL AS answered FROM t;
ROLLBACK;
SELECT epsilon_spent FROM dp_budget;

-- threat 1: ROLLBACK TO SAVEPOINT
BEGIN;
SAVEPOINT before;
SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL AS answered FROM t;
ROLLBACK TO before;
SELECT epsilon_spent FROM dp_budget;
ROLLBACK;
SELECT epsilon_spent FROM dp_budget;

-- threat 1: an exception after the answer, inside and outside of a block
DO $$
DECLARE
  answer float8;
BEGIN
  BEGIN
    answer := (SELECT dp_median(x, 0.1, 0, 100) FROM t);
    RAISE EXCEPTION 'seen';
  EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE '%, known: %', SQLERRM, answer IS NOT NULL;
  END;
END
$$;
SELECT epsilon_spent FROM dp_budget;
SELECT 1 / (dp_median(x, 0.1, 0, 100) * 0) FROM t;
SELECT epsilon_spent FROM dp_budget;
-- An error between two groups
SELECT x, dp_median(x, 0.1, 0, 100) FROM t GROUP BY x HAVING 1 / (50 - max(x)) <> 0;
SELECT epsilon_spent FROM dp_budget;

-- threat 1: a refused charge leaves no trace, and the next query works.
BEGIN;
SELECT dp_median(x, 100, 0, 100) FROM t;
ROLLBACK;
SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL AS answered FROM t;
SELECT epsilon_spent FROM dp_budget;
SELECT count(*) AS charges FROM dp_ledger;

-- The current spending counts, also for a transaction with an older snapshot.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT epsilon_spent FROM dp_budget;
SELECT dp_median(x, 5, 0, 100) IS NOT NULL AS answered FROM t;
SELECT epsilon_spent FROM dp_budget;
SELECT dp_median(x, 5, 0, 100) FROM t;
ROLLBACK;
SELECT epsilon_spent FROM dp_budget;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL AS answered FROM t;
COMMIT;
SELECT epsilon_spent FROM dp_budget;

-- threat 6: a transaction that has changed a budget cannot charge it.
RESET ROLE;
BEGIN;
SELECT dp_grant_budget('regress_dpq_transactions', 20);
SET LOCAL ROLE regress_dpq_transactions;
SELECT dp_median(x, 0.1, 0, 100) FROM t;
\echo :SQLSTATE
ROLLBACK;
SET ROLE regress_dpq_transactions;
SELECT epsilon_limit, epsilon_spent FROM dp_budget;

-- A query in a read-only transaction is charged. Settings of the session do not affect the charge.
BEGIN READ ONLY;
SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL AS answered FROM t;
COMMIT;
SET default_transaction_read_only = on;
SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL AS answered FROM t;
SET default_transaction_read_only = off;
SET search_path = pg_temp;
SELECT public.dp_median(x, 0.1, 0, 100) IS NOT NULL AS answered FROM regress_dpq_transactions.t;
RESET search_path;
SELECT epsilon_spent FROM dp_budget;

-- Settings of the database and objects of the analyst do not affect it either, for example an operator + that does
-- not add.
CREATE TABLE budget AS SELECT * FROM dp_budget;
CREATE FUNCTION add(numeric, numeric) RETURNS numeric LANGUAGE sql AS 'SELECT $1';
CREATE OPERATOR + (LEFTARG = numeric, RIGHTARG = numeric, FUNCTION = add);
RESET ROLE;
DO $$
BEGIN
  EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database());
  EXECUTE format('ALTER DATABASE %I SET role = regress_dpq_transactions', current_database());
  EXECUTE format('ALTER DATABASE %I SET search_path = regress_dpq_transactions, pg_catalog', current_database());
END
$$;
SET ROLE regress_dpq_transactions;
SET search_path = regress_dpq_transactions, pg_catalog, public;
SELECT 1.0 + 1.0 AS one;
SELECT dp_median(x, 0.1, 0, 100) IS NOT NULL AS answered FROM t;
SELECT epsilon_spent FROM dp_budget;
RESET search_path;
RESET ROLE;
DO $$
BEGIN
  EXECUTE format('ALTER DATABASE %I RESET default_transaction_read_only', current_database());
  EXECUTE format('ALTER DATABASE %I RESET role', current_database());
  EXECUTE format('ALTER DATABASE %I RESET search_path', current_database());
END
$$;

DROP OWNED BY regress_dpq_transactions;
DROP ROLE regress_dpq_transactions;
