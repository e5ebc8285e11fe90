-- Public tables beside protected rows: in derived tables and CTEs, joined with each other first, and in subqueries of expressions. A count
-- of persons has epsilon 100, and one of rows 25: noise on it is 0 except with a probability below 1e-10.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_public_owner LOGIN;
CREATE ROLE regress_dpq_public_analyst LOGIN;
CREATE SCHEMA regress_dpq_public AUTHORIZATION regress_dpq_public_owner;
GRANT USAGE ON SCHEMA regress_dpq_public TO regress_dpq_public_analyst;
SELECT dp_grant_budget('regress_dpq_public_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_public_analyst');
SET SESSION AUTHORIZATION regress_dpq_public_owner;
SET search_path = regress_dpq_public, public;
CREATE TABLE region (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO region VALUES (1, 'north'), (2, 'south'), (3, 'west');
CREATE TABLE shop (id int PRIMARY KEY, name text NOT NULL, region int);
INSERT INTO shop SELECT s, 'shop ' || s, CASE WHEN s < 10 THEN 1 + s % 3 END FROM generate_series(1, 10) s;
CREATE TABLE holiday (country text, day date, name text, PRIMARY KEY (country, day));
INSERT INTO holiday SELECT c, date '2024-01-01' + i, 'day ' || i FROM unnest('{it,fr}'::text[]) c, generate_series(0, 20, 5) i;
CREATE TABLE note (shop int, text text);
INSERT INTO note SELECT 1 + i % 4, 'note' FROM generate_series(1, 12) i;
INSERT INTO note VALUES (NULL, 'none');
CREATE TABLE nothing (shop int);
CREATE VIEW shop_view AS SELECT * FROM shop;
CREATE TABLE secured (shop int);
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON secured USING (true);
CREATE TABLE parent (shop int);
CREATE TABLE place (id int PRIMARY KEY, name text NOT NULL, city int);
INSERT INTO place SELECT p, 'place ' || p, p / 3 FROM generate_series(1, 3000) p;
CREATE TABLE child () INHERITS (parent);
CREATE TABLE written (shop int);
GRANT INSERT ON written TO regress_dpq_public_analyst;
CREATE TABLE hidden (shop int);
CREATE TABLE season (name text PRIMARY KEY, first date NOT NULL, last date NOT NULL);
INSERT INTO season VALUES ('winter', '2024-01-01', '2024-01-20'), ('spring', '2024-01-21', '2024-12-31');
CREATE TABLE decimal (digits numeric, zero float8);
INSERT INTO decimal VALUES (1.0, 0), (1.00, '-0'), (1.000, 0);
-- 40 visits of 20 persons, two in each shop from 1 to 10 (and 20 in shops from 1 to 20): 4 in each, but of shop 5 NULL
CREATE TABLE visit (person int, shop int, country text, day date);
INSERT INTO visit SELECT 1 + i % 20, NULLIF(1 + i % 10, 5), CASE WHEN i % 2 = 0 THEN 'it' ELSE 'fr' END, date '2024-01-01' + i FROM generate_series(0, 39) i;
SELECT dp_protect_table('visit', 'person', 4, unit => 'person');
SELECT dp_set_domain('visit', 'shop', '{1,2,3,4,5,6,7,8,9,10}');
SELECT dp_grant_private_access('visit', 'regress_dpq_public_analyst', epsilon => 100, delta => 1e-6);
GRANT SELECT ON region, shop, holiday, note, nothing, shop_view, secured, parent, written, decimal, season, place TO regress_dpq_public_analyst;
-- Each question is asked by the owner, who sees the rows, and by the analyst.
CREATE TABLE question (id serial, query text);
GRANT SELECT ON question TO regress_dpq_public_analyst;
INSERT INTO question (query) VALUES
  -- Dimensions first, in any order
  ('SELECT r.name, count(*) FROM region r JOIN shop s ON s.region = r.id JOIN visit v ON v.shop = s.id GROUP BY 1'),
  ('SELECT count(*) FROM (region r JOIN shop s ON s.region = r.id) JOIN (visit v JOIN holiday h USING (country, day)) ON v.shop = s.id'),
  ('SELECT count(*) FROM region r, shop s, visit v WHERE v.shop = s.id AND s.region = r.id'),
  ('SELECT count(r.id), count(*) FROM visit v LEFT JOIN (shop s JOIN region r ON r.id = s.region) ON v.shop = s.id'),
  ('SELECT count(*) FROM shop s JOIN region r ON r.id = s.region, visit v WHERE v.shop = s.id AND r.name <> ''north'''),
  ('SELECT r.name, count(v.person) FROM (region r JOIN shop s ON s.region = r.id) LEFT JOIN visit v ON v.shop = s.id AND v.country = ''it'' GROUP BY r.name'),
  ('SELECT count(*) FROM (shop s CROSS JOIN visit v) LEFT JOIN region r ON r.id = s.region WHERE v.shop = s.id'),
  -- count(*) counts a public row that matches no row, too, where each group has one.
  ('SELECT s.id, count(*), sum(1), count(v.person) FROM shop s LEFT JOIN visit v ON v.shop = s.id GROUP BY s.id'),
  ('SELECT k.country, count(*) FROM (VALUES (''it''), (''de''), (NULL)) k (country) LEFT JOIN visit v USING (country) GROUP BY k.country'),
  ('SELECT k.country, count(*) FROM unnest(ARRAY[''it'', ''de'', ''xx'']) k (country) LEFT JOIN visit v USING (country) GROUP BY k.country'),
  ('SELECT k.shop, count(1) FROM visit v RIGHT JOIN generate_series(4, 6) k (shop) USING (shop) GROUP BY k.shop HAVING count(*) < 4'),
  ('SELECT k.shop, count(*) FROM (SELECT DISTINCT shop FROM note) k LEFT JOIN visit v USING (shop) GROUP BY k.shop'),
  ('SELECT s.region, count(*) FILTER (WHERE v.country = ''it'') FROM shop s LEFT JOIN visit v ON v.shop = s.id GROUP BY s.region'),
  -- LATERAL whose conditions alone take columns of tables beside it
  ('SELECT d.name, count(*) FROM visit v, LATERAL (SELECT name FROM shop s WHERE s.id = v.shop ORDER BY s.region) d GROUP BY d.name'),
  ('SELECT count(*), count(d.name) FROM visit v LEFT JOIN LATERAL (SELECT s.name FROM shop s WHERE s.id = v.shop AND s.region = 1 AND v.country = ''it'') d ON true'),
  ('SELECT e.name, count(*) FROM visit v JOIN LATERAL (SELECT * FROM shop s WHERE s.id = v.shop) d ON d.region < 3, LATERAL (SELECT r.name FROM region r WHERE r.id = d.region) e GROUP BY e.name'),
  ('SELECT count(*), count(e.name) FROM visit v LEFT JOIN (shop s JOIN LATERAL (SELECT r.name FROM region r WHERE r.id = s.region AND r.id > 1) e ON true) ON s.id = v.shop'),
  -- Derived tables and CTEs
  ('SELECT s.name, count(*) FROM visit v JOIN (SELECT id, name FROM shop WHERE region = 1) s ON s.id = v.shop GROUP BY 1'),
  ('WITH s AS (SELECT * FROM shop WHERE region = 1) SELECT count(*) FROM visit v JOIN s ON s.id = v.shop'),
  ('WITH s AS (SELECT * FROM shop WHERE region = 1) SELECT count(a.id), count(b.id) FROM visit v LEFT JOIN s a ON a.id = v.shop LEFT JOIN s b ON b.id = v.shop + 3'),
  ('SELECT x.label, count(*) FROM visit v JOIN (SELECT s.id, r.name || '' '' || s.name AS label FROM shop s JOIN region r ON r.id = s.region ORDER BY label) x ON x.id = v.shop GROUP BY 1'),
  ('SELECT count(x.shop), count(*) FROM visit v LEFT JOIN (SELECT DISTINCT shop FROM note) x ON x.shop = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT n.shop, s.name FROM note n JOIN shop s ON s.id = n.shop GROUP BY n.shop, s.name) x ON x.shop = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT day FROM holiday WHERE country = ''it'') h ON h.day = v.day'),
  ('SELECT count(*) FROM visit v JOIN (SELECT h.day FROM (SELECT * FROM holiday) h WHERE country = ''it'') h ON h.day = v.day'),
  ('SELECT count(*) FROM visit v JOIN (SELECT x.shop, s.name FROM (SELECT DISTINCT shop FROM note) x LEFT JOIN shop s ON s.id = x.shop) y USING (shop)'),
  ('SELECT s.name, count(v.person) FROM (SELECT * FROM shop WHERE region = 2) s LEFT JOIN visit v ON v.shop = s.id GROUP BY s.name'),
  -- A part of the key is a constant; what both sides of OR say joins
  ('SELECT count(*) FROM holiday h, visit v WHERE h.country = ''it'' AND h.day = v.day'),
  ('SELECT h.name, count(*) FROM visit v JOIN holiday h ON h.day = v.day WHERE h.country = ''it'' GROUP BY 1'),
  ('SELECT count(*) FROM visit v JOIN holiday h ON h.day = v.day AND h.country = ''it'' JOIN shop s ON s.id = v.shop WHERE s.region = 1'),
  ('SELECT count(*) FROM visit v, shop s WHERE (s.id = v.shop AND s.region = 1 AND v.country = ''it'') OR (s.id = v.shop AND s.region = 2 AND v.country = ''fr'')'),
  -- Lists that are written as UNION
  ('WITH a (shop, label) AS (SELECT 1, ''a'' UNION ALL SELECT 2, ''b'') SELECT a.label, count(*) FROM visit v JOIN a ON a.shop = v.shop GROUP BY 1'),
  ('WITH a (shop, label) AS (SELECT 1, ''a'' UNION ALL SELECT 2, ''b'') SELECT count(*) FROM (SELECT a.label FROM visit v JOIN a ON a.shop = v.shop) l'),
  ('SELECT count(*) FROM visit v JOIN (SELECT 1 AS shop UNION SELECT 2 UNION SELECT 1) a USING (shop)'),
  ('SELECT a.label, count(v.person) FROM (SELECT 1 AS shop, ''a'' AS label UNION ALL SELECT 20, NULL) a LEFT JOIN visit v ON v.shop = a.shop GROUP BY 1'),
  -- IN and EXISTS, in a condition and elsewhere
  ('SELECT count(*) FROM visit WHERE shop IN (SELECT id FROM shop WHERE region = 1)'),
  ('SELECT count(*) FROM visit WHERE shop IN (SELECT shop FROM note) OR country = ''it'''),
  ('SELECT count(*) FROM visit WHERE day NOT IN (SELECT day FROM holiday)'),
  ('SELECT count(*) FROM visit WHERE shop NOT IN (SELECT id FROM shop WHERE region = 1)'),
  ('SELECT count(*) FROM visit WHERE shop NOT IN (SELECT shop FROM note)'),
  ('SELECT count(*) FROM visit WHERE shop NOT IN (SELECT shop FROM note WHERE shop > 2)'),
  ('SELECT count(*) FROM visit WHERE shop NOT IN (SELECT shop FROM nothing)'),
  ('SELECT count(*) FROM visit WHERE (shop IN (SELECT shop FROM note)) IS NULL'),
  ('SELECT count(*) FROM visit WHERE (shop IN (SELECT id FROM shop WHERE region = 1)) IS NULL'),
  ('SELECT count(*) FROM visit WHERE (country, day) IN (SELECT country, day FROM holiday)'),
  ('SELECT count(*) FROM visit WHERE shop + 1 IN (SELECT DISTINCT n.shop FROM note n JOIN shop s ON s.id = n.shop WHERE s.region IN (2, 3) ORDER BY 1)'),
  ('SELECT count(*) FROM visit v WHERE EXISTS (SELECT FROM shop s WHERE s.id = v.shop AND s.region = 1)'),
  ('SELECT count(*) FROM visit v WHERE EXISTS (SELECT 1 FROM holiday h WHERE h.country = v.country AND v.day = h.day LIMIT 1)'),
  ('SELECT count(*) FROM visit v WHERE NOT EXISTS (SELECT FROM note n WHERE n.shop = v.shop)'),
  ('SELECT count(*) FROM visit v WHERE NOT EXISTS (SELECT FROM note n JOIN shop s ON s.id = n.shop WHERE n.shop = v.shop AND s.region = 1)'),
  ('SELECT count(*) FROM visit v WHERE EXISTS (SELECT FROM nothing) OR NOT EXISTS (SELECT FROM note WHERE text = ''note'')'),
  ('SELECT count(*) FROM visit v WHERE EXISTS (SELECT FROM note) AND shop = 1'),
  ('SELECT count(*) FROM visit WHERE shop = ANY (ARRAY(SELECT id FROM shop WHERE region = 1))'),
  ('SELECT count(*) FROM visit WHERE shop <> ALL (ARRAY(SELECT shop FROM note WHERE shop < 3))'),
  ('SELECT count(*) FROM visit WHERE country = ANY (ARRAY(SELECT country FROM holiday))'),
  ('SELECT count(*) FILTER (WHERE shop IN (SELECT id FROM shop WHERE region = 1)), count(*) FROM visit'),
  ('SELECT CASE WHEN shop IN (SELECT shop FROM note WHERE shop > 0) THEN ''noted'' ELSE ''other'' END AS kind, count(*) FROM visit GROUP BY 1'),
  ('SELECT count(*) FROM shop s, visit v WHERE v.shop = s.id AND s.region IN (SELECT id FROM region WHERE name <> ''south'')'),
  ('SELECT count(v.person) FROM region r LEFT JOIN (visit v JOIN shop s ON s.id = v.shop AND v.day NOT IN (SELECT day FROM holiday)) ON r.id = s.region'),
  -- Values of one row
  ('SELECT count(*) FROM visit v WHERE (SELECT region FROM shop s WHERE s.id = v.shop) = 2'),
  ('SELECT count(*) FROM visit v WHERE shop = (SELECT id FROM shop WHERE id = 7)'),
  ('SELECT (SELECT name FROM shop s WHERE s.id = v.shop AND s.region < 3) AS name, count(*) FROM visit v WHERE shop < 5 GROUP BY 1'),
  ('SELECT count(*) FROM (SELECT person, shop IN (SELECT shop FROM note) AS noted FROM visit) x WHERE noted'),
  ('WITH s AS (SELECT id FROM shop WHERE region = 1) SELECT count(*) FROM visit v WHERE shop IN (SELECT id FROM s) OR shop = (SELECT id FROM s WHERE id = 6)'),
  ('WITH s AS (SELECT shop FROM note WHERE shop > 1) SELECT count(*) FROM visit v WHERE shop NOT IN (SELECT shop FROM s)'),
  -- Aggregates of public rows
  ('SELECT count(*) FROM visit v JOIN (SELECT shop FROM note GROUP BY shop HAVING count(*) > 2 ORDER BY count(*)) x ON x.shop = v.shop'),
  ('SELECT x.n, count(*) FROM visit v JOIN (SELECT s.region, count(*) * 10 AS n FROM shop s GROUP BY s.region) x ON x.region = v.shop GROUP BY 1'),
  ('SELECT count(*) FROM visit WHERE shop IN (SELECT shop FROM note GROUP BY shop HAVING count(*) > 2)'),
  ('SELECT count(*) FROM visit WHERE shop <= (SELECT max(shop) - 1 FROM note)'),
  ('SELECT count(*) FROM visit WHERE shop <= (SELECT avg(shop) FROM note HAVING count(*) > 100)'),
  ('SELECT count(*) FROM visit v, (SELECT min(day) AS first, max(day) AS last FROM holiday) h WHERE v.day > h.first AND v.day < h.last'),
  -- Subqueries of public tables in one another
  ('SELECT count(*) FROM visit WHERE shop IN (SELECT id FROM shop WHERE region IN (SELECT id FROM region WHERE name <> ''south''))'),
  ('SELECT count(*) FROM visit WHERE shop NOT IN (SELECT id FROM shop s WHERE region NOT IN (SELECT shop FROM note WHERE shop > 2) AND EXISTS (SELECT FROM note n WHERE n.shop = s.id))'),
  ('WITH s AS (SELECT id FROM shop s WHERE NOT EXISTS (SELECT FROM note n WHERE n.shop = s.id)) SELECT count(*) FROM visit v JOIN s ON s.id = v.shop'),
  ('SELECT count(x.noted), count(*) FILTER (WHERE x.noted) FROM visit v LEFT JOIN (SELECT id, id IN (SELECT shop FROM note) AS noted FROM shop) x ON x.id = v.shop'),
  -- What no join can take the place of is asked first, once, and costs nothing
  ('SELECT count(*) FROM visit WHERE shop IN (SELECT id FROM shop ORDER BY id LIMIT 3)'),
  ('SELECT count(*) FROM visit WHERE shop IN (SELECT id FROM shop WHERE id < 4 UNION SELECT shop FROM note)'),
  ('SELECT count(*) FROM visit WHERE shop NOT IN (SELECT id FROM shop WHERE id < 4 UNION ALL SELECT 9)'),
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT ON (shop) shop, text FROM note ORDER BY shop, text) x ON x.shop = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM shop) x ON x.id = v.shop WHERE x.n < 4'),
  ('WITH big AS (SELECT id FROM shop ORDER BY id DESC LIMIT 2) SELECT count(*) FROM visit v JOIN big ON big.id = v.shop'),
  ('SELECT count(*) FROM visit WHERE shop = (SELECT id FROM shop WHERE name = ''shop 3'')'),
  ('SELECT count(*) FROM visit WHERE shop > (SELECT region + 1 FROM shop WHERE name = ''shop 3'')'),
  ('SELECT count(*) FROM visit WHERE shop = (SELECT id FROM shop WHERE name = ''none'')'),
  ('SELECT count(*) FROM visit WHERE shop IN (SELECT id FROM (SELECT * FROM shop_view) x WHERE region = 1)'),
  ('SELECT count(*) FROM visit v JOIN shop_view x ON x.id = v.shop'),
  ('SELECT s.name, count(*) FROM visit v JOIN (SELECT * FROM shop WHERE region IS NOT NULL ORDER BY name LIMIT 2) s ON s.id = v.shop GROUP BY 1'),
  ('SELECT count(*) FROM visit v JOIN (SELECT id FROM shop LIMIT 0) x ON x.id = v.shop'),
  -- Ranges of a series: each row is in one at most.
  ('SELECT s.m, count(v.person) FROM generate_series(''2024-01-01''::timestamp, ''2024-03-01'', ''1 month'') s (m) LEFT JOIN visit v ON v.day >= s.m AND v.day < s.m + interval ''1 month'' GROUP BY 1'),
  ('SELECT s.m, count(v.person) FROM generate_series(''2024-01-03 06:00''::timestamp, ''2024-01-10'', ''36 hours'') s (m) LEFT JOIN visit v ON s.m <= v.day + interval ''7 hours'' * v.shop AND s.m + interval ''36 hours'' > v.day + interval ''7 hours'' * v.shop AND v.country = ''it'' GROUP BY 1'),
  ('SELECT s.m, count(v.person) FROM generate_series(''2024-01-01''::date, ''2024-03-01'', ''1 month'') s (m) LEFT JOIN visit v ON (v.day + interval ''23 hours'')::timestamptz >= s.m AND (v.day + interval ''23 hours'')::timestamptz < s.m + interval ''1 month'' GROUP BY 1'),
  ('SELECT s.m, count(v.person) FROM generate_series(''2024-01-01''::date, ''2024-02-01'', ''7 days'') s (m) LEFT JOIN visit v ON v.day >= s.m AND v.day < s.m + interval ''7 days'' GROUP BY 1'),
  ('SELECT count(*) FROM visit v, generate_series(''2024-01-05''::timestamptz, ''2024-01-06'', ''5 hours'') s (m) WHERE v.day >= s.m AND v.day < s.m + interval ''5 hours'''),
  ('SELECT s.b, count(v.person) FROM generate_series(-4, 9, 5) s (b) LEFT JOIN visit v ON v.shop - 8 >= s.b AND v.shop - 8 < s.b + 5 GROUP BY 1'),
  ('SELECT s.b, count(v.person) FROM generate_series(3, 9, 3) s (b) LEFT JOIN visit v ON v.shop::numeric * 0.75 >= s.b AND v.shop::numeric * 0.75 < s.b + 3 GROUP BY 1'),
  ('SELECT s.b, count(v.person) FROM generate_series(2::bigint, 4) s (b) LEFT JOIN visit v ON v.shop >= s.b AND v.shop < s.b + 1 GROUP BY 1'),
  ('SELECT s.d, count(v.person) FROM generate_series(''2024-01-01''::timestamp, ''2024-01-05'', ''1 day'') s (d) LEFT JOIN visit v ON v.day = s.d GROUP BY 1'),
  ('SELECT s.d::date, count(v.person) FROM generate_series(''2024-03-09''::date - 40, ''2024-02-03'', ''1 day'') s (d) LEFT JOIN visit v ON s.d::date = v.day GROUP BY 1'),
  ('SELECT count(*) FROM visit WHERE shop <= (SELECT max(id) FROM shop) / 2');
