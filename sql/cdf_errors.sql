-- The error of a release: dp_cdf_error and the band of dp_cdf_points after the release, dp_cdf_expected_error
-- before it. The figures follow from the public law of the noise alone.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_cdf_errors;
CREATE SCHEMA AUTHORIZATION regress_dpq_cdf_errors;
SET ROLE regress_dpq_cdf_errors;

-- The accuracy that dp_cdf must reach. The poster's bound for the same parameters is 9333 rows.
SELECT pointwise <= 2300 AS pointwise, simultaneous <= 4600 AS simultaneous, branching,
       array_length(level_epsilon, 1) AS levels
  FROM dp_cdf_expected_error(0.01, 1024, 0.95);
-- A release with option rho. A tree of three levels with rho = epsilon^2 / 2 has noise of a smaller variance, because the
-- levels share the square of epsilon.
SELECT e.branching, e.level_epsilon, r.branching AS branching_of_rho, r.level_rho, r.level_epsilon IS NULL AS no_epsilon,
       r.pointwise < 0.8 * e.pointwise AND r.simultaneous < 0.7 * e.simultaneous AS smaller
  FROM dp_cdf_expected_error(0.1, 8, method => 'binary') e, dp_cdf_expected_error(NULL, 8, method => 'binary', rho => 0.005) r;
SELECT dp_cdf_expected_error(0.01) = dp_cdf_expected_error(0.01, 1024, 0.95, 'tree') AS defaults,
       dp_cdf_expected_error(NULL, 64, rho => 0.1) = dp_cdf_expected_error(NULL, 64, 0.95, 'factorization', 0.1) AS with_rho,
       dp_cdf_expected_error(1, 10, 0.95, NULL) = dp_cdf_expected_error(1, 10) AS null_method;

-- The default with option rho has no tree. It must reach a band of 12 rows, and have smaller errors than the tree.
SELECT f.pointwise <= 6 AS pointwise, f.simultaneous <= 12 AS simultaneous, t.simultaneous >= 15 AS tree,
       f.branching, f.level_epsilon, f.level_rho
  FROM dp_cdf_expected_error(NULL, rho => 0.5) f, dp_cdf_expected_error(NULL, method => 'tree', rho => 0.5) t;
SELECT bins, f.simultaneous < t.simultaneous AS simultaneous, f.pointwise < t.pointwise AS pointwise
  FROM unnest('{8,100,10000}'::int[]) bins, dp_cdf_expected_error(NULL, bins, rho => 0.0001) f,
       dp_cdf_expected_error(NULL, bins, method => 'tree', rho => 0.0001) t;

-- For each method and number of bins, the tree covers the bins, the parts of epsilon add up to no more than
-- epsilon, and the error at all points is no smaller than the error at a single point.
CREATE TABLE expected AS
  SELECT method, bins, epsilon, confidence, e.*
    FROM unnest('{tree,binary,histogram}'::text[]) method, unnest('{1,2,3,50}'::int[]) bins,
         (VALUES (0.01::float8, 0.95::float8), (1, 0.5), (1, 0.95)) p(epsilon, confidence),
         dp_cdf_expected_error(epsilon, bins, confidence, method) e
  UNION ALL
  SELECT method, bins, 0.01, 0.95, e.*
    FROM (VALUES ('tree', 1024), ('binary', 1024), ('histogram', 1024), ('tree', 1048576)) v(method, bins),
         dp_cdf_expected_error(0.01, bins, 0.95, method) e;
SELECT method, bins, bool_and(pointwise <= simultaneous) AS ordered, bool_and(pointwise >= 0) AS positive,
       bool_and(array_length(branching, 1) = array_length(level_epsilon, 1)) AS levels,
       bool_and((SELECT round(exp(sum(ln(b)))) FROM unnest(branching) b) >= bins) AS covers,
       bool_and((SELECT sum(e) FROM unnest(level_epsilon) e) BETWEEN 0.999999 * epsilon AND epsilon) AS within_epsilon
  FROM expected GROUP BY method, bins ORDER BY method, bins;
-- More confidence makes the error larger. The error is inversely proportional to epsilon.
SELECT method, bins, bool_and(loose.pointwise <= strict.pointwise
                              AND loose.simultaneous <= strict.simultaneous) AS confidence,
       bool_and(strict.simultaneous < small.simultaneous
                AND abs(small.simultaneous / greatest(strict.simultaneous, 1) / 100 - 1) < 0.5)
         AS epsilon
  FROM expected loose JOIN expected strict USING (method, bins) JOIN expected small USING (method, bins)
 WHERE loose.confidence = 0.5 AND strict.confidence = 0.95 AND strict.epsilon = 1 AND small.epsilon = 0.01
 GROUP BY method, bins ORDER BY method, bins;
