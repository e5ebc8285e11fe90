-- Values of other types: each aggregate of the files before once more for numeric, and for integers, dates and times where an answer
-- of this type makes sense. (Those of smallint answer in integer. real becomes float8, and without a variant of
-- its own so does an integer.) Bounds of dates and times are of the type of the values; those of numbers are float8, so that a
-- call with any number finds the variant of its values: an implicit cast of a numeric to float8 would raise an error that
-- depends on the data. These clamp it like any other value.
DO $$
DECLARE
  variant record;
  transition text;
  final text;
  finals text[] := '{}';
BEGIN
  FOR variant IN
    SELECT p.oid, p.proname, transition.proname AS transition, transition.prosrc AS transition_symbol,
           final.proname AS final, final.prosrc AS final_symbol, v.type, v.kind, v.sort,
           CASE WHEN 'options' = ANY (p.proargnames) THEN f.granularity ELSE 'none' END AS granularity,
           'lower' = ANY (p.proargnames) AS bounded,
           CASE f.answers WHEN 'value' THEN v.own
                          WHEN 'values' THEN v.own || '[]'
                          WHEN 'mean' THEN CASE v.kind WHEN 'integer' THEN 'numeric' ELSE v.type END
                          WHEN 'difference' THEN CASE v.kind WHEN 'integer' THEN 'numeric' WHEN 'time' THEN 'interval' ELSE v.type END
                          WHEN 'sum' THEN CASE v.own WHEN 'integer' THEN 'bigint' WHEN 'bigint' THEN 'numeric' ELSE v.type END
                          WHEN 'statistics' THEN '@extschema@.dp_numeric_statistics'
                          END AS answer,
           given.*
      FROM (VALUES ('dp_quantiles',       'values',     'default', '{number,integer,time}'::text[]),
                   ('dp_quantile',        'value',      'default', '{number,integer,time}'),
                   ('dp_median',          'value',      'default', '{number,integer,time}'),
                   ('dp_synthesize',      'values',     'default', '{number,integer,time}'),
                   ('dp_cdf',             'unchanged',  'default', '{number,time}'),
                   ('dp_iqr',             'difference', 'none',    '{number,time}'),
                   ('dp_sum',             'sum',        'whole',   '{number,integer,interval}'),
                   ('dp_avg',             'mean',       'any',     '{number,integer,time}'),
                   ('dp_var_pop',         'mean',       'any',     '{number,integer}'),
                   ('dp_var_samp',        'mean',       'any',     '{number,integer}'),
                   ('dp_variance',        'mean',       'any',     '{number,integer}'),
                   ('dp_stddev_pop',      'difference', 'any',     '{number,integer,time}'),
                   ('dp_stddev_samp',     'difference', 'any',     '{number,integer,time}'),
                   ('dp_stddev',          'difference', 'any',     '{number,integer,time}'),
                   ('dp_stats',           'statistics', 'any',     '{number,integer}'),
                   ('dp_histogram',       'unchanged',  'none',    '{number,time}'),
                   ('dp_user_mean',       'value',      'none',    '{number,time}'),
                   ('dp_user_variance',   'value',      'none',    '{number}'),
                   ('dp_user_grid_stats', 'unchanged',  'none',    '{number}')) AS f (name, answers, granularity, kinds)
      JOIN (SELECT t.*, replace(t.type, 'smallint', 'integer') AS own
              FROM (VALUES (1, 'numeric', 'number'), (2, 'smallint', 'integer'), (3, 'integer', 'integer'),
                           (4, 'bigint', 'integer'), (5, 'date', 'time'), (6, 'timestamp', 'time'),
                           (7, 'timestamptz', 'time'), (8, 'time', 'time'), (9, 'interval', 'time')) AS t (sort, type, kind)
           ) AS v ON f.kinds && ARRAY[v.kind, v.type]
      -- Not the variants that an earlier version has made
      JOIN pg_proc p ON p.proname = f.name AND p.pronamespace = '@extschema@'::regnamespace
                    AND p.proargtypes[array_position(p.proargnames, 'value') - 1] = 'float8'::regtype
                    AND '@extschema@.dp_number'::regtype <> ALL (p.proargtypes)
      JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
      JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'dpquantile'
      JOIN pg_aggregate a ON a.aggfnoid = p.oid AND a.aggtranstype = 'dpquantile.records_state'::regtype
      JOIN pg_proc transition ON transition.oid = a.aggtransfn
      JOIN pg_proc final ON final.oid = a.aggfinalfn,
           LATERAL (SELECT string_agg(format('%I %s', name, new_type), ', ' ORDER BY number) AS arguments,
                           string_agg(new_type, ', ' ORDER BY number) AS types
                      FROM ROWS FROM (unnest(p.proargnames), unnest(p.proargtypes)) WITH ORDINALITY u (name, type, number),
                           LATERAL (SELECT CASE WHEN name = 'value' OR (v.kind = 'time' AND name IN ('lower', 'upper')) THEN v.type
                                                WHEN v.kind = 'time' AND name = 'bounds' THEN v.type || '[]'
                                                ELSE format_type(type, NULL) END) t (new_type)
                   ) given
     ORDER BY p.oid, v.sort
  LOOP
    transition := format('dpquantile.%I(dpquantile.records_state, %s)', variant.transition, variant.types);
    EXECUTE format('CREATE OR REPLACE FUNCTION %s RETURNS dpquantile.records_state '
                   'LANGUAGE C IMMUTABLE PARALLEL SAFE AS ''MODULE_PATHNAME'', %L',
                   transition, variant.transition_symbol || '_typed');
    final := 'dpquantile.' || variant.final;
    IF variant.answer IS NOT NULL THEN
      final := final || '_' || regexp_replace(variant.answer, '^.*\.|\[\]', '', 'g');
      IF final <> ALL (finals) THEN
        finals := finals || final;
        EXECUTE format('CREATE OR REPLACE FUNCTION %s(dpquantile.records_state) RETURNS %s LANGUAGE C VOLATILE PARALLEL SAFE '
                       'SUPPORT dpquantile.planner_support AS ''MODULE_PATHNAME'', %L',
                       final, variant.answer, variant.final_symbol);
      END IF;
    END IF;
    EXECUTE format(
      'CREATE OR REPLACE AGGREGATE @extschema@.%I(%s) (SFUNC = dpquantile.%I, STYPE = dpquantile.records_state, SSPACE = 512, '
      'FINALFUNC = %s, FINALFUNC_MODIFY = READ_WRITE, COMBINEFUNC = dpquantile.records_combine, PARALLEL = SAFE)',
      variant.proname, variant.arguments, variant.transition, final);
    EXECUTE format(
      'COMMENT ON AGGREGATE @extschema@.%I(%s) IS %L', variant.proname, variant.types,
      obj_description(variant.oid, 'pg_proc') || format(E'\nThis variant takes values of type %s', variant.type)
        || CASE WHEN variant.answer IS NULL THEN '' ELSE ' and answers in ' || regexp_replace(variant.answer, '^.*\.', '') END
        || '.' || CASE variant.kind
           WHEN 'integer' THEN
             CASE variant.granularity
             WHEN 'default' THEN ' A granularity is a whole number (default: 1 up to 2^20 values; beyond, a round number).'
             WHEN 'whole' THEN ' A granularity is a whole number.' ELSE '' END
           WHEN 'time' THEN
             CASE WHEN variant.granularity = 'none' THEN ''
             WHEN variant.type <> 'date' THEN ' A granularity is an interval: dp_time_options(''1 hour'').'
             WHEN variant.granularity = 'default' THEN ' A granularity is a number of days, or an interval (default: 1 day).'
             ELSE ' A granularity is a number of days, or an interval.' END
             || CASE WHEN variant.bounded THEN ' Infinite values count as the nearer bound.' ELSE '' END
             || CASE variant.type WHEN 'interval' THEN ' A month counts as 30 days.' ELSE '' END
           ELSE '' END);
  END LOOP;
END
$$;
