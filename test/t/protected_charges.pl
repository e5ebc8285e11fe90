# threats 1, 2, 5, 47, 125, 126: charges for private queries over protected tables. A query is charged before it reads the first row, and only if it
# is accepted.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use ProtectedTables;
use Test::More;
use Time::HiRes 'usleep';

my $node = protected_node('protected_charges', budget => 1000, delta => 0.1, conf => "restart_after_crash = on\nlog_statement = none\nmax_prepared_transactions = 1");
my $paid = 0;

sub few { return summary(seen($node, 'few', @_)) }

sub is_charged
{
	my ($epsilon, $name) = @_;
	is(spent($node) - $paid, $epsilon, "$name: charged");
	$paid = spent($node);
	return;
}

# ---- What is charged ----

is(few($COUNT), 't', 'an answer');
is_charged(1, 'an answer');
is(few("BEGIN; $COUNT; ROLLBACK"), 't', 'an answer in a transaction that is rolled back');
is_charged(1, 'threat 1: a transaction that is rolled back');
is(few("DO \$\$ BEGIN PERFORM dp_count(1) FROM staff; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END \$\$"), '', 'an exception block');
is_charged(1, 'threat 1: an exception block');
is(few("PREPARE p AS $COUNT; EXECUTE p; EXECUTE p; EXECUTE p"), 't t t', 'three executions');
is_charged(3, 'three executions');
is(few("$COUNT UNION ALL $COUNT"), 't t', 'two blocks');
is_charged(2, 'two blocks');
is(few('SELECT (SELECT dp_count(1) FROM staff WHERE department = d.id) IS NOT NULL FROM department d WHERE id < 4'), 't t t', 'a block for each row');
is_charged(3, 'a block for each row');
is(few("SELECT 1 FROM ($COUNT) t"), '1', 'an answer that nobody looks at');
is_charged(1, 'an answer that nobody looks at');

is(few('SELECT count(*), dp_count(1) FROM staff'), '42501', 'refused: an exact aggregate');
is(few($_), '0A000', "refused: $_")
  for 'SELECT dp_count(1) FROM staff, staff s', 'SELECT dp_count(1) FROM staff WHERE random() < 0.5',
  'SELECT department, dp_count(1) FROM staff GROUP BY department';
is(few("EXPLAIN $COUNT"), '0A000', 'refused: EXPLAIN');
is(few('SELECT dp_count(0.001) IS NOT NULL FROM staff'), '22023', 'refused: less than the smallest epsilon');
is(few('PREPARE p (int) AS SELECT dp_count(1) FROM staff WHERE id > 1 / $1; SET plan_cache_mode = force_generic_plan; EXECUTE p (0)'), '22012',
	'refused: an error in a part without columns');
is(few("PREPARE p AS $COUNT; DECLARE c CURSOR WITH HOLD FOR SELECT * FROM staff LIMIT 0"), '', 'not executed, and a probe');
is(few("SELECT * FROM ($COUNT) t LIMIT 0"), '', 'an answer that is not computed');
is_charged(0, 'threat 47: what is refused or not executed');

# ---- A query that does not read to the end ----

# A note is out of line in 100 rows. While its table of large values has no usable index, a query that compares it waits.
$node->safe_psql('postgres', q{
	SET ROLE owner;
	CREATE TABLE few.note (id int, number numeric);
	INSERT INTO few.note SELECT i, (repeat('9', 60) || '.' || repeat('7', 30) || i)::numeric FROM generate_series(1, 100000) i;
	SELECT dp_protect_table('few.note'), dp_grant_private_access('few.note', 'analyst')});
my $scan = q{SELECT dp_count(1) IS NOT NULL FROM note WHERE number ^ 0.31 + (number + 1) ^ 0.32 + (number + 2) ^ 0.33 = 0};

# Runs a statement while the scan, which takes long, reads rows, and returns the outcome of the query.
sub during_scan
{
	my ($sql, $act, $name) = @_;
	my $waiting = start_psql($node, "SET search_path = few, public; $sql");
	$node->poll_query_until('postgres', "SELECT epsilon_spent = $paid + 1 FROM dpquantile.budget WHERE role = 'analyst'::regrole") or die 'the scan is not charged';
	is_charged(1, "threat 47: $name, before the scan is at its end");
	$act->();
	my $outcome = finish_psql($waiting);
	is_charged(0, "threat 47: $name, once");
	return $outcome;
}

sub end_analysts
{
	my ($function) = @_;
	return sub { $node->safe_psql('postgres', "SELECT $function(pid) FROM pg_stat_activity WHERE usename = 'analyst'") };
}

sub wait_for_end_of
{
	my ($role) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = '$role'") or die "the session of $role does not end";
	return;
}

