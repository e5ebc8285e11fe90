# With the library preloaded, one resident worker of each database makes its charges. What all charges have to hold is
# tested elsewhere, with and without it; this is about the worker itself.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $ENTRIES = 64;    # kQueueEntries
my $RESIDENT = q{backend_type = 'dpquantile resident'};

# Two worker slots besides the one of the launcher of logical replication: a resident worker and, if a lock stands in
# the way, a session worker.
my $node = new_node(
	'resident',
	preloaded => 1,
	allows_streaming => 1,
	conf => "max_connections = 100\nmax_worker_processes = 3\nrestart_after_crash = on\nlog_min_messages = debug1\n",
	budget => 10_000);
$node->safe_psql(
	'postgres', q{
	CREATE ROLE other LOGIN;
	GRANT SELECT ON person TO other;
	SELECT dp_grant_budget('other', 10000);
	CREATE FUNCTION commits(last_charges integer) RETURNS bigint LANGUAGE sql AS $$
		SELECT count(DISTINCT xmin::text)
		FROM (SELECT xmin FROM dpquantile.ledger ORDER BY charged_at DESC LIMIT last_charges) last
	$$});
my $paid = 0;

# The number of the process of the resident worker, when it waits for charges; '' if it does not.
sub idle_resident
{
	my ($database) = @_;
	return $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE $RESIDENT AND datname = '$database' AND state = 'idle'"
		. q{ AND wait_event = 'Extension'});
}

# Has a resident worker stand still, so that requests wait for it; continued by a CONT. Takes a charge, or several if the
# worker has left before it was found.
sub stop_resident
{
	my ($database) = @_;
	$database //= 'postgres';
	foreach my $attempt (1 .. 100)
	{
		outcome($node, $ANSWER, database => $database) eq 't' or die 'there is no answer';
		$paid++ if $database eq 'postgres';
		my $worker = idle_resident($database);
		return $worker if $worker && kill 'STOP', $worker;
	}
	die 'there is no idle resident worker';
}

sub wait_until_asking
{
	my ($sessions, $role) = @_;
	$role //= 'analyst';
	$node->poll_query_until('postgres', qq{
		SELECT count(*) = $sessions FROM pg_stat_activity
		WHERE usename = '$role' AND state = 'active' AND wait_event = 'Extension'})
		or die 'the sessions do not ask the worker';
	return;
}

# Many sessions, each asking once; finished by its finish.
sub start_crowd
{
	my ($sessions) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/sql';
	append_to_file($file, $ANSWER);
	my @pgbench = (
		$node->installed_command('pgbench'), '-n', '-U', 'analyst', '-f', $file, '-c', $sessions, '-t', 1, $node->connstr('postgres'));
	my ($out, $err);
	my $timeout = IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default);
	return IPC::Run::start(\@pgbench, '>', \$out, '2>', \$err, $timeout);
}

sub spent_is
{
	my ($name) = @_;
	is(spent($node), $paid, $name);
	# So that one failure is not followed by others.
	$paid = spent($node);
	return;
}

# As many requests as there are queue entries are made by one commit: so none is lost.
sub check_entries
{
	my ($name) = @_;
	my $worker = stop_resident();
	my $crowd = start_crowd($ENTRIES);
	wait_until_asking($ENTRIES);
	kill 'CONT', $worker;
	$crowd->finish;
	$paid += $ENTRIES;
	spent_is("$name: every session is charged");
	is($node->safe_psql('postgres', "SELECT commits($ENTRIES)"), 1, "$name: all entries are free, and share one commit");
	return;
}

# The worker is used. Would fail if sessions started session workers.
is(outcome($node, $ANSWER), 't', 'an answer');
$paid++;
is( $node->safe_psql('postgres', q{
		SELECT string_agg(backend_type || ' of ' || datname, ', ') FROM pg_stat_activity
		WHERE backend_type LIKE 'dpquantile%'}),
	'dpquantile resident of postgres', 'one resident worker made the charge');
spent_is('and it is charged');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE $RESIDENT"), 'it leaves when it is idle');
is(outcome($node, $ANSWER), 't', 'and another one comes');
$paid++;
spent_is('and charges');

