CREATE OR REPLACE FUNCTION dpquantile.learn_bounds_final(dpquantile.records_state, anycompatible, float8)
  RETURNS anycompatiblearray
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_learn_bounds_final';
CREATE OR REPLACE AGGREGATE @extschema@.dp_learn_bounds(value anycompatible, epsilon float8) (
  SFUNC = dpquantile.learn_bounds_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.learn_bounds_final,
  FINALFUNC_EXTRA,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_learn_bounds(anycompatible, float8) IS
'Differentially private bounds of values of which nothing is known: an array of a lower and an upper bound, between which
  nearly all values lie. For a mean or a quantile of one''s own table, which needs bounds: learn them once, look at
  them, round them by hand, and state them in all later queries. NULL is an ordinary private answer, given if there are
  fewer than some 30 / epsilon values.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column, of numbers, dates, timestamps, times or intervals. NULL, NaN and infinities are ignored, also numbers
  beyond the range of float8. A month counts as 30 days. The bounds have the type of the values; those of whole numbers
  are the least and the largest that the cells of the grid between them hold. Where values are close to each other and
  far from 0 (times: from 2000), cells are wide. If such values are near one that is publicly known, learn the bounds of
  their distances from it: dp_learn_bounds(at - timestamp ''2026-01-01'', 0.5).
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. A few to 30 / epsilon values at each end may lie
  outside the bounds, and up to some 100 / epsilon of each 64 neighbouring cells of the grid, such as a factor of 256, if
  they are far from the others and from each other.
All arguments except value must be constant.';

CREATE OR REPLACE FUNCTION dpquantile.learn_bounds_final(dpquantile.records_state, anycompatible, float8, jsonb)
  RETURNS anycompatiblearray
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_learn_bounds_final';
CREATE OR REPLACE AGGREGATE @extschema@.dp_learn_bounds(value anycompatible, epsilon float8, options jsonb) (
  SFUNC = dpquantile.learn_bounds_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.learn_bounds_final,
  FINALFUNC_EXTRA,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_learn_bounds(anycompatible, float8, jsonb) IS
'Differentially private bounds of values of which nothing is known: an array of a lower and an upper bound, between which
  nearly all values lie. For a mean or a quantile of one''s own table, which needs bounds: learn them once, look at
  them, round them by hand, and state them in all later queries. NULL is an ordinary private answer, given if there are
  fewer than some 30 / epsilon values.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column, of numbers, dates, timestamps, times or intervals. NULL, NaN and infinities are ignored, also numbers
  beyond the range of float8. A month counts as 30 days. The bounds have the type of the values; those of whole numbers
  are the least and the largest that the cells of the grid between them hold. Where values are close to each other and
  far from 0 (times: from 2000), cells are wide. If such values are near one that is publicly known, learn the bounds of
  their distances from it: dp_learn_bounds(at - timestamp ''2026-01-01'', 0.5).
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho. A few to 30 / epsilon values at each end may lie
  outside the bounds, and up to some 100 / epsilon of each 64 neighbouring cells of the grid, such as a factor of 256, if
  they are far from the others and from each other.
options: built by dp_options(): rho.
All arguments except value must be constant.';
