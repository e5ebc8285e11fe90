-- A private query calls these in the place of generate_series and around the argument of unnest.
DO $$
DECLARE
  type text;
  step text;
  volatility text;
BEGIN
  FOR type, step, volatility IN
    VALUES ('int', 'int', 'IMMUTABLE'), ('bigint', 'bigint', 'IMMUTABLE'), ('numeric', 'numeric', 'IMMUTABLE'),
           ('timestamp', 'interval', 'IMMUTABLE'), ('timestamptz', 'interval', 'STABLE')
  LOOP
    EXECUTE format('CREATE OR REPLACE FUNCTION dpquantile.series(start %1$s, stop %1$s, step %2$s) RETURNS %1$s[] LANGUAGE C %3$s STRICT '
                   'PARALLEL SAFE AS ''MODULE_PATHNAME'', ''dpq_series''', type, step, volatility);
    EXECUTE format('COMMENT ON FUNCTION dpquantile.series(%1$s, %1$s, %2$s) IS %3$L', type, step,
                   'The values of generate_series(start, stop, step), at most 1000.
  start: the first value.
  stop: no value is beyond it.
  step: from one value to the next; negative for a series downwards.');
  END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION dpquantile.distinct_values(list anyarray) RETURNS anyarray
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_distinct_values';
COMMENT ON FUNCTION dpquantile.distinct_values(anyarray) IS
  'The same array. Raises an error if two of its elements are equal, or if there are more than 1000.
  list: the elements. NULL may occur several times.';
