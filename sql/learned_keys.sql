-- The list of keys of a column that an owner has found and publishes. With delta 0.5 and epsilon 16 a key of three rows, or persons, is always found; with delta 1e-12 one of a single row with a
-- probability of 1e-12. So what is shown is certain, but for less than 1e-9 in all.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_finder;
CREATE ROLE regress_dpq_key_reader LOGIN;
SELECT dp_restrict_role('regress_dpq_key_reader');
SELECT dp_grant_budget('regress_dpq_key_reader', 1000);
CREATE SCHEMA regress_dpq_keys AUTHORIZATION regress_dpq_finder;
GRANT USAGE ON SCHEMA regress_dpq_keys TO regress_dpq_key_reader;
SET ROLE regress_dpq_finder;
SET search_path = regress_dpq_keys, public;
CREATE TABLE visits AS SELECT i AS id, i AS person, (ARRAY['web', 'shop', 'phone', NULL])[i % 4 + 1] AS kind FROM generate_series(1, 400) i UNION ALL SELECT 401, 401, 'Jane Doe''s own door';
SELECT * FROM dp_learn_keys('visits', 'kind', 16, 0.5);
SELECT dp_protect_table('visits'), dp_grant_private_access('visits', 'regress_dpq_key_reader', epsilon => 50);

-- threat 233: a key that a single row has. It is found with a probability of delta. So is the list without it: all other keys are there.
SELECT * FROM dp_learn_keys('visits', 'kind', 4, 1e-12, apply => false);
SELECT domains, published_epsilon, published_delta FROM dp_protected_tables;
SELECT * FROM dp_learn_keys('visits', 'kind', 4, 1e-12);
SELECT domains, published_epsilon, published_delta FROM dp_protected_tables;
RESET ROLE;
SELECT table_name, column_name, function, epsilon, delta, role_name FROM dpquantile.published WHERE table_name LIKE 'regress_dpq_keys.%' ORDER BY published_at;
SELECT * FROM dp_health() WHERE check_name = 'published';
SELECT dp_grant_budget('regress_dpq_key_reader', 500, on_table => 'visits');
-- An analyst gets all groups, without a delta.
SET SESSION AUTHORIZATION regress_dpq_key_reader;
SET search_path = regress_dpq_keys, public;
SELECT kind, count(*) BETWEEN 99 AND 101 AS near FROM visits GROUP BY kind;
SELECT on_table, epsilon_spent, delta_spent, published_epsilon, published_delta FROM dp_budget ORDER BY on_table NULLS FIRST;
SELECT * FROM dp_learn_keys('visits', 'kind', 1, 1e-6);
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_finder;
-- What the owner has stated is replaced, and a notice says so.
BEGIN;
SELECT dp_set_domain('visits', 'kind', '{web,"own door",other}'), dp_set_other_key('visits', 'kind', 'other');
SELECT number, applied FROM dp_learn_keys('visits', 'kind', 16, 1e-12, apply => false);
SELECT number, applied FROM dp_learn_keys('visits', 'kind', 16, 1e-12);
SELECT number, applied FROM dp_learn_keys('visits', 'kind', 16, 1e-12);
SELECT dp_set_domain('visits', 'kind', array(SELECT 'k' || i FROM generate_series(1, 200) i));
SELECT number, applied FROM dp_learn_keys('visits', 'kind', 16, 1e-12);
ROLLBACK;
-- A rollback takes the list back, and not what it has cost.
BEGIN;
SELECT number, applied FROM dp_learn_keys('visits', 'kind', 16, 1e-12);
ROLLBACK;
SELECT published_epsilon, published_delta FROM dp_protected_tables;

