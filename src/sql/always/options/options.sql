CREATE OR REPLACE FUNCTION @extschema@.dp_options(method text DEFAULT NULL, granularity float8 DEFAULT NULL, bins bigint DEFAULT NULL,
                                       lower float8 DEFAULT NULL, upper float8 DEFAULT NULL,
                                       max_contributions text DEFAULT NULL, suppress boolean DEFAULT NULL,
                                       rho float8 DEFAULT NULL)
  RETURNS jsonb
  LANGUAGE C IMMUTABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_options';
COMMENT ON FUNCTION @extschema@.dp_options(text, float8, bigint, float8, float8, text, boolean, float8) IS
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
  'dp_user_variance, the most rows kept of a user: a whole number such as 8, ''median'' or ''optimal'' (the '
  'default); suppress: for dp_user_grid_stats, whether users may be left out of some of their grids (default true); '
  'rho: for all but dp_iqr and dp_keep_group, the guarantee in rho of zero-concentrated differential privacy, 1e-12 '
  'to 1000, with NULL for epsilon. Options are public and cost no budget.';

-- Variants with max_contributions as a number, for the options that go with it. (Arguments with defaults would make calls ambiguous.)
CREATE OR REPLACE FUNCTION @extschema@.dp_options(max_contributions bigint) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN @extschema@.dp_options(max_contributions => dp_options.max_contributions::text);
CREATE OR REPLACE FUNCTION @extschema@.dp_options(method text, max_contributions bigint) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN @extschema@.dp_options(method => dp_options.method, max_contributions => dp_options.max_contributions::text);
COMMENT ON FUNCTION @extschema@.dp_options(bigint) IS
  'The same with max_contributions as a number: dp_options(max_contributions => 8). Options are public and cost no '
  'budget.';
COMMENT ON FUNCTION @extschema@.dp_options(text, bigint) IS
  'The same with max_contributions as a number: dp_options(method => ''bounded'', max_contributions => 8). Options are '
  'public and cost no budget.';
CREATE OR REPLACE FUNCTION @extschema@.dp_options(method text, max_contributions bigint, rho dpquantile.amount) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN @extschema@.dp_options(method => dp_options.method, max_contributions => dp_options.max_contributions::text,
                                rho => dp_options.rho);
COMMENT ON FUNCTION @extschema@.dp_options(text, bigint, dpquantile.amount) IS
  'The same with max_contributions as a number: dp_options(method => ''bounded'', max_contributions => 8, rho => 0.01). '
  'Options are public and cost no budget.';
CREATE OR REPLACE FUNCTION @extschema@.dp_options(max_contributions bigint, rho float8) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN @extschema@.dp_options(max_contributions => dp_options.max_contributions::text, rho => dp_options.rho);
COMMENT ON FUNCTION @extschema@.dp_options(bigint, float8) IS
  'The same with max_contributions as a number: dp_options(max_contributions => 8, rho => 0.01). Options are public and '
  'cost no budget.';

-- The granularity of times is an interval.
CREATE OR REPLACE FUNCTION dpquantile.interval_text(step interval) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  BEGIN ATOMIC
    SELECT substr(CASE WHEN months <> 0 THEN ' ' || months::text || ' months' ELSE '' END ||
                  CASE WHEN days <> 0 THEN ' ' || days::text || ' days' ELSE '' END ||
                  CASE WHEN seconds <> 0 OR (months = 0 AND days = 0)
                       THEN ' ' || trim_scale(seconds)::text || ' seconds' ELSE '' END, 2)
      FROM (SELECT 12 * extract(year FROM step) + extract(month FROM step) AS months, extract(day FROM step) AS days,
                   3600 * extract(hour FROM step) + 60 * extract(minute FROM step) + extract(second FROM step) AS seconds) AS p;
  END;
COMMENT ON FUNCTION dpquantile.interval_text(interval) IS
  'step: any interval. Its text, whatever the IntervalStyle of the session is. Tells nothing about any data.';
CREATE OR REPLACE FUNCTION @extschema@.dp_time_options(granularity interval, method text DEFAULT NULL, rho float8 DEFAULT NULL) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN @extschema@.dp_options(method => dp_time_options.method, rho => dp_time_options.rho)
         || jsonb_strip_nulls(jsonb_build_object('granularity', dpquantile.interval_text(dp_time_options.granularity)));
COMMENT ON FUNCTION @extschema@.dp_time_options(interval, text, float8) IS
  'Builds the options of private aggregates of dates or times. granularity: the step between possible values, an interval '
  'without months; method, rho: as in dp_options. For example dp_time_options(''1 hour''). Options are public and cost no '
  'budget.';
