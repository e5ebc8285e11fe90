COMMENT ON TABLE dpquantile.ledger IS 'One row for each charge, written in the charge''s transaction.';
COMMENT ON COLUMN dpquantile.ledger.query_hash IS
  'The hash of the query''s text in query_text; NULL if the text is unknown.';
COMMENT ON COLUMN dpquantile.ledger.tables IS
  'The names of the protected tables that the rows were of, with their schema; NULL for other rows.';
COMMENT ON COLUMN dpquantile.ledger.table_ids IS
  'Those of table_identity that these tables had, by which their owners find the charges, and not by a name that another table may get.';
COMMENT ON TABLE dpquantile.query_text IS
  'The texts of the queries in the ledger, once for each budget, cut after 2 kB. query_hash is the SHA-256 of the text.';
COMMENT ON TABLE dpquantile.budget_name IS
  'The names that the role of a budget had when dp_grant_budget was called for any role, when a charge was made that is archived, or when '
  'a role was renamed or dropped in a session with the library, '
  'with the number and the sums of the archived charges. With the ledger it has all spending of each budget, and tells '
  'which budgets are connected with a name (earlier_spending).';
COMMENT ON COLUMN dpquantile.budget_name.has_rho_alone IS
  'Whether an archived charge was stated in rho alone. Then epsilon does not include all charges.';
COMMENT ON COLUMN dpquantile.budget_name.converted_delta IS
  'The part of delta of charges whose rho is in rho: all of it, unless a build before 0.3.0 has made charges.';
COMMENT ON COLUMN dpquantile.budget_name.replaces IS
  'Whether the archived charges are for replacing the value of one row.';
SELECT pg_catalog.pg_extension_config_dump('dpquantile.ledger', '');
SELECT pg_catalog.pg_extension_config_dump('dpquantile.query_text', '');
SELECT pg_catalog.pg_extension_config_dump('dpquantile.budget_name', '');
COMMENT ON TABLE dpquantile.archived_by_table IS
  'The sums of the archived charges of a budget for the rows of each protected table. They count in budget_name, too.';
SELECT pg_catalog.pg_extension_config_dump('dpquantile.archived_by_table', '');
