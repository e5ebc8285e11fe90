-- Rows of persons combined by UNION, INTERSECT and EXCEPT, below private aggregates. A count of persons has epsilon 100, and one of rows
-- at least 25: noise on it is 0 except with a probability below 1e-10. The tests of sums and means allow for noise that is as rare.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_unions_owner LOGIN;
CREATE ROLE regress_dpq_unions_analyst LOGIN;
CREATE SCHEMA regress_dpq_unions AUTHORIZATION regress_dpq_unions_owner;
GRANT USAGE ON SCHEMA regress_dpq_unions TO regress_dpq_unions_analyst;
SELECT dp_grant_budget('regress_dpq_unions_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_unions_analyst');
CREATE ROLE regress_dpq_unions_replacer LOGIN;
GRANT USAGE ON SCHEMA regress_dpq_unions TO regress_dpq_unions_replacer;
SELECT dp_grant_budget('regress_dpq_unions_replacer', 1000, neighbours => 'replace');
SELECT dp_restrict_role('regress_dpq_unions_replacer');
SET SESSION AUTHORIZATION regress_dpq_unions_owner;
SET search_path = regress_dpq_unions, public;
CREATE TABLE region (id int PRIMARY KEY, name text NOT NULL UNIQUE);
INSERT INTO region VALUES (1, 'north'), (2, 'south'), (3, 'west');
GRANT SELECT ON region TO regress_dpq_unions_analyst;
-- 40 persons; person p has p % 3 visits. Person 100 has 30 visits and is not in the list. Five visits are nobody's.
CREATE TABLE persons (id int PRIMARY KEY, region int, name varchar(20));
INSERT INTO persons SELECT p, 1 + p % 2, 'person ' || p FROM generate_series(1, 40) p;
CREATE TABLE visits (person int, day date, amount numeric(8, 2), kind text, fee numeric(8, 3));
INSERT INTO visits SELECT p, date '2024-01-01' + p, 10 * i, CASE WHEN i = 1 THEN 'web' ELSE 'ward' END, 1.5
  FROM generate_series(1, 40) p, generate_series(1, p % 3) i;
INSERT INTO visits SELECT 100, '2024-01-01', 20, 'ward', i FROM generate_series(1, 30) i;
INSERT INTO visits SELECT NULL, '2024-01-01', 20, 'ward', 1 FROM generate_series(1, 5) i;
-- Persons 1 to 20 have called once.
CREATE TABLE calls (person int, minutes int, kind text);
INSERT INTO calls SELECT i, i, 'web' FROM generate_series(1, 20) i;
CREATE TABLE wide (person bigint);
INSERT INTO wide SELECT i FROM generate_series(1, 20) i;
CREATE TABLE digits (person numeric(10, 0));
CREATE TABLE strangers (person int);
INSERT INTO strangers SELECT i FROM generate_series(1, 10) i, generate_series(1, 2);
CREATE TABLE rows_alone (person int);
SELECT dp_protect_table('persons', 'id', 1, 'person'), dp_protect_table('visits', 'person', 2, 'person'), dp_protect_table('calls', 'person', 1, 'person'),
       dp_protect_table('wide', 'person', 1, 'person'), dp_protect_table('digits', 'person', 1, 'person'), dp_protect_table('strangers', 'person', 2), dp_protect_table('rows_alone');
