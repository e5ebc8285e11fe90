-- Keys that are columns of public tables beside protected rows have the list of what is in these tables: beside other keys, where an outer join may leave the table out, in expressions, and through
-- derived tables. A count of persons has epsilon 100, and one of rows 25: noise on it is 0 except with a probability below 1e-10. The analyst has no delta.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_keys_owner LOGIN;
CREATE ROLE regress_dpq_keys_analyst LOGIN;
CREATE SCHEMA regress_dpq_keys AUTHORIZATION regress_dpq_keys_owner;
GRANT USAGE ON SCHEMA regress_dpq_keys TO regress_dpq_keys_analyst;
SELECT dp_grant_budget('regress_dpq_keys_analyst', 1e6, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_keys_analyst');
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
SET search_path = regress_dpq_keys, public;
CREATE TABLE clinic (id int PRIMARY KEY, name text, region text, opened date, beds numeric, rate float8, code char(4), is_open bool);
INSERT INTO clinic VALUES (1, 'North', 'A', '2001-05-01', 10.0, 0, 'n', true), (2, 'South', 'A', '2001-09-01', 10.00, '-0', 'n  ', true), (3, 'East', 'B', '2010-01-01', 7, 'NaN', 'e', false),
  (4, NULL, 'B', NULL, NULL, NULL, NULL, NULL), (5, 'Empty', 'C', '2020-01-01', 1, 1, 'x', false);
CREATE TABLE kind (kind text PRIMARY KEY, label text NOT NULL);
INSERT INTO kind VALUES ('lab', 'Laboratory'), ('visit', 'Visit');
CREATE TABLE region (region text PRIMARY KEY, title text NOT NULL);
INSERT INTO region VALUES ('A', 'Alps'), ('B', 'Bay'), ('C', 'Coast');
-- 24 visits of 12 persons, two of each: of clinics 1 to 4, without a clinic and of one that is in no table; of two kinds, in two months
CREATE TABLE visit (person int, clinic int, kind text, day date);
INSERT INTO visit SELECT 1 + i % 12, (ARRAY[1, 2, 3, 4, NULL, 9])[1 + i % 6], CASE WHEN i % 4 < 2 THEN 'lab' ELSE 'visit' END, date '2024-01-15' + CASE WHEN i < 12 THEN 0 ELSE 31 END FROM generate_series(0, 23) i;
SELECT dp_protect_table('visit', 'person', 4, unit => 'person');
SELECT dp_set_domain('visit', 'kind', '{lab,visit}'), dp_set_domain('visit', 'day', '2024-01-01', '2024-02-29');
SELECT dp_grant_private_access('visit', 'regress_dpq_keys_analyst', epsilon => 100);
GRANT SELECT ON clinic, kind, region TO regress_dpq_keys_analyst;
CREATE FUNCTION rename(clinic int, name text) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = regress_dpq_keys, pg_temp AS 'UPDATE clinic c SET name = rename.name WHERE id = rename.clinic';
-- Each question is asked by the owner, who sees the rows, and by the analyst.
CREATE TABLE question (id serial, query text);
INSERT INTO question (query) VALUES
  ('SELECT c.name, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY c.name, v.kind'),
  ('SELECT c.name, date_trunc(''month'', v.day)::date, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2'),
  ('SELECT c.name, k.label, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic JOIN kind k ON k.kind = v.kind GROUP BY 1, 2'),
  ('SELECT c.name, count(*) FROM visit v LEFT JOIN clinic c ON v.clinic = c.id GROUP BY 1'),
  ('SELECT c.name, c.region, v.kind, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2, 3'),
  ('SELECT c.id, c.name, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY c.id, v.kind'),
  ('SELECT coalesce(c.name, ''none''), count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1'),
  ('SELECT upper(c.region), extract(year FROM c.opened), count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2'),
  ('SELECT concat(c.region, '' / '', v.kind), count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1'),
  ('SELECT c.region || v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY 1'),
  ('SELECT CASE WHEN c.region = ''A'' THEN ''A'' ELSE ''other'' END, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1'),
  ('SELECT name, kind, count(*) FROM (SELECT v.*, c.name, c.region FROM visit v JOIN clinic c ON c.id = v.clinic) d WHERE region = ''A'' GROUP BY 1, 2'),
  ('WITH d AS (SELECT v.kind, c.name FROM visit v LEFT JOIN clinic c ON c.id = v.clinic) SELECT kind, name, count(*) FROM d GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v LEFT JOIN (SELECT id, coalesce(name, ''?'') AS name FROM clinic WHERE region <> ''C'') d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN (SELECT a.id, b.name FROM clinic a LEFT JOIN clinic b ON b.id = a.id AND b.region = ''A'') d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT label, c.name, count(*) FROM visit v JOIN kind USING (kind) LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2'),
  ('SELECT kind, label, count(*) FROM visit v JOIN kind USING (kind) GROUP BY 1, 2'),
  ('SELECT v.clinic, c.name, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2, 3'),
  ('SELECT c.name, v.kind, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic WHERE c.name IS NOT NULL AND v.clinic < 3 GROUP BY 1, 2'),
  ('SELECT c.name, v.kind, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic WHERE c.id IS NULL GROUP BY 1, 2'),
  ('SELECT c.region, v.kind, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic WHERE v.clinic > 3 GROUP BY 1, 2'),
  ('SELECT c.name, v.kind, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic AND c.region = ''A'' WHERE v.kind = ''lab'' GROUP BY 1, 2'),
  ('SELECT c.beds, v.kind, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2'),
  ('SELECT c.beds > 8, v.kind, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2'),
  ('SELECT c.code, c.is_open, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2'),
  ('SELECT abs(c.rate) AS rate, v.kind, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2'),
  ('SELECT c.region, count(DISTINCT person) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1'),
  ('SELECT c.region, v.kind, count(DISTINCT person) FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2'),
  ('SELECT c.region, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY ROLLUP (1, 2)'),
  ('SELECT region, count(*) FROM (SELECT person, c.region FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2) g GROUP BY 1'),
  ('SELECT a.name, b.name, count(*) FROM visit v JOIN clinic a ON a.id = v.clinic LEFT JOIN clinic b ON b.id = v.clinic AND b.region = ''B'' GROUP BY 1, 2'),
  ('SELECT upper(c.region), v.kind, count(DISTINCT person) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2'),
  -- VALUES are a table that stands in the query.
  ('SELECT d.name, count(*) FROM visit v JOIN (VALUES (1, ''one''), (2, ''two''), (8, ''none'')) d (id, name) ON d.id = v.clinic GROUP BY d.name'),
  ('SELECT d.name, d.size, v.kind, count(*) FROM visit v LEFT JOIN (VALUES (1, upper(''one''), 3), (2, ''two'', 4), (3, NULL, 2 + 2)) d (id, name, size) ON d.id = v.clinic GROUP BY 1, 2, 3'),
  ('SELECT d.size > 3, v.kind, count(*) FROM visit v JOIN (VALUES (1, 3), (2, 4), (3, 4)) d (id, size) ON d.id = v.clinic WHERE d.size < 10 GROUP BY 1, 2'),
  ('WITH d (id, name) AS (VALUES (1, ''one''), (2, ''two'')) SELECT d.name, c.region, count(*) FROM visit v JOIN d ON d.id = v.clinic JOIN clinic c ON c.id = v.clinic WHERE d.name <> ''two'' GROUP BY 1, 2'),
  ('SELECT c.is_open, c.is_open, sum(count(*)) OVER () FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2'),
  ('SELECT coalesce(c.name, v.kind), c.name, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic WHERE v.clinic < 3 AND v.kind = ''lab'' GROUP BY ROLLUP (1, 2)'),
  ('SELECT extract(month FROM v.day), extract(month FROM v.day) + 1, v.day, count(*) FROM visit v WHERE v.day = ''2024-01-15'' GROUP BY ROLLUP (1, 3)'),
  ('SELECT c.is_open, c.is_open, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY ROLLUP (1, 2)'),
  ('SELECT c.is_open, c.is_open, count(*), sum(count(*)) OVER () FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY ROLLUP (1, 2)'),
  -- A table that is joined with another one, which has the keys
  ('SELECT r.title, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic JOIN region r ON r.region = c.region GROUP BY 1, 2'),
  ('SELECT title, date_trunc(''month'', day)::date, count(*) FROM (SELECT r.title, v.day FROM region r, clinic c, visit v WHERE v.clinic = c.id AND c.region = r.region) d GROUP BY 1, 2'),
  -- Conditions on one table leave out rows of another one that an inner join compares with it.
  ('SELECT c.name, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic JOIN region r ON r.region = c.region WHERE r.title > ''B'' GROUP BY 1'),
  ('SELECT c.name, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic JOIN region r ON r.region = c.region AND r.title = ''Alps'' GROUP BY 1, 2'),
  ('SELECT c.name, count(DISTINCT v.person) FROM region r, visit v, clinic c WHERE c.id = v.clinic AND r.region = c.region AND upper(r.title) LIKE ''A%'' GROUP BY 1'),
  ('SELECT r.title, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic JOIN region r ON r.region = c.region WHERE c.is_open GROUP BY 1'),
  ('SELECT c.name, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic LEFT JOIN region r ON r.region = c.region WHERE r.title = ''Alps'' GROUP BY 1'),
  ('SELECT c.name, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic LEFT JOIN region r ON r.region = c.region AND r.title = ''Alps'' GROUP BY 1'),
  ('SELECT c.name, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic JOIN clinic d ON d.id = c.id JOIN region r ON r.region = d.region WHERE r.title = ''Bay'' GROUP BY 1'),
  -- What is compared with a column of a derived table, or within one, counts as that. Of a part of a table that is not known while the query is planned any value may be without a row.
  ('SELECT q.kind, q.label, count(*) FROM (SELECT v.kind, k.label FROM visit v LEFT JOIN kind k ON k.kind = v.kind) q GROUP BY 1, 2'),
  ('SELECT v.kind, k.label, count(*) FROM (SELECT kind FROM visit) v LEFT JOIN (SELECT kind, label FROM kind) k ON k.kind = v.kind GROUP BY 1, 2'),
  ('SELECT v.kind, k.label, count(*) FROM visit v LEFT JOIN (SELECT kind, label FROM kind WHERE kind <> ''lab'' OR now() < ''2020-01-01'') k ON k.kind = v.kind GROUP BY 1, 2'),
  ('SELECT v.clinic, c.name, count(*) FROM (SELECT * FROM visit) v JOIN (SELECT id, name FROM clinic) c ON c.id = v.clinic GROUP BY 1, 2');
CREATE FUNCTION answers(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT string_agg(x::text, '' '' ORDER BY x::text COLLATE "C") FROM (' || query || ') x';
EXCEPTION WHEN OTHERS THEN
  RETURN NEXT SQLERRM;
END $$;
CREATE TABLE exact AS SELECT id, query, a FROM question, answers(query) a;
GRANT SELECT ON exact TO regress_dpq_keys_analyst;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
SET search_path = regress_dpq_keys, public;
SET dpquantile.note_errors = off;
SET client_min_messages = warning;
-- What the analyst gets, with the groups without rows
SELECT id, p FROM exact, answers(query) p ORDER BY id;
-- The answers that differ from the exact ones beside these groups: of the equal values 10.0 and 10.00 one is shown
SELECT id, query, p AS answer, a AS exact FROM exact, answers(query) p WHERE ltrim(regexp_replace(p, ' ?\([^()]*,0\)', '', 'g')) IS DISTINCT FROM a ORDER BY id;
-- The charge is that of one answer, with any number of groups.
SELECT private_aggregate, epsilon FROM dp_explain('SELECT c.name, v.kind, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2');
-- Keys alone cost nothing where all rows are joined by columns alone.
SELECT epsilon_spent AS before FROM dp_budget \gset
SELECT DISTINCT c.name AS text, c.id AS value FROM visit v JOIN clinic c ON c.id = v.clinic ORDER BY 2;
SELECT DISTINCT d.name FROM visit v JOIN (VALUES (1, 'one'), (2, 'two')) d (id, name) ON d.id = v.clinic ORDER BY 1;
SELECT DISTINCT d.name FROM visit v LEFT JOIN (VALUES (1, 'one'), (2, 'two')) d (id, name) ON d.id = v.clinic WHERE v.kind = 'lab' ORDER BY 1;
SELECT DISTINCT name FROM (SELECT v.*, c.name FROM visit v LEFT JOIN clinic c ON c.id = v.clinic) d WHERE name LIKE '%t%' ORDER BY 1;
SELECT region, kind FROM visit LEFT JOIN clinic ON id = clinic GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 3;
SELECT epsilon_spent - :before AS epsilon FROM dp_budget;
SELECT DISTINCT c.name FROM visit v JOIN clinic c ON c.id = v.clinic AND v.kind = 'lab';
SELECT DISTINCT c.name FROM visit v JOIN clinic c ON c.id = v.clinic WHERE v.kind = 'lab';
-- Without a delta conditions on rows leave no key of a list out, whatever the rows are, and a notice tells so. Those on keys and on public tables do; nothing is charged.
SELECT epsilon_spent AS before FROM dp_budget \gset
SET client_min_messages = notice;
SELECT DISTINCT kind FROM visit WHERE day BETWEEN '2024-01-02' AND '2024-01-03' ORDER BY 1;
SET client_min_messages = warning;
SELECT kind FROM visit WHERE clinic = 77 AND kind > 'lab' GROUP BY 1;
SELECT DISTINCT c.name FROM visit v JOIN clinic c ON c.id = v.clinic WHERE c.region = 'A' AND v.day > '2024-02-01' ORDER BY 1;
SELECT DISTINCT c.name, v.kind FROM visit v JOIN clinic c ON c.id = v.clinic AND v.day > '2024-02-01' WHERE c.region = 'A' OR v.kind = 'lab' ORDER BY 1, 2 LIMIT 3;
SELECT DISTINCT kind FROM (SELECT * FROM visit WHERE day > '2024-02-01') d ORDER BY 1;
SELECT DISTINCT kind FROM visit WHERE clinic = 3 AND 1 = 0;
SELECT epsilon_spent - :before AS epsilon FROM dp_budget;
-- Refused as before: what is computed of the keys, keys without a list, and rows that other rows choose
SELECT count(*) FROM (SELECT DISTINCT kind FROM visit WHERE clinic = 3) d;
SELECT DISTINCT clinic FROM visit WHERE kind = 'lab';
SELECT DISTINCT kind FROM visit WHERE person IN (SELECT person FROM visit WHERE clinic = 3);
-- With a delta keys of chosen rows are chosen privately, and charged.
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
BEGIN;
SELECT dp_grant_private_access('visit', 'regress_dpq_keys_analyst', epsilon => 100, delta => 1e-6);
SET LOCAL SESSION AUTHORIZATION regress_dpq_keys_analyst;
SELECT private_aggregate, epsilon, delta FROM dp_explain($$SELECT DISTINCT kind FROM visit WHERE day > '2024-02-01'$$);
ROLLBACK;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
-- No row of the table
SELECT c.name, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic JOIN region r ON r.region = c.region WHERE r.title = 'Plain' GROUP BY 1;
SELECT c.name, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic WHERE c.region = 'Z' GROUP BY 1, 2;
-- Texts of floats follow extra_float_digits, of which a plan knows nothing; those of whole numbers follow no setting.
SELECT c.rate::text, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2;
SELECT 'no. ' || c.id::text, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic AND c.id < 3 GROUP BY 1 ORDER BY 1;
-- More keys with NULL than an integer has bits
SELECT 'SELECT count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY ' || string_agg(format('c.region || %L', i), ', ') FROM generate_series(1, 31) i \gexec
-- Notices name keys as the query does, also below window functions.
SET client_min_messages = notice;
SELECT v.kind AS sort, sum(count(*)) OVER () FROM visit v GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM visit v GROUP BY ROLLUP (kind) ORDER BY 1;
SET client_min_messages = warning;

-- An execution reads the rows that there are.
PREPARE by_name AS SELECT c.name, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic WHERE c.region < 'C' GROUP BY 1, 2 ORDER BY 1, 2;
EXECUTE by_name;
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
-- Columns that are not read may change, and rows move.
UPDATE clinic SET beds = 11 WHERE id = 1;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
EXECUTE by_name;
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
UPDATE clinic SET name = 'Nord' WHERE id = 1;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
EXECUTE by_name;
-- threat 339: no plan is kept, also not in a transaction or a function.
BEGIN;
EXECUTE by_name;
SELECT rename(1, 'Nordic');
EXECUTE by_name;
ROLLBACK;
EXECUTE by_name;
CREATE FUNCTION pg_temp.clinics() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT string_agg(name, ' ' ORDER BY name) FROM (SELECT c.name, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic WHERE c.region < 'C' GROUP BY 1, 2) x WHERE kind = 'lab');
END $$;
SELECT epsilon_spent AS before FROM dp_budget \gset
DO $$
BEGIN
  RAISE INFO '%', pg_temp.clinics();
  PERFORM rename(1, 'Nordic');
  RAISE INFO '%', pg_temp.clinics();
END $$;
SELECT epsilon_spent - :before AS epsilon FROM dp_budget;
SELECT pg_temp.clinics();
-- A cursor keeps to the rows that it began with.
BEGIN;
DECLARE names CURSOR FOR SELECT c.name, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic WHERE c.region = 'A' GROUP BY 1, 2 ORDER BY 1, 2;
SET LOCAL SESSION AUTHORIZATION regress_dpq_keys_owner;
UPDATE clinic SET name = 'Later' WHERE id = 1;
SET LOCAL SESSION AUTHORIZATION regress_dpq_keys_analyst;
FETCH ALL FROM names;
ROLLBACK;
-- Nothing of a table is read that the role may not read any more.
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
REVOKE SELECT ON clinic FROM regress_dpq_keys_analyst;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
EXECUTE by_name;
SELECT c.name, v.kind, count(*) FROM visit v JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2;
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
GRANT SELECT ON clinic TO regress_dpq_keys_analyst;

-- Which tables are read: those of which the role may read the columns itself, and that may be joined with protected rows.
CREATE TABLE by_column (id int PRIMARY KEY, name text, hidden text);
INSERT INTO by_column VALUES (1, 'one', 'secret'), (2, 'two', 'secret');
GRANT SELECT (id, name) ON by_column TO regress_dpq_keys_analyst;
CREATE TABLE secured (id int PRIMARY KEY, name text);
INSERT INTO secured VALUES (1, 'seen'), (2, 'unseen');
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON secured USING (id < 2);
CREATE TABLE hidden (id int PRIMARY KEY, name text, is_shown bool);
INSERT INTO hidden VALUES (1, 'shown', true), (2, 'not shown', false);
CREATE VIEW shown AS SELECT id, name FROM hidden WHERE is_shown;
CREATE VIEW names AS SELECT id, name FROM clinic WHERE region <> 'C';
CREATE MATERIALIZED VIEW copied AS SELECT id, name FROM clinic;
CREATE UNIQUE INDEX ON copied (id);
CREATE TABLE parts (id int PRIMARY KEY, name text) PARTITION BY RANGE (id);
CREATE TABLE first_part PARTITION OF parts FOR VALUES FROM (0) TO (2);
CREATE TABLE second_part PARTITION OF parts FOR VALUES FROM (2) TO (9);
INSERT INTO parts VALUES (1, 'first'), (2, 'second');
CREATE TABLE large (id int PRIMARY KEY, name text);
INSERT INTO large SELECT i, 'name ' || i % 1001 FROM generate_series(1, 1001) i;
CREATE TABLE repeated (id int PRIMARY KEY, name text);
INSERT INTO repeated SELECT i, 'name ' || i % 3 FROM generate_series(1, 9000) i;
CREATE TABLE long_names (id int PRIMARY KEY, name text);
ALTER TABLE long_names ALTER name SET STORAGE EXTERNAL;
INSERT INTO long_names SELECT i, repeat('x', 3000 * i) FROM generate_series(1, 2) i;
CREATE TABLE empty (id int PRIMARY KEY, name text);
CREATE DOMAIN short AS text CHECK (length(VALUE) < 10);
CREATE TYPE color AS ENUM ('red', 'green', 'blue');
CREATE TABLE typed (id int PRIMARY KEY, name short, color color, twice int GENERATED ALWAYS AS (2 * id) STORED, place point);
INSERT INTO typed VALUES (1, 'one', 'red', DEFAULT, '(0,0)'), (2, 'two', 'blue', DEFAULT, '(1,1)');
ALTER TABLE typed ADD added text DEFAULT 'of all rows';
GRANT SELECT ON secured, shown, names, copied, parts, large, repeated, long_names, empty, typed TO regress_dpq_keys_analyst;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
CREATE TEMP TABLE near (id serial, query text);
INSERT INTO near (query) VALUES
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN by_column d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.hidden, v.kind, count(*) FROM visit v JOIN by_column d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN secured d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN shown d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN names d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN copied d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN parts d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN large d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN large d ON d.id = v.clinic WHERE d.id < 3 GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN repeated d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN long_names d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v LEFT JOIN empty d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN empty d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN typed d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.color, d.twice, d.added, v.kind, count(*) FROM visit v JOIN typed d ON d.id = v.clinic GROUP BY 1, 2, 3, 4'),
  ('SELECT d.place[0], v.kind, count(*) FROM visit v JOIN typed d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name COLLATE "C", v.kind, count(*) FROM visit v JOIN clinic d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN (SELECT id, name FROM clinic ORDER BY id LIMIT 2) d ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN (VALUES (1, ''one''), (2, ''two'')) d (id, name) ON d.id = v.clinic WHERE d.name = ''three'' GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN (VALUES (1, now()::text)) d (id, name) ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN (VALUES (1, NULL)) d (id, name) ON d.id = v.clinic GROUP BY 1, 2'),
  ('SELECT d.name, v.kind, count(*) FROM visit v JOIN (VALUES (1, ''one''), (1, ''two'')) d (id, name) ON d.id = v.clinic GROUP BY 1, 2'),
  -- Threat 322
  ('SELECT k.label, count(v.person) FROM kind k LEFT JOIN (visit v LEFT JOIN clinic c ON c.id = v.clinic AND c.id = v.person) ON v.kind = k.kind GROUP BY 1');
SELECT id, query, a FROM near, answers(query) a ORDER BY id;

-- A foreign key finds a row for each row whose columns are not NULL: then no group is for rows without one. 24 stays, 8 of each of the first three places
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
CREATE TABLE place (id int PRIMARY KEY, site int NOT NULL, room int NOT NULL, code text NOT NULL UNIQUE, name text NOT NULL, region text NOT NULL, UNIQUE (site, room));
INSERT INTO place VALUES (1, 1, 1, 'n', 'North', 'A'), (2, 1, 2, 's', 'South', 'A'), (3, 2, 1, 'e', 'East', 'B'), (4, 2, 2, 'w', 'West', 'B');
CREATE TABLE stay (person int NOT NULL, place int NOT NULL CONSTRAINT dropped REFERENCES place, maybe int REFERENCES place, late int NOT NULL REFERENCES place DEFERRABLE, small smallint NOT NULL REFERENCES place,
  code varchar NOT NULL REFERENCES place (code), site int NOT NULL, room int NOT NULL, free int NOT NULL, unchecked int NOT NULL, FOREIGN KEY (site, room) REFERENCES place (site, room));
INSERT INTO stay SELECT 1 + i % 12, p.id, nullif(p.id, 3), p.id, p.id, p.code, p.site, p.room, 2 + i % 4, 2 + i % 4 FROM generate_series(0, 23) i JOIN place p ON p.id = 1 + i % 3;
ALTER TABLE stay ADD FOREIGN KEY (unchecked) REFERENCES place NOT VALID;
SELECT dp_protect_table('stay', 'person', 4, unit => 'person');
SELECT dp_set_domain('stay', 'free', 2, 5);
SELECT dp_grant_private_access('stay', 'regress_dpq_keys_analyst', epsilon => 100);
GRANT SELECT ON place TO regress_dpq_keys_analyst;
TRUNCATE question;
INSERT INTO question (query) SELECT 'SELECT c.name, count(*) FROM ' || f || ' GROUP BY 1' FROM unnest(ARRAY[
  'stay v LEFT JOIN place c ON c.id = v.place', 'place c RIGHT JOIN stay v ON v.place = c.id', 'stay v LEFT JOIN place c ON c.id = v.small', 'stay v LEFT JOIN place c ON c.code = v.code', 'stay v LEFT JOIN place c USING (code)',
  'stay v LEFT JOIN place c USING (site, room)', 'stay v LEFT JOIN place c ON c.room = v.room AND v.site = c.site', '(SELECT * FROM stay) v LEFT JOIN place c ON c.id = v.place',
  'stay v LEFT JOIN place c ON c.id = v.maybe WHERE v.maybe IS NOT NULL', 'stay v LEFT JOIN place d ON d.id = v.place LEFT JOIN place c ON c.id = v.small',
  -- Nothing finds a row for each of these.
  'stay v LEFT JOIN place c ON c.id = v.maybe', 'stay v LEFT JOIN place c ON c.id = v.late', 'stay v LEFT JOIN place c ON c.site = v.room AND c.room = v.site', 'stay v LEFT JOIN place c ON c.id = v.free',
  'stay v LEFT JOIN place c ON c.id = v.unchecked', 'stay v LEFT JOIN place c ON c.id = v.place AND c.region = ''A''', 'stay v LEFT JOIN place c ON c.id = v.place AND v.free = 2', 'stay v LEFT JOIN place c ON c.id = 5 - v.free',
  'stay v LEFT JOIN (SELECT * FROM place WHERE region = ''A'') c ON c.id = v.place', '(stay v LEFT JOIN place d ON d.id = v.free) LEFT JOIN place c ON c.id = d.id']) f;
INSERT INTO question (query) VALUES ('SELECT c.region, c.name, count(*) FROM stay v LEFT JOIN place c ON c.id = v.place GROUP BY ROLLUP (1, 2)'),
  ('SELECT concat(c.region, v.free), count(*) FROM stay v LEFT JOIN place c ON c.id = v.place GROUP BY 1');
TRUNCATE exact;
INSERT INTO exact SELECT id, query, a FROM question, answers(query) a;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
SELECT query, p FROM exact, answers(query) p ORDER BY id;
SELECT id, query, p AS answer, a AS exact FROM exact, answers(query) p WHERE ltrim(regexp_replace(p, ' ?\([^()]*,0\)', '', 'g')) IS DISTINCT FROM a ORDER BY id;
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
-- A column that an outer join compares with one of the table is that column, and in rows without one of the table what its own list has beside them.
TRUNCATE question;
INSERT INTO question (query) VALUES
  ('SELECT v.place, c.name, count(*) FROM stay v LEFT JOIN place c ON c.id = v.place GROUP BY 1, 2'),
  ('SELECT c.name, v.maybe, count(*) FROM stay v LEFT JOIN place c ON v.maybe = c.id GROUP BY 1, 2'),
  ('SELECT v.free, c.name, count(*) FROM stay v LEFT JOIN place c ON c.id = v.free GROUP BY 1, 2'),
  ('SELECT v.free, c.name, c.region, count(*) FROM stay v LEFT JOIN place c ON c.id = v.free WHERE v.free > 3 GROUP BY 1, 2, 3'),
  ('SELECT v.free, c.name, count(*) FROM stay v LEFT JOIN place c ON c.id = v.free AND c.region = ''A'' GROUP BY 1, 2'),
  ('SELECT v.free, c.name, count(*) FROM stay v LEFT JOIN place c ON c.id = v.free AND v.place = 1 GROUP BY 1, 2'),
  ('SELECT v.free, c.name, count(*) FROM stay v LEFT JOIN place c ON c.id = v.free WHERE c.id IS NULL GROUP BY 1, 2'),
  ('SELECT v.free, c.name, count(*) FROM stay v LEFT JOIN place c ON c.id = v.free WHERE c.region = ''B'' GROUP BY 1, 2'),
  ('SELECT v.free, coalesce(c.name, ''none''), d.name, count(*) FROM stay v LEFT JOIN place c ON c.id = v.free LEFT JOIN place d ON d.id = v.free AND d.region = ''B'' GROUP BY 1, 2, 3'),
  ('SELECT v.kind, k.label, count(*) FROM visit v LEFT JOIN kind k ON k.kind = v.kind GROUP BY 1, 2'),
  ('SELECT kind, label, count(*) FROM visit v LEFT JOIN kind k USING (kind) GROUP BY 1, 2'),
  ('SELECT v.kind, k.label, count(*) FROM visit v LEFT JOIN kind k ON k.kind = v.kind AND k.kind = ''lab'' GROUP BY ROLLUP (1, 2)');
TRUNCATE exact;
INSERT INTO exact SELECT id, query, a FROM question, answers(query) a;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
SELECT query, p FROM exact, answers(query) p ORDER BY id;
SELECT id, query, p AS answer, a AS exact FROM exact, answers(query) p WHERE ltrim(regexp_replace(p, ' ?\([^()]*,0\)', '', 'g')) IS DISTINCT FROM a ORDER BY id;
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
-- A column that refers to a public table by a foreign key has the values of that table, also where the query does not name it.
CREATE TABLE secret (id int PRIMARY KEY);
INSERT INTO secret VALUES (2), (3), (4), (5);
ALTER TABLE stay ADD FOREIGN KEY (free) REFERENCES secret, ADD COLUMN hidden int REFERENCES secret;
TRUNCATE question;
INSERT INTO question (query) SELECT 'SELECT ' || key || ', count(*) FROM stay v ' || f || 'GROUP BY 1' FROM (VALUES
  ('v.place', ''), ('v.maybe', ''), ('v.maybe', 'WHERE v.maybe IS NOT NULL '), ('v.maybe', 'WHERE v.maybe > 1 '), ('v.place % 2', ''), ('coalesce(v.maybe, -1)', ''), ('v.place', 'WHERE v.place IN (1, 9) '),
  ('CASE WHEN v.free = 2 THEN v.place ELSE 0 END', ''),
  -- Nothing says that all values are there, or may be read.
  ('v.late', ''), ('v.small', ''), ('v.code', ''), ('v.site', ''), ('v.unchecked', ''), ('v.hidden', '')) x (key, f);
INSERT INTO question (query) VALUES
  ('SELECT place, free, count(*) FROM (SELECT * FROM stay WHERE maybe = 1) v GROUP BY 1, 2'),
  ('SELECT v.place, v.maybe, count(*) FROM stay v GROUP BY ROLLUP (1, 2)'),
  ('SELECT v.place, count(DISTINCT v.person) FROM stay v GROUP BY 1'),
  ('SELECT p.region, n FROM (SELECT place, count(*) AS n FROM stay GROUP BY 1) v JOIN place p ON p.id = v.place'),
  ('SELECT v.place, c.name, count(*) FROM stay v LEFT JOIN place c ON c.id = v.maybe GROUP BY 1, 2'),
  ('SELECT k.kind, s.place, count(*) FROM visit k LEFT JOIN stay s ON s.person = k.person AND s.free = 7 GROUP BY 1, 2'),
  ('SELECT least(count(DISTINCT place), 4), mode() WITHIN GROUP (ORDER BY place) > 0 FROM stay v');
TRUNCATE exact;
INSERT INTO exact SELECT id, query, a FROM question, answers(query) a;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
SELECT query, p FROM exact, answers(query) p ORDER BY id;
SELECT id, query, p AS answer, a AS exact FROM exact, answers(query) p WHERE ltrim(regexp_replace(p, ' ?\([^()]*,0\)', '', 'g')) IS DISTINCT FROM a ORDER BY id;
SELECT DISTINCT place FROM stay ORDER BY 1;
-- One to a partitioned table is none to its partitions, although the catalogs have a row for each; partitions of the table that refers have its keys.
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
CREATE TABLE area (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE area_low PARTITION OF area FOR VALUES FROM (1) TO (3);
CREATE TABLE area_high PARTITION OF area FOR VALUES FROM (3) TO (9) PARTITION BY RANGE (id);
CREATE TABLE area_3 PARTITION OF area_high FOR VALUES FROM (3) TO (4);
INSERT INTO area VALUES (1), (2), (3);
CREATE TABLE trip (person int NOT NULL, area int NOT NULL REFERENCES area, place int NOT NULL REFERENCES place, half int NOT NULL) PARTITION BY LIST (half);
CREATE TABLE trip_1 PARTITION OF trip FOR VALUES IN (1);
CREATE TABLE trip_2 PARTITION OF trip FOR VALUES IN (2);
INSERT INTO trip SELECT 1 + i % 12, 1 + i % 3, 1 + i % 3, 1 + i / 12 FROM generate_series(0, 23) i;
SELECT dp_protect_table(t, 'person', 4, unit => 'person'), dp_grant_private_access(t, 'regress_dpq_keys_analyst', epsilon => 100) FROM unnest('{trip,trip_1}'::regclass[]) t;
GRANT SELECT ON area, area_low, area_3 TO regress_dpq_keys_analyst;
TRUNCATE question;
INSERT INTO question (query) SELECT 'SELECT ' || key || ', count(*) FROM ' || f || ' GROUP BY 1' FROM (VALUES
  ('a.id', 'trip v LEFT JOIN area_low a ON a.id = v.area'), ('a.id', 'trip_1 v LEFT JOIN area_3 a ON a.id = v.area'), ('v.place', 'trip v'), ('v.place', 'trip_1 v'), ('p.name', 'trip_1 v LEFT JOIN place p ON p.id = v.place'),
  -- No list of a partitioned table is read.
  ('v.area', 'trip v'), ('v.area', 'trip_1 v')) x (key, f);
TRUNCATE exact;
INSERT INTO exact SELECT id, query, a FROM question, answers(query) a;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
SELECT query, left(p, 100) FROM exact, answers(query) p ORDER BY id;
SELECT id, query, left(p, 100) AS answer, a AS exact FROM exact, answers(query) p WHERE ltrim(regexp_replace(p, ' ?\([^()]*,0\)', '', 'g')) IS DISTINCT FROM a ORDER BY id;
-- Of a table that is too large to be read, by its rows or its blocks, those rows are looked up that a list of values finds by a unique key.
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
CREATE TABLE many (id int PRIMARY KEY, name text NOT NULL, other int UNIQUE, label text UNIQUE);
INSERT INTO many SELECT i, 'name ' || i, 2000 - i, CASE i WHEN 1 THEN 'lab' WHEN 2 THEN 'visit' ELSE 'label ' || i END FROM generate_series(1, 2000) i;
CREATE TABLE wide (id int PRIMARY KEY, name text) WITH (fillfactor = 10);
INSERT INTO wide SELECT i, 'wide ' || i FROM generate_series(3, 25000) i;
GRANT SELECT ON many, wide TO regress_dpq_keys_analyst;
SELECT dp_set_domain('visit', 'clinic', '{1,2,9}'), dp_set_other_key('visit', 'clinic', '9');
SELECT pg_relation_size('wide') / 8192 > 1000 AS is_large;
TRUNCATE question;
INSERT INTO question (query) SELECT 'SELECT m.name, ' || key || 'count(*) FROM ' || f || CASE key WHEN '' THEN ' GROUP BY 1' ELSE ' GROUP BY 1, 2' END FROM (VALUES
  ('', 'stay v JOIN many m ON m.id = v.free'), ('', 'stay v JOIN wide m ON v.free = m.id'), ('v.free, ', 'stay v JOIN wide m ON m.id = v.free'), ('', 'stay v JOIN many m ON m.id = v.place'), ('', 'stay v LEFT JOIN wide m ON m.id = v.free'),
  ('v.free, ', 'stay v LEFT JOIN wide m ON m.id = v.free'), ('v.kind, ', 'visit v JOIN many m ON m.id = v.clinic WHERE m.id IN (1, 3)'), ('', 'visit v JOIN wide m ON m.id = v.clinic WHERE v.clinic = 3'),
  ('', 'visit v JOIN many m ON m.label = v.kind'), ('', '(SELECT m.name FROM stay v JOIN wide m ON m.id = v.free AND v.free < 4) m'), ('', 'stay v JOIN many m ON m.other = v.free WHERE m.name > ''name 1996'' '),
  -- A list with a key for all others, none, and no column: each row of the table is a group, as the grant has no delta.
  ('', 'visit v JOIN many m ON m.id = v.clinic'), ('', 'visit v JOIN many m ON m.id = v.person'), ('', 'stay v JOIN many m ON m.id = v.free + 1')) x (key, f);
TRUNCATE exact;
INSERT INTO exact SELECT id, query, a FROM question, answers(query) a;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
SELECT query, left(p, 100) FROM exact, answers(query) p ORDER BY id;
SELECT id, query, left(p, 100) AS answer, left(a, 100) AS exact FROM exact, answers(query) p WHERE ltrim(regexp_replace(p, ' ?\([^()]*,0\)', '', 'g')) IS DISTINCT FROM a ORDER BY id;
-- The values that are kept for lists of tables are at most a million.
SELECT answers(format('SELECT m.id, %s, count(*) FROM visit v JOIN many m ON m.id = v.clinic WHERE m.id <= 1000 GROUP BY 1', string_agg(format('min(m.id + %s)', i), ', '))) FROM generate_series(1, 600) i;
-- A table of many rows with few values is read several times.
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
CREATE TABLE long (id int PRIMARY KEY, name text);
INSERT INTO long SELECT i, 'name ' || i % 2 FROM generate_series(1, 30000) i;
GRANT SELECT ON long TO regress_dpq_keys_analyst;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
SELECT l.name, upper(l.name), v.kind, count(*) FROM visit v JOIN long l ON l.id = v.clinic WHERE l.id > 0 AND l.name <> 'x' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
PREPARE of_many AS SELECT m.name, count(*) FROM stay v JOIN many m ON m.id = v.free GROUP BY 1 ORDER BY 1;
EXECUTE of_many;
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
UPDATE many SET name = 'another' WHERE id = 3;
SELECT dp_drop_domain('visit', 'clinic');
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
EXECUTE of_many;
-- A plan is not kept after a new row of that table.
PREPARE of_reference AS SELECT place, count(*) FROM stay GROUP BY 1 ORDER BY 1;
EXECUTE of_reference;
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
INSERT INTO place VALUES (6, 3, 1, 'f', 'Far', 'C');
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
EXECUTE of_reference;
EXECUTE of_reference;
-- Nothing lists the clinics that the table lacks.
SELECT v.clinic, c.name, count(*) FROM visit v LEFT JOIN clinic c ON c.id = v.clinic GROUP BY 1, 2;
-- Of a table without rows, or without a value, all rows have NULL.
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
CREATE TABLE later (id int PRIMARY KEY, name text, size int);
GRANT SELECT ON later TO regress_dpq_keys_analyst;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
SELECT l.name, count(*) > 0 AS has_rows FROM visit v LEFT JOIN later l ON l.id = v.clinic GROUP BY 1;
SELECT avg(l.size) FROM visit v LEFT JOIN later l ON l.id = v.clinic;
-- A plan is not kept after the foreign key.
PREPARE by_place AS SELECT c.name, count(*) FROM stay v LEFT JOIN place c ON c.id = v.place GROUP BY 1 ORDER BY 1;
EXECUTE by_place;
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
ALTER TABLE stay DROP CONSTRAINT dropped;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
EXECUTE by_place;
-- threat 343: a catalog tells a restricted session nothing of rows, so no list or bounds are read of it, and no row of it is counted.
TRUNCATE near;
INSERT INTO near (query) VALUES
  ('SELECT c.reltuples, v.kind, count(*) FROM visit v JOIN (SELECT * FROM pg_class WHERE relname = ''large'') c ON c.oid = v.clinic::oid GROUP BY 1, 2'),
  ('SELECT DISTINCT c.relpages FROM visit v JOIN pg_class c ON c.oid = v.clinic::oid WHERE c.relname = ''large'''),
  ('SELECT max(c.reltuples) FROM visit v JOIN pg_class c ON c.oid = v.clinic::oid'),
  ('SELECT c.relname, count(*) FROM visit v JOIN pg_class c ON c.oid = v.clinic::oid WHERE c.reltuples > 1e9 GROUP BY 1'),
  ('SELECT c.relname, count(*) FROM visit v JOIN pg_class c ON c.oid = v.clinic::oid WHERE c.reltuples < 1e9 GROUP BY 1');
SELECT query, a FROM near, answers(query) a ORDER BY id;
-- Beside protected rows functions read no text that is too long: a key that is computed of such a text would be listed, and no row would have it.
SET SESSION AUTHORIZATION regress_dpq_keys_owner;
CREATE TABLE essay (id int PRIMARY KEY, body text NOT NULL);
INSERT INTO essay VALUES (1, 'short'), (2, repeat('long', 300)), (3, repeat('longer', 20));
GRANT SELECT ON essay TO regress_dpq_keys_analyst;
SET SESSION AUTHORIZATION regress_dpq_keys_analyst;
SELECT upper(e.body), count(*) FROM visit v LEFT JOIN essay e ON e.id = v.clinic WHERE v.kind NOT ILIKE '%q0%y%' AND v.kind NOT ILIKE '%q1%y%' AND v.kind NOT ILIKE '%q2%y%' AND v.kind NOT ILIKE '%q3%y%' AND v.kind NOT ILIKE '%q4%y%' AND v.kind NOT ILIKE '%q5%y%' AND v.kind NOT ILIKE '%q6%y%' AND v.kind NOT ILIKE '%q7%y%' GROUP BY 1;
SELECT left(upper(e.body), 20), count(*) FROM visit v JOIN essay e ON e.id = v.clinic WHERE octet_length(e.body) <= 1024 AND v.kind NOT ILIKE '%q0%y%' AND v.kind NOT ILIKE '%q1%y%' AND v.kind NOT ILIKE '%q2%y%' AND v.kind NOT ILIKE '%q3%y%' AND v.kind NOT ILIKE '%q4%y%' AND v.kind NOT ILIKE '%q5%y%' AND v.kind NOT ILIKE '%q6%y%' AND v.kind NOT ILIKE '%q7%y%' GROUP BY 1 ORDER BY 1;
-- It is not read by what tells its length, nor as a key itself.
SELECT octet_length(e.body), count(*) FROM visit v JOIN essay e ON e.id = v.clinic WHERE v.kind NOT ILIKE '%q0%y%' AND v.kind NOT ILIKE '%q1%y%' AND v.kind NOT ILIKE '%q2%y%' AND v.kind NOT ILIKE '%q3%y%' AND v.kind NOT ILIKE '%q4%y%' AND v.kind NOT ILIKE '%q5%y%' AND v.kind NOT ILIKE '%q6%y%' AND v.kind NOT ILIKE '%q7%y%' GROUP BY 1, e.body ORDER BY 1;
-- threat 345: types of one's own with names of PostgreSQL's come first where they are temporary.
CREATE DOMAIN pg_temp.int4 AS numeric;
CREATE DOMAIN pg_temp.text AS pg_catalog.int4;
CREATE DOMAIN pg_temp.bool AS bytea;
SELECT d.name, v.kind, count(*) FROM visit v LEFT JOIN large d ON d.id = v.clinic AND d.id < 900 GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1, 2;
EXECUTE of_reference;
RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_keys CASCADE;
DROP OWNED BY regress_dpq_keys_owner, regress_dpq_keys_analyst;
DROP ROLE regress_dpq_keys_owner, regress_dpq_keys_analyst;
