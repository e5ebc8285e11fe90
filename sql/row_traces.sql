-- threats 150, 151, 152: reading one row leaves nothing in the session, or in the memory of the server, by which a later query would be faster.
\set SHOW_CONTEXT errors
\set VERBOSITY terse
CREATE ROLE regress_dpq_tracer LOGIN;
SELECT dp_grant_budget('regress_dpq_tracer', 1e6, 0.1), dp_restrict_role('regress_dpq_tracer');
CREATE SCHEMA regress_dpq_trace;
GRANT USAGE ON SCHEMA regress_dpq_trace TO regress_dpq_tracer;
SET search_path = regress_dpq_trace, public;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
ALTER TYPE mood ADD VALUE 'mid' BEFORE 'happy';
CREATE TABLE moods AS SELECT m FROM unnest(enum_range(NULL::mood)) m;
CREATE TABLE staff AS SELECT i AS id, CASE i WHEN 7 THEN 'Zoe' ELSE 'name ' || i END AS name, i * 1.5 AS salary, i / 7.0::float8 AS f, now() AS at,
                             (enum_range(NULL::mood))[1 + i % 4] AS m, ARRAY[i] AS a, date '2020-01-01' + i AS born FROM generate_series(1, 20) i;
CREATE TABLE doc (id int PRIMARY KEY, body text, parts int[]);
ALTER TABLE doc ALTER body SET STORAGE EXTERNAL, ALTER parts SET STORAGE EXTERNAL;
INSERT INTO doc SELECT i, repeat(chr(96 + i), 3000), array_fill(i, ARRAY[1000]) FROM generate_series(1, 20) i;
GRANT SELECT ON doc TO regress_dpq_tracer;
SELECT dp_protect_table('staff'), dp_grant_private_access('staff', 'regress_dpq_tracer');

-- Enums (150). After a query, writing and comparing labels looks none up, whether a row had one or not. (Renaming empties the caches of catalogs.)
CREATE FUNCTION forget_labels() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  label name;
BEGIN
  FOR label IN SELECT enumlabel FROM pg_enum WHERE enumtypid = 'mood'::regtype LOOP
    EXECUTE format('ALTER TYPE mood RENAME VALUE %L TO ''other''', label);
    EXECUTE format('ALTER TYPE mood RENAME VALUE ''other'' TO %L', label);
  END LOOP;
END $$;
CREATE FUNCTION labels_read() RETURNS bigint LANGUAGE sql AS $$
  SELECT sum(pg_stat_get_xact_numscans(indexrelid)) FROM pg_index WHERE indrelid = 'pg_enum'::regclass $$;
