-- max_rows of a table that protects persons, which an owner has found and publishes. With epsilon 100 a noise that is not 0 has a probability below 1e-40 for all cells together, so what is shown is certain.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_limiter;
CREATE ROLE regress_dpq_limit_reader LOGIN;
SELECT dp_restrict_role('regress_dpq_limit_reader');
SELECT dp_grant_budget('regress_dpq_limit_reader', 1000);
CREATE SCHEMA regress_dpq_limits AUTHORIZATION regress_dpq_limiter;
GRANT USAGE ON SCHEMA regress_dpq_limits TO regress_dpq_limit_reader;
SET ROLE regress_dpq_limiter;
SET search_path = regress_dpq_limits, public;
-- 1000 persons with a row, 300 with 2, 100 with 6, 40 with 12
CREATE TABLE visits AS SELECT p AS person FROM generate_series(1, 1000) p UNION ALL SELECT 1000 + p FROM generate_series(1, 300) p, generate_series(1, 2) UNION ALL
                       SELECT 2000 + p FROM generate_series(1, 100) p, generate_series(1, 6) UNION ALL SELECT 3000 + p FROM generate_series(1, 40) p, generate_series(1, 12) UNION ALL
                       SELECT NULL FROM generate_series(1, 5000);
SELECT * FROM dp_learn_limits('visits', 100);
SELECT dp_protect_table('visits');
SELECT * FROM dp_learn_limits('visits', 100);
SELECT dp_unprotect_table('visits');
SELECT dp_protect_table('visits', user_id => 'person', unit => 'person', max_groups => 2);
-- One more row of each person costs 1 / answer_epsilon rows of noise.
SELECT * FROM dp_learn_limits('visits', 100);
SELECT * FROM dp_learn_limits('visits', 100, 0.01, false);
SELECT * FROM dp_learn_limits('visits', 100, 0.001, false);
SELECT dp_grant_private_access('visits', 'regress_dpq_limit_reader', epsilon => 50, max_epsilon => 50);
SELECT * FROM dp_learn_limits('visits', 100, apply => false);
SELECT max_rows, max_groups, unit, rows_left_out, published_epsilon FROM dp_protected_tables;
SELECT max_rows, rows_left_out, noise_of_count, applied FROM dp_learn_limits('visits', 100, 0.01);
SELECT max_rows, max_groups, unit, rows_left_out, rows_left_out_error, published_epsilon, published_delta FROM dp_protected_tables;
SELECT max_rows, rows_left_out, noise_of_count, applied FROM dp_learn_limits('visits', 100, 0.01);
RESET ROLE;
SELECT table_name, column_name, function, epsilon, delta, role_name FROM dpquantile.published WHERE table_name LIKE 'regress_dpq_limits.%' ORDER BY published_at LIMIT 1;
SET SESSION AUTHORIZATION regress_dpq_limit_reader;
SET search_path = regress_dpq_limits, public;
-- An analyst sees what the limit leaves out, and not a row of that.
SELECT max_rows, rows_left_out FROM dp_protected_tables;
SELECT count(*) BETWEEN 2430 AND 2450 AS limited FROM visits;
SELECT * FROM dp_learn_limits('visits', 100);
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_limiter;
-- Another max_rows leaves out other rows; another max_groups does not.
SELECT dp_protect_table('visits', user_id => 'person', unit => 'person', max_groups => 3, max_rows => 6);
SELECT max_rows, max_groups, rows_left_out FROM dp_protected_tables;
SELECT dp_protect_table('visits', user_id => 'person', unit => 'person', max_groups => 3, max_rows => 5);
SELECT max_rows, max_groups, rows_left_out, rows_left_out_error FROM dp_protected_tables;
-- The grants stay.
SELECT role, epsilon, max_epsilon FROM dp_protected_tables;

