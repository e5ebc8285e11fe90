-- The type dp_cdf: a released CDF is stored, copied and read back unchanged. Any other text or bytes in its
-- place are an error.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_cdf_type;
CREATE SCHEMA AUTHORIZATION regress_dpq_cdf_type;
SELECT dp_grant_budget('regress_dpq_cdf_type', 1000);
-- These casts show the bytes of a value. Users have only send and receive.
CREATE CAST (bytea AS dp_cdf) WITHOUT FUNCTION;
CREATE CAST (dp_cdf AS bytea) WITHOUT FUNCTION;
SET ROLE regress_dpq_cdf_type;

SELECT '{"lower": -1.5, "upper": 4, "bins": 4, "method": "tree", "epsilon": 0.5, "branching": [2, 2],
         "level_epsilon": [0.25, 0.25], "rows": 10, "cumulative": [1, 1, 4, 10]}'::dp_cdf;
-- The keys may be in any order and the numbers in any spelling. The last value of a repeated key counts.
SELECT '{"rows":10.0,"cumulative":[1,1e0,4,1E1],"granularity":0.2e1,"bins":3,"bins":4,"method":"\u0074ree",
         "level_epsilon":[0.25,0.250],"upper":6,"lower":-0,"branching":[2,2],"epsilon":5e-1}'::dp_cdf;

CREATE TABLE kept (name text PRIMARY KEY, cdf dp_cdf);
INSERT INTO kept VALUES
  ('continuous', '{"lower": -1.5, "upper": 4, "bins": 4, "method": "tree", "epsilon": 0.5, "branching": [2, 2],
                   "level_epsilon": [0.25, 0.25], "rows": 10, "cumulative": [1, 1, 4, 10]}'),
  ('discrete', '{"lower": 0, "upper": 6, "granularity": 2, "bins": 4, "method": "binary", "epsilon": 0.5,
                 "branching": [2, 2], "level_epsilon": [0.25, 0.25], "rows": 10, "cumulative": [1, 1, 4, 10]}'),
  ('without rows', '{"lower": 0, "upper": 1, "bins": 1, "method": "histogram", "epsilon": 1e-6, "branching": [1],
                     "level_epsilon": [1e-6], "rows": 0, "cumulative": [0]}'),
  ('extreme', '{"lower": -8.9e307, "upper": 8.9e307, "bins": 2, "method": "tree", "epsilon": 1000, "branching": [2],
                "level_epsilon": [1000], "rows": 9007199254740992, "cumulative": [9007199254740992, 9007199254740992]}'),
  ('narrow', '{"lower": 1e-320, "upper": 1e-300, "bins": 1, "method": "tree", "epsilon": 1, "branching": [1],
               "level_epsilon": [0.1], "rows": 1, "cumulative": [1]}'),
  ('none', NULL);
INSERT INTO kept SELECT 'released', dp_cdf(x, 1, 0, 1000) FROM generate_series(1, 1000) x;
INSERT INTO kept SELECT 'released by steps', dp_cdf(x, 1, -0.5, 99, dp_options(granularity => 0.1))
  FROM generate_series(1, 99) x;
INSERT INTO kept SELECT 'released large', dp_cdf(x, 1, '-0', 1000, dp_options(bins => 100000))
  FROM generate_series(1, 9) x;

-- Text, jsonb and bytes each give back the same value.
SELECT name, cdf::text::dp_cdf::text = cdf::text AS text, cdf::jsonb::dp_cdf::text = cdf::text AS jsonb,
       cdf::text::dp_cdf::bytea = cdf::bytea AS bytes, cdf::bytea::dp_cdf::text = cdf::text AS from_bytes,
       cdf::text::jsonb = cdf::jsonb AS is_json, pg_column_size(cdf) < 150000 AS compact
  FROM kept ORDER BY name;
SELECT pg_column_size(cdf) < 2500 AS two_kb FROM kept WHERE name = 'released';
SELECT cdf::jsonb FROM kept WHERE name = 'discrete';
SELECT cdf::jsonb ->> 'method' AS method, (cdf::jsonb -> 'rows')::bigint AS rows,
       cdf::jsonb #> '{cumulative,2}' AS third,
       jsonb_array_length(cdf::jsonb -> 'cumulative') AS bins, cdf::jsonb ? 'granularity' AS has_granularity
  FROM kept WHERE name IN ('continuous', 'discrete') ORDER BY name;
