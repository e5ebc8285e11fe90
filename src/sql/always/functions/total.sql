CREATE OR REPLACE FUNCTION dpquantile.how_total(function regprocedure) RETURNS text
  LANGUAGE C STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_how_total';
COMMENT ON FUNCTION dpquantile.how_total(regprocedure) IS
  'function: any function. How a query may apply it to values of protected rows: ''as it is'', if it cannot fail; '
  '''variant'', if dpquantile.total_<its name> takes its place; otherwise NULL.';

-- The list is in src/pg/vocabulary/total_functions.cpp. Some functions of PostgreSQL share a symbol; those in SQL have none.
DO $$
DECLARE
  original record;
BEGIN
  FOR original IN
    SELECT p.oid::regprocedure AS signature, format('dpquantile.total_%s(%s)', p.proname, types.names) AS variant,
           format_type(p.prorettype, NULL) AS result, p.procost AS cost,
           CASE p.provolatile WHEN 'i' THEN 'IMMUTABLE' ELSE 'STABLE' END AS volatility,
           'dpq_total_' || CASE l.lanname WHEN 'internal' THEN p.prosrc ELSE p.proname || '_' || types.suffix END AS symbol
      FROM pg_proc p
      JOIN pg_language l ON l.oid = p.prolang
     CROSS JOIN LATERAL (SELECT string_agg(format_type(t.oid, NULL), ', ' ORDER BY number) AS names,
                                string_agg(t.typname, '_' ORDER BY number) AS suffix
                           FROM unnest(p.proargtypes) WITH ORDINALITY u (type, number)
                           JOIN pg_type t ON t.oid = u.type) types
     WHERE dpquantile.how_total(p.oid) = 'variant'
     ORDER BY p.oid
  LOOP
    EXECUTE format('CREATE OR REPLACE FUNCTION %s RETURNS %s LANGUAGE C %s STRICT PARALLEL SAFE COST %s AS ''MODULE_PATHNAME'', %L',
                   original.variant, original.result, original.volatility, original.cost, original.symbol);
    EXECUTE format('COMMENT ON FUNCTION %s IS %L', original.variant,
                   format('What %s answers, and NULL where that fails.', original.signature));
  END LOOP;
END
$$;

-- Casts of text, by the input functions of the types.
DO $$
DECLARE
  type text;
BEGIN
  FOREACH type IN ARRAY '{bool,int2,int4,int8,float4,float8,numeric,uuid,date,timestamp}'::text[] LOOP
    EXECUTE format('CREATE OR REPLACE FUNCTION dpquantile.total_%1$s(text) RETURNS %1$s LANGUAGE C %2$s STRICT PARALLEL SAFE '
                   'AS ''MODULE_PATHNAME'', ''dpq_total_cast_to_%1$s''',
                   type, CASE WHEN type IN ('date', 'timestamp') THEN 'STABLE' ELSE 'IMMUTABLE' END);
    EXECUTE format('COMMENT ON FUNCTION dpquantile.total_%s(text) IS %L', type,
                   format('The value of type %s that a text stands for, and NULL if it stands for none.', type));
  END LOOP;
END
$$;
