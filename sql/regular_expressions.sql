-- Regular expressions over protected rows. A count has epsilon 100: noise on it is 0 except with a probability below 1e-40.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_regex_analyst LOGIN;
CREATE SCHEMA regress_dpq_regex;
GRANT USAGE ON SCHEMA regress_dpq_regex TO regress_dpq_regex_analyst;
SELECT dp_grant_budget('regress_dpq_regex_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_regex_analyst');
SET search_path = regress_dpq_regex, public;
CREATE TABLE page (url text, kind varchar(10), code char(5));
INSERT INTO page SELECT v, left(v, 3), left(v, 4) FROM unnest(ARRAY['/cart', '/cart/7', '/product/12', '/product/x', '/Product/12', 'ab', 'aab', 'abab', 'a.b', '', 'a]b', 'x-1', 'été', E'two\nlines', '12', '2024-02-29', NULL]) v;
SELECT dp_protect_table('page'), dp_grant_private_access('page', 'regress_dpq_regex_analyst', epsilon => 100, delta => 1e-6);
CREATE TABLE pattern (number serial, text text, rows float8);
INSERT INTO pattern (text) SELECT format('url ~ %L', p) FROM unnest(ARRAY['^/cart', '^/product/[0-9]+$', '/(cart|product)/?', 'a*b', '^(ab)+$', '^(?:ab){2}$', '^a{1,2}b', '^a{2,}b', '\.', '[.]', '[]]', '[^]a-z]', '^[[:digit:]]{4}-\d\d',
  '\w\W\w', '\s', '^.?$', '', 'a|', '^$', 'é', 'x-1|12', '(a|b)*c', 'ab??', 'o{2}|w', '}', ']', '^(/[a-z]+){2}']) p;
INSERT INTO pattern (text) VALUES ('url ~* ''^/PRODUCT'''), ('url !~ ''a'''), ('url !~* ''A'''), ('url SIMILAR TO ''/(cart|product)/_+'''), ('url NOT SIMILAR TO ''%a%'''), ('kind ~ ''^.a'''), ('kind ~ ''^(a?b?){6}$'''), ('code::text ~ ''a$''');
-- LIKE and the others search literal arrays, too, by a comparison with each element.
INSERT INTO pattern (text) VALUES ('url LIKE ANY (ARRAY[''/cart%'', ''%b'', NULL])'), ('url NOT LIKE ALL (''{/cart%,%b}'')'), ('url LIKE ALL (''{%a%,%b}'')'), ('kind ILIKE ANY (''{A%,_b}'')'), ('url NOT ILIKE ALL (''{A%}'')'),
  ('url ~ ANY (''{^/cart,^x}'')'), ('url !~* ALL (''{CART,^x}'')'), ('code LIKE ANY (''{ab,a%}'')'), ('(url LIKE ANY (ARRAY[''a%'', NULL])) IS NULL'), ('(url NOT LIKE ALL (ARRAY[''a%'', NULL])) IS NULL'),
  ('NOT url LIKE ANY (''{}'')'), ('url NOT LIKE ALL (''{}'')'), ('(kind ILIKE ANY (NULL::text[])) IS NULL');
DO $$ DECLARE p pattern; BEGIN
  FOR p IN SELECT * FROM pattern LOOP EXECUTE format('UPDATE pattern SET rows = (SELECT count(*) FROM page WHERE %s) WHERE number = %s', p.text, p.number); END LOOP;
END $$;
GRANT SELECT ON pattern TO regress_dpq_regex_analyst;
SET SESSION AUTHORIZATION regress_dpq_regex_analyst;
CREATE TEMP TABLE asked (number int, rows float8);
DO $$ DECLARE p record; n float8; BEGIN
  FOR p IN SELECT * FROM pattern LOOP
    EXECUTE format('SELECT dp_count(100) FROM page WHERE %s', p.text) INTO n;
    INSERT INTO asked VALUES (p.number, n);
  END LOOP;
END $$;
SELECT text, asked.rows, CASE WHEN asked.rows <> pattern.rows THEN 'the owner counts ' || pattern.rows END AS wrong FROM pattern JOIN asked USING (number) ORDER BY number;
SELECT url ~ '^/cart' AS is_cart, count(*) FROM page GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM page WHERE url ~ NULL;