-- Values in the text form of a dump, and in binary
CREATE TABLE copied (LIKE kept);
\copy (SELECT * FROM kept WHERE name IN ('discrete', 'none', 'without rows') ORDER BY name) TO STDOUT
COPY copied FROM STDIN;
discrete	{"lower": 0, "upper": 6, "granularity": 2, "bins": 4, "method": "binary", "epsilon": 0.5, "branching": [2, 2], "level_epsilon": [0.25, 0.25], "rows": 10, "cumulative": [1, 1, 4, 10]}
none	\N
\.
SELECT name, c.cdf::bytea IS NOT DISTINCT FROM k.cdf::bytea AS same FROM copied c JOIN kept k USING (name)
  ORDER BY name;
TRUNCATE copied;
\copy kept TO 'results/cdf_type.copy' (FORMAT binary)
\copy copied FROM 'results/cdf_type.copy' (FORMAT binary)
SELECT count(*) AS values, bool_and(c.cdf::bytea IS NOT DISTINCT FROM k.cdf::bytea) AS same
  FROM copied c JOIN kept k USING (name);
CREATE TABLE bytes (name text, cdf bytea);
\copy bytes FROM 'results/cdf_type.copy' (FORMAT binary)
SELECT name, cdf FROM bytes WHERE name = 'discrete';
UPDATE bytes SET cdf = set_byte(cdf, 0, 5);
\copy (SELECT name, cdf FROM bytes WHERE name = 'discrete') TO 'results/cdf_type.copy' (FORMAT binary)
\set VERBOSITY sqlstate
\copy copied FROM 'results/cdf_type.copy' (FORMAT binary)
\set VERBOSITY default
-- A value as an element of an array, a field, a domain's value and a variable
CREATE DOMAIN with_rows AS dp_cdf CHECK (dp_cdf_rows(VALUE) > 0);
SELECT cardinality(array_agg(cdf)) AS elements, (array_agg(cdf ORDER BY name))[2]::text AS second FROM kept
  WHERE name < 'e';
SELECT (k).cdf::with_rows IS NOT NULL AS checked FROM kept k WHERE name = 'discrete';
SELECT cdf::with_rows FROM kept WHERE name = 'without rows';

-- The planner evaluates casts of constants. The user has the right to call their functions.
SELECT (cdf::jsonb)::text AS json FROM kept WHERE name = 'without rows' \gset
SELECT :'json'::text::dp_cdf IS NOT NULL AS from_text, :'json'::jsonb::dp_cdf IS NOT NULL AS from_jsonb,
       :'json'::dp_cdf::text IS NOT NULL AS to_text, :'json'::dp_cdf::jsonb IS NOT NULL AS to_jsonb;

