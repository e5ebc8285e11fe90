package DpQuantile;

# Shared by these tests: a server with a table of people and a role `analyst` who may query it. One
# answer costs epsilon 1, so the spending counts the answers.

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'usleep';

# The superuser's name does not depend on who runs the tests.
$ENV{PGUSER} = 'postgres';

our @EXPORT = qw($ANSWER $PRELOADED init_node new_node outcome session outcome_in start_psql finish_psql spent hold_budget
	wait_for_charges_at_lock wait_for_restart kill_and_recover parallel_for_all);

# One private answer. Prints t, because the answer itself is random.
our $ANSWER = 'SELECT dp_median(age, 1, 0, 100) IS NOT NULL FROM person;';

# Whether the library is preloaded, so that resident workers make the charges. DPQ_PRELOADED=1 sets it. Every test about
# charges passes with resident workers and without them.
our $PRELOADED = $ENV{DPQ_PRELOADED} // 0;

# Options of initdb. The encoding and the order of text do not depend on the environment.
my @INITDB = ('--username=postgres', '--encoding=UTF8', '--locale=C');

# A data directory that no server has used. It is made once a run of prove, whose files may run side by side.
sub data_template
{
	my $template = "$PostgreSQL::Test::Utils::tmp_check/initdb";
	return $template if -d $template;
	my $new = PostgreSQL::Test::Utils::tempdir() . '/initdb';
	PostgreSQL::Test::Utils::system_or_bail('initdb', '-D', $new, '-A', 'trust', '-N', @INITDB);
	rename $new, $template or -d $template or die "cannot rename $new: $!";
	return $template;
}

# Like init of PostgreSQL::Test::Cluster, with our options of initdb. Most tests need a cluster, and initdb takes ten times as long as a copy.
sub init_node
{
	my ($node, %params) = @_;
	my $template = data_template();
	my $system_or_bail = \&PostgreSQL::Test::Utils::system_or_bail;
	# PostgreSQL 17 and later would copy this one instead.
	delete local $ENV{INITDB_TEMPLATE};
	no warnings 'redefine';
	local *PostgreSQL::Test::Utils::system_or_bail = sub {
		return $system_or_bail->(@_) if $_[0] ne 'initdb';
		return $system_or_bail->('cp', '-RPp', $template, $node->data_dir);
	};
	$node->init(%params);
	return;
}