-- The default method has the smallest error at 1024 bins, and its error grows slowly with the number of bins.
SELECT tree.simultaneous < "binary".simultaneous AND "binary".simultaneous < histogram.simultaneous AS best,
       tree.pointwise < "binary".pointwise AND "binary".pointwise < histogram.pointwise AS best_pointwise,
       large.simultaneous < 5 * tree.simultaneous AS slowly
  FROM expected tree, expected "binary", expected histogram, expected large
 WHERE (tree.method, tree.bins) = ('tree', 1024) AND ("binary".method, "binary".bins) = ('binary', 1024)
   AND (histogram.method, histogram.bins) = ('histogram', 1024) AND large.bins = 1048576;
-- One bin is one count with discrete Laplace noise. 95 % of this noise is below ln(20) / epsilon = 299.6; the
-- figures are a little higher.
SELECT pointwise BETWEEN 300 AND 320 AS pointwise, simultaneous BETWEEN 300 AND 330 AS simultaneous
  FROM expected WHERE method = 'tree' AND bins = 1 AND epsilon = 0.01;

-- A release has the expected error of its law for any counts.
CREATE TABLE cdfs (name text, cdf dp_cdf);
CREATE FUNCTION cdf(law expected, rows bigint) RETURNS dp_cdf LANGUAGE sql RETURN
  format('{"lower": 0, "upper": 10, "bins": %s, "method": "%s", "epsilon": %s, "branching": %s, "level_epsilon": %s,
           "rows": %s, "cumulative": %s}', law.bins, law.method, law.epsilon, to_json(law.branching),
         to_json(law.level_epsilon), rows,
         (SELECT json_agg(rows * i / law.bins) FROM generate_series(1, law.bins) i))::dp_cdf;
-- Law and confidence change from row to row: each row gets its own figures.
SELECT count(*) AS laws, bool_and((dp_cdf_error(cdf(e, 1000), confidence, false)).rows = pointwise) AS pointwise,
       bool_and((dp_cdf_error(cdf(e, 1000), confidence, true)).rows = simultaneous) AS simultaneous,
       count(DISTINCT (pointwise, simultaneous)) > 15 AS different
  FROM (SELECT * FROM expected WHERE bins < 1000 ORDER BY epsilon, bins, method, confidence OFFSET 0) e;
SELECT confidence, everywhere,
       (dp_cdf_error(cdf, confidence, everywhere)).rows =
         (SELECT CASE WHEN everywhere THEN e.simultaneous ELSE e.pointwise END
          FROM dp_cdf_expected_error(1, 50, confidence) e) AS same
  FROM (SELECT cdf(e, 7) FROM expected e WHERE bins = 50 AND method = 'tree' AND epsilon = 1 LIMIT 1) s,
       unnest('{0.5,0.9,0.5,0.999}'::float8[], '{t,t,f,f}'::boolean[]) v(confidence, everywhere);
SELECT dp_cdf_error(cdf(e, 1000)) = dp_cdf_error(cdf(e, 1000), 0.95, true) AS defaults
  FROM expected e WHERE bins = 3 AND method = 'tree' AND epsilon = 0.01;
-- The error in rows is the same for all counts, and the error of the fraction follows from it.
SELECT rows, (e).rows = simultaneous AS same, (e).fraction >= least(1, (e).rows / nullif(rows, 0)) AS fraction,
       (e).fraction <= least(1, 1.5 * (e).rows / nullif(rows, 0)) AS near
  FROM expected law, unnest('{0,1,1000,1000000000}'::bigint[]) rows,
       LATERAL (SELECT dp_cdf_error(cdf(law, rows)) AS e OFFSET 0) s
 WHERE method = 'tree' AND bins = 50 AND epsilon = 0.01 ORDER BY rows;
SELECT dp_cdf_error(NULL) IS NULL AND dp_cdf_error(cdf(e, 1), NULL) IS NULL
       AND dp_cdf_error(cdf(e, 1), 0.95, NULL) IS NULL AS "null"
  FROM expected e WHERE bins = 3 AND method = 'tree' AND epsilon = 0.01;