-- The reason why a text is refused
CREATE FUNCTION refusal(value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
BEGIN
  RETURN value::dp_cdf::text;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
  RETURN SQLSTATE || ' ' || coalesce(nullif(detail, ''), SQLERRM);
END
$$;
SELECT '{}'::dp_cdf;
\echo :SQLSTATE
SELECT '[]'::dp_cdf;
SELECT '{"lower": '::dp_cdf;
CREATE TABLE valid AS SELECT cdf::jsonb AS v FROM kept WHERE name = 'continuous';
-- A field that is missing, null, a string, a boolean, a list of a list, an object
SELECT field, refusal((v - field)::text) AS missing, refusal((v || jsonb_build_object(field, NULL))::text) AS "null"
  FROM valid, jsonb_object_keys(v) field ORDER BY field;
SELECT field, count(*) AS refused
  FROM valid, jsonb_object_keys(v) field,
       unnest(ARRAY['"1"', '"NaN"', '""', 'true', '{}', '{"1": 1}', '[[1]]', '[null]', '["1"]', '[true]', '[{}]',
                    '[]']::jsonb[]) junk
 WHERE refusal((v || jsonb_build_object(field, junk))::text) ~ '^22P02 "?(\w+"? must be|Branching|The tree|There must)'
 GROUP BY field ORDER BY field;
SELECT refusal((v || '{"granularity": null}')::text) AS granularity, refusal((v || '{"extra": 1}')::text) AS extra,
       refusal((v || '{"Lower": 1}')::text) AS upper_case, refusal((v || '{"": 1}')::text) AS empty
  FROM valid;
-- Numbers that are out of range or do not fit together
SELECT change, refusal((v || change::jsonb)::text) AS refusal
  FROM valid,
       unnest(ARRAY[
         '{"lower": 4}', '{"lower": 5}', '{"upper": 1e400}', '{"lower": -1e308, "upper": 1e308}', '{"upper": -1.5}',
         '{"bins": 0}', '{"bins": 3}', '{"bins": 5}', '{"bins": -4}', '{"bins": 4.5}', '{"bins": 4294967300}',
         '{"bins": 1e400}',
         '{"granularity": 0}', '{"granularity": -2}', '{"granularity": 1}', '{"granularity": 1e-400}',
         '{"granularity": 1e400}',
         '{"granularity": 1e-300}', '{"granularity": 1e-9}',
         '{"method": "Tree"}', '{"method": "approximate"}', '{"method": "tree\u0001"}',
         '{"epsilon": 0}', '{"epsilon": -0.5}', '{"epsilon": 1e-7}', '{"epsilon": 1001}', '{"epsilon": 1e400}',
         '{"branching": []}', '{"branching": [2]}', '{"branching": [2, 2, 2]}', '{"branching": [4, 1, 1]}',
         '{"branching": [2, 1]}',
         '{"branching": [0, 4]}', '{"branching": [1, 4]}', '{"branching": [5, 2]}', '{"branching": [2, -2]}',
         '{"branching": [2, 2.5]}',
         '{"branching": [4294967298, 2]}', '{"branching": [], "level_epsilon": []}', '{"level_epsilon": [0.25]}',
         '{"level_epsilon": [0.25, 0]}',
         '{"level_epsilon": [-0.25, 0.25]}', '{"level_epsilon": [1e-30, 0.25]}', '{"level_epsilon": [1e400, 0.25]}',
         '{"rows": 9}', '{"rows": 11}', '{"rows": -1}', '{"rows": 10.5}', '{"rows": 1e400}',
         '{"cumulative": [1, 1, 4]}', '{"cumulative": [1, 1, 4, 10, 10]}', '{"cumulative": [1, 0, 4, 10]}',
         '{"cumulative": [1, 1, 11, 10]}',
         '{"cumulative": [-1, 1, 4, 10]}', '{"cumulative": [1, 1.5, 4, 10]}', '{"cumulative": [1, 1, 4, 1e400]}',
         '{"cumulative": [1, 1, 4, 9007199254740994], "rows": 9007199254740994}', '{"cumulative": [[1, 1, 4, 10]]}'
       ]) WITH ORDINALITY c(change, number)
 ORDER BY number;
SELECT refusal((v || jsonb_build_object('branching', array_fill(1, ARRAY[21]),
                                          'level_epsilon', array_fill(1, ARRAY[21])))::text) AS levels,
       refusal((v || jsonb_build_object('branching', array_fill(1, ARRAY[1000000])))::text) AS many_levels,
       refusal((v || jsonb_build_object('cumulative', array_fill(1, ARRAY[1000000])))::text) AS many_counts
  FROM valid;
-- Text that is not JSON, or JSON that is not a CDF
SELECT value, refusal(value) AS refusal
  FROM unnest('{"","x","null","1","\"tree\"","{","}","{}","[]","[{}]","NaN","Infinity","{\"lower\": NaN}","{\"lower\": 0x10}",
                "{\"lower\": 01}","{\"lower\": \"\\u0000\"}","{\"lower\": 0,}","{\"lower\": 0} x"}'::text[]) value;
SELECT left(refusal(repeat(part, 100000)), 5) = ANY ('{54001,22P02}') AS refused
  FROM unnest(ARRAY['[', '{"lower":', '[{"lower":[', '{']) part;
SELECT left(refusal(repeat('[', 1000) || repeat(']', 1000)), 5) AS nested,
       left(refusal(format('{"lower": %s1%s}', repeat('[', 1000), repeat(']', 1000))), 5) AS nested_field,
       left(refusal(format('{"lower": 1e%s}', repeat('9', 100))), 5) AS exponent,
       left(refusal(format('{"lower": %s}', repeat('9', 100000))), 5) AS digits,
       left(refusal(format('{"%s": 1}', repeat('k', 100000))), 5) AS key;

-- Invalid bytes
CREATE FUNCTION bytes_refusal(value bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN value::dp_cdf::text;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
-- The fields: version; lower, upper, granularity, bins; method, epsilon, levels, the branching and epsilon of
-- each level; counts. All numbers have the low byte first.
CREATE FUNCTION reversed(bytes bytea) RETURNS bytea LANGUAGE sql RETURN (
  SELECT string_agg(substr(bytes, i, 1), '' ORDER BY i DESC) FROM generate_series(1, octet_length(bytes)) i);
CREATE FUNCTION cdf_bytes(
  version int DEFAULT 1, lower float8 DEFAULT 0, upper float8 DEFAULT 6, granularity float8 DEFAULT 2,
  bins int DEFAULT 4,
  method int DEFAULT 2, epsilon float8 DEFAULT 0.5, levels int DEFAULT 2, branching int DEFAULT 2,
  level_epsilon float8 DEFAULT 0.25, counts bytea DEFAULT '\x01000306')
RETURNS bytea LANGUAGE sql RETURN
  set_byte('\x00', 0, version) || reversed(float8send(lower)) || reversed(float8send(upper))
  || reversed(float8send(granularity))
  || reversed(int4send(bins)) || set_byte('\x00', 0, method) || reversed(float8send(epsilon))
  || set_byte('\x00', 0, levels)
  || reversed(int4send(branching)) || reversed(float8send(0.25)) || '\x02000000'
  || reversed(float8send(level_epsilon)) || counts;
SELECT cdf_bytes() = cdf::bytea AS same FROM kept WHERE name = 'discrete';
SELECT number, bytes_refusal(bytes)
  FROM (VALUES (1, cdf_bytes(version => 0)), (2, cdf_bytes(version => 5)), (3, cdf_bytes(lower => 'NaN')),
               (4, cdf_bytes(lower => 7)),
               (5, cdf_bytes(upper => 'Infinity')), (6, cdf_bytes(granularity => 'NaN')),
               (7, cdf_bytes(granularity => -2)),
               (8, cdf_bytes(granularity => 1e-300)), (9, cdf_bytes(bins => 0)), (10, cdf_bytes(bins => 3)),
               (11, cdf_bytes(bins => 5)),
               (12, cdf_bytes(bins => -1)), (13, cdf_bytes(bins => 1048577)), (14, cdf_bytes(method => 0)),
               (15, cdf_bytes(method => 4)),
               (16, cdf_bytes(epsilon => 'NaN')), (17, cdf_bytes(epsilon => 1e-7)),
               (18, cdf_bytes(epsilon => 'Infinity')),
               (19, cdf_bytes(levels => 0)), (20, cdf_bytes(levels => 1)), (21, cdf_bytes(levels => 3)),
               (22, cdf_bytes(levels => 21)),
               (23, cdf_bytes(levels => 255)), (24, cdf_bytes(branching => 0)), (25, cdf_bytes(branching => 1)),
               (26, cdf_bytes(branching => -1)), (27, cdf_bytes(level_epsilon => 0)),
               (28, cdf_bytes(level_epsilon => 'NaN')),
               (29, cdf_bytes(level_epsilon => 1e-30)), (30, cdf_bytes(level_epsilon => '-Infinity')),
               (31, cdf_bytes(counts => '')), (32, cdf_bytes(counts => '\x010003')),
               (33, cdf_bytes(counts => '\x0100030600')),
               (34, cdf_bytes(counts => '\x01000386')), (35, cdf_bytes(counts => '\xffffffffffffffffffff')),
               (36, cdf_bytes(counts => '\xffffffffffffff7f000000')),
               (37, cdf_bytes(counts => '\xffffffffffffff7f010000')),
               (38, cdf_bytes(counts => '\xffffffffffffff0f010000')),
               (39, cdf_bytes(counts => '\xffffffffffffff0f010001')),
               (40, cdf_bytes(granularity => 0)), (41, cdf_bytes(granularity => '-0', lower => '-0')), (42, '\x'),
               (43, '\x01')) b(number, bytes)
 ORDER BY number;
-- A release under zero-concentrated differential privacy has rho in place of epsilon, and version 2.
CREATE TABLE of_rho AS
  SELECT '{"lower": 0, "upper": 6, "granularity": 2, "bins": 4, "method": "binary", "rho": 0.5, "branching": [2, 2],
           "level_rho": [0.25, 0.25], "rows": 10, "cumulative": [1, 1, 4, 10]}'::dp_cdf AS cdf;
SELECT cdf, cdf::bytea = cdf_bytes(version => 2) AS bytes, cdf::bytea::dp_cdf::text = cdf::text AS from_bytes,
       cdf::jsonb::dp_cdf::text = cdf::text AS jsonb
  FROM of_rho;
SELECT dp_cdf_quantile(cdf, 0.5) AS median, dp_cdf_error(cdf) AS error FROM of_rho;
SELECT dp_cdf_plot(cdf, 50, 10) FROM of_rho LIMIT 1;
SELECT dp_cdf_svg(cdf) LIKE '%>ρ = 0.5<%' AS symbol FROM of_rho;
SELECT change, refusal((cdf::jsonb || change::jsonb)::text) AS refusal
  FROM of_rho,
       unnest(ARRAY['{"epsilon": 0.5}', '{"level_epsilon": [0.25, 0.25]}', '{"rho": 0.49}', '{"rho": 1e-13}', '{"rho": 1001}',
                    '{"rho": "0.5"}', '{"level_rho": [0.25]}', '{"level_rho": [0.25, 1e-16]}']) change;
SELECT refusal((cdf::jsonb - 'rho')::text) AS without_rho, refusal((cdf::jsonb - 'level_rho')::text) AS without_level_rho
  FROM of_rho;

-- A release by method factorization has no levels: neither in its text nor in its bytes.
CREATE TABLE factorized AS
  SELECT '{"lower": 0, "upper": 6, "granularity": 2, "bins": 4, "method": "factorization", "rho": 0.5,
           "rows": 10, "cumulative": [1, 1, 4, 10]}'::dp_cdf AS cdf;