CREATE FUNCTION regress_dpq_public.answers(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (' || query || ') x';
END $$;
CREATE TABLE exact AS SELECT id, query, a FROM question, answers(query) a;
GRANT SELECT ON exact TO regress_dpq_public_analyst;
SELECT id, a FROM exact ORDER BY id;
SET SESSION AUTHORIZATION regress_dpq_public_analyst;
SET search_path = regress_dpq_public, public;
-- The analyst's answers that differ from these, but for groups of public tables without rows: none
CREATE FUNCTION pg_temp.answers(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (' || query || ') x';
EXCEPTION WHEN OTHERS THEN
  RETURN NEXT SQLERRM;
END $$;
SELECT id, query, p AS answer, a AS exact FROM exact, pg_temp.answers(query) p WHERE p IS DISTINCT FROM a AND ltrim(regexp_replace(p, ' ?\([^()]*,0\)', '', 'g')) IS DISTINCT FROM a ORDER BY id;
-- The plain form of dp_ aggregates has the same rows.
SELECT dp_count_distinct(v.person, 100) FROM visit v WHERE v.shop IN (SELECT shop FROM note) AND v.day NOT IN (SELECT day FROM holiday);
SELECT private_aggregate, epsilon, problem FROM dp_explain('SELECT count(*) FROM visit WHERE shop IN (SELECT shop FROM note)');

-- Names of a public table are public: groups of its rows, also of those without a visit, are not chosen (threat 214: shop 5 has none).
SELECT s.name, count(*), count(DISTINCT v.person) FROM visit v JOIN shop s ON s.id = v.shop GROUP BY s.name ORDER BY s.name;
SELECT upper(r.name) AS region, r.id, count(*) FROM visit v, shop s, region r WHERE v.shop = s.id AND r.id = s.region AND v.country = 'it' AND r.name <> 'north' GROUP BY r.name, r.id;
SELECT h.name, count(*) FROM visit v JOIN holiday h ON h.day = v.day AND h.country = 'it' WHERE h.day < '2024-01-12' GROUP BY h.name;
SELECT s.id, dp_count(100) FROM visit v JOIN shop s ON s.id = v.shop WHERE s.id BETWEEN 4 AND 6 GROUP BY s.id HAVING s.id > 4;
SELECT s.name, count(*) FROM visit v JOIN shop s ON s.id = v.shop WHERE false GROUP BY s.name;
SELECT s.region, count(n) FROM (SELECT person, shop, count(*) AS n FROM visit GROUP BY person, shop) v JOIN shop s ON s.id = v.shop WHERE s.region > 1 GROUP BY s.region;
SELECT private_aggregate, delta FROM dp_explain('SELECT s.name, count(*) FROM visit v JOIN shop s ON s.id = v.shop GROUP BY s.name');
-- A key that is compared with a column of the table is that column, and what fixes it chooses rows of the table.
SELECT v.shop, s.name, count(*), count(v.shop) AS shops FROM visit v JOIN shop s ON s.id = v.shop WHERE v.shop IN (1, 5, 9, 30) GROUP BY v.shop, s.name HAVING v.shop < 9 ORDER BY v.shop;
SELECT 10 * v.shop AS number, count(*) FROM shop s, visit v WHERE v.shop = s.id AND v.shop = 2 GROUP BY v.shop, s.region;
SELECT s.name, count(*) FROM visit v JOIN shop s ON s.id = v.shop WHERE v.shop = ANY ('{3,4}') AND v.country = 'it' GROUP BY s.name;
-- What WHERE leaves of a large table may be few rows. Where it leaves none there is no group, and nothing is charged.
SELECT p.name, count(*) FROM visit v JOIN place p ON p.id = v.shop WHERE p.city = 1 GROUP BY p.name;
SELECT private_aggregate FROM dp_explain('SELECT p.name, count(*) FROM visit v JOIN place p ON p.id = v.shop + 1 WHERE p.city > 1 GROUP BY p.name');
SELECT p.name, count(*) FROM visit v JOIN place p ON p.id = v.shop WHERE p.city = 1 AND v.shop = 40 GROUP BY p.name;
SELECT h.name, count(*) FROM visit v JOIN holiday h ON h.day = v.day AND h.country = 'de' GROUP BY h.name;
-- Where the groups are not those of the table that is joined, the list of its keys is read: beside keys of the rows, with conditions that need the table between others, and with aggregates of
-- its columns. A country has no list.
SELECT private_aggregate FROM dp_explain('SELECT v.shop, s.name, count(*) FROM visit v LEFT JOIN shop s ON s.id = v.shop GROUP BY v.shop, s.name');
SELECT private_aggregate FROM dp_explain('SELECT v.shop, s.name, count(*) FROM visit v JOIN shop s ON s.id = v.shop + 0 GROUP BY v.shop, s.name');
SELECT private_aggregate FROM dp_explain('SELECT s.name, country, count(*) FROM visit v JOIN shop s ON s.id = v.shop GROUP BY s.name, country');
SELECT private_aggregate FROM dp_explain('SELECT s.name, count(*) FROM region r JOIN shop s ON r.id = s.region JOIN visit v ON s.id = v.shop GROUP BY s.name');
SELECT private_aggregate FROM dp_explain('SELECT s.name, count(s.region) FROM visit v JOIN shop s ON s.id = v.shop GROUP BY s.name');

-- Near misses. A row would count several times (threat 209):
CREATE TEMP TABLE miss (id serial, query text);
INSERT INTO miss (query) VALUES
  ('SELECT count(*) FROM visit v JOIN (SELECT shop FROM note) x ON x.shop = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT shop, text FROM note) x ON x.shop = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT s.id, n.shop FROM shop s, note n) x ON x.id = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT s.id FROM shop s LEFT JOIN note n ON n.shop = s.id) x ON x.id = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT day FROM holiday WHERE country >= ''it'') h ON h.day = v.day'),
  ('SELECT count(*) FROM visit v JOIN (SELECT h.day FROM holiday h RIGHT JOIN region r ON h.country = ''it'' AND r.id = 1) h ON h.day = v.day'),
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT s.id FROM shop s JOIN note n ON n.shop = s.id) x ON x.id > v.shop'),
  ('SELECT count(*) FROM shop s JOIN note n ON n.shop = s.id JOIN visit v ON v.shop = s.id'),
  ('SELECT s.id, count(v.person) FROM (shop s JOIN note n ON n.shop = s.id) LEFT JOIN visit v ON v.shop = s.id GROUP BY s.id'),
  ('SELECT count(*) FROM shop s LEFT JOIN visit v ON true WHERE v.shop = s.id'),
  ('SELECT count(*) FROM (shop s LEFT JOIN region r ON r.id = s.region) JOIN visit v ON v.shop = s.id'),
  ('SELECT count(*) FROM visit WHERE shop = (SELECT id FROM shop WHERE region = 1)'),
  ('SELECT count(*) FROM visit v WHERE (SELECT text FROM note n WHERE n.shop = v.shop) = ''note'''),
  ('SELECT count(*) FROM visit v WHERE shop IN (SELECT id FROM shop s WHERE (SELECT text FROM note n WHERE n.shop = s.id) = ''note'')'),
  -- It would be compared with many rows, whose hashes the analyst chooses (threat 210):
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT shop * 2 AS shop FROM note) x ON x.shop = v.shop'),
  ('SELECT count(*) FROM visit WHERE shop IN (SELECT max(id) FROM shop GROUP BY region)'),
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT s.id, n.shop FROM shop s, note n) x ON x.id = v.shop AND x.shop = v.person'),
  ('SELECT count(*) FROM visit v JOIN (SELECT id, id * 2 AS other FROM shop) x ON x.id = v.shop AND x.other = v.person'),
  -- What is public would not be so, would fail, or take other rows each time (threat 211):
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT id FROM shop WHERE random() < 0.5) x ON x.id = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT shop, array_agg(text) FROM note GROUP BY shop) x ON x.shop = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT max(shop) AS shop FROM note GROUP BY text) x ON x.shop = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT id FROM shop WHERE id IN (SELECT shop FROM visit)) x ON x.id = v.shop'),
  ('SELECT count(*) FROM visit v WHERE shop IN (SELECT id FROM shop WHERE id IN (SELECT shop FROM visit))'),
  ('SELECT count(*) FROM visit v WHERE shop IN (SELECT shop FROM parent)'),
  ('SELECT count(*) FROM visit v WHERE shop IN (SELECT shop FROM written)'),
  ('SELECT count(*) FROM visit v WHERE shop IN (SELECT shop FROM hidden)'),
  ('SELECT count(*) FROM visit v WHERE shop IN (SELECT shop FROM hidden LIMIT 1)'),
  ('SELECT count(*) FROM visit v JOIN (SELECT shop FROM note ORDER BY 1 LIMIT 5) x ON x.shop = v.shop'),
  ('SELECT count(*) FROM visit v WHERE shop IN (SELECT i FROM shop, generate_series(1, 1000) i UNION ALL SELECT 0)'),
  ('SELECT count(*) FROM visit v WHERE shop IN (SELECT oid::int FROM pg_class)'),
  ('SELECT count(*) FROM visit v, LATERAL (SELECT DISTINCT id FROM shop s WHERE s.id = v.shop) x WHERE x.id = v.shop'),
  ('SELECT s.m, count(v.person) FROM generate_series(''2024-01-01''::timestamp, ''2024-03-01'', ''1 month'') s (m) LEFT JOIN visit v ON v.day >= s.m AND v.day < s.m + interval ''2 months'' GROUP BY 1'),
  ('SELECT s.m, count(v.person) FROM generate_series(''2024-01-01''::timestamp, ''2024-03-01'', ''1 month'') s (m) LEFT JOIN visit v ON v.day >= s.m AND v.day <= s.m + interval ''1 month'' GROUP BY 1'),
  ('SELECT s.m, count(v.person) FROM generate_series(''2024-01-31''::timestamp, ''2024-03-01'', ''1 month'') s (m) LEFT JOIN visit v ON v.day >= s.m AND v.day < s.m + interval ''1 month'' GROUP BY 1'),
  ('SELECT s.d, count(v.person) FROM generate_series(''2024-01-01 12:00''::timestamp, ''2024-01-03'', ''12 hours'') s (d) LEFT JOIN visit v ON v.day = s.d::date GROUP BY 1'),
  ('WITH RECURSIVE s AS (SELECT 1 AS id UNION SELECT id + 1 FROM s WHERE id < 5) SELECT count(*) FROM visit v JOIN s ON s.id = v.shop'),
  -- A key of a table that an outer join may leave out has two values: one, and NULL.
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT n.shop, s.name FROM note n LEFT JOIN shop s ON s.id = n.shop AND s.name = n.text) x ON x.shop = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT n.shop, a.name, b.name AS other FROM note n LEFT JOIN shop a ON a.id = 5 AND a.name = n.text LEFT JOIN shop b ON b.id = 6 AND b.name = n.text) x ON x.shop = v.shop'),
  -- Equal values of which others are computed
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT d.digits, s.name FROM decimal d JOIN shop s ON s.id = scale(d.digits)) x ON x.digits = v.shop'),
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT d.zero, s.name FROM decimal d JOIN shop s ON s.name = d.zero::text) x ON x.zero = v.shop'),
  -- PostgreSQL may join a table by a part of its key before it joins what the rest is compared with.
  ('SELECT count(*) FROM visit v, holiday h, shop s WHERE h.country = v.country AND h.name = s.name AND h.day = date ''2024-01-01'' + s.region AND s.id = v.shop'),
  ('SELECT count(*) FROM visit v, (SELECT country, day FROM holiday) h, (SELECT id, date ''2024-01-01'' + region AS day FROM shop) s WHERE h.country = v.country AND h.day = s.day AND s.id = v.shop'),
  -- Many texts are one value of type character.
  ('SELECT count(*) FROM visit v JOIN (SELECT x::bpchar AS n FROM (VALUES (''it''), (''it ''), (''it  '')) t (x)) c ON c.n = v.country::bpchar'),
  ('SELECT count(*) FROM visit v JOIN (SELECT DISTINCT n.text::bpchar AS n, n.text FROM note n) c ON c.n = v.country::bpchar'),
  -- A part of the key is no constant, or not for all rows; the sides of OR join by others
  ('SELECT count(*) FROM visit v JOIN holiday h ON h.day = v.day WHERE h.country <> ''it'''),
  ('SELECT count(*) FROM visit v JOIN holiday h ON h.day = v.day WHERE h.country = ''it'' OR h.name = ''day 5'''),
  ('SELECT count(*) FROM visit v LEFT JOIN holiday h ON h.day = v.day WHERE h.country = ''it'''),
  ('SELECT count(*) FROM visit v, shop s WHERE (s.id = v.shop AND s.region = 1) OR (s.region = v.shop AND s.region = 2)'),
  -- Lists with a row twice, or of other queries than constants
  ('SELECT count(*) FROM visit v JOIN (SELECT 1 AS shop UNION ALL SELECT 1) a USING (shop)'),
  ('SELECT count(*) FROM visit v JOIN (SELECT 1 AS shop EXCEPT SELECT 2) a USING (shop)'),
  ('SELECT count(*) FROM visit v JOIN (SELECT 1 AS shop UNION ALL SELECT shop FROM note) a USING (shop)'),
  ('SELECT count(*) FROM visit v JOIN (SELECT 1 AS shop UNION ALL SELECT ceil(random())::int) a USING (shop)'),
  -- Not yet: other comparisons than =, and NULL beside several columns
  ('SELECT count(*) FROM visit v WHERE EXISTS (SELECT FROM holiday h WHERE h.day < v.day)'),
  ('SELECT count(*) FROM visit v WHERE (country, day) NOT IN (SELECT country, day FROM holiday)'),
  ('SELECT count(*) FROM visit v WHERE shop NOT IN (SELECT n.shop FROM note n WHERE n.shop = v.person)'),
  ('SELECT count(*) FROM visit v WHERE shop > ANY (SELECT shop FROM note)'),
  ('SELECT count(*) FROM visit v WHERE shop < (SELECT max(shop) FROM note n WHERE n.shop = v.person)'),
  -- LATERAL that takes more, or of which a row matches several
  ('SELECT count(*) FROM visit v, LATERAL (SELECT v.shop + 1 AS next FROM shop s WHERE s.id = v.shop) d'),
  ('SELECT count(*) FROM visit v, LATERAL (SELECT s.id FROM shop s WHERE s.id = v.shop LIMIT 1) d'),
  ('SELECT count(*) FROM visit v, LATERAL (SELECT s.id FROM shop s WHERE s.id < v.shop) d'),
  -- count(*) of several public rows, of which some may match no row
  ('SELECT count(*) FROM shop s LEFT JOIN visit v ON v.shop = s.id'),
  ('SELECT s.region, sum(1) FROM shop s LEFT JOIN visit v ON v.shop = s.id GROUP BY s.region'),
  ('SELECT s.id, count(*) FILTER (WHERE v.person IS NULL) FROM shop s LEFT JOIN visit v ON v.shop = s.id GROUP BY s.id'),
  ('SELECT k.country, count(*) FROM (VALUES (''it''), (NULL), (NULL)) k (country) LEFT JOIN visit v USING (country) GROUP BY k.country'),
  ('SELECT k.id, count(*) FROM (SELECT s.id, v.day FROM shop s LEFT JOIN visit v ON v.shop = s.id) k GROUP BY k.id');
