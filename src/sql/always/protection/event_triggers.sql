-- There is no CREATE OR REPLACE EVENT TRIGGER. An update that changes one drops it in its file of updates/, and it is made anew here.

CREATE OR REPLACE FUNCTION dpquantile.forget_dropped_tables() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  DELETE FROM dpquantile.private_grant g WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = g.relation);
  DELETE FROM dpquantile.failed_read f WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = f.relation);
  DELETE FROM dpquantile.budget b USING dpquantile.table_identity i
   WHERE i.table_id = b.table_id AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = i.relation);
  DELETE FROM dpquantile.protected_table t WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.relation);
  -- NULL would say that the column identifies the person itself.
  UPDATE dpquantile.protected_table t SET through = 0 WHERE t.through <> 0 AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.through);
  DELETE FROM dpquantile.table_identity i WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = i.relation);
  DELETE FROM dpquantile.column_domain d
   WHERE NOT EXISTS (SELECT FROM pg_attribute a
                      WHERE a.attrelid = d.relation AND a.attnum = d.column_number AND NOT a.attisdropped);
END
$$;
COMMENT ON FUNCTION dpquantile.forget_dropped_tables() IS
  'Event trigger: ends the protection of tables that are dropped, because a later table may get the same OID, and forgets the '
  'domains of columns that are dropped.';

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_event_trigger t
                   JOIN pg_depend d ON d.classid = 'pg_event_trigger'::regclass AND d.objid = t.oid AND d.deptype = 'e'
                  WHERE t.evtname = 'dpquantile_forget_dropped_tables') THEN
    CREATE EVENT TRIGGER dpquantile_forget_dropped_tables ON sql_drop
      EXECUTE FUNCTION dpquantile.forget_dropped_tables();
  END IF;
END
$$;
ALTER EVENT TRIGGER dpquantile_forget_dropped_tables ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER dpquantile_forget_dropped_tables IS
  'Ends the protection of tables that are dropped, and forgets the domains of columns that are dropped.';

CREATE OR REPLACE FUNCTION dpquantile.follow_renamed_columns() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  UPDATE dpquantile.protected_table t SET user_column = a.attname
    FROM pg_attribute a
   WHERE a.attrelid = t.relation AND a.attnum = t.user_number AND a.attname <> t.user_column AND NOT a.attisdropped;
  UPDATE dpquantile.column_domain d SET column_name = a.attname
    FROM pg_attribute a
   WHERE a.attrelid = d.relation AND a.attnum = d.column_number AND a.attname <> d.column_name AND NOT a.attisdropped;
END
$$;
COMMENT ON FUNCTION dpquantile.follow_renamed_columns() IS
  'Event trigger: a column keeps its role in the protection of its table, and its domain, when it gets another name.';

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_event_trigger t
                   JOIN pg_depend d ON d.classid = 'pg_event_trigger'::regclass AND d.objid = t.oid AND d.deptype = 'e'
                  WHERE t.evtname = 'dpquantile_follow_renamed_columns') THEN
    CREATE EVENT TRIGGER dpquantile_follow_renamed_columns ON ddl_command_end
      WHEN TAG IN ('ALTER TABLE', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE', 'ALTER TYPE')
      EXECUTE FUNCTION dpquantile.follow_renamed_columns();
  END IF;
END
$$;
ALTER EVENT TRIGGER dpquantile_follow_renamed_columns ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER dpquantile_follow_renamed_columns IS
  'A column keeps its role in the protection of its table, and its domain, when it gets another name.';

-- A rename waits for the queries of the table, and later ones wait for the rename. So a charge finds the name of its table noted, and
-- does not wait for a grant that notes it.
CREATE OR REPLACE FUNCTION dpquantile.note_renamed_tables() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  -- Each such table has a name already, except in a restore that has its names still to come.
  INSERT INTO dpquantile.table_name (table_id, name)
  SELECT i.table_id, n.name FROM dpquantile.table_identity i CROSS JOIN LATERAL dpquantile.name_of_table(i.relation) AS n (name)
   WHERE n.name IS NOT NULL AND EXISTS (SELECT FROM dpquantile.table_name t WHERE t.table_id = i.table_id)
      ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION dpquantile.note_renamed_tables() IS
  'Event trigger: what was charged for a table counts for a later one of any of its names, also of one that it got by a rename.';

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_event_trigger t
                   JOIN pg_depend d ON d.classid = 'pg_event_trigger'::regclass AND d.objid = t.oid AND d.deptype = 'e'
                  WHERE t.evtname = 'dpquantile_note_renamed_tables') THEN
    CREATE EVENT TRIGGER dpquantile_note_renamed_tables ON ddl_command_end
      -- ALTER INDEX renames tables, too.
      WHEN TAG IN ('ALTER TABLE', 'ALTER INDEX', 'ALTER VIEW', 'ALTER MATERIALIZED VIEW', 'ALTER FOREIGN TABLE', 'ALTER SCHEMA')
      EXECUTE FUNCTION dpquantile.note_renamed_tables();
  END IF;
END
$$;
ALTER EVENT TRIGGER dpquantile_note_renamed_tables ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER dpquantile_note_renamed_tables IS
  'Keeps the names of tables that are or were protected, for what is charged for them.';
