CREATE OR REPLACE FUNCTION @extschema@.dp_revoke_budget(role regrole) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM dpquantile.check_version();
  PERFORM FROM dpquantile.budget b WHERE b.role = dp_revoke_budget.role AND b.table_id IS NULL FOR UPDATE;
  IF NOT EXISTS (SELECT FROM dpquantile.present_budget b WHERE b.role = dp_revoke_budget.role AND NOT b.revoked) THEN
    RAISE EXCEPTION 'role % has no privacy budget', coalesce(dp_revoke_budget.role::text, 'NULL')
      USING ERRCODE = 'undefined_object',
            HINT = 'The view dp_budget lists the budgets.';
  END IF;
  UPDATE dpquantile.budget AS b SET revoked = true WHERE b.role = dp_revoke_budget.role;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_revoke_budget(regrole) IS
  'Takes a role''s privacy budgets away, the general one and those for tables: the role gets no more private answers. role: a role with a '
  'budget. Its spending is kept and counts again if it gets a budget later.';

CREATE OR REPLACE FUNCTION @extschema@.dp_revoke_budget(role regrole, on_table regclass) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM dpquantile.check_version();
  PERFORM FROM dpquantile.budget b WHERE b.role = dp_revoke_budget.role AND b.table_id IS NULL FOR UPDATE;
  UPDATE dpquantile.budget AS b SET revoked = true
    FROM dpquantile.table_identity i
   WHERE b.role = dp_revoke_budget.role AND i.relation = dp_revoke_budget.on_table AND i.table_id = b.table_id AND NOT b.revoked;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role % has no privacy budget for table %', coalesce(dp_revoke_budget.role::text, 'NULL'),
                    coalesce(dp_revoke_budget.on_table::text, 'NULL')
      USING ERRCODE = 'undefined_object',
            HINT = 'The view dp_budget lists the budgets.';
  END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_revoke_budget(regrole, regclass) IS
  'Takes a role''s privacy budget for a protected table away: the role gets no more answers about its rows, also if it has a general budget, '
  'until it gets another one for the table. role, on_table: as dp_budget shows them. Its spending is kept and counts again if it gets a '
  'budget for the table later.';
