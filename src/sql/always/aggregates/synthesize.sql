CREATE OR REPLACE FUNCTION dpquantile.synthesize_final(dpquantile.records_state, anycompatible, bigint, float8, anycompatible, anycompatible)
  RETURNS anycompatiblearray
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_synthesize_final';
CREATE OR REPLACE FUNCTION dpquantile.synthesize_final(dpquantile.records_state, anycompatible, bigint, float8, anycompatible, anycompatible, jsonb)
  RETURNS anycompatiblearray
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_synthesize_final';

CREATE OR REPLACE AGGREGATE @extschema@.dp_synthesize(value anycompatible, size bigint, epsilon float8, lower anycompatible, upper anycompatible) (
  SFUNC = dpquantile.synthesize_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.synthesize_final,
  FINALFUNC_EXTRA,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_synthesize(anycompatible, bigint, float8, anycompatible, anycompatible) IS
'Differentially private synthetic sample: size values in ascending order, distributed like those of the column. They are
  the quantiles i / (size + 1) of the column. Each stands for 1 / (size + 1) of the rows; the sample does not tell the
  number of rows. It can be stored and queried without further charge. Values lie on a public value grid; an empty
  input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column, of numbers, dates, timestamps, times or intervals. NULL and NaN are ignored; values outside the bounds count as
  the nearer bound, also infinite ones. A month counts as 30 days.
size: the number of synthetic values, 1 to 4096.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values. The answer has the common type of value and bounds, as in GREATEST.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_synthesize(value anycompatible, size bigint, epsilon float8, lower anycompatible, upper anycompatible, options jsonb) (
  SFUNC = dpquantile.synthesize_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.synthesize_final,
  FINALFUNC_EXTRA,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_synthesize(anycompatible, bigint, float8, anycompatible, anycompatible, jsonb) IS
'Differentially private synthetic sample: size values in ascending order, distributed like those of the column. They are
  the quantiles i / (size + 1) of the column. Each stands for 1 / (size + 1) of the rows; the sample does not tell the
  number of rows. It can be stored and queried without further charge. Values lie on a public value grid; an empty
  input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column, of numbers, dates, timestamps, times or intervals. NULL and NaN are ignored; values outside the bounds count as
  the nearer bound, also infinite ones. A month counts as 30 days.
size: the number of synthetic values, 1 to 4096.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values. The answer has the common type of value and bounds, as in GREATEST.
options: built by dp_options(): method, as for dp_quantiles but with the default ''auto''; granularity (of whole numbers a whole number, by
  default 1 up to 2^20 values; of dates days or an interval, by default 1 day; of times an interval); rho.
All arguments except value must be constant.';
