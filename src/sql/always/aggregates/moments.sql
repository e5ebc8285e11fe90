CREATE OR REPLACE FUNCTION dpquantile.sum_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_sum_final';
CREATE OR REPLACE FUNCTION dpquantile.mean_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_mean_final';
CREATE OR REPLACE FUNCTION dpquantile.var_pop_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_var_pop_final';
CREATE OR REPLACE FUNCTION dpquantile.var_samp_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_var_samp_final';
CREATE OR REPLACE FUNCTION dpquantile.stddev_pop_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_stddev_pop_final';
CREATE OR REPLACE FUNCTION dpquantile.stddev_samp_final(dpquantile.records_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_stddev_samp_final';

CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.sum_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.sum_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(float8, float8, float8, float8) IS
'Differentially private sum. Its noise is proportional to the larger of |lower| and |upper|, and may take the sum beyond 0: sums of groups add up.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_sum(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.sum_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.sum_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_sum(float8, float8, float8, float8, jsonb) IS
'Differentially private sum. Its noise is proportional to the larger of |lower| and |upper|, and may take the sum beyond 0: sums of groups add up.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_avg(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.mean_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.mean_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_avg(float8, float8, float8, float8) IS
'Differentially private mean, within the bounds. Without rows it is a number within the bounds.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_avg(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.mean_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.mean_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_avg(float8, float8, float8, float8, jsonb) IS
'Differentially private mean, within the bounds. Without rows it is a number within the bounds.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_var_pop(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_pop_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_pop(float8, float8, float8, float8) IS
'Differentially private population variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_var_pop(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_pop_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_pop(float8, float8, float8, float8, jsonb) IS
'Differentially private population variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_var_samp(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_samp(float8, float8, float8, float8) IS
'Differentially private sample variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_var_samp(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_var_samp(float8, float8, float8, float8, jsonb) IS
'Differentially private sample variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_variance(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_variance(float8, float8, float8, float8) IS
'Differentially private sample variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_variance(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.var_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_variance(float8, float8, float8, float8, jsonb) IS
'Differentially private sample variance, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_stddev_pop(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_pop_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_pop(float8, float8, float8, float8) IS
'Differentially private population standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_stddev_pop(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_pop_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_pop(float8, float8, float8, float8, jsonb) IS
'Differentially private population standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_stddev_samp(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_samp(float8, float8, float8, float8) IS
'Differentially private sample standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_stddev_samp(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev_samp(float8, float8, float8, float8, jsonb) IS
'Differentially private sample standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_stddev(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev(float8, float8, float8, float8) IS
'Differentially private sample standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row.
  epsilon is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments except value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_stddev(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.moments_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.stddev_samp_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_stddev(float8, float8, float8, float8, jsonb) IS
'Differentially private sample standard deviation, at least 0.
Privacy: epsilon-differentially private for adding or removing one row; with the option rho, rho-zCDP instead.
  epsilon or rho is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values.
options: built by dp_options(): granularity, to which the answer is rounded; rho.
All arguments except value must be constant.';
