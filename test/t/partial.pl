# Partial states: the records of a group on a value grid give the same bytes under every plan and on every server.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('partial', conf => "jit = off\nmax_worker_processes = 12\n");

# A superuser's aggregates that show the state, and one that merges states.
my $aggregates = join '', map { "CREATE AGGREGATE $_->[0] (SFUNC = dpquantile.$_->[1], STYPE = dpquantile.records_state,
	COMBINEFUNC = dpquantile.records_combine, PARALLEL = SAFE);" } (
	[ 'expose(float8, float8[], float8, float8, float8, jsonb)', 'quantiles_transition' ],
	[ 'expose(numeric, float8[], float8, float8, float8, jsonb)', 'quantiles_transition' ],
	[ 'expose_cdf(float8, float8, float8, float8, jsonb)', 'cdf_transition' ],
	[ 'expose_synthesis(float8, bigint, float8, float8, float8, jsonb)', 'synthesize_transition' ],
	[ 'expose_iqr(float8, float8, float8, jsonb)', 'iqr_transition' ],
	[ 'expose_user(integer, float8, float8, float8, float8, jsonb)', 'user_mean_transition' ],
	[ 'merge(dpquantile.records_state)', 'records_combine' ]);
# Rows i, each with a value x from 0 to 1000, one of five departments and one of seven kinds. One value is NULL.
my $rows = q{
	SELECT i, NULLIF((i * 7919::bigint %% 1000003)::float8 / 1000, 0.5) AS x, i %% 5 AS dept, i %% 7 AS kind FROM generate_series(1, %d) i};
# A state holds few rows in chunks, and some rows as a list. It holds many rows as counters on 2^16 cells, and as
# compressed runs on more.
my %rows = (few => 300, some => 5000, many => 150_000);
my %quantiles = (
	'default value grid' => q{expose(x, '{0.25, 0.5}', 1, 0, 1000, NULL)},
	'few cells' => q{expose(x, '{0.5}', 1, 0, 1000, '{"granularity": 50}')},
	'2^16 cells' => q{expose(x, '{0.5}', 1, 0, 1023.984375, '{"granularity": 0.015625}')},
	'2^32 cells' => q{expose(x * 4294967, '{0.5}', 1, 0, 4294967295, '{"granularity": 1}')});
my %numeric = (numeric => q{expose(x::numeric, '{0.25, 0.5}', 1, 0, 1000, NULL)});
my %cdf = ('a CDF' => q{expose_cdf(x, 1, 0, 1000, '{"bins": 65536}')});
my %other = (
	'a CDF of values' => q{expose_cdf(x, 1, 0, 1000, '{"granularity": 1}')},
	'a synthesis' => 'expose_synthesis(x, 5, 1, 0, 1000, NULL)',
	'quartiles' => q{expose_iqr(x, 1, 0, '{"method": "quantiles", "lower": 0, "upper": 1000}')});
my %calls = (
	few => { %quantiles, %cdf },
	some => { %quantiles, %numeric, %cdf, %other },
	many => { %quantiles, %cdf });

$node->safe_psql('postgres', $aggregates . join '', map {
	my $source = sprintf $rows, $rows{$_};
	qq{
	CREATE TABLE plain_$_ WITH (parallel_workers = 2) AS $source;
	CREATE TABLE part_$_ (i integer, x float8, dept integer, kind integer) PARTITION BY LIST (dept);
	CREATE TABLE part_${_}_1 PARTITION OF part_$_ FOR VALUES IN (0);
	CREATE TABLE part_${_}_2 PARTITION OF part_$_ FOR VALUES IN (1, 2);
	CREATE TABLE part_${_}_3 PARTITION OF part_$_ FOR VALUES IN (3, 4);
	INSERT INTO part_$_ $source;}
} sort keys %rows);
$node->safe_psql('postgres', 'VACUUM ANALYZE');

