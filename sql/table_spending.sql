-- threat 81: what is spent of a budget for a protected table is never lost: not if the table is renamed, dropped and created again under any
-- of its names, not if the role is, not if rows are lost in a restore or charges archived. (table_budgets.sql: what is charged.)
\set SHOW_CONTEXT never
\set VERBOSITY terse
CREATE ROLE regress_dpq_ts_owner LOGIN;
CREATE ROLE regress_dpq_ts LOGIN;
CREATE SCHEMA regress_dpq_ts AUTHORIZATION regress_dpq_ts_owner;
CREATE SCHEMA regress_dpq_ts_new AUTHORIZATION regress_dpq_ts_owner;
GRANT USAGE ON SCHEMA regress_dpq_ts, regress_dpq_ts_new TO regress_dpq_ts;
SELECT dp_restrict_role('regress_dpq_ts');
SET search_path = regress_dpq_ts, regress_dpq_ts_new, public;
\set protect 'SELECT dp_protect_table(:t), dp_grant_private_access(:t, :role)'
\set role '''regress_dpq_ts'''
\set spent 'SELECT on_table, epsilon_limit AS epsilon, epsilon_spent AS spent FROM dp_budget WHERE starts_with(role::text, :role) ORDER BY on_table::text NULLS FIRST'

SET SESSION AUTHORIZATION regress_dpq_ts_owner;
CREATE TABLE visits AS SELECT i::float8 AS cost FROM generate_series(1, 10) i;
CREATE TABLE staff AS SELECT * FROM visits;
\set t '''visits'''
:protect;
\set t '''staff'''
:protect;
RESET SESSION AUTHORIZATION;

-- Charges from before the budget for the table was granted count in it.
SELECT dp_grant_budget('regress_dpq_ts', 100);
SET SESSION AUTHORIZATION regress_dpq_ts;
SELECT dp_count(1) IS NOT NULL AS answered FROM visits;
SELECT dp_count(0.25) IS NOT NULL AS answered FROM staff;
RESET SESSION AUTHORIZATION;
SET track_functions = 'all';
BEGIN;
SELECT dp_grant_budget('regress_dpq_ts', 10, on_table => 'visits');
-- It looks for the connected tables once, and not for each charge of the ledger.
SELECT pg_stat_get_xact_function_calls('dpquantile.connected_tables'::regproc) AS calls;
COMMIT;
RESET track_functions;
:spent;

-- A renamed table keeps its budget.
ALTER TABLE visits RENAME TO encounters;
:spent;
SET SESSION AUTHORIZATION regress_dpq_ts;
SELECT dp_count(2) IS NOT NULL AS answered FROM encounters;
RESET SESSION AUTHORIZATION;
ALTER TABLE encounters SET SCHEMA regress_dpq_ts_new;
SET SESSION AUTHORIZATION regress_dpq_ts;
SELECT dp_count(0.5) IS NOT NULL AS answered FROM encounters;
RESET SESSION AUTHORIZATION;
:spent;
-- Neither does a table whose protection is taken back and given again begin anew.
SET SESSION AUTHORIZATION regress_dpq_ts_owner;
SELECT dp_unprotect_table('encounters');
\set t '''encounters'''
:protect;
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_ts', 11, on_table => 'encounters');
:spent;

-- A table of any of these names, after the first one is dropped
DROP TABLE encounters;
:spent;
SET SESSION AUTHORIZATION regress_dpq_ts_owner;
CREATE TABLE visits AS SELECT i::float8 AS cost FROM generate_series(1, 10) i;
\set t '''visits'''
:protect;
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_ts', 12, on_table => 'visits'), dp_grant_budget('regress_dpq_ts', 13, on_table => 'staff');
:spent;
-- A table of another name begins with nothing spent.
SET SESSION AUTHORIZATION regress_dpq_ts_owner;
CREATE TABLE other AS SELECT * FROM visits;
\set t '''other'''
:protect;
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_ts', 14, on_table => 'other');
:spent;

-- The owner adds a charge.
SELECT dp_add_charge('regress_dpq_ts', 0.125, note => 'in a copy', on_table => 'other');
SELECT dp_add_charge('regress_dpq_ts', 0.125, on_table => 'pg_class');
SELECT number, function, epsilon, tables FROM dp_ledger WHERE role = 'regress_dpq_ts' ORDER BY number;
:spent;

