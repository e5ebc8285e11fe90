-- dp_health: what the person who runs the server should know. test/t/operations.pl and test/t/standby.pl have the checks
-- that depend on the server.
CREATE ROLE regress_dpq_health_monitor;
CREATE ROLE regress_dpq_health_little;
CREATE ROLE regress_dpq_health_much;
CREATE ROLE regress_dpq_health_delta;
CREATE ROLE regress_dpq_health_zcdp;
CREATE ROLE regress_dpq_health_revoked;
SELECT dp_grant_budget('regress_dpq_health_little', 10), dp_add_charge('regress_dpq_health_little', 8.99),
       dp_grant_budget('regress_dpq_health_much', 10), dp_add_charge('regress_dpq_health_much', 9),
       dp_grant_budget('regress_dpq_health_delta', 10, 1e-6), dp_add_charge('regress_dpq_health_delta', 1, 1e-6),
       dp_grant_budget('regress_dpq_health_zcdp', 1, 1e-6, 'zcdp'), dp_add_charge('regress_dpq_health_zcdp', 0.1),
       dp_grant_budget('regress_dpq_health_revoked', 10), dp_add_charge('regress_dpq_health_revoked', 10),
       dp_revoke_budget('regress_dpq_health_revoked');

SELECT check_name, count(*) > 0 AS some, bool_and(status IN ('ok', 'warning', 'critical')) AS known FROM dp_health()
 WHERE check_name IN ('workers', 'durability', 'ledger') GROUP BY 1 ORDER BY 1;
SELECT * FROM dp_health() WHERE check_name = 'budget';

-- A monitoring role needs the right to call it, and nothing else.
SET ROLE regress_dpq_health_monitor;
SELECT * FROM dp_health();
RESET ROLE;
GRANT EXECUTE ON FUNCTION dp_health() TO regress_dpq_health_monitor;
SET ROLE regress_dpq_health_monitor;
SELECT count(*) > 0 AS seen FROM dp_health() WHERE check_name = 'budget';
RESET ROLE;

-- Budgets that are older than the ledger
SELECT * FROM dp_health() WHERE check_name = 'ledger' AND subject <> 'size';
BEGIN;
UPDATE dpquantile.budget SET charges = 0 WHERE role = 'regress_dpq_health_much'::regrole;
SELECT * FROM dp_health() WHERE check_name = 'ledger' AND subject <> 'size';
ROLLBACK;

-- The ledger of another database, restored beside a budget of the same role. A budget that is made again counts it.
BEGIN;
UPDATE dpquantile.budget SET budget_id = gen_random_uuid() WHERE role = 'regress_dpq_health_much'::regrole;
SELECT * FROM dp_health() WHERE check_name = 'ledger' AND subject <> 'size';
UPDATE dpquantile.budget SET rho_spent = 0 WHERE role = 'regress_dpq_health_much'::regrole;
SELECT subject, status FROM dp_health() WHERE check_name = 'ledger' AND subject <> 'size';
UPDATE dpquantile.budget SET rho_spent = 100, epsilon_spent = 0 WHERE role = 'regress_dpq_health_much'::regrole;
SELECT * FROM dp_health() WHERE check_name = 'ledger' AND subject <> 'size';
DELETE FROM dpquantile.budget WHERE role = 'regress_dpq_health_much'::regrole;
SELECT dp_grant_budget('regress_dpq_health_much', 10);
SELECT trim_scale(epsilon_spent) FROM dpquantile.budget WHERE role = 'regress_dpq_health_much'::regrole;
SELECT * FROM dp_health() WHERE check_name = 'ledger' AND subject <> 'size';
ROLLBACK;

-- Roles that could change budgets, their own included: directly, by a column, or by SET ROLE to another role. A superuser
-- may always, and so may a role without a budget.
BEGIN;
CREATE ROLE regress_dpq_health_admins;
CREATE ROLE regress_dpq_health_member NOINHERIT IN ROLE regress_dpq_health_admins;
CREATE ROLE regress_dpq_health_super SUPERUSER;
SELECT dp_grant_budget('regress_dpq_health_member', 1), dp_grant_budget('regress_dpq_health_super', 1);
GRANT EXECUTE ON FUNCTION dp_grant_budget(regrole, float8, float8, text, float8, text, interval, regclass, float8), dp_revoke_budget(regrole),
  dp_add_charge(regrole, numeric, numeric, numeric, text, regclass), dp_archive_ledger(timestamptz), dp_unrestrict_role(regrole)
  TO regress_dpq_health_admins;
