# Without preloading a session's own worker makes its charges, and stays for a while to make the next one. This file tests
# the worker itself. Other files test what holds for all charges.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $WORKER = q{backend_type = 'dpquantile session'};
my $CHARGES = 50;

my $node = new_node('session_worker', preloaded => 0, budget => 10_000, conf => "log_min_messages = debug1\ndynamic_shared_memory_type = mmap\n");
$node->safe_psql(
	'postgres', q{
	CREATE ROLE other LOGIN;
	GRANT SELECT ON person TO other;
	SELECT dp_grant_budget('other', 10)});

# The number of workers started so far.
sub starts
{
	my @lines = slurp_file($node->logfile) =~ /starting background worker process "dpquantile session"/g;
	return scalar @lines;
}

# The number of workers that these statements of one session start.
sub starts_for
{
	my ($sql, $expected, $name, %params) = @_;
	my $before = starts();
	is(outcome($node, $sql, %params), $expected, "$name: answers");
	return starts() - $before;
}

sub idle_worker
{
	return $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $WORKER AND state = 'idle'");
}

# Starts a session that stays. Returns it and its worker, which waits for the next charge.
sub session_with_idle_worker
{
	my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'analyst' ]);
	foreach my $attempt (1 .. 100)
	{
		$session->query($ANSWER) eq 't' or die 'there is no answer';
		my $worker = idle_worker();
		return ($session, $worker) if $worker;
	}
	die 'there is no idle worker';
}

sub wait_until_gone
{
	my ($worker) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $worker")
		or die 'the worker stays';
	return;
}

sub segments
{
	return scalar(grep { !/^\./ } slurp_dir($node->data_dir . '/pg_dynshmem'));
}

sub check_costs
{
	my ($charges, $name, $act) = @_;
	my $before = spent($node);
	$act->();
	is(spent($node) - $before, $charges, "$name: charged $charges times");
	return;
}

my $answers = join ' ', ('t') x $CHARGES;
check_costs($CHARGES, 'one worker for many charges', sub {
	my $starts = starts_for($ANSWER x $CHARGES, $answers, 'one worker for many charges');
	# On a machine that stalls for a second another worker may start.
	cmp_ok($starts, '<', $CHARGES / 2, 'one worker for many charges: it stays for the next charge');
	cmp_ok($starts, '>=', 1, 'one worker for many charges: there is a worker');
});

# The role that asks pays, whichever role asked before.
check_costs(1, 'another role', sub {
	my $ask = 'SET ROLE analyst; ' . $ANSWER . ' SET ROLE other; ' . $ANSWER . $ANSWER;
	is(starts_for($ask, 't t t', 'another role', user => 'postgres'), 1, 'another role: the worker is the same');
});
is(spent($node, role => 'other'), 2, 'another role: pays for itself');

# The refusal of one charge does not affect the next.
is(outcome($node, "$ANSWER SELECT dp_median(age, 9, 0, 100) FROM person; $ANSWER", user => 'other'),
	't t 53400', 'after a refusal: the next charge is made');
is(spent($node, role => 'other'), 4, 'after a refusal: spending includes the next charge');

{
	my ($session, $worker) = session_with_idle_worker();
	wait_until_gone($worker);
	check_costs(1, 'after a second', sub { is($session->query($ANSWER), 't', 'after a second: the next charge has a new worker') });
	$session->quit;
}

{
	my ($session, $worker) = session_with_idle_worker();
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($worker)");
	wait_until_gone($worker);
	check_costs(1, 'threat 5: terminated', sub { is($session->query($ANSWER), 't', 'threat 5: terminated: the next charge has a new worker') });
	$session->quit;
}

# After a reload of the configuration a charge uses the new settings, such as synchronous_commit.
{
	my $reload = 'RESET ROLE; DO $$BEGIN PERFORM pg_reload_conf(), pg_sleep(0.3); END$$; SET ROLE analyst;';
	my $starts = starts_for("SET ROLE analyst; $ANSWER $reload $ANSWER", 't t', 'threat 3: reloaded', user => 'postgres');
	is($starts, 2, 'threat 3: reloaded: the next charge has a new worker');
}

# A session gives up a charge and requests another while the first is being made. Neither is taken for the other.
{
	my ($session, $worker) = session_with_idle_worker();
	my $owner = hold_budget($node);
	check_costs(1 + 4, 'threat 5: cancelled', sub {
		$session->query_until(qr/asks/, "\\echo asks\n$ANSWER\n");
		wait_for_charges_at_lock($node, 1);
		$node->safe_psql('postgres', q{
			SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst' AND state = 'active'});
		$session->query_until(qr/again/, "\\echo again\nSELECT dp_median(age, 4, 0, 100) IS NOT NULL FROM person;\n");
		wait_for_charges_at_lock($node, 2);
		$owner->query_safe('ROLLBACK');
		is($session->query('SELECT 1'), "t\n1", 'threat 5: cancelled: the next charge is made by another worker');
		$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE $WORKER AND state = 'active'")
			or die 'the worker of the cancelled charge does not end';
	});
	$owner->quit;
	$session->quit;
}

# The worker does not begin a charge that the session has already given up.
{
	my ($session, $worker) = session_with_idle_worker();
	kill 'STOP', $worker;
	check_costs(0, 'threat 5: cancelled before the charge begins', sub {
		$session->query_until(qr/asks/, "\\echo asks\n$ANSWER\n");
		my $asking = q{FROM pg_stat_activity WHERE usename = 'analyst' AND state = 'active' AND wait_event = 'Extension'};
		$node->poll_query_until('postgres', "SELECT count(*) = 1 $asking") or die 'the session does not request a charge';
		$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) $asking");
		$node->poll_query_until('postgres', "SELECT count(*) = 0 $asking") or die 'the session goes on';
		kill 'CONT', $worker;
		wait_until_gone($worker);
	});
	$session->quit;
}

# With few worker slots a worker leaves its slot to others at once.
$node->append_conf('postgresql.conf', 'max_worker_processes = 3');
$node->restart;
check_costs($CHARGES, 'few slots', sub {
	is(starts_for($ANSWER x $CHARGES, $answers, 'few slots'), $CHARGES, 'few slots: no worker stays');
});
{
	my $session = $node->background_psql('postgres', extra_params => [ '-U', 'analyst' ]);
	my $before = segments();
	$session->query_safe($ANSWER) foreach 1 .. $CHARGES;
	cmp_ok(segments() - $before, '<=', 2, 'threat 17: a session holds only the memory of its last worker, and of one that is about to end');
	$session->quit;
}

done_testing();
