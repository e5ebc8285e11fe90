CREATE OR REPLACE VIEW dpquantile.private_access WITH (security_barrier) AS
  WITH RECURSIVE referred (relation, through) AS (
    SELECT t.relation, t.through FROM dpquantile.protected_table t WHERE t.through IS NOT NULL
     UNION
    SELECT r.relation, t.through FROM referred r JOIN dpquantile.protected_table t ON t.relation = r.through WHERE t.through IS NOT NULL
  ), own_problem (relation, problem) AS NOT MATERIALIZED (
    SELECT t.relation,
           coalesce(dpquantile.unprotectable(t.relation),
                    CASE WHEN t.user_column IS NOT NULL AND u.attnum IS NULL
                         THEN format('its user column "%s" is gone', t.user_column) END,
                    'its ' || dpquantile.problem_of_reference(t.relation, t.user_column, t.through, t.unit),
                    -- A column has one name in all parents and children; a view may give it another one.
                    (SELECT format('its rows are also rows of %s, which protects the persons of its column "%s"', o.relation, o.user_column)
                       FROM dpquantile.tables_with_same_rows(t.relation) s (relation)
                       JOIN dpquantile.protected_table o ON o.relation = s.relation
                      WHERE CASE WHEN c.relkind = 'm' THEN false
                                 WHEN c.relkind = 'v' THEN t.user_column IS NULL AND o.user_column IS NOT NULL
                                 ELSE (t.user_column, t.through) IS DISTINCT FROM (o.user_column, o.through) AND o.user_column IS NOT NULL END
                      ORDER BY o.relation LIMIT 1),
                    (SELECT format('its rows come from %s, which protects the persons of its column "%s"', o.relation, o.user_column)
                       FROM dpquantile.protected_table o
                      WHERE c.relkind IN ('m', 'v') AND o.relation = dpquantile.table_with_other_users(t.relation, t.user_column)))
      FROM dpquantile.protected_table t
      JOIN pg_class c ON c.oid = t.relation
      LEFT JOIN pg_attribute u ON u.attrelid = t.relation AND u.attnum = t.user_number AND u.attname = t.user_column AND NOT u.attisdropped
  )
  SELECT t.relation,
         c.relowner AS owner,
         t.user_column,
         t.through,
         t.max_rows,
         t.unit,
         t.max_groups,
         g.grantee,
         g.grantee_oid,
         g.smallest_epsilon,
         g.epsilon,
         g.delta,
         g.reuse,
         g.most_cancels,
         g.max_epsilon,
         coalesce(own.problem,
                  'its query is refused: ' || (dpquantile.problem_of_view(t.relation, coalesce(r.oid, 0)))[1],
                  CASE WHEN g.grantee IS NOT NULL
                       THEN dpquantile.unrestricted_code() || ', and dpquantile is not in shared_preload_libraries' END) AS table_problem,
         CASE WHEN g.grantee IS NULL OR r.rolname = g.grantee THEN NULL
              WHEN r.rolname IS NOT NULL THEN format('the role is now called %I', r.rolname)
              WHEN EXISTS (SELECT FROM pg_roles n WHERE n.rolname = g.grantee) THEN 'another role has this name now'
              ELSE 'the role is gone' END AS role_problem,
         CASE WHEN r.rolname = g.grantee THEN (dpquantile.own_right(t.relation, r.oid)).reason END AS own_right,
         t.rows_left_out,
         t.rows_left_out_error,
         t.groups_left_out,
         t.groups_left_out_error,
         own.problem AS own_problem
    FROM dpquantile.protected_table t
    JOIN pg_class c ON c.oid = t.relation
    JOIN own_problem alone ON alone.relation = t.relation
   CROSS JOIN LATERAL (SELECT coalesce(alone.problem, (SELECT format('its rows refer to %s: %s', o.relation, o.problem)
                                                         FROM referred r JOIN own_problem o ON o.relation = r.through
                                                        WHERE r.relation = t.relation AND o.problem IS NOT NULL
                                                        ORDER BY o.relation LIMIT 1)) AS problem) own
    LEFT JOIN dpquantile.private_grant g ON g.relation = t.relation
    LEFT JOIN pg_roles r ON r.oid = g.grantee_oid;