GRANT EXECUTE ON FUNCTION dp_grant_budget(regrole, float8, float8, text, float8, text, interval, regclass, float8)
  TO regress_dpq_health_monitor, regress_dpq_health_revoked;
GRANT SELECT ON dpquantile.ledger TO regress_dpq_health_zcdp;
GRANT SELECT, UPDATE (epsilon_spent) ON dpquantile.budget TO regress_dpq_health_little;
GRANT DELETE ON dp_budget TO regress_dpq_health_much;
GRANT TRIGGER ON dpquantile.ledger TO regress_dpq_health_delta;
SELECT * FROM dp_health() WHERE check_name = 'privileges';
ROLLBACK;
SELECT * FROM dp_health() WHERE check_name = 'privileges';

-- A tool that makes a table anew, such as dbt, swaps the names: the protection is that of the old table. The new one is protected in the same way.
BEGIN;
SET LOCAL client_min_messages = warning;
CREATE TABLE health_model AS SELECT 1 AS id;
SELECT dp_protect_table('health_model') \g /dev/null
CREATE TABLE health_model__tmp AS SELECT 2 AS id;
ALTER TABLE health_model RENAME TO health_model__backup;
ALTER TABLE health_model__tmp RENAME TO health_model;
SELECT * FROM dp_health() WHERE check_name = 'protection';
DROP TABLE health_model__backup;
SELECT subject, status FROM dp_health() WHERE check_name = 'protection';
SELECT dp_protect_table('health_model') \g /dev/null
SELECT * FROM dp_health() WHERE check_name = 'protection';
SELECT dp_unprotect_table('health_model') \g /dev/null
SELECT * FROM dp_health() WHERE check_name = 'protection';
ROLLBACK;

-- Rights on the extension that each private query needs, also one with PostgreSQL's own aggregates (threat 205). Who owns a table and not the
-- extension grants none of them.
SET client_min_messages = warning;
BEGIN;
CREATE ROLE regress_dpq_health_owner LOGIN;
CREATE ROLE regress_dpq_health_analyst LOGIN;
CREATE ROLE regress_dpq_health_group;
CREATE TABLE health_rows (id int PRIMARY KEY);
SELECT dp_protect_table('health_rows'), dp_grant_private_access('health_rows', 'regress_dpq_health_analyst', epsilon => 1), dp_grant_private_access('health_rows', 'regress_dpq_health_group');
GRANT regress_dpq_health_group TO regress_dpq_health_analyst;
SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.oid::regprocedure) FROM pg_proc f WHERE (f.proname, f.pronamespace) IN (('dp_count', 'public'::regnamespace), ('total', 'dpquantile'::regnamespace)) ORDER BY f.oid::regprocedure::text COLLATE "C" \gexec
SELECT role, problem FROM dp_protected_tables WHERE relation = 'health_rows'::regclass ORDER BY role;
SELECT * FROM dp_health() WHERE check_name = 'protection';
SELECT dp_grant_private_access('health_rows', 'regress_dpq_health_analyst', epsilon => 1);
SELECT * FROM dp_health() WHERE check_name = 'protection';
REVOKE ALL ON SCHEMA public FROM PUBLIC;
SELECT problem FROM dp_protected_tables WHERE relation = 'health_rows'::regclass AND role = 'regress_dpq_health_analyst';
SELECT * FROM dp_health() WHERE check_name = 'protection';
ALTER TABLE health_rows OWNER TO regress_dpq_health_owner;
GRANT USAGE ON SCHEMA public TO regress_dpq_health_owner;
SET SESSION AUTHORIZATION regress_dpq_health_owner;
SELECT dp_grant_private_access('health_rows', 'regress_dpq_health_analyst', epsilon => 1);
RESET SESSION AUTHORIZATION;
SELECT dp_grant_private_access('health_rows', 'regress_dpq_health_analyst', epsilon => 1);
SELECT role, problem FROM dp_protected_tables WHERE relation = 'health_rows'::regclass ORDER BY role;
ROLLBACK;
RESET client_min_messages;

