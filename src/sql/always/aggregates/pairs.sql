-- Covariance, correlation and the least-squares line of two values of each row: an aggregate for each statistic, without options and with them. All read
-- their answer off noisy sums of products of both values, and so have one form.
DO $$
DECLARE
  made record;
BEGIN
  FOR made IN
    SELECT f.*, o.arguments, o.types, o.told AS told_options, o.guarantee
      FROM (VALUES ('covar_pop', 'covariance', 'population covariance of value and x, at most a quarter of the product of the widths of the bounds', ''),
                   ('covar_samp', 'covariance', 'sample covariance of value and x, at most half of the product of the widths of the bounds', ''),
                   ('corr', 'regression', 'correlation of value and x, within -1 and 1',
                    ' NULL if the noise leaves no variance of one of them.'),
                   ('regr_slope', 'regression', 'slope of the least-squares line by which x predicts value', ' NULL if the noise leaves no variance of x.'),
                   ('regr_intercept', 'regression', 'value at x = 0 of the least-squares line by which x predicts value',
                    ' NULL if the noise leaves no variance of x.'),
                   ('regr_r2', 'regression', 'square of the correlation of value and x, within 0 and 1',
                    ' NULL if the noise leaves no variance of one of them.')) f (name, family, told, told_null)
     CROSS JOIN (VALUES ('', '', '', ''),
                        (', options jsonb', ', jsonb', E'\noptions: built by dp_options(): rho.',
                         '; with the option rho, rho-zCDP instead')) o (arguments, types, told, guarantee)
  LOOP
    EXECUTE format('CREATE OR REPLACE FUNCTION dpquantile.%s_final(dpquantile.records_state) RETURNS float8 '
                   'LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support AS ''MODULE_PATHNAME'', ''dpq_%1$s_final''', made.name);
    EXECUTE format(
      'CREATE OR REPLACE AGGREGATE @extschema@.dp_%s(value float8, x float8, epsilon float8, lower float8, upper float8, x_lower float8, '
      'x_upper float8%s) (SFUNC = dpquantile.%s_transition, STYPE = dpquantile.records_state, SSPACE = 512, FINALFUNC = dpquantile.%1$s_final, '
      'FINALFUNC_MODIFY = READ_WRITE, COMBINEFUNC = dpquantile.records_combine, PARALLEL = SAFE)', made.name, made.arguments, made.family);
    EXECUTE format(
      'COMMENT ON AGGREGATE @extschema@.dp_%s(float8, float8, float8, float8, float8, float8, float8%s) IS %L', made.name, made.types,
      'Differentially private ' || made.told || '.' || made.told_null || ' As ' || made.name || '(value, x) of PostgreSQL, within the bounds.' ||
      E'\nPrivacy: epsilon-differentially private for adding or removing one row' || made.guarantee || '.' ||
      E'\n  epsilon ' || CASE made.arguments WHEN '' THEN '' ELSE 'or rho ' END ||
      'is the total charged, once for all groups of a GROUP BY (times the number of grouping sets).' ||
      E'\nvalue, x: two columns of numbers. A row of which either is NULL or NaN is ignored; numbers outside the bounds count as the nearer bound.' ||
      E'\nepsilon: privacy parameter, 1e-6 to 1000; smaller is more private.' || CASE made.arguments WHEN '' THEN '' ELSE ' NULL with the option rho.' END ||
      E'\nlower, upper: public bounds of value.\nx_lower, x_upper: public bounds of x.' || made.told_options ||
      E'\nAll arguments except value and x must be constant.');
  END LOOP;
END
$$;
