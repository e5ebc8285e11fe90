-- Columns of public tables as values: bounds are the least and the greatest value in the table, which are read while a query is planned. With epsilon 100 and 24000 rows each
-- answer is within 1 % of the exact one, except with a probability below 1e-10: noise on a sum has a scale of 24, and 1 % are 9000.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_measures_owner LOGIN;
CREATE ROLE regress_dpq_measures_analyst LOGIN;
CREATE SCHEMA regress_dpq_measures AUTHORIZATION regress_dpq_measures_owner;
GRANT USAGE ON SCHEMA regress_dpq_measures TO regress_dpq_measures_analyst;
SELECT dp_grant_budget('regress_dpq_measures_analyst', 1e9, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_measures_analyst');
SET SESSION AUTHORIZATION regress_dpq_measures_owner;
SET search_path = regress_dpq_measures, public;
CREATE TABLE room (id int PRIMARY KEY, name text, region text, price numeric, factor float8, small real, opened date, beds int, wide float8, odd numeric, none int, secret int);
INSERT INTO room VALUES (1, 'North', 'A', 10, 0.5, 0.25, '2001-05-01', 4, 'NaN', 'Infinity', NULL, 1), (2, 'South', 'A', 2.5, -2, 1.5, '2010-01-01', 4, 1, 1, NULL, 2), (3, 'East', 'B', NULL, 1, 8, NULL, 4, 2, 2, NULL, 3),
  (4, 'Empty', 'C', 40, 3, -1, '2020-01-01', 4, 3, 3, NULL, 4);
-- 24000 visits of 12000 persons, two of each, of rooms 1 to 3, without a room, and of one that is in no table
CREATE TABLE visit (person int, room int, minutes int, kind text, ward text DEFAULT 'm');
INSERT INTO visit (person, room, minutes, kind) SELECT 1 + i % 12000, (ARRAY[1, 2, 3, 1, NULL, 9])[1 + i % 6], i % 24, CASE WHEN i % 4 < 2 THEN 'lab' ELSE 'visit' END FROM generate_series(0, 23999) i;
SELECT dp_protect_table('visit', 'person', 2, unit => 'person');
SELECT dp_set_domain('visit', 'ward', '{m,others}'), dp_set_other_key('visit', 'ward', 'others'::text), dp_set_domain('visit', 'minutes', 0, 30), dp_set_domain('visit', 'kind', '{lab,visit}');
SELECT dp_grant_private_access('visit', 'regress_dpq_measures_analyst', epsilon => 100);
GRANT SELECT (id, name, region, price, factor, small, opened, beds, wide, odd, none) ON room TO regress_dpq_measures_analyst;
-- Each question is asked by the owner, who sees the rows, and by the analyst.
CREATE TABLE question (id serial, query text);
INSERT INTO question (query) VALUES
  ('SELECT sum(v.minutes * r.price) FROM visit v JOIN room r ON r.id = v.room'),
  ('SELECT sum(v.minutes * r.price) FROM visit v LEFT JOIN room r ON r.id = v.room'),
  ('SELECT sum(r.price) FROM visit v JOIN room r ON r.id = v.room WHERE r.region = ''A'''),
  ('SELECT sum(price * minutes) FROM (SELECT v.*, r.price FROM visit v LEFT JOIN room r ON r.id = v.room) d'),
  ('WITH d AS (SELECT v.minutes, coalesce(r.price, 5) AS price FROM visit v LEFT JOIN room r ON r.id = v.room) SELECT avg(price) FROM d'),
  ('SELECT sum(r.price) FILTER (WHERE v.kind = ''lab'') FROM visit v JOIN room r ON r.id = v.room'),
  ('SELECT sum(r.factor - 3) FROM visit v JOIN room r ON r.id = v.room'),
  ('SELECT sum(r.small) FROM visit v JOIN room r ON r.id = v.room'),
  ('SELECT sum(r.beds) FROM visit v JOIN room r ON r.id = v.room'),
  ('SELECT avg(extract(year FROM r.opened)) FROM visit v JOIN room r ON r.id = v.room'),
  ('SELECT sum(CASE WHEN r.region = ''A'' THEN r.price ELSE 1 END) FROM visit v JOIN room r ON r.id = v.room'),
  ('SELECT stddev(r.price) FROM visit v JOIN room r ON r.id = v.room'),
  ('SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY r.price) FROM visit v JOIN room r ON r.id = v.room'),
  ('SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY r.opened) - date ''2000-01-01'' FROM visit v JOIN room r ON r.id = v.room'),
  ('SELECT sum(x) FROM (SELECT r.region, sum(v.minutes * r.price) AS x FROM visit v JOIN room r ON r.id = v.room GROUP BY 1) g WHERE region = ''A'''),
  ('SELECT avg(most) FROM (SELECT person, max(r.price) AS most FROM visit v JOIN room r ON r.id = v.room GROUP BY 1) g');
CREATE FUNCTION answer(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  number numeric;
BEGIN
  EXECUTE query INTO number;
  RETURN number;
END $$;
CREATE TABLE exact AS SELECT id, query, answer(query) AS a FROM question;
GRANT SELECT ON exact TO regress_dpq_measures_analyst;
CREATE FUNCTION set_price(room int, price numeric) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = regress_dpq_measures, pg_temp AS 'UPDATE room r SET price = set_price.price WHERE id = room';
SET SESSION AUTHORIZATION regress_dpq_measures_analyst;
SET search_path = regress_dpq_measures, public;
SET dpquantile.note_errors = off;
SELECT id, abs(answer(query) - a) <= 0.01 * abs(a) AS is_exact, round(a) AS exact FROM exact ORDER BY id;

-- The bounds are those of the whole table, not of the rows that visits are joined with: nobody came to room 4. NULL is none.
SELECT min(r.price), max(r.price), min(r.beds), max(r.small), max(r.opened) FROM visit v JOIN room r ON r.id = v.room;
-- So the error to expect is the same whichever rows there are.
SELECT expected_error FROM dp_explain('SELECT sum(v.minutes * r.price) FROM visit v JOIN room r ON r.id = v.room');
SET SESSION AUTHORIZATION regress_dpq_measures_owner;
BEGIN;
DELETE FROM visit WHERE room = 1;
SET LOCAL SESSION AUTHORIZATION regress_dpq_measures_analyst;
SELECT expected_error FROM dp_explain('SELECT sum(v.minutes * r.price) FROM visit v JOIN room r ON r.id = v.room');
ROLLBACK;
SET SESSION AUTHORIZATION regress_dpq_measures_analyst;

-- No bounds: NaN or an infinity, NULL alone, a column that the role may not read. It is refused before the charge.
SELECT epsilon_spent AS before FROM dp_budget \gset
SELECT sum(r.wide) FROM visit v JOIN room r ON r.id = v.room;
SELECT avg(r.odd) FROM visit v JOIN room r ON r.id = v.room;
SELECT sum(r.none * v.minutes) FROM visit v JOIN room r ON r.id = v.room;
SELECT sum(r.secret) FROM visit v JOIN room r ON r.id = v.room;
SELECT max(r.odd) FROM visit v JOIN room r ON r.id = v.room;
SELECT r.id, sum(r.price) FROM room r LEFT JOIN visit v ON v.room = r.id GROUP BY 1;
SELECT epsilon_spent - :before AS epsilon FROM dp_budget;

-- An execution has the bounds of the rows that it sees.
PREPARE highest AS SELECT max(r.price), round(avg(r.price) / 4) AS fours FROM visit v JOIN room r ON r.id = v.room;
EXECUTE highest;
BEGIN;
SELECT set_price(4, 50);
EXECUTE highest;
ROLLBACK;
EXECUTE highest;
-- A cursor keeps to the rows that it began with.
BEGIN;
DECLARE before CURSOR FOR SELECT max(r.price), sum(r.price) > 0 AS is_positive FROM visit v JOIN room r ON r.id = v.room;
SELECT set_price(4, 60);
FETCH before;
ROLLBACK;

-- min and max of texts answer the least and the greatest value of the public list, and of a key of GROUP BY the key itself; both for nothing. FILTER may leave no row. A list of which one stands for all others has no least value.
SELECT epsilon_spent AS before FROM dp_budget \gset
SELECT min(r.name), max(r.region), min(r.beds) FROM visit v JOIN room r ON r.id = v.room;
SELECT min(r.name), max(r.name) FROM visit v LEFT JOIN room r ON r.id = v.room WHERE r.region = 'A';
SELECT kind, min(kind), max(minutes) FROM visit WHERE kind > 'lab' GROUP BY 1;
SELECT kind, max(kind) FROM visit GROUP BY ROLLUP (1) ORDER BY 1;
SELECT epsilon_spent - :before AS epsilon FROM dp_budget;
SELECT r.region, min(r.region), max(r.region), max(v.kind), count(*) > 0 AS is_there FROM visit v JOIN room r ON r.id = v.room GROUP BY 1 ORDER BY 1;
SELECT minutes, min(minutes), max(minutes) FILTER (WHERE kind = 'lab') AS filtered, count(*) > 100 AS is_there FROM visit WHERE minutes < 2 GROUP BY 1 ORDER BY 1;
SELECT min(ward), count(*) > 100 AS is_there FROM visit;
SELECT ward, min(ward), count(*) > 100 AS is_there FROM visit GROUP BY 1 ORDER BY 1;
SELECT dp_error_of(max(kind)) FROM visit;
-- Of what the keys fix in the public table the value, without a notice: of each room its region and price, also where the table is left out, and in HAVING. Two rooms of region A have two names: bounds.
SET dpquantile.note_errors = off;
SELECT r.name, min(r.region), CASE WHEN min(r.region) = max(r.region) THEN min(r.region) ELSE '*' END AS attr, max(r.price), min(upper(r.region)), count(*) > 100 AS is_there FROM visit v LEFT JOIN room r ON r.id = v.room GROUP BY 1 HAVING min(r.region) < 'C' OR min(r.region) IS NULL ORDER BY min(r.region), 1;
SELECT v.room, max(r.region), count(DISTINCT person) > 100 AS is_there FROM visit v JOIN room r ON r.id = v.room GROUP BY 1 ORDER BY 1;
SELECT r.name, max(r.region), count(v.person) > 100 AS is_there FROM room r LEFT JOIN visit v ON r.id = v.room GROUP BY 1 ORDER BY 1;
SELECT kind, min(r.name), count(*) > 100 AS is_there FROM visit v JOIN room r ON r.id = v.room WHERE r.region = 'B' GROUP BY 1 ORDER BY 1;
SELECT r.region, min(r.name), min(r.price) FILTER (WHERE kind = 'lab') AS filtered, count(*) > 100 AS is_there FROM visit v JOIN room r ON r.id = v.room GROUP BY 1 ORDER BY 1;
RESET dpquantile.note_errors;

-- A number of different values is at most the length of their list, whatever the noise is.
SET dpquantile.epsilon = 0.1;
PREPARE kinds AS SELECT count(DISTINCT r.beds) <= 1 AS beds, count(DISTINCT kind) <= 2 AS kinds FROM visit v JOIN room r ON r.id = v.room;
EXECUTE kinds;
EXECUTE kinds;
EXECUTE kinds;
EXECUTE kinds;
EXECUTE kinds;
EXECUTE kinds;
SELECT ward, count(DISTINCT kind) <= 2 AS kinds FROM visit GROUP BY 1 ORDER BY 1;
RESET dpquantile.epsilon;
SELECT count(DISTINCT kind) AS kinds, count(DISTINCT r.name) AS rooms, count(DISTINCT ward) AS wards FROM visit v JOIN room r ON r.id = v.room;
RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_measures CASCADE;
DROP OWNED BY regress_dpq_measures_owner, regress_dpq_measures_analyst;
DROP ROLE regress_dpq_measures_owner, regress_dpq_measures_analyst;
