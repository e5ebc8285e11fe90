CREATE OR REPLACE FUNCTION dpquantile.supply_user_number() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.user_number := (SELECT a.attnum FROM pg_attribute a
                       WHERE a.attrelid = NEW.relation AND a.attname = NEW.user_column AND a.attnum > 0 AND NOT a.attisdropped);
  IF NEW.user_column IS NOT NULL THEN
    NEW.user_number := coalesce(NEW.user_number, 0);
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION dpquantile.supply_user_number() IS
  'Trigger of dpquantile.protected_table: finds the number of user_column, also when a dump is restored.';

CREATE OR REPLACE FUNCTION dpquantile.supply_grantee_oid() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.grantee_oid := coalesce((SELECT r.oid FROM pg_roles r WHERE r.rolname = NEW.grantee), 0);
  IF NEW.grantee_oid = 0 THEN
    RAISE WARNING 'role "%" does not exist, so its private access to % is closed', NEW.grantee, NEW.relation
      USING HINT = 'Create the role and call dp_grant_private_access.';
  END IF;
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION dpquantile.supply_grantee_oid() IS
  'Trigger of dpquantile.private_grant and dpquantile.failed_read: finds the OID of grantee, also when a dump is restored.';

CREATE OR REPLACE FUNCTION dpquantile.supply_column_number() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  NEW.column_number := coalesce((SELECT a.attnum FROM pg_attribute a
                                  WHERE a.attrelid = NEW.relation AND a.attname = NEW.column_name AND a.attnum > 0
                                    AND NOT a.attisdropped), 0);
  RETURN NEW;
END
$$;
COMMENT ON FUNCTION dpquantile.supply_column_number() IS
  'Trigger of dpquantile.column_domain: finds the number of column_name, also when a dump is restored.';

CREATE OR REPLACE FUNCTION dpquantile.protection_changed() RETURNS trigger
  LANGUAGE C AS 'MODULE_PATHNAME', 'dpq_protection_changed';
COMMENT ON FUNCTION dpquantile.protection_changed() IS
  'Trigger of dpquantile.protected_table, dpquantile.private_grant, dpquantile.failed_read and dpquantile.column_domain: makes all sessions plan anew what '
  'they have planned for the changed tables.';

CREATE OR REPLACE TRIGGER supply_user_number BEFORE INSERT ON dpquantile.protected_table
  FOR EACH ROW EXECUTE FUNCTION dpquantile.supply_user_number();
CREATE OR REPLACE TRIGGER supply_grantee_oid BEFORE INSERT ON dpquantile.private_grant
  FOR EACH ROW EXECUTE FUNCTION dpquantile.supply_grantee_oid();
CREATE OR REPLACE TRIGGER supply_grantee_oid BEFORE INSERT ON dpquantile.failed_read
  FOR EACH ROW EXECUTE FUNCTION dpquantile.supply_grantee_oid();
CREATE OR REPLACE TRIGGER supply_column_number BEFORE INSERT ON dpquantile.column_domain
  FOR EACH ROW EXECUTE FUNCTION dpquantile.supply_column_number();
CREATE OR REPLACE TRIGGER protection_changed AFTER INSERT OR UPDATE OR DELETE ON dpquantile.protected_table
  FOR EACH ROW EXECUTE FUNCTION dpquantile.protection_changed();
CREATE OR REPLACE TRIGGER protection_changed AFTER INSERT OR UPDATE OR DELETE ON dpquantile.private_grant
  FOR EACH ROW EXECUTE FUNCTION dpquantile.protection_changed();
CREATE OR REPLACE TRIGGER protection_changed AFTER INSERT OR UPDATE OR DELETE ON dpquantile.failed_read
  FOR EACH ROW EXECUTE FUNCTION dpquantile.protection_changed();
CREATE OR REPLACE TRIGGER protection_changed AFTER INSERT OR UPDATE OR DELETE ON dpquantile.column_domain
  FOR EACH ROW EXECUTE FUNCTION dpquantile.protection_changed();
CREATE OR REPLACE TRIGGER protection_truncated AFTER TRUNCATE ON dpquantile.protected_table
  FOR EACH STATEMENT EXECUTE FUNCTION dpquantile.protection_changed();
CREATE OR REPLACE TRIGGER protection_truncated AFTER TRUNCATE ON dpquantile.private_grant
  FOR EACH STATEMENT EXECUTE FUNCTION dpquantile.protection_changed();
CREATE OR REPLACE TRIGGER protection_truncated AFTER TRUNCATE ON dpquantile.failed_read
  FOR EACH STATEMENT EXECUTE FUNCTION dpquantile.protection_changed();
CREATE OR REPLACE TRIGGER protection_truncated AFTER TRUNCATE ON dpquantile.column_domain
  FOR EACH STATEMENT EXECUTE FUNCTION dpquantile.protection_changed();
