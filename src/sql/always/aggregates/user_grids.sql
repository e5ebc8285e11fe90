COMMENT ON TYPE @extschema@.dp_grid_stat IS
  'The released statistics of one grid, from dp_user_grid_stats. Reading them again costs no budget.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.grid IS 'The name of the grid. Public.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.mean IS 'The noisy mean, from lower to upper.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.variance IS
  'The noisy population variance, from 0 to a quarter of (upper - lower) squared.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.users_kept IS
  'The number of persons whose rows in this grid count; the others are suppressed here. Public.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.mean_error IS
  'The error of the mean: the largest effect of suppression on any data, plus the expected size of the noise. '
  'Public.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.variance_error IS 'The same for the variance. Public.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.grids_per_user IS
  'K, the largest number of grids in which one person counts. Each grid gets epsilon / K, or rho / K, half of it for the '
  'mean. The same in all grids of a release. Public.';
COMMENT ON COLUMN @extschema@.dp_grid_stat.relative_error_bound IS
  'A bound of mean_error / (upper - lower) + variance_error / (upper - lower)^2 in every grid: the largest of these '
  'sums before suppression. The same in all grids of a release. Public.';

CREATE OR REPLACE FUNCTION dpquantile.user_grids_final(dpquantile.records_state) RETURNS @extschema@.dp_grid_stat[]
  LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support
  AS 'MODULE_PATHNAME', 'dpq_user_grids_final';

CREATE OR REPLACE AGGREGATE @extschema@.dp_user_grid_stats(user_id anynonarray, grid text, value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.user_grids_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_grids_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_grid_stats(anynonarray, text, float8, float8, float8, float8) IS
'Differentially private mean and variance of each grid (a region of a map, a time of the day, ...), with all rows of a
  person in all grids protected together. Returns one dp_grid_stat for each grid, ordered by the bytes of its name,
  for SELECT (s).* FROM unnest((SELECT dp_user_grid_stats(...) FROM trips)) s. An empty input has no grids.
Privacy: epsilon-differentially private, all grids together, for replacing the values of one person. The grids, the
  persons and the number of rows with a value of each person in each grid are public; a WHERE, FILTER, join or GROUP BY on
  private values breaks that, and so do values that are NULL or NaN for private reasons. Then use dp_user_mean and
  dp_user_variance with method ''bounded'' for each grid. epsilon is the total for all grids. It is charged for
  each group of a GROUP BY, because a person may be in several groups (with grouping sets: for each group of each set):
  for one group before the rows are read, for all others together or not at all.
user_id: the person of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
grid: the name of the row''s grid, which is printed unchanged: never computed from private values. Names with different
  bytes are different grids. Rows with a NULL grid are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
All arguments except user_id, grid and value must be constant.';

CREATE OR REPLACE AGGREGATE @extschema@.dp_user_grid_stats(user_id anynonarray, grid text, value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.user_grids_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.user_grids_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_user_grid_stats(anynonarray, text, float8, float8, float8, float8, jsonb) IS
'Differentially private mean and variance of each grid (a region of a map, a time of the day, ...), with all rows of a
  person in all grids protected together. Returns one dp_grid_stat for each grid, ordered by the bytes of its name,
  for SELECT (s).* FROM unnest((SELECT dp_user_grid_stats(...) FROM trips)) s. An empty input has no grids.
Privacy: epsilon-differentially private, all grids together, for replacing the values of one person; with the option rho,
  rho-zCDP instead. The grids, the persons and the number of rows with a value of each person in each grid are public; a
  WHERE, FILTER, join or GROUP BY on private values breaks that, and so do values that are NULL or NaN for private
  reasons. Then use dp_user_mean and dp_user_variance with method ''bounded'' for each grid. epsilon or rho is the total
  for all grids. It is charged for each group of a GROUP BY, because a person may be in several groups (with grouping sets:
  for each group of each set): for one group before the rows are read, for all others together or not at all.
user_id: the person of the row: an identifier such as a number, text or uuid, never computed from private values. Rows
  with a NULL user_id are ignored.
grid: the name of the row''s grid, which is printed unchanged: never computed from private values. Names with different
  bytes are different grids. Rows with a NULL grid are ignored.
value: the column. NULL and NaN are ignored; values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private. NULL with the option rho.
lower, upper: public bounds of the values; noise is proportional to their distance (for variances to its square).
options: built by dp_options(): suppress, whether persons may be left out of some of their grids (default true). This
  gives each grid a larger part of epsilon or rho, and no worst-case error exceeds the largest error without
  suppression; rho.
All arguments except user_id, grid and value must be constant.';