SELECT dp_set_domain('visits', 'amount', 0, 100), dp_set_domain('visits', 'kind', '{web,ward}'), dp_set_domain('calls', 'minutes', 0, 60);
-- Persons 1 to 20 have a bill, of which an item is.
CREATE TABLE bills (id int PRIMARY KEY, person int NOT NULL);
INSERT INTO bills SELECT 100 + i, i FROM generate_series(1, 20) i;
CREATE TABLE items (bill int NOT NULL REFERENCES bills, price int);
INSERT INTO items SELECT 100 + i, i FROM generate_series(1, 20) i;
SELECT dp_protect_table('bills', 'person', 1, 'person');
SELECT dp_protect_table('items', 'bill', 1, 'person', through => 'bills');
-- One person, whose id looks different in each table
CREATE TABLE short_ids (person char(5));
INSERT INTO short_ids SELECT 'x' FROM generate_series(1, 30);
CREATE TABLE long_ids (person char(9));
INSERT INTO long_ids SELECT 'x' FROM generate_series(1, 30);
CREATE TABLE numbers (person numeric);
INSERT INTO numbers SELECT round(7, i % 3) FROM generate_series(1, 30) i;
SELECT dp_protect_table(t, 'person', 1, 'id') FROM unnest('{short_ids,long_ids,numbers}'::regclass[]) t;
SELECT dp_grant_private_access(t, 'regress_dpq_unions_analyst', epsilon => 100, delta => 1e-6)
  FROM unnest('{persons,visits,calls,wide,digits,strangers,rows_alone,bills,items,short_ids,long_ids,numbers}'::regclass[]) t;
SET SESSION AUTHORIZATION regress_dpq_unions_analyst;
SET search_path = regress_dpq_unions, public;

-- Persons in both tables, in one of them only, and in any; nobody is none
SELECT count(*) FROM (SELECT id FROM persons INTERSECT SELECT person FROM visits) p;
SELECT count(*) FROM (SELECT id FROM persons EXCEPT SELECT person FROM visits) p;
SELECT count(*) FROM (SELECT person FROM visits EXCEPT SELECT id FROM persons) p;
SELECT count(*) FROM (SELECT id FROM persons UNION SELECT person FROM visits) p;
SELECT dp_count(100) FROM (SELECT id FROM persons UNION SELECT person FROM visits UNION SELECT person FROM calls) p;
SELECT count(*) FROM (SELECT person FROM visits INTERSECT SELECT person FROM calls INTERSECT SELECT person FROM visits WHERE kind = 'ward') p;
SELECT count(*) FROM (SELECT id FROM persons EXCEPT (SELECT person FROM visits UNION SELECT person FROM calls)) p;
SELECT count(*) FROM (SELECT id FROM persons EXCEPT SELECT person FROM visits UNION ALL SELECT person FROM calls) p;
SELECT count(*) FROM (SELECT person FROM visits WHERE person IS NULL UNION SELECT person FROM calls) p;
SELECT count(*) FROM (SELECT person FROM visits WHERE person IS NULL INTERSECT SELECT person FROM visits) p;
-- Columns beside the person
SELECT count(*) FROM (SELECT person, kind FROM visits INTERSECT SELECT person, kind FROM calls) p;
SELECT kind, count(*) FROM (SELECT person, kind FROM visits UNION SELECT person, kind FROM calls) p GROUP BY kind ORDER BY 1;
SELECT count(*) FROM (SELECT person, kind FROM calls EXCEPT SELECT person, kind FROM visits) p;
-- A column of UNION ALL has the list of what its queries give for it, also constants that tell where a row is from: no group is chosen.
SELECT source, count(*) FROM (SELECT 'persons' AS source, id FROM persons WHERE id = 1 UNION ALL SELECT 'visits', person FROM visits WHERE person < 5 UNION ALL SELECT NULL, person FROM calls) u GROUP BY 1 ORDER BY 1;
SELECT place, count(*) FROM (SELECT r.name AS place FROM persons p JOIN region r ON r.id = p.region UNION ALL SELECT kind FROM visits WHERE person = 4) u GROUP BY 1 ORDER BY 1;
-- All rows: of each person as many as max_rows allows together
SELECT count(*) FROM (SELECT id FROM persons UNION ALL SELECT person FROM visits) p;
SELECT count(*) FROM (SELECT person FROM visits UNION ALL SELECT person FROM visits WHERE kind = 'web') p;
SET dpquantile.epsilon = 0.1;
SELECT dp_error_of(count(*)) = dp_histogram_error(0.1, 0.95) AS whole FROM (SELECT id FROM persons INTERSECT SELECT person FROM visits) p;
SELECT dp_error_of(count(*)) = dp_histogram_error(0.1 / 3, 0.95) AS third FROM (SELECT id FROM persons UNION ALL SELECT person FROM visits) p;
RESET dpquantile.epsilon;
SELECT private_aggregate, epsilon, tables, problem FROM dp_explain('SELECT count(*) FROM (SELECT id FROM persons UNION ALL SELECT person FROM visits) p');
-- The person need not be shown.
SELECT kind, count(*) FROM (SELECT kind FROM calls UNION ALL SELECT kind FROM visits) p GROUP BY kind ORDER BY 1;
SELECT b, count(*) FROM (SELECT 1 AS b FROM visits UNION ALL SELECT 2 FROM calls) p GROUP BY b;
WITH u AS (SELECT kind FROM visits UNION ALL SELECT 'call' FROM calls) SELECT count(*) FROM u WHERE kind = 'call';
SELECT count(*) FROM (SELECT n FROM (SELECT person, count(*) AS n FROM visits GROUP BY person) v UNION ALL SELECT minutes FROM calls) p WHERE n = 1;
-- A column that is the person in one query alone is none: two regions would be two persons.
SELECT count(*) FROM (SELECT person FROM calls UNION ALL SELECT region FROM persons) p;
-- Types that PostgreSQL makes one of
SELECT count(*) FROM (SELECT person FROM visits UNION ALL SELECT person FROM wide) p;
SELECT count(*) FROM (SELECT id, name FROM persons INTERSECT SELECT person, 'person ' || person::text FROM wide) p;
SELECT count(*) FROM (SELECT region FROM persons UNION ALL SELECT 1.5 FROM calls UNION ALL SELECT 1 FROM wide) p WHERE region = 1.5;
-- One row for each person in each of two queries is two rows.
SET dpquantile.epsilon = 0.1;
SELECT dp_error_of(count(*)) = dp_histogram_error(0.1 / 2, 0.95) AS half FROM (SELECT DISTINCT person FROM visits UNION ALL SELECT DISTINCT person FROM calls) p;
RESET dpquantile.epsilon;
SELECT u.expected_error / p.expected_error BETWEEN 1.9 AND 2.1 AS twice
  FROM dp_explain('SELECT dp_count(0.1) FROM (SELECT DISTINCT person FROM visits UNION ALL SELECT DISTINCT person FROM calls) p') u,
       dp_explain('SELECT dp_count(0.1) FROM (SELECT DISTINCT person FROM visits) p') p;
