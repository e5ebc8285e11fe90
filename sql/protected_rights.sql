-- What tells facts of a protected table beside it: foreign keys, sequences, and what it is made of.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_key_owner LOGIN;
CREATE ROLE regress_dpq_key_analyst LOGIN;
CREATE ROLE regress_dpq_key_team;
CREATE SCHEMA regress_dpq_key AUTHORIZATION regress_dpq_key_owner;
GRANT USAGE ON SCHEMA regress_dpq_key TO regress_dpq_key_analyst;
SELECT dp_restrict_role('regress_dpq_key_analyst');
SET search_path = regress_dpq_key, public;
SET ROLE regress_dpq_key_owner;
CREATE TABLE region (id int PRIMARY KEY);
CREATE TABLE dept (id int PRIMARY KEY, name text, region int REFERENCES region ON DELETE CASCADE);
CREATE TABLE staff (id serial PRIMARY KEY, dept int REFERENCES dept, salary float8);
CREATE TABLE badge (staff int REFERENCES staff, note text) PARTITION BY LIST (note);
CREATE TABLE badge_part PARTITION OF badge DEFAULT;
CREATE TABLE badge_pass (pass int, staff int REFERENCES staff);
INSERT INTO region VALUES (1), (2);
INSERT INTO dept VALUES (1, 'sales', 1), (2, 'research', 2);
INSERT INTO staff (dept, salary) VALUES (1, 1000), (1, 2000);
SELECT dp_protect_table('staff'), dp_grant_private_access('staff', 'regress_dpq_key_analyst');
GRANT SELECT ON dept TO regress_dpq_key_analyst;

-- threat 100: system columns of a table that a foreign key of protected rows locks
SELECT id, xmax <> '0' AS is_locked FROM dept ORDER BY id;
CREATE VIEW locked AS SELECT id, xmax FROM dept;
-- A row that two transactions lock has a multixact. A new table tells their number.
BEGIN;
SELECT id FROM region WHERE id = 1 FOR KEY SHARE;
SAVEPOINT second;
SELECT id FROM region WHERE id = 1 FOR NO KEY UPDATE;
COMMIT;
CREATE TABLE later (id int);
SELECT relminmxid <> '1' AS tells FROM pg_class WHERE oid = 'later'::regclass;
GRANT SELECT ON locked TO regress_dpq_key_analyst;
RESET ROLE;
SET SESSION AUTHORIZATION regress_dpq_key_analyst;
\set VERBOSITY default
SELECT id, xmax FROM dept;
\set VERBOSITY terse
SELECT xmin FROM dept;
SELECT cmin FROM dept;
SELECT cmax FROM dept;
SELECT ctid FROM dept;
SELECT (d).xmax FROM dept d;
SELECT id FROM dept WHERE xmax = '0';
SELECT * FROM locked;
COPY (SELECT xmax FROM dept) TO STDOUT;
CREATE TEMP TABLE own (id int PRIMARY KEY);
INSERT INTO own VALUES (1) ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING xmax;
MERGE INTO own o USING dept d ON o.id = d.id AND d.xmax <> '0' WHEN MATCHED THEN DELETE;
-- Records of PL/pgSQL have the system columns of stored rows.
CREATE FUNCTION pg_temp.headers() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  one record;
  other record;
  typed dept;
  c CURSOR FOR SELECT * FROM dept ORDER BY id;
BEGIN
  SELECT * INTO one FROM dept WHERE id = 1;
  SELECT * INTO other FROM dept WHERE id = 2;
  RETURN NEXT format('record: %s, %s', one.name, one.xmax = other.xmax);
  FOR one IN SELECT * FROM dept WHERE id = 1 LOOP
    RETURN NEXT format('loop: %s, %s', one.name, one.xmax = other.xmax);
  END LOOP;
  SELECT * INTO typed FROM dept WHERE id = 1;
  RETURN NEXT format('row type: %s, %s', typed.name, typed.xmax = other.xmax);
  OPEN c;
  FETCH c INTO one;
  RETURN NEXT format('cursor: %s, %s', one.name, one.xmax = other.xmax);
