# A charge needs a background worker; without a free slot it waits a while and gives up.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# One slot for the launcher of logical replication, one for everything else.
my $node = new_node('workers', conf => "max_worker_processes = 2\n");
my $parallel = parallel_for_all($node);

# A parallel query that keeps the slot until it is cancelled. A resident worker must have left before.
sub take_slot
{
	$node->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'dpquantile resident'})
		or die 'the resident worker stays';
	my $query = start_psql($node, "SET $parallel = on; SELECT pg_sleep(600);", user => 'postgres');
	$node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'parallel worker'})
		or die 'the parallel query did not get the slot';
	return $query;
}

sub free_slot
{
	my ($query) = @_;
	$node->safe_psql('postgres',
		q{SELECT pg_cancel_backend(leader_pid) FROM pg_stat_activity WHERE backend_type = 'parallel worker'});
	finish_psql($query);
	return;
}

my $query = take_slot();
is(outcome($node, "SET statement_timeout = '60s'; $ANSWER"),
	'53000', 'threat 17: without a free slot the charge gives up');
is(spent($node), 0, 'threat 17: nothing is charged');
is(outcome($node, "SET statement_timeout = '500ms'; $ANSWER"),
	'57014', 'threat 17: the wait for a slot can be cancelled');
is(spent($node), 0, 'threat 17: nothing is charged then');
free_slot($query);
is(outcome($node, $ANSWER), 't', 'threat 17: the next query works');
is(spent($node), 1, 'threat 17: and is charged');

$query = take_slot();
my $waiting = start_psql($node, $ANSWER);
$node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'analyst' AND wait_event = 'Extension'})
	or die 'the charge does not wait for a slot';
free_slot($query);
is(finish_psql($waiting), 't', 'threat 17: a slot that comes free in time is taken');
is(spent($node), 2, 'threat 17: and the charge is made');

done_testing();
