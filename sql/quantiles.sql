-- The answers of dp_quantiles, dp_quantile and dp_median for every type of value. Answers are random. The
-- printed answers are at least 10 ranks away from the next cell, at a lambda of 25 or more: another answer
-- has a probability below 2^20 exp(-250) < 1e-100.
CREATE ROLE regress_dpq_quantiles;
CREATE SCHEMA AUTHORIZATION regress_dpq_quantiles;
SELECT dp_grant_budget('regress_dpq_quantiles', 10000);
SET ROLE regress_dpq_quantiles;

-- Every value 0 .. 100 occurs a hundred times, so the quantile q is 100 q.
CREATE TABLE t AS
  SELECT v::smallint AS int2, v AS int4, v::bigint AS int8, v::float4 AS float4, v::float8 AS float8,
         v::numeric AS num
    FROM generate_series(0, 100) v, generate_series(1, 100);

SELECT round(dp_median(float8, 100, 0, 100)) AS median FROM t;
SELECT round(dp_quantile(float8, 0.25, 100, 0, 100)) AS quartile FROM t;
SELECT array_agg(round(q)) AS quantiles
  FROM unnest((SELECT dp_quantiles(float8, ARRAY[0.1, 0.5, 0.9], 200, 0, 100) FROM t)) q;
SELECT pg_typeof(dp_median(float8, 1, 0, 100)) AS median,
       pg_typeof(dp_quantile(float8, 0.5, 1, 0, 100)) AS quantile,
       pg_typeof(dp_quantiles(float8, ARRAY[0.5], 1, 0, 100)) AS quantiles
  FROM t;

-- Types
SELECT dp_median(int2, 100, 0, 100, dp_options(granularity => 1)) AS int2,
       dp_median(int4, 100, 0, 100, dp_options(granularity => 1)) AS int4,
       dp_median(int8, 100, 0, 100, dp_options(granularity => 1)) AS int8,
       dp_median(float4, 100, 0, 100, dp_options(granularity => 1)) AS float4,
       dp_median(float8, 100, 0, 100, dp_options(granularity => 1)) AS float8,
       dp_median(num, 100, 0, 100, dp_options(granularity => 1)) AS num
  FROM t;
SELECT dp_quantile(int2, 0.3, 100, 0, 100, dp_options(granularity => 1)) AS int2,
       dp_quantile(int4, 0.3, 100, 0, 100, dp_options(granularity => 1)) AS int4,
       dp_quantile(int8, 0.3, 100, 0, 100, dp_options(granularity => 1)) AS int8,
       dp_quantile(float4, 0.3, 100, 0, 100, dp_options(granularity => 1)) AS float4,
       dp_quantile(float8, 0.3, 100, 0, 100, dp_options(granularity => 1)) AS float8,
       dp_quantile(num, 0.3, 100, 0, 100, dp_options(granularity => 1)) AS num
  FROM t;
SELECT dp_quantiles(int2, '{0.2,0.8}', 200, 0, 100, dp_options(granularity => 1)) AS int2,
       dp_quantiles(int4, '{0.2,0.8}', 200, 0, 100, dp_options(granularity => 1)) AS int4,
       dp_quantiles(int8, '{0.2,0.8}', 200, 0, 100, dp_options(granularity => 1)) AS int8,
       dp_quantiles(float4, '{0.2,0.8}', 200, 0, 100, dp_options(granularity => 1)) AS float4,
       dp_quantiles(float8, '{0.2,0.8}', 200, 0, 100, dp_options(granularity => 1)) AS float8,
       dp_quantiles(num, '{0.2,0.8}', 200, 0, 100, dp_options(granularity => 1)) AS num
  FROM t;
SELECT round(dp_median(num, 100, 0, 100)) AS median,
       round(dp_quantile(num, 0.75, 100, 0, 100)) AS quantile,
       array_length(dp_quantiles(num, '{0.2,0.8}', 200, 0, 100), 1) AS quantiles
  FROM t;

-- Answers come in the order of the call, with repetitions. The quantiles 0 and 1 are the ends.
SELECT dp_quantiles(int4, '{0.9,0.1,0.5,0.1}', 1000, 0, 100, '{"granularity": 1}') AS quantiles FROM t;
SELECT dp_quantiles(int4, '{0,1}', 1000, 0, 100, '{"granularity": 1}') AS ends FROM t;
-- The subscripts of the array may start anywhere.
SELECT dp_quantiles(int4, '[7:8]={0.2,0.8}', 200, 0, 100, '{"granularity": 1}') AS quantiles FROM t;

-- With any noise the answers are monotone in the quantile, and a repeated quantile is drawn once.
SELECT count(*) AS answers, bool_and(a[1] >= a[2] AND a[2] >= a[3] AND a[3] >= a[4]) AS monotone,
       bool_and(a[4] = a[5]) AS repeated
  FROM (SELECT dp_quantiles(float8, '{1,0.6,0.4,0,0}', 0.01, 0, 100) AS a FROM t GROUP BY int4) s;

-- The limit is 4096 quantiles.
SELECT array_length(a, 1) AS quantiles, a = array(SELECT v FROM unnest(a) v ORDER BY v) AS monotone
  FROM (SELECT dp_quantiles(float8, array(SELECT q / 4095.0::float8 FROM generate_series(0, 4095) q), 1, 0, 100) AS a
          FROM t) s;

-- NULL and NaN are ignored. Infinities and values outside the bounds count as the nearer bound.
CREATE TABLE odd (x float8, n numeric);
INSERT INTO odd SELECT v, v FROM generate_series(1, 99) v, generate_series(1, 100);
INSERT INTO odd SELECT NULL, NULL FROM generate_series(1, 20000);
INSERT INTO odd SELECT 'NaN', 'NaN' FROM generate_series(1, 20000);
SELECT dp_median(x, 100, 0, 100, '{"granularity": 1}') AS ignored,
       dp_median(n, 100, 0, 100, '{"granularity": 1}') AS ignored_numeric FROM odd;
INSERT INTO odd SELECT 'Infinity', 'Infinity' FROM generate_series(1, 15000);
INSERT INTO odd SELECT 1e300, 1e400 FROM generate_series(1, 15000);
SELECT dp_quantiles(x, '{0.4,0.9}', 100, 0, 100, '{"granularity": 1}') AS upper,
       dp_quantiles(n, '{0.4,0.9}', 100, 0, 100, '{"granularity": 1}') AS upper_numeric FROM odd;
INSERT INTO odd SELECT '-Infinity', '-Infinity' FROM generate_series(1, 30000);
INSERT INTO odd SELECT -1e300, -1e400 FROM generate_series(1, 30000);
SELECT dp_quantiles(x, '{0.1,0.5}', 100, 0, 100, '{"granularity": 1}') AS lower,
       dp_quantiles(n, '{0.1,0.5}', 100, 0, 100, '{"granularity": 1}') AS lower_numeric FROM odd;

-- Negative bounds, and very wide and very narrow bounds
SELECT dp_median(v, 100, -50, -10, '{"granularity": 1}') AS negative
  FROM generate_series(-40, -20) v, generate_series(1, 100);
SELECT dp_median(v, 100, -1e15, 1e15, '{"granularity": 1e15}') AS wide FROM generate_series(1, 1000) v;
SELECT dp_median(v::float8, 100, 0, 1e-300) BETWEEN 0 AND 1e-300 AS narrow FROM generate_series(1, 1000) v;

RESET ROLE;
DROP OWNED BY regress_dpq_quantiles;
DROP ROLE regress_dpq_quantiles;
