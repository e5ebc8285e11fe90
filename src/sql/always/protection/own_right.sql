-- own_right puts these together.

CREATE OR REPLACE FUNCTION dpquantile.keyed_tables(tables oid[]) RETURNS TABLE (oid oid, is_referenced boolean, has_rule boolean, name regclass)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    WITH RECURSIVE keyed (oid, is_referenced, has_rule, name) AS (
      -- A row that refers to a row of the table is accepted if this one exists; one that a row of the table refers to is locked,
      -- and cannot be changed. Tables and views that pass their changes on to such a table tell the same, and so do those that
      -- pass them on to the table itself.
      SELECT s.oid, false, false, s.oid::regclass FROM unnest(tables) s (oid)
      UNION
      SELECT o.oid, o.is_referenced, false, s.oid::regclass
        FROM unnest(tables) s (oid)
        JOIN pg_catalog.pg_constraint k ON k.contype = 'f' AND s.oid IN (k.conrelid, k.confrelid)
       CROSS JOIN LATERAL (VALUES (k.conrelid, false), (k.confrelid, true)) o (oid, is_referenced)
       WHERE s.oid = CASE WHEN o.is_referenced THEN k.conrelid ELSE k.confrelid END
      UNION
      SELECT n.oid, n.is_referenced, n.has_rule, t.name
        FROM keyed t
       CROSS JOIN LATERAL (SELECT i.inhparent, t.is_referenced, t.has_rule FROM pg_catalog.pg_inherits i WHERE i.inhrelid = t.oid
                           UNION ALL
                           SELECT k.confrelid, true, t.has_rule
                             FROM pg_catalog.pg_constraint k
                            WHERE k.contype = 'f' AND k.conrelid = t.oid
                              AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd'))
                           UNION ALL
                           SELECT r.ev_class, t.is_referenced, true
                             FROM pg_catalog.pg_depend d
                             JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid
                             JOIN pg_catalog.pg_class c ON c.oid = r.ev_class AND c.relkind <> 'm'
                            WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass
                              AND d.refobjid = t.oid) n (oid, is_referenced, has_rule)
    )
    SELECT k.oid, k.is_referenced, k.has_rule, k.name FROM keyed k;
  END;
COMMENT ON FUNCTION dpquantile.keyed_tables(oid[]) IS
  'tables: OIDs. They, and those that a foreign key connects with one of them, name; is_referenced: rows refer to its rows; has_rule: it passes '
  'changes on to such a table. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.objects_of_tables(tables oid[]) RETURNS TABLE (classid oid, objid oid, name regclass)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    WITH RECURSIVE used (classid, objid, name) AS (
      -- Whoever owns what a table is made of has it run his code over the rows.
      SELECT 'pg_catalog.pg_class'::regclass::oid, s.oid, s.oid::regclass FROM unnest(tables) s (oid)
      UNION
      SELECT n.classid, n.objid, u.name
        FROM used u
       CROSS JOIN LATERAL (SELECT d.classid, d.objid
                             FROM pg_catalog.pg_depend d
                            WHERE d.refclassid = u.classid AND d.refobjid = u.objid AND d.deptype IN ('a', 'i')
                              AND u.classid IN ('pg_catalog.pg_class'::regclass, 'pg_catalog.pg_type'::regclass)
                              AND d.classid <> 'pg_catalog.pg_publication_rel'::regclass
                           UNION ALL
                           SELECT d.refclassid, d.refobjid
                             FROM pg_catalog.pg_depend d WHERE d.classid = u.classid AND d.objid = u.objid) n (classid, objid)
       WHERE n.classid NOT IN ('pg_catalog.pg_namespace'::regclass, 'pg_catalog.pg_extension'::regclass)
         AND NOT (n.classid = 'pg_catalog.pg_class'::regclass
                  AND EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = n.objid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')))
    )
    SELECT u.classid, u.objid, u.name FROM used u;
  END;
