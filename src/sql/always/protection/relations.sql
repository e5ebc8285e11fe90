CREATE OR REPLACE FUNCTION dpquantile.identifies_users(type oid, collation oid) RETURNS boolean
  LANGUAGE C STABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_identifies_users';
COMMENT ON FUNCTION dpquantile.identifies_users(oid, oid) IS
  'type, collation: of a column. Whether the private aggregates take it as user_id. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.problem_of_predicate(index oid) RETURNS text
  LANGUAGE C STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_problem_of_predicate';
COMMENT ON FUNCTION dpquantile.problem_of_predicate(oid) IS
  'index: a partial index. Which object of its predicate, that is not PostgreSQL''s own, has private queries of its table refused: a scan may '
  'evaluate it for rows. NULL if none does. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.unprotectable(relation regclass) RETURNS text
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    WITH RECURSIVE tree (oid) AS (
      SELECT unprotectable.relation::oid
      UNION
      SELECT i.inhrelid FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.oid)
    SELECT CASE
           WHEN c.oid < 16384 THEN 'it belongs to the system'
           WHEN EXISTS (SELECT FROM pg_catalog.pg_depend d
                          JOIN pg_catalog.pg_extension e ON d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.refobjid = e.oid
                         WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
                           AND e.extname = 'dpquantile') THEN 'it belongs to the extension dpquantile'
           WHEN c.relkind = 'f' THEN 'it is a foreign table'
           WHEN c.relkind NOT IN ('r', 'p', 'm', 'v') THEN 'it is not a table, a view or a materialized view'
           WHEN c.relpersistence = 't' THEN 'it is temporary'
           WHEN c.relrowsecurity OR c.relforcerowsecurity THEN 'it has row security'
           WHEN EXISTS (SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) o
                         WHERE o.option_name = 'security_invoker' AND o.option_value::boolean)
             THEN 'it is a view with security_invoker'
           ELSE (SELECT CASE WHEN k.relkind = 'f' THEN format('its child %s is a foreign table', k.oid::regclass)
                             WHEN v.attnum IS NOT NULL
                             THEN format('column "%s"%s is a virtual generated column', v.attname,
                                         CASE WHEN k.oid <> c.oid THEN format(' of its child %s', k.oid::regclass) END)
                             ELSE dpquantile.problem_of_predicate(i.indexrelid) END
                   FROM tree t
                   JOIN pg_catalog.pg_class k ON k.oid = t.oid
                   LEFT JOIN pg_catalog.pg_attribute v ON v.attrelid = k.oid AND v.attgenerated = 'v' AND NOT v.attisdropped
                   LEFT JOIN pg_catalog.pg_index i ON i.indrelid = k.oid AND i.indpred IS NOT NULL
                                                  AND dpquantile.problem_of_predicate(i.indexrelid) IS NOT NULL
                  WHERE k.relkind = 'f' OR v.attnum IS NOT NULL OR i.indexrelid IS NOT NULL
                  ORDER BY k.oid, v.attnum, i.indexrelid LIMIT 1)
           END
      FROM pg_catalog.pg_class c WHERE c.oid = unprotectable.relation;
  END;
COMMENT ON FUNCTION dpquantile.unprotectable(regclass) IS
  'relation: a table or view. Why it cannot be protected, and why its private access is closed if it is; otherwise NULL. Tells '
  'nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.relations_in_view(relation regclass) RETURNS oid[]
  LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'dpq_relations_in_view';
COMMENT ON FUNCTION dpquantile.relations_in_view(regclass) IS
  'relation: a view, otherwise NULL. The tables and views of whose rows its rows are made, also through views: what is public in it is not among '
  'them. Tells nothing about any data.';

-- The planner expects many rows, for which it would compile the query.
CREATE OR REPLACE FUNCTION dpquantile.tables_with_same_rows(relation regclass) RETURNS SETOF regclass
  LANGUAGE sql STABLE ROWS 2 SET jit = off
  BEGIN ATOMIC
    -- What the rows are read from: views read tables, and tables have the rows of their children.
    WITH RECURSIVE below (oid, is_in_view) AS (
      SELECT tables_with_same_rows.relation::oid, false
      UNION
      SELECT s.oid, s.is_in_view
        FROM below b
       CROSS JOIN LATERAL (
         SELECT v.oid, true FROM unnest(dpquantile.relations_in_view(b.oid)) v (oid) WHERE NOT b.is_in_view
          UNION ALL
         SELECT d.refobjid, false
           FROM pg_catalog.pg_class c
           JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid
           JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
                                      AND d.refclassid = 'pg_catalog.pg_class'::regclass
          WHERE c.oid = b.oid AND c.relkind = 'm'
          UNION ALL
         SELECT i.inhrelid, false FROM pg_catalog.pg_inherits i WHERE i.inhparent = b.oid) s (oid, is_in_view)
    ), above (oid) AS (
      SELECT b.oid FROM below b
      UNION
      SELECT i.inhparent FROM above a JOIN pg_catalog.pg_inherits i ON i.inhrelid = a.oid)
    SELECT a.oid::regclass FROM above a WHERE a.oid <> tables_with_same_rows.relation;
  END;
COMMENT ON FUNCTION dpquantile.tables_with_same_rows(regclass) IS
  'relation: a table or view. The other tables that have some of its rows: parents, children, parents of children, and what a view '
  'reads. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.table_with_other_users(relation regclass, user_column name) RETURNS regclass
  LANGUAGE C STABLE
  AS 'MODULE_PATHNAME', 'dpq_table_with_other_users';
COMMENT ON FUNCTION dpquantile.table_with_other_users(regclass, name) IS
  'relation: a materialized view, a view of one, or a view of a table that is protected through another one; user_column: the column of its persons, NULL if it protects rows. The protected '
  'table that has rows in common with it and protects other persons, which closes private access; otherwise NULL. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.problem_of_reference(relation regclass, user_id name, through regclass, unit name) RETURNS text
  LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'dpq_problem_of_reference';
COMMENT ON FUNCTION dpquantile.problem_of_reference(regclass, name, regclass, name) IS
  'relation, user_id, through, unit: of dp_protect_table. Why the rows do not lead to persons, which closes private access; otherwise NULL. Tells '
  'nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.problem_of_view(relation regclass, role oid) RETURNS text[]
  LANGUAGE C STABLE AS 'MODULE_PATHNAME', 'dpq_problem_of_view';
COMMENT ON FUNCTION dpquantile.problem_of_view(regclass, oid) IS
  'relation: a protected view that does more than choose rows and columns of one table; role: who asks, NULL for nobody in particular. Why every '
  'query of the view is refused, and a hint; otherwise NULL. Tells nothing about any data.';
