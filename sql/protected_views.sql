-- Protected views of views: whose rows they show.
\set SHOW_CONTEXT never
\set VERBOSITY terse
CREATE ROLE regress_dpq_view_owner;
CREATE ROLE regress_dpq_view_analyst LOGIN;
CREATE SCHEMA regress_dpq_view AUTHORIZATION regress_dpq_view_owner;
GRANT USAGE ON SCHEMA regress_dpq_view TO regress_dpq_view_analyst;
SELECT dp_restrict_role('regress_dpq_view_analyst'), dp_grant_budget('regress_dpq_view_analyst', 1000);
SET search_path = regress_dpq_view, public;
SET ROLE regress_dpq_view_owner;
-- Each of 50 persons has 20 rows, each value of other one row.
CREATE TABLE visit (person int, other int, cost float8);
INSERT INTO visit SELECT i % 50, i, 1 FROM generate_series(1, 1000) i;
SELECT dp_protect_table('visit', user_id => 'person', max_rows => 1);
CREATE VIEW inner_view AS SELECT person, other, cost FROM visit;
CREATE VIEW swapped AS SELECT other AS who, person AS x, cost FROM inner_view;
CREATE VIEW named AS SELECT cost, other AS x, person AS who FROM inner_view WHERE cost > 0;
CREATE VIEW third AS SELECT who AS patient, cost AS price FROM named;
CREATE VIEW computed AS SELECT person + 0 AS who, cost FROM inner_view;
CREATE VIEW within AS SELECT other AS who, person AS x FROM (SELECT person, other FROM visit) v;
CREATE VIEW right_within AS SELECT other AS x, person AS who FROM (SELECT cost, person, other FROM visit) v;
SELECT dp_protect_table(v, user_id => 'who', max_rows => 1), dp_grant_private_access(v, 'regress_dpq_view_analyst')
  FROM unnest('{swapped, named, computed, within, right_within}'::regclass[]) v;
SELECT dp_protect_table('third', user_id => 'patient', max_rows => 1), dp_grant_private_access('third', 'regress_dpq_view_analyst');

-- threat 103: a view of a view whose column of users has, in the view below, the place of another column
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
SELECT dp_count(100) FROM swapped;
SELECT dp_count_distinct(who, 100) FROM swapped;
SELECT dp_count(100) FROM computed;
SELECT dp_count(100) FROM within;
SELECT dp_count(100) FROM (SELECT cost FROM swapped) s;
-- The column of the persons is followed, whatever its place and name is: at most one row of each person counts.
SELECT dp_count(100) FROM named;
SELECT dp_count(100) FROM right_within;
SELECT dp_count(100) FROM third;
SELECT dp_count(100) FROM (SELECT price FROM third) t;
SELECT dp_count_distinct(patient, 100) FROM third;
SELECT dp_count_distinct(who, 100) FROM named;
RESET SESSION AUTHORIZATION;

-- Also if not the table but the view in between protects users
SET ROLE regress_dpq_view_owner;
SELECT dp_unprotect_table('visit'), dp_protect_table('inner_view', user_id => 'person', max_rows => 1);
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
SELECT dp_count(100) FROM swapped;
SELECT dp_count(100) FROM computed;
SELECT dp_count(100) FROM third;
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_view_owner;
-- A view without persons, whose table was protected afterwards
CREATE TABLE stay (person int, cost float8);
CREATE VIEW stays AS SELECT * FROM stay;
CREATE VIEW all_stays AS SELECT * FROM stays;
SELECT dp_protect_table('all_stays'), dp_grant_private_access('all_stays', 'regress_dpq_view_analyst');
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
SELECT abs(dp_count(100)) < 1 FROM all_stays;
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_view_owner;
SELECT dp_protect_table('stays', user_id => 'person');
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
SELECT abs(dp_count(100)) < 1 FROM all_stays;
RESET SESSION AUTHORIZATION;

