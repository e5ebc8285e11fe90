-- Lists of keys: NULL in a list has a group, and a notice tells of keys that may be NULL and are in no list. A count has epsilon 50 or
-- more, so noise on it is 0 except with a probability below 1e-20. (column_domains.sql: what an owner states; plain_queries.sql: which
-- keys have lists.)
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_lists_owner LOGIN;
CREATE ROLE regress_dpq_lists_analyst LOGIN;
CREATE SCHEMA regress_dpq_lists AUTHORIZATION regress_dpq_lists_owner;
GRANT USAGE ON SCHEMA regress_dpq_lists TO regress_dpq_lists_analyst;
SELECT dp_grant_budget('regress_dpq_lists_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_lists_analyst');
SET SESSION AUTHORIZATION regress_dpq_lists_owner;
SET search_path = regress_dpq_lists, public;
SET timezone = 'UTC';
CREATE TYPE level AS ENUM ('low', 'high');
CREATE TABLE visits (
  id int PRIMARY KEY, city text, vip boolean, level level, price numeric, weight float8, day date, code char(3), age int, kind text NOT NULL);
INSERT INTO visits
  SELECT i, (ARRAY['Oslo', 'Paris', NULL, 'Rome', 'Vaduz'])[1 + i % 5], (ARRAY[true, false, NULL])[1 + i % 3], (ARRAY['low', 'high', NULL]::level[])[1 + i % 3],
         (ARRAY[1.0, 1.50, NULL])[1 + i % 3], (ARRAY[0, '-0', NULL]::float8[])[1 + i % 3], (ARRAY['2024-01-01', '2024-02-01', NULL]::date[])[1 + i % 3],
         (ARRAY['a', 'bc', NULL])[1 + i % 3], nullif(i % 4, 0), (ARRAY['web', 'shop'])[1 + i % 2]
    FROM generate_series(1, 120) i;
CREATE VIEW web_visits AS SELECT city, kind FROM visits WHERE kind = 'web';
CREATE TABLE shops (id int PRIMARY KEY, open boolean NOT NULL);
INSERT INTO shops VALUES (1, true), (2, false);
GRANT SELECT ON shops TO regress_dpq_lists_analyst;
SELECT dp_protect_table('visits'), dp_protect_table('web_visits');
SELECT dp_set_domain('visits', 'city', '{Oslo,Paris,Rome,NULL}'), dp_set_domain('visits', 'vip', '{true,false,NULL}'), dp_set_domain('visits', 'level', '{low,high,NULL}'),
       dp_set_domain('visits', 'price', '{1,1.5,NULL}'), dp_set_domain('visits', 'weight', '{0,NULL}'), dp_set_domain('visits', 'day', '{2024-01-01,2024-02-01,NULL}'),
       dp_set_domain('visits', 'code', '{NULL,a,bc}'), dp_set_domain('visits', 'kind', '{web,shop}'), dp_set_domain('visits', 'age', 0, 9),
       dp_set_domain('web_visits', 'kind', '{web,shop}'), dp_set_domain('web_visits', 'city', '{Oslo}');
SELECT dp_grant_private_access(t, 'regress_dpq_lists_analyst', epsilon => 100, delta => 1e-6) FROM unnest('{visits,web_visits}'::regclass[]) t;

SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
SET search_path = regress_dpq_lists, public;
SET timezone = 'UTC';
-- A list with NULL has a group for the rows whose key is NULL: of each type, beside others, and with private aggregates.
SELECT city, count(*), count(age) FROM visits GROUP BY city;
SELECT vip, count(*) FROM visits GROUP BY vip;
SELECT level, count(*) FROM visits GROUP BY level;
SELECT price, count(*) FROM visits GROUP BY price;
SELECT round(price) AS round, trunc(price) AS trunc, count(*) FROM visits WHERE price IS NOT NULL GROUP BY 1, 2 HAVING count(*) > 20;
SELECT weight, count(*) FROM visits GROUP BY weight;
SELECT day, count(*) FROM visits GROUP BY day;
SELECT code || '.' AS code, count(*) FROM visits GROUP BY visits.code;
SELECT city, vip, kind, count(*) FROM visits WHERE city IS DISTINCT FROM 'Rome' GROUP BY city, vip, kind;
SELECT city, dp_count(50) FROM visits GROUP BY city;
SELECT city, count(*) FROM (SELECT city FROM visits WHERE kind = 'web') v GROUP BY city HAVING city IS NULL OR count(*) > 12;
SELECT vip, level, count(*) FROM visits GROUP BY GROUPING SETS ((vip), (level));
-- Each row is in one group, whatever the groups are made of.
SELECT sum(n) FROM (SELECT count(*) AS n FROM visits GROUP BY vip, level, price, day) v;
-- What is computed of a list has NULL if it is NULL for a value of the list.
SELECT upper(city), count(*) FROM visits GROUP BY 1;
SELECT coalesce(city, 'none'), count(*) FROM visits GROUP BY 1;
SELECT nullif(kind, 'web'), count(*) FROM visits GROUP BY 1;
SELECT price * 2 + 1 AS next, price > 1 AS more, weight >= 0 AS known, count(*) FROM visits WHERE price IS NOT NULL GROUP BY 1, 2, 3;
-- But a list has one of equal values, and a text or a scale tells them apart: such keys are chosen.
SELECT price::text, count(*) FROM visits GROUP BY 1;
SELECT scale(price), count(*) FROM visits GROUP BY 1;
SELECT 'w' || weight::text AS weight, count(*) FROM visits GROUP BY 1;
SELECT CASE WHEN age > 2 THEN 'old' END, count(*) FROM visits GROUP BY 1;
SELECT vip IS NULL, count(*) FROM visits GROUP BY 1;
-- Conditions leave the group out, or all others.
SELECT city, count(*) FROM visits WHERE city IS NOT NULL GROUP BY city;
SELECT city, count(*) FROM visits WHERE city IS NULL GROUP BY city;
SELECT city, count(*) FROM visits WHERE city IN ('Oslo', 'Rome') GROUP BY city;
SELECT upper(city), count(*) FROM visits WHERE upper(city) IS NULL GROUP BY 1;
-- So do lists that are joined, but not those of the other side of an outer join, and NULL.
SELECT city, count(*) FROM visits JOIN (VALUES ('Oslo'), ('Rome')) v (name) ON v.name = city GROUP BY city;
SELECT city, count(*) FROM visits JOIN (SELECT lower(name) AS other, name FROM (VALUES ('Oslo')) w (name)) v ON v.name = city GROUP BY city;
SELECT city, count(*) FROM visits LEFT JOIN (VALUES ('Oslo'), ('Rome')) v (name) ON v.name = city GROUP BY city;
SELECT city, count(*) FROM visits JOIN (VALUES ('Oslo'), (NULL)) v (name) ON v.name IS NOT DISTINCT FROM city GROUP BY city;
-- Lists alone
SELECT DISTINCT city FROM visits ORDER BY city;
-- So do they in a UNION or INTERSECT, beside constants, in recursion, and as what is compared with rows. EXCEPT asks which keys rows have.
SELECT DISTINCT city FROM visits WHERE city > 'P' UNION ALL SELECT kind FROM visits GROUP BY kind ORDER BY 1;
SELECT * FROM (SELECT DISTINCT city FROM visits WHERE city < 'S' UNION SELECT DISTINCT city FROM visits WHERE city > 'P') c ORDER BY 1;
SELECT private_aggregate FROM dp_explain('SELECT DISTINCT city FROM visits WHERE city < ''S'' UNION SELECT DISTINCT city FROM visits WHERE city > ''P''');
SELECT private_aggregate FROM dp_explain('SELECT count(*) FROM visits WHERE city IN (SELECT DISTINCT city FROM visits WHERE city < ''S'' UNION SELECT DISTINCT kind FROM visits)');
SELECT DISTINCT city FROM visits WHERE city < 'S' INTERSECT SELECT DISTINCT city FROM visits WHERE city > 'P';
SELECT DISTINCT 'visits' AS source, kind, 1 AS n FROM visits ORDER BY kind;
WITH RECURSIVE k AS (SELECT DISTINCT kind, 1 AS n FROM visits UNION SELECT kind, n + 1 FROM k WHERE n < 2) SELECT * FROM k ORDER BY kind, n;
SELECT private_aggregate FROM dp_explain('SELECT DISTINCT city FROM visits WHERE city < ''S'' INTERSECT SELECT DISTINCT city FROM visits UNION SELECT ''none'' FROM visits GROUP BY 1, kind');
SELECT private_aggregate FROM dp_explain('WITH RECURSIVE k AS (SELECT DISTINCT kind, 1 AS n FROM visits UNION SELECT kind, n + 1 FROM k WHERE n < 2) SELECT * FROM k');
SELECT private_aggregate FROM dp_explain('SELECT DISTINCT city FROM visits EXCEPT SELECT DISTINCT kind FROM visits');
SELECT city FROM visits WHERE city IS NULL OR city > 'P' GROUP BY city ORDER BY city;

