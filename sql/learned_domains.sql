-- What an owner has found of a protected table and publishes. With epsilon 400 a noise that is not 0 has a probability below 1e-16 for all cells together (persons have half of it, and the first look a quarter of that), so
-- what is shown is certain: the edges of the cells of the values.
\set SHOW_CONTEXT never
SET TimeZone = 'UTC';
CREATE ROLE regress_dpq_publisher;
CREATE ROLE regress_dpq_reader LOGIN;
SELECT dp_restrict_role('regress_dpq_reader');
SELECT dp_grant_budget('regress_dpq_reader', 1000);
CREATE SCHEMA regress_dpq_published AUTHORIZATION regress_dpq_publisher;
GRANT USAGE ON SCHEMA regress_dpq_published TO regress_dpq_reader;
SET ROLE regress_dpq_publisher;
SET search_path = regress_dpq_published, public;
CREATE TABLE visits AS SELECT i AS id, i / 3 AS person, i % 60 + 20 AS age, 1.25 * (i % 60) - 30 AS amount, (i % 60)::real AS weight, timestamptz '2024-01-01' + i * interval '30 minutes' AS at,
                              time '08:00' + (i % 400) * interval '1 minute' AS t, 'web' AS kind FROM generate_series(1, 6000) i;
SELECT * FROM dp_learn_domain('visits', 'age', 400);
SELECT dp_protect_table('visits', user_id => 'person', max_rows => 3), dp_grant_private_access('visits', 'regress_dpq_reader', epsilon => 50);

-- What to expect is known before anything is spent, and the same for all rows.
SELECT * FROM dp_learn_expected_error(0.5);
SELECT * FROM dp_learn_expected_error(1, persons => true);
SELECT dp_learn_expected_error(0);
SELECT dp_learn_expected_error(1e-6, true);
SELECT expected_error, error_in FROM dp_explain('SELECT dp_learn_bounds(age, 0.5) FROM visits');
SELECT expected_error, error_in FROM dp_explain('SELECT dp_learn_bounds(age, NULL, dp_options(rho => 0.5)) FROM visits');

-- The owner needs no budget: it is the table that pays, for every role. Times of this century are looked at more closely.
SELECT * FROM dp_learn_domain('visits', 'age', 400);
SELECT * FROM dp_learn_domain('visits', 'amount', 400, apply => false);
SELECT * FROM dp_learn_domain('visits', 'weight', 400);
SELECT * FROM dp_learn_domain('visits', 'at', 400);
SELECT * FROM dp_learn_domain('visits', 't', 400);
SELECT relation, domains, published_epsilon FROM dp_protected_tables;
RESET ROLE;
SELECT table_name, column_name, function, epsilon, delta, role_name FROM dpquantile.published WHERE table_name LIKE 'regress_dpq_published.%' ORDER BY published_at;
SELECT * FROM dp_health() WHERE check_name = 'published';
SELECT dp_grant_budget('regress_dpq_reader', 500, on_table => 'visits');
-- An analyst asks plain SQL, and sees what is spent besides.
SET SESSION AUTHORIZATION regress_dpq_reader;
SET search_path = regress_dpq_published, public;
SELECT round(avg(age)) BETWEEN 48 AND 51 AS answered FROM visits;
SELECT on_table, epsilon_limit, epsilon_spent, published_epsilon FROM dp_budget ORDER BY on_table NULLS FIRST;
SELECT relation, published_epsilon FROM dp_protected_tables;
SELECT * FROM dp_learn_domain('visits', 'age', 1);
SELECT * FROM dpquantile.published;
RESET SESSION AUTHORIZATION;

SET ROLE regress_dpq_publisher;
-- What the owner has stated is replaced, and a notice says so.
BEGIN;
SELECT dp_set_domain('visits', 'age', 0, 120, 1), dp_set_domain('visits', 'kind', '{web}');
SELECT lower, upper, applied FROM dp_learn_domain('visits', 'age', 400, apply => false);
SELECT lower, upper, applied FROM dp_learn_domain('visits', 'age', 400);
SELECT lower, upper, applied FROM dp_learn_domain('visits', 'age', 400);
SELECT lower, upper, applied FROM dp_learn_domain('visits', 'age', 400, granularity => 5);
ROLLBACK;
-- threat 222: learning again and again, in transactions that are rolled back, until the noise is as somebody likes it. Each time counts.
BEGIN;
SELECT lower, upper, applied FROM dp_learn_domain('visits', 'age', 400);
ROLLBACK;
DO $$ BEGIN PERFORM dp_learn_domain('visits', 'age', 400); RAISE EXCEPTION 'not good enough'; EXCEPTION WHEN OTHERS THEN NULL; END $$;
SELECT published_epsilon FROM dp_protected_tables WHERE relation = 'visits'::regclass;
-- threat 223: a table that is renamed, unprotected, or dropped and made again, so that what is published of it is forgotten.
ALTER TABLE visits RENAME TO stays;
SELECT relation, published_epsilon FROM dp_protected_tables;
SELECT dp_unprotect_table('stays');
SELECT dp_protect_table('stays', user_id => 'person', max_rows => 3);
SELECT relation, published_epsilon FROM dp_protected_tables;
CREATE TABLE visits AS SELECT * FROM stays;
DROP TABLE stays;
SELECT dp_protect_table('visits');
SELECT relation, published_epsilon FROM dp_protected_tables;

