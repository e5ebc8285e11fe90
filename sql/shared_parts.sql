-- Keys that are computed of one column, of one moment, or by CASE with the same conditions, have the combinations that they may have together, and no others: of the number of a month and its name there are 12. One count has
-- epsilon 100, so that noise on it is 0 except with a probability below 1e-10.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_parts_owner LOGIN;
CREATE ROLE regress_dpq_parts_analyst LOGIN;
CREATE SCHEMA regress_dpq_parts AUTHORIZATION regress_dpq_parts_owner;
GRANT USAGE ON SCHEMA regress_dpq_parts TO regress_dpq_parts_analyst;
SELECT dp_grant_budget('regress_dpq_parts_analyst', 1e6, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_parts_analyst');
SET SESSION AUTHORIZATION regress_dpq_parts_owner;
SET search_path = regress_dpq_parts, public;
SET TimeZone = 'Europe/Oslo';
CREATE TABLE visit (person int, day date NOT NULL, late date NOT NULL, long date, at timestamptz, wide timestamp, age int, amount numeric, city text, clinic int, vip bool);
-- Ages from -6 to 233 are beyond the bounds on both sides.
INSERT INTO visit SELECT 1 + i % 120, date '2024-01-01' + i % 182, date '2024-01-01' + i % 182, CASE WHEN i % 7 > 0 THEN date '2015-01-01' + 15 * i END, timestamptz '2024-03-29 00:30+01' + i * interval '53 minutes',
  timestamp '2000-01-01' + i * interval '100 hours', i - 6, i / 3.0, (ARRAY['Oslo', 'Odda', 'Nice', 'Rome', NULL])[1 + i % 5], (ARRAY[1, 2, NULL])[1 + i % 3], (ARRAY[true, false, NULL])[1 + i % 3] FROM generate_series(0, 239) i;
SELECT dp_protect_table('visit', 'person', 2, unit => 'person');
SELECT dp_set_domain('visit', 'day', '2024-01-01', '2024-06-30'), dp_set_domain('visit', 'late', '2024-01-01', '2024-01-04'), dp_set_domain('visit', 'long', '2015-01-01', '2024-12-31'), dp_set_domain('visit', 'at', '2024-03-29 00:00+01', '2024-04-08 00:00+02'),
  dp_set_domain('visit', 'age', 0, 119), dp_set_domain('visit', 'amount', 0, 50), dp_set_domain('visit', 'city', '{Oslo,Odda,Nice}');
SELECT dp_grant_private_access('visit', 'regress_dpq_parts_analyst', epsilon => 100);
CREATE TABLE question (id serial, keys text, source text DEFAULT 'visit');
INSERT INTO question (keys) VALUES
  ('to_char(day, ''Dy''), extract(isodow FROM day)'), ('extract(month FROM day), to_char(day, ''Mon''), city'), ('extract(year FROM day), extract(month FROM day), date_trunc(''month'', day)'),
  ('extract(month FROM day), day'), ('day, CASE WHEN extract(month FROM day) < 4 THEN ''winter'' ELSE ''summer'' END, date_trunc(''week'', day)'), ('to_char(long, ''Mon''), extract(month FROM long), coalesce(extract(year FROM long), 0)'),
  ('extract(hour FROM at), to_char(at, ''HH24 "h"''), date_trunc(''day'', at)'), ('to_char(at, ''Dy''), extract(isodow FROM at), at::date'), ('to_char(at AT TIME ZONE ''UTC'', ''HH24''), date_trunc(''day'', at AT TIME ZONE ''UTC'')'),
  ('to_char(wide, ''FMMonth''), extract(month FROM wide), extract(quarter FROM wide)'), ('to_char(wide, ''Dy''), extract(isodow FROM wide), CASE WHEN extract(isodow FROM wide) > 5 THEN ''end'' ELSE ''week'' END'),
  ('CASE WHEN amount < 10 THEN ''low'' WHEN amount >= 10 AND amount < 30 THEN ''middle'' WHEN amount >= 60 THEN ''beyond'' END, CASE WHEN amount < 10 THEN 1 WHEN amount >= 10 AND amount < 30 THEN 2 WHEN amount >= 60 THEN 3 END'),
  ('CASE WHEN amount < 10 AND city = ''Rome'' THEN ''a'' WHEN vip THEN ''b'' ELSE ''c'' END, CASE WHEN amount < 10 AND city = ''Rome'' THEN 1 WHEN vip THEN 2 ELSE 2 END'),
  -- Other conditions: ages beyond the bounds are in groups that no age between them has.
  ('CASE WHEN age < 0 THEN ''none'' WHEN age < 60 THEN ''young'' ELSE ''old'' END, CASE WHEN age < 30 THEN 1 WHEN age > 119 THEN 2 ELSE 3 END'),
  ('age, CASE WHEN age < 60 THEN ''young'' ELSE ''old'' END, floor(age / 10.0)'), ('age / 10, floor(age / 20.0)'), ('city, left(city, 1), upper(city)'), ('vip, NOT vip, CASE WHEN vip THEN ''yes'' ELSE ''no'' END'), ('city, vip'),
  ('age / 60, extract(quarter FROM day), to_char(day, ''Q'')');
INSERT INTO question (keys, source) VALUES
  ('n, d', '(SELECT to_char(day, ''Dy'') AS n, extract(isodow FROM day) AS d FROM visit) q'), ('n, tier, sort', '(SELECT vip, age / 60 AS n, CASE WHEN amount < 10 THEN ''low'' ELSE ''high'' END AS tier, CASE WHEN amount < 10 THEN 1 ELSE 2 END AS sort FROM visit) q'),
  ('extract(month FROM day), to_char(day, ''Mon'')', 'visit WHERE day >= ''2024-05-15''');
-- Rows beyond the bounds are in groups where they are by each key alone: all of those of conditions, buckets and parts of times, those of the month that the bounds cut off, and none of other ages.
INSERT INTO question (keys) VALUES
  ('width_bucket(age, 0, 119, 4), age % 3'), ('(age > 118)::text, age % 3'), ('upper(CASE WHEN age > 118 THEN ''a'' ELSE ''b'' END), age % 3'), ('least(age, 9), age % 3'), ('age % 2, age % 3'), ('age / 50, age % 3'), ('age / 50, (age / 50)::text, floor(age / 100.0)'),
  ('extract(isodow FROM late), CASE WHEN extract(isodow FROM late) > 5 THEN ''end'' ELSE ''week'' END'), ('extract(month FROM late), extract(quarter FROM late)'), ('extract(isodow FROM late), late > ''2024-01-02'''),
  ('date_trunc(''month'', late), extract(isodow FROM late), to_char(late, ''YYYY-MM''), date_trunc(''month'', late)::date'), ('late::text, extract(isodow FROM late)');
INSERT INTO question (keys, source) VALUES ('age / 50, age % 3', 'visit WHERE age BETWEEN 10 AND 140');
-- The groups of the answer, those without rows, the rows in groups, and those of the answer that are not exact
CREATE FUNCTION asked(keys text, source text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE 'SELECT g::text FROM (SELECT ' || keys || ', count(*) FROM ' || source || ' GROUP BY ' || (SELECT string_agg(i::text, ', ') FROM generate_series(1, keys_of(keys)) i) || ') g';
EXCEPTION WHEN OTHERS THEN
  RETURN NEXT SQLERRM;
END $$;
CREATE FUNCTION keys_of(keys text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  depth int := 0;
  found int := 1;
  c text;
BEGIN
  FOREACH c IN ARRAY regexp_split_to_array(keys, '') LOOP
    depth := depth + CASE c WHEN '(' THEN 1 WHEN ')' THEN -1 ELSE 0 END;
    IF c = ',' AND depth = 0 THEN found := found + 1; END IF;
  END LOOP;
  RETURN found;
END $$;
CREATE TABLE exact AS SELECT id, keys, source, a FROM question, asked(keys, source) a;
GRANT SELECT ON exact, question TO regress_dpq_parts_analyst;
SET SESSION AUTHORIZATION regress_dpq_parts_analyst;
SET search_path = regress_dpq_parts, public;
SET dpquantile.note_errors = off;
SET client_min_messages = warning;
CREATE TEMP TABLE answer AS SELECT id, p FROM question, asked(keys, source) p;
SELECT id, count(p) AS groups, count(p) FILTER (WHERE p LIKE '%,0)') AS empty, sum(substring(p FROM '(\d+)\)$')::int) AS rows,
  count(p) FILTER (WHERE p NOT LIKE '%,0)' AND NOT EXISTS (SELECT FROM exact e WHERE e.id = q.id AND e.a = p)) AS inexact, min(p COLLATE "C") FILTER (WHERE p NOT LIKE '(%') AS error
  FROM question q JOIN answer USING (id) GROUP BY 1 ORDER BY 1;
-- Rows that are in no group
SELECT id, count(*), min(a COLLATE "C") AS first, max(a COLLATE "C") AS last FROM exact e WHERE NOT EXISTS (SELECT FROM answer a WHERE a.id = e.id AND p = a) GROUP BY 1 ORDER BY 1;
SELECT to_char(day, 'Dy') AS name, extract(isodow FROM day) AS number, count(*) FROM visit GROUP BY 1, 2 ORDER BY 2;
SELECT DISTINCT extract(quarter FROM day), to_char(day, '"Q"Q') FROM visit ORDER BY 1;
RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_parts CASCADE;
DROP OWNED BY regress_dpq_parts_owner, regress_dpq_parts_analyst;
DROP ROLE regress_dpq_parts_owner, regress_dpq_parts_analyst;