-- Threat 212: whether rows have a key that is NULL decides neither about groups nor about the notice, which follows from NOT NULL, outer
-- joins, lists and conditions.
SELECT age, count(*) FROM visits WHERE kind = 'mail' GROUP BY age HAVING age < 2;
SELECT age, count(*) FROM visits GROUP BY age HAVING age < 2;
SELECT age > 2 AS old, kind, count(*) FROM visits GROUP BY 1, 2;
SELECT extract(month FROM day) AS month, count(*) FROM visits WHERE id < 0 GROUP BY 1 HAVING extract(month FROM day) = 1;
SELECT kind, count(*) FROM visits GROUP BY kind;
SELECT city, count(*) FROM web_visits GROUP BY city;
SELECT kind, count(*) FROM web_visits GROUP BY kind;
SELECT age > 2 AS old, count(*) FROM visits WHERE age IS NOT NULL GROUP BY 1;
SELECT age > 2 AS old, count(*) FROM visits WHERE age IN (1, 2) AND kind = 'web' GROUP BY 1;
SELECT age > 2 AS old, count(*) FROM visits WHERE age + 1 > 0 OR age = 3 GROUP BY 1;
SELECT age > 2 AS old, count(*) FROM visits WHERE age > 1 OR kind = 'web' GROUP BY 1;
SELECT (age > 2) IS TRUE AS old, count(*) FROM visits GROUP BY 1;
SELECT coalesce(age, -1) AS age, count(*) FROM visits WHERE id < 0 GROUP BY 1 HAVING coalesce(age, -1) < 1;
SELECT greatest(age, 0) > 2 AS old, count(*) FROM visits GROUP BY 1;
SELECT old, count(*) FROM (SELECT age > 2 AS old FROM visits WHERE age IS NOT NULL) v GROUP BY old;
SELECT s.open, count(*) FROM visits v JOIN shops s ON s.id = v.id GROUP BY s.open;
SELECT s.open, count(*) FROM visits v LEFT JOIN shops s ON s.id = v.id GROUP BY s.open;
-- It is said once for a query, and only for one that is answered.
SELECT old, n, (SELECT count(*) FROM (SELECT age > 2 AS old FROM visits GROUP BY 1) v) FROM (SELECT age > 2 AS old, count(*) AS n FROM visits GROUP BY 1) v;
SELECT age > 2 AS old, count(*) FROM visits WHERE kind ~ '\1' GROUP BY 1;

-- What is never NULL is a list: columns that are NOT NULL, and what gives a value for each value within the bounds and lists of columns. What fails for a row is NULL
-- for it, as for a text that is too long. max() of a test for NULL tells what is known, for nothing.
SET SESSION AUTHORIZATION regress_dpq_lists_owner;
CREATE TABLE measures (n int NOT NULL, part int NOT NULL, amount numeric NOT NULL, x float8 NOT NULL, at timestamptz NOT NULL, day date NOT NULL, whenever timestamp NOT NULL,
  name text NOT NULL, kind text NOT NULL, short varchar(20) NOT NULL, doc jsonb NOT NULL, tags int[] NOT NULL, id uuid NOT NULL, extra int, code int NOT NULL, price numeric(9, 2) NOT NULL DEFAULT 1);
INSERT INTO measures
  SELECT i % 5, 1 + i % 5, i % 9, i % 9, '2024-01-01Z', '2024-01-01', '2024-01-01', 'a', 'web', 'b', '{"a": 1}', '{1,2}', md5(i::text)::uuid, i % 7, i FROM generate_series(1, 100) i;
SELECT dp_protect_table('measures'), dp_set_domain('measures', 'n', 0, 9), dp_set_domain('measures', 'part', 1, 9), dp_set_domain('measures', 'amount', 0, 300),
       dp_set_domain('measures', 'price', 0, 300), dp_set_domain('measures', 'x', 0, 60), dp_set_domain('measures', 'at', '2024-01-01Z'::timestamptz, '2025-12-31Z'),
       dp_set_domain('measures', 'day', '2024-01-01'::date, '2025-12-31'), dp_set_domain('measures', 'kind', '{web,shop}');
