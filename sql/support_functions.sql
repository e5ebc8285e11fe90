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
SELECT records_combine(NULL, NULL);
SELECT quantiles_final(NULL);
SELECT quantile_final(NULL);
SELECT cdf_transition(NULL, 1::float8, 0.1, 0, 1);
SELECT cdf_transition(NULL, 1::numeric, 0.1, 0, 1, '{}');
SELECT cdf_transition(NULL, NULL::float8, 0.1, 0, 1);
SELECT cdf_final(NULL);
\echo :SQLSTATE

-- Aggregates that show the state and merge states, to see what is in them.
CREATE AGGREGATE state_of(float8, float8[], float8, float8, float8, jsonb) (
  SFUNC = quantiles_transition, STYPE = records_state);
CREATE AGGREGATE merge(records_state) (SFUNC = records_combine, STYPE = records_state);
CREATE FUNCTION state(VARIADIC x float8[]) RETURNS records_state LANGUAGE sql RETURN (
  SELECT state_of(v, '{0.5}', 1, 0, 10, '{"granularity": 1}') FROM unnest(x) v);
SELECT state(3, 1, 12, 'NaN', NULL, '-Infinity');
-- Reading back what was written gives the same state, as text and in binary.
SELECT state(3, 1, 12)::text::records_state::text = state(3, 1, 12)::text AS text,
       records_state_send(state(3, 1, 12))::text = state(3, 1, 12)::text AS binary;
CREATE TABLE kept (s records_state);
INSERT INTO kept VALUES (state(3, 1, 12)), (NULL), (state(5)), (state('NaN'));
SELECT merge(s)::text = state(3, 1, 12, 5)::text AS merged FROM kept;
SELECT state_of(x, '{0.5}', 1, 0, 1000, '{}')::text::records_state IS NOT NULL AS large
  FROM generate_series(1, 100000) x;
SELECT merge(s) FROM (VALUES (state(1)), ((SELECT state_of(1, '{0.5}', 2, 0, 10, '{"granularity": 1}')))) v(s);
\echo :SQLSTATE

-- The fields of a state: version, content, family (1 quantiles, 2 CDF), method; epsilon, lower, upper,
-- granularity (0: none); bins (0: none); how many quantiles, these; how many records, their cells. Each of
-- them wrong in turn.
CREATE FUNCTION state_bytes(
  version int DEFAULT 1, content int DEFAULT 1, family int DEFAULT 1, method int DEFAULT 1, epsilon float8 DEFAULT 1,
  lower float8 DEFAULT 0, upper float8 DEFAULT 10, granularity float8 DEFAULT 1, bins int DEFAULT 0,
  quantile_count int DEFAULT 1, quantile float8 DEFAULT 0.5, count int DEFAULT 1, cell int DEFAULT 3,
  tail bytea DEFAULT '')
RETURNS text LANGUAGE sql RETURN (
  set_byte('\x00', 0, version) || set_byte('\x00', 0, content) || set_byte('\x00', 0, family)
  || set_byte('\x00', 0, method)
  || float8send(epsilon) || float8send(lower) || float8send(upper) || float8send(granularity) || int4send(bins)
  || int4send(quantile_count) || float8send(quantile) || int4send(count) || int4send(cell) || tail)::text;
