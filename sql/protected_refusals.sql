-- A role without SELECT asks about protected tables what is not private: each refusal, with where and why. The numbers are those
-- of docs/threats.md.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_owner LOGIN;
CREATE ROLE regress_dpq_asker LOGIN;
CREATE ROLE regress_dpq_stranger LOGIN;
CREATE SCHEMA regress_dpq_hr AUTHORIZATION regress_dpq_owner;
-- The library may not be preloaded, so the asker may create objects only while it asks nothing.
CREATE SCHEMA regress_dpq_own;
GRANT USAGE ON SCHEMA regress_dpq_own TO regress_dpq_asker;
GRANT USAGE ON SCHEMA regress_dpq_hr TO regress_dpq_asker, regress_dpq_stranger;
GRANT USAGE ON SCHEMA regress_dpq_own TO regress_dpq_stranger;
SELECT dp_grant_budget('regress_dpq_asker', 1000, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_asker');
CREATE COLLATION regress_dpq_hr.blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE AGGREGATE regress_dpq_hr.forged(float8) (SFUNC = dpquantile.count_transition, STYPE = dpquantile.records_state,
  FINALFUNC = dpquantile.count_final, FINALFUNC_MODIFY = READ_WRITE);

SET SESSION AUTHORIZATION regress_dpq_owner;
SET search_path = regress_dpq_hr, public;
CREATE TABLE department (id int PRIMARY KEY, name text, boss int, code text UNIQUE DEFERRABLE, floor int);
CREATE UNIQUE INDEX ON department (boss) WHERE floor > 0;
CREATE UNIQUE INDEX ON department (abs(floor));
CREATE UNIQUE INDEX ON department (floor, boss);
CREATE UNIQUE INDEX unfinished ON department (name);
CREATE TABLE family (id int PRIMARY KEY);
CREATE TABLE child () INHERITS (family);
CREATE TABLE ruled (id int PRIMARY KEY);
CREATE TABLE calendar (day date PRIMARY KEY, noon timestamp UNIQUE);
CREATE TABLE shared (id int PRIMARY KEY);
GRANT UPDATE (id) ON shared TO regress_dpq_stranger;
CREATE TABLE viewed (id int PRIMARY KEY);
CREATE VIEW viewed_lower WITH (security_invoker) AS SELECT id FROM viewed;
CREATE VIEW viewed_upper AS SELECT id FROM viewed_lower;
GRANT UPDATE (id) ON viewed_upper TO regress_dpq_stranger;
CREATE TABLE whole (id int) PARTITION BY LIST (id);
CREATE TABLE part PARTITION OF whole (PRIMARY KEY (id)) FOR VALUES IN (1);
GRANT DELETE ON whole TO regress_dpq_stranger;
CREATE TABLE region (id int PRIMARY KEY);
CREATE TABLE town (id int PRIMARY KEY REFERENCES region ON DELETE CASCADE);
CREATE TABLE street (id int PRIMARY KEY REFERENCES town ON UPDATE CASCADE);
GRANT DELETE ON region TO regress_dpq_stranger;
CREATE TABLE logged (id int PRIMARY KEY);
CREATE TABLE event (id int);
CREATE RULE log AS ON INSERT TO event DO ALSO INSERT INTO logged VALUES (NEW.id);
GRANT INSERT ON event TO regress_dpq_stranger;
CREATE TABLE plain (id int PRIMARY KEY REFERENCES region);
ALTER TABLE ruled ENABLE ROW LEVEL SECURITY;
CREATE TABLE staff (id int PRIMARY KEY, name text, salary int, department int, born date, nick text COLLATE blind);
CREATE TABLE visit (patient int, cost int, ward int);
CREATE TABLE other (id int);
CREATE VIEW sample AS SELECT DISTINCT salary FROM staff;
INSERT INTO staff SELECT i, 'n' || i, i, 1, 'today', 'n' FROM generate_series(1, 10) i;
GRANT SELECT ON department, family, child, ruled, shared, calendar, viewed, part, street, logged, plain TO regress_dpq_asker;
GRANT SELECT ON plain TO regress_dpq_stranger;
CREATE VIEW stay AS SELECT cost, patient FROM visit;
CREATE VIEW patients AS SELECT cost, patient FROM visit;
SELECT dp_protect_table(t) FROM unnest('{staff,other,stay}'::regclass[]) t;
-- A view that is more than a choice of rows, and not one of persons
SELECT dp_protect_table('sample');
SELECT dp_protect_table('visit', 'patient'), dp_protect_table('patients', 'cost');
SELECT dp_grant_private_access(t, 'regress_dpq_asker') FROM unnest('{staff,visit,stay,patients}'::regclass[]) t;

RESET SESSION AUTHORIZATION;
CREATE VIEW regress_dpq_own.plain_rows AS SELECT id FROM regress_dpq_hr.plain;
ALTER VIEW regress_dpq_own.plain_rows OWNER TO regress_dpq_stranger;
CREATE VIEW regress_dpq_own.plain_invoked WITH (security_invoker) AS SELECT id FROM regress_dpq_hr.plain;
ALTER VIEW regress_dpq_own.plain_invoked OWNER TO regress_dpq_stranger;
GRANT UPDATE ON regress_dpq_own.plain_rows, regress_dpq_own.plain_invoked TO PUBLIC;
ALTER VIEW regress_dpq_hr.viewed_lower OWNER TO regress_dpq_stranger;
GRANT UPDATE ON regress_dpq_hr.viewed_lower TO regress_dpq_owner;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'regress_dpq_hr.unfinished'::regclass;
SET SESSION AUTHORIZATION regress_dpq_asker;
SET search_path = regress_dpq_own, regress_dpq_hr, public;

-- Rows, and exact answers
SELECT * FROM staff;
SELECT count(*) FROM staff;
SELECT dp_count(1), max(salary) FROM staff;
SELECT 1 FROM staff HAVING true;
SELECT name FROM staff UNION ALL SELECT 'x';
SELECT EXISTS (SELECT FROM staff WHERE salary > 5);
SELECT 5 IN (SELECT salary FROM staff);
SELECT id FROM department WHERE id = (SELECT salary FROM staff LIMIT 1);
SELECT true WHERE (SELECT dp_count(1) FROM staff) IN (SELECT dp_count(1) FROM staff);
-- Neither SELECT nor private access
SELECT dp_count(1) FROM other;
SELECT dp_count(1) FROM staff, other;

-- threat 32: functions that fail for some rows, and other people's code
SELECT dp_count(1) FROM staff WHERE name::regclass IS NOT NULL;
SELECT dp_count(1) FROM staff WHERE to_date(name, 'YYYY') > now();
SELECT dp_count(1) FROM staff WHERE name ~ '(a';
SELECT dp_avg(pg_size_bytes(name), 1, 0, 1) FROM staff;
SELECT dp_count(1) FROM staff GROUP BY to_number(name, '9') HAVING dp_keep_group(1, 1e-6);
SELECT name FROM staff GROUP BY name HAVING dp_keep_group(1, 1e-6) AND to_number(name, '9') > 0;
SELECT dp_count(1) FROM staff WHERE date_trunc(name, born) IS NOT NULL;
SELECT dp_count(1) FROM staff WHERE born::text::json IS NOT NULL;
SELECT dp_count(1) FROM staff WHERE ARRAY[id, floor(salary)::int] @> ARRAY[3];
SELECT dp_count(1) FROM staff WHERE pg_try_advisory_xact_lock(id);
SELECT dp_count(1) FROM staff WHERE cardinality(ARRAY[id]) > 1;
SELECT dp_count(1) FROM staff WHERE born <@ daterange('2000-01-01', '2001-01-01');
SELECT dp_count(1) FROM staff WHERE format('%s!', name) = 'Zoe!';
\set allow 'RESET SESSION AUTHORIZATION; GRANT CREATE ON SCHEMA regress_dpq_own TO regress_dpq_asker; SET SESSION AUTHORIZATION regress_dpq_asker;'
\set forbid 'RESET SESSION AUTHORIZATION; REVOKE CREATE ON SCHEMA regress_dpq_own FROM regress_dpq_asker; SET SESSION AUTHORIZATION regress_dpq_asker;'
:allow
CREATE FUNCTION spy(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.1 AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$;
CREATE FUNCTION alike(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 = $2';
CREATE OPERATOR === (FUNCTION = alike, LEFTARG = int, RIGHTARG = int);
CREATE DOMAIN checked AS int CHECK (spy(VALUE));
CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int);
-- threat 122: operators with a function of PostgreSQL, which lead to one of the asker
CREATE FUNCTION spies(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$;
CREATE OPERATOR ==== (FUNCTION = spies, LEFTARG = int, RIGHTARG = int, NEGATOR = OPERATOR(<<<>), COMMUTATOR = OPERATOR(>>>>));
CREATE OPERATOR <<<> (FUNCTION = int4ne, LEFTARG = int, RIGHTARG = int, NEGATOR = OPERATOR(====));
CREATE OPERATOR >>>> (FUNCTION = int4lt, LEFTARG = int, RIGHTARG = int, COMMUTATOR = OPERATOR(====), RESTRICT = scalarltsel);
CREATE OPERATOR =#= (FUNCTION = int4eq, LEFTARG = int, RIGHTARG = int, COMMUTATOR = OPERATOR(=#=), HASHES, MERGES);
CREATE OPERATOR regress_dpq_own.= (FUNCTION = int4eq, LEFTARG = int, RIGHTARG = int);
:forbid
SELECT dp_count(1) FROM staff WHERE NOT salary <<<> 5;
SELECT dp_count(1) FROM staff WHERE 5 >>>> salary;
SELECT problem FROM dp_explain('SELECT dp_count(1) FROM staff WHERE 5 >>>> salary');
-- All reasons at once: dp_explain names each that another one does not hide. Where code of others would be called, it computes nothing.
\set reasons 'SELECT split_part(problem, ''. '', 1) AS reason, substring(problem FROM ''character [0-9]*'') AS place FROM'
:reasons dp_explain('SELECT random(), dp_count(1), (SELECT 1 LIMIT 1) FROM staff WHERE name ~ ''\1'' AND id < random() GROUP BY salary HAVING ''b'' ~ CAST(salary AS text)');
:reasons dp_explain('WITH a AS (SELECT DISTINCT id FROM staff ORDER BY id), b AS (SELECT dp_count(1) AS n FROM staff WHERE name ~ ''\1'') SELECT random() FROM a, b');
:reasons dp_explain('SELECT string_agg(name, ''''), dp_avg(salary, 1, 0, 9), mode() WITHIN GROUP (ORDER BY id) FROM staff');
:reasons dp_explain('SELECT dp_count(1) FROM staff s JOIN staff t USING (id) WHERE s.name ~ ''\1'' LIMIT 1');
:reasons dp_explain('SELECT n FROM (SELECT dp_count(1) AS n FROM staff LIMIT (SELECT 1)) s, (SELECT dp_count(1) FROM staff WHERE name ~ ''\1'' ORDER BY random()) t');
:reasons dp_explain('SELECT dp_count(1) FROM staff WHERE spy(5) AND name ~ ''\1'' AND checked(5) > 1');
-- What reads a WITH query that is refused has no reason of its own. A query that is cancelled is no reason.
:reasons dp_explain('WITH a AS (SELECT s.* FROM staff s JOIN staff t ON s.id = t.id), b AS (SELECT salary + 1 FROM a) SELECT dp_count(1) FROM b');
SELECT count(*) FROM dp_explain('SELECT dp_count(1) FROM staff WHERE id IN (' || repeat('random(), ', 200) || '1)');
SET statement_timeout = 50;
:reasons dp_explain('SELECT dp_count(1) FROM staff WHERE name ~ ''\1'' AND name = (factorial(30000) + factorial(30001) + factorial(30002) + factorial(30003) + factorial(30004))::text');
RESET statement_timeout;
SELECT dp_count(1) FROM staff JOIN department d ON d.id = staff.department AND d.id =#= staff.department;
SELECT dp_count(1) FROM staff WHERE salary =#= ANY ('{1,2}');
SELECT dp_count(1) FROM staff WHERE 5 < 6 AND 5 =#= 6;
SELECT n FROM (SELECT dp_count(1)::int AS n FROM staff) t WHERE NOT n <<<> 5;
SELECT n =#= ANY (SELECT 5) FROM (SELECT dp_count(1)::int AS n FROM staff) t;
-- ... also where the text has no name of an operator
SET search_path = regress_dpq_own, pg_catalog, regress_dpq_hr, public;
SELECT dp_count(1) FROM staff JOIN department d USING (id);
SELECT dp_count(CASE salary WHEN 5 THEN 1 END, 1) FROM staff;
SELECT dp_count(1) FROM staff WHERE salary IS DISTINCT FROM 5;
SELECT nullif(n, 5) FROM (SELECT dp_count(1)::int AS n FROM staff) t;
SET search_path = regress_dpq_own, regress_dpq_hr, public;
SELECT dp_count(1) FROM staff WHERE spy(salary);
SELECT dp_count(1) FROM staff WHERE salary === 5;
SELECT dp_count(1) FROM staff WHERE salary::checked = 5;
SELECT spy(dp_count(1)::int) FROM staff;
SELECT spy(n::int) FROM (SELECT dp_count(1) AS n FROM staff) t;
SELECT n FROM (SELECT dp_count(1) AS n FROM staff) t WHERE spy(n::int);
SELECT n::int::checked FROM (SELECT dp_count(1) AS n FROM staff) t;
SELECT total(n::int) FROM (SELECT dp_count(1) AS n FROM staff) t;
SELECT total(salary) FROM staff;
-- threat 64: not even a superuser's aggregate
SELECT forged(1) FROM staff;
SELECT dp_count(1) FROM staff WHERE salary > 5 AND spy(1);
SELECT dp_count(1) FROM staff LIMIT length(set_config('a.b', 'c', false));
SELECT dp_count(1) FROM staff WHERE ARRAY[string_to_array(name, 'n'), ARRAY[name]] IS NOT NULL;
-- ... and functions with side effects
SELECT dp_count(1) FROM staff WHERE random() < 0.5;
SELECT dp_count(1) FROM staff WHERE pg_sleep(salary) IS NOT NULL;
SELECT n + random() FROM (SELECT dp_count(1) AS n FROM staff) t;
-- threat 98: functions of PostgreSQL that would run the asker's code: the check of a domain in what they make, or a cast that they look for
:allow
CREATE TYPE pair AS (a checked);
CREATE TYPE mark AS ENUM ('x');
CREATE TYPE span AS RANGE (SUBTYPE = checked);
CREATE FUNCTION told(mark) RETURNS json LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'told'; RETURN '1'; END $$;
CREATE CAST (mark AS json) WITH FUNCTION told(mark);
CREATE FUNCTION made() RETURNS pair LANGUAGE sql AS $$ SELECT '(5)'::pair $$;
CREATE TABLE marks AS SELECT mark 'x' AS mark, ROW(1)::pair AS pair;
CREATE TABLE checks AS SELECT 1::checked AS a;
CREATE VIEW answer AS SELECT dp_count(1) AS n FROM staff;
:forbid
RESET SESSION AUTHORIZATION;
ALTER TABLE marks OWNER TO CURRENT_USER;
ALTER TABLE checks OWNER TO CURRENT_USER;
GRANT SELECT ON marks, checks TO regress_dpq_asker;
SET SESSION AUTHORIZATION regress_dpq_asker;
SELECT dp_count(1) FROM staff WHERE salary > ((concat('(5)')::pair).a)::int;
SELECT ('(' || n || ')')::text::pair FROM answer;
SELECT ('{' || n || '}')::text::checked[] FROM answer;
SELECT ('[' || n || ',)')::text::span FROM answer;
SELECT jsonb_populate_record(NULL::pair, jsonb_build_object('a', n)) FROM answer;
SELECT r FROM answer, json_populate_recordset(NULL::pair, json_build_array(n)) r;
SELECT r FROM answer, json_to_record(json_build_object('a', n)) AS r (a checked);
SELECT r FROM answer, ROWS FROM (jsonb_to_recordset(jsonb_build_array(n)) AS (a pair)) r;
SELECT jsonb_populate_record(c, jsonb_build_object('a', n)) FROM answer, checks c;
SELECT jsonb_populate_record(t, jsonb_build_object('a', ARRAY[n])) FROM (SELECT n, '{}'::checked[] AS a FROM answer) t;
SELECT jsonb_populate_record(ROW (a), jsonb_build_object('f1', n)) FROM answer, checks;
SELECT record_in('(5)', 'pair'::regtype, -1) FROM answer;
SELECT fmgr_sql_validator('made'::regproc) FROM answer;
SELECT to_jsonb(mark) FROM answer, marks;
SELECT json_agg(m) FROM answer, marks m;
SELECT json_agg(d) FROM answer, department d;
SELECT json_agg(t) FROM (SELECT n, mark FROM answer, marks) t;
SELECT row_to_json(ROW (n, ROW (mark))) FROM answer, marks;
SELECT n::text || mark FROM answer, marks;
SELECT quote_literal(mark) FROM answer, marks;
-- Such values may be read, compared and shown, and values of PostgreSQL's types may become JSON.
SELECT mark = 'x', mark::text, 'x'::text::mark, mark IN ('x'), pair = pair, concat(mark, pair), count(mark) OVER () FROM answer, marks;
SELECT json_agg(c), 'a' || max(a), max(json_build_array(a)::text) FROM (SELECT a FROM answer, checks) c;
SELECT json_agg(t) IS NULL, max(pg_typeof(t)::text) FROM (SELECT n, now() FROM answer) t;
SELECT (row_to_json(ROW (n, 2)) ->> 'f2')::int, d.name, r FROM answer LEFT JOIN department d ON true, json_to_record('{"a":"x"}') AS r (a mark);
-- ... and collations
SELECT dp_count(1) FROM staff WHERE nick = 'N';
SELECT dp_count(1) FROM staff WHERE name = 'n' COLLATE blind;
SELECT dp_count_distinct(nick, 1) FROM staff;
-- (since PostgreSQL 18 the place of a key is not known)
\set VERBOSITY sqlstate
SELECT dp_count(1) FROM staff GROUP BY nick HAVING dp_keep_group(1, 1e-6);
\set VERBOSITY default
SELECT dp_count(1) FROM staff WHERE CASE WHEN salary = 3 THEN name || nick < 'a' END;
-- ... and sizes that take time for a row (threat 25)
SELECT dp_count(1) FROM staff WHERE salary = ANY (array_fill(1, ARRAY[1001]));
SELECT dp_count(1) FROM staff WHERE name = repeat('x', 66000);
PREPARE one_of(int[]) AS SELECT dp_count(1) FROM staff WHERE salary = ANY ($1);
SET plan_cache_mode = force_generic_plan;
EXECUTE one_of(array_fill(1, ARRAY[1001]));
RESET plan_cache_mode;
DEALLOCATE one_of;

SELECT n, table_to_xml('department', true, true, '') FROM (SELECT dp_count(1) AS n FROM staff) t;

-- threat 33: joins and shapes that multiply a row, or choose rows by others
SELECT dp_count(1) FROM staff, staff s;
SELECT dp_count(1) FROM staff a JOIN staff b USING (id);
SELECT dp_count(1) FROM staff, department;
SELECT dp_count(1) FROM staff s JOIN department d ON d.id > s.department;
SELECT dp_count(1) FROM staff s JOIN department d ON d.id = s.department OR d.id = 1;
SELECT dp_count(1) FROM staff s JOIN department d ON d.code = s.name;
SELECT dp_count(1) FROM staff s JOIN department d ON d.boss = s.id;
SELECT dp_count(1) FROM staff s JOIN department d ON d.floor = s.id;
SELECT dp_count(1) FROM staff s JOIN department d ON d.name = s.name;
SELECT dp_count(1) FROM staff s JOIN family f USING (id);
SELECT dp_count(1) FROM staff s JOIN ruled r USING (id);
SELECT dp_count(1) FROM staff s FULL JOIN department d ON d.id = s.department;
-- Days and hours that a time zone skips are equal to the same timestamptz.
SELECT dp_count(1) FROM staff JOIN calendar ON day = timestamptz '2011-12-30 10:00Z';
SELECT dp_count(1) FROM staff JOIN calendar ON now() = noon;
-- threat 69: who writes a joined table would see which of its pages were read
SELECT dp_count(1) FROM staff s JOIN shared USING (id);
-- through a view, the partitioned table, keys that pass changes on, and a rule
SELECT dp_count(1) FROM staff s JOIN viewed USING (id);
SELECT dp_count(1) FROM staff s JOIN part USING (id);
SELECT dp_count(1) FROM staff s JOIN street USING (id);
SELECT dp_count(1) FROM staff s JOIN logged USING (id);
-- A key that passes nothing on, and a view whose owner may not write the table, are no such way.
SELECT dp_count(1) IS NOT NULL AS answered FROM staff s JOIN plain USING (id);
SELECT dp_count(1) FROM staff s JOIN pg_class c ON c.oid = s.id::oid;
SELECT dp_count(1) FROM staff, generate_series(1, 9);
SELECT dp_count(1) FROM staff JOIN generate_series(1, 9) i ON i > id;
SELECT dp_count(1) FROM staff JOIN generate_series(1, 9) WITH ORDINALITY t (i, j) ON j = id;
SELECT dp_count(1) FROM staff JOIN ROWS FROM (unnest('{1,2}'::int[]), unnest('{3,3}'::int[])) t (i, j) ON j = id;
SELECT dp_count(1) FROM staff JOIN generate_series(1, 1001) i ON i = id;
SELECT dp_count(1) FROM staff JOIN generate_series('1999-01-01', timestamp 'infinity', '9000 years') i ON i = to_timestamp(id)::timestamp;
SELECT dp_count(1) FROM staff JOIN unnest('{1,2,1}'::int[]) i ON i = id;
SELECT dp_count(1) FROM staff JOIN unnest('{b,B}'::text[]) i ON i COLLATE blind = name;
SELECT dp_count(1) FROM staff JOIN unnest('{b,B}'::text[] COLLATE blind) i ON i = name;
SELECT dp_count(1) FROM staff, unnest(ARRAY[salary, id]) i WHERE i = id;
SELECT dp_count(1) FROM staff JOIN unnest(ARRAY(SELECT id FROM department)) i ON i = id;
SELECT dp_count(1) FROM staff JOIN regexp_split_to_table('1,1', ',') i ON i = name;
SELECT dp_count(1) FROM staff JOIN (VALUES (1), (2), (1)) t (i) ON i = id;
SELECT dp_count(1) FROM staff JOIN (VALUES ('1'::json)) t (i) ON i::text = name;
SELECT dp_count(1) FROM staff JOIN (VALUES (1), (now()::text::int)) t (i) ON i = id;
-- threat 73: lists with several columns, of which the join compares one
SELECT dp_count(1) FROM staff JOIN (VALUES (1, 5), (2, 5)) t (i, j) ON j = id;
SELECT dp_count(1) FROM staff JOIN (VALUES (1, 5), (1, 6), (2, 5)) t (i, j) ON j = id;
SELECT dp_count(1) FROM staff JOIN (VALUES (1, 5), (1, 6), (2, 5)) t (i, j) ON j = id AND i = i;
SELECT dp_count(1) FROM staff JOIN (VALUES (1, 5), (1, 6), (2, 5)) t (i, j) ON j = id AND i < id;
SELECT dp_count(1) FROM staff JOIN (VALUES (1, 5), (2, 5), (1, 5)) t (i, j) ON j = id AND i = salary;
SELECT dp_count(1) FROM staff JOIN (VALUES (1, 1.0), (1, 1.00)) t (i, j) ON i = id AND j = salary;
SELECT j, dp_count(id, 40) FROM (VALUES (1, 1.0), (2, 1.00)) t (i, j) LEFT JOIN staff ON i = id GROUP BY j;
SELECT i, j, dp_count(id, 40) FROM (VALUES (1.0, NULL::int), (1.00, NULL)) t (i, j) LEFT JOIN staff ON i = id AND j = salary GROUP BY i, j;
SELECT dp_count(1) FROM staff JOIN (VALUES (1, repeat('x', 66000))) t (i, t) ON i = id AND t < name;
SELECT dp_count(1) FROM staff JOIN unnest(ARRAY['a', repeat('x', 70000)]) t ON t = name;
SELECT dp_count(1) FROM staff JOIN (VALUES (point '(1,1)')) t (i) ON i ~= point(id, id);
SELECT dp_count(1) FROM staff, LATERAL (SELECT salary) t;
SELECT dp_count(1) FROM department d, LATERAL (SELECT * FROM staff WHERE department = d.id) t WHERE d.id = t.id;
SELECT dp_count(1) FROM (SELECT unnest('{1,2,3}'::int[]) FROM staff) t;
SELECT dp_count(1) FROM (SELECT * FROM staff UNION ALL SELECT * FROM staff) t;
SELECT dp_count(1) FROM (SELECT * FROM staff ORDER BY id LIMIT 1) t;
SELECT dp_count(1) FROM (SELECT * FROM staff OFFSET 5) t;
SELECT dp_count(1) FROM (SELECT DISTINCT salary FROM staff) t;
-- Expressions that become large, or many, for some rows
SELECT dp_count(1) FROM staff WHERE ARRAY[name, name] IS NOT NULL;
SELECT dp_count(1) FROM (SELECT ARRAY[salary::numeric] AS a FROM staff) t WHERE a IS NULL;
SELECT format('SELECT dp_count(1) FROM %s WHERE c12 > 0', string_agg(format('(SELECT c%s + c%s AS c%s FROM ', i, i, i + 1), '' ORDER BY i DESC)
              || '(SELECT id AS c0 FROM staff) t' || string_agg(format(') t%s', i), '' ORDER BY i)) FROM generate_series(0, 11) i \gexec
-- threat 313: calls of concat() in one another, of which each stands for a few
DO $$ BEGIN
  EXECUTE 'SELECT dp_count(1) FROM staff WHERE ' || repeat('concat(', 900) || 'name' || repeat(', ''x'')', 900) || ' = ''x''';
EXCEPTION WHEN statement_too_complex THEN RAISE NOTICE '%', SQLERRM;
END $$;
SELECT dp_count(1) FROM staff WHERE greatest(CASE WHEN id > 1 THEN '{}'::json END, CASE WHEN id > 2 THEN '{}'::json END) IS NULL;
-- threat 129: expressions that take long for some rows. Those of a statement take a millisecond for one row, at most: as many of them are accepted.
CREATE FUNCTION pg_temp.many(form text, copies int) RETURNS text LANGUAGE sql AS $$
  SELECT format('SELECT dp_count(0.1) FROM staff WHERE CASE WHEN id = 77 THEN %s END', string_agg(format(form, i), ' OR ')) FROM generate_series(1, copies) i
$$;
CREATE FUNCTION pg_temp.most(form text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  copies int;
  shown text := '';
BEGIN
  FOREACH copies IN ARRAY '{1,2,3,4,5,8,25,200,700}'::int[] LOOP
    BEGIN
      EXECUTE 'SELECT FROM (' || pg_temp.many(form, copies) || ') t';
      shown := shown || copies || ' ';
    EXCEPTION WHEN statement_too_complex THEN
      RETURN shown || 'and not ' || copies;
    END;
  END LOOP;
  RETURN shown;
END
$$;
SELECT epsilon_spent AS spent FROM dp_budget \gset
SELECT pg_temp.many('md5(rpad(name, 60000 - %s)) = ''x''', 700) \gexec
SELECT epsilon_spent - :spent AS charged FROM dp_budget;
SELECT form, pg_temp.most(form)
  FROM unnest(ARRAY['md5(rpad(name, 60000 - %s)) = ''x''', 'md5(rpad(name, 6000 - %s)) = ''x''', 'lower(repeat(name, 1000)) = ''%s''', 'rpad(name, 8000) COLLATE "und-x-icu" < name || ''%s''',
                    'replace(rpad(name, 1000), ''n'', repeat(''b'', %s)) = ''x''', 'rpad(name, 1000) LIKE ''%%%%aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab%s''',
                    'btrim(rpad(name, 1000), ''abcdefghijklmnop%s'') = ''x''', 'translate(rpad(name, 500), ''abcdefghijklmnop%s'', ''x'') = ''x''',
                    'ln(salary::numeric) = %s', 'log(2, salary::numeric) = %s', 'salary::numeric ^ 1.5 = %s', 'gcd(salary::numeric, 100) = %s', 'salary::numeric %% 7 = %s',
                    'name ~~* ''%%%%x%s%%%%''', 'to_char(born, repeat(''TMMonth'', 100)) = ''%s''', 'ln(salary) = %s', 'salary + 1 = %s', 'salary::numeric * 1.5 = %s', 'salary::numeric / 7 = %s', 'salary::numeric(10, 2) / 7 = %s',
                    'date_trunc(''month'', born) = now() - interval ''%s days''', 'born < ANY (array_fill(now() - interval ''%s days'', ARRAY[1000]))',
                    'greatest(rpad(name, 500), rpad(name, 501), rpad(name, 502), rpad(name, 503)) = ''%s''']) form;
-- Also where columns of derived tables are used several times
SELECT dp_count(1) FROM (SELECT ln(l) AS l FROM (SELECT ln(salary::numeric) AS l FROM staff) s) t WHERE l + l > 1;
-- The texts of rows count as NULL beyond a limit, which is the smaller, the more is computed of them.
SET SESSION AUTHORIZATION regress_dpq_owner;
CREATE TABLE note (id int, body text, short varchar(300), data bytea);
INSERT INTO note VALUES (1, repeat('a', 12000) || 'b', repeat('a', 299) || 'b');
SELECT dp_protect_table('note'), dp_grant_private_access('note', 'regress_dpq_asker') \g /dev/null
SET SESSION AUTHORIZATION regress_dpq_asker;
SELECT (SELECT dp_count(20) FROM note WHERE body LIKE '%b') AS body, (SELECT dp_count(20) FROM note WHERE short LIKE '%b') AS short;
SELECT dp_count(20) AS none FROM note WHERE body LIKE '%b' OR body ILIKE '%x1' OR body ILIKE '%x2' OR body ILIKE '%x3' OR body ILIKE '%x4';
-- So do arrays, numbers and others, wherever a function, comparison or subscript reads them, and keys. An = reads no longer value than that which it compares with.
SET SESSION AUTHORIZATION regress_dpq_owner;
CREATE TABLE much (id int, list int[], word text, number numeric, bits varbit, data bytea);
INSERT INTO much VALUES (1, array_fill(1, '{100000}'), repeat('a', 70000), 1e100000, repeat('1', 600000)::varbit, convert_to(repeat('a', 70000), 'UTF8')),
                        (2, '{1}', 'a', 1, '1', 'a');
INSERT INTO much SELECT m.* FROM much m, generate_series(1, 9);
SELECT dp_protect_table('much'), dp_grant_private_access('much', 'regress_dpq_asker') \g /dev/null
SET SESSION AUTHORIZATION regress_dpq_asker;
SELECT string_agg(format('SELECT %L AS condition, dp_count(20) AS rows FROM much WHERE %s', c, c), ' UNION ALL ')
  FROM unnest(ARRAY['1 = ANY (list)', 'list[1] = 1', 'word < ''b''', 'word = word', 'word <> ALL (''{b,c}'')', 'greatest(word, ''a'') < ''b''', 'CASE id WHEN 1 THEN word ELSE ''a'' END < ''b''', 'number > 0',
                    'abs(number) > 0', 'number::text <> ''''', 'bits > B''0''', 'data < ''b''', 'list IS NOT NULL', 'word <> ''b''', 'data <> ''b''', 'octet_length(word) > 0']) c \gexec
SELECT bits, dp_count(20) FROM much GROUP BY bits HAVING dp_keep_group(20, 1e-6);
SELECT CASE WHEN bits = B'01' THEN 'a' ELSE 'b' END AS flags, dp_count(20) FROM much GROUP BY 1 HAVING dp_keep_group(20, 1e-6);
SELECT left(word, 1) AS starts, dp_count(20), dp_count_distinct(word, 20) AS words FROM much GROUP BY word HAVING dp_keep_group(20, 1e-6) ORDER BY 1;
-- Whether the values of parameters are known does not decide about it: they must be short.
PREPARE pattern (text) AS SELECT dp_count(20) FROM note WHERE body LIKE $1;
EXECUTE pattern ('%b');
EXECUTE pattern (repeat('%', 2000));
SET plan_cache_mode = force_generic_plan;
EXECUTE pattern ('%b');
EXECUTE pattern (repeat('%', 2000));
RESET plan_cache_mode;
DEALLOCATE pattern;
-- A hash join compares a row with all values of one hash.
SELECT dp_count(1) FROM staff s JOIN generate_series(4294967297, 42949672970, 4294967297) g ON g = s.salary::bigint;
-- Of a list that one condition finds a row of by such a hash, few rows are compared; else each, so that its length counts.
CREATE FUNCTION pg_temp.joined(list text, condition text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT FROM (SELECT dp_count(0.01) FROM staff s LEFT JOIN %s ON %s) t', list, condition);
  RETURN 'accepted';
EXCEPTION WHEN statement_too_complex THEN
  RETURN 'takes too long';
END
$$;
CREATE FUNCTION pg_temp.pairs(rows int, first text, second text) RETURNS text LANGUAGE sql AS $$
  SELECT '(VALUES ' || string_agg(format('(' || first || ', ' || second || ')', i % 7, i, date '2020-01-01' + i, i * 4294967297), ', ') || ') l (x, y)' FROM generate_series(1, rows) i
$$;
SELECT list, condition, pg_temp.joined(list || ' l (x)', condition)
  FROM (VALUES ('generate_series(1::numeric, 1000)', 'x = salary::numeric * 1.5'), ('generate_series(1::numeric, 1000)', 'x = salary::numeric * 1.5 AND x = id'),
               ('unnest(''{1,2,3}''::numeric[])', 'x = salary::numeric * 1.5 AND x = id'), ('generate_series(1, 1000)', 'x = id AND x = salary'),
               ('generate_series(1, 1000)', 'x = id AND md5(name) = ''x'''), ('generate_series(1, 1000)', 'x = id AND x < salary AND md5(name) = ''x''')) t (list, condition);
SELECT rows, second, condition, pg_temp.joined(pg_temp.pairs(rows, '%1$s', second), condition)
  FROM (VALUES (700, '''town %2$s''', 'x = id AND y = name'), (700, 'date ''%3$s''', 'x = id AND y = born'),
               (700, 'date ''%3$s''', 'x = id AND y = name::timestamp'), (30, 'date ''%3$s''', 'x = id AND y = name::timestamp'),
               (9, '%4$s', 'y = salary::numeric::bigint'), (700, '%4$s', 'y = salary::numeric::bigint'), (700, '%2$s', 'y = id AND lower(name) < ''a''')) t (rows, second, condition);
-- Two lists, where a join by some of the conditions could match all rows of one of them
SELECT condition, pg_temp.joined(pg_temp.pairs(400, '%1$s', '%2$s') || ' ON x = id AND y = salary LEFT JOIN ' || replace(pg_temp.pairs(400, '%1$s', '%2$s'), 'l (x, y)', 'm (v, w)'), condition)
  FROM unnest('{v = id AND w = salary,v = id AND w = y}'::text[]) condition;
-- Of a public table it is not known how many rows have one hash, if a column of it is compared twice or by an = without a hash.
SELECT dp_count(1) FROM staff s LEFT JOIN department d ON d.id = s.id + 1 AND d.id = s.id;
SELECT dp_count(1) FROM staff s LEFT JOIN department d ON d.id = s.id + 1 AND NOT d.id <> s.id;
SELECT dp_count(1) FROM staff s LEFT JOIN calendar c ON c.day = s.born AND c.noon = s.born;
SELECT pg_temp.joined('department d', 'd.id = s.id AND d.name = s.name AND d.floor > s.salary');
-- Nor do other values of parameters.
PREPARE padding (int) AS SELECT dp_count(20) FROM note WHERE md5(rpad(short, $1)) = 'x';
EXECUTE padding (5);
DEALLOCATE padding;
-- Two searches leave room for a value of 64 bytes.
PREPARE two (text) AS SELECT dp_count(20) FROM note WHERE lower(short) LIKE '%' || $1 || '%' AND lower(body) LIKE '%b';
EXECUTE two (repeat('a', 62));
EXECUTE two (repeat('a', 63));
DEALLOCATE two;
-- Early values of any length are short wherever they stand: copied by CASE, compared by "C", kept by joins, counted; numbers also by their digits.
PREPARE carried (text) AS SELECT dp_count(octet_length(t.v), 20) FROM department d LEFT JOIN (SELECT id, CASE WHEN id = 77 THEN $1 END AS v FROM staff) t ON t.id = d.id;
PREPARE compared (text) AS SELECT dp_count(20) FROM staff WHERE CASE WHEN id = 77 THEN $1 END < coalesce(name, $1) COLLATE "C";
PREPARE counted (text) AS SELECT dp_count_distinct(CASE WHEN id = 77 THEN $1 END, 20) FROM staff;
PREPARE keyed (text) AS SELECT dp_count(20) FROM staff GROUP BY CASE WHEN id > 0 THEN $1 END COLLATE "C" HAVING dp_keep_group(20, 1e-6);
PREPARE bits (varbit) AS SELECT dp_count(20) FROM staff WHERE CASE WHEN id = 77 THEN $1 END = B'1';
PREPARE written (numeric) AS SELECT dp_count(20) FROM staff WHERE CASE WHEN id = 77 THEN greatest(salary, $1)::text END = 'x';
\set VERBOSITY terse
EXECUTE carried (repeat('x', 60000));
EXECUTE compared (repeat('x', 60000));
EXECUTE counted (repeat('x', 60000));
EXECUTE keyed (repeat('x', 60000));
EXECUTE bits (repeat('1', 400000)::varbit);
EXECUTE written (repeat('7', 65000)::numeric);
EXECUTE written (1e1000);
SET plan_cache_mode = force_generic_plan;
EXECUTE counted (repeat('x', 60000));
EXECUTE written (1e1000);
RESET plan_cache_mode;
EXECUTE written (1e399);
\set VERBOSITY default
DEALLOCATE ALL;
-- Values of types that no function reads for a row are copied, too.
PREPARE other (json) AS SELECT dp_count(CASE WHEN id = 77 THEN $1 END, 20) FROM staff;
EXECUTE other (to_json(repeat('x', 6000)));
EXECUTE other (to_json(repeat('x', 600)));
SELECT format('SELECT dp_count(CASE WHEN id = 77 THEN ''"%s"''::json END, 20) FROM staff', repeat('x', 2000)) AS query \gset
:query;
DEALLOCATE other;
-- Lists have 1000 elements and 64 kB, literal or not. Constants of VALUES count once: 1000 rows have four columns, and not six.
\set ECHO none
SELECT 'SELECT dp_count(20) AS listed FROM staff WHERE name IN (' || string_agg(quote_literal('somebody else ' || i), ', ') || ')',
       'SELECT dp_count(20) AS joined FROM staff s JOIN (VALUES ' || string_agg(format('(%s, ''x%s'', 1, 2)', i, i), ', ') || ') l (id, name, a, b) ON l.id = s.id AND l.name = s.name',
       'SELECT dp_count(20) AS joined FROM staff s JOIN (VALUES ' || string_agg(format('(%s, 1, 2, 3, 4, 5)', i), ', ') || ') l (id, a, b, c, d, e) ON l.id = s.id'
  FROM generate_series(1, 1000) i \gexec
\set ECHO all
-- A literal may be a number of more digits, of which no text is written.
SELECT dp_count(20) AS none FROM staff WHERE greatest(salary, 1e1000)::text <> '';
-- Literals count with their bytes as keys, which are kept and compared for each row, and so do columns and values that are computed.
CREATE FUNCTION pg_temp.most_of(query text, part text, parts int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  number int;
  shown text := '';
BEGIN
  FOREACH number IN ARRAY parts LOOP
    BEGIN
      EXECUTE format('SELECT FROM (%s) t', replace(query, '@', (SELECT string_agg(format(part, i), ', ') FROM generate_series(1, number) i)));
      shown := shown || number || ' ';
    EXCEPTION WHEN statement_too_complex THEN
      RETURN shown || 'and not ' || number;
    END;
  END LOOP;
  RETURN shown;
END
$$;
SELECT pg_temp.most_of('SELECT dp_count(1) FROM staff GROUP BY @ HAVING dp_keep_group(1, 1e-6)', format('''%s%%s''::text', repeat('x', 6000)), '{1,5,50}') AS literal_keys,
       pg_temp.most_of('SELECT dp_count(1) FROM staff GROUP BY @ HAVING dp_keep_group(1, 1e-6)', 'current_setting(''work_mem'') || ''%s''', '{1,50,200,1000}') AS early_keys,
       pg_temp.most_of('SELECT dp_count(1) FROM (SELECT @ FROM staff) s', format('CASE WHEN id = 77 THEN ''%s%%s'' END AS v%%1$s', repeat('x', 6000)), '{1,10,50}') AS literal_columns,
       pg_temp.most_of('SELECT @ FROM staff', format('dp_count(CASE WHEN id = 77 THEN ''%s%%s'' END, 0.01)', repeat('x', 6000)), '{1,10,50}') AS literal_values,
       pg_temp.most_of('SELECT dp_count(1) FROM staff WHERE coalesce(@)', format('name = ANY (''{%s,%%s}'')', (SELECT string_agg('somebody else ' || i, ',') FROM generate_series(1, 999) i)), '{1,5,20}') AS literal_lists;
-- Some collations of ICU put marks into order, which takes as long as the length squared. Functions of ICU take longer.
SELECT form, pg_temp.most(form)
  FROM unnest(ARRAY['(repeat(chr(837), 2000) || name || ''%s'') COLLATE "vi-x-icu" < ''x''', '(repeat(chr(837), 2000) || name || ''%s'') COLLATE "und-x-icu" < ''x''', '(repeat(chr(837), 200) || ''%s'') COLLATE "vi-x-icu" < name', 'name COLLATE "el-x-icu" < ''x%s''',
                    'to_char(born, repeat(''TMDy'', 100) COLLATE "und-x-icu") = ''%s''', 'to_char(born, ''TMDay'' COLLATE "und-x-icu") = ''%s''', 'initcap(name COLLATE "und-x-icu") = ''%s''', 'lower(name COLLATE "und-x-icu") = ''%s''']) form;
-- The time of a hash is not bounded, and a key is compared with others.
SELECT dp_count(1) FROM note WHERE sha512(data) = '';
SELECT rpad(short, 60000) COLLATE "und-x-icu" AS k, dp_count(1) FROM note GROUP BY 1 HAVING dp_keep_group(1, 1e-6);
SELECT coalesce(rpad(short, 30000), body) AS k, dp_count(1) FROM note GROUP BY 1 HAVING dp_keep_group(1, 1e-6);
SELECT count(*) AS groups FROM (SELECT lower(body) AS k, lower(short) AS l, dp_count(1) FROM note GROUP BY 1, 2 HAVING dp_keep_group(1, 1e-6)) t;
SELECT d.id, (SELECT dp_count(1) FROM staff LIMIT d.floor) FROM department d;
SELECT dp_count(1) FROM (SELECT salary, row_number() OVER () AS r FROM staff) t WHERE r < 2;
SELECT dp_count(1) FROM (SELECT salary FROM staff GROUP BY salary) t;
SELECT dp_count(1) FROM staff TABLESAMPLE system (50);
WITH RECURSIVE r AS (SELECT id FROM staff UNION ALL SELECT id + 1 FROM r) SELECT dp_count(1) FROM r;
SELECT dp_count(1), row_number() OVER () FROM staff;
SELECT dp_count(1) FROM staff WINDOW w AS (ROWS 1 + 1 PRECEDING);
SELECT DISTINCT dp_count(1) FROM staff;
SELECT unnest('{1,2}'::int[]) AS k, dp_count(1) FROM staff GROUP BY k HAVING dp_keep_group(1, 1e-6);
SELECT generate_series(1, salary) AS k, dp_count(1) FROM staff GROUP BY k HAVING dp_keep_group(1, 1e-6);
SELECT dp_count(1) FROM staff GROUP BY ROLLUP (department) HAVING dp_keep_group(1, 1e-6);
SELECT dp_sum(salary, 1, 0, (SELECT 5 + staff.id)) FROM staff;
SELECT dp_sum(salary, 1, 0, (SELECT salary FROM staff s)) FROM staff;
SELECT dp_sum(salary, 1, 0, (SELECT dp_median(salary, 1, 0, 9) FROM staff)) FROM staff;
SELECT (SELECT dp_sum(salary, 1, 0, (SELECT x)) FROM staff) FROM (VALUES (5), (6)) t (x);
SELECT dp_count_distinct(DISTINCT salary, 1) FROM staff;
SELECT dp_median(salary, 1, 0, salary) FROM staff;
SELECT dp_count(1) FROM staff WHERE salary > (SELECT random());
SELECT dp_count(1) * 1.0 / (SELECT dp_count(1) FROM visit) FROM staff;
SELECT dp_count(1) FROM staff WHERE make_date(year => 2024, month => 1, day => id) > '2024-01-01';
-- A row without a partner is not counted twice: what takes its place must have been NULL.
SELECT dp_sum(coalesce(salary, 99), 1, -99, 99) FROM department d LEFT JOIN staff s ON s.department = d.id;
SELECT dp_count(s.id, 1) FROM department d LEFT JOIN (department e LEFT JOIN staff s ON s.department = e.id) ON e.id = d.id;

-- threat 34: groups and answers that tell of single rows
SELECT department, dp_count(1) FROM staff GROUP BY department;
SELECT 'x', dp_count(1) FROM staff GROUP BY 1;
SELECT salary, dp_count(1) FROM staff GROUP BY salary HAVING dp_keep_group(1, 1e-6) OR dp_count(1) > 5;
SELECT salary, dp_count(1) FROM staff GROUP BY salary HAVING NOT dp_keep_group(1, 1e-6);
SELECT salary FROM staff GROUP BY salary HAVING dp_keep_group(1, 1e-6) AND (1 / (salary - 5) > 2 OR dp_keep_group(1, 1e-6));
SELECT salary FROM staff GROUP BY salary HAVING CASE WHEN dp_keep_group(1, 1e-6) THEN 1 / (salary - 5) > 2 END AND dp_keep_group(1, 1e-6);
SELECT problem FROM dp_explain('SELECT id, name, dp_count(1) FROM staff GROUP BY id HAVING dp_keep_group(1, 1e-6)');
SELECT s.salary, dp_count(s.id, 1) FROM department d JOIN staff s ON s.department = d.id GROUP BY s.salary;
SELECT d.id, dp_count(s.id, 1) FROM staff s LEFT JOIN department d ON s.department = d.id GROUP BY d.id;
SELECT d.id, dp_count(s.id, 1) FROM department d LEFT JOIN staff s ON s.department = d.id WHERE s.salary > 5 GROUP BY d.id;
SELECT s.salary, dp_count(s.id, 1) FROM department d LEFT JOIN staff s ON s.department = d.id GROUP BY s.salary HAVING dp_keep_group(1, 1e-6);
-- threat 175: a protected row that takes the place of a public one must not choose its group. WHERE may choose a row of a table, as ON does.
SELECT e.id, dp_count(s.id, 1) FROM department d LEFT JOIN staff s ON s.department = d.id JOIN department e ON true WHERE e.id = CASE WHEN s.id IS NULL THEN 1 ELSE 2 END
  GROUP BY e.id HAVING dp_keep_group(1, 1e-6);
SELECT e.id FROM (SELECT e.id, dp_count(s.id, 1) FROM department d LEFT JOIN staff s ON s.department = d.id JOIN department e ON e.id = d.id WHERE s.salary > 1e6
  GROUP BY e.id HAVING dp_keep_group(1, 1e-6)) e;
-- A term of ON need not name the table to choose its row, or to drop public rows.
SELECT e.id, dp_count(s.id, 1) FROM department d LEFT JOIN staff s ON s.department = d.id LEFT JOIN department e ON e.id = d.id AND s.salary > 5 GROUP BY e.id;
SELECT d.id, dp_count(s.id, 1) FROM department d LEFT JOIN staff s ON s.department = d.id JOIN department e ON e.id = d.id AND s.salary > 5 GROUP BY d.id;
SELECT d.id, dp_count(s.id, 1) FROM department d LEFT JOIN staff s ON s.department = d.id JOIN department e ON e.id = s.salary GROUP BY d.id;
SELECT dp_count(20) FROM staff WHERE (department, id) NOT IN (SELECT id, floor FROM department);
SELECT dp_count(20) >= 0 AS counted FROM staff s WHERE NOT EXISTS (SELECT FROM department d WHERE d.id = s.department AND d.floor = s.id);
-- Equal keys that look different (threat 63)
SELECT d.floor * interval '1 day', dp_count(s.id, 1) FROM department d LEFT JOIN staff s ON s.department = d.id GROUP BY 1;

-- threat 35: exact facts about rows, and statements that change data
SELECT dp_count(1) FROM staff WHERE ctid = '(0,1)';
SELECT dp_count(1) FROM staff WHERE xmin::text = '5';
SELECT dp_count(staff, 1) FROM staff;
SELECT dp_count(1) FROM (SELECT staff FROM staff) t;
SELECT * FROM staff WHERE false FOR UPDATE;
INSERT INTO department SELECT dp_count(1) FROM staff;
UPDATE department SET floor = 1 FROM staff;
WITH x AS (SELECT dp_count(1) FROM staff) DELETE FROM department;
COPY staff TO STDOUT;
COPY (TABLE staff) TO STDOUT;
CREATE TABLE taken AS TABLE staff;
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM staff;
DO $$ BEGIN PERFORM FROM staff; END $$;
SELECT query_to_xml('SELECT * FROM staff', true, true, '');
SELECT table_to_xml('staff', true, true, '');
BEGIN;
LOCK TABLE staff;
ROLLBACK;

-- threat 30, 53: EXPLAIN and SERIALIZABLE
EXPLAIN SELECT dp_count(1) FROM staff;
EXPLAIN ANALYZE SELECT dp_count(1) FROM staff;
EXPLAIN SELECT * FROM staff;
PREPARE p AS SELECT dp_count(1) FROM staff;
EXPLAIN EXECUTE p;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT dp_count(1) FROM staff;
ROLLBACK;

-- All rows of a user
SELECT dp_count(1) FROM visit;
-- A view that was protected before the table protects its users, or with another column
SELECT dp_count(1) FROM stay;
SELECT dp_count_distinct(cost, 1) FROM patients;
SELECT dp_count_distinct(cost, 1) FROM visit;
SELECT d.id, dp_count_distinct(patient, 1) FROM department d LEFT JOIN visit ON ward = d.id GROUP BY d.id;
-- threat 66: other methods take the number of a user's rows, and the names of grids, for public.
SELECT dp_user_mean(ward, cost, 1, 0, 10) FROM visit;
SELECT dp_user_mean(patient % 2, cost, 1, 0, 10) FROM visit;
SELECT dp_user_mean(patient, cost, 1, 0, 10) FROM visit;
SELECT problem FROM dp_explain('SELECT dp_user_mean(patient, cost, 1, 0, 10) FROM visit');
SELECT dp_user_grid_stats(patient, ward::text, cost, 1, 0, 10) FROM visit;
SELECT ward FROM visit GROUP BY ward HAVING dp_keep_group(1, 1e-6);
-- Single rows are protected: a user of one row more is another user.
SELECT dp_user_mean(id, salary, 1, 0, 10, dp_options(method => 'bounded', max_contributions => 1)) FROM staff;
SELECT department FROM staff GROUP BY department HAVING dp_keep_group(id, 1, 1e-6, 2);

-- The grant's smallest epsilon
SELECT dp_count(0.009) FROM staff;
SELECT dp_count(NULL, dp_options(rho => 0.00001)) FROM staff;

-- threat 218: its largest epsilon, of each aggregate, also for plans that were made before
SET SESSION AUTHORIZATION regress_dpq_owner;
SELECT dp_grant_private_access('staff', 'regress_dpq_asker', max_epsilon => 0.5);
SET SESSION AUTHORIZATION regress_dpq_asker;
SELECT dp_count(0.51) FROM staff;
SELECT dp_count(NULL, dp_options(rho => 0.126)) FROM staff;
SELECT dp_count(0.1), dp_median(salary, 0.6, 0, 10) FROM staff;
SELECT private_aggregate, epsilon, problem FROM dp_explain('SELECT dp_count(0.009), dp_median(salary, 0.6, 0, 10), dp_count(0.5) FROM staff');
SELECT department, dp_count(0.1) FROM staff GROUP BY department HAVING dp_keep_group(0.6, 1e-6);
SELECT dp_count(0.5) > -1000 AS answers FROM staff;
PREPARE planned_before AS SELECT dp_count(0.4) > -1000 AS answers FROM staff;
EXECUTE planned_before;
SET SESSION AUTHORIZATION regress_dpq_owner;
SELECT dp_grant_private_access('staff', 'regress_dpq_asker', max_epsilon => 0.3);
SET SESSION AUTHORIZATION regress_dpq_asker;
EXECUTE planned_before;
DEALLOCATE planned_before;
SET SESSION AUTHORIZATION regress_dpq_owner;
SELECT dp_grant_private_access('staff', 'regress_dpq_asker');
SET SESSION AUTHORIZATION regress_dpq_asker;

-- threat 36: the rights of others
:allow
CREATE FUNCTION lent() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = regress_dpq_hr, public AS
  'BEGIN RETURN (SELECT dp_count(1) FROM staff); END';
CREATE FUNCTION invoked() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT dp_count(1) FROM regress_dpq_hr.staff); END';
CREATE VIEW shared AS SELECT dp_count(1) FROM staff;
GRANT SELECT ON shared TO regress_dpq_stranger;
:forbid
SET SESSION AUTHORIZATION regress_dpq_stranger;
SELECT regress_dpq_own.lent();
SELECT regress_dpq_own.invoked();
SELECT * FROM regress_dpq_own.shared;
-- Plans of one role do not run for another.
RESET SESSION AUTHORIZATION;
SET search_path = regress_dpq_hr, public;
PREPARE plan_of AS SELECT dp_count(1) IS NULL FROM staff;
SET plan_cache_mode = force_generic_plan;
SET ROLE regress_dpq_stranger;
EXECUTE plan_of;
SET ROLE regress_dpq_asker;
EXECUTE plan_of;
SET ROLE regress_dpq_stranger;
EXECUTE plan_of;
RESET ROLE;
PREPARE rows_of AS SELECT count(*) FROM staff;
EXECUTE rows_of;
SET ROLE regress_dpq_asker;
EXECUTE rows_of;
RESET ROLE;
EXECUTE rows_of;
-- ... nor after private access was revoked, also in a cursor that was opened before
SET ROLE regress_dpq_asker;
EXECUTE plan_of;
BEGIN;
DECLARE c CURSOR FOR SELECT dp_count(1) FROM staff;
RESET ROLE;
SELECT dp_revoke_private_access('staff', 'regress_dpq_asker');
SET ROLE regress_dpq_asker;
FETCH c;
ROLLBACK;
RESET ROLE;
SELECT dp_restrict_role('regress_dpq_stranger');
BEGIN;
SET ROLE regress_dpq_asker;
DECLARE c CURSOR FOR SELECT dp_count(1) FROM staff;
SET ROLE regress_dpq_stranger;
FETCH c;
ROLLBACK;
RESET ROLE;
SELECT dp_revoke_private_access('staff', 'regress_dpq_asker');
SET ROLE regress_dpq_asker;
EXECUTE plan_of;
-- ... nor where the column that names the users is another one
RESET ROLE;
SELECT dp_grant_private_access('staff', 'regress_dpq_asker');
BEGIN;
UPDATE dpquantile.protected_table SET user_number = 0 WHERE relation = 'visit'::regclass;
SET ROLE regress_dpq_asker;
SELECT ward FROM visit GROUP BY ward HAVING dp_keep_group(patient, 1, 1e-6, 2);
ROLLBACK;
-- ... nor with row security, also of a role that no policy applies to, nor with rows on another server
RESET ROLE;
ALTER ROLE regress_dpq_asker BYPASSRLS;
ALTER TABLE staff ENABLE ROW LEVEL SECURITY;
SET ROLE regress_dpq_asker;
SELECT dp_count(1) FROM staff;
RESET ROLE;
ALTER TABLE staff DISABLE ROW LEVEL SECURITY;
CREATE FOREIGN DATA WRAPPER regress_dpq_wrapper;
CREATE SERVER regress_dpq_server FOREIGN DATA WRAPPER regress_dpq_wrapper;
CREATE FOREIGN TABLE far () INHERITS (staff) SERVER regress_dpq_server;
SET ROLE regress_dpq_asker;
SELECT dp_count(1) FROM staff;
RESET ROLE;
DROP FOREIGN DATA WRAPPER regress_dpq_wrapper CASCADE;
-- The SQLSTATE says what is missing: the right to see exact values (42501), a form of the query that is supported (0A000), a
-- parameter (22023), something that the owner changes (55000), a shorter query (54000, 54001). PostgreSQL refuses who has no access.
SELECT dp_grant_private_access('staff', 'regress_dpq_asker', epsilon => 0.5);
SET ROLE regress_dpq_asker;
\set VERBOSITY sqlstate
SELECT * FROM staff;
SELECT EXISTS (SELECT FROM staff);
SET plan_cache_mode = force_custom_plan;
-- threat 178: aggregates that the planner computes away would leave a query that reads rows, shows their groups and is not charged.
SELECT d.id, coalesce(1, dp_count(s.id, 1)) FROM department d LEFT JOIN staff s ON s.department = d.id GROUP BY d.id;
SELECT CASE WHEN true THEN 1 ELSE dp_count(1) END FROM staff;
SELECT null::int + dp_count(1) FROM staff HAVING true OR dp_count(1) > 0;
PREPARE computed_away(int) AS SELECT coalesce($1, dp_count(1)::int) FROM staff;
EXECUTE computed_away(1);
SELECT x FROM (SELECT coalesce(1, dp_count(1)) AS x, dp_count(2) >= 0 AS y FROM staff) t;
-- threat 179: what the planner leaves of a condition without its aggregate, or takes out of an OR, moves to WHERE, where rows would be computed with it.
SELECT dp_count(1) FROM staff GROUP BY salary HAVING dp_keep_group(1, 1e-9) AND (1 / (salary - 1) > 0 OR (false AND dp_count(1) > 0));
SELECT dp_count(1) FROM staff GROUP BY salary HAVING dp_keep_group(1, 1e-9) AND ((1 / (salary - 1) > 0 AND dp_count(1) > 5) OR (1 / (salary - 1) > 0 AND dp_count(1) > 6));
SELECT dp_count(1) FROM staff GROUP BY salary HAVING dp_keep_group(1, 1e-9) AND NOT (dp_count(1) < 0 OR 1 / (salary - 1) > 0);
SELECT dp_count(1) FROM (SELECT salary, 1 AS c FROM staff) t GROUP BY salary, c HAVING dp_keep_group(1, 1e-9) AND (1 / (salary - 1) > 0 OR (c = 0 AND dp_count(1) > 0));
WITH t AS (SELECT salary, NULL::int AS c FROM staff) SELECT dp_count(1) FROM t GROUP BY salary, c HAVING dp_keep_group(1, 1e-9) AND coalesce(c > dp_count(1), 1 / (salary - 1) > 0);
PREPARE left_over(bool) AS SELECT dp_count(1) FROM staff GROUP BY salary HAVING dp_keep_group(1, 1e-9) AND (1 / (salary - 1) > 0 OR ($1 AND dp_count(1) > 0));
EXECUTE left_over(false);
RESET plan_cache_mode;
-- threat 176: PostgreSQL evaluates OFFSET before it looks for a row, also where there can be none.
WITH z AS (SELECT id, salary FROM staff) SELECT 1 FROM z LIMIT 0 OFFSET (SELECT string_agg(id || ': ' || salary, ', ')::bigint FROM z);
WITH z AS (SELECT id, salary FROM staff) SELECT 1 FROM z WHERE false OFFSET CASE WHEN EXISTS (SELECT FROM z WHERE id = 1) THEN -1 ELSE 0 END;
SELECT dp_count(1) FROM (SELECT id FROM staff WHERE false OFFSET (SELECT -id FROM staff LIMIT 1)) t;
SELECT id FROM staff LIMIT 0 OFFSET random()::bigint;
SELECT id FROM (SELECT id FROM staff WHERE false OFFSET 1) t LIMIT 0 OFFSET -1;
SELECT id FROM staff UNION SELECT 1;
SELECT string_agg(name, ',') FROM staff;
SELECT dp_count(1) FROM staff WHERE random() < 0.5;
SELECT dp_count(1) FROM staff, staff s;
SELECT department, dp_count(1) FROM staff GROUP BY department;
SELECT dp_count(1) FROM (SELECT DISTINCT salary FROM staff) t;
EXPLAIN SELECT dp_count(1) FROM staff;
SELECT avg(salary) FROM staff;
SELECT dp_sum(salary, 1, 0, salary) FROM staff;
SELECT dp_count(0.001) FROM staff;
SELECT dp_count(1) FROM staff JOIN shared ON shared.id = staff.id;
SELECT dp_count(1) FROM stay;
SELECT dp_count(1) FROM staff JOIN generate_series(1, 1001) g ON g = id;
SET ROLE regress_dpq_stranger;
SELECT dp_count(1) FROM staff;
\set VERBOSITY default
RESET ROLE;
-- A role that is not restricted has no private access, whatever was granted.
SELECT dp_unrestrict_role('regress_dpq_asker');
SET SESSION AUTHORIZATION regress_dpq_asker;
SELECT dp_count(1) FROM staff;

RESET SESSION AUTHORIZATION;
\set VERBOSITY terse
DROP SCHEMA regress_dpq_own, regress_dpq_hr CASCADE;
DROP OWNED BY regress_dpq_owner, regress_dpq_asker;
DROP ROLE regress_dpq_owner, regress_dpq_asker, regress_dpq_stranger;
