# The library and the extension's SQL objects in a database may be of different versions while an upgrade is half done, and
# so may the libraries of a session and of the workers that it starts. Nothing is answered then and nothing is charged.
# What costs nothing works, and so do dumps.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('versions');
my $version = sql_version();
$node->safe_psql(
	'postgres', q{
	SELECT dp_grant_budget('postgres', 100);
	CREATE TABLE release AS SELECT dp_cdf(age, 1, 0, 100) AS cdf FROM person;
	GRANT SELECT ON release TO analyst;
	-- Aggregates whose plans have no release node. Only a superuser can make them.
	CREATE AGGREGATE expose(float8, float8, float8, float8)
		(SFUNC = dpquantile.median_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_users(int, float8, float8, float8, float8)
		(SFUNC = dpquantile.user_mean_transition, STYPE = dpquantile.records_state)});

sub sql_version
{
	return $node->safe_psql($_[0] // 'postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'dpquantile'});
}

sub set_version
{
	my ($to, $database) = @_;
	return $node->safe_psql($database // 'postgres', "UPDATE pg_extension SET extversion = '$to' WHERE extname = 'dpquantile'");
}

# What psql prints as an error.
sub error_of
{
	my ($sql, $database) = @_;
	my ($status, $out, $error) = $node->psql($database // 'postgres', $sql);
	return $error;
}

# What dp_health tells of the version.
sub health_of_version
{
	return $node->safe_psql($_[0] // 'postgres', q{SELECT subject, status, detail FROM dp_health() WHERE check_name = 'version'});
}

is(health_of_version(), "$version|ok|the installed version", 'dp_health tells the version');

# ---- Other SQL objects than the library's ---------------------------------------------------------

my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'analyst' ]);
$session->query_safe("PREPARE ask AS $ANSWER");
is($session->query('EXECUTE ask'), 't', 'a prepared query is answered');
my $paid = spent($node);

foreach my $other ('0.2.9', '0.10.0')
{
	set_version($other);
	is(outcome($node, $ANSWER), '55000', "threat 56: no answer with SQL objects of $other");
	is(outcome($node, 'SELECT dp_user_mean(dept, age, 1, 0, 100) FROM person GROUP BY dept'), '55000', "threat 56: no answer about users with $other");
	is(outcome($node, "EXPLAIN $ANSWER"), '55000', "threat 56: no plan with $other");
	# Some versions of BackgroundPsql leave their separator in the output after an error.
	unlike($session->query('EXECUTE ask'), qr/^[tf]$/m, "threat 56: no answer to a prepared query with $other");
	like($session->{stderr}, qr/ERROR:  dpquantile's SQL objects are version \Q$other\E/, "threat 56: the session itself refuses it with $other");
	is(outcome($node, "SELECT $_ IS NULL FROM person", user => 'postgres'), '55000', "threat 56: no state with $other: $_")
	  foreach 'expose(age, 1, 0, 100)', 'expose_users(dept, age, 1, 0, 100)';
	is(outcome($node, $_, user => 'postgres'), '55000', "threat 56: refused with $other: $_")
	  foreach q{SELECT dp_grant_budget('analyst', 2000)}, q{SELECT dp_revoke_budget('analyst')},
	  q{SELECT dp_archive_ledger('infinity')}, q{SELECT dpquantile.check_version()};
	is(spent($node), $paid, "threat 56: nothing is charged with $other");

	is(outcome($node, 'SELECT dp_cdf_quantile(cdf, 0.5) > 0, length(dp_cdf_svg(cdf)) > 0, length(cdf::text) > 0 FROM release'),
		't|t|t', "a released value can be read with $other");
	is(outcome($node, 'SELECT epsilon_limit FROM dp_budget'), 1000, "the budget can be read with $other");
	my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
	my $copy = 'copy_' . $other =~ tr/./_/r;
	$node->safe_psql('postgres', "CREATE DATABASE $copy");
	$node->command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('postgres'), '-f', $dump ], "pg_dump works with $other");
	$node->command_ok([ 'pg_restore', '-e', '-d', $node->connstr($copy), $dump ], "the dump of $other can be restored");
	is(sql_version($copy), $version, 'a restored database has the objects of the installed version');
	is(spent($node, database => $copy), $paid, "threat 56: the dump of $other has the budgets");

	# A restore into objects of another version.
	$node->safe_psql($copy, 'TRUNCATE dpquantile.budget, dpquantile.ledger');
	set_version($other, $copy);
	$node->command_ok([ 'pg_restore', '-e', '--data-only', '-n', 'dpquantile', '-t', 'budget', '-t', 'ledger',
			'-d', $node->connstr($copy), $dump ], "budgets can be restored into objects of $other");
	is(spent($node, database => $copy), $paid, "threat 56: budgets are restored into objects of $other");
}

set_version('0.2.9');
is(error_of($ANSWER), "psql:<stdin>:1: ERROR:  dpquantile's SQL objects are version 0.2.9, but its library is version $version\n"
	. 'HINT:  Run ALTER EXTENSION dpquantile UPDATE in this database.', 'the error with older SQL objects says what to do');
is(health_of_version(),
	"0.2.9|critical|charges fail, because the library is version $version. Run ALTER EXTENSION dpquantile UPDATE in this database.",
	'dp_health tells of the update');
set_version('0.10.0');
is(error_of($ANSWER), "psql:<stdin>:1: ERROR:  dpquantile's SQL objects are version 0.10.0, but its library is version $version\n"
	. 'HINT:  Reconnect. If the server preloads the library, restart it. The installed library must be version 0.10.0.',
	'the error with newer SQL objects says what to do');
is(health_of_version(),
	"0.10.0|critical|charges fail, because the library is version $version. Reconnect. If the server preloads the library, restart it. "
	. 'The installed library must be version 0.10.0.', 'dp_health tells of an older library');

# The session sees its own change, and the worker does not.
my $unpaid = spent($node, role => 'postgres');
is(outcome($node, "BEGIN; UPDATE pg_extension SET extversion = '$version' WHERE extname = 'dpquantile'; $ANSWER", user => 'postgres'),
	'55000', 'threat 56: a worker compares the versions itself');
is(spent($node, role => 'postgres'), $unpaid, 'threat 56: the worker charges nothing');

set_version($version);
is($session->query('EXECUTE ask'), 't', 'an update helps sessions that are open');
$session->quit;
is(spent($node), $paid + 1, 'the answer after the update is charged');

# One session that has loaded the library.
is(outcome($node, qq{
		$ANSWER
		SET client_min_messages = error;
		DROP EXTENSION dpquantile CASCADE;
		CREATE EXTENSION dpquantile;
		UPDATE pg_extension SET extversion = '0.2.9' WHERE extname = 'dpquantile';
		$ANSWER
		UPDATE pg_extension SET extversion = '$version' WHERE extname = 'dpquantile';
		SELECT dp_grant_budget('postgres', 10);
		$ANSWER}, user => 'postgres'),
	't t 55000', 'threat 56: a session notices that its extension is replaced');
is(spent($node, role => 'postgres'), 1, 'threat 56: only the answer with the right version is charged');

# A preloaded library is that of all processes of the server: they inherit it.
if ($PRELOADED)
{
	$node->stop;
	done_testing();
	exit;
}

# ---- Workers with another library than the session's ----------------------------------------------

# Copies the installed library, with another version if one is given.
sub copy_library
{
	my ($to, $other) = @_;
	chomp(my $directory = `"$ENV{PG_CONFIG}" --pkglibdir`);
	my $library = slurp_file("$directory/dpquantile.so");
	if ($other)
	{
		my $bytes = 24;
		my $found = $library =~ s/\Q@{[ pack "a$bytes", $version ]}\E/pack "a$bytes", $other/ge;
		die "the library has its version $found times" unless $found == 1;
	}
	open(my $file, '>:raw', $to) or die "$to: $!";
	print $file $library;
	close($file) or die "$to: $!";
	return;
}

# A database whose sessions load the library at this path. Session workers load the installed one.
sub make_database
{
	my ($name, $path, $sql_version) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql(
		$name, q{
		CREATE EXTENSION dpquantile;
		SELECT dp_grant_budget('analyst', 1000);
		CREATE TABLE person AS SELECT (i % 101)::float8 AS age FROM generate_series(1, 10000) i;
		GRANT SELECT ON person TO analyst;
		CREATE AGGREGATE expose(float8, float8, float8, float8)
			(SFUNC = dpquantile.median_transition, STYPE = dpquantile.records_state)});
	$node->safe_psql($name, "UPDATE pg_proc SET probin = '$path' WHERE probin = '\$libdir/dpquantile'");
	set_version($sql_version, $name);
	return;
}

my $directory = PostgreSQL::Test::Utils::tempdir();

copy_library("$directory/other.so", '9.9.9');
make_database('other', "$directory/other", '9.9.9');
is(outcome($node, $ANSWER, database => 'other'), '55000', 'threat 57: no answer if the worker has another library than the session');
is(spent($node, database => 'other'), 0, 'threat 57: that worker charges nothing');
is(health_of_version('other'), "9.9.9|critical|charges of new sessions fail, because version $version is installed: reconnect",
	'dp_health tells that the session has another library than the installed one');
is(outcome($node, "BEGIN; SELECT 1; SAVEPOINT s; $ANSWER ROLLBACK TO s; $ANSWER", database => 'other'), '1 55000 55000',
	'threat 57: the session goes on after such an error');
like($node->safe_psql('other', q{SELECT dp_grant_budget('postgres', 10)}) . error_of($ANSWER, 'other'),
	qr/this session has loaded version 9\.9\.9 of dpquantile's library, and the worker version \Q$version\E\nHINT:  This call was not charged\. Reconnect\./,
	'the error names both versions');
like(slurp_file($node->logfile), qr/a session with the library of another version asked for a charge/, 'the log tells it, too');

# The library is replaced while a session is open.
copy_library("$directory/replaced.so");
make_database('replaced', "$directory/replaced", $version);
my $parallel = "SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET parallel_leader_participation = off; SET debug_parallel_query = on";
my $force = parallel_for_all($node);
$parallel =~ s/debug_parallel_query/$force/;
my $open = $node->background_psql('replaced', on_error_stop => 0, extra_params => [ '-U', 'analyst' ]);
$open->query_safe($parallel);
like($open->query("EXPLAIN $ANSWER"), qr/Parallel Seq Scan/, 'parallel workers would read the rows');
is($open->query($ANSWER), 't', 'a parallel query is answered');
copy_library("$directory/new", '9.9.9');
move("$directory/new", "$directory/replaced.so") or die $!;
unlike($open->query($ANSWER), qr/^[tf]$/m, 'threat 57: no answer if parallel workers have another library than the session');
like($open->{stderr}, qr/the state was made by the library of another version/, 'the session has noticed it');
is(spent($node, database => 'replaced'), 2, 'the charge was made before the workers read rows');
$open->quit;

# A state that a library of another version has made.
make_database('states', '$libdir/dpquantile', $version);
$node->safe_psql('states', qq{
	CREATE TABLE kept AS SELECT expose(age, 1, 0, 100) AS state FROM person;
	UPDATE pg_proc SET probin = '$directory/other' WHERE probin = '\$libdir/dpquantile';
	CREATE AGGREGATE merge(dpquantile.records_state) (SFUNC = dpquantile.records_combine, STYPE = dpquantile.records_state)});
set_version('9.9.9', 'states');
is(outcome($node, 'SELECT state::text FROM kept', database => 'states', user => 'postgres'),
	'55000', 'threat 57: a state of another library is not read');
is(outcome($node, 'SELECT merge(state) FROM kept, generate_series(1, 2)', database => 'states', user => 'postgres'),
	'55000', 'threat 57: a state of another library is not combined');

$node->stop;
done_testing();