-- threat 238: a person with very many rows, who decides the limit or the number of rows that is told. A person is in one cell.
CREATE TABLE calls AS SELECT i / 3 AS person FROM generate_series(3, 602) i UNION ALL SELECT 0 FROM generate_series(1, 100000);
SELECT dp_protect_table('calls', user_id => 'person', max_rows => 1000);
SELECT * FROM dp_learn_limits('calls', 100, 1, false);
-- At most 1000
CREATE TABLE many AS SELECT p AS person FROM generate_series(1, 40) p, generate_series(1, 1100);
SELECT dp_protect_table('many', user_id => 'person');
SELECT max_rows, all_rows, rows_left_out, noise_of_count FROM dp_learn_limits('many', 100, 1, false);
-- Through references to the persons, and of a view
CREATE TABLE customers AS SELECT i AS id FROM generate_series(1, 100) i;
ALTER TABLE customers ADD PRIMARY KEY (id);
CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES customers);
INSERT INTO orders SELECT i, i % 50 + 1 FROM generate_series(1, 200) i;
CREATE TABLE lines (order_id int REFERENCES orders);
INSERT INTO lines SELECT i % 200 + 1 FROM generate_series(1, 400) i;
SELECT dp_protect_table('customers', user_id => 'id', unit => 'customer'), dp_protect_table('orders', user_id => 'customer', unit => 'customer'),
       dp_protect_table('lines', user_id => 'order_id', unit => 'customer', through => 'orders');
SELECT max_rows, all_rows, rows_left_out FROM dp_learn_limits('lines', 100, 1);
CREATE VIEW late_orders AS SELECT customer FROM orders WHERE id > 100;
SELECT dp_protect_table('late_orders', user_id => 'customer');
SELECT max_rows, all_rows, rows_left_out FROM dp_learn_limits('late_orders', 100, 1);
SELECT relation, max_rows, rows_left_out FROM dp_protected_tables WHERE max_rows < 10;
-- Few persons: there is no limit.
CREATE TABLE few AS SELECT 1 AS person;
SELECT dp_protect_table('few', user_id => 'person', max_rows => 7);
SELECT * FROM dp_learn_limits('few', 1, 1);
SELECT max_rows, rows_left_out FROM dp_protected_tables WHERE relation = 'few'::regclass;
-- threat 239: a limit that is learned again and again, in transactions that are rolled back. Each time counts.
BEGIN;
SELECT applied FROM dp_learn_limits('calls', 100, 1);
ROLLBACK;
SELECT max_rows, published_epsilon FROM dp_protected_tables WHERE relation = 'calls'::regclass;

-- What is refused is not noted.
SELECT dp_learn_limits(NULL, 1);
SELECT dp_learn_limits('few', NULL, 1);
SELECT dp_learn_limits('few', 0, 1);
SELECT dp_learn_limits('few', 1);
SELECT dp_learn_limits('few', 1, 0);
REVOKE SELECT ON few FROM regress_dpq_limiter;
SELECT dp_learn_limits('few', 1, 1);
SELECT published_epsilon FROM dp_protected_tables WHERE relation = 'few'::regclass;

-- max_groups: in how many groups of a column a person counts. The noise is in each group of the list, so three keys make it three times as large.
-- 1000 persons in one city, 300 in two, 40 in all three, each with two rows in each; some also where there is no group.
CREATE TABLE stays AS SELECT p AS person, city, CASE city WHEN 'Nice' THEN 1 WHEN 'Oslo' THEN 2 END AS zone FROM generate_series(1, 1340) p, unnest('{Nice,Oslo,Rome}'::text[]) WITH ORDINALITY c (city, n), generate_series(1, 2)
   WHERE n = 1 OR n = 2 AND p > 1000 OR p > 1300
   UNION ALL SELECT p, 'nowhere' || k, NULL FROM generate_series(1, 1000) p, generate_series(1, 5) k UNION ALL SELECT p, NULL, NULL FROM generate_series(1, 100) p UNION ALL SELECT NULL, 'Nice', 1;