# Of ten requests that are charged by one commit, exactly what fits is answered. Would fail if the charges of a batch did
# not see those before them.
my $worker = stop_resident();
$node->safe_psql('postgres', "SELECT dp_grant_budget('analyst', $paid + 7)");
my @sessions = map { start_psql($node, $ANSWER) } 1 .. 10;
wait_until_asking(10);
kill 'CONT', $worker;
is( join(' ', sort map { finish_psql($_) } @sessions),
	'53400 53400 53400 t t t t t t t', 'threat 4: exactly what fits is answered');
$paid += 7;
spent_is('threat 4: and charged');
is($node->safe_psql('postgres', 'SELECT commits(7)'), 1, 'threat 4: by one commit');
$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 100000)});

# In a batch one request that fails does not take the others along. A ledger that refuses the charges of one role makes
# the whole transaction fail.
$node->safe_psql('postgres', q{ALTER TABLE dpquantile.ledger ADD CONSTRAINT no_other CHECK (role_name <> 'other')});
$worker = stop_resident();
@sessions = ((map { start_psql($node, $ANSWER) } 1 .. 2), start_psql($node, $ANSWER, user => 'other'));
wait_until_asking(2);
wait_until_asking(1, 'other');
kill 'CONT', $worker;
is(join(' ', map { finish_psql($_) } @sessions), 't t 23514', 'only the request that fails gets the error');
$paid += 2;
spent_is('the others are charged');
is(spent($node, role => 'other'), 0, 'that one is not');
$node->safe_psql('postgres', 'ALTER TABLE dpquantile.ledger DROP CONSTRAINT no_other');

# All queue entries are busy: one more session has a session worker. Would wait for the stopped worker otherwise.
$worker = stop_resident();
my $crowd = start_crowd($ENTRIES);
wait_until_asking($ENTRIES);
is(outcome($node, $ANSWER, user => 'other'), 't', 'with all entries busy there is an answer');
is(spent($node, role => 'other'), 1, 'that is charged');
spent_is('while the others still wait');
kill 'CONT', $worker;
$crowd->finish;
$paid += $ENTRIES;
spent_is('and are charged later');

# Cancelled while they wait: more sessions than there are entries. Would leave no entry free.
$worker = stop_resident();
foreach (1 .. 2)
{
	$crowd = start_crowd(40);
	wait_until_asking(40);
	$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'});
	$crowd->finish;
	$crowd = start_crowd(40);
	wait_until_asking(40);
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'});
	$crowd->finish;
}
kill 'CONT', $worker;
spent_is('threat 5: requests that are withdrawn are not charged');
check_entries('threat 5: after cancelled requests');

# Under a lock on one role's row there is an answer for another, although no other worker can be started. Would fail if
# the resident worker waited, or left both to session workers.
my $parallel = parallel_for_all($node);
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE $RESIDENT")
	or die 'the resident worker stays';
my $blocker = start_psql($node, "SET $parallel = on; SELECT pg_sleep(600);", user => 'postgres');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'parallel worker'})
	or die 'the parallel query did not get the slot';
my $owner = $node->background_psql('postgres');
$owner->query_safe(q{BEGIN; SELECT FROM dpquantile.budget WHERE role = 'analyst'::regrole FOR UPDATE});
my $locked = start_psql($node, "SET statement_timeout = '60s'; $ANSWER");
wait_until_asking(1);
is(outcome($node, $ANSWER, user => 'other'), 't', 'threat 6: a locked budget does not stand in the way of another');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'});
is(finish_psql($locked), '57014', 'threat 6: while its own charge waits for another worker');
$owner->query_safe('ROLLBACK');
spent_is('threat 6: and is not made');
# With the lock gone the resident worker is enough.
is(outcome($node, $ANSWER), 't', 'threat 6: afterwards it works');
$paid++;
$owner->query_safe(q{BEGIN; SELECT FROM dpquantile.budget WHERE role = 'analyst'::regrole FOR UPDATE});
$locked = start_psql($node, "SET statement_timeout = '60s'; $ANSWER");
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(leader_pid) FROM pg_stat_activity WHERE backend_type = 'parallel worker'});
finish_psql($blocker);
wait_for_charges_at_lock($node, 1);
$owner->query_safe('COMMIT');
$owner->quit;
is(finish_psql($locked), 't', 'threat 6: with a slot a session worker waits for the lock');
$paid++;
spent_is('threat 6: and charges');