-- threat 216: a pattern for which one row may take long, or whose time is not known before the rows. An error is one of the pattern.
CREATE FUNCTION pg_temp.refusal(condition text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN EXECUTE 'SELECT dp_count(100) FROM page WHERE ' || condition; RETURN 'answered';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM; END $$;
SELECT p, pg_temp.refusal(format('url ~ %L', p)) FROM unnest(ARRAY['(a)\1', '(?=a)b', 'a(?!b)', '(?<=a)b', '(?i)a', '***=a', '\yab', '\ma', '\Aa', 'a\Z', '[[:<:]]a', '[[.a.]]', '[[=a=]]', '\x41', '\u0041', 'a{65}', '(a{8}){8}', '(a|b){40}',
  '(^a|b)*', '(a$)?', repeat('a', 65), repeat('(', 17) || 'a' || repeat(')', 17), '[z-a]', 'a**', '*a', 'a{2', 'a{3,2}', '(a', 'a)', '[a', '\', '[[:none:]]']) p;
SELECT pg_temp.refusal('url ~ kind'), pg_temp.refusal('url ~ current_setting(''work_mem'')'), pg_temp.refusal('kind ~ ANY (ARRAY[''a''])');
\set VERBOSITY default
SELECT dp_count(100) FROM page WHERE url ~ '(a)\1';
SELECT dp_count(100) FROM page WHERE regexp_replace(url, 'a', 'b') = 'b';
-- threat 245: a pattern in a parameter, whose time would be that of its value. It is looked at before the charge, in plans for one value and for any alike,
-- and the longest text does not depend on it.
PREPARE of_pattern(text) AS SELECT dp_count(100) FROM page WHERE url ~ $1;
PREPARE like_pattern(text) AS SELECT dp_count(100) FROM page WHERE url SIMILAR TO $1 AND url !~* current_setting('work_mem') AND url LIKE '/%';
SELECT count(*) AS charges FROM dp_ledger \gset before_
SET plan_cache_mode = force_custom_plan;
EXECUTE of_pattern('^/product/[0-9]+$');
EXECUTE of_pattern(NULL);
EXECUTE of_pattern('(a)\1');
EXECUTE of_pattern('(a?b?){2}c{20}');
EXECUTE of_pattern('[z-a]');
EXECUTE like_pattern('/(cart|product)/_+');
SET plan_cache_mode = force_generic_plan;
EXECUTE of_pattern('^/product/[0-9]+$');
EXECUTE of_pattern(NULL);
EXECUTE of_pattern('(a)\1');
EXECUTE of_pattern('(a?b?){2}c{20}');
EXECUTE of_pattern('[z-a]');
EXECUTE like_pattern('/(cart|product)/_+');
RESET plan_cache_mode;
SELECT count(*) - :before_charges AS charges FROM dp_ledger;
SELECT problem, longest_value FROM dp_explain('SELECT dp_count(100) FROM page WHERE url ~ current_setting(''work_mem'')');
SELECT dp_count(100) FROM page WHERE url ~ (SELECT dp_count(100)::text FROM page);
-- PostgreSQL keeps 32 patterns. With more, one would be compiled for each row.
SELECT n, pg_temp.refusal((SELECT string_agg(format('url ~ ''^x%s''', i), ' OR ') FROM generate_series(1, n) i)) FROM unnest('{15,32}'::int[]) n;
-- What is no literal array, and patterns that cut texts, are refused; the hints help.
SELECT dp_count(100) FROM page WHERE url LIKE ANY (current_setting('regress.patterns', true)::text[]);
SELECT substring(url, '[a-z]+'), count(*) FROM page GROUP BY 1;
SELECT n, pg_temp.refusal(format('url LIKE ANY (%L)', array_fill('a%'::text, ARRAY[n]))) FROM unnest('{100,101,100000}'::int[]) n;
-- threat 313: searches in one another, each of which stands for 100. What is searched is not copied for each, and dp_explain looks at no more than may be in a query.
CREATE FUNCTION pg_temp.nested(depth int) RETURNS text LANGUAGE sql AS $$
  SELECT repeat('(', depth) || 'url' || repeat(format(' LIKE ANY (%L))::text', array_agg('a' || i || '%')), depth) || ' = ''true''' FROM generate_series(1, 100) i $$;
SELECT depth, pg_temp.refusal(pg_temp.nested(depth)) FROM unnest('{1,200}'::int[]) depth;
SELECT DISTINCT split_part(problem, '. ', 1) AS problem FROM dp_explain('SELECT dp_count(100) FROM page WHERE ' || pg_temp.nested(200)) ORDER BY 1;
SELECT substring(url, 1, 3) AS start, split_part(url, '/', 2) AS part, left(url, position('/' IN url)) AS root, CASE WHEN url ~ '^/' THEN 'path' END AS kind, count(*) FROM page WHERE url LIKE '/c%' GROUP BY 1, 2, 3, 4;
-- The heavier the pattern, the shorter is the longest text.
SELECT p, (SELECT longest_value FROM dp_explain(format('SELECT count(*) FROM page WHERE url ~ %L', p)) LIMIT 1) FROM unnest(ARRAY['^a', '^/product/[0-9]+', '^[A-Z][a-z]+ (street|road)$', '(a?b?){2}c{20}', repeat('a', 64)]) p;
RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_regex CASCADE;
DROP OWNED BY regress_dpq_regex_analyst;
SELECT dp_revoke_budget('regress_dpq_regex_analyst');
DROP ROLE regress_dpq_regex_analyst;
