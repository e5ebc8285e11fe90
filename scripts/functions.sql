-- Writes docs/functions.md from the library's table of functions: psql -XAtq -f scripts/functions.sql (make reference). What only an
-- operator or a cast calls is shown as these. Types of an argument that go with the same other arguments are one list, and what has the
-- same arguments is one line.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET client_encoding = 'UTF8';
CREATE TEMP TABLE subject (place integer, title text, types text);
INSERT INTO subject VALUES
  (1, 'Numbers', 'int2 int4 int8 float4 float8 numeric'),
  (2, 'Texts', 'text _text varchar bpchar name char'),
  (3, 'Dates and times', 'date time timetz timestamp timestamptz interval'),
  (4, 'Bytes', 'bytea'),
  (5, 'JSON', 'jsonb'),
  (6, 'Other types', '');

-- The names of types as people write them, and their order.
CREATE TEMP TABLE type AS
SELECT t.oid, coalesce(n.name, format_type(t.oid, NULL)) AS name, coalesce(n.place, 100) AS place, t.typinput, t.typoutput
FROM pg_type AS t LEFT JOIN (
  VALUES (1, 'int2', 'smallint'), (2, 'int4', 'integer'), (3, 'int8', 'bigint'), (4, 'float4', 'real'), (5, 'float8', 'float8'), (6, 'numeric', 'numeric'),
    (7, 'text', 'text'), (8, 'varchar', 'varchar'), (9, 'bpchar', 'char(n)'), (10, 'name', 'name'), (11, 'date', 'date'), (12, 'time', 'time'),
    (13, 'timetz', 'timetz'), (14, 'timestamp', 'timestamp'), (15, 'timestamptz', 'timestamptz'), (16, 'interval', 'interval'),
    (17, 'bool', 'boolean'), (18, 'uuid', 'uuid'), (19, 'anyenum', 'enums'), (20, 'bytea', 'bytea'), (21, 'bit', 'bit'), (22, 'varbit', 'varbit'),
    (23, 'jsonb', 'jsonb'), (24, '_text', 'text[]')
) AS n (place, type, name) ON t.oid = ('pg_catalog.' || quote_ident(n.type))::regtype
WHERE t.typnamespace = 'pg_catalog'::regnamespace;

CREATE TEMP TABLE inside AS
SELECT p.*, p.proargtypes::oid[] AS types FROM pg_proc AS p WHERE dpquantile.how_total(p.oid) IN ('as it is', 'variant');

-- How a query calls them. An index, an aggregate, a cast and a name of PostgreSQL for itself call others.
CREATE TEMP TABLE called AS
SELECT p.oid, true AS is_operator, p.types, coalesce(n.name, o.oprname) AS name
FROM inside AS p JOIN pg_operator AS o ON o.oprcode = p.oid
LEFT JOIN (VALUES ('~~', 'LIKE'), ('!~~', 'NOT LIKE'), ('~~*', 'ILIKE'), ('!~~*', 'NOT ILIKE')) AS n (operator, name) ON n.operator = o.oprname
UNION ALL
SELECT p.oid, false, p.types, p.proname
FROM inside AS p
WHERE obj_description(p.oid, 'pg_proc') !~ '^implementation of ' AND p.oid NOT IN (SELECT amproc FROM pg_amproc)
  AND p.oid NOT IN (SELECT castfunc FROM pg_cast) AND p.oid NOT IN (SELECT aggtransfn FROM pg_aggregate)
  AND NOT (p.proname = p.prosrc AND EXISTS (SELECT FROM inside AS i WHERE i.prosrc = p.prosrc AND i.proname <> p.proname));

-- The subject is the last of those of the arguments. The first four decide by the type of the answer, too.
CREATE TEMP TABLE shape AS
SELECT c.is_operator, c.name, cardinality(c.types) AS arguments,
       (SELECT max(coalesce(s.place, CASE WHEN u.is_argument THEN 6 END))
        FROM (SELECT unnest(c.types) AS type, true AS is_argument UNION ALL SELECT p.prorettype, false) AS u JOIN pg_type AS t ON t.oid = u.type
        LEFT JOIN subject AS s ON t.typname = ANY (string_to_array(s.types, ' '))) AS place,
       (SELECT array_agg(t.name ORDER BY u.number) FROM unnest(c.types) WITH ORDINALITY AS u (type, number) JOIN type AS t ON t.oid = u.type) AS parts
