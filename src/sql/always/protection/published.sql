COMMENT ON TABLE dpquantile.published IS
  'What has been published of protected tables, for all roles, and what it costs whoever is in the table: a row for each call, durable before its draw. '
  'A later call of the same column adds. Only dp_learn_domain, dp_learn_keys, dp_learn_limits and dp_learn_groups add rows, and nothing takes them away.';
COMMENT ON COLUMN dpquantile.published.table_name IS 'The name of the table, with its schema, as the ledger has it.';
COMMENT ON COLUMN dpquantile.published.column_name IS 'Empty of what is of no column, such as max_rows.';
COMMENT ON COLUMN dpquantile.published.role_name IS 'Who has published it.';
SELECT pg_catalog.pg_extension_config_dump('dpquantile.published', '');

-- A table that is renamed, or dropped and made again, is connected with its names (connected_tables), which are looked up here with the rights of the view.
-- The planner takes the recursion for millions of rows, and would have every query of this view compiled for seconds (jit): of what has a limit that it does
-- not know it expects a tenth, and NULL is no limit.
CREATE OR REPLACE VIEW dpquantile.published_spending WITH (security_barrier) AS
  WITH RECURSIVE connected (relation, name) AS (
    SELECT t.relation, format('%s.%s', n.nspname, c.relname) COLLATE "default"
      FROM dpquantile.protected_table t JOIN pg_class c ON c.oid = t.relation JOIN pg_namespace n ON n.oid = c.relnamespace
     UNION
    SELECT i.relation, n.name FROM dpquantile.table_identity i JOIN dpquantile.table_name n USING (table_id)
     UNION
    SELECT c.relation, p.other
      FROM connected c
      JOIN (SELECT mine.name, other.name AS other FROM dpquantile.table_name mine JOIN dpquantile.table_name other USING (table_id)
             LIMIT (SELECT NULL::bigint)) p USING (name)
  )
  SELECT c.relation, trim_scale(sum(p.epsilon)) AS epsilon, trim_scale(sum(p.delta)) AS delta, count(*) AS calls
    FROM (SELECT * FROM connected LIMIT (SELECT NULL::bigint)) c
    JOIN dpquantile.published p ON p.table_name = c.name
   GROUP BY c.relation;
COMMENT ON VIEW dpquantile.published_spending IS
  'What all that is published of each protected table costs together. It counts for every role, beside what the role spends.';
