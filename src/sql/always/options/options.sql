CREATE OR REPLACE FUNCTION @extschema@.dp_options(method text DEFAULT NULL, granularity float8 DEFAULT NULL, bins bigint DEFAULT NULL,
                                       lower float8 DEFAULT NULL, upper float8 DEFAULT NULL,
                                       max_contributions "any" DEFAULT NULL, suppress boolean DEFAULT NULL,
                                       rho float8 DEFAULT NULL)
  RETURNS jsonb
  LANGUAGE C IMMUTABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_options';
COMMENT ON FUNCTION @extschema@.dp_options(text, float8, bigint, float8, float8, "any", boolean, float8) IS
  'Builds and checks the options argument of the private aggregates. method: the mechanism; for quantiles and '
  'dp_synthesize ''blocks'' (the default for quantiles where it costs the budget no more than ''approximate'' and '
  'epsilon is not too large for it), ''approximate'', ''joint'', ''independent'', ''tree'' or ''auto'' (the '
  'default for dp_synthesize), for dp_cdf ''tree'' (the default for an epsilon), ''factorization'' (the default with '
  'rho, and only with it), ''binary'' or ''histogram'', for dp_iqr '
  '''propose-test-release'' (the default) or ''quantiles'', for dp_user_mean ''auto'' (the default), ''array'', ''baseline'', '
  '''levy'', ''quantile'', ''quantile-adaptive'' or ''bounded'', for dp_user_variance ''array'' (the default), '
  '''baseline'' or ''bounded''; granularity: the step between possible values, for '
  'example 1 for whole numbers or 0.01 for cents (default for quantiles: 2^20 cells from lower to upper); bins: '
  'the number of bins of a dp_cdf, 1 to 1048576 (default 1024), instead of granularity; lower, upper: public '
  'bounds of the values, for dp_iqr with method ''quantiles''; max_contributions: for dp_user_mean and '
  'dp_user_variance, the most rows kept of a person: a whole number such as 8, ''median'' or ''optimal'' (the '
  'default); suppress: for dp_user_grid_stats, whether persons may be left out of some of their grids (default true); '
  'rho: for all but dp_iqr and dp_keep_group, the guarantee in rho of zero-concentrated differential privacy, 1e-12 '
  'to 1000, with NULL for epsilon. Options are public and cost no budget.';

-- One option, so that a new one needs no other function. A literal and a driver's untyped parameter are text.
CREATE OR REPLACE FUNCTION @extschema@.dp_option(name text, value text) RETURNS jsonb
  LANGUAGE C IMMUTABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_option';
CREATE OR REPLACE FUNCTION @extschema@.dp_option(name text, value "any") RETURNS jsonb
  LANGUAGE C IMMUTABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_option';
COMMENT ON FUNCTION @extschema@.dp_option(text, text) IS
  'Builds and checks one option of the private aggregates: dp_option(''method'', ''joint'') || dp_option(''rho'', 0.01). name: an option, such as an '
  'argument of dp_options; value: as there, also a number or a boolean as text, or an interval for the granularity of times: '
  'dp_option(''granularity'', interval ''1 hour''). NULL leaves the option out; of two values of one option the last is taken. Options '
  'are public and cost no budget.';
COMMENT ON FUNCTION @extschema@.dp_option(text, "any") IS
  'Builds and checks one option of the private aggregates: dp_option(''method'', ''joint'') || dp_option(''rho'', 0.01). name: an option, such as an '
  'argument of dp_options; value: as there, also a number or a boolean as text, or an interval for the granularity of times: '
  'dp_option(''granularity'', interval ''1 hour''). NULL leaves the option out; of two values of one option the last is taken. Options '
  'are public and cost no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_time_options(granularity interval, method text DEFAULT NULL, rho float8 DEFAULT NULL) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN @extschema@.dp_options(method => dp_time_options.method, rho => dp_time_options.rho)
         || @extschema@.dp_option('granularity', dp_time_options.granularity);
COMMENT ON FUNCTION @extschema@.dp_time_options(interval, text, float8) IS
  'Builds the options of private aggregates of dates or times. granularity: the step between possible values, an interval '
  'without months; method, rho: as in dp_options. For example dp_time_options(''1 hour''). Options are public and cost no '
  'budget.';