-- threat 234: a person with many keys, alone or with another one. Each person counts for one key: of 40 keys of two persons at most two are found.
CREATE TABLE clicks AS SELECT p AS person, 'k' || k AS page FROM generate_series(1, 2) p, generate_series(1, 40) k UNION ALL SELECT 10 + i, 'home' FROM generate_series(1, 20) i;
SELECT dp_protect_table('clicks', user_id => 'person');
SELECT number BETWEEN 1 AND 3 AS few, 'home' = ANY (keys) AS home, seldom_below, always_from FROM dp_learn_keys('clicks', 'page', 16, 0.5);
-- One of 1000 rows is one person.
CREATE TABLE calls AS SELECT 7 AS person, 'mine' AS line FROM generate_series(1, 1000) UNION ALL SELECT i % 50 + 10, 'x' || i % 2 FROM generate_series(1, 500) i UNION ALL SELECT NULL, 'nobody' FROM generate_series(1, 1000);
SELECT dp_protect_table('calls', user_id => 'person');
SELECT * FROM dp_learn_keys('calls', 'line', 6, 1e-12);
-- Of persons with several keys each key has its part: 2000 persons with 4 keys count some 500 times for each.
CREATE TABLE weeks AS SELECT p AS person, d AS day FROM generate_series(1, 2000) p, generate_series(1, 4) d;
SELECT dp_protect_table('weeks', user_id => 'person', max_rows => 1);
SELECT * FROM dp_learn_keys('weeks', 'day', 1, 1e-12);
-- Through references to the persons, and of a view
CREATE TABLE customers AS SELECT i AS id FROM generate_series(1, 100) i;
ALTER TABLE customers ADD PRIMARY KEY (id);
CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES customers);
INSERT INTO orders SELECT i, i % 50 + 1 FROM generate_series(1, 200) i;
CREATE TABLE lines (order_id int REFERENCES orders, part text);
INSERT INTO lines SELECT i % 200 + 1, 'p' || i % 2 FROM generate_series(1, 1000) i UNION ALL SELECT 1, 'rare' FROM generate_series(1, 1000);
SELECT dp_protect_table('customers', user_id => 'id', unit => 'customer'), dp_protect_table('orders', user_id => 'customer', unit => 'customer'),
       dp_protect_table('lines', user_id => 'order_id', unit => 'customer', through => 'orders');
SELECT keys, applied FROM dp_learn_keys('lines', 'part', 10, 1e-12);
CREATE VIEW pages AS SELECT person, upper(page) AS page FROM clicks WHERE page LIKE 'ho%';
SELECT dp_protect_table('pages', user_id => 'person');
SELECT keys, applied FROM dp_learn_keys('pages', 'page', 10, 1e-12);

-- threat 235: a row whose key is written in a way of its own. How a key is written is decided as whether it is shown; numerics have no zeros at their end.
CREATE DOMAIN shade AS numeric;
CREATE TYPE size AS ENUM ('small', 'large', 'none');
CREATE TABLE kinds AS
  SELECT CASE WHEN i = 7 THEN 1.500 ELSE i % 2 + 0.5 END AS n, (i % 2 + 0.5)::shade AS s, (i % 2 * 10 - 5)::float8 * 0 AS zero, (i % 2 = 0) AS yes,
         CASE WHEN i = 7 THEN interval '30 days' ELSE interval '1 month' END AS span, timestamptz '2024-03-31 00:00+00' + i % 2 * interval '1 day' AS at, date '2024-01-31' + i % 2 AS day,
         (ARRAY['small', 'large'])[i % 2 + 1]::size AS size, ('k' || i % 2)::char(5) AS c, ('k' || i % 2)::bpchar AS b, ('k' || i % 2)::bytea AS bytes, (i % 2)::bit(3) AS bits,
         chr(65 + i % 2)::"char" AS letter, 'k' AS k, i % 2 AS i
    FROM generate_series(1, 100) i;
