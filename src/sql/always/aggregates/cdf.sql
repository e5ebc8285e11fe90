CREATE OR REPLACE FUNCTION dpquantile.cdf_final(dpquantile.records_state) RETURNS @extschema@.dp_cdf
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_cdf_final';

CREATE OR REPLACE AGGREGATE @extschema@.dp_cdf(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.cdf_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.cdf_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_cdf(float8, float8, float8, float8) IS
'Differentially private cumulative distribution: one release, then any number of questions for free
  (dp_cdf_quantile, dp_cdf_probability, dp_cdf_count, dp_cdf_points, dp_cdf_plot, ...). An empty input
  gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count in the first or last bin.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_cdf(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.cdf_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.cdf_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_cdf(float8, float8, float8, float8, jsonb) IS
'Differentially private cumulative distribution: one release, then any number of questions for free
  (dp_cdf_quantile, dp_cdf_probability, dp_cdf_count, dp_cdf_points, dp_cdf_plot, ...). An empty input
  gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count in the first or last bin.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): method, and bins or granularity; rho.
All arguments except value must be constant.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_expected_error(epsilon float8, bins bigint DEFAULT 1024, confidence float8 DEFAULT 0.95,
                                                  method text DEFAULT NULL, rho float8 DEFAULT NULL,
                                                  OUT pointwise float8, OUT simultaneous float8,
                                                  OUT branching int[], OUT level_epsilon float8[], OUT level_rho float8[])
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_expected_error';
COMMENT ON FUNCTION @extschema@.dp_cdf_expected_error(float8, bigint, float8, text, float8) IS
  'The expected error of dp_cdf: the +- in rows at a point chosen at random (pointwise) and at all points '
  'at once (simultaneous), and the tree of the release: branching and level_epsilon or level_rho of each '
  'level, NULL for method ''factorization'', which has no tree. epsilon, bins, method: as for dp_cdf, NULL for the '
  'default method; confidence: the probability that the error holds, 0.5 to 0.999; rho: for a release with option rho, '
  'with NULL for epsilon. Reads no data and costs no budget.';