# preloaded: whether the library is preloaded, $PRELOADED by default; conf: lines for postgresql.conf;
# budget: the analyst's epsilon, ample by default; delta: the analyst's delta, 0 by default.
sub new_node
{
	my ($name, %params) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	init_node($node, allows_streaming => $params{allows_streaming});
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dpquantile'")
		if $params{preloaded} // $PRELOADED;
	# Whether an answer is smaller than its error depends on the noise.
	$node->append_conf('postgresql.conf', 'dpquantile.note_errors = off');
	$node->append_conf('postgresql.conf', $params{conf} // '');
	$node->start;
	my $budget = $params{budget} // 1000;
	my $delta = $params{delta} // 0;
	$node->safe_psql(
		'postgres', qq{
		CREATE EXTENSION dpquantile;
		CREATE ROLE analyst LOGIN;
		SELECT dp_grant_budget('analyst', $budget, $delta);
		CREATE TABLE person AS
			SELECT (i % 101)::float8 AS age, i % 7 AS dept FROM generate_series(1, 10000) i;
		GRANT SELECT ON person TO analyst;
		ANALYZE person});
	return $node;
}

# Runs statements in one session and returns what they print, then the SQLSTATEs of their errors.
# user: who connects, the analyst by default; database: 'postgres' by default; options: PGOPTIONS.
sub outcome
{
	my ($node, $sql, %params) = @_;
	return finish_psql(start_psql($node, $sql, %params));
}

# Like outcome, but does not wait. The caller ends it with finish_psql.
sub start_psql
{
	my ($node, $sql, %params) = @_;
	# Files need no pumping, as pipes would.
	my $file = PostgreSQL::Test::Utils::tempdir() . '/sql';
	append_to_file($file, "\\set VERBOSITY sqlstate\n$sql\n;");
	my @psql = (
		$node->installed_command('psql'), '-XAtq', '-U', $params{user} // 'analyst',
		'-d', $node->connstr($params{database} // 'postgres'));
	my $timeout = IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default);
	local $ENV{PGOPTIONS} = $params{options} if $params{options};
	my $run = IPC::Run::start(\@psql, '<', $file, '>', "$file.out", '2>', "$file.err", $timeout);
	return { run => $run, file => $file };
}

sub finish_psql
{
	my ($session) = @_;
	$session->{run}->finish;
	my $errors = slurp_file("$session->{file}.err");
	note($errors);
	my @states = $errors =~ /(?:ERROR|FATAL):\s+(\w{5})$/mg;
	return join ' ', split(' ', slurp_file("$session->{file}.out")), @states;
}

# Opens a session of this user that goes on after errors, for outcome_in.
sub session
{
	my ($node, $user) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', $user ]);
	# The time limit is for one query, not for all that the session runs.
	$session->set_query_timer_restart();
	return $session;
}

# Runs one statement in this session and returns what it prints, then the SQLSTATE of its error.
sub outcome_in
{
	my ($session, $sql) = @_;
	my $outcome = join ' ', split ' ', $session->query("$sql\n;\n\\if :ERROR\n\\echo :SQLSTATE\n\\endif\n");
	# The session would keep the messages of all errors, and print all of them again with each query.
	$session->{stderr} = '';
	return $outcome;
}

# The epsilon that a role has spent. Adds a text if the ledger and its archive have another sum of epsilon or rho.
sub spent
{
	my ($node, %params) = @_;
	my $role = $params{role} // 'analyst';
	return $node->safe_psql(
		$params{database} // 'postgres', qq{
		SELECT trim_scale(b.epsilon_spent)
			|| CASE WHEN b.epsilon_spent = l.total THEN '' ELSE ', but the ledger says ' || l.total END
			|| CASE WHEN b.rho_spent = l.rho THEN '' ELSE ', and rho ' || b.rho_spent || ' is ' || l.rho END
		FROM dpquantile.budget b,
			LATERAL (SELECT coalesce(sum(epsilon), 0) AS total, coalesce(sum(rho), 0) AS rho
				FROM (SELECT budget_id, epsilon, rho FROM dpquantile.ledger
					UNION ALL SELECT budget_id, epsilon, rho FROM dpquantile.budget_name) entries
				WHERE budget_id = b.budget_id) l
		WHERE b.role = '$role'::regrole AND b.table_id IS NULL});
}

# Returns a session that locks all budgets in an open transaction.
sub hold_budget
{
	my ($node) = @_;
	my $owner = $node->background_psql('postgres');
	$owner->query_safe('BEGIN; SELECT FROM dpquantile.budget FOR UPDATE');
	return $owner;
}

# Waits until this number of charges waits for a lock. Charges give up after 2 seconds.
sub wait_for_charges_at_lock
{
	my ($node, $number) = @_;
	$node->poll_query_until('postgres', qq{
		SELECT count(*) = $number FROM pg_stat_activity
		WHERE backend_type = 'dpquantile session' AND wait_event_type = 'Lock'})
		or die 'the charges do not wait for the lock';
	return;
}

# Waits until the server accepts connections again after a crash. A query on standard input, as poll_query_until sends it,
# ends in a broken pipe if psql gives up before it reads the query.
sub wait_for_restart
{
	my ($node) = @_;
	my @is_ready = ($node->installed_command('pg_isready'), '-q', '-d', $node->connstr('postgres'));
	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return if IPC::Run::run(\@is_ready);
		usleep(100_000);
	}
	die 'the server does not restart';
}

# The setting that runs every parallel-safe query in a parallel worker. PostgreSQL 16 renamed it.
sub parallel_for_all
{
	my ($node) = @_;
	return $node->safe_psql('postgres',
		q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});
}

# Ends every process of the server at once, as a power failure does, and starts the server again. processes: those that the
# postmaster has started.
sub kill_and_recover
{
	my ($node, @processes) = @_;
	$node->kill9;
	kill 'KILL', @processes;
	# A dead postmaster that nobody reaps would seem to be alive.
	unlink $node->data_dir . '/postmaster.pid';
	foreach my $attempt (1 .. 100)
	{
		last if $node->start(fail_ok => $attempt < 100);
		usleep(100_000);
	}
	return;
}

1;
