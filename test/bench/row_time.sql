-- What row_time.sh times. A superuser runs it in a database with the extension, where role analyst is restricted and has a budget. Variables:
--   rows    rows of the tables, each with the worst values
--   bytes   the longest text, 256 or more
--   copies  the most copies of an expression in one query
--   rounds  how often each query is asked
SET bench.rows = :rows;
SET bench.bytes = :bytes;
-- In table worst_<n>, texts and arrays of n bytes, and z with a bit for each NULL. p is a pattern that fits almost everywhere. The first is longer than
-- any limit.
DO $$
DECLARE
  n int := current_setting('bench.bytes');
BEGIN
  WHILE n >= 256 LOOP
    EXECUTE format('CREATE TABLE worst_%s AS SELECT 1 AS i, repeat(''a'', %s) AS a, repeat(chr(228), %s) AS u, ''%%'' || repeat(''a'', %s) || ''b'' AS p,
                           array_fill(7, ARRAY[%s]) AS l, array_fill(NULL::int, ARRAY[%s]) AS z,
                           to_jsonb(array_fill(''''::text, ARRAY[%s])) AS j, jsonb_set(to_jsonb(array_fill(''[]''::jsonb, ARRAY[%s])), ''{0}'', ''[null]'') AS h, repeat(''1'', %s)::varbit AS v,
                           (repeat(''9'', 50) || ''.'' || repeat(''9'', 50))::numeric AS s, repeat(''7'', 400)::numeric AS n,
                           timestamptz ''2024-03-05 12:34:56.789'' AS t, date ''2024-03-05'' AS d, 1.5::float8 AS f
                      FROM generate_series(1, current_setting(''bench.rows'')::int)', n, n, n / 2, n / 64, (n - 32) / 4, (n - 32) * 8, n / 4 - 2, n / 8 - 2, (n - 8) * 8);
    EXECUTE format('SELECT dp_protect_table(%1$L), dp_grant_private_access(%1$L, ''analyst'')', 'worst_' || n);
    n := least(n / 2, 65536);
  END LOOP;
END
$$;

-- A call of each function, with columns of all types. A type that has no column here is an error, so each new function is timed.
CREATE TYPE mood AS ENUM ('sad', 'happy');
ALTER TYPE mood ADD VALUE 'ok' BEFORE 'happy';
CREATE TABLE worst_types AS
  SELECT true AS c_bool, 7::int2 AS c_int2, 7 AS c_int4, 7::int8 AS c_int8, 7::oid AS c_oid, 0.7::float4 AS c_float4, 0.7::float8 AS c_float8,
         (repeat('9', 50) || '.' || repeat('9', 50))::numeric AS c_numeric, repeat('a', 200)::text AS c_text, repeat('a', 200)::varchar AS c_varchar,
         repeat('a', 200)::bpchar AS c_bpchar, repeat('a', 63)::name AS c_name, repeat('a', 200)::bytea AS c_bytea, date '2024-03-05' AS c_date,
         time '12:34:56.789' AS c_time, timetz '12:34:56.789+02' AS c_timetz, timestamp '2024-03-05 12:34:56.789' AS c_timestamp,
         timestamptz '2024-03-05 12:34:56.789' AS c_timestamptz, interval '1 month 3 days 4.56 s' AS c_interval, 'ok'::mood AS c_anyenum,
         jsonb_build_object('ab', repeat('a', 200), 'b', '{}'::jsonb, 'c', '[1, 1e300]'::jsonb) AS c_jsonb
    FROM generate_series(1, 50);
SELECT dp_protect_table('worst_types'), dp_grant_private_access('worst_types', 'analyst') \g /dev/null
CREATE TABLE calls AS
  SELECT p.oid::regprocedure::text AS function,
         format('pg_catalog.%I(%s)', p.proname, (
           SELECT string_agg(CASE WHEN t.typname = '_text' THEN CASE WHEN p.provariadic <> 0 THEN 'VARIADIC ' ELSE '' END || '''{ab}'''
                                  WHEN p.proname ~ '^jsonb_contain' AND number > 1 THEN '''{"ab": 7, "c": [1]}'''
                                  WHEN t.typname <> 'text' THEN 'c_' || t.typname
                                  WHEN p.proname IN ('date_trunc', 'date_part', 'extract') AND number = 1 THEN '''month'''
                                  WHEN p.proname IN ('date_trunc', 'timezone', 'make_timestamptz') THEN '''Europe/Paris'''
                                  WHEN p.proname = 'to_char' THEN '''TMMonth 999.99'''
                                  WHEN number > 1 THEN '''ab'''
                                  ELSE 'c_text' END, ', ' ORDER BY number)
             FROM unnest(p.proargtypes) WITH ORDINALITY u (type, number) JOIN pg_type t ON t.oid = u.type)) AS call
    FROM pg_proc p
   WHERE p.pronamespace = 'pg_catalog'::regnamespace AND (dpquantile.how_total(p.oid) = 'variant' OR dpquantile.how_total(p.oid) = 'as it is' AND NOT p.proleakproof);
GRANT SELECT ON calls TO analyst;

\c - analyst
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET bench.rows = :rows;
SET bench.bytes = :bytes;
SET bench.copies = :copies;
SET bench.rounds = :rounds;

\warn 'The slowest functions, of ':copies', a quarter, ... calls as many as are accepted, milliseconds for one row'
CREATE TEMP TABLE times (function text, copies int, milliseconds float8);
DO $$
DECLARE
  function text;
  call text;
  copies int;
  condition text;
  start timestamptz;
  time float8;
  base float8;
BEGIN
  FOR function, call IN SELECT c.function, c.call FROM calls c LOOP
    copies := current_setting('bench.copies');
    LOOP
      -- Each condition is another, is false, and needs the call.
      SELECT string_agg(format('((c_int4 <> -%s) = (%s IS NULL AND c_int4 < 0))', n, call), ' OR ') INTO condition FROM generate_series(1, copies) n;
      BEGIN
        base := NULL;
        time := NULL;
        FOR round IN 1..current_setting('bench.rounds')::int LOOP
          start := clock_timestamp();
          EXECUTE format('SELECT count(n) FROM (SELECT dp_count(0.01) AS n FROM worst_types WHERE c_int4 < 0 AND (%s) AND $1 > 0) t', condition) USING round;
          base := least(base, extract(epoch FROM clock_timestamp() - start) * 1000);
          start := clock_timestamp();
          EXECUTE format('SELECT count(n) FROM (SELECT dp_count(0.01) AS n FROM worst_types WHERE (%s) AND $1 > 0) t', condition) USING round;
          time := least(time, extract(epoch FROM clock_timestamp() - start) * 1000);
        END LOOP;
        INSERT INTO times VALUES (function, copies, (time - base) / 50);
        EXIT;
      EXCEPTION WHEN statement_too_complex OR program_limit_exceeded THEN
        copies := copies / 4;
        IF copies = 0 THEN RAISE EXCEPTION 'no call of % is accepted', function; END IF;
      END;
    END LOOP;
  END LOOP;
  FOR function, copies, time IN SELECT t.function, t.copies, t.milliseconds FROM times t ORDER BY 3 DESC LIMIT 10 LOOP
    RAISE INFO '%  %  (% copies)', to_char(time, '990.999'), rpad(function, 70), copies;
  END LOOP;
  RAISE INFO '% functions', (SELECT count(*) FROM times);
END
$$;

\warn 'The worst of 1, 4, 16, ... copies that are accepted, milliseconds for one row (':rows' rows)'
DO $$
DECLARE
  expression text;
  copies int;
  bytes int;
  condition text;
  start timestamptz;
  time float8;
  base float8;
  worst float8;
  worst_case text;
  of_rows float8;
BEGIN
  EXECUTE 'SELECT count(n) FROM (SELECT dp_count(0.01) AS n FROM worst_256 WHERE i > 0) t';
  FOREACH expression IN ARRAY ARRAY[
    'lower(a) = $k', 'lower(u) = $k', 'initcap(a) = $k', 'upper(u COLLATE "und-x-icu") = $k', 'md5(a) = $k', 'reverse(a) = $k', 'btrim(a) = $k',
    'a || u = $k', 'left(a, 30000) = $k', 'substr(u, 2) = $k', 'overlay(a PLACING u FROM 2) = $k', 'rpad(a, 60000) = $k', 'rpad(''x'', i * 65000) = $k',
    'rpad(a, 2000, ''xy'') = $k', 'repeat(a, 30) = $k', 'repeat(''x'', i * 60000) = $k', 'replace(a, ''a'', ''b'') = $k', 'replace(a, ''a'', ''bb'') = $k',
    'translate(a, ''abcdefghijklmnop'', ''b'') = $k', 'translate(a, ''bcdefghijklmnopa'', ''b'') = $k', 'btrim(a, ''bcdefghijklmnopa'') = $k',
    'split_part(a, ''a'', -2) = $k', 'split_part(a, p, 1) = $k', 'strpos(a, ''aaaaaaaaaaaaaaab'') = -$n', 'starts_with(a, a) = ($n < 0)', 'length(u) = -$n',
    'a LIKE ''%b$n''', 'a LIKE ''%aaab$n''', 'a LIKE ''%aaaaaaaaaaaaaaaaaaaaaaaaaaab$n''', 'a LIKE p || $k', 'u LIKE ''%äääb$n''', 'a ILIKE ''%ab$n''',
    'a ILIKE ''%aaaaaaaaab$n''', 'a ILIKE p || $k', 'u ILIKE ''%äb$n''', 'a < rpad(a, 60000) || $k', 'a = a || $k', 'a = ANY (ARRAY[''$n'', ''x''])', 'a < $k', 'a > $k COLLATE "und-x-icu"', 'a <> ALL (string_to_array(repeat(''x,'', 999) || $k, '',''))', 'greatest(a, u) = $k',
    'v < (''1'' || repeat(''0'', $n))::varbit', '-$n = ANY (l)', '-$n = ANY (z)', 'l[20 + $n] = -1', 'z[20 + $n] = -1',
    'CASE WHEN a > u THEN lower(a) ELSE upper(a) END = $k', 'coalesce(nullif(a, u), p) LIKE ''%aab$n''', 'md5(rpad(a, 60000)) = $k',
    'exp(s / 1e48) = -$n', 'ln(s) = -$n', 'log(s) = -$n', 'log(s, 3.3) = -$n', 'power(s / 1e50, s / 1e48) = -$n', 'sqrt(n) = -$n', 'gcd(n, n - $n) = -$n',
    'n * n = -$n', 'n / s = -$n', 'n % (s * 1e-90) = -$n', 'div(n, s * 1e-90) = -$n', 'round(n, -3) = -$n', 'n::text = $k', 'n + n = -$n', 'n = -$n',
    'to_char(n, ''999,999'') = $k', 'to_char(t, repeat(''TMMonth'', 200)) = $k', 'to_char(t, ''YYYY-MM-DD HH24:MI:SS'') = $k', 'to_char(f, repeat(''9'', 2000)) = $k',
    '(repeat(chr(837), 120) || repeat(chr(769), 120) || i::text) COLLATE "vi-x-icu" < $k', 'initcap(a COLLATE "en-x-icu") = $k', 'greatest(n, s)::text = $k',
    'to_char(t, repeat(''TMDy'', 4) COLLATE "und-x-icu") = $k',
    'date_trunc(''month'', t) = timestamptz ''epoch'' + $n * interval ''1 s''', 'extract(epoch FROM t) = -$n', 'make_date(i, 13, $n) = d', 'a::date = d + $n',
    'p::numeric = $n', 'a::float8 = $n', 'acosd(f + $n) = 0', 'i + $n = 0', 'f * $n = -1',
    'j ->> 0 = $k', 'j #>> ''{$n}'' = $k', 'j::text = $k', 'h::text = $k', '(j -> ''a'' -> $k) IS NOT NULL', 'j ? $k', 'j ?| array[$k, ''a'', ''b'', ''c'']',
    'j @> ''["$n", "a", "b", "c"]''', 'h @> ''[[$n], [null], [true]]''', 'h <@ ''[[$n], [null], [true]]''', '(j ->> 1)::numeric = $n', '(j -> $n)::int = 1',
    'i = ANY (string_to_array(repeat(''9,'', 999) || 9 + $n, '','')::int[])']
  LOOP
    worst := NULL;
    worst_case := 'one copy';
    copies := 1;
    LOOP
      SELECT string_agg(replace(replace(expression, '$k', format('''k%s''', n)), '$n', n::text), ' OR ') INTO condition FROM generate_series(1, copies) n;
      BEGIN
        base := NULL;
        FOR round IN 1..current_setting('bench.rounds')::int LOOP
          start := clock_timestamp();
          EXECUTE format('SELECT count(n) FROM (SELECT dp_count(0.01) AS n FROM worst_256 WHERE i < 0 AND %s AND $1 > 0) t', '(' || condition || ')') USING round;
          base := least(base, extract(epoch FROM clock_timestamp() - start) * 1000);
        END LOOP;
        bytes := current_setting('bench.bytes');
        WHILE bytes >= 256 LOOP
          time := NULL;
          FOR round IN 1..current_setting('bench.rounds')::int LOOP
            start := clock_timestamp();
            EXECUTE format('SELECT count(n) FROM (SELECT dp_count(0.01) AS n FROM worst_%s WHERE %s AND $1 > 0) t', bytes, '(' || condition || ')') USING round;
            time := least(time, extract(epoch FROM clock_timestamp() - start) * 1000);
          END LOOP;
          IF worst IS NULL OR time - base > worst THEN
            worst := time - base;
            worst_case := format('%s copies, %s bytes', copies, bytes);
          END IF;
          bytes := least(bytes / 2, 65536);
        END LOOP;
      EXCEPTION WHEN statement_too_complex THEN
        EXIT;
      END;
      EXIT WHEN copies >= current_setting('bench.copies')::int;
      copies := copies * 4;
    END LOOP;
    RAISE INFO '%  %  (%)', CASE WHEN worst IS NULL THEN ' refused' ELSE to_char(worst / current_setting('bench.rows')::int, '990.999') END, rpad(expression, 70), worst_case;
  END LOOP;
END
$$;

\warn 'Joins with the longest list of 1000, 500, 250, ... rows that is accepted, milliseconds for one row'
CREATE FUNCTION pg_temp.seconds(list text, condition text, chosen text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  start timestamptz;
  least_time float8;
BEGIN
  FOR round IN 1..current_setting('bench.rounds')::int LOOP
    start := clock_timestamp();
    EXECUTE format('SELECT count(n) FROM (SELECT dp_count(0.01) AS n FROM worst_256 w LEFT JOIN %s ON %s WHERE %s AND $1 > 0) t', list, condition, chosen) USING round;
    least_time := least(least_time, extract(epoch FROM clock_timestamp() - start));
  END LOOP;
  RETURN least_time;
END
$$;
DO $$
DECLARE
  list text;
  condition text;
  rows int;
  of_list text;
  time float8;
BEGIN
  -- Of each list many rows have one hash, or fulfil the other conditions.
  FOR list, condition IN VALUES
    ('generate_series(1::numeric, $r) l (x)', 'x = i + s * 0'), ('generate_series(1::numeric, $r) l (x)', 'x = i + exp(s * 0)'),
    ('generate_series(1::numeric, $r) l (x)', 'x = i AND x = i + s * 0'), ('generate_series(1::numeric, $r) l (x)', repeat('x = i AND ', 31) || 'x = i'),
    ('(VALUES $v) l (x, y)', 'x = i AND y = d'), ('(VALUES $v) l (x, y)', 'x = i AND y = date_trunc(''day'', t::timestamp)'), ('(VALUES $v) l (x, y)', 'x = i AND y = (d::text)::timestamp'),
    ('(VALUES $v) l (x, y)', 'x = i AND y = d AND md5(a) <> ''x'''), ('(VALUES $v) l (x, y) ON x = i AND y = d LEFT JOIN (VALUES $v) m (v, w)', 'm.v = i AND m.w = d')
  LOOP
    rows := 1000;
    time := NULL;
    WHILE rows > 0 AND time IS NULL LOOP
      of_list := replace(replace(list, '$r', rows::text), '$v', (SELECT string_agg(format('(1, date %L)', date '2024-03-05' + n), ', ') FROM generate_series(1, rows) n));
      BEGIN
        time := pg_temp.seconds(of_list, condition, 'i > 0') - pg_temp.seconds(of_list, condition, 'i < 0');
      EXCEPTION WHEN statement_too_complex THEN
        rows := rows / 2;
      END;
    END LOOP;
    RAISE INFO '%  %  (% rows)', to_char(1000 * time / current_setting('bench.rows')::int, '990.999'), rpad(condition, 70), rows;
  END LOOP;
END
$$;