FROM called AS c JOIN inside AS p USING (oid);

CREATE FUNCTION pg_temp.list_of(types text[]) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT replace(replace(replace(string_agg(t.name, '/' ORDER BY t.place, t.name COLLATE "C"),
    'smallint/integer/bigint/real/float8/numeric', 'number'), 'smallint/integer/bigint', 'whole'), 'real/float8', 'float')
  FROM type AS t WHERE t.name = ANY (types)
$$;

DO $$
BEGIN
  FOR at IN 1..(SELECT max(arguments) FROM pg_temp.shape) LOOP
    CREATE TEMP TABLE folded AS
    SELECT place, is_operator, name, arguments, parts[:at - 1] || pg_temp.list_of(array_agg(parts[at])) || parts[at + 1:] AS parts
    FROM pg_temp.shape WHERE arguments >= at GROUP BY place, is_operator, name, arguments, parts[:at - 1], parts[at + 1:];
    DELETE FROM pg_temp.shape WHERE arguments >= at;
    INSERT INTO pg_temp.shape (place, is_operator, name, arguments, parts) SELECT place, is_operator, name, arguments, parts FROM folded;
    DROP TABLE folded;
  END LOOP;
END
$$;

-- What has arguments of one type, which may be one of several
CREATE TEMP VIEW signature AS
SELECT place, is_operator, name, arguments, array_to_string(parts, ', ') AS text FROM shape
WHERE NOT (arguments > 1 AND parts[1] = ALL (parts) AND parts[1] IN (SELECT name FROM type))
UNION ALL
SELECT s.place, is_operator, s.name, arguments,
       CASE WHEN count(*) = 1 THEN array_to_string(array_fill(min(parts[1]), ARRAY[arguments]), ', ')
            ELSE (ARRAY['', 'two', 'three', 'four'])[arguments] || ' of the same: ' || string_agg(parts[1], ', ' ORDER BY t.place, t.name COLLATE "C") END
FROM shape AS s JOIN type AS t ON t.name = parts[1]
WHERE arguments > 1 AND parts[1] = ALL (parts)
GROUP BY s.place, is_operator, s.name, arguments;

CREATE TEMP VIEW line AS
SELECT place, is_operator, texts,
       string_agg('`' || replace(name, '|', '\|') || '`', ' ' ORDER BY array_position('{=,<>,<,<=,>,>=,+,-,*,/}', name), length(name), name COLLATE "C") AS names,
       min(name COLLATE "C") AS first
FROM (SELECT place, is_operator, name, string_agg(text, '; ' ORDER BY arguments, text COLLATE "C") AS texts FROM signature GROUP BY place, is_operator, name) AS s
GROUP BY place, is_operator, texts;

-- Casts by functions, of the same bytes, and by texts
CREATE TEMP TABLE conversion AS
SELECT castsource AS source, casttarget AS target FROM pg_cast
WHERE castsource <> casttarget AND castsource IN (SELECT unnest(types) FROM inside) AND casttarget IN (SELECT unnest(types) FROM inside)
  AND (castfunc IN (SELECT oid FROM inside) OR castmethod = 'b')
UNION
SELECT s.oid, t.oid FROM type AS t, type AS s WHERE dpquantile.how_total(t.typinput) = 'from text' AND s.name IN ('text', 'varchar')
UNION
SELECT s.oid, t.oid FROM type AS s, type AS t
WHERE dpquantile.how_total(CASE s.name WHEN 'enums' THEN 'enum_out(anyenum)'::regprocedure ELSE s.typoutput END) = 'to text'
  AND t.name IN ('text', 'varchar', 'char(n)');