-- The points of a continuous CDF are the edges of its bins, the points of a discrete CDF its values. The band
-- has no width where the fraction is 0 or 1 by definition.
INSERT INTO cdfs VALUES
  ('continuous', '{"lower": 0, "upper": 40, "bins": 4, "method": "tree", "epsilon": 1000, "branching": [4],
                   "level_epsilon": [1000], "rows": 40, "cumulative": [10, 10, 30, 40]}'),
  ('discrete', '{"lower": 0, "upper": 10, "granularity": 4, "bins": 4, "method": "tree", "epsilon": 1000, "branching": [4],
                 "level_epsilon": [1000], "rows": 40, "cumulative": [10, 10, 30, 40]}'),
  ('one value', '{"lower": 0, "upper": 1, "granularity": 9, "bins": 1, "method": "tree", "epsilon": 1000, "branching": [1],
                  "level_epsilon": [1000], "rows": 4, "cumulative": [4]}'),
  ('no rows', '{"lower": 0, "upper": 40, "bins": 2, "method": "tree", "epsilon": 1, "branching": [2],
                "level_epsilon": [1], "rows": 0, "cumulative": [0, 0]}'),
  ('few rows', '{"lower": 0, "upper": 40, "bins": 4, "method": "tree", "epsilon": 0.01, "branching": [4],
                 "level_epsilon": [0.01], "rows": 40, "cumulative": [10, 10, 30, 40]}');
-- At this epsilon the noise is 0. A fraction is off by at most one row, because counts and total are rounded.
SELECT name, p.* FROM cdfs, dp_cdf_points(cdf) p
 ORDER BY name, x;
SELECT (dp_cdf_points(cdf, 0.5)).* FROM cdfs WHERE name = 'no rows';
SELECT name, (dp_cdf_error(cdf)).* FROM cdfs WHERE name <> 'few rows' AND name <> 'no rows' ORDER BY name;
-- The band of any release is monotone, lies around the curve and is as wide as dp_cdf_error says. The curve
-- agrees with dp_cdf_probability.
INSERT INTO cdfs
  SELECT e.method, cdf(e, 10000) FROM expected e WHERE bins = 50 AND epsilon = 0.01;
SELECT name, confidence, count(*) AS points,
       bool_and(low <= probability AND probability <= high AND low >= 0 AND high <= 1) AS around,
       bool_and(low >= low_before AND probability >= before AND high >= high_before) AS monotone,
       bool_and(abs(probability - dp_cdf_probability(cdf, x)) < 1e-12) AS curve,
       max(greatest(high - probability, probability - low)) BETWEEN fraction - 1e-12 AND fraction + 1e-12 AS width,
       min(high - low) = 0 AS ends
  FROM cdfs, unnest('{0.5,0.95,0.999}'::float8[]) confidence, dp_cdf_error(cdf, confidence) e(rows, fraction),
       LATERAL (SELECT p.*, lag(low, 1, 0) OVER (ORDER BY x) AS low_before,
                lag(probability, 1, 0) OVER (ORDER BY x) AS before,
                       lag(high, 1, 0) OVER (ORDER BY x) AS high_before
                  FROM dp_cdf_points(cdf, confidence) p) s
 WHERE name IN ('tree', 'binary', 'histogram') GROUP BY name, confidence, fraction ORDER BY name, confidence;

-- Bad parameters
SELECT dp_cdf_error(cdf, 0.49) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_error(cdf, 0.9991) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_error(cdf, 'NaN') FROM cdfs WHERE name = 'no rows';
SELECT dp_cdf_points(cdf, 95) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_points(cdf, 'Infinity') FROM cdfs WHERE name = 'no rows';
SELECT dp_cdf_expected_error(0);
SELECT dp_cdf_expected_error(-1);
SELECT dp_cdf_expected_error(1e-7);
SELECT dp_cdf_expected_error(1001);
SELECT dp_cdf_expected_error('NaN');
SELECT dp_cdf_expected_error('Infinity');
SELECT dp_cdf_expected_error(1, 0);
SELECT dp_cdf_expected_error(1, -1);
SELECT dp_cdf_expected_error(1, 1048577);
SELECT dp_cdf_expected_error(1, 2147483647);
SELECT dp_cdf_expected_error(1, 10, 0);
SELECT dp_cdf_expected_error(1, 10, 1);
SELECT dp_cdf_expected_error(1, 10, 'NaN');
SELECT dp_cdf_expected_error(1, 10, 0.95, 'approximate');
SELECT dp_cdf_expected_error(1, 10, 0.95, 'Tree');
SELECT dp_cdf_expected_error(1, 10, 0.95, '');
SELECT dp_cdf_expected_error(1, 10, 0.95, 'factorization');
SELECT dp_cdf_expected_error(1, 10, rho => 0.1);
SELECT dp_cdf_expected_error(NULL, 10, rho => 0);
SELECT dp_cdf_expected_error(NULL, 10, rho => 'NaN');
SELECT dp_cdf_expected_error(NULL) IS NULL AND dp_cdf_expected_error(1, NULL) IS NULL
       AND dp_cdf_expected_error(1, 1, NULL) IS NULL AS "null";
