CREATE OR REPLACE FUNCTION dpquantile.user_mean_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_user_mean_final';
CREATE OR REPLACE FUNCTION dpquantile.user_variance_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_user_variance_final';

CREATE OR REPLACE AGGREGATE @extschema@.dp_user_mean(user_id anynonarray, value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.user_mean_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_mean_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_mean(anynonarray, float8, float8, float8, float8) IS
'Differentially private mean of the rows, with all rows of a person protected together. An empty input gets an
  ordinary noisy answer.
Privacy: epsilon-differentially private for replacing the values of one person. The persons and the
  number of rows with a value of each are public; a WHERE, FILTER, join or GROUP BY on private values breaks that, and
  so do values that are NULL or NaN for private reasons. Then use the method ''bounded'' (dp_options).
  epsilon is charged for each group of a GROUP BY, because a person may be in several groups (with grouping sets: for
  each group of each set): for one group before the rows are read, for all others together or not at all. The groups and
  their number are public.
user_id: the person of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
All arguments except user_id and value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_user_mean(user_id anynonarray, value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.user_mean_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_mean_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_mean(anynonarray, float8, float8, float8, float8, jsonb) IS
'Differentially private mean of the rows, with all rows of a person protected together. An empty input gets an
  ordinary noisy answer.
Privacy: epsilon-differentially private for replacing the values of one person; with the option rho, rho-zCDP instead.
  The persons and the number of rows with a value of each are public; a WHERE, FILTER, join or GROUP BY on private
  values breaks that, and so do values that are NULL or NaN for private reasons. Then use the method ''bounded'', whose
  guarantee is for adding or removing one person with all rows; nothing is public.
  epsilon or rho is charged for each group of a GROUP BY, because a person may be in several groups (with grouping sets:
  for each group of each set): for one group before the rows are read, for all others together or not at all. The groups
  and their number are public.
user_id: the person of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
options: built by dp_options(): method ''auto'' (the default: ''array'' or ''quantile'', by rows per person and epsilon
  or rho), ''array'' (at most max_contributions rows of each person), ''baseline'' (all rows), ''levy'', ''quantile'',
  ''quantile-adaptive'' (means of arrays of rows, clipped to a private interval) or ''bounded''; max_contributions: a
  whole number, ''median'' or ''optimal'' (the default: for ''auto'' the least error to expect, for ''array'' the least
  worst-case error; ''bounded'' needs a number); rho.
All arguments except user_id and value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_user_variance(user_id anynonarray, value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.user_variance_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_variance_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_variance(anynonarray, float8, float8, float8, float8) IS
'Differentially private population variance of the rows, with all rows of a person protected together. An empty input gets
  an ordinary noisy answer.
Privacy: epsilon-differentially private for replacing the values of one person. The persons and the
  number of rows with a value of each are public; a WHERE, FILTER, join or GROUP BY on private values breaks that, and
  so do values that are NULL or NaN for private reasons. Then use the method ''bounded'' (dp_options).
  epsilon is charged for each group of a GROUP BY, because a person may be in several groups (with grouping sets: for
  each group of each set): for one group before the rows are read, for all others together or not at all. The groups and
  their number are public.
user_id: the person of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
All arguments except user_id and value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_user_variance(user_id anynonarray, value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.user_variance_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_variance_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_variance(anynonarray, float8, float8, float8, float8, jsonb) IS
'Differentially private population variance of the rows, with all rows of a person protected together. An empty input gets
  an ordinary noisy answer.
Privacy: epsilon-differentially private for replacing the values of one person; with the option rho, rho-zCDP instead.
  The persons and the number of rows with a value of each are public; a WHERE, FILTER, join or GROUP BY on private
  values breaks that, and so do values that are NULL or NaN for private reasons. Then use the method ''bounded'', whose
  guarantee is for adding or removing one person with all rows; nothing is public.
  epsilon or rho is charged for each group of a GROUP BY, because a person may be in several groups (with grouping sets:
  for each group of each set): for one group before the rows are read, for all others together or not at all. The groups
  and their number are public.
user_id: the person of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
options: built by dp_options(): method ''array'' (the default: at most max_contributions rows of each person),
  ''baseline'' (all rows) or ''bounded''; max_contributions: a whole number, ''median'' or ''optimal'' (the default:
  least worst-case error; ''bounded'' needs a number); rho.
All arguments except user_id and value must be constant.';

CREATE OR REPLACE FUNCTION @extschema@.dp_user_expected_error(rows_per_user bigint[], users bigint[], epsilon float8, lower float8,
                                                   upper float8, options jsonb DEFAULT '{}')
  RETURNS TABLE (statistic text, max_contributions bigint, rows_kept bigint, left_out_error float8,
                 noise_error float8, total_error float8)
  LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 2 AS 'MODULE_PATHNAME', 'dpq_user_expected_error';
COMMENT ON FUNCTION @extschema@.dp_user_expected_error(bigint[], bigint[], float8, float8, float8, jsonb) IS
'The expected error of dp_user_mean and dp_user_variance: one row for each statistic that has the method (''mean'' and,
  except for methods that clip to a private interval, ''variance''). Uses public figures only: reads no data and costs no
  budget.
rows_per_user, users: users[i] persons have rows_per_user[i] rows each.
epsilon, lower, upper, options: as for dp_user_mean; epsilon is NULL with the option rho. With its default method,
  ''auto'', the row of the variance is for the default of dp_user_variance, ''array''.
statistic: ''mean'' or ''variance''; max_contributions: the most rows kept of a person; rows_kept: the rows kept of all
  persons; left_out_error: the largest difference between the statistic of the kept rows and that of all rows, for any
  data (NULL for methods that clip to a private interval: no bound); noise_error: the expected size of the noise;
  total_error: their sum. Errors are in the units of the values, for the variance in their squares.';
