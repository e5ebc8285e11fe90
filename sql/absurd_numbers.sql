-- threat 28: absurd numbers in any function of the extension. They give an answer or a clear error, never an internal one.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_absurd SUPERUSER;
CREATE ROLE regress_dpq_team;
CREATE SCHEMA AUTHORIZATION regress_dpq_absurd;
SELECT dp_grant_budget(role, 1e9, 0.9, smallest_charge => 1e-6) FROM unnest('{regress_dpq_absurd,regress_dpq_team}'::regrole[]) role;
SET ROLE regress_dpq_absurd;

-- The functions for accountant zcdp
SELECT dpquantile.rho_within('NaN', 1e-6);
SELECT dpquantile.rho_within(-1, 1e-6);
SELECT dpquantile.rho_within(1, 0);
SELECT dpquantile.rho_within(1, 1);
SELECT dpquantile.rho_within(1, 'NaN');
SELECT dpquantile.epsilon_of_rho('NaN', 1e-6);
SELECT dpquantile.epsilon_of_rho(-5e-324, 1e-6);
SELECT dpquantile.epsilon_of_rho('-Infinity', 1e-6);
SELECT dpquantile.epsilon_of_rho(1, 0);
SELECT dpquantile.epsilon_of_rho(0, 2);
SELECT dpquantile.rho_within('Infinity', 1e-6) > 1e8 AS rho, dpquantile.epsilon_of_rho('Infinity', 1e-6) AS epsilon,
       dpquantile.rho_within(0, 5e-324) AS no_rho, dpquantile.epsilon_of_rho(0, 5e-324) AS no_epsilon;

-- The functions that SQL can call, and their arguments in order. Support functions of aggregates refuse any call.
-- Where arguments may be of any type that they have in common, each such type is a variant.
CREATE TABLE t AS SELECT x::float8 AS value, x % 5 AS user_id FROM generate_series(0, 100) x;
SELECT dp_protect_table('t');
CREATE TABLE cdfs AS SELECT dp_cdf(value, 1, 0, 100) AS cdf FROM t;
CREATE TABLE arguments AS
  SELECT p.oid AS function, v.variant, p.prokind, a.number, a.name,
         CASE a.type::regtype WHEN 'anycompatible'::regtype THEN v.variant WHEN 'anycompatiblearray'::regtype THEN (v.variant || '[]')::regtype
                              ELSE a.type::regtype END AS type
    FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
    LEFT JOIN unnest('{float8,real,numeric,smallint,integer,bigint,date,timestamp,timestamptz,time,interval}'::regtype[]) v (variant)
           ON 'anycompatible'::regtype = ANY (p.proargtypes),
         ROWS FROM (unnest(p.proargnames), unnest(p.proargtypes)) WITH ORDINALITY a (name, type, number)
   WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass AND a.number <= p.pronargs
     AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dpquantile')
     AND p.proname !~ '^(total(_stable)?|of_person)$'
     AND NOT p.proargtypes::oid[] && '{internal,cstring,dpquantile.records_state}'::regtype[]::oid[];