\set VERBOSITY sqlstate
SELECT dp_cdf_error(cdf, 1) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_points(cdf, 1) FROM cdfs WHERE name = 'continuous';
SELECT dp_cdf_expected_error(0);
SELECT dp_cdf_expected_error(1, 0);
SELECT dp_cdf_expected_error(1, 1, 1);
SELECT dp_cdf_expected_error(1, 1, 0.95, 'none');
\set VERBOSITY default

-- None of this was charged.
SELECT count(*) AS charges FROM dp_ledger;

-- The figures are true. A release misses at some point with a probability of at most 0.5, so more than 620 of
-- 1000 releases miss with a probability below exp(-2 120^2 / 1000) < 1e-12. On average at most half of the 11
-- points miss, so more than 6820 of 11000 points miss with a probability below
-- exp(-2 1320^2 / (1000 11^2)) < 1e-12. The figures are also not far too large: if a share of 0.4 misses (0.06 for
-- the fractions, because their band is wider than necessary), the number of misses is below the lower limit here
-- with a probability below 1e-8.
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_cdf_errors', 10);
SET ROLE regress_dpq_cdf_errors;
CREATE TABLE people AS SELECT x, x % 10 + (x % 7) % 2 AS v FROM generate_series(1, 500) x;
CREATE TABLE exact AS
  SELECT p::float8 AS x, (SELECT count(*) FROM people WHERE v <= p) / 500.0::float8 AS truth
    FROM generate_series(0, 10) p;
CREATE TABLE releases AS
  SELECT g, dp_cdf(v, 0.1, 0, 10, dp_options(granularity => 1)) AS cdf FROM people, generate_series(1, 1000) g
    GROUP BY g;
SELECT count(*) AS releases, count(*) FILTER (WHERE fraction_misses > 0) BETWEEN 10 AND 620 AS fractions,
       count(*) FILTER (WHERE misses > 0) BETWEEN 300 AND 620 AS counts,
       sum(point_misses) BETWEEN 3000 AND 6820 AS points
  FROM (SELECT g, count(*) FILTER (WHERE truth NOT BETWEEN low AND high) AS fraction_misses,
               count(*) FILTER (WHERE abs(rows_up_to - 500 * truth) > e.rows) AS misses,
               count(*) FILTER (WHERE abs(rows_up_to - 500 * truth) > p.rows) AS point_misses
          FROM releases, dp_cdf_points(cdf, 0.5) JOIN exact USING (x),
               dp_cdf_error(cdf, 0.5, true) e, dp_cdf_error(cdf, 0.5, false) p,
               LATERAL (SELECT dp_cdf_count(cdf, '-Infinity', x) AS rows_up_to) c
         GROUP BY g) s;

-- The error of a quantile includes the rounding to the granularity: all values count at 0. The noise moves half of the 500 rows with a probability below
-- 1e-30.
SELECT dp_cdf_quantile(cdf, 0.5) AS median, dp_cdf_quantile_error(cdf, 0.5) AS error
  FROM (SELECT dp_cdf(49.99 + 0 * x, 1, 0, 1000, dp_options(granularity => 100)) AS cdf FROM people) t;

RESET ROLE;
DROP OWNED BY regress_dpq_cdf_errors;
DROP ROLE regress_dpq_cdf_errors;

-- A handwritten law that dp_cdf would not choose
SELECT rows > 0 AS rows, fraction AS fraction
FROM dp_cdf_error(('{"lower": 0, "upper": 1, "bins": 4100, "method": "tree", "epsilon": 1, "branching": [4100, 2],
                     "level_epsilon": [0.5, 0.5], "rows": 1, "cumulative": [' || repeat('0,', 4099) || '1]}')::dp_cdf);
