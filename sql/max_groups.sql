-- Numbers of persons by group: max_groups says in how many groups of an answer a person counts. A count of groups of a person has
-- epsilon 50, so noise on it is 0 except with a probability below 1e-10.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_groups_owner LOGIN;
CREATE ROLE regress_dpq_groups_analyst LOGIN;
CREATE SCHEMA regress_dpq_groups AUTHORIZATION regress_dpq_groups_owner;
GRANT USAGE ON SCHEMA regress_dpq_groups TO regress_dpq_groups_analyst;
SELECT dp_grant_budget('regress_dpq_groups_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_groups_analyst');
SET SESSION AUTHORIZATION regress_dpq_groups_owner;
SET search_path = regress_dpq_groups, public;
-- Person p has 2 + p % 9 visits, all in one town, of one kind or two. Person 100 has 30 visits of five kinds, and one is nobody's.
CREATE TABLE persons (id int PRIMARY KEY, region text);
INSERT INTO persons SELECT p, CASE p % 2 WHEN 0 THEN 'north' ELSE 'south' END FROM generate_series(1, 40) p;
INSERT INTO persons SELECT p, 'north' FROM generate_series(100, 140) p;
CREATE TABLE visits (person int, kind text NOT NULL, town text, day date, cost int);
INSERT INTO visits SELECT p, (ARRAY['ward', 'web'])[1 + i * (p % 2) % 2], 'town ' || p % 13, date '2025-01-01' + i, i
  FROM generate_series(1, 40) p, generate_series(1, 2 + p % 9) i;
INSERT INTO visits SELECT 100, (ARRAY['ward', 'web', 'call', 'mail', 'home'])[1 + i % 5], 'town 100', date '2025-02-01' + i, i FROM generate_series(1, 30) i;
INSERT INTO visits VALUES (NULL, 'home', 'town 100', '2025-01-01', 1);
CREATE TABLE calls (person int, kind text, minutes int);
INSERT INTO calls SELECT p, (ARRAY['ward', 'web', 'call'])[1 + p % 3], 10 FROM generate_series(1, 30) p, generate_series(1, 4);
CREATE TABLE region (name text PRIMARY KEY);
INSERT INTO region VALUES ('north'), ('south');
GRANT SELECT ON region TO regress_dpq_groups_analyst;
CREATE TABLE moves (person int, kind text, by_night boolean NOT NULL, cost int);
INSERT INTO moves SELECT p, (ARRAY['ward', 'web', 'call', NULL])[1 + i % 4], i % 3 = 0, i FROM generate_series(1, 40) p, generate_series(1, 12) i;
CREATE TABLE turns AS SELECT * FROM moves;
GRANT SELECT ON region TO regress_dpq_groups_analyst;

-- What an owner may state
SELECT dp_protect_table('visits', max_groups => 2);
SELECT dp_protect_table('visits', 'person', max_groups => -1);
SELECT dp_protect_table('visits', 'person', max_groups => 1001);
SELECT dp_protect_table('persons', 'id', 1, 'person'), dp_protect_table('visits', 'person', 20, 'person'), dp_protect_table('calls', 'person', max_groups => 2);
SELECT dp_protect_table('visits', 'person', 20, 'person', max_groups => 2);
SELECT dp_protect_table('visits', 'person', 20, 'person', max_groups => 2);
SELECT relation, user_id, max_rows, max_groups FROM dp_protected_tables;
SELECT dp_set_domain(t, 'kind', '{ward,web,call,mail,home}') FROM unnest('{visits,calls}'::regclass[]) t;
SELECT dp_protect_table('moves', 'person', 50), dp_protect_table('turns', 'person'), dp_set_domain('moves', 'kind', '{ward,web,call,NULL}'),
  dp_grant_private_access('moves', 'regress_dpq_groups_analyst', epsilon => 100, delta => 1e-6), dp_grant_private_access('turns', 'regress_dpq_groups_analyst', epsilon => 100);
