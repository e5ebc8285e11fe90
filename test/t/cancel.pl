# A query may be cancelled or terminated at any moment. Nobody sees an answer without a charge, and
# no worker, lock or memory is left behind.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# One slot is for the launcher of logical replication and two are for charges, so a slot that is not
# given back soon stops the charges. Shared memory segments are files, so that the test can count them.
my $node = new_node('cancel',
	conf => "max_worker_processes = 3\ndynamic_shared_memory_type = mmap\n",
	delta => 0.1,
	allows_streaming => 1);
# Another answer that costs epsilon 1. 10000 equal rows give 0, except with a probability of e^-1000.
my $IQR = 'SELECT dp_iqr(0 * age, 1, 1e-9) = 0 FROM person;';

sub shared_memory_segments
{
	return scalar(grep { !/^\./ } slurp_dir($node->data_dir . '/pg_dynshmem'));
}
my $segments = shared_memory_segments();
my $spent_before = 0;

# Checks that every attempt has at most one charge and every answer has a charge, and that the server
# is in its former state.
sub check_storm
{
	my ($name, $attempts, @outcomes) = @_;
	my $answers = grep { $_ eq 't' } @outcomes;
	ok( $node->poll_query_until('postgres',
			q{
			SELECT count(*) = 0 FROM pg_stat_activity
			WHERE usename = 'analyst' OR backend_type = 'dpquantile session'}),
		"$name: every session and worker ends");
	my $charges = spent($node) - $spent_before;
	note("$attempts attempts, $charges charges, $answers answers");
	cmp_ok($answers, '<=', $charges, "$name: no answer without a charge");
	cmp_ok($charges, '<=', $attempts, "$name: no attempt charged twice");
	is(shared_memory_segments(), $segments, "$name: no shared memory is left");
	is( $node->safe_psql('postgres',
			q{
			SELECT count(*) FROM pg_locks
			WHERE relation IN ('dpquantile.budget'::regclass, 'dpquantile.ledger'::regclass)}),
		0, "$name: no lock is left");
	is(outcome($node, "$ANSWER $IQR $ANSWER $IQR"), 't t t t', "$name: the next queries work");
	$spent_before = spent($node);
	return;
}

# An answer takes some milliseconds, so timeouts happen before, during and after the charge.
my @delays = (1 .. 8) x 15;
my @outcomes = split / /,
	outcome($node, join "\n", map { ("SET statement_timeout = $_; $ANSWER", $IQR) } @delays);
is_deeply([ grep { !/^(t|57014)$/ } @outcomes ], [], 'threat 5: statement_timeout gives only its own error');
# The SET may time out, too.
cmp_ok(@outcomes, '>=', 2 * @delays, 'threat 5: every statement gives an answer or an error');
check_storm('threat 5: statement_timeout', 2 * @delays, @outcomes);

# Runs sessions while another session cancels or terminates the analyst's backends again and again.
# Returns their outcomes.
sub storm
{
	my ($action, @statements) = @_;
	my $storm = start_psql(
		$node, qq{
		DO \$\$
		BEGIN
			LOOP
				PERFORM $action(pid) FROM pg_stat_activity
				WHERE usename = 'analyst' AND state IN ('active', 'idle');
				PERFORM pg_stat_clear_snapshot(), pg_sleep(0.01 * random());
			END LOOP;
		END
		\$\$}, user => 'postgres');
	my $storming = q{FROM pg_stat_activity WHERE query ~ '^\s*DO ' AND state = 'active'};
	$node->poll_query_until('postgres', "SELECT count(*) = 1 $storming") or die 'there is no storm';
	my @sessions = map { start_psql($node, $_) } @statements;
	my @outcomes = map { split / /, finish_psql($_) } @sessions;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) $storming");
	finish_psql($storm);
	return @outcomes;
}

