-- dp_cdf: its releases and its charges.
--
-- Where a test expects exact counts, each level of the tree has an epsilon of 100 or more. A node is off with
-- a probability below 2 exp(-100), and any of the fewer than 10^6 nodes drawn here is off with a probability
-- below 1e-36.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_cdf;
CREATE SCHEMA AUTHORIZATION regress_dpq_cdf;
SELECT dp_grant_budget('regress_dpq_cdf', 1000000, smallest_charge => 1e-6);
SET ROLE regress_dpq_cdf;
-- Each of 0.5, 1.5, .. 9.5 ten times
CREATE TABLE t AS
  SELECT v + 0.5::float8 AS x, v % 2 AS a, v % 3 AS b FROM generate_series(0, 9) v, generate_series(1, 10);
CREATE FUNCTION counts(cdf dp_cdf) RETURNS text LANGUAGE sql RETURN cdf::jsonb ->> 'cumulative';

-- The charges since the last call
SET regress.spent = 0;
CREATE FUNCTION charged() RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  before CONSTANT numeric := current_setting('regress.spent');
BEGIN
  PERFORM set_config('regress.spent', (SELECT epsilon_spent FROM dp_budget)::text, false);
  RETURN trim_scale(current_setting('regress.spent')::numeric - before);
END
$$;

SELECT dp_cdf(x, 512, 0, 10, dp_options(bins => 5)) FROM t;
SELECT dp_cdf(x, 512, 0, 10, dp_options('histogram', granularity => 2)) FROM t;
SELECT dp_cdf(x, 512, 0, 10, dp_options('binary', bins => 4)) FROM t;
-- Several questions to one release: PostgreSQL runs an identical call once.
SELECT dp_cdf_rows(dp_cdf(x, 1000, 0, 10)) AS rows,
       dp_cdf_quantile(dp_cdf(x, 1000, 0, 10), 0.5) BETWEEN 4.5 AND 4.6 AS median,
       dp_cdf_count(dp_cdf(x, 1000, 0, 10), 2, 4) AS two_to_four
  FROM t;
SELECT charged();

-- Exact counts by every method, for both types of value and many numbers of bins. A value on an edge is in the
-- bin above it. A value half way between two cells of the value grid belongs to the greater cell.
CREATE TABLE data AS
  SELECT n::float8 AS x, n FROM (SELECT (i * 7919 % 10001) / 1000.0 AS n FROM generate_series(1, 1500) i) s
  UNION ALL SELECT i, i FROM generate_series(0, 10) i
  UNION ALL SELECT i / 10.0, i / 10.0 FROM generate_series(0, 100) i;
CREATE FUNCTION exact(bins int, step numeric) RETURNS text LANGUAGE sql STABLE RETURN (
  WITH edges AS MATERIALIZED (
    SELECT i, CASE WHEN i = bins THEN 'Infinity' ELSE coalesce((i - 0.5) * step, i * 10.0 / bins) END AS edge
      FROM generate_series(1, bins) i)
  SELECT jsonb_agg((SELECT count(*) FROM data WHERE n < edge) ORDER BY i) FROM edges);
