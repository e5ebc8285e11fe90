-- The methods of dp_quantiles, dp_quantile and dp_median. Answers are random. The printed answers are 10 ranks or more
-- away from the next cell, at a lambda of 60 or more, or of 8 if drawn jointly. (With method tree some count has noise
-- with a probability below 2^8 exp(-60).) Other answers have a probability below 1e-20.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_methods;
CREATE SCHEMA AUTHORIZATION regress_dpq_methods;
SELECT dp_grant_budget('regress_dpq_methods', 100000, smallest_charge => 1e-6);
SET ROLE regress_dpq_methods;

-- Every value 0 .. 100 a hundred times
CREATE TABLE t AS SELECT v::float8 AS x, v::numeric AS n, v % 2 AS k FROM generate_series(0, 100) v, generate_series(1, 100);

SELECT dp_quantiles(x, '{0.9,0.1,0.5,0.1}', 500, 0, 100, dp_options('approximate', 1)) AS approximate,
       dp_quantiles(x, '{0.9,0.1,0.5,0.1}', 500, 0, 100, dp_options('joint', 1)) AS joint,
       dp_quantiles(x, '{0.9,0.1,0.5,0.1}', 500, 0, 100, dp_options('independent', 1)) AS independent,
       dp_quantiles(x, '{0.9,0.1,0.5,0.1}', 500, 0, 100, dp_options('tree', 1)) AS tree,
       dp_quantiles(x, '{0.9,0.1,0.5,0.1}', 500, 0, 100, dp_options('auto', 1)) AS auto
  FROM t;
SELECT dp_median(x, 500, 0, 100, dp_options('joint', 1)) AS joint,
       dp_median(x, 500, 0, 100, dp_options('independent', 1)) AS independent,
       dp_median(x, 500, 0, 100, dp_options('tree', 1)) AS tree,
       dp_median(x, 500, 0, 100, dp_options('auto', 1)) AS auto,
       dp_quantile(x, 0.25, 500, 0, 100, dp_options('joint', 1)) AS quartile,
       dp_quantile(x, 0.25, 500, 0, 100, dp_options('tree', 1)) AS tree_quartile
  FROM t;
-- Numeric values
SELECT dp_quantiles(n, '{0.1,0.9}', 500, 0, 100, dp_options('joint', 1)) AS joint,
       dp_quantile(n, 0.25, 500, 0, 100, dp_options('tree', 1)) AS tree,
       dp_median(n, 500, 0, 100, dp_options('auto', 1)) AS auto
  FROM t;
-- 19 quantiles are too many for one joint draw: method auto uses two levels, or on a small value grid a tree. The answers
-- are 50 ranks away from the next cell.
SELECT dp_quantiles(x, '{0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95}', 1000, 0, 100,
                    dp_options('auto', 0.05)) AS levels,
       dp_quantiles(x, '{0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95}', 1000, 0, 100,
                    dp_options('auto', 1)) AS tree FROM t, generate_series(1, 10);
-- The rho of a charge shows the mechanism that auto chose. One joint draw of 9 quantiles costs 0.1^2 / 8. 17 quantiles on 2001
-- cells (levels of 0.06 and 0.04) cost (0.06^2 + 0.04^2) / 8. On 101 cells they cost the same as a tree.
SELECT dp_quantiles(x, array(SELECT i / 10.0::float8 FROM generate_series(1, 9) i), 0.1, 0, 100, dp_options('auto', 1)) IS NOT NULL AS auto_9 FROM t;
SELECT dp_quantiles(x, array(SELECT i / 18.0::float8 FROM generate_series(1, 17) i), 0.1, 0, 100, dp_options('auto', 1)) IS NOT NULL AS auto_17 FROM t;
SELECT dp_quantiles(x, array(SELECT i / 18.0::float8 FROM generate_series(1, 17) i), 0.1, 0, 100, dp_options('auto', 0.05)) IS NOT NULL AS auto_17_fine FROM t;
SELECT dp_quantiles(x, array(SELECT i / 18.0::float8 FROM generate_series(1, 17) i), 0.1, 0, 100, dp_options('tree', 1)) IS NOT NULL AS tree_17 FROM t;
SELECT dp_quantiles(x, array(SELECT i / 18.0::float8 FROM generate_series(1, 17) i), 0.1, 0, 100, dp_options('approximate', 1)) IS NOT NULL AS approximate_17 FROM t;
-- Repeated quantiles count once: these are 16.
SELECT dp_quantiles(x, array(SELECT (1 + i % 16) / 17.0::float8 FROM generate_series(1, 40) i), 0.1, 0, 100, dp_options('auto', 1)) IS NOT NULL AS auto_16 FROM t;
SELECT name, mechanism,
       CASE WHEN name IN ('auto_17', 'tree_17') THEN 'rho of a tree' ELSE round(rho, 8)::text END AS rho,
       rho = max(rho) FILTER (WHERE name = 'tree_17') OVER () AS as_a_tree
  FROM (SELECT number, mechanism, rho, substring(query FROM 'AS ((auto|tree|approximate)_\w+) FROM') AS name
          FROM dp_ledger WHERE epsilon = 0.1) s ORDER BY number;
