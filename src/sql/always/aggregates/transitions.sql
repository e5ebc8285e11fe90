-- One function for each family of aggregates and each number of arguments. The value, and bounds of its type, may be of any type that the
-- aggregates take; the library reads it in the call.
DO $$
DECLARE
  made record;
BEGIN
  FOR made IN
    SELECT f.name, f.arguments || rest AS arguments
      FROM (VALUES ('count',           'float8',                                     true),
                   ('value_count',     '"any", float8',                              true),
                   ('distinct',        'anyelement, float8',                         true),
                   ('keep_group',      'float8, float8',                             false),
                   ('keep_user_group', 'anynonarray, float8, float8, bigint',        false),
                   ('median',          '"any", float8, "any", "any"',                true),
                   ('quantiles',       '"any", "any", float8, "any", "any"',         true),
                   ('synthesize',      '"any", bigint, float8, "any", "any"',        true),
                   ('cdf',             '"any", float8, "any", "any"',                true),
                   ('histogram',       '"any", float8, "any"',                       true),
                   ('modal_bin',       '"any", float8, "any"',                       false),
                   ('iqr',             '"any", float8, float8',                      true),
                   ('learn_bounds',    '"any", float8',                              true),
                   ('sum',             '"any", float8, "any", "any"',                true),
                   ('mean',            '"any", float8, "any", "any"',                true),
                   ('moments',         '"any", float8, "any", "any"',                true),
                   ('covariance',      '"any", "any", float8, "any", "any", "any", "any"', true),
                   ('regression',      '"any", "any", float8, "any", "any", "any", "any"', true),
                   ('user_mean',       'anynonarray, "any", float8, "any", "any"',   true),
                   ('user_variance',   'anynonarray, "any", float8, "any", "any"',   true),
                   ('user_grids',      'anynonarray, text, "any", float8, "any", "any"', true)) f (name, arguments, has_options),
           unnest('{"",", jsonb"}'::text[]) rest
     WHERE f.has_options OR rest = ''
  LOOP
    EXECUTE format('CREATE OR REPLACE FUNCTION dpquantile.%s_transition(dpquantile.records_state, %s) RETURNS dpquantile.records_state '
                   'LANGUAGE C IMMUTABLE PARALLEL SAFE AS ''MODULE_PATHNAME'', %L',
                   made.name, made.arguments, format('dpq_%s_transition', replace(made.name, 'median', 'quantiles')));
  END LOOP;
END
$$;
