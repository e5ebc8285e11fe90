CREATE OR REPLACE FUNCTION dpquantile.histogram_final(dpquantile.records_state) RETURNS bigint[]
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_histogram_final';
CREATE OR REPLACE AGGREGATE @extschema@.dp_histogram(value float8, epsilon float8, bounds float8[]) (
  SFUNC = dpquantile.histogram_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.histogram_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_histogram(float8, float8, float8[]) IS
'Differentially private histogram: the number of values in each bin, at least 0. dp_histogram_rows makes rows of it.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL, NaN and values outside all bins are ignored.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
bounds: 2 to 65537 public numbers in ascending order, at the ends also -Infinity and Infinity. Bin i goes from element i,
  inclusive, to element i + 1, exclusive; the last bin includes its end.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_histogram(value float8, epsilon float8, bounds float8[], options jsonb) (
  SFUNC = dpquantile.histogram_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.histogram_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_histogram(float8, float8, float8[], jsonb) IS
'Differentially private histogram: the number of values in each bin, at least 0. dp_histogram_rows makes rows of it.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL, NaN and values outside all bins are ignored.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
bounds: 2 to 65537 public numbers in ascending order, at the ends also -Infinity and Infinity. Bin i goes from element i,
  inclusive, to element i + 1, exclusive; the last bin includes its end.
options: built by dp_options(): rho.
All arguments except value must be constant.';

CREATE OR REPLACE FUNCTION dpquantile.modal_bin_final(dpquantile.records_state) RETURNS integer
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_modal_bin_final';
CREATE OR REPLACE AGGREGATE @extschema@.dp_modal_bin(value float8, epsilon float8, bounds float8[]) (
  SFUNC = dpquantile.modal_bin_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.modal_bin_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_modal_bin(float8, float8, float8[]) IS
'Differentially private number of the bin that has the most values, from 1 on. It is drawn: a bin that has fewer is likely only
  if it lacks few. Without values it is any bin. Over protected tables mode() becomes it.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL, NaN and values outside all bins are ignored.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
bounds: 3 to 65537 public numbers in ascending order, at the ends also -Infinity and Infinity. Bin i goes from element i,
  inclusive, to element i + 1, exclusive; the last bin includes its end.
All arguments except value must be constant.';

CREATE OR REPLACE FUNCTION @extschema@.dp_histogram_rows(bounds anyarray, counts bigint[])
  RETURNS TABLE (lower anyelement, upper anyelement, count bigint)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'dpq_histogram_rows';
COMMENT ON FUNCTION @extschema@.dp_histogram_rows(anyarray, bigint[]) IS
  'The rows of a histogram. bounds: as in dp_histogram; counts: its answer; lower, upper: the bounds of a bin; count: the '
  'number of values in it. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_histogram_plot(bounds anyarray, counts bigint[], width bigint DEFAULT 78, height bigint DEFAULT 22,
                                              error bigint DEFAULT NULL)
  RETURNS SETOF text
  LANGUAGE C STABLE PARALLEL SAFE ROWS 22 AS 'MODULE_PATHNAME', 'dpq_histogram_plot';
COMMENT ON FUNCTION @extschema@.dp_histogram_plot(anyarray, bigint[], bigint, bigint, bigint) IS
  'A plot of a released histogram as lines of text: a bar a bin, all equally wide, with the bounds between them. bounds: as '
  'in dp_histogram; counts: its answer; width: 40 to 400 columns; height: 10 to 200 lines; error: the +- of each count, for '
  'example dp_histogram_error(epsilon), or NULL. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_histogram_svg(bounds anyarray, counts bigint[], width bigint DEFAULT 720, height bigint DEFAULT 440,
                                             title text DEFAULT '', error bigint DEFAULT NULL)
  RETURNS text
  LANGUAGE C STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_histogram_svg';
COMMENT ON FUNCTION @extschema@.dp_histogram_svg(anyarray, bigint[], bigint, bigint, text, bigint) IS
  'A plot of a released histogram as an SVG document: a bar a bin, all equally wide, with the bounds between them. bounds: '
  'as in dp_histogram; counts: its answer; width, height: 200 to 4000 pixels; title: up to 1000 bytes; error: the +- of each '
  'count, for example dp_histogram_error(epsilon), or NULL. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_histogram_error(epsilon float8, confidence float8 DEFAULT 0.95) RETURNS bigint
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_histogram_error';
COMMENT ON FUNCTION @extschema@.dp_histogram_error(float8, float8) IS
  'The error of a count of dp_count, dp_count_distinct or a bin of dp_histogram: the exact number lies within it with this '
  'confidence. epsilon: as there; confidence: a number from 0 to 1. Reads no data and costs no budget.';