SELECT dp_set_domain('visits', 'cost', 0, 30), dp_set_domain('persons', 'region', '{north,south}');
SELECT dp_grant_private_access(t, 'regress_dpq_groups_analyst', epsilon => 100, delta => 1e-6) FROM unnest('{persons,visits,calls}'::regclass[]) t;
SELECT kind, count(DISTINCT person) FROM visits WHERE person < 100 GROUP BY kind ORDER BY kind;
SET SESSION AUTHORIZATION regress_dpq_groups_analyst;
SET search_path = regress_dpq_groups, public;

-- The number of persons by group has epsilon / max_groups, in whatever way it is asked.
SELECT kind, count(DISTINCT person) FROM visits WHERE person < 100 GROUP BY kind ORDER BY kind;
SELECT kind, count(*) FROM (SELECT DISTINCT person, kind FROM visits WHERE person < 100) g GROUP BY kind ORDER BY kind;
SELECT kind, dp_count(100) FROM (SELECT kind AS kind FROM (SELECT kind, person FROM visits WHERE person < 100 GROUP BY person, kind) g) h GROUP BY kind HAVING dp_count(100) > 20;
WITH g AS (SELECT DISTINCT v.person, v.kind FROM visits v WHERE v.person < 100) SELECT kind, count(person) FROM g GROUP BY kind HAVING count(person) > 20;
SELECT private_aggregate, epsilon, problem FROM dp_explain('SELECT kind, count(DISTINCT person) FROM visits GROUP BY kind');
-- threat 194: a person with more groups counts in two of them, whatever the aggregates, keys, conditions and joins are.
SELECT sum(n) FROM (SELECT kind, count(DISTINCT person) AS n FROM visits WHERE person = 100 GROUP BY kind) t;
SELECT sum(n) FROM (SELECT cost % 5 AS k, count(DISTINCT person) AS n FROM visits WHERE person = 100 GROUP BY cost % 5) t;
SELECT sum(n) FROM (SELECT kind, count(DISTINCT v.person) AS n FROM visits v JOIN persons p ON p.id = v.person WHERE p.id = 100 GROUP BY kind) t;
SELECT sum(n), sum(m) FROM (SELECT kind, count(*) AS n, count(*) FILTER (WHERE c > 0) AS m FROM (SELECT person, kind, count(*) AS c FROM visits WHERE person = 100 GROUP BY 1, 2) g GROUP BY kind) t;
SELECT sum(n) BETWEEN 0 AND 2, sum(m) FROM (SELECT kind, count(DISTINCT person) FILTER (WHERE cost > 26) AS n, count(DISTINCT person) AS m FROM visits WHERE person = 100 GROUP BY kind) t;
-- threat 258: a person counts in each group of a short list, once. (Of four groups or eight epsilon is 25 or 12.5: below 1e-9.)
SELECT kind, by_night, count(DISTINCT person) BETWEEN 38 AND 42 AS are_40 FROM moves GROUP BY kind, by_night ORDER BY 1, 2;
SELECT by_night, count(DISTINCT person) FROM turns GROUP BY by_night ORDER BY 1;
SELECT kind, count(*), count(*) FILTER (WHERE c > 1) AS often FROM (SELECT person, kind, count(*) FILTER (WHERE by_night) AS c FROM moves GROUP BY 1, 2) g GROUP BY kind ORDER BY 1;
-- What is equal in some rows alone, by an outer join or below NOT, OR and CASE, does not limit the groups of a person.
SELECT l.kind, round(count(*) / 20.0) * 20 AS rows FROM (SELECT DISTINCT person, kind FROM moves) m LEFT JOIN (VALUES ('ward'), ('web')) l (kind) ON l.kind = m.kind GROUP BY 1 ORDER BY 1;
SELECT l.n, round(count(*) / 40.0) * 40 AS rows FROM (SELECT DISTINCT person, cost % 4 AS n, cost % 2 AS odd FROM moves) m JOIN (VALUES (0), (1)) l (n) ON l.n = m.odd WHERE NOT l.n = m.n OR l.n >= 0 GROUP BY 1 ORDER BY 1;
-- Conditions, HAVING, ORDER BY, keys that WHERE leaves out, and what is computed of the answers
SELECT kind, count(DISTINCT person) FILTER (WHERE cost > 4) AS dear, count(DISTINCT person) FILTER (WHERE cost < 2) AS cheap, count(DISTINCT person) AS n
  FROM visits WHERE kind IN ('ward', 'web') AND person < 100 GROUP BY kind HAVING count(DISTINCT person) > 1 ORDER BY n DESC;
