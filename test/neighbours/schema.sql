-- What each database of the fuzzer has: protected tables without rows (rows.py fills them), public tables that invite to join
-- them, and objects of the analyst's own. The analyst has no right on the protected tables except private access.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;

DO $$
BEGIN
  IF to_regrole('keeper') IS NULL THEN
    CREATE ROLE keeper;
    CREATE ROLE analyst LOGIN;
  END IF;
END
$$;
CREATE EXTENSION dpquantile;
SELECT dp_grant_budget('analyst', 1e12, 0.9, smallest_charge => 1e-9) \g (format=unaligned tuples_only=on) /dev/null
GRANT CREATE ON SCHEMA public TO keeper;
SET ROLE keeper;

CREATE TYPE mood AS ENUM ('low', 'middle', 'high');
CREATE DOMAIN percent AS int4;
CREATE TABLE staff (
  id int4 PRIMARY KEY, age int4, level int2, big int8, salary numeric(20,4), score float8, ratio float4, department text, city_id int4,
  boss int4, note text COLLATE "POSIX", code varchar(12) COLLATE "ucs_basic", label text COLLATE "ucs_basic", hired date, seen timestamptz, login timestamp, stay interval,
  start time, active bool, feeling mood, share percent, token uuid, tags text[], raw bytea, doc jsonb
);
CREATE INDEX ON staff (department);
CREATE TABLE visits (patient int8, city_id int4, ward text, amount float8, items int4, day date, at timestamptz);
CREATE TABLE stays (LIKE visits);
CREATE TABLE patients (patient int4 PRIMARY KEY, age int4, city_id int4, place text, born date, weight float8);
CREATE TABLE events (id int8, day date, place text, amount numeric, town_id int4) PARTITION BY RANGE (day);
CREATE TABLE events_old PARTITION OF events FOR VALUES FROM (MINVALUE) TO ('2024-01-01');
CREATE TABLE events_new PARTITION OF events DEFAULT;
CREATE TABLE hidden (id int4 PRIMARY KEY, age int4, salary numeric, department text, city_id int4, hired date, note text COLLATE "ucs_basic", active bool);
CREATE VIEW roster AS SELECT id, age, salary, upper(department) AS department, city_id, hired, note FROM hidden WHERE active;

-- Small tables: one of rows, four of a unit and six views of it, and two units of other types. Trees of joins read them (trees.py).
CREATE TABLE calls (id int4, city_id int4, level int4);
CREATE TABLE beds (patient int4, city_id int4, level int4);
CREATE TABLE doses (patient int8, city_id int4, level int4);
CREATE TABLE meals (LIKE beds);
CREATE TABLE trips (LIKE beds);
-- Persons of other types. Of the last one equal values have several looks.
CREATE TABLE notes (patient text, city_id int4, level int4, score float8, price numeric(6, 2), word text, day date);
CREATE TABLE slips (patient varchar(9), city_id int4, level int4, price numeric, day date);
CREATE TABLE bills (patient numeric, city_id int4, level int4);
CREATE VIEW high_beds AS SELECT level + 1 AS level, patient, city_id FROM beds WHERE level > 1;
CREATE VIEW known_meals AS SELECT level, city_id, patient FROM (SELECT * FROM meals WHERE city_id > 0) m;
CREATE VIEW most_doses AS SELECT max(level) AS level, patient, city_id FROM doses GROUP BY patient, city_id;
CREATE VIEW fed_beds AS
  SELECT b.patient, b.city_id, coalesce(m.level, b.level) AS level
    FROM beds b LEFT JOIN (SELECT patient, count(*)::int4 AS level FROM meals GROUP BY patient) m ON m.patient = b.patient;
CREATE VIEW ranked_trips AS SELECT patient, city_id, least(rank() OVER (PARTITION BY patient ORDER BY level), 4)::int4 AS level FROM trips;
-- Tables of clients, of which some lead to the person through others, also by keys of several columns, or have a copy of the person (references.py).
CREATE TABLE clients (LIKE beds);
CREATE TABLE orders (id int4 PRIMARY KEY, patient int8, city_id int4, level int4, UNIQUE (id, patient));
CREATE TABLE lines (order_id int4 REFERENCES orders, line int8, city_id int4, level int4, score float8, UNIQUE (order_id, line));
CREATE TABLE parts (line int4, order_no int8, city_id int4, level int4, FOREIGN KEY (line, order_no) REFERENCES lines (line, order_id));
CREATE TABLE invoices (order_id int4, patient int8, city_id int4, level int4, FOREIGN KEY (order_id, patient) REFERENCES orders (id, patient));
CREATE TABLE tips (order_id int4 REFERENCES orders, city_id int4, level int4);
-- Protected tables that the analyst may read: rows that refer to orders, and rows that others refer to, of whom the analyst may read nothing.
CREATE TABLE receipts (id int4 PRIMARY KEY, order_id int4 UNIQUE REFERENCES orders, city_id int4, level int4);
CREATE TABLE rooms (id int4 PRIMARY KEY, holder int8, city_id int4, level int4);
CREATE TABLE chats (room_id int4 REFERENCES rooms, city_id int4, level int4);
-- Of its rows the analyst may read two columns.
CREATE TABLE passes (id int4 PRIMARY KEY, patient int8, city_id int4, level int4);
CREATE VIEW busy_clients AS
  SELECT c.patient, c.city_id, (SELECT count(*)::int4 FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.patient = c.patient) AS level FROM clients c;