CREATE FUNCTION released(method text, bins int, step numeric, column_name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  EXECUTE format('SELECT counts(dp_cdf(%I, 1000, 0, 10, dp_options(%L, %L, %L))) FROM data',
                 column_name, method, step, CASE WHEN step IS NULL THEN bins END) INTO answer;
  RETURN answer;
END
$$;
CREATE TABLE domains (bins int, step numeric, counts text);
INSERT INTO domains
  SELECT bins, step, exact(bins, step)
    FROM (VALUES (1, NULL), (2, NULL), (7, NULL), (10, NULL), (100, NULL), (1000, NULL), (1024, NULL),
                 (11, 1), (41, 0.25), (4, 4), (2, 10)) v(bins, step);
SELECT bins, step, bool_and(released(method, bins, step, 'x') = counts) AS exact,
       bool_and(released(method, bins, step, 'n') = counts) AS numeric_exact
  FROM domains, unnest('{tree,binary,histogram}'::text[]) method GROUP BY bins, step ORDER BY step, bins;
-- Negative and positive bounds, and very large and small bounds
SELECT counts(dp_cdf(-x, 1000, -10, 0, dp_options(bins => 5))) AS negative,
       counts(dp_cdf(x - 5, 1000, -5, 5, dp_options(granularity => 2.5))) AS both_signs,
       counts(dp_cdf(x * 1e300, 1000, 0, 1e301, dp_options(bins => 5))) AS large,
       counts(dp_cdf(x * 1e-300, 1000, 0, 1e-299, dp_options(bins => 5))) AS small,
       counts(dp_cdf(1e12 + x, 1000, 1e12, 1e12 + 10, dp_options(bins => 5))) AS far
  FROM t;

-- threat 21: odd values. NULL and NaN are ignored; other values outside the bounds are in the first or last bin.
CREATE TABLE odd (x float8, n numeric);
INSERT INTO odd VALUES
  (NULL, NULL), ('NaN', 'NaN'), ('Infinity', 'Infinity'), ('-Infinity', '-Infinity'), (1e308, 1e400), (-1e308, -1e400),
  (10.1, repeat('9', 1000)::numeric), (-0.1, '-1e-400'), (10, 10), ('-0', -0.0), (5e-324, 1e-400);
SET client_min_messages = log;
SELECT counts(dp_cdf(x, 1000, 0, 10, dp_options(bins => 5))) AS bins,
       counts(dp_cdf(n, 1000, 0, 10, dp_options(bins => 5))) AS numeric_bins,
       counts(dp_cdf(x, 1000, 0, 10, dp_options(granularity => 5))) AS steps,
       counts(dp_cdf(n, 1000, 0, 10, dp_options(granularity => 5))) AS numeric_steps
  FROM odd;
SELECT counts(dp_cdf(v, 1000, 0, 10, dp_options(bins => 2))) AS alone, string_agg(v::text, ' ') AS v
  FROM (SELECT x AS v, row_number() OVER () AS number FROM odd) s GROUP BY number ORDER BY number;
SELECT counts(dp_cdf(x::float4, 1000, 0, 10, dp_options(bins => 2))) AS float4,
       counts(dp_cdf(x::int, 1000, 0, 10, dp_options(granularity => 5))) AS int4
  FROM t;
RESET client_min_messages;

-- threat 20: an input without a value is answered and charged like any other input, and its cause makes no
-- difference. (A release has a thousand rows or more with a probability below 1e-9.)
SELECT charged() > 0 AS paid;
CREATE FUNCTION run(query text, OUT answer dp_cdf, OUT rows bigint, OUT charged numeric) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM charged();
  EXECUTE query INTO answer;
  GET DIAGNOSTICS rows = ROW_COUNT;
  charged := charged();
END
$$;
SELECT filter, input, sum(rows) AS rows, count(answer) AS answers, sum(charged) AS charged,
       min(dp_cdf_rows(answer)) >= 0 AND max(dp_cdf_rows(answer)) < 1000 AS near
  FROM (VALUES (1, '', 't WHERE false'), (2, '', 't WHERE x > 100'), (3, '', '(SELECT NULL::float8 AS x FROM t) s'),
               (4, '', '(SELECT ''NaN''::float8 AS x FROM t) s'), (5, '', 't WHERE false GROUP BY ()'),
               (6, 'FILTER (WHERE false)', 't'), (7, 'FILTER (WHERE NULL)', 't'),
               (8, '', 't')) i(number, filter, input),
       (VALUES ('dp_cdf(x, 0.1, 0, 10) $'), ('dp_cdf(x::numeric, 0.1, 0, 10) $'),
               ('dp_cdf(x, 0.1, 0, 10, dp_options(bins => 1)) $'),
               ('dp_cdf(DISTINCT x::numeric, 0.1, 0, 10, dp_options(granularity => 1)) $')) c(call),
       run(format('SELECT %s FROM %s', replace(call, '$', filter), input))
 GROUP BY number, filter, input ORDER BY number;
-- The noise follows its law: it is 0 with a probability of tanh(1/2) and k or more with a probability of
-- exp(-k) / (1 + 1/e). A negative count becomes 0. In 20000 groups each of the frequencies is off by 500 with a
-- probability of at most 2 exp(-2 500^2 / 20000); any of the 7 is off by 500 with a probability below 2e-10.
CREATE TABLE groups AS SELECT k, CASE WHEN k > 20000 THEN 5 END::float8 AS x FROM generate_series(1, 40000) k;
INSERT INTO groups SELECT k, 5 FROM groups, generate_series(1, 19) WHERE x IS NOT NULL;
CREATE TEMP TABLE noisy AS
  SELECT count(x) AS rows, dp_cdf_rows(dp_cdf(x, 1, 0, 10, dp_options(bins => 1))) - count(x) AS noise FROM groups
    GROUP BY k;
SELECT rows, abs(count(*) FILTER (WHERE noise >= 1) - 20000 * 0.2689) < 500 AS one_or_more,
       abs(count(*) FILTER (WHERE noise >= 2) - 20000 * 0.0989) < 500 AS two_or_more,
       abs(count(*) FILTER (WHERE noise = 0) - 20000 * CASE rows WHEN 0 THEN 0.7311 ELSE 0.4621 END) < 500 AS none,
       CASE WHEN rows > 0 THEN abs(count(*) FILTER (WHERE noise <= -2) - 20000 * 0.0989) < 500 END AS minus_two_or_less,
       min(noise) >= -rows AS not_negative
  FROM noisy GROUP BY rows ORDER BY rows;
SELECT charged();

-- threat 16: groups are disjoint, so all of them are charged once. Each group has its own counts.
SELECT a, counts(dp_cdf(x, 1000, 0, 10, dp_options(bins => 10))) FROM t GROUP BY a ORDER BY a;
SELECT charged();
SELECT a, b, counts(dp_cdf(x, 500, 0, 10, dp_options(bins => 3))) FROM t GROUP BY a, b ORDER BY a, b;
SELECT charged();
SET enable_hashagg = off;
SELECT a, counts(dp_cdf(x, 1000, 0, 10, dp_options(bins => 10))) FROM t GROUP BY a ORDER BY a;
RESET enable_hashagg;
SELECT charged();
-- Groups without a value
SELECT a, counts(dp_cdf(x, 1000, 0, 10, dp_options(bins => 2)) FILTER (WHERE a = 1)) FROM t GROUP BY a ORDER BY a;
SELECT charged();
-- No group: the charge comes before the rows.
SELECT a, dp_cdf(x, 1000, 0, 10) FROM t WHERE false GROUP BY a;
SELECT charged();
-- GROUPING SETS put a row into several groups.
SELECT a, b, counts(dp_cdf(x, 200, 0, 10, dp_options(bins => 2))) FROM t GROUP BY GROUPING SETS ((a), (b), ())
  ORDER BY a, b;
SELECT charged();
SELECT count(dp_cdf) FROM (SELECT dp_cdf(x, 0.1, 0, 10) FROM t GROUP BY CUBE (a, b)) s;
SELECT charged();
-- Modifiers of the call
SELECT counts(dp_cdf(DISTINCT x, 1000, 0, 10, dp_options(bins => 2))) AS "distinct",
       counts(dp_cdf(x, 1000, 0, 10, dp_options(bins => 2) ORDER BY x DESC)) AS ordered,
       counts(dp_cdf(x, 1000, 0, 10, dp_options(bins => 2)) FILTER (WHERE x > 2)) AS filtered,
       counts(dp_cdf(DISTINCT x::numeric, 1000, 0, 10, dp_options(bins => 2) ORDER BY x::numeric)
                FILTER (WHERE x > 2)) AS all
  FROM t;
SELECT charged();
-- Each different call is charged, also beside quantiles, and no call gets the rows of another.
SELECT counts(dp_cdf(x, 1000, 0, 10, dp_options(bins => 2))) AS one,
       counts(dp_cdf(x, 1000, 0, 5, dp_options(bins => 2))) AS other,
       dp_median(x, 1000, 0, 10, dp_options(granularity => 2.5)) AS median, count(*)
  FROM t WHERE x < 3;
SELECT charged();

-- threat 9: no window function
SELECT dp_cdf(x, 1, 0, 10) OVER () FROM t;
SELECT dp_cdf(x::numeric, 1, 0, 10, dp_options()) OVER (ORDER BY x) FROM t WHERE false;
SELECT charged();

-- threat 8: each execution is charged for its own parameters.
SELECT e, (cdf::jsonb -> 'epsilon')::float8 AS epsilon, cdf::jsonb -> 'level_epsilon' AS level_epsilon
  FROM (VALUES (1::float8), (2), (4), (4)) v(e),
       LATERAL (SELECT dp_cdf(x, e, 0, 10, dp_options(bins => 2)) AS cdf FROM t) s;
SELECT charged();
SELECT o, cdf::jsonb -> 'method' AS method, counts(cdf)
  FROM (VALUES ('{"bins": 2}'::jsonb), ('{"bins": 5}'), ('{"bins": 5, "method": "histogram"}'),
               ('{"bins": 5, "method": "binary"}'), ('{"granularity": 5}')) v(o),
       LATERAL (SELECT dp_cdf(x, 1000, 0, 10, o) AS cdf FROM t) s;
SELECT charged();
-- Two draws of 1024 noisy counts differ, unless the noise hides all rows. With thousands of rows and this
-- epsilon that has a probability below 1e-9.
CREATE TABLE many AS SELECT (x % 10)::float8 AS x, x % 2 AS a FROM generate_series(1, 20000) x;
SELECT count(DISTINCT cdf::text)
  FROM generate_series(1, 5) i, LATERAL (SELECT dp_cdf(x, 0.1, 0, 10) AS cdf FROM many WHERE x <> i) s;
SELECT charged();
SET enable_material = off;
SELECT count(DISTINCT cdf::text)
  FROM generate_series(1, 5) i
  LEFT JOIN LATERAL (SELECT a, dp_cdf(x, 0.1, 0, 10) AS cdf FROM many WHERE x <> i GROUP BY ROLLUP (a)) s ON i > 0;
RESET enable_material;
SELECT charged();

-- threat 10: prepared statements
PREPARE release(float8, float8, jsonb) AS SELECT dp_cdf(x, $1, 0, $2, $3)::jsonb - 'level_epsilon' AS cdf FROM t;
SET plan_cache_mode = force_generic_plan;
EXECUTE release(1000, 10, '{"bins": 2}');
EXECUTE release(500, 5, '{"granularity": 5}');
SELECT charged();
EXECUTE release(NULL, 10, '{}');
EXECUTE release(1, 10, '{"bins": 0}');
SET plan_cache_mode = force_custom_plan;
EXECUTE release(1000, 10, '{"bins": 2}');
EXECUTE release(500, 5, '{"granularity": 5}');
SELECT charged();
EXECUTE release(NULL, 10, '{}');
RESET plan_cache_mode;
CREATE FUNCTION released_again(e float8) RETURNS dp_cdf LANGUAGE plpgsql AS $$
DECLARE
  cdf dp_cdf;
BEGIN
  SELECT dp_cdf(x, e, 0, 10, dp_options(bins => 2)) INTO cdf FROM t;
  RETURN cdf;
END
$$;
SELECT count(released_again(0.1)) FROM generate_series(1, 10);
SELECT charged();

-- threat 12: bad parameters cost nothing for any input.
CREATE FUNCTION error_of(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE query;
  RETURN 'none';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
SELECT min(error) AS error, count(DISTINCT error) AS errors
  FROM (VALUES ('''NaN'', 0, 10'), ('0, 0, 10'), ('1e-7, 0, 10'), ('1001, 0, 10'), ('NULL, 0, 10'), ('x, 0, 10'),
               ('random(), 0, 10'), ('1, 10, 0'), ('1, 0, ''Infinity'''), ('1, ''NaN'', 0'), ('1, -1.7e308, 1.7e308'),
               ('1, 0, NULL'), ('1, x, 10'),
               ('1, 0, 10, dp_options(bins => 1 + x::int)'), ('1, 0, 1e-310, dp_options(bins => 2)'),
               ('1, 0, 1048576, dp_options(granularity => 1)'), ('1, 0, 1e300, dp_options(granularity => 1e-300)'),
               ('1, 0, 10, dp_options(''approximate'')'), ('1, 0, 10, dp_options(NULL, 1, 1)')) p(parameters),
       (VALUES ('x'), ('x::numeric')) v(value), (VALUES ('t'), ('t WHERE false')) i(input),
       error_of(format('SELECT dp_cdf(%s, %s) FROM %s', value, parameters, input)) error
 GROUP BY parameters ORDER BY min(error) COLLATE "C";
SELECT dp_cdf_rows(dp_cdf(x, 1e-6, 0, 1048575, dp_options(granularity => 1))) >= 0 AS smallest FROM t;
SELECT dp_cdf_rows(dp_cdf(x, 1000, 0, 10, dp_options(bins => 1048576))) AS largest FROM t;
SELECT charged();

-- Groups around the sizes at which records are kept in another way: a chunk of seven at a time, and from 2100 on in a list. Parallel workers keep a part of each, and encode it.
CREATE TABLE sizes AS SELECT n, i % 8 AS x FROM unnest('{6,7,8,13,14,15,2099,2100,2101,2106,2107,2108,6007,20000}'::int[]) n, generate_series(1, n) i;
ANALYZE sizes;
CREATE VIEW exact AS SELECT n, jsonb_agg(up_to ORDER BY x) AS counts FROM (SELECT n, x, sum(count(*)) OVER (PARTITION BY n ORDER BY x) AS up_to FROM sizes GROUP BY n, x) s WHERE n > 7 GROUP BY n;
CREATE VIEW released AS SELECT n, counts(dp_cdf(x + 0.5, 1000, 0, 8, dp_options(bins => 8)))::jsonb AS counts FROM sizes GROUP BY n;
SET max_parallel_workers_per_gather = 0;
SELECT count(*), bool_and(r.counts = e.counts) AS exact FROM released r JOIN exact e USING (n);
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*), bool_and(r.counts = e.counts) AS exact FROM released r JOIN exact e USING (n);
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- The ledger names the function and the method.
SELECT function, mechanism, neighbours, epsilon, delta, grouping_sets, groups, query
  FROM dp_ledger
 WHERE query ~ '^SELECT (dp_cdf\(x, 512|a, b, counts)' ORDER BY number;
SELECT mechanism, count(*) > 0 AS some FROM dp_ledger WHERE function = 'dp_cdf' GROUP BY mechanism ORDER BY mechanism;
SELECT epsilon_spent = (SELECT sum(epsilon) FROM dp_ledger) AS agree FROM dp_budget;

RESET ROLE;
DROP OWNED BY regress_dpq_cdf;
DROP ROLE regress_dpq_cdf;