END
$$;
SELECT pg_temp.headers();
SELECT relminmxid FROM pg_class WHERE oid = 'later'::regclass;
COPY (SELECT mxid_age(relminmxid) FROM pg_class WHERE oid = 'later'::regclass) TO STDOUT;
-- What needs no system column works.
SELECT tableoid::regclass, d FROM dept d ORDER BY id;
SELECT ctid FROM own;
UPDATE own SET id = 2;
RESET SESSION AUTHORIZATION;

-- threat 101: rows that refer to protected rows, or that protected rows refer to, are accepted or changed by which protected rows exist
CREATE VIEW problem AS SELECT role, problem FROM dp_protected_tables WHERE relation = 'regress_dpq_key.staff'::regclass;
GRANT SELECT ON problem TO PUBLIC;
CREATE FUNCTION with_right(statement text) RETURNS TABLE (problem text, error text, finding text) LANGUAGE plpgsql AS $$
BEGIN
  BEGIN
    EXECUTE statement;
    problem := (SELECT p.problem FROM regress_dpq_key.problem p);
    finding := (SELECT string_agg(f.status, ' ') FROM dpquantile.protection_findings() f WHERE f.subject LIKE '%regress_dpq_key%' AND f.detail LIKE '%exact facts%');
    PERFORM public.dp_grant_private_access('regress_dpq_key.staff', 'regress_dpq_key_analyst');
    RAISE EXCEPTION 'granted';
  EXCEPTION WHEN others THEN
    error := sqlerrm;
  END;
  RETURN NEXT;
END
$$;
\x
SELECT * FROM with_right('SELECT 1');
SELECT * FROM with_right('GRANT INSERT ON badge TO regress_dpq_key_analyst');
SELECT * FROM with_right('GRANT INSERT ON badge_part TO PUBLIC');
SELECT * FROM with_right('GRANT UPDATE (note) ON badge_part TO regress_dpq_key_team; GRANT regress_dpq_key_team TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE TABLE parts (staff int, note text) PARTITION BY LIST (note); ALTER TABLE badge DETACH PARTITION badge_part; '
                         'ALTER TABLE parts ATTACH PARTITION badge_part DEFAULT; GRANT INSERT ON parts TO regress_dpq_key_analyst');
