CREATE TYPE @extschema@.dp_cdf;

CREATE FUNCTION dpquantile.cdf_in(cstring) RETURNS @extschema@.dp_cdf
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_in';
CREATE FUNCTION dpquantile.cdf_out(@extschema@.dp_cdf) RETURNS cstring
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_out';
CREATE FUNCTION dpquantile.cdf_recv(internal) RETURNS @extschema@.dp_cdf
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_recv';
CREATE FUNCTION dpquantile.cdf_send(@extschema@.dp_cdf) RETURNS bytea
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_cdf_send';

CREATE TYPE @extschema@.dp_cdf (
  INPUT = dpquantile.cdf_in,
  OUTPUT = dpquantile.cdf_out,
  RECEIVE = dpquantile.cdf_recv,
  SEND = dpquantile.cdf_send,
  INTERNALLENGTH = VARIABLE,
  STORAGE = extended
);

CREATE CAST (@extschema@.dp_cdf AS jsonb) WITH INOUT;
CREATE CAST (jsonb AS @extschema@.dp_cdf) WITH INOUT;
