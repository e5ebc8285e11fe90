-- threats 186 and 187: aggregates of the rows of one person, below a private aggregate, do not depend on the order of these rows, and
-- never fail. dpquantile.how_total() names those of PostgreSQL's that may be called, as they are or by their variants.
\set SHOW_CONTEXT never
SET extra_float_digits = 3;
SET TimeZone = 'UTC';
SET IntervalStyle = 'postgres';
CREATE SCHEMA regress_dpq_persons;
SET search_path = regress_dpq_persons, public;

SELECT dpquantile.how_total(oid), string_agg(DISTINCT proname, ' ' ORDER BY proname), count(*) FROM pg_proc
 WHERE prokind = 'a' AND oid < 16384 AND dpquantile.how_total(oid) IS NOT NULL
 GROUP BY 1 ORDER BY 1;

-- The values of each type that are most likely to show an order of rows: equal ones that look different, the ends of the range, sums that
-- overflow although their parts do not, and numbers that vanish beside others.
CREATE TABLE adversarial (type regtype, value text);
INSERT INTO adversarial SELECT 'float8', unnest('{1e308,1e308,-1e308,-1e308,1,1,3,0.1,-0.1,1e16,-1e16,5e-324,-5e-324,0,-0,2.2250738585072014e-308,NaN,Infinity,-Infinity}'::text[]);
INSERT INTO adversarial SELECT 'float4', unnest('{3e38,3e38,-3e38,-3e38,1,1,3,0.1,-0.1,1e8,-1e8,1e-45,-1e-45,0,-0,NaN,Infinity,-Infinity}'::text[]);
INSERT INTO adversarial SELECT 'numeric', unnest('{1,1.0,1.000,-1,-1.00,0,0.00,1e-20,123456789012345678901234567890.5,NaN,Infinity,-Infinity,0.1,0.10,3,1e399,-1e399,1e-399,9e131071,9e131071,1e-16383}'::text[]);
INSERT INTO adversarial SELECT t, unnest(array['-32768', '32767', '32767', '0', '1', '1', '-1', '7']) FROM unnest('{int2,int4,int8}'::regtype[]) t;
INSERT INTO adversarial SELECT t, unnest(array['-2147483648', '2147483647', '2147483647']) FROM unnest('{int4,int8}'::regtype[]) t;
INSERT INTO adversarial SELECT 'int8', unnest('{-9223372036854775808,9223372036854775807,9223372036854775807}'::text[]);
INSERT INTO adversarial SELECT 'oid', unnest('{0,1,1,4294967295}'::text[]);
INSERT INTO adversarial SELECT 'bool', unnest('{t,f,t}'::text[]);
INSERT INTO adversarial SELECT 'interval', unnest('{1 day,24:00:00,-1 day,1 mon,30 days,720:00:00,-1 mon 30 days,00:00:00,1 mon -30 days,178956970 years 7 mons,-178956970 years,2147483647 days,-2147483648 days,2562047788:00:54.775807,-2562047788:00:54.775807,-2562047788:00:54.775807,00:00:00.000001}'::text[]);
INSERT INTO adversarial SELECT 'date', unnest('{infinity,-infinity,4713-01-01 BC,5874897-12-31,2024-02-29,2024-02-29}'::text[]);
INSERT INTO adversarial SELECT t, unnest('{infinity,-infinity,4713-01-01 BC,294276-12-31 23:59:59.999999,2024-02-29 12:00,2024-02-29 12:00}'::text[])
  FROM unnest('{timestamp,timestamptz}'::regtype[]) t;
