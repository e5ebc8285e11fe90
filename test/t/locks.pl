# A charge does not wait for ever for a lock on the budget, and an analyst cannot lock the budget.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('locks');
my $paid = 0;

my $owner = $node->background_psql('postgres');
my @held = (
	'SELECT FROM dpquantile.budget FOR UPDATE',
	'SELECT FROM dpquantile.budget FOR SHARE',
	"SELECT dp_grant_budget('analyst', 1000)",
	'LOCK TABLE dpquantile.ledger');
foreach my $lock (@held)
{
	$owner->query_safe("BEGIN; $lock");
	is(outcome($node, "SET statement_timeout = '60s'; $ANSWER"),
		'55P03', "threat 6: the charge times out under: $lock");
	$owner->query_safe('ROLLBACK');
	is(spent($node), $paid, 'threat 6: nothing is charged');
	is(outcome($node, $ANSWER), 't', 'threat 6: the query works afterwards');
	is(spent($node), ++$paid, 'threat 6: the query is charged afterwards');
}
$owner->quit;

is(outcome($node, "BEGIN; SELECT dp_grant_budget('analyst', 2000) IS NULL; SET ROLE analyst; $ANSWER",
		user => 'postgres'),
	'f 55P03', 'threat 6: the charge times out under a lock of its own transaction, too');
is(spent($node), $paid, 'threat 6: nothing is charged');

# An analyst can reach only the views.
foreach my $strength ('UPDATE', 'NO KEY UPDATE', 'SHARE', 'KEY SHARE')
{
	is(outcome($node, "SELECT role FROM dp_budget FOR $strength"),
		'42501', "threat 6: an analyst may not SELECT FOR $strength");
}
foreach my $mode ('ROW SHARE', 'ROW EXCLUSIVE', 'SHARE UPDATE EXCLUSIVE', 'SHARE', 'SHARE ROW EXCLUSIVE',
	'EXCLUSIVE', 'ACCESS EXCLUSIVE')
{
	is(outcome($node, "BEGIN; LOCK TABLE dp_budget IN $mode MODE"),
		'42501', "threat 6: an analyst may not LOCK the view IN $mode MODE");
}
is(outcome($node, 'BEGIN; LOCK TABLE dpquantile.budget IN ACCESS SHARE MODE'),
	'42501', 'threat 6: an analyst may not LOCK the table');
is(outcome($node, 'CREATE TEMP TABLE mine (id uuid REFERENCES dpquantile.budget)'),
	'42501', 'threat 6: an analyst may not refer to the table');

# The locks that an analyst may take do not block a charge.
my $session = $node->background_psql('postgres', extra_params => [ '-U', 'analyst' ]);
$session->query_safe('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT FROM dp_budget; SELECT FROM dp_ledger');
$session->query_safe('LOCK TABLE dp_budget, dp_ledger IN ACCESS SHARE MODE');
$session->query_safe(
	q{SELECT pg_advisory_lock(oid::bigint) FROM pg_class WHERE relname IN ('budget', 'ledger')});
is(outcome($node, $ANSWER), 't', 'threat 6: a query works under the locks that an analyst can take');
is(spent($node), ++$paid, 'threat 6: the query is charged under these locks');
is($session->query($ANSWER), 't', 'threat 6: a query works in the session that holds these locks');
$session->quit;

done_testing();
