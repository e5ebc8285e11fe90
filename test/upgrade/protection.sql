-- What a database may hold besides contents.sql: protected tables and views, private access, what is public of
-- columns, and budgets for tables and periods. For psql as a superuser, in the database of contents.sql. Its roles:
--   team        may ask private queries of visit and of its view
--   researcher  has a general budget for each year and one for each month, and one for staff, of which half is spent
-- A column of each table was dropped, so its columns have other numbers after a restore, but not after pg_upgrade.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE ROLE team;
CREATE ROLE researcher LOGIN;
CREATE ROLE leaver;
CREATE TABLE visit (a int, patient text);
ALTER TABLE visit DROP COLUMN a;
CREATE VIEW visit_view AS SELECT * FROM visit;
CREATE TYPE ward AS ENUM ('north', 'south');
CREATE TABLE staff (a int, works_in ward, salary float8);
ALTER TABLE staff DROP COLUMN a;
INSERT INTO staff SELECT 'north', i FROM generate_series(1, 100) i;
SELECT dp_protect_table('visit', 'patient', 20, max_groups => 2), dp_protect_table('visit_view', 'patient'), dp_protect_table('staff'),
       dp_grant_private_access('visit', 'team'), dp_grant_private_access('visit_view', 'team', 0.5),
       dp_grant_private_access('visit', 'leaver'),
       dp_grant_private_access('staff', 'researcher', epsilon => 0.5, delta => 1e-6, reuse => '1 hour', max_epsilon => 2),
       dp_set_domain('staff', 'salary', 0, 1000, 0.5), dp_set_domain('staff', 'works_in', '{south,north}'),
       dp_grant_budget('researcher', 10, every => '1 year'), dp_grant_budget('researcher', 5, on_table => 'visit', every => '1 month'),
       dp_grant_budget('researcher', 2, on_table => 'staff'), dp_restrict_role('researcher') \g /dev/null
SELECT FROM dp_learn_domain('staff', 'salary', 0.5, apply => false), dp_learn_keys('staff', 'salary', 0.25, 1e-6, apply => false) \g /dev/null
UPDATE dpquantile.protected_table SET rows_left_out = 5, rows_left_out_error = 2, groups_left_out = 3, groups_left_out_error = 1 WHERE relation = 'visit'::regclass;
DROP ROLE leaver;
SET SESSION AUTHORIZATION researcher;
SELECT dp_count(1) FROM staff \g /dev/null
RESET SESSION AUTHORIZATION;
INSERT INTO dpquantile.failed_read (relation, grantee, failed_at, sqlstate, closes)
VALUES ('staff', 'researcher', '2026-01-01', '57014', false), ('visit', 'researcher', '2026-01-02', 'XX001', true);