INSERT INTO adversarial SELECT 'time', unnest('{00:00,24:00,12:00:00.000001}'::text[]);
INSERT INTO adversarial SELECT 'timetz', unnest('{00:00+00,01:00+01,24:00+00,00:00+15}'::text[]);
INSERT INTO adversarial SELECT 'text', unnest(array['', 'a', 'A', 'a ', 'é', 'é', 'b']);
INSERT INTO adversarial SELECT t, unnest(array['', 'a', 'a ', 'a  ', 'b']) FROM unnest('{varchar,bpchar}'::regtype[]) t;
INSERT INTO adversarial SELECT 'bytea', unnest('{"\\x","\\x00","\\x0000","\\x00"}'::text[]);
INSERT INTO adversarial SELECT 'uuid', unnest('{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff,ffffffff-ffff-ffff-ffff-ffffffffffff}'::text[]);
CREATE TYPE mood AS ENUM ('sad', 'happy');
INSERT INTO adversarial VALUES ('mood', 'sad'), ('mood', 'happy'), ('mood', 'happy');

-- The rows of 120 persons of each type, at most 9 each, in 6 orders. Some have one row, some NULL.
CREATE TABLE person AS
SELECT a.type, p AS person, a.value FROM generate_series(1, 120) p, LATERAL (
  SELECT DISTINCT type FROM adversarial) t, LATERAL (
  SELECT type, value FROM (SELECT type, value, number FROM (SELECT *, row_number() OVER () AS number FROM adversarial WHERE type = t.type) n
                            UNION ALL SELECT t.type, NULL, 0) v
   ORDER BY md5(p || ' ' || number) LIMIT p % 10) a;
CREATE TABLE row_in_order AS SELECT r.*, o AS in_order, md5(o || ' ' || row_number() OVER ()) AS place FROM person r, generate_series(1, 6) o;

-- The call of an aggregate of a person. A number is given as the queries give it.
CREATE FUNCTION call_of(aggregate regprocedure, type regtype, fraction float8 DEFAULT NULL, descending bool DEFAULT false) RETURNS text LANGUAGE sql RETURN (
  SELECT CASE WHEN dpquantile.how_total(aggregate) = 'variant of a person' OR fraction = 2
           THEN format('dpquantile.of_person(%L::%s[], %s, %s%s ORDER BY place)', '{}', CASE prorettype WHEN 'anyelement'::regtype THEN type ELSE prorettype END::regtype,
                       aggregate::oid, v, CASE WHEN fraction <= 1 THEN format(', %s::float8, %L::bool', fraction, descending) ELSE '' END)
         WHEN aggregate = 'count()'::regprocedure THEN 'count(*)'
         WHEN type = 'numeric'::regtype AND proname IN ('min', 'max') THEN format('%s(trim_scale(%s) ORDER BY place)', proname, v)
         ELSE format('%s(%s ORDER BY place)', proname, v) END
    FROM pg_proc, format(CASE type WHEN 'numeric'::regtype THEN 'dpquantile.short_value(value::numeric, 0)' ELSE 'value::%s' END, type) AS v
   WHERE oid = aggregate);
CREATE TABLE call AS
SELECT p.oid::regprocedure AS aggregate, t.type, call_of(p.oid, t.type) AS sql
  FROM pg_proc p, (SELECT DISTINCT type FROM adversarial) t
 WHERE dpquantile.how_total(p.oid) ~ 'of a person$' AND p.proname !~ '^percentile'
   AND (p.pronargs = 0 OR p.proargtypes[0] = t.type OR p.proargtypes[0] = '"any"'::regtype OR p.proargtypes[0] = 'anyenum'::regtype AND t.type = 'mood'::regtype)
UNION ALL
SELECT 'count("any")', type, call_of('count("any")', type, 2) FROM (SELECT DISTINCT type FROM adversarial) t
UNION ALL
SELECT p.oid, t.type::regtype, call_of(p.oid, t.type::regtype, f, d)
  FROM pg_proc p, unnest('{bool,int2,int4,int8,oid,float4,float8,numeric,date,time,timestamp,timestamptz,interval}'::text[]) t (type),
       unnest('{0,0.3,0.5,1}'::float8[]) f, unnest('{t,f}'::bool[]) d
 WHERE dpquantile.how_total(p.oid) ~ 'of a person$' AND p.proname ~ '^percentile'
   AND (p.proargtypes[1] = 'anyelement'::regtype OR p.proargtypes[1] = t.type::regtype);