-- GROUP BY: the plan of a tree is chosen once.
SELECT k, dp_quantiles(x, '{0.27,0.77}', 1000, 0, 100, dp_options('joint', 1)) AS joint,
       dp_quantiles(x, '{0.27,0.77}', 1000, 0, 100, dp_options('tree', 1)) AS tree
  FROM t GROUP BY k ORDER BY k;

-- Also with much noise, answers are in the order of the quantiles, and a repeated quantile has a repeated answer.
SELECT count(*) AS groups,
       bool_and(joint[1] >= joint[2] AND joint[2] >= joint[3] AND joint[3] = joint[4]) AS joint,
       bool_and(independent[1] >= independent[2] AND independent[2] >= independent[3] AND independent[3] = independent[4]) AS independent,
       bool_and(tree[1] >= tree[2] AND tree[2] >= tree[3] AND tree[3] = tree[4]) AS tree,
       bool_and(auto[1] >= auto[2] AND auto[2] >= auto[3] AND auto[3] = auto[4]) AS auto
  FROM (SELECT dp_quantiles(x, '{1,0.6,0,0}', 0.01, 0, 100, '{"method": "joint"}') AS joint,
               dp_quantiles(x, '{1,0.6,0,0}', 0.01, 0, 100, '{"method": "independent"}') AS independent,
               dp_quantiles(x, '{1,0.6,0,0}', 0.01, 0, 100, '{"method": "tree", "granularity": 0.5}') AS tree,
               dp_quantiles(x, '{1,0.6,0,0}', 0.01, 0, 100, '{"method": "auto"}') AS auto
          FROM t GROUP BY x) s;

-- An empty input gets an ordinary answer.
SELECT dp_quantiles(x, '{0.2,0.8}', 1, 0, 100, dp_options('joint')) IS NOT NULL AS joint,
       dp_quantiles(x, '{0.2,0.8}', 1, 0, 100, dp_options('independent')) IS NOT NULL AS independent,
       dp_quantiles(x, '{0.2,0.8}', 1, 0, 100, dp_options('tree')) IS NOT NULL AS tree,
       dp_quantiles(x, '{0.2,0.8}', 1, 0, 100, dp_options('auto')) IS NOT NULL AS auto,
       dp_median(NULLIF(x, x), 1, 0, 100, dp_options('tree')) BETWEEN 0 AND 100 AS only_null
  FROM t WHERE x < 0;
SELECT dp_quantiles(NULLIF(x, x), '{0.2,0.8}', 1, 0, 100, dp_options('joint')) IS NOT NULL AS only_null FROM t GROUP BY k;

-- A prepared statement with a method that changes
PREPARE quantiles(text) AS
  SELECT dp_quantiles(x, '{0.1,0.9}', 500, 0, 100, dp_options($1, 1)) FROM t;
SET plan_cache_mode = force_generic_plan;
EXECUTE quantiles('joint');
EXECUTE quantiles('tree');
EXECUTE quantiles('auto');
EXECUTE quantiles('exact');
-- A tree with a value grid that changes
PREPARE tree(float8) AS SELECT dp_median(x, 500, 0, 100, dp_options('tree', $1)) FROM t;
EXECUTE tree(1);
EXECUTE tree(50);
RESET plan_cache_mode;

-- Joint draws have a limit on the number of different quantiles.
SELECT dp_quantiles(x, array(SELECT i / 130.0::float8 FROM generate_series(1, 129) i), 1, 0, 100, dp_options('joint')) FROM t;
\echo :SQLSTATE
SELECT dp_quantiles(x, array(SELECT i / 130.0::float8 FROM generate_series(1, 129) i), 1, 0, 100, dp_options('joint')) FROM t WHERE x < 0;
SELECT dp_quantiles(x, array(SELECT i % 5 / 5.0::float8 FROM generate_series(1, 1000) i), 1, 0, 100, dp_options('joint')) IS NOT NULL AS answered FROM t;
SELECT array_length(dp_quantiles(x, array(SELECT i / 4097.0::float8 FROM generate_series(1, 4096) i), 1, 0, 100, dp_options('approximate')), 1) AS approximate,
       array_length(dp_quantiles(x, array(SELECT i / 4097.0::float8 FROM generate_series(1, 4096) i), 1, 0, 100, dp_options('tree')), 1) AS tree
  FROM t;

