-- threat 31: a restricted session sees constants for numbers of rows, pages and bytes, in each query that is planned. What no
-- planner sees, it may not read. (test/t/restricted_facts.pl: an unrestricted role sees the facts.)
\set SHOW_CONTEXT never
\set VERBOSITY terse
CREATE ROLE regress_dpq_owner LOGIN;
CREATE ROLE regress_dpq_analyst LOGIN;
CREATE SCHEMA regress_dpq_facts AUTHORIZATION regress_dpq_analyst;
CREATE TABLE regress_dpq_facts.staff AS SELECT 2 * i AS id FROM generate_series(1, 5000) i;
ALTER TABLE regress_dpq_facts.staff OWNER TO regress_dpq_owner;
ANALYZE regress_dpq_facts.staff;
SELECT reltuples, relpages > 0 AS pages FROM pg_class WHERE oid = 'regress_dpq_facts.staff'::regclass;
SELECT pg_relation_size('regress_dpq_facts.staff') > 0 AS size;
CREATE VIEW regress_dpq_facts.tables AS SELECT relname, reltuples, pg_table_size(oid) AS size FROM pg_class;
GRANT SELECT ON regress_dpq_facts.tables TO regress_dpq_analyst;

LOAD 'dpquantile';
SET dpquantile.restricted = on;
SET SESSION AUTHORIZATION regress_dpq_analyst;
SET search_path = regress_dpq_facts, public;
\pset null null

-- Columns of pg_class
SELECT reltuples, relpages, relallvisible FROM pg_class WHERE relname = 'staff';
SELECT row_to_json(c)->>'reltuples' AS whole_row, (c).relpages FROM pg_class c WHERE relname = 'staff';
SELECT count(*) FROM pg_class WHERE reltuples > 0 OR relpages > 0;
SELECT * FROM tables WHERE relname = 'staff';
SELECT n.nspname, c.reltuples FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'staff'
 WHERE nspname IN ('public', 'regress_dpq_facts') ORDER BY 1;
SELECT a.reltuples FROM pg_class a JOIN pg_class b USING (oid, reltuples) FULL JOIN pg_namespace n ON n.oid = -a.reltuples::int WHERE a.relname = 'staff';
SELECT (SELECT reltuples FROM pg_class c WHERE c.oid = d.oid AND d.reltuples < 0), (SELECT d.relpages) FROM pg_class d WHERE relname = 'staff';
WITH RECURSIVE w AS (SELECT oid, reltuples, 1 AS n FROM pg_class WHERE relname = 'staff'
                      UNION ALL SELECT c.oid, c.reltuples, n + 1 FROM w JOIN pg_class c USING (oid) WHERE n < 2) SELECT n, reltuples FROM w;
WITH w AS MATERIALIZED (SELECT * FROM pg_class), u AS (SELECT relname, reltuples FROM pg_class UNION ALL SELECT relname, reltuples FROM w)
SELECT reltuples, count(*) FROM u WHERE relname = 'staff' GROUP BY ROLLUP (reltuples) ORDER BY 2, 1;
SELECT DISTINCT ON (reltuples) reltuples, rank() OVER (PARTITION BY relpages ORDER BY reltuples) FROM pg_class;
COPY (SELECT reltuples FROM pg_class WHERE relname = 'staff') TO STDOUT;
SELECT query_to_xml('SELECT relpages FROM pg_class WHERE relname = ''staff''', false, true, '');
PREPARE rows (text) AS SELECT reltuples, pg_table_size(oid) > 0 AS size FROM pg_class WHERE relname = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE rows ('staff');
CREATE TABLE own AS SELECT reltuples AS rows, 'staff'::text AS name FROM pg_class WHERE relname = 'staff';
UPDATE own SET rows = c.reltuples - 1 FROM pg_class c WHERE c.relname = name RETURNING rows, c.relpages;
MERGE INTO own USING pg_class c ON c.relname = name AND c.reltuples < 0 WHEN MATCHED THEN UPDATE SET rows = c.reltuples - 2;
TABLE own;
DELETE FROM own USING pg_class c WHERE c.relname = name AND c.reltuples > 0;
SELECT rows FROM own;

-- Functions
SELECT pg_relation_size('staff'), pg_relation_size('staff', 'main'), pg_table_size('staff'), pg_indexes_size('staff'), pg_total_relation_size('staff'),
       pg_database_size(current_database()), pg_tablespace_size('pg_default');
