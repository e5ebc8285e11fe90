-- dp_user_expected_error: the error of user-level means and variances, from public figures.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_user_error;
SET ROLE regress_dpq_user_error;
-- It reads no data and needs no budget. 100 users have 10 rows each, 2 users have 500. The default for a mean is 'auto', for a
-- variance 'array'.
SELECT * FROM dp_user_expected_error(ARRAY[10, 500], ARRAY[100, 2], 1, 0, 100);
-- All rows are kept. The error is U most / (epsilon rows), without a left-out error.
SELECT * FROM dp_user_expected_error(ARRAY[10, 500], ARRAY[100, 2], 1, 0, 100, '{"method": "baseline"}');
-- With method 'array' a smaller epsilon keeps fewer rows of a user.
SELECT epsilon, max_contributions, rows_kept, left_out_error = 100 * (1 - rows_kept / 2000.0) AS left_out,
       abs(noise_error - 100 * max_contributions / (epsilon * rows_kept)) < 1e-9 AS noise, total_error = left_out_error + noise_error AS total
  FROM unnest('{10,0.5,0.001}'::float8[]) epsilon,
       dp_user_expected_error(ARRAY[10, 500], ARRAY[100, 2], epsilon, 0, 100, dp_options('array'))
 WHERE statistic = 'mean';
SELECT method, e.* FROM unnest('{auto,array,levy,quantile,quantile-adaptive,bounded,baseline}'::text[]) WITH ORDINALITY m(method, number),
       dp_user_expected_error(ARRAY[10, 500], ARRAY[100, 2], 1, 0, 100,
                              CASE method WHEN 'bounded' THEN dp_options(method, max_contributions => '20') ELSE dp_options(method) END) e
 ORDER BY number, statistic;
SELECT max_contributions, rows_kept FROM unnest('{median,1,100,4294967295}'::text[]) WITH ORDINALITY m(limit_, number),
       dp_user_expected_error(ARRAY[10, 500], ARRAY[100, 2], 1, 0, 100, dp_options(max_contributions => limit_)) e
 WHERE statistic = 'mean' ORDER BY number;
-- Errors are in the units of the values, for the variance in their squares.
SELECT statistic, e.total_error / f.total_error AS ratio
  FROM dp_user_expected_error(ARRAY[3], ARRAY[7], 1, -10, 10) e JOIN dp_user_expected_error(ARRAY[3], ARRAY[7], 1, 5, 7) f USING (statistic);
-- Entries in any order, repeated entries, and entries without users or without rows
SELECT count(DISTINCT e) AS same FROM (
  SELECT e FROM dp_user_expected_error(ARRAY[10, 500], ARRAY[100, 2], 1, 0, 100) e WHERE statistic = 'mean' UNION ALL
  SELECT e FROM dp_user_expected_error(ARRAY[500, 10, 0, 10, 77], ARRAY[2, 40, 5, 60, 0], 1, 0, 100) e WHERE statistic = 'mean') s;
-- No rows, one row
SELECT * FROM dp_user_expected_error('{}', '{}', 1, 0, 100);
SELECT * FROM dp_user_expected_error(ARRAY[1], ARRAY[1], 1, 0, 100);
-- There is no error of the variance if dp_user_variance refuses the bounds.
SELECT statistic FROM dp_user_expected_error(ARRAY[1], ARRAY[1], 1, 0, 1e200);

-- With rho. The expected size of Gaussian noise is U most / (sqrt(pi rho) rows).
SELECT * FROM dp_user_expected_error(ARRAY[10, 500], ARRAY[100, 2], NULL, 0, 100, dp_options('baseline', rho => 0.25 / pi()));
SELECT rho, abs(noise_error - 100 * max_contributions / (sqrt(pi() * rho) * rows_kept)) < 1e-9 AS noise, max_contributions
  FROM unnest('{100,0.1,0.000001}'::float8[]) rho,
       dp_user_expected_error(ARRAY[10, 500], ARRAY[100, 2], NULL, 0, 100, dp_options('array', rho => rho))
 WHERE statistic = 'mean';
-- At the same charge the noise of the mean is smaller by a factor of sqrt(2 / pi) or more, for every method. ('auto' may choose another one.)
SELECT method, z.noise_error < 0.81 * e.noise_error AS smaller
  FROM unnest('{array,levy,quantile,quantile-adaptive,bounded,baseline}'::text[]) WITH ORDINALITY m(method, number),
       dp_user_expected_error(ARRAY[10, 500], ARRAY[1000, 2], 0.1, 0, 100, dp_options(method, max_contributions => CASE method WHEN 'bounded' THEN '20' END)) e,
       dp_user_expected_error(ARRAY[10, 500], ARRAY[1000, 2], NULL, 0, 100, dp_options(method, max_contributions => CASE method WHEN 'bounded' THEN '20' END, rho => 0.005)) z
 WHERE e.statistic = 'mean' AND z.statistic = 'mean' ORDER BY number;
SELECT statistic, rows_kept FROM dp_user_expected_error('{}', '{}', NULL, 0, 100, dp_options(rho => 1));
SELECT dp_user_expected_error(ARRAY[1], ARRAY[1], 1, 0, 1, dp_options(rho => 1));
SELECT dp_user_expected_error(ARRAY[1], ARRAY[1], NULL, 0, 1);
SELECT dp_user_expected_error(ARRAY[1], ARRAY[1], NULL, 0, 1, '{"rho": 0}');
SELECT dp_user_expected_error(NULL, '{}', 1, 0, 100);
SELECT dp_user_expected_error('{}', NULL, 1, 0, 100);
SELECT dp_user_expected_error('{}', '{}', 1, NULL, 100);
\echo :SQLSTATE
SELECT count(*) AS without_options FROM dp_user_expected_error('{}', '{}', 1, 0, 100, NULL);

-- The limit is the number of rows that a group may have. The function is fast there.
SELECT rows_kept FROM dp_user_expected_error(ARRAY[60000000], ARRAY[1], 1, 0, 1, dp_options('levy'));
\set VERBOSITY sqlstate
SELECT dp_user_expected_error(ARRAY[68000000], ARRAY[1], 1, 0, 1);
SELECT dp_user_expected_error(ARRAY[1], ARRAY[68000000], 1, 0, 1, dp_options('levy'));
\set VERBOSITY default
SELECT dp_user_expected_error(ARRAY[9223372036854775807], ARRAY[9223372036854775807], 1, 0, 1);
SELECT dp_user_expected_error(ARRAY[1, 2], ARRAY[1], 1, 0, 1);
SELECT dp_user_expected_error(ARRAY[1, NULL], ARRAY[1, 2], 1, 0, 1);
SELECT dp_user_expected_error(ARRAY[[1, 2]], ARRAY[1, 2], 1, 0, 1);
SELECT dp_user_expected_error(ARRAY[1, 2], ARRAY[1, -2], 1, 0, 1);
SELECT dp_user_expected_error(ARRAY[-1], ARRAY[1], 1, 0, 1);
SELECT dp_user_expected_error(ARRAY[1], ARRAY[1], 0, 0, 1);
SELECT dp_user_expected_error(ARRAY[1], ARRAY[1], 1, 1, 0);
SELECT dp_user_expected_error(ARRAY[1], ARRAY[1], 1, 0, 1, '{"method": "bounded"}');
SELECT dp_user_expected_error(ARRAY[1], ARRAY[1], 1, 0, 1, '{"suppress": true}');

RESET ROLE;
DROP ROLE regress_dpq_user_error;