-- Views of several rows: joins, groups and windows of persons. Of each person at most 3 rows, each with epsilon 100 / 3, so that
-- an answer differs from the owner's with a probability below 1e-13.
SET ROLE regress_dpq_view_owner;
CREATE TABLE patient (id int PRIMARY KEY, city int, born int);
CREATE TABLE ward (id int PRIMARY KEY, floor int);
CREATE TABLE treatment (id int PRIMARY KEY, person int, ward int, day int, cost int);
CREATE TABLE item (id int PRIMARY KEY, treatment int NOT NULL REFERENCES treatment, price int);
INSERT INTO patient SELECT i, i % 7, 1950 + i % 50 FROM generate_series(1, 100) i;
INSERT INTO ward SELECT i, i % 3 FROM generate_series(0, 9) i;
INSERT INTO treatment SELECT i, CASE WHEN i <= 200 THEN 1 + i % 80 END, i % 10, i, i % 9 FROM generate_series(1, 210) i;
INSERT INTO item SELECT i, i, i % 5 FROM generate_series(1, 205) i;
CREATE VIEW joined AS
  SELECT p.id AS person, p.city, t.cost, w.floor FROM patient p JOIN treatment t ON t.person = p.id JOIN ward w ON w.id = t.ward;
CREATE VIEW grouped AS SELECT count(*) AS n, sum(cost) AS total, person FROM treatment GROUP BY person HAVING count(*) > 2;
CREATE VIEW numbered AS
  SELECT x.person, x.cost FROM (SELECT person, cost, row_number() OVER (PARTITION BY person ORDER BY day) AS r FROM treatment) x WHERE r = 2;
CREATE VIEW running WITH (security_barrier) AS
  SELECT person, day, sum(cost) OVER (PARTITION BY person ORDER BY day) AS cost FROM treatment;
CREATE VIEW latest AS SELECT DISTINCT ON (person) person, day, cost FROM treatment ORDER BY person, day DESC;
CREATE VIEW asked AS
  SELECT p.id AS person, (SELECT max(t.cost) FROM treatment t WHERE t.person = p.id) AS cost
    FROM patient p WHERE EXISTS (SELECT FROM treatment t WHERE t.person = p.id AND t.ward > 4);
CREATE VIEW items AS SELECT t.person, i.price AS cost FROM item i JOIN treatment t ON t.id = i.treatment;
CREATE VIEW wards AS SELECT DISTINCT person, ward FROM treatment;
CREATE VIEW with_query AS WITH t AS (SELECT person, cost FROM treatment WHERE ward < 5) SELECT t.person, t.cost FROM t JOIN patient p ON p.id = t.person;
CREATE VIEW above AS SELECT g.person, g.n AS cost, p.city FROM grouped g JOIN patient p ON p.id = g.person;
CREATE VIEW beside AS SELECT p.id AS person, t.person AS other, t.cost FROM patient p LEFT JOIN treatment t ON t.person = p.id;
-- The tables first
SELECT dp_protect_table('joined', user_id => 'person', max_rows => 3, unit => 'patient');
SELECT dp_protect_table('patient', user_id => 'id', max_rows => 1, unit => 'patient'),
       dp_protect_table('treatment', user_id => 'person', max_rows => 3, unit => 'patient'),
       dp_protect_table('item', user_id => 'treatment', max_rows => 3, unit => 'patient', through => 'treatment');
-- A view with one row of each person needs no max_rows.
SELECT dp_protect_table(v, user_id => 'person', max_rows => CASE WHEN v::text NOT IN ('grouped', 'numbered', 'latest') THEN 3 END, unit => 'patient'),
       dp_grant_private_access(v, 'regress_dpq_view_analyst', epsilon => 100)
  FROM unnest('{joined, grouped, numbered, running, latest, asked, items, wards, with_query, above, beside}'::regclass[]) v;
