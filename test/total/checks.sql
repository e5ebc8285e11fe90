-- Calls of functions with the values of samples.sql, for test/t/total_functions.pl.

-- The arguments of a function as 'a0 pg_catalog.int4, a1 ...', as this template with their number for %s and joined by ', '.
CREATE FUNCTION samples.arguments(function regprocedure, template text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT string_agg(replace(replace(template, '%s', (number - 1)::text), '%t', quote_ident(t.typname)), ', ' ORDER BY number)
    FROM pg_proc p, unnest(p.proargtypes) WITH ORDINALITY u (type, number) JOIN pg_type t ON t.oid = u.type
   WHERE p.oid = function;
$$;

-- A query of arguments t0.v, t1.v, ...: all combinations, or 1000 random ones if there are more, 3000 of more than two arguments. Tests of functions with
-- more than two arguments take small integers more often, because most dates do not exist.
CREATE FUNCTION samples.combinations(function regprocedure) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  number_of_arguments int := (SELECT pronargs FROM pg_proc WHERE oid = function);
  total bigint;
BEGIN
  IF number_of_arguments > 2 THEN
    PERFORM setseed(0.5);
    RETURN format('SELECT %s FROM %s, generate_series(1, 3000)', samples.arguments(function, 't%s.v[1 + floor(random() * cardinality(t%s.v))] AS a%s'),
                  samples.arguments(function, CASE WHEN function::regproc::text ~ '^make_'
                    THEN '(SELECT array_agg(v) AS v FROM samples.%t WHERE v::text ~ ''^(\d\d?|\d\.\d|2147483647|[A-Z].*)$'') t%s'
                    ELSE '(SELECT array_agg(v) AS v FROM samples.%t) t%s' END));
  END IF;
  EXECUTE format('SELECT count(*) FROM %s', samples.arguments(function, 'samples.%t t%s')) INTO total;
  PERFORM setseed(0.5);
  RETURN format('SELECT %s FROM %s WHERE random() * %s < 1000', samples.arguments(function, 't%s.v AS a%s'),
                samples.arguments(function, 'samples.%t t%s'), total);
END
$$;

-- A call of the variant of a function, with these arguments. Whether date_trunc with a zone depends on more than its arguments is another in each version.
CREATE FUNCTION samples.variant(function regprocedure, arguments text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT format('dpquantile.%s(''{}''::%s[], %s, %s)', CASE WHEN p.provolatile = 's' OR p.proname = 'date_trunc' THEN 'total_stable' ELSE 'total' END,
                p.prorettype::regtype, p.oid, arguments)
    FROM pg_proc p WHERE p.oid = function;
$$;

CREATE FUNCTION samples.digits(n numeric) RETURNS int LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN n IN ('NaN', 'Infinity', '-Infinity') THEN 0 ELSE greatest(scale(n), length(trunc(abs(n))::text)) END;
$$;

-- The bytes of a value that is neither compressed nor stored elsewhere.
CREATE FUNCTION samples.bytes(value jsonb) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT pg_column_size(value::text::jsonb) - 4';
CREATE FUNCTION samples.bytes(value text[]) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT pg_column_size(value::text::text[]) - 4';

-- The condition under which the arguments are beyond the limits of a variant: many digits, long texts, long searches.
CREATE FUNCTION samples.limits(function regprocedure) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT concat_ws(' OR ',
    (SELECT string_agg(format('samples.digits(a%s) > %s', number - 1,
                              CASE WHEN proname ~ '^(numeric_)?(exp|ln|log|log10|pow|power|gcd|lcm)$' THEN 100 ELSE 400 END), ' OR ')
       FROM unnest(proargtypes) WITH ORDINALITY u (type, number)
      WHERE type = 'numeric'::regtype AND proname !~ '^(int[248]|float8)$'),
    (SELECT string_agg(format('samples.bytes(a%s) > 65536', number - 1), ' OR ')
       FROM unnest(proargtypes) WITH ORDINALITY u (type, number) WHERE type = 'jsonb'::regtype),
    (SELECT string_agg(format('octet_length(a%s) > 65536', number - 1), ' OR ')
       FROM unnest(proargtypes) WITH ORDINALITY u (type, number)
      WHERE type IN ('text'::regtype, 'bpchar'::regtype, 'varchar'::regtype, 'bytea'::regtype)
        AND proname !~ '^(extract|date_part|date_trunc|timezone|make_)'),
    CASE WHEN proname ~ 'like$' AND proargtypes[0] <> 'name'::regtype OR proname ~ '^.?trim$' AND pronargs = 2
           OR proname IN ('strpos', 'position', 'replace', 'translate', 'split_part')
         THEN format('octet_length(a0)::int8 * greatest(octet_length(a1), 1) > %s', CASE proname WHEN 'translate' THEN 65536 ELSE 1048576 END) END,
    CASE WHEN proname ~ '^jsonb_(exists_|contain)' THEN 'samples.bytes(a0)::int8 * samples.bytes(a1) > 1048576' END,
    CASE proname WHEN 'replace' THEN '(octet_length(a0) / greatest(octet_length(a1), 1))::int8 * octet_length(a2) > 1048576'
                 WHEN 'repeat' THEN 'octet_length(a0)::int8 * a1 > 65536 OR a0 = '''''
                 WHEN 'lpad' THEN 'a1 > 65536' WHEN 'rpad' THEN 'a1 > 65536' WHEN 'bpchar' THEN 'a1 > 65540' END,
    'false')
    FROM pg_proc WHERE oid = function;
$$;

-- Compares a variant with its original for one combination: 'same' (not null), 'null', 'failed' (the original fails, the variant answers
-- NULL) and 'beyond' (the limits, and the variant answers NULL) are right.
CREATE PROCEDURE samples.make_comparison(function regprocedure, collation_clause text) LANGUAGE plpgsql AS $p$
DECLARE
  p pg_proc := (SELECT p FROM pg_proc p WHERE oid = function);
  result text := (SELECT format('pg_catalog.%I', typname) FROM pg_type WHERE oid = p.prorettype);
  call text := samples.arguments(function, 'a%s');
  is_text boolean := p.prorettype IN ('text'::regtype, 'bpchar'::regtype, 'varchar'::regtype, 'bytea'::regtype);
  too_long text := CASE WHEN is_text THEN 'octet_length(original) > 65536' ELSE 'false' END;
  may_be_long text := CASE WHEN p.proname ~ '^jsonb_.*_text$' THEN 'octet_length(original) > 2 * samples.bytes(a0)'
                           WHEN p.proargtypes[0] = 'jsonb'::regtype AND p.prorettype = ANY ('{int2,int4,int8,float4,float8,numeric}'::regtype[]) THEN 'samples.digits(a0::numeric) > 400'
                           WHEN p.prorettype = 'numeric'::regtype AND p.proname ~ 'exp|pow' THEN 'samples.digits(original) > 100'
                           ELSE 'false' END;
BEGIN
  IF collation_clause <> '' THEN call := regexp_replace(call, 'a0', 'a0 ' || collation_clause); END IF;
  EXECUTE format($f$
    CREATE OR REPLACE FUNCTION samples.comparison(%s) RETURNS text LANGUAGE plpgsql AS $x$
    DECLARE
      original %s;
      variant %s;
      state text;
    BEGIN
      variant := %s;
      IF %s THEN
        RETURN CASE WHEN variant IS NULL THEN 'beyond' WHEN a0::text = '' THEN 'empty' ELSE 'an answer beyond the limits' END;
      END IF;
      BEGIN
        original := pg_catalog.%I(%s);
      EXCEPTION WHEN OTHERS THEN
        RETURN CASE WHEN variant IS NULL THEN 'failed' ELSE 'an answer in spite of ' || SQLSTATE END;
      END;
      IF %s THEN RETURN CASE WHEN variant IS NULL THEN 'beyond' ELSE 'an answer beyond the limits' END; END IF;
      IF original IS NULL AND variant IS NULL THEN RETURN 'null'; END IF;
      IF %s THEN RETURN 'same'; END IF;
      IF variant IS NULL AND %s THEN RETURN 'beyond'; END IF;
      RETURN format('%%s instead of %%s', left(variant::text, 40), left(original::text, 40));
    END $x$ $f$,
    samples.arguments(function, 'a%s pg_catalog.%t'), result, result, samples.variant(function, call), samples.limits(function),
    p.proname, CASE WHEN p.provariadic <> 0 THEN regexp_replace(call, '(a\d+)$', 'VARIADIC \1') ELSE call END, too_long, CASE WHEN is_text THEN 'original = variant' ELSE 'original::text = variant::text' END, may_be_long);
END
$p$;

CREATE TABLE samples.outcomes (function regprocedure, outcome text, calls bigint, example text);

-- Fills outcomes for a variant. example: what to show of each argument a%s.
CREATE PROCEDURE samples.compare(function regprocedure, collation_clause text, example text) LANGUAGE plpgsql AS $$
BEGIN
  CALL samples.make_comparison(function, collation_clause);
  EXECUTE format('INSERT INTO samples.outcomes
                  SELECT %L, outcome, count(*), min(example)
                    FROM (SELECT samples.comparison(%s) AS outcome, concat_ws('' | '', %s) AS example FROM (%s) c) o GROUP BY outcome',
                 function::oid, samples.arguments(function, 'a%s'), samples.arguments(function, example),
                 samples.combinations(function));
  EXECUTE format('DROP FUNCTION samples.comparison(%s)', samples.arguments(function, 'pg_catalog.%t'));
END
$$;

-- Calls a function with all combinations of stored values, and fails if it does. Returns the number of calls.
CREATE FUNCTION samples.calls(function regprocedure) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  calls bigint;
BEGIN
  EXECUTE format('SELECT count(*), count(pg_catalog.%I(%s)) FROM %s', (SELECT proname FROM pg_proc WHERE oid = function),
                 samples.arguments(function, 't%s.v'), samples.arguments(function, 'samples.%t t%s')) INTO calls;
  RETURN calls;
END
$$;

-- The same, and returns the error instead.
CREATE FUNCTION samples.error(function regprocedure) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM samples.calls(function);
  RETURN NULL;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END
$$;
