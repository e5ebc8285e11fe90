-- Two schemas, with and without, whose table person differs in one row, the marked one. It has a column for each type of
-- test/total/samples.sql: all ordinary rows have the same value in it, the marked row has another one.
SET client_min_messages = warning;
CREATE EXTENSION dpquantile;
CREATE ROLE analyst LOGIN;
CREATE ROLE owner LOGIN;
GRANT USAGE ON SCHEMA samples TO owner, analyst;

-- Calls of the library's own functions come to the test, too. Final functions stay, because they are recognised by their language.
CREATE FUNCTION faults_call() RETURNS language_handler LANGUAGE C AS '$libdir/dpquantile', 'faults_call';
CREATE TRUSTED LANGUAGE faulty HANDLER faults_call;
UPDATE pg_proc SET prolang = (SELECT oid FROM pg_language WHERE lanname = 'faulty')
 WHERE pronamespace = 'dpquantile'::regnamespace AND proname ~ '^total(_stable)?$'
    OR oid IN (SELECT unnest(ARRAY[aggtransfn, aggcombinefn, aggserialfn, aggdeserialfn]) FROM pg_aggregate a JOIN pg_proc p ON p.oid = aggfnoid
                WHERE proname LIKE 'dp\_%') AND probin LIKE '%dpquantile';

-- Two values of each type: of the marked row, and of the others. Declared is the type of an argument, which may be anyenum.
CREATE TABLE sample (declared oid PRIMARY KEY, type regtype NOT NULL, marked text NOT NULL, ordinary text NOT NULL);
DO $$
DECLARE
  t record;
BEGIN
  FOR t IN SELECT typname, p.oid, a.atttypid AS type, typname IN ('text', 'varchar', 'bpchar', 'name', 'char') AS is_text
             FROM pg_class c JOIN pg_type p ON typname = relname JOIN pg_attribute a ON attrelid = c.oid AND attname = 'v'
            WHERE relnamespace = 'samples'::regnamespace AND relkind = 'r' AND typrelid = 0 LOOP
    EXECUTE format('INSERT INTO sample SELECT %L, %L, v[1], v[2]
      FROM (SELECT array_agg(v ORDER BY length(v), v) FROM (SELECT DISTINCT v::text AS v FROM samples.%I) s
             WHERE v NOT IN ('''', %L) AND (v ~ %L)) s (v)', t.oid, t.type, t.typname, '\x', CASE WHEN t.is_text THEN '^[a-zA-Z]' ELSE '' END);
  END LOOP;
END
$$;

CREATE PROCEDURE make_schema(schema name, marked int[]) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE SCHEMA %I AUTHORIZATION owner', schema);
  EXECUTE format('SET LOCAL search_path = %I, public', schema);
  EXECUTE (SELECT format('CREATE TABLE person AS SELECT i AS id, %s FROM generate_series(1, 20) i',
      string_agg(format('CASE WHEN i = ANY ($1) THEN %L ELSE %L END::%s AS c%s', s.marked, ordinary, type, declared), ', ')) FROM sample s) USING marked;
  -- Enough to be sorted on disk, by a query that keeps all groups
  EXECUTE 'CREATE TABLE visit AS SELECT i AS id, i AS patient, repeat(md5(i::text), 20) AS note FROM generate_series(1, 5000) i WHERE i <> 7 OR $1 <> $2' USING marked, '{}'::int[];
  CREATE TABLE stay AS SELECT id, id % 5 AS patient, c23, c701 FROM person;
  ALTER TABLE stay OWNER TO owner;
  ALTER TABLE person OWNER TO owner;
  ALTER TABLE visit OWNER TO owner;
  ALTER TABLE person SET (parallel_workers = 2);
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO analyst', schema);
END
$$;
CALL make_schema('marked', '{7}');
CALL make_schema('others', '{}');
SELECT dp_grant_budget('analyst', 1e9, 0.5, smallest_charge => 0.001), dp_restrict_role('analyst');
SET SESSION AUTHORIZATION owner;
SELECT dp_protect_table(t, 'patient', 3) FROM unnest('{marked.stay,others.stay,marked.visit,others.visit}'::regclass[]) t;
SELECT dp_protect_table(t) FROM unnest('{marked.person,others.person}'::regclass[]) t;
SELECT dp_grant_private_access(t, 'analyst', most_cancels => 1000000)
  FROM unnest('{marked.person,others.person,marked.visit,others.visit,marked.stay,others.stay}'::regclass[]) t;
RESET SESSION AUTHORIZATION;
VACUUM;