SELECT relation, max_rows, problem FROM dp_protected_tables WHERE unit = 'patient' AND role IS NOT NULL;
-- What the owner sees, without the rows of nobody
SELECT count(*) AS joined_n, sum(cost) AS joined_sum FROM joined WHERE person IS NOT NULL \gset
SELECT count(*) AS grouped_n, sum(total) AS grouped_sum FROM grouped WHERE person IS NOT NULL \gset
SELECT count(*) AS numbered_n, sum(cost) AS numbered_sum FROM numbered WHERE person IS NOT NULL \gset
SELECT count(*) AS running_n, sum(cost) AS running_sum FROM running WHERE person IS NOT NULL \gset
SELECT count(*) AS latest_n, sum(cost) AS latest_sum FROM latest WHERE person IS NOT NULL \gset
SELECT count(*) AS asked_n, sum(cost) AS asked_sum FROM asked WHERE person IS NOT NULL \gset
SELECT count(*) AS items_n, sum(cost) AS items_sum FROM items WHERE person IS NOT NULL \gset
SELECT count(*) AS wards_n, sum(ward) AS wards_sum FROM wards WHERE person IS NOT NULL \gset
SELECT count(*) AS with_query_n, sum(cost) AS with_query_sum FROM with_query WHERE person IS NOT NULL \gset
SELECT count(*) AS above_n, sum(cost) AS above_sum FROM above WHERE person IS NOT NULL \gset
SELECT count(*) AS beside_n, sum(cost) AS beside_sum FROM beside WHERE person IS NOT NULL \gset
-- threat 200: what the view joins, and is not protected, is public only for those who may read it
GRANT SELECT ON ward TO regress_dpq_view_analyst;
SELECT problem FROM dp_protected_tables WHERE relation = 'joined'::regclass;
SELECT dp_set_domain('joined', 'cost', 0, 9), dp_set_domain('joined', 'city', '{0,1,2,3,4,5,6}'::text[]);
SELECT count(*) AS city_n FROM joined WHERE city = 3 \gset
RESET ROLE;
SELECT dp_grant_budget('regress_dpq_view_analyst', 100000);
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
SELECT abs(dp_count(100) - :joined_n) < 1 AS joined, abs(dp_sum(cost, 100, 0, 9) - :joined_sum) < 9 AS sum FROM joined;
SELECT abs(dp_count(100) - :grouped_n) < 1 AS grouped, abs(dp_sum(total, 100, 0, 27) - :grouped_sum) < 27 AS sum FROM grouped;
SELECT abs(dp_count(100) - :numbered_n) < 1 AS numbered, abs(dp_sum(cost, 100, 0, 9) - :numbered_sum) < 9 AS sum FROM numbered;
SELECT abs(dp_count(100) - :running_n) < 1 AS running, abs(dp_sum(cost, 100, 0, 27) - :running_sum) < 27 AS sum FROM running;
SELECT abs(dp_count(100) - :latest_n) < 1 AS latest, abs(dp_sum(cost, 100, 0, 9) - :latest_sum) < 9 AS sum FROM latest;
SELECT abs(dp_count(100) - :asked_n) < 1 AS asked, abs(dp_sum(cost, 100, 0, 9) - :asked_sum) < 9 AS sum FROM asked;
SELECT abs(dp_count(100) - :items_n) < 1 AS items, abs(dp_sum(cost, 100, 0, 9) - :items_sum) < 9 AS sum FROM items;
SELECT abs(dp_count(100) - :wards_n) < 1 AS wards, abs(dp_sum(ward, 100, 0, 9) - :wards_sum) < 9 AS sum FROM wards;
SELECT abs(dp_count(100) - :with_query_n) < 1 AS with_query, abs(dp_sum(cost, 100, 0, 9) - :with_query_sum) < 9 AS sum FROM with_query;
SELECT abs(dp_count(100) - :above_n) < 1 AS above, abs(dp_sum(cost, 100, 0, 9) - :above_sum) < 9 AS sum FROM above;
SELECT abs(dp_count(100) - :beside_n) < 1 AS beside, abs(dp_sum(cost, 100, 0, 9) - :beside_sum) < 9 AS sum FROM beside;
-- The view's own grant and domains
SELECT abs(count(*) - :joined_n) < 1 AS count, abs(sum(cost) - :joined_sum) < 9 AS sum FROM joined;
SELECT city, abs(count(*) - :city_n) < 1 AS count FROM joined GROUP BY city HAVING city = 3;
SELECT abs(dp_count(100) - :joined_n) < 1 AS joined FROM (SELECT person, cost FROM joined WHERE cost >= 0) j;
SELECT abs(dp_count(100) - :grouped_n) < 1 AS both FROM grouped g JOIN numbered n ON n.person = g.person;
SELECT private_aggregate, tables, problem FROM dp_explain('SELECT count(*) FROM joined');
SELECT count(*) FROM patient;
SELECT * FROM joined;
SELECT dp_count(1) FROM joined a JOIN joined b ON b.person = a.person;
SELECT dp_count(1) FROM joined j JOIN treatment t ON t.person = j.person;
RESET SESSION AUTHORIZATION;
SELECT l.tables, count(*) FROM dp_ledger l WHERE l.tables::text ~ 'regress_dpq_view\.(joined|grouped|patient|treatment|item)' GROUP BY 1 ORDER BY 1;