SELECT kind, round(100.0 * count(DISTINCT person) / sum(count(DISTINCT person)) OVER ()) AS share FROM visits WHERE kind < 'web' AND kind > 'mail' GROUP BY kind;
SELECT kind, region, count(DISTINCT v.person) FROM persons p JOIN visits v ON v.person = p.id WHERE kind IN ('ward', 'web') AND p.id < 100 GROUP BY kind, region ORDER BY 1, 2;
SELECT kind, count(DISTINCT person) FROM visits WHERE kind LIKE 'w%' AND person < 100 GROUP BY ROLLUP (kind) ORDER BY kind;
SELECT kind FROM visits GROUP BY kind HAVING count(DISTINCT person) > 10 ORDER BY kind;
-- Groups that are chosen: by the persons in max_groups of them. Three persons are enough for two groups; for twenty they would not be.
SELECT count(*) AS towns, sum(n) AS persons FROM (SELECT town, count(DISTINCT person) AS n FROM visits WHERE person < 100 GROUP BY town) t;
SELECT count(*) AS towns FROM (SELECT town, count(*) AS n FROM visits WHERE person < 100 GROUP BY town) t;
SELECT count(*) AS towns FROM (SELECT DISTINCT town FROM visits WHERE person < 100) t;
-- max_groups without max_rows
SELECT kind, count(DISTINCT person) FROM calls GROUP BY kind ORDER BY 2 DESC, 1;
SELECT kind, count(*) FROM calls GROUP BY kind;
SELECT kind, dp_count_distinct(person, 100) FROM calls GROUP BY kind;

-- Rows are limited by max_rows: all aggregates but numbers of persons, and groups of a person that are not the groups of the answer.
-- These counts have epsilon 5: they are off by 5 or more with a probability below 1e-10.
SELECT count(*) BETWEEN 15 AND 25 AS days FROM (SELECT DISTINCT person, day FROM visits WHERE person = 100) g;
-- An outer join gives NULL for who has no visit: a column of the second table is not the person. 40 persons of the north have none.
SELECT region, count(DISTINCT v.person) BETWEEN 16 AND 26 AS visitors FROM persons p LEFT JOIN visits v ON v.person = p.id GROUP BY region ORDER BY region;
SELECT region, count(DISTINCT p.id) AS persons FROM persons p LEFT JOIN visits v ON v.person = p.id GROUP BY region ORDER BY region;
SELECT r.name, count(DISTINCT v.person) BETWEEN 16 AND 26 AS visitors FROM region r LEFT JOIN persons p ON p.region = r.name LEFT JOIN visits v ON v.person = p.id GROUP BY r.name ORDER BY 1;

-- The errors tell which part of epsilon it is: of max_groups or of max_rows, as for all aggregates beside others, and for rows by more keys.
SET dpquantile.epsilon = 1;
SELECT name, error FROM (SELECT 'a ' || kind AS name, count(DISTINCT person), dp_error_of(count(DISTINCT person)) AS error FROM visits WHERE kind = 'ward' GROUP BY kind
         UNION ALL SELECT 'b ' || kind, count(*), dp_error_of(count(*)) FROM (SELECT DISTINCT person, kind FROM visits) g WHERE kind = 'ward' GROUP BY kind
         UNION ALL SELECT 'c ' || kind, count(DISTINCT person), dp_error_of(count(DISTINCT person)) + 0 * count(*) FROM visits WHERE kind = 'ward' GROUP BY kind
         UNION ALL SELECT 'd ' || kind, count(*), dp_error_of(count(*)) FROM (SELECT DISTINCT person, kind, day FROM visits) g WHERE kind = 'ward' GROUP BY kind
         UNION ALL SELECT 'e ' || kind, count(*), dp_error_of(count(*)) FROM visits WHERE kind = 'ward' GROUP BY kind) t ORDER BY name;