SELECT dp_protect_table('kinds');
SET TimeZone = 'Europe/Paris'; SET DateStyle = 'German, DMY'; SET IntervalStyle = 'iso_8601'; SET extra_float_digits = -10;
SELECT c, l.keys, l.applied FROM unnest('{n,s,zero,span,at,day,c,b,bytes,bits,letter}'::name[]) c, dp_learn_keys('kinds', c, 8, 1e-12) l;
-- The keys of truth values and enums are known: refused, and nothing is published.
SELECT dp_learn_keys('kinds', 'yes', 8, 1e-12);
SELECT dp_learn_keys('kinds', 'size', 8, 1e-12);
-- They have no bounds, either.
SELECT dp_learn_domain('kinds', 'yes', 1);
SELECT dp_learn_domain('kinds', 'size', 1);
SELECT dp_set_domain('kinds', 'size', 0, 1);
SELECT published_epsilon FROM dp_protected_tables WHERE relation = 'kinds'::regclass;
RESET TimeZone; RESET DateStyle; RESET IntervalStyle; RESET extra_float_digits;
SELECT unnest(string_to_array(domains, E'\n')) AS domain FROM dp_protected_tables WHERE relation = 'kinds'::regclass;
-- threat 236: the order of the keys, from which the order of the rows could be read. It is that of the values.
CREATE TABLE ordered AS SELECT (ARRAY[10, 9, NULL, -1, 100])[i % 5 + 1] AS i FROM generate_series(1, 100) i ORDER BY random();
SELECT dp_protect_table('ordered');
SELECT keys FROM dp_learn_keys('ordered', 'i', 16, 1e-6);

-- What is no list: nothing, NULL alone, too many keys
CREATE TABLE others AS SELECT i AS many, NULL::int AS nothing FROM generate_series(1, 100001) i, generate_series(1, 3);
CREATE TABLE texts AS SELECT repeat('x', 100000) AS long FROM generate_series(1, 3);
SELECT dp_protect_table('others'), dp_protect_table('texts'), dp_set_domain('others', 'nothing', '{1,2}'::int[]);
SELECT cardinality(keys), number, applied FROM dp_learn_keys('others', 'many', 16, 0.5);
SELECT * FROM dp_learn_keys('others', 'nothing', 16, 0.5);
SELECT * FROM dp_learn_keys('others', 'nothing', 16, 0.5, apply => false);
SELECT * FROM dp_learn_keys('texts', 'long', 16, 0.5);
DELETE FROM others;
SELECT * FROM dp_learn_keys('others', 'many', 16, 0.5);
SELECT domains FROM dp_protected_tables WHERE relation = 'others'::regclass;

