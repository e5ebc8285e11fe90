# Random private queries under random planner settings. However PostgreSQL runs a query, it shows no more draws than it
# charges for, one answer for each group of an execution, and the groups in the order of their keys.
#
# DPQ_PLANS_QUERIES: the number of queries, 1000 by default; DPQ_PLANS_SEED: another seed asks other queries.
#
# Answers are nearly uniform on 2^32 cells, so two draws are the same with a probability below 3e-10. Only two assertions
# can fail because of that. That executions draw anew allows one coincidence: it compares fewer than 2^20 pairs of draws,
# and two or more of them are the same with a probability below (2^20 / 2^32)^2 / 2 < 4e-8. A DISTINCT or UNION of the same
# group of the same grouping set twice would lose a row: fewer than 1000 pairs, below 3e-7. A false alarm has a
# probability below 4e-7.
#
# The assertions have been seen to fail: with a node that draws again in a rescan without a charge (more draws than charges,
# several answers of a group), that does not sort (order, merge joins), that promises the order of answers (order), that
# charges one grouping set for all (draws, charge), that shows old answers for new parameters (charge, groups, anew).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $QUERIES = $ENV{DPQ_PLANS_QUERIES} || 1000;
my $SEED = $ENV{DPQ_PLANS_SEED} || 1;
my $SESSIONS = 2;
my $QUERIES_OF_A_SESSION = 250;
note("DPQ_PLANS_SEED=$SEED DPQ_PLANS_QUERIES=$QUERIES");
srand($SEED);

# Disabled plan nodes seem so expensive that nearly every query would be compiled.
my $node = new_node('plans', conf => "max_worker_processes = 16\nautovacuum = off\njit = off\nlog_statement = none\n");
$node->safe_psql(
	'postgres', q{
	CREATE TABLE plain AS
		SELECT id, (id * 37 % 101)::float8 AS x, NULLIF(id * 7 % 6, 5) AS k, NULLIF(chr(97 + id * 11 % 5), 'e') AS g
		FROM generate_series(1, 200) id;
	CREATE TABLE keyed AS SELECT * FROM plain WHERE id <= 120;
	CREATE INDEX ON keyed (k);
	CREATE INDEX ON keyed (g, k);
	CREATE TABLE part (LIKE plain) PARTITION BY LIST (k);
	CREATE TABLE part_null PARTITION OF part FOR VALUES IN (NULL);
	CREATE TABLE part_0 PARTITION OF part FOR VALUES IN (0, 1);
	CREATE TABLE part_2 PARTITION OF part FOR VALUES IN (2);
	CREATE TABLE part_rest PARTITION OF part DEFAULT;
	CREATE TABLE part_empty PARTITION OF part FOR VALUES IN (77);
	CREATE TABLE other (LIKE plain) PARTITION BY LIST (k);
	CREATE TABLE other_null PARTITION OF other FOR VALUES IN (NULL);
	CREATE TABLE other_0 PARTITION OF other FOR VALUES IN (0, 1);
	CREATE TABLE other_2 PARTITION OF other FOR VALUES IN (2);
	CREATE TABLE other_rest PARTITION OF other DEFAULT;
	CREATE TABLE other_empty PARTITION OF other FOR VALUES IN (77);
	INSERT INTO part SELECT * FROM plain;
	INSERT INTO other SELECT * FROM keyed;
	CREATE TABLE many AS SELECT id, id::float8 AS x, id * 7 % 1000 AS k, 'g' || id % 700 AS g FROM generate_series(1, 3000) id;
	-- The table is empty, but the planner does not know this.
	CREATE TABLE nobody AS SELECT * FROM plain;
	GRANT SELECT ON plain, keyed, part, other, many, nobody TO PUBLIC;
	ANALYZE;
	DELETE FROM nobody});
my @roles = map { "session_$_" } 1 .. $SESSIONS;
$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN; SELECT dp_grant_budget('$_', 100000, smallest_charge => 0.001)") foreach @roles;
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my $for_all = parallel_for_all($node);

# ---- Random choices ------------------------------------------------------------------------------

sub one_of { return $_[ int rand @_ ]; }
sub often { return rand() < $_[0]; }

sub random_settings
{
	my %set;
	foreach my $method (
		'hashagg', 'sort', 'nestloop', 'material', 'memoize', 'hashjoin', 'mergejoin', 'incremental_sort', 'seqscan',
		'indexscan', 'bitmapscan', 'gathermerge', 'parallel_append')
	{
		$set{"enable_$method"} = 'off' if often(0.25);
	}
	foreach my $level ('aggregate', 'join')
	{
		$set{"enable_partitionwise_$level"} = 'on' if often(0.5);
	}
	$set{work_mem} = "'64kB'" if often(0.3);
	$set{hash_mem_multiplier} = 1 if often(0.3);
	$set{plan_cache_mode} = one_of('force_generic_plan', 'force_custom_plan') if often(0.5);
	$set{cursor_tuple_fraction} = one_of(0.01, 1) if often(0.3);
	if (often(0.4))
	{
		$set{$_} = 0
			foreach 'min_parallel_table_scan_size', 'min_parallel_index_scan_size', 'parallel_setup_cost', 'parallel_tuple_cost';
		$set{max_parallel_workers_per_gather} = one_of(1, 2);
		$set{parallel_leader_participation} = 'off' if often(0.5);
	}
	$set{$for_all} = 'on' if often(0.15);
	if (often(0.003))
	{
		$set{jit} = 'on';
		$set{jit_above_cost} = 0;
		$set{$_} = -1 foreach 'jit_inline_above_cost', 'jit_optimize_above_cost';
	}
	return join "\\; ", map { "SET $_ = $set{$_}" } sort keys %set;
}