SELECT dp_protect_table('stays', user_id => 'person', max_rows => 8), dp_set_domain('stays', 'city', '{Nice,Oslo,Rome}'), dp_set_domain('stays', 'zone', '{1,2,3}');
-- The number of keys leaves out no group, and is not set.
SELECT * FROM dp_learn_groups('stays', 'city', 100, 1);
SELECT * FROM dp_learn_groups('stays', 'city', 100, 0.05); -- 60 for a group more, where 40 are in three
SELECT max_rows, max_groups, groups_left_out, groups_left_out_error, published_epsilon FROM dp_protected_tables WHERE relation = 'stays'::regclass;
-- What is left out is told of this limit only.
SELECT dp_protect_table('stays', user_id => 'person', max_rows => 7);
SELECT max_groups, groups_left_out IS NOT NULL AS known FROM dp_protected_tables WHERE relation = 'stays'::regclass;
SELECT dp_protect_table('stays', user_id => 'person', max_groups => 1);
SELECT max_groups, groups_left_out, groups_left_out_error FROM dp_protected_tables WHERE relation = 'stays'::regclass;
SELECT dp_protect_table('stays', user_id => 'person', max_rows => 8, max_groups => 2);
SELECT max_groups, groups_left_out FROM dp_learn_groups('stays', 'city', 100, 0.005, false);
SELECT max_groups, all_groups, groups_left_out FROM dp_learn_groups('stays', 'zone', 100, 1, false);
-- With NULL among the keys, and with a key for all others, which the list has besides
SELECT dp_set_domain('stays', 'city', '{Nice,Oslo,Rome,NULL}');
SELECT max_groups, all_groups FROM dp_learn_groups('stays', 'city', 100, 1, false);
SELECT dp_set_domain('stays', 'city', '{Nice,Oslo,Rome,nowhere1,NULL}'), dp_set_other_key('stays', 'city', 'nowhere1'::text);
SELECT max_groups, all_groups FROM dp_learn_groups('stays', 'city', 100, 1, false);
-- Cells of several numbers of groups: 20 and 21 are one.
CREATE TABLE nights AS SELECT p AS person, n AS night, n > 7 AND p > 50 AS late FROM generate_series(1, 100) p, generate_series(1, 20) n;
SELECT dp_protect_table('nights', user_id => 'person'), dp_set_domain('nights', 'night', (SELECT array_agg(n::text) FROM generate_series(1, 20) n));
SELECT max_groups, groups_left_out, groups_left_out_error FROM dp_learn_groups('nights', 'night', 100, 100, false);
-- Keys that queries list by themselves: truth values, labels of an enum, whole numbers and dates between bounds. Rows with other values, and NULL, are in no group.
SELECT max_groups, all_groups FROM dp_learn_groups('nights', 'late', 100, 100, false);
CREATE TYPE season AS ENUM ('winter', 'spring', 'summer', 'autumn');
CREATE TABLE trips AS SELECT p AS person, n AS length, date '2026-01-01' + n AS day, CASE WHEN n <= 3 THEN (enum_range(NULL::season))[n] END AS season, n::numeric AS price, n < 3 AS short FROM generate_series(1, 100) p, generate_series(1, 10) n;
SELECT dp_protect_table('trips', user_id => 'person'), dp_set_domain('trips', 'length', 1, 5), dp_set_domain('trips', 'day', '2026-01-02', '2026-01-08');
SELECT c, l.max_groups, l.all_groups FROM unnest('{season,length,day,short}'::name[]) c, dp_learn_groups('trips', c, 100, 100, false) l;
SELECT dp_set_domain('trips', 'season', '{spring,autumn,NULL}');
SELECT max_groups, all_groups FROM dp_learn_groups('trips', 'season', 100, 100, false);
CREATE VIEW short_trips AS SELECT person, length > 2 AS long, season FROM trips;
SELECT dp_protect_table('short_trips', user_id => 'person');
SELECT c, l.max_groups, l.all_groups FROM unnest('{long,season}'::name[]) c, dp_learn_groups('short_trips', c, 100, 100, false) l;
-- Too many, or of no such type
SELECT dp_set_domain('trips', 'length', 1, 2000), dp_set_domain('trips', 'price', 1, 5);
SELECT dp_learn_groups('trips', 'length', 100, 100, false);
SELECT dp_learn_groups('trips', 'price', 100, 100, false);
-- Keys of each type that may have a list, also of char(3) and bit(3), whose values are longer than those of SQL's char and bit: each person is in all four groups.
CREATE TYPE grade AS ENUM ('a', 'b', 'c', 'd');
CREATE DOMAIN three AS char(3);
CREATE DOMAIN own_grade AS grade;
SET client_min_messages = warning;
DO $$
DECLARE kind record; groups int;
BEGIN
  FOR kind IN SELECT unnest(types) AS type, keys FROM (VALUES
      ('{char(3),bpchar,three,varchar(3),text,name}'::text[], '{abc,abd,abe,xyz}'::text[]), ('{char(1),"\"char\"",grade,own_grade}', '{a,b,c,d}'), ('{bit(3),varbit(5)}', '{100,101,110,111}'),
      ('{int2,int4,int8,"numeric(5,2)",float4,float8,money,oid}', '{1,2,3,4}'), ('{date,timestamp,timestamptz(0)}', '{2020-01-01,2020-01-02,2020-01-03,infinity}'), ('{time(0),timetz}', '{00:00+1,01:00+1,02:00+1,03:00+1}'),
      ('{interval day to second}', '{1 day,2 days,3 days,4 days}'), ('{inet,cidr}', '{1.2.3.4,1.2.3.5,1.2.3.6,1.2.3.7}'), ('{uuid}', '{a0eebc999c0b4ef8bb6d6bb9bd380a11,a0eebc999c0b4ef8bb6d6bb9bd380a12,a0eebc999c0b4ef8bb6d6bb9bd380a13,a0eebc999c0b4ef8bb6d6bb9bd380a14}'),
      ('{bytea}', '{"\\x01","\\x02","\\x03","\\x04"}')) AS t (types, keys) LOOP
    EXECUTE format('CREATE TABLE coded (person int, key %s)', kind.type);
    EXECUTE format('INSERT INTO coded SELECT p, CAST(k AS %s) FROM generate_series(1, 40) p, unnest(%L::text[]) k', kind.type, kind.keys);
    PERFORM dp_protect_table('coded', user_id => 'person'), dp_set_domain('coded', 'key', kind.keys);
    SELECT max_groups INTO groups FROM dp_learn_groups('coded', 'key', 100, 100, false);
    IF groups IS DISTINCT FROM 4 THEN RAISE WARNING '% groups of type %', groups, kind.type; END IF;
    DROP TABLE coded;
  END LOOP;
