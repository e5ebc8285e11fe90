-- dp_set_domain and dp_drop_domain: what the owner of a protected table states as public about its columns.
-- (test/t/protected_catalog.pl: dump and restore.)
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_domain_owner LOGIN;
CREATE ROLE regress_dpq_domain_analyst;
CREATE ROLE regress_dpq_domain_stranger;
CREATE SCHEMA regress_dpq_domains AUTHORIZATION regress_dpq_domain_owner;
GRANT USAGE ON SCHEMA regress_dpq_domains TO PUBLIC;
SET search_path = regress_dpq_domains, public;
CREATE TEMP VIEW domains AS
  SELECT column_name, a.attname AS column_of_number, column_type, lower, upper, granularity, keys
    FROM dpquantile.column_domain LEFT JOIN pg_attribute a ON attrelid = relation AND attnum = column_number
   ORDER BY relation::text, column_name;
GRANT SELECT ON domains TO PUBLIC;

SET ROLE regress_dpq_domain_owner;
CREATE DOMAIN euro AS numeric(10, 2);
CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
CREATE TABLE visit (
  patient text, cost numeric, paid euro, points float8, few float4, rooms smallint, nights integer, id bigint,
  day date, entered timestamp, left_at timestamptz, at_time time, length interval,
  ward text, shade colour, open boolean, code uuid, note json, "Ward no" char(3));
SELECT dp_set_domain('visit', 'cost', 0, 100);
SELECT dp_protect_table('visit');
SELECT dp_grant_private_access('visit', 'regress_dpq_domain_analyst');

-- Bounds of each type. Literals are values of the column.
SET datestyle = 'SQL, DMY';
SET timezone = 'Europe/Berlin';
SET intervalstyle = 'sql_standard';
SELECT dp_set_domain('visit', 'cost', 0, 99999.99, granularity => 0.01);
SELECT dp_set_domain('visit', 'paid', '0.5', '1e3', '0.5');
SELECT dp_set_domain('visit', 'points', -1e300, 1e300);
SELECT dp_set_domain('visit', 'few', -0.1::float4, 0.1);
SELECT dp_set_domain('visit', 'rooms', 0, 10, 1);
SELECT dp_set_domain('visit', 'nights', 0::bigint, 365.0);
SELECT dp_set_domain('visit', 'id', 0, 1e15::float8);
SELECT dp_set_domain('visit', 'day', '02/01/2020', '31/12/2029');
SELECT dp_set_domain('visit', 'entered', '2020-01-01'::date, '2030-01-01'::date, interval '1 hour');
SELECT dp_set_domain('visit', 'left_at', '2020-01-01', '2030-07-01 12:00', '15 minutes');
SELECT dp_set_domain('visit', 'at_time', '00:00', '24:00', '00:30');
SELECT dp_set_domain('visit', 'length', '-1 day -2 hours', '30 days');
RESET datestyle;
RESET intervalstyle;
RESET ROLE;
TABLE domains;