SELECT dp_grant_private_access('measures', 'regress_dpq_lists_analyst', epsilon => 100, delta => 1e-6);
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only
\set ECHO none
SELECT format('SELECT %L, max(CASE WHEN (%s) IS NULL THEN 1 ELSE 0 END) FROM measures v', e, e) FROM unnest(ARRAY[
  'n + 1', 'n * 2 - part', 'part / 2', 'code / 10', 'code % 7 = 1', '100 / part', '100 / (n + 1)', 'amount / 2', 'amount * x::numeric', 'abs(n)', 'n::smallint', 'round(amount, 1)', 'floor(x / 10)',
  'sqrt(x)', 'ln(part)', 'power(x + 1, 2)', 'x * 1.5', '(x + 1) * x', '1000 / (x + 1)', 'amount::float8', '(amount * 2)::float8', '(n * n * 1.5)::float8', 'price::real', 'mod(n, part)', 'width_bucket(amount, 0, 100, 10)', 'n::text', 'at::date', 'at::text', 'date_trunc(''month'', at)', 'date_trunc(''month'', at, ''Asia/Tokyo'')',
  'extract(hour FROM at)', 'to_char(at, ''YYYY-MM'')', 'lower(to_char(at, ''Month''))', 'date_bin(''1 week'', at, ''2024-01-01Z'')', 'at + interval ''1 day''', 'at > now() - interval ''1 year''',
  'age(day)', 'make_date(extract(year FROM day)::int, extract(month FROM day)::int, 1)', 'day + n', 'lower(kind) = ''web''', 'kind || short', 'kind LIKE ''w%''', 'short ILIKE ''%b%''', 'name = ''a''',
  'name < kind', 'concat(kind, extra::text)', 'length(kind)', 'n IN (1, 2)', 'n = ANY (ARRAY[1, part])', 'n <> ALL (''{1,2}''::int[])', 'coalesce(extra, n)', 'greatest(extra, n)',
  'n * interval ''1 day''', 'extra IS DISTINCT FROM n', 'CASE WHEN n > 5 THEN 1 ELSE part END', 'CASE WHEN extra > 5 THEN extra ELSE 0 END', 'n > 5 AND NOT part > 3', 'ARRAY[extra]', 'whenever > ''2024-01-01''',
  'id = md5(''a'')::uuid']) e \gexec
\echo -- may be NULL
SELECT format('SELECT %L, max(CASE WHEN (%s) IS NULL THEN 1 ELSE 0 END) FROM measures v', e, e) FROM unnest(ARRAY[
  'extra', 'n + extra', '100 / n', '100 / (n - 4)', 'code + 1', 'code / n', 'n % n', 'amount / n', 'n::smallint + 32767::smallint', 'sqrt(x - 10)', 'ln(x)', 'power(x - 9, 2)', 'power(x, 2)', 'x * x', 'x * 1e-200', 'x / 1e200', 'x::real', 'amount::real', '(amount * amount)::float8', 'exp(x)', 'asin(x)',
  'x * 1e308', 'kind::int', 'name::date', 'short::int > 5', 'width_bucket(amount, 5, 5, 10)', 'width_bucket(amount, 0, 100, n)', 'extract(hour FROM whenever)', 'whenever::date',
  'at + interval ''300000 years''', 'n * interval ''100000 years''', 'code * interval ''1 year''', 'scale(amount)', 'min_scale(amount)', 'date_bin(''0 s'', at, at)', 'make_date(n, n, n)', 'lower(name)', 'name || ''a''', 'name LIKE ''a%''', 'kind LIKE name', 'kind LIKE ''a\''', 'kind ~ ''a''', 'chr(n)',
  'split_part(kind, '','', 0)', 'doc -> ''a''', 'doc ? ''a''', 'doc ->> ''a'' = ''1''', 'jsonb_array_length(doc)', 'jsonb_object_field_text(doc, ''a'')', '(doc -> ''n'')::int', 'tags[1]', '5 = ANY (tags)',
  'n = ANY (''{1,NULL}''::int[])', 'n <> ALL (''{1,NULL}''::int[])', 'n IN (1, extra)', 'nullif(n, 3)', 'coalesce(extra, 100 / n)', 'CASE WHEN n > 5 THEN 1 END',
  'CASE WHEN extra > 5 THEN 1 ELSE extra END', 'n > NULL::int', '(SELECT s.id FROM shops s WHERE s.id = v.code) > 1', 'n > (SELECT max(s.id) FROM shops s)',
  'n > nullif(current_setting(''application_name'', true), ''x'')::int']) e \gexec
\set ECHO all
\pset tuples_only
\pset format aligned
SET client_min_messages = notice;
SELECT 100 / n > 30 AS many, count(*) FROM measures GROUP BY 1;
SELECT x * x > 9 AS large, count(*) FROM measures GROUP BY 1;
-- Nothing is said of infinite times of a column without bounds, as nothing is of times beyond bounds. What asks for NULL has them.
SELECT extract(isodow FROM whenever::date) > 3 AS late, count(*) FROM measures GROUP BY 1;
SELECT coalesce(to_char(whenever, 'Day') LIKE 'S%', true) AS free, extract(hour FROM whenever) IS NULL AS infinite, count(*) FROM measures GROUP BY 1, 2;
SELECT 100 / n > 30 AS many, count(*) FROM measures WHERE n > 0 GROUP BY 1;
SELECT extra > 2 AS more, count(*) FROM measures WHERE extra = ANY ('{1,5}') GROUP BY 1;
SELECT extra > 2 AS more, count(*) FROM measures WHERE (extra = ANY ('{}')) IS FALSE GROUP BY 1;

-- The values of parameters are those of the execution: what they leave no row is refused, too (threat 307).
PREPARE above(int) AS SELECT n > $1 AS above, count(*) FROM measures GROUP BY 1;
EXECUTE above(2);
EXECUTE above(NULL);
PREPARE any_of(int[]) AS SELECT n = ANY ($1) AS any_of, count(*) FROM measures WHERE part <> ALL ($1) GROUP BY 1;
EXECUTE any_of('{1,2}');
EXECUTE any_of('{1,NULL}');
PREPARE of_part(int) AS SELECT count(*) FROM measures WHERE part = $1;
EXECUTE of_part(2);
EXECUTE of_part(NULL);

