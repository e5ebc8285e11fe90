-- All names resolve in pg_catalog: the script and its objects use no function or operator that another role has created in the
-- schema chosen by CREATE EXTENSION.
SET LOCAL search_path = pg_catalog, pg_temp;

-- What the extension has before an update, for privileges.sql. Nothing, when it is created.
SELECT set_config('dpq_upgrade.earlier_members', coalesce(string_agg(format('%s:%s', d.classid::oid, d.objid), ','), ''), true)
  FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
 WHERE e.extname = 'dpquantile' AND d.deptype = 'e';