SELECT state_bytes()::records_state::text = state(3)::text AS same;
SELECT state_bytes(version => 0)::records_state;
\echo :SQLSTATE
SELECT state_bytes(content => 0)::records_state;
SELECT state_bytes(content => 2)::records_state;
SELECT state_bytes(family => 0)::records_state;
SELECT state_bytes(family => 3)::records_state;
SELECT state_bytes(family => 2)::records_state;
SELECT state_bytes(method => 0)::records_state;
SELECT state_bytes(method => 2)::records_state;
SELECT state_bytes(epsilon => 'NaN')::records_state;
SELECT state_bytes(epsilon => 1e6)::records_state;
SELECT state_bytes(lower => 11)::records_state;
SELECT state_bytes(upper => 'Infinity')::records_state;
SELECT state_bytes(granularity => -1)::records_state;
SELECT state_bytes(granularity => 0)::records_state::text = state_bytes(granularity => 0) AS default_grid;
SELECT state_bytes(granularity => 1e-300)::records_state;
SELECT state_bytes(granularity => 'NaN')::records_state;
SELECT state_bytes(bins => 1)::records_state;
SELECT state_bytes(bins => -1)::records_state;
SELECT state_bytes(quantile_count => 0)::records_state;
SELECT state_bytes(quantile_count => 2)::records_state;
SELECT state_bytes(quantile_count => -1)::records_state;
SELECT state_bytes(quantile_count => 2147483647)::records_state;
SELECT state_bytes(quantile => 1.5)::records_state;
SELECT state_bytes(quantile => 'NaN')::records_state;
SELECT state_bytes(count => 0)::records_state;
SELECT state_bytes(count => 2)::records_state;
SELECT state_bytes(count => -1)::records_state;
SELECT state_bytes(count => 1073741825)::records_state;
SELECT state_bytes(cell => 11)::records_state;
SELECT state_bytes(cell => -1)::records_state;
SELECT state_bytes(tail => '\x00')::records_state;
SELECT state_bytes(tail => '\x00000000')::records_state;
SELECT 'nothing'::records_state;
SELECT '\xzz'::records_state;

-- The state of a CDF has bins, also where they follow from the granularity, and no quantiles.
CREATE AGGREGATE cdf_state_of(float8, float8, float8, float8, jsonb) (SFUNC = cdf_transition, STYPE = records_state);
CREATE FUNCTION cdf_state(options jsonb, VARIADIC x float8[]) RETURNS records_state LANGUAGE sql RETURN (
  SELECT cdf_state_of(v, 1, 0, 10, options) FROM unnest(x) v);
SELECT cdf_state('{"bins": 5}', 3, 1, 12, 'NaN', NULL, '-Infinity');
SELECT cdf_state('{"granularity": 2, "method": "histogram"}', 3, 1, 12);
SELECT cdf_state(options, 3, 1, 12)::text::records_state::text = cdf_state(options, 3, 1, 12)::text AS text,
       records_state_send(cdf_state(options, 3, 1, 12))::text = cdf_state(options, 3, 1, 12)::text AS binary
  FROM (VALUES ('{}'::jsonb), ('{"bins": 1}'), ('{"granularity": 3}'), ('{"method": "binary"}')) v(options);
CREATE FUNCTION cdf_bytes(
  method int DEFAULT 1, granularity float8 DEFAULT 0, bins int DEFAULT 5, quantiles bytea DEFAULT int4send(0),
  cell int DEFAULT 3)
RETURNS text LANGUAGE sql RETURN (
  '\x010102'::bytea || set_byte('\x00', 0, method) || float8send(1) || float8send(0) || float8send(10)
  || float8send(granularity) || int4send(bins) || quantiles || int4send(1) || int4send(cell))::text;
SELECT cdf_bytes(cell => 1)::records_state::text = cdf_state('{"bins": 5}', 3)::text AS same,
       cdf_bytes(granularity => 1, bins => 11)::records_state::text = cdf_state('{"granularity": 1}', 3)::text AS same,
       cdf_bytes(method => 3)::records_state IS NOT NULL AS histogram;
SELECT cdf_bytes(method => 0)::records_state;
SELECT cdf_bytes(method => 4)::records_state;
SELECT cdf_bytes(bins => 0)::records_state;
SELECT cdf_bytes(bins => -1)::records_state;
SELECT cdf_bytes(bins => 1048577)::records_state;
SELECT cdf_bytes(bins => 3)::records_state;
SELECT cdf_bytes(granularity => 1, bins => 0)::records_state;
SELECT cdf_bytes(granularity => 1, bins => 10)::records_state;
SELECT cdf_bytes(granularity => 1e-6)::records_state;
SELECT cdf_bytes(granularity => 'NaN')::records_state;
SELECT cdf_bytes(quantiles => int4send(1) || float8send(0.5))::records_state;
SELECT cdf_bytes(quantiles => int4send(-1))::records_state;
SELECT cdf_bytes(cell => 5)::records_state;