my $attempts = 60;
@outcomes = storm('pg_cancel_backend', ($ANSWER x $attempts) x 2, $IQR x $attempts);
is_deeply([ grep { !/^(t|57014)$/ } @outcomes ], [], 'threat 5: pg_cancel_backend gives only its own error');
is(@outcomes, 3 * $attempts, 'threat 5: every statement gives an answer or an error');
check_storm('threat 5: pg_cancel_backend', 3 * $attempts, @outcomes);

@outcomes = map { storm('pg_terminate_backend', ($ANSWER x $attempts) x 2, $IQR x $attempts) } 1 .. 10;
is_deeply([ grep { !/^(t|57P01)$/ } @outcomes ], [], 'threat 5: pg_terminate_backend gives only its own error');
check_storm('threat 5: pg_terminate_backend', 10 * 3 * $attempts, @outcomes);

# Runs a statement while a charge waits for the budget's row, which the owner holds. Returns the outcome of the query.
sub while_charging
{
	my ($act) = @_;
	my $owner = hold_budget($node);
	my $session = start_psql($node, $ANSWER);
	wait_for_charges_at_lock($node, 1);
	$node->safe_psql('postgres', $act);
	my $outcome = finish_psql($session);
	$owner->query_safe('ROLLBACK');
	$owner->quit;
	return $outcome;
}

is(while_charging(q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'}),
	'57014', 'threat 5: a query cancelled during its charge gives no answer');
check_storm('threat 5: cancelled during the charge', 1);

is(while_charging(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'}),
	'57P01', 'threat 5: a session terminated during its charge gives no answer');
check_storm('threat 5: terminated during the charge', 1);

is( while_charging(
		q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'dpquantile session'}),
	'58000', 'threat 5: a query whose worker is terminated gives no answer');
check_storm('threat 5: worker terminated', 0);

# threat 47: a query is charged before it reads the first row, and stays charged if it does not read the last one. A
# query that is charged for each group has been charged for one of them by then.
$node->safe_psql(
	'postgres', q{
	CREATE FUNCTION linger(age float8) RETURNS boolean LANGUAGE plpgsql AS
		'BEGIN IF age = 77 THEN PERFORM pg_sleep(600); END IF; RETURN true; END'});
foreach my $end ('cancel', 'terminate')
{
	foreach my $call ('dp_median(age, 1, 0, 100)', 'dp_user_mean(age::integer, age, 1, 0, 100)')
	{
		my $name = "threat 5: $end while rows are read, $call";
		my $session = start_psql($node, "SELECT $call FROM person WHERE linger(age) GROUP BY dept");
		$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
			or die 'the query does not sleep';
		is(spent($node), $spent_before + 1, "$name: charged before the last row is read");
		$node->safe_psql('postgres', "SELECT pg_${end}_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
		is(finish_psql($session), $end eq 'cancel' ? '57014' : '57P01', "$name: no answer");
		is(spent($node), $spent_before + 1, "$name: stays charged");
		check_storm($name, 1);
	}
}

# The node GroupedRows has rows in a temporary file, while it reads them (the first of 77 comes after 15000) and while it groups them.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE visit AS SELECT i % 5000 AS k, CASE WHEN i < 15000 THEN 0 ELSE i % 101 END::float8 AS age FROM generate_series(1, 30000) i;
	GRANT SELECT ON visit TO analyst;
	ANALYZE visit});