-- The persons of one table, of whatever unit
SELECT count(*) FROM (SELECT person FROM strangers UNION ALL SELECT person FROM strangers) p;
SELECT count(*) FROM strangers s JOIN (SELECT person, count(*) AS n FROM strangers GROUP BY person) g ON g.person = s.person WHERE g.n = 2;
-- Grouped by person, joined, and once more combined
SELECT n, count(*) FROM (SELECT count(*) AS n FROM (SELECT id AS person FROM persons UNION ALL SELECT person FROM calls) u GROUP BY person) p GROUP BY n ORDER BY n;
SELECT abs(sum(s) - 460) < 40 AS right FROM (SELECT person, sum(minutes) AS s FROM (SELECT person, minutes FROM calls UNION ALL SELECT person, 50 FROM calls WHERE minutes > 15) u GROUP BY person) p;
SELECT r.name, count(u.id) FROM region r LEFT JOIN (SELECT id, region FROM persons UNION ALL SELECT person, 3 FROM calls) u ON u.region = r.id GROUP BY r.name ORDER BY 1;
SELECT count(*) FROM persons p JOIN (SELECT person FROM calls UNION SELECT person FROM visits) u ON u.person = p.id WHERE p.region = 1;
SELECT n, count(*) FROM (SELECT DISTINCT person, length(kind) AS n FROM (SELECT person, kind FROM calls UNION ALL SELECT person, kind FROM visits) u) p GROUP BY n ORDER BY n;
SELECT count(*) FROM (SELECT id FROM (SELECT id FROM persons UNION ALL SELECT person FROM calls) a UNION SELECT person FROM visits) p;
-- Beside window functions within the rows of a person, DISTINCT ON and subqueries about persons: one row of each person of both tables,
-- and one of each person in each of them
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY person ORDER BY kind) AS n FROM (SELECT person, kind FROM visits UNION ALL SELECT person, kind FROM calls) u) w WHERE n = 1;
SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY person ORDER BY day) AS n FROM visits UNION ALL SELECT 1 FROM calls) w WHERE n = 1;
SELECT count(*) FROM (SELECT DISTINCT ON (person) person, kind FROM (SELECT person, kind FROM visits UNION ALL SELECT person, kind FROM calls) u ORDER BY person, kind) w;
SELECT count(*) FROM persons p WHERE EXISTS (SELECT FROM (SELECT person FROM visits UNION ALL SELECT person FROM calls) u WHERE u.person = p.id);
SELECT count(*) FROM persons WHERE id IN (SELECT person FROM visits UNION SELECT person FROM calls);
SELECT count(*) FROM persons WHERE id IN (SELECT person FROM visits EXCEPT SELECT person FROM calls);
SELECT count(*) FROM (SELECT person FROM calls UNION ALL SELECT id FROM persons) u WHERE EXISTS (SELECT FROM visits v WHERE v.person = u.person);
SET dpquantile.epsilon = 0.1;
SELECT dp_error_of(count(*)) = dp_histogram_error(0.1, 0.95) AS whole
  FROM (SELECT row_number() OVER (PARTITION BY person ORDER BY kind) AS n FROM (SELECT person, kind FROM visits UNION ALL SELECT person, kind FROM calls) u) w WHERE n = 1;
