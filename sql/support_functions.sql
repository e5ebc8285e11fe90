-- threat 15: the support functions of the aggregates, called by a user who has the right to call them. They
-- refuse calls outside an aggregate, and they trust no bytes. (privileges.sql checks that other users have no
-- right to call them.)
\set SHOW_CONTEXT never
CREATE SCHEMA regress_dpq_support;
SET search_path = regress_dpq_support, dpquantile, public;

SELECT quantiles_transition(NULL, 1::float8, '{0.5}'::float8[], 0.1, 0, 1);
SELECT quantiles_transition(NULL, 1::numeric, '{0.5}'::float8[], 0.1, 0, 1, '{}');
SELECT quantiles_transition(NULL, 1::float8, 0.5, 0.1, 0, 1);
SELECT median_transition(NULL, 1::float8, 0.1, 0, 1);
SELECT median_transition(NULL, NULL::float8, 0.1, 0, 1);
SELECT records_combine(NULL, NULL);
SELECT quantiles_final(NULL, 1, '{0.5}', 1, 0, 1);
SELECT quantile_final(NULL, 1, 0.5, 1, 0, 1);
SELECT cdf_transition(NULL, 1::float8, 0.1, 0, 1);
SELECT cdf_transition(NULL, 1::numeric, 0.1, 0, 1, '{}');
SELECT cdf_transition(NULL, NULL::float8, 0.1, 0, 1);
SELECT cdf_final(NULL);
SELECT synthesize_transition(NULL, 1::float8, 10, 0.1, 0, 1);
SELECT synthesize_transition(NULL, NULL::numeric, 10, 0.1, 0, 1, '{}');
SELECT synthesize_final(NULL, 1, 3, 1, 0, 1);
SELECT iqr_transition(NULL, 1::float8, 0.1, 1e-6);
SELECT iqr_transition(NULL, 1::numeric, 0.1, 1e-6, '{}');
SELECT iqr_transition(NULL, NULL::float8, 0.1, 1e-6);
SELECT iqr_final(NULL);
\echo :SQLSTATE

-- Aggregates that show a state and merge states
CREATE AGGREGATE state_of(float8, float8[], float8, float8, float8, jsonb) (
  SFUNC = quantiles_transition, STYPE = records_state);
CREATE AGGREGATE merge(records_state) (SFUNC = records_combine, STYPE = records_state);
CREATE FUNCTION state(VARIADIC x float8[]) RETURNS records_state LANGUAGE sql RETURN (
  SELECT state_of(v, '{0.5}', 1, 0, 10, '{"granularity": 1}') FROM unnest(x) v);
SELECT state(3, 1, 12, 'NaN', NULL, '-Infinity');
-- The same records in any order give the same bytes.
SELECT state(3, 1, 12, 1)::text = state(1, 12, 1, 3)::text AS same;
-- The text and the binary form of a state read back as the same state.
SELECT state(3, 1, 12)::text::records_state::text = state(3, 1, 12)::text AS text,
       records_state_send(state(3, 1, 12))::text = state(3, 1, 12)::text AS binary;
-- An aggregate whose final function is none of ours gets no release node, and no state.
CREATE FUNCTION bytes_of(records_state) RETURNS int LANGUAGE sql RETURN octet_length($1::text);
CREATE AGGREGATE own(float8, float8[], float8, float8, float8, jsonb) (
  SFUNC = quantiles_transition, STYPE = records_state, FINALFUNC = bytes_of);
SELECT own(x, '{0.5}', 1, 0, 10, '{}') FROM generate_series(1, 3) x;
SELECT own(x, '{0.5}', 1, 0, 10, '{}') FILTER (WHERE x > 1) FROM generate_series(1, 3) x;
CREATE TABLE kept (s records_state);
INSERT INTO kept VALUES (state(3, 1, 12)), (NULL), (state(5)), (state('NaN'));
SELECT merge(s)::text = state(3, 1, 12, 5)::text AS merged FROM kept;
SELECT merge(s ORDER BY s::text DESC)::text = state(3, 1, 12, 5)::text AS merged FROM kept;
SELECT state_of(x, '{0.5}', 1, 0, 1000, '{}')::text::records_state IS NOT NULL AS large
  FROM generate_series(1, 100000) x;
-- The same holds for states with many records: in chunks, as a list, as counters or compressed, and merged from parts of all
-- sizes.
CREATE TABLE form (options jsonb, rows int);
INSERT INTO form SELECT options, rows
  FROM (VALUES ('{"granularity": 1}'::jsonb), ('{}'), ('{"granularity": 3e-9}')) o(options),
       (VALUES (2000), (2090), (4200), (20000), (100000)) r(rows);
CREATE FUNCTION form_value(i int) RETURNS float8 LANGUAGE sql IMMUTABLE RETURN (i * 7919::bigint % 100003) / 1e4;
SELECT options, rows, whole = whole::records_state::text AS text,
       whole = records_state_send(whole::records_state)::text AS binary,
       whole = (SELECT state_of(form_value(i), '{0.5}', 1, 0, 10, options ORDER BY form_value(i)) FROM generate_series(1, rows) i)::text AS sorted,
       whole = (SELECT merge(s)::text
                  FROM (SELECT state_of(form_value(i), '{0.5}', 1, 0, 10, options) FROM generate_series(1, rows) i GROUP BY i % 3) v(s)) AS thirds,
       whole = (SELECT merge(s ORDER BY part)::text
                  FROM (SELECT part, state_of(form_value(i), '{0.5}', 1, 0, 10, options) FROM generate_series(1, rows) i, floor(log(i)) part GROUP BY part) v(part, s)) AS growing,
       whole = (SELECT merge(s ORDER BY part DESC)::text
                  FROM (SELECT part, state_of(form_value(i), '{0.5}', 1, 0, 10, options) FROM generate_series(1, rows) i, floor(log(i)) part GROUP BY part) v(part, s)) AS shrinking,
       whole = (SELECT merge(s)::text FROM (VALUES (NULL), (whole::records_state), (NULL)) v(s)) AS alone
  FROM form, LATERAL (SELECT state_of(form_value(i), '{0.5}', 1, 0, 10, options)::text FROM generate_series(1, rows) i) v(whole)
 ORDER BY options::text, rows;
-- For any number of rows, NULL and NaN are ignored, and values outside the bounds count as the nearer bound.
CREATE FUNCTION odd_value(i int) RETURNS float8 LANGUAGE sql IMMUTABLE RETURN (
  CASE i % 7 WHEN 1 THEN NULL WHEN 2 THEN 'NaN' WHEN 3 THEN 'Infinity' WHEN 4 THEN '-Infinity' WHEN 5 THEN 11 ELSE form_value(i) END);
SELECT options, bool_and(state::text = clamped::text) AS same
  FROM form,
       LATERAL (SELECT state_of(odd_value(i), '{0.5}', 1, 0, 10, options) AS state,
                       state_of(least(greatest(odd_value(i), 0), 10), '{0.5}', 1, 0, 10, options) FILTER (WHERE odd_value(i) <> 'NaN') AS clamped
                  FROM generate_series(1, rows) i) s
 GROUP BY options ORDER BY options::text;
-- At the border between few records and many
SELECT bool_and(whole = whole::records_state::text) AS text,
       bool_and(whole = (SELECT merge(s)::text FROM (VALUES (state(1)), (part)) v(s))) AS more,
       bool_and(whole = (SELECT merge(s)::text FROM (VALUES (part), (state(1))) v(s))) AS less
  FROM generate_series(2050, 2110) rows,
       LATERAL (SELECT state_of(i % 11, '{0.5}', 1, 0, 10, '{"granularity": 1}')::text FROM generate_series(1, rows) i) w(whole),
       LATERAL (SELECT state_of(i % 11, '{0.5}', 1, 0, 10, '{"granularity": 1}') FROM generate_series(2, rows) i) p(part);
SELECT merge(s) FROM (VALUES (state(1)), ((SELECT state_of(1, '{0.5}', 2, 0, 10, '{"granularity": 1}')))) v(s);
\echo :SQLSTATE

-- The fields of a state: version, family (1 quantiles, 2 CDF, 3 IQR, 4 to 6 user-level, 7 synthesis; 8 to 16 follow further below),
-- method, measure (1 epsilon, 2 rho), type of the values; epsilon or rho, delta, lower, upper, granularity (0: none); bins (0: none);
-- the number of quantiles, the quantiles; the number of records; their values, or the runs of their cells in ascending order. A run
-- is twice the number of skipped cells; if the cell has several records, it is 1 more, and the number of records less two follows.
-- These numbers are in bytes of 7 bits.
-- Each field is wrong in turn.
CREATE FUNCTION state_bytes(
  version int DEFAULT 4, family int DEFAULT 1, method int DEFAULT NULL, measure int DEFAULT 1, epsilon float8 DEFAULT 1, delta float8 DEFAULT 0,
  lower float8 DEFAULT 0, upper float8 DEFAULT 10, granularity float8 DEFAULT 1, bins int DEFAULT 0,
  quantile_count int DEFAULT 1, quantile float8 DEFAULT 0.5, count int DEFAULT 1, runs bytea DEFAULT '\x06',
  tail bytea DEFAULT '')
RETURNS text LANGUAGE sql RETURN (
  set_byte('\x00', 0, version) || set_byte('\x00', 0, family) || set_byte('\x00', 0, coalesce(method, CASE family WHEN 1 THEN 7 ELSE 1 END)) || set_byte('\x00', 0, measure) || '\x01'
  || float8send(epsilon) || float8send(delta) || float8send(lower) || float8send(upper) || float8send(granularity)
  || int4send(bins) || int4send(quantile_count) || float8send(quantile) || int4send(count) || runs
  || tail)::text;
