-- Values in jsonb over protected rows: parts of a document, what is in it, and its parts as other types. A count has epsilon 100: noise on it is 0
-- except with a probability below 1e-40.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_json_analyst LOGIN;
CREATE SCHEMA regress_dpq_json;
GRANT USAGE ON SCHEMA regress_dpq_json TO regress_dpq_json_analyst;
SELECT dp_grant_budget('regress_dpq_json_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_json_analyst');
SET search_path = regress_dpq_json, public;
CREATE TABLE event (id int PRIMARY KEY, payload jsonb, note json, key text, keys text[], part jsonb);
INSERT INTO event
SELECT i, jsonb_build_object('utm', CASE WHEN i % 3 > 0 THEN 'u' || i % 3 END, 'n', i % 10, 'vip', i % 2 = 0, 'at', '2024-01-0' || 1 + i % 9,
                             'tags', jsonb_build_array('a', i % 4), 'deep', jsonb_build_object('er', jsonb_build_array(i % 5, 'x'))),
       '{"a": 1}', 'utm', '{deep,er,0}', '{"vip": true}'
FROM generate_series(1, 60) i;
-- What does not fit, and NULL
INSERT INTO event SELECT 60 + i, payload::jsonb FROM unnest('{"[1, \"utm\"]","\"utm\"","7",null,"null","{\"n\": \"7\"}","{\"n\": \"seven\"}","{\"n\": 7.6}","{\"n\": {}}","{\"n\": null}"}'::text[])
  WITH ORDINALITY AS v (payload, i);
SELECT dp_protect_table('event'), dp_grant_private_access('event', 'regress_dpq_json_analyst', epsilon => 100, delta => 1e-6);