SELECT dp_error_of(count(*)) = dp_histogram_error(0.1 / 3, 0.95) AS third
  FROM (SELECT person, row_number() OVER (PARTITION BY person ORDER BY day) AS n FROM visits UNION ALL SELECT person, 1 FROM calls) w WHERE n = 1;
RESET dpquantile.epsilon;
-- An id that looks different is the same person: one row of each table, and one row of numbers twice
SELECT count(*) FROM (SELECT person FROM short_ids UNION ALL SELECT person FROM long_ids) p;
SELECT count(*) FROM (SELECT person FROM numbers UNION ALL SELECT person FROM numbers) p;
SELECT count(*) FROM (SELECT 1 FROM short_ids UNION ALL SELECT 2 FROM long_ids) p;
-- Operations within operations, and with names of WITH queries around them
WITH w AS (SELECT person FROM calls WHERE minutes <= 10)
  SELECT count(*) FROM (WITH v AS (SELECT person FROM visits) (SELECT person FROM v INTERSECT (SELECT person FROM w UNION ALL (SELECT id FROM persons EXCEPT SELECT person FROM v)))) p;
-- Rows of a table that is protected through another one are persons' where that one is joined. A key of combined rows chooses no row.
SELECT count(*) FROM (SELECT b.person, i.price FROM items i JOIN bills b ON b.id = i.bill UNION ALL SELECT person, minutes FROM calls) u;
SELECT count(*) FROM (SELECT price FROM items UNION ALL SELECT minutes FROM calls) u;
SELECT count(*) FROM items i JOIN (SELECT id, person FROM bills UNION ALL SELECT id, person FROM bills) b ON b.id = i.bill;
-- Bounds: those of all queries together
SELECT abs(avg(amount) - 20) < 10 AS right FROM (SELECT amount FROM visits WHERE kind = 'web' UNION ALL SELECT 3 * amount FROM visits WHERE kind = 'web') p;