my $temporary_files = 'SELECT count(*) FROM pg_ls_tmpdir()';
foreach my $end ('cancel', 'terminate')
{
	foreach my $call ('dp_avg(age, 1, 0, 100) FROM visit WHERE linger(age)', 'dp_avg(age, 1, 0, 100) FILTER (WHERE linger(age)) FROM visit')
	{
		my $name = "threat 5: $end while rows are grouped part by part, $call";
		my $query = "SELECT $call GROUP BY k";
		like($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $query"), qr/GroupedRows.*In Parts: true/s, "$name: the plan");
		my $session = start_psql($node, "SET work_mem = '64kB'; SET synchronize_seqscans = off; $query");
		$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
			or die 'the query does not sleep';
		cmp_ok($node->safe_psql('postgres', $temporary_files), '>', 0, "$name: a temporary file");
		$node->safe_psql('postgres', "SELECT pg_${end}_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
		is(finish_psql($session), $end eq 'cancel' ? '57014' : '57P01', "$name: no answer");
		is(spent($node), $spent_before + 1, "$name: stays charged");
		check_storm($name, 1);
		is($node->safe_psql('postgres', $temporary_files), 0, "$name: no temporary file is left");
	}
}

# A mechanism asks from time to time whether to stop. These take minutes of a processor, in which nothing else looks at a signal. (The parameters are
# constants, so that rows are read in no time.) No forecast, curve or list of synthetic values takes more than some seconds.
my $fractions = sprintf q{'{%s}'::float8[]}, join(',', map { $_ / 129 } 1 .. 128);
my @joint = map { "dp_quantiles(age, $fractions, 1, 0, 1000000, dp_options(method => 'joint')) FILTER (WHERE age > -$_)" } 1 .. 20;
my $quantiles = 'SELECT ' . join(', ', @joint) . ' FROM person';
my $analysts = q{FROM pg_stat_activity WHERE usename = 'analyst'};
foreach my $end ('cancel', 'terminate', 'timeout')
{
	my $name = "threat 5: $end while quantiles are drawn";
	my $timeout = $end eq 'timeout' ? '2s' : '0';
	my $session = start_psql($node, "SET statement_timeout = '$timeout'; $quantiles");
	# Rows are read after the charge, in some tenths of a second. What comes earlier ends the query, too.
	if ($end ne 'timeout')
	{
		$node->poll_query_until('postgres', "SELECT epsilon_spent = $spent_before + ${\ scalar @joint} FROM dpquantile.budget") or die 'there is no charge';
		$node->safe_psql('postgres', "SELECT pg_sleep(1), pg_${end}_backend(pid) $analysts");
	}
	# In tries that last a tenth of a second at least
	local $PostgreSQL::Test::Utils::timeout_default = 30;
	ok($node->poll_query_until('postgres', "SELECT count(*) = 0 $analysts"), "$name: the session ends") or die 'it goes on';
	is(finish_psql($session), $end eq 'terminate' ? '57P01' : '57014', "$name: no answer");
	check_storm($name, scalar @joint);
}

# A cancel does not end the worker's wait for a synchronous standby, because the charge would not be sure. A termination
# ends it, and then there is no answer.
sub select_waiting_for_standby
{
	my ($what) = @_;
	return $node->safe_psql('postgres',
		"SELECT $what FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type LIKE 'dpquantile%'");
}
sub start_waiting_for_standby
{
	my $session = start_psql($node, $ANSWER);
	$node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND backend_type LIKE 'dpquantile%'})
		or die 'the charge does not wait for a standby';
	return $session;
}
# A restart, so that all sessions see the new names.
sub restart_with_standby
{
	my ($names) = @_;
	$node->append_conf('postgresql.conf', "synchronous_standby_names = '$names'\n");
	$node->restart;
	return;
}
restart_with_standby('nobody');
my $session = start_waiting_for_standby();
is(select_waiting_for_standby('pg_cancel_backend(pid)'), 't', 'threat 5: a worker that waits for a standby is cancelled');
$node->safe_psql('postgres', 'SELECT pg_sleep(0.3)');
is(select_waiting_for_standby('count(*)'), 1, 'threat 5: it still waits for the standby');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE usename = 'analyst' AND state = 'active'}),
	1, 'threat 5: its session has no answer');
is(select_waiting_for_standby('pg_terminate_backend(pid)'), 't', 'threat 5: a worker that waits for a standby is terminated');
is(finish_psql($session), '58000', 'threat 5: its session gets an error and no answer');
$session = start_waiting_for_standby();
$node->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
$node->reload;
is(finish_psql($session), 't', 'threat 5: the answer comes when the server waits for no standby');
check_storm('threat 5: waiting for a standby', 2, 't');

done_testing();
