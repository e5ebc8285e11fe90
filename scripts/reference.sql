-- Writes docs/reference.md from the comments on the objects of the extension: psql -XAtq -f scripts/reference.sql (make reference).
-- Variants of a function with the same names of arguments, apart from options, are one entry. Fails for a function without a subject.
-- A subject has its functions in this order, then those that begin like them (%); any other aggregate comes at the end of the first.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET client_encoding = 'UTF8';
CREATE TEMP TABLE subject (place integer, title text, names text);
INSERT INTO subject VALUES
  (1, 'Counts, sums, means, spreads', 'dp_count dp_count_distinct dp_sum dp_avg dp_variance dp_var_samp dp_var_pop dp_stddev dp_stddev_samp dp_stddev_pop dp_stats dp_statistics dp_numeric_statistics dp_stats_expected_error %'),
  (2, 'Quantiles', 'dp_median dp_quantile dp_quantiles dp_quantiles_expected_error dp_synthesize dp_quantile%'),
  (3, 'Histograms', 'dp_histogram dp_histogram_rows dp_histogram_error dp_histogram_plot dp_histogram_svg dp_modal_bin dp_histogram%'),
  (4, 'Distributions', 'dp_cdf dp_cdf_quantile dp_cdf_quantiles dp_cdf_probability dp_cdf_count dp_cdf_rows dp_cdf_points dp_cdf_error dp_cdf_quantile_error dp_cdf_plot dp_cdf_svg dp_cdf_time_quantile dp_cdf_time_quantiles dp_cdf_time_probability dp_cdf_time_count dp_cdf_time_points dp_cdf_expected_error dp_cdf%'),
  (5, 'Bounds and the interquartile range', 'dp_learn_bounds dp_iqr dp_iqr_min_rows dp_iqr_expected_error dp_iqr%'),
  (6, 'Which groups may be shown', 'dp_keep_group dp_keep_group_rows dp_keep_group%'),
  (7, 'Several rows of a person', 'dp_user_mean dp_user_variance dp_user_grid_stats dp_grid_stat dp_user_expected_error dp_user%'),
  (8, 'Options', 'dp_options dp_option dp_time_options'),
  (9, 'Before and after a query', 'dp_protected_tables dp_explain dp_private_query dp_error_of dp_budget dp_budget_fits dp_ledger'),
  (10, 'Protected tables, for their owners', 'dp_protect_table dp_unprotect_table dp_set_domain dp_set_other_key dp_learn_domain dp_learn_expected_error dp_learn_keys dp_learn_limits dp_learn_groups dp_drop_domain dp_grant_private_access dp_revoke_private_access dp_open_private_access dp_forget_answers'),
  (11, 'Budgets, for the owner of the extension', 'dp_grant_budget dp_revoke_budget dp_add_charge dp_archive_ledger dp_health'),
  (12, 'Restricted roles', 'dp_restrict_role dp_unrestrict_role'),
  (13, 'For the servers of Citus', 'topn_add_agg topn_union_agg');
CREATE TEMP VIEW member AS
SELECT classid, objid FROM pg_depend
WHERE deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dpquantile');

-- Comments begin each argument in a line of its own, or have all in one; lines that go on begin with spaces.
CREATE FUNCTION pg_temp.page_of(comment text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg(CASE WHEN number = 1 THEN '' WHEN is_argument AND after_argument THEN E'\n' ELSE E'\n\n' END
                    || CASE WHEN is_argument THEN '- ' ELSE '' END || line, '' ORDER BY number)
  FROM (SELECT number, line, line ~ '^[a-z_]+(, [a-z_]+)*: ' AS is_argument,
               lag(line) OVER (ORDER BY number) ~ '^[a-z_]+(, [a-z_]+)*: ' AS after_argument
        FROM regexp_split_to_table(regexp_replace(comment, '\n +', ' ', 'g'), '\n') WITH ORDINALITY AS l (line, number)) AS lines
$$;

CREATE FUNCTION pg_temp.short(type oid) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT replace(replace(replace(replace(format_type(type, NULL), 'double precision', 'float8'),
    'timestamp with time zone', 'timestamptz'), 'timestamp without time zone', 'timestamp'), 'time without time zone', 'time')
$$;

CREATE TEMP VIEW argument AS
SELECT f.oid, f.proname, n.number, f.proargnames[n.number] AS name,
       pg_temp.short(f.proargtypes[n.number - 1]) AS type
FROM pg_proc AS f JOIN member AS m ON m.classid = 'pg_proc'::regclass AND m.objid = f.oid,
     generate_series(1, f.pronargs) AS n (number)
WHERE f.pronamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'dpquantile');

