COMMENT ON TABLE dpquantile.table_name IS
  'The names, with their schema, that a table has had since it was first protected. table_id is that of table_identity. It stays when the '
  'table is dropped.';
COMMENT ON TABLE dpquantile.table_identity IS
  'Each table that is or was protected, until it is dropped. table_id is its number in table_name and budget.';
SELECT pg_catalog.pg_extension_config_dump('dpquantile.table_name', '');
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.table_identity', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
COMMENT ON TABLE dpquantile.protected_table IS
  'The tables and views on which private access can be granted. Only dp_protect_table and dp_unprotect_table change it.';
COMMENT ON COLUMN dpquantile.protected_table.user_column IS
  'The column that identifies the person whose rows are protected together; NULL if each row is protected.';
COMMENT ON COLUMN dpquantile.protected_table.user_number IS
  'The number of user_column in pg_attribute, from a trigger; 0 if there was no such column. Unless a column has this number and '
  'this name, private access is closed.';
COMMENT ON COLUMN dpquantile.protected_table.max_rows IS
  'How many rows of each person a SELECT sees; NULL if only aggregates that protect persons may be asked.';
COMMENT ON COLUMN dpquantile.protected_table.max_groups IS
  'In how many groups of one answer a person counts, where persons are counted by group; NULL if in as many as max_rows.';
COMMENT ON COLUMN dpquantile.protected_table.unit IS
  'What user_column names, as the owner calls it: the tables of one owner with the same unit may be joined by these columns; NULL if '
  'it may be joined with no other protected table.';
COMMENT ON COLUMN dpquantile.protected_table.through IS
  'The protected table to whose rows user_column refers, by a foreign key, and whose persons are those of the rows; NULL if user_column identifies the '
  'person itself, 0 if the table is gone. Unless there is such a key, private access is closed.';
COMMENT ON TABLE dpquantile.private_grant IS
  'Private access: which role may ask private queries of which table, as long as the table is in protected_table. Only '
  'dp_grant_private_access, dp_revoke_private_access and dp_unprotect_table change it.';
COMMENT ON COLUMN dpquantile.private_grant.grantee_oid IS
  'The OID of grantee, from a trigger; 0 if there was no such role. Unless a role has this OID and this name, the grant is closed.';
COMMENT ON COLUMN dpquantile.private_grant.smallest_epsilon IS
  'A private aggregate with a smaller epsilon is refused.';
COMMENT ON COLUMN dpquantile.private_grant.max_epsilon IS
  'A private aggregate with a larger epsilon is refused; NULL if only budgets limit it.';
COMMENT ON COLUMN dpquantile.private_grant.epsilon IS
  'What each standard aggregate costs, such as count(*); NULL if only private aggregates may be asked.';
COMMENT ON COLUMN dpquantile.private_grant.delta IS
  'What the choice of groups costs besides, where the keys of GROUP BY come from the rows; NULL if they must be public.';
COMMENT ON COLUMN dpquantile.private_grant.reuse IS
  'How long the answers of a query are shown again to the role that asks it once more; NULL if each query is charged.';
COMMENT ON COLUMN dpquantile.private_grant.most_cancels IS
  'How many queries of a role may end early while they read rows of the table, before its private access closes.';
COMMENT ON TABLE dpquantile.failed_read IS
  'The queries of protected tables that ended early while they read rows: by an error, a cancel, a timeout, a lack of memory, or the end '
  'of the session. Only dp_open_private_access, dp_unprotect_table and the drop of the table take rows away.';
COMMENT ON COLUMN dpquantile.failed_read.grantee IS
  'The role that asked: the one with a grant, or a member of it. grantee_oid is its OID.';
COMMENT ON COLUMN dpquantile.failed_read.sqlstate IS
  'The true SQLSTATE, with which the server log has the error; NULL if the session was ended.';
COMMENT ON COLUMN dpquantile.failed_read.closes IS
  'Whether perhaps only a row can raise the error. Then private access of the role to the table is closed.';
COMMENT ON TABLE dpquantile.column_domain IS
  'What is publicly known of the values of columns of protected tables. Only dp_set_domain, dp_drop_domain and dp_unprotect_table '
  'change it.';
COMMENT ON COLUMN dpquantile.column_domain.column_number IS
  'The number of the column in pg_attribute, from a trigger; 0 if there was no such column. Unless a column has this number, this '
  'name and column_type, nothing is known of it.';
COMMENT ON COLUMN dpquantile.column_domain.lower IS 'The bounds of the values; NULL if the column has none.';
COMMENT ON COLUMN dpquantile.column_domain.granularity IS 'The step of the values: a number, or an interval for times; NULL for the default.';
COMMENT ON COLUMN dpquantile.column_domain.keys IS 'All values by which queries may group; NULL if there is no list.';
COMMENT ON COLUMN dpquantile.column_domain.other IS
  'The number of the key that stands for values that keys lack, from 1; NULL if rows with such values are in no group.';

-- A dump leaves out what is closed because a table or a role is gone: another one of the same name has no grant after a restore.
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.protected_table', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.column_domain', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class)');
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.private_grant', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class) '
  'AND (grantee, grantee_oid) IN (SELECT rolname, oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.failed_read', 'WHERE relation IN (SELECT oid FROM pg_catalog.pg_class) '
  'AND (grantee, grantee_oid) IN (SELECT rolname, oid FROM pg_catalog.pg_roles)');