COMMENT ON VIEW dpquantile.private_access IS
  'Protected tables and who has private access to them. table_problem and role_problem: what closes it; own_right: a right with '
  'which the role needs no private queries; own_problem: why the protection does not hold, whoever asks, also that of a table that its rows refer to.';
CREATE OR REPLACE FUNCTION dpquantile.check_answerable(relation regclass) RETURNS void
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  problem CONSTANT text := coalesce((SELECT min(p.own_problem) FROM dpquantile.private_access p WHERE p.relation = check_answerable.relation),
                                    'its query is refused: ' || (dpquantile.problem_of_view(check_answerable.relation, 0))[1]);
BEGIN
  IF problem IS NOT NULL THEN
    RAISE EXCEPTION 'nothing is published of %, of which no query is answered: %', check_answerable.relation, rtrim(problem, '.')
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = 'Where queries are refused, what is found in the rows may depend on more of them than those of one person. Nothing is noted.';
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.check_answerable(regclass) IS
  'relation: of dp_learn_domain and its like, which is protected. An error if no query of it is answered, whatever the reason: then no statement about one row or person holds '
  'for what is found in it.';

CREATE OR REPLACE VIEW dpquantile.early_ends AS
  SELECT f.*,
         CASE WHEN f.errors > 0 THEN 'an error occurred while its rows were read'
              WHEN f.cancels > f.most_cancels
              THEN format('queries that were cancelled, or ran out of time or memory, while they read its rows: %s', f.cancels) END AS problem
    FROM (SELECT f.relation, f.grantee_oid, count(*) FILTER (WHERE NOT f.closes) AS cancels, count(*) FILTER (WHERE f.closes) AS errors,
                 max(f.failed_at) AS last_at,
                 (SELECT max(g.most_cancels) FROM dpquantile.private_grant g JOIN pg_roles r ON (r.oid, r.rolname) = (g.grantee_oid, g.grantee)
                   WHERE g.relation = f.relation AND pg_has_role(f.grantee_oid, g.grantee_oid, 'USAGE')) AS most_cancels
            FROM dpquantile.failed_read f
            JOIN pg_roles r ON r.oid = f.grantee_oid
           GROUP BY f.relation, f.grantee_oid) f;
COMMENT ON VIEW dpquantile.early_ends IS
  'How many queries of a role have ended early while they read rows of a protected table. problem: what closes its private access.';

CREATE OR REPLACE VIEW @extschema@.dp_protected_tables WITH (security_barrier) AS
  SELECT p.relation,
         (SELECT string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum)
            FROM pg_attribute a WHERE a.attrelid = p.relation AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
         p.user_column AS user_id,
         p.through,
         p.max_rows,
         p.max_groups,
         p.unit,
         (SELECT string_agg(format('%I: %s', d.column_name, d.domain), E'\n' ORDER BY d.column_name)
            FROM dpquantile.column_domains d WHERE d.relation = p.relation AND d.problem IS NULL) AS domains,
         quote_ident(p.grantee) AS role,
         p.smallest_epsilon,
         p.max_epsilon,
         p.epsilon,
         p.delta,
         p.reuse,
         p.most_cancels,
         CASE WHEN p.table_problem IS NOT NULL THEN 'private access is closed: ' || p.table_problem
              WHEN p.role_problem IS NOT NULL THEN 'private access is closed: ' || p.role_problem
              WHEN e.problem IS NOT NULL
              THEN format('private access %sis closed: %s', 'of ' || nullif(e.grantee_oid, p.grantee_oid)::regrole || ' ', e.problem)
              WHEN p.own_right IS NOT NULL THEN 'the role learns exact facts about the table: ' || p.own_right
              ELSE 'private queries fail: ' || (SELECT dpquantile.missing_right(r.oid) FROM pg_roles r WHERE r.oid = p.grantee_oid AND r.rolcanlogin) END AS problem,
         s.epsilon AS published_epsilon,
         s.delta AS published_delta,
         p.rows_left_out,
         p.rows_left_out_error,
         p.groups_left_out,
         p.groups_left_out_error
    FROM dpquantile.private_access p
    LEFT JOIN dpquantile.published_spending s ON s.relation = p.relation
    LEFT JOIN LATERAL (SELECT e.problem, e.grantee_oid FROM dpquantile.early_ends e
                        WHERE e.relation = p.relation AND e.problem IS NOT NULL
                          AND (e.grantee_oid IN (p.grantee_oid, dpquantile.charged_role())
                               OR pg_has_role(current_user, p.owner, 'USAGE') AND pg_has_role(e.grantee_oid, p.grantee_oid, 'USAGE'))
                        ORDER BY e.grantee_oid <> p.grantee_oid, e.grantee_oid::regrole::text LIMIT 1) e ON true
   WHERE pg_has_role(current_user, p.owner, 'USAGE')
      OR p.role_problem IS NULL AND pg_has_role(current_user, p.grantee_oid, 'USAGE')
   ORDER BY p.relation::text, p.grantee;