-- Errors
SELECT dp_quantiles(x, '{0.5}', 1, 0, 100, dp_options('binary')) FROM t;
SELECT dp_quantiles(x, '{0.5}', 1, 0, 100, '{"method": "Joint"}') FROM t;
SELECT dp_cdf(x, 1, 0, 100, dp_options('joint')) FROM t;
SELECT dp_cdf(x, 1, 0, 100, dp_options('auto')) FROM t;
SELECT dp_iqr(x, 1, 0, dp_options('joint')) FROM t;
SELECT dp_quantiles(x, '{}', 1, 0, 100, dp_options('joint')) FROM t;
SELECT dp_quantiles(x, '{1.5}', 1, 0, 100, dp_options('tree')) FROM t;
SELECT dp_median(x, 1e-7, 0, 100, dp_options('tree')) FROM t;
SELECT dp_quantiles(x, ARRAY(SELECT i / 100::float8 FROM generate_series(1, 20) AS i), 1e-6, 0, 100, dp_options('independent')) FROM t;

-- The ledger has the requested method, also if it is auto.
SELECT function, mechanism, neighbours, epsilon, delta, grouping_sets, groups, count(*) FROM dp_ledger
 GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY function COLLATE "C", mechanism COLLATE "C", epsilon, groups;
-- The rho of a charge is that of its mechanism: epsilon^2 / 8 for one joint draw, half of that for two independent draws.
SELECT mechanism, round(rho, 6) AS rho FROM dp_ledger
 WHERE function = 'dp_quantiles' AND epsilon = 1 AND query LIKE '%only_null%x < 0%' AND mechanism <> 'tree' ORDER BY mechanism COLLATE "C";

-- The expected error depends on public figures only. Both simulated errors are far below the bound.
SELECT quantile, rank_error_typical <= rank_error_95 AS ordered, rank_error_95 < 200 AS small, rank_error_bound > rank_error_95 AS bounded
  FROM dp_quantiles_expected_error(10000, '{0.5,0.1,0.1}', 1, 0, 100);
SELECT count(*), bool_and(rank_error_bound IS NULL) AS unbounded, bool_and(rank_error_typical >= 0) AS simulated
  FROM dp_quantiles_expected_error(10000, '{0.25,0.75}', 1, 0, 100, dp_options('tree', 1));
SELECT count(*) FROM dp_quantiles_expected_error(1000, '{0.25,0.5,0.75}', NULL, 0, 100, dp_options('auto', 1, rho => 0.1));
-- The error is exact for a huge epsilon on a value grid of few cells.
SELECT quantile, rank_error_typical, rank_error_95
  FROM dp_quantiles_expected_error(1000, '{0.25,0.75}', 1000, 0, 10, dp_options('joint', 1));
-- The figures of a call are the same each time.
SELECT method, count(DISTINCT (e.rank_error_typical, e.rank_error_95)) AS figures
  FROM unnest('{tree,blocks}'::text[]) method, generate_series(100, 102) n, dp_quantiles_expected_error(100 + n - n, '{0.5}', 0.1, 0, 100, dp_options(method)) e
  GROUP BY method;
SELECT dp_quantiles_expected_error(NULL, '{0.5}', 1, 0, 100);
SELECT dp_quantiles_expected_error(0, '{0.5}', 1, 0, 100);
SELECT dp_quantiles_expected_error(-1, '{0.5}', 1, 0, 100);
SELECT dp_quantiles_expected_error(1099511627777, '{0.5}', 1, 0, 100);
SELECT dp_quantiles_expected_error(1000, NULL, 1, 0, 100);
SELECT dp_quantiles_expected_error(1000, '{}', 1, 0, 100);
SELECT dp_quantiles_expected_error(1000, '{0.5}', NULL, 0, 100);
SELECT dp_quantiles_expected_error(1000, '{0.5}', 1, 100, 0);
SELECT dp_quantiles_expected_error(1000, '{0.5}', 1, NULL, 0);
SELECT dp_quantiles_expected_error(1000, '{0.5}', 1, 0, 100, dp_options(rho => 1));
SELECT dp_quantiles_expected_error(1000, '{0.5}', 1, 0, 100, dp_options('exact'));
SELECT count(*) FROM dp_quantiles_expected_error(1000, '{0.5}', 1, 0, 100, NULL);

RESET ROLE;
DROP OWNED BY regress_dpq_methods;
DROP ROLE regress_dpq_methods;
