# Sessions that race for the last bit of a budget get exactly what fits.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# More sessions than worker slots. The launcher of logical replication takes one slot more, and so does a resident
# worker.
my $sessions = 12;
my $attempts = 5;
my $slots = 4;
my $node = new_node('race', conf => 'max_worker_processes = ' . (1 + $slots + ($PRELOADED ? 1 : 0)) . "\n");

# As many sessions as there are slots stand at the budget's row together when it is let go; with a resident worker one
# of them, and the others behind it.
sub race_from_lock
{
	my $owner = hold_budget($node);
	my @waiting = map { start_psql($node, $ANSWER) } 1 .. $slots;
	wait_for_charges_at_lock($node, $PRELOADED ? 1 : $slots);
	$node->poll_query_until('postgres', qq{
		SELECT count(*) = $slots FROM pg_stat_activity
		WHERE usename = 'analyst' AND state = 'active' AND wait_event = 'Extension'})
		or die 'the sessions do not ask';
	$owner->query_safe('COMMIT');
	$owner->quit;
	return join ' ', sort map { finish_psql($_) } @waiting;
}

$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 1)});
is(race_from_lock(), '53400 53400 53400 t', 'threat 4: one of four charges at the same lock is made');
is(spent($node), 1, 'threat 4: and only that');

# With one snapshot for a whole transaction the others would fail, whatever is left.
$node->safe_psql(
	'postgres', q{
	SELECT dp_grant_budget('analyst', 3);
	ALTER DATABASE postgres SET default_transaction_isolation = 'repeatable read'});
is(race_from_lock(), '53400 53400 t t', 'threat 4: whatever isolation level the database prefers');
is(spent($node), 3, 'threat 4: two charges of four are made');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET default_transaction_isolation');

# Asks again and again, and counts what becomes of it.
$node->safe_psql(
	'postgres', q{
	CREATE FUNCTION hammer(query text, attempts integer) RETURNS TABLE (outcomes text) LANGUAGE plpgsql AS $$
	DECLARE
		answer float8;
	BEGIN
		FOR attempt IN 1 .. attempts LOOP
			BEGIN
				EXECUTE query INTO answer;
				outcomes := CASE WHEN answer IS NULL THEN 'nothing' ELSE 'answered' END;
			EXCEPTION WHEN OTHERS THEN
				outcomes := SQLSTATE;
			END;
			RETURN NEXT;
		END LOOP;
	END
	$$});

# All sessions hammer at once; returns how many attempts had each outcome. user: as in outcome.
sub race
{
	my ($query, %params) = @_;
	my @racing = map { start_psql($node, "SELECT hammer('$query', $attempts);", %params) } 1 .. $sessions;
	my %count;
	foreach my $session (@racing)
	{
		$count{$_}++ foreach split / /, finish_psql($session);
	}
	return \%count;
}

# Sums of 0.1 are exact: 2.3 pays for 23 answers of 0.1, and not for 22 or 24.
$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 3 + 2.3)});
is_deeply(
	race('SELECT dp_median(age, 0.1, 0, 100) FROM person'),
	{ answered => 23, 53400 => $sessions * $attempts - 23 },
	'threat 4: exactly what fits is answered, the rest is refused');
is(spent($node), '5.3', 'threat 4: spending and ledger are the limit');

# A charge that leaves a rest, too small for another.
$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 5.3 + 10)});
is_deeply(
	race('SELECT dp_median(age, 0.7, 0, 100) FROM person'),
	{ answered => 14, 53400 => $sessions * $attempts - 14 },
	'threat 4: the last bit is given to nobody');
is(spent($node), '15.1', 'threat 4: spending and ledger agree');
is(outcome($node, 'SELECT dp_median(age, 0.2, 0, 100) IS NOT NULL FROM person'),
	't', 'threat 4: what is left can still be spent');
is(spent($node), '15.3', 'threat 4: to the last digit');

# With accountant zcdp what fits is decided by rho: 0.0243 in all, and 0.00125 for each.
$node->safe_psql(
	'postgres', q{
	CREATE ROLE zcdp LOGIN;
	GRANT SELECT ON person TO zcdp;
	SELECT dp_grant_budget('zcdp', 1, 1e-6, 'zcdp')});
my $fits = $node->safe_psql('postgres',
	q{SELECT fits FROM dp_budget_fits(0.1) WHERE role = 'zcdp'::regrole AND query = 'one quantile'});
is($fits, 19, 'threat 4: that many queries fit a budget of accountant zcdp');
is_deeply(
	race('SELECT dp_median(age, 0.1, 0, 100) FROM person', user => 'zcdp'),
	{ answered => $fits, 53400 => $sessions * $attempts - $fits },
	'threat 4: exactly what fits is answered with accountant zcdp, too');
is(spent($node, role => 'zcdp'), '1.9', 'threat 4: and is what the ledger says');
is( $node->safe_psql('postgres', q{SELECT rho_spent <= rho_limit FROM dp_budget WHERE role = 'zcdp'::regrole}),
	't', 'threat 4: rho is within its limit');

# Parallel plans take worker slots, too.
$node->safe_psql(
	'postgres', q{
	SELECT dp_grant_budget('analyst', 15.3 + 20);
	ALTER ROLE analyst SET min_parallel_table_scan_size = 0;
	ALTER ROLE analyst SET parallel_setup_cost = 0;
	ALTER ROLE analyst SET parallel_tuple_cost = 0});
is_deeply(
	race('SELECT dp_median(age, 1, 0, 100) FROM person'),
	{ answered => 20, 53400 => $sessions * $attempts - 20 },
	'threat 4: parallel plans race as well');
is(spent($node), '35.3', 'threat 4: spending and ledger agree after parallel plans');

done_testing();