-- Constants that WHERE says a key is one of are a list, for a key that has none: groups without rows are there, and nothing is chosen.
SELECT id, count(*) FROM visits WHERE id IN (1, 2, -3, 2) GROUP BY id;
SELECT weight * id AS x, count(*) FROM visits WHERE weight * id = 1 OR weight * id = 0 GROUP BY 1;
SELECT id % 7 AS rest, count(*) FROM visits WHERE id % 7 = 3 OR 5 = id % 7 OR id % 7 IN (8, NULL) GROUP BY 1;
SELECT id, vip, count(*) FROM visits WHERE id = ANY ('{1,5}') AND vip GROUP BY id, vip;
SELECT id / 10 AS part, count(*) FROM (SELECT id FROM visits WHERE id IN (7, 8, 17)) v GROUP BY 1;
SELECT v.id::text AS id, count(*) FROM visits v JOIN shops s ON s.id = v.id AND v.id = 2 GROUP BY 1;
SELECT substr(city, 1, 2) AS start, count(*) FROM visits WHERE substr(city, 1, 2) IN ('Va', 'Ve') GROUP BY 1;
SELECT private_aggregate FROM dp_explain('SELECT id, count(*) FROM visits WHERE id IN (1, 2) GROUP BY id');
-- No list: a condition that other rows fulfil, too, one that is not on the key, and values that are not known when the query is planned.
SELECT private_aggregate FROM dp_explain('SELECT weight * id AS x, count(*) FROM visits WHERE weight * id = 1 OR vip GROUP BY 1');
SELECT private_aggregate FROM dp_explain('SELECT weight * id AS x, count(*) FROM visits WHERE weight * id <> 1 GROUP BY 1');
SELECT private_aggregate FROM dp_explain('SELECT v.id / 2 AS half, count(*) FROM visits v LEFT JOIN shops s ON s.id = v.id AND v.id / 2 = 1 GROUP BY 1');
-- min and max by public keys alone are bounds beside the keys.
SELECT kind, min(age), max(age) FROM visits GROUP BY kind ORDER BY kind;
SELECT city, max(age) AS oldest FROM visits WHERE city > 'P' OR city IS NULL GROUP BY city HAVING max(age) > 8 ORDER BY city;
SELECT s.open, v.kind, min(v.age) FROM visits v JOIN shops s ON s.id = v.id GROUP BY 1, 2 ORDER BY 1, 2;
SELECT s.id, max(v.age) FROM visits v JOIN shops s ON s.id = v.id WHERE v.kind = 'web' GROUP BY s.id ORDER BY s.id;
SELECT query FROM dp_ledger WHERE query LIKE '%max(age) AS oldest%';

-- Threat 244: mode() is drawn from the list, of all types. A value that is not there, as Vaduz, and NULL do not count, however many rows have them.
-- One row more than any other key has decides here, but with a probability below 1e-40.
SELECT mode() WITHIN GROUP (ORDER BY city), pg_typeof(mode() WITHIN GROUP (ORDER BY city)) FROM visits WHERE id <> 5 AND id % 5 IN (0, 1, 2);
SELECT mode() WITHIN GROUP (ORDER BY city) FROM visits WHERE id % 5 IN (2, 4) OR id = 3;
SELECT mode() WITHIN GROUP (ORDER BY vip) FILTER (WHERE id > 3) AS vip, mode() WITHIN GROUP (ORDER BY level DESC) FILTER (WHERE id > 3) AS level, mode() WITHIN GROUP (ORDER BY price) FILTER (WHERE id > 3) AS price,
       mode() WITHIN GROUP (ORDER BY day) FILTER (WHERE id > 3) AS day, mode() WITHIN GROUP (ORDER BY code) FILTER (WHERE id > 3) AS code, mode() WITHIN GROUP (ORDER BY age) FILTER (WHERE id > 2) AS age,
       mode() WITHIN GROUP (ORDER BY extract(month FROM day)) FILTER (WHERE id > 3) AS month
  FROM visits WHERE id <= 120 - 1;
SELECT kind, mode() WITHIN GROUP (ORDER BY vip) FILTER (WHERE vip OR id > 20) AS vip, count(*) FROM visits GROUP BY kind ORDER BY kind;
SELECT kind FROM visits GROUP BY kind HAVING mode() WITHIN GROUP (ORDER BY vip) FILTER (WHERE vip OR kind = 'web' AND id > 20) ORDER BY kind;
SELECT s.open, mode() WITHIN GROUP (ORDER BY city) FROM visits v JOIN shops s ON s.id = v.age WHERE v.id % 5 = 1 GROUP BY s.open ORDER BY 1;
SELECT id % 7 = 1 AS first, mode() WITHIN GROUP (ORDER BY kind) FROM (SELECT * FROM visits WHERE id < 119) v GROUP BY 1 ORDER BY 1;
-- Without rows it is any of them.
SELECT mode() WITHIN GROUP (ORDER BY city) IN ('Oslo', 'Paris', 'Rome') AS listed FROM visits WHERE id < 0;
SELECT private_aggregate, method, epsilon, round(expected_error::numeric, 4) AS error, error_in FROM dp_explain('SELECT mode() WITHIN GROUP (ORDER BY city) FROM visits');
SELECT dp_private_query('SELECT mode() WITHIN GROUP (ORDER BY city) FROM visits');
-- What WHERE leaves of the list, also in a query below, as of the groups.
SELECT dp_private_query('SELECT mode() WITHIN GROUP (ORDER BY city) FROM visits WHERE city <> ''Paris''');
SELECT dp_private_query('SELECT mode() WITHIN GROUP (ORDER BY extract(month FROM day)) FROM (SELECT * FROM visits WHERE extract(month FROM day) > 10) v');
SELECT function, mechanism, epsilon, neighbours FROM dp_ledger ORDER BY number DESC LIMIT 1;
-- Numbers beyond 2^53 are not counted by float8, so they have no list.
SELECT least(greatest(id::bigint, 9007199254740992), 9007199254740994) AS large, count(*) > 0 AS n FROM visits GROUP BY 1;
SELECT floor(least(greatest(weight, 1e17), 1e17 + 64)) AS large, count(*) > 0 AS n FROM visits GROUP BY 1;
-- Without such a list it is refused, and the hint helps.
SELECT mode() WITHIN GROUP (ORDER BY id) FROM visits;
SELECT id / 100 AS key, count(*) BETWEEN 98 AND 100 AS n FROM visits GROUP BY 1 ORDER BY 2 DESC LIMIT 1;
SELECT mode() WITHIN GROUP (ORDER BY id / 100) FROM visits;
SELECT mode() WITHIN GROUP (ORDER BY weight) FROM visits;
SELECT mode() WITHIN GROUP (ORDER BY city) FROM visits WHERE city = 'Rome';
SELECT mode() WITHIN GROUP (ORDER BY city) FROM visits WHERE city = 'Lima';
SELECT s.open, mode() WITHIN GROUP (ORDER BY v.city) FROM shops s LEFT JOIN visits v ON s.id = v.age GROUP BY s.open;
SELECT mode() WITHIN GROUP (ORDER BY d) FROM (SELECT day + (id * 0) AS d FROM visits WHERE day BETWEEN '2020-01-01' AND '2024-01-01') v;
SELECT dp_error_of(mode() WITHIN GROUP (ORDER BY city)) FROM visits;
SELECT dp_modal_bin(i, 100, '{0, 2.5, 3}'), dp_modal_bin(date '2024-01-01' + i, 100, '{2024-01-01, 2024-01-15, 2024-03-01}'::date[]) FROM generate_series(1, 40) i;
SELECT dp_modal_bin(NULL::int, 1, '{0, 1, 2}') IN (1, 2) AS any_bin;
SELECT dp_modal_bin(1, 1, '{0, 1}');
SELECT dp_modal_bin(1, 0, '{0, 1, 2}');