is(during_scan($scan, end_analysts('pg_cancel_backend'), 'a query that is cancelled'), '57014', 'threat 5: cancelled during the scan');
# The session's own settings would have its last transaction wait for that of the writer, and write nothing.
my $writer = $node->background_psql('postgres');
$writer->query_safe('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT FROM person LIMIT 1; CREATE TABLE written ()');
is(during_scan("SET synchronous_commit = off; SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE; BEGIN ISOLATION LEVEL REPEATABLE READ; $scan",
		sub { end_analysts('pg_terminate_backend')->(); wait_for_end_of('analyst') }, 'a session that is terminated'),
	'57P01', 'threats 5, 126: terminated during the scan, whatever the session has set');
$writer->query_safe('ROLLBACK');
$writer->quit;
is(during_scan("SET statement_timeout = '3s'; $scan", sub { }, 'a statement timeout'), '57014', 'threat 5: a timeout during the scan');
is(during_scan("SET exit_on_error = on; SET statement_timeout = '3s'; $scan", sub { }, 'an error that ends the session'),
	'57014', 'threat 126: an error that ends the session');
is(few('SELECT dp_count(1) IS NOT NULL FROM note'), 't', 'the next query works');
is_charged(1, 'the next query');

# ---- How often a query may end early (threat 126) ----

# The SQLSTATEs with which queries of the note have ended early, none for the end of a session.
sub early_ends
{
	return $node->safe_psql('postgres',
		q{SELECT string_agg(coalesce(sqlstate, 'none') || CASE WHEN closes THEN ' closes' ELSE '' END, ' ' ORDER BY failed_at)
			FROM dpquantile.failed_read WHERE relation = 'few.note'::regclass AND grantee = 'analyst'});
}
is(early_ends(), '57014 none 57014 57014', 'threat 126: each end during the scan is counted, although the transaction is aborted');
like($node->safe_psql('postgres', q{SELECT status || ' ' || detail FROM dp_health() WHERE subject = 'analyst on few.note'}),
	qr/^ok queries that were cancelled.*: 4; private access closes after 100\z/, 'threat 126: dp_health shows the number');

# Before the first row is read, nothing is known of rows. The budget is locked for the time of the cancel.
my $before_rows = hold_budget($node);
my $early = start_psql($node, "SET search_path = few, public; $scan");
wait_for_charges_at_lock($node, 1);
end_analysts('pg_cancel_backend')->();
is(finish_psql($early), '57014', 'threat 126: cancelled before the charge');
$before_rows->query_safe('COMMIT');
$before_rows->quit;
is(early_ends(), '57014 none 57014 57014', 'threat 126: a cancel before the first row is not counted');
# The charge may have been made.
$paid = spent($node);

# An exception block sees the cancel, and does not undo the count. The limit is that of the grant; it closes the next execution, of
# prepared queries and open sessions too.
my $open = start_session($node, 'analyst');
is(answered($open, "PREPARE p AS SELECT dp_count(1) IS NOT NULL FROM note; EXECUTE p"), 't', 'threat 126: a prepared query');
is_charged(1, 'a prepared query');
$node->safe_psql('postgres', q{SET ROLE owner; SELECT dp_grant_private_access('few.note', 'analyst', most_cancels => 4)});
is(answered($open, 'EXECUTE p'), 't', 'threat 126: as many as the grant allows');
is_charged(1, 'as many as the grant allows');
is(during_scan("SET statement_timeout = '3s'; DO \$\$ BEGIN PERFORM dp_count(1) FROM note WHERE number ^ 0.31 + (number + 1) ^ 0.32 + (number + 2) ^ 0.33 = 0; EXCEPTION WHEN query_canceled THEN NULL; END \$\$",
		sub { }, 'a timeout that is caught'), '', 'threat 126: an exception block');
is(answered($open, 'EXECUTE p'), '42501', 'threat 126: one more than the grant allows closes access, also to a prepared query');
is(few('SELECT dp_count(1) IS NOT NULL FROM staff'), 't', 'threat 126: the other table stays open');
is_charged(1, 'the other table');
# A crash forgets nothing.
is( $node->safe_psql('postgres', q{SELECT problem FROM dp_protected_tables WHERE relation = 'few.note'::regclass}),
	'private access is closed: queries that were cancelled, or ran out of time or memory, while they read its rows: 5', 'threat 126: the owner sees it');
$node->stop('immediate');
$node->start;
is(few('SELECT dp_count(1) IS NOT NULL FROM note'), '42501', 'threat 126: it stays closed after a crash');
$node->safe_psql('postgres', q{SET ROLE owner; SELECT dp_open_private_access('few.note', 'analyst')});
is(few('SELECT dp_count(1) IS NOT NULL FROM note'), 't', 'threat 126: the owner opens it');
is_charged(1, 'the owner opens it');
eval { $open->quit };