COMMENT ON VIEW @extschema@.dp_protected_tables IS
  'The protected tables of the current role: those that it may ask private queries of, and those that it owns, with a row for each '
  'role that has private access. Reads no data and costs no budget.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.relation IS 'The table or view. Compare it with ''visits''::regclass.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.columns IS 'Names and types of the columns.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.user_id IS
  'The column that identifies the person all of whose rows are protected together, or refers to a row of the table in through; NULL if each row '
  'is protected.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.through IS
  'The protected table to which user_id refers: the person of a row is that of the row that it refers to; NULL if user_id identifies the person itself.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.max_rows IS
  'How many rows of each person a SELECT sees; NULL if only aggregates that protect persons may be asked.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.max_groups IS
  'In how many groups of one answer a person counts, where persons are counted by group; NULL if in as many as max_rows.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.unit IS
  'What user_id names: tables of one owner with the same unit may be joined by these columns; NULL if the table may be joined with no '
  'other protected table.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.domains IS
  'What is publicly known of columns: bounds, granularity and lists of keys (dp_set_domain); NULL if nothing is. min() and max() of a column answer its bounds.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.role IS
  'A role with private access: the current role, one that it is a member of, or for the owner of the table any role. NULL if no '
  'role has. As SQL writes its name, so that role::regrole is the role.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.smallest_epsilon IS 'A private aggregate with a smaller epsilon is refused.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.max_epsilon IS
  'A private aggregate with a larger epsilon is refused; NULL if only budgets limit it.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.epsilon IS
  'What each standard aggregate costs, such as count(*); NULL if only private aggregates may be asked.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.delta IS
  'What a query costs besides, with an epsilon, if it groups by keys that come from the rows; NULL if keys must be public.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.reuse IS
  'How long the answers of a query are shown again, without a charge; NULL if each query is charged.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.most_cancels IS
  'How many queries of the role may be cancelled, or run out of time or memory, while they read rows, before private access closes.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.problem IS
  'What keeps the role from asking private queries, or makes them pointless; NULL if nothing does. It does not tell whether the role and '
  'its members are restricted: dp_health does.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.published_epsilon IS
  'What all that is published of the table costs together (dp_learn_domain, dp_learn_keys, dp_learn_limits, dp_learn_groups), for every role, beside what it spends; NULL if nothing is.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.published_delta IS 'The delta that this costs besides.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.rows_left_out IS
  'About how many rows of the table max_rows leaves out, when dp_learn_limits found it; no error that is told of an answer has them. NULL if it is not known.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.rows_left_out_error IS
  'The noise in rows_left_out: it is smaller with a probability of 95 %. It is the noise alone: rows of persons with more than four times as many rows as others surely have are in neither number, however many rows that is.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.groups_left_out IS
  'In about how many groups of the column for which dp_learn_groups found max_groups persons are not counted, all persons together; no error that is told of an answer has them. NULL if it is not known.';
COMMENT ON COLUMN @extschema@.dp_protected_tables.groups_left_out_error IS
  'The noise in groups_left_out: it is smaller with a probability of 95 %.';