# Of one role that is locked one charge at a time waits for the lock, and the others behind it. They would start a session
# worker each, which lock the budget for each other and for the resident worker.
my $SESSION_WORKERS = q{FROM pg_stat_activity WHERE backend_type = 'dpquantile session'};
$node->append_conf('postgresql.conf', "max_worker_processes = 12\n");
$node->restart;
$owner = $node->background_psql('postgres');
$owner->query_safe(q{BEGIN; SELECT FROM dpquantile.budget WHERE role = 'analyst'::regrole FOR UPDATE});
@sessions = map { start_psql($node, $ANSWER) } 1 .. 6;
wait_until_asking(6);
wait_for_charges_at_lock($node, 1);
$node->safe_psql('postgres', 'SELECT pg_sleep(0.3)');
is($node->safe_psql('postgres', "SELECT count(*) $SESSION_WORKERS"), 1, 'threat 6: one charge waits for the lock');
is(outcome($node, $ANSWER, user => 'other'), 't', 'threat 6: and not one of another role');
$owner->query_safe('COMMIT');
my @came = map { finish_psql($_) } @sessions;
# On a slow machine some have given up by then.
is_deeply([ grep { !/^(t|55P03)$/ } @came ], [], 'threat 6: then the others go on');
$paid += grep { $_ eq 't' } @came;
spent_is('threat 6: what is answered is charged');

# Of a database two charges wait for locks, and those that do not come to their turn give up like them.
$owner->query_safe('BEGIN; LOCK TABLE dpquantile.budget');
my @roles = map { "locked$_" } 1 .. 4;
$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN; GRANT SELECT ON person TO $_") foreach @roles;
@sessions = map { start_psql($node, $ANSWER, user => $_) } @roles;
wait_for_charges_at_lock($node, 2);
$node->safe_psql('postgres', 'SELECT pg_sleep(0.3)');
is($node->safe_psql('postgres', "SELECT count(*) $SESSION_WORKERS"), 2, 'threat 6: two charges of a database wait for locks');
is(join(' ', map { finish_psql($_) } @sessions), '55P03 55P03 55P03 55P03', 'threat 6: all of them time out');
$owner->query_safe('ROLLBACK');
$owner->quit;
is(outcome($node, $ANSWER), 't', 'threat 6: afterwards it works');
$paid++;
spent_is('threat 6: and charges');
check_entries('threat 6: after locks');
# A session that is cancelled in its turn gives it up.
$owner = $node->background_psql('postgres');
$owner->query_safe(q{BEGIN; SELECT FROM dpquantile.budget WHERE role = 'analyst'::regrole FOR UPDATE});
$locked = start_psql($node, $ANSWER);
wait_for_charges_at_lock($node, 1);
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'});
is(finish_psql($locked), '57014', 'threat 5: cancelled in its turn');
$locked = start_psql($node, $ANSWER);
wait_for_charges_at_lock($node, 2);
$owner->query_safe('COMMIT');
$owner->quit;
is(finish_psql($locked), 't', 'threat 5: the next has its turn');
$node->poll_query_until('postgres', "SELECT count(*) = 0 $SESSION_WORKERS") or die 'a worker stays';
$paid += 2;
spent_is('threat 5: the one that was cancelled may be charged');
$node->append_conf('postgresql.conf', "max_worker_processes = 3\n");
$node->restart;

# The extension is dropped and created while the worker lives. Its plans would name tables that are gone.
$worker = stop_resident();
$node->safe_psql(
	'postgres', q{
	DROP EXTENSION dpquantile;
	CREATE EXTENSION dpquantile;
	SELECT dp_grant_budget('analyst', 100000), dp_grant_budget('other', 10000)});
$paid = 0;
my $session = start_psql($node, $ANSWER);
wait_until_asking(1);
kill 'CONT', $worker;
is(finish_psql($session), 't', 'after DROP and CREATE EXTENSION the same worker charges');
$paid++;
spent_is('the new tables');
$worker = stop_resident();
$node->safe_psql(
	'postgres', q{
	TRUNCATE dpquantile.ledger;
	ALTER TABLE dpquantile.ledger ADD COLUMN note text DEFAULT 'x';
	UPDATE dpquantile.budget SET epsilon_spent = 0, rho_spent = 0;
	CREATE INDEX ON dpquantile.budget (epsilon_spent);
	ALTER EXTENSION dpquantile DROP FUNCTION dpquantile.six_digits(numeric, boolean);
	ALTER EXTENSION dpquantile ADD FUNCTION dpquantile.six_digits(numeric, boolean)});
