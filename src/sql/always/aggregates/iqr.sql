CREATE OR REPLACE FUNCTION dpquantile.iqr_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_iqr_final';

CREATE OR REPLACE AGGREGATE @extschema@.dp_iqr(value float8, epsilon float8, delta float8) (
  SFUNC = dpquantile.iqr_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.iqr_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_iqr(float8, float8, float8) IS
'Differentially private interquartile range (upper minus lower quartile) without bounds on the values. NULL is
  an ordinary private answer, given if a few rows decide the quartiles; see dp_iqr_min_rows. An empty input is
  answered like any other input.
Privacy: (epsilon, delta)-differentially private for adding or removing one row, or replacing it within its group.
  epsilon and delta are the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; infinities count as the largest finite numbers.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
delta: the probability with which the guarantee may fail, 1e-300 to 0.5; choose it far below one over the number of
  rows.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_iqr(value float8, epsilon float8, delta float8, options jsonb) (
  SFUNC = dpquantile.iqr_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.iqr_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_iqr(float8, float8, float8, jsonb) IS
'Differentially private interquartile range (upper minus lower quartile) without bounds on the values. NULL is
  an ordinary private answer, given if a few rows decide the quartiles; see dp_iqr_min_rows. An empty input is
  answered like any other input.
Privacy: (epsilon, delta)-differentially private for adding or removing one row, or replacing it within its group;
  method ''quantiles'': epsilon-differentially private for adding or removing one row. epsilon and delta are the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; infinities count as the largest finite numbers (method ''quantiles'':
  values outside the bounds count as the nearer bound).
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
delta: the probability with which the guarantee may fail, 1e-300 to 0.5; choose it far below one over the number of
  rows; 0 for method ''quantiles''.
options: built by dp_options(): method ''propose-test-release'' (the default, needs no bounds) or ''quantiles''
  (needs lower and upper, spends no delta, never NULL, far more accurate).
All arguments except value must be constant.';

CREATE OR REPLACE FUNCTION @extschema@.dp_iqr_min_rows(epsilon float8, delta float8) RETURNS bigint
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_iqr_min_rows';
COMMENT ON FUNCTION @extschema@.dp_iqr_min_rows(float8, float8) IS
  'The number of rows with a value that dp_iqr needs in a group to answer NULL in less than one of twenty cases, for '
  'data from a smooth distribution such as the normal, exponential, uniform or Laplace. epsilon, delta: as for '
  'dp_iqr. Uses public parameters only: reads no data and costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_iqr_expected_error(epsilon float8, delta float8, rows float8) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_iqr_expected_error';
COMMENT ON FUNCTION @extschema@.dp_iqr_expected_error(float8, float8, float8) IS
  'The expected error of dp_iqr: 19 of 20 answers are too large or too small by a factor of at most 1 + this '
  'error, for data from a smooth distribution such as the normal, exponential, uniform or Laplace. NULL '
  'for fewer rows than dp_iqr_min_rows. epsilon, delta: as for dp_iqr; rows: a public guess of the number of '
  'rows with a value in a group. Reads no data and costs no budget.';
