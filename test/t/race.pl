# Sessions that race for the rest of a budget get exactly what fits.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# There are more sessions than worker slots. The launcher of logical replication takes one more slot, and so does a
# resident worker.
my $sessions = 12;
my $attempts = 5;
my $slots = 4;
my $node = new_node('race', conf => 'max_worker_processes = ' . (1 + $slots + ($PRELOADED ? 1 : 0)) . "\n");

# Starts as many sessions as there are slots while the budget's row is locked, then unlocks it. Returns their sorted
# outcomes. Their charges wait for the lock together. With a resident worker one of them does, and the others wait for it.
sub race_from_lock
{
	my $owner = hold_budget($node);
	my @waiting = map { start_psql($node, $ANSWER) } 1 .. $slots;
	wait_for_charges_at_lock($node, $PRELOADED ? 1 : $slots);
	$node->poll_query_until('postgres', qq{
		SELECT count(*) = $slots FROM pg_stat_activity
		WHERE usename = 'analyst' AND state = 'active' AND wait_event = 'Extension'})
		or die 'the sessions do not request charges';
	$owner->query_safe('COMMIT');
	$owner->quit;
	return join ' ', sort map { finish_psql($_) } @waiting;
}

$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 1)});
is(race_from_lock(), '53400 53400 53400 t', 'threat 4: one of four charges that wait for the same lock is made');
is(spent($node), 1, 'threat 4: only that one is in the ledger');

# If a charge's transaction used one snapshot, the other charges would fail, even if the budget had room for them.
$node->safe_psql(
	'postgres', q{
	SELECT dp_grant_budget('analyst', 3);
	ALTER DATABASE postgres SET default_transaction_isolation = 'repeatable read'});
is(race_from_lock(), '53400 53400 t t', "threat 4: two of four charges are made under the database's isolation level");
is(spent($node), 3, 'threat 4: only these two are in the ledger');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET default_transaction_isolation');

# Runs a query several times and returns the outcome of each.
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

# All sessions hammer at once. Returns how many attempts had each outcome. user: as in outcome.
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

# Sums of 0.1 are exact: 2.3 pays for 23 answers of 0.1, not for 22 or 24.
$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 3 + 2.3)});
is_deeply(
	race('SELECT dp_median(age, 0.1, 0, 100) FROM person'),
	{ answered => 23, 53400 => $sessions * $attempts - 23 },
	'threat 4: exactly what fits is answered, the rest is refused');
is(spent($node), '5.3', 'threat 4: spending and ledger equal the limit');

# The last charge that fits leaves a rest that is too small for another.
$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 5.3 + 10)});
is_deeply(
	race('SELECT dp_median(age, 0.7, 0, 100) FROM person'),
	{ answered => 14, 53400 => $sessions * $attempts - 14 },
	'threat 4: nobody gets the rest of the budget');
is(spent($node), '15.1', 'threat 4: spending and ledger agree');
is(outcome($node, 'SELECT dp_median(age, 0.2, 0, 100) IS NOT NULL FROM person'),
	't', 'threat 4: a smaller charge can spend the rest');
is(spent($node), '15.3', 'threat 4: spending and ledger equal the limit afterwards');

# Two answers of one query are charged together or not at all: 2.3 pays for 11 pairs, and no query gets half a pair.
$node->safe_psql(
	'postgres', q{
	CREATE ROLE pairs LOGIN;
	GRANT SELECT ON person TO pairs;
	SELECT dp_grant_budget('pairs', 2.3)});
is_deeply(
	race('SELECT dp_median(age, 0.1, 0, 100) + dp_quantile(age, 0.9, 0.1, 0, 100) FROM person', user => 'pairs'),
	{ answered => 11, 53400 => $sessions * $attempts - 11 },
	'threat 4: exactly the pairs of answers that fit are answered');
is(spent($node, role => 'pairs'), '2.2', 'threat 4: spending and ledger have whole pairs');
is( $node->safe_psql('postgres', q{
		SELECT sum(medians) || ' ' || sum(quantiles) || ' ' || bool_and(medians = quantiles)
		FROM (SELECT count(*) FILTER (WHERE function = 'dp_median') AS medians,
				count(*) FILTER (WHERE function = 'dp_quantile') AS quantiles
			FROM dpquantile.ledger WHERE role_name = 'pairs' GROUP BY xmin::text) transactions}),
	'11 11 true', 'threat 4: every transaction has both charges of its pairs');

# threat 18: with accountant zcdp rho decides what fits: the limit is 0.0243, and each query costs 0.00125.
$node->safe_psql(
	'postgres', q{
	CREATE ROLE zcdp LOGIN;
	GRANT SELECT ON person TO zcdp;
	SELECT dp_grant_budget('zcdp', 1, 1e-6, 'zcdp')});
my $fits = $node->safe_psql('postgres',
	q{SELECT fits FROM dp_budget_fits(0.1) WHERE role = 'zcdp' AND query = 'one quantile'});
is($fits, 19, 'threat 4: 19 queries fit a budget of accountant zcdp');
is_deeply(
	race('SELECT dp_median(age, 0.1, 0, 100) FROM person', user => 'zcdp'),
	{ answered => $fits, 53400 => $sessions * $attempts - $fits },
	'threat 4: exactly what fits is answered with accountant zcdp, too');
is(spent($node, role => 'zcdp'), '1.9', 'threat 4: the ledger has exactly what fits with accountant zcdp');
is( $node->safe_psql('postgres', q{SELECT rho_spent <= rho_limit FROM dp_budget WHERE role = 'zcdp'}),
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
	'threat 4: exactly what fits is answered under parallel plans');
is(spent($node), '35.3', 'threat 4: spending and ledger agree after parallel plans');

done_testing();
