-- One round of timings. A line with its name precedes each query. speed.sh reads the names and the times
-- that psql prints. All queries run in the same round, so that their ratios are meaningful.
\set ninths 'array[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]'
\set ECHO none
\timing on
\echo query: avg(x)
SELECT avg(x) FROM bench \g /dev/null
\echo query: dp_quantiles of 9
SELECT dp_quantiles(x, :ninths, 1, 0, 1000) FROM bench \g /dev/null
\echo query: dp_cdf
SELECT dp_cdf(x, 1, 0, 1000) FROM bench \g /dev/null
\echo query: dp_count
SELECT dp_count(1) FROM bench \g /dev/null
\echo query: dp_sum
SELECT dp_sum(x, 1, 0, 1000) FROM bench \g /dev/null
\echo query: dp_avg
SELECT dp_avg(x, 1, 0, 1000) FROM bench \g /dev/null
\echo query: dp_stats
SELECT dp_stats(x, 1, 0, 1000) FROM bench \g /dev/null
\echo query: dp_histogram
SELECT dp_histogram(x, 1, array[0, 10, 100, 1000]) FROM bench \g /dev/null
\echo query: dp_count_distinct
SELECT dp_count_distinct(u, 1) FROM bench \g /dev/null
\echo query: count(DISTINCT)
SELECT count(DISTINCT u) FROM bench \g /dev/null
\echo query: tdigest of 9
SELECT tdigest_percentile(x, 100, :ninths) FROM bench \g /dev/null
\echo query: percentile_cont of 9
SELECT percentile_cont(:ninths) WITHIN GROUP (ORDER BY x) FROM bench \g /dev/null
\echo query: dp_iqr
SELECT dp_iqr(x, 1, 1e-6) FROM bench \g /dev/null
\echo query: percentile_cont of 2
SELECT percentile_cont(array[0.25,0.75]) WITHIN GROUP (ORDER BY x) FROM bench \g /dev/null
\echo query: dp_user_mean
SELECT dp_user_mean(u, x, 1, 0, 1000) FROM bench \g /dev/null