# No worker can note it, because the table is locked. The session ends, and notes it when the lock is gone.
my $locks = $node->background_psql('postgres');
my $ended = during_scan($scan, sub {
	$locks->query_safe('BEGIN; LOCK TABLE dpquantile.ledger IN SHARE MODE');
	end_analysts('pg_cancel_backend')->();
}, 'a cancel that no worker can note');
$locks->query_safe('COMMIT');
$locks->quit;
is($ended, '57014', 'threat 126: a cancel that no worker can note ends the session');
is(early_ends(), '57014', 'threat 126: the session notes it when it ends');

# Nothing is read yet when the key of hashes is: an error is an ordinary one, and the session goes on.
my $key = $node->background_psql('postgres');
$key->query_safe('BEGIN; LOCK TABLE dpquantile.user_key');
is(few("SET statement_timeout = '200ms'; $COUNT; SELECT 'goes on'"), 'goes on 57014', 'a timeout before the watch begins');
$key->query_safe('COMMIT');
$key->quit;
# Nor do the settings change that a read has for itself, whenever a timeout comes.
my $names = join ', ', ('pg_default') x 50000;
is(few("SET temp_tablespaces = $names; SET work_mem = '5MB';\n"
	  . join('', map { "SET statement_timeout = $_; $COUNT;\n" } 5, 10, 20, 40)
	  . "RESET statement_timeout; SELECT current_setting('work_mem'), current_setting('hash_mem_multiplier')") =~ s/^(?:t )*//r =~ s/ .*//r,
	'5MB|2', 'the settings of memory after timeouts');
# A setting that a function makes for its transaction is undone at the end of it, and one for the session stays.
my $own = q{CREATE FUNCTION pg_temp.set(local boolean) RETURNS boolean LANGUAGE plpgsql AS
	$$ BEGIN PERFORM set_config('work_mem', '5MB', local), set_config('hash_mem_multiplier', '3', local); RETURN true; END $$;};
like(few("$own BEGIN; SELECT dp_count(1) IS NOT NULL FROM department WHERE pg_temp.set($$_[0]); COMMIT; SELECT current_setting('work_mem'), current_setting('hash_mem_multiplier')"),
	qr/\Q$$_[1]\E$/, "threat 171: settings that a function changes, $$_[0]")
  for [ 'true', '4MB|2' ], [ 'false', '5MB|3' ];
# What is around answers, and a block that runs while another one reads, take as much as the session's settings say.
my $joins = join ' ', map { "JOIN (VALUES (1), (2)) v$_ (i) ON v$_.i = staff.id" } 1 .. 3;
my %large = (
	'a block in a condition of another' =>
	  "SELECT dp_count(1) IS NOT NULL FROM department WHERE id < 3 AND id <> (SELECT dp_count(staff.id, 1) FROM staff $joins WHERE staff.id < department.id)",
	'groups around an answer' =>
	  "SET enable_sort = off; SELECT count(*) > 0 FROM (SELECT g FROM generate_series(1, 2000000) g, ($COUNT) a GROUP BY g) t");
for my $what (sort keys %large)
{
	my $reader = start_session($node, 'analyst');
	my $process = answered($reader, 'SELECT pg_backend_pid()');
	like(answered($reader, $large{$what}), qr/^t( t)?$/, $what);
	my ($peak) = slurp_file("/proc/$process/status") =~ /VmHWM:\s+(\d+)/;
	cmp_ok($peak / 1024, '<', 160, "threat 171: megabytes of $what");
	$reader->quit;
}
$node->safe_psql('postgres', 'DELETE FROM dpquantile.failed_read');
$paid = spent($node);

# ---- The end of a budget ----

$node->safe_psql('postgres', "SELECT dp_grant_budget('analyst', $paid + 3, 0.1)");
is(few("BEGIN; DECLARE c CURSOR FOR SELECT dp_count(2) IS NOT NULL FROM staff UNION ALL SELECT dp_count(2) IS NOT NULL FROM staff; FETCH c; FETCH c"),
	't 53400', 'threat 4: the second of two blocks does not fit');
is_charged(2, 'threat 4: the first of two blocks');
is(few('SELECT dp_count(1), dp_avg(salary, 0.5, 0, 10) FROM staff'), '53400', 'threat 4: two aggregates of which one would fit');
is_charged(0, 'threat 4: two aggregates of which one would fit');
is(few("$COUNT; $COUNT"), 't 53400', 'threat 4: the last answer');
is_charged(1, 'threat 4: the last answer');
is(few('SELECT * FROM staff LIMIT 0; SELECT * FROM staff'), '42501', 'probes and refusals need no budget');
$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 1000, 0.1)});