SELECT dp_histogram_error(0.5, 0.95) AS of_half, dp_histogram_error(0.05, 0.95) AS of_a_twentieth, dp_histogram_error(1, 0.95) AS of_all;
-- A person is in no more groups than there are: of lists, of what WHERE leaves of them, of products of lists, and of a table without max_groups and max_rows.
CREATE FUNCTION pg_temp.errors(query text) RETURNS TABLE (groups bigint, error float8, charged float8) LANGUAGE plpgsql AS $$
DECLARE before float8 := (SELECT epsilon_spent FROM dp_budget);
BEGIN
  EXECUTE format('SELECT count(*), max(error) FROM (%s) t', query) INTO groups, error;
  charged := (SELECT epsilon_spent FROM dp_budget) - before;
  RETURN NEXT;
END $$;
SELECT * FROM pg_temp.errors('SELECT kind, dp_error_of(count(DISTINCT person)) AS error, count(DISTINCT person) FROM moves GROUP BY kind');
SELECT * FROM pg_temp.errors('SELECT kind, dp_error_of(count(DISTINCT person)) AS error, count(DISTINCT person) FROM moves WHERE kind IN (''ward'', ''web'') GROUP BY kind');
SELECT * FROM pg_temp.errors('SELECT kind, by_night, dp_error_of(count(DISTINCT person)) AS error, count(DISTINCT person) FROM moves GROUP BY kind, by_night');
SELECT * FROM pg_temp.errors('SELECT by_night, dp_error_of(count(*)) AS error, count(*) FROM (SELECT person, by_night, sum(cost) AS c FROM moves GROUP BY 1, 2) g WHERE c > 3 GROUP BY by_night');
SELECT * FROM pg_temp.errors('SELECT by_night, dp_error_of(count(*)) AS error, count(*) FROM (SELECT person, by_night, kind FROM moves GROUP BY 1, 2, 3) g GROUP BY by_night');
SELECT * FROM pg_temp.errors('SELECT by_night, dp_error_of(count(DISTINCT person)) AS error, count(DISTINCT person) FROM turns GROUP BY by_night');
SELECT * FROM pg_temp.errors('SELECT l.kind, n.by_night, dp_error_of(count(m.person)) AS error, count(m.person) FROM (VALUES (''ward''), (''web''), (''call'')) l (kind) CROSS JOIN (VALUES (false), (true)) n (by_night) LEFT JOIN (SELECT DISTINCT person, kind, by_night FROM moves) m ON m.kind = l.kind AND m.by_night = n.by_night GROUP BY l.kind, n.by_night');
-- Conditions that compare keys with each other leave out groups, too, also those of a query below.
SELECT * FROM pg_temp.errors('SELECT kind, by_night, dp_error_of(count(DISTINCT person)) AS error, count(DISTINCT person) FROM moves WHERE kind = ''ward'' OR by_night GROUP BY kind, by_night');
SELECT * FROM pg_temp.errors('SELECT kind, by_night, dp_error_of(count(DISTINCT person)) AS error, count(DISTINCT person) FROM moves WHERE (kind, by_night) IN ((''ward'', true), (''web'', false)) GROUP BY kind, by_night');
SELECT * FROM pg_temp.errors('SELECT kind, by_night, dp_error_of(count(DISTINCT person)) AS error, count(DISTINCT person) FROM (SELECT * FROM moves WHERE kind = ''ward'' OR by_night) m GROUP BY kind, by_night');
SELECT * FROM pg_temp.errors('SELECT kind, night, dp_error_of(count(*)) AS error, count(*) FROM (SELECT person, kind, by_night AS night FROM moves WHERE kind = ''ward'' OR by_night GROUP BY 1, 2, 3) m GROUP BY kind, night');
SELECT * FROM pg_temp.errors('SELECT kind, by_night, dp_error_of(count(*)) AS error, count(*) FROM (SELECT * FROM moves WHERE kind = ''ward'' OR by_night) m GROUP BY kind, by_night');
RESET dpquantile.epsilon;

