# What PostgreSQL tells of the rows behind an approved function: statistics, sizes, locks, EXPLAIN, serialization failures.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use RestrictedRoles;
use Test::More;

my $node = restricted_node('restricted_facts');

# ---- Statistics ----

is(outcome($node, 'SELECT median_of(8)'), 't', 'approved functions work in a restricted session');
leak_is_closed(
	$node,
	"threat 31: counters of a filter for person $_->[0]",
	"SET enable_seqscan = off; BEGIN; SELECT median_of($_->[0]);
	 SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'staff'",
	"t $_->[1]", 't') for [ 8, 1 ], [ 9, 0 ];
leak_is_closed($node, 'threat 31: sizes', q{SELECT pg_relation_size('staff') > 0}, 't', '');
leak_is_closed($node, 'threat 31: locks', 'SELECT count(*) > 0 FROM pg_locks', 't', '42501');
leak_is_closed($node, 'threat 31: another session', 'SELECT count(*) > 0 FROM pg_stat_activity', 't', '42501');
# The process 1 belongs to nobody. A warning says so, an error that it is somebody else's.
leak_is_closed($node, "threat 127: $_", "SELECT $_(1)", 'f', '42501') for 'pg_cancel_backend', 'pg_terminate_backend';
leak_is_closed($node, 'threat 31: pg_stat_statements', 'SELECT count(*) > 0 FROM pg_stat_statements', 't', '42501');
leak_is_closed($node, 'threat 31: the write-ahead log',
	q{SELECT pg_logical_emit_message(false, 'x', 'y') > '0/0'}, 't', '42501');
leak_is_closed($node, "threat 314: $_", "SELECT $_", '1', '42501')
	for q{count(*) FROM pg_last_committed_xact() WHERE timestamp IS NOT NULL},
	q{count(pg_xact_commit_timestamp(xmin)) FROM pg_proc WHERE proname = 'median_of'};
leak_is_closed($node, 'threat 31: a function of the owner', 'SELECT size_by_owner() > 0', 't', '');

if ($node->pg_version >= 19)
{
	leak_is_closed($node, "threat 226: $_->[0]", $_->[1], $_->[2], '42501')
		for [ 'waits for locks', q{SELECT count(*) > 0 FROM pg_stat_lock}, 't' ],
		[ 'the need of a vacuum', q{SELECT count(*) > 0 FROM pg_stat_autovacuum_scores}, 't' ],
		[ 'locks of rows', q{SELECT count(*) FROM pg_get_multixact_stats()}, '1' ],
		[ 'waiting for the write-ahead log', q{WAIT FOR LSN '0/1' WITH (MODE 'primary_flush', TIMEOUT '1s', NO_THROW)}, 'success' ];
}

# sql/hidden_facts.sql has more ways.
leak_is_closed($node, "threat 31: $_->[0] of pg_class", "SELECT $_->[0] FROM pg_class c WHERE relname = 'staff'", $_->[1], $_->[2])
	for [ 'reltuples', '5000', '-1' ], [ 'relpages > 0', 't', 'f' ], [ q{row_to_json(c)->>'reltuples'}, '5000', '-1' ];
leak_is_closed($node, 'threat 31: a condition on reltuples',
	q{SELECT count(*) FROM pg_class WHERE relname = 'staff' AND reltuples > 4999}, '1', '0');
is(outcome($node, 'COPY pg_class (relname, reltuples) TO STDOUT'), '42501', 'threat 31: COPY of pg_class');
# Of tables that a role cannot read, PostgreSQL shows no statistics. But pg_class itself is a table with statistics.
$node->safe_psql('postgres', 'ANALYZE pg_class');
is(outcome($node, q{SELECT count(*) FROM pg_stats WHERE tablename = 'staff'}, user => 'free'),
	'0', 'threat 31: pg_stats of a table that the role cannot read');
leak_is_closed($node, 'threat 31: pg_stats of pg_class',
	q{SELECT '5000' = ANY (histogram_bounds::text::text[]) OR '5000' = ANY (most_common_vals::text::text[])
	  FROM pg_stats WHERE tablename = 'pg_class' AND attname = 'reltuples'}, 't', '42501');

# What tools ask needs none of it.
unlike(outcome($node, $_), qr/\b(42501|0A000|55000)$/, "$_ works in a restricted session")
	for '\d', '\d staff', '\dt', '\di', '\dv', '\df+', '\dn+', '\du', '\l', '\dx', '\dT', '\sf median_of', '\d+ median_view';
