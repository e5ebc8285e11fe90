-- threats 140, 141: a query over protected tables is planned without the statistics of their rows, and a join reads both sides to their ends,
-- whichever rows match. So the time of a query does not tell whether one protected row is there.
\set SHOW_CONTEXT errors
CREATE ROLE regress_dpq_joiner LOGIN;
SELECT dp_grant_budget('regress_dpq_joiner', 1e6, 0.1), dp_restrict_role('regress_dpq_joiner');
CREATE SCHEMA regress_dpq_join;
GRANT USAGE ON SCHEMA regress_dpq_join TO regress_dpq_joiner;
SET search_path = regress_dpq_join, public;
CREATE TABLE town (id int PRIMARY KEY, name text);
INSERT INTO town SELECT i, 'town ' || i FROM generate_series(1, 3000) i;
GRANT SELECT ON town TO regress_dpq_joiner;
CREATE TABLE staff AS SELECT i AS id, CASE i WHEN 50 THEN 'Zoe' ELSE 'name ' || i END AS name, nullif(i, 51) AS town FROM generate_series(1, 100) i;
CREATE TABLE patient (patient int PRIMARY KEY, name text);
INSERT INTO patient SELECT id, name FROM staff;
CREATE TABLE visit AS SELECT 1 + i % 100 AS patient, i AS cost FROM generate_series(1, 1000) i;
SELECT dp_protect_table('staff'), dp_protect_table('patient', 'patient', 1, 'patient'), dp_protect_table('visit', 'patient', 20, 'patient');
SELECT dp_grant_private_access(t, 'regress_dpq_joiner') FROM unnest('{staff,patient,visit}'::regclass[]) t;
VACUUM ANALYZE town;
VACUUM ANALYZE staff;
VACUUM ANALYZE patient;
VACUUM ANALYZE visit;

