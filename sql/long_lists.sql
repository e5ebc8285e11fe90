-- Lists of more keys than VALUES in a query may have rows. A count has epsilon 25 or more, so noise on all of them is 0 except with a
-- probability below 1e-7. (listed_keys.sql: what lists mean.)
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_long_owner LOGIN;
CREATE ROLE regress_dpq_long_analyst LOGIN;
CREATE SCHEMA regress_dpq_long AUTHORIZATION regress_dpq_long_owner;
GRANT USAGE ON SCHEMA regress_dpq_long TO regress_dpq_long_analyst;
SELECT dp_grant_budget('regress_dpq_long_analyst', 1e6, 0.5, smallest_charge => 0.001);
SELECT dp_restrict_role('regress_dpq_long_analyst');
SET SESSION AUTHORIZATION regress_dpq_long_owner;
SET search_path = regress_dpq_long, public;
SET timezone = 'UTC';
CREATE TABLE visits (id int PRIMARY KEY, shop int, town text, code char(6), day date, price numeric(8, 2), kind text COLLATE "C" NOT NULL, vip boolean NOT NULL);
INSERT INTO visits
  SELECT i, nullif(i % 3000, 0), 'Town ' || i % 4000, 'c' || i % 5, date '2000-01-01' + i % 2000, (i % 1500) / 100.0, 'kind ' || i % 2, i % 2 = 0
    FROM generate_series(1, 6000) i;
CREATE TABLE calls (person int NOT NULL, place int NOT NULL);
INSERT INTO calls SELECT i % 20, i % 4000 FROM generate_series(1, 60) i;
SELECT dp_protect_table('visits'), dp_protect_table('calls', 'person', 4, max_groups => 2);
SELECT dp_set_domain('visits', 'shop', (SELECT array_agg(i) FROM generate_series(1, 20000) i)),
       dp_set_domain('visits', 'town', (SELECT array_agg('Town ' || i) FROM generate_series(1, 3000) i)),
       dp_set_domain('visits', 'code', (SELECT array_agg('c' || i) FROM generate_series(1, 1100) i)),
       dp_set_domain('visits', 'day', (SELECT array_agg(date '2000-01-01' + i) FROM generate_series(0, 1499) i)),
       dp_set_domain('visits', 'price', (SELECT array_agg(i / 100.0) FROM generate_series(0, 1999) i)),
       dp_set_domain('visits', 'kind', (SELECT array_agg('kind ' || i) FROM generate_series(1, 1200) i)),
       dp_set_domain('calls', 'place', (SELECT array_agg(i) FROM generate_series(1, 1500) i));
SELECT dp_grant_private_access(t, 'regress_dpq_long_analyst', epsilon => 100, delta => 1e-6) FROM unnest('{visits,calls}'::regclass[]) t;
SELECT relation, domains FROM dp_protected_tables WHERE relation = 'calls'::regclass;