$node->safe_psql('postgres', 'CREATE TABLE readable (id int PRIMARY KEY); GRANT SELECT ON readable TO analyst');
$node->command_ok([ 'pg_dump', '-U', 'analyst', '-s', '-t', 'readable', '-f', '/dev/null', 'postgres' ], 'pg_dump -s works in a restricted session');
is( outcome(
		$node, q{
		DO $$
		DECLARE
			name text;
			rows bigint;
		BEGIN
			FOR name IN SELECT 'information_schema.' || quote_ident(table_name) FROM information_schema.views
				WHERE table_schema = 'information_schema'
			LOOP
				EXECUTE format('SELECT count(v) FROM (SELECT * FROM %s) v', name) INTO rows;
			END LOOP;
		END $$}),
	'', 'information_schema works in a restricted session');

# ---- Plans that are chosen before permissions are checked ----

# How the costs of a generic and of a custom plan compare depends on the estimated rows of a table that neither role can
# read. The custom plan knows that \$1 = 1 is false, the generic one does not.
sub chosen_plan
{
	my ($other_rows) = @_;
	return qq{
	SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;
	CREATE FUNCTION pg_temp.costly(text) RETURNS int LANGUAGE plpgsql VOLATILE COST 1000000 AS 'BEGIN RETURN 1; END';
	PREPARE p (int, float8) AS SELECT pg_temp.costly(id::text) FROM staff WHERE id <= 1000 AND \$1 = 1
		UNION ALL SELECT pg_temp.costly('x') FROM generate_series(1, \$2::int8);
	} . "EXECUTE p (0, $other_rows);\n" x 6 . "SELECT generic_plans FROM pg_prepared_statements WHERE name = 'p';\n";
}
my $denied = join ' ', ('42501') x 6;
is(told($node, chosen_plan($_->[0]), user => 'free'), "$_->[1] $denied", "threat 30: the choice of a plan tells rows: $_->[0]")
	for [ 1400, 0 ], [ 1600, 1 ];
is(told($node, chosen_plan($_)), "0 $denied", "threat 30: a restricted role gets no plan: $_") for 1400, 1600;

# The number of parallel workers depends on the size of a table. The numbers of later processes tell it. After a vacuum the
# index alone would be read, by no worker.
for my $user ('free', 'analyst')
{
	my $plan = $node->safe_psql('postgres', q{
		SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET enable_indexonlyscan = off;
		EXPLAIN (COSTS off) SELECT count(*) FROM pg_proc}, extra_params => [ '-U', $user ]);
	is($plan =~ /Gather/ ? 1 : 0, $user eq 'free' ? 1 : 0, "threat 31: parallel workers of $user");
}

# The planner gives the statistics of pg_class to an operator of the user's own, and its function prints them.
my $printed = q{
	CREATE FUNCTION pg_temp.leak(float4, float4) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS
		$$ BEGIN RAISE INFO '%', CASE WHEN $1 > 0 THEN 'rows' ELSE 'none' END; RETURN true; END $$;
	CREATE OPERATOR pg_temp.<<< (leftarg = float4, rightarg = float4, function = pg_temp.leak, restrict = scalarltsel);
	EXPLAIN SELECT 1 FROM pg_class WHERE reltuples OPERATOR(pg_temp.<<<) 5;
};
for my $user ('free', 'analyst')
{
	my ($status, undef, $messages) = $node->psql('postgres', $printed, extra_params => [ '-U', $user ]);
	my %seen = map { $_ => 1 } $messages =~ /INFO:  (\w+)/g;
	is(join(' ', sort keys %seen), $user eq 'free' ? 'none rows' : 'none', "threat 31: statistics of pg_class for $user");
}

# ---- EXPLAIN and maintenance ----

my $ignore_plan = '\o /dev/null';
for my $options ('ANALYZE', 'ANALYZE, TIMING off', 'BUFFERS', 'ANALYZE false, BUFFERS true', 'ANALYZE, WAL')
{
	leak_is_closed($node, "threat 30: EXPLAIN ($options)", "$ignore_plan\nEXPLAIN ($options) SELECT median_of(8);\n", '', '0A000');
}
leak_is_closed($node, "threat 30: $_", "$ignore_plan\n$_\n", '', '0A000')
	for 'EXPLAIN ANALYZE SELECT median_of(8);',
	'PREPARE p AS SELECT median_of(8); EXPLAIN (ANALYZE) EXECUTE p;',
	'EXPLAIN ANALYZE CREATE TEMP TABLE t AS SELECT median_of(8);',
	q{DO $$ BEGIN EXECUTE 'EXPLAIN ANALYZE SELECT median_of(8)'; END $$;},
	'EXPLAIN SELECT * FROM median_view;',
	'EXPLAIN (COSTS off) SELECT * FROM median_view;',
	'PREPARE p AS SELECT * FROM median_view; EXPLAIN EXECUTE p;';
