-- In sessions with the library a hook calls it around each ALTER ROLE ... RENAME and DROP ROLE in this database. If the library is preloaded, each
-- resident worker calls it when it starts.
CREATE OR REPLACE FUNCTION dpquantile.note_role_names() RETURNS void
  LANGUAGE sql VOLATILE
  BEGIN ATOMIC
    INSERT INTO dpquantile.budget_name (budget_id, role_name)
    SELECT b.budget_id, r.rolname FROM dpquantile.budget b JOIN pg_catalog.pg_roles r ON r.oid = b.role
     WHERE b.table_id IS NULL
       AND NOT EXISTS (SELECT FROM dpquantile.budget_name n WHERE n.budget_id = b.budget_id AND n.role_name = r.rolname)
        ON CONFLICT DO NOTHING;
  END;
COMMENT ON FUNCTION dpquantile.note_role_names() IS
  'Notes the present names of all roles that have a budget, so that what is spent under one name counts under each. Tells nothing about any '
  'data.';

-- A table may be renamed, dropped and created again, like a role.
CREATE OR REPLACE FUNCTION dpquantile.name_of_table(relation regclass) RETURNS text
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
  BEGIN ATOMIC
    SELECT n.nspname || '.' || c.relname
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = name_of_table.relation;
  END;
COMMENT ON FUNCTION dpquantile.name_of_table(regclass) IS
  'relation: a table or view. Its name with its schema, as the ledger has it. Not quoted, because that depends on a setting. Tells '
  'nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.note_table_name(relation regclass) RETURNS void
  LANGUAGE sql VOLATILE
  BEGIN ATOMIC
    INSERT INTO dpquantile.table_identity (relation)
    SELECT p.relation FROM dpquantile.protected_table p WHERE p.relation = note_table_name.relation
    ON CONFLICT DO NOTHING;
    INSERT INTO dpquantile.table_name (table_id, name)
    SELECT i.table_id, dpquantile.name_of_table(i.relation) FROM dpquantile.table_identity i
     WHERE i.relation = note_table_name.relation
    ON CONFLICT DO NOTHING;
  END;
COMMENT ON FUNCTION dpquantile.note_table_name(regclass) IS
  'relation: a protected table. Keeps its name in table_name. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.connected_tables(relation regclass) RETURNS text[]
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    WITH RECURSIVE connected AS (
      SELECT i.table_id FROM dpquantile.table_identity i WHERE i.relation = connected_tables.relation
      UNION
      SELECT n.table_id FROM dpquantile.table_name n WHERE n.name = dpquantile.name_of_table(connected_tables.relation)
      UNION
      SELECT other.table_id
        FROM connected
        JOIN dpquantile.table_name mine USING (table_id)
        JOIN dpquantile.table_name other ON other.name = mine.name
    )
    SELECT array_agg(n.name)
      FROM (SELECT dpquantile.name_of_table(connected_tables.relation) AS name
             UNION
            SELECT n.name FROM dpquantile.table_name n JOIN connected USING (table_id)) n;
  END;
COMMENT ON FUNCTION dpquantile.connected_tables(regclass) IS
  'relation: a protected table. Its name, and all names of the tables that are connected with it: with a table each of its names, and with '
  'a name each table that had it, over any number of steps. Tells nothing about any data.';
