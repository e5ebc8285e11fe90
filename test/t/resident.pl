# With the library preloaded, one resident worker of each database makes its charges. This file tests the worker itself.
# Other files test what holds for all charges, with and without resident workers.

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

# One worker slot is for the launcher of logical replication. Two more are for a resident worker and, if a charge must
# wait for a lock, a session worker.
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

# The process id of the resident worker if it waits for charges, otherwise ''.
sub idle_resident
{
	my ($database) = @_;
	return $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE $RESIDENT AND datname = '$database' AND state = 'idle'"
		. q{ AND wait_event = 'Extension'});
}

# Stops a resident worker, so that requests wait for it until SIGCONT. Returns its process id. Makes one charge, or several
# if a worker leaves before it is found.
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

sub wait_until_requesting
{
	my ($sessions, $role) = @_;
	$role //= 'analyst';
	$node->poll_query_until('postgres', qq{
		SELECT count(*) = $sessions FROM pg_stat_activity
		WHERE usename = '$role' AND state = 'active' AND wait_event = 'Extension'})
		or die 'the sessions do not request charges';
	return;
}

# Starts many sessions with one query each. The caller ends them with finish on the result.
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
	# One failure must not cause others.
	$paid = spent($node);
	return;
}

# Checks that one commit makes as many charges as there are queue entries, so no entry is lost.
sub check_entries
{
	my ($name) = @_;
	my $worker = stop_resident();
	my $crowd = start_crowd($ENTRIES);
	wait_until_requesting($ENTRIES);
	kill 'CONT', $worker;
	$crowd->finish;
	$paid += $ENTRIES;
	spent_is("$name: every session is charged");
	is($node->safe_psql('postgres', "SELECT commits($ENTRIES)"), 1, "$name: all entries are free and share one commit");
	return;
}

# A resident worker makes the charge. Fails if sessions start session workers.
is(outcome($node, $ANSWER), 't', 'a query gets an answer');
$paid++;
is( $node->safe_psql('postgres', q{
		SELECT string_agg(backend_type || ' of ' || datname, ', ') FROM pg_stat_activity
		WHERE backend_type LIKE 'dpquantile%'}),
	'dpquantile resident of postgres', 'one resident worker made the charge');
spent_is('the answer is charged');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE $RESIDENT"), 'an idle resident worker leaves');
is(outcome($node, $ANSWER), 't', 'another resident worker starts');
$paid++;
spent_is('the new resident worker charges');

# One commit charges ten requests, and exactly what fits is answered. Fails if a charge does not see the charges before it
# in the batch.
my $worker = stop_resident();
$node->safe_psql('postgres', "SELECT dp_grant_budget('analyst', $paid + 7)");
my @sessions = map { start_psql($node, $ANSWER) } 1 .. 10;
wait_until_requesting(10);
kill 'CONT', $worker;
is( join(' ', sort map { finish_psql($_) } @sessions),
	'53400 53400 53400 t t t t t t t', 'threat 4: exactly what fits is answered');
$paid += 7;
spent_is('threat 4: exactly what fits is charged');
is($node->safe_psql('postgres', 'SELECT commits(7)'), 1, 'threat 4: one commit makes all charges');
$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 100000)});

# A request that fails does not make the other requests of its batch fail. A ledger that refuses the charges of one role
# makes the whole transaction fail.
$node->safe_psql('postgres', q{ALTER TABLE dpquantile.ledger ADD CONSTRAINT no_other CHECK (role_name <> 'other')});
$worker = stop_resident();
@sessions = ((map { start_psql($node, $ANSWER) } 1 .. 2), start_psql($node, $ANSWER, user => 'other'));
wait_until_requesting(2);
wait_until_requesting(1, 'other');
kill 'CONT', $worker;
is(join(' ', map { finish_psql($_) } @sessions), 't t 23514', 'only the request that fails gets the error');
$paid += 2;
spent_is('the other requests of the batch are charged');
is(spent($node, role => 'other'), 0, 'the request that fails is not charged');
$node->safe_psql('postgres', 'ALTER TABLE dpquantile.ledger DROP CONSTRAINT no_other');

