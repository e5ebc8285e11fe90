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
RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA regress_dpq_view CASCADE;
DROP OWNED BY regress_dpq_view_owner, regress_dpq_view_analyst;
DROP ROLE regress_dpq_view_owner, regress_dpq_view_analyst;