# ---- A crash ----

my @processes = split /\n/, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity');
my $session = start_session($node, 'analyst');
is(answered($session, "SET synchronous_commit = off; BEGIN; $COUNT"), 't', 'an answer in an open transaction');
push @processes, split /\n/, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity');
kill_and_recover($node, @processes);
eval { $session->quit };
is_charged(1, 'threat 2: SIGKILL right after the answer');
is(few($COUNT), 't', 'the protection survives a crash: an answer');
is(few('SELECT count(*) FROM staff'), '42501', 'the protection survives a crash: a refusal');
is_charged(1, 'after the crash');

# ---- An error that only a row can raise (threat 125) ----

# The query fails at a page that is damaged. What follows makes the note of it difficult.
my $damaged = 100;
my $pages = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('few.note')");
$node->stop;
open my $file, '+<:raw', $pages or die "$pages: $!";
seek $file, $damaged * 8192, 0 or die "$pages: $!";
print $file 'damaged' x 100;
close $file or die "$pages: $!";
$node->start;
my $failing = 'SELECT dp_count(1) IS NOT NULL FROM note';

sub open_notes { return $node->safe_psql('postgres', q{SET ROLE owner; SELECT dp_open_private_access('few.note', 'analyst')}) }

# Neither a session nor the worker gets a lock in shared memory until those of this session are gone. The other one has all that it needs.
# (PostgreSQL 16 and 17 have it wait for the page until the transaction ends.)
open_notes();
my $most_locks = session($node, 'postgres');
my $others = session($node, 'postgres');
my $early_ends = q{SELECT count(*) FROM dpquantile.failed_read};
outcome_in($others, "$early_ends; SELECT FROM few.note LIMIT 1");
my $log = -s $node->logfile;
my $damaged_page = "SELECT FROM few.note WHERE ctid = '($damaged,1)'";
my @meanwhile;
is( during_scan("$scan; SELECT 2", sub {
			outcome_in($most_locks, 'SELECT pg_advisory_lock(i) FROM generate_series(1, 1000000) i');
			$node->wait_for_log(qr/a private query failed while it read rows: invalid page in block $damaged/, $log);
			@meanwhile = map { outcome_in($others, $_) } $early_ends, $node->pg_version < 16 ? $damaged_page : ();
			# The session tries every half second, by the resident worker or, if that has ended for want of locks, by one of its own.
			sleep 2;
			$most_locks->quit;
		}, 'an error while the table of locks is full'), '2 58000', 'threat 125: an error while the table of locks is full');
is_deeply(\@meanwhile, [ 0, $node->pg_version < 16 ? 'XX001' : () ], 'threat 126: nobody can note it meanwhile, and others need not wait for the page');
is(early_ends(), 'XX001 closes', 'threat 126: it is noted as soon as there is a lock');
open_notes();

# The session that ends stays until it can note it, however often it has tried. A signal ends the pause between two tries.
$log = -s $node->logfile;
$most_locks = session($node, 'postgres');
is( during_scan($scan, sub {
			my $pid = outcome_in($others, q{SELECT pid FROM pg_stat_activity WHERE usename = 'analyst'});
			outcome_in($most_locks, 'SELECT pg_advisory_lock(i) FROM generate_series(1, 1000000) i');
			my $tries_after = 150;
			for my $signal (1 .. 1500)
			{
				kill 'USR1', $pid or last;
				usleep(20_000);
				last if slurp_file($node->logfile, $log) =~ /ended early (?:cannot|could not) be noted/ && $tries_after-- == 0;
			}
			$most_locks->quit;
		}, 'a note that cannot be written for long'), '58000', 'threat 164: an error that nobody can note for long ends the session');
wait_for_end_of('analyst');
is(early_ends(), 'XX001 closes', 'threat 164: it is noted whenever there is a lock again');
$others->quit;
open_notes();

is(few("SET exit_on_error = on; $failing; SELECT 1"), '58000', 'threat 126: an error that ends the session shows no text');
is(early_ends(), 'XX001 closes', 'threat 126: an error that ends the session closes access');
open_notes();

is(few("BEGIN ISOLATION LEVEL REPEATABLE READ; SAVEPOINT s; $failing; ROLLBACK TO s; $failing; ROLLBACK TO s; ROLLBACK; $failing"),
	'58000 42501 42501', 'threat 125: access is closed for the rest of the transaction, and after it');
is(early_ends(), 'XX001 closes', 'threat 125: the note outlives a transaction that is rolled back');

done_testing();