CREATE TEMP VIEW variant AS
SELECT f.oid, f.proname, f.pronargdefaults,
       coalesce(array_remove(f.proargnames[1:f.pronargs], 'options'), '{}') AS names,
       coalesce('options' = ANY (f.proargnames[1:f.pronargs]), false) AS has_options,
       f.prokind = 'a' AS is_aggregate,
       coalesce(CASE WHEN f.proretset THEN 'rows' ELSE 'a row' END || ' (' || columns || ')', pg_temp.short(f.prorettype)) AS result,
       btrim(regexp_replace(obj_description(f.oid, 'pg_proc'), '\s*This variant [^\n]*', '', 'g'), E' \n') AS comment,
       obj_description(f.oid, 'pg_proc') ~ 'This variant ' AS is_variant
FROM pg_proc AS f, LATERAL (
  SELECT string_agg(c.name || ' ' || pg_temp.short(c.type), ', ' ORDER BY c.number) AS columns
  FROM unnest(f.proargnames, f.proallargtypes, f.proargmodes) WITH ORDINALITY AS c (name, type, mode, number) WHERE c.mode IN ('o', 't')) AS o
WHERE f.oid IN (SELECT oid FROM argument) OR f.oid IN (
  SELECT objid FROM member JOIN pg_proc AS p ON p.oid = objid WHERE classid = 'pg_proc'::regclass AND p.pronargs = 0
    AND p.pronamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'dpquantile'));

-- One entry for each list of names, with the comment of the variant with options.
CREATE TEMP VIEW entry AS
SELECT v.proname, v.names, v.is_aggregate,
       (array_agg(v.comment ORDER BY v.has_options DESC, v.is_variant, length(v.comment), v.comment COLLATE "C"))[1] AS comment,
       bool_or(v.has_options) AS takes_options, bool_and(v.has_options) AS only_options, max(v.pronargdefaults) AS defaults,
       CASE WHEN bool_and(v.result = 'anycompatiblearray') THEN 'array of [the type of value and bounds](analyst.md#types)'
            WHEN bool_and(v.result = 'anycompatible') THEN '[the type of value and bounds](analyst.md#types)'
            WHEN count(DISTINCT v.result) > 3 OR bool_or(v.result LIKE 'anycompatible%') THEN '[the type of the values](analyst.md#types)'
            ELSE string_agg(DISTINCT v.result COLLATE "C", ', ') END AS result
FROM variant AS v GROUP BY v.proname, v.names, v.is_aggregate;

CREATE TEMP VIEW signature AS
SELECT e.*, e.proname || '(' || coalesce(
         (SELECT string_agg(CASE WHEN a.number = cardinality(e.names) - e.kept + 1 THEN CASE WHEN a.number > 1 THEN ' [, ' ELSE '[' END
                                WHEN a.number > 1 THEN ', ' ELSE '' END || a.name || coalesce(' ' || a.type, ''), '' ORDER BY a.number)
                 || CASE WHEN e.kept > 0 THEN ']' ELSE '' END
          FROM (SELECT n.number, n.name, CASE WHEN count(DISTINCT a.type) = 1 AND min(a.type) NOT LIKE 'anycompatible%' THEN min(a.type) END AS type
                FROM unnest(e.names) WITH ORDINALITY AS n (name, number)
                JOIN argument AS a ON a.proname = e.proname AND a.name = n.name
                GROUP BY n.number, n.name) AS a), '')
         || CASE WHEN e.takes_options THEN ' [, options]' ELSE '' END || ')' AS call
FROM (SELECT e.*, CASE WHEN e.takes_options AND e.only_options AND e.defaults > 0 THEN e.defaults - 1 ELSE e.defaults END AS kept FROM entry AS e) AS e;