-- How many rows a private query and the owner count.
CREATE TABLE condition (number serial, text text);
INSERT INTO condition (text) VALUES
  ($$payload ->> 'utm' = 'u1'$$), ($$payload -> 'utm' IS NULL$$), ($$payload ->> 'utm' IS NULL$$), ($$payload -> 'tags' ->> 1 = '3'$$), ($$payload -> 'tags' -> -1 @> '3'$$),
  ($$payload #>> '{deep,er,0}' = '4'$$), ($$payload #> ARRAY['deep', 'er'] @> '[4]'$$), ($$payload #>> '{}' = 'utm'$$), ($$jsonb_extract_path_text(payload, 'deep', 'er', '1') = 'x'$$),
  ($$payload @> '{"vip": true}'$$), ($$payload @> '{"deep": {"er": [4]}}'$$), ($$payload @> '{}'$$), ($$'{"n": 7.60, "m": 1}' @> payload$$), ($$payload <@ '{"n": 7.6}'$$),
  ($$payload ? 'utm'$$), ($$payload ?| '{vip,utm}'$$), ($$payload ?& ARRAY['n', 'vip']$$), ($$NOT payload ? 'utm'$$), ($$jsonb_exists(payload, 'utm')$$),
  ($$jsonb_typeof(payload) = 'object'$$), ($$jsonb_typeof(payload -> 'n') IN ('number', 'string')$$), ($$(payload -> 'deep')::text = '{"er": [4, "x"]}'$$), ($$payload::text LIKE '%"n": 7,%'$$),
  ($$(payload -> 'tags')::varchar(4) LIKE '["a"%'$$), ($$payload ->> key = 'u1'$$), ($$payload #>> keys = '4'$$), ($$payload @> part$$), ($$payload ? key$$), ($$starts_with(payload ->> 'utm', 'u')$$),
  ($$(CASE WHEN payload ? 'n' THEN payload -> 'n' ELSE payload -> 'utm' END) IS NOT NULL$$);
GRANT SELECT ON condition TO regress_dpq_json_analyst;
CREATE TABLE answer AS SELECT 0 AS number, 0::float8 AS rows WHERE false;
DO $$
DECLARE c condition;
BEGIN
  FOR c IN SELECT * FROM condition LOOP EXECUTE format('INSERT INTO answer SELECT %s, count(*) FROM event WHERE %s', c.number, c.text); END LOOP;
END $$;
GRANT SELECT ON answer TO regress_dpq_json_analyst;
SET SESSION AUTHORIZATION regress_dpq_json_analyst;
CREATE TEMP TABLE asked (number int, rows float8);
DO $$
DECLARE c record; n float8;
BEGIN
  FOR c IN SELECT * FROM condition LOOP
    EXECUTE format('SELECT dp_count(100) FROM event WHERE %s', c.text) INTO n;
    INSERT INTO asked VALUES (c.number, n);
  END LOOP;
END $$;
SELECT text, asked.rows, CASE WHEN asked.rows <> answer.rows THEN 'the owner counts ' || answer.rows END AS wrong
FROM condition JOIN answer USING (number) JOIN asked USING (number) ORDER BY number;

-- Plain SQL: keys from documents, chosen or listed, and numbers with bounds
SELECT payload ->> 'utm' AS utm, count(*) FROM event GROUP BY 1 ORDER BY 1;
SELECT coalesce(payload ->> 'utm', 'none') AS utm, count(*) FROM event WHERE payload ? 'utm' GROUP BY 1 ORDER BY 1;
SELECT payload ->> 'utm' AS utm, count(*) FROM event WHERE payload ->> 'utm' IN ('u1', 'u2', 'u3') GROUP BY 1 ORDER BY 1;
SELECT (payload #>> ARRAY['deep', 'er', '0']::text[])::text AS er, count(*) FROM event GROUP BY (payload #>> ARRAY['deep', 'er', '0']::text[])::text ORDER BY 1;
SELECT (payload ->> 'vip')::boolean AS vip, count(*) FROM event GROUP BY 1 ORDER BY 1;
SELECT round(dp_sum((payload ->> 'n')::numeric, 100, 0, 10) / 100) AS texts, round(dp_sum((payload -> 'n')::float8, 100, 0, 10) / 100) AS numbers FROM event;
SELECT round(sum(least(greatest((payload ->> 'n')::int, 0), 10)) / 100.0) AS sum, count((payload ->> 'n')::int), count((payload -> 'n')::int) AS numbers, count((payload ->> 'at')::date) AS days FROM event;
SELECT count(*) FILTER (WHERE (payload -> 'vip')::boolean) AS vip, count(payload -> 'n') AS n, count(DISTINCT payload ->> 'utm') AS utms FROM event;
PREPARE of_key(text) AS SELECT count(*) FROM event WHERE payload ->> $1 = 'u1';
EXECUTE of_key('utm');
PREPARE of_document(jsonb, text[]) AS SELECT count(*) FROM event WHERE payload @> $1 AND payload ?| $2;
EXECUTE of_document('{"vip": true}', '{a,utm}');
SET plan_cache_mode = force_generic_plan;
EXECUTE of_key('utm');
EXECUTE of_document('{"vip": true}', '{a,utm}');
RESET plan_cache_mode;

-- threat 215: long texts of short documents, deep documents, long searches are NULL and no error
RESET SESSION AUTHORIZATION;
UPDATE event SET payload = CASE id WHEN 1 THEN jsonb_build_object('utm', 1e100000, 'n', 1e100000) WHEN 2 THEN jsonb_build_object('utm', array_fill(1e400, ARRAY[100]))
  WHEN 3 THEN (repeat('[', 900) || repeat(']', 900))::jsonb WHEN 4 THEN to_jsonb(array_fill('utm'::text, ARRAY[5000])) WHEN 5 THEN jsonb_build_object('utm', repeat('x', 100000)) ELSE payload END;
SET SESSION AUTHORIZATION regress_dpq_json_analyst;
SELECT dp_count(100) FROM event WHERE payload ->> 'utm' IS NOT NULL;
SELECT dp_count(100) FROM event WHERE (payload -> 'n')::numeric > 6 OR (payload -> 'n')::float8 > 6 OR (payload ->> 'n')::int8 > 6;
SELECT dp_count(100) FROM event WHERE id <= 5 AND payload::text IS NULL;
SELECT dp_count(100) FROM event WHERE id <= 5 AND payload @> '[[[[]]]]';
SELECT dp_count(100) FROM event WHERE id <= 5 AND payload @> payload IS NULL;
SELECT dp_count(100) FROM event WHERE id = 4 AND (payload ?| array_fill('x'::text, ARRAY[100])) IS NULL;

-- Refused: what fails for rows in other ways, and with a hint that helps
\set VERBOSITY default
SELECT dp_count(100) FROM event WHERE payload = '{}';
SELECT dp_count(100) FROM event WHERE jsonb_path_exists(payload, '$.n ? (@ > 5)');
SELECT dp_count(100) FROM event WHERE note ->> 'a' = '1';
SELECT dp_count(100) FROM event WHERE (payload || '{"a": 1}') ? 'a';
SELECT payload -> 'utm' AS utm, count(*) FROM event GROUP BY 1;
SELECT dp_count(100) FROM event WHERE payload ['utm'] IS NOT NULL;
SELECT count(*) FROM event, jsonb_each(payload);
SELECT dp_count(100) FROM event WHERE payload ->> 'utm' ILIKE '%abc%' AND payload ?| array_fill('x'::text, ARRAY[100]);
RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_json CASCADE;
DROP OWNED BY regress_dpq_json_analyst;
SELECT dp_revoke_budget('regress_dpq_json_analyst');
DROP ROLE regress_dpq_json_analyst;
