-- What pg_upgrade must keep of protection.sql. For psql -Atq as a superuser.
SET TimeZone = 'UTC';
SELECT 'table', relation, relation::oid, user_column, user_number, max_rows, unit, through, max_groups, rows_left_out, rows_left_out_error, groups_left_out, groups_left_out_error FROM dpquantile.protected_table ORDER BY relation::text;
SELECT 'identity', relation, table_id FROM dpquantile.table_identity ORDER BY relation::text;
SELECT 'named', * FROM dpquantile.table_name ORDER BY table_id, name;
SELECT 'access', relation, grantee, grantee_oid, smallest_epsilon, epsilon, delta, reuse, most_cancels, max_epsilon, granted_at, granted_by
  FROM dpquantile.private_grant ORDER BY relation::text, grantee;
SELECT 'failed', relation, grantee, grantee_oid, failed_at, sqlstate, closes FROM dpquantile.failed_read ORDER BY failed_at;
SELECT 'published', * FROM dpquantile.published;
SELECT 'shown', relation, role, problem, published_epsilon, published_delta FROM dp_protected_tables ORDER BY relation::text, role;
SELECT 'domain', d.*, attname FROM dpquantile.column_domain d JOIN pg_attribute ON attrelid = relation AND attnum = column_number
 ORDER BY relation::text, column_name;
SELECT 'budget', role, relation, epsilon_limit, epsilon_spent, delta_limit, accountant, smallest_charge, revoked, every, period_start, epsilon_before
  FROM dpquantile.budget JOIN dpquantile.table_identity USING (table_id) ORDER BY role::text, relation::text;
SELECT 'period', role, epsilon_limit, epsilon_spent, every, period_start, epsilon_before
  FROM dpquantile.budget WHERE every IS NOT NULL AND table_id IS NULL;
SELECT 'charge', number, role_name, tables FROM dpquantile.ledger WHERE tables IS NOT NULL;
SELECT 'event trigger', evtname, evtevent, evtenabled, evttags FROM pg_event_trigger ORDER BY evtname;
SELECT 'trigger', tgrelid::regclass, tgname, tgenabled FROM pg_trigger WHERE tgname ~ '^(supply|protection)_' ORDER BY tgrelid::regclass::text, tgname;