-- Views and functions by which a role with a budget or private access reads a protected table as it is (threat 293). Of functions the catalogs
-- know those with a body in SQL.
BEGIN;
SET LOCAL client_min_messages = warning;
CREATE ROLE regress_dpq_health_owner LOGIN;
CREATE ROLE regress_dpq_health_group;
CREATE ROLE regress_dpq_health_analyst LOGIN IN ROLE regress_dpq_health_group;
CREATE ROLE regress_dpq_health_asker LOGIN;
CREATE ROLE regress_dpq_health_other LOGIN;
GRANT CREATE ON SCHEMA public TO regress_dpq_health_owner, regress_dpq_health_asker;
SET LOCAL SESSION AUTHORIZATION regress_dpq_health_owner;
CREATE TABLE health_rows (id int, amount int);
SELECT dp_protect_table('health_rows') \g /dev/null
CREATE VIEW health_copy AS SELECT * FROM health_rows;
CREATE VIEW health_total AS SELECT sum(amount) FROM health_copy;
CREATE MATERIALIZED VIEW health_stored AS SELECT amount FROM health_rows;
CREATE FUNCTION health_sum() RETURNS bigint LANGUAGE sql SECURITY DEFINER RETURN (SELECT sum(amount) FROM health_copy);
-- These show nothing that their reader may not see: approved, with the rights of the reader, of an owner without rights.
CREATE VIEW health_private AS SELECT dp_count(0.1) FROM health_rows;
CREATE FUNCTION health_count() RETURNS bigint LANGUAGE sql SECURITY DEFINER RETURN (SELECT dp_count(0.1) FROM health_rows);
CREATE FUNCTION health_own() RETURNS bigint LANGUAGE sql RETURN (SELECT sum(amount) FROM health_rows);
CREATE VIEW health_by_function AS SELECT health_own();
GRANT SELECT ON health_private, health_by_function TO PUBLIC;
REVOKE EXECUTE ON FUNCTION health_sum() FROM PUBLIC;
SET LOCAL SESSION AUTHORIZATION regress_dpq_health_asker;
CREATE VIEW health_without_right AS SELECT id FROM health_rows;
RESET SESSION AUTHORIZATION;
SELECT dp_grant_private_access('health_rows', 'regress_dpq_health_group'), dp_grant_budget('regress_dpq_health_asker', 1) \g /dev/null
SELECT dp_restrict_role('regress_dpq_health_analyst') \g /dev/null
SELECT * FROM dp_health() WHERE check_name = 'protection' AND subject ~ 'health_rows';
GRANT SELECT ON health_total TO regress_dpq_health_group;
GRANT SELECT (amount) ON health_stored TO regress_dpq_health_asker;
GRANT EXECUTE ON FUNCTION health_sum() TO PUBLIC;
SELECT * FROM dp_health() WHERE check_name = 'protection' AND subject ~ 'health_rows';
-- Who may read the table learns nothing new, and who has neither a budget nor private access is no analyst.
GRANT SELECT (id) ON health_rows TO regress_dpq_health_asker;
SELECT subject FROM dp_health() WHERE check_name = 'protection' AND subject ~ 'health_rows';
ROLLBACK;

-- Tables of different owners, which no charge takes
BEGIN;
ALTER TABLE dpquantile.budget OWNER TO regress_dpq_health_monitor;
SELECT subject, status, replace(detail, current_user, 'the superuser') AS detail FROM dp_health() WHERE check_name = 'tables';
ROLLBACK;
-- No key of user ids
BEGIN;
DELETE FROM dpquantile.user_key;
SELECT * FROM dp_health() WHERE check_name = 'tables';
ROLLBACK;
SELECT * FROM dp_health() WHERE check_name = 'tables';

-- A subscription, and a table that it may change
SET client_min_messages = error;
CREATE SUBSCRIPTION regress_dpq_subscription CONNECTION 'dbname=none' PUBLICATION none
  WITH (connect = false, slot_name = NONE, enabled = false);
RESET client_min_messages;
SELECT * FROM dp_health() WHERE check_name = 'subscription';
ALTER TABLE dpquantile.ledger DISABLE TRIGGER ALL;
ALTER TABLE dpquantile.ledger ENABLE TRIGGER ALL;
SELECT * FROM dp_health() WHERE check_name = 'subscription';
SELECT dpquantile.protect_tables();
SELECT * FROM dp_health() WHERE check_name = 'subscription';
DROP SUBSCRIPTION regress_dpq_subscription;
ALTER TABLE dpquantile.ledger DISABLE TRIGGER ALL;
ALTER TABLE dpquantile.ledger ENABLE TRIGGER ALL;
SELECT * FROM dp_health() WHERE check_name = 'subscription';
SELECT dpquantile.protect_tables();

DROP OWNED BY regress_dpq_health_monitor;
DROP ROLE regress_dpq_health_monitor, regress_dpq_health_little, regress_dpq_health_much, regress_dpq_health_delta, regress_dpq_health_zcdp, regress_dpq_health_revoked;
