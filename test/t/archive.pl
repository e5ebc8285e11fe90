# dp_archive_ledger takes charges out of the ledger while others are made. Nothing spent is lost or counted twice.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('archive');
my $sessions = 4;
my $attempts = 60;
my $csv = PostgreSQL::Test::Utils::tempdir() . '/ledger.csv';

# The numbers that charges have in the ledger and in what was taken out of it: none is missing or there twice.
$node->safe_psql('postgres', 'CREATE TABLE kept AS SELECT * FROM dp_archive_ledger(now()) LIMIT 0');
my $numbers = q{
	SELECT count(*) || ' charges, numbers ' || min(number) || ' to ' || max(number) || ', '
		|| count(*) - count(DISTINCT number) || ' twice, ' || count(*) - count(query) || ' without a text'
	FROM (SELECT number, query FROM kept WHERE role = 'analyst'
		UNION ALL SELECT number, query FROM dp_ledger WHERE role = 'analyst') charges};

# Sessions ask, with texts that come again, while the owner archives everything again and again. Another role is granted
# a budget meanwhile.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE done (yes boolean);
	CREATE ROLE other});
my $archiving = start_psql(
	$node, q{
	DO $$
	BEGIN
		WHILE NOT EXISTS (SELECT FROM done) LOOP
			INSERT INTO kept SELECT * FROM dp_archive_ledger('infinity');
			COMMIT;
			PERFORM dp_grant_budget('other', 1);
			COMMIT;
		END LOOP;
	END
	$$}, user => 'postgres');
my @asking = map {
	my $pair = "$ANSWER SELECT dp_median(age, 0.5, 0, 100) IS NOT NULL AS \"$_\" FROM person;";
	start_psql($node, $pair x ($attempts / 2))
} 1 .. $sessions;
my @outcomes = map { split / /, finish_psql($_) } @asking;
$node->safe_psql('postgres', 'INSERT INTO done VALUES (true)');
is(finish_psql($archiving), '', 'threat 49: archiving goes on without an error');
is(scalar(grep { $_ eq 't' } @outcomes), $sessions * $attempts, 'threat 49: every query is answered meanwhile');
my $charges = $sessions * $attempts;
my $paid = 0.75 * $charges;
is(spent($node), $paid, 'threat 49: the spending is exactly that of the ledger and the archive');
is($node->safe_psql('postgres', $numbers), "$charges charges, numbers 1 to $charges, 0 twice, 0 without a text",
	'threat 49: every charge is in the ledger or was taken out, once');
cmp_ok($node->safe_psql('postgres', q{SELECT count(*) FROM kept}), '>', 0, 'some charges were taken out');
is( $node->safe_psql('postgres', q{
		SELECT sum(n.charges) = (SELECT count(*) FROM kept) AND sum(n.epsilon) = (SELECT sum(epsilon) FROM kept)
		FROM dpquantile.budget_name n}),
	't', 'threat 49: the archive has the sums of what was taken out');
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM dpquantile.query_text t
		WHERE NOT EXISTS (SELECT FROM dpquantile.ledger l WHERE l.budget_id = t.budget_id AND l.query_hash = t.query_hash)}),
	0, 'no text stays without a charge');

# A charge waits for an archiving under way, as for a grant, and counts whatever becomes of that.
foreach my $end ('COMMIT', 'ROLLBACK')
{
	is(outcome($node, $ANSWER), 't', 'one more charge');
	my $owner = $node->background_psql('postgres');
	$owner->query_safe(q{BEGIN; INSERT INTO kept SELECT * FROM dp_archive_ledger('infinity')});
	my $asking = start_psql($node, $ANSWER);
	wait_for_charges_at_lock($node, 1);
	$owner->query_safe($end);
	$owner->quit;
	is(finish_psql($asking), 't', "threat 49: a charge waits for the archiving: $end");
	$charges += 2;
	$paid += 2;
	is(spent($node), $paid, "threat 49: nothing is lost after $end");
	is($node->safe_psql('postgres', $numbers), "$charges charges, numbers 1 to $charges, 0 twice, 0 without a text",
		"threat 49: every charge is in the ledger or was taken out after $end");
}

# Archiving waits for a lock on the ledger.
my $owner = $node->background_psql('postgres');
$owner->query_safe('BEGIN; LOCK TABLE dpquantile.ledger IN SHARE MODE');
my $archiving_late = start_psql($node, q{INSERT INTO kept SELECT * FROM dp_archive_ledger('infinity')}, user => 'postgres');
$node->poll_query_until('postgres', q{
	SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%dp_archive_ledger%'})
	or die 'the archiving does not wait';
$owner->query_safe('COMMIT');
$owner->quit;
is(finish_psql($archiving_late), '', 'archiving goes on after a lock');
is(spent($node), $paid, 'threat 49: nothing is lost after the lock');

# As docs/operations.md shows: charges go to a file, and stay in the ledger if that fails.
my $left = 'SELECT count(*) FROM dpquantile.ledger';
is(outcome($node, $ANSWER), 't', 'one more charge');
is($node->safe_psql('postgres', $left), 1, 'one charge is in the ledger');
my $copy = q{\copy (SELECT * FROM dp_archive_ledger('infinity')) TO '%s' CSV HEADER};
isnt($node->psql('postgres', sprintf($copy, '/nowhere/ledger.csv'), on_error_stop => 1), 0, 'a copy to nowhere fails');
is($node->safe_psql('postgres', $left), 1, 'threat 49: a charge stays in the ledger if the copy fails');
$node->safe_psql('postgres', sprintf($copy, $csv));
is($node->safe_psql('postgres', $left), 0, 'the ledger is empty after a copy');
like(slurp_file($csv), qr/^budget_id,number,charged_at,.*\n[0-9a-f-]{36},\d+,.*,analyst,analyst,dp_median,approximate,/,
	'the file has the charge');

$node->stop;
done_testing();