COMMENT ON FUNCTION dpquantile.objects_of_tables(oid[]) IS
  'tables: OIDs. They and the types, functions, operators and other objects that a table, name, is made of. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.rights_on_tables(tables oid[])
  RETURNS TABLE (sort integer, table_oid oid, number integer, holder oid, what text, remedy text)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    WITH scope AS (
      SELECT c.oid, c.oid::regclass AS name, c.relowner, c.relacl FROM pg_catalog.pg_class c WHERE c.oid = ANY (tables)
    ), granted AS (
      SELECT f.oid, f.name, e.grantee, e.privilege_type, '' AS columns, 0 AS number
        FROM scope f CROSS JOIN pg_catalog.aclexplode(f.relacl) e WHERE e.grantee <> f.relowner
      UNION ALL
      SELECT f.oid, f.name, e.grantee, e.privilege_type, format(' (%I)', a.attname), a.attnum
        FROM scope f JOIN pg_catalog.pg_attribute a ON a.attrelid = f.oid AND NOT a.attisdropped
       CROSS JOIN pg_catalog.aclexplode(a.attacl) e WHERE e.grantee <> f.relowner
    )
    SELECT 3, f.oid, 0, f.relowner, format('owns %s', f.name), NULL FROM scope f
    UNION ALL
    SELECT 4, g.oid, g.number, g.grantee, format('has %s%s on %s', g.privilege_type, g.columns, g.name),
           format('REVOKE %s%s ON %s FROM %s;', g.privilege_type, g.columns, g.name,
                  CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END)
      FROM granted g;
  END;
COMMENT ON FUNCTION dpquantile.rights_on_tables(oid[]) IS
  'tables: OIDs. Who owns one or has a right on it, as own_right finds it. Tells nothing about any data.';

-- The planner may not put it into the query around: restricted sessions hide rows of pg_shdepend before that.
CREATE OR REPLACE FUNCTION dpquantile.rights_beside_tables(tables oid[])
  RETURNS TABLE (sort integer, table_oid oid, number integer, holder oid, what text, remedy text)
  LANGUAGE sql STABLE SET jit = off
  BEGIN ATOMIC
    WITH used AS MATERIALIZED (
      SELECT o.classid, o.objid, o.name FROM dpquantile.objects_of_tables(tables) o
    ), beside AS (
      -- Tables and sequences beside the table, and the rights on them that tell something of it.
      -- Rules and views work with the rights of their owner.
      SELECT c.oid, c.oid::regclass AS name, CASE WHEN NOT k.has_rule THEN c.relowner END AS holder, c.relowner, c.relacl,
             format(CASE WHEN k.has_rule THEN '%s, which writes %s or a table that a foreign key connects with it'
                         ELSE '%s, which a foreign key connects with %s' END, c.oid::regclass, k.name) AS what,
             CASE WHEN k.has_rule THEN '{INSERT,UPDATE,DELETE}'::text[]
                  WHEN k.is_referenced THEN '{UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER,MAINTAIN}' ELSE '{INSERT,UPDATE}' END AS rights
        FROM dpquantile.keyed_tables(tables) k JOIN pg_catalog.pg_class c ON c.oid = k.oid
       WHERE k.oid <> ALL (tables)
      UNION ALL
      SELECT DISTINCT c.oid, c.oid::regclass, c.relowner, c.relowner, c.relacl, format('%s, which numbers the rows of %s', c.oid::regclass, u.name),
             '{SELECT,USAGE,UPDATE}'::text[]
        FROM used u
        JOIN pg_catalog.pg_class c ON u.classid = 'pg_catalog.pg_class'::regclass AND c.oid = u.objid AND c.relkind = 'S'
    )
    SELECT 5, b.oid, 0, b.holder, format('owns %s', b.what), NULL FROM beside b
    UNION ALL
    SELECT 6, b.oid, e.number, e.grantee, format('has %s%s on %s', e.privilege_type, e.columns, b.what),
           format('REVOKE %s%s ON %s FROM %s;', e.privilege_type, e.columns, b.name,
                  CASE e.grantee WHEN 0 THEN 'PUBLIC' ELSE e.grantee::regrole::text END)
      FROM beside b
     CROSS JOIN LATERAL (SELECT x.grantee, x.privilege_type, '', 0
                           FROM pg_catalog.aclexplode(b.relacl) x
                         UNION ALL
                         SELECT x.grantee, x.privilege_type, format(' (%I)', a.attname), a.attnum
                           FROM pg_catalog.pg_attribute a CROSS JOIN pg_catalog.aclexplode(a.attacl) x
                          WHERE a.attrelid = b.oid AND NOT a.attisdropped) e (grantee, privilege_type, columns, number)
     WHERE e.grantee <> b.relowner AND e.privilege_type = ANY (b.rights)
    UNION ALL
    SELECT 7, u.objid, 0, o.refobjid, format('owns %s, which %s uses', pg_catalog.pg_describe_object(u.classid, u.objid, 0), u.name), NULL
      FROM used u
      JOIN pg_catalog.pg_database d ON d.datname = current_database()
      JOIN pg_catalog.pg_shdepend o ON o.dbid = d.oid AND o.classid = u.classid AND o.objid = u.objid AND o.objsubid = 0
                                   AND o.refclassid = 'pg_catalog.pg_authid'::regclass AND o.deptype = 'o'
     WHERE u.classid <> 'pg_catalog.pg_class'::regclass;
  END;