-- threat 219: the owner of a table sees what was spent on it, to the minute: not what was spent on another table under its name, and nothing
-- that was asked together with a table of somebody else.
\set seen 'SELECT number, role, function, epsilon, tables, charged_at = date_trunc(''minute'', charged_at) AS to_minute FROM dp_ledger WHERE role = :role'
SET SESSION AUTHORIZATION regress_dpq_ts_owner;
:seen;
SELECT role, on_table, epsilon_limit, epsilon_spent FROM dp_budget ORDER BY on_table::text;
SELECT count(*) AS fits FROM dp_budget_fits(0.1, 'other');
RESET SESSION AUTHORIZATION;
BEGIN;
UPDATE dpquantile.ledger l SET tables = l.tables || m.tables, table_ids = l.table_ids || m.table_ids
  FROM dpquantile.ledger m WHERE l.role_name = :role AND m.role_name = :role AND l.tables = '{regress_dpq_ts.staff}' AND m.tables = '{regress_dpq_ts.other}';
ALTER TABLE other OWNER TO CURRENT_USER;
SET SESSION AUTHORIZATION regress_dpq_ts_owner;
:seen;
SELECT role, on_table FROM dp_budget ORDER BY on_table::text;
ROLLBACK;

-- Rows that are lost, as in a restore without the table, are made again from ledger and archive.
BEGIN;
SELECT count(*) AS archived, count(tables) AS with_tables FROM dp_archive_ledger('infinity', with_tables => false) WHERE role = 'regress_dpq_ts';
ROLLBACK;
BEGIN;
SELECT DISTINCT tables FROM dp_archive_ledger('infinity', true) WHERE role = 'regress_dpq_ts' ORDER BY 1;
ROLLBACK;
SELECT count(*) AS archived FROM dp_archive_ledger('infinity') WHERE role = 'regress_dpq_ts';
SET SESSION AUTHORIZATION regress_dpq_ts;
SELECT dp_count(1) IS NOT NULL AS answered FROM visits;
RESET SESSION AUTHORIZATION;
DELETE FROM dpquantile.budget WHERE role::text = 'regress_dpq_ts' AND table_id IS NOT NULL;
SELECT dp_grant_budget('regress_dpq_ts', 15, on_table => t) FROM unnest('{visits,staff,other}'::regclass[]) t;
:spent;
DELETE FROM dpquantile.budget WHERE role::text = 'regress_dpq_ts';
SELECT dp_grant_budget('regress_dpq_ts', 15, on_table => t) FROM unnest('{visits,staff,other}'::regclass[]) t;
SELECT dp_grant_budget('regress_dpq_ts', 100);
:spent;

-- Also under a name that it got by a rename and was never charged under, in another schema, or in one that was renamed, and under names from
-- before and after its protection was taken back
SET SESSION AUTHORIZATION regress_dpq_ts_owner;
CREATE TABLE first AS SELECT i::float8 AS cost FROM generate_series(1, 10) i;
CREATE TABLE third AS SELECT * FROM first;
CREATE TABLE regress_dpq_ts_new.fifth AS SELECT * FROM first;
SELECT dp_protect_table(t), dp_grant_private_access(t, :role) FROM unnest('{first,third,fifth}'::regclass[]) t;
SET SESSION AUTHORIZATION regress_dpq_ts;
SELECT dp_count(0.75) IS NOT NULL AS answered FROM first;
SELECT dp_count(0.625) IS NOT NULL AS answered FROM third;
SELECT dp_count(0.5) IS NOT NULL AS answered FROM fifth;
SET SESSION AUTHORIZATION regress_dpq_ts_owner;
-- PostgreSQL takes this for a table, too.
ALTER INDEX first RENAME TO second;
SELECT dp_unprotect_table('third');
ALTER TABLE third RENAME TO fourth;
ALTER TABLE fourth SET SCHEMA regress_dpq_ts_new;
SELECT dp_protect_table('fourth');
RESET SESSION AUTHORIZATION;
ALTER SCHEMA regress_dpq_ts_new RENAME TO regress_dpq_ts_moved;
DROP TABLE second, regress_dpq_ts_moved.fourth, regress_dpq_ts_moved.fifth;
CREATE TABLE second (cost float8);
CREATE TABLE regress_dpq_ts_moved.fourth (cost float8);
CREATE TABLE regress_dpq_ts_moved.fifth (cost float8);
SELECT dp_protect_table(t), dp_grant_budget(:role, 18, on_table => t) FROM unnest('{second,regress_dpq_ts_moved.fourth,regress_dpq_ts_moved.fifth}'::regclass[]) t;
:spent;
ALTER SCHEMA regress_dpq_ts_moved RENAME TO regress_dpq_ts_new;
DROP TABLE second, fourth, fifth;