-- Lists of keys of each type, in the order given. A column may have bounds and keys.
SET ROLE regress_dpq_domain_owner;
SELECT dp_set_domain('visit', 'ward', '{"North wing",South,NULL}');
SELECT dp_set_domain('visit', 'shade', ARRAY['blue', 'red']);
SELECT dp_set_domain('visit', 'open', ARRAY[true, false]);
SELECT dp_set_domain('visit', 'code', ARRAY['A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid]);
SELECT dp_set_domain('visit', 'Ward no', '{1,2}');
SELECT dp_set_domain('visit', 'nights', ARRAY[1, 2, 3]);
SELECT dp_set_domain('visit', 'left_at', ARRAY['2024-01-01 00:00+01'::timestamptz]);
SELECT dp_set_domain('visit', 'length', ARRAY[interval '-1 day +2 hours']);
SELECT dp_set_domain('visit', 'points', ARRAY[0.1, 'NaN']);
RESET ROLE;
SELECT column_name, lower IS NOT NULL AS has_bounds, keys FROM domains WHERE keys IS NOT NULL;

-- New bounds replace bounds, new keys replace keys.
SET ROLE regress_dpq_domain_owner;
SELECT dp_set_domain('visit', 'nights', 0, 30);
SELECT dp_set_domain('visit', 'nights', ARRAY[7]);
SELECT dp_set_domain('visit', 'cost', 0, 5);
RESET ROLE;
SELECT column_name, lower, upper, granularity, keys FROM domains WHERE column_name IN ('nights', 'cost');
SET ROLE regress_dpq_domain_owner;
SELECT dp_drop_domain('visit', 'nights');
SELECT dp_drop_domain('visit', 'nights');
SELECT dp_drop_domain('visit', NULL);

-- The owner and the analyst see them, others do not.
SELECT relation, domains, role FROM dp_protected_tables;
SET ROLE regress_dpq_domain_analyst;
SELECT relation, domains, role FROM dp_protected_tables;
SELECT dp_set_domain('visit', 'cost', 0, 1);
SELECT dp_set_domain('visit', 'ward', '{x}');
SELECT dp_drop_domain('visit', 'cost');
TABLE dpquantile.column_domain;
SELECT dpquantile.set_domain('visit', 'cost', 'numeric', '0', '1', NULL, NULL);
SET ROLE regress_dpq_domain_stranger;
SELECT relation, domains FROM dp_protected_tables;

-- What is no domain
SET ROLE regress_dpq_domain_owner;
SELECT dp_set_domain(NULL, 'cost', 0, 1);
SELECT dp_set_domain('visit', NULL, 0, 1);
SELECT dp_set_domain('visit', 'costs', 0, 1);
SELECT dp_set_domain('visit', 'ctid', 0, 1);
SELECT dp_set_domain('visit', 'cost', NULL, 1);
SELECT dp_set_domain('visit', 'cost', 0, 'infinity'::float8);
SELECT dp_set_domain('visit', 'cost', 0, 'many');
SELECT dp_set_domain('visit', 'cost', 1, 1);
SELECT dp_set_domain('visit', 'day', '2020-01-02', '2020-01-01');
SELECT dp_set_domain('visit', 'day', '-infinity', '2020-01-01');
SELECT dp_set_domain('visit', 'cost', 0, 1, 0);
SELECT dp_set_domain('visit', 'cost', 0, 1, 'NaN'::float8);
SELECT dp_set_domain('visit', 'cost', 0, 1, interval '1 day');
SELECT dp_set_domain('visit', 'cost', 0, 1, 1e-12);
SELECT dp_set_domain('visit', 'nights', 0, 10, 0.5);
SELECT dp_set_domain('visit', 'left_at', '2020-01-01', '2021-01-01', 1);
SELECT dp_set_domain('visit', 'left_at', '2020-01-01', '2021-01-01', '1 month');
SELECT dp_set_domain('visit', 'ward', 0, 1);
SELECT dp_set_domain('visit', 'ward', '{}'::text[]);
SELECT dp_set_domain('visit', 'ward', NULL::text[]);
SELECT dp_set_domain('visit', 'ward', ARRAY['a', NULL, NULL]);
SELECT dp_set_domain('visit', 'ward', ARRAY[NULL::text]);
SELECT dp_set_domain('visit', 'ward', ARRAY['a', 'b', 'a']);
SELECT dp_set_domain('visit', 'cost', ARRAY[1.0, 1.00]);
SELECT dp_set_domain('visit', 'Ward no', ARRAY['a', 'a  ']);
SELECT dp_set_domain('visit', 'shade', '{black}');
SELECT dp_set_domain('visit', 'note', ARRAY['{}']);
SELECT dp_set_domain('visit', 'id', (SELECT array_agg(i) FROM generate_series(1, 100001) i));

-- Domains follow renamed columns and end with dropped ones. Of a column with another type nothing is known any more.
ALTER TABLE visit RENAME cost TO price;
ALTER TABLE visit DROP COLUMN points;
ALTER TABLE visit RENAME few TO points;
ALTER TABLE visit ALTER ward TYPE varchar(20), ALTER paid TYPE numeric(12, 2);
RESET ROLE;
SELECT * FROM domains WHERE column_name IN ('cost', 'price', 'points', 'few', 'ward', 'paid');
SELECT subject, status, detail FROM dp_health() WHERE check_name = 'protection' AND detail LIKE '%domain%' ORDER BY detail;
SET ROLE regress_dpq_domain_owner;
SELECT dp_set_domain('visit', 'ward', '{North}');
RESET ROLE;
SELECT * FROM domains WHERE column_name IN ('ward');

-- The CHECK of a domain type, which may be anybody's function, is not evaluated: not here, and not when a query is planned.
CREATE FUNCTION noted(value text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE 'checked %', value; RETURN true; END$$;
CREATE DOMAIN ward_code AS char(3) CHECK (noted(VALUE::text));
CREATE TABLE coded (code ward_code, parts text[], span int4range, whole visit);
ALTER TABLE coded OWNER TO regress_dpq_domain_owner;
SET ROLE regress_dpq_domain_owner;
SELECT dp_protect_table('coded');
SELECT dp_set_domain('coded', 'code', '{a,bc}');
SELECT dp_set_domain('coded', 'parts', '{a}');
SELECT dp_set_domain('coded', 'span', '{"[1,2)"}');
SELECT dp_set_domain('coded', 'whole', '{}'::text[]);
-- Queries group by no jsonb, so that nobody could use its list.
CREATE VIEW papers AS SELECT '{"kind": "letter"}'::jsonb AS paper FROM coded;
CREATE VIEW kinds AS SELECT paper ->> 'kind' AS kind FROM papers;
SELECT dp_protect_table('papers'), dp_protect_table('kinds');
SELECT dp_set_domain('papers', 'paper', '{"{}"}');
SELECT dp_learn_keys('papers', 'paper', 1, 1e-6);
SELECT dp_set_domain('kinds', 'kind', '{letter}');
SELECT dp_unprotect_table('papers'), dp_unprotect_table('kinds');
DROP VIEW papers, kinds;
SELECT dp_grant_private_access('coded', 'regress_dpq_domain_analyst', epsilon => 1);
SET ROLE regress_dpq_domain_analyst;
SELECT dp_private_query('SELECT code, count(*) FROM coded GROUP BY code');
SELECT DISTINCT code FROM coded ORDER BY code DESC;
RESET ROLE;

-- Keys of a type or collation that queries do not compare: the list could not be used.
CREATE COLLATION own_order FROM "C";
CREATE TYPE word;
SET client_min_messages = warning;
CREATE FUNCTION word_in(cstring) RETURNS word LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION word_out(word) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
RESET client_min_messages;
CREATE TYPE word (INPUT = word_in, OUTPUT = word_out, LIKE = text);
CREATE TABLE named (name text COLLATE own_order, word word);
CREATE VIEW named_alike AS SELECT name COLLATE "C" AS name FROM named;
ALTER TABLE named OWNER TO regress_dpq_domain_owner;
ALTER VIEW named_alike OWNER TO regress_dpq_domain_owner;
SET ROLE regress_dpq_domain_owner;
SELECT dp_protect_table('named'), dp_protect_table('named_alike');
SELECT dp_set_domain('named', 'name', '{Oslo}');
SELECT dp_set_domain('named', 'word', '{Oslo}');
SELECT dp_set_domain('named_alike', 'name', '{Oslo}');
RESET ROLE;
SET client_min_messages = warning;
DROP VIEW named_alike;
DROP TABLE named;
DROP TYPE word CASCADE;
DROP COLLATION own_order;
RESET client_min_messages;

-- dp_unprotect_table forgets them.
SET ROLE regress_dpq_domain_owner;
SELECT dp_unprotect_table('visit'), dp_unprotect_table('coded');
RESET ROLE;
TABLE domains;
DROP VIEW domains;
DROP SCHEMA regress_dpq_domains CASCADE;
DROP ROLE regress_dpq_domain_owner, regress_dpq_domain_analyst, regress_dpq_domain_stranger;