-- threat 224: a person of many rows with one far value. A person has two values, the least and the largest one.
CREATE TABLE calls AS SELECT i % 100 AS person, i % 10 + 1 AS minutes FROM generate_series(1, 5000) i UNION ALL SELECT 7, 1000000 FROM generate_series(1, 5000);
SELECT dp_protect_table('calls', user_id => 'person');
SELECT lower::int <= 1 AS lower, upper::int < 1000 AS upper FROM dp_learn_domain('calls', 'minutes', 20);
-- Through references to the persons. Rows of nobody do not count.
CREATE TABLE customers AS SELECT i AS id, 'c' || i AS name FROM generate_series(1, 100) i;
ALTER TABLE customers ADD PRIMARY KEY (id);
CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES customers);
INSERT INTO orders SELECT i, i % 50 + 1 FROM generate_series(1, 200) i;
INSERT INTO orders SELECT i, NULL FROM generate_series(201, 300) i;
CREATE TABLE lines (order_id int REFERENCES orders, price numeric);
INSERT INTO lines SELECT i % 200 + 1, 10 + i % 5 FROM generate_series(1, 1000) i;
INSERT INTO lines SELECT i, 5000 FROM generate_series(201, 300) i;
SELECT dp_protect_table('customers', user_id => 'id', unit => 'customer'), dp_protect_table('orders', user_id => 'customer', unit => 'customer'),
       dp_protect_table('lines', user_id => 'order_id', unit => 'customer', through => 'orders');
SELECT * FROM dp_learn_domain('lines', 'price', 400);
-- A view
CREATE VIEW long_calls AS SELECT person, minutes * 60.0 AS seconds FROM calls WHERE minutes < 11;
SELECT dp_protect_table('long_calls', user_id => 'person');
SELECT * FROM dp_learn_domain('long_calls', 'seconds', 400);
-- Bounds are values of their column, which differ, and written as its type reads them, also if the number is large.
CREATE TABLE extremes AS SELECT 4503599627370496 + i AS id, -2147483648 AS least, timestamp '4714-11-24 BC' AS at, interval '178000000 years' AS long, 0.1::real AS rate FROM generate_series(1, 1000) i;
SELECT dp_protect_table('extremes'), dp_grant_private_access('extremes', 'regress_dpq_reader', epsilon => 1);
SELECT l.* FROM unnest('{id,least,at,long}'::name[]) c, dp_learn_domain('extremes', c, 400) l;
SET SESSION AUTHORIZATION regress_dpq_reader;
SET search_path = regress_dpq_published, public;
SELECT min(id), max(id), percentile_disc(0.5) WITHIN GROUP (ORDER BY id) BETWEEN 4503599627370496 AND 5066549580791808 AS median FROM extremes;
SELECT min(least), max(at), round(avg(least)) AS mean, sum(long) > '1000 years' AS sum FROM extremes;
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_publisher;
-- Stated bounds, too, and such that are no values of the column
SELECT dp_set_domain('extremes', 'id', 10000000000000000, 9223372036854775807), dp_set_domain('extremes', 'least', -1e10, 0.5), dp_set_domain('extremes', 'rate', 0, 1e300);
SELECT unnest(string_to_array(domains, E'\n')) AS domain FROM dp_protected_tables WHERE relation = 'extremes'::regclass;
SET SESSION AUTHORIZATION regress_dpq_reader;
SET search_path = regress_dpq_published, public;
SELECT min(id), max(id), min(least), max(least), min(rate), max(rate) FROM extremes;
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_publisher;
-- NaN is no value: it would be the largest one of its person.
CREATE TABLE weights AS SELECT i % 100 AS person, w, w::real AS real, w::numeric AS numeric FROM generate_series(1, 1000) i, LATERAL (VALUES (10 + i % 90), ('NaN'::float8)) v (w);
SELECT dp_protect_table('weights', user_id => 'person');
SELECT l.* FROM unnest('{w,real,numeric}'::name[]) c, dp_learn_domain('weights', c, 400) l;
-- Infinities are none, either: one of a hundred would make the end of the type a bound. They count as the nearer bound.
CREATE TABLE contracts AS SELECT i AS id, i % 100 AS person, CASE WHEN i % 100 = 0 THEN 'infinity' ELSE date '2020-01-01' + i % 1000 END AS ends, CASE WHEN i % 50 = 0 THEN '-Infinity' ELSE (1 + i % 7)::float8 END AS price
                             FROM generate_series(1, 10000) i;
