-- threat 15: the parts of the aggregates, in the hands of one who may call them: not outside of an
-- aggregate, and no bytes are trusted. (That others may not call them is in privileges.sql.)
\set SHOW_CONTEXT never
CREATE SCHEMA regress_dpq_support;
SET search_path = regress_dpq_support, dpquantile, public;

SELECT quantiles_transition(NULL, 1::float8, '{0.5}'::float8[], 0.1, 0, 1);
SELECT quantiles_transition(NULL, 1::numeric, '{0.5}'::float8[], 0.1, 0, 1, '{}');
SELECT quantile_transition(NULL, 1::float8, 0.5, 0.1, 0, 1);
SELECT median_transition(NULL, 1::float8, 0.1, 0, 1);
SELECT median_transition(NULL, NULL::float8, 0.1, 0, 1);
SELECT quantiles_combine(NULL, NULL);
SELECT quantiles_final(NULL);
SELECT quantile_final(NULL);
\echo :SQLSTATE

-- Aggregates that show the state and merge states, to see what is in them.
CREATE AGGREGATE state_of(float8, float8[], float8, float8, float8, jsonb) (
  SFUNC = quantiles_transition, STYPE = quantiles_state);
CREATE AGGREGATE merge(quantiles_state) (SFUNC = quantiles_combine, STYPE = quantiles_state);
CREATE FUNCTION state(VARIADIC x float8[]) RETURNS quantiles_state LANGUAGE sql RETURN (
  SELECT state_of(v, '{0.5}', 1, 0, 10, '{"granularity": 1}') FROM unnest(x) v);
SELECT state(3, 1, 12, 'NaN', NULL, '-Infinity');
-- Reading back what was written gives the same state, as text and in binary.
SELECT state(3, 1, 12)::text::quantiles_state::text = state(3, 1, 12)::text AS text,
       quantiles_state_send(state(3, 1, 12))::text = state(3, 1, 12)::text AS binary;
CREATE TABLE kept (s quantiles_state);
INSERT INTO kept VALUES (state(3, 1, 12)), (NULL), (state(5)), (state('NaN'));
SELECT merge(s)::text = state(3, 1, 12, 5)::text AS merged FROM kept;
SELECT state_of(x, '{0.5}', 1, 0, 1000, '{}')::text::quantiles_state IS NOT NULL AS large
  FROM generate_series(1, 100000) x;
SELECT merge(s) FROM (VALUES (state(1)), ((SELECT state_of(1, '{0.5}', 2, 0, 10, '{"granularity": 1}')))) v(s);
\echo :SQLSTATE

-- The fields of a state: version, content, method; epsilon, lower, upper, granularity; how many quantiles,
-- these; how many records, their cells. Each of them wrong in turn.
CREATE FUNCTION state_bytes(
  version int DEFAULT 1, content int DEFAULT 1, method int DEFAULT 1, epsilon float8 DEFAULT 1,
  lower float8 DEFAULT 0, upper float8 DEFAULT 10, granularity float8 DEFAULT 1, quantile_count int DEFAULT 1,
  quantile float8 DEFAULT 0.5, count int DEFAULT 1, cell int DEFAULT 3, tail bytea DEFAULT '')
RETURNS text LANGUAGE sql RETURN (
  set_byte('\x00', 0, version) || set_byte('\x00', 0, content) || set_byte('\x00', 0, method)
  || float8send(epsilon) || float8send(lower) || float8send(upper) || float8send(granularity)
  || int4send(quantile_count) || float8send(quantile) || int4send(count) || int4send(cell) || tail)::text;
SELECT state_bytes()::quantiles_state::text = state(3)::text AS same;
SELECT state_bytes(version => 0)::quantiles_state;
\echo :SQLSTATE
SELECT state_bytes(content => 0)::quantiles_state;
SELECT state_bytes(content => 2)::quantiles_state;
SELECT state_bytes(method => 2)::quantiles_state;
SELECT state_bytes(epsilon => 'NaN')::quantiles_state;
SELECT state_bytes(epsilon => 1e6)::quantiles_state;
SELECT state_bytes(lower => 11)::quantiles_state;
SELECT state_bytes(upper => 'Infinity')::quantiles_state;
SELECT state_bytes(granularity => 0)::quantiles_state;
SELECT state_bytes(granularity => 1e-300)::quantiles_state;
SELECT state_bytes(granularity => 'NaN')::quantiles_state;
SELECT state_bytes(quantile_count => 0)::quantiles_state;
SELECT state_bytes(quantile_count => 2)::quantiles_state;
SELECT state_bytes(quantile_count => -1)::quantiles_state;
SELECT state_bytes(quantile_count => 2147483647)::quantiles_state;
SELECT state_bytes(quantile => 1.5)::quantiles_state;
SELECT state_bytes(quantile => 'NaN')::quantiles_state;
SELECT state_bytes(count => 0)::quantiles_state;
SELECT state_bytes(count => 2)::quantiles_state;
SELECT state_bytes(count => -1)::quantiles_state;
SELECT state_bytes(count => 1073741825)::quantiles_state;
SELECT state_bytes(cell => 11)::quantiles_state;
SELECT state_bytes(cell => -1)::quantiles_state;
SELECT state_bytes(tail => '\x00')::quantiles_state;
SELECT state_bytes(tail => '\x00000000')::quantiles_state;
SELECT 'nothing'::quantiles_state;
SELECT '\xzz'::quantiles_state;

-- A state that is cut off anywhere is an error, and any byte of it may be any other: an error, or a state
-- that reads back as it was written.
CREATE FUNCTION read(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE WHEN bytes::text::quantiles_state::text = bytes::text THEN 'same' ELSE 'changed' END;
EXCEPTION WHEN invalid_binary_representation OR invalid_parameter_value OR protocol_violation THEN
  RETURN 'error';
END
$$;
CREATE TABLE original AS SELECT state(3, 1, 12)::text::bytea AS s;
SELECT read(substr(s, 1, length)), count(*) AS lengths
  FROM original, generate_series(0, octet_length(s) - 1) length GROUP BY 1;
SELECT count(*) AS bytes, count(*) FILTER (WHERE outcome = 'changed') AS changed,
       count(*) FILTER (WHERE outcome = 'error') > 0 AS errors
  FROM (SELECT read(set_byte(s, at, byte)) AS outcome
          FROM original, generate_series(0, octet_length(s) - 1) at, generate_series(0, 255) byte) o;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_support CASCADE;
