CREATE TYPE dpquantile.records_state;

CREATE FUNCTION dpquantile.records_state_in(cstring) RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_in';
CREATE FUNCTION dpquantile.records_state_out(dpquantile.records_state) RETURNS cstring
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_out';
CREATE FUNCTION dpquantile.records_state_recv(internal) RETURNS dpquantile.records_state
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_recv';
CREATE FUNCTION dpquantile.records_state_send(dpquantile.records_state) RETURNS bytea
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_send';

CREATE TYPE dpquantile.records_state (
  INPUT = dpquantile.records_state_in,
  OUTPUT = dpquantile.records_state_out,
  RECEIVE = dpquantile.records_state_recv,
  SEND = dpquantile.records_state_send,
  INTERNALLENGTH = VARIABLE,
  ALIGNMENT = double,
  STORAGE = plain
);