SELECT * FROM with_right('ALTER TABLE badge_pass OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('GRANT DELETE ON dept TO regress_dpq_key_analyst');
SELECT * FROM with_right('GRANT UPDATE (name) ON dept TO regress_dpq_key_analyst');
SELECT * FROM with_right('GRANT REFERENCES ON dept TO regress_dpq_key_analyst');
SELECT * FROM with_right('GRANT DELETE ON region TO regress_dpq_key_analyst');
SELECT * FROM with_right('GRANT SELECT, INSERT ON dept, region TO regress_dpq_key_analyst');
SELECT * FROM with_right('GRANT SELECT ON badge TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE TABLE pass (id int PRIMARY KEY); GRANT UPDATE ON pass TO regress_dpq_key_analyst; '
                         'ALTER TABLE badge_pass ADD FOREIGN KEY (pass) REFERENCES pass ON UPDATE CASCADE');

SELECT * FROM with_right('CREATE TABLE place (id int PRIMARY KEY) PARTITION BY LIST (id); CREATE TABLE place_1 PARTITION OF place DEFAULT; INSERT INTO place VALUES (1); '
                         'ALTER TABLE staff ADD FOREIGN KEY (dept) REFERENCES place; GRANT DELETE ON place_1 TO regress_dpq_key_analyst');
-- Through views and rules, which work with the rights of their owner
SELECT * FROM with_right('CREATE VIEW few AS SELECT * FROM badge; GRANT INSERT ON few TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE VIEW few AS SELECT * FROM staff; GRANT DELETE ON few TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE TABLE log (id int); CREATE RULE r AS ON INSERT TO log DO ALSO INSERT INTO badge VALUES (NEW.id); '
                         'GRANT INSERT ON log TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE VIEW few AS SELECT * FROM staff; ALTER VIEW few OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE VIEW few AS SELECT count(*) FROM staff; GRANT SELECT ON few TO regress_dpq_key_analyst');

-- threat 104: sequences that number rows, and types, functions and the like of the analyst's own that the table uses
SELECT * FROM with_right('GRANT SELECT ON SEQUENCE staff_id_seq TO regress_dpq_key_analyst');
SELECT * FROM with_right('GRANT USAGE ON SEQUENCE staff_id_seq TO PUBLIC');
SELECT * FROM with_right('CREATE SEQUENCE s; ALTER TABLE staff ALTER COLUMN id SET DEFAULT nextval(''s''); GRANT SELECT ON SEQUENCE s TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE DOMAIN amount AS float8; ALTER TABLE staff ALTER COLUMN salary TYPE amount; ALTER DOMAIN amount OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE DOMAIN amount AS float8; ALTER TABLE staff ADD COLUMN bonus amount[]; ALTER DOMAIN amount OWNER TO regress_dpq_key_team; '
                         'GRANT regress_dpq_key_team TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE TYPE span AS (low float8, high float8); ALTER TABLE staff ADD COLUMN bonus span; ALTER TYPE span OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE FUNCTION f(float8) RETURNS float8 LANGUAGE sql IMMUTABLE RETURN $1; CREATE INDEX ON staff (f(salary)); '
                         'ALTER FUNCTION f OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE FUNCTION f(float8) RETURNS float8 LANGUAGE sql IMMUTABLE RETURN $1; ALTER TABLE staff ADD CHECK (f(salary) > 0); '
                         'ALTER FUNCTION f OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE FUNCTION f(float8) RETURNS float8 LANGUAGE sql IMMUTABLE RETURN $1; ALTER TABLE staff ADD COLUMN bonus float8 DEFAULT f(1); '
                         'ALTER FUNCTION f OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN NEW; END''; '
                         'CREATE TRIGGER t BEFORE INSERT ON staff FOR EACH ROW EXECUTE FUNCTION f(); ALTER FUNCTION f OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE FUNCTION f(float8) RETURNS float8 LANGUAGE sql IMMUTABLE RETURN $1; CREATE DOMAIN amount AS float8 CHECK (f(VALUE) > 0); '
                         'ALTER TABLE staff ALTER COLUMN salary TYPE amount; ALTER FUNCTION f OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE FUNCTION f(float8, float8) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN $1 = $2; '
                         'CREATE OPERATOR === (leftarg = float8, rightarg = float8, function = f); ALTER TABLE staff ADD CHECK (salary === salary); '
                         'ALTER OPERATOR === (float8, float8) OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE FUNCTION f(float8) RETURNS float8 LANGUAGE sql IMMUTABLE RETURN $1; ALTER FUNCTION f OWNER TO regress_dpq_key_analyst');
-- threat 105: code of the analyst's own in the sessions of others, which have rights of their own and are not restricted. A trigger runs it, and
-- so does a table that refers to one that they change, or is a child of one that they read.
SELECT * FROM with_right('CREATE TABLE city (id int PRIMARY KEY); GRANT REFERENCES ON city TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE TABLE city (id int PRIMARY KEY); GRANT REFERENCES (id) ON city TO PUBLIC');
SELECT * FROM with_right('CREATE TABLE city (id int PRIMARY KEY); GRANT TRIGGER ON city TO regress_dpq_key_team; GRANT regress_dpq_key_team TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN NULL; END''; CREATE TABLE city (id int PRIMARY KEY); '
                         'CREATE TRIGGER t AFTER INSERT ON city EXECUTE FUNCTION f(); ALTER FUNCTION f OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE TABLE city (id int PRIMARY KEY); CREATE TABLE visit (city int REFERENCES city); ALTER TABLE visit OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE TABLE city (id int); CREATE TABLE town () INHERITS (city); ALTER TABLE town OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right(format('ALTER DATABASE %I OWNER TO regress_dpq_key_analyst', current_database()));
-- In tables of its own it may do what it likes.
SELECT * FROM with_right('CREATE TABLE city (id int PRIMARY KEY); CREATE TABLE visit (city int REFERENCES city); ALTER TABLE visit OWNER TO regress_dpq_key_analyst; '
                         'ALTER TABLE city OWNER TO regress_dpq_key_team; GRANT REFERENCES, TRIGGER ON city TO regress_dpq_key_analyst; '
                         'GRANT regress_dpq_key_team TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE TABLE city (id int PRIMARY KEY); GRANT SELECT, INSERT, UPDATE, DELETE ON city TO regress_dpq_key_analyst');
-- No session reaches the temporary tables of another, so any role may give rights on its own.
SELECT * FROM with_right('CREATE TEMP TABLE city (id int PRIMARY KEY); GRANT REFERENCES (id), TRIGGER ON city TO PUBLIC');
-- A protected view has the facts of its table.
SELECT * FROM with_right('SELECT public.dp_unprotect_table(''staff''); ALTER TABLE staff RENAME TO all_staff; CREATE VIEW staff AS SELECT * FROM all_staff; '
                         'SELECT public.dp_protect_table(''staff''); GRANT INSERT ON badge TO regress_dpq_key_analyst');
-- Whoever reads or writes what a view or materialized view reads learns facts of it, also where that is not protected.
CREATE PROCEDURE become_view(is_materialized boolean) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM public.dp_unprotect_table('staff');
  ALTER TABLE staff RENAME TO all_staff;
  EXECUTE format('CREATE %s staff AS SELECT id, salary FROM all_staff', CASE WHEN is_materialized THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END);
  PERFORM public.dp_protect_table('staff'), public.dp_grant_private_access('staff', 'regress_dpq_key_analyst');
END
$$;
SELECT * FROM with_right('CALL become_view(false)');
SELECT * FROM with_right('CALL become_view(false); GRANT SELECT ON all_staff TO regress_dpq_key_analyst');
SELECT * FROM with_right('CALL become_view(false); GRANT UPDATE (salary) ON all_staff TO PUBLIC');
SELECT * FROM with_right('CALL become_view(false); ALTER TABLE all_staff OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CREATE TABLE people (id int); ALTER TABLE staff INHERIT people; CALL become_view(false); GRANT SELECT ON people TO regress_dpq_key_analyst');
SELECT * FROM with_right('CALL become_view(false); SELECT public.dp_unprotect_table(''staff''); ALTER VIEW staff RENAME TO some_staff; '
                         'CREATE VIEW staff AS SELECT id FROM some_staff; SELECT public.dp_protect_table(''staff''); GRANT REFERENCES ON all_staff TO regress_dpq_key_analyst');
SELECT * FROM with_right('CALL become_view(true)');
SELECT * FROM with_right('CALL become_view(true); GRANT TRIGGER ON all_staff TO regress_dpq_key_analyst');
SELECT * FROM with_right('CALL become_view(true); ALTER TABLE all_staff OWNER TO regress_dpq_key_analyst');
SELECT * FROM with_right('CALL become_view(true); GRANT INSERT ON badge TO regress_dpq_key_analyst');
\x

-- threat 106: such a right of a member of a role with private access
BEGIN;
SELECT dp_revoke_private_access('staff', 'regress_dpq_key_analyst');
GRANT regress_dpq_key_team TO regress_dpq_key_analyst;
SELECT dp_grant_private_access('staff', 'regress_dpq_key_team');
GRANT INSERT ON badge TO regress_dpq_key_analyst;
SELECT subject, status, detail FROM dpquantile.protection_findings() WHERE subject LIKE 'regress_dpq_key%';
SAVEPOINT granted;
SELECT dp_grant_private_access('staff', 'regress_dpq_key_team');
ROLLBACK TO granted;
-- Whoever may read the table learns nothing from it.
GRANT SELECT ON staff TO regress_dpq_key_analyst;
SELECT subject, status, detail FROM dpquantile.protection_findings() WHERE subject LIKE 'regress_dpq_key%';
SELECT dp_grant_private_access('staff', 'regress_dpq_key_team');
ROLLBACK;
-- Since PostgreSQL 16, a member may neither have the rights of a role nor become it, or become a role that has them.
BEGIN;
DO $$
BEGIN
  IF current_setting('server_version_num')::int >= 160000 THEN
    CREATE ROLE regress_dpq_key_shift;
    EXECUTE 'GRANT regress_dpq_key_team TO regress_dpq_key_analyst WITH INHERIT FALSE, SET FALSE';
    CREATE TABLE city (id int PRIMARY KEY);
    ALTER TABLE city OWNER TO regress_dpq_key_team;
    GRANT TRIGGER ON city TO regress_dpq_key_analyst;
    ASSERT (SELECT o.reason FROM dpquantile.own_right('staff', 'regress_dpq_key_analyst'::regrole) o)
           LIKE 'it has TRIGGER on city, %', 'a table of a role that the analyst cannot become';
    ASSERT NOT EXISTS (SELECT FROM dpquantile.rights_of_members('staff', 'regress_dpq_key_team'::regrole)), 'no rights of the team';
    EXECUTE 'GRANT regress_dpq_key_team TO regress_dpq_key_shift WITH SET FALSE';
    EXECUTE 'GRANT regress_dpq_key_shift TO regress_dpq_key_analyst WITH INHERIT FALSE';
    ASSERT EXISTS (SELECT FROM dpquantile.rights_of_members('staff', 'regress_dpq_key_team'::regrole)), 'after SET ROLE the rights of the team';
  END IF;
END
$$;
ROLLBACK;

-- threat 100: policies, rules and row triggers of the role's own tables see stored rows. Those of before the restriction do, too.
GRANT CREATE ON SCHEMA regress_dpq_key TO regress_dpq_key_analyst;
SELECT dp_unrestrict_role('regress_dpq_key_analyst');
SET SESSION AUTHORIZATION regress_dpq_key_analyst;
CREATE FUNCTION seen(xid) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE WARNING 'seen'; RETURN $1 IS NOT NULL; END$$;
CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM regress_dpq_key.seen(OLD.xmax); RETURN NEW; END$$;
CREATE TABLE policed (id int);
INSERT INTO policed VALUES (1);
ALTER TABLE policed ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON policed FOR SELECT USING (seen(xmax));
CREATE POLICY writes ON policed FOR INSERT WITH CHECK (xmin IS NOT NULL);
CREATE POLICY changes ON policed FOR DELETE USING (EXISTS (SELECT FROM dept d WHERE d.id = length(policed.ctid::text)));
CREATE FUNCTION inlined() RETURNS SETOF int LANGUAGE sql STABLE AS 'SELECT id FROM regress_dpq_key.policed';
CREATE TABLE ruled (id int);
INSERT INTO ruled VALUES (1);
CREATE RULE r AS ON UPDATE TO ruled WHERE seen(OLD.xmax) DO INSTEAD NOTHING;
CREATE TABLE clock (id int, x int) PARTITION BY LIST (id);
CREATE TABLE clock_part PARTITION OF clock DEFAULT;
INSERT INTO clock VALUES (1, 0);
CREATE TRIGGER t AFTER UPDATE ON clock_part FOR EACH ROW EXECUTE FUNCTION seen();
CREATE TABLE conditional (id int);
INSERT INTO conditional VALUES (1);
CREATE TRIGGER t BEFORE UPDATE ON conditional FOR EACH ROW WHEN (seen(OLD.xmax)) EXECUTE FUNCTION suppress_redundant_updates_trigger();
RESET SESSION AUTHORIZATION;
SELECT dp_restrict_role('regress_dpq_key_analyst');
SET SESSION AUTHORIZATION regress_dpq_key_analyst;
SELECT * FROM policed;
INSERT INTO policed VALUES (2);
DELETE FROM policed;
SELECT * FROM inlined();
UPDATE ruled SET id = 2;
\set VERBOSITY default
UPDATE clock SET x = 1;
\set VERBOSITY terse
INSERT INTO clock VALUES (1, 2);
\copy clock_part FROM '/dev/null'
SELECT * FROM clock FOR UPDATE;
UPDATE conditional SET id = 2;
CREATE TABLE new (id int);
CREATE TRIGGER t BEFORE UPDATE ON new FOR EACH ROW EXECUTE FUNCTION seen();
CREATE TRIGGER t BEFORE UPDATE ON new FOR EACH ROW WHEN (xmax(OLD) IS NOT NULL) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER t BEFORE UPDATE ON new FOR EACH ROW WHEN (OLD.id > 0) EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TRIGGER s AFTER UPDATE ON new REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION seen();
DROP TRIGGER s ON new;
INSERT INTO new VALUES (1);
UPDATE new SET id = 2;
RESET SESSION AUTHORIZATION;
-- The function of somebody who is not restricted works.
ALTER FUNCTION seen() OWNER TO regress_dpq_key_owner;
SET SESSION AUTHORIZATION regress_dpq_key_analyst;
UPDATE clock SET x = 1;
RESET SESSION AUTHORIZATION;

SET client_min_messages = error;
DROP SCHEMA regress_dpq_key CASCADE;
DROP OWNED BY regress_dpq_key_owner, regress_dpq_key_analyst;
DROP ROLE regress_dpq_key_owner, regress_dpq_key_analyst, regress_dpq_key_team;