SELECT cdf, length(cdf::bytea) AS bytes, cdf::bytea::dp_cdf::text = cdf::text AS from_bytes,
       cdf::jsonb::dp_cdf::text = cdf::text AS jsonb
  FROM factorized;
SELECT dp_cdf_quantile(cdf, 0.5) AS median, (dp_cdf_error(cdf)).rows AS error, (dp_cdf_error(cdf, 0.9, false)).rows AS at_a_point
  FROM factorized;
SELECT x, probability, round(low::numeric, 2) AS low, round(high::numeric, 2) AS high FROM factorized, dp_cdf_points(cdf, 0.5);
SELECT change, refusal((cdf::jsonb || change::jsonb)::text) AS refusal
  FROM factorized,
       unnest(ARRAY['{"epsilon": 0.5}', '{"branching": [4]}', '{"branching": []}', '{"level_rho": [0.5]}', '{"rho": 0}',
                    '{"rho": 1e-13}', '{"rho": 1001}', '{"method": "tree"}', '{"bins": 5}',
                    '{"method": "tree", "branching": [], "level_rho": []}']) change;
SELECT refusal((cdf::jsonb - 'rho')::text) AS without_rho, refusal((cdf::jsonb - 'rho' || '{"epsilon": 1}')::text) AS with_epsilon
  FROM factorized;