# A private aggregate that costs epsilon 0.001.
sub random_call
{
	my ($number) = @_;
	my $value = often(0.2) ? 't.x::numeric' : 't.x';
	my $before = often(0.1) ? 'DISTINCT ' : '';
	my $after = !$before && often(0.1) ? ' ORDER BY t.id' : '';
	# The same sub-select twice is two parameters, so only calls that occur once have one.
	my $epsilon = $number > 1 && often(0.2) ? '(SELECT 0.001::float8)' : '0.001';
	my $filter = often(0.2) ? one_of(' FILTER (WHERE t.x > 30)', ' FILTER (WHERE t.k = 1)', ' FILTER (WHERE false)') : '';
	my $to = q{0, 4294967295, '{"granularity": 1}'};
	# Calls with different numbers are different calls.
	return "dp_quantile($before$value, 0.$number, $epsilon, $to$after)$filter" if $number > 1 || often(0.3);
	return "dp_median($before$value, $epsilon, $to$after)$filter";
}

my @keys = (
	[ 't.k', 'number' ], [ 't.g', 'text' ], [ 't.id % 7', 'number' ], [ 't.k::numeric', 'number' ], [ 't.x > 40', 'text' ],
	[ "t.g || 'z'", 'text' ]);

sub random_keys
{
	my %chosen;
	# The first two are more frequent than the others.
	$chosen{ often(0.6) ? int rand 2 : int rand @keys } = rand foreach 1 .. one_of(1, 1, 2, 2, 3);
	return map { $keys[$_] } sort { $chosen{$a} <=> $chosen{$b} } keys %chosen;
}

# Returns the clause, the number of grouping sets, and how often the most frequent one occurs.
sub random_group_by
{
	my @names = map { $_->[0] } @_;
	my $list = join ', ', @names;
	return ("GROUP BY $list", 0, 1) if often(0.7);
	return ("GROUP BY ROLLUP ($list)", 1 + @names, 1) if often(0.3);
	return ("GROUP BY CUBE ($list)", 2**@names, 1) if often(0.3);
	my (@sets, %number);
	foreach (1 .. one_of(1 .. 4))
	{
		my $set = '(' . join(', ', grep { often(0.5) } @names) . ')';
		push @sets, $set;
		$number{$set}++;
	}
	# A column that is no key of any set could not be shown.
	push @sets, "($list)";
	$number{"($list)"}++;
	my ($most) = sort { $b <=> $a } values %number;
	return ('GROUP BY GROUPING SETS (' . join(', ', @sets) . ')', scalar @sets, $most);
}

sub random_source
{
	return 'plain t JOIN keyed u ON u.id = t.id' if often(0.06);
	return 'part t JOIN other u ON u.k = t.k AND u.id = t.id' if often(0.06);
	return 'plain t LEFT JOIN part u ON u.id = t.id' if often(0.04);
	return one_of(('plain', 'part', 'keyed') x 3, 'nobody') . ' t';
}

# ---- Releases ------------------------------------------------------------------------------------