-- What is not of persons, or not of the same
SELECT * FROM (SELECT id FROM persons UNION ALL SELECT person FROM visits) p;
SELECT id FROM persons UNION SELECT person FROM visits;
SELECT count(*) FROM (SELECT kind FROM visits UNION SELECT kind FROM calls) p;
SELECT count(*) FROM (SELECT person FROM visits INTERSECT ALL SELECT person FROM calls) p;
SELECT count(*) FROM (SELECT person FROM visits EXCEPT ALL SELECT person FROM calls) p;
SELECT count(*) FROM (SELECT person FROM visits UNION ALL SELECT id FROM region) p;
SELECT count(*) FROM (SELECT person FROM visits UNION SELECT 7) p;
SELECT count(*) FROM (SELECT person FROM visits UNION ALL SELECT person FROM strangers) p;
SELECT count(*) FROM (SELECT person FROM visits UNION ALL SELECT person FROM digits) p;
-- A number with two digits behind the point and one with three are one key, and written alike. Of 97 pairs those of person 100 are limited to 4, in the place of 30.
SELECT count(*) FROM (SELECT DISTINCT person, amount FROM (SELECT person, amount FROM visits UNION ALL SELECT person, fee FROM visits) u) p;
SELECT count(*) FROM (SELECT person FROM rows_alone UNION ALL SELECT person FROM rows_alone) p;
SELECT count(*) FROM (SELECT v.person FROM persons p LEFT JOIN visits v ON v.person = p.id UNION ALL SELECT person FROM visits) p;
SELECT count(*) FROM (SELECT r.id FROM region r LEFT JOIN persons p ON p.region = r.id UNION ALL SELECT id FROM persons) p;
SELECT count(*) FROM (SELECT id FROM persons UNION ALL SELECT person FROM visits ORDER BY 1 LIMIT 5) p;
SELECT id, count(*) FROM (SELECT id FROM persons UNION ALL SELECT person FROM visits) p GROUP BY id;
SELECT count(*) FROM persons p, LATERAL (SELECT person FROM visits WHERE person = p.id UNION ALL SELECT person FROM calls) v;
SELECT count(*) FROM persons p WHERE EXISTS (SELECT person FROM visits UNION ALL SELECT person FROM calls);
SELECT count(*) FROM (SELECT id FROM persons UNION ALL SELECT person FROM calls) a JOIN persons b ON b.id = a.id;
SELECT count(*) FROM (SELECT person FROM visits UNION ALL VALUES (1), (2)) p;
SELECT count(*) FROM (SELECT person FROM visits UNION ALL (SELECT person FROM calls LIMIT 5)) p;
SELECT count(*) FROM (SELECT person FROM visits UNION ALL SELECT dp_count(1)::int FROM calls) p;
WITH RECURSIVE r AS (SELECT person FROM visits UNION SELECT v.person FROM visits v JOIN r ON r.person = v.person) SELECT count(*) FROM r;

-- A view of a set operation, of whose query PostgreSQL 15 takes two entries for the view
CREATE TEMP VIEW in_both AS SELECT id FROM persons INTERSECT SELECT person FROM visits;
CREATE TEMP VIEW one AS SELECT id FROM persons UNION SELECT person FROM visits;
CREATE TEMP VIEW all_rows AS SELECT id FROM persons UNION ALL SELECT person FROM calls;
SELECT (SELECT count(*) FROM in_both) = (SELECT count(*) FROM (SELECT id FROM persons INTERSECT SELECT person FROM visits) p) AS in_both,
       (SELECT count(*) FROM one) = (SELECT count(*) FROM (SELECT id FROM persons UNION SELECT person FROM visits) p) AS one,
       (SELECT count(*) FROM all_rows) = (SELECT count(*) FROM (SELECT id FROM persons UNION ALL SELECT person FROM calls) p) AS all_rows,
       (SELECT count(*) FROM in_both b JOIN all_rows a ON a.id = b.id) > 0 AS joined;

