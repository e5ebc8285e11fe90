-- dp_user_grid_stats: mean and variance of each grid, near the truth if epsilon is large.
--
-- Each tolerance is 20 scales of the noise or more, or 30 with thousands of draws. These tests fail by chance with a
-- probability below 1e-6.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_user_grids;
CREATE SCHEMA AUTHORIZATION regress_dpq_user_grids;
SELECT dp_grant_budget('regress_dpq_user_grids', 10000000, smallest_charge => 1e-6);
CREATE ROLE regress_dpq_user_grids_rho;
SELECT dp_grant_budget('regress_dpq_user_grids_rho', 10000, 1e-6, 'zcdp');
GRANT USAGE ON SCHEMA regress_dpq_user_grids TO regress_dpq_user_grids_rho;
SET ROLE regress_dpq_user_grids;
-- 40 users in each of 4 grids with 10 rows in each: K = 4. The grids have different means and variances.
CREATE TABLE trips AS
  SELECT u, g AS cell, (10 * ascii(g) % 70 + x * length(g))::float8 AS speed
    FROM generate_series(1, 40) u, unnest('{b,a,B,aa}'::text[]) g, generate_series(1, 10) x;
GRANT SELECT ON trips TO regress_dpq_user_grids_rho;

-- The noise of each mean has scale 100 * 10/400 * 2 * 4 / 1000 = 0.02, of each variance 2.
SELECT (s).grid, abs((s).mean - truth.mean) < 0.4 AS mean, abs((s).variance - truth.variance) < 40 AS variance, (s).users_kept,
       (s).grids_per_user, abs((s).mean_error - 0.02) < 1e-9 AS mean_error,
       abs((s).variance_error - 10000 * 0.025 * 0.975 * 8 / 1000) < 1e-9 AS variance_error,
       abs((s).relative_error_bound - (0.025 + 0.025 * 0.975) * 8 / 1000) < 1e-12 AS error_bound
  FROM unnest((SELECT dp_user_grid_stats(u, cell, speed, 1000, 0, 100) FROM trips)) s
  JOIN (SELECT cell, avg(speed) AS mean, var_pop(speed) AS variance FROM trips GROUP BY cell) truth ON (s).grid = cell
 ORDER BY (s).grid COLLATE "C";
-- With rho = 1000 the noise of each mean has sigma 100 * 10/400 * sqrt(8 / 2000) = 0.16, that of each variance 15.
SET ROLE regress_dpq_user_grids_rho;
SELECT (s).grid, abs((s).mean - truth.mean) < 4 AS mean, abs((s).variance - truth.variance) < 400 AS variance, (s).users_kept,
       (s).grids_per_user, abs((s).mean_error - 2.5 / sqrt(pi() * 1000 / 8)) < 1e-9 AS mean_error,
       abs((s).variance_error - 10000 * 0.025 * 0.975 / sqrt(pi() * 1000 / 8)) < 1e-9 AS variance_error,
       abs((s).relative_error_bound - (0.025 + 0.025 * 0.975) / sqrt(pi() * 1000 / 8)) < 1e-12 AS error_bound
  FROM unnest((SELECT dp_user_grid_stats(u, cell, speed, NULL, 0, 100, dp_options(rho => 1000)) FROM regress_dpq_user_grids.trips)) s
  JOIN (SELECT cell, avg(speed) AS mean, var_pop(speed) AS variance FROM regress_dpq_user_grids.trips GROUP BY cell) truth ON (s).grid = cell
 ORDER BY (s).grid COLLATE "C";
SET ROLE regress_dpq_user_grids;
-- Another way to write the same query
SELECT grid, abs(mean - truth.m) < 0.4 AS near
  FROM (SELECT cell, avg(speed) AS m FROM trips GROUP BY cell) truth,
       unnest((SELECT dp_user_grid_stats(u::text, cell, speed::numeric, 1000, 0, 100, dp_options(suppress => true)) FROM trips))
 WHERE grid = cell ORDER BY grid COLLATE "C";