SELECT state_bytes()::records_state::text = state(3)::text AS same;
SELECT state_bytes(version => 0)::records_state;
SELECT state_bytes(version => 3)::records_state;
SELECT state_bytes(version => 5)::records_state;
\echo :SQLSTATE
SELECT state_bytes(family => 0)::records_state;
SELECT state_bytes(family => 3)::records_state;
SELECT state_bytes(family => 3, delta => 1e-6)::records_state;
SELECT state_bytes(family => 3, method => 2)::records_state;
SELECT state_bytes(family => 8)::records_state;
SELECT state_bytes(family => 17)::records_state;
SELECT state_bytes(family => 255)::records_state;
SELECT state_bytes(family => 2)::records_state;
SELECT state_bytes(method => 0)::records_state;
SELECT state_bytes(method => method)::records_state::text = state_bytes(method => method) AS same FROM generate_series(1, 7) method;
SELECT state_bytes(method => 8)::records_state;
SELECT state_bytes(measure => 2)::records_state::text = state_bytes(measure => 2) AS rho;
SELECT state_bytes(measure => 2, epsilon => 1e-12)::records_state::text = state_bytes(measure => 2, epsilon => 1e-12) AS least_rho;
SELECT state_bytes(measure => 0)::records_state;
SELECT state_bytes(measure => 3)::records_state;
SELECT state_bytes(measure => 2, epsilon => 1e-13)::records_state;
SELECT state_bytes(measure => 2, epsilon => 'NaN')::records_state;
SELECT state_bytes(measure => 2, delta => 1e-6)::records_state;
SELECT state_bytes(measure => 2, family => 3, delta => 1e-6)::records_state;
-- The quantiles of a synthesis follow from their number.
SELECT state_bytes(family => 7)::records_state::text = state_bytes(family => 7) AS synthesis;
SELECT state_bytes(family => 7, quantile => 0.25)::records_state;
SELECT state_bytes(family => 7, quantile => 'NaN')::records_state;
SELECT state_bytes(family => 7, quantile_count => 0)::records_state;
SELECT state_bytes(family => 7, delta => 1e-6)::records_state;
SELECT state_bytes(family => 7, bins => 1)::records_state;
SELECT state_bytes(epsilon => 'NaN')::records_state;
SELECT state_bytes(epsilon => 1e6)::records_state;
SELECT state_bytes(delta => 1e-6)::records_state;
SELECT state_bytes(delta => '-0')::records_state;
SELECT state_bytes(delta => 'NaN')::records_state;
SELECT state_bytes(lower => 11)::records_state;
SELECT state_bytes(upper => 'Infinity')::records_state;
SELECT state_bytes(granularity => -1)::records_state;
SELECT state_bytes(granularity => 0)::records_state::text = state_bytes(granularity => 0) AS default_grid;
SELECT state_bytes(granularity => '-0')::records_state;
SELECT state_bytes(granularity => 1e-300)::records_state;
SELECT state_bytes(granularity => 'NaN')::records_state;
SELECT state_bytes(bins => 1)::records_state;
SELECT state_bytes(bins => -1)::records_state;
SELECT state_bytes(quantile_count => 0)::records_state;
SELECT state_bytes(quantile_count => 2)::records_state;
SELECT state_bytes(quantile_count => 2, tail => '\x000000')::records_state;
SELECT state_bytes(quantile_count => -1)::records_state;
SELECT state_bytes(quantile_count => 2147483647)::records_state;
SELECT state_bytes(quantile => 1.5)::records_state;
SELECT state_bytes(quantile => 'NaN')::records_state;
SELECT state_bytes(count => 0)::records_state;
SELECT state_bytes(count => 2)::records_state;
SELECT state_bytes(count => -1)::records_state;
SELECT state_bytes(count => 1073741825)::records_state;
SELECT state_bytes(runs => '\x14')::records_state::text = state(10)::text AS last_cell;
SELECT state_bytes(runs => '\x16')::records_state;
SELECT state_bytes(count => 2, runs => '\x1400')::records_state;
SELECT state_bytes(runs => '\xfeffffff1f')::records_state;
SELECT state_bytes(runs => '\x8080808020')::records_state;
SELECT state_bytes(runs => '')::records_state;
SELECT state_bytes(count => 0, runs => '')::records_state::text = state('NaN')::text AS no_records;
SELECT state_bytes(count => 5, runs => '\x02070106')::records_state::text = state(9, 5, 1, 5, 5)::text AS several;
SELECT state_bytes(count => 1, runs => '\x0700')::records_state;
SELECT state_bytes(count => 3, runs => '\x0700')::records_state;
SELECT state_bytes(count => 2, runs => '\x07')::records_state;
SELECT state_bytes(runs => '\x86')::records_state;
SELECT state_bytes(runs => '\x8600')::records_state;
SELECT state_bytes(count => 2, runs => '\x078000')::records_state;
SELECT state_bytes(runs => '\x868080808000')::records_state;
SELECT state_bytes(count => -1, runs => '\x07fdffffff0f')::records_state::text = state_bytes(count => -1, runs => '\x07fdffffff0f') AS most_records;
SELECT state_bytes(count => 0, runs => '\x07feffffff0f')::records_state;
SELECT state_bytes(count => 1, runs => '\x07ffffffff0f')::records_state;
SELECT state_bytes(count => 1, runs => '\x07ffffffff7f')::records_state;
SELECT state_bytes(tail => '\x00')::records_state;
SELECT state_bytes(tail => '\x00000000')::records_state;
-- threat 24: a merge cannot exceed the largest number of records, in either order and with few or many records.
SELECT merge(s)
  FROM (VALUES (state_bytes(count => -1, runs => '\x07fdffffff0f')::records_state), (state_bytes(count => -1, runs => '\x07fdffffff0f')::records_state)) v(s);
\echo :SQLSTATE
SELECT merge(s) FROM (VALUES (state_bytes(count => -1, runs => '\x07fdffffff0f')::records_state), (state(3))) v(s);
SELECT merge(s) FROM (VALUES (state(3)), (state_bytes(count => -1, runs => '\x07fdffffff0f')::records_state)) v(s);
SELECT merge(s)::text = state_bytes(count => -1, runs => '\x07fdffffff0f') AS most_records
  FROM (VALUES (state('NaN')), (state_bytes(count => -2, runs => '\x07fcffffff0f')::records_state), (NULL), (state(3))) v(s);
SELECT 'nothing'::records_state;
SELECT '\xzz'::records_state;

-- The state of a CDF has bins, also if they follow from the granularity, and no quantiles.
CREATE AGGREGATE cdf_state_of(float8, float8, float8, float8, jsonb) (SFUNC = cdf_transition, STYPE = records_state);
CREATE FUNCTION cdf_state(options jsonb, VARIADIC x float8[]) RETURNS records_state LANGUAGE sql RETURN (
  SELECT cdf_state_of(v, 1, 0, 10, options) FROM unnest(x) v);
SELECT cdf_state('{"bins": 5}', 3, 1, 12, 'NaN', NULL, '-Infinity');
SELECT cdf_state('{"granularity": 2, "method": "histogram"}', 3, 1, 12);
SELECT cdf_state(options, 3, 1, 12)::text::records_state::text = cdf_state(options, 3, 1, 12)::text AS text,
       records_state_send(cdf_state(options, 3, 1, 12))::text = cdf_state(options, 3, 1, 12)::text AS binary
  FROM (VALUES ('{}'::jsonb), ('{"bins": 1}'), ('{"granularity": 3}'), ('{"method": "binary"}')) v(options);
CREATE FUNCTION cdf_bytes(
  method int DEFAULT 1, delta float8 DEFAULT 0, granularity float8 DEFAULT 0, bins int DEFAULT 5,
  quantiles bytea DEFAULT int4send(0), runs bytea DEFAULT '\x06', measure int DEFAULT 1)
RETURNS text LANGUAGE sql RETURN (
  '\x0402'::bytea || set_byte('\x00', 0, method) || set_byte('\x00', 0, measure) || '\x01' || float8send(1) || float8send(delta) || float8send(0)
  || float8send(10) || float8send(granularity) || int4send(bins) || quantiles || int4send(1) || runs)::text;
SELECT cdf_bytes(runs => '\x02')::records_state::text = cdf_state('{"bins": 5}', 3)::text AS same,
       cdf_bytes(granularity => 1, bins => 11)::records_state::text = cdf_state('{"granularity": 1}', 3)::text AS same,
       cdf_bytes(method => 3)::records_state IS NOT NULL AS histogram;
SELECT cdf_bytes(measure => 2)::records_state::text = cdf_bytes(measure => 2) AS rho;
SELECT cdf_bytes(measure => 0)::records_state;
SELECT cdf_bytes(method => 0)::records_state;
SELECT cdf_bytes(method => 5)::records_state;
SELECT cdf_bytes(method => 4)::records_state;
SELECT cdf_bytes(delta => 1e-6)::records_state;
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
SELECT cdf_bytes(runs => '\x0a')::records_state;

-- The state of an interquartile range holds values and a delta, but no bounds. With method quantiles it holds cells
-- and bounds, but no delta.
CREATE AGGREGATE iqr_state_of(float8, float8, float8, jsonb) (SFUNC = iqr_transition, STYPE = records_state);
CREATE AGGREGATE iqr_state_of_numeric(numeric, float8, float8, jsonb) (SFUNC = iqr_transition, STYPE = records_state);
CREATE FUNCTION iqr_state(VARIADIC x float8[]) RETURNS records_state LANGUAGE sql RETURN (
  SELECT iqr_state_of(v, 1, 1e-6, '{}') FROM unnest(x) v);
CREATE FUNCTION range_state(VARIADIC x float8[]) RETURNS records_state LANGUAGE sql RETURN (
  SELECT iqr_state_of(v, 1, 0, '{"method": "quantiles", "lower": -5, "upper": 10, "granularity": 1}') FROM unnest(x) v);
SELECT iqr_state(3, 1, 12, 'NaN', NULL, '-Infinity', '-0', 5e-324);
SELECT range_state(3, 1, 12, 'NaN', NULL, '-Infinity');
SELECT overlay(iqr_state_of_numeric(v, 1, 1e-6, '{}')::text::bytea PLACING '\x01' FROM 5)
       = iqr_state(3, 'Infinity', '-Infinity', 'Infinity', 0)::text::bytea AS numerics
  FROM unnest('{3,NaN,1e400,NULL,-1e400,Infinity,1e-400}'::numeric[]) v;
SELECT s::text::records_state::text = s::text AS text, records_state_send(s)::text = s::text AS binary
  FROM (VALUES (iqr_state(3, 1, 'Infinity')), (iqr_state('NaN')), (range_state(3, 1)), (range_state('NaN')),
               ((SELECT iqr_state_of(1, 1, '-0', '{"method": "quantiles", "lower": 0, "upper": 1}')))) v(s);
SELECT merge(s)::text = iqr_state(3, 1, 12, 5)::text AS merged
  FROM (VALUES (iqr_state(3, 1)), (NULL), (iqr_state(12)), (iqr_state('NaN')), (iqr_state(5))) v(s);
SELECT merge(s)::text = range_state(3, 1, 12, 5)::text AS merged
  FROM (VALUES (NULL), (range_state(3, 1)), (range_state(12)), (range_state(5, 'NaN'))) v(s);
-- Both kinds of state grow beyond their first allocation.
SELECT merge(s)::text = (SELECT iqr_state_of(x, 1, 1e-6, '{}') FROM generate_series(1, 100) x)::text AS grown
  FROM (SELECT (SELECT iqr_state_of(x, 1, 1e-6, '{}') FROM generate_series(least, most) x) AS s
          FROM (VALUES (1, 3), (4, 50), (51, 99), (100, 100)) v(least, most)) u;