SELECT count(*), count(DISTINCT aggregate) FROM call;

-- Persons for whom two orders give answers that differ in a bit. Floats are shown with all digits and their sign; NaN has more than one form.
CREATE FUNCTION ambiguous(call text, of_type regtype) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  found bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM (SELECT FROM (SELECT person, in_order, %s AS answer FROM row_in_order WHERE type = %L::regtype GROUP BY person, in_order) a '
                 'GROUP BY person HAVING count(DISTINCT coalesce(answer::text, ''NULL'')) > 1) p', call, of_type) INTO found;
  RETURN found;
END
$$;
-- None, and no error.
SELECT * FROM (SELECT aggregate, type, sql, ambiguous(sql, type) AS persons FROM call OFFSET 0) c WHERE persons > 0;

-- PostgreSQL's own, on the same rows: the answer depends on the order, or is an error.
CREATE FUNCTION how_ambiguous(call text, of_type regtype) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN CASE WHEN ambiguous(call, of_type) > 0 THEN 'depends on the order' ELSE 'does not' END;
EXCEPTION WHEN data_exception THEN
  RETURN SQLERRM;
END
$$;
SELECT how_ambiguous(format('%s(value::%s ORDER BY place)', a.name, t.type), t.type), string_agg(format('%s(%s)', a.name, t.type), ' ' ORDER BY a.name, t.type)
  FROM unnest('{sum,avg,min,max,stddev}'::text[]) a (name), unnest('{float4,float8,numeric,interval}'::regtype[]) t (type)
 WHERE NOT (a.name = 'stddev' AND t.type = 'interval'::regtype OR a.name IN ('avg', 'stddev') AND t.type = 'numeric'::regtype) GROUP BY 1 ORDER BY 1;

-- On ordinary values the variants answer what PostgreSQL answers. Whole numbers are exact as floats.
CREATE TABLE ordinary AS SELECT g % 97 AS person, (g * 7919) % 1009 - 500 AS value FROM generate_series(1, 4000) g;
CREATE FUNCTION values_that_differ(aggregate text, type text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  original regprocedure := format('%s(%s)', aggregate, type);
  found bigint;
  argument text := replace(CASE type WHEN 'interval' THEN 'value * interval ''1 hour 3 days''' ELSE 'value::' || type END, 'value', 'o.value');
BEGIN
  EXECUTE format('SELECT count(*) FROM (SELECT %s(%s)::text AS answer, dpquantile.of_person(%L::%s[], %s, %2$s)::text AS variant FROM ordinary o GROUP BY person) a '
                 'WHERE answer IS DISTINCT FROM variant', aggregate, argument, '{}',
                 (SELECT prorettype::regtype FROM pg_proc WHERE oid = original), original::oid) INTO found;
  RETURN found;
END
$$;
SELECT a.name, t.type, values_that_differ(a.name, t.type)
  FROM unnest('{sum,avg,min,max}'::text[]) a (name), unnest('{float4,float8,interval}'::text[]) t (type) WHERE values_that_differ(a.name, t.type) > 0;
SELECT count(*) FILTER (WHERE abs(exact - rounded) > 1e-12 * exact) AS far, count(*)
  FROM (SELECT dpquantile.of_person('{}'::float8[], 'stddev(float8)'::regprocedure::oid, value::float8), stddev(value::float8) FROM ordinary GROUP BY person
         UNION ALL
        SELECT dpquantile.of_person('{}'::float8[], 'var_pop(real)'::regprocedure::oid, value::real), var_pop(value::real) FROM ordinary GROUP BY person) a (exact, rounded);
SELECT count(*) FILTER (WHERE disc <> disc_variant OR cont <> cont_variant OR down <> down_variant OR different <> different_variant) AS differ, count(*)
  FROM (SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY value), dpquantile.of_person('{}'::int[], 3972, value, 0.3::float8, false),
               percentile_disc(0.3) WITHIN GROUP (ORDER BY value DESC), dpquantile.of_person('{}'::int[], 3972, value, 0.3::float8, true),
               percentile_cont(0.3) WITHIN GROUP (ORDER BY value), dpquantile.of_person('{}'::float8[], 3974, value::float8, 0.3::float8, false),
               count(DISTINCT value), dpquantile.of_person('{}'::bigint[], 2147, value)
          FROM ordinary GROUP BY person) a (disc, disc_variant, down, down_variant, cont, cont_variant, different, different_variant);