-- The type of the answer
SELECT pg_typeof(s), cardinality(s), pg_typeof(s[1]), (s[1]).grid FROM (
  SELECT dp_user_grid_stats(u, cell, speed, 1000, 0, 100) AS s FROM trips) t;
SELECT attname, atttypid::regtype, col_description(attrelid, attnum) IS NOT NULL AS comment
  FROM pg_attribute WHERE attrelid = 'dp_grid_stat'::regclass ORDER BY attnum;
CREATE TABLE release AS SELECT (s).* FROM unnest((SELECT dp_user_grid_stats(u, cell, speed, 1, 0, 100) FROM trips)) s;
SELECT count(*) FROM release WHERE mean BETWEEN 0 AND 100 AND variance BETWEEN 0 AND 2500;

-- Grids are ordered by the bytes of their names, for any order of the rows, collation and plan. Different bytes are
-- different names, and any text is a name.
SELECT array_agg((s).grid) FROM unnest((
  SELECT dp_user_grid_stats(1, g, 1, 1000, 0, 1)
    FROM unnest('{z,"",Z,a,"a ",ä,A,"a b",aa,ab,"''",%s,é,z}'::text[]) g)) s;
SELECT bool_and(near) AS near, count(DISTINCT names) AS orders
  FROM (SELECT (SELECT string_agg((s).grid, ' ') FROM unnest(stats) s) AS names,
               (SELECT bool_and(abs((s).mean - truth.m) < 0.4) FROM unnest(stats) s
                  JOIN (SELECT cell, avg(speed) AS m FROM trips GROUP BY cell) truth ON (s).grid = cell) AS near
          FROM (SELECT unnest(stats) AS x, stats
                  FROM (SELECT ARRAY[1] AS x, dp_user_grid_stats(u, cell, speed, 1000, 0, 100 ORDER BY cell, u DESC) AS stats FROM trips
                        UNION ALL SELECT ARRAY[2], dp_user_grid_stats(u, cell, speed, 1000, 0, 100 ORDER BY cell DESC, speed) FROM trips
                        UNION ALL SELECT ARRAY[3], dp_user_grid_stats(u, cell, speed, 1000, 0, 100 ORDER BY speed, u) FROM trips) a) b) c;

-- An outer value that is only combined with the answer makes no new execution: there is one release, of two groups.
SET enable_sort = off;
SELECT i, count(*) AS grids, bool_and(abs(s.mean - truth.m) < 1) AS near
  FROM generate_series(1, 3) i,
       LATERAL (SELECT u % 2 AS half, CASE WHEN i > 0 THEN dp_user_grid_stats(u, cell, speed, 1000, 0, 100) END AS stats
                  FROM (SELECT * FROM trips ORDER BY cell DESC) t GROUP BY u % 2) r,
       LATERAL unnest(stats) s
  JOIN (SELECT cell, avg(speed) AS m FROM trips GROUP BY cell) truth ON s.grid = cell
 GROUP BY i ORDER BY i;
SELECT count(*) AS charges FROM dp_ledger WHERE query LIKE '%AS half%';
RESET enable_sort;

-- Rows with a NULL user, grid or value or with a NaN do not count. A grid without rows does not exist.
SELECT (s).grid, abs((s).mean - 1) < 0.1 AS mean, (s).users_kept, (s).grids_per_user
  FROM unnest((SELECT dp_user_grid_stats(u, g, x, 1000, 0, 10)
    FROM (SELECT u, 'a', 1::float8 FROM generate_series(1, 40) u UNION ALL
          VALUES (NULL, 'b', 9::float8), (1, NULL, 9), (2, 'c', NULL), (3, 'd', 'NaN'), (NULL, NULL, NULL)) v(u, g, x))) s;
-- Values outside the bounds
SELECT (s).grid, abs((s).mean - 15) < 0.05 AS clamped
  FROM unnest((SELECT dp_user_grid_stats(u, 'g', x, 1000, 10, 20)
    FROM generate_series(1, 40) u, unnest('{-Infinity,5,10,20,1e300,Infinity}'::float8[]) x)) s;
