-- Numbers that a driver sends as text
--
-- Some drivers bind a number as varchar or text, and then no function takes it: PostgreSQL has no implicit
-- cast from text to float8. The type dp_number has one. These exist once more with dp_number in place of float8
-- and bigint, except in arrays: the private aggregates, dp_budget_fits, dp_iqr_min_rows, the functions
-- dp_..._expected_error, and the functions on a dp_cdf that take a number. dp_grant_budget, dp_options,
-- dp_cdf_quantiles (its numbers are an array) and the functions of schema dpquantile have no such variant.
-- float8 is the preferred type of its category and dp_number is not: so a call that works with float8, and a
-- parameter of unknown type ($1), still means float8.

COMMENT ON FUNCTION dpquantile.number_in(cstring) IS 'Text form of the type dp_number, that of float8.';
COMMENT ON FUNCTION dpquantile.number_out(@extschema@.dp_number) IS 'Text form of the type dp_number, that of float8.';
COMMENT ON FUNCTION dpquantile.number_recv(internal) IS 'Binary form of the type dp_number, that of float8.';
COMMENT ON FUNCTION dpquantile.number_send(@extschema@.dp_number) IS 'Binary form of the type dp_number, that of float8.';
COMMENT ON TYPE @extschema@.dp_number IS
  'A parameter that is a number, for drivers that send numbers as text. The same as float8, with implicit casts from '
  'text and from all numbers.';
COMMENT ON FUNCTION dpquantile.number_of_real(float4) IS
  'The cast of real to dp_number, that to float8. Tells nothing about any data.';

-- Each aggregate above once more, with its parameters as dp_number.
DO $$
DECLARE
  original record;
  transition text;
BEGIN
  FOR original IN
    SELECT p.oid, p.proname, transition.proname AS transition, transition.prosrc AS symbol, a.aggfinalfn::regproc AS final,
           given.*
      FROM pg_proc p
      JOIN pg_aggregate a ON a.aggfnoid = p.oid
      JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
      JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'dpquantile'
      JOIN pg_proc transition ON transition.oid = a.aggtransfn,
           LATERAL (SELECT string_agg(format('%I %s', name, new_type), ', ' ORDER BY number) AS arguments,
                           string_agg(new_type, ', ' ORDER BY number) AS types,
                           replace(string_agg(new_type, ', ' ORDER BY number), '@extschema@.dp_number', 'float8') AS stored
                      FROM ROWS FROM (unnest(p.proargnames), unnest(p.proargtypes)) WITH ORDINALITY u (name, type, number),
                           LATERAL (SELECT CASE WHEN name <> 'value' AND format_type(type, NULL) IN
                                                     ('double precision', 'numeric', 'integer', 'bigint')
                                                THEN '@extschema@.dp_number' ELSE format_type(type, NULL) END) t (new_type)
                   ) given
     WHERE a.aggtranstype = 'dpquantile.records_state'::regtype
       -- Not what the following blocks and files, or those of an earlier version, make
       AND '@extschema@.dp_number'::regtype <> ALL (p.proargtypes)
       AND p.proname NOT IN ('topn_add_agg', 'topn_union_agg')
       AND NOT (p.proname = 'dp_count' AND p.proargnames[1] = 'value' AND p.proargtypes[0] <> '"any"'::regtype)
     ORDER BY p.oid
  LOOP
    transition := format('dpquantile.%I(dpquantile.records_state, %s)', original.transition, original.stored);
    EXECUTE format('CREATE OR REPLACE FUNCTION %s RETURNS dpquantile.records_state '
                   'LANGUAGE C IMMUTABLE PARALLEL SAFE AS ''MODULE_PATHNAME'', %L', transition, original.symbol);
    EXECUTE format(
      'CREATE OR REPLACE AGGREGATE @extschema@.%I(%s) (SFUNC = dpquantile.%I, STYPE = dpquantile.records_state, SSPACE = 512, '
      'FINALFUNC = %s, FINALFUNC_MODIFY = READ_WRITE, COMBINEFUNC = dpquantile.records_combine, PARALLEL = SAFE)',
      original.proname, original.arguments, original.transition, original.final);
    EXECUTE format(
      'COMMENT ON AGGREGATE @extschema@.%I(%s) IS %L', original.proname, original.types,
      obj_description(original.oid, 'pg_proc') || E'\nThis variant takes parameters that a driver sends as text.');
  END LOOP;
END
$$;

