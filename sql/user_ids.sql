-- threat 41: a 64-bit hash of the id identifies a user. The id may have any type that can be hashed. Equal ids have equal
-- hashes, however they are stored, and different ids have different hashes.
\set SHOW_CONTEXT never
CREATE SCHEMA regress_dpq_user_ids;
SET search_path = regress_dpq_user_ids, public;
-- An aggregate that shows its state, used for one row at a time. The user's hash begins at byte 71.
CREATE AGGREGATE state_of(anynonarray, float8, float8, float8, float8) (
  SFUNC = dpquantile.user_mean_transition, STYPE = dpquantile.records_state);
CREATE FUNCTION hash_in(state dpquantile.records_state) RETURNS bytea LANGUAGE sql RETURN (
  substr(state::text::bytea, 72, 8));
CREATE FUNCTION hash_of(id anynonarray) RETURNS bytea LANGUAGE sql AS
  'SELECT hash_in((SELECT state_of(id, 0, 1, 0, 1)))';
SELECT octet_length(state_of(1, 0.5, 1, 0, 1)::text::bytea) - 71 AS row_bytes,
       right(state_of(1, 0.5, 1, 0, 1)::text, 16) AS grid_and_value;

-- Runs a query of ids. ids: their number; hashes: the number of different hashes; wrong: the number of pairs with equal
-- ids and different hashes, or different ids and equal hashes.
CREATE FUNCTION check_ids(query text, OUT type regtype, OUT ids bigint, OUT hashes bigint, OUT wrong bigint)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(
    'WITH h AS MATERIALIZED (SELECT id, hash_of(id) AS hash FROM (%s) q(id))
     SELECT pg_typeof((array_agg(a.id))[1]), count(DISTINCT a.ctid), count(DISTINCT a.hash),
            count(*) FILTER (WHERE (a.id = b.id) <> (a.hash = b.hash))
       FROM (SELECT id, hash, row_number() OVER () AS ctid FROM h) a, h b', query)
    INTO type, ids, hashes, wrong;
END
$$;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN name_of_user AS text CHECK (value <> '');
CREATE DOMAIN padded AS char(5);
CREATE TABLE queries (number int, query text);
INSERT INTO queries VALUES
  (1, 'SELECT x::int2 FROM generate_series(-200, 200) x'),
  (2, 'SELECT x FROM generate_series(-200, 200) x'),
  -- The halves of these numbers are equal, or the server's own hash folds them into one.
  (3, 'SELECT hi * 4294967296 + lo FROM generate_series(-10, 10) hi, generate_series(-10::bigint, 10) lo'),
  (4, 'SELECT (hi << 32) + hi FROM generate_series(0::bigint, 200) hi'),
  (12, 'SELECT ''0/0''::pg_lsn + (hi * 4294967296 + lo) FROM generate_series(0, 10::numeric) hi, generate_series(0, 10) lo'),
  (13, 'SELECT (hi * 4294967296 + lo)::text::xid8 FROM generate_series(0, 10) hi, generate_series(0, 10) lo'),
  (14, 'SELECT (time ''00:00'' + (hi * 4294967296 + lo) * interval ''1 us'' || zone)::timetz
          FROM generate_series(0, 10) hi, generate_series(0, 10) lo, unnest(''{+00,+01}''::text[]) zone'),
  (5, 'SELECT format(''user %s'', x) FROM generate_series(1, 400) x'),
  (6, 'SELECT repeat(''x'', x) FROM generate_series(0, 400) x'),
  (7, 'SELECT format(''user %s'', x)::varchar(20) FROM generate_series(1, 400) x'),
  (8, 'SELECT md5(x::text)::uuid FROM generate_series(1, 400) x'),
  (9, 'SELECT date ''2020-01-01'' + x FROM generate_series(1, 400) x'),
  (10, 'SELECT timestamptz ''2020-01-01 00:00+00'' + x * interval ''1 us'' FROM generate_series(1, 400) x'),
  -- Equal values with different bytes
  (11, 'SELECT (x::text || y)::numeric FROM generate_series(-100, 100) x, unnest(''{"",.0,.000}''::text[]) y'),
  (22, 'SELECT x FROM unnest(''{0,1,-1,10,100,0.1,NaN,NaN,Infinity,-Infinity,1e1000,-1e1000,1e-1000,123456789012345678901234567890}''::numeric[]) x'),
  -- The length of character(n) is not part of the type here.
  (15, 'SELECT CASE x WHEN 1 THEN ''a''::char(1) WHEN 2 THEN ''a''::char(5) ELSE ''b''::char(2) END FROM generate_series(1, 3) x'),
  (16, 'SELECT x FROM unnest(''{a,"a  ",b}''::padded[]) x'),
  (17, 'SELECT x FROM unnest(enum_range(NULL::mood)) x'),
  (18, 'SELECT format(''user %s'', x)::name_of_user FROM generate_series(1, 100) x'),
  (19, 'SELECT x FROM unnest(''{10.0.0.1,10.0.0.1/32,10.0.0.1/24,::1,10.0.0.2}''::inet[]) x'),
  (20, 'SELECT ''\x00''::bytea || int4send(x) FROM generate_series(1, 100) x');
SELECT c.* FROM queries, check_ids(query) c ORDER BY number;
-- More types
CREATE FUNCTION hashes(query text) RETURNS TABLE (ids bigint, hashes bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT count(*), count(DISTINCT h) FROM (
    SELECT hash_of(id) AS h FROM (%s) q(id)) s', query);
END
$$;
SELECT h.* FROM (VALUES
  (1, 'SELECT x % 2 = 0 FROM generate_series(1, 100) x'),
  (2, 'SELECT chr(x)::"char" FROM generate_series(1, 100) x'),
  (3, 'SELECT (x * interval ''1 hour'' + ''00:00+00''::timetz) FROM generate_series(1, 20) x, generate_series(1, 2)'),
  (5, 'SELECT x::text::macaddr8 FROM unnest(''{08:00:2b:01:02:03:04:05,08:00:2b:01:02:03:04:06}''::text[]) x'),
  (6, 'SELECT x::oid FROM generate_series(1, 100) x'),
  (7, 'SELECT format(''user_%s'', x)::name FROM generate_series(1, 100) x')) v(number, query), hashes(query) h
 ORDER BY number;

-- Long ids that are stored compressed or out of line, and the same ids as plain values
CREATE TABLE long (kind text, id text);
ALTER TABLE long ALTER id SET STORAGE external;
INSERT INTO long SELECT 'external', string_agg(md5((u * 1000 + i)::text), '') FROM generate_series(1, 5) u, generate_series(1, 200) i GROUP BY u;
ALTER TABLE long ALTER id SET STORAGE extended;
INSERT INTO long SELECT 'extended', repeat(format('user %s', u), 5000) FROM generate_series(1, 5) u;
SELECT kind, count(*), bool_and(hash_of(id) = hash_of(id || '')) AS same,
       count(DISTINCT hash_of(id)) AS hashes
  FROM long GROUP BY kind ORDER BY kind;

-- A type whose operator class claims that equal values have equal bytes, although trailing blanks do not count. Some
-- versions of PostgreSQL claim it of character(n). Two spellings of one id are one user all the same.
SET client_min_messages = warning;
CREATE TYPE blank_padded;
CREATE FUNCTION blank_padded_in(cstring, oid, int4) RETURNS blank_padded LANGUAGE internal IMMUTABLE STRICT AS 'bpcharin';
CREATE FUNCTION blank_padded_out(blank_padded) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'bpcharout';
CREATE TYPE blank_padded (INPUT = blank_padded_in, OUTPUT = blank_padded_out, LIKE = bpchar, COLLATABLE = true);
CREATE FUNCTION blank_padded_eq(blank_padded, blank_padded) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'bpchareq';
CREATE FUNCTION blank_padded_lt(blank_padded, blank_padded) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'bpcharlt';
CREATE FUNCTION blank_padded_le(blank_padded, blank_padded) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'bpcharle';
CREATE FUNCTION blank_padded_gt(blank_padded, blank_padded) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'bpchargt';
CREATE FUNCTION blank_padded_ge(blank_padded, blank_padded) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'bpcharge';
CREATE FUNCTION blank_padded_cmp(blank_padded, blank_padded) RETURNS int4 LANGUAGE internal IMMUTABLE STRICT AS 'bpcharcmp';
CREATE FUNCTION blank_padded_hash(blank_padded) RETURNS int4 LANGUAGE internal IMMUTABLE STRICT AS 'hashbpchar';
CREATE FUNCTION blank_padded_hash(blank_padded, int8) RETURNS int8 LANGUAGE internal IMMUTABLE STRICT AS 'hashbpcharextended';
CREATE OPERATOR = (LEFTARG = blank_padded, RIGHTARG = blank_padded, FUNCTION = blank_padded_eq, HASHES, MERGES);
CREATE OPERATOR < (LEFTARG = blank_padded, RIGHTARG = blank_padded, FUNCTION = blank_padded_lt);
CREATE OPERATOR <= (LEFTARG = blank_padded, RIGHTARG = blank_padded, FUNCTION = blank_padded_le);
CREATE OPERATOR > (LEFTARG = blank_padded, RIGHTARG = blank_padded, FUNCTION = blank_padded_gt);
CREATE OPERATOR >= (LEFTARG = blank_padded, RIGHTARG = blank_padded, FUNCTION = blank_padded_ge);
CREATE OPERATOR CLASS blank_padded_ops DEFAULT FOR TYPE blank_padded USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
  FUNCTION 1 blank_padded_cmp(blank_padded, blank_padded), FUNCTION 4 btequalimage(oid);
-- threat 41: a hash function of another equality would make two users of one id. The type then counts as one without a
-- hash function.
CREATE FUNCTION same_bytes(blank_padded, blank_padded) RETURNS bool LANGUAGE internal IMMUTABLE STRICT AS 'byteaeq';
CREATE FUNCTION hash_bytes(blank_padded) RETURNS int4 LANGUAGE internal IMMUTABLE STRICT AS 'hashvarlena';
CREATE FUNCTION hash_bytes(blank_padded, int8) RETURNS int8 LANGUAGE internal IMMUTABLE STRICT AS 'hashvarlenaextended';
CREATE OPERATOR === (LEFTARG = blank_padded, RIGHTARG = blank_padded, FUNCTION = same_bytes, HASHES);
CREATE OPERATOR CLASS bytes_ops DEFAULT FOR TYPE blank_padded USING hash AS
  OPERATOR 1 ===, FUNCTION 1 hash_bytes(blank_padded), FUNCTION 2 hash_bytes(blank_padded, int8);
SELECT hash_of('a'::blank_padded) = hash_of('a  '::blank_padded) AS one_user;
DROP OPERATOR FAMILY bytes_ops USING hash;
CREATE OPERATOR CLASS blank_padded_ops DEFAULT FOR TYPE blank_padded USING hash AS
  OPERATOR 1 =, FUNCTION 1 blank_padded_hash(blank_padded), FUNCTION 2 blank_padded_hash(blank_padded, int8);
RESET client_min_messages;
SELECT a = b AS equal, hash_of(a) = hash_of(b) AS one_user
  FROM (VALUES ('a'::blank_padded, 'a  '::blank_padded), ('a', 'b')) v(a, b);

-- With a deterministic collation equal bytes are equal ids. With another collation its own equality counts.
SELECT count(DISTINCT hash_of(id COLLATE "C")) AS c,
       count(DISTINCT hash_of(id COLLATE "und-x-icu")) AS deterministic
  FROM unnest('{anna,Anna,ANNA,bert}'::text[]) id;
CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT count(DISTINCT hash_of(id COLLATE no_case)) AS no_case
  FROM unnest('{anna,Anna,ANNA,bert}'::text[]) id;
-- Every pair of two such strings has one hash if and only if it is equal.
CREATE COLLATION no_accent (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE COLLATION no_blank (provider = icu, locale = 'und-u-ka-shifted-ks-level3', deterministic = false);
CREATE COLLATION normal (provider = icu, locale = 'und-u-kk', deterministic = false);
SELECT name, wrong
  FROM unnest('{no_case,no_accent,no_blank,normal}'::text[]) name, LATERAL check_ids(format(
    'WITH s(s) AS (SELECT unnest(E''{"",a,A,\u00e1,a\u0301,\u0323,\u0301,\u00df,ss,\ufb01,\u00ad,\u200b," ",-,\ud55c,\u1112\u1161\u11ab}''::text[]))
     SELECT (a.s || b.s) COLLATE %I FROM s a, s b', name))
 ORDER BY name;
CREATE TABLE in_no_case (id text COLLATE no_case, other text COLLATE "C", x float8);
-- Conflicting collations in the expression raise an error, with and without rows.
SELECT dp_user_mean(id || other, x, 1, 0, 1) FROM in_no_case;
INSERT INTO in_no_case VALUES (NULL, NULL, NULL), ('anna', 'a', 1);
SELECT dp_user_mean(id || other, x, 1, 0, 1) FROM in_no_case;
SELECT dp_user_mean((id || other)::char(9), x, 1, 0, 1) FROM in_no_case;
-- The collation of the grid does not affect the hash of the user.
CREATE AGGREGATE grid_state_of(anynonarray, text, float8, float8, float8, float8) (
  SFUNC = dpquantile.user_grids_transition, STYPE = dpquantile.records_state);
SELECT right(grid_state_of(id, g COLLATE "C", 0, 1, 0, 1)::text, 32) = right(grid_state_of(lower(id), g, 0, 1, 0, 1)::text, 32) AS same_user
  FROM (VALUES ('Anna' COLLATE no_case, 'Z' COLLATE "C")) v(id, g);

-- threat 41: the hash of an id depends on the key alone: it is the same in another query and different with another key.
SELECT hash_of(1) AS hash \gset
SELECT hash_of(1) = :'hash'::bytea AS same;
SELECT octet_length(key) AS bytes, count(*) FROM dpquantile.user_key GROUP BY 1;
-- A key has exactly 16 bytes.
\set VERBOSITY sqlstate
UPDATE dpquantile.user_key SET key = sha256(key);
UPDATE dpquantile.user_key SET key = NULL;
\set VERBOSITY default
BEGIN;
UPDATE dpquantile.user_key SET key = substr(sha256(key), 1, 16);
SELECT hash_of(1) = :'hash'::bytea AS same;
-- The published key and message of SipHash: 00 01 02 .. 0f, and 00 01 02 .. 0e.
UPDATE dpquantile.user_key SET key = '\x000102030405060708090a0b0c0d0e0f';
SELECT hash_of('\x000102030405060708090a0b0c0d0e'::bytea) AS published;
-- A number is hashed from its lowest byte on by every processor: 00 01 02 .. 07, and 01 00 00 .. 00.
SELECT hash_of(506097522914230528) AS published, hash_of(1::int2) AS int2, hash_of(1) AS int4, hash_of(1::bigint) AS int8,
       hash_of(timestamp '2000-01-01 00:00:00.000001') AS timestamp, hash_of(date '2000-01-02') AS date, hash_of(true) AS bool;
-- threat 45: states of different keys cannot be combined: the same user would count as two.
CREATE TABLE other AS SELECT state_of(1, 0, 1, 0, 1) AS s;
UPDATE dpquantile.user_key SET key = substr(sha256(key), 1, 16);
CREATE AGGREGATE merge(dpquantile.records_state) (SFUNC = dpquantile.records_combine, STYPE = dpquantile.records_state);
SAVEPOINT before;
SELECT merge(s) FROM (SELECT s FROM other UNION ALL SELECT state_of(1, 0, 1, 0, 1)) v;
ROLLBACK TO before;
-- A missing key or a second key is an error for any input.
INSERT INTO dpquantile.user_key SELECT * FROM dpquantile.user_key;
SELECT dp_user_mean(x, x, 1, 0, 1) FROM generate_series(1, 3) x;
ROLLBACK;
BEGIN;
DELETE FROM dpquantile.user_key;
SAVEPOINT before;
SELECT dp_user_mean(x, x, 1, 0, 1) FROM generate_series(1, 3) x;
\echo :SQLSTATE
ROLLBACK TO before;
SELECT dp_user_mean(x, x, 1, 0, 1) FROM generate_series(1, 0) x;
ROLLBACK TO before;
SELECT dp_user_grid_stats(x, 'a', x, 1, 0, 1) FROM generate_series(1, 3) x WHERE x IS NULL;
ROLLBACK;

-- threats 41, 42: a type that cannot be hashed, or that is no identifier, is an error with and without rows.
CREATE TYPE unhashable AS (at point);
CREATE DOMAIN fraction AS float8;
-- A type that casts to float8 without a function has no other hash function.
SET client_min_messages = error;
CREATE TYPE driver_number;
CREATE FUNCTION driver_number_in(cstring) RETURNS driver_number LANGUAGE internal IMMUTABLE STRICT AS 'float8in';
CREATE FUNCTION driver_number_out(driver_number) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'float8out';
CREATE TYPE driver_number (INPUT = driver_number_in, OUTPUT = driver_number_out, LIKE = float8);
CREATE CAST (driver_number AS float8) WITHOUT FUNCTION AS IMPLICIT;
RESET client_min_messages;
CREATE DOMAIN number_of_driver AS driver_number;
CREATE FUNCTION try(id text, source text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT dp_user_mean(%s, 1, 1, 0, 1) FROM %s', id, source);
  RETURN 'answered';
EXCEPTION WHEN undefined_function OR datatype_mismatch OR feature_not_supported THEN
  RETURN SQLERRM;
END
$$;
SELECT id, try(id, 'generate_series(1, 3)') AS with_rows, try(id, 'generate_series(1, 0)') = try(id, 'generate_series(1, 3)') AS without
  FROM unnest('{"point(1,2)","''{}''::json","row(1,2)","row(1,point(1,2))","row(point(1,2))::regress_dpq_user_ids.unhashable",
      "0.5::float8","1::float4","0.5::regress_dpq_user_ids.fraction","''0.5''::regress_dpq_user_ids.driver_number","''0.5''::regress_dpq_user_ids.number_of_driver","''postgres=r/postgres''::aclitem","interval ''1 day''","''{}''::jsonb","int4range(1,2)","int4multirange()","''a''::name COLLATE regress_dpq_user_ids.no_case","''a''::char(3) COLLATE regress_dpq_user_ids.no_case",
                "to_tsvector(''a'')","NULL::xml"}'::text[]) id;
\set VERBOSITY terse
SELECT dp_user_mean(ARRAY[1], 1, 1, 0, 1);
\set VERBOSITY default

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_user_ids CASCADE;