my $serial = 'SET max_parallel_workers_per_gather = 0;';
my $parallel = 'SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET parallel_leader_participation = off;';
my $partitionwise = 'SET enable_partitionwise_aggregate = on;';
my @plans = (
	[ 'Gather', 'plain', $parallel, qr/Finalize Aggregate.*Gather.*Partial Aggregate.*Parallel Seq Scan/ ],
	[ 'Gather, and the leader takes part', 'plain', "$parallel SET parallel_leader_participation = on;",
		qr/Finalize Aggregate.*Gather.*Partial Aggregate/ ],
	[ 'Parallel Append', 'part', $parallel, qr/Finalize Aggregate.*Gather.*Partial Aggregate.*Parallel Append/ ],
	[ 'partitions aggregated partially', 'part', "$partitionwise $serial",
		qr/Finalize Aggregate -> Append -> Partial Aggregate.*-> Partial Aggregate/ ],
	[ 'partitions aggregated partially in parallel', 'part', "$parallel $partitionwise",
		qr/Finalize Aggregate.*Gather.*Parallel Append.*Partial Aggregate.*Partial Aggregate/ ],
	[ 'rows in descending order', "(SELECT * FROM plain_%s ORDER BY x DESC) AS plain", $serial, qr/^Aggregate.*Sort/ ]);
my @group_plans = (
	[ 'HashAggregate', 'plain', "$serial SET enable_sort = off;", qr/-> HashAggregate Group Key: \S+ -> Seq Scan/ ],
	[ 'Gather Merge', 'plain', "$parallel SET enable_hashagg = off;",
		qr/Finalize GroupAggregate.*Gather Merge.*Partial GroupAggregate/ ],
	[ 'HashAggregate of workers', 'plain', "$parallel SET enable_sort = off;",
		qr/Finalize HashAggregate.*Gather.*Partial HashAggregate/ ],
	[ 'groups of partitions merged', 'part', "$partitionwise $serial SET enable_hashagg = off;",
		qr/Finalize GroupAggregate.*Merge Append.*Partial GroupAggregate/ ],
	[ 'groups of partitions hashed', 'part', "$partitionwise $parallel SET enable_sort = off;",
		qr/Finalize HashAggregate.*Gather.*Partial HashAggregate/ ]);

my $session = session($node, 'postgres');

# Checks the plan of a superuser's query and returns what the query prints.
sub planned
{
	my ($name, $settings, $plan, $query) = @_;
	like(outcome_in($session, "RESET ALL; $settings EXPLAIN (COSTS OFF) $query"), $plan, "$name: the plan");
	return outcome_in($session, "RESET ALL; $settings $query");
}

sub from
{
	my ($table, $size) = @_;
	return $table =~ /%s/ ? sprintf $table, $size : "${table}_$size";
}

foreach my $size ('few', 'some', 'many')
{
	foreach my $call (sort keys %{ $calls{$size} })
	{
		my $state = "$calls{$size}{$call}::text";
		my $name = "threat 16: $size rows, $call";
		my $expected = planned("$name, serial", $serial, qr/^Aggregate -> Seq Scan/, "SELECT md5($state) FROM plain_$size");
		like($expected, qr/^\w{32}$/, "$name: the plan gives a state");
		is( outcome($node, "SELECT $state = $state\::dpquantile.records_state::text FROM plain_$size", user => 'postgres'),
			't', "$name: the state is valid");
		foreach (@plans)
		{
			my ($plan_name, $table, $settings, $plan) = @$_;
			is( planned("$name, $plan_name", $settings, $plan, "SELECT md5($state) FROM " . from($table, $size)),
				$expected, "$name: $plan_name");
		}

		my $groups = "SELECT string_agg(s, chr(10) ORDER BY kind)
			FROM (SELECT kind, md5($state) AS s FROM %s GROUP BY kind) g";
		$expected = planned("$name by group, serial", "$serial SET enable_hashagg = off;", qr/-> GroupAggregate/,
			sprintf $groups, "plain_$size");
		foreach (@group_plans)
		{
			my ($plan_name, $table, $settings, $plan) = @$_;
			is( planned("$name by group, $plan_name", $settings, $plan, sprintf $groups, from($table, $size)),
				$expected, "$name by group: $plan_name");
		}
	}
}