$paid = 0;
$session = start_psql($node, $ANSWER);
wait_until_asking(1);
kill 'CONT', $worker;
is(finish_psql($session), 't', 'also after its tables have been changed');
$paid++;
spent_is('and charges');
$node->safe_psql('postgres', 'ALTER TABLE dpquantile.ledger DROP COLUMN note');
# The tables are not there in another moment.
$worker = stop_resident();
$owner = $node->background_psql('postgres');
$owner->query_safe('BEGIN; ALTER TABLE dpquantile.ledger RENAME TO away');
$session = start_psql($node, $ANSWER);
wait_until_asking(1);
$owner->query_safe('COMMIT');
kill 'CONT', $worker;
is(finish_psql($session), '42P01', 'without a ledger there is no answer');
$owner->query_safe('ALTER TABLE dpquantile.away RENAME TO ledger');
$owner->quit;
spent_is('nor a charge');

# A worker that is terminated hands back what it has not taken. Would hang otherwise.
$worker = stop_resident();
@sessions = map { start_psql($node, $ANSWER) } 1 .. 3;
wait_until_asking(3);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($worker)");
kill 'CONT', $worker;
is(join(' ', map { finish_psql($_) } @sessions), 't t t', 'threat 5: another worker takes over from one that is terminated');
$paid += 3;
spent_is('threat 5: and charges once');

# Terminated again and again under load.
sub outcomes_without_rest
{
	my ($attempts) = @_;
	my $storm = start_psql(
		$node, qq{
		DO \$\$
		BEGIN
			LOOP
				PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE $RESIDENT;
				PERFORM pg_stat_clear_snapshot(), pg_sleep(0.02 * random());
			END LOOP;
		END
		\$\$}, user => 'postgres');
	my $stormy = q{FROM pg_stat_activity WHERE query ~ '^\s*DO ' AND state = 'active'};
	$node->poll_query_until('postgres', "SELECT count(*) = 1 $stormy") or die 'there is no storm';
	my @asking = map { start_psql($node, $ANSWER x $attempts) } 1 .. 3;
	my @outcomes = map { split / /, finish_psql($_) } @asking;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) $stormy");
	finish_psql($storm);
	return @outcomes;
}
my @outcomes = outcomes_without_rest(100);
my $answers = grep { $_ eq 't' } @outcomes;
my $charges = spent($node) - $paid;
note(scalar(@outcomes) . " attempts, $charges charges, $answers answers");
is_deeply([ grep { !/^(t|58000)$/ } @outcomes ], [], 'threat 5: a terminated worker gives its own error');
cmp_ok($answers, '<=', $charges, 'threat 5: no answer without a charge');
cmp_ok($charges, '<=', scalar(@outcomes), 'threat 5: no attempt charged twice');
cmp_ok($answers, '>', 0, 'threat 5: there are answers in between');
$paid += $charges;
check_entries('threat 5: after terminated workers');

# A new configuration does not reach the charges' durability: the worker leaves, and what is forced stays forced.
$worker = stop_resident();
$session = start_psql($node, $ANSWER);
wait_until_asking(1);
$node->append_conf('postgresql.conf', "synchronous_commit = off\nwal_writer_delay = 10s\nlock_timeout = 1\n");
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('synchronous_commit') = 'off'}) or die 'it stays on';
kill 'CONT', $worker;
is(finish_psql($session), 't', 'threat 3: synchronous_commit = off under a living worker');
$paid++;
$node->stop('immediate');
$node->start;
spent_is('threat 3: has no effect on the charge');
$node->append_conf('postgresql.conf', "synchronous_commit = on\nwal_writer_delay = 200ms\nlock_timeout = 0\n");

# A commit that waits for a standby which never comes holds the worker in its middle: taken, not answered.
$node->append_conf('postgresql.conf', "synchronous_standby_names = 'nobody'\n");
$node->reload;
# Until the server has noticed, commits do not wait. Nor does one that has written nothing.
my $probe = start_psql(
	$node, q{
	DO $$
	BEGIN
		LOOP
			PERFORM pg_logical_emit_message(true, 'probe', '');
			COMMIT;
			PERFORM pg_sleep(0.01);
		END LOOP;
	END
	$$}, user => 'postgres');
my $waiting_for_standby = q{FROM pg_stat_activity WHERE wait_event = 'SyncRep'};
$node->poll_query_until('postgres', "SELECT count(*) = 1 $waiting_for_standby") or die 'commits do not wait for a standby';
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $waiting_for_standby");
finish_psql($probe);

