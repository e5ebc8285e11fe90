-- A final function gets the types of the arguments (FINALFUNC_EXTRA), because that of the answer depends on them.
CREATE OR REPLACE FUNCTION dpquantile.quantiles_final(dpquantile.records_state, anycompatible, float8[], float8, anycompatible, anycompatible)
  RETURNS anycompatiblearray
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_quantiles_final';
CREATE OR REPLACE FUNCTION dpquantile.quantiles_final(dpquantile.records_state, anycompatible, float8[], float8, anycompatible, anycompatible, jsonb)
  RETURNS anycompatiblearray
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_quantiles_final';
CREATE OR REPLACE FUNCTION dpquantile.quantile_final(dpquantile.records_state, anycompatible, float8, float8, anycompatible, anycompatible)
  RETURNS anycompatible
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_quantile_final';
CREATE OR REPLACE FUNCTION dpquantile.quantile_final(dpquantile.records_state, anycompatible, float8, float8, anycompatible, anycompatible, jsonb)
  RETURNS anycompatible
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_quantile_final';
CREATE OR REPLACE FUNCTION dpquantile.median_final(dpquantile.records_state, anycompatible, float8, anycompatible, anycompatible)
  RETURNS anycompatible
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_quantile_final';
CREATE OR REPLACE FUNCTION dpquantile.median_final(dpquantile.records_state, anycompatible, float8, anycompatible, anycompatible, jsonb)
  RETURNS anycompatible
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_quantile_final';

CREATE OR REPLACE AGGREGATE @extschema@.dp_quantiles(value anycompatible, quantiles float8[], epsilon float8, lower anycompatible, upper anycompatible) (
  SFUNC = dpquantile.quantiles_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.quantiles_final,
  FINALFUNC_EXTRA,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantiles(anycompatible, float8[], float8, anycompatible, anycompatible) IS
'Differentially private quantiles. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column, of numbers, dates, timestamps, times or intervals. NULL and NaN are ignored; values outside the bounds count as
  the nearer bound, also infinite ones. A month counts as 30 days.
quantiles: 1 to 4096 numbers from 0 to 1, in any order.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values. The answer has the common type of value and bounds, as in GREATEST.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_quantiles(value anycompatible, quantiles float8[], epsilon float8, lower anycompatible, upper anycompatible, options jsonb) (
  SFUNC = dpquantile.quantiles_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.quantiles_final,
  FINALFUNC_EXTRA,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantiles(anycompatible, float8[], float8, anycompatible, anycompatible, jsonb) IS
'Differentially private quantiles. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column, of numbers, dates, timestamps, times or intervals. NULL and NaN are ignored; values outside the bounds count as
  the nearer bound, also infinite ones. A month counts as 30 days.
quantiles: 1 to 4096 numbers from 0 to 1, in any order.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values. The answer has the common type of value and bounds, as in GREATEST.
options: built by dp_options(): method ''blocks'' (level by level, up to four at once), ''approximate'' (level by level, one at
  a time), ''joint'' (all at once, up to 128), ''independent'' (each by itself), ''tree'' (from noisy counts) or ''auto''
  (the most accurate method for the number of quantiles, the value grid and the given epsilon or rho); granularity (of whole numbers a whole number, by
  default 1 up to 2^20 values; of dates days or an interval, by default 1 day; of times an interval); rho.
  The default is ''blocks'', but ''approximate'' where ''blocks'' would charge the budget more (an epsilon under accountant
  zcdp) or epsilon is too large for joint draws.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_quantile(value anycompatible, quantile float8, epsilon float8, lower anycompatible, upper anycompatible) (
  SFUNC = dpquantile.quantiles_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_EXTRA,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(anycompatible, float8, float8, anycompatible, anycompatible) IS
'Differentially private quantile. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column, of numbers, dates, timestamps, times or intervals. NULL and NaN are ignored; values outside the bounds count as
  the nearer bound, also infinite ones. A month counts as 30 days.
quantile: a number from 0 to 1; 0.5 is the median.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values. The answer has the common type of value and bounds, as in GREATEST.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_quantile(value anycompatible, quantile float8, epsilon float8, lower anycompatible, upper anycompatible, options jsonb) (
  SFUNC = dpquantile.quantiles_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_EXTRA,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(anycompatible, float8, float8, anycompatible, anycompatible, jsonb) IS
'Differentially private quantile. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column, of numbers, dates, timestamps, times or intervals. NULL and NaN are ignored; values outside the bounds count as
  the nearer bound, also infinite ones. A month counts as 30 days.
quantile: a number from 0 to 1; 0.5 is the median.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values. The answer has the common type of value and bounds, as in GREATEST.
options: built by dp_options(): method (for one quantile ''approximate'', the default, ''joint'', ''independent'' and
  ''auto'' are the same; ''tree'' is different); granularity (of whole numbers a whole number, by
  default 1 up to 2^20 values; of dates days or an interval, by default 1 day; of times an interval); rho.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_median(value anycompatible, epsilon float8, lower anycompatible, upper anycompatible) (
  SFUNC = dpquantile.median_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.median_final,
  FINALFUNC_EXTRA,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(anycompatible, float8, anycompatible, anycompatible) IS
'Differentially private median. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column, of numbers, dates, timestamps, times or intervals. NULL and NaN are ignored; values outside the bounds count as
  the nearer bound, also infinite ones. A month counts as 30 days.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values. The answer has the common type of value and bounds, as in GREATEST.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_median(value anycompatible, epsilon float8, lower anycompatible, upper anycompatible, options jsonb) (
  SFUNC = dpquantile.median_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.median_final,
  FINALFUNC_EXTRA,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(anycompatible, float8, anycompatible, anycompatible, jsonb) IS
'Differentially private median. Answers lie on a public value grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column, of numbers, dates, timestamps, times or intervals. NULL and NaN are ignored; values outside the bounds count as
  the nearer bound, also infinite ones. A month counts as 30 days.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values. The answer has the common type of value and bounds, as in GREATEST.
options: built by dp_options(): method (for one quantile ''approximate'', the default, ''joint'', ''independent'' and
  ''auto'' are the same; ''tree'' is different); granularity (of whole numbers a whole number, by
  default 1 up to 2^20 values; of dates days or an interval, by default 1 day; of times an interval); rho.
All arguments except value must be constant.';

CREATE OR REPLACE FUNCTION @extschema@.dp_quantiles_expected_error(n bigint, quantiles float8[], epsilon float8, lower float8, upper float8,
                                                        options jsonb DEFAULT '{}')
  RETURNS TABLE (quantile float8, rank_error_typical float8, rank_error_95 float8, rank_error_bound float8)
  LANGUAGE C VOLATILE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'dpq_quantiles_expected_error';
COMMENT ON FUNCTION @extschema@.dp_quantiles_expected_error(bigint, float8[], float8, float8, float8, jsonb) IS
'The expected error of dp_quantiles: one row for each quantile, with errors in ranks. Uses public figures only: reads
  no data and costs no budget.
n: a public guess of the number of rows with a value, 1 to 2^40.
quantiles, epsilon, lower, upper, options: as for dp_quantiles.
quantile: the given quantile; rank_error_typical: the mean error, simulated for rows spread evenly over the value grid;
  rank_error_95: the error that 95 of 100 such answers do not exceed, also simulated (both are the same in every call);
  rank_error_bound: the error that with probability 95 % none of the quantiles exceeds, for any data (NULL for method ''tree'').
Values count as rounded to the value grid: rows that are rounded to the answer are equal to it. For values between the steps of a
  granularity up to half of the rows of a step come on top: n * granularity / (2 * (upper - lower)) if they are spread evenly.';