CREATE VIEW own_orders AS SELECT id, patient, city_id, level + 1 AS level FROM orders WHERE city_id > 0;
CREATE VIEW ordered_lines AS SELECT o.id, o.patient, l.city_id, l.level FROM lines l JOIN orders o ON o.id = l.order_id;
CREATE VIEW line_sums AS
  SELECT max(o.id) AS order_id, o.patient, count(*)::int4 AS city_id, l.level FROM lines l JOIN orders o ON o.id = l.order_id GROUP BY o.patient, l.level;

-- Public tables
CREATE TABLE city (id int4 PRIMARY KEY, name text NOT NULL UNIQUE, region text NOT NULL, population int4, founded date);
INSERT INTO city SELECT i, 'city ' || i, 'region ' || i % 4, CASE WHEN i % 5 > 0 THEN i * 100 END, date '1900-01-01' + i FROM generate_series(1, 12) i;
CREATE TABLE calendar (day date PRIMARY KEY, month text NOT NULL, holiday bool);
INSERT INTO calendar SELECT d, to_char(d, 'YYYY-MM'), extract(dow FROM d) = 0 FROM generate_series(timestamp '2023-12-20', '2024-03-10', '1 day') d;
CREATE TABLE area (id int4 PRIMARY KEY, city_id int4, level int4);
INSERT INTO area SELECT i, nullif(i % 5, 4), nullif(i % 4, 0) FROM generate_series(1, 9) i;
CREATE VIEW placed_meals AS SELECT m.patient, a.city_id, m.level FROM meals m JOIN area a ON a.id = m.city_id;
CREATE TABLE square (a int4, b int4, level int4, PRIMARY KEY (a, b));
INSERT INTO square SELECT a, b, a + b FROM generate_series(1, 4) a, generate_series(1, 4) b;
CREATE TABLE band (low int4, high int4, title text);
INSERT INTO band VALUES (0, 40, 'young'), (30, 60, 'middle'), (0, 200, 'all');
CREATE TABLE pair (a int4, b int4, title text, UNIQUE (a, b));
INSERT INTO pair SELECT i % 12 + 1, i, 'pair ' || i FROM generate_series(1, 120) i;
CREATE TABLE loose (id int4, title text);
INSERT INTO loose SELECT i % 12 + 1, 'loose ' || i FROM generate_series(1, 120) i;
CREATE INDEX ON loose (id);
-- Not each of its rows is in the index.
CREATE TABLE partial (id int4, title text);
INSERT INTO partial SELECT i % 12 + 1, 'partial ' || i FROM generate_series(1, 120) i;
CREATE UNIQUE INDEX ON partial (id) WHERE title < 'partial 2' COLLATE "C" AND id < 0;
-- The index is unique in the parent only.
CREATE TABLE town (id int4 PRIMARY KEY, title text);
CREATE TABLE town_copy () INHERITS (town);
INSERT INTO town SELECT i, 'town ' || i FROM generate_series(1, 12) i;
INSERT INTO town_copy SELECT i % 12 + 1, 'copy ' || i FROM generate_series(1, 120) i;
-- Unique at the end of a transaction only. The analyst may add rows by a function of the owner.
CREATE TABLE late (id int4 UNIQUE DEFERRABLE INITIALLY DEFERRED, title text);
INSERT INTO late SELECT i, 'late ' || i FROM generate_series(1, 12) i;
CREATE FUNCTION add_to_late() RETURNS void LANGUAGE sql SECURITY DEFINER BEGIN ATOMIC
  INSERT INTO late SELECT i % 12 + 1, 'later ' || i FROM generate_series(1, 120) AS i;
END;
-- An index that is no longer valid
CREATE TABLE broken (id int4, title text);
CREATE UNIQUE INDEX broken_key ON broken (id);
CREATE VIEW city_view AS SELECT * FROM city;
GRANT SELECT ON city, calendar, area, square, band, pair, loose, partial, town, late, broken, city_view TO analyst;
RESET ROLE;
UPDATE pg_index SET indisvalid = false, indisready = false WHERE indexrelid = 'broken_key'::regclass;
INSERT INTO broken SELECT i % 12 + 1, 'broken ' || i FROM generate_series(1, 120) i;
ANALYZE city, calendar, area, square, band, pair, loose, partial, town, broken;

-- The analyst's own objects
CREATE SCHEMA own AUTHORIZATION analyst;
SET ROLE analyst;
CREATE SEQUENCE own.counter;
CREATE FUNCTION own.spy(value int4) RETURNS int4 LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RAISE WARNING 'saw %', value;
  RETURN value;
END
$$;
CREATE FUNCTION own.spies(value int4, other int4) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RAISE WARNING 'saw %', value;
  RETURN value = other;
END
$$;
CREATE FUNCTION own.show(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RAISE WARNING 'saw %', value;
  RETURN value;
END
$$;
CREATE OPERATOR own.=== (LEFTARG = int4, RIGHTARG = int4, FUNCTION = own.spies, NEGATOR = OPERATOR(own.<<<>),
  COMMUTATOR = OPERATOR(own.=<<));
-- PostgreSQL's functions, and links to the analyst's own
CREATE OPERATOR own.<<<> (LEFTARG = int4, RIGHTARG = int4, FUNCTION = pg_catalog.int4ne, NEGATOR = OPERATOR(own.===));
CREATE OPERATOR own.=<< (LEFTARG = int4, RIGHTARG = int4, FUNCTION = pg_catalog.int4eq, COMMUTATOR = OPERATOR(own.===),
  RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE DOMAIN own.shown AS text CHECK (own.show(VALUE) IS NOT NULL);
CREATE TABLE own.city (id int4 PRIMARY KEY, title text);
INSERT INTO own.city SELECT i, 'own ' || i FROM generate_series(1, 12) i;
RESET ROLE;