CREATE TABLE of_enums (number int GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO of_enums (query) VALUES
  ('sum(n) FROM (SELECT dp_count(1) AS n FROM staff WHERE id IN ($, 2000) GROUP BY m HAVING dp_keep_group(1, 1e-9)) q'),
  ('dp_count(900) FROM staff WHERE CASE WHEN id = $ THEN m::text = ''x'' ELSE false END'),
  ('dp_count(900) FROM staff WHERE CASE WHEN id = $ THEN m < ''happy'' ELSE false END'),
  ('dp_count(900) FROM staff WHERE CASE WHEN id = $ THEN greatest(m, ''ok'') = ''ok'' ELSE false END');
CREATE TABLE looked_up (number int, id int, labels bigint);
\set ECHO none
SELECT 'DO $do$BEGIN PERFORM forget_labels(); END$do$', 'BEGIN', 'SET LOCAL SESSION AUTHORIZATION regress_dpq_tracer', 'SET LOCAL search_path = regress_dpq_trace, public',
       format('CREATE TEMP TABLE answer ON COMMIT DROP AS SELECT %s', replace(query, '$', id::text)), 'RESET SESSION AUTHORIZATION',
       'CREATE TEMP TABLE before ON COMMIT DROP AS SELECT labels_read() AS n',
       'CREATE TEMP TABLE written ON COMMIT DROP AS SELECT a.m::text, a.m < b.m AS is_less FROM moods a, moods b',
       format('INSERT INTO looked_up SELECT %s, %s, labels_read() - n FROM before', number, id), 'COMMIT'
  FROM of_enums, unnest('{200,7}'::int[]) id ORDER BY number, id DESC \gexec
\set ECHO all
-- None
SELECT query, id, labels FROM looked_up JOIN of_enums USING (number) WHERE labels > 0 ORDER BY number, id;
SELECT count(*) AS asked FROM looked_up;

-- Functions (151). Each is called before the charge, also if no row calls it.
CREATE TABLE conditions (number int GENERATED ALWAYS AS IDENTITY, condition text);
INSERT INTO conditions (condition) VALUES
  ('initcap(name COLLATE "en-x-icu") = ''x'''), ('lower(name) = ''x'''), ('upper(name) = ''x'''), ('name ILIKE ''%x%'''), ('name LIKE ''%x%'''), ('md5(name) = ''x'''),
  ('sin(f) > 1'), ('tand(f) > 1'), ('f * f > 1'), ('ln(salary) > 1'), ('salary::int = 1'), ('name::numeric > 1'), ('name::date > ''2020-01-01'''),
  ('extract(isoyear FROM at) > 1'), ('date_trunc(''month'', at) > ''2020-01-01'''), ('to_char(f, ''999.9'') = ''x'''), ('at + interval ''1 day'' > at'), ('born + id > born'),
  ('repeat(name, id) = ''x'''), ('lpad(name, NULL) = lpad(name, id)'), ('CASE upper(name) WHEN reverse(name) THEN true END'), ('greatest(left(name, id), ''a'') = ''a'''),
  ('upper(name) IN (''x'', ''y'', ''z'', ''u'', ''v'', ''w'', ''a'', ''b'', ''c'', ''d'')'), ('strpos(m::text, name) = 1'), ('a[id % 2] = 1');
CREATE FUNCTION calls() RETURNS bigint LANGUAGE sql AS $$
  SELECT coalesce(sum(pg_stat_get_xact_function_calls(oid)), 0) FROM pg_proc WHERE pronamespace = 'dpquantile'::regnamespace AND proname ~ '^total(_stable)?$' $$;
CREATE TABLE called (number int, is_there bool, calls bigint);
\set ECHO none
SELECT 'BEGIN', 'SET LOCAL track_functions = ''all''', 'CREATE TEMP TABLE before ON COMMIT DROP AS SELECT calls() AS n',
       'SET LOCAL SESSION AUTHORIZATION regress_dpq_tracer', 'SET LOCAL search_path = regress_dpq_trace, public',
       format('CREATE TEMP TABLE answer ON COMMIT DROP AS SELECT dp_count(900) FROM staff WHERE CASE WHEN name = %L THEN %s ELSE false END',
              CASE WHEN is_there THEN 'Zoe' ELSE 'Zox' END, condition),
       'RESET SESSION AUTHORIZATION', format('INSERT INTO called SELECT %s, %L, calls() - n FROM before', number, is_there), 'COMMIT'
  FROM conditions, unnest('{f,t}'::bool[]) is_there ORDER BY number, is_there \gexec
\set ECHO all
-- None
SELECT condition, calls FROM called JOIN conditions USING (number) WHERE NOT is_there AND calls = 0 ORDER BY number;
SELECT count(*) AS asked, sum(calls) > 0 AS are_counted FROM called;

-- Long values of a joined public table (152). They are not read for the rows that match.
CREATE TABLE joins (number int GENERATED ALWAYS AS IDENTITY, query text, rows_with int);
INSERT INTO joins (query, rows_with) VALUES
  ('dp_count(900) FROM staff s JOIN doc d ON d.id = s.id WHERE s.name = $ AND right(d.body, 1) <> s.name', 0),
  ('dp_count(900) FROM staff s JOIN doc d ON d.id = s.id WHERE s.name = $ AND d.parts[1] >= s.id', 0),
  ('dp_count(900) FROM staff s JOIN doc d ON d.id = s.id AND CASE WHEN s.name = $ THEN d.body <> repeat(''x'', 3000) ELSE false END', 0),
  ('dp_count(900) FROM (SELECT CASE WHEN s.name = $ THEN d.body END AS b FROM staff s LEFT JOIN doc d ON d.id = s.id) q WHERE lower(b) <> ''x''', 0),
  ('dp_count_distinct(d.body, 900) FROM staff s JOIN doc d ON d.id = s.id WHERE s.name = $', 0),
  ('sum(n) FROM (SELECT dp_count(1) AS n FROM staff s JOIN doc d ON d.id = s.id WHERE s.name = $ GROUP BY d.body HAVING dp_keep_group(1, 1e-9)) q', NULL),
  ('dp_count(900) FROM staff s JOIN doc d ON d.id = s.id WHERE s.name = $ AND (d.body IS NULL OR s.id = 1)', 1);
CREATE FUNCTION long_values_read() RETURNS bigint LANGUAGE sql AS $$
  SELECT sum(pg_stat_get_xact_numscans(indexrelid)) FROM pg_index JOIN pg_class c ON c.reltoastrelid = indrelid WHERE c.oid = 'doc'::regclass $$;
CREATE TABLE reads (number int, is_there bool, long_values bigint, answer numeric);
\set ECHO none
SELECT 'BEGIN', 'CREATE TEMP TABLE before ON COMMIT DROP AS SELECT long_values_read() AS n',
       'SET LOCAL SESSION AUTHORIZATION regress_dpq_tracer', 'SET LOCAL search_path = regress_dpq_trace, public',
       format('CREATE TEMP TABLE answer (n) ON COMMIT DROP AS SELECT %s', replace(query, '$', quote_literal(CASE WHEN is_there THEN 'Zoe' ELSE 'Zox' END))),
       'RESET SESSION AUTHORIZATION', format('INSERT INTO reads SELECT %s, %L, long_values_read() - before.n, answer.n FROM answer, before', number, is_there), 'COMMIT'
  FROM joins, unnest('{f,t}'::bool[]) is_there ORDER BY number, is_there \gexec
\set ECHO all
-- None
SELECT query, is_there, long_values FROM reads JOIN joins USING (number) WHERE long_values > 0 ORDER BY number, is_there;
-- None: a value that is stored out of line counts as NULL. (The noise is larger than a half with a probability below 1e-9.)
SELECT query, is_there, answer FROM reads JOIN joins USING (number) WHERE abs(answer - CASE WHEN is_there THEN rows_with ELSE 0 END) > 0.5 ORDER BY number, is_there;
SELECT count(*) AS asked FROM reads;
-- A condition on the table alone reads all of its rows.
SET SESSION AUTHORIZATION regress_dpq_tracer;
SELECT round(dp_count(900)) AS rows FROM staff s JOIN doc d ON d.id = s.id WHERE d.body < 'k';
RESET SESSION AUTHORIZATION;
SELECT dpquantile.inline_value(1), dpquantile.inline_value('a'::text), (SELECT dpquantile.inline_value(body) FROM doc WHERE id = 1) IS NULL AS is_null;

-- Types of answers (150). A query that shows no group has looked up the columns of its answers: in its session, writing an answer looks none up.
CREATE TABLE answers (statistics dp_statistics, numeric_statistics dp_numeric_statistics, grids dp_grid_stat[]);
INSERT INTO answers (grids) VALUES (ARRAY[ROW('a', 1, 1, 1, 1, 1, 1, 1)::dp_grid_stat]);
UPDATE answers SET statistics.count = 1, numeric_statistics.count = 1;
CREATE FUNCTION columns_read() RETURNS bigint LANGUAGE sql AS $$
  SELECT sum(pg_stat_get_xact_numscans(indexrelid)) FROM pg_index WHERE indrelid = 'pg_attribute'::regclass $$;
CREATE FUNCTION columns_read_for(answer text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  read bigint;
BEGIN
  PERFORM FROM regress_dpq_trace.answers;
  read := regress_dpq_trace.columns_read();
  EXECUTE format('SELECT %I::text FROM regress_dpq_trace.answers', answer);
  RETURN regress_dpq_trace.columns_read() - read;
END $$;
\set TYPES 'unnest(''{statistics,numeric_statistics,grids}''::text[]) answer'
\c -
BEGIN;
SELECT answer, regress_dpq_trace.columns_read_for(answer) > 0 AS are_read FROM :TYPES;
COMMIT;
\c -
LOAD 'dpquantile';
BEGIN;
SET LOCAL SESSION AUTHORIZATION regress_dpq_tracer;
SELECT dp_stats(f, 1, 0, 3) FROM regress_dpq_trace.staff WHERE id > 20 GROUP BY m HAVING dp_keep_group(1, 1e-9);
SELECT dp_stats(id, 1, 0, 20) FROM regress_dpq_trace.staff WHERE id > 20 GROUP BY m HAVING dp_keep_group(1, 1e-9);
SELECT dp_user_grid_stats(id, body, id, 1, 0, 20) FROM regress_dpq_trace.doc WHERE id > 20 GROUP BY parts;
RESET SESSION AUTHORIZATION;
SELECT answer, regress_dpq_trace.columns_read_for(answer) AS columns FROM :TYPES;
COMMIT;

DROP SCHEMA regress_dpq_trace CASCADE;
SELECT dp_revoke_budget('regress_dpq_tracer');
DROP OWNED BY regress_dpq_tracer;
DROP ROLE regress_dpq_tracer;