-- dp_count(value, epsilon) once more for each type of number. With value "any" alone, an epsilon of unknown type ($1) beside a
-- number would be the options of dp_count(epsilon, options). These have no variant for dp_number, with which they would be
-- ambiguous.
DO $$
DECLARE
  type text;
BEGIN
  FOREACH type IN ARRAY '{smallint,integer,bigint,real,float8,numeric}'::text[] LOOP
    EXECUTE format('CREATE OR REPLACE FUNCTION dpquantile.value_count_transition(dpquantile.records_state, %s, float8) '
                   'RETURNS dpquantile.records_state LANGUAGE C IMMUTABLE PARALLEL SAFE '
                   'AS ''MODULE_PATHNAME'', ''dpq_value_count_transition''', type);
    EXECUTE format('CREATE OR REPLACE AGGREGATE @extschema@.dp_count(value %s, epsilon float8) ('
                   'SFUNC = dpquantile.value_count_transition, STYPE = dpquantile.records_state, SSPACE = 512, '
                   'FINALFUNC = dpquantile.value_count_final, FINALFUNC_MODIFY = READ_WRITE, '
                   'COMBINEFUNC = dpquantile.records_combine, PARALLEL = SAFE)', type);
    EXECUTE format('COMMENT ON AGGREGATE @extschema@.dp_count(%s, float8) IS %L', type,
                   obj_description('@extschema@.dp_count("any", float8)'::regprocedure, 'pg_proc'));
  END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION @extschema@.dp_budget_fits(epsilon @extschema@.dp_number)
  RETURNS TABLE (role regrole, accountant text, query text, rho_each numeric, fits bigint)
  LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED
  BEGIN ATOMIC
    SELECT * FROM @extschema@.dp_budget_fits(dp_budget_fits.epsilon::float8);
  END;
CREATE OR REPLACE FUNCTION @extschema@.dp_budget_fits(epsilon @extschema@.dp_number, on_table regclass)
  RETURNS TABLE (role regrole, accountant text, query text, rho_each numeric, fits bigint)
  LANGUAGE sql STABLE PARALLEL RESTRICTED
  BEGIN ATOMIC
    SELECT * FROM @extschema@.dp_budget_fits(dp_budget_fits.epsilon::float8, dp_budget_fits.on_table);
  END;
CREATE OR REPLACE FUNCTION @extschema@.dp_quantiles_expected_error(
    n @extschema@.dp_number, quantiles float8[], epsilon @extschema@.dp_number, lower @extschema@.dp_number,
    upper @extschema@.dp_number, options jsonb DEFAULT '{}')
  RETURNS TABLE (quantile float8, rank_error_typical float8, rank_error_95 float8, rank_error_bound float8)
  LANGUAGE C VOLATILE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'dpq_quantiles_expected_error';
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_count(
    cdf @extschema@.dp_cdf, from_value @extschema@.dp_number, to_value @extschema@.dp_number) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_count';
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_probability(cdf @extschema@.dp_cdf, x @extschema@.dp_number) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_probability';
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_quantile(cdf @extschema@.dp_cdf, quantile @extschema@.dp_number) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_quantile';
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_error(
    cdf @extschema@.dp_cdf, confidence @extschema@.dp_number, simultaneous boolean DEFAULT true,
    OUT rows float8, OUT fraction float8)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_error';
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_points(cdf @extschema@.dp_cdf, confidence @extschema@.dp_number)
  RETURNS TABLE (x float8, probability float8, low float8, high float8)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 1024 AS 'MODULE_PATHNAME', 'dpq_cdf_points';
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_time_quantile(cdf @extschema@.dp_cdf, quantile @extschema@.dp_number) RETURNS text
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_time_quantile';
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_time_points(cdf @extschema@.dp_cdf, confidence @extschema@.dp_number)
  RETURNS TABLE (x text, probability float8, low float8, high float8)
  LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 1024 AS 'MODULE_PATHNAME', 'dpq_cdf_time_points';

