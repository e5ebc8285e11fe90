-- Values of other types, where PostgreSQL could not tell the type of an answer from an aggregate of the files before: each of those once
-- more with a value of this type. Means and spreads of whole numbers are numeric, as those of avg(); numeric stays exact; dates and times
-- have bounds of their own type (anycompatible). Other numbers become float8: the library reads them as they are in the rows, without
-- the cast.
DO $$
DECLARE
  made record;
BEGIN
  FOR made IN
    SELECT p.oid, p.proname, transition.proname AS transition, final.proname AS final, final.prosrc AS final_symbol, v.type, v.answer,
           v.answer = 'anycompatible' AS is_polymorphic, v.type LIKE 'any%' AS is_time, 'options' = ANY (p.proargnames) AS has_options,
           given.*
      FROM (VALUES ('dp_cdf',           '{numeric,anycompatible}'::text[],    NULL),
                   ('dp_histogram',     '{numeric,anycompatible}',            NULL),
                   ('dp_modal_bin',     '{numeric,anycompatible}',            NULL),
                   ('dp_iqr',           '{numeric}',                          'numeric'),
                   ('dp_iqr',           '{anyelement}',                       'interval'),
                   ('dp_sum',           '{smallint,integer}',                 'bigint'),
                   ('dp_sum',           '{bigint,numeric}',                   'numeric'),
                   ('dp_sum',           '{interval}',                         'interval'),
                   ('dp_avg',           '{smallint,integer,bigint,numeric}',  'numeric'),
                   ('dp_avg',           '{anycompatible}',                    'anycompatible'),
                   ('dp_var_pop',       '{smallint,integer,bigint,numeric}',  'numeric'),
                   ('dp_var_samp',      '{smallint,integer,bigint,numeric}',  'numeric'),
                   ('dp_variance',      '{smallint,integer,bigint,numeric}',  'numeric'),
                   ('dp_stddev_pop',    '{smallint,integer,bigint,numeric}',  'numeric'),
                   ('dp_stddev_pop',    '{anycompatible}',                    'interval'),
                   ('dp_stddev_samp',   '{smallint,integer,bigint,numeric}',  'numeric'),
                   ('dp_stddev_samp',   '{anycompatible}',                    'interval'),
                   ('dp_stddev',        '{smallint,integer,bigint,numeric}',  'numeric'),
                   ('dp_stddev',        '{anycompatible}',                    'interval'),
                   ('dp_stats',         '{smallint,integer,bigint,numeric}',  '@extschema@.dp_numeric_statistics'),
                   ('dp_user_mean',     '{numeric}',                          'numeric'),
                   ('dp_user_mean',     '{anycompatible}',                    'anycompatible'),
                   ('dp_user_variance', '{numeric}',                          'numeric'),
                   ('dp_user_grid_stats', '{numeric}',                        NULL)) AS f (name, types, answer)
     CROSS JOIN LATERAL (SELECT u.type, u.sort, f.answer FROM unnest(f.types) WITH ORDINALITY u (type, sort)) v
      JOIN pg_proc p ON p.proname = f.name AND p.pronamespace = '@extschema@'::regnamespace
                    AND p.proargtypes[array_position(p.proargnames, 'value') - 1] = 'float8'::regtype
      JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
      JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'dpquantile'
      JOIN pg_aggregate a ON a.aggfnoid = p.oid
      JOIN pg_proc transition ON transition.oid = a.aggtransfn
      JOIN pg_proc final ON final.oid = a.aggfinalfn,
           LATERAL (SELECT string_agg(format('%I %s', name, new_type), ', ' ORDER BY number) AS arguments,
                           string_agg(new_type, ', ' ORDER BY number) AS types
                      FROM ROWS FROM (unnest(p.proargnames), unnest(p.proargtypes)) WITH ORDINALITY u (name, type, number),
                           LATERAL (SELECT CASE WHEN name = 'value' OR (v.type IN ('anycompatible', 'interval') AND name IN ('lower', 'upper'))
                                                THEN v.type
                                                WHEN v.type = 'anycompatible' AND name = 'bounds' THEN 'anycompatiblearray'
                                                ELSE format_type(type, NULL) END) t (new_type)
                   ) given
     ORDER BY p.oid, v.answer, v.sort
  LOOP
    IF made.answer IS NOT NULL AND NOT made.is_polymorphic THEN
      made.final := made.final || '_' || regexp_replace(made.answer, '^.*\.', '');
    END IF;
    IF made.answer IS NOT NULL THEN
      EXECUTE format('CREATE OR REPLACE FUNCTION dpquantile.%s(dpquantile.records_state%s) RETURNS %s '
                     'LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT dpquantile.planner_support AS ''MODULE_PATHNAME'', %L',
                     made.final, CASE WHEN made.is_polymorphic THEN ', ' || made.types ELSE '' END, made.answer, made.final_symbol);
    END IF;
    EXECUTE format(
      'CREATE OR REPLACE AGGREGATE @extschema@.%I(%s) (SFUNC = dpquantile.%I, STYPE = dpquantile.records_state, SSPACE = 512, '
      'FINALFUNC = dpquantile.%I, %s FINALFUNC_MODIFY = READ_WRITE, COMBINEFUNC = dpquantile.records_combine, PARALLEL = SAFE)',
      made.proname, made.arguments, made.transition, made.final, CASE WHEN made.is_polymorphic THEN 'FINALFUNC_EXTRA,' ELSE '' END);
    EXECUTE format(
      'COMMENT ON AGGREGATE @extschema@.%I(%s) IS %L', made.proname, made.types,
      obj_description(made.oid, 'pg_proc') || E'\n'
        || CASE WHEN made.is_time THEN 'This variant takes dates, timestamps, times and intervals' ELSE 'This variant takes values of type ' || made.type END
        || CASE WHEN made.answer IS NULL THEN '' WHEN made.is_polymorphic THEN ' and answers in their type'
                ELSE ' and answers in ' || regexp_replace(made.answer, '^.*\.', '') END || '.'
        || CASE WHEN made.type = 'anycompatible' OR made.type = 'interval' THEN
             CASE WHEN made.has_options AND made.proname NOT LIKE '%user%' AND made.proname <> 'dp_histogram'
                  THEN ' A granularity is an interval (dp_time_options(''1 hour'')), or for dates a number of days.' ELSE '' END
             || ' Infinite values count as the nearer bound. A month counts as 30 days.'
           WHEN made.proname = 'dp_sum' AND made.has_options AND made.type <> 'numeric' THEN ' A granularity is a whole number.'
           ELSE '' END);
  END LOOP;
END
$$;
