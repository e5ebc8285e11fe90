-- threat 26: one row with a numeric of very many digits. The conversion of a numeric reads a bounded number of bytes,
-- and gives the float8 that PostgreSQL's cast gives.
\set SHOW_CONTEXT never
CREATE SCHEMA regress_dpq_numeric;
SET search_path = regress_dpq_numeric, public;
-- The state of dp_iqr ends with the value that the transition function has made of a numeric.
CREATE AGGREGATE state_of(numeric, float8, float8) (
  SFUNC = dpquantile.iqr_transition, STYPE = dpquantile.records_state);
CREATE AGGREGATE state_of(float8, float8, float8) (
  SFUNC = dpquantile.iqr_transition, STYPE = dpquantile.records_state);
CREATE FUNCTION same(numeric, float8) RETURNS boolean LANGUAGE sql AS
  'SELECT (SELECT right(state_of(x, 1, 1e-9)::text, 16) FROM (SELECT $1) v(x)) =
          (SELECT right(state_of(x, 1, 1e-9)::text, 16) FROM (SELECT $2) v(x))';

-- Random numerics: 1 to 60 digits, a point anywhere from 20 places before the digits to 20 after them. The same
-- numbers on every server.
CREATE FUNCTION random_digits(integer) RETURNS text LANGUAGE sql AS
  'SELECT string_agg(floor(random() * 10)::integer::text, '''') FROM generate_series(1, $1)';
SELECT setseed(0.5);
CREATE TABLE numbers AS
  SELECT (CASE WHEN random() < 0.5 THEN '-' ELSE '' END || random_digits(count) || 'e' || shift)::numeric AS x, count
    FROM (SELECT 1 + floor(60 * random() ^ 2)::integer AS count, floor(60 * random())::integer - 40 AS shift
            FROM generate_series(1, 20000)) r;
-- Prices, whole numbers, seconds with microseconds, all doubles' exponents, halfway cases
INSERT INTO numbers
  SELECT (floor(random() * 10 ^ floor(random() * 15)) / 100)::numeric, 0 FROM generate_series(1, 2000);
INSERT INTO numbers SELECT floor(random() * 2 ^ 62)::bigint, 0 FROM generate_series(1, 2000);
INSERT INTO numbers SELECT 1700000000 + round(random()::numeric * 10000000, 6), 0 FROM generate_series(1, 2000);
INSERT INTO numbers
  SELECT (random_digits(17) || 'e' || e)::numeric, 0 FROM generate_series(-320, 290) e, generate_series(1, 3);
INSERT INTO numbers
  SELECT 9007199254740993 + 2 * i + d, 0
    FROM generate_series(0, 20) i, (VALUES (0), (1e-12), (-1e-12), (1e-30), (-1e-30), (1e-200), (1e-16000)) v(d);
INSERT INTO numbers
  SELECT (9007199254740993 + 2 * i) * 10 ^ e::numeric, 0 FROM generate_series(0, 20) i, unnest('{1,3,10,22,23}'::int[]) e;
SELECT count(*) AS numbers, count(*) FILTER (WHERE same(x, x::float8)) AS same FROM numbers;

-- Values beyond float8, zeros of any scale, and special values
SELECT expected, count(*) AS values, count(*) FILTER (WHERE same(x, expected)) AS same
  FROM (VALUES (1e309, float8 'Infinity'), (-1e309, '-Infinity'), ('1e131071', 'Infinity'), ('-1e131071', '-Infinity'),
               (repeat('9', 131072)::numeric, 'Infinity'), (1.7976931348623158e308, 1.7976931348623157e308),
               (1.7976931348623159e308, 'Infinity'), ('Infinity', 'Infinity'), ('-Infinity', '-Infinity'),
               ('NaN', 'NaN'), (0, 0), (-0.0, 0), (round(0::numeric, 16383), 0), (1e-400, 0), ('1e-16000', 0),
               (5e-324, 5e-324), (2.4e-324, 0), (2.5e-324, 5e-324), (2.2250738585072011e-308, 2.225073858507201e-308),
               (1 + 1e-16000, 1), (repeat('1', 16000)::numeric / 10 ^ 15999::numeric, 1.1111111111111112)) v(x, expected)
 GROUP BY expected ORDER BY expected;

-- Every way to store a value
CREATE TABLE stored (way text, x numeric);
-- By lz4, the default since PostgreSQL 19, all of a value is read.
ALTER TABLE stored ALTER x SET COMPRESSION pglz;
ALTER TABLE stored ALTER x SET STORAGE PLAIN;
INSERT INTO stored SELECT 'inline', (random_digits(count) || '.' || random_digits(10))::numeric
  FROM generate_series(1, 300, 7) count;
ALTER TABLE stored ALTER x SET STORAGE MAIN;
INSERT INTO stored SELECT 'compressed', (random_digits(count) || '.' || repeat('56789', 3000))::numeric
  FROM generate_series(1, 300, 7) count;
ALTER TABLE stored ALTER x SET STORAGE EXTERNAL;
INSERT INTO stored SELECT 'out of line', (random_digits(20) || '.' || random_digits(16000))::numeric
  FROM generate_series(1, 10);
INSERT INTO stored SELECT 'out of line, huge', ('1' || random_digits(120000))::numeric FROM generate_series(1, 10);
ALTER TABLE stored ALTER x SET STORAGE EXTENDED;
-- Compressed because of the zeros, and still too long for the row
INSERT INTO stored SELECT 'out of line, compressed', ('1' || repeat('0', 60000) || random_digits(60000))::numeric
  FROM generate_series(1, 10);
SELECT way, count(*) AS values, count(*) FILTER (WHERE same(x, CASE WHEN x < 1e300 THEN x::float8 ELSE 'Infinity' END)) AS same,
       sum(pg_column_size(x)) < 0.4 * sum(length(x::text)) AS compressed
  FROM stored GROUP BY way ORDER BY way;

-- Of a value out of line only the first piece is read: one block.
CREATE FUNCTION blocks_read(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  pieces CONSTANT oid := (SELECT reltoastrelid FROM pg_class WHERE oid = 'stored'::regclass);
  before CONSTANT bigint := pg_stat_get_xact_blocks_fetched(pieces);
BEGIN
  EXECUTE query;
  RETURN pg_stat_get_xact_blocks_fetched(pieces) - before;
END
$$;
SELECT way, blocks_read(format('SELECT state_of(x, 1, 1e-9) FROM stored WHERE way = %L', way)) / count(*) AS blocks,
       blocks_read(format('SELECT count(abs(x)) FROM stored WHERE way = %L', way)) / count(*) AS all_blocks
  FROM stored GROUP BY way ORDER BY way;

-- The user-level aggregates convert in the same way.
CREATE AGGREGATE user_state_of(anynonarray, numeric, float8, float8, float8) (
  SFUNC = dpquantile.user_mean_transition, STYPE = dpquantile.records_state);
CREATE AGGREGATE user_state_of(anynonarray, float8, float8, float8, float8) (
  SFUNC = dpquantile.user_mean_transition, STYPE = dpquantile.records_state);
SELECT way, count(*) AS values,
       count(*) FILTER (WHERE (SELECT right(user_state_of(1, v, 1, 0, 100)::text, 32) FROM (SELECT x) s(v)) =
                              (SELECT right(user_state_of(1, v, 1, 0, 100)::text, 32)
                                 FROM (SELECT CASE WHEN x < 1e300 THEN x::float8 ELSE 'Infinity' END) s(v))) AS same,
       blocks_read(format('SELECT user_state_of(1, x, 1, 0, 100) FROM stored WHERE way = %L', way)) / count(*) AS blocks
  FROM stored GROUP BY way ORDER BY way;

SET client_min_messages = warning;
DROP SCHEMA regress_dpq_numeric CASCADE;