SELECT dp_protect_table('contracts'), dp_grant_private_access('contracts', 'regress_dpq_reader', epsilon => 1);
SELECT l.* FROM unnest('{ends,price}'::name[]) c, dp_learn_domain('contracts', c, 400) l;
SET SESSION AUTHORIZATION regress_dpq_reader;
SET search_path = regress_dpq_published, public;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ends) BETWEEN '2021-01-01' AND '2021-12-31' AS median FROM contracts; -- the probability that it is not is below e^-600
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_publisher;
-- Of each person the least and the largest finite value counts.
CREATE DOMAIN end_of_contract AS date;
CREATE TABLE odd AS SELECT i % 100 AS person, d, d::timestamp AS ts, d::timestamptz AS at, d::end_of_contract AS domain, f, f::real AS real, n, make_interval(days => 1) AS i, time '12:00' AS t, 5 AS whole
  FROM generate_series(1, 1000) i, LATERAL (VALUES ('infinity'::date, 'Infinity'::float8, 1e400), ('-infinity', '-Infinity', -1e400), (date '2024-01-01' + i % 100, 10 + i % 90, 10 + i % 90), (NULL, 'NaN', 'Infinity'),
                                                   (NULL, NULL, 'NaN')) v (d, f, n);
SELECT dp_protect_table('odd', user_id => 'person');
SELECT c, l.lower, l.upper FROM unnest('{d,ts,at,domain,f,real,n,i,t,whole}'::name[]) c, dp_learn_domain('odd', c, 400) l;
-- Bounds of zeros would be the end of all other values, so they do not become the domain.
CREATE TABLE costs AS SELECT 0 AS whole, CASE WHEN i = 7 THEN 50 ELSE 0 END::float8 AS cost, interval '0' AS delay FROM generate_series(1, 1000) i;
SELECT dp_protect_table('costs'), dp_set_domain('costs', 'cost', 0, 1000);
SELECT greatest(-lower::float8, upper::float8) < 1e-35 AS zeros, applied FROM dp_learn_domain('costs', 'cost', 1);
SELECT * FROM dp_learn_domain('costs', 'whole', 400);
SELECT * FROM dp_learn_domain('costs', 'whole', 400, apply => false);
SELECT * FROM dp_learn_domain('costs', 'delay', 400);
-- Those of flags hold 1, too; the number 0 of a date or time is a value like others.
CREATE TABLE flags AS SELECT i % 2 AS flag, date '2000-01-01' AS day, time '00:00' AS t FROM generate_series(1, 1000) i;
SELECT dp_protect_table('flags');
SELECT l.* FROM unnest('{flag,day,t}'::name[]) c, dp_learn_domain('flags', c, 400) l;
SELECT domains FROM dp_protected_tables WHERE relation = 'costs'::regclass;
-- A granularity is public, as that of stated bounds, which are rounded outwards to its multiples. The least and the largest value of a type stay.
CREATE TABLE steps AS SELECT i % 60 + 20.5 AS x, 10 * (i % 60) AS whole, 32767::smallint AS small, date '2024-01-01' + i % 10 AS day, timestamp '2024-01-01 10:20' + i % 100 * interval '1 minute' AS at FROM generate_series(1, 1000) i;
SELECT dp_protect_table('steps');
SELECT * FROM dp_learn_domain('steps', 'x', 400, granularity => 0.5);
SELECT * FROM dp_learn_domain('steps', 'whole', 400, granularity => 50);
SELECT * FROM dp_learn_domain('steps', 'small', 400, granularity => 100);
SELECT * FROM dp_learn_domain('steps', 'day', 400, granularity => '7 days');
SELECT * FROM dp_learn_domain('steps', 'at', 400, granularity => interval '1 hour');
SELECT unnest(string_to_array(domains, E'\n')) AS domain FROM dp_protected_tables WHERE relation = 'steps'::regclass;
SELECT * FROM dp_learn_domain('steps', 'x', 400, granularity => 1e-9);
SELECT * FROM dp_learn_domain('steps', 'x', 400, true, NULL);
SELECT published_epsilon FROM dp_protected_tables WHERE relation = 'steps'::regclass;
SELECT dp_learn_domain('steps', 'x', 400, granularity => 0);
SELECT dp_learn_domain('steps', 'x', 400, granularity => 'NaN'::float8);
SELECT dp_learn_domain('steps', 'x', 400, granularity => 'small');
SELECT dp_learn_domain('steps', 'x', 400, granularity => interval '1 hour');
SELECT dp_learn_domain('steps', 'whole', 400, granularity => 0.5);
SELECT dp_learn_domain('steps', 'at', 400, granularity => 5);
SELECT published_epsilon FROM dp_protected_tables WHERE relation = 'steps'::regclass;
-- threat 285: a closer look at values that are near each other and far from 0, which tells no more than its part of epsilon: there is none at few values of a type, at zeros, or at values of many sizes.
CREATE TABLE taxis AS SELECT timestamp '2026-01-01' + i * interval '4 minutes' AS at, date '2026-01-01' + i % 28 AS day, 1767225600 + i * 240 AS seconds, (1767225600 + i * 240) * 1000::bigint AS milliseconds, 20 + i % 10 / 10.0 AS degrees,
                             0.0 AS zero, 1000 AS one, 5 + i % 100 AS many FROM generate_series(1, 10000) i;
