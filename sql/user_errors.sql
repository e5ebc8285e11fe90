-- Bad parameters and options of the user-level aggregates raise clear errors. The errors cost nothing and are the same
-- without rows.
-- threats 12, 20
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_user_errors;
CREATE SCHEMA AUTHORIZATION regress_dpq_user_errors;
SELECT dp_grant_budget('regress_dpq_user_errors', 1000);
SET ROLE regress_dpq_user_errors;
CREATE TABLE t AS SELECT x AS u, x::float8 AS x, 'g' AS g, 0.1::float8 AS e FROM generate_series(1, 10) x;

-- The SQLSTATE, message and hint of a call's error, or 'differs' if they are not the same for each of the inputs.
CREATE FUNCTION error_of(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  source text;
  hint text;
  error text;
  first text;
BEGIN
  FOREACH source IN ARRAY ARRAY['t', 't WHERE false', '(SELECT NULL::int AS u, x, g, e FROM t) s', 't GROUP BY u % 2'] LOOP
    error := 'none';
    BEGIN
      EXECUTE format('SELECT %s FROM %s', call, source);
    EXCEPTION WHEN OTHERS THEN
      GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
      error := concat_ws(E'\n', SQLSTATE || ' ' || SQLERRM, hint);
    END;
    IF error IS DISTINCT FROM coalesce(first, error) AND NOT (call ~ '\me\M' AND source LIKE '%GROUP BY%') THEN
      RETURN format(E'differs: %s\n%s', first, error);
    END IF;
    first := coalesce(first, error);
  END LOOP;
  RETURN first;
END
$$;
\pset format unaligned
\pset tuples_only on
SELECT E'\n' || call || E'\n' || error_of(call) FROM unnest(ARRAY[
  'dp_user_mean(u, x, 0, 0, 10)', 'dp_user_mean(u, x, ''NaN'', 0, 10)', 'dp_user_variance(u, x, -1, 0, 10)',
  'dp_user_mean(u, x, 9.99e-7, 0, 10)', 'dp_user_grid_stats(u, g, x, 1000.1, 0, 10)', 'dp_user_variance(u, x, 1e308, 0, 10)',
  'dp_user_mean(u, x, NULL, 0, 10)', 'dp_user_variance(u, x, 1, NULL, 10)', 'dp_user_grid_stats(u, g, x, 1, 0, NULL)',
  'dp_user_mean(u, x, e, 0, 10)', 'dp_user_variance(u, x, 1, e, 10)', 'dp_user_grid_stats(u, g, x, 1, 0, 10 + e)',
  'dp_user_mean(u, x, random(), 0, 10)', 'dp_user_grid_stats(u, g, x, 1, 0, 10, jsonb_build_object(''suppress'', e > 0))',
  'dp_user_mean(u, x, 1, 10, 10)', 'dp_user_mean(u, x, 1, 10, 0)', 'dp_user_mean(u, x, 1, 0, ''Infinity'')',
  'dp_user_mean(u, x, 1, ''NaN'', 1)', 'dp_user_mean(u, x, 1, -1e308, 1e308)', 'dp_user_variance(u, x, 1, 10, 0)',
  -- A variance needs the square of the width.
  'dp_user_variance(u, x, 1, 0, 1e155)', 'dp_user_variance(u, x, 1, 0, 1e-160)', 'dp_user_grid_stats(u, g, x, 1, -1e154, 1e154)',
  -- Options
  'dp_user_mean(u, x, 1, 0, 10, ''[]'')', 'dp_user_mean(u, x, 1, 0, 10, ''{"granularity": 1}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"bins": 1}'')', 'dp_user_mean(u, x, 1, 0, 10, ''{"lower": 1}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"suppress": true}'')', 'dp_user_variance(u, x, 1, 0, 10, ''{"suppress": true}'')',
  'dp_user_grid_stats(u, g, x, 1, 0, 10, ''{"max_contributions": 1}'')', 'dp_user_grid_stats(u, g, x, 1, 0, 10, ''{"granularity": 1}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"method": "tree"}'')', 'dp_user_variance(u, x, 1, 0, 10, ''{"method": "levy"}'')',
  'dp_user_variance(u, x, 1, 0, 10, ''{"method": "quantile"}'')', 'dp_user_variance(u, x, 1, 0, 10, ''{"method": "quantile-adaptive"}'')',
  'dp_user_grid_stats(u, g, x, 1, 0, 10, ''{"method": "array"}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"method": "bounded"}'')', 'dp_user_variance(u, x, 1, 0, 10, ''{"method": "bounded", "max_contributions": "median"}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"method": "bounded", "max_contributions": "optimal"}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"method": "baseline", "max_contributions": 1}'')',
  'dp_user_variance(u, x, 1, 0, 10, ''{"method": "baseline", "max_contributions": "optimal"}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": 0}'')', 'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": -1}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": 1.5}'')', 'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": 4294967296}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": 1e20}'')', 'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": "mean"}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": ""}'')', 'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": "-3"}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": "0"}'')', 'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": "99999999999999999999"}'')',
  'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": null}'')', 'dp_user_mean(u, x, 1, 0, 10, ''{"max_contributions": [1]}'')',
  'dp_user_grid_stats(u, g, x, 1, 0, 10, ''{"suppress": 1}'')', 'dp_user_grid_stats(u, g, x, 1, 0, 10, ''{"suppress": "true"}'')',
  'dp_user_grid_stats(u, g, x, 1, 0, 10, ''{"suppress": null}'')']) call;
\pset format aligned
\pset tuples_only off
SELECT epsilon_spent FROM dp_budget;
-- Users, grids and values of other types
SELECT dp_user_mean('anna', x, 1, 0, 10) FROM t;
SELECT dp_user_mean(x, u, 1, 0, 10) FROM t;
SELECT dp_user_variance(x::float4, u, 1, 0, 10) FROM t WHERE false;
SELECT dp_user_mean(t, x, 1, 0, 10) FROM t;
\set VERBOSITY terse
SELECT dp_user_mean(u, 'x'::text, 1, 0, 10) FROM t;
SELECT dp_user_grid_stats(u, u, x, 1, 0, 10) FROM t;
\set VERBOSITY default
SELECT dp_user_grid_stats(u, u::text, x, 1, 0, 10) IS NOT NULL AS cast, dp_user_grid_stats(u, 'here', x, 1, 0, 10) IS NOT NULL AS literal,
       dp_user_grid_stats(u, g::varchar(5), x, 1, 0, 10) IS NOT NULL AS varchar FROM t;
-- Unusual but valid options
SELECT dp_user_mean(u, x, 0.1, 0, 10, '{"max_contributions": 8.0}') BETWEEN 0 AND 10 AS whole,
       dp_user_mean(u, x, 0.1, 0, 10, '{"max_contributions": 1e3}') BETWEEN 0 AND 10 AS exponent,
       dp_user_mean(u, x, 0.1, 0, 10, '{"max_contributions": "0008"}') BETWEEN 0 AND 10 AS zeros,
       dp_user_grid_stats(u, g, x, 0.1, 0, 10, '{"method": "grids"}') IS NOT NULL AS grids FROM t;
-- threat 12: prepared statements
PREPARE ask(float8, jsonb) AS SELECT dp_user_mean(u, x, $1, 0, 10, $2) BETWEEN 0 AND 10 AS answered FROM t;
EXECUTE ask(0.1, '{"max_contributions": 2}');
EXECUTE ask(0.1, '{"max_contributions": 0}');
EXECUTE ask(NULL, NULL);
EXECUTE ask(0.1, NULL);

RESET ROLE;
DROP OWNED BY regress_dpq_user_errors;
DROP ROLE regress_dpq_user_errors;
