CREATE OR REPLACE FUNCTION dpquantile.take_charges(budgets uuid[], before timestamptz)
  RETURNS TABLE (budget_id uuid, number bigint, charged_at timestamptz, role name, session_role name, function name,
                 mechanism text, neighbours text, epsilon numeric, delta numeric, grouping_sets integer, groups integer,
                 query text, rho numeric, accountant text, tables text[])
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    WITH archived AS (
      DELETE FROM dpquantile.ledger l
       WHERE l.budget_id = ANY (take_charges.budgets) AND l.charged_at < take_charges.before
      RETURNING l.*
    ), summed AS (
      INSERT INTO dpquantile.budget_name AS n
             (budget_id, role_name, charges, epsilon, delta, rho, has_rho_alone, last_charged_at, replaces, converted_delta)
      SELECT a.budget_id, a.role_name, count(*), coalesce(sum(a.epsilon), 0), sum(a.delta), coalesce(sum(a.rho), 0),
             bool_or(a.epsilon IS NULL), max(a.charged_at), bool_or(a.neighbours = 'replace the value of one row'),
             coalesce(sum(a.delta) FILTER (WHERE a.rho IS NOT NULL), 0)
        FROM archived a GROUP BY a.budget_id, a.role_name
      ON CONFLICT ON CONSTRAINT budget_name_pkey DO UPDATE
         SET charges = n.charges + excluded.charges, epsilon = n.epsilon + excluded.epsilon,
             delta = n.delta + excluded.delta, rho = n.rho + excluded.rho,
             has_rho_alone = n.has_rho_alone OR excluded.has_rho_alone,
             last_charged_at = greatest(n.last_charged_at, excluded.last_charged_at),
             replaces = n.replaces OR excluded.replaces, converted_delta = n.converted_delta + excluded.converted_delta
    ), summed_by_table AS (
      INSERT INTO dpquantile.archived_by_table AS t (budget_id, table_name, epsilon, delta, rho, has_rho_alone, replaces, converted_delta)
      SELECT a.budget_id, n.name, coalesce(sum(a.epsilon), 0), sum(a.delta), coalesce(sum(a.rho), 0), bool_or(a.epsilon IS NULL),
             bool_or(a.neighbours = 'replace the value of one row'), coalesce(sum(a.delta) FILTER (WHERE a.rho IS NOT NULL), 0)
        FROM archived a CROSS JOIN unnest(a.tables) AS n (name) GROUP BY a.budget_id, n.name
      ON CONFLICT ON CONSTRAINT archived_by_table_pkey DO UPDATE
         SET epsilon = t.epsilon + excluded.epsilon, delta = t.delta + excluded.delta, rho = t.rho + excluded.rho,
             has_rho_alone = t.has_rho_alone OR excluded.has_rho_alone, replaces = t.replaces OR excluded.replaces,
             converted_delta = t.converted_delta + excluded.converted_delta
    )
    SELECT a.budget_id, a.number, a.charged_at, a.role_name, a.session_role_name, a.function, a.mechanism,
           a.neighbours, trim_scale(a.epsilon), trim_scale(a.delta), a.grouping_sets, a.groups, t.query,
           trim_scale(a.rho), a.accountant, a.tables
      FROM archived a LEFT JOIN dpquantile.query_text t USING (budget_id, query_hash)
     ORDER BY a.charged_at, a.budget_id, a.number;
END
$$;
COMMENT ON FUNCTION dpquantile.take_charges(uuid[], timestamptz) IS
  'budgets: locked; before: a time. Takes their earlier charges out of the ledger, and keeps the sums.';