# A query level with private aggregates. It returns a tag, the group (the number of the release, GROUPING() and the keys)
# and one or two answers.
#
# number: of the release in its query, 1 by default; tag: an SQL expression, 0 by default; where: a condition;
# having: a condition with which no group is lost; simple: one answer, and no order; key: GROUP BY k, which is
# the fifth column; flat: without GROUP BY; source: the tables; user: whether a user-level aggregate may be the second
# answer.
sub release
{
	my %params = @_;
	my $number = $params{number} // 1;
	my @by = $params{flat} || !$params{key} && often(0.15) ? () : $params{key} ? ($keys[0]) : random_keys();
	my $source = $params{source} // random_source();
	@by = ($keys[0]) if !$params{source} && !$params{simple} && @by && often(0.01) && ($source = 'many t');
	my ($group_by, $sets, $copies) =
		!@by ? ('', 0, 1) :
		$params{key} || $source eq 'many t' ? ("GROUP BY $by[0][0]", 0, 1) :
		random_group_by(@by);
	my %release = (number => $number, keys => [@by], sets => $sets || 1, copies => $copies, answers => [ random_call(1) ]);

	my $has_user = $params{user} && often(0.1);
	my $second = 'NULL::float8';
	if ($has_user)
	{
		$release{is_user} = 1;
		push @{ $release{answers} }, '(CASE WHEN dp_user_mean(t.id % 10, t.x, 0.001, 0, 100) IS NOT NULL THEN 1 END)::float8';
		$second = "{$number.1}";
	}
	elsif (!$params{simple} && often(0.3))
	{
		push @{ $release{answers} }, random_call(2);
		$second = "{$number.1}";
		$release{has_second} = 1;
	}
	my @having = $params{having} ? ($params{having}) : ();
	if (!$has_user && !$params{simple} && @by && often(0.25))
	{
		push @having, one_of("{$number.0} >= 0", 'count(*) > 3', "$by[0][0] IS NOT NULL", "{$number.0} >= 0 OR count(t.x) > 2");
		if (often(0.2))
		{
			my $index = @{ $release{answers} };
			push @{ $release{answers} }, random_call(3);
			push @having, "{$number.$index} >= 0";
		}
	}
	$release{calls} = @{ $release{answers} } - $has_user;

	# Each column: place of the key or of its GROUPING(), type, whether descending, whether NULLs come first.
	# Without ORDER BY they are in the order in which GROUP BY names them first.
	my %at = map { $_ => $group_by =~ /\Q$by[$_][0]\E(?=[,)]|$)/ ? $-[0] : -1 } 0 .. $#by;
	my @order = map { ([ $_, $by[$_][1], 0, 0 ], $sets ? [ $_, 'grouping', 0, 0 ] : ()) } sort { $at{$a} <=> $at{$b} } 0 .. $#by;
	my @order_by;
	if (!$params{simple} && @by && often(0.2))
	{
		my %place = map { $_ => rand } 0 .. $#by;
		my @places = sort { $place{$a} <=> $place{$b} } keys %place;
		@order = map { [ $_, $by[$_][1], one_of(0, 1), one_of(0, 1) ] } @places[ 0 .. int rand @places ];
		@order_by = map { $by[ $_->[0] ][0] . ($_->[2] ? ' DESC' : '') . ($_->[3] ? ' NULLS FIRST' : ' NULLS LAST') } @order;
	}
	$release{order} = \@order;

	my $names = join ', ', map { $_->[0] } @by;
	my $group = $sets ? "grouping($names)" : 0;
	my @where = ($params{where} ? ($params{where}) : (), often(0.2) ? ('t.id <> -{p}') : (), often(0.1) ? ('t.x >= 20') : ());
	$release{sql} = join ' ', 'SELECT', ($params{tag} // 0), 'AS tag,',
		"format('$number;%s" . ';%s' x @by . "', " . join(', ', $group, map { $_->[0] } @by) . ') AS grp,',
		"{$number.0} AS a, $second AS b" . ($params{key} ? ", $by[0][0] AS key" : ''),
		"FROM $source", (@where ? 'WHERE ' . join(' AND ', @where) : ()), $group_by,
		(@having ? 'HAVING ' . join(' AND ', map { "($_)" } @having) : ()),
		(@order_by ? 'ORDER BY ' . join(', ', @order_by) : ());
	return \%release;
}

