-- What the catalogs say about the extension's objects, a line for each fact, without OIDs and in an order that does not
-- depend on the order in which the objects were made. Databases with the same version print the same lines, whether
-- CREATE EXTENSION made the objects or ALTER EXTENSION UPDATE did. For psql -Atq as a superuser.
SET search_path = pg_catalog, pg_temp;
SET jit = off;

-- The columns of a catalog that refer to objects by OID, and the catalogs that they refer to. A regproc prints as a name.
CREATE TEMP TABLE reference AS
  SELECT r.fktable, a.attname, r.pktable
    FROM pg_get_catalog_foreign_keys() r JOIN pg_attribute a ON a.attrelid = r.fktable AND a.attname = r.fkcols[1]
   WHERE r.pkcols = '{oid}' AND a.atttypid IN ('oid'::regtype, 'oid[]'::regtype, 'oidvector'::regtype);

-- These are called for thousands of rows. PL/pgSQL keeps their plans.
CREATE FUNCTION pg_temp.names(catalog regclass, oids text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT coalesce(string_agg(CASE WHEN o.number = '0' THEN '-' ELSE pg_describe_object(names.catalog, o.number::oid, 0) END,
                                     ', ' ORDER BY o.position), '-')
            FROM regexp_split_to_table(translate(names.oids, '[]"', ''), '[ ,]+') WITH ORDINALITY AS o (number, position)
           WHERE o.number <> '');
END
$$;

-- A row of a catalog, with names for OIDs. Leaves out what no user sees: places on disk, statistics, the tree of an
-- expression (definition() has its text), and how rows were stored before a column was added.
CREATE FUNCTION pg_temp.facts(catalog regclass, catalog_row jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT jsonb_object_agg(a.attname, CASE WHEN r.pktable IS NULL THEN facts.catalog_row ->> a.attname
                                                  WHEN facts.catalog_row ->> a.attname = '0' THEN '-'
                                                  ELSE pg_temp.names(r.pktable, facts.catalog_row ->> a.attname) END)
            FROM pg_attribute a
            LEFT JOIN pg_temp.reference r ON r.fktable = a.attrelid AND r.attname = a.attname
           WHERE a.attrelid = facts.catalog AND a.attnum > 0
             AND (r.pktable IS NOT NULL OR a.atttypid NOT IN ('oid'::regtype, 'pg_node_tree'::regtype, 'xid'::regtype))
             AND a.attname NOT IN ('relpages', 'reltuples', 'relallvisible', 'relallfrozen', 'relhasindex', 'atthasmissing',
                                   'attmissingval', 'extconfig', 'extcondition', 'relacl', 'proacl', 'typacl', 'nspacl'));
END
$$;

-- The privileges on an object. None at all means the default, which pg_upgrade does not tell apart.
CREATE FUNCTION pg_temp.privileges(catalog regclass, catalog_row jsonb) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT format('%s to %s%s', e.privilege_type, CASE e.grantee WHEN 0 THEN 'PUBLIC' ELSE e.grantee::regrole::text END,
                CASE WHEN e.is_grantable THEN ' with grant option' END)
    FROM (VALUES ('pg_class'::regclass, 'r'::"char", 'rel'), ('pg_proc', 'f', 'pro'), ('pg_type', 'T', 'typ'),
                 ('pg_namespace', 'n', 'nsp')) AS k (catalog, kind, prefix)
   CROSS JOIN LATERAL (SELECT NULLIF(catalog_row -> (k.prefix || 'acl'), 'null') AS acl,
                              (catalog_row ->> (k.prefix || 'owner'))::oid AS owner) AS r
   CROSS JOIN aclexplode(CASE WHEN r.acl IS NULL THEN acldefault(k.kind, r.owner)
                         ELSE ARRAY(SELECT jsonb_array_elements_text(r.acl))::aclitem[] END) AS e
   WHERE k.catalog = privileges.catalog
$$;