-- In some of the queries Zoe is there, in others nobody is: $ stands for a name. rows is what the join gives with Zoe, and without.
CREATE TABLE joins (number int GENERATED ALWAYS AS IDENTITY, query text, rows_with int, rows_without int);
INSERT INTO joins (query, rows_with, rows_without) VALUES
  ('staff s JOIN town t ON t.id = s.town WHERE s.name = $', 1, 0),
  ('(SELECT CASE WHEN name = $ THEN 3000 ELSE 1 END AS k FROM staff) s JOIN town t ON t.id = s.k', 100, 100),
  ('staff s LEFT JOIN town t ON t.id = s.town WHERE s.name = $ AND t.name > ''''', 1, 0),
  ('staff s LEFT JOIN town t ON t.id = s.town AND t.name <> s.name WHERE s.name = $ AND t.name IS NULL', 0, 0),
  ('staff s LEFT JOIN town t ON t.id = s.town WHERE t.name IS NULL OR s.name = $', 2, 1),
  ('town t LEFT JOIN staff s ON s.town = t.id AND s.name = $', 3000, 3000),
  ('town t LEFT JOIN staff s ON s.town = t.id AND s.name = $ WHERE s.id IS NULL', 2999, 3000),
  ('staff s RIGHT JOIN town t ON s.town = t.id AND s.name = $ WHERE t.id < 2000', 1999, 1999),
  ('staff s JOIN town t ON t.id = 7 WHERE s.name = $', 1, 0),
  ('staff s LEFT JOIN town t ON t.id = 7 AND s.name < t.name WHERE s.name = $', 1, 0),
  ('staff s JOIN town t ON t.id = s.town WHERE s.town = 50 AND s.name = $', 1, 0),
  ('staff s JOIN (VALUES (50, ''a''), (51, ''b''), (NULL, ''c'')) l (town, x) ON l.town = s.town WHERE s.name = $', 1, 0),
  ('patient p JOIN visit v ON v.patient = p.patient WHERE p.name = $', 10, 0),
  ('visit v JOIN patient p ON v.patient = p.patient WHERE p.name = $ AND v.cost > 500', 5, 0),
  ('patient p JOIN visit v ON v.patient = p.patient WHERE p.patient = 50 AND p.name = $', 10, 0),
  ('patient p LEFT JOIN visit v ON v.patient = p.patient AND p.name = $', 109, 100),
  ('patient p LEFT JOIN visit v ON v.patient = p.patient AND p.name = $ WHERE v.cost IS NULL', 99, 100);
CREATE TABLE reads (number int, is_there bool, settings int, rows_read bigint, answer numeric);
CREATE FUNCTION rows_read() RETURNS bigint LANGUAGE sql AS $$
  SELECT sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid)) FROM pg_class
   WHERE relnamespace = 'regress_dpq_join'::regnamespace AND relkind IN ('r', 'i') AND relname <> 'reads' AND relname <> 'joins' $$;
\set ECHO none
-- threat 228: advice for plans (3), since PostgreSQL 19
SELECT 'LOAD ''pg_plan_advice''' WHERE current_setting('server_version_num')::int >= 190000 \gexec
SELECT 'BEGIN', 'CREATE TEMP TABLE before ON COMMIT DROP AS SELECT rows_read() AS n', 'SET LOCAL SESSION AUTHORIZATION regress_dpq_joiner',
       'SET LOCAL search_path = regress_dpq_join, public',
       CASE settings WHEN 1 THEN 'SET LOCAL enable_hashjoin = off' WHEN 2 THEN 'SET LOCAL force_parallel_mode = on'
                     WHEN 3 THEN 'SET LOCAL pg_plan_advice.advice = ''NESTED_LOOP_PLAIN(t) JOIN_ORDER(s t)''' ELSE 'SET LOCAL work_mem = 64' END,
       format('CREATE TEMP TABLE answer ON COMMIT DROP AS SELECT dp_count(900 + %s * 0.25) FROM %s', settings,
              replace(query, '$', quote_literal(CASE WHEN is_there THEN 'Zoe' ELSE 'Zox' END))),
       'RESET SESSION AUTHORIZATION',
       format('INSERT INTO reads SELECT %s, %L, %s, rows_read() - n, dp_count FROM answer, before', number, is_there, settings), 'COMMIT'
  FROM joins, unnest('{t,f}'::bool[]) is_there, generate_series(0, 3) settings, current_setting('server_version_num') version
 WHERE settings < 2 OR settings = CASE WHEN version < '160000' THEN 2 WHEN version >= '190000' THEN 3 END
 ORDER BY settings, number, is_there DESC \gexec
\set ECHO all
-- None: both sides are read alike.
SELECT query, settings, array_agg(rows_read ORDER BY is_there DESC) AS rows_read FROM reads JOIN joins USING (number)
 GROUP BY number, query, settings HAVING count(DISTINCT rows_read) > 1 ORDER BY settings, number;
-- None: the rows are those of the join. (The noise is larger than a half with a probability below 1e-9.)
SELECT query, is_there, settings, answer FROM reads JOIN joins USING (number)
 WHERE abs(answer - CASE WHEN is_there THEN rows_with ELSE rows_without END) > CASE WHEN query ~ 'visit' THEN 30 * 40 / 900.0 ELSE 0.5 END
 ORDER BY settings, number, is_there;
SELECT settings, count(*) AS asked FROM reads GROUP BY settings HAVING settings < 2 ORDER BY settings;

-- A key that is NULL is compared with no NULL of the other side, however many there are.
CREATE TABLE nothing (key int UNIQUE);
INSERT INTO nothing SELECT NULL FROM generate_series(1, 500);
INSERT INTO nothing VALUES (7);
GRANT SELECT ON nothing TO regress_dpq_joiner;
CREATE FUNCTION keys_computed() RETURNS bigint LANGUAGE sql AS $$
  SELECT coalesce(sum(pg_stat_get_xact_function_calls(oid)), 0) FROM pg_proc WHERE pronamespace = 'dpquantile'::regnamespace AND proname ~ '^total(_stable)?$' $$;
CREATE TABLE computed (query text, calls bigint, answer numeric);
\set ECHO none
SELECT 'BEGIN', 'SET LOCAL track_functions = ''all''', 'CREATE TEMP TABLE before ON COMMIT DROP AS SELECT keys_computed() AS n',
       'SET LOCAL SESSION AUTHORIZATION regress_dpq_joiner', 'SET LOCAL search_path = regress_dpq_join, public',
       format('CREATE TEMP TABLE answer ON COMMIT DROP AS SELECT dp_count(s.id, 903) FROM %s', query), 'RESET SESSION AUTHORIZATION',
       format('INSERT INTO computed SELECT %L, keys_computed() - n, dp_count FROM answer, before', query), 'COMMIT'
  FROM (VALUES ('staff s JOIN nothing n ON n.key = nullif(length(upper(s.name)), 7)'), ('staff s LEFT JOIN nothing n ON n.key = nullif(length(upper(s.name)), 7)'),
               ('nothing n LEFT JOIN staff s ON n.key = nullif(length(upper(s.name)), 7)'),
               ('(SELECT patient AS id, name FROM patient) s LEFT JOIN nothing n ON n.key = nullif(length(upper(s.name)), 7)'),
               ('staff s LEFT JOIN nothing n ON n.key = nullif(length(upper(s.name)), 7) WHERE n.key IS NULL')) v (query) \gexec
\set ECHO all
SELECT query, calls < 1000 AS few, answer FROM computed;

-- Planning compares no value of a row: it looks up no statistics.
CREATE INDEX ON staff (lower(name));
ANALYZE staff;
CREATE FUNCTION statistics_read() RETURNS bigint LANGUAGE sql AS $$
  SELECT sum(pg_stat_get_xact_numscans(indexrelid)) FROM pg_index
   WHERE indrelid = 'pg_statistic'::regclass $$;
BEGIN;
SELECT statistics_read() AS before \gset
SET LOCAL SESSION AUTHORIZATION regress_dpq_joiner;
SELECT dp_count(name, 1) IS NULL AS is_null FROM staff WHERE name < 'm' AND id = 7 AND lower(name) = 'zoe' GROUP BY town HAVING dp_keep_group(1, 1e-9);
RESET SESSION AUTHORIZATION;
SELECT statistics_read() - :before AS statistics_read;
SELECT count(*) FROM staff WHERE name < 'm' AND id = 7 AND lower(name) = 'zoe';
SELECT statistics_read() > :before AS reads_statistics;
COMMIT;

-- The first row opens no table: the key by which values and users are hashed is read before the charge.
\set key_scans 'pg_stat_get_xact_numscans(''dpquantile.user_key''::regclass)'
BEGIN;
SELECT :key_scans AS before \gset
SET LOCAL SESSION AUTHORIZATION regress_dpq_joiner;
SELECT dp_count_distinct(name, 901) IS NULL AS is_null FROM patient WHERE name = 'Zox';
RESET SESSION AUTHORIZATION;
SELECT :key_scans AS without \gset
SET LOCAL SESSION AUTHORIZATION regress_dpq_joiner;
SELECT dp_count_distinct(name, 902) IS NULL AS is_null FROM patient WHERE name = 'Zoe';
RESET SESSION AUTHORIZATION;
SELECT :key_scans - :without = :without - :before AS alike, :without > :before AS is_read;
COMMIT;

-- The 100 rows of a WITH query are read by each block that needs them, below its release node. PostgreSQL stores them nowhere else, whatever the query says.
BEGIN;
SELECT rows_read() AS before \gset
SET LOCAL SESSION AUTHORIZATION regress_dpq_joiner;
WITH s AS MATERIALIZED (SELECT id FROM staff)
SELECT (SELECT dp_count(904) FROM s) > 90 AS one, (SELECT dp_count(904.5) FROM s WHERE id > 50) < 60 AS other;
RESET SESSION AUTHORIZATION;
SELECT rows_read() - :before AS rows_read;
COMMIT;

-- threat 148: the hash tables of a join and of groups do not go to disk. threat 248: nor do, below the limit that is drawn, rows with NULL in the key of a
-- join, which PostgreSQL 19 keeps until its end.
CREATE TABLE inner_side AS SELECT i::bigint AS id FROM generate_series(1, 32768) i;
ALTER TABLE inner_side ADD PRIMARY KEY (id);
CREATE TABLE outer_side AS SELECT i::bigint AS id, repeat('x', 100) AS name FROM generate_series(1, 60000) i;
ALTER TABLE outer_side ADD PRIMARY KEY (id);
GRANT SELECT ON outer_side TO regress_dpq_joiner;
SELECT dp_protect_table('inner_side'), dp_grant_private_access('inner_side', 'regress_dpq_joiner');
VACUUM ANALYZE outer_side;
\set ECHO none
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_get_db_temp_files(oid) AS before FROM pg_database WHERE datname = current_database() \gset
SET SESSION AUTHORIZATION regress_dpq_joiner;
SET work_mem = 1000;
SET max_parallel_workers_per_gather = 0;
\o /dev/null
SELECT format('SELECT dp_count(i.id, 900 + %s * 0.1) FROM outer_side o LEFT JOIN (SELECT id FROM inner_side WHERE id + 1 > 0 AND id + 2 > 0 AND id + 3 > 0) i ON i.id = o.id', i) FROM generate_series(1, 2) i \gexec
SELECT upper(id::text) AS key, dp_count(901) FROM inner_side GROUP BY 1 HAVING dp_keep_group(1, 1e-9);
SET work_mem = 64;
SELECT dp_count(902) FROM (SELECT nullif(id, id) AS key FROM inner_side WHERE id <= 20000) i LEFT JOIN outer_side o ON o.id = i.key WHERE o.name IS NULL;
\o
RESET SESSION AUTHORIZATION;
RESET max_parallel_workers_per_gather;
SELECT pg_stat_force_next_flush() \g /dev/null
\set ECHO all
SELECT pg_stat_get_db_temp_files(oid) - :before AS files FROM pg_database WHERE datname = current_database();

-- threat 168: the sizes of a table and its indexes decide no plan. Nobody may see which index is read for how many keys.
\set ECHO none
SELECT format('CREATE TABLE size_%s (id int PRIMARY KEY, day int, pad text)', pages),
       format('INSERT INTO size_%s SELECT i, i, repeat(''x'', 700) FROM generate_series(1, 10 * %1$s) i', pages),
       format('CREATE INDEX ON size_%s USING brin (day) WITH (pages_per_range = 2)', pages),
       format('DO $$ BEGIN PERFORM dp_protect_table(''size_%s''), dp_grant_private_access(''size_%1$s'', ''regress_dpq_joiner''); END $$', pages)
  FROM unnest('{3,40,100,300,900}'::int[]) pages \gexec
CREATE TABLE scans (pages int, condition text, scans bigint);
CREATE FUNCTION scans(pages int) RETURNS bigint LANGUAGE sql AS $$
  SELECT sum(pg_stat_get_xact_numscans(indexrelid)) FROM pg_index WHERE indrelid = format('size_%s', pages)::regclass $$;
SELECT 'BEGIN', format('CREATE TEMP TABLE before ON COMMIT DROP AS SELECT scans(%s) AS n', pages), 'SET LOCAL SESSION AUTHORIZATION regress_dpq_joiner',
       'SET LOCAL search_path = regress_dpq_join, public', 'SET LOCAL effective_cache_size = 12',
       format('CREATE TEMP TABLE answer ON COMMIT DROP AS SELECT dp_count(%s) FROM size_%s WHERE %s AND pad <> ''y''', 905 + pages * 0.01 + row_number() OVER () * 0.0001, pages, condition),
       'RESET SESSION AUTHORIZATION',
       format('INSERT INTO scans SELECT %s, %L, scans(%1$s) - n FROM before', pages, left(condition, 20) || count, pages), 'COMMIT'
  FROM unnest('{3,40,100,300,900}'::int[]) pages, unnest('{1,20,60,180,540}'::int[]) count,
       LATERAL (VALUES (format('id = ANY (%L)', (SELECT array_agg(-i) FROM generate_series(1, count) i))), (format('day = %s AND id > %1$s', -count)), (format('day = %s', -count))) c (condition) \gexec
\set ECHO all
SELECT condition, array_agg(DISTINCT scans) AS scans FROM scans GROUP BY condition HAVING count(DISTINCT scans) > 1 ORDER BY condition;
SELECT count(*) > 10 AND max(scans) > 0 AS some FROM scans;
-- threat 172: one row decides whether a BRIN index reads all rows of its pages, or a GiST index a page for each condition, so none of them is read.
CREATE TABLE addresses AS SELECT i AS id, inet '10.0.0.0' + i AS address FROM generate_series(1, 20000) i;
CREATE INDEX ON addresses USING gist (address inet_ops);
CREATE INDEX ON addresses USING spgist (address);
SELECT dp_protect_table('addresses'), dp_grant_private_access('addresses', 'regress_dpq_joiner');
BEGIN;
SET LOCAL SESSION AUTHORIZATION regress_dpq_joiner;
SET LOCAL search_path = regress_dpq_join, public;
SELECT dp_count(930) FROM addresses WHERE address = '200.1.0.1' OR address = '200.1.0.2';
RESET SESSION AUTHORIZATION;
SELECT sum(pg_stat_get_xact_numscans(indexrelid)) AS scans FROM pg_index WHERE indrelid = 'addresses'::regclass;
COMMIT;
SELECT count(*) > 10 AND max(scans) = 0 AS none FROM scans WHERE condition LIKE 'day%' AND condition NOT LIKE '%AND%';

DROP SCHEMA regress_dpq_join CASCADE;
SELECT dp_revoke_budget('regress_dpq_joiner');
DROP OWNED BY regress_dpq_joiner;
DROP ROLE regress_dpq_joiner;
