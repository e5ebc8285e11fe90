CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_time_count(cdf @extschema@.dp_cdf, from_value anyelement, to_value anyelement) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_count';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_count(@extschema@.dp_cdf, anyelement, anyelement) IS
  'dp_cdf_count for a CDF of dates or times: the private number of rows with a value from from_value to to_value. '
  'cdf: a released CDF; from_value, to_value: values of its type, also infinite ones. Costs no budget.';
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_time_count(cdf @extschema@.dp_cdf, from_value text, to_value text) RETURNS float8
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_count';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_count(@extschema@.dp_cdf, text, text) IS
  'dp_cdf_count for a CDF of dates or times: the private number of rows with a value from from_value to to_value. '
  'cdf: a released CDF; from_value, to_value: texts of values of its type. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_time_probability(cdf @extschema@.dp_cdf, x anyelement) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_probability';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_probability(@extschema@.dp_cdf, anyelement) IS
  'dp_cdf_probability for a CDF of dates or times: the private fraction of rows up to x. cdf: a released CDF; '
  'x: a value of its type, also an infinite one. Costs no budget.';
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_time_probability(cdf @extschema@.dp_cdf, x text) RETURNS float8
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_probability';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_probability(@extschema@.dp_cdf, text) IS
  'dp_cdf_probability for a CDF of dates or times: the private fraction of rows up to x. cdf: a released CDF; '
  'x: the text of a value of its type. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_time_quantile(cdf @extschema@.dp_cdf, quantile float8) RETURNS text
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_quantile';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_quantile(@extschema@.dp_cdf, float8) IS
  'dp_cdf_quantile for a CDF of dates or times. The answer is a text in ISO form, which casts to the type; a timestamptz is in '
  'the time zone of the session. cdf: a released CDF; quantile: from 0 to 1, 0.5 is the median. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_time_quantiles(cdf @extschema@.dp_cdf, quantiles float8[]) RETURNS text[]
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_quantiles';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_quantiles(@extschema@.dp_cdf, float8[]) IS
  'dp_cdf_quantiles for a CDF of dates or times. The answers are texts in ISO form, which cast to the type; a timestamptz is in '
  'the time zone of the session. cdf: a released CDF; quantiles: each from 0 to 1. Costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_time_points(cdf @extschema@.dp_cdf, confidence float8 DEFAULT 0.95)
  RETURNS TABLE (x text, probability float8, low float8, high float8)
  LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1024 AS 'MODULE_PATHNAME', 'dpq_cdf_time_points';
COMMENT ON FUNCTION @extschema@.dp_cdf_time_points(@extschema@.dp_cdf, float8) IS
  'dp_cdf_points for a CDF of dates or times: x, probability, and a band from low to high that holds at all points at once. x '
  'is a text in ISO form, which casts to the type; a timestamptz is in the time zone of the session. cdf: a released CDF; '
  'confidence: the probability that the true fractions lie in the band, 0.5 to 0.999. Costs no budget.';
