-- dp_synthesize: the quantiles i / (size + 1) as a synthetic sample. Answers are random. The printed answers are 10 ranks or
-- more away from the next cell, at a lambda of 60 or more, or of 8 if drawn jointly. (With method tree some count has noise
-- with a probability below 2^8 exp(-60).) Other answers have a probability below 1e-20.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_synthesize;
CREATE SCHEMA AUTHORIZATION regress_dpq_synthesize;
SELECT dp_grant_budget('regress_dpq_synthesize', 100000);
SET ROLE regress_dpq_synthesize;
-- Every value 0 .. 100 a hundred times
CREATE TABLE t AS SELECT v::float8 AS x, v::numeric AS n, v AS i, v % 2 AS k FROM generate_series(0, 100) v, generate_series(1, 100);

SELECT dp_synthesize(x, 9, 1000, 0, 100, dp_options(granularity => 1)) AS float8,
       dp_synthesize(n, 9, 1000, 0, 100, dp_options(granularity => 1)) AS numeric,
       dp_synthesize(i, 1, 1000, 0, 100, dp_options(granularity => 1)) AS one,
       pg_typeof(dp_synthesize(x, 2, 1, 0, 100)) AS type
  FROM t;
SELECT dp_synthesize(x, 4, 1000, 0, 100, dp_options('approximate', 1)) AS approximate,
       dp_synthesize(x, 4, 1000, 0, 100, dp_options('joint', 1)) AS joint,
       dp_synthesize(x, 4, 1000, 0, 100, dp_options('independent', 1)) AS independent,
       dp_synthesize(x, 4, 1000, 0, 100, dp_options('tree', 1)) AS tree
  FROM t;
SELECT k, dp_synthesize(x, 2, 1000, 0, 100, dp_options(granularity => 1)) AS sample FROM t WHERE x < 100 GROUP BY k ORDER BY k;
-- The sample has the requested size, is in ascending order and lies between the bounds.
SELECT array_length(s, 1) AS size, s = array(SELECT v FROM unnest(s) v ORDER BY v) AS ascending, s[1] >= 0 AND s[4096] <= 100 AS bounded
  FROM (SELECT dp_synthesize(x, 4096, 1, 0, 100, dp_options('approximate')) AS s FROM t) u;
SELECT size, array_length(s, 1) FROM (VALUES (1, (SELECT dp_synthesize(n, 1, 1, 0, 100) FROM t)),
  (17, (SELECT dp_synthesize(n, 17, 1, 0, 100, NULL) FROM t)), (20, (SELECT dp_synthesize(n, 20, 1, 0, 100, '{}') FROM t))) v(size, s);
-- Empty input, NULL and NaN, infinities
SELECT array_length(dp_synthesize(x, 10, 1, 0, 100), 1) AS empty, array_length(dp_synthesize(n, 10, 1, 0, 100), 1) AS empty_numeric FROM t WHERE x < 0;
SELECT k, array_length(dp_synthesize(NULLIF(x, x), 10, 1, 0, 100), 1) AS only_null FROM t GROUP BY k ORDER BY k;
SELECT dp_synthesize(v, 1, 1000, 0, 100, dp_options(granularity => 1)) AS middle
  FROM t, unnest(ARRAY[x, 'NaN', NULL, 'Infinity', '-Infinity']::float8[]) v;
SELECT dp_synthesize(v, 2, 1000, 0, 100, dp_options(granularity => 1)) AS bounds FROM t, unnest(ARRAY[1e400, -1e400]::numeric[]) v;
-- A prepared statement
PREPARE sample(int) AS SELECT array_length(dp_synthesize(x, $1, 1, 0, 100), 1) FROM t;
SET plan_cache_mode = force_generic_plan;
EXECUTE sample(3);
EXECUTE sample(30);
EXECUTE sample(0);
RESET plan_cache_mode;

-- Errors
SELECT dp_synthesize(x, 0, 1, 0, 100) FROM t;
SELECT dp_synthesize(x, -1, 1, 0, 100) FROM t;
SELECT dp_synthesize(x, 4097, 1, 0, 100) FROM t;
SELECT dp_synthesize(x, 2147483647, 1, 0, 100) FROM t;
\echo :SQLSTATE
SELECT dp_synthesize(x, NULL, 1, 0, 100) FROM t;
SELECT dp_synthesize(x, 5, NULL, 0, 100) FROM t;
SELECT dp_synthesize(x, 5, 1, NULL, 100) FROM t;
SELECT dp_synthesize(x, 5, 1, 0, NULL) FROM t;
\echo :SQLSTATE
SELECT dp_synthesize(x, 5, 0, 0, 100) FROM t;
SELECT dp_synthesize(x, 5, 1, 100, 0) FROM t;
SELECT dp_synthesize(x, 5, 1, 0, 100, dp_options(rho => 1)) FROM t;
SELECT dp_synthesize(x, 5, 1, 0, 100, dp_options('binary')) FROM t;
SELECT dp_synthesize(x, 5, 1, 0, 100, dp_options(bins => 5)) FROM t;
SELECT dp_synthesize(x, 129, 1, 0, 100, dp_options('joint')) FROM t;
SELECT dp_synthesize(x, i, 1, 0, 100) FROM t;
\set VERBOSITY terse
SELECT dp_synthesize(x, 0.5, 1, 0, 100) FROM t;
\set VERBOSITY default
SELECT dp_synthesize(x, 5, 1, 0, 100) OVER () FROM t;
SELECT dp_synthesize(x, 0, 1, 0, 100) FROM t WHERE x < 0;

SELECT function, mechanism, neighbours, epsilon, delta, grouping_sets, groups, count(*) FROM dp_ledger
 GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY mechanism COLLATE "C", epsilon, groups;

RESET ROLE;
DROP OWNED BY regress_dpq_synthesize;
DROP ROLE regress_dpq_synthesize;