-- threat 195: what could only answer nothing, or 0, is refused before a charge, and for what the query and the definitions of tables say.
SET SESSION AUTHORIZATION regress_dpq_groups_owner;
CREATE TABLE staff (id int PRIMARY KEY, badge int NOT NULL, town text, email text UNIQUE, UNIQUE (badge, town));
INSERT INTO staff SELECT i, i / 2, 'town ' || i % 2, 'mail ' || i FROM generate_series(1, 200) i;
CREATE TABLE shifts (person int, day int NOT NULL, kind text NOT NULL, town text, UNIQUE (kind, day));
INSERT INTO shifts SELECT p, CASE p % 2 WHEN 0 THEN 1 ELSE 2 END, 'kind ' || p, 'town 1' FROM generate_series(1, 200) p;
INSERT INTO shifts SELECT p, p, 'night', 'town 1' FROM generate_series(3, 200) p;
SELECT dp_protect_table('shifts', 'person', 4), dp_grant_private_access('shifts', 'regress_dpq_groups_analyst', epsilon => 100, delta => 1e-6);
SELECT dp_protect_table('staff'), dp_grant_private_access('staff', 'regress_dpq_groups_analyst', epsilon => 100, delta => 1e-6);
SET SESSION AUTHORIZATION regress_dpq_groups_analyst;
CREATE TEMP TABLE spent AS SELECT epsilon_spent FROM dp_budget;
SELECT id, count(*) FROM staff GROUP BY id;
SELECT DISTINCT town, i FROM (SELECT id AS i, town FROM staff) s;
SELECT town, count(*) FROM staff WHERE id = 7 GROUP BY town;
SELECT town, count(*) FROM (SELECT * FROM staff WHERE 7 = id) s GROUP BY town;
SELECT town, count(*) FROM visits WHERE person = 100 GROUP BY town;
SELECT town, count(*) FROM visits v JOIN persons p ON p.id = v.person WHERE p.id = 100 GROUP BY town;
SELECT person, count(*) FROM visits GROUP BY person;
SELECT count(*) FROM visits WHERE person IN (SELECT person::bigint FROM visits GROUP BY 1);
SELECT 'no. ' || person::text, count(*) FROM visits GROUP BY 1;
SELECT (person + 1)::numeric, count(*) FROM visits GROUP BY 1;
-- threat 326: other forms of a person, of which each is of one
SELECT -person, count(*) FROM visits GROUP BY 1;
SELECT 3 - person * 2, count(*) FROM visits GROUP BY 1;
SELECT person # 5, count(*) FROM visits GROUP BY 1;
SELECT to_hex(~person), count(*) FROM visits GROUP BY 1;
SELECT 0.5 - person * 1.5, count(*) FROM visits GROUP BY 1;
SELECT md5('salt' || person::text), count(*) FROM visits GROUP BY 1;
SELECT concat('no. ', coalesce(person, 0)), count(*) FROM visits GROUP BY 1;
SELECT kind, count(*) FROM visits WHERE kind = 'webb' GROUP BY kind;
SELECT kind, region, count(DISTINCT v.person) FROM visits v JOIN persons p ON p.id = v.person WHERE lower(kind) = 'post' AND v.cost > 2 GROUP BY kind, region;
SELECT count(*) FROM visits WHERE person IS NULL;
SELECT avg(cost) FROM (SELECT * FROM visits WHERE cost > 2 AND person IS NULL) v;
-- threat 307: so are conditions that contradict each other by what they say, here and in queries below, and those of FILTER.
SELECT count(*) FROM visits WHERE cost = 5 AND cost = 6;
SELECT count(*) FROM visits WHERE cost BETWEEN 10 AND 5;
SELECT avg(cost) FROM visits WHERE cost IN (5, 7) AND cost IN (6, 8);
SELECT count(*) FROM visits WHERE town = NULL;
SELECT count(*) FROM visits WHERE 1 = 0;
SELECT town, count(*) FROM (SELECT *, cost + 1 AS more FROM visits WHERE cost + 1 = 5) v WHERE more = 6 GROUP BY town;
SELECT count(*) FROM visits v JOIN persons p ON p.id = v.person AND p.region = 'north' WHERE p.region IS NULL;
SELECT avg(n) FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) g WHERE n = 2 AND n > 4;
SELECT count(*) FILTER (WHERE false) FROM visits;
-- threat 331: so it is of private aggregates. Nothing is shown and charged where HAVING is of no group.
SELECT dp_count(1) FROM visits WHERE kind = 'web' AND kind = 'app';
SELECT dp_count(1) FILTER (WHERE false) FROM visits;
SELECT kind, count(*) FROM visits GROUP BY kind HAVING 1 = 2 AND count(*) > 3;
SELECT count(*) FROM visits HAVING false;
SELECT dp_count(1) FROM visits HAVING NULL;
SELECT kind, count(DISTINCT person) FILTER (WHERE cost = 5) AS n FROM visits WHERE cost = 6 GROUP BY kind;
SELECT mode() WITHIN GROUP (ORDER BY kind) FILTER (WHERE cost > 5 AND NOT cost > 5) FROM visits;
-- Tools ask in this way for the columns of an answer.
SELECT kind, count(*) FROM visits WHERE false GROUP BY kind;
SELECT town, avg(cost) FROM visits WHERE 1 = 0 GROUP BY town;
SELECT DISTINCT town FROM visits WHERE 1 = 0;
-- dp_keep_group written out shows them no more than a grant with a delta does.
SELECT person, count(*) FROM visits GROUP BY person HAVING dp_keep_group(person, 0.5, 1e-6, 4);
SELECT person, kind, dp_count(1) FROM visits GROUP BY person, kind HAVING dp_keep_group(person, 0.5, 1e-6, 4) AND dp_count(1) > 3;
SELECT id, dp_count(1) FROM persons GROUP BY id HAVING dp_keep_group(id, 0.5, 1e-6, 1);
SELECT id, dp_count(1) FROM staff GROUP BY id HAVING dp_keep_group(0.5, 1e-6);
SELECT kind, dp_count(1) FROM visits WHERE person = 100 GROUP BY kind HAVING dp_keep_group(person, 0.5, 1e-6, 4);
SELECT b.epsilon_spent - s.epsilon_spent AS charged FROM dp_budget b, spent s;
-- Others may answer something.
SELECT coalesce(5, person) AS five, count(*) > 100 AS many FROM visits GROUP BY 1;
SELECT badge > 0 AS some, dp_count(100) > 100 AS many FROM staff GROUP BY badge > 0 HAVING dp_keep_group(0.5, 1e-6);
SELECT badge > 0 AS some, count(*) FROM staff WHERE badge < 50 GROUP BY badge > 0;
SELECT town, count(*) FROM staff WHERE badge = 7 AND id > 0 GROUP BY town;
SELECT email, count(*) FROM staff GROUP BY email;
SELECT kind, count(*) BETWEEN 15 AND 25 AS rows FROM visits WHERE person = 100 AND kind >= 'ward' GROUP BY kind HAVING count(*) > 100;
SELECT count(*) BETWEEN 35 AND 45 AS without FROM persons p LEFT JOIN visits v ON v.person = p.id WHERE v.person IS NULL;
-- Conditions on rows of two entries, and where an outer join or CASE adds rows, do not contradict each other.
SELECT count(*) BETWEEN 35 AND 45 AS without FROM persons p LEFT JOIN (SELECT person, count(*) AS n FROM visits WHERE kind = 'ward' GROUP BY person) v ON v.person = p.id WHERE v.n IS NULL;
SELECT count(*) BETWEEN 35 AND 45 AS without FROM persons p LEFT JOIN (SELECT * FROM visits WHERE cost = 1) v ON v.person = p.id WHERE v.cost IS NULL;
SELECT count(*) > 10 AS some FROM visits WHERE CASE cost WHEN 1 THEN true WHEN 2 THEN false END AND cost = 1;
SELECT a.town, count(*) > 10 AS many FROM shifts a JOIN (SELECT person, count(*) FROM shifts WHERE kind = 'night' GROUP BY person) g ON g.person = a.person WHERE a.day = 1 GROUP BY a.town;

