# Budgets for protected tables beside a general budget: crashes, races, and dumps that lack a table.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('table_budgets', budget => 100);
my $tables = q{ARRAY['visits', 'staff']::regclass[]};
$node->safe_psql(
	'postgres', qq{
	CREATE TABLE visits AS SELECT i::float8 AS cost FROM generate_series(1, 100) i;
	CREATE TABLE staff AS SELECT i::float8 AS salary FROM generate_series(1, 100) i;
	SELECT dp_restrict_role('analyst');
	SELECT dp_protect_table(t), dp_grant_private_access(t, 'analyst'), dp_grant_budget('analyst', 50, on_table => t) FROM unnest($tables) t});
my $ask = 'SELECT dp_count(1) IS NOT NULL FROM %s;';

# What is spent in general, of staff and of visits. Adds a text if the ledger has another sum for a table.
sub spendings
{
	my ($database) = @_;
	return $node->safe_psql(
		$database // 'postgres', q{
		SELECT string_agg(format('%s%s', epsilon_spent,
				(SELECT ', but the ledger says ' || sum(l.epsilon) FROM dp_ledger l
				  WHERE l.role = 'analyst' AND 'public.' || on_table = ANY (l.tables) HAVING sum(l.epsilon) <> epsilon_spent)),
			' ' ORDER BY on_table::text NULLS FIRST)
		FROM dp_budget WHERE role = 'analyst'});
}

# ---- Crash --------------------------------------------------------------------------------------

is(outcome($node, sprintf($ask, 'visits') . sprintf($ask, 'staff') x 2), 't t t', 'three answers');
kill_and_recover($node);
is(spendings(), '3 2 1', 'threat 80: after a crash all budgets have the charges');

# ---- Races --------------------------------------------------------------------------------------

# 10 fit in the general budget, 6 in that of visits, 7 in that of staff. The owner grants meanwhile, in both orders.
my $grant = qq{SELECT dp_grant_budget('analyst', 13), dp_grant_budget('analyst', 7, on_table => 'visits'), dp_grant_budget('analyst', 9, on_table => 'staff');};
my $other = qq{SELECT dp_grant_budget('analyst', 9, on_table => 'staff'), dp_grant_budget('analyst', 7, on_table => 'visits'), dp_grant_budget('analyst', 13);};
$node->safe_psql('postgres', $grant);
my @owners = map { start_psql($node, join('', ($grant . $other) x 10), user => 'postgres') } 1 .. 2;
my $both = 'SELECT (SELECT dp_count(1) FROM visits) IS NULL OR (SELECT dp_count(1) FROM staff) IS NULL;';
my @sessions = map { start_psql($node, sprintf($ask, $_ % 2 ? 'visits' : 'staff') x 4 . $both) } 1 .. 6;
my $outcomes = join ' ', map { finish_psql($_) } @sessions;
is(join(' ', grep { $_ ne 't' && $_ ne 'f' && $_ ne '53400' } split ' ', $outcomes), '', 'threat 80: racing charges are made or do not fit');
is(join('', map { finish_psql($_) } @owners) =~ s{[| ]}{}gr, '', 'threat 80: grants meanwhile do not fail');
outcome($node, sprintf($ask, 'visits') x 6 . sprintf($ask, 'staff') x 7);
like(spendings(), qr/^13 [0-9] [0-9]$/, 'threat 80: the general budget is used up exactly, and the ledger agrees with those for tables');
my (undef, $staff, $visits) = split ' ', spendings();
ok($staff <= 9 && $visits <= 7 && $staff + $visits == 13, "threat 80: no budget for a table is exceeded ($staff, $visits)");
unlike(slurp_file($node->logfile), qr/deadlock detected/, 'threat 80: there was no deadlock');

# ---- Triggers -----------------------------------------------------------------------------------

# All budgets take the charge, or none.
$node->safe_psql(
	'postgres', qq{
	SELECT dp_grant_budget('analyst', 1000), dp_grant_budget('analyst', 1000, on_table => t) FROM unnest($tables) t;
	CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
	CREATE TRIGGER act BEFORE UPDATE ON dpquantile.budget FOR EACH ROW
		WHEN (OLD.table_id IS NOT NULL AND OLD.epsilon_spent < NEW.epsilon_spent) EXECUTE FUNCTION act()});
my $before = spendings();
is(outcome($node, sprintf($ask, 'visits')), '27000', 'threat 80: there is no answer if a trigger keeps the budget for the table from the charge');
is(spendings(), $before, 'threat 80: then nothing is charged');
$node->safe_psql('postgres', 'DROP FUNCTION act CASCADE');

# ---- Dumps --------------------------------------------------------------------------------------

$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 20, every => '1 year'), dp_grant_budget('analyst', 20, every => '1 month', on_table => 'visits')});
my $state = q{SELECT b.*, relation FROM dpquantile.budget b LEFT JOIN dpquantile.table_identity USING (table_id) ORDER BY relation::text;
	SELECT relation, table_id FROM dpquantile.table_identity ORDER BY relation::text; SELECT * FROM dpquantile.table_name ORDER BY 1, 2};
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('postgres'), '-f', $dump ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '-e', '-d', $node->connstr('restored'), $dump ], 'pg_restore');
is($node->safe_psql('restored', $state), $node->safe_psql('postgres', $state), 'threat 13: a dump has budgets for tables and periods');

# Without one of the tables the budgets for tables are lost, and the general budget is not. A new table of its name begins with what was spent.
$node->command_ok([ 'pg_dump', '--exclude-table=visits', '-d', $node->connstr('postgres'), '-f', $dump ], 'pg_dump without a table');
$node->safe_psql('postgres', 'CREATE DATABASE partial');
run_log([ $node->installed_command('psql'), '-Xq', '-v', 'ON_ERROR_STOP=0', '-d', $node->connstr('partial'), '-f', $dump ]);
is($node->safe_psql('partial', q{SELECT on_table, epsilon_spent FROM dp_budget; SELECT count(*) FROM dpquantile.table_identity}),
	"|13\n0", 'threat 81: a dump without a table restores the general budget');
is(outcome($node, sprintf($ask, 'staff'), database => 'partial'), '42501', 'threat 81: private access is closed');
$node->safe_psql(
	'partial', qq{
	CREATE TABLE visits AS SELECT i::float8 AS cost FROM generate_series(1, 100) i;
	SELECT dp_protect_table(t), dp_grant_private_access(t, 'analyst'), dp_grant_budget('analyst', 10, on_table => t) FROM unnest($tables) t});
is(spendings('partial'), "13 $staff $visits", 'threat 81: what was spent of the tables counts');

done_testing();