leak_is_closed($node, "threat 146: $_", "$_\n", '', '42501') for 'LISTEN changes;', q{DO $$ BEGIN EXECUTE 'LISTEN changes'; END $$;};
if ($node->pg_version >= 17)
{
	leak_is_closed($node, "threat 30: EXPLAIN ($_)", "$ignore_plan\nEXPLAIN ($_) SELECT median_of(8);\n", '', '0A000')
		for 'MEMORY', 'ANALYZE, SERIALIZE';
	is(outcome($node, "$ignore_plan\nEXPLAIN (SERIALIZE none, MEMORY off) SELECT median_of(8);\n"), '', 'options that are off');
}
is(outcome($node, "$ignore_plan\n$_\n"), '', "$_ works in a restricted session")
	for 'EXPLAIN SELECT median_of(8);', 'EXPLAIN (COSTS off, ANALYZE false, BUFFERS off, FORMAT json) SELECT median_of(8);',
	'EXPLAIN SELECT * FROM pg_roles;';

$node->safe_psql('postgres', "CREATE DATABASE of_$_ OWNER $_") for 'free', 'analyst';
for my $user ('free', 'analyst')
{
	$node->safe_psql("of_$user", 'CREATE TABLE staff AS SELECT generate_series(1, 100) AS id');
}
for my $sql ('VACUUM (VERBOSE) staff', 'ANALYZE VERBOSE staff', 'REINDEX (VERBOSE) TABLE own', 'CLUSTER VERBOSE own')
{
	my $own = 'CREATE TABLE own (id int PRIMARY KEY); ALTER TABLE own CLUSTER ON own_pkey;';
	is(told($node, "$own $sql", user => 'free', database => 'of_free'),
		'INFO', "threat 30: $sql tells the owner of a database the rows");
	is(told($node, "$own $sql", database => 'of_analyst'), '0A000', "threat 30: $sql of a restricted role does not");
	$node->safe_psql("of_$_", 'DROP TABLE own') for 'free', 'analyst';
}
if ($node->pg_version >= 19)
{
	my $position = q{CREATE SEQUENCE own; SELECT nextval('own'); SELECT page_lsn > '0/0' FROM pg_get_sequence_data('own')};
	is(told($node, $position, user => 'free', database => 'of_free'), '1 t', 'threat 226: a sequence tells the position in the write-ahead log');
	is(told($node, $position, database => 'of_analyst'), '1 42501', 'threat 226: a sequence of a restricted role does not');
	is(told($node, 'REPACK (VERBOSE) staff', user => 'free', database => 'of_free'), 'INFO', 'threat 226: REPACK (VERBOSE) tells the rows');
	is(told($node, 'REPACK (VERBOSE) staff', database => 'of_analyst'), '0A000', 'threat 226: REPACK (VERBOSE) of a restricted role does not');
}
is(outcome($node, 'ANALYZE staff', database => 'of_analyst', options => '-c client_min_messages=debug2'),
	'55000', 'threat 30: ANALYZE does not print the rows as DEBUG messages');
is(told($node, 'VACUUM staff; ANALYZE (VERBOSE off) staff', database => 'of_analyst'),
	'', 'VACUUM without VERBOSE works in a restricted session');

# ---- Serialization failures ----

# free and the analyst read the row of a person while a transaction changes it.
sub serialization
{
	my ($user, $person) = @_;
	my $writer = $node->background_psql('postgres');
	my $reader = $node->background_psql('postgres', extra_params => [ '-U', $user ], on_error_stop => 0);
	$node->safe_psql('postgres', 'CREATE TABLE IF NOT EXISTS note (n int); GRANT ALL ON note TO PUBLIC');
	$reader->query('SET enable_seqscan = off; BEGIN ISOLATION LEVEL SERIALIZABLE');
	$reader->query("SELECT median_of($person)");
	$reader->query('INSERT INTO note VALUES (1)');
	$writer->query_safe('BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM note');
	$writer->query_safe('UPDATE staff SET salary = salary WHERE id = 8');
	$writer->query_safe('COMMIT');
	$reader->query('COMMIT');
	my $fails = $reader->{stderr} =~ /could not serialize/ ? 'fails' : 'commits';
	$fails = 'refused' if $reader->{stderr} =~ /SERIALIZABLE transactions are not supported/;
	$reader->quit;
	$writer->quit;
	return $fails;
}
is(serialization('free', 8), 'fails', 'threat 53: a serialization failure tells an unrestricted role who was read');
is(serialization('free', 9000), 'commits', 'threat 53: and who was not');
is(serialization('analyst', 8), 'refused', 'threat 53: a restricted role cannot ask in a serializable transaction');
is(outcome($node, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT median_of(8); COMMIT'), 't', 'REPEATABLE READ works');

done_testing();