# A query of two answers whose second charge fails is one request: nothing of it is charged, and the others of its batch are.
foreach my $act ('RAISE no_data_found', 'RETURN NULL')
{
	$node->safe_psql(
		'postgres', qq{
		CREATE FUNCTION refuse_cdf() RETURNS trigger LANGUAGE plpgsql AS
			'BEGIN IF NEW.function = ''dp_cdf'' THEN $act; END IF; RETURN NEW; END';
		CREATE TRIGGER refuse_cdf BEFORE INSERT ON dpquantile.ledger FOR EACH ROW EXECUTE FUNCTION refuse_cdf()});
	$worker = stop_resident();
	@sessions = (
		start_psql($node, $ANSWER),
		start_psql($node, 'SELECT dp_median(age, 1, 0, 100), dp_cdf(age, 1, 0, 100) FROM person', user => 'other'),
		start_psql($node, $ANSWER));
	wait_until_requesting(2);
	wait_until_requesting(1, 'other');
	kill 'CONT', $worker;
	my $state = $act eq 'RETURN NULL' ? '27000' : 'P0002';
	is(join(' ', map { finish_psql($_) } @sessions), "t $state t", "threat 4: $act for the second charge: only its query gets the error");
	$paid += 2;
	spent_is("threat 4: $act for the second charge: the other requests of the batch are charged");
	is(spent($node, role => 'other'), 0, "threat 4: $act for the second charge: the first one is not made");
	$node->safe_psql('postgres', 'DROP FUNCTION refuse_cdf CASCADE');
}

# When all queue entries are busy, one more session uses a session worker. Otherwise it would wait for the stopped worker.
$worker = stop_resident();
my $crowd = start_crowd($ENTRIES);
wait_until_requesting($ENTRIES);
is(outcome($node, $ANSWER, user => 'other'), 't', 'there is an answer when all entries are busy');
is(spent($node, role => 'other'), 1, 'this answer is charged');
spent_is('the other sessions still wait');
kill 'CONT', $worker;
$crowd->finish;
$paid += $ENTRIES;
spent_is('the other sessions are charged later');

# More sessions than there are entries are cancelled while they wait. If they kept their entries, none would be free.
$worker = stop_resident();
foreach (1 .. 2)
{
	$crowd = start_crowd(40);
	wait_until_requesting(40);
	$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'});
	$crowd->finish;
	$crowd = start_crowd(40);
	wait_until_requesting(40);
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'});
	$crowd->finish;
}
kill 'CONT', $worker;
spent_is('threat 5: cancelled requests are not charged');
check_entries('threat 5: after cancelled requests');

# While one role's row is locked, another role gets an answer, although no other worker can start. Fails if the resident
# worker waits for the lock, or leaves both charges to session workers.
my $parallel = parallel_for_all($node);
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE $RESIDENT")
	or die 'the resident worker stays';
my $blocker = start_psql($node, "SET $parallel = on; SELECT pg_sleep(600);", user => 'postgres');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'parallel worker'})
	or die 'the parallel query did not get the slot';
my $owner = $node->background_psql('postgres');
$owner->query_safe(q{BEGIN; SELECT FROM dpquantile.budget WHERE role = 'analyst'::regrole FOR UPDATE});
my $locked = start_psql($node, "SET statement_timeout = '60s'; $ANSWER");
wait_until_requesting(1);
is(outcome($node, $ANSWER, user => 'other'), 't', 'threat 6: a locked budget does not delay charges to another');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'});
is(finish_psql($locked), '57014', 'threat 6: the charge to the locked budget waits for another worker');
$owner->query_safe('ROLLBACK');
spent_is('threat 6: the charge to the locked budget is not made');
# Without the lock the resident worker is enough.
is(outcome($node, $ANSWER), 't', 'threat 6: a query works after the lock');
$paid++;
$owner->query_safe(q{BEGIN; SELECT FROM dpquantile.budget WHERE role = 'analyst'::regrole FOR UPDATE});
$locked = start_psql($node, "SET statement_timeout = '60s'; $ANSWER");
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(leader_pid) FROM pg_stat_activity WHERE backend_type = 'parallel worker'});
finish_psql($blocker);
wait_for_charges_at_lock($node, 1);
$owner->query_safe('COMMIT');
$owner->quit;
is(finish_psql($locked), 't', 'threat 6: with a free slot a session worker waits for the lock');
$paid++;
spent_is('threat 6: the session worker charges');

