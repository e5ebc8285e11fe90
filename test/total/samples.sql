-- Extreme values of each type, in tables with the names of the types: the arguments of the calls in test/t/total_functions.pl.
CREATE SCHEMA samples;
CREATE TYPE samples.mood AS ENUM ('sad', 'ok', 'happy');
-- The number of this value is not in the order of the values.
ALTER TYPE samples.mood ADD VALUE 'fine' BEFORE 'happy';

-- Makes a table of these values and NULL.
CREATE FUNCTION samples.fill(type name, VARIADIC sample text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE samples.%1$I AS SELECT v::pg_catalog.%1$I FROM unnest($1) v', type) USING sample || NULL::text;
END
$$;

SELECT samples.fill('bool', 't', 'f');
SELECT samples.fill('int2', '0', '1', '-1', '2', '3', '7', '10', '100', '-100', '181', '182', '-182', '32766', '32767', '-32767', '-32768');
SELECT samples.fill('int4', '0', '1', '-1', '2', '3', '7', '10', '12', '30', '31', '32', '46340', '46341', '-46341', '32767', '-32768',
  '65536', '70000', '1000000', '-5000000', '2147483646', '2147483647', '-2147483647', '-2147483648');
SELECT samples.fill('int8', '0', '1', '-1', '2', '3', '7', '32767', '-32768', '2147483647', '2147483648', '-2147483648', '-2147483649',
  '3037000499', '3037000500', '-3037000500', '4294967295', '4294967296', '4611686018427387904', '9223372036854775806',
  '9223372036854775807', '-9223372036854775807', '-9223372036854775808');
SELECT samples.fill('float4', '0', '-0', '1', '-1', '0.5', '1.5', '2.5', '-0.5', '32767.4', '32767.5', '-32768.5', '-32768.6',
  '2147483520', '2147483648', '-2147483648', '9.223372e18', '-9.223372e18', '1e-45', '-1e-45', '1.2e-38', '1e-20', '1e20',
  '3.4028235e38', '-3.4028235e38', 'NaN', 'Infinity', '-Infinity');
SELECT samples.fill('float8', '0', '-0', '1', '-1', '0.5', '1.5', '2', '-2', '3', '-3', '2.5', '-0.5', '10', '100', '-100', '0.1',
  '32767.4', '32767.5', '-32768.5', '2147483647.4', '2147483647.5', '-2147483648.5', '-2147483648.6', '9223372036854774784',
  '9223372036854775807', '-9223372036854775808', '709.7', '709.79', '-745.1', '-745.2', '1023', '1024', '-1074', '-1075', '5e-324',
  '-5e-324', '2.2e-308', '1e-46', '1e-200', '1e200', '-1e200', '3.5e38', '1e15', '1e16', '1.7976931348623157e308',
  '-1.7976931348623157e308', 'NaN', 'Infinity', '-Infinity');
-- 100 and 400 digits are limits of the variants, 131072 digits and 16383 decimals those of the type.
SELECT samples.fill('numeric', '0', '1', '-1', '2', '-2', '3', '0.5', '-0.5', '1.5', '2.5', '10', '-10', '0.1', '0.00', '1.000', '99.995',
  '-99.995', '32767.4', '32767.5', '-32768.5', '2147483647.4', '2147483647.5', '-2147483648.5', '-2147483648.6',
  '9223372036854775807.4', '9223372036854775807.5', '-9223372036854775808.5', '230', '-230', '231', '300', '1e15', '1e16', '1e38',
  '-1e38', '3.4e38', '3.5e38', '1e-45', '1e-46', '1e-99', '1e99', '9e307', '1.8e308', '1e309', '1e-323', '1e-324', '1e-330', 'NaN',
  'Infinity', '-Infinity', '0.33333333333333333333', '-0.14285714285714285714', '1e1000', '-1e131071',
  repeat('9', 100), '0.' || repeat('9', 100), repeat('1', 101), repeat('9', 400), '0.' || repeat('1', 400), repeat('9', 401),
  '0.' || repeat('1', 401), repeat('9', 131072), '0.' || repeat('1', 16383));

-- Texts, patterns, units, zones and formats. 65536 bytes is a limit of the variants.
SELECT samples.fill('text', '', ' ', 'a', 'A', 'abc', ' abc ', 'a,b,,c', ',', '%', '_', 'a%', '%c', '\', 'a\', 'abc\', '\\', 'a\\', '%\',
  '%%_\a', 'ß', 'ÀÉǅ', 'ŉİı', E'\n\t', '€𝄞', '12', '-7', ' 1.5e3', '99999999999', '1e1000', 'Infinity', 'nan', 'true',
  '2024-02-29', '2024-02-30 24:00', 'infinity', '2024-02-29 UTC', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
  'year', 'hour', 'epoch', 'timezone', 'century', 'bogus', 'month', 'day', 'week', 'quarter', 'decade', 'millennium', 'isoyear', 'isodow',
  'doy', 'julian', 'second', 'milliseconds', 'microseconds', 'minute', 'timezone_hour', 'UTC', 'Europe/Berlin', 'America/New_York', '+25',
  'YYYY-MM-DD HH24:MI:SS', '999.99', 'EEEE', '9.9EEEE', 'TMMonth TZ', 'RN', '9V99',
  repeat('x', 2000), repeat('aA', 20000), repeat('ß', 32768), repeat('z', 65536), repeat('z', 65537), repeat('ab', 300000));
SELECT samples.fill('varchar', VARIADIC array_agg(v)) FROM samples.text WHERE v <> '';
SELECT samples.fill('bpchar', VARIADIC array_agg(v)) FROM samples.text WHERE v <> '';
SELECT samples.fill('name', VARIADIC array_agg(v)) FROM samples.text WHERE length(v) < 3000;
SELECT samples.fill('char', VARIADIC array_agg(v)) FROM samples.text WHERE length(v) < 3;
SELECT samples.fill('bytea', VARIADIC array_agg(convert_to(v, 'utf8')::text) || ARRAY['\x00ff', '\x5c']) FROM samples.text;

SELECT samples.fill('date', '4714-11-24 BC', '4713-01-01 BC', '0001-12-31 BC', '0001-01-01', '1582-10-15', '1900-02-28', '1969-12-31',
  '1970-01-01', '1999-12-31', '2000-01-01', '2000-02-29', '2024-02-29', '2024-03-31', '2038-01-19', '9999-12-31', '294276-12-31',
  '294277-01-01', '5874897-12-31', 'infinity', '-infinity');
SELECT samples.fill('time', '00:00', '00:00:00.000001', '12:34:56.789', '23:59:59.999999', '24:00');
SELECT samples.fill('timetz', '00:00+00', '00:00:00.000001+15:59:59', '12:34:56.789-05', '23:59:59.999999-15:59:59', '24:00+01');
SELECT samples.fill('timestamp', '4714-11-24 BC', '4714-11-24 00:00:00.000001 BC', '4713-01-01 BC', '0001-12-31 23:59:59 BC',
  '0001-01-01', '1582-10-15', '1969-12-31 23:59:59.999999', '1970-01-01', '1999-12-31 23:59:59.9999995', '2000-01-01',
  '2000-02-29 12:00', '2024-02-29 23:59:59.999999', '2024-03-31 02:30', '2024-10-27 02:30', '9999-12-31', '294276-01-01',
  '294276-12-30 12:00', '294276-12-31 23:59:59.999999', 'infinity', '-infinity');
SELECT samples.fill('timestamptz', '4714-11-24 00:00:00+00 BC', '4714-11-24 00:00:00.000001+00 BC', '4714-11-24 12:00:00+00 BC',
  '4713-01-01 00:00+00 BC', '0001-12-31 23:59:59+00 BC', '0001-01-01 00:00+00', '1969-12-31 23:59:59.999999+00', '1970-01-01 00:00+00',
  '2000-02-29 12:00+00', '2024-03-31 01:30+00', '2024-10-27 01:30+00', '9999-12-31 00:00+00', '294276-01-01 00:00+00',
  '294276-12-30 12:00+00', '294276-12-31 23:59:59.999999+00', 'infinity', '-infinity');
SELECT samples.fill('interval', '0', '1 day', '-1 day', '1 month', '-1 month', '1 year', '1 hour', '-1 hour', '00:00:00.000001',
  '-00:00:00.000001', '15:59:59', '16:00', '1 day 24:00', '1 mon -1 day 00:00:01', '35 days 27:00',
  '11 mons 29 days 23:59:59.999999', '-11 mons 40 days -99:00', '1000 years', '-6700 years', '298000 years', '178000000 years',
  '-178000000 years', '178956970 years 7 mons', '-178956970 years -8 mons', '2147483647 days', '-2147483648 days',
  '2562047788:00:54.775807', '-2562047788:00:54.775807', '178956970 years 7 mons 2147483647 days 2562047788:00:54.775806');

SELECT samples.fill('uuid', '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'a0eebc99-9c0b-1ef8-bb6d-6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a0eebc99-9c0b-7ef8-bb6d-6bb9bd380a11');
SELECT samples.fill('oid', '0', '1', '2147483647', '2147483648', '4294967295');
SELECT samples.fill('xid', '0', '1', '2147483648', '4294967295');
SELECT samples.fill('cid', '0', '1', '4294967295');
SELECT samples.fill('xid8', '0', '1', '18446744073709551615');
SELECT samples.fill('tid', '(0,0)', '(0,1)', '(4294967295,65535)');
SELECT samples.fill('pg_lsn', '0/0', '0/1', 'FFFFFFFF/FFFFFFFF');
SELECT samples.fill('money', '0', '1', '-1', '92233720368547758.07', '-92233720368547758.08');
SELECT samples.fill('bit', '', '0', '1', '1111111');
SELECT samples.fill('varbit', '', '0', '1', '1111111111', repeat('01', 1000));
SELECT samples.fill('inet', '0.0.0.0/0', '127.0.0.1', '255.255.255.255', '::/0', '::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff');
SELECT samples.fill('macaddr', '00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff');
SELECT samples.fill('macaddr8', '00:00:00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff:ff:ff');
SELECT samples.fill('lseg', '[(0,0),(1,1)]', '[(0,0),(-1.7e308,1.7e308)]', '[(1.7e308,0),(-1.7e308,0)]',
  '[(NaN,0),(Infinity,-Infinity)]', '[(5e-324,0),(0,0)]');
SELECT samples.fill('circle', '<(0,0),0>', '<(0,0),1e200>', '<(1,1),5e-324>', '<(NaN,0),Infinity>');
-- Numbers with long texts, the shortest text that has too many, a text of control characters, 600 levels, and more than 65536 bytes.
SELECT samples.fill('jsonb', 'null', 'true', 'false', '0', '1', '-7.50', '32768', '2147483648', '9223372036854775808', '1e15', '1e38', '1e300', '1e-300', '1e400',
  '1e100000', '0.' || repeat('1', 401), '"a"', '""', '"12"', '"1e1000"', '[]', '{}', '[1, "a", null, [2, {"a": 1}], "abc", ""]', '{"a": "12"}', '{"a": null}',
  '{"a": {"a": [1, 2, {"abc": "true"}]}, "": 1.50, "A": true, "abc": "a \"b\" \n"}', '[1e400, 1e-400]', '[' || repeat('1e400, ', 20) || '1]',
  '{"a": "' || repeat('\u0001', 300) || '"}', '{"a": "' || repeat('\u0001', 20) || '", "12": "' || repeat('b\n', 3000) || '"}',
  repeat('[', 600) || repeat(']', 600), repeat('{"a":', 120) || '1' || repeat('}', 120), '["' || repeat('x', 2000) || '"]', '{"a": "' || repeat('z', 100000) || '"}',
  '[' || repeat('"a", ', 5000) || '"12"]');
SELECT samples.fill('_text', '{}', '{a}', '{a,a}', '{a,a,1}', '{3,-1,a}', '{NULL}', '{a,NULL}', '{"",A,abc,12}', '{{a,a},{2,abc}}', '{x,y,99999999999}',
  array_fill('a'::text, ARRAY[100])::text, array_fill('none'::text, ARRAY[3000])::text);
CREATE TABLE samples.anyenum AS SELECT v::samples.mood FROM unnest('{sad,ok,happy,fine,NULL}'::text[]) v;

-- PostgreSQL 17 and later have them.
DO $$
BEGIN
  IF current_setting('server_version_num')::int >= 170000 THEN
    INSERT INTO samples.interval VALUES ('infinity'), ('-infinity');
  END IF;
END
$$;

-- Texts that are not in the encoding of the database. A client cannot store them, but older versions could make them.
CREATE CAST (bytea AS text) WITHOUT FUNCTION;
CREATE TABLE samples.invalid AS
  SELECT v::text FROM unnest('{"\\xc3","\\x61c3","\\xe282","\\x61ff62","\\xf0","\\x80","\\xc361c3"}'::bytea[]) v;
DROP CAST (bytea AS text);
