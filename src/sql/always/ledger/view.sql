-- An analyst sees minutes, cut in UTC whatever the session's time zone is, and the order of the numbers. Microseconds,
-- or the order in which the rows are stored, would tell when others charge.
CREATE OR REPLACE VIEW @extschema@.dp_ledger WITH (security_barrier) AS
  WITH viewer AS MATERIALIZED (
    SELECT dpquantile.sees_all_budgets() AS is_owner,
           (SELECT b.budget_id FROM dpquantile.budget b WHERE b.role = dpquantile.charged_role() AND b.table_id IS NULL) AS budget_id,
           (SELECT array_agg(i.table_id) FROM dpquantile.table_identity i JOIN pg_class c ON c.oid = i.relation
             WHERE pg_has_role(current_user, c.relowner, 'USAGE')) AS own_tables)
  SELECT l.number,
         CASE WHEN v.is_owner THEN l.charged_at ELSE date_trunc('minute', l.charged_at, 'UTC') END AS charged_at,
         l.role_name AS role,
         l.session_role_name AS session_role,
         l.function,
         l.mechanism,
         l.neighbours,
         trim_scale(l.epsilon) AS epsilon,
         trim_scale(l.delta) AS delta,
         l.grouping_sets,
         l.groups,
         t.query,
         trim_scale(l.rho) AS rho,
         l.accountant,
         k.reuses,
         l.tables
    FROM dpquantile.ledger l
    LEFT JOIN dpquantile.query_text t USING (budget_id, query_hash)
    LEFT JOIN dpquantile.budget b ON b.budget_id = l.budget_id
    LEFT JOIN (SELECT a.role, a.reuses, n AS number
                 FROM dpquantile.kept_answers() a, generate_series(a.first_charge, a.first_charge + a.charges - 1) n) k
      ON k.role = b.role AND k.number = l.number
   CROSS JOIN viewer v
   WHERE v.is_owner OR l.budget_id = v.budget_id
         -- All tables of the charge: one that has another owner, or is gone, hides it.
      OR l.table_ids <@ v.own_tables AND cardinality(l.table_ids) = cardinality(l.tables)
   ORDER BY CASE WHEN v.is_owner THEN l.charged_at END, l.number, l.role_name;
COMMENT ON VIEW @extschema@.dp_ledger IS
  'One row for each charge that is not archived. A role sees its own charges, and those about tables that it owns, in the order of their numbers, the owner of the '
  'extension sees all charges in the order of time.';
COMMENT ON COLUMN @extschema@.dp_ledger.number IS 'The number of the charge among those of its budget, from 1.';
COMMENT ON COLUMN @extschema@.dp_ledger.charged_at IS 'When it was charged: to the minute, except for the owner of the extension.';
COMMENT ON COLUMN @extschema@.dp_ledger.role IS 'The role whose budget was charged.';
COMMENT ON COLUMN @extschema@.dp_ledger.session_role IS 'The role that had logged in.';
COMMENT ON COLUMN @extschema@.dp_ledger.function IS 'The private aggregate. dp_add_charge: the owner of the extension has added the charge.';
COMMENT ON COLUMN @extschema@.dp_ledger.mechanism IS 'The method, as the query named it, or the one that answered if it named none.';
COMMENT ON COLUMN @extschema@.dp_ledger.neighbours IS 'The neighbour relation that is charged for.';
COMMENT ON COLUMN @extschema@.dp_ledger.epsilon IS
  'For all grouping sets or groups together; NULL for a query stated in rho alone.';
COMMENT ON COLUMN @extschema@.dp_ledger.delta IS 'For all grouping sets or groups together.';
COMMENT ON COLUMN @extschema@.dp_ledger.grouping_sets IS 'The number of grouping sets.';
COMMENT ON COLUMN @extschema@.dp_ledger.groups IS
  '1 without GROUP BY. The functions dp_user_... with GROUP BY are charged for each group: one row has the first group, a second row all '
  'others and their number. For other functions with GROUP BY it is NULL, because it would depend on the data.';
COMMENT ON COLUMN @extschema@.dp_ledger.query IS 'The first 2 kB of the text of the query, or a note.';
COMMENT ON COLUMN @extschema@.dp_ledger.rho IS
  'For all grouping sets or groups together, beside delta; NULL for a charge with a delta that a build before 0.3.0 made.';
COMMENT ON COLUMN @extschema@.dp_ledger.accountant IS 'The accountant of the budget at that time.';
COMMENT ON COLUMN @extschema@.dp_ledger.reuses IS 'How often the answer was shown again without a charge; NULL if it is not kept.';
COMMENT ON COLUMN @extschema@.dp_ledger.tables IS
  'The protected tables whose rows were asked about, under their names at that time; NULL for other rows.';