# One charge at a time waits for the lock of a budget, and the other charges to it wait for that one. Otherwise each
# would start a session worker, and these would lock the budget for each other and for the resident worker.
my $SESSION_WORKERS = q{FROM pg_stat_activity WHERE backend_type = 'dpquantile session'};
$node->append_conf('postgresql.conf', "max_worker_processes = 12\n");
$node->restart;
$owner = $node->background_psql('postgres');
$owner->query_safe(q{BEGIN; SELECT FROM dpquantile.budget WHERE role = 'analyst'::regrole FOR UPDATE});
@sessions = map { start_psql($node, $ANSWER) } 1 .. 6;
wait_until_requesting(6);
wait_for_charges_at_lock($node, 1);
$node->safe_psql('postgres', 'SELECT pg_sleep(0.3)');
is($node->safe_psql('postgres', "SELECT count(*) $SESSION_WORKERS"), 1, 'threat 6: one charge to a locked budget waits for the lock');
is(outcome($node, $ANSWER, user => 'other'), 't', 'threat 6: another role gets an answer meanwhile');
$owner->query_safe('COMMIT');
my @outcomes_after_lock = map { finish_psql($_) } @sessions;
# On a slow machine some charges have given up by then.
is_deeply([ grep { !/^(t|55P03)$/ } @outcomes_after_lock ], [], 'threat 6: the other charges go on without the lock');
$paid += grep { $_ eq 't' } @outcomes_after_lock;
spent_is('threat 6: every answer is charged');

# At most two charges of a database wait for locks. Those that get no turn give up after the same time.
$owner->query_safe('BEGIN; LOCK TABLE dpquantile.budget');
my @roles = map { "locked$_" } 1 .. 4;
$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN; GRANT SELECT ON person TO $_") foreach @roles;
@sessions = map { start_psql($node, $ANSWER, user => $_) } @roles;
wait_for_charges_at_lock($node, 2);
$node->safe_psql('postgres', 'SELECT pg_sleep(0.3)');
is($node->safe_psql('postgres', "SELECT count(*) $SESSION_WORKERS"), 2, 'threat 6: two charges of a database wait for locks');
is(join(' ', map { finish_psql($_) } @sessions), '55P03 55P03 55P03 55P03', 'threat 6: charges with and without a turn time out');
is(outcome($node, q{SELECT dp_quantiles(age, '{0.2,0.8}', 1, 0, 100) FROM person}),
	'55P03', 'threat 6: a query whose method depends on the terms of the locked budget times out');
$owner->query_safe('ROLLBACK');
$owner->quit;
is(outcome($node, $ANSWER), 't', 'threat 6: a query works after the charges timed out');
$paid++;
spent_is('threat 6: the query is charged');
check_entries('threat 6: after locks');
# A session that is cancelled during its turn gives up the turn.
$owner = $node->background_psql('postgres');
$owner->query_safe(q{BEGIN; SELECT FROM dpquantile.budget WHERE role = 'analyst'::regrole FOR UPDATE});
$locked = start_psql($node, $ANSWER);
wait_for_charges_at_lock($node, 1);
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'});
is(finish_psql($locked), '57014', 'threat 5: a session is cancelled during its turn');
$locked = start_psql($node, $ANSWER);
wait_for_charges_at_lock($node, 2);
$owner->query_safe('COMMIT');
$owner->quit;
is(finish_psql($locked), 't', 'threat 5: the next session gets the turn');
$node->poll_query_until('postgres', "SELECT count(*) = 0 $SESSION_WORKERS") or die 'a worker stays';
$paid += 2;
spent_is('threat 5: both charges are made, as a cancelled one may be');
$node->append_conf('postgresql.conf', "max_worker_processes = 3\n");
$node->restart;