SELECT iqr_state_of(x, 1, 1e-6, '{}')::text::records_state IS NOT NULL AS large FROM generate_series(1, 100000) x;
CREATE FUNCTION iqr_bytes(
  method int DEFAULT 1, epsilon float8 DEFAULT 1, delta float8 DEFAULT 1e-6, lower float8 DEFAULT 0,
  upper float8 DEFAULT 0, granularity float8 DEFAULT 0, bins int DEFAULT 0, quantiles bytea DEFAULT int4send(0),
  count int DEFAULT 1, value float8 DEFAULT 3, tail bytea DEFAULT '', measure int DEFAULT 1)
RETURNS text LANGUAGE sql RETURN (
  '\x0403'::bytea || set_byte('\x00', 0, method) || set_byte('\x00', 0, measure) || '\x01' || float8send(epsilon) || float8send(delta) || float8send(lower)
  || float8send(upper) || float8send(granularity) || int4send(bins) || quantiles || int4send(count)
  || float8send(value) || tail)::text;
SELECT iqr_bytes()::records_state::text = iqr_state(3)::text AS same,
       iqr_bytes(value => '-Infinity')::records_state::text = iqr_state('-Infinity')::text AS infinite,
       iqr_bytes(delta => 1e-300)::records_state::text = iqr_bytes(delta => 1e-300) AS least_delta,
       iqr_bytes(delta => 0.5)::records_state::text = iqr_bytes(delta => 0.5) AS most_delta;
SELECT iqr_bytes(measure => 2)::records_state;
SELECT iqr_bytes(method => 0)::records_state;
SELECT iqr_bytes(method => 2)::records_state;
SELECT iqr_bytes(method => 3)::records_state;
SELECT iqr_bytes(epsilon => 'NaN')::records_state;
SELECT iqr_bytes(epsilon => 1001)::records_state;
SELECT iqr_bytes(delta => 0)::records_state;
SELECT iqr_bytes(delta => 'NaN')::records_state;
SELECT iqr_bytes(delta => -1e-6)::records_state;
SELECT iqr_bytes(delta => 0.6)::records_state;
SELECT iqr_bytes(lower => 1)::records_state;
SELECT iqr_bytes(lower => '-0')::records_state;
SELECT iqr_bytes(lower => 'NaN')::records_state;
SELECT iqr_bytes(upper => 1)::records_state;
SELECT iqr_bytes(upper => '-0')::records_state;
SELECT iqr_bytes(granularity => 1)::records_state;
SELECT iqr_bytes(granularity => '-0')::records_state;
SELECT iqr_bytes(granularity => 'NaN')::records_state;
SELECT iqr_bytes(bins => 1)::records_state;
SELECT iqr_bytes(bins => -1)::records_state;
SELECT iqr_bytes(quantiles => int4send(1) || float8send(0.5))::records_state;
SELECT iqr_bytes(quantiles => int4send(2) || float8send(0.25) || float8send(0.75))::records_state;
SELECT iqr_bytes(quantiles => int4send(-1))::records_state;
SELECT iqr_bytes(value => 'NaN')::records_state;
\echo :SQLSTATE
SELECT iqr_bytes(count => 0)::records_state;
SELECT iqr_bytes(count => 2)::records_state;
SELECT iqr_bytes(count => -1)::records_state;
SELECT iqr_bytes(count => 536870913)::records_state;
SELECT iqr_bytes(tail => '\x00')::records_state;
SELECT iqr_bytes(tail => '\x00000000')::records_state;
SELECT iqr_bytes(count => 2, tail => float8send('NaN'))::records_state;
CREATE FUNCTION range_bytes(
  method int DEFAULT 2, delta float8 DEFAULT 0, lower float8 DEFAULT -5, upper float8 DEFAULT 10,
  granularity float8 DEFAULT 1, bins int DEFAULT 0, quantiles bytea DEFAULT int4send(0), runs bytea DEFAULT '\x10',
  measure int DEFAULT 1)
RETURNS text LANGUAGE sql RETURN (
  '\x0403'::bytea || set_byte('\x00', 0, method) || set_byte('\x00', 0, measure) || '\x01' || float8send(1) || float8send(delta) || float8send(lower)
  || float8send(upper) || float8send(granularity) || int4send(bins) || quantiles || int4send(1)
  || runs)::text;
SELECT range_bytes()::records_state::text = range_state(3)::text AS same,
       range_bytes(granularity => 0)::records_state::text = range_bytes(granularity => 0) AS default_grid;
SELECT range_bytes(measure => 2)::records_state;
SELECT range_bytes(method => 1)::records_state;
SELECT range_bytes(method => 3)::records_state;
SELECT range_bytes(delta => 1e-6)::records_state;
SELECT range_bytes(delta => '-0')::records_state;
SELECT range_bytes(delta => 'NaN')::records_state;
SELECT range_bytes(lower => 10)::records_state;
SELECT range_bytes(lower => 'NaN')::records_state;
SELECT range_bytes(granularity => 1e-10)::records_state;
SELECT range_bytes(bins => 16)::records_state;
SELECT range_bytes(quantiles => int4send(1) || float8send(0.25))::records_state;
SELECT range_bytes(quantiles => int4send(2) || float8send(0.25) || float8send(0.75))::records_state;
SELECT range_bytes(runs => '\x1e')::records_state IS NOT NULL AS last_cell;
SELECT range_bytes(runs => '\x20')::records_state;
SELECT range_bytes(runs => '\xfeffffff1f')::records_state;

-- A state of one family is an error for functions of another family, both in a merge and in a final function.
-- (The transition functions only get states that they made themselves.)
SELECT merge(s) FROM (VALUES (state(1)), (cdf_state('{"granularity": 1}', 1))) v(s);
SELECT merge(s) FROM (VALUES (cdf_state('{"granularity": 1}', 1)), (state(1))) v(s);
SELECT merge(s) FROM (VALUES (cdf_state('{"bins": 5}', 1)), (cdf_state('{"bins": 6}', 1))) v(s);
SELECT merge(s)
  FROM (VALUES (cdf_state('{"bins": 5}', 1)), (cdf_state('{"bins": 5, "method": "histogram"}', 1))) v(s);
SELECT merge(s) FROM (VALUES (iqr_state(1)), (range_state(1))) v(s);
SELECT merge(s) FROM (VALUES (range_state(1)), (iqr_state(1))) v(s);
SELECT merge(s) FROM (VALUES (iqr_state(1)), (state(1))) v(s);
SELECT merge(s) FROM (VALUES (cdf_state('{"granularity": 1}', 1)), (iqr_state(1))) v(s);
SELECT merge(s) FROM (VALUES (iqr_state(1)), ((SELECT iqr_state_of(1, 1, 1e-7, '{}')))) v(s);
SELECT merge(s) FROM (VALUES (iqr_state(1)), ((SELECT iqr_state_of(1, 2, 1e-6, '{}')))) v(s);
-- These aggregates take a finished state as their value and keep it, with the parameters of a call.
CREATE FUNCTION keep(records_state, records_state, float8, float8, float8, jsonb) RETURNS records_state
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN coalesce($1, $2);
CREATE FUNCTION final_quantile(records_state) RETURNS float8 LANGUAGE C SUPPORT planner_support AS '$libdir/dpquantile', 'dpq_quantile_final';
CREATE FUNCTION final_quantiles(records_state) RETURNS float8[] LANGUAGE C SUPPORT planner_support AS '$libdir/dpquantile', 'dpq_quantiles_final';
CREATE AGGREGATE median_of(records_state, float8, float8, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = final_quantile, FINALFUNC_MODIFY = READ_WRITE);
CREATE AGGREGATE quantiles_of(records_state, float8, float8, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = final_quantiles, FINALFUNC_MODIFY = READ_WRITE);
CREATE AGGREGATE cdf_of(records_state, float8, float8, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = cdf_final, FINALFUNC_MODIFY = READ_WRITE);
CREATE FUNCTION keep(records_state, records_state, float8, float8, jsonb) RETURNS records_state
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN coalesce($1, $2);
CREATE AGGREGATE iqr_of(records_state, float8, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = iqr_final, FINALFUNC_MODIFY = READ_WRITE);
CREATE ROLE regress_dpq_support;
GRANT USAGE ON SCHEMA regress_dpq_support, dpquantile TO regress_dpq_support;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA dpquantile TO regress_dpq_support;
SELECT dp_grant_budget('regress_dpq_support', 10000, 0.1);
SET ROLE regress_dpq_support;
-- A final function accepts a state of its own family.
SELECT median_of(state(1), 1, 0, 10, '{"granularity": 1}') BETWEEN 0 AND 10 AS answered;
SELECT dp_cdf_rows(cdf_of(cdf_state('{"granularity": 1}', 1), 1, 0, 10, '{"granularity": 1}')) >= 0 AS answered;
SELECT median_of(cdf_state('{"granularity": 1}', 1), 1, 0, 10, '{"granularity": 1}');
SELECT quantiles_of(cdf_state('{"granularity": 1}', 1), 1, 0, 10, '{"granularity": 1}');
SELECT cdf_of(state(1), 1, 0, 10, '{"granularity": 1}');
SELECT cdf_of(cdf_state('{"bins": 11}', 1), 1, 0, 10, '{"granularity": 1}');
SELECT cdf_of(cdf_state('{"bins": 12}', 1), 1, 0, 10, '{"bins": 11}');
SELECT cdf_of(cdf_state('{"bins": 11}', 1), 1, 0, 10, '{"bins": 11, "method": "binary"}');
SELECT cdf_of(cdf_state('{"bins": 11}', 1), 2, 0, 10, '{"bins": 11}');
-- (Five equal rows at an epsilon of 1000: see sql/iqr.sql.)
SELECT iqr_of(s, 1000, 1e-6, '{}') AS iqr
  FROM (SELECT iqr_state_of(7, 1000, 1e-6, '{}') AS s FROM generate_series(1, 5)) s;
SELECT iqr_of(range_state(1), 1, 0, '{"method": "quantiles", "lower": -5, "upper": 10, "granularity": 1}')
       BETWEEN 0 AND 15 AS answered;
SELECT iqr_of(state(1), 1, 1e-6, '{}');
SELECT iqr_of(cdf_state('{"granularity": 1}', 1), 1, 1e-6, '{}');
SELECT iqr_of(range_state(1), 1, 1e-6, '{}');
SELECT iqr_of(iqr_state(1), 1, 0, '{"method": "quantiles", "lower": -5, "upper": 10, "granularity": 1}');
SELECT iqr_of(iqr_state(1), 1, 1e-7, '{}');
SELECT iqr_of(iqr_state(1), 2, 1e-6, '{}');
SELECT median_of(iqr_state(1), 1, 0, 10, '{"granularity": 1}');
SELECT quantiles_of(iqr_state(1), 1, 0, 10, '{"granularity": 1}');
SELECT cdf_of(iqr_state(1), 1, 0, 10, '{"granularity": 1}');
RESET ROLE;