SET SESSION AUTHORIZATION regress_dpq_lists_owner;
-- A key that stands for all others. Then each row is in a group.
SELECT dp_set_other_key('visits', 'city', 'Paris');
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
SELECT city, count(*), count(age) FROM visits GROUP BY city;
SELECT mode() WITHIN GROUP (ORDER BY city) FROM visits WHERE id % 5 = 4 OR id < 50;
SELECT kind, mode() WITHIN GROUP (ORDER BY city) FROM visits GROUP BY kind ORDER BY kind;
SELECT dp_private_query('SELECT mode() WITHIN GROUP (ORDER BY city) FROM visits WHERE city < ''P''');
RESET SESSION AUTHORIZATION;
SELECT city, count(*) FROM visits GROUP BY city ORDER BY city;
SET SESSION AUTHORIZATION regress_dpq_lists_owner;
-- NULL may be it: of values outside of the list and of rows without one together.
SELECT dp_set_other_key('visits', 'city', NULL);
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
SELECT city, count(*) FROM visits GROUP BY city;
SELECT upper(city), count(*) FROM visits GROUP BY 1;
SELECT coalesce(city, 'none'), vip, count(*) FROM visits GROUP BY 1, 2 HAVING vip;
SET SESSION AUTHORIZATION regress_dpq_lists_owner;
SELECT dp_set_domain('visits', 'city', '{Oslo,Paris,elsewhere}'), dp_set_other_key('visits', 'city', 'elsewhere'),
       dp_set_domain('visits', 'age', ARRAY[1, 2]), dp_set_other_key('visits', 'age', 2),
       dp_set_other_key('visits', 'price', 1.50), dp_set_other_key('visits', 'level', 'high'), dp_set_other_key('visits', 'vip', false),
       dp_set_other_key('visits', 'code', 'bc'), dp_set_domain('visits', 'day', '{2024-01-01,2024-03-01}'), dp_set_other_key('visits', 'day', '2024-03-01');
SELECT domains FROM dp_protected_tables WHERE relation = 'visits'::regclass;
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
SELECT city, count(*) FROM visits GROUP BY city;
SELECT age, count(*) FROM visits GROUP BY age;
SELECT price, level, vip, count(*) FROM visits GROUP BY price, level, vip;
SELECT code, day, count(*) FROM visits GROUP BY code, day;
SELECT left(city, 1) AS initial, count(*) FROM visits GROUP BY 1;
SELECT city, count(*) FROM (SELECT city, kind FROM visits WHERE kind = 'web') v GROUP BY city;
SELECT age + 1 AS next, count(*) FROM visits GROUP BY 1;
SELECT extract(month FROM day) AS month, count(*) FROM visits GROUP BY 1;
SELECT city, dp_count(50) FROM visits GROUP BY city;
-- Conditions are on rows: of those that they let pass, each is in its group.
SELECT city, count(*) FROM visits WHERE city = 'Vaduz' GROUP BY city;
SELECT city, count(*) FROM visits WHERE city = 'Oslo' GROUP BY city;
PREPARE of_city (text) AS SELECT city, count(*) FROM visits WHERE city = $1 GROUP BY city HAVING count(*) > 0;
EXECUTE of_city ('Vaduz');
EXECUTE of_city ('Oslo');
SELECT city, count(*) FROM visits WHERE city IN ('Oslo', 'Rome') GROUP BY city;
SELECT city, count(*) FROM visits JOIN (VALUES ('Oslo'), ('Rome')) v (name) ON v.name = city GROUP BY city;
SELECT city, count(*) FROM visits WHERE city IN ('Oslo', 'Paris') AND age IS NOT NULL GROUP BY city;
SELECT city, count(*) FROM visits WHERE city IS NULL GROUP BY city;
SELECT city, count(*) FROM visits WHERE city <> 'Oslo' AND kind = 'shop' GROUP BY city;
SELECT city, count(*) FROM (SELECT city FROM visits WHERE city > 'Q') v GROUP BY city;
SELECT city, age, count(*) FROM visits WHERE city > 'Q' OR age = 3 GROUP BY city, age;
SELECT city, count(*) FROM visits GROUP BY city HAVING city = 'Vaduz';
-- Threat 213: a value outside of the list has no other group with rows than without any, and the notice does not come.
SELECT city, count(*) FROM visits WHERE id < 0 GROUP BY city;
-- A list alone has no other keys.
SELECT DISTINCT city FROM visits ORDER BY city;
-- Keys that are chosen privately stay as they are.
SELECT city, id / 1000 AS part, count(*) FROM visits GROUP BY 1, 2;

