-- A role may be renamed, dropped and created again under any of its names. So a budget is connected with all names
-- that it was granted or charged under, and a name with all such budgets, over any number of steps.
CREATE OR REPLACE FUNCTION dpquantile.earlier_spending(role_name name, table_names text[] DEFAULT NULL)
  RETURNS TABLE (epsilon numeric, delta numeric, rho numeric, has_rho_alone boolean, neighbours text, converted_delta numeric)
  LANGUAGE sql STABLE PARALLEL RESTRICTED
  BEGIN ATOMIC
    WITH RECURSIVE named AS (
      SELECT l.budget_id, l.role_name FROM dpquantile.ledger l
      UNION
      SELECT n.budget_id, n.role_name FROM dpquantile.budget_name n
    ), connected AS (
      SELECT n.budget_id FROM named n WHERE n.role_name = earlier_spending.role_name
      UNION
      SELECT other.budget_id
        FROM connected
        JOIN named mine USING (budget_id)
        JOIN named other ON other.role_name = mine.role_name
    ), spent AS (
      SELECT l.budget_id, l.epsilon, l.delta, l.rho, l.epsilon IS NULL AS has_rho_alone,
             l.neighbours = 'replace the value of one row' AS replaces, CASE WHEN l.rho IS NOT NULL THEN l.delta ELSE 0 END AS converted_delta,
             earlier_spending.table_names IS NULL OR coalesce(l.tables && earlier_spending.table_names, false) AS is_asked
        FROM dpquantile.ledger l
       UNION ALL
      SELECT n.budget_id, n.epsilon, n.delta, n.rho, n.has_rho_alone, n.replaces, n.converted_delta, earlier_spending.table_names IS NULL
        FROM dpquantile.budget_name n
       UNION ALL
      SELECT a.budget_id, a.epsilon, a.delta, a.rho, a.has_rho_alone, a.replaces, a.converted_delta,
             coalesce(a.table_name = ANY (earlier_spending.table_names), false)
        FROM dpquantile.archived_by_table a
    ), counted AS (
      -- Beside charges for replacing a value, the others count twice, or four times in rho.
      SELECT s.*, CASE WHEN bool_or(s.replaces) OVER () AND NOT s.replaces THEN 2 ELSE 1 END AS times
        FROM spent s WHERE s.budget_id IN (SELECT c.budget_id FROM connected c)
    )
    SELECT coalesce(sum(c.times * c.epsilon) FILTER (WHERE c.is_asked), 0), coalesce(sum(c.times * c.delta) FILTER (WHERE c.is_asked), 0),
           coalesce(sum(c.times * c.times * c.rho) FILTER (WHERE c.is_asked), 0),
           coalesce(bool_or(c.has_rho_alone) FILTER (WHERE c.is_asked), false),
           CASE WHEN bool_or(c.replaces) THEN 'replace' ELSE 'add or remove' END,
           coalesce(sum(c.times * c.converted_delta) FILTER (WHERE c.is_asked), 0)
      FROM counted c;
  END;
COMMENT ON FUNCTION dpquantile.earlier_spending(name, text[]) IS
  'role_name: the name of a role; table_names: of protected tables, with their schemas, or NULL for all charges. The sums of all charges of '
  'the budgets that are connected with this name, for rows of one of the tables, in the '
  'ledger and archived, and the neighbours that they are for; converted_delta: as in budget. Tells nothing about any data.';