SET SESSION AUTHORIZATION regress_dpq_long_analyst;
SET search_path = regress_dpq_long, public;
SET timezone = 'UTC';
-- Each key has a group, with rows or without.
SELECT count(*), sum(n), min(n), max(n) FROM (SELECT shop, count(*) AS n FROM visits WHERE shop IS NOT NULL GROUP BY shop) v;
SELECT count(*), sum(n) FROM (SELECT town, count(*) AS n FROM visits GROUP BY town) v;
SELECT count(*), sum(n) FROM (SELECT day, count(*) AS n FROM visits WHERE day IS NOT NULL GROUP BY day) v;
SELECT price, n FROM (SELECT price, count(*) AS n FROM visits WHERE price >= 0 GROUP BY price) v WHERE n <> 4 ORDER BY price LIMIT 2;
SELECT code || '.' AS code, count(*) AS n FROM visits WHERE code < 'c13' AND code IS NOT NULL GROUP BY code ORDER BY count(*) DESC, code LIMIT 5;
SELECT kind, count(*) FROM visits GROUP BY kind HAVING count(*) > 0;
SELECT kind, dp_count(50) FROM visits WHERE kind IN ('kind 1', 'kind 7') GROUP BY kind;
SELECT count(*), count(DISTINCT n) FROM (SELECT place, count(DISTINCT person) AS n FROM calls GROUP BY place) c;
SELECT private_aggregate, epsilon, delta FROM dp_explain('SELECT shop, count(*) FROM visits WHERE shop > 0 GROUP BY shop');
-- Conditions on keys leave groups out, and what is computed of keys has a list.
SELECT shop, count(*) FROM visits WHERE shop IN (1, 2999, 19999, -1) GROUP BY shop;
SELECT shop, count(*) FROM visits WHERE shop > 19998 OR shop % 10000 = 7 GROUP BY shop;
SELECT upper(town) AS town, count(*) FROM visits WHERE upper(town) LIKE '%299_' GROUP BY 1 HAVING upper(town) < 'TOWN 2994';
SELECT shop / 10000 AS part, count(*) FROM visits WHERE shop > 0 GROUP BY 1;
SELECT shop, count(*) FROM visits JOIN (VALUES (3), (20000)) v (id) ON v.id = shop GROUP BY shop;
SELECT shop, count(*) FROM visits WHERE shop > 20000 GROUP BY shop;
-- Several keys have as many combinations as the longest list has keys, or 1000. Of more, keys are chosen.
SELECT shop, vip, count(*) FROM visits WHERE vip AND shop > 19998 GROUP BY shop, vip;
SELECT count(*), sum(n) FROM (SELECT shop, vip, kind, count(*) AS n FROM visits WHERE vip AND kind = 'kind 1' AND shop > 0 GROUP BY shop, vip, kind) v;
SELECT private_aggregate FROM dp_explain('SELECT shop, vip, count(*) FROM visits WHERE shop > 0 GROUP BY shop, vip');
-- Lists alone cost nothing.
SELECT shop FROM visits WHERE shop % 5000 = 0 GROUP BY shop ORDER BY shop;
SELECT query FROM dp_ledger WHERE query LIKE '%5000 = 0%';

SET SESSION AUTHORIZATION regress_dpq_long_owner;
-- NULL in the list, and a key that stands for all others.
SELECT dp_set_domain('visits', 'shop', (SELECT array_agg(i) FROM generate_series(1, 2000) i) || NULL::int),
       dp_set_other_key('visits', 'town', 'Town 17'), dp_set_other_key('visits', 'day', '2000-01-01'), dp_set_other_key('calls', 'place', 3);
SET SESSION AUTHORIZATION regress_dpq_long_analyst;
SELECT count(*), sum(n), min(n), max(n) FILTER (WHERE shop IS NULL) FROM (SELECT shop, count(*) AS n FROM visits GROUP BY shop) v;
SELECT count(*), sum(n), max(n) FROM (SELECT town, count(*) AS n FROM visits GROUP BY town) v;
SELECT town, count(*) FROM visits WHERE town IN ('Town 17', 'Town 18') AND id > 0 GROUP BY town HAVING count(*) > 0;
SELECT town, count(*) FROM visits WHERE town = 'Town 3999' GROUP BY town HAVING count(*) > 0;
SELECT count(*), sum(n), max(n) FROM (SELECT lower(town) AS town, count(*) AS n FROM visits v WHERE kind = 'kind 1' GROUP BY 1) v;
SELECT day, vip, count(*) FROM visits WHERE vip GROUP BY day, vip HAVING count(*) > 3;
SELECT count(*), sum(n) FROM (SELECT place, count(*) AS n FROM calls GROUP BY place) c;
SELECT place, count(DISTINCT person) AS persons FROM calls GROUP BY place HAVING place = 3;
SET SESSION AUTHORIZATION regress_dpq_long_owner;
SELECT dp_set_other_key('visits', 'shop', NULL);
SET SESSION AUTHORIZATION regress_dpq_long_analyst;
SELECT count(*), sum(n), max(n) FILTER (WHERE shop IS NULL) FROM (SELECT shop, count(*) AS n FROM visits GROUP BY shop) v;
SELECT count(*), sum(n), max(n) FROM (SELECT shop, town, count(*) AS n FROM visits WHERE town = 'Town 17' GROUP BY shop, town) v;