SELECT dp_protect_table('taxis');
SELECT c, l.* FROM unnest('{at,day,seconds,milliseconds,degrees,zero,one,many}'::name[]) c, dp_learn_domain('taxis', c, 400) l;
SELECT published_epsilon FROM dp_protected_tables WHERE relation = 'taxis'::regclass;
-- threat 260: a row for which a column of a view fails, in the view or in its sums of the rows of a person. As in queries the value is NULL there; nobody is told of the row, and what is noted is published.
CREATE TABLE trips AS SELECT i % 100 AS person, i % 10 AS hours, CASE WHEN i = 7 THEN 'x' ELSE (i % 50)::text END AS written, CASE WHEN i % 100 = 7 THEN 1e308::float8 ELSE 2 END AS cost FROM generate_series(1, 1000) i;
SELECT dp_protect_table('trips', user_id => 'person', max_rows => 10);
CREATE VIEW speeds AS SELECT person, 90 / hours AS speed, written::int AS number, (written::int % 5)::varchar(3) AS digit, (1000 / hours)::smallint * 100::smallint AS product FROM trips WHERE 90 / hours < 60;
SELECT dp_protect_table('speeds', user_id => 'person', max_rows => 10);
SELECT c, l.lower, l.upper FROM unnest('{speed,number,product}'::name[]) c, dp_learn_domain('speeds', c, 400) l;
SELECT keys FROM dp_learn_keys('speeds', 'digit', 100, 1e-6);
SELECT max_rows FROM dp_learn_limits('speeds', 100, answer_epsilon => 100);
CREATE VIEW costs_of_persons AS SELECT person, sum(cost) AS cost, 100 / sum(hours - 1) AS share FROM trips GROUP BY person;
SELECT dp_protect_table('costs_of_persons', user_id => 'person', max_rows => 1);
SELECT c, l.lower, l.upper FROM unnest('{cost,share}'::name[]) c, dp_learn_domain('costs_of_persons', c, 400) l;
-- Few rows: there are no bounds, and no domain.
SELECT dp_unprotect_table('visits');
DELETE FROM visits WHERE id > 3;
SELECT dp_protect_table('visits');
SELECT lower, upper, most_outside, applied FROM dp_learn_domain('visits', 'age', 0.1);

-- What is refused is not noted.
SELECT count(*) AS calls FROM (SELECT dp_learn_domain('visits', 'kind', 1)) x;
SELECT dp_learn_domain('visits', 'nothing', 1);
SELECT dp_learn_domain('visits', NULL, 1);
SELECT dp_learn_domain(NULL, 'age', 1);
SELECT dp_learn_domain('visits', 'age', 0);
SELECT dp_learn_domain('visits', 'age', NULL);
SELECT dp_learn_domain('calls', 'minutes', 1e-6);
SELECT dp_learn_domain('calls', 'minutes', 1e-7);
SELECT lower IS NULL OR applied AS least_epsilon FROM dp_learn_domain('calls', 'minutes', 2e-6);
REVOKE SELECT ON visits FROM regress_dpq_publisher;
SELECT dp_learn_domain('visits', 'age', 1);
RESET ROLE;
SELECT table_name, column_name, count(*), sum(epsilon) AS epsilon FROM dpquantile.published WHERE table_name LIKE 'regress_dpq_published.%' GROUP BY 1, 2 ORDER BY 1, 2;

SET client_min_messages = warning;
DROP OWNED BY regress_dpq_publisher, regress_dpq_reader CASCADE;
DROP SCHEMA IF EXISTS regress_dpq_published CASCADE;
DELETE FROM dpquantile.published WHERE table_name LIKE 'regress_dpq_published.%';
SELECT dp_revoke_budget('regress_dpq_reader');
DROP ROLE regress_dpq_publisher, regress_dpq_reader;