-- A state of one family is nothing to another: neither together with one of its own, nor where it is all
-- that a final function gets. (The transition functions only ever see states that they made themselves.)
SELECT merge(s) FROM (VALUES (state(1)), (cdf_state('{"granularity": 1}', 1))) v(s);
SELECT merge(s) FROM (VALUES (cdf_state('{"granularity": 1}', 1)), (state(1))) v(s);
SELECT merge(s) FROM (VALUES (cdf_state('{"bins": 5}', 1)), (cdf_state('{"bins": 6}', 1))) v(s);
SELECT merge(s)
  FROM (VALUES (cdf_state('{"bins": 5}', 1)), (cdf_state('{"bins": 5, "method": "histogram"}', 1))) v(s);
-- These take a ready state as their value and keep it, with the parameters of a call beside it.
CREATE FUNCTION keep(records_state, records_state, float8, float8, float8, jsonb) RETURNS records_state
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN coalesce($1, $2);
CREATE AGGREGATE median_of(records_state, float8, float8, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = quantile_final, FINALFUNC_MODIFY = READ_WRITE);
CREATE AGGREGATE quantiles_of(records_state, float8, float8, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = quantiles_final, FINALFUNC_MODIFY = READ_WRITE);
CREATE AGGREGATE cdf_of(records_state, float8, float8, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = cdf_final, FINALFUNC_MODIFY = READ_WRITE);
CREATE ROLE regress_dpq_support;
GRANT USAGE ON SCHEMA regress_dpq_support, dpquantile TO regress_dpq_support;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA dpquantile TO regress_dpq_support;
SELECT dp_grant_budget('regress_dpq_support', 1000);
SET ROLE regress_dpq_support;
-- Its own state it takes.
SELECT median_of(state(1), 1, 0, 10, '{"granularity": 1}') BETWEEN 0 AND 10 AS answered;
SELECT dp_cdf_rows(cdf_of(cdf_state('{"granularity": 1}', 1), 1, 0, 10, '{"granularity": 1}')) >= 0 AS answered;
SELECT median_of(cdf_state('{"granularity": 1}', 1), 1, 0, 10, '{"granularity": 1}');
SELECT quantiles_of(cdf_state('{"granularity": 1}', 1), 1, 0, 10, '{"granularity": 1}');
SELECT cdf_of(state(1), 1, 0, 10, '{"granularity": 1}');
SELECT cdf_of(cdf_state('{"bins": 11}', 1), 1, 0, 10, '{"granularity": 1}');
SELECT cdf_of(cdf_state('{"bins": 12}', 1), 1, 0, 10, '{"bins": 11}');
SELECT cdf_of(cdf_state('{"bins": 11}', 1), 1, 0, 10, '{"bins": 11, "method": "binary"}');
SELECT cdf_of(cdf_state('{"bins": 11}', 1), 2, 0, 10, '{"bins": 11}');
RESET ROLE;

-- A state that is cut off anywhere is an error, and any byte of it may be any other: an error, or a state
-- that reads back as it was written.
CREATE FUNCTION read(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE WHEN bytes::text::records_state::text = bytes::text THEN 'same' ELSE 'changed' END;
EXCEPTION WHEN invalid_binary_representation OR invalid_parameter_value OR protocol_violation THEN
  RETURN 'error';
END
$$;
CREATE TABLE original (family text, s bytea);
INSERT INTO original
  SELECT family, s::text::bytea
    FROM (VALUES ('quantiles', state(3, 1, 12)), ('bins', cdf_state('{"bins": 300}', 3, 1, 12)),
                 ('granularity', cdf_state('{"granularity": 1}', 3, 1, 12))) v(family, s);
SELECT read(substr(s, 1, length)), count(*) AS lengths
  FROM original, generate_series(0, octet_length(s) - 1) length GROUP BY 1;
SELECT family, count(*) AS bytes, count(*) FILTER (WHERE outcome = 'changed') AS changed,
       count(*) FILTER (WHERE outcome = 'error') > 0 AS errors
  FROM (SELECT family, read(set_byte(s, at, byte)) AS outcome
          FROM original, generate_series(0, octet_length(s) - 1) at, generate_series(0, 255) byte) o
 GROUP BY family ORDER BY family;

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_support CASCADE;
DROP OWNED BY regress_dpq_support;
DROP ROLE regress_dpq_support;
