-- threat 51: a role that is renamed, dropped and created again, under any of its names, does not get rid of its spending.
\set SHOW_CONTEXT never
\set ask 'SELECT dp_median(x, 1, 0, 1) IS NOT NULL AS answered FROM generate_series(0, 1, 0.5) x'
CREATE VIEW regress_dpq_spent AS
  SELECT role::text, epsilon_spent, round(rho_spent, 8) AS rho_spent FROM dp_budget
   WHERE role::text LIKE 'regress\_dpq\_name\_%' ORDER BY 1;

-- a is granted and charged, renamed to b, charged and dropped. Then there is a new a, and a new b.
CREATE ROLE regress_dpq_name_a;
SELECT dp_grant_budget('regress_dpq_name_a', 10);
SET ROLE regress_dpq_name_a;
:ask;
RESET ROLE;
ALTER ROLE regress_dpq_name_a RENAME TO regress_dpq_name_b;
SET ROLE regress_dpq_name_b;
:ask;
RESET ROLE;
DROP ROLE regress_dpq_name_b;
CREATE ROLE regress_dpq_name_a;
SELECT dp_grant_budget('regress_dpq_name_a', 2);
SELECT * FROM regress_dpq_spent;
SET ROLE regress_dpq_name_a;
:ask;
RESET ROLE;
CREATE ROLE regress_dpq_name_b;
SELECT dp_grant_budget('regress_dpq_name_b', 10);
SELECT * FROM regress_dpq_spent;
-- Another grant adds nothing.
SELECT dp_grant_budget('regress_dpq_name_b', 10), dp_grant_budget('regress_dpq_name_a', 10);
SELECT * FROM regress_dpq_spent;
DROP ROLE regress_dpq_name_a, regress_dpq_name_b;

-- A chain of three names, of which the second was only granted under. Nothing is charged under the name c until the end.
CREATE ROLE regress_dpq_name_c;
SELECT dp_grant_budget('regress_dpq_name_c', 10);
ALTER ROLE regress_dpq_name_c RENAME TO regress_dpq_name_d;
SELECT dp_grant_budget('regress_dpq_name_d', 10);
ALTER ROLE regress_dpq_name_d RENAME TO regress_dpq_name_e;
SET ROLE regress_dpq_name_e;
:ask;
RESET ROLE;
DROP ROLE regress_dpq_name_e;
CREATE ROLE regress_dpq_name_d;
SELECT dp_grant_budget('regress_dpq_name_d', 10);
SET ROLE regress_dpq_name_d;
:ask;
RESET ROLE;
ALTER ROLE regress_dpq_name_d RENAME TO regress_dpq_name_f;
CREATE ROLE regress_dpq_name_c;
SELECT dp_grant_budget('regress_dpq_name_c', 10);
SELECT * FROM regress_dpq_spent;
-- It holds in both directions, and for a living role that was renamed away.
SET ROLE regress_dpq_name_c;
:ask;
RESET ROLE;
CREATE ROLE regress_dpq_name_e;
SELECT dp_grant_budget('regress_dpq_name_e', 10);
SELECT * FROM regress_dpq_spent;
DROP ROLE regress_dpq_name_c, regress_dpq_name_e, regress_dpq_name_f;

-- A name under which nothing was granted or charged, until the role was dropped. The next role of this name, and one of a name between,
-- begin with what was spent. A rename that is rolled back adds no name.
CREATE ROLE regress_dpq_name_h;
SELECT dp_grant_budget('regress_dpq_name_h', 10);
SET ROLE regress_dpq_name_h;
:ask;
RESET ROLE;
BEGIN;
ALTER ROLE regress_dpq_name_h RENAME TO regress_dpq_name_k;
ROLLBACK;
ALTER ROLE regress_dpq_name_h RENAME TO regress_dpq_name_i;
DO $$ BEGIN ALTER USER regress_dpq_name_i RENAME TO regress_dpq_name_j; END $$;
DROP ROLE regress_dpq_name_j;
CREATE ROLE regress_dpq_name_i;
CREATE ROLE regress_dpq_name_j;
CREATE ROLE regress_dpq_name_k;
SELECT dp_grant_budget(('regress_dpq_name_' || name)::regrole, 10) FROM unnest('{i,j,k}'::text[]) name;
SELECT * FROM regress_dpq_spent;
DROP ROLE regress_dpq_name_i, regress_dpq_name_j, regress_dpq_name_k;

-- DROP ROLE notes the name that a session without the library has given.
CREATE ROLE regress_dpq_name_l;
SELECT dp_grant_budget('regress_dpq_name_l', 10);
SET ROLE regress_dpq_name_l;
:ask;
RESET ROLE;
SET allow_system_table_mods = on;
UPDATE pg_authid SET rolname = 'regress_dpq_name_m' WHERE rolname = 'regress_dpq_name_l';
RESET allow_system_table_mods;
DROP ROLE regress_dpq_name_m;
CREATE ROLE regress_dpq_name_m;
SELECT dp_grant_budget('regress_dpq_name_m', 10);
SELECT * FROM regress_dpq_spent;
DROP ROLE regress_dpq_name_m;

-- A name that was never granted or charged has no earlier spending.
CREATE ROLE regress_dpq_name_g;
SELECT dp_grant_budget('regress_dpq_name_g', 10);
SELECT * FROM regress_dpq_spent;
DROP ROLE regress_dpq_name_g;
DROP VIEW regress_dpq_spent;
