CREATE TYPE @extschema@.dp_grid_stat AS (
  grid text,
  mean float8,
  variance float8,
  users_kept bigint,
  mean_error float8,
  variance_error float8,
  grids_per_user int,
  relative_error_bound float8
);

CREATE TYPE @extschema@.dp_statistics AS (
  count bigint,
  count_error bigint,
  sum float8,
  sum_error float8,
  avg float8,
  avg_error float8,
  variance float8,
  variance_error float8,
  stddev float8,
  stddev_error float8
);
CREATE TYPE @extschema@.dp_numeric_statistics AS (
  count bigint,
  count_error bigint,
  sum numeric,
  sum_error numeric,
  avg numeric,
  avg_error numeric,
  variance numeric,
  variance_error numeric,
  stddev numeric,
  stddev_error numeric
);