-- Without rows there are no grids.
SELECT dp_user_grid_stats(u, cell, speed, 1, 0, 100) FROM trips WHERE false;
SELECT dp_user_grid_stats(u, NULL, speed, 1, 0, 100) FROM trips;
SELECT dp_user_grid_stats(u, cell, 'NaN'::float8, 1, 0, 100, '{"suppress": false}') FROM trips;
-- One row; one user in many grids
SELECT (s).grid, (s).mean BETWEEN 0 AND 10 AS mean, (s).variance, (s).users_kept, (s).grids_per_user
  FROM unnest((SELECT dp_user_grid_stats(7, 'g', 3, 0.1, 0, 10))) s;
SELECT count(*), min((s).users_kept) AS users, min((s).grids_per_user) AS k
  FROM unnest((SELECT dp_user_grid_stats(1, 'g' || g, 3, 1, 0, 10) FROM generate_series(1, 100) g)) s;

-- Suppression: users 1 .. 100 are in one of ten grids each, and user 0 is in all ten. The noise is largest in the grid of
-- one row. User 0 is suppressed in the other grids while their errors do not exceed the error there.
CREATE TABLE many AS
  SELECT u, 'g' || u % 10 AS g, 5 AS x FROM generate_series(1, 100) u, generate_series(1, 20)
  UNION ALL SELECT 0, 'g' || g, 5 FROM generate_series(0, 9) g
  UNION ALL SELECT 101, 'one row', 5;
SELECT options, min((s).grids_per_user) AS k, sum((s).users_kept) AS users, count(DISTINCT (s).relative_error_bound) AS bounds,
       bool_and((s).mean_error / 10 + (s).variance_error / 100 <= (s).relative_error_bound + 1e-12) AS within_bound,
       bool_and(abs((s).mean - 5) < 30 * (s).mean_error) AS near,
       round(min((s).mean_error / 10)::numeric, 4) AS least_error
  FROM unnest('{"{}","{\"suppress\": true}","{\"suppress\": false}"}'::text[]) options,
       LATERAL (SELECT CASE options WHEN '{"suppress": false}'
                       THEN (SELECT dp_user_grid_stats(u, g, x, 10, 0, 10, '{"suppress": false}') FROM many)
                       ELSE (SELECT dp_user_grid_stats(u, g, x, 10, 0, 10) FROM many) END AS stats) a, unnest(stats) s
 GROUP BY options ORDER BY options;

-- Each of thousands of grids has its own user and value: every name keeps its rows. The noise has the scale
-- 100 * 2 / 1000.
SELECT count(*), bool_and(abs((s).mean - substr((s).grid, 2)::int % 101) < 6) AS near,
       bool_and((s).users_kept = 1 AND (s).grids_per_user = 1) AS single
  FROM unnest((SELECT dp_user_grid_stats(g, 'g' || g, g % 101, 1000, 0, 100) FROM generate_series(1, 5000) g)) s;
-- threat 24: a group has at most 262144 grids, because a draw takes memory for each.
SELECT count(*) FROM unnest((SELECT dp_user_grid_stats(g, g::text, 1, 1000, 0, 100) FROM generate_series(1, 262144) g)) s;
SELECT count(*) FROM unnest((SELECT dp_user_grid_stats(g, g::text, 1, 1000, 0, 100) FROM generate_series(1, 262145) g)) s;
-- Long names, compressed and out of line
CREATE TABLE long AS SELECT i, CASE i % 2 WHEN 0 THEN repeat('name ' || i, 2000)
         ELSE (SELECT string_agg(md5((i * 1000 + j)::text), '') FROM generate_series(1, 300) j) END AS name FROM generate_series(1, 40) i;
SELECT count(*), bool_and(abs((s).mean - i) < 6) AS near
  FROM unnest((SELECT dp_user_grid_stats(i, name, i, 1000, 0, 100) FROM long)) s JOIN long ON (s).grid = name;

RESET ROLE;
DROP OWNED BY regress_dpq_user_grids;
DROP ROLE regress_dpq_user_grids, regress_dpq_user_grids_rho;