-- So do counts of different values, and percentiles, on all values.
CREATE FUNCTION persons_that_differ(of_type regtype, original text, variant text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  found bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM (SELECT %s AS answer, %s AS variant FROM (SELECT person, %s AS value FROM person WHERE type = %L::regtype) p GROUP BY person) a '
                 'WHERE answer IS DISTINCT FROM variant', original, variant,
                 CASE of_type WHEN 'numeric'::regtype THEN 'dpquantile.short_value(value::numeric, 0)' ELSE 'value::' || of_type END, of_type) INTO found;
  RETURN found;
END
$$;
SELECT sum(persons_that_differ(type, 'count(DISTINCT value)', format('dpquantile.of_person(%L::bigint[], 2147, value)', '{}'))), count(*)
  FROM (SELECT DISTINCT type FROM adversarial) t;
SELECT sum(persons_that_differ(type, format('percentile_disc(%s) WITHIN GROUP (ORDER BY value %s)', f, CASE WHEN d THEN 'DESC' ELSE '' END),
                               format('dpquantile.of_person(%L::%s[], 3972, value, %s::float8, %L::bool)', '{}', type, f, d))), count(*)
  FROM unnest('{bool,int2,int4,int8,oid,float4,float8,numeric,date,time,timestamp,timestamptz,interval}'::regtype[]) type, unnest('{0,0.3,1}'::float8[]) f, unnest('{t,f}'::bool[]) d;
SELECT sum(persons_that_differ('float8', format('percentile_cont(%s) WITHIN GROUP (ORDER BY value %s)', f, CASE WHEN d THEN 'DESC' ELSE '' END),
                               format('dpquantile.of_person(%L::float8[], 3974, value, %s::float8, %L::bool)', '{}', f, d))), count(*)
  FROM unnest('{0,0.3,1}'::float8[]) f, unnest('{t,f}'::bool[]) d;

-- What is exact where PostgreSQL rounds, fails, or takes equal values for the same.
SELECT dpquantile.of_person('{}'::float8[], 'sum(float8)'::regprocedure::oid, x) FROM unnest('{1e308,1e308,-1e308,-1e308,1}'::float8[]) x;
SELECT dpquantile.of_person('{}'::float8[], 'sum(float8)'::regprocedure::oid, x) IS NULL AS overflows FROM unnest('{1e308,1e308}'::float8[]) x;
SELECT dpquantile.of_person('{}'::float8[], 'avg(float8)'::regprocedure::oid, x) FROM unnest('{1e308,1e308}'::float8[]) x;
SELECT dpquantile.of_person('{}'::float8[], 'stddev_pop(float8)'::regprocedure::oid, x) FROM unnest('{1e308,-1e308}'::float8[]) x;
SELECT dpquantile.of_person('{}'::real[], 'sum(real)'::regprocedure::oid, x) FROM unnest('{16777216,1,1,1}'::real[]) x;
SELECT dpquantile.of_person('{}'::float8[], 'sum(float8)'::regprocedure::oid, x) FROM unnest('{-0,-0}'::float8[]) x;
SELECT dpquantile.of_person('{}'::float8[], 'min(float8)'::regprocedure::oid, x) FROM unnest('{-0}'::float8[]) x;
SELECT dpquantile.of_person('{}'::interval[], 'sum(interval)'::regprocedure::oid, x) FROM unnest('{178956970 years,178956970 years,-178956970 years}'::interval[]) x;
SELECT dpquantile.of_person('{}'::interval[], 'avg(interval)'::regprocedure::oid, x) IS NULL AS overflows FROM unnest('{178956970 years,178956970 years}'::interval[]) x;
-- Many values, exact sums of which are kept: the order makes no difference either.
SELECT count(DISTINCT total), count(DISTINCT deviation) FROM (
  SELECT dpquantile.of_person('{}'::float8[], 'sum(float8)'::regprocedure::oid, x ORDER BY md5(o || ' ' || i)) AS total,
         dpquantile.of_person('{}'::float8[], 'stddev(float8)'::regprocedure::oid, x ORDER BY md5(o || ' ' || i)) AS deviation
    FROM generate_series(1, 4) o, generate_series(1, 3000) i, LATERAL (SELECT sin(i) * 10.0 ^ (i % 600 - 300)) v (x) GROUP BY o) a;