-- A state that is cut off anywhere is an error. A state with one changed byte is an error, or reads back
-- unchanged.
CREATE FUNCTION read(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE WHEN bytes::text::records_state::text = bytes::text THEN 'same' ELSE 'changed' END;
EXCEPTION WHEN invalid_binary_representation OR invalid_parameter_value OR protocol_violation THEN
  RETURN 'error';
END
$$;
-- Records on a value grid have only one valid form: any other bytes are refused, because order and numbers are unique.
-- (On 11 cells there are 11 ways to place one record and 66 to place two. Two bytes hold three records only if they are
-- in one cell. A unit test of the decoder, CheckCellRuns, tries all second bytes.)
SELECT count, outcome, count(*) AS runs
  FROM generate_series(0, 3) count,
       LATERAL (SELECT set_byte('\x00', 0, i) || tail
                  FROM generate_series(0, 255) i,
                       (SELECT '\x'::bytea UNION ALL SELECT set_byte('\x00', 0, j) FROM generate_series(0, 255) j WHERE j < 32 OR j IN (126, 127, 128, 129, 254, 255)) t(tail)) r(runs),
       read(state_bytes(count => count, runs => runs)::bytea) outcome
 GROUP BY count, outcome ORDER BY count, outcome;
CREATE TABLE original (family text, s bytea);
INSERT INTO original
  SELECT family, s::text::bytea
    FROM (VALUES ('quantiles', state(3, 1, 12)), ('bins', cdf_state('{"bins": 300}', 3, 1, 12)),
                 ('granularity', cdf_state('{"granularity": 1}', 3, 1, 12)), ('iqr', iqr_state(3, 1, 12)),
                 ('range', range_state(3, 1, 12)), ('runs', state(VARIADIC array_fill(5::float8, '{300}') || '{0,0,7,9,9,9}')),
                 ('rho', state_bytes(measure => 2)::records_state), ('synthesis', state_bytes(family => 7)::records_state)) v(family, s);
SELECT read(substr(s, 1, length)), count(*) AS lengths
  FROM original, generate_series(0, octet_length(s) - 1) length GROUP BY 1;
SELECT family, count(*) AS bytes, count(*) FILTER (WHERE outcome = 'changed') AS changed,
       count(*) FILTER (WHERE outcome = 'error') > 0 AS errors
  FROM (SELECT family, read(set_byte(s, at, byte)) AS outcome
          FROM original, generate_series(0, octet_length(s) - 1) at, generate_series(0, 255) byte) o
 GROUP BY family ORDER BY family;

-- ---------------------------------------------------------------------------------------------
-- The states of the user-level aggregates
-- ---------------------------------------------------------------------------------------------

SELECT user_mean_transition(NULL, 1, 1::float8, 0.1, 0, 1);
SELECT user_mean_transition(NULL, 1, NULL::numeric, 0.1, 0, 1, '{}');
SELECT user_variance_transition(NULL, 'a'::text, 1::float8, 0.1, 0, 1);
SELECT user_grids_transition(NULL, 1, 'a', 1::float8, 0.1, 0, 1);
SELECT user_grids_transition(NULL, NULL::int, 'a', 1::numeric, 0.1, 0, 1, '{}');
SELECT user_mean_final(NULL);
SELECT user_variance_final(NULL);
SELECT user_grids_final(NULL);
\echo :SQLSTATE

CREATE AGGREGATE mean_state_of(anynonarray, float8, float8, float8, float8, jsonb) (
  SFUNC = user_mean_transition, STYPE = records_state);
CREATE AGGREGATE variance_state_of(anynonarray, numeric, float8, float8, float8, jsonb) (
  SFUNC = user_variance_transition, STYPE = records_state);
CREATE AGGREGATE grids_state_of(anynonarray, text, float8, float8, float8, float8, jsonb) (
  SFUNC = user_grids_transition, STYPE = records_state);
-- A known key makes the states known.
CREATE TABLE true_key AS SELECT key FROM dpquantile.user_key;
UPDATE dpquantile.user_key SET key = '\x000102030405060708090a0b0c0d0e0f';
CREATE TABLE user_state (kind text, s text);
INSERT INTO user_state
  SELECT 'mean', mean_state_of(u, x, 1, 0, 4, '{"max_contributions": 3}')::text FROM (VALUES (1, 2::float8), (2, 5), (1, 'NaN'), (NULL, 1)) v(u, x)
  UNION ALL SELECT 'variance', variance_state_of(u, x, 1, 0, 4, '{"max_contributions": "median"}')::text FROM (VALUES (1, 2), (2, -1)) v(u, x)
  UNION ALL SELECT 'grids', grids_state_of(u, g, x, 1, 0, 4, '{"suppress": false}')::text
    FROM (VALUES (1, 'b', 2), (2, '', 3), (1, 'a', 1), (2, 'b', 4)) v(u, g, x);
SELECT * FROM user_state ORDER BY kind;
-- Text and binary forms; merging
SELECT kind, s::records_state::text = s AS text, records_state_send(s::records_state)::text = s AS binary,
       (SELECT merge(m)::text FROM (VALUES (s::records_state), (NULL), (s::records_state)) v(m)) AS merged
  FROM user_state ORDER BY kind;
-- Grids are merged by their names, not by their numbers.
SELECT merge(s) FROM (
  SELECT grids_state_of(1, 'b', 1, 1, 0, 4, '{}') UNION ALL SELECT grids_state_of(2, g, 2, 1, 0, 4, '{}') FROM unnest('{a,b,c}'::text[]) g
  UNION ALL SELECT grids_state_of(3, g, 3, 1, 0, 4, '{}') FROM unnest('{c,b}'::text[]) g) v(s);
-- Many names, in many parts
SELECT length(merge(s)::text::bytea) - 75 - 20000 * 16 AS bytes, (SELECT sum(4 + length('name' || i)) FROM generate_series(1, 5000) i) AS expected
  FROM (SELECT grids_state_of(i, 'name' || i, 1, 1, 0, 4, '{}') FROM generate_series(1, 5000) i, generate_series(1, 4) part GROUP BY part, i % 10) v(s);
-- States of different calls cannot be merged.
SELECT merge(s) FROM (VALUES ((SELECT mean_state_of(1, 1, 1, 0, 4, '{}'))), ((SELECT mean_state_of(1, 1, 1, 0, 4, '{"max_contributions": 1}')))) v(s);
SELECT merge(s) FROM (VALUES ((SELECT mean_state_of(1, 1, 1, 0, 4, '{}'))), ((SELECT variance_state_of(1, 1, 1, 0, 4, '{}')))) v(s);
SELECT merge(s) FROM (VALUES ((SELECT mean_state_of(1, 1, 1, 0, 4, '{}'))), ((SELECT grids_state_of(1, 'a', 1, 1, 0, 4, '{}')))) v(s);
SELECT merge(s) FROM (VALUES ((SELECT grids_state_of(1, 'a', 1, 1, 0, 4, '{"suppress": false}'))), ((SELECT grids_state_of(1, 'a', 1, 1, 0, 4, '{}')))) v(s);
SELECT merge(s) FROM (VALUES ((SELECT mean_state_of(1, 1, 1, 0, 4, '{}'))), (state(1))) v(s);

-- Each field is wrong in turn. The fields are rule (0 optimal, 1 median, 2 a number), suppress, number, hash of the
-- empty input; for grids the names; for each row user, grid and value.
CREATE FUNCTION user_bytes(
  family int DEFAULT 4, method int DEFAULT NULL, delta float8 DEFAULT 0, upper float8 DEFAULT 4, granularity float8 DEFAULT 0,
  bins int DEFAULT 0, quantiles bytea DEFAULT int4send(0), rule int DEFAULT 2, suppress int DEFAULT 0, number int DEFAULT 3,
  check_ bytea DEFAULT '\x726fdb47dd0e0e31', names bytea DEFAULT '', count int DEFAULT 1, grid int DEFAULT 0, value bigint DEFAULT 7, tail bytea DEFAULT '', measure int DEFAULT 1)
RETURNS text LANGUAGE sql RETURN (
  '\x04'::bytea || set_byte('\x00', 0, family) || set_byte('\x00', 0, coalesce(method, CASE family WHEN 4 THEN 7 ELSE 2 END)) || set_byte('\x00', 0, measure) || '\x01' || float8send(1) || float8send(delta) || float8send(0)
  || float8send(upper) || float8send(granularity) || int4send(bins) || quantiles || set_byte('\x00', 0, rule) || set_byte('\x00', 0, suppress)
  || int4send(number) || check_ || names || int4send(count) || int8send(5) || int4send(grid) || substr(int8send(value), 5) || tail)::text;
CREATE FUNCTION grid_bytes(VARIADIC names text[]) RETURNS bytea LANGUAGE sql RETURN (
  SELECT int4send(count(*)::int) || coalesce(string_agg(int4send(octet_length(n)) || convert_to(n, 'UTF8'), ''::bytea ORDER BY i), '')
    FROM unnest(names) WITH ORDINALITY v(n, i));
CREATE FUNCTION grids_bytes(names bytea DEFAULT grid_bytes('a', 'b'), grid int DEFAULT 1, rule int DEFAULT 0, suppress int DEFAULT 1,
                            number int DEFAULT 0, method int DEFAULT 1, upper float8 DEFAULT 4, count int DEFAULT 1)
RETURNS text LANGUAGE sql RETURN user_bytes(family => 6, method => method, rule => rule, suppress => suppress, number => number,
                                            names => names, grid => grid, upper => upper, count => count);
SELECT user_bytes()::records_state::text = user_bytes() AS mean, user_bytes(family => 5)::records_state::text = user_bytes(family => 5) AS variance,
       grids_bytes()::records_state::text = grids_bytes() AS grids, user_bytes(method => 1, rule => 0, number => 0)::records_state IS NOT NULL AS baseline,
       user_bytes(rule => 1, number => 0)::records_state IS NOT NULL AS median, user_bytes(number => -1)::records_state IS NOT NULL AS most,
       user_bytes(value => 2147483648)::records_state IS NOT NULL AS upper, grids_bytes(suppress => 0)::records_state IS NOT NULL AS all_users;
SELECT user_bytes(family => 17)::records_state;
SELECT user_bytes(family => 8)::records_state;
SELECT user_bytes(family => 7)::records_state;
SELECT user_bytes(measure => 2)::records_state::text = user_bytes(measure => 2) AS rho;
SELECT user_bytes(method => 0)::records_state;
SELECT user_bytes(method => 8)::records_state;
SELECT user_bytes(family => 5, method => 3)::records_state;
SELECT user_bytes(delta => 0.1)::records_state;
SELECT user_bytes(delta => '-0')::records_state;
SELECT user_bytes(upper => 0)::records_state;
SELECT user_bytes(family => 5, upper => 1e200)::records_state;
SELECT user_bytes(granularity => 1)::records_state;
SELECT user_bytes(granularity => '-0')::records_state;
SELECT user_bytes(bins => 1)::records_state;
SELECT user_bytes(quantiles => int4send(1) || float8send(0.5))::records_state;
SELECT user_bytes(rule => 3)::records_state;
SELECT user_bytes(rule => 0)::records_state;
SELECT user_bytes(rule => 1)::records_state;
SELECT user_bytes(number => 0)::records_state;
SELECT user_bytes(suppress => 1)::records_state;
SELECT user_bytes(method => 1)::records_state;
SELECT user_bytes(method => 6, rule => 0, number => 0)::records_state;
SELECT user_bytes(count => 0)::records_state;
SELECT user_bytes(count => 2)::records_state;
SELECT user_bytes(count => 268435457)::records_state;
SELECT user_bytes(grid => 1)::records_state;
SELECT user_bytes(grid => -1)::records_state;
SELECT user_bytes(value => 2147483649)::records_state;
SELECT user_bytes(value => 4294967295)::records_state;
SELECT user_bytes(tail => '\x00')::records_state;
SELECT grids_bytes(grid => 2)::records_state;
SELECT grids_bytes(grid => -1)::records_state;
SELECT grids_bytes(names => grid_bytes('a', 'a'))::records_state;
SELECT grids_bytes(names => grid_bytes('', 'a', ''))::records_state;
SELECT grids_bytes(names => '', grid => 0)::records_state;
SELECT grids_bytes(names => int4send(-1))::records_state;
SELECT grids_bytes(names => int4send(1) || int4send(-1))::records_state;
SELECT grids_bytes(names => int4send(1) || int4send(1000))::records_state;
SELECT grids_bytes(names => int4send(1) || int4send(1) || '\xff'::bytea, grid => 0)::records_state;
SELECT grids_bytes(names => int4send(1) || int4send(1) || '\x00'::bytea, grid => 0)::records_state;
SELECT grids_bytes(names => int4send(1) || int4send(1) || '\xc3'::bytea, grid => 0)::records_state;
SELECT grids_bytes(rule => 1)::records_state;
SELECT grids_bytes(number => 1)::records_state;
SELECT grids_bytes(suppress => 2)::records_state;
SELECT grids_bytes(method => 2)::records_state;
SELECT grids_bytes(upper => 1e200)::records_state;

-- Final functions get states of another family or of other parameters.
CREATE FUNCTION keep_user(records_state, int, records_state, float8, float8, float8, jsonb) RETURNS records_state
  LANGUAGE sql IMMUTABLE RETURN coalesce($1, $3);
CREATE AGGREGATE mean_of(int, records_state, float8, float8, float8, jsonb) (
  SFUNC = keep_user, STYPE = records_state, FINALFUNC = user_mean_final, FINALFUNC_MODIFY = READ_WRITE);
CREATE AGGREGATE variance_of(int, records_state, float8, float8, float8, jsonb) (
  SFUNC = keep_user, STYPE = records_state, FINALFUNC = user_variance_final, FINALFUNC_MODIFY = READ_WRITE);
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA regress_dpq_support TO regress_dpq_support;
SET ROLE regress_dpq_support;
SELECT mean_of(1, user_bytes()::records_state, 1, 0, 4, '{"max_contributions": 3}') BETWEEN 0 AND 4 AS answered;
SELECT mean_of(1, user_bytes()::records_state, 1, 0, 4, '{"max_contributions": 4}');
SELECT mean_of(1, user_bytes()::records_state, 1, 0, 5, '{"max_contributions": 3}');
SELECT mean_of(1, user_bytes(check_ => '\x726fdb47dd0e0e30')::records_state, 1, 0, 4, '{"max_contributions": 3}');
SELECT mean_of(1, user_bytes(method => 3)::records_state, 1, 0, 4, '{"max_contributions": 3}');
SELECT mean_of(1, user_bytes(rule => 1, number => 0)::records_state, 1, 0, 4, '{}');
SELECT mean_of(1, state(1), 1, 0, 4, '{}');
SELECT mean_of(1, grids_bytes()::records_state, 1, 0, 4, '{}');
SELECT variance_of(1, user_bytes()::records_state, 1, 0, 4, '{"max_contributions": 3}');
SELECT variance_of(1, user_bytes(family => 5)::records_state, 1, 0, 4, '{"max_contributions": 3}') BETWEEN 0 AND 4 AS answered;
RESET ROLE;

INSERT INTO original SELECT kind, s::bytea FROM user_state;
SELECT read(substr(s, 1, length)), count(*) AS lengths
  FROM original, generate_series(0, octet_length(s) - 1) length WHERE family IN ('mean', 'variance', 'grids') GROUP BY 1;
SELECT family, count(*) AS bytes, count(*) FILTER (WHERE outcome = 'changed') AS changed,
       count(*) FILTER (WHERE outcome = 'error') > 0 AS errors
  FROM (SELECT family, read(set_byte(s, at, byte)) AS outcome
          FROM original, generate_series(0, octet_length(s) - 1) at, generate_series(0, 255) byte
         WHERE family IN ('mean', 'variance', 'grids')) o
 GROUP BY family ORDER BY family COLLATE "C";
-- ---------------------------------------------------------------------------------------------
-- The states of counts, sums, means, spreads and groups that may be shown: sums, or hashes
-- ---------------------------------------------------------------------------------------------

SELECT count_transition(NULL, 0.1);
SELECT count_transition(NULL, 0.1, '{}');
SELECT value_count_transition(NULL, 1, 0.1);
SELECT value_count_transition(NULL, NULL::int, 0.1);
SELECT distinct_transition(NULL, 1, 0.1);
SELECT distinct_transition(NULL, NULL::int, 0.1);
SELECT sum_transition(NULL, 1::float8, 0.1, 0, 1);
SELECT sum_transition(NULL, 1::numeric, 0.1, 0, 1, '{}');
SELECT mean_transition(NULL, 1::float8, 0.1, 0, 1);
SELECT mean_transition(NULL, NULL::numeric, 0.1, 0, 1, '{}');
SELECT moments_transition(NULL, 1::float8, 0.1, 0, 1);
SELECT moments_transition(NULL, 1::numeric, 0.1, 0, 1, '{}');
SELECT keep_group_transition(NULL, 0.1, 1e-6);
SELECT keep_user_group_transition(NULL, 1, 0.1, 1e-6, 1);
SELECT count_final(NULL);
SELECT value_count_final(NULL);
SELECT distinct_final(NULL);
SELECT sum_final(NULL);
SELECT mean_final(NULL);
SELECT var_pop_final(NULL);
SELECT var_samp_final(NULL);
SELECT stddev_pop_final(NULL);
SELECT stddev_samp_final(NULL);
SELECT stats_final(NULL);
SELECT keep_group_final(NULL);
SELECT keep_user_group_final(NULL);
\echo :SQLSTATE

CREATE AGGREGATE count_state_of(float8, jsonb) (SFUNC = count_transition, STYPE = records_state);
CREATE AGGREGATE value_count_state_of("any", float8, jsonb) (SFUNC = value_count_transition, STYPE = records_state);
CREATE AGGREGATE distinct_state_of(anyelement, float8, jsonb) (SFUNC = distinct_transition, STYPE = records_state);
CREATE AGGREGATE sum_state_of(float8, float8, float8, float8, jsonb) (SFUNC = sum_transition, STYPE = records_state);
CREATE AGGREGATE avg_state_of(float8, float8, float8, float8, jsonb) (SFUNC = mean_transition, STYPE = records_state);
CREATE AGGREGATE avg_state_of(numeric, float8, float8, float8, jsonb) (SFUNC = mean_transition, STYPE = records_state);
CREATE AGGREGATE stats_state_of(float8, float8, float8, float8, jsonb) (SFUNC = moments_transition, STYPE = records_state);
CREATE AGGREGATE keep_state_of(float8, float8) (SFUNC = keep_group_transition, STYPE = records_state);
CREATE AGGREGATE keep_user_state_of(anynonarray, float8, float8, bigint) (SFUNC = keep_user_group_transition, STYPE = records_state);
-- The state of some rows of each kind: the rows are given by numbers, and their values are -4, -3.9998, .. 6. Sums are of values
-- from -3 to 5. Three rows each have the same value or the same user.
CREATE TABLE summary_kind (kind text PRIMARY KEY, records text);
INSERT INTO summary_kind
VALUES ('count', 'sums'), ('value count', 'sums'), ('sum', 'sums'), ('avg', 'sums'), ('stats', 'sums'), ('keep', 'sums'),
       ('distinct', 'hashes'), ('keep user', 'hashes');
CREATE FUNCTION summary_value(i int) RETURNS float8 LANGUAGE sql IMMUTABLE RETURN
  CASE WHEN i % 11 = 5 THEN NULL WHEN i % 13 = 7 THEN 'NaN' WHEN i % 17 = 11 THEN '-Infinity' ELSE i * 7919::bigint % 50001 / 5e3 - 4 END;
CREATE FUNCTION summary_state(kind text, numbers int[]) RETURNS records_state LANGUAGE sql RETURN
  CASE kind WHEN 'count' THEN (SELECT count_state_of(1, '{}') FROM unnest(numbers))
            WHEN 'value count' THEN (SELECT value_count_state_of(summary_value(i), NULL, '{"rho": 0.5}') FROM unnest(numbers) i)
            WHEN 'sum' THEN (SELECT sum_state_of(summary_value(i), 1, -3, 5, '{}') FROM unnest(numbers) i)
            WHEN 'avg' THEN (SELECT avg_state_of(summary_value(i), 1, -3, 5, '{"granularity": 0.5}') FROM unnest(numbers) i)
            WHEN 'stats' THEN (SELECT stats_state_of(summary_value(i), NULL, -3, 5, '{"rho": 0.5}') FROM unnest(numbers) i)
            WHEN 'keep' THEN (SELECT keep_state_of(1, 1e-6) FROM unnest(numbers))
            WHEN 'distinct' THEN (SELECT distinct_state_of(nullif(i / 3, 5), 1, '{}') FROM unnest(numbers) i)
            WHEN 'keep user' THEN (SELECT keep_user_state_of(nullif(i / 3, 5), 1, 1e-6, 2) FROM unnest(numbers) i) END;
-- (The key of the hashes is known here, see above.)
SELECT kind, summary_state(kind, '{1,2,3,5,7,11,12}') FROM summary_kind ORDER BY kind;
-- A numeric value of any size counts as the nearer bound.
SELECT overlay(avg_state_of(v, 1, 0, 4, '{}')::text::bytea PLACING '\x01' FROM 5)
       = (SELECT avg_state_of(x, 1, 0, 4, '{}') FROM unnest('{3,0,4,4,0}'::float8[]) x)::text::bytea AS numerics
  FROM unnest('{3,NaN,1e400,NULL,-1e400,Infinity,1e-400}'::numeric[]) v;
-- The text and the binary form read back as the same state. States of parts of the rows are merged to the state of all rows, in any
-- order and with empty states and NULL among them. 30000 rows have more hashes than one hash table holds.
CREATE TABLE whole (kind text, rows int, s text);
INSERT INTO whole
  SELECT kind, rows, (SELECT summary_state(kind, array_agg(i)) FROM generate_series(1, rows) i)::text
    FROM summary_kind, (VALUES (10), (30000)) v(rows);
CREATE FUNCTION summary_without_rows(kind text) RETURNS records_state LANGUAGE sql RETURN (
  SELECT CASE records WHEN 'sums' THEN overlay(s PLACING decode(repeat('00', 40), 'hex') FROM length(s) - 39)
                      ELSE overlay(substr(s, 1, length(s) - 8) PLACING int4send(0) FROM length(s) - 11) END::text
    FROM summary_kind k, LATERAL (SELECT summary_state(k.kind, '{1}')::text::bytea) v(s)
   WHERE k.kind = summary_without_rows.kind)::records_state;
SELECT kind, rows, octet_length(s::bytea) AS bytes, s = s::records_state::text AS text, s = records_state_send(s::records_state)::text AS binary,
       s = (SELECT summary_state(kind, array_agg(i ORDER BY i DESC)) FROM generate_series(1, rows) i)::text AS descending,
       s = (SELECT merge(m)::text
              FROM unnest(ARRAY[NULL, summary_without_rows(kind), s::records_state, summary_without_rows(kind), NULL]) m) AS alone
  FROM whole ORDER BY kind, rows;
-- What is collected of the rows of shards is what the aggregate itself keeps of them.
WITH empty AS MATERIALIZED (SELECT kind, summary_without_rows(kind)::text::bytea AS state FROM summary_kind WHERE records = 'sums')
SELECT kind, rows, s = (SELECT topn_add_agg(CASE WHEN kind IN ('count', 'keep') THEN 1 ELSE summary_value(i) END, state) FROM generate_series(1, rows) i)::text
       AS collected
  FROM empty JOIN whole USING (kind) ORDER BY kind, rows;
CREATE AGGREGATE bins_state_of(float8, float8, float8[], jsonb) (SFUNC = histogram_transition, STYPE = records_state);
SELECT topn_add_agg(v, (SELECT records_state_send(state('NaN'))))::text = state_of(v, '{0.5}', 1, 0, 10, '{"granularity": 1}')::text AS quantiles,
       topn_add_agg(v, (SELECT records_state_send(cdf_state_of('NaN', 1, 0, 10, '{"bins": 7}'))))::text = cdf_state_of(v, 1, 0, 10, '{"bins": 7}')::text AS cdf,
       topn_add_agg(v, (SELECT records_state_send(iqr_state_of('NaN', 1, 1e-6, '{}'))))::text = iqr_state_of(v, 1, 1e-6, '{}')::text AS iqr,
       topn_add_agg(v, (SELECT records_state_send(bins_state_of('NaN', 1, '{0,3,7,20}', '{}'))))::text = bins_state_of(v, 1, '{0,3,7,20}', '{}')::text AS histogram
  FROM generate_series(1, 100) i, odd_value(i) v;
SELECT topn_add_agg(i, records_state_send(summary_state('distinct', '{1}'))) FROM generate_series(1, 2) i;
SELECT topn_add_agg(i, records_state_send(summary_state('keep user', '{1}'))) FROM generate_series(1, 2) i;
SELECT topn_add_agg(date '2020-01-01', records_state_send(state('NaN')));
CREATE TABLE part AS
  SELECT rows, division, part, array_agg(i) AS numbers
    FROM (VALUES (10), (30000)) v(rows), generate_series(1, rows) i,
         LATERAL (VALUES ('thirds', i % 3), ('growing', floor(log(i))::int), ('blocks', i / (rows / 4))) d(division, part)
   GROUP BY rows, division, part;
INSERT INTO part SELECT DISTINCT rows, division, 2, '{}'::int[] FROM part;
SELECT kind, rows, division, count(*) AS parts, s = merge(m ORDER BY part)::text AS ascending, s = merge(m ORDER BY part DESC)::text AS descending,
       s = merge(m ORDER BY part % 2, part)::text AS mixed
  FROM whole, LATERAL (
         SELECT division, part, summary_state(kind, numbers) FROM part WHERE part.rows = whole.rows
         UNION ALL SELECT division, 1, summary_without_rows(kind) FROM (VALUES ('thirds'), ('growing'), ('blocks')) d(division)) p(division, part, m)
 GROUP BY kind, rows, division, s ORDER BY kind, rows, division;
-- Two merged parts are merged like one.
SELECT kind, s = (SELECT merge(m)::text
                    FROM (SELECT merge(summary_state(kind, numbers))::text::records_state FROM part
                           WHERE part.rows = whole.rows AND division = 'thirds' GROUP BY part = 1) v(m)) AS twice
  FROM whole WHERE rows = 30000 ORDER BY kind;
-- One query merges groups of different calls.
SET enable_sort = off;
SELECT count(*) AS groups, bool_and(m::text = s) AS same
  FROM whole JOIN (SELECT kind, rows, merge(summary_state(kind, numbers)) FROM summary_kind, part WHERE division = 'thirds' GROUP BY kind, rows)
                  g(kind, rows, m) USING (kind, rows);
RESET enable_sort;

-- Each field is wrong in turn. The families are 8 dp_count of rows, 9 dp_count of values, 10 dp_count_distinct, 11 dp_sum, 12 dp_avg,
-- 13 the variances and dp_stats, 14 dp_keep_group of rows, 15 dp_histogram, 16 dp_keep_group of users. All except 15 have no
-- quantiles. Families 10 and 16 have the hash of the empty input after the quantiles, and 16 has max_groups after it. The number of
-- records follows. Sums are one record: the number of rows, the sum of their values, the sum of the squares. Hashes ascend.
CREATE FUNCTION word(n numeric) RETURNS bytea LANGUAGE sql IMMUTABLE RETURN
  int8send((CASE WHEN n < 9223372036854775808 THEN n ELSE n - 18446744073709551616 END)::bigint);
CREATE FUNCTION wide(n numeric) RETURNS bytea LANGUAGE sql IMMUTABLE RETURN
  word(div(n, 18446744073709551616)) || word(mod(n, 18446744073709551616));
CREATE FUNCTION sums(number_of_rows numeric, sum numeric DEFAULT 0, squares numeric DEFAULT 0) RETURNS bytea LANGUAGE sql IMMUTABLE RETURN
  word(number_of_rows) || wide(sum) || wide(squares);
CREATE FUNCTION sums_bytes(
  records bytea, family int DEFAULT 12, method int DEFAULT 1, measure int DEFAULT 1, epsilon float8 DEFAULT 1, delta float8 DEFAULT 0,
  lower float8 DEFAULT 0, upper float8 DEFAULT 4, granularity float8 DEFAULT 0, bins int DEFAULT 0, quantiles bytea DEFAULT int4send(0),
  count int DEFAULT 1)
RETURNS text LANGUAGE sql IMMUTABLE RETURN (
  '\x04'::bytea || set_byte('\x00', 0, family) || set_byte('\x00', 0, method) || set_byte('\x00', 0, measure) || '\x01'
  || float8send(epsilon) || float8send(delta) || float8send(lower) || float8send(upper) || float8send(granularity) || int4send(bins)
  || quantiles || int4send(count) || records)::text;
CREATE FUNCTION count_bytes(records bytea, family int DEFAULT 8, delta float8 DEFAULT 0, lower float8 DEFAULT 0, upper float8 DEFAULT 0,
                            granularity float8 DEFAULT 0, measure int DEFAULT 1, bins int DEFAULT 0)
RETURNS text LANGUAGE sql IMMUTABLE RETURN sums_bytes(records, family => family, delta => delta, lower => lower, upper => upper,
                                                      granularity => granularity, measure => measure, bins => bins);
CREATE FUNCTION hash_bytes(VARIADIC hashes numeric[] DEFAULT '{}') RETURNS bytea LANGUAGE sql IMMUTABLE RETURN (
  SELECT int4send(count(h)::int) || coalesce(string_agg(word(h), ''::bytea ORDER BY i), '') FROM unnest(hashes) WITH ORDINALITY v(h, i));
CREATE FUNCTION distinct_bytes(
  records bytea, family int DEFAULT 10, method int DEFAULT 1, measure int DEFAULT 1, epsilon float8 DEFAULT 1, delta float8 DEFAULT 0,
  lower float8 DEFAULT 0, upper float8 DEFAULT 0, granularity float8 DEFAULT 0, bins int DEFAULT 0, quantiles bytea DEFAULT int4send(0),
  check_ bytea DEFAULT '\x726fdb47dd0e0e31', groups bytea DEFAULT '')
RETURNS text LANGUAGE sql IMMUTABLE RETURN (
  '\x04'::bytea || set_byte('\x00', 0, family) || set_byte('\x00', 0, method) || set_byte('\x00', 0, measure) || '\x03'
  || float8send(epsilon) || float8send(delta) || float8send(lower) || float8send(upper) || float8send(granularity) || int4send(bins)
  || quantiles || check_ || groups || records)::text;
CREATE FUNCTION keep_user_bytes(records bytea, groups int DEFAULT 2, delta float8 DEFAULT 1e-6, measure int DEFAULT 1)
RETURNS text LANGUAGE sql IMMUTABLE RETURN distinct_bytes(records, family => 16, delta => delta, measure => measure, groups => int4send(groups));

-- A value of dp_avg and of the variances has 0 to 2^31 units, from the lower to the upper bound. A value of dp_sum has 2^32 units if
-- it is 0, and up to 2^32 more or less otherwise.
SELECT sums_bytes(sums(2, 2^31::numeric + 2^29::numeric, 2^62::numeric + 2^58::numeric))::records_state::text = avg_state_of(x, 1, 0, 4, '{}')::text AS avg,
       sums_bytes(sums(2, 2^31::numeric + 2^29::numeric, 2^62::numeric + 2^58::numeric), family => 13)::records_state::text = stats_state_of(x, 1, 0, 4, '{}')::text AS stats,
       sums_bytes(sums(2, 3 * 2^32::numeric + 2^30::numeric), family => 11)::records_state::text = sum_state_of(x, 1, 0, 4, '{}')::text AS sum,
       sums_bytes(sums(2, 2^32::numeric * 3 / 4), family => 11, lower => -4)::records_state::text = sum_state_of(-x, 1, -4, 4, '{}')::text AS negative,
       count_bytes(sums(2))::records_state::text = count_state_of(1, '{}')::text AS count,
       count_bytes(sums(2), family => 9)::records_state::text = value_count_state_of(x, 1, '{}')::text AS value_count,
       count_bytes(sums(2), family => 14, delta => 1e-6)::records_state::text = keep_state_of(1, 1e-6)::text AS keep
  FROM (VALUES (1::float8), (4)) v(x);
SELECT distinct_bytes(substr(s::bytea, 62))::records_state::text = s AS distinct,
       keep_user_bytes(substr(s::bytea, 62))::records_state::text = (SELECT keep_user_state_of(5, 1, 1e-6, 2))::text AS keep_user
  FROM (SELECT distinct_state_of(5, 1, '{}')::text) v(s);
SELECT sums_bytes(sums(1), family => 15)::records_state;
SELECT sums_bytes(sums(1), family => 17)::records_state;
SELECT sums_bytes(sums(1), method => 0)::records_state;
SELECT sums_bytes(sums(1), method => 2)::records_state;
SELECT sums_bytes(sums(1), measure => 0)::records_state;
SELECT sums_bytes(sums(1), measure => 3)::records_state;
SELECT sums_bytes(sums(1), measure => 2)::records_state::text = sums_bytes(sums(1), measure => 2) AS rho;
SELECT sums_bytes(sums(1), epsilon => 'NaN')::records_state;
SELECT sums_bytes(sums(1), epsilon => 1001)::records_state;
SELECT sums_bytes(sums(1), delta => 1e-6)::records_state;
SELECT sums_bytes(sums(1), delta => '-0')::records_state;
SELECT sums_bytes(sums(1), lower => 4)::records_state;
SELECT sums_bytes(sums(1), lower => 'NaN')::records_state;
SELECT sums_bytes(sums(1), upper => 'Infinity')::records_state;
SELECT sums_bytes(sums(1), upper => 1e200)::records_state::text = sums_bytes(sums(1), upper => 1e200) AS wide;
SELECT sums_bytes(sums(1), upper => 1e200, family => 13)::records_state;
SELECT sums_bytes(sums(1), granularity => 0.5)::records_state::text = sums_bytes(sums(1), granularity => 0.5) AS granularity;
SELECT sums_bytes(sums(1), granularity => '-0')::records_state;
SELECT sums_bytes(sums(1), granularity => 'NaN')::records_state;
SELECT sums_bytes(sums(1), bins => 1)::records_state;
SELECT sums_bytes(sums(1), quantiles => int4send(1) || float8send(0.5))::records_state;
SELECT sums_bytes(sums(1), quantiles => int4send(-1))::records_state;
SELECT sums_bytes('', count => 0)::records_state;
SELECT sums_bytes(sums(1) || sums(1), count => 2)::records_state;
SELECT sums_bytes(sums(1), count => -1)::records_state;
SELECT sums_bytes(substr(sums(1), 1, 39))::records_state;
SELECT sums_bytes(sums(1) || '\x00')::records_state;
-- The sums belong to this number of rows, of values within the bounds. (2^62 is 4611686018427387904.)
SELECT name, bytes::records_state::text = bytes AS valid
  FROM (VALUES ('none', sums_bytes(sums(0))), ('lower bound', sums_bytes(sums(3))), ('upper bound', sums_bytes(sums(3, 3 * 2^31::numeric, 3 * 2^62::numeric))),
               ('most', sums_bytes(sums(2^62::numeric, 2^93::numeric, 2^124::numeric))),
               ('lower bound of sum', sums_bytes(sums(3), family => 11, lower => -4)), ('upper bound of sum', sums_bytes(sums(3, 3 * 2^33::numeric), family => 11)),
               ('most of sum', sums_bytes(sums(2^62::numeric, 2^95::numeric), family => 11)),
               ('most rows', count_bytes(sums(2^62::numeric)))) v(name, bytes);
SELECT sums_bytes(sums(2^62::numeric + 1))::records_state;
SELECT sums_bytes(sums(2^64::numeric - 1))::records_state;
SELECT sums_bytes(sums(0, 1))::records_state;
SELECT sums_bytes(sums(0, 0, 1))::records_state;
SELECT sums_bytes(sums(3, 3 * 2^31::numeric + 1, 3 * 2^62::numeric))::records_state;
SELECT sums_bytes(sums(3, 3 * 2^31::numeric, 3 * 2^62::numeric + 1))::records_state;
SELECT sums_bytes(sums(3, 3 * 2^31::numeric, 3 * 2^62::numeric - 1))::records_state;
SELECT sums_bytes(sums(3, 1, 2^31::numeric + 1))::records_state;
SELECT sums_bytes(sums(3, 2^64::numeric, 0))::records_state;
SELECT sums_bytes(sums(3, 2^128::numeric - 1, 2^128::numeric - 1))::records_state;
SELECT sums_bytes(sums(3, 0, 2^127::numeric))::records_state;
SELECT sums_bytes(sums(3, 3 * 2^33::numeric + 1), family => 11)::records_state;
SELECT sums_bytes(sums(3, 3 * 2^32::numeric, 1), family => 11)::records_state;
SELECT count_bytes(sums(3, 1))::records_state;
SELECT count_bytes(sums(3, 0, 1))::records_state;
SELECT count_bytes(sums(3), lower => 1)::records_state;
SELECT count_bytes(sums(3), upper => '-0')::records_state;
SELECT count_bytes(sums(3), granularity => 1)::records_state;
SELECT count_bytes(sums(3), bins => 1)::records_state;
SELECT count_bytes(sums(3), delta => 1e-6)::records_state;
SELECT count_bytes(sums(3), family => 14)::records_state;
SELECT count_bytes(sums(3), family => 14, delta => 0.6)::records_state;
SELECT count_bytes(sums(3), family => 14, delta => '-0')::records_state;
SELECT count_bytes(sums(3), family => 14, delta => 1e-6, upper => 1)::records_state;
SELECT count_bytes(sums(3), family => 14, delta => 1e-6, measure => 2)::records_state;
SELECT count_bytes(sums(3), family => 10)::records_state;
SELECT count_bytes(sums(3), family => 11)::records_state;
SELECT count_bytes(sums(3), family => 4)::records_state;

SELECT name, bytes::records_state::text = bytes AS valid
  FROM (VALUES ('none', distinct_bytes(hash_bytes())), ('ends', distinct_bytes(hash_bytes(0, 2^63::numeric - 1, 2^63::numeric, 2^64::numeric - 1))),
               ('rho', distinct_bytes(hash_bytes(7), measure => 2)), ('another key', distinct_bytes(hash_bytes(7), check_ => word(0))),
               ('users', keep_user_bytes(hash_bytes(0, 2^64::numeric - 1))), ('one group', keep_user_bytes(hash_bytes(7), groups => 1))) v(name, bytes);
SELECT distinct_bytes(hash_bytes(7, 7))::records_state;
SELECT distinct_bytes(hash_bytes(0, 0))::records_state;
SELECT distinct_bytes(hash_bytes(7, 6))::records_state;
SELECT distinct_bytes(hash_bytes(2^63::numeric, 2^63::numeric - 1))::records_state;
SELECT distinct_bytes(hash_bytes(1, 2, 3, 3))::records_state;
SELECT distinct_bytes('\x00000000' || word(7))::records_state;
SELECT distinct_bytes('\x00000002' || word(7))::records_state;
SELECT distinct_bytes('\xffffffff' || word(7))::records_state;
SELECT distinct_bytes('\x20000001' || word(7))::records_state;
SELECT distinct_bytes(hash_bytes(7) || '\x00')::records_state;
SELECT distinct_bytes(substr(hash_bytes(7), 1, 11))::records_state;
SELECT distinct_bytes('\x000000')::records_state;
SELECT distinct_bytes('', check_ => '\x726fdb47dd0e0e')::records_state;
SELECT distinct_bytes(hash_bytes(7), method => 2)::records_state;
SELECT distinct_bytes(hash_bytes(7), measure => 0)::records_state;
SELECT distinct_bytes(hash_bytes(7), epsilon => 0)::records_state;
SELECT distinct_bytes(hash_bytes(7), delta => 1e-6)::records_state;
SELECT distinct_bytes(hash_bytes(7), lower => '-0')::records_state;
SELECT distinct_bytes(hash_bytes(7), upper => 1)::records_state;
SELECT distinct_bytes(hash_bytes(7), granularity => 1)::records_state;
SELECT distinct_bytes(hash_bytes(7), bins => 1)::records_state;
SELECT distinct_bytes(hash_bytes(7), quantiles => int4send(1) || float8send(0.5))::records_state;
SELECT distinct_bytes(hash_bytes(7), groups => int4send(2))::records_state;
SELECT distinct_bytes(hash_bytes(7), family => 16, delta => 1e-6)::records_state;
SELECT distinct_bytes(hash_bytes(7), family => 8)::records_state;
SELECT distinct_bytes(hash_bytes(7), family => 4)::records_state;
SELECT keep_user_bytes(hash_bytes(7), groups => 0)::records_state;
SELECT keep_user_bytes(hash_bytes(7), groups => -1)::records_state;
SELECT keep_user_bytes(hash_bytes(7), delta => 0)::records_state;
SELECT keep_user_bytes(hash_bytes(7), delta => 0.6)::records_state;
SELECT keep_user_bytes(hash_bytes(7), measure => 2)::records_state;
SELECT keep_user_bytes(hash_bytes(7, 7))::records_state;

-- Merging adds sums, with carries, and unites sets of hashes, even if these do not look random.
SELECT merge(s)::text = sums_bytes(sums(8, 8 * 2^31::numeric, 8 * 2^62::numeric)) AS carried
  FROM unnest(ARRAY[3, 5]) n, LATERAL (SELECT sums_bytes(sums(n, n * 2^31::numeric, n * 2^62::numeric))::records_state) v(s);
SELECT merge(s)::text = distinct_bytes(hash_bytes(0, 1, 2, 3, 2^64::numeric - 1)) AS united
  FROM (VALUES (distinct_bytes(hash_bytes(1, 2, 2^64::numeric - 1))::records_state), (distinct_bytes(hash_bytes())::records_state), (NULL),
               (distinct_bytes(hash_bytes(0, 2, 3))::records_state)) v(s);
SELECT merge(s)::text = distinct_bytes(hash_bytes(VARIADIC (SELECT array_agg(i) FROM generate_series(0, 4999) i))) AS united
  FROM (SELECT distinct_bytes(hash_bytes(VARIADIC array_agg(i ORDER BY i)))::records_state
          FROM generate_series(0, 4999) i, generate_series(0, 1) twice GROUP BY (i + twice) % 3, twice) v(s);
-- threat 24: sums of more than 2^62 rows are an error, before they could overflow.
SELECT merge(s)::text = count_bytes(sums(2^62::numeric)) AS most
  FROM (VALUES (count_bytes(sums(2^62::numeric - 1))::records_state), (count_bytes(sums(0))::records_state), (NULL), (count_bytes(sums(1))::records_state)) v(s);
SELECT merge(s) FROM (VALUES (count_bytes(sums(2^62::numeric))::records_state), (count_bytes(sums(1))::records_state)) v(s);
\echo :SQLSTATE
SELECT merge(s) FROM (VALUES (count_bytes(sums(1))::records_state), (count_bytes(sums(2^62::numeric))::records_state)) v(s);
SELECT merge(s) FROM (SELECT count_bytes(sums(2^62::numeric))::records_state FROM generate_series(1, 4)) v(s);
SELECT merge(s) FROM (SELECT sums_bytes(sums(2^62::numeric, 2^93::numeric, 2^124::numeric))::records_state FROM generate_series(1, 16)) v(s);
-- States of different calls cannot be merged.
SELECT merge(s) FROM (VALUES (sums_bytes(sums(1))::records_state), (sums_bytes(sums(1), upper => 5)::records_state)) v(s);
SELECT merge(s) FROM (VALUES (sums_bytes(sums(1))::records_state), (sums_bytes(sums(1), epsilon => 2)::records_state)) v(s);
SELECT merge(s) FROM (VALUES (sums_bytes(sums(1))::records_state), (sums_bytes(sums(1), family => 11)::records_state)) v(s);
SELECT merge(s) FROM (VALUES (sums_bytes(sums(1))::records_state), (sums_bytes(sums(1), family => 13)::records_state)) v(s);
SELECT merge(s) FROM (VALUES (count_bytes(sums(1))::records_state), (count_bytes(sums(1), family => 9)::records_state)) v(s);
SELECT merge(s) FROM (VALUES (count_bytes(sums(1))::records_state), (count_bytes(sums(1), family => 14, delta => 1e-6)::records_state)) v(s);
SELECT merge(s) FROM (VALUES (distinct_bytes(hash_bytes(1))::records_state), (distinct_bytes(hash_bytes(2), check_ => word(0))::records_state)) v(s);
SELECT merge(s) FROM (VALUES (distinct_bytes(hash_bytes(1))::records_state), (keep_user_bytes(hash_bytes(2))::records_state)) v(s);
SELECT merge(s) FROM (VALUES (keep_user_bytes(hash_bytes(1))::records_state), (keep_user_bytes(hash_bytes(2), groups => 3)::records_state)) v(s);
SELECT merge(s) FROM (VALUES (distinct_bytes(hash_bytes(1))::records_state), (state(1))) v(s);
SELECT merge(s) FROM (VALUES (state(1)), (distinct_bytes(hash_bytes(1))::records_state)) v(s);
SELECT merge(s) FROM (VALUES (sums_bytes(sums(1))::records_state), (iqr_state(1))) v(s);

-- Final functions accept states of their own family and parameters, with any number of rows. The state is the value of a row. For
-- functions that hash their first argument or that take no value it is the initial state.
CREATE FUNCTION keep(records_state, records_state, float8, jsonb) RETURNS records_state
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN coalesce($1, $2);
CREATE FUNCTION keep(records_state, int, float8, jsonb) RETURNS records_state LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN $1;
CREATE FUNCTION keep(records_state, int, float8, float8, bigint) RETURNS records_state LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN $1;
CREATE FUNCTION keep(records_state, float8, float8) RETURNS records_state LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN $1;
CREATE AGGREGATE value_count_of(records_state, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = value_count_final, FINALFUNC_MODIFY = READ_WRITE);
CREATE AGGREGATE sum_of(records_state, float8, float8, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = sum_final, FINALFUNC_MODIFY = READ_WRITE);
CREATE AGGREGATE avg_of(records_state, float8, float8, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = mean_final, FINALFUNC_MODIFY = READ_WRITE);
CREATE AGGREGATE var_pop_of(records_state, float8, float8, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = var_pop_final, FINALFUNC_MODIFY = READ_WRITE);
CREATE AGGREGATE stats_of(records_state, float8, float8, float8, jsonb) (
  SFUNC = keep, STYPE = records_state, FINALFUNC = stats_final, FINALFUNC_MODIFY = READ_WRITE);
CREATE PROCEDURE create_aggregate(name text, types text, final text, state text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE AGGREGATE %I(%s) (SFUNC = keep, STYPE = records_state, INITCOND = %L, FINALFUNC = %I, FINALFUNC_MODIFY = READ_WRITE)',
                 name, types, state, final);
END
$$;
CALL create_aggregate('keep_of_most', 'float8, float8', 'keep_group_final', count_bytes(sums(2^62::numeric), family => 14, delta => 1e-6));
CALL create_aggregate('keep_of_none', 'float8, float8', 'keep_group_final', count_bytes(sums(0), family => 14, delta => 1e-6));
CALL create_aggregate('keep_of_count', 'float8, float8', 'keep_group_final', count_bytes(sums(0)));
SELECT hash_bytes(VARIADIC array_agg(i)) AS thousand FROM generate_series(1, 1000) i \gset
CALL create_aggregate('distinct_of_thousand', 'int, float8, jsonb', 'distinct_final', distinct_bytes(:'thousand'));
CALL create_aggregate('distinct_of_other_key', 'int, float8, jsonb', 'distinct_final', distinct_bytes(:'thousand', check_ => '\x726fdb47dd0e0e30'));
CALL create_aggregate('distinct_of_users', 'int, float8, jsonb', 'distinct_final', keep_user_bytes(:'thousand'));
CALL create_aggregate('distinct_of_count', 'int, float8, jsonb', 'distinct_final', count_bytes(sums(1)));
CALL create_aggregate('keep_of_users', 'int, float8, float8, bigint', 'keep_user_group_final', keep_user_bytes(:'thousand'));
CALL create_aggregate('keep_of_no_users', 'int, float8, float8, bigint', 'keep_user_group_final', keep_user_bytes(hash_bytes()));
CALL create_aggregate('keep_of_more_groups', 'int, float8, float8, bigint', 'keep_user_group_final', keep_user_bytes(:'thousand', groups => 3));
CALL create_aggregate('keep_of_values', 'int, float8, float8, bigint', 'keep_user_group_final', distinct_bytes(:'thousand'));
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA regress_dpq_support TO regress_dpq_support;
SET ROLE regress_dpq_support;
-- (Each answer is false with a probability below 1e-40.)
SELECT value_count_of(count_bytes(sums(2^62::numeric), family => 9)::records_state, 1, '{}') BETWEEN 4611686018427386904 AND 4611686018427388904 AS value_count,
       sum_of(sums_bytes(sums(2^62::numeric, 2^95::numeric), family => 11)::records_state, 1, 0, 4, '{}') / 2^64 BETWEEN 0.999 AND 1.001 AS sum,
       avg_of(sums_bytes(sums(2^62::numeric, 2^93::numeric, 2^124::numeric))::records_state, 1, 0, 4, '{}') BETWEEN 3.999 AND 4 AS avg,
       var_pop_of(sums_bytes(sums(2^62::numeric, 2^92::numeric, 2^123::numeric), family => 13)::records_state, 1, 0, 4, '{}') BETWEEN 3.999 AND 4 AS var_pop,
       (stats_of(sums_bytes(sums(2^62::numeric, 2^93::numeric, 2^124::numeric), family => 13)::records_state, 1, 0, 4, '{}')).count / 2^62 BETWEEN 0.999 AND 1.001 AS stats,
       keep_of_most(1, 1e-6) AS keep, NOT keep_of_none(1, 1e-6) AS keep_none,
       distinct_of_thousand(1, 1, '{}') BETWEEN 900 AND 1100 AS distinct;
SELECT keep_of_users(1, 1, 1e-6, 2) AS keep_users, NOT keep_of_no_users(1, 1, 1e-6, 2) AS keep_no_users;
SELECT value_count_of(count_bytes(sums(1))::records_state, 1, '{}');
SELECT value_count_of(count_bytes(sums(1), family => 9, measure => 2)::records_state, 1, '{}');
SELECT sum_of(sums_bytes(sums(1))::records_state, 1, 0, 4, '{}');
SELECT avg_of(sums_bytes(sums(1), family => 13)::records_state, 1, 0, 4, '{}');
SELECT avg_of(sums_bytes(sums(1))::records_state, 1, 0, 5, '{}');
SELECT avg_of(sums_bytes(sums(1))::records_state, 1, 0, 4, '{"granularity": 1}');
SELECT stats_of(sums_bytes(sums(1))::records_state, 1, 0, 4, '{}');
SELECT avg_of(distinct_bytes(hash_bytes(1))::records_state, 1, 0, 4, '{}');
SELECT avg_of(state(1), 1, 0, 4, '{}');
SELECT keep_of_count(1, 1e-6);
SELECT distinct_of_other_key(1, 1, '{}');
SELECT distinct_of_users(1, 1, '{}');
SELECT distinct_of_count(1, 1, '{}');
SELECT keep_of_more_groups(1, 1, 1e-6, 2);
SELECT keep_of_values(1, 1, 1e-6, 2);
RESET ROLE;

INSERT INTO original SELECT kind, s::bytea FROM (SELECT kind, summary_state(kind, '{1,2,3,5,7,11,12}')::text FROM summary_kind) v(kind, s);
SELECT read(substr(s, 1, length)), count(*) AS lengths
  FROM original JOIN summary_kind ON family = kind, generate_series(0, octet_length(s) - 1) length GROUP BY 1;
SELECT kind, count(*) AS bytes, count(*) FILTER (WHERE outcome = 'changed') AS changed,
       count(*) FILTER (WHERE outcome = 'error') > 0 AS errors
  FROM (SELECT kind, read(set_byte(s, at, byte)) AS outcome
          FROM original JOIN summary_kind ON family = kind, generate_series(0, octet_length(s) - 1) at, generate_series(0, 255) byte) o
 GROUP BY kind ORDER BY kind;
UPDATE dpquantile.user_key SET key = (SELECT key FROM true_key);

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_support CASCADE;
DROP OWNED BY regress_dpq_support;
DROP ROLE regress_dpq_support;