# The extension is dropped and created while the worker runs. Cached plans would name tables that no longer exist.
$worker = stop_resident();
$node->safe_psql(
	'postgres', q{
	DROP EXTENSION dpquantile;
	CREATE EXTENSION dpquantile;
	SELECT dp_grant_budget('analyst', 100000), dp_grant_budget('other', 10000)});
$paid = 0;
my $session = start_psql($node, $ANSWER);
wait_until_requesting(1);
kill 'CONT', $worker;
is(finish_psql($session), 't', 'the same worker charges after DROP and CREATE EXTENSION');
$paid++;
spent_is('the charge is in the new tables');
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
wait_until_requesting(1);
kill 'CONT', $worker;
is(finish_psql($session), 't', 'the same worker charges after changes of the tables');
$paid++;
spent_is('the charge is in the changed tables');
$node->safe_psql('postgres', 'ALTER TABLE dpquantile.ledger DROP COLUMN note');
# The ledger is missing when the worker charges.
$worker = stop_resident();
$owner = $node->background_psql('postgres');
$owner->query_safe('BEGIN; ALTER TABLE dpquantile.ledger RENAME TO away');
$session = start_psql($node, $ANSWER);
wait_until_requesting(1);
$owner->query_safe('COMMIT');
kill 'CONT', $worker;
is(finish_psql($session), '42P01', 'there is no answer without a ledger');
$owner->query_safe('ALTER TABLE dpquantile.away RENAME TO ledger');
$owner->quit;
spent_is('there is no charge without a ledger');

# A terminated worker leaves the requests that it has not taken to the next one. Otherwise the sessions would hang.
$worker = stop_resident();
@sessions = map { start_psql($node, $ANSWER) } 1 .. 3;
wait_until_requesting(3);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($worker)");
kill 'CONT', $worker;
is(join(' ', map { finish_psql($_) } @sessions), 't t t', 'threat 5: another worker takes over from a terminated one');
$paid += 3;
spent_is('threat 5: the other worker charges once');

# Asks queries while another session terminates the resident worker again and again. Returns their outcomes.
sub outcomes_under_terminations
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
	my $storming = q{FROM pg_stat_activity WHERE query ~ '^\s*DO ' AND state = 'active'};
	$node->poll_query_until('postgres', "SELECT count(*) = 1 $storming") or die 'there is no storm';
	my @asking = map { start_psql($node, $ANSWER x $attempts) } 1 .. 3;
	my @outcomes = map { split / /, finish_psql($_) } @asking;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) $storming");
	finish_psql($storm);
	return @outcomes;
}
my @outcomes = outcomes_under_terminations(100);
my $answers = grep { $_ eq 't' } @outcomes;
my $charges = spent($node) - $paid;
note(scalar(@outcomes) . " attempts, $charges charges, $answers answers");
is_deeply([ grep { !/^(t|58000)$/ } @outcomes ], [], 'threat 5: a terminated worker gives only its own error');
cmp_ok($answers, '<=', $charges, 'threat 5: no answer without a charge');
cmp_ok($charges, '<=', scalar(@outcomes), 'threat 5: no attempt charged twice');
cmp_ok($answers, '>', 0, 'threat 5: there are answers in between');
$paid += $charges;
check_entries('threat 5: after terminated workers');

# A new configuration does not change the durability of charges: the worker leaves, and every worker forces its settings.
$worker = stop_resident();
$session = start_psql($node, $ANSWER);
wait_until_requesting(1);
$node->append_conf('postgresql.conf', "synchronous_commit = off\nwal_writer_delay = 10s\nlock_timeout = 1\n");
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('synchronous_commit') = 'off'}) or die 'synchronous_commit stays on';
kill 'CONT', $worker;
is(finish_psql($session), 't', 'threat 3: synchronous_commit = off while a worker runs: a query gets an answer');
$paid++;
$node->stop('immediate');
$node->start;
spent_is('threat 3: synchronous_commit = off while a worker runs: the charge is durable');
$node->append_conf('postgresql.conf', "synchronous_commit = on\nwal_writer_delay = 200ms\nlock_timeout = 0\n");

