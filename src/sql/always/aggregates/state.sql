COMMENT ON TYPE dpquantile.records_state IS
  'Internal state of the private aggregates. Holds exact data: no analyst may see it.';

CREATE OR REPLACE FUNCTION dpquantile.records_combine(dpquantile.records_state, dpquantile.records_state)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_records_combine';