-- Without defaults: beside a size of type bigint, a call with fewer arguments of unknown type would be ambiguous.
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_plot(
    cdf @extschema@.dp_cdf, width @extschema@.dp_number, height @extschema@.dp_number, confidence @extschema@.dp_number)
  RETURNS SETOF text
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 22 AS 'MODULE_PATHNAME', 'dpq_cdf_plot';
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_svg(
    cdf @extschema@.dp_cdf, width @extschema@.dp_number, height @extschema@.dp_number, title text,
    confidence @extschema@.dp_number)
  RETURNS text
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_svg';
CREATE OR REPLACE FUNCTION @extschema@.dp_cdf_expected_error(
    epsilon @extschema@.dp_number, bins @extschema@.dp_number DEFAULT 1024, confidence @extschema@.dp_number DEFAULT 0.95,
    method text DEFAULT NULL, rho @extschema@.dp_number DEFAULT NULL,
    OUT pointwise float8, OUT simultaneous float8, OUT branching int[], OUT level_epsilon float8[], OUT level_rho float8[])
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_expected_error';
CREATE OR REPLACE FUNCTION @extschema@.dp_iqr_min_rows(epsilon @extschema@.dp_number, delta @extschema@.dp_number) RETURNS bigint
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_iqr_min_rows';
CREATE OR REPLACE FUNCTION @extschema@.dp_iqr_expected_error(
    epsilon @extschema@.dp_number, delta @extschema@.dp_number, rows @extschema@.dp_number) RETURNS float8
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_iqr_expected_error';
CREATE OR REPLACE FUNCTION @extschema@.dp_user_expected_error(
    rows_per_user bigint[], users bigint[], epsilon @extschema@.dp_number, lower @extschema@.dp_number,
    upper @extschema@.dp_number, options jsonb DEFAULT '{}')
  RETURNS TABLE (statistic text, max_contributions bigint, rows_kept bigint, left_out_error float8,
                 noise_error float8, total_error float8)
  LANGUAGE C IMMUTABLE PARALLEL SAFE ROWS 2 AS 'MODULE_PATHNAME', 'dpq_user_expected_error';

CREATE OR REPLACE FUNCTION @extschema@.dp_stats_expected_error(
    n @extschema@.dp_number, epsilon @extschema@.dp_number, lower @extschema@.dp_number, upper @extschema@.dp_number,
    options jsonb DEFAULT '{}', OUT count float8, OUT sum float8, OUT avg float8, OUT variance float8, OUT stddev float8)
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_stats_expected_error';
CREATE OR REPLACE FUNCTION @extschema@.dp_keep_group_rows(
    epsilon @extschema@.dp_number, delta @extschema@.dp_number, OUT half_the_time bigint, OUT always bigint)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_keep_group_rows';
CREATE OR REPLACE FUNCTION @extschema@.dp_histogram_error(epsilon @extschema@.dp_number, confidence @extschema@.dp_number DEFAULT 0.95)
  RETURNS bigint
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_histogram_error';

-- Each of these functions has the comment of the function with the same name.
DO $$
DECLARE
  variant record;
BEGIN
  FOR variant IN
    SELECT DISTINCT ON (v.oid) v.oid::regprocedure AS signature, obj_description(o.oid, 'pg_proc') AS comment
      FROM pg_extension e
      JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e' AND d.classid = 'pg_proc'::regclass
      JOIN pg_proc v ON v.oid = d.objid
      JOIN pg_proc o ON o.pronamespace = v.pronamespace AND o.proname = v.proname
      JOIN pg_depend f ON f.refclassid = d.refclassid AND f.refobjid = e.oid AND f.deptype = 'e' AND f.classid = d.classid AND f.objid = o.oid
     WHERE e.extname = 'dpquantile' AND v.prokind = 'f' AND v.pronamespace <> 'dpquantile'::regnamespace
       AND '@extschema@.dp_number'::regtype = ANY (v.proargtypes) AND '@extschema@.dp_number'::regtype <> ALL (o.proargtypes)
     ORDER BY v.oid, o.pronargs <> v.pronargs
  LOOP
    EXECUTE format('COMMENT ON FUNCTION %s IS %L', variant.signature,
                   variant.comment || ' This variant takes numbers that a driver sends as text.');
  END LOOP;
  FOR variant IN
    SELECT format('%s AS %s', format_type(c.castsource, NULL), format_type(c.casttarget, NULL)) AS signature
      FROM pg_cast c
      JOIN pg_depend d ON d.classid = 'pg_cast'::regclass AND d.objid = c.oid AND d.deptype = 'e'
     WHERE '@extschema@.dp_number'::regtype IN (c.castsource, c.casttarget)
  LOOP
    EXECUTE format('COMMENT ON CAST (%s) IS %L', variant.signature,
                   'For parameters that a driver sends as text. Costs no budget.');
  END LOOP;
END
$$;