-- What an entry says: a function or a relation or a type, with its columns
CREATE TEMP VIEW text_of AS
SELECT s.proname AS name, 1 AS part, cardinality(s.names) AS number, s.call,
       '`' || s.call || '`' || CASE WHEN s.result = 'void' THEN '' ELSE ' → ' || s.result END || E'\n\n' || pg_temp.page_of(s.comment) AS text
FROM signature AS s
UNION ALL
SELECT c.relname, 2, 0, '', CASE c.relkind WHEN 'v' THEN 'A view. ' ELSE 'A type of rows. ' END
       || coalesce(pg_temp.page_of(obj_description(coalesce(nullif(c.reltype, 0), c.oid), 'pg_type')), pg_temp.page_of(obj_description(c.oid, 'pg_class')))
       || E'\n\n| column | type | |\n|---|---|---|\n'
       || (SELECT string_agg('| `' || a.attname || '` | ' || replace(format_type(a.atttypid, a.atttypmod), 'double precision', 'float8') || ' | '
                             || coalesce(col_description(c.oid, a.attnum), '') || ' |', E'\n' ORDER BY a.attnum)
           FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
FROM pg_class AS c
WHERE c.relnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'dpquantile')
  AND (c.oid IN (SELECT objid FROM member WHERE classid = 'pg_class'::regclass)
       OR c.reltype IN (SELECT objid FROM member WHERE classid = 'pg_type'::regclass)) AND c.relkind IN ('v', 'c')
UNION ALL
SELECT t.typname, 0, 0, '', 'A type. ' || pg_temp.page_of(obj_description(t.oid, 'pg_type'))
FROM pg_type AS t JOIN member AS m ON m.classid = 'pg_type'::regclass AND m.objid = t.oid
WHERE t.typtype = 'b' AND t.typname !~ '^_' AND t.typnamespace = (SELECT extnamespace FROM pg_extension WHERE extname = 'dpquantile');

CREATE TEMP VIEW place AS
SELECT DISTINCT ON (t.name) t.name, s.place, s.title, l.number
FROM text_of AS t, subject AS s, regexp_split_to_table(s.names, ' ') WITH ORDINALITY AS l (pattern, number)
WHERE t.name LIKE l.pattern AND (l.pattern <> '%' OR t.name IN (SELECT proname FROM variant WHERE is_aggregate))
ORDER BY t.name, l.pattern = t.name DESC, length(l.pattern) DESC;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_temp.text_of WHERE name NOT IN (SELECT p.name FROM pg_temp.place AS p)) THEN
    RAISE 'scripts/reference.sql has no subject for %', (SELECT string_agg(DISTINCT name, ', ') FROM pg_temp.text_of WHERE name NOT IN (SELECT p.name FROM pg_temp.place AS p));
  END IF;
  IF EXISTS (SELECT FROM pg_temp.text_of WHERE text ~ E'\n\n(?!dp_)[a-z]') THEN
    RAISE 'a line of the comment on % goes on without spaces at its beginning', (SELECT string_agg(DISTINCT name, ', ') FROM pg_temp.text_of WHERE text ~ E'\n\n(?!dp_)[a-z]');
  END IF;
END
$$;

SELECT E'# Reference\n\nAll functions, views and types of the extension, as `\\df+`, `\\da+` and `\\d+` of psql describe them. `make reference` writes this page from the comments in the database.\n'
  || E'Aggregates take their arguments by position, and `options` from `dp_options`. Where no type is written, the argument takes the type of the values, or one of several: [types](analyst.md#types).';
SELECT E'\n' || CASE WHEN lag(p.place) OVER w IS DISTINCT FROM p.place THEN '## ' || p.title || E'\n\n' ELSE '' END
  || CASE WHEN lag(p.name) OVER w IS DISTINCT FROM p.name THEN '### ' || p.name || E'\n\n' ELSE '' END || t.text
FROM text_of AS t JOIN place AS p USING (name)
WINDOW w AS (ORDER BY p.place, p.number, p.name COLLATE "C", t.part, t.number, t.call COLLATE "C")
ORDER BY p.place, p.number, p.name COLLATE "C", t.part, t.number, t.call COLLATE "C";