# The text with private aggregates, or with public ones in their place.
sub filled
{
	my ($query, $text, $is_public) = @_;
	foreach my $release (@{ $query->{releases} })
	{
		my @answers = @{ $release->{answers} };
		foreach my $i (0 .. $#answers)
		{
			my $answer = $is_public ? '(count(*) + 1000 + random())::float8' : $answers[$i];
			$text =~ s/\{$release->{number}\.$i\}/$answer/g;
		}
	}
	return $text;
}

# ---- Shapes of queries ---------------------------------------------------------------------------

# A query: its text, its releases, and
# least, most: how often each release is executed, once by default;
# is_ordered: whether the groups of an execution come in the order of the release;
# is_by_answer: whether the rows come in the order of the answers;
# is_fresh: whether different runs and tags are different executions;
# is_executed_again: whether a cursor executes releases again where it comes again, and charges for them;
# is_partial: whether some groups are not shown;
# error: the SQLSTATE of the error that the query ends with.
sub query
{
	my ($text, $releases, %params) = @_;
	return { text => $text, releases => $releases, least => 1, most => 1, %params };
}

my %plain = (is_ordered => 1, is_fresh => 1);
my %shapes = (
	direct => sub {
		my $release = release(user => 1);
		return query($release->{sql}, [$release], %plain);
	},
	'ORDER BY an answer' => sub {
		my $release = release(simple => 1);
		return query("$release->{sql} ORDER BY a", [$release], is_fresh => 1, is_by_answer => 1);
	},
	subquery => sub {
		my $release = release(user => 1);
		my $rest = one_of('', 'OFFSET 0', 'WHERE a >= 0', 'WHERE a >= 0 OFFSET 0');
		return query("SELECT * FROM ($release->{sql}) s $rest", [$release], %plain);
	},
	DISTINCT => sub {
		my $release = release();
		return query("SELECT DISTINCT * FROM ($release->{sql}) s", [$release], is_fresh => 1);
	},
	LIMIT => sub {
		my $release = release();
		my $limit = one_of(0 .. 3);
		return query("SELECT * FROM ($release->{sql}) s LIMIT $limit",
			[$release], %plain, is_partial => 1, $limit ? () : (least => 0, most => 0));
	},
	CTE => sub {
		my $release = release(user => 1);
		my $materialized = one_of('', 'MATERIALIZED', 'NOT MATERIALIZED');
		return query("WITH q AS $materialized ($release->{sql}) SELECT * FROM q", [$release], %plain);
	},
	'CTE used twice' => sub {
		my $release = release();
		my $materialized = one_of('', 'MATERIALIZED', 'NOT MATERIALIZED');
		my $number = $materialized eq 'NOT MATERIALIZED' ? 2 : 1;
		return query(
			"WITH q AS $materialized ($release->{sql}) SELECT * FROM q UNION ALL SELECT 1, grp, a, b FROM q", [$release],
			least => $number, most => $number, is_ordered => 1, is_fresh => $number == 2);
	},
	'UNION ALL' => sub {
		my @releases = map { release(number => $_) } 1 .. one_of(2, 3);
		return query(join(' UNION ALL ', map { "($_->{sql})" } @releases), \@releases, %plain);
	},
	UNION => sub {
		my @releases = map { release(number => $_, simple => 1) } 1 .. 2;
		return query(join(' UNION ', map { "($_->{sql})" } @releases), \@releases, is_fresh => 1);
	},
	'LATERAL, changing' => sub {
		my $n = one_of(2 .. 5);
		my $release = release(tag => 'i', one_of(
			[ where => 't.id <> -i' ], [ where => 't.id > 15 * i' ], [ having => 'count(*) > -i' ], [ having => '{1.0} > -i' ])->@*);
		my $join = one_of(', LATERAL (%s) s', ' LEFT JOIN LATERAL (%s) s ON true', ', LATERAL (%s OFFSET 0) s');
		return query("SELECT i, s.grp, s.a, s.b FROM generate_series(1, $n) i" . sprintf($join, $release->{sql}),
			[$release], %plain, least => $n, most => $n);
	},
	'LATERAL, unchanged' => sub {
		my $n = one_of(2 .. 5);
		my ($condition, $least) = @{ one_of([ 't.id <> -i / 100', 1 ], [ 't.id <> -i % 2', 2 ]) };
		my $release = release(where => $condition);
		return query("SELECT i, s.grp, s.a, s.b FROM generate_series(1, $n) i, LATERAL ($release->{sql}) s",
			[$release], is_ordered => 1, least => $least, most => $n);
	},
	'LATERAL, repeated' => sub {
		# Twelve rows have six values of k. Memoize may keep the answers for each.
		my $release = release(simple => 1, where => 't.id <> -o.k');
		return query("SELECT o.id, s.grp, s.a, s.b FROM keyed o, LATERAL ($release->{sql}) s WHERE o.id <= 12",
			[$release], is_ordered => 1, least => 6, most => 12);
	},
	'LATERAL, independent' => sub {
		my $n = one_of(2 .. 5);
		my $release = release();
		return query(
			"SELECT i, s.grp, s.a, s.b
			FROM generate_series(1, $n) i, LATERAL (SELECT r.*, i AS j FROM ($release->{sql}) r OFFSET 0) s", [$release],
			is_ordered => 1);
	},
	'sub-select, correlated' => sub {
		my $n = one_of(2 .. 5);
		my $release = release(flat => 1, simple => 1, where => 't.id <> -i');
		return query("SELECT i, '1;0', (SELECT a FROM ($release->{sql}) s), NULL FROM generate_series(1, $n) i",
			[$release], %plain, least => $n, most => $n, is_executed_again => 1);
	},
	'sub-select in a condition' => sub {
		my $n = one_of(2 .. 5);
		my $release = release(flat => 1, simple => 1, where => 't.id <> -i');
		return query("SELECT i, '1;0', NULL, NULL FROM generate_series(1, $n) i WHERE (SELECT a FROM ($release->{sql}) s) >= 0",
			[$release], least => $n, most => $n, is_executed_again => 1);
	},
	'sub-select' => sub {
		my $n = one_of(2 .. 5);
		my $release = release(flat => 1, simple => 1);
		return query("SELECT i, '1;0', (SELECT a FROM ($release->{sql}) s), NULL FROM generate_series(1, $n) i",
			[$release], is_ordered => 1);
	},
	'NOT IN' => sub {
		my $release = release(simple => 1, source => one_of('plain t', 'part t'));
		return query("SELECT o.id, '1;0', NULL, NULL FROM keyed o WHERE -1 - o.x NOT IN (SELECT a FROM ($release->{sql}) s)", [$release]);
	},
	'left join' => sub {
		my $n = one_of(2 .. 5);
		my $release = release();
		return query("SELECT i, s.grp, s.a, s.b FROM generate_series(1, $n) i LEFT JOIN ($release->{sql}) s ON s.a >= i * 0", [$release]);
	},
	'cross join' => sub {
		my $release = release(simple => 1);
		my $n = one_of(2 .. 4);
		return query(
			"SELECT s.i, r.grp, r.a, r.b FROM ($release->{sql}) r, (SELECT i FROM generate_series(1, $n) i OFFSET 0) s",
			[$release]);
	},
	'join with a table' => sub {
		my $release = release(simple => 1, key => 1);
		return query("SELECT o.id, s.grp, s.a, s.b FROM keyed o JOIN ($release->{sql}) s ON s.key = o.k", [$release]);
	},
	'join of releases' => sub {
		my @releases = map { release(number => $_, simple => 1, key => 1) } 1 .. 2;
		return query(
			"SELECT 0, v.* FROM ($releases[0]{sql}) s FULL JOIN ($releases[1]{sql}) u ON s.key = u.key,
				LATERAL (VALUES (s.grp, s.a, NULL::float8), (u.grp, u.a, NULL)) v WHERE v.column1 IS NOT NULL", \@releases, is_fresh => 1);
	},
	window => sub {
		my $release = release(simple => 1);
		my $window = one_of(
			'max(a) OVER (PARTITION BY grp, a)', 'lag(a, 0) OVER (ORDER BY a)',
			'first_value(a) OVER (ORDER BY a, grp ROWS CURRENT ROW)');
		return query("SELECT tag, grp, a, $window FROM ($release->{sql}) s", [$release], is_fresh => 1, is_same => 1);
	},
	'window of the same level' => sub {
		my $release = release(simple => 1);
		my $window = one_of(
			'lag({1.0}, 0) OVER (ORDER BY {1.0})', 'lag({1.0}, 0) OVER ()',
			'max({1.0}) OVER (ORDER BY {1.0} ROWS CURRENT ROW)');
		return query($release->{sql} =~ s/NULL::float8 AS b/$window AS b/r, [$release], is_fresh => 1, is_same => 1);
	},
	'release of answers' => sub {
		my $inner = release(number => 1, simple => 1);
		my $outer = { number => 2, keys => [], order => [], sets => 1, copies => 1, calls => 1, answers => [ random_call(1) ] };
		return query("SELECT 0, '2;0', {2.0}, NULL FROM (SELECT a AS x, 1 AS id, 1 AS k FROM ($inner->{sql}) s) t",
			[ $inner, $outer ], %plain);
	},
	'recursive CTE' => sub {
		my $n = one_of(2 .. 4);
		my $release = release(flat => 1, simple => 1, where => 't.id <> -i');
		return query(
			"WITH RECURSIVE r AS (SELECT 0 AS i, 0::float8 AS a UNION ALL
				SELECT i + 1, s.a FROM r, LATERAL (SELECT a FROM ($release->{sql}) s) s WHERE i < $n)
			SELECT i, '1;0', a, NULL FROM r WHERE i > 0", [$release], %plain, least => $n, most => $n);
	},
	'a scan that fails' => sub {
		my $release = release(
			simple => 1, source => one_of('plain t', 'part t', 'keyed t'),
			where => '1 / (t.id - 77) IS NOT NULL AND t.x >= 0');
		return query($release->{sql}, [$release], error => '22012');
	});
my @shape_names = sort keys %shapes;

# ---- Ways to run a query -------------------------------------------------------------------------

# Each returns statements. '@run' separates runs, that is executions of the whole query. '@pass' separates passes over
# the answers of a run; '@part' begins a pass that need not be whole or in order.

sub statement { return $_[0] =~ s/\{p\}/1/gr . ';'; }

my %ways = (
	once => sub { return statement($_[0]); },
	twice => sub { return (statement($_[0]), '@run', statement($_[0])); },
	prepared => sub {
		my ($text) = @_;
		my $times = often(0.1) ? 7 : 2;
		my @runs = map { ($_ > 1 ? '@run' : (), 'EXECUTE q(' . one_of(1 .. 2) . ');') } 1 .. $times;
		return ('PREPARE q(int) AS ' . $text =~ s/\{p\}/\$1/gr . ';', @runs, 'DEALLOCATE q;');
	},
	'cursor in pieces' => sub {
		return ('BEGIN;', 'DECLARE c CURSOR FOR ' . statement($_[0]), map({ "FETCH $_ c;" } 1, one_of(1, 3), 'ALL'), 'CLOSE c;', 'COMMIT;');
	},
	'cursor, rewound' => sub {
		my @again = (one_of('MOVE ABSOLUTE 0 c;', 'MOVE BACKWARD ALL c;'), '@pass', 'FETCH ALL c;');
		return (
			'BEGIN;', 'DECLARE c SCROLL CURSOR FOR ' . statement($_[0]),
			'@part', 'FETCH ' . one_of(1 .. 4) . ' c;', @again, '@part', 'FETCH BACKWARD 2 c;', @again, 'COMMIT;');
	},
	'cursor, held' => sub {
		my $first = often(0.5);
		return (
			'BEGIN;', 'DECLARE c ' . ($first ? 'SCROLL ' : '') . 'CURSOR WITH HOLD FOR ' . statement($_[0]),
			($first ? ('@part', 'FETCH 2 c;', 'MOVE ABSOLUTE 0 c;') : ()),
			'COMMIT;', '@pass', 'FETCH ALL c;', 'CLOSE c;');
	},
	'CREATE TABLE AS' => sub {
		my ($text) = @_;
		return (
			'CREATE TEMP TABLE made (tag, grp, a, b) AS SELECT tag, grp, a::float8, b::float8 FROM ('
			. statement($text) =~ s/;$//r . ') q(tag, grp, a, b);',
			'SELECT * FROM made;', '@pass', 'SELECT * FROM made;', 'DROP TABLE made;');
	},
	'INSERT' => sub {
		my ($text) = @_;
		return (
			'INSERT INTO sink ' . statement($text) =~ s/;$/ RETURNING tag, grp, a, b;/r,
			'@pass', 'SELECT * FROM sink;', 'TRUNCATE sink;');
	},
	view => sub {
		my ($text) = @_;
		return (
			'CREATE TEMP VIEW seen (tag, grp, a, b) AS ' . statement($text),
			'SELECT * FROM seen;', '@run', 'SELECT * FROM seen;', 'DROP VIEW seen;');
	},
	'SQL function' => sub {
		my ($text) = @_;
		my $body = $text =~ s/\{p\}/\$1/gr;
		return (
			'CREATE FUNCTION pg_temp.f(int) RETURNS TABLE (tag int, grp text, a float8, b float8) LANGUAGE sql '
			. one_of('STABLE', 'VOLATILE') . " AS \$f\$SELECT tag, grp, a::float8, b::float8 FROM ($body) q(tag, grp, a, b)\$f\$;",
			'SELECT * FROM pg_temp.f(1);', '@run', 'SELECT * FROM pg_temp.f(2);', 'DROP FUNCTION pg_temp.f;');
	},
	'plpgsql function' => sub {
		my ($text) = @_;
		my $query = 'SELECT tag, grp, a::float8, b::float8 FROM (' . $text =~ s/\{p\}/\$1/gr . ') q(tag, grp, a, b)';
		my $body = one_of("RETURN QUERY $query;", "FOR tag, grp, a, b IN $query LOOP RETURN NEXT; END LOOP;");
		return (
			'CREATE FUNCTION pg_temp.f(int) RETURNS TABLE (tag int, grp text, a float8, b float8) LANGUAGE plpgsql '
			. "STABLE AS \$f\$\n#variable_conflict use_column\nBEGIN $body END\$f\$;",
			map({ ($_ > 1 ? '@run' : (), "SELECT * FROM pg_temp.f($_);") } 1 .. 2), 'DROP FUNCTION pg_temp.f;');
	});
# Most queries run in an ordinary way.
my @way_names = (('once') x 4, sort keys %ways);

my @queries;
foreach my $number (1 .. $QUERIES)
{
	my $shape = one_of(@shape_names);
	my $query = $shapes{$shape}->();
	my $way = $query->{error} ? 'once' : one_of(@way_names);
	push @queries, {
		%$query, number => $number, name => "query $number: $shape, $way",
		settings => random_settings(), statements => [ $ways{$way}->($query->{text}) ],
		public => filled($query, statement($query->{text}), 1) };
}

# ---- Running -------------------------------------------------------------------------------------

# The script of a query: its spending so far, its statements with their SQLSTATEs, and the public statement.
sub script
{
	my ($query) = @_;
	my $settings = $query->{settings} ne '' ? "\\; $query->{settings}" : '';
	my @lines = (
		"\\echo \@query $query->{number}",
		"RESET ALL\\; SELECT '\@spent', trim_scale(epsilon_spent * 1000) FROM dp_budget$settings;");
	foreach my $statement (@{ $query->{statements} })
	{
		push @lines, $statement =~ /^@/ ? "\\echo $statement" : (filled($query, $statement), '\\echo @state :SQLSTATE');
	}
	push @lines, '\\echo @public', $query->{error} ? () : ('RESET ALL;', $query->{public}, '\\echo @state :SQLSTATE');
	return join "\n", @lines;
}

# What a query printed: runs of passes of rows, the rows of the public query, SQLSTATEs of errors, and the charges.
sub parsed
{
	my ($output) = @_;
	my (%results, $result, $pass);
	foreach my $line (split /\n/, $output)
	{
		if ($line =~ /^\@query (\d+)/)
		{
			$pass = { rows => [] };
			$result = $results{$1} = { runs => [ [$pass] ], states => [] };
		}
		elsif ($line =~ /^\@spent\|(.*)/) { $result->{spent} = $1; }
		elsif ($line =~ /^\@state (\w+)/) { push @{ $result->{states} }, $1 if $1 ne '00000'; }
		elsif ($line =~ /^\@run/) { $pass = { rows => [] }; push @{ $result->{runs} }, [$pass]; }
		elsif ($line =~ /^\@(pass|part)/)
		{
			my $passes = $result->{runs}[-1];
			# A cursor gives nothing before its first pass.
			pop @$passes if !@{ $pass->{rows} };
			$pass = { rows => [], is_part => $1 eq 'part' };
			push @$passes, $pass;
		}
		elsif ($line =~ /^\@public/) { $pass = $result->{public} = { rows => [] }; }
		else
		{
			my ($tag, $group, $answer, $second) = split /\|/, $line, -1;
			push @{ $pass->{rows} }, { tag => $tag, group => $group, a => $answer, b => $second };
		}
	}
	return \%results;
}

my (%results, @ledgers);
my @waiting = @queries;
my @batches;
push @batches, [ splice @waiting, 0, $QUERIES_OF_A_SESSION ] while @waiting;
while (my @now = splice @batches, 0, $SESSIONS)
{
	my @sessions = map {
		my $end = "RESET ALL; \\echo \@query 0\nSELECT '\@spent', trim_scale(epsilon_spent * 1000) FROM dp_budget;";
		my $sql = join "\n", 'CREATE TEMP TABLE sink (tag int, grp text, a float8, b float8);', map({ script($_) } @{ $now[$_] }), $end;
		start_psql($node, $sql, user => $roles[$_]);
	} 0 .. $#now;
	foreach my $i (0 .. $#now)
	{
		finish_psql($sessions[$i]);
		my $parsed = parsed(scalar slurp_file("$sessions[$i]{file}.out"));
		# The charge of a query is the difference to what the next one finds.
		my @numbers = map { $_->{number} } @{ $now[$i] };
		foreach my $place (0 .. $#numbers)
		{
			my ($this, $next) = ($parsed->{ $numbers[$place] }, $parsed->{ $numbers[ $place + 1 ] // 0 });
			next if !$this || !$next || !defined $this->{spent} || !defined $next->{spent};
			$results{ $numbers[$place] } = $this;
			$this->{charged} = $next->{spent} - $this->{spent};
		}
		push @ledgers, spent($node, role => $roles[$i]);
	}
}

# ---- Checking ------------------------------------------------------------------------------------

my %faults;
my ($pairs, $coincidences, $executions) = (0, 0, 0);

sub fault
{
	my ($kind, $query, $what) = @_;
	push @{ $faults{$kind} }, join "\n", "$query->{name}: $what", "  $query->{settings};",
		map { '  ' . filled($query, $_) } @{ $query->{statements} };
	return;
}

sub compare
{
	my ($type, $one, $other, $nulls_first) = @_;
	return 0 if $one eq $other;
	return $nulls_first ? -1 : 1 if $one eq '';
	return $nulls_first ? 1 : -1 if $other eq '';
	return $type eq 'text' ? $one cmp $other : $one <=> $other;
}

# The sign of the order of two groups of a release.
sub compare_groups
{
	my ($release, @groups) = @_;
	my @fields = map { [ (split /;/, $_, -1)[ 1 .. 1 + @{ $release->{keys} } ] ] } @groups;
	foreach my $column (@{ $release->{order} })
	{
		my ($place, $type, $descending, $nulls_first) = @$column;
		my $bit = $#{ $release->{keys} } - $place;
		my @values = map { $type eq 'grouping' ? $_->[0] >> $bit & 1 : $_->[ 1 + $place ] } @fields;
		# NULLS FIRST and LAST do not depend on the direction.
		my $is_null = $values[0] eq '' || $values[1] eq '';
		my $sign = compare($type, @values, $nulls_first) * ($descending && !$is_null ? -1 : 1);
		return $sign if $sign;
	}
	return 0;
}

sub multiset { return join "\n", sort map { "$_->{tag}|$_->{group}" } grep { $_->{group} ne '' } @_; }
sub as_set { my %seen = map { ("$_->{tag}|$_->{group}" => 1) } grep { $_->{group} ne '' } @_; return join "\n", sort keys %seen; }

sub check_order
{
	my ($query, $pass, $release_of) = @_;
	my %last;
	foreach my $row (grep { $_->{group} ne '' } @{ $pass->{rows} })
	{
		my $release = $release_of->{ (split /;/, $row->{group})[0] };
		my $execution = "$row->{tag}|$release->{number}";
		fault(order => $query, "$row->{group} after $last{$execution}")
			if defined $last{$execution} && compare_groups($release, $last{$execution}, $row->{group}) > 0;
		$last{$execution} = $row->{group};
	}
	return;
}

# Returns the draws of a release: of each group, of each column, the answers that were shown, by execution.
sub collect_draws
{
	my ($query, $result, $release_of) = @_;
	my %draws;
	foreach my $run (0 .. $#{ $result->{runs} })
	{
		my $passes = $result->{runs}[$run];
		foreach my $pass (0 .. $#$passes)
		{
			foreach my $row (grep { $_->{group} ne '' } @{ $passes->[$pass]{rows} })
			{
				my ($number) = split /;/, $row->{group};
				# Without repeated executions all tags of a run show the same one.
				my $execution = join '|', $run, ($query->{most} > 1 ? ($row->{tag}) : ()), ($query->{is_executed_again} ? ($pass) : ());
				my $shown = $draws{$number}{ $row->{group} } //= {};
				$shown->{a}{$execution}{ $row->{a} }++ if $row->{a} ne '';
				$shown->{b}{$execution}{ $row->{b} }++ if $release_of->{$number}{has_second};
				fault(same => $query, "$row->{group} has $row->{a} and $row->{b}") if $query->{is_same} && $row->{a} ne $row->{b};
			}
		}
	}
	return \%draws;
}

# Checks the draws of a query, and returns the charges that they need.
sub check_draws
{
	my ($query, $draws, $release_of, $is_fresh) = @_;
	my $needed = 0;
	foreach my $number (keys %$draws)
	{
		my $release = $release_of->{$number};
		my $most = 0;
		foreach my $group (keys %{ $draws->{$number} })
		{
			foreach my $of_executions (values %{ $draws->{$number}{$group} })
			{
				my (%all, $shown);
				foreach my $execution (sort keys %$of_executions)
				{
					my @answers = keys %{ $of_executions->{$execution} };
					fault(same => $query, "$group of execution $execution has " . join(' and ', @answers)) if @answers > $release->{copies};
					$shown += @answers;
					$all{$_} = 1 foreach @answers;
				}
				my $different = keys %all;
				my $times = int(($different + $release->{copies} - 1) / $release->{copies});
				$most = $times if $times > $most;
				next if !$is_fresh;
				$pairs += $shown * ($shown - 1) / 2;
				$coincidences += $shown - $different;
			}
		}
		$needed += $most * $release->{sets} * $release->{calls};
	}
	return $needed;
}

# How many charges of a user-level aggregate an execution of each run makes: one for each group, and one without groups.
sub user_charges
{
	my ($query, $result) = @_;
	my ($release) = @{ $query->{releases} };
	my $charges = 0;
	foreach my $run (@{ $result->{runs} })
	{
		my ($whole) = grep { !$_->{is_part} } @$run;
		my $groups = @{ $whole->{rows} };
		$charges += $groups > 1 ? $groups : 1;
	}
	return $charges;
}

sub check_query
{
	my ($query) = @_;
	my $result = $results{ $query->{number} };
	return fault(missing => $query, 'no result') if !$result;
	my @expected = $query->{error} ? ($query->{error}) : ();
	return fault(error => $query, "SQLSTATE @{ $result->{states} }") if "@{ $result->{states} }" ne "@expected";

	my %release_of = map { $_->{number} => $_ } @{ $query->{releases} };
	my $runs = @{ $result->{runs} };
	my $passes = @{ $result->{runs}[0] };
	my $cost = 0;
	$cost += $_->{sets} * $_->{calls} foreach values %release_of;
	my $user = grep({ $_->{is_user} } values %release_of) ? user_charges($query, $result) : 0;
	my ($least, $most) = map { $_ * $runs * $cost + $user } $query->{least}, $query->{most};
	# A pass goes over the rows twice at most: back and forth.
	$most *= 2 * $passes if $query->{is_executed_again} && $passes > 1;
	fault(charge => $query, "charged $result->{charged} times instead of $least to $most")
		if $result->{charged} < $least || $result->{charged} > $most;
	$executions += $result->{charged};
	return if $query->{error};

	my $is_fresh = $query->{is_fresh} && !($query->{is_executed_again} && $passes > 1);
	my $needed = check_draws($query, collect_draws($query, $result, \%release_of), \%release_of, $is_fresh);
	fault(paid => $query, "$result->{charged} charges for draws that need $needed") if $result->{charged} < $needed;
	foreach my $run (@{ $result->{runs} })
	{
		my @whole = grep { !$_->{is_part} } @$run;
		if ($query->{is_ordered}) { check_order($query, $_, \%release_of) foreach @whole; }
		foreach my $pass ($query->{is_by_answer} ? @whole : ())
		{
			my @shown = map { $_->{a} } @{ $pass->{rows} };
			fault(order => $query, "answers @shown") if "@shown" ne join ' ', sort { $a <=> $b } @shown;
		}
		next if $query->{is_partial};
		my @public = @{ $result->{public}{rows} };
		foreach my $pass (@whole)
		{
			fault(groups => $query, scalar(@{ $pass->{rows} }) . ' rows and ' . @public . ' public ones')
				if multiset(@{ $pass->{rows} }) ne multiset(@public);
		}
	}
	return;
}

check_query($_) foreach @queries;
note("$executions charges, $pairs pairs of draws, $coincidences coincidences");

sub no_faults
{
	my ($kind, $name) = @_;
	my @found = @{ $faults{$kind} // [] };
	my $number = @found;
	ok(!$number, $name)
		or diag(join "\n", "$number faults with DPQ_PLANS_SEED=$SEED DPQ_PLANS_QUERIES=$QUERIES:", splice @found, 0, 3);
	return;
}

no_faults(missing => 'every query comes to its end');
no_faults(error => 'no query has an error, except those whose scan fails');
no_faults(paid => 'threat 8: no query shows more draws than it is charged for');
no_faults(charge => 'threats 8, 16: every execution is charged once, for all of its grouping sets and aggregates');
no_faults(same => 'threat 8: an execution shows one answer for a group');
no_faults(order => 'threat 46: groups come in the order of their keys, or of ORDER BY');
no_faults(groups => 'threat 16: the groups are those of the same query with a public aggregate');
cmp_ok($coincidences, '<=', 1, 'threat 8: every execution draws anew');
cmp_ok($pairs, '<', 2**20, 'the false-alarm probability is as stated') if $QUERIES <= 5000;
is_deeply([ grep { !/^[\d.]+$/ } @ledgers ], [], 'threat 8: the spending is the sum of the ledger');
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the server has not restarted');
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'the log has no crash');
done_testing();