SET SESSION AUTHORIZATION regress_dpq_lists_owner;
-- A person with several values that the list lacks is one person of that key.
CREATE TABLE calls (person int NOT NULL, town text NOT NULL);
INSERT INTO calls SELECT i % 20, 'town ' || i FROM generate_series(1, 60) i;
INSERT INTO calls SELECT i, 'town' FROM generate_series(0, 9) i;
SELECT dp_protect_table('calls', 'person', 4, max_groups => 2), dp_set_domain('calls', 'town', '{town,other}'), dp_set_other_key('calls', 'town', 'other'),
       dp_grant_private_access('calls', 'regress_dpq_lists_analyst', epsilon => 100);
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
SELECT town, count(DISTINCT person) FROM calls GROUP BY town;
-- In as many groups as max_groups says: rows of a person group, and not different values of max_rows rows
SELECT dp_private_query('SELECT town, count(DISTINCT person) FROM calls GROUP BY town');
SELECT upper(town) AS town, count(DISTINCT person) FROM calls GROUP BY 1 HAVING count(DISTINCT person) > 5;
SELECT town, count(DISTINCT person) FROM calls WHERE town = 'town' GROUP BY town;
-- What a condition says that a branch of CASE gives is a list, too.
SELECT CASE WHEN town IN ('town', 'town 1') THEN town ELSE 'rest' END AS place, count(*) FROM calls GROUP BY 1;
SELECT CASE WHEN person = 1 OR person = 2 THEN person WHEN person < 10 THEN -1 END AS who, count(*) FROM calls GROUP BY 1;
-- So is the list of a result, unless a key of it stands for all others.
SELECT CASE WHEN person > 2 THEN town ELSE 'few' END AS town, count(*) FROM calls GROUP BY 1;
SELECT CASE WHEN person > 2 THEN person > 7 ELSE NULL END AS many, count(*) FROM calls GROUP BY 1 ORDER BY 1;
SELECT town, count(*) FROM calls GROUP BY town;
-- threat 296: the person group is by the keys as the list has them, so the noise is that of two groups, or of as many as conditions leave, with NULL, FILTER and several keys, and for a long list, which rows are joined with.
SELECT town, count(DISTINCT person) FROM calls WHERE town IN ('town', 'town 1', 'town 21', 'town 2') GROUP BY town;
SELECT town, count(DISTINCT person) FILTER (WHERE person < 5) AS some, count(DISTINCT person) AS n FROM calls GROUP BY town HAVING count(DISTINCT person) > 5 ORDER BY n;
SELECT left(town, 1) AS initial, count(DISTINCT person) FROM calls GROUP BY 1;
SELECT town, person < 5 AS some, count(DISTINCT person) FROM calls GROUP BY 1, 2;
SET dpquantile.epsilon = 1;
SELECT town, dp_error_of(count(DISTINCT person)) AS error, count(DISTINCT person) > 1000 AS many FROM calls GROUP BY town;
SELECT town, dp_error_of(count(DISTINCT person)) AS error, count(DISTINCT person) > 1000 AS many FROM calls WHERE town = 'town' GROUP BY town;
RESET dpquantile.epsilon;
SET SESSION AUTHORIZATION regress_dpq_lists_owner;
SELECT dp_protect_table('calls', 'person', 4, max_groups => 0), dp_set_domain('calls', 'town', '{town,NULL}'), dp_set_other_key('calls', 'town', NULL);
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
SELECT town, count(DISTINCT person) FROM calls GROUP BY town;
SET SESSION AUTHORIZATION regress_dpq_lists_owner;
SELECT dp_set_domain('calls', 'town', (SELECT array_agg('town ' || i) FROM generate_series(40, 2000) i)), dp_set_other_key('calls', 'town', 'town 2000');
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
SELECT town, count(DISTINCT person) FROM calls GROUP BY town HAVING town = 'town 2000';
-- Keys of any type, also one of which equal values look different: of intervals the different persons of max_rows rows are counted.
SET SESSION AUTHORIZATION regress_dpq_lists_owner;
CREATE TABLE parts AS SELECT p AS person, (p % 3 - 1)::real AS weight, ('part ' || p % 3)::name AS part, ('10.0.0.' || p % 3)::inet AS host, ('b' || p % 3)::char(5) AS box, (p % 3) * interval '1 day' AS age,
  CASE WHEN p % 3 < 2 THEN repeat('long ', 800) || p % 3 END AS label FROM generate_series(1, 30) p, generate_series(1, 2);
UPDATE parts SET weight = '-0' WHERE weight = 0 AND person > 10;
SELECT dp_protect_table('parts', 'person', 4, max_groups => 2), dp_grant_private_access('parts', 'regress_dpq_lists_analyst', epsilon => 100),
  dp_set_domain('parts', 'weight', '{0,1}'::real[]), dp_set_other_key('parts', 'weight', 1::real), dp_set_domain('parts', 'part', '{part 0,part 1}'::name[]), dp_set_other_key('parts', 'part', 'part 0'),
  dp_set_domain('parts', 'host', '{10.0.0.0,10.0.0.1}'::inet[]), dp_set_other_key('parts', 'host', inet '10.0.0.0'), dp_set_domain('parts', 'box', '{b0,b1}'::bpchar[]), dp_set_other_key('parts', 'box', 'b0'::bpchar),
  dp_set_domain('parts', 'age', '{0,1 day}'::interval[]), dp_set_other_key('parts', 'age', interval '0'),
  dp_set_domain('parts', 'label', (SELECT array_agg(repeat('long ', 800) || i) FROM generate_series(0, 13) i) || ARRAY[NULL]), dp_set_other_key('parts', 'label', repeat('long ', 800) || '0');
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
SELECT weight, count(DISTINCT person) FROM parts GROUP BY weight;
SELECT part, count(DISTINCT person) FROM parts GROUP BY part;
SELECT host, count(DISTINCT person) FROM parts GROUP BY host;
SELECT box, count(DISTINCT person) FROM parts GROUP BY box;
SELECT age, count(DISTINCT person) FROM parts GROUP BY age;
-- A long text is looked for in its list once, also where the list has NULL. (Of four rows epsilon is 25: off by one with a probability of 2e-11.)
SELECT right(label, 2) AS label, count(*) FROM parts WHERE label IS NULL OR right(label, 2) < ' 2' GROUP BY parts.label ORDER BY 1;
SELECT count(*) AS towns, sum(n) AS persons FROM (SELECT town, count(DISTINCT person) AS n FROM calls WHERE town BETWEEN 'town 40' AND 'town 59' GROUP BY town) t WHERE n > 0;

SET SESSION AUTHORIZATION regress_dpq_lists_owner;
-- What is no such key
SELECT dp_set_other_key('visits', 'city', 'Rome');
SELECT dp_set_other_key('visits', 'city', NULL);
SELECT dp_set_other_key('visits', 'age', 'many');
SELECT dp_set_other_key('visits', 'id', 1);
SELECT dp_set_other_key('visits', 'town', 'Rome');
SELECT dp_set_other_key('visits', NULL, 'Rome');
SELECT dp_set_other_key('shops', 'id', 1);
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
SELECT dp_set_other_key('visits', 'city', 'Oslo');
SELECT dpquantile.set_other_key('visits', 'city', 'Oslo');
SET SESSION AUTHORIZATION regress_dpq_lists_owner;
-- Another list forgets it, bounds do not.
SELECT dp_set_domain('visits', 'city', '{Oslo,elsewhere}'), dp_set_domain('visits', 'age', 0, 9);
SELECT domains FROM dp_protected_tables WHERE relation = 'visits'::regclass;
SELECT dp_set_domain('visits', 'city', '{Oslo,Paris,Rome,NULL}');

