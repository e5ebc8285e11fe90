CREATE OR REPLACE FUNCTION dpquantile.planner_support(internal) RETURNS internal
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_planner_support';
COMMENT ON FUNCTION dpquantile.planner_support(internal) IS
  'PostgreSQL calls it while it plans a query with a private aggregate, and loads the library for the call. It refuses what is left of dp_error_of then.';