-- Every question to invalid bytes raises the same error.
SELECT dp_cdf_rows('\x01'::bytea::dp_cdf);
SELECT dp_cdf_quantile('\x01'::bytea::dp_cdf, 0.5);
SELECT dp_cdf_points('\x01'::bytea::dp_cdf);

-- Any text or bytes give either an error, or a value that reads back unchanged as text and as jsonb and answers
-- questions.
CREATE FUNCTION outcome(value text, bytes bytea DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  cdf dp_cdf;
BEGIN
  BEGIN
    cdf := CASE WHEN bytes IS NULL THEN value::dp_cdf ELSE bytes::dp_cdf::text::dp_cdf END;
  EXCEPTION WHEN invalid_text_representation OR invalid_binary_representation OR untranslatable_character
                 OR numeric_value_out_of_range THEN
    RETURN 'error';
  END;
  RETURN CASE WHEN cdf::text::dp_cdf::text = cdf::text AND cdf::jsonb::dp_cdf::text = cdf::text
                   AND cdf::text::dp_cdf::bytea = cdf::bytea AND (bytes IS NULL OR bytes::dp_cdf::text = cdf::text)
                   AND dp_cdf_rows(cdf) >= 0 AND dp_cdf_count(cdf, '-Infinity', 'Infinity') = dp_cdf_rows(cdf)
                   AND coalesce(dp_cdf_probability(cdf, 1) BETWEEN 0 AND 1, dp_cdf_rows(cdf) = 0)
                   AND coalesce(dp_cdf_quantile(cdf, 0.5) BETWEEN (cdf::jsonb -> 'lower')::float8
                                AND (cdf::jsonb -> 'upper')::float8,
                                dp_cdf_rows(cdf) = 0)
              THEN 'value' ELSE 'WRONG ' || cdf::text END;
END
$$;
-- Removes, inserts or doubles a few characters of a text.
CREATE FUNCTION mutated(value text) RETURNS text VOLATILE LANGUAGE plpgsql AS $$
DECLARE
  pieces CONSTANT text[] := '{0,1,2,7,9,"1,","-",.,e,e-,E+9,99999999999999999999,"[","]","{","}",:,"\"","\\",true,"null","\"NaN\"",NaN," ",""}';
  at int;
BEGIN
  FOR change IN 1 .. 1 + floor(2 * random()) LOOP
    at := 1 + floor(length(value) * random());
    value := overlay(value PLACING pieces[1 + floor(cardinality(pieces) * random())]
                     FROM at FOR floor(3 * random() * random())::int);
    IF random() < 0.1 THEN
      value := overlay(value PLACING substr(value, 1 + floor(length(value) * random())::int,
                                            floor(20 * random())::int) FROM at);
    END IF;
  END LOOP;
  RETURN value;
END
$$;
CREATE FUNCTION mutated(bytes bytea) RETURNS bytea VOLATILE LANGUAGE plpgsql AS $$
BEGIN
  FOR change IN 1 .. 1 + floor(3 * random()) LOOP
    bytes := set_byte(bytes, floor(length(bytes) * random())::int,
                      (ARRAY[0, 1, 127, 128, 255, floor(256 * random())::int])[1 + floor(6 * random())]);
  END LOOP;
  RETURN CASE WHEN random() < 0.1 THEN substr(bytes, 1, floor((length(bytes) + 1) * random())::int) ELSE bytes END;
END
$$;
CREATE TABLE seeds AS SELECT name, cdf::text AS value, cdf::bytea AS bytes FROM kept WHERE length(cdf::text) < 400;
SELECT setseed(0.25);
SELECT outcome(mutated(value)), count(*) > 100 AS many FROM seeds, generate_series(1, 2000) GROUP BY 1 ORDER BY 1;
SELECT outcome(NULL, mutated(bytes)), count(*) > 100 AS many FROM seeds, generate_series(1, 2000) GROUP BY 1
  ORDER BY 1;
-- Each flipped bit, and each shorter length
SELECT outcome(NULL, set_bit(bytes, bit, 1 - get_bit(bytes, bit))), count(*) > 100 AS many
  FROM seeds, generate_series(0, 8 * length(bytes) - 1) bit GROUP BY 1 ORDER BY 1;
SELECT outcome(NULL, substr(bytes, 1, length)) AS cut, outcome(left(value, length)) AS text_cut, count(*) > 100 AS many
  FROM seeds, generate_series(0, length(bytes) - 1) length GROUP BY 1, 2;

-- Only the three releases were charged.
SELECT epsilon_spent FROM dp_budget;

RESET ROLE;
DROP CAST (bytea AS dp_cdf);
DROP CAST (dp_cdf AS bytea);
SET client_min_messages = warning;
DROP OWNED BY regress_dpq_cdf_type CASCADE;
DROP ROLE regress_dpq_cdf_type;