-- NULL is in the list once, and not alone.
SELECT dp_set_domain('visits', 'city', '{Oslo,NULL,NULL}');
SELECT dp_set_domain('visits', 'city', '{NULL}'::text[]);
SELECT domains FROM dp_protected_tables WHERE relation = 'visits'::regclass;

-- Constants in WHERE are shown as the column has them, each of equal ones once; one that it cannot have as it is. So are the results of CASE.
CREATE TABLE sale (id int PRIMARY KEY, code char(5), price numeric(6, 2));
INSERT INTO sale SELECT i, (ARRAY['a', 'bc'])[1 + i % 2], (ARRAY[1, 1.5])[1 + i % 2] FROM generate_series(1, 120) i;
SELECT dp_protect_table('sale'), dp_grant_private_access('sale', 'regress_dpq_lists_analyst', epsilon => 100, delta => 1e-6);
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
\pset format unaligned
SELECT code, count(*) FROM sale WHERE code IN ('a', 'a  ', 'bc'::char(2), 'abcdefg') GROUP BY code;
SELECT price, count(*) FROM sale WHERE price IN (1, 1.50, 1.5, 1.501) GROUP BY price;
SELECT price, count(*) FROM sale WHERE price = ANY ('{1,1.5000,1e9}') GROUP BY price;
SELECT CASE WHEN id > 3 THEN 1.0 WHEN id < 0 THEN NULL ELSE 1.00 END AS one, count(*) FROM sale GROUP BY 1;
SELECT CASE WHEN id > 3 THEN 1.0 ELSE 1.00 END::text AS one, count(*) FROM sale GROUP BY 1;
SELECT one::text, count(*) FROM (SELECT CASE WHEN id > 3 THEN 1.0 ELSE 1.00 END AS one FROM sale) s GROUP BY 1;
-- A cast to varchar by a function of texts, below another one
SELECT code::varchar(1) AS first, count(*) FROM sale WHERE code IN ('a', 'bc') AND upper(code::varchar) < 'C' GROUP BY 1;
-- A key of varchar without a list, in a list of WHERE
SELECT label, count(*) FROM (SELECT code::varchar(3) AS label FROM sale) s WHERE label IN ('a', 'bc') GROUP BY label;
\pset format aligned
-- More numbers between bounds than are listed: the keys are chosen privately, which is said. Where WHERE leaves one number of them, that is the list, and where it leaves none, nothing is answered.
SET SESSION AUTHORIZATION regress_dpq_lists_owner;
SELECT dp_set_domain('sale', 'price', 0, 5000), dp_set_domain('sale', 'id', 0, 5000, 1);
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
SELECT floor(price) AS whole, count(*) FROM sale GROUP BY 1 ORDER BY 1;
SELECT sum(n) FROM (SELECT floor(price) AS whole, count(*) AS n FROM sale GROUP BY 1) s;
SELECT floor(price) AS whole, id / 100 AS hundred, count(*) FROM sale WHERE price < 900 GROUP BY 1, 2 ORDER BY 1, 2;
-- Up to 10000 combinations are groups.
SELECT count(*) AS groups, sum(n) AS rows FROM (SELECT floor(price), id > 60, count(*) AS n FROM sale WHERE price < 900 GROUP BY 1, 2) s;
-- Where all of too many combinations, or one of their lists, are left out, nothing is chosen privately either.
SELECT floor(price) AS whole, id / 100 AS hundred, count(*) FROM sale WHERE price < 900 AND floor(price) + id / 100 > 2000 GROUP BY 1, 2;
SELECT floor(price) AS whole, id / 100 AS hundred, count(*) FROM sale WHERE price < 900 AND floor(price) < 0 GROUP BY 1, 2;
SELECT id / 2 AS half, count(*) FROM sale WHERE id >= 6000 GROUP BY 1;
SELECT floor(price) AS whole, count(*) FROM sale WHERE price > 5001 AND price < 6000 GROUP BY 1;
SELECT floor(price) AS whole, count(*) FROM sale WHERE price BETWEEN 1 AND 1 GROUP BY 1;
-- threat 342: what is computed for the values of lists is limited before a rule judges it for rows: calls, regular expressions and powers more than others, bytes that are
-- written, the length of values; functions that rows may not have, and texts that no list may have, are not computed. A list is found once, however often its column is named.
\set VERBOSITY terse
SELECT 'SELECT floor(price), count(*) FROM sale WHERE price < 900 AND (' || string_agg(format('power(floor(price), 99.9999999) = %s', i), ' OR ') || ') GROUP BY 1' AS powers
  FROM generate_series(1, 200) i \gset
:powers;
SELECT factorial(30000 + id), count(*) FROM sale WHERE id BETWEEN 1 AND 900 GROUP BY 1;
SELECT length(repeat(code::text, 100000000)), count(*) FROM sale GROUP BY 1;
WITH a AS (SELECT repeat(code, 60000) AS x FROM sale), b AS (SELECT x || x AS x FROM a), c AS (SELECT x || x AS x FROM b) SELECT x || x, count(*) FROM c GROUP BY 1;
\set VERBOSITY default
-- Keys of columns that are not NULL are not NULL, whatever is computed of them, and no notice says that they may be.
SET SESSION AUTHORIZATION regress_dpq_lists_owner;
CREATE TABLE stays (person int NOT NULL, first date NOT NULL, day date NOT NULL, at timestamp NOT NULL, seen timestamptz NOT NULL, n int NOT NULL, cost numeric(8,2) NOT NULL, x float8 NOT NULL,
                    city text NOT NULL, urgent boolean NOT NULL, level level NOT NULL, shop int NOT NULL REFERENCES shops, unbounded int NOT NULL);
INSERT INTO stays SELECT i % 5, '2024-01-01', date '2024-01-01' + i, timestamp '2024-01-01' + i * interval '1 day', timestamptz '2024-01-01' + i * interval '1 day', i, i, i, 'Oslo', true, 'low', 1, i FROM generate_series(0, 19) i;
SELECT dp_protect_table('stays', user_id => 'person', max_rows => 9),
       dp_set_domain('stays', 'first', '2024-01-01', '2024-01-31'), dp_set_domain('stays', 'day', '2024-01-01', '2024-01-31'), dp_set_domain('stays', 'at', '2024-01-01', '2024-01-31 23:59:59'),
       dp_set_domain('stays', 'seen', '2024-01-01', '2024-01-31 23:59:59'), dp_set_domain('stays', 'n', 1, 40), dp_set_domain('stays', 'cost', 0, 100), dp_set_domain('stays', 'x', 0, 100),
       dp_set_domain('stays', 'city', '{Oslo,Nice}'), dp_grant_private_access('stays', 'regress_dpq_lists_analyst', epsilon => 1);