-- threat 199: views whose rows are not those of persons, or of others than is stated
SET ROLE regress_dpq_view_owner;
CREATE VIEW of_several AS SELECT ward, max(person) AS person, count(*) AS n FROM treatment GROUP BY ward;
CREATE VIEW first_rows AS SELECT p.id AS person, t.cost FROM patient p JOIN treatment t ON t.person = p.id ORDER BY t.cost LIMIT 10;
CREATE VIEW shares AS SELECT person, cost, sum(cost) OVER () AS total FROM treatment;
CREATE VIEW crossed AS SELECT p.id AS person, t.cost FROM patient p JOIN treatment t ON t.ward = p.city;
CREATE VIEW calculated AS SELECT p.id + 1 AS person, t.cost FROM patient p JOIN treatment t ON t.person = p.id;
CREATE VIEW kept_wards AS SELECT t.person, w.floor FROM ward w LEFT JOIN treatment t ON t.ward = w.id AND t.id = 7;
CREATE VIEW answers AS SELECT person, dp_count(1) FROM treatment GROUP BY person HAVING dp_keep_group(1, 1e-6);
CREATE VIEW beside_answers AS SELECT person, cost FROM treatment WHERE cost > (SELECT dp_avg(cost, 1, 0, 9) FROM treatment);
CREATE VIEW others AS SELECT w.id AS person, s.floor FROM ward w JOIN ward s ON s.id = w.id;
CREATE VIEW only_items AS SELECT treatment AS person, count(*) FROM item GROUP BY treatment;
CREATE VIEW strangers AS SELECT id AS person FROM patient WHERE EXISTS (SELECT FROM treatment WHERE cost = 8);
CREATE FUNCTION own(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE VIEW with_code AS SELECT person, own(max(cost)) AS cost FROM treatment GROUP BY person;
CREATE VIEW as_asked WITH (security_invoker) AS SELECT person, cost FROM treatment;
CREATE VIEW of_as_asked AS SELECT person, max(cost) AS cost FROM as_asked GROUP BY person;
-- threat 200, too
CREATE TABLE room (id int PRIMARY KEY);
ALTER TABLE room ENABLE ROW LEVEL SECURITY;
GRANT SELECT ON room TO regress_dpq_view_analyst;
CREATE VIEW rooms AS SELECT t.person, r.id FROM treatment t JOIN room r ON r.id = t.ward;
SELECT dp_protect_table('of_as_asked', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('rooms', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('of_several', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('first_rows', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('shares', user_id => 'person', unit => 'patient');
-- Of one table: all queries would be refused.
CREATE VIEW dearest AS SELECT v.cost, v.person FROM (SELECT cost, person FROM treatment ORDER BY cost DESC LIMIT 10) v WHERE v.cost > 1;
CREATE VIEW later AS SELECT cost FROM treatment OFFSET 3;
CREATE VIEW sorted AS SELECT cost, person FROM treatment ORDER BY cost;
CREATE VIEW on_first_floors AS SELECT * FROM treatment WHERE ward IN (SELECT id FROM ward ORDER BY floor LIMIT 2);
CREATE VIEW beyond AS SELECT *, cost > (SELECT avg(floor) FROM ward) AS more FROM treatment;
CREATE VIEW sample AS SELECT * FROM (SELECT *, random() AS r FROM treatment) v WHERE cost > 1;
CREATE VIEW upstairs AS SELECT * FROM treatment WHERE ward IN (SELECT id FROM ward WHERE floor > 1);
SELECT dp_protect_table('on_first_floors', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('beyond', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('sample', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('upstairs', user_id => 'person');
SELECT dp_protect_table('upstairs', user_id => 'person', unit => 'patient');
SELECT dp_unprotect_table('upstairs');
SELECT dp_protect_table('dearest', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('later');
SELECT dp_protect_table('sorted', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('crossed', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('calculated', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('kept_wards', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('answers', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('beside_answers', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('others', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('only_items', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('strangers', user_id => 'person', unit => 'patient');
SELECT dp_protect_table('with_code', user_id => 'person', unit => 'patient');
SELECT dp_unprotect_table('beside');
-- NULL for patients without a treatment
SELECT dp_protect_table('beside', user_id => 'other', unit => 'patient');
SELECT dp_protect_table('beside', user_id => 'person');
SELECT dp_protect_table('beside', user_id => 'person', unit => 'person');
SELECT dp_protect_table('beside');
SELECT relation FROM dp_protected_tables WHERE relation IN ('beside'::regclass, 'shares'::regclass);
-- Rows that are persons, and tables of another owner
CREATE TABLE staff (id int PRIMARY KEY, ward int);
INSERT INTO staff SELECT i, i % 10 FROM generate_series(1, 100) i;
CREATE VIEW staff_wards AS SELECT s.id, w.floor FROM staff s JOIN ward w ON w.id = s.ward;
SELECT dp_protect_table('staff');
SELECT dp_protect_table('staff_wards', user_id => 'id');
SELECT dp_protect_table('staff_wards'), dp_grant_private_access('staff_wards', 'regress_dpq_view_analyst');
RESET ROLE;
CREATE VIEW regress_dpq_view.of_other_owner AS SELECT person, count(*) FROM treatment GROUP BY person;
SELECT dp_protect_table('of_other_owner', user_id => 'person', unit => 'patient');
DROP VIEW of_other_owner;
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
SELECT abs(dp_count(100) - 40) < 1 AS staff FROM staff_wards WHERE floor = 0;
RESET SESSION AUTHORIZATION;

-- threat 201: a view that has changed, or reads tables that have, since it was protected or a query of it was planned
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
PREPARE joined AS SELECT abs(dp_count(100) - $1) < 1 AS answered FROM joined;
EXECUTE joined (:joined_n);
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_view_owner;
CREATE OR REPLACE VIEW joined AS
  SELECT t.person, p.city, t.cost, w.floor FROM treatment t LEFT JOIN patient p ON p.id = t.person JOIN ward w ON w.id = t.ward WHERE t.ward = 1;
SELECT count(*) AS joined_n FROM joined WHERE person IS NOT NULL \gset
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
EXECUTE joined (:joined_n);
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_view_owner;
CREATE OR REPLACE VIEW joined AS
  SELECT t.person, p.city, t.cost, w.floor FROM treatment t JOIN patient p ON p.city = t.person JOIN ward w ON w.id = t.ward;
SELECT problem FROM dp_protected_tables WHERE relation = 'joined'::regclass;
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
EXECUTE joined (:joined_n);
RESET SESSION AUTHORIZATION;
SELECT subject, detail FROM dp_health() WHERE subject ~ 'joined';
SET ROLE regress_dpq_view_owner;
CREATE OR REPLACE VIEW joined AS
  SELECT t.person, p.city, t.cost, w.floor FROM treatment t JOIN patient p ON p.id = t.person JOIN ward w ON w.id = t.ward;
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
SELECT abs(dp_count(100) - 200) < 1 AS answered FROM joined;
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_view_owner;
SELECT dp_unprotect_table('patient');
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
EXECUTE joined (200);
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_view_owner;
SELECT dp_protect_table('patient', user_id => 'id', max_rows => 1, unit => 'visitor');
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
EXECUTE joined (200);
RESET SESSION AUTHORIZATION;
SET ROLE regress_dpq_view_owner;
SELECT dp_protect_table('patient', user_id => 'id', max_rows => 1, unit => 'patient');
REVOKE SELECT ON ward FROM regress_dpq_view_analyst;
SET SESSION AUTHORIZATION regress_dpq_view_analyst;
EXECUTE joined (200);
RESET SESSION AUTHORIZATION;
RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA regress_dpq_view CASCADE;
DROP OWNED BY regress_dpq_view_owner, regress_dpq_view_analyst;
DROP ROLE regress_dpq_view_owner, regress_dpq_view_analyst;