sub wait_for_commit
{
	$node->poll_query_until('postgres', "SELECT count(*) = 1 $waiting_for_standby AND $RESIDENT")
		or die 'the worker does not wait for the standby';
	return;
}

$session = start_psql($node, $ANSWER);
wait_for_commit();
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM pg_stat_activity WHERE usename = 'analyst' AND state = 'active' AND wait_event = 'Extension'}),
	1, 'threat 2: no answer before the commit is complete');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $RESIDENT");
is(finish_psql($session), '58000', 'threat 2: nor if the worker ends before');
$paid++;
spent_is('threat 2: it may be charged');

# Sessions that are cancelled meanwhile leave entries to which the worker still writes. Would answer somebody else's request
# without a charge if they were free at once.
$session = start_psql($node, $ANSWER);
wait_for_commit();
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'});
is(finish_psql($session), '57014', 'threat 5: cancelled while the commit waits');
$paid++;
$crowd = start_crowd($ENTRIES - 1);
wait_until_asking($ENTRIES - 1);
$session = start_psql($node, $ANSWER, user => 'other');
$node->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
$node->reload;
$crowd->finish;
$paid += $ENTRIES - 1;
is(finish_psql($session), 't', 'threat 5: the other sessions get answers');
spent_is('threat 5: and all are charged');
is(spent($node, role => 'other'), 1, 'threat 5: each to its own');
check_entries('threat 5: after a cancel during the commit');

# SIGKILL of the worker under load: the server starts anew, with empty entries.
my @asking = map { start_psql($node, $ANSWER x 5000) } 1 .. 4;
$node->poll_query_until('postgres', "SELECT count(*) > $paid + 100 FROM dpquantile.ledger WHERE role_name = 'analyst'");
$worker = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $RESIDENT");
$worker && kill 'KILL', $worker or die 'there is no resident worker under load';
$answers = grep { $_ eq 't' } map { split / /, finish_psql($_) } @asking;
$node->poll_query_until('postgres', 'SELECT true');
$charges = spent($node) - $paid;
note("$charges charges, $answers answers");
cmp_ok($answers, '<=', $charges, 'threat 2: no answer without a charge after SIGKILL of the worker');
cmp_ok($charges, '<', 20_000, 'threat 2: which ended the sessions');
$paid += $charges;
check_entries('threat 2: after SIGKILL');

# Databases: each has a worker of its own, which is not in the way of what needs the database for itself. Would fail with
# 55006 if it stayed for five seconds.
my $setup = q{
	CREATE EXTENSION dpquantile;
	SELECT dp_grant_budget('analyst', 1000);
	CREATE TABLE person AS SELECT (i % 101)::float8 AS age FROM generate_series(1, 1000) i;
	GRANT SELECT ON person TO analyst};
foreach my $database ('one', 'two')
{
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, $setup);
}
@sessions = map { start_psql($node, $ANSWER x 3, database => $_) } ('one', 'two');
is(join(' ', map { finish_psql($_) } @sessions), 't t t t t t', 'two databases at once');
is(spent($node, database => $_), 3, "charged in database $_") foreach ('one', 'two');
is(outcome($node, $ANSWER, database => 'one'), 't', 'an answer');
$node->safe_psql('postgres', 'ALTER DATABASE one RENAME TO first');
is(outcome($node, $ANSWER, database => 'first'), 't', 'ALTER DATABASE RENAME right after a charge');
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE first');
is(outcome($node, $ANSWER, database => 'copy'), 't', 'CREATE DATABASE TEMPLATE right after a charge');
is(spent($node, database => 'copy'), 6, 'with the spending of the original');
is(spent($node, database => 'first'), 5, 'which is not that of the copy');
$node->safe_psql('postgres', 'DROP DATABASE copy');
is(outcome($node, $ANSWER, database => 'first'), 't', 'DROP DATABASE right after a charge');
$worker = stop_resident('first');
@sessions = map { start_psql($node, $ANSWER, database => 'first') } 1 .. 2;
wait_until_asking(2);
my $drop = start_psql($node, 'DROP DATABASE first WITH (FORCE)', user => 'postgres');
is(join(' ', map { finish_psql($_) } @sessions), '57P01 57P01', 'DROP DATABASE FORCE ends the sessions');
kill 'CONT', $worker;
is(finish_psql($drop), '', 'and the worker');
check_entries('after DROP DATABASE FORCE');

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|out of shared memory/, 'no disaster in the log');
done_testing();