# Groups that are spilled to disk and read again: many small ones, and some larger ones whose rows follow each other.
# Since PostgreSQL 16 the ordered string_agg would have the groups sorted below it, and they would not be hashed.
my $hashed = 'SET enable_sort = off;';
$hashed .= ' SET enable_presorted_aggregate = off;'
	if $node->safe_psql('postgres', 'SHOW server_version_num') >= 160_000;
foreach my $call (sort keys %quantiles)
{
	foreach my $key ('i % 20000', 'i / 5000')
	{
		my $query = "SELECT md5(string_agg(s, ',' ORDER BY key))
			FROM (SELECT $key AS key, md5($quantiles{$call}::text) AS s FROM plain_many WHERE i <= 150000 GROUP BY 1) g";
		my $small = "$serial $hashed SET work_mem = '64kB';";
		like(
			outcome($node, "$small EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $query", user => 'postgres'),
			qr/HashAggregate.*Disk Usage/, "threat 16: $call by $key: groups are spilled");
		is( outcome($node, "$small $query", user => 'postgres'),
			planned("threat 16: $call by $key, sorted groups", "$serial SET enable_hashagg = off;", qr/-> GroupAggregate/, $query),
			"threat 16: $call by $key: groups that were spilled");
	}
}

# A state holds values and rows of users in the order in which they came. Sorted, they are the same under every plan.
$node->safe_psql(
	'postgres', q{
	CREATE FUNCTION sorted(state bytea, records integer, size integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (
		SELECT md5(substr(state, 1, records) || string_agg(record, '' ORDER BY record))
		FROM (SELECT substr(state, 1 + records + i * size, size)
			FROM generate_series(0, (length(state) - records) / size - 1) i) r(record))});
my $header = 5 + 5 * 8 + 4;
my %unsorted = (
	values => [ q{expose_iqr(x, 1, 1e-6, NULL)}, $header + 4 + 4, 8 ],
	'rows of users' => [ q{expose_user(i % 100, x, 1, 0, 1000, NULL)}, $header + 4 + 6 + 8 + 4, 16 ]);
foreach my $call (sort keys %unsorted)
{
	my ($state, $records, $size) = @{ $unsorted{$call} };
	foreach my $rows ('few', 'some')
	{
		my $sorted = "SELECT sorted($state\::text::bytea, $records, $size)";
		my $name = "threat 16: $rows rows, $call";
		my $expected = planned("$name, serial", $serial, qr/^Aggregate -> Seq Scan/, "$sorted FROM plain_$rows");
		like($expected, qr/^\w{32}$/, "$name: the plan gives a state");
		foreach (@plans)
		{
			my ($plan_name, $table, $settings, $plan) = @$_;
			is(planned("$name, $plan_name", $settings, $plan, "$sorted FROM " . from($table, $rows)),
				$expected, "$name: $plan_name");
		}
	}
}

# Since PostgreSQL 19 the rows of one side of a join may be aggregated before they are joined. Such a state is combined once for each
# row of the other side: here three times.
if ($node->pg_version >= 19)
{
	$node->safe_psql('postgres', 'CREATE TABLE tag AS SELECT kind, kind % 2 AS tag FROM generate_series(0, 6) kind, generate_series(1, 3); ANALYZE tag');
	my %states = map { ($_ => "md5($calls{some}{$_}::text)") } keys %{ $calls{some} };
	$states{$_} = "sorted($unsorted{$_}[0]::text::bytea, $unsorted{$_}[1], $unsorted{$_}[2])" foreach keys %unsorted;
	my $eager = "$serial SET min_eager_agg_group_size = 0;";
	foreach my $call (sort keys %states)
	{
		my $query = "SELECT string_agg(s, chr(10) ORDER BY tag)
			FROM (SELECT tag, $states{$call} AS s FROM plain_some JOIN tag USING (kind) GROUP BY tag) g";
		my $name = "threat 246: $call, aggregated before a join";
		my $expected = planned("$name, not at all", "$serial SET enable_eager_aggregate = off;", qr/^(?!.*Partial)/, $query);
		like($expected, qr/^\w{32}\n\w{32}$/, "$name: the plan gives states");
		is(planned($name, $eager, qr/Finalize \w*Aggregate.*Join.*Partial \w*Aggregate/, $query), $expected, $name);
	}
}

# Distributed engines such as Citus compute partial states on the servers that hold the rows, and move them as text to
# a server that combines them. Here each database is one of these servers, and the test moves the text.
foreach my $shard (0 .. 2)
{
	$node->safe_psql('postgres', "CREATE DATABASE shard_$shard");
	$node->safe_psql("shard_$shard", "CREATE EXTENSION dpquantile; $aggregates" . join '', map {
		my $source = sprintf $rows, $rows{$_};
		"CREATE TABLE own_$_ AS SELECT * FROM ($source) r WHERE i % 3 = $shard;"
	} sort keys %rows);
}
$node->safe_psql('postgres', 'CREATE TABLE moved (part integer, state text)');

# The shard's partial state of a call, as text. Empty for NULL.
sub partial_state
{
	my ($shard, $call, $size, $where) = @_;
	return $node->safe_psql("shard_$shard", "SELECT $call FROM own_$size WHERE $where");
}

# Replaces the moved partial states by these.
sub move
{
	my (@states) = @_;
	my $part = 0;
	my $literals = join ', ', map { '(' . $part++ . ', ' . ($_ eq '' ? 'NULL' : "'$_'") . ')' } @states;
	$node->safe_psql('postgres', "TRUNCATE moved; INSERT INTO moved VALUES $literals");
	return;
}

# One session answers some 300 queries: psql and a connection for each would take longer.
outcome_in($session, 'RESET ALL');

sub merged
{
	my ($order) = @_;
	return outcome_in($session, "SELECT md5(merge(state::dpquantile.records_state ORDER BY $order)::text) FROM moved");
}

foreach my $size ('few', 'some', 'many')
{
	foreach my $call (sort keys %{ $calls{$size} })
	{
		my $name = "$size rows, $call";
		my $state = $calls{$size}{$call};
		my $direct = sub {
			my ($where) = @_;
			return outcome_in($session, "SELECT md5($state\::text) FROM plain_$size WHERE $where");
		};
		my @states = map { partial_state($_, $state, $size, 'true') } 0 .. 2;
		my $all = $direct->('true');
		like($all, qr/^\w{32}$/, "$name: there is a state");

		move($states[0], $states[1]);
		my $two = $direct->('i % 3 < 2');
		is(merged($_), $two, "$name: two partial states combined, by $_") foreach 'part', 'part DESC';

		move($states[0], '', $states[1], $states[2], '');
		is(merged($_), $all, "$name: three partial states and two NULLs combined, by $_")
		  foreach 'part', 'part DESC', 'part = 1 DESC, part', 'part = 3 DESC, part = 2 DESC';
		is( outcome_in($session, q{
				SELECT md5(merge(s ORDER BY g)::text)
				FROM (SELECT part / 2 AS g, merge(state::dpquantile.records_state) AS s FROM moved GROUP BY part / 2) m}),
			$all, "$name: partial states combined in two steps");

		move('', '');
		is(merged('part'), '', "$name: NULLs combined are NULL");

		my $less = 'i > 100';
		move(partial_state(0, $state, $size, 'true'), partial_state(1, $state, $size, $less),
			partial_state(2, $state, $size, 'false'));
		is(merged('part'), $direct->("i % 3 = 0 OR i % 3 = 1 AND $less"), "$name: partial states of different sizes combined");

		# NaN is not a record, but the group has a state.
		move($states[0], partial_state(1, $state =~ s/\bx\b/'NaN'::float8/r, 'few', 'true'), $states[1], $states[2]);
		is(merged($_), $all, "$name: combined with a state without records, by $_") foreach 'part', 'part DESC', 'part <> 1';
	}
}

# Values are combined in the order of the partial states.
my ($values, @layout) = @{ $unsorted{values} };
move(map { partial_state($_, $values, 'some', 'true') } 0 .. 2);
is( $node->safe_psql('postgres',
		"SELECT sorted(merge(state::dpquantile.records_state)::text::bytea, $layout[0], $layout[1]) FROM moved"),
	$node->safe_psql('postgres', "SELECT sorted($values\::text::bytea, $layout[0], $layout[1]) FROM plain_some"),
	'values: three partial states combined');
# threat 45: each database hashes its users with its own key. With one key a user has the same hash in all databases.
my $users = $unsorted{'rows of users'}[0];
my $merge_users = 'SELECT merge(state::dpquantile.records_state) IS NOT NULL FROM moved';
move(map { partial_state($_, $users, 'few', 'true') } 0 .. 1);
is(outcome($node, $merge_users, user => 'postgres'), '22023', 'users of databases with different keys are not combined');
my $key = $node->safe_psql('shard_0', 'SELECT key FROM dpquantile.user_key');
$node->safe_psql('shard_1', "UPDATE dpquantile.user_key SET key = '$key'");
move(map { partial_state($_, $users, 'few', 'true') } 0 .. 1);
is(outcome($node, $merge_users, user => 'postgres'), 't', 'users of databases with the same key are combined');

# threats 15, 45: nobody gets an answer from states that a database combined.
my $records_state = $calls{few}{'default value grid'};
move(map { partial_state($_, $records_state, 'few', 'true') } 0 .. 2);
$node->safe_psql(
	'postgres', q{
	CREATE TABLE combined AS SELECT merge(state::dpquantile.records_state) AS state FROM moved;
	GRANT SELECT ON combined TO analyst;
	GRANT USAGE ON SCHEMA dpquantile TO analyst;
	GRANT CREATE ON SCHEMA public TO analyst});
my $finish = 'CREATE AGGREGATE %s(dpquantile.records_state) (SFUNC = dpquantile.records_combine,
	STYPE = dpquantile.records_state, FINALFUNC = dpquantile.cdf_final, FINALFUNC_MODIFY = READ_WRITE)';
is(outcome($node, 'SELECT dpquantile.cdf_final(state) FROM combined'),
	'42501', 'threat 15: an analyst may not finish a state');
is(outcome($node, 'SELECT dpquantile.records_combine(state, state) FROM combined'),
	'42501', 'threat 15: an analyst may not combine states');
is(outcome($node, sprintf $finish, 'finish'), '42501', 'threat 15: an analyst may not build an aggregate that finishes states');
is( outcome($node, 'SELECT dpquantile.cdf_final(state) FROM combined', user => 'postgres'),
	'0A000', 'threat 15: not even a superuser may finish a state outside of an aggregate');
# A superuser's aggregate of states has no parameters, and so no epsilon to charge. The error is internal, because only
# a superuser can build such an aggregate.
$node->safe_psql('postgres', sprintf $finish, 'finish');
foreach my $user ('analyst', 'postgres')
{
	is(outcome($node, "SELECT finish(state) FROM $_", user => $user), '0A000', "threat 15: another aggregate may not finish a state: $user, $_")
		foreach 'combined', 'combined WHERE false';
}
is(spent($node), 0, 'threat 15: nothing was charged');

done_testing();