-- An ordinary number for each argument, and absurd ones for each type of number
CREATE TABLE ordinary (name text, sql text, type regtype);  -- without a type: for every other type
INSERT INTO ordinary VALUES
  ('value', 'value'), ('user_id', 'user_id'), ('grid', 'user_id::text'), ('cdf', '(SELECT cdf FROM cdfs)'),
  ('epsilon', '1'), ('delta', '1e-6'), ('rho', 'NULL'), ('lower', '0'), ('upper', '100'), ('quantile', '0.5'),
  ('quantiles', '''{0.5}'''), ('size', '5'), ('bins', '16'), ('confidence', '0.9'), ('width', '300'), ('height', '200'),
  ('title', '''title'''), ('x', '1'), ('from_value', '1'), ('to_value', '2'), ('simultaneous', 'true'), ('n', '1000'),
  ('rows', '1000'), ('rows_per_user', '''{3}'''), ('users', '''{9}'''), ('options', '''{}'''), ('query', '''dp_cdf'''),
  ('method', '''tree'''), ('accountant', '''pure'''), ('neighbours', '''replace'''), ('role', '''regress_dpq_team'''), ('upwards', 'true'),
  ('granularity', '1'), ('max_contributions', '8'), ('suppress', 'NULL'), ('smallest_charge', '1e-6'),
  ('note', 'NULL'), ('step', '''1 hour'''), ('bounds', 'ARRAY[0, 50, 100]'), ('counts', '''{3,4}'''), ('error', '5'), ('max_groups', '2'), ('max_rows', '4'), ('x_lower', '0'), ('x_upper', '10'),
  ('relation', '''t'''), ('smallest_epsilon', '0.01'), ('answer_epsilon', '0.1'), ('rows_left_out', '5'), ('rows_left_out_error', '2'), ('groups_left_out', '5'), ('groups_left_out_error', '2'), ('caller', '10'), ('reuse', '''1 day'''), ('start', '1'), ('stop', '10'),
  ('list', 'ARRAY[1, 2]'), ('column_name', '''value'''), ('column_type', '''float8'''), ('keys', '''{1}'''),
  ('every', '''month'''), ('at', '''2026-11-26'''), ('on_table', '''t'''), ('epsilon_spent', '1'), ('rho_spent', '0.01'),
  ('epsilon_limit', '2'), ('delta_limit', '1e-6'), ('rho_limit', '0.1'), ('charged_delta', 'NULL'), ('converting_delta', '1e-6'), ('had', 'NULL'), ('unit', 'NULL'), ('with_tables', 'true'), ('most_cancels', '100'), ('max_epsilon', '1'), ('most_bytes', '256'),
  ('name', '''bins'''), ('terms', 'NULL'), ('general', 'NULL'), ('before', 'NULL'), ('charged', '''regress_dpq_team'''), ('added_epsilon', '1'), ('added_delta', '0'),
  ('added_rho', '0.5'), ('added_at', '''2026-11-26'''), ('budgets', 'NULL'), ('user_number', '1'),
  ('period_start', '''2026-11-01'''), ('spent', '2'), ('epsilon_left', '1'), ('delta_left', '0'), ('rho_left', '0.1'), ('least_epsilon', '1'), ('least_rho', '0.01'),
  ('key', '1'), ('condition', 'true'), ('first_half', '5'), ('second_half', '6'), ('asked', '''t'''), ('grantee', '10'), ('through', 'NULL'), ('apply', 'false'), ('persons', 'true');
INSERT INTO ordinary VALUES ('every', '''1 month''', 'interval');
INSERT INTO ordinary
  SELECT 'step', '2', unnest('{int4,int8,numeric}'::regtype[])
   UNION ALL
  SELECT name, format('%L', day), type
    FROM unnest('{start,stop}'::text[], '{2000-01-01,2000-01-02}'::text[]) days (name, day), unnest('{timestamp,timestamptz}'::regtype[]) type;
INSERT INTO ordinary
  SELECT name, CASE name WHEN 'value' THEN format('(%s + value * interval ''1 hour'')', lower) WHEN 'lower' THEN lower ELSE upper END, type
    FROM unnest('{value,lower,upper}'::text[]) name,
         (VALUES ('date'::regtype, 'date ''2000-01-01''', 'date ''2000-01-10'''),
                 ('timestamp', 'timestamp ''2000-01-01''', 'timestamp ''2000-01-10'''),
                 ('timestamptz', 'timestamptz ''2000-01-01''', 'timestamptz ''2000-01-10'''),
                 ('time', 'time ''6:00''', 'time ''15:00'''), ('interval', 'interval ''6:00''', 'interval ''15:00''')) b (type, lower, upper)
   UNION ALL SELECT 'granularity', '''1 hour''', 'interval'
   UNION ALL SELECT 'granularity', 'NULL', unnest('{date,timestamp,timestamptz,time}'::regtype[]);
INSERT INTO ordinary
  SELECT 'bounds', format('ARRAY[%s, %s]', l.sql, u.sql), (l.type || '[]')::regtype
    FROM ordinary l JOIN ordinary u ON u.type = l.type WHERE l.name = 'lower' AND u.name = 'upper';
CREATE TABLE absurd (type regtype, number text);
INSERT INTO absurd
  SELECT type, number
    FROM unnest('{float8,float8[]}'::regtype[]) type,
         unnest('{NULL,NaN,Infinity,-Infinity,0,-0,-1,1,0.5,1e308,-1e308,5e-324,-5e-324,1e-300,1e16,4294967296.5}'::text[]) number;
INSERT INTO absurd
  SELECT 'numeric', unnest('{NULL,NaN,Infinity,-Infinity,0,-1,1e400,-1e400,1e-400,1e131071,1e-16383}'::text[]);
INSERT INTO absurd
  SELECT type, unnest('{NULL,0,-1,9223372036854775807,-9223372036854775808}'::text[]) FROM unnest('{int8,int8[]}'::regtype[]) type;
