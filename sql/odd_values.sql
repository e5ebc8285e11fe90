-- threat 21: one odd value raises no error, no warning and no notice, and the answer is ordinary. Otherwise an
-- analyst could notice a single row.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_odd;
CREATE SCHEMA AUTHORIZATION regress_dpq_odd;
SELECT dp_grant_budget('regress_dpq_odd', 10000);
SET ROLE regress_dpq_odd;
SET client_min_messages = log;

-- Each odd value joins a thousand ordinary values: 450 .. 549, ten times each.
CREATE TABLE t AS SELECT x FROM generate_series(450, 549) x, generate_series(1, 10);
CREATE TABLE floats (x float8);
INSERT INTO floats VALUES
  (NULL), ('NaN'), ('Infinity'), ('-Infinity'), (1.7976931348623157e308), (-1.7976931348623157e308), (5e-324),
  (-5e-324), (2.2250738585072014e-308), ('-0'), (-1), (1001), (1e15);
CREATE TABLE numerics (x numeric);
INSERT INTO numerics VALUES
  (NULL), ('NaN'), ('Infinity'), ('-Infinity'), (1e400), (-1e400), ('1e131000'), ('-1e131000'), (1e-400), (-1e-400),
  ('1e-16000'), (1.7976931348623157e308), (1.7976931348623159e308), (-0.0), (-1), (1001), (repeat('9', 1000)::numeric);
-- The answers lie 199 ranks or more from the next cell, at a lambda of at least 31: other answers have a
-- probability below exp(-6000).
SELECT count(*) AS values, count(DISTINCT (m, qs)) AS answers, min(m) AS m, min(qs) AS qs
  FROM floats odd,
       LATERAL (SELECT dp_median(v, 100, 0, 1000, '{"granularity": 500}') AS m,
                       dp_quantiles(v, '{0.2,0.8}', 100, 0, 1000, '{"granularity": 500}') AS qs
                  FROM (SELECT odd.x AS v UNION ALL SELECT t.x FROM t) u) s;
SELECT count(*) AS values, count(DISTINCT (m, qs)) AS answers, min(m) AS m, min(qs) AS qs
  FROM numerics odd,
       LATERAL (SELECT dp_median(v, 100, 0, 1000, '{"granularity": 500}') AS m,
                       dp_quantiles(v, '{0.2,0.8}', 100, 0, 1000, '{"granularity": 500}') AS qs
                  FROM (SELECT odd.x AS v UNION ALL SELECT t.x FROM t) u) s;
-- float4 values, and an odd value alone
SELECT dp_median(x::float4, 0.1, 0, 1000) BETWEEN 0 AND 1000 AS answered
  FROM unnest(ARRAY[NULL, 'NaN', 'Infinity', '-Infinity', 3.4e38, -3.4e38, 1e-45]::float4[]) x;
SELECT count(*) AS values, count(m) AS answers
  FROM floats odd,
       LATERAL (SELECT dp_quantile(CASE WHEN c = 1 THEN odd.x END, 0.9, 0.1, 0, 1000) AS m
                  FROM generate_series(1, 1) c) s
 WHERE m BETWEEN 0 AND 1000;
SELECT count(*) AS values, count(m) AS answers
  FROM numerics odd,
       LATERAL (SELECT dp_quantile(CASE WHEN c = 1 THEN odd.x END, 0.9, 0.1, 0, 1000) AS m
                  FROM generate_series(1, 1) c) s
 WHERE m BETWEEN 0 AND 1000;
-- The smallest and largest integers
SELECT dp_median(x, 0.1, -10, 10) BETWEEN -10 AND 10 AS int8
  FROM unnest('{9223372036854775807,-9223372036854775808}'::int8[]) x;
SELECT dp_median(x, 0.1, -10, 10) BETWEEN -10 AND 10 AS int4 FROM unnest('{2147483647,-2147483648}'::int4[]) x;

-- Bounds near the limits of float8: no value overflows when it is rounded to a cell.
SELECT dp_median(x, 1, -8e307, 8e307) BETWEEN -8e307 AND 8e307 AS wide,
       dp_median(x, 1, 1e-300, 2e-300) BETWEEN 1e-300 AND 2e-300 AS narrow,
       dp_median(x, 1, 1.7e308, 1.75e308) BETWEEN 1.7e308 AND 1.75e308 AS far
  FROM floats;
SELECT dp_median(x, 1, -8e307, 8e307) BETWEEN -8e307 AND 8e307 AS wide,
       dp_median(x, 1, 1e-300, 2e-300) BETWEEN 1e-300 AND 2e-300 AS narrow,
       dp_median(x, 1, 1.7e308, 1.75e308) BETWEEN 1.7e308 AND 1.75e308 AS far
  FROM numerics;

RESET client_min_messages;
RESET ROLE;
DROP OWNED BY regress_dpq_odd;
DROP ROLE regress_dpq_odd;