CREATE OR REPLACE FUNCTION dpquantile.archive_ledger(before timestamptz)
  RETURNS TABLE (budget_id uuid, number bigint, charged_at timestamptz, role name, session_role name, function name,
                 mechanism text, neighbours text, epsilon numeric, delta numeric, grouping_sets integer, groups integer,
                 query text, rho numeric, accountant text, tables text[])
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  budgets uuid[];
BEGIN
  PERFORM dpquantile.check_version();
  IF archive_ledger.before IS NULL THEN
    RAISE EXCEPTION 'before must be a time, got NULL'
      USING ERRCODE = 'null_value_not_allowed',
            HINT = 'For example: SELECT * FROM dp_archive_ledger(now() - interval ''1 year'').';
  END IF;
  -- One archiving at a time. Charges and grants do not wait for this lock.
  LOCK TABLE dpquantile.budget_name IN SHARE UPDATE EXCLUSIVE MODE;
  -- The charges of these budgets wait, as they do for dp_grant_budget: a charge under way may refer to a text that no
  -- other charge refers to, and would not see that the text is removed.
  budgets := ARRAY(SELECT DISTINCT l.budget_id FROM dpquantile.ledger l WHERE l.charged_at < archive_ledger.before);
  PERFORM FROM dpquantile.budget b WHERE b.budget_id = ANY (budgets) ORDER BY b.role FOR UPDATE;
  RETURN QUERY
    SELECT * FROM dpquantile.take_charges(budgets, archive_ledger.before);
  DELETE FROM dpquantile.query_text t
   WHERE t.budget_id = ANY (budgets)
     AND NOT EXISTS (SELECT FROM dpquantile.ledger l
                      WHERE l.budget_id = t.budget_id AND l.query_hash = t.query_hash);
END
$$;

CREATE OR REPLACE FUNCTION @extschema@.dp_archive_ledger(before timestamptz)
  RETURNS TABLE (budget_id uuid, number bigint, charged_at timestamptz, role name, session_role name, function name,
                 mechanism text, neighbours text, epsilon numeric, delta numeric, grouping_sets integer, groups integer,
                 query text, rho numeric, accountant text)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    SELECT a.budget_id, a.number, a.charged_at, a.role, a.session_role, a.function, a.mechanism, a.neighbours, a.epsilon, a.delta,
           a.grouping_sets, a.groups, a.query, a.rho, a.accountant
      FROM dpquantile.archive_ledger(dp_archive_ledger.before) a;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_archive_ledger(timestamptz) IS
  'Takes old charges out of the ledger and returns them, so that they can be kept elsewhere. In psql: BEGIN; then '
  '\copy (SELECT * FROM dp_archive_ledger(''2026-01-01'')) TO ''ledger.csv'' CSV HEADER; then look at the file; then '
  'COMMIT. Without BEGIN the charges are lost if psql cannot write the file. before: a time; earlier charges are taken '
  'out. The spending stays as it is: the sums of the charges are kept, and count when a budget has to be made again. '
  'The charges of the budgets concerned wait until the transaction ends. budget_id: the budget; the other columns are '
  'those of dp_ledger: number, charged_at, role, session_role, function, mechanism, neighbours, epsilon, delta, '
  'grouping_sets, groups, query, rho, accountant. For the owner of the extension.';

-- The one above is for tables of archived charges that have no column for them.
CREATE OR REPLACE FUNCTION @extschema@.dp_archive_ledger(before timestamptz, with_tables boolean)
  RETURNS TABLE (budget_id uuid, number bigint, charged_at timestamptz, role name, session_role name, function name,
                 mechanism text, neighbours text, epsilon numeric, delta numeric, grouping_sets integer, groups integer,
                 query text, rho numeric, accountant text, tables text[])
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    SELECT a.budget_id, a.number, a.charged_at, a.role, a.session_role, a.function, a.mechanism, a.neighbours, a.epsilon, a.delta,
           a.grouping_sets, a.groups, a.query, a.rho, a.accountant,
           CASE WHEN dp_archive_ledger.with_tables THEN a.tables END
      FROM dpquantile.archive_ledger(dp_archive_ledger.before) a;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_archive_ledger(timestamptz, boolean) IS
  'What dp_archive_ledger(before) does and returns, and one column more, tables: the protected tables whose rows were asked about, under '
  'their names at that time (NULL for other rows). before: a time; with_tables: false leaves the column empty. The other columns are '
  'budget_id, number, charged_at, role, session_role, function, mechanism, neighbours, epsilon, delta, grouping_sets, groups, query, rho, '
  'accountant. For the owner of the extension.';
COMMENT ON FUNCTION dpquantile.archive_ledger(timestamptz) IS 'What dp_archive_ledger does for its caller.';