# A commit that waits for a standby which never comes holds the worker between taking a request and answering it.
$node->append_conf('postgresql.conf', "synchronous_standby_names = 'nobody'\n");
$node->reload;
# Commits do not wait until the server has read the setting. A commit that has written nothing never waits.
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
is(finish_psql($session), '58000', 'threat 2: no answer if the worker ends before the commit is complete');
$paid++;
spent_is('threat 2: the charge is made without an answer');

# Sessions that are cancelled during the commit leave entries to which the worker still writes. If these were free at once,
# the worker would answer another session's request without a charge.
$session = start_psql($node, $ANSWER);
wait_for_commit();
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'analyst'});
is(finish_psql($session), '57014', 'threat 5: a session is cancelled while the commit waits');
$paid++;
$crowd = start_crowd($ENTRIES - 1);
wait_until_requesting($ENTRIES - 1);
$session = start_psql($node, $ANSWER, user => 'other');
$node->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
$node->reload;
$crowd->finish;
$paid += $ENTRIES - 1;
is(finish_psql($session), 't', 'threat 5: the other sessions get answers');
spent_is('threat 5: all charges are made');
is(spent($node, role => 'other'), 1, 'threat 5: each role pays for its own');
check_entries('threat 5: after a cancel during the commit');

# After SIGKILL of the worker under load the server restarts with empty entries.
my @asking = map { start_psql($node, $ANSWER x 5000) } 1 .. 4;
$node->poll_query_until('postgres', "SELECT count(*) > $paid + 100 FROM dpquantile.ledger WHERE role_name = 'analyst'");
$worker = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $RESIDENT");
$worker && kill 'KILL', $worker or die 'there is no resident worker under load';
$answers = grep { $_ eq 't' } map { split / /, finish_psql($_) } @asking;
wait_for_restart($node);
$charges = spent($node) - $paid;
note("$charges charges, $answers answers");
cmp_ok($answers, '<=', $charges, 'threat 2: no answer without a charge after SIGKILL of the worker');
cmp_ok($charges, '<', 20_000, 'threat 2: SIGKILL of the worker ends the sessions');
$paid += $charges;
check_entries('threat 2: after SIGKILL');

# Each database has its own worker, which does not block commands that need the database alone. They fail with 55006 if
# it stays for five seconds.
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
is(join(' ', map { finish_psql($_) } @sessions), 't t t t t t', 'two databases get answers at once');
is(spent($node, database => $_), 3, "charged in database $_") foreach ('one', 'two');
is(outcome($node, $ANSWER, database => 'one'), 't', 'a query gets an answer before ALTER DATABASE RENAME');
$node->safe_psql('postgres', 'ALTER DATABASE one RENAME TO first');
is(outcome($node, $ANSWER, database => 'first'), 't', 'ALTER DATABASE RENAME right after a charge');
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE first');
is(outcome($node, $ANSWER, database => 'copy'), 't', 'CREATE DATABASE TEMPLATE right after a charge');
is(spent($node, database => 'copy'), 6, 'the copy goes on from the spending of the original');
is(spent($node, database => 'first'), 5, 'the original is not charged for the copy');
$node->safe_psql('postgres', 'DROP DATABASE copy');
is(outcome($node, $ANSWER, database => 'first'), 't', 'DROP DATABASE right after a charge');
$worker = stop_resident('first');
@sessions = map { start_psql($node, $ANSWER, database => 'first') } 1 .. 2;
wait_until_requesting(2);
my $drop = start_psql($node, 'DROP DATABASE first WITH (FORCE)', user => 'postgres');
is(join(' ', map { finish_psql($_) } @sessions), '57P01 57P01', 'DROP DATABASE FORCE ends the sessions');
kill 'CONT', $worker;
is(finish_psql($drop), '', 'DROP DATABASE FORCE ends the worker');
check_entries('after DROP DATABASE FORCE');

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|out of shared memory/, 'the log has no PANIC, no TRAP and no lack of shared memory');
done_testing();