-- What is refused is not noted.
CREATE TABLE odd AS SELECT ARRAY[1] AS list, point '(0,0)' AS point, xid '1' AS xid, 'a' AS a FROM generate_series(1, 10);
SELECT dp_protect_table('odd', user_id => 'xid');
SELECT dp_learn_keys('odd', 'list', 1, 1e-6);
SELECT dp_learn_keys('odd', 'point', 1, 1e-6);
SELECT dp_learn_keys('odd', 'xid', 1, 1e-6);
SELECT dp_learn_keys('odd', 'a', 1, 1e-6);
SELECT dp_learn_keys('visits', 'nothing', 1, 1e-6);
SELECT dp_learn_keys('visits', NULL, 1, 1e-6);
SELECT dp_learn_keys(NULL, 'kind', 1, 1e-6);
SELECT dp_learn_keys('visits', 'kind', 0, 1e-6);
SELECT dp_learn_keys('visits', 'kind', NULL, 1e-6);
SELECT dp_learn_keys('visits', 'kind', 1, NULL);
SELECT dp_learn_keys('visits', 'kind', 1, 0);
SELECT dp_learn_keys('visits', 'kind', 1, 0.6);
-- A key with one row or person each would be found by delta alone.
CREATE TABLE tickets (id int PRIMARY KEY, person int NOT NULL, kind text);
CREATE TABLE stamps (ticket int NOT NULL REFERENCES tickets, kind text);
SELECT dp_protect_table('tickets', user_id => 'person', unit => 'guest'), dp_protect_table('stamps', user_id => 'ticket', through => 'tickets', unit => 'guest');
SELECT dp_learn_keys('tickets', 'id', 1, 1e-6);
SELECT dp_learn_keys('tickets', 'person', 1, 1e-6);
SELECT dp_learn_keys('stamps', 'ticket', 1, 1e-6);
-- Threat 250: rows that depend on each other. Nothing is found in what is not answered: a view that was replaced, one that protects
-- other persons than its table, a table with row security, rows that are also rows of a table with persons.
CREATE VIEW spread AS SELECT person, id AS x, kind FROM tickets;
SELECT dp_protect_table('spread', user_id => 'person', max_rows => 6, unit => 'guest');
CREATE OR REPLACE VIEW spread AS SELECT person, max(id) OVER () AS x, kind FROM tickets;
SELECT dp_learn_domain('spread', 'x', 1);
SELECT dp_learn_keys('spread', 'kind', 1, 1e-6);
SELECT dp_learn_limits('spread', 1, 1);
CREATE OR REPLACE VIEW spread AS SELECT person, id AS x, kind FROM tickets WHERE id > (SELECT max(id) - 5 FROM tickets);
SELECT dp_learn_keys('spread', 'kind', 1, 1e-6, apply => false);
CREATE VIEW by_ticket AS SELECT id, kind FROM tickets;
SELECT dp_protect_table('by_ticket', user_id => 'id', max_rows => 1, unit => 'guest');
SELECT dp_learn_domain('by_ticket', 'id', 1);
SELECT dp_learn_limits('by_ticket', 1, 1);
SELECT problem FROM dp_protected_tables WHERE relation = 'by_ticket'::regclass;
CREATE POLICY of_some ON tickets USING (id > 0);
ALTER TABLE tickets ENABLE ROW LEVEL SECURITY;
SELECT dp_learn_keys('tickets', 'kind', 1, 1e-6);
SELECT dp_learn_domain('stamps', 'ticket', 1);
ALTER TABLE tickets DISABLE ROW LEVEL SECURITY;
-- also where the snapshot of the statement is older
CREATE FUNCTION shut() RETURNS int LANGUAGE plpgsql AS 'BEGIN ALTER TABLE tickets ENABLE ROW LEVEL SECURITY; RETURN 1; END';
SELECT l.keys FROM (SELECT shut() AS epsilon OFFSET 0) s, LATERAL dp_learn_keys('tickets', 'kind', s.epsilon, 1e-6) l;
CREATE TABLE of_rows (person int, kind text);
SELECT dp_protect_table('of_rows');
CREATE TABLE of_persons (person int, kind text);
SELECT dp_protect_table('of_persons', user_id => 'person');
ALTER TABLE of_rows INHERIT of_persons;
SELECT dp_learn_keys('of_rows', 'kind', 1, 1e-6);
-- Nor where what is found could not be set
BEGIN READ ONLY;
SELECT dp_learn_domain('stamps', 'ticket', 1);
ROLLBACK;
SELECT count(*) AS noted FROM dp_protected_tables WHERE published_epsilon > 0 AND relation IN ('tickets'::regclass, 'stamps', 'spread', 'by_ticket', 'of_rows');
-- A view whose rows may not be read with the rights of its owner
CREATE VIEW others_visits AS SELECT kind FROM visits;
SELECT dp_protect_table('others_visits');
REVOKE SELECT ON visits FROM regress_dpq_finder;
SELECT dp_learn_keys('visits', 'kind', 1, 1e-6);
SELECT dp_learn_keys('others_visits', 'kind', 1, 1e-6);
RESET ROLE;
SELECT table_name, column_name, count(*), sum(epsilon) AS epsilon FROM dpquantile.published WHERE table_name LIKE 'regress_dpq_keys.%' AND table_name ~ 'visits|odd|tickets|stamps|spread|by_ticket|of_rows' GROUP BY 1, 2 ORDER BY 1, 2;

SET client_min_messages = warning;
DROP OWNED BY regress_dpq_finder, regress_dpq_key_reader CASCADE;
DROP SCHEMA IF EXISTS regress_dpq_keys CASCADE;
DELETE FROM dpquantile.published WHERE table_name LIKE 'regress_dpq_keys.%';
SELECT dp_revoke_budget('regress_dpq_key_reader');
DROP ROLE regress_dpq_finder, regress_dpq_key_reader;