-- A list that an analyst writes as arrays may be as long. Each row matches one row of it at most.
SELECT array_agg(i)::text AS list FROM generate_series(1, 3000) i \gset
SELECT array_agg(i % 2)::text AS halves FROM generate_series(1, 3000) i \gset
SELECT dp_count(50) FROM visits JOIN unnest(:'list'::int[]) l (id) USING (id);
SELECT l.half, dp_count(50) FROM unnest(:'list'::int[], :'halves'::int[]) l (id, half) LEFT JOIN visits v ON v.id = l.id AND v.id % 2 = l.half GROUP BY l.half;
SELECT dp_count(50) FROM visits v JOIN unnest(:'list'::int[], :'halves'::int[]) l (id, half) ON v.id = l.half;
SELECT dp_count(50) FROM visits v JOIN unnest('{1,2,2}'::int[], '{3,4,4}'::int[]) l (id, half) ON v.id = l.half AND v.shop = l.id;
SELECT dp_count(50) FROM visits v JOIN unnest('{1,2}'::int[], NULL::int[]) l (id, half) ON v.id = l.id;
SELECT dp_count(50) FROM visits v JOIN unnest('{1,2}'::int[], '{{3},{4}}'::int[]) WITH ORDINALITY l (id, half) ON v.id = l.id;
SELECT dp_count(50) FROM visits v LEFT JOIN unnest('{}'::int[], '{}'::int[]) l (id, half) ON v.id = l.id AND v.shop = l.half;
SELECT array_agg(i)::text AS longest FROM generate_series(1, 100001) i \gset
SELECT dp_count(50) FROM visits v JOIN unnest(:'longest'::int[]) l (id) ON v.id = l.id;
SELECT dp_count(50) FROM visits v JOIN unnest(:'list'::int[], :'halves'::int[]) l (id, half) ON v.id IS NOT DISTINCT FROM l.id AND v.id % 2 IS NOT DISTINCT FROM l.half;
-- A row of what an outer join has no row of a list for, asked for in CASE
SELECT CASE WHEN l.id IS NULL THEN 'other' ELSE 'listed' END AS what, dp_count(50), dp_keep_group(50, 1e-6)
  FROM visits v LEFT JOIN unnest(:'list'::int[]) l (id) ON l.id = v.id GROUP BY 1;
-- Threat 229: a list whose values are in one bucket of PostgreSQL's hash tables, so that a row takes long that looks there. A list is as good
-- as another one only if few of its values are in each bucket; else each of its values counts for each row. So does a column of an outer
-- join in other conditions than its own.
SELECT array_agg(i)::text AS bucket FROM (SELECT i FROM generate_series(1, 1300000) i WHERE hashint4(i) & 1023 = 0 LIMIT 1100) b \gset
\set VERBOSITY terse
SELECT dp_count(50) FROM visits v JOIN unnest(:'bucket'::int[]) l (id) ON l.id = length(md5(town)) + length(md5(town)) + length(md5(town));
SELECT dp_count(50) FROM visits v JOIN unnest(:'list'::int[]) l (id) ON l.id = length(md5(town)) + length(md5(town)) + length(md5(town));
SELECT dp_count(50) FROM visits v LEFT JOIN unnest(:'list'::int[]) l (id) ON l.id = v.id
 WHERE CASE WHEN l.id IS NULL THEN length(md5(town)) + length(md5(town)) + length(md5(kind)) END > 1;
SELECT dp_count(50) FROM visits v LEFT JOIN unnest(:'list'::int[]) l (id) ON l.id = v.id
 WHERE l.id + length(md5(town)) + length(md5(town)) + length(md5(kind)) > 1;
\set VERBOSITY default
-- As many keys as may be
SET SESSION AUTHORIZATION regress_dpq_long_owner;
SELECT dp_set_domain('visits', 'shop', (SELECT array_agg(i) FROM generate_series(1, 100000) i));
SET SESSION AUTHORIZATION regress_dpq_long_analyst;
SELECT count(*), sum(n), min(n), max(n) FROM (SELECT shop, count(*) AS n FROM visits WHERE shop IS NOT NULL GROUP BY shop) v;
SET SESSION AUTHORIZATION regress_dpq_long_owner;
-- No list
SELECT dp_set_domain('visits', 'shop', (SELECT array_agg(i % 2000) FROM generate_series(0, 2000) i));
SELECT dp_set_domain('visits', 'shop', :'bucket'::int[]);
SELECT dp_set_domain('visits', 'town', (SELECT array_agg(repeat('x', 9000) || i) FROM generate_series(1, 1001) i));

RESET SESSION AUTHORIZATION;
SET client_min_messages = warning;
DROP SCHEMA regress_dpq_long CASCADE;
SELECT dp_unrestrict_role('regress_dpq_long_analyst');
SELECT dp_revoke_budget('regress_dpq_long_analyst');
DROP ROLE regress_dpq_long_owner, regress_dpq_long_analyst;