SELECT E'# Functions over protected rows\n\nWhat a query may apply to columns of protected tables. `make reference` writes this page from the library''s table of functions, with PostgreSQL '
  || current_setting('server_version_num')::int / 10000
  || E'. What is not here is refused over rows,\nand may be used [before the first row](protected.md#constants-and-public-tables) and around the answers. '
  || E'A value for which PostgreSQL''s function fails gives NULL\n([more](protected.md#functions-of-columns)). Units (`date_trunc`, `extract`, `date_part`), time zones and the formats of `to_char` must not depend on columns.\n'
  || E'The forms of SQL are calls of these, too: `extract(day FROM t)`, `t AT TIME ZONE ''UTC''`, `(a, b) OVERLAPS (c, d)`, `position(a IN b)`,\n`substring(a FROM 1 FOR 2)`, `overlay(…)`, `trim(…)`.\n\n'
  || '*whole* is smallint, integer or bigint; *float* is real or float8; *number* is any of these or numeric. Each of types with `/` goes with each of the other argument. '
  || E'`AND`, `OR`, `NOT`,\n`IS NULL`, `CASE`, `COALESCE`, `NULLIF`, `GREATEST`, `LEAST`, `IN`, `BETWEEN` and `= ANY` go with all types that are compared below,\nand so do elements of arrays: `tags[1]`.';
SELECT E'\n## ' || s.title || E'\n\n| call | arguments |\n|---|---|\n'
  || (SELECT string_agg('| ' || l.names || ' | ' || l.texts || ' |', E'\n' ORDER BY NOT l.is_operator, l.names ~ '^`[=<>]' DESC, l.first) FROM line AS l WHERE l.place = s.place)
FROM subject AS s ORDER BY s.place;
SELECT E'\n## Casts\n\n| from | to |\n|---|---|\n' || string_agg('| ' || sources || ' | ' || targets || ' |', E'\n' ORDER BY place, sources)
FROM (SELECT string_agg(name, ', ' ORDER BY place, name) AS sources, min(place) AS place, targets
      FROM (SELECT s.name, s.place, string_agg(t.name, ', ' ORDER BY t.place, t.name) AS targets
            FROM conversion AS c JOIN type AS s ON s.oid = c.source JOIN type AS t ON t.oid = c.target GROUP BY s.name, s.place) AS c
      GROUP BY targets) AS c;
SELECT E'\nTo a length or precision of the same type: ' || string_agg(t.name, ', ' ORDER BY t.place, t.name) || '.'
FROM pg_cast JOIN type AS t ON t.oid = castsource WHERE castsource = casttarget AND castfunc IN (SELECT oid FROM inside);
SELECT E'\n## Aggregates of the rows of one person\n\nWhat may sum up the rows of each person before a private aggregate counts persons. Each answer follows from the set of the person''s values, whatever the order of the\n'
  || E'rows is: sums of floats are exact and rounded once, and where equal values look different (-0 and 0, 1.0 and 1.00, 1 day and 24 hours) the answer is written in one way.\n'
  || E'Where PostgreSQL''s aggregate fails, because a sum is out of range, the answer is NULL. A numeric with more than 400 digits before or after the decimal point counts as NULL.\n'
  || E'`count(DISTINCT value)` takes numbers, texts, bytea, dates, times, intervals, booleans, uuid and enums, and rows of these but bytea and intervals, `(city, kind)`; other aggregates take no `DISTINCT`, and none `ORDER BY`. A percentile is of one fraction.\n\n| call | arguments |\n|---|---|\n'
  || string_agg('| ' || names || ' | ' || types || ' |', E'\n' ORDER BY names COLLATE "C")
FROM (SELECT string_agg('`' || name || '`', ' ' ORDER BY length(name), name COLLATE "C") AS names, types
      FROM (SELECT p.proname AS name, CASE p.proname WHEN 'count' THEN '\*; any' WHEN 'percentile_disc' THEN 'number, date, time, timestamp, timestamptz, interval, boolean'
                                                     ELSE replace(pg_temp.list_of(array_agg(t.name)), '/', ', ') END AS types
            FROM pg_proc AS p LEFT JOIN type AS t ON t.oid = p.proargtypes[p.pronargs - 1]
            WHERE dpquantile.how_total(p.oid) ~ 'of a person$' GROUP BY p.proname) AS a
      GROUP BY types) AS s;
