COMMENT ON TYPE @extschema@.dp_statistics IS
  'The answer of dp_stats: number of rows, sum, mean, sample variance and sample standard deviation. The exact '
  'statistic lies within ..._error of each with a probability of at least 95 %.';
COMMENT ON TYPE @extschema@.dp_numeric_statistics IS
  'The answer of dp_stats for integers and numeric values: number of rows, sum, mean, sample variance and sample standard deviation. The exact '
  'statistic lies within ..._error of each with a probability of at least 95 %.';
CREATE OR REPLACE FUNCTION dpquantile.stats_final(dpquantile.records_state) RETURNS @extschema@.dp_statistics
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_stats_final';
CREATE OR REPLACE AGGREGATE @extschema@.dp_stats(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stats_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stats(float8, float8, float8, float8) IS
'Differentially private number of rows, sum, mean, sample variance and sample standard deviation with their errors, all for
  one epsilon. Write (dp_stats(...)).* for columns.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_stats(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stats_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stats(float8, float8, float8, float8, jsonb) IS
'Differentially private number of rows, sum, mean, sample variance and sample standard deviation with their errors, all for
  one epsilon. Write (dp_stats(...)).* for columns.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which sum, mean, variance and deviation are rounded; rho.
All arguments except value must be constant.';

CREATE OR REPLACE FUNCTION @extschema@.dp_stats_expected_error(n bigint, epsilon float8, lower float8, upper float8, options jsonb DEFAULT '{}',
    OUT count float8, OUT sum float8, OUT avg float8, OUT variance float8, OUT stddev float8)
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_stats_expected_error';
COMMENT ON FUNCTION @extschema@.dp_stats_expected_error(bigint, float8, float8, float8, jsonb) IS
  'The mean absolute errors to expect of dp_stats on the worst data with n rows: at most these on other data. n: a public guess of the number of rows; '
  'epsilon, lower, upper, options: as in dp_stats; count, sum, avg, variance, stddev: the error of each column (the sample variance and its root). Reads no '
  'data and costs no budget.';