COMMENT ON FUNCTION dpquantile.rights_beside_tables(oid[]) IS
  'tables: OIDs. Who has a right beside them that tells of their rows, or owns what they are made of, as own_right finds it. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.code_in_other_sessions(role oid)
  RETURNS TABLE (sort integer, table_oid oid, number integer, holder oid, what text, remedy text)
  LANGUAGE sql STABLE
  BEGIN ATOMIC
    WITH others AS (
      -- Roles whose sessions are not those of the role. From PostgreSQL 16 on, some of their members neither have their rights nor may
      -- become them.
      SELECT r.oid FROM pg_catalog.pg_roles r
       WHERE NOT pg_catalog.pg_has_role(code_in_other_sessions.role, r.oid,
                                        CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'USAGE, SET' END)
    )
    -- Code of the role that runs in the sessions of others: in triggers of their tables with their rights; in tables that refer to
    -- theirs, or are children of them, when they use these, with their rights or without the restriction.
    SELECT 8, 0, 0, d.datdba, 'owns the database, whose settings it may change for others', NULL
      FROM pg_catalog.pg_database d WHERE d.datname = current_database()
    UNION ALL
    -- No session reaches the temporary tables of another.
    SELECT 9, e.oid, e.number, e.grantee, format('has %s%s on %s, which would run its code in sessions of others', e.privilege_type, e.columns, e.oid::regclass),
           format('REVOKE %s%s ON %s FROM %s;', e.privilege_type, e.columns, e.oid::regclass,
                  CASE e.grantee WHEN 0 THEN 'PUBLIC' ELSE e.grantee::regrole::text END)
      FROM (SELECT c.oid, c.relowner, x.grantee, x.privilege_type, '', 0
              FROM pg_catalog.pg_class c CROSS JOIN pg_catalog.aclexplode(c.relacl) x
             WHERE c.relpersistence <> 't'
            UNION ALL
            SELECT c.oid, c.relowner, x.grantee, x.privilege_type, format(' (%I)', a.attname), a.attnum
              FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
             CROSS JOIN pg_catalog.aclexplode(a.attacl) x
             WHERE a.attacl IS NOT NULL AND NOT a.attisdropped AND c.relpersistence <> 't') e (oid, relowner, grantee, privilege_type, columns, number)
     WHERE e.privilege_type IN ('TRIGGER', 'REFERENCES') AND e.relowner IN (SELECT r.oid FROM others r)
    UNION ALL
    SELECT 10, c.oid, 0, p.proowner, format('owns %s, which trigger %I of %s runs in sessions of others', p.oid::regprocedure, t.tgname, c.oid::regclass), NULL
      FROM pg_catalog.pg_trigger t
      JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
      JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
     WHERE NOT t.tgisinternal AND c.relowner IN (SELECT r.oid FROM others r)
    UNION ALL
    SELECT 11, o.oid, 0, o.relowner,
           format('owns %s, which %s %s and so runs its code in sessions of others', o.oid::regclass, k.how, c.oid::regclass), NULL
      FROM (SELECT f.conrelid, f.confrelid, 'refers to' FROM pg_catalog.pg_constraint f WHERE f.contype = 'f'
            UNION ALL
            SELECT i.inhrelid, i.inhparent, 'is a child of' FROM pg_catalog.pg_inherits i) k (oid, other, how)
      JOIN pg_catalog.pg_class o ON o.oid = k.oid
      JOIN pg_catalog.pg_class c ON c.oid = k.other
     WHERE c.relowner IN (SELECT r.oid FROM others r);
  END;
COMMENT ON FUNCTION dpquantile.code_in_other_sessions(oid) IS
  'role: an OID. Who could have code run in the sessions of roles that it is no member of, as own_right finds it. Tells nothing about any data.';