SELECT pg_relation_size(oid) AS size, count(*) > 1 AS many FROM pg_class GROUP BY 1 HAVING pg_relation_size(oid) IS NULL;
SELECT s FROM pg_relation_size('staff') s;
SELECT pg_size_pretty(sum(pg_total_relation_size(oid))) FROM pg_class;
SELECT n_live_tup, seq_scan, last_analyze FROM pg_stat_user_tables WHERE relname = 'staff';
SELECT heap_blks_read + heap_blks_hit AS blocks FROM pg_statio_user_tables WHERE relname = 'staff';
SELECT count(*), count(xact_commit) FROM pg_stat_database WHERE datname = current_database();

-- Functions of the session's own
CREATE FUNCTION by_sql() RETURNS float4 LANGUAGE sql AS 'SELECT reltuples FROM pg_class WHERE relname = ''staff''';
CREATE FUNCTION of_row(pg_class) RETURNS float4 LANGUAGE sql AS 'SELECT $1.reltuples';
CREATE FUNCTION by_plpgsql() RETURNS text LANGUAGE plpgsql AS
  $$ DECLARE r pg_class; BEGIN SELECT * INTO r FROM pg_class WHERE relname = 'staff'; RETURN concat_ws(' ', r.reltuples, pg_table_size(r.oid)); END $$;
SELECT by_sql(), by_plpgsql(), (SELECT of_row(c) FROM pg_class c WHERE relname = 'staff');
CREATE FUNCTION shown(float4, float4) RETURNS bool LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$ BEGIN RAISE INFO '%', $1; RETURN true; END $$;
CREATE OPERATOR <<< (LEFTARG = float4, RIGHTARG = float4, FUNCTION = shown, RESTRICT = scalarltsel);
SELECT relname FROM pg_class WHERE reltuples <<< 5 AND relname = 'staff';
-- threat 144: VACUUM writes the oldest transaction of a row, and an index whether an older version of a row may be seen.
SELECT DISTINCT relfrozenxid, relminmxid FROM pg_class;
SELECT DISTINCT datfrozenxid, (d).datminmxid FROM pg_database d;
SELECT DISTINCT indcheckxmin, (i).indcheckxmin FROM pg_index i;
SELECT indcheckxmin, tableoid FROM pg_index;

-- What has another shape, or is no part of a query when it is planned
SELECT reltuples, tableoid FROM pg_class WHERE relname = 'staff';
SELECT c, ctid FROM pg_class c WHERE relname = 'staff';
SELECT reltuples FROM pg_class TABLESAMPLE system (100) WHERE relname = 'staff';
SELECT reltuples FROM pg_class WHERE relname = 'staff' FOR SHARE;
COPY pg_class (reltuples) TO STDOUT;
SELECT pg_relation_size(max(oid)) FROM pg_class;
SELECT pg_relation_size(generate_series(1, 2));
SELECT pg_relation_size((SELECT 'staff'::regclass));
CREATE FUNCTION rows_inlined() RETURNS SETOF float4 LANGUAGE sql STABLE AS 'SELECT reltuples FROM pg_class WHERE relname = ''staff''';
SELECT * FROM rows_inlined();
CREATE FUNCTION size_inlined(oid) RETURNS bigint LANGUAGE sql AS 'SELECT pg_relation_size($1)';
SELECT size_inlined(oid) FROM pg_class WHERE relname = 'staff';
CREATE DOMAIN sized AS oid CHECK (pg_relation_size(VALUE) > 0);
SELECT 'staff'::regclass::oid::sized;
SELECT count(*) FROM pg_stat_activity;
SELECT pg_current_wal_lsn();
SELECT count(*) FROM pg_stats WHERE tablename = 'pg_class';

-- A plan serves the roles for which it was made.
RESET SESSION AUTHORIZATION;
SET dpquantile.restricted = off;
PREPARE rows_of_staff AS SELECT reltuples FROM pg_class WHERE oid = 'regress_dpq_facts.staff'::regclass;
SET dpquantile.restricted = on;
EXECUTE rows_of_staff;
SET dpquantile.restricted = off;
EXECUTE rows_of_staff;
EXECUTE rows ('staff');

-- SET ROLE to a role that is restricted in this database only
ALTER ROLE regress_dpq_analyst IN DATABASE :DBNAME SET dpquantile.restricted = on;
SET ROLE regress_dpq_analyst;
SELECT reltuples FROM pg_class WHERE oid = 'regress_dpq_facts.staff'::regclass;
RESET ROLE;
ALTER ROLE regress_dpq_analyst IN DATABASE :DBNAME RESET dpquantile.restricted;
DROP SCHEMA regress_dpq_facts CASCADE;
DROP ROLE regress_dpq_owner, regress_dpq_analyst;