-- A key of the query around
SELECT x.* FROM region a, region b, (SELECT id FROM persons UNION ALL SELECT person FROM visits) u, LATERAL (SELECT u.id, count(*), dp_count(2) FROM calls GROUP BY u.id) x;
-- Protected views of set operations
SET SESSION AUTHORIZATION regress_dpq_unions_owner;
CREATE VIEW callers AS SELECT person FROM visits INTERSECT SELECT person FROM calls;
CREATE VIEW contacts AS SELECT person FROM visits UNION ALL SELECT person FROM calls;
SELECT dp_protect_table('callers', 'person', 1, 'person'), dp_protect_table('contacts', 'person', 3, 'person');
SELECT dp_grant_private_access(v, 'regress_dpq_unions_analyst', epsilon => 100, delta => 1e-6) FROM unnest('{callers,contacts}'::regclass[]) v;
SELECT relation, problem FROM dp_protected_tables WHERE relation IN ('callers'::regclass, 'contacts'::regclass) ORDER BY 1;
SET SESSION AUTHORIZATION regress_dpq_unions_analyst;
SELECT (SELECT count(*) FROM callers) = (SELECT count(*) FROM (SELECT person FROM visits INTERSECT SELECT person FROM calls) p) AS callers, (SELECT count(*) FROM contacts) > 0 AS contacts;

-- threat 196: WITH queries that double, in all operations
SELECT problem FROM unnest('{UNION ALL,UNION,INTERSECT,EXCEPT}'::text[]) operation,
  LATERAL (SELECT string_agg(format(', a%s AS (SELECT person FROM a%s %s SELECT person FROM a%2$s)', i, i - 1, operation), '' ORDER BY i) AS doubled FROM generate_series(1, 30) i) q,
  dp_explain('WITH a0 AS (SELECT person FROM visits)' || doubled || ' SELECT count(*) FROM a30');
SELECT problem FROM (SELECT string_agg(format(', a%s AS (SELECT kind FROM a%s UNION ALL SELECT kind FROM a%2$s)', i, i - 1), '' ORDER BY i) AS doubled FROM generate_series(1, 30) i) q,
  dp_explain('WITH a0 AS (SELECT kind FROM visits)' || doubled || ' SELECT kind, count(*) FROM a30 GROUP BY kind');

-- threat 319: the queries of a set operation have equally many columns. A union among them got the person as one more, and what lacked it ended the server.
SET SESSION AUTHORIZATION regress_dpq_unions_analyst;
SELECT count(*) FROM ((SELECT person FROM visits UNION ALL SELECT person::bigint FROM calls LIMIT 100) EXCEPT (SELECT a.person FROM visits a RIGHT JOIN (SELECT DISTINCT ON (person) person FROM visits) b USING (person))) k;
SELECT count(*) FROM ((WITH w AS (SELECT 1) SELECT person FROM visits UNION ALL SELECT person::bigint FROM calls) UNION ALL (SELECT id::bigint FROM persons)) z;
-- A query is rewritten in so many steps at most (threat 317). This one would be for ever.
SELECT count(*) FROM ((SELECT person, minutes, kind FROM calls UNION ALL SELECT person, minutes, kind FROM calls)
  EXCEPT ((SELECT person, minutes, kind FROM calls)
    UNION ALL (WITH w AS (SELECT 1) SELECT person, max(minutes), min(kind) FROM calls GROUP BY person UNION ALL SELECT person::bigint, minutes, 'web' FROM calls))) z;

-- One value of a row may change rows of both queries: it costs what it costs to replace the person.
SET SESSION AUTHORIZATION regress_dpq_unions_owner;
SELECT dp_grant_private_access('visits', 'regress_dpq_unions_replacer');
SET SESSION AUTHORIZATION regress_dpq_unions_replacer;
SELECT dp_count(10) >= 0 AS n FROM (SELECT person FROM visits UNION ALL SELECT person FROM visits) p;
SELECT dp_count(10) >= 0 AS n FROM visits;
SELECT function, neighbours, round(epsilon, 3) AS epsilon FROM dp_ledger ORDER BY number;
RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_unions CASCADE;
DROP OWNED BY regress_dpq_unions_owner, regress_dpq_unions_analyst, regress_dpq_unions_replacer;
DROP ROLE regress_dpq_unions_owner, regress_dpq_unions_analyst, regress_dpq_unions_replacer;
