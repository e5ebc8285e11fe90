CREATE OR REPLACE FUNCTION dpquantile.synthesize_final(dpquantile.records_state) RETURNS float8[]
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_synthesize_final';

CREATE OR REPLACE FUNCTION dpquantile.synthesize_transition(dpquantile.records_state, float8, bigint, float8, float8, float8)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_synthesize_transition';
CREATE OR REPLACE AGGREGATE @extschema@.dp_synthesize(value float8, size bigint, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.synthesize_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.synthesize_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_synthesize(float8, bigint, float8, float8, float8) IS
'Differentially private synthetic sample: size values in ascending order, distributed like those of the column. They are
  the quantiles i / (size + 1) of the column. Each stands for 1 / (size + 1) of the rows; the sample does not tell the
  number of rows. It can be stored and queried without further charge. Values lie on a public value grid; an empty
  input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
size: the number of synthetic values, 1 to 4096.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE OR REPLACE FUNCTION dpquantile.synthesize_transition(dpquantile.records_state, float8, bigint, float8, float8, float8, jsonb)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_synthesize_transition';
CREATE OR REPLACE AGGREGATE @extschema@.dp_synthesize(value float8, size bigint, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.synthesize_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.synthesize_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_synthesize(float8, bigint, float8, float8, float8, jsonb) IS
'Differentially private synthetic sample: size values in ascending order, distributed like those of the column. They are
  the quantiles i / (size + 1) of the column. Each stands for 1 / (size + 1) of the rows; the sample does not tell the
  number of rows. It can be stored and queried without further charge. Values lie on a public value grid; an empty
  input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
size: the number of synthetic values, 1 to 4096.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): method, as for dp_quantiles but with the default ''auto''; granularity; rho.
All arguments except value must be constant.';