CREATE FUNCTION pg_temp.definition(catalog regclass, object oid) RETURNS text LANGUAGE sql AS $$
  SELECT CASE catalog
         WHEN 'pg_proc'::regclass THEN
           (SELECT CASE WHEN p.prokind = 'a' THEN (SELECT pg_temp.facts('pg_aggregate', to_jsonb(g))::text
                                                     FROM pg_aggregate g WHERE g.aggfnoid = object)
                        ELSE pg_get_functiondef(object) END FROM pg_proc p WHERE p.oid = object)
         WHEN 'pg_rewrite'::regclass THEN pg_get_ruledef(object)
         WHEN 'pg_constraint'::regclass THEN pg_get_constraintdef(object)
         WHEN 'pg_trigger'::regclass THEN pg_get_triggerdef(object)
         WHEN 'pg_attrdef'::regclass THEN (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d WHERE d.oid = object)
         WHEN 'pg_extension'::regclass THEN
           (SELECT string_agg(format('dump %s %s', c.dumped::regclass, e.extcondition[c.position]), ', '
                              ORDER BY c.dumped::regclass::text)
              FROM pg_extension e, unnest(e.extconfig) WITH ORDINALITY AS c (dumped, position) WHERE e.oid = object)
         WHEN 'pg_class'::regclass THEN
           (SELECT CASE WHEN c.relkind = 'i' THEN pg_get_indexdef(object)
                          || (SELECT pg_temp.facts('pg_index', to_jsonb(i))::text FROM pg_index i WHERE i.indexrelid = object)
                        WHEN c.relkind = 'v' THEN pg_get_viewdef(object) END FROM pg_class c WHERE c.oid = object)
         END
$$;

-- The objects of the extension, and the parts of them: columns' defaults, constraints, indexes, rules, row types, ...
CREATE TEMP TABLE object AS
  WITH RECURSIVE found AS (
    SELECT 'pg_extension'::regclass::oid AS catalog, oid AS object FROM pg_extension WHERE extname = 'dpquantile'
    UNION
    SELECT d.classid, d.objid
      FROM found f JOIN pg_depend d ON d.refclassid = f.catalog AND d.refobjid = f.object
     WHERE d.deptype IN ('e', 'i') OR (d.deptype = 'a' AND d.refclassid = 'pg_class'::regclass))
  SELECT f.catalog::regclass, f.object, pg_describe_object(f.catalog, f.object, 0) AS name FROM found f;

CREATE FUNCTION pg_temp.catalog_row(catalog regclass, object oid) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  found jsonb;
BEGIN
  EXECUTE format('SELECT to_jsonb(c) FROM %s c WHERE oid = %s', catalog, object) INTO STRICT found;
  RETURN found;
END
$$;

CREATE TEMP TABLE fact AS
  SELECT name, 'is' AS kind, pg_temp.facts(catalog, pg_temp.catalog_row(catalog, object))::text AS fact FROM object
   UNION ALL
  SELECT name, 'definition', pg_temp.definition(catalog, object) FROM object
   UNION ALL
  SELECT o.name, 'column ' || a.attname, pg_temp.facts('pg_attribute', to_jsonb(a))::text
    FROM object o JOIN pg_attribute a ON o.catalog = 'pg_class'::regclass AND a.attrelid = o.object
   WHERE a.attnum > 0
   UNION ALL
  SELECT o.name, 'comment ' || d.objsubid, d.description
    FROM object o JOIN pg_description d ON d.classoid = o.catalog AND d.objoid = o.object
   UNION ALL
  SELECT o.name, 'label ' || s.objsubid, format('%s %s', s.provider, s.label)
    FROM object o JOIN pg_seclabel s ON s.classoid = o.catalog AND s.objoid = o.object
   UNION ALL
  SELECT o.name, 'privilege', p.privilege
    FROM object o, pg_temp.privileges(o.catalog, pg_temp.catalog_row(o.catalog, o.object)) AS p (privilege)
   UNION ALL
  SELECT o.name, 'initial privilege ' || i.objsubid, format('%s %s to %s', i.privtype, e.privilege_type, e.grantee::regrole)
    FROM object o JOIN pg_init_privs i ON i.classoid = o.catalog AND i.objoid = o.object, aclexplode(i.initprivs) AS e
   WHERE e.grantee <> e.grantor
   UNION ALL
  SELECT o.name, 'depends ' || d.objsubid, format('%s %s', d.deptype, pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid))
    FROM object o JOIN pg_depend d ON d.classid = o.catalog AND d.objid = o.object
   UNION ALL
  SELECT o.name, 'depends ' || d.objsubid, format('%s %s', d.deptype, pg_describe_object(d.refclassid, d.refobjid, 0))
    FROM object o JOIN pg_shdepend d ON d.classid = o.catalog AND d.objid = o.object
     AND d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database());

-- The names of toast tables have the OIDs of their tables, and columns of composite types have random versions (attver).
SELECT line
  FROM (SELECT regexp_replace(concat_ws(' | ', name, kind, replace(fact, E'\n', ' ')), '(pg_toast_|pg_attver=)\d+', '\1N', 'g') AS line
          FROM fact WHERE fact IS NOT NULL) lines
 ORDER BY line COLLATE "C";
