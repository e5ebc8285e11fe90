CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_rows(cdf @extschema@.dp_cdf) RETURNS bigint
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_rows';
COMMENT ON FUNCTION @extschema@.dp_cdf_rows(@extschema@.dp_cdf) IS
  'The private number of rows with a value. cdf: a released CDF. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_count(cdf @extschema@.dp_cdf, from_value float8, to_value float8) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_count';
COMMENT ON FUNCTION @extschema@.dp_cdf_count(@extschema@.dp_cdf, float8, float8) IS
  'The private number of rows with a value from from_value to to_value (both inclusive for a CDF with a '
  'granularity; a part of a bin counts in proportion to its width). cdf: a released CDF; from_value, '
  'to_value: any numbers, -Infinity and Infinity allowed. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_probability(cdf @extschema@.dp_cdf, x float8) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_probability';
COMMENT ON FUNCTION @extschema@.dp_cdf_probability(@extschema@.dp_cdf, float8) IS
  'The private fraction of rows with a value of at most x for a CDF with a granularity, or below x for a '
  'CDF with bins (inside a bin in proportion to the width); NULL if the release has no rows. cdf: a '
  'released CDF; x: any number. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_quantile(cdf @extschema@.dp_cdf, quantile float8) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_quantile';
COMMENT ON FUNCTION @extschema@.dp_cdf_quantile(@extschema@.dp_cdf, float8) IS
  'The least value that at least this fraction of the rows does not exceed; NULL if the release has no '
  'rows. cdf: a released CDF; quantile: from 0 to 1, 0.5 is the median. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_quantiles(cdf @extschema@.dp_cdf, quantiles float8[]) RETURNS float8[]
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_quantiles';
COMMENT ON FUNCTION @extschema@.dp_cdf_quantiles(@extschema@.dp_cdf, float8[]) IS
  'The quantiles of a released CDF in an array of the same shape; NULL for a NULL, or if the release has '
  'no rows. cdf: a released CDF; quantiles: each from 0 to 1. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_error(cdf @extschema@.dp_cdf, confidence float8 DEFAULT 0.95, simultaneous boolean DEFAULT true,
                                         OUT rows float8, OUT fraction float8)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_error';
COMMENT ON FUNCTION @extschema@.dp_cdf_error(@extschema@.dp_cdf, float8, boolean) IS
  'The error of a released CDF because of its noise, at the values of a CDF with a granularity or at the '
  'edges of bins. rows: the +- of the number of rows up to a point; fraction: the +- of a probability '
  '(NULL if the release has no rows). A count between two points may be off by twice as much, and inside a '
  'bin the straight line may be off by all rows of the bin. A granularity rounds values to the nearest of its own: values between these count '
  'at their neighbour, and the errors leave this out. cdf: a released CDF; confidence: the '
  'probability that the error holds, 0.5 to 0.999; simultaneous: true for all points at once, false for a '
  'point chosen at random. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_quantile_error(cdf @extschema@.dp_cdf, quantile float8, confidence float8 DEFAULT 0.95) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_quantile_error';
COMMENT ON FUNCTION @extschema@.dp_cdf_quantile_error(@extschema@.dp_cdf, float8, float8) IS
  'The +- of dp_cdf_quantile because of the noise, and because of what the curve does not tell: half a granularity, to which values are rounded, '
  'or the width of a bin; NULL if the release has no rows. It tells how far the least value may be that at least this fraction of the rows '
  'does not exceed. It holds for one quantile that is chosen before; the band of dp_cdf_points holds for all. cdf: a '
  'released CDF of numbers; quantile: from 0 to 1; confidence: the probability that the error holds, 0.5 to 0.999. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_points(cdf @extschema@.dp_cdf, confidence float8 DEFAULT 0.95)
  RETURNS TABLE (x float8, probability float8, low float8, high float8)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1024 AS 'MODULE_PATHNAME', 'dpq_cdf_points';
COMMENT ON FUNCTION @extschema@.dp_cdf_points(@extschema@.dp_cdf, float8) IS
  'The points of a released CDF: x, probability, and a band from low to high that holds at all points at '
  'once. For a CDF with a granularity the points are its values, with the fraction of rows up to x, of values rounded to the nearest '
  'point (the band holds for these); else they are the edges of the bins, with the fraction of rows below x. cdf: a released CDF; confidence: the '
  'probability that the true fractions lie in the band, 0.5 to 0.999. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_plot(cdf @extschema@.dp_cdf, width bigint DEFAULT 78, height bigint DEFAULT 22, confidence float8 DEFAULT 0.95)
  RETURNS SETOF text
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 22 AS 'MODULE_PATHNAME', 'dpq_cdf_plot';
COMMENT ON FUNCTION @extschema@.dp_cdf_plot(@extschema@.dp_cdf, bigint, bigint, float8) IS
  'A plot of a released CDF with its band as lines of text. cdf: a released CDF; width: 40 to 400 '
  'columns; height: 10 to 200 lines; confidence: of the band, 0.5 to 0.999. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_svg(cdf @extschema@.dp_cdf, width bigint DEFAULT 720, height bigint DEFAULT 440, title text DEFAULT '',
                                       confidence float8 DEFAULT 0.95)
  RETURNS text
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_svg';
COMMENT ON FUNCTION @extschema@.dp_cdf_svg(@extschema@.dp_cdf, bigint, bigint, text, float8) IS
  'A plot of a released CDF with its band as an SVG document. cdf: a released CDF; width, height: 200 '
  'to 4000 pixels; title: up to 1000 bytes; confidence: of the band, 0.5 to 0.999. Costs no budget.';
