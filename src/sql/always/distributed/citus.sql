CREATE OR REPLACE FUNCTION dpquantile.collect_transition(dpquantile.records_state, "any", bytea) RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_collect_transition';
CREATE OR REPLACE AGGREGATE @extschema@.topn_add_agg(value "any", parameters bytea) (
  SFUNC = dpquantile.collect_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.topn_add_agg("any", bytea) IS
'Part of a private aggregate over distributed tables, for the shards. Gives exact data about rows that its caller may read.
Not private, and not charged.
value: of the private aggregate.
parameters: those of the private aggregate, encoded.';
CREATE OR REPLACE AGGREGATE @extschema@.topn_union_agg(state dpquantile.records_state) (
  SFUNC = dpquantile.records_combine,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.topn_union_agg(dpquantile.records_state) IS
'Part of a private aggregate over distributed tables, for the coordinator. Combines what the shards give.
Not private, and not charged.
state: what a shard gives.';

CREATE OR REPLACE FUNCTION dpquantile.distributed_groups() RETURNS SETOF record
  LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'dpq_distributed_groups';
COMMENT ON FUNCTION dpquantile.distributed_groups() IS
  'Stands for distributed tables while a query with private aggregates is planned. Cannot be executed.';
