COMMENT ON TYPE dpquantile.records_state IS
  'Internal state of the private aggregates. Holds exact data: no analyst may see it.';

CREATE OR REPLACE FUNCTION dpquantile.records_combine(dpquantile.records_state, dpquantile.records_state)
  RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_records_combine';

CREATE OR REPLACE FUNCTION dpquantile.planner_support(internal) RETURNS internal
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_planner_support';
COMMENT ON FUNCTION dpquantile.planner_support(internal) IS
  'PostgreSQL calls it while it plans a query with a private aggregate, and loads the library for the call.';