END $$;
RESET client_min_messages;
-- threat 261: a person in very many groups. A person is in one cell, and what is no key of the list, in no group.
SELECT dp_set_domain('stays', 'city', '{Nice}');
SELECT max_groups, all_groups, groups_left_out FROM dp_learn_groups('stays', 'city', 100, 1, false);
-- threat 262: max_groups that is learned again and again. Each time counts.
BEGIN;
SELECT applied FROM dp_learn_groups('stays', 'zone', 100, 0.005);
ROLLBACK;
SELECT max_groups, published_epsilon FROM dp_protected_tables WHERE relation = 'stays'::regclass;
-- What is refused is not noted.
SELECT dp_learn_groups('stays', 'person', 1, 1);
SELECT dp_learn_groups('stays', 'nothing', 1, 1);
SELECT dp_learn_groups('stays', NULL, 1, 1);
SELECT dp_learn_groups('stays', 'city', 0, 1);
SELECT dp_learn_groups('stays', 'city', 1);
SELECT dp_learn_groups('stays', 'city', 1, 0);
SELECT published_epsilon FROM dp_protected_tables WHERE relation = 'stays'::regclass;
SELECT dp_unprotect_table('stays');
SELECT dp_protect_table('stays');
SELECT dp_learn_groups('stays', 'city', 1, 1);
RESET ROLE;

SET client_min_messages = warning;
DROP OWNED BY regress_dpq_limiter, regress_dpq_limit_reader CASCADE;
DROP SCHEMA IF EXISTS regress_dpq_limits CASCADE;
DELETE FROM dpquantile.published WHERE table_name LIKE 'regress_dpq_limits.%';
SELECT dp_revoke_budget('regress_dpq_limit_reader');
DROP ROLE regress_dpq_limiter, regress_dpq_limit_reader;