-- The planner expects many rows, for which it would compile the query.
CREATE OR REPLACE FUNCTION dpquantile.own_right(relation regclass, role oid, OUT reason text, OUT remedy text)
  LANGUAGE sql STABLE SET jit = off
  BEGIN ATOMIC
    -- A table has rows of its parents and children, and a view has those of what it reads. The rows of catalogs are nobody's.
    WITH scope AS MATERIALIZED (
      SELECT array_agg(c.oid) AS tables
        FROM pg_catalog.pg_class c
       WHERE c.oid = own_right.relation
          OR c.oid >= 16384 AND c.oid IN (SELECT s.relation FROM dpquantile.tables_with_same_rows(own_right.relation) s (relation))
    ), found AS (
      SELECT 1 AS sort, 0::oid AS table_oid, 0 AS number, m.oid AS holder, 'is a superuser' AS what, NULL AS remedy
        FROM pg_catalog.pg_roles m WHERE m.rolsuper
      UNION ALL
      SELECT 2, 0, 0, m.oid, 'has rights on all tables', NULL
        FROM pg_catalog.pg_roles m WHERE m.rolname IN ('pg_read_all_data', 'pg_write_all_data', 'pg_maintain')
      UNION ALL
      SELECT r.* FROM scope s CROSS JOIN LATERAL dpquantile.rights_on_tables(s.tables) r
      UNION ALL
      SELECT r.* FROM scope s CROSS JOIN LATERAL dpquantile.rights_beside_tables(s.tables) r
      UNION ALL
      SELECT r.* FROM dpquantile.code_in_other_sessions(own_right.role) r)
    SELECT CASE f.holder WHEN 0 THEN 'PUBLIC ' WHEN own_right.role THEN 'it '
                         ELSE format('it is a member of %s, which ', f.holder::regrole) END || f.what,
           coalesce(f.remedy, (SELECT format('REVOKE %s FROM %s;', m.roleid::regrole, m.member::regrole)
                                 FROM pg_catalog.pg_auth_members m
                                WHERE m.roleid = f.holder AND m.member = own_right.role LIMIT 1))
      FROM found f
     WHERE f.holder IN (0, own_right.role) OR pg_catalog.pg_has_role(own_right.role, f.holder, 'MEMBER')
     ORDER BY f.holder <> own_right.role, f.sort, f.table_oid <> own_right.relation, f.table_oid, f.number, f.what LIMIT 1;
  END;
COMMENT ON FUNCTION dpquantile.own_right(regclass, oid) IS
  'relation: a table or view; role: an OID. reason: a right of the role, of its own or as a member of other roles, by which it '
  'learns exact facts about the table without private queries, NULL if it has none, also one on tables and sequences beside it, or '
  'what it owns of what the table is made of, or by which its code runs in sessions of others; remedy: how to take it away. Tells nothing '
  'about any data.';

-- The planner expects many rows, for which it would compile the query.
CREATE OR REPLACE FUNCTION dpquantile.rights_of_members(relation regclass, role oid) RETURNS TABLE (member oid, reason text, remedy text)
  LANGUAGE sql STABLE SET jit = off
  BEGIN ATOMIC
    -- Members that nobody has given anything, neither themselves nor by other roles, have the rights of the role. From PostgreSQL 16
    -- on there are members that neither have these nor may become a role with them, such as who has made it.
    SELECT m.oid, o.reason, o.remedy
      FROM pg_catalog.pg_roles m
     CROSS JOIN LATERAL dpquantile.own_right(rights_of_members.relation, m.oid) o
     WHERE m.rolcanlogin AND m.oid <> rights_of_members.role
       AND EXISTS (SELECT FROM pg_catalog.pg_roles n
                    WHERE NOT n.rolsuper AND pg_catalog.pg_has_role(n.oid, rights_of_members.role, 'USAGE')
                      AND pg_catalog.pg_has_role(m.oid, n.oid,
                                                 CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END))
       AND NOT pg_catalog.has_table_privilege(m.oid, rights_of_members.relation, 'SELECT')
       AND EXISTS (SELECT FROM pg_catalog.pg_roles g
                    WHERE pg_catalog.pg_has_role(m.oid, g.oid, 'MEMBER') AND NOT pg_catalog.pg_has_role(rights_of_members.role, g.oid, 'MEMBER')
                      AND (g.oid < 16384 OR EXISTS (SELECT FROM pg_catalog.pg_shdepend d
                                                     WHERE d.refclassid = 'pg_catalog.pg_authid'::regclass AND d.refobjid = g.oid)))
       AND o.reason IS NOT NULL AND o.reason NOT LIKE 'PUBLIC %'
     ORDER BY m.rolname;
  END;
COMMENT ON FUNCTION dpquantile.rights_of_members(regclass, oid) IS
  'relation: a table or view; role: the OID of a role with private access to it. The members that log in, cannot read it, and have '
  'a right as in dpquantile.own_right. Tells nothing about any data.';