-- A role that is renamed, or dropped and created again
ALTER ROLE regress_dpq_ts RENAME TO regress_dpq_ts_again;
:spent;
SELECT dp_revoke_budget('regress_dpq_ts_again');
SELECT dp_grant_budget('regress_dpq_ts_again', 16, on_table => 'visits');
DROP OWNED BY regress_dpq_ts_again;
DROP ROLE regress_dpq_ts_again;
CREATE ROLE regress_dpq_ts;
SELECT dp_grant_budget('regress_dpq_ts', 17, on_table => 'visits');
SELECT on_table, epsilon_limit, epsilon_spent FROM dp_budget WHERE role = 'regress_dpq_ts';
-- All budgets of a role have the same neighbours.
CREATE ROLE regress_dpq_ts_replace LOGIN;
SELECT dp_restrict_role('regress_dpq_ts_replace');
GRANT USAGE ON SCHEMA regress_dpq_ts TO regress_dpq_ts_replace;
SELECT dp_grant_budget('regress_dpq_ts_replace', 10, neighbours => 'replace', on_table => 'visits');
SELECT dp_grant_budget('regress_dpq_ts_replace', 100);
SELECT on_table, neighbours FROM dp_budget WHERE role = 'regress_dpq_ts_replace' ORDER BY 1;
SELECT dp_grant_private_access('visits', 'regress_dpq_ts_replace');
SET SESSION AUTHORIZATION regress_dpq_ts_replace;
SELECT dp_sum(cost, 1, -10, 10) IS NOT NULL AS answered FROM visits;
SELECT on_table, epsilon_spent FROM dp_budget ORDER BY 1;
-- What is left is for replacing, too.
SELECT dp_sum(cost, 5, -10, 10) FROM visits;
RESET SESSION AUTHORIZATION;
-- Costs are not compared with a budget that counts others, and a grant makes none of what was spent for others.
UPDATE dpquantile.budget SET neighbours = 'add or remove' WHERE role = 'regress_dpq_ts_replace'::regrole AND table_id IS NOT NULL;
SET SESSION AUTHORIZATION regress_dpq_ts_replace;
SELECT dp_sum(cost, 1, -10, 10) FROM visits;
RESET SESSION AUTHORIZATION;
SELECT dp_grant_budget('regress_dpq_ts_replace', 100);
-- The same of what an earlier role of the name has spent on the table: it comes with the budget for it.
CREATE ROLE regress_dpq_ts_gone;
SELECT dp_grant_budget('regress_dpq_ts_gone', 10);
SELECT dp_add_charge('regress_dpq_ts_gone', 1, on_table => 'visits') IS NOT NULL AS charged;
DROP ROLE regress_dpq_ts_gone;
CREATE ROLE regress_dpq_ts_renamed;
SELECT dp_grant_budget('regress_dpq_ts_renamed', 10);
ALTER ROLE regress_dpq_ts_renamed RENAME TO regress_dpq_ts_gone;
SELECT dp_grant_budget('regress_dpq_ts_gone', 10, neighbours => 'replace', on_table => 'visits');
SELECT dp_grant_budget('regress_dpq_ts_gone', 10, on_table => 'visits');
SELECT epsilon_spent, neighbours FROM dp_budget WHERE role = 'regress_dpq_ts_gone' AND on_table IS NOT NULL;

RESET search_path;
SET client_min_messages = error;
DROP SCHEMA regress_dpq_ts, regress_dpq_ts_new CASCADE;
DROP OWNED BY regress_dpq_ts_owner, regress_dpq_ts, regress_dpq_ts_replace;
DELETE FROM dpquantile.ledger WHERE role_name LIKE 'regress\_dpq\_ts%';
DELETE FROM dpquantile.archived_by_table WHERE table_name LIKE 'regress\_dpq\_ts%';
DELETE FROM dpquantile.budget_name WHERE role_name LIKE 'regress\_dpq\_ts%';
DELETE FROM dpquantile.table_name WHERE name LIKE 'regress\_dpq\_t%';
DELETE FROM dpquantile.budget WHERE role IN ('regress_dpq_ts'::regrole, 'regress_dpq_ts_replace'::regrole, 'regress_dpq_ts_gone'::regrole);
DROP ROLE regress_dpq_ts_owner, regress_dpq_ts, regress_dpq_ts_replace, regress_dpq_ts_gone;