INSERT INTO absurd
  SELECT 'int4'::regtype, unnest('{NULL,0,-1,2147483647,-2147483648}'::text[])
   UNION ALL SELECT 'time', unnest('{NULL,00:00,24:00}'::text[])
   UNION ALL SELECT 'interval', unnest('{NULL,0,-178000000 years,178000000 years,1 microsecond}'::text[])
   UNION ALL SELECT type, unnest('{NULL,-infinity,infinity,epoch,4713-01-01 BC}'::text[]) FROM unnest('{date,timestamp,timestamptz}'::regtype[]) type;

-- The outcome of a call whose argument `number` is absurd.
CREATE FUNCTION outcome(called oid, variant regtype, number bigint, absurd text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  call text;
BEGIN
  SELECT format('%s(%s)', called::regproc,
                string_agg(CASE WHEN a.number <> outcome.number THEN coalesce(o.sql, 'no ordinary number for ' || a.name)
                                WHEN absurd = 'NULL' THEN format('NULL::%s', a.type)
                                WHEN a.type::text LIKE '%[]' THEN format('%L::%s', '{' || absurd || '}', a.type)
                                ELSE format('%L::%s', absurd, a.type) END
                           -- The type tells variants apart. An aggregate's user, and a value that is only counted, may have any type.
                           || CASE WHEN a.type::text LIKE 'any%' OR a.type::text = '"any"' THEN '' ELSE '::' || a.type END, ', ' ORDER BY a.number))
    INTO call
    FROM arguments a
    LEFT JOIN LATERAL (SELECT * FROM ordinary o WHERE o.name = a.name AND coalesce(o.type, a.type) = a.type
                        ORDER BY o.type LIMIT 1) o ON true
   WHERE a.function = called AND a.variant IS NOT DISTINCT FROM outcome.variant;
  EXECUTE 'SELECT ' || call || (SELECT CASE prokind WHEN 'a' THEN ' FROM t' ELSE '' END FROM pg_proc WHERE oid = called);
  -- What dp_grant_budget has changed is rolled back. A charge cannot be.
  RAISE EXCEPTION SQLSTATE 'RBACK';
EXCEPTION
  WHEN SQLSTATE 'RBACK' THEN RETURN 'answer';
  WHEN OTHERS THEN RETURN SQLSTATE;
END
$$;
CREATE TABLE outcomes (function oid, variant regtype, name text, number text, outcome text);
-- Variants of an aggregate differ in the type of the value, and may take options. What such an argument means depends on the type of the value at most
-- if it is a bound. So one variant is called with each absurd number, and the others with one of the numbers, each with the next.
CREATE TABLE calls AS
  SELECT v.function, v.variant, v.number, v.name, b.number AS absurd
    FROM (SELECT *, row_number() OVER w AS turn
            FROM (SELECT a.*, p.proname, CASE WHEN a.name IN ('lower', 'upper', 'granularity', 'bounds') THEN coalesce(a.variant, p.proargtypes[0]) END AS value_type
                    FROM arguments a JOIN pg_proc p ON p.oid = a.function) a
          WINDOW w AS (PARTITION BY proname, name, type, CASE WHEN prokind = 'a' THEN coalesce(value_type, 0) ELSE function END ORDER BY function, variant)) v
    JOIN (SELECT *, row_number() OVER w AS place, count(*) OVER (PARTITION BY type) FROM absurd WINDOW w AS (PARTITION BY type ORDER BY number)) b USING (type)
   -- An absurd value of a row is an ordinary call of the aggregate, and in sql/odd_values.sql.
   WHERE NOT (v.prokind = 'a' AND v.name = 'value') AND (v.turn = 1 OR v.turn % b.count = b.place - 1);
SET client_min_messages = warning;
-- A transaction for each function: one for all would have to pass over the old versions of the budgets' rows at each charge.
DO $$
DECLARE
  called oid;
BEGIN
  FOR called IN SELECT DISTINCT function FROM calls LOOP
    INSERT INTO outcomes SELECT function, variant, name, absurd, outcome(function, variant, number, absurd) FROM calls WHERE function = called;
    COMMIT;
  END LOOP;
END
$$;
SELECT count(DISTINCT (function, variant)) > 80 AS many_functions, count(*) > 3000 AS many_calls FROM outcomes;
SELECT function::regprocedure, variant, name, number, outcome AS internal_error FROM outcomes WHERE outcome LIKE 'XX%';
SELECT DISTINCT outcome FROM outcomes ORDER BY outcome;

RESET ROLE;
DROP OWNED BY regress_dpq_absurd;
DROP ROLE regress_dpq_absurd, regress_dpq_team;
