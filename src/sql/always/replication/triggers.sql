-- A publication FOR ALL TABLES contains these tables. On the subscriber, rows of the publisher would overwrite what was
-- spent there. The triggers fire where session_replication_role is replica, as in the workers of a subscription.
CREATE OR REPLACE FUNCTION dpquantile.skip_replicated() RETURNS trigger
  LANGUAGE C AS 'MODULE_PATHNAME', 'dpq_skip_replicated';
COMMENT ON FUNCTION dpquantile.skip_replicated() IS
  'Trigger of the tables in this schema: a replication worker does not change them. It skips rows and refuses TRUNCATE. '
  'Other sessions, for example a restore with session_replication_role = replica, change them as usual.';

DO $$
DECLARE
  protected regclass;
BEGIN
  FOR protected IN SELECT oid FROM pg_class WHERE relnamespace = 'dpquantile'::regnamespace AND relkind = 'r' LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER skip_replicated BEFORE INSERT OR UPDATE OR DELETE ON %s '
                   'FOR EACH ROW EXECUTE FUNCTION dpquantile.skip_replicated()', protected);
    EXECUTE format('CREATE OR REPLACE TRIGGER refuse_replicated_truncate BEFORE TRUNCATE ON %s '
                   'FOR EACH STATEMENT EXECUTE FUNCTION dpquantile.skip_replicated()', protected);
  END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION dpquantile.protect_tables() RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  protected regclass;
BEGIN
  FOR protected IN SELECT oid FROM pg_class WHERE relnamespace = 'dpquantile'::regnamespace AND relkind = 'r' LOOP
    EXECUTE format('ALTER TABLE %s ENABLE REPLICA TRIGGER skip_replicated, '
                   'ENABLE REPLICA TRIGGER refuse_replicated_truncate', protected);
  END LOOP;
  -- Also in a restore with session_replication_role = replica.
  ALTER TABLE dpquantile.protected_table
    ENABLE ALWAYS TRIGGER supply_user_number, ENABLE ALWAYS TRIGGER protection_changed, ENABLE ALWAYS TRIGGER protection_truncated;
  ALTER TABLE dpquantile.private_grant
    ENABLE ALWAYS TRIGGER supply_grantee_oid, ENABLE ALWAYS TRIGGER protection_changed, ENABLE ALWAYS TRIGGER protection_truncated;
  ALTER TABLE dpquantile.failed_read
    ENABLE ALWAYS TRIGGER supply_grantee_oid, ENABLE ALWAYS TRIGGER protection_changed, ENABLE ALWAYS TRIGGER protection_truncated;
  ALTER TABLE dpquantile.column_domain
    ENABLE ALWAYS TRIGGER supply_column_number, ENABLE ALWAYS TRIGGER protection_changed, ENABLE ALWAYS TRIGGER protection_truncated;
END
$$;
COMMENT ON FUNCTION dpquantile.protect_tables() IS
  'Keeps replication workers from changing the tables in this schema. CREATE EXTENSION calls it; call it again after a '
  'restore with --disable-triggers. For the owner of the tables.';
SELECT dpquantile.protect_tables();
