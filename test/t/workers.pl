# A charge needs a background worker. Without a free slot it waits for a while and gives up.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# One slot is for the launcher of logical replication, one for everything else.
my $node = new_node('workers', conf => "max_worker_processes = 2\n");
my $parallel = parallel_for_all($node);

# Starts a parallel query that keeps the slot until it is cancelled. Workers that charged must leave before. They leave
# pg_stat_activity a moment before their slot is free. In that moment the query sleeps without a worker, so it is repeated.
sub take_slot
{
	$node->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'dpquantile%'})
		or die 'the workers that charged stay';
	foreach my $attempt (1 .. 100)
	{
		my $query = start_psql($node, "SET $parallel = on; SELECT pg_sleep(600);", user => 'postgres');
		$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
			or die 'the query does not sleep';
		my $sleeper = $node->safe_psql('postgres', q{SELECT backend_type FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
		return $query if $sleeper eq 'parallel worker';
		$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
		finish_psql($query);
	}
	die 'the parallel query does not get the slot';
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
my $slots = q{SELECT status FROM dp_health() WHERE check_name = 'workers'};
is($node->safe_psql('postgres', $slots), 'critical', 'dp_health: no free slot is critical');
is(outcome($node, "SET statement_timeout = '60s'; $ANSWER"),
	'53000', 'threat 17: the charge gives up without a free slot');
is(spent($node), 0, 'threat 17: nothing is charged');
is(outcome($node, "SET statement_timeout = '500ms'; $ANSWER"),
	'57014', 'threat 17: the wait for a slot can be cancelled');
is(spent($node), 0, 'threat 17: nothing is charged after the cancel');
free_slot($query);
isnt($node->safe_psql('postgres', $slots), 'critical', 'dp_health: a free slot is not');
is(outcome($node, $ANSWER), 't', 'threat 17: the next query works');
is(spent($node), 1, 'threat 17: the next query is charged');

$query = take_slot();
my $waiting = start_psql($node, $ANSWER);
$node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'analyst' AND wait_event = 'Extension'})
	or die 'the charge does not wait for a slot';
free_slot($query);
is(finish_psql($waiting), 't', 'threat 17: the charge takes a slot that becomes free in time');
is(spent($node), 2, 'threat 17: the charge is made in that slot');

done_testing();
