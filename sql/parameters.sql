-- Threats 12 and 24: a bad parameter of any kind raises a clear error and costs nothing.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_parameters;
CREATE SCHEMA AUTHORIZATION regress_dpq_parameters;
SELECT dp_grant_budget('regress_dpq_parameters', 2000, smallest_charge => 1e-6);
SET ROLE regress_dpq_parameters;
CREATE TABLE t AS SELECT x::float8, x / 100.0::float8 AS epsilon FROM generate_series(1, 100) x;

-- threat 12: epsilon
SELECT dp_median(x, 'NaN', 0, 100) FROM t;
SELECT dp_median(x, 'Infinity', 0, 100) FROM t;
SELECT dp_median(x, '-Infinity', 0, 100) FROM t;
SELECT dp_median(x, 0, 0, 100) FROM t;
SELECT dp_median(x, -0.1, 0, 100) FROM t;
SELECT dp_median(x, 5e-324, 0, 100) FROM t;
SELECT dp_median(x, 9.99e-7, 0, 100) FROM t;
SELECT dp_median(x, 1000.0001, 0, 100) FROM t;
SELECT dp_median(x, 1e308, 0, 100) FROM t;
SELECT dp_median(x, NULL, 0, 100) FROM t;
-- threat 12: a parameter that is not the same for the whole query
SELECT dp_median(x, epsilon, 0, 100) FROM t;
SELECT dp_median(x, 0.1 + 0 * x, 0, 100) FROM t;
SELECT dp_median(x, random(), 0, 100) FROM t;
SELECT dp_median(x, length(current_user), 0, 100) FROM t;
SELECT dp_median(x, (SELECT max(u.epsilon) FROM t u WHERE u.x = t.x), 0, 100) FROM t;
SELECT dp_median(x, CASE WHEN 1 IN (SELECT x FROM t) THEN 0.1 ELSE 0.2 END, 0, 100) FROM t;
SELECT epsilon, dp_median(x, epsilon, 0, 100) FROM t GROUP BY epsilon;
SELECT dp_median(x, e, 0, 100) FROM t, (VALUES (0.1), (0.2)) v(e);

-- Bounds
SELECT dp_median(x, 0.1, 100, 0) FROM t;
SELECT dp_median(x, 0.1, 7, 7) FROM t;
SELECT dp_median(x, 0.1, 'NaN', 100) FROM t;
SELECT dp_median(x, 0.1, 0, 'NaN') FROM t;
SELECT dp_median(x, 0.1, '-Infinity', 100) FROM t;
SELECT dp_median(x, 0.1, 0, 'Infinity') FROM t;
SELECT dp_median(x, 0.1, -1.7e308, 1.7e308) FROM t;
SELECT dp_median(x, 0.1, 0, 5e-324) FROM t;
SELECT dp_median(x, 0.1, NULL, 100) FROM t;
SELECT dp_median(x, 0.1, 0, NULL) FROM t;
SELECT dp_median(x, 0.1, x, 100) FROM t;
SELECT dp_median(x, 0.1, 0, x) FROM t;

-- threat 24: a value grid with too many cells
SELECT dp_median(x, 0.1, 0, 4294967296, dp_options(granularity => 1)) FROM t;
SELECT dp_median(x, 0.1, 0, 1e300, dp_options(granularity => 1)) FROM t;
SELECT dp_median(x, 0.1, 0, 1e300, dp_options(granularity => 1e-300)) FROM t;
SELECT dp_median(x, 0.1, 0, 100, CASE WHEN x > 1 THEN dp_options(granularity => 1) END) FROM t;

-- Quantiles
SELECT dp_quantile(x, -0.1, 0.1, 0, 100) FROM t;
SELECT dp_quantile(x, 1.0000001, 0.1, 0, 100) FROM t;
SELECT dp_quantile(x, 'NaN', 0.1, 0, 100) FROM t;
SELECT dp_quantile(x, NULL, 0.1, 0, 100) FROM t;
SELECT dp_quantile(x, epsilon, 0.1, 0, 100) FROM t;
SELECT dp_quantiles(x, '{}', 0.1, 0, 100) FROM t;
SELECT dp_quantiles(x, NULL, 0.1, 0, 100) FROM t;
SELECT dp_quantiles(x, '{0.5,NULL}', 0.1, 0, 100) FROM t;
SELECT dp_quantiles(x, '{{0.25,0.5},{0.75,1}}', 0.1, 0, 100) FROM t;
SELECT dp_quantiles(x, '{0.5,NaN}', 0.1, 0, 100) FROM t;
SELECT dp_quantiles(x, '{0.5,1.5}', 0.1, 0, 100) FROM t;
SELECT dp_quantiles(x, '{0.5,-Infinity}', 0.1, 0, 100) FROM t;
SELECT dp_quantiles(x, ARRAY[epsilon], 0.1, 0, 100) FROM t;
-- threat 24: too many quantiles
SELECT dp_quantiles(x, array_fill(0.5::float8, ARRAY[4097]), 0.1, 0, 100) FROM t;