SELECT id, p AS answer FROM miss, pg_temp.answers(query) p ORDER BY id;
-- Where the clock goes forth at midnight, days of a series do not begin at midnight after that.
SET timezone = 'America/Havana';
SELECT s.d, count(v.person) FROM generate_series('2024-03-09'::timestamptz, '2024-03-12', '1 day') s (d) LEFT JOIN visit v ON v.day >= s.d AND v.day < s.d + interval '1 day' GROUP BY 1;
SELECT s.d, count(v.person) FROM generate_series('2024-02-08'::timestamptz, '2024-02-10', '1 day') s (d) LEFT JOIN visit v ON v.day >= s.d AND v.day < s.d + interval '1 day' GROUP BY 1;
RESET timezone;

-- A row may lie in several ranges. What the hint says is answered.
SELECT s.name, count(*) FROM visit v JOIN season s ON v.day BETWEEN s.first AND s.last GROUP BY s.name;
SELECT s.name, count(*) FROM season s LEFT JOIN visit v ON v.day >= s.first AND v.day <= s.last GROUP BY s.name;
SELECT count(*) FROM visit v JOIN (VALUES (date '2024-01-01', date '2024-01-20'), ('2024-01-21', '2024-12-31')) s (first, last) ON v.day BETWEEN s.first AND s.last;
SELECT CASE WHEN day <= '2024-01-20' THEN 'winter' ELSE 'spring' END AS season, count(*) FROM visit GROUP BY 1 ORDER BY 1;
SELECT s.name, (SELECT count(*) FROM visit v WHERE v.day BETWEEN s.first AND s.last) FROM season s ORDER BY 1;
SELECT h.name, count(*) FROM visit v JOIN holiday h ON h.day = v.day AND h.country = 'it' GROUP BY h.name ORDER BY 1;

-- A private query with a join in the place of a subquery has no text.
SELECT dp_private_query('SELECT count(*) FROM visit WHERE shop IN (SELECT id FROM shop WHERE region = 1)');
SELECT dp_private_query('SELECT count(*) FROM visit v JOIN (SELECT id FROM shop WHERE region = 1) s ON s.id = v.shop') <> '' AS is_written;
SELECT dp_private_query('SELECT s.region, count(*) FROM visit v JOIN shop s ON s.id = v.shop GROUP BY 1') LIKE '%LEFT JOIN%' AS is_written;
-- Levels in each other are looked at once.
SELECT problem FROM (SELECT 'SELECT count(*) FROM visit v JOIN ' || repeat('(SELECT x.shop FROM ', 45) || 'note x' || repeat(' LEFT JOIN shop s ON s.id = x.shop) x', 45) || ' ON x.shop = v.shop' AS query) q,
  dp_explain(query);
RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_public CASCADE;
DROP OWNED BY regress_dpq_public_owner, regress_dpq_public_analyst;
DROP ROLE regress_dpq_public_owner, regress_dpq_public_analyst;
