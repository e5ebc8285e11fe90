# When an answer is seen, its charge is durable.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# A commit that does not flush the WAL stays in memory until the WAL writer runs.
my $node = new_node('crash', conf => q{
	wal_writer_delay = 10s
	wal_writer_flush_after = 1GB
	restart_after_crash = on
});
my $paid = 0;

sub crash_and_recover
{
	$node->stop('immediate');
	$node->start;
	return;
}

my @processes = split /\n/, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity');
is(outcome($node, $ANSWER), 't', 'an answer is seen');
kill_and_recover($node, @processes);
is(spent($node), ++$paid, 'threat 2: charged after SIGKILL right after the answer');

is(outcome($node, $ANSWER), 't', 'an answer is seen');
crash_and_recover();
is(spent($node), ++$paid, 'threat 2: charged after an immediate shutdown right after the answer');

# The query's own transaction is still open when the server dies.
my $session = $node->background_psql('postgres', extra_params => [ '-U', 'analyst' ]);
is($session->query("BEGIN; $ANSWER"), 't', 'an answer is seen inside a transaction');
crash_and_recover();
eval { $session->quit };
is(spent($node), ++$paid, 'threat 2: charged after a crash before COMMIT');

is(outcome($node, "SET synchronous_commit = off; $ANSWER"), 't', 'an answer is seen');
crash_and_recover();
is(spent($node), ++$paid, 'threat 3: synchronous_commit = off in the session has no effect');

$node->safe_psql('postgres', 'ALTER ROLE analyst SET synchronous_commit = off');
is(outcome($node, "SHOW synchronous_commit; $ANSWER"), 'off t', 'an answer is seen');
crash_and_recover();
is(spent($node), ++$paid, 'threat 3: synchronous_commit = off of the role has no effect');

$node->safe_psql('postgres', 'ALTER DATABASE postgres SET synchronous_commit = off');
is(outcome($node, $ANSWER), 't', 'an answer is seen');
crash_and_recover();
is(spent($node), ++$paid, 'threat 3: synchronous_commit = off of the database has no effect');

$node->safe_psql('postgres',
	"ALTER SYSTEM SET synchronous_commit = off; ALTER ROLE postgres SET synchronous_commit = off");
$node->reload;
is(outcome($node, $ANSWER), 't', 'an answer is seen');
crash_and_recover();
is(spent($node), ++$paid,
	'threat 3: synchronous_commit = off of the server and of the superuser has no effect');

# What an owner publishes is noted before it is drawn.
my $published = q{SELECT coalesce(sum(epsilon), 0) || ' ' || coalesce(sum(delta), 0) FROM dpquantile.published};
$node->safe_psql('postgres',
	q{CREATE TABLE staff AS SELECT i AS salary, 'x' AS department FROM generate_series(1, 100) i; SELECT dp_protect_table('staff')});
@processes = split /\n/, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity');
is($node->safe_psql('postgres', q{SELECT keys FROM dp_learn_keys('staff', 'department', 2, 1e-6)}), '{x}', 'keys are found');
kill_and_recover($node, @processes);
is($node->safe_psql('postgres', $published), '2 0.000001', 'threat 237: noted after SIGKILL right after the answer');

# It has found the keys and waits to make them the list when the server dies.
my $holder = $node->background_psql('postgres');
$holder->query_safe('BEGIN; SELECT FROM dpquantile.protected_table FOR UPDATE');
my $finder = start_psql($node, q{SELECT keys FROM dp_learn_keys('staff', 'department', 3, 1e-6)}, user => 'postgres');
$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)});
is($node->safe_psql('postgres', $published), '5 0.000002', 'the note is committed before the answer');
crash_and_recover();
unlike(finish_psql($finder), qr/x/, 'threat 237: the server dies before the answer');
eval { $holder->quit };
is($node->safe_psql('postgres', $published), '5 0.000002', 'threat 237: the note stays after a crash before the answer');

# A worker that is killed during a charge makes the server restart, as any server process does.
my $owner = hold_budget($node);
my $query = start_psql($node, $ANSWER);
wait_for_charges_at_lock($node, 1);
my $worker = $node->safe_psql('postgres',
	q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'dpquantile session'});
kill 'KILL', $worker;
isnt(finish_psql($query), 't', 'threat 2: there is no answer when the worker is killed during the charge');
eval { $owner->quit };
wait_for_restart($node);
is(spent($node), $paid, 'threat 2: there is no charge either');

$node->restart;
is(spent($node), $paid, 'a clean restart keeps the spending');
is(outcome($node, $ANSWER), 't', 'the next query works');
is(spent($node), $paid + 1, 'the next query is charged');

# With accountant zcdp the rho is durable, too.
my $rho = q{SELECT rho_spent FROM dp_budget WHERE role = 'analyst'};
$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 100, 1e-6, 'zcdp')});
my $before = $node->safe_psql('postgres', $rho);
@processes = split /\n/, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity');
is(outcome($node, $ANSWER), 't', 'an answer is seen with accountant zcdp');
kill_and_recover($node, @processes);
is( $node->safe_psql('postgres', "SELECT round(($rho) - $before, 9)"),
	'0.125000000', 'threat 2: rho is charged after SIGKILL right after the answer');
is(spent($node), $paid + 2, 'threat 2: epsilon is charged after SIGKILL right after the answer');

done_testing();
