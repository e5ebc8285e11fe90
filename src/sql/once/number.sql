CREATE TYPE @extschema@.dp_number;

CREATE FUNCTION dpquantile.number_in(cstring) RETURNS @extschema@.dp_number
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'float8in';
CREATE FUNCTION dpquantile.number_out(@extschema@.dp_number) RETURNS cstring
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'float8out';
CREATE FUNCTION dpquantile.number_recv(internal) RETURNS @extschema@.dp_number
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'float8recv';
CREATE FUNCTION dpquantile.number_send(@extschema@.dp_number) RETURNS bytea
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'float8send';

CREATE TYPE @extschema@.dp_number (
  INPUT = dpquantile.number_in,
  OUTPUT = dpquantile.number_out,
  RECEIVE = dpquantile.number_recv,
  SEND = dpquantile.number_send,
  LIKE = float8,
  CATEGORY = 'N',
  PREFERRED = false
);

-- Without a function: the two types are stored alike, so aggregates with dp_number use the transition functions for float8.
CREATE CAST (float8 AS @extschema@.dp_number) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (@extschema@.dp_number AS float8) WITHOUT FUNCTION AS IMPLICIT;

-- A function that returns dp_number. The cast with float8(float4) would need the cast of float8, and pg_upgrade would make
-- that one later: it makes casts in the order of their names.
CREATE FUNCTION dpquantile.number_of_real(float4) RETURNS @extschema@.dp_number
  LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'ftod';
CREATE CAST (float4 AS @extschema@.dp_number) WITH FUNCTION dpquantile.number_of_real(float4) AS IMPLICIT;
CREATE CAST (numeric AS @extschema@.dp_number) WITH FUNCTION float8(numeric) AS IMPLICIT;
CREATE CAST (int2 AS @extschema@.dp_number) WITH FUNCTION float8(int2) AS IMPLICIT;
CREATE CAST (int4 AS @extschema@.dp_number) WITH FUNCTION float8(int4) AS IMPLICIT;
CREATE CAST (int8 AS @extschema@.dp_number) WITH FUNCTION float8(int8) AS IMPLICIT;
CREATE CAST (text AS @extschema@.dp_number) WITH INOUT AS IMPLICIT;
CREATE CAST (varchar AS @extschema@.dp_number) WITH INOUT AS IMPLICIT;
CREATE CAST (bpchar AS @extschema@.dp_number) WITH INOUT AS IMPLICIT;