-- The error is the same in every aggregate, for both types of value, with and without options, and for any
-- input: it depends on the parameters, not on the data.
CREATE TABLE nulls AS SELECT NULL::float8 AS x FROM generate_series(1, 3);
CREATE FUNCTION error_of(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE query;
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
CREATE TABLE bad (quantile text, epsilon text, lower text, upper text, granularity text);
INSERT INTO bad VALUES
  ('0.5', '''NaN''', '0', '100', '1'),
  ('0.5', '''Infinity''', '0', '100', '1'),
  ('0.5', '0', '0', '100', '1'),
  ('0.5', '-1', '0', '100', '1'),
  ('0.5', '5e-324', '0', '100', '1'),
  ('0.5', '1e308', '0', '100', '1'),
  ('0.5', 'NULL', '0', '100', '1'),
  ('0.5', 'x', '0', '100', '1'),
  ('0.5', 'random()', '0', '100', '1'),
  ('0.5', '0.1', '100', '0', '1'),
  ('0.5', '0.1', '''NaN''', '0', '1'),
  ('0.5', '0.1', '0', '''Infinity''', '1'),
  ('0.5', '0.1', 'NULL', '100', '1'),
  ('0.5', '0.1', '0', '100', '1e-10'),
  ('0.5', '0.1', '0', '100', '0'),
  ('0.5', '0.1', '0', '100', '''NaN'''),
  ('-1', '0.1', '0', '100', '1'),
  ('2', '0.1', '0', '100', '1'),
  ('''NaN''', '0.1', '0', '100', '1'),
  ('NULL', '0.1', '0', '100', '1');
CREATE TABLE errors AS
  SELECT bad::text,
         error_of(format('SELECT dp_quantile(%s, %s, %s, %s, %s%s) FROM %s',
                         value, quantile, epsilon, lower, upper, options, input)) AS quantile,
         error_of(format('SELECT dp_quantiles(%s, ARRAY[%s]::float8[], %s, %s, %s%s) FROM %s',
                         value, quantile, epsilon, lower, upper, options, input)) AS quantiles,
         CASE WHEN quantile = '0.5' THEN
           error_of(format('SELECT dp_median(%s, %s, %s, %s%s) FROM %s',
                           value, epsilon, lower, upper, options, input))
         END AS median
    FROM bad,
         (VALUES ('t'), ('t WHERE false'), ('nulls')) i(input),
         (VALUES ('x'), ('x::numeric')) v(value),
         LATERAL (SELECT format(', dp_options(granularity => %s)', granularity) UNION ALL
                  SELECT '' WHERE granularity = '1') o(options);
SELECT min(quantile) AS error, count(DISTINCT quantile) AS quantile, count(DISTINCT quantiles) AS quantiles,
       count(DISTINCT median) AS median,
       bool_and(quantile = coalesce(median, quantile) AND left(quantile, 5) = left(quantiles, 5)) AS same
  FROM errors GROUP BY bad ORDER BY min(quantile) COLLATE "C";

-- A call that states rho has no epsilon to show.
SELECT dp_median(x, NULL, 100, 0, dp_options(rho => 0.1)) FROM t;
SELECT dp_synthesize(x, 5, NULL, 100, 0, dp_options(rho => 0.1)) FROM t;

-- Calls with the smallest and largest parameters; only these are charged.
SELECT dp_median(x, 1e-6, 0, 100) IS NOT NULL AS smallest FROM t;
SELECT dp_median(x, 1000, 0, 4294967295, dp_options(granularity => 1)) BETWEEN 50 AND 51 AS largest FROM t;
SELECT epsilon_spent FROM dp_budget;
SELECT count(*) AS charges FROM dp_ledger;

RESET ROLE;
DROP OWNED BY regress_dpq_parameters;
DROP ROLE regress_dpq_parameters;