SET SESSION AUTHORIZATION regress_dpq_lists_analyst;
DO $$
DECLARE key text;
BEGIN
  FOREACH key IN ARRAY ARRAY[
    -- Columns, texts and truth values
    'n', 'day', 'city', 'urgent', 'level', 'shop', 'lower(city)', 'coalesce(city, ''none'')', 'city || ''-'' || urgent::text', 'concat(city, '' / '', urgent)', 'left(city, 2)', 'n > 10', 'city LIKE ''O%''',
    'CASE WHEN city IN (''Oslo'', ''Rome'') THEN city ELSE ''elsewhere'' END', 'CASE WHEN cost < 10 THEN ''low'' WHEN cost < 50 THEN ''middle'' ELSE ''high'' END', 'n::text || ''+''', 'day::text',
    -- Times
    'date_trunc(''month'', at)', 'date_trunc(''week'', day)', 'date_trunc(''month'', at)::date', 'date_trunc(''day'', seen AT TIME ZONE ''Europe/Paris'')', 'date_trunc(''month'', (at::timestamptz AT TIME ZONE ''UTC''))',
    'date_trunc(''week'', at + interval ''1 day'') - interval ''1 day''', 'date_trunc(''week'', at - interval ''6 days'') + interval ''6 days''', 'date_bin(''1 day'', at, timestamp ''2024-01-01'')', 'at::date', 'seen::date',
    'CAST(CAST(at AS date) AS timestamptz)', 'date_trunc(''month'', CAST(at AS timestamp))', 'make_date(extract(year FROM day)::int, 1, 1)',
    -- Parts of times
    'extract(year FROM at)', 'extract(month FROM day)', 'CAST(extract(hour FROM at) AS integer)', 'CAST(trunc(extract(year FROM at)) AS integer)', 'date_part(''dow'', at)', 'date_part(''isodow'', day)::int', 'extract(doy FROM at)::int',
    'extract(year FROM day)::int * 100 + extract(month FROM day)::int', 'extract(year FROM day)::text || ''-Q'' || extract(quarter FROM day)::text', '(extract(year FROM day) * 10 + 1)::text || ''.''', 'floor(cost / 10)::text || '' tens''',
    'to_char(at, ''YYYY-MM'')', 'to_char(day, ''Dy'')', 'to_char(date_trunc(''month'', at), ''YYYY-MM'')', 'to_char(at, ''FMDay'')', 'to_char(seen, ''HH24:00'')',
    'extract(month FROM age(day, first))', 'extract(month FROM age(day, first))::int', 'extract(year FROM age(at, first))::int * 12 + extract(month FROM age(at, first))::int', 'day - first',
    -- Seconds
    'floor(extract(epoch FROM at) / 86400) * 86400', 'floor(extract(epoch FROM day) / 86400) * 86400', 'floor(date_part(''epoch'', day) / 86400) * 86400', 'extract(epoch FROM day)::bigint', 'extract(epoch FROM day)::bigint / 86400 * 86400',
    'to_timestamp(floor(extract(epoch FROM at) / 604800) * 604800)', 'to_timestamp(floor(extract(epoch FROM day) / 604800) * 604800)::date', 'to_timestamp(floor(extract(epoch FROM seen) / 86400) * 86400)',
    -- Numbers
    'least(n, 10)', 'n - 1', 'n % 7', 'mod(n, 7)', 'n / 5', 'n::numeric', 'cost::int', 'floor(cost / 10)', 'floor(cost / 10) * 10', 'floor(n / 5.0) * 5.0', 'round(cost, -1)', 'ceil(cost)', 'trunc(x)', 'round(x)', 'abs(n)', 'sign(n - 5)',
    'width_bucket(x, 0, 100, 5)', 'width_bucket(cost, 0, 100, 5)', 'floor(((cost - 0.0) / 50.0)) * 50.0 + 0.0', 'CAST(floor(x / 10) AS bigint)', 'floor(sqrt(n))', 'floor(x / 10)::int * 10', '(unbounded::bigint + 1) % 7', 'floor(unbounded / 5.0)::bigint % 7'
  ] LOOP
    EXECUTE format('SELECT count(*) FROM (SELECT %1$s AS %2$I, count(*) FROM stays GROUP BY 1) q', key, left(key, 60));
  END LOOP;
  -- Numbers of persons: those with more rows than max_rows may be in no group, of which another notice would tell, but WHERE has no more.
  FOREACH key IN ARRAY ARRAY['k', 'least(k, 5)', 'k / 5', 'floor(k / 5.0) * 5.0', 'floor(k::float8 / 5) * 5', 'round(k / 5.0)', 'floor(s / 100.0) * 100', 'floor(c / 100.0) * 100', 'floor(a)', 'CASE WHEN k > 5 THEN ''many'' ELSE ''few'' END', 'extract(month FROM age(l, f))::int', 'l - f'] LOOP
    EXECUTE format('SELECT count(*) FROM (SELECT %1$s AS %2$I, count(*) FROM (SELECT person, count(*) AS k, sum(n) AS s, sum(cost) AS c, avg(cost) AS a, min(day) AS f, max(day) AS l FROM stays GROUP BY 1) p
                      WHERE k <= 9 AND s <= 400 AND c <= 900 GROUP BY 1) q', key, left(key, 60));
  END LOOP;
END $$;
SELECT count(*) > 0 AS groups FROM (SELECT date_trunc('hour', at) + interval '15 minutes' * floor(extract(minute FROM at) / 15), count(*) FROM stays WHERE at < '2024-01-02' GROUP BY 1) q;
-- A number that may be too large for its type may be NULL.
SELECT count(*) > 0 AS groups FROM (SELECT (unbounded + 1) % 7 AS remainder, count(*) FROM stays GROUP BY 1) q;
SELECT count(*) > 0 AS groups FROM (SELECT (k + 9223372036854775000) % 7 AS remainder, count(*) FROM (SELECT person, count(*) AS k FROM stays GROUP BY 1) p GROUP BY 1) q;
-- The seconds of days and the months of ages have bounds.
SELECT avg(extract(epoch FROM day)) BETWEEN 1704067200 AND 1706659200 AS seconds, avg(extract(month FROM age(day, first))) BETWEEN -11 AND 11 AS months FROM stays;
RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_lists CASCADE;
SELECT dp_unrestrict_role('regress_dpq_lists_analyst');
SELECT dp_revoke_budget('regress_dpq_lists_analyst');
DROP ROLE regress_dpq_lists_owner, regress_dpq_lists_analyst;