-- A delta in the grant would not show such groups.
SET SESSION AUTHORIZATION regress_dpq_groups_owner;
SELECT dp_grant_private_access('staff', 'regress_dpq_groups_analyst', epsilon => 100);
SET SESSION AUTHORIZATION regress_dpq_groups_analyst;
SELECT id, count(*) FROM staff GROUP BY id;
SELECT badge, count(*) FROM staff GROUP BY badge;

-- A person with one row in the table of the keys is in one group, so that the number of persons has all of epsilon. Of homes each person is stated to have one row, and has two, of which one counts.
SET SESSION AUTHORIZATION regress_dpq_groups_owner;
CREATE TABLE homes AS SELECT p AS person, name AS region FROM generate_series(1, 40) p, region;
SELECT dp_protect_table('homes', 'person', 1, 'person'), dp_set_domain('homes', 'region', '{north,south}');
SELECT dp_grant_private_access('homes', 'regress_dpq_groups_analyst', epsilon => 100);
SET SESSION AUTHORIZATION regress_dpq_groups_analyst;
SELECT p.region, count(DISTINCT p.id) FROM visits v JOIN persons p ON p.id = v.person GROUP BY 1 ORDER BY 1;
SELECT r, count(DISTINCT person) FROM (SELECT v.person, p.region AS r FROM visits v JOIN persons p ON p.id = v.person) t GROUP BY 1 ORDER BY 1;
SELECT sum(n) AS persons FROM (SELECT h.region, count(DISTINCT v.person) AS n FROM visits v JOIN homes h ON h.person = v.person GROUP BY 1) t;
SELECT none, count(DISTINCT person) FROM (SELECT v.person, p.region IS NULL AS none FROM visits v LEFT JOIN persons p ON p.id = v.person AND v.kind = 'ward' WHERE v.person < 100) t GROUP BY 1 ORDER BY 1;
SELECT query, expected_error < 1e-30 AS has_all_of_epsilon FROM (VALUES
  ('SELECT p.region, count(DISTINCT p.id) FROM visits v JOIN persons p ON p.id = v.person GROUP BY 1'),
  ('SELECT p.region, count(DISTINCT v.person) FILTER (WHERE v.kind = ''ward'') FROM visits v, persons p WHERE p.id = v.person AND p.region IN (''north'', ''south'') GROUP BY 1'),
  ('SELECT upper(r), count(DISTINCT person) FROM (SELECT v.person, p.region AS r FROM visits v JOIN persons p ON p.id = v.person) t GROUP BY 1'),
  ('SELECT region, count(*) FROM (SELECT DISTINCT p.id, region FROM visits v JOIN persons p ON p.id = v.person) t GROUP BY 1'),
  ('SELECT h.region, count(DISTINCT v.person) FROM visits v JOIN homes h ON h.person = v.person GROUP BY 1'),
  ('SELECT p.region, v.kind, count(DISTINCT p.id) FROM visits v JOIN persons p ON p.id = v.person GROUP BY 1, 2'),
  ('SELECT p.region || v.kind, count(DISTINCT p.id) FROM visits v JOIN persons p ON p.id = v.person GROUP BY 1'),
  ('SELECT p.region IS NULL, count(DISTINCT v.person) FROM visits v LEFT JOIN persons p ON p.id = v.person AND v.kind = ''ward'' GROUP BY 1'),
  ('SELECT v.cost > 3, count(DISTINCT p.id) FROM visits v JOIN persons p ON p.id = v.person GROUP BY 1')) q (query), dp_explain(query);

-- Kept plans follow the owner.
PREPARE kinds AS SELECT sum(n) FROM (SELECT kind, count(DISTINCT person) AS n FROM visits WHERE person = 100 GROUP BY kind) t;
EXECUTE kinds;
SET SESSION AUTHORIZATION regress_dpq_groups_owner;
SELECT dp_protect_table('visits', 'person', 20, 'person', max_groups => 3);
SET SESSION AUTHORIZATION regress_dpq_groups_analyst;
EXECUTE kinds;
SET SESSION AUTHORIZATION regress_dpq_groups_owner;
-- What is not named stays, and is taken away by 0 and by an empty name.
SELECT dp_protect_table('visits', 'person', max_rows => 10);
SELECT dp_protect_table('visits', 'person', max_groups => 4);
SELECT dp_protect_table('visits', 'person');
SELECT dp_protect_table('visits', 'person', max_groups => 0, unit => '');
SELECT relation, max_rows, max_groups, unit FROM dp_protected_tables WHERE relation = 'visits'::regclass;

RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_groups CASCADE;
DROP OWNED BY regress_dpq_groups_owner, regress_dpq_groups_analyst;
DROP ROLE regress_dpq_groups_owner, regress_dpq_groups_analyst;
