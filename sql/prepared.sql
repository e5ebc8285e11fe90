-- threat 10: prepared statements and functions. Each execution is charged for its own parameters.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_prepared;
CREATE SCHEMA AUTHORIZATION regress_dpq_prepared;
SELECT dp_grant_budget('regress_dpq_prepared', 10000, 0.1, smallest_charge => 1e-6);
SET ROLE regress_dpq_prepared;
CREATE TABLE t AS SELECT x::float8, x % 3 AS k FROM generate_series(1, 300) x;
CREATE TABLE answers (a float8);

-- The charges since the last call
SET regress.spent = 0;
CREATE FUNCTION charged() RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  before CONSTANT numeric := current_setting('regress.spent');
BEGIN
  PERFORM set_config('regress.spent', (SELECT epsilon_spent FROM dp_budget)::text, false);
  RETURN current_setting('regress.spent')::numeric - before;
END
$$;

-- threat 10: custom and generic plans, with enough executions for the planner to switch to a generic plan. Six
-- answers on 2^32 cells at this epsilon are different, except with a probability below 1e-8.
PREPARE fixed AS INSERT INTO answers SELECT dp_median(x, 0.001, 0, 4294967295, '{"granularity": 1}') FROM t;
SET plan_cache_mode = auto;
EXECUTE fixed;
EXECUTE fixed;
EXECUTE fixed;
EXECUTE fixed;
EXECUTE fixed;
EXECUTE fixed;
SELECT count(DISTINCT a) AS answers, charged() FROM answers;
SET plan_cache_mode = force_generic_plan;
TRUNCATE answers;
EXECUTE fixed;
EXECUTE fixed;
SELECT count(DISTINCT a) AS answers, charged() FROM answers;
SET plan_cache_mode = force_custom_plan;
TRUNCATE answers;
EXECUTE fixed;
EXECUTE fixed;
SELECT count(DISTINCT a) AS answers, charged() FROM answers;
DEALLOCATE fixed;

-- threat 10: every parameter is a query parameter and changes from one execution to the next.
PREPARE one(float8, float8, float8, float8) AS
  SELECT dp_quantile(x, $1, $2, $3, $4) BETWEEN $3 AND $4 AS between FROM t;
PREPARE several(float8[], float8, jsonb) AS
  SELECT array_length(a, 1) AS length,
         (SELECT bool_and(v::numeric % ($3 ->> 'granularity')::numeric = 0) FROM unnest(a) v) AS on_grid
    FROM (SELECT dp_quantiles(x, $1, $2, 0, 300, $3) AS a FROM t) s;
PREPARE grouped(float8, float8) AS
  SELECT k, dp_median(x, $1, 0, 300, dp_options(granularity => 80)) AS median
    FROM t WHERE x > $2 GROUP BY k ORDER BY k;
-- (300 equal rows, 3 rows and no rows: sql/iqr.sql has the probabilities.)
PREPARE iqr(float8, float8, jsonb, float8) AS SELECT dp_iqr(x * 0 + 7, $1, $2, $3) AS iqr FROM t WHERE x <= $4;
PREPARE deltas AS SELECT epsilon_spent, delta_spent * 1e9 AS delta_spent FROM dp_budget;
SET plan_cache_mode = force_generic_plan;
EXECUTE iqr(1000, 1e-9, NULL, 300);
EXECUTE iqr(1, 2e-9, '{}', 3);
EXECUTE iqr(1, 4e-9, '{"method": "propose-test-release"}', 0);
EXECUTE iqr(1000, 0, '{"method": "quantiles", "lower": 0, "upper": 10, "granularity": 10}', 300);
EXECUTE iqr(1, 1e-9, '{"method": "quantiles", "lower": 0, "upper": 10}', 0);
EXECUTE iqr(1, NULL, '{}', 0);
EXECUTE iqr(1, 0, '{}', 300);
EXECUTE deltas;
SET plan_cache_mode = force_custom_plan;
EXECUTE iqr(1, 8e-9, '{}', 4);
EXECUTE iqr(1000, 16e-9, '{}', 5);
EXECUTE iqr(1, 0, '{"method": "quantiles", "lower": 0}', 5);
EXECUTE deltas;
SELECT charged();
SET plan_cache_mode = force_generic_plan;
EXECUTE one(0.5, 0.1, 0, 300);
EXECUTE one(0.9, 0.2, 1000, 1001);
SELECT charged();
EXECUTE several('{0.5}', 0.1, '{"granularity": 10}');
EXECUTE several('{0.1,0.2,0.3}', 0.2, '{"granularity": 20}');
SELECT charged();
-- The answers lie at least 9 ranks from the next cell: other answers have a probability below exp(-800).
EXECUTE grouped(100, 0);
EXECUTE grouped(200, 200);
SELECT charged();
SET plan_cache_mode = force_custom_plan;
EXECUTE one(0.5, 0.1, 0, 300);
EXECUTE one(0.9, 0.2, 1000, 1001);
SELECT charged();
EXECUTE several('{0.5}', 0.1, '{"granularity": 10}');
EXECUTE several('{0.1,0.2,0.3}', 0.2, '{"granularity": 20}');
SELECT charged();
EXECUTE grouped(100, 0);
EXECUTE grouped(200, 200);
SELECT charged();

