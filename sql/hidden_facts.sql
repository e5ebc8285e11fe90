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
CREATE TABLE regress_dpq_facts.had (id int);
CREATE TABLE regress_dpq_facts.analyzed (id int);
-- An index that is younger than a version of an indexed row
CREATE TABLE regress_dpq_facts.updated AS SELECT 1 AS id;
BEGIN;
UPDATE regress_dpq_facts.updated SET id = 2;
CREATE INDEX of_updated ON regress_dpq_facts.updated (id);
COMMIT;
SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'regress_dpq_facts.of_updated'::regclass;
CREATE FUNCTION pg_temp.same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
SELECT format('CREATE INDEX of_%1$s ON %2$s (id); CREATE TABLE regress_dpq_facts.child () INHERITS (%2$s); CREATE RULE r AS ON DELETE TO %2$s DO INSTEAD NOTHING;
               CREATE TRIGGER t BEFORE INSERT ON %2$s FOR EACH ROW EXECUTE FUNCTION pg_temp.same();
               DROP INDEX regress_dpq_facts.of_%1$s; DROP TABLE regress_dpq_facts.child; DROP RULE r ON %2$s; DROP TRIGGER t ON %2$s;', name, 'regress_dpq_facts.' || name)
  FROM (VALUES ('had'), ('analyzed')) names (name) \gexec
VACUUM ANALYZE regress_dpq_facts.analyzed;
SELECT relname, relhasindex, relhassubclass, relhasrules, relhastriggers, xmin::text <> (lag(xmin) OVER w)::text AS xmin, ctid <> lag(ctid) OVER w AS ctid
  FROM pg_class WHERE relname IN ('had', 'analyzed') WINDOW w AS (ORDER BY relname) ORDER BY 1;
SELECT lo_from_bytea(0, 'x') AS other, lo_from_bytea(0, 'y') AS own \gset
ALTER LARGE OBJECT :other OWNER TO regress_dpq_owner;
ALTER LARGE OBJECT :own OWNER TO regress_dpq_analyst;
COMMENT ON LARGE OBJECT :other IS 'of row 1';
CREATE VIEW regress_dpq_facts.large_objects AS
  SELECT count(*) FILTER (WHERE pg_get_userbyid(m.lomowner) IN ('regress_dpq_owner', 'regress_dpq_analyst')) AS objects,
         (SELECT count(*) FROM pg_shdepend s WHERE s.classid = 'pg_largeobject'::regclass AND pg_get_userbyid(s.refobjid) = 'regress_dpq_owner') AS owners,
         (SELECT count(*) FROM pg_description d WHERE d.classoid = 'pg_largeobject'::regclass AND d.description = 'of row 1') AS comments
    FROM pg_largeobject_metadata m;
TABLE regress_dpq_facts.large_objects;
GRANT SELECT ON regress_dpq_facts.large_objects TO regress_dpq_analyst;
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
SELECT DISTINCT indcheckxmin, tableoid::regclass, xmin::text::int8 > 0 AS xmin FROM pg_index;

-- threat 314: the next VACUUM or ANALYZE after the last index, child, rule or trigger was dropped writes that there is none, some of it in a new version of the
-- row. Autovacuum's follows the number of rows that have changed.
SELECT relname, relhasindex, relhassubclass, relhasrules, relhastriggers, xmin, xmax, cmin, cmax, ctid, tableoid FROM pg_class
 WHERE relname IN ('had', 'analyzed') ORDER BY 1;
SELECT tablename, hasindexes, hasrules, hastriggers FROM pg_tables WHERE tablename IN ('had', 'analyzed') ORDER BY 1;
SELECT count(*) FROM pg_class WHERE NOT (relhasindex AND relhassubclass AND relhasrules AND relhastriggers);
SELECT xmin, ctid, (SELECT c.ctid), (SELECT max(d.cmin::text) FROM pg_class d WHERE d.xmin = c.xmin AND d.oid = c.oid), (c).xmax, row_to_json(c)->>'relhasindex' AS row
  FROM pg_class c WHERE relname = 'had';
SELECT nspname, c.xmin, c.ctid, n.xmin::text::int8 > 0 AS namespace FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'had'
 WHERE nspname IN ('public', 'regress_dpq_facts') ORDER BY 1;
SELECT xmin::text, ctid, count(*) > 100 AS rows FROM pg_class GROUP BY ROLLUP (ctid, xmin::text) HAVING max(cmax::text) = '0' ORDER BY 1, 2;
SELECT a.xmin, l.ctid, f FROM pg_class a FULL JOIN pg_class b ON a.oid = b.oid AND a.ctid = b.ctid, LATERAL (SELECT a.ctid, a.cmin) l, generate_series(a.cmin::text::int, 0) f
 WHERE a.relname = 'had';
WITH w AS MATERIALIZED (SELECT xmin, c FROM pg_class c WHERE relname = 'had') SELECT xmin, (c).relhastriggers FROM w
 UNION ALL SELECT xmax, relhasrules FROM pg_class WHERE relname = 'had';
DO $$ DECLARE r record; BEGIN FOR r IN SELECT *, xmin, ctid FROM pg_class WHERE relname = 'had' LOOP RAISE INFO '% % %', r.relhasindex, r.xmin, r.ctid; END LOOP; END $$;
COPY (SELECT relhasindex, xmin FROM pg_class WHERE relname = 'had') TO STDOUT;
EXPLAIN (COSTS off) SELECT FROM pg_class WHERE ctid = '(0,1)' OR NOT relhasrules OR relkind = 'r';
CREATE TABLE seen AS SELECT c.ctid AS place, c.* FROM pg_class c WHERE relname = 'had';
SELECT place, relhassubclass FROM seen;

-- What has another shape, or is no part of a query when it is planned
SELECT reltuples FROM pg_class TABLESAMPLE system (100) WHERE relname = 'staff';
SELECT reltuples FROM pg_class WHERE relname = 'staff' FOR SHARE;
SELECT xmin FROM pg_class WHERE relname = 'had' FOR SHARE;
SELECT ctid FROM pg_class TABLESAMPLE system (100) WHERE relname = 'had';
SELECT relhasindex FROM pg_class WHERE relname = 'had' FOR SHARE;
COPY pg_class (reltuples) TO STDOUT;
COPY pg_class (relhasrules) TO STDOUT;
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

-- threat 340: rows refer to large objects. A session sees those of its role.
TABLE large_objects;
SELECT lomowner::regrole, oid = :own AS own, (m).lomowner = lomowner AS row FROM pg_largeobject_metadata m;
SELECT count(*) FROM pg_largeobject_metadata;
SELECT count(*) FROM pg_class c FULL JOIN pg_largeobject_metadata m ON m.oid = c.oid WHERE c.oid IS NULL;
-- threat 344: a function of one's own, however cheap, gets no row that is hidden, and a plan does not tell their number.
CREATE FUNCTION seen_row(oid) RETURNS bool LANGUAGE plpgsql IMMUTABLE COST 0.000001 AS $$ BEGIN RAISE INFO 'seen'; RETURN true; END $$;
SELECT count(*) FROM pg_largeobject_metadata WHERE seen_row(oid);
SELECT count(*) FROM pg_shdepend WHERE classid = 'pg_largeobject'::regclass AND seen_row(objid);
EXPLAIN SELECT FROM pg_largeobject_metadata;
EXPLAIN SELECT FROM pg_class c JOIN pg_description d ON d.objoid = c.oid;
WITH w AS (SELECT m FROM pg_largeobject_metadata m) SELECT count(*) FROM w;
SELECT count(*) FROM pg_shdepend WHERE classid = 'pg_largeobject'::regclass;
SELECT count(*) > 0 AS has_rows, bool_and(classid <> 'pg_largeobject'::regclass) AS others FROM pg_shdepend;
SELECT obj_description(:other, 'pg_largeobject'), obj_description('int4pl'::regproc, 'pg_proc'), (SELECT count(*) FROM pg_seclabels);
DO $$ BEGIN RAISE INFO '%', (SELECT count(*) FROM pg_largeobject_metadata); END $$;
COPY pg_largeobject_metadata TO STDOUT;
COPY pg_shdepend TO STDOUT;
SELECT count(*) FROM pg_description TABLESAMPLE SYSTEM (100);
SELECT count(*) FROM pg_largeobject_metadata TABLESAMPLE SYSTEM (100);
SELECT pg_describe_object('pg_largeobject'::regclass, :other, 0);
SELECT pg_identify_object('pg_largeobject'::regclass, :other, 0);
SELECT pg_get_object_address('large object', ARRAY[:'other'], '{}');
SELECT lo_get(:other);
SELECT lo_get(1);
SELECT lo_create(:other);
SELECT loread(0, 1);
GRANT SELECT ON LARGE OBJECT :other TO PUBLIC;
ALTER LARGE OBJECT :other OWNER TO regress_dpq_analyst;
COMMENT ON LARGE OBJECT :other IS '';
SECURITY LABEL ON LARGE OBJECT :other IS '';
-- threat 341: what other sessions notify, lock, prepare and end, and files, of which a table gets another when it is rewritten.
SELECT pg_notification_queue_usage();
SELECT pg_try_advisory_lock(1);
SELECT pg_advisory_lock(1);
SELECT pg_advisory_xact_lock_shared(1, 2);
SELECT pg_advisory_unlock_all();
SELECT pg_xact_status('3');
SELECT txid_status(3);
SELECT * FROM pg_prepared_xacts;
COMMIT PREPARED 'x';
ROLLBACK PREPARED 'x';
BEGIN;
PREPARE TRANSACTION 'x';
PREPARE TRANSACTION 'x';
SELECT DISTINCT relfilenode, pg_relation_filenode(oid), pg_relation_filepath(oid), pg_filenode_relation(reltablespace, relfilenode) FROM pg_class;

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
SELECT lo_unlink(:other), lo_unlink(:own);
DROP ROLE regress_dpq_owner, regress_dpq_analyst;