SELECT dpquantile.of_person('{}'::bigint[], 2147, i % 1000) AS different, dpquantile.of_person('{}'::bigint[], 2147, (i % 1000)::text) AS texts FROM generate_series(1, 20000) i;
-- A NaN of other bits is the NaN.
CREATE TEMP TABLE nans (x float8);
COPY nans FROM PROGRAM 'printf "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\1\0\0\0\10\377\370\0\0\0\0\0\7\377\377"' (FORMAT binary);
SELECT float8send(x), float8send(dpquantile.of_person('{}'::float8[], 'max(float8)'::regprocedure::oid, x)), float8send(dpquantile.of_person('{}'::float8[], 'sum(float8)'::regprocedure::oid, x)),
       float8send(dpquantile.of_person('{}'::float8[], 3972, x, 0.5::float8, false)) FROM nans GROUP BY x;
-- Without a value: NULL, and 0 different ones.
SELECT dpquantile.of_person('{}'::float8[], 'sum(float8)'::regprocedure::oid, x), dpquantile.of_person('{}'::bigint[], 2147, x),
       dpquantile.of_person('{}'::bigint[], 2147, x) FILTER (WHERE false) FROM unnest('{NULL}'::float8[]) x;
-- A fraction that is none gives no error for the rows.
SELECT dpquantile.of_person('{}'::int[], 3972, x, f, false) FROM unnest('{1,2}'::int[]) x, unnest('{NULL,-1,2,NaN}'::float8[]) WITH ORDINALITY f (f, n) GROUP BY n ORDER BY n;
-- The collation of a person's texts does not decide how many there are, and their blanks do only in char(n).
SELECT dpquantile.of_person('{}'::bigint[], 2147, x::text) AS text, dpquantile.of_person('{}'::bigint[], 2147, x::bpchar) AS blanks FROM unnest('{a,"a ","a  ",b}'::text[]) x;

-- Calls that no query makes
SELECT dpquantile.of_person('{}'::text[], 3972, 1, 0.5::float8, false);
SELECT dpquantile.of_person('{}'::int[], 3972, 1, 0.5::numeric, false);
SELECT dpquantile.of_person('{}'::int[], 3972, 1);
SELECT dpquantile.of_person('{}'::float8[], 2111, 1::float8, 1);
SELECT dpquantile.of_person('{}'::int[], 'sum(float8)'::regprocedure::oid, 1);
SELECT dpquantile.of_person('{}'::bigint[], 'sum(int)'::regprocedure::oid, 1);
SELECT dpquantile.of_person('{}'::jsonb[], 2147, '{}'::jsonb);
SELECT dpquantile.of_person('{}'::float8[], x, 1::float8) FROM (VALUES (2111::oid), (2105)) v (x);
SELECT dpquantile.of_person('{}'::float8[], NULL, 1::float8);
SELECT dpquantile.of_person('{}'::float8[], 2111, VARIADIC ARRAY[1::float8]);
SELECT dpquantile.of_person('{}'::float8[], 2111, 1::float8) OVER ();

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_persons CASCADE;
