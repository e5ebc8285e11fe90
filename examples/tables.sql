-- The tables of README.md and the guides, with rows that are made up:
--   psql -d DATABASE -f examples/tables.sql
-- Run it as the role that shall own them. It needs no extension. It makes all of them, or none if one exists.
BEGIN;
SELECT setseed(0.5) \g /dev/null

-- Visits to four cities by 3000 visitors, each of whom came a few times. Vaduz has one visit.
CREATE TABLE regions (id integer PRIMARY KEY, name text);
INSERT INTO regions VALUES (1, 'North'), (2, 'South'), (3, 'East');
GRANT SELECT ON regions TO PUBLIC;
CREATE TABLE visitors (id integer PRIMARY KEY, region integer);
INSERT INTO visitors SELECT id, 1 + (id * 7 / 3000) % 3 FROM generate_series(0, 2999) AS id;
CREATE TABLE visits (visitor integer, city text NOT NULL, amount numeric, at timestamptz, stay interval);
INSERT INTO visits
SELECT i % 3000, (ARRAY['Paris', 'Rome', 'Oslo', 'Nice'])[ceil(4 * random() ^ 2)], round((200 * random() ^ 3)::numeric, 2),
       timestamptz '2024-01-01' + random() * interval '366 days', random() * interval '45 minutes'
FROM generate_series(1, 10000) AS i
UNION ALL VALUES (7, 'Vaduz', 20.00, timestamptz '2024-05-01 12:00', interval '9 minutes');
CREATE VIEW recent_visits AS SELECT * FROM visits WHERE at >= '2024-10-01';

-- The staff of a company
CREATE TABLE staff (id integer PRIMARY KEY, department text, age integer, salary numeric, hired date, city text);
INSERT INTO staff
SELECT id, (ARRAY['Engineering', 'Sales', 'Sales', 'Support'])[ceil(4 * random())], 18 + floor(48 * random()),
       round((20000 + 45000 * (random() + random()) * random() ^ -0.2)::numeric, 2), date '2005-01-01' + floor(7300 * random())::integer,
       (ARRAY['Bergen', 'Berlin', 'Oslo', 'Paris', 'Rome'])[ceil(5 * random() ^ 1.3)]
FROM generate_series(1, 10000) AS id;

-- Speeds of buses in areas, and days of patients in a hospital: a bus or patient has many rows.
CREATE TABLE readings AS
SELECT bus, 'area ' || (bus + floor(1.4 * random())::integer) % 10 AS area, round((24 + bus % 11 + 25 * random())::numeric, 1)::float8 AS speed
FROM generate_series(1, 1000) AS bus, generate_series(1, 5 + (bus * 13) % 20);
CREATE TABLE stays AS
SELECT patient, 1 + floor(-6 * ln(1 - random()))::integer AS days FROM generate_series(1, 2000) AS patient, generate_series(1, 1 + patient % 4);
COMMIT;
ANALYZE regions, visitors, visits, staff, readings, stays;
