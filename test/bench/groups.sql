-- One round of timings of many small groups, in the form of speed.sql.
\set ninths 'array[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]'
\set ECHO none
\timing on
\echo query: avg(x)
SELECT count(a) FROM (SELECT avg(x) AS a FROM grouped GROUP BY g) s \g /dev/null
\echo query: dp_count
SELECT count(a) FROM (SELECT dp_count(1) AS a FROM grouped GROUP BY g) s \g /dev/null
\echo query: dp_avg
SELECT count(a) FROM (SELECT dp_avg(x, 1, 0, 1000) AS a FROM grouped GROUP BY g) s \g /dev/null
\echo query: dp_stats
SELECT count(a) FROM (SELECT dp_stats(x, 1, 0, 1000) AS a FROM grouped GROUP BY g) s \g /dev/null
\echo query: dp_median
SELECT count(a) FROM (SELECT dp_median(x, 1, 0, 1000) AS a FROM grouped GROUP BY g) s \g /dev/null
\echo query: dp_quantiles of 9
SELECT count(a) FROM (SELECT dp_quantiles(x, :ninths, 1, 0, 1000) AS a FROM grouped GROUP BY g) s \g /dev/null
\echo query: approximate of 9
SELECT count(a) FROM (SELECT dp_quantiles(x, :ninths, 1, 0, 1000, dp_options('approximate')) AS a FROM grouped GROUP BY g) s \g /dev/null
\echo query: dp_cdf
SELECT count(a) FROM (SELECT dp_cdf(x, 1, 0, 1000) AS a FROM grouped GROUP BY g) s \g /dev/null
\echo query: percentile_cont of 9
SELECT count(a) FROM (SELECT percentile_cont(:ninths) WITHIN GROUP (ORDER BY x) AS a FROM grouped GROUP BY g) s \g /dev/null