-- threat 12: bad values of the parameters
EXECUTE one(0.5, 'NaN', 0, 300);
EXECUTE one(0.5, NULL, 0, 300);
EXECUTE one(2, 0.1, 0, 300);
SET plan_cache_mode = force_generic_plan;
EXECUTE one(0.5, 'NaN', 0, 300);
EXECUTE one(0.5, NULL, 0, 300);
EXECUTE one(2, 0.1, 0, 300);
EXECUTE several('{}', 0.1, '{}');
EXECUTE several('{0.5}', 0.1, '{"step": 1}');
SELECT charged();
EXECUTE one(0.5, 0.1, 0, 300);
SELECT charged();
RESET plan_cache_mode;

-- threat 10: functions. PostgreSQL keeps and reuses the plans of SQL and PL/pgSQL functions.
CREATE FUNCTION in_sql(epsilon float8) RETURNS float8 LANGUAGE sql AS
  'SELECT dp_median(x, epsilon, 0, 300) FROM t';
CREATE FUNCTION in_sql_atomic(epsilon float8, lower float8, upper float8) RETURNS float8 LANGUAGE sql BEGIN ATOMIC
  SELECT dp_quantile(x, 0.3, epsilon, lower, upper, dp_options(granularity => upper)) FROM t;
END;
CREATE FUNCTION in_plpgsql(epsilon float8) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  lower CONSTANT float8 := 0;
BEGIN
  RETURN (SELECT dp_median(x, epsilon, lower, lower + 300) FROM t);
END
$$;
-- PostgreSQL may inline a set-returning function into the query.
CREATE FUNCTION inlined(epsilon float8) RETURNS TABLE (k int, a float8) LANGUAGE sql STABLE AS
  'SELECT k, dp_median(x, epsilon, 0, 300) FROM t GROUP BY k';
SELECT in_sql(0.1) IS NOT NULL AS sql, in_sql_atomic(0.2, 0, 300) IN (0, 300) AS atomic,
       in_plpgsql(0.4) IS NOT NULL AS plpgsql;
SELECT charged();
SELECT count(in_sql(i * 0.01)) AS sql, count(in_sql_atomic(i * 0.01, i, 2 * i)) AS atomic,
       count(in_plpgsql(i * 0.01)) AS plpgsql
  FROM generate_series(1, 10) i;
SELECT charged();
SELECT count(a) AS answers FROM inlined(0.1);
SELECT charged();
SELECT count(a) AS answers FROM generate_series(1, 4) i, inlined(i * 0.1);
SELECT charged();
SELECT in_sql(-1);
SELECT in_plpgsql(NULL);
SELECT charged();

-- A parameter is evaluated for the rows of a group and again for its answer, so an expression that may change
-- is refused. Settings are public, and a query that changes them is refused below. A sub-select is evaluated once.
CREATE FUNCTION setting() RETURNS float8 LANGUAGE sql STABLE RETURN current_setting('regress.epsilon')::float8;
SET regress.epsilon = 0.1;
SELECT dp_median(x, random(), 0, 300) FROM t;
SELECT dp_median(x, setting(), 0, 300) IS NOT NULL AS answered FROM t;
PREPARE once AS
  SELECT count(a) AS answers FROM (SELECT dp_median(x, (SELECT setting()), 0, 300) AS a FROM t GROUP BY k) s;
EXECUTE once;
SET regress.epsilon = 0.2;
EXECUTE once;
SELECT charged();

-- A function may be declared immutable and still change its value in between. Then there is no answer, because
-- its epsilon would differ from the charged epsilon.
CREATE FUNCTION claim(float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN current_setting('regress.epsilon');
END
$$;
-- Changes the setting between the charge and the first row, and returns 1.
CREATE FUNCTION change(epsilon float8, x float8) RETURNS float8 LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF x = 1 THEN
    PERFORM set_config('regress.epsilon', epsilon::text, false);
  END IF;
  RETURN 1;
END
$$;
PREPARE plain(float8, float8) AS SELECT dp_median(x, claim($1), 0, 300) FROM t WHERE change($2, x) = 1;
PREPARE grouped_claim(float8, float8) AS
  SELECT dp_median(x, claim($1), 0, 300) FROM t WHERE change($2, x) = 1 GROUP BY k;
PREPARE filtered_claim(float8, float8) AS
  SELECT dp_median(x, claim($1), 0, 300) FILTER (WHERE k = 1) FROM t WHERE change($2, x) = 1 GROUP BY k;
PREPARE empty_claim(float8, float8) AS
  SELECT count(a) AS answers FROM (SELECT dp_median(x, claim($1), 0, 300) FILTER (WHERE false) AS a
                                     FROM t WHERE change($2, x) = 1 GROUP BY k) s;
SET plan_cache_mode = force_generic_plan;
SET regress.epsilon = 1;
EXECUTE plain(1, 0.001);
\echo :SQLSTATE
SET regress.epsilon = 0.001;
EXECUTE plain(0.001, 1);
SET enable_sort = off;
SET regress.epsilon = 1;
EXECUTE grouped_claim(1, 0.001);
SET regress.epsilon = 1;
EXECUTE filtered_claim(1, 0.001);
-- The query was charged although it got no answer.
SELECT charged();
-- Groups without a value use the parameters that were charged.
SET regress.epsilon = 0.1;
EXECUTE empty_claim(0.1, 1);
SELECT charged();

RESET ROLE;
DROP OWNED BY regress_dpq_prepared;
DROP ROLE regress_dpq_prepared;
