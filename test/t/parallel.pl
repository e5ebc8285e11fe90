# Parallel and partitionwise plans: an execution is charged once, whichever processes read its rows. Only the leader
# releases answers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use JSON::PP;
use PrivateAggregates;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('parallel', conf => "max_worker_processes = 12\n", budget => 100_000, delta => 0.1);
my $paid = 0;

$node->safe_psql(
	'postgres', q{
	-- The table is empty, but the planner does not know this.
	CREATE TABLE nobody WITH (autovacuum_enabled = off) AS SELECT * FROM person;
	CREATE TABLE few AS SELECT * FROM person LIMIT 700;
	ALTER TABLE few SET (parallel_workers = 0);
	CREATE TABLE part (age float8, dept integer) PARTITION BY LIST (dept);
	CREATE TABLE part_0 PARTITION OF part FOR VALUES IN (0);
	CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1);
	CREATE TABLE part_2 PARTITION OF part FOR VALUES IN (2);
	INSERT INTO part SELECT age, dept % 3 FROM person;
	-- Half of the people are younger than 50.5.
	CREATE TABLE release AS SELECT '{"lower": 0, "upper": 101, "bins": 2, "method": "tree", "epsilon": 1,
		"branching": [2], "level_epsilon": [1], "rows": 2, "cumulative": [1, 2]}'::dp_cdf AS c;
	GRANT SELECT ON nobody, few, part, release TO analyst;
	ANALYZE;
	DELETE FROM nobody;
	-- Plans are parallel wherever possible, and workers read all rows.
	ALTER ROLE analyst SET min_parallel_table_scan_size = 0;
	ALTER ROLE analyst SET parallel_setup_cost = 0;
	ALTER ROLE analyst SET parallel_tuple_cost = 0;
	ALTER ROLE analyst SET parallel_leader_participation = off});

# Who runs each release of a plan, which is a part of EXPLAIN (FORMAT JSON): a worker if the release is below a Gather.
sub releasers
{
	my ($plan, $process) = @_;
	$process = 'worker' if $plan->{'Node Type'} =~ /^Gather/;
	my $is_release = ($plan->{'Custom Plan Provider'} // '') eq 'PrivateRelease';
	return ($is_release ? $process : (), map { releasers($_, $process) } @{ $plan->{Plans} // [] });
}

# Checks the plan, the number of its releases (1 by default), the outcome (t by default) and the epsilon charged (1 by
# default) of a query. No worker may release answers.
sub check_query
{
	my ($name, $query, %params) = @_;
	my $settings = $params{settings} // '';
	my $charges = $params{charges} // 1;
	my $releases = $params{releases} // 1;
	like(outcome($node, "$settings EXPLAIN (COSTS OFF) $query"), $params{plan}, "$name: the plan");
	my $plans = decode_json(outcome($node, "$settings EXPLAIN (COSTS OFF, FORMAT JSON) $query"));
	is_deeply([ releasers($plans->[0]{Plan}, 'leader') ], [ ('leader') x $releases ], "$name: no worker releases answers");
	is(outcome($node, "$settings $query"), $params{outcome} // 't', "$name: the outcome");
	is(spent($node), $paid + $charges, "$name: charged $charges times");
	# One failure must not cause others.
	$paid = spent($node);
	return;
}

# The true median is 50. In a group of 1400 people an error of 5 years is an error of about 70 ranks. At
# lambda = 1 its probability is below 2^20 e^-70 < 1e-24.
my $median = 'dp_median(age, 1, 0, 100)';
my $near = "abs(50 - $median) < 5";
my $by_dept = "SELECT count(*) FROM (SELECT dept, $near AS near FROM person GROUP BY dept) d WHERE near";
my $release = qr/Custom Scan \(PrivateRelease\)/;
my $gather = qr/$release.*Finalize Aggregate.*Gather.*Partial Aggregate/;
my $gather_merge = qr/$release.*Finalize GroupAggregate.*Gather Merge.*Sort.*GroupedRows/;
my $gather_hashed = qr/$release.*Finalize HashAggregate.*Gather.*GroupedRows/;
my $serial = 'SET max_parallel_workers_per_gather = 0;';

check_query('Gather', "SELECT $near FROM person", plan => $gather);
check_query('Gather Merge with GROUP BY', $by_dept, plan => $gather_merge, outcome => '7');
check_query(
	'Gather with a hashed GROUP BY', $by_dept,
	settings => 'SET enable_sort = off;',
	plan => $gather_hashed,
	outcome => '7');
check_query(
	'HAVING and ORDER BY the answer',
	"SELECT count(*) FROM (SELECT dept FROM person GROUP BY dept HAVING $near ORDER BY $median) d",
	plan => $gather_merge,
	outcome => '7');
check_query('FILTER', "SELECT abs(10 - $median FILTER (WHERE age <= 20)) < 5 FROM person", plan => $gather);
check_query(
	'two different calls',
	"SELECT $near AND abs(10 - dp_quantile(age, 0.1, 1, 0, 100)) < 5 FROM person",
	plan => $gather,
	charges => 2);
check_query('the same call twice', "SELECT $median = $median FROM person", plan => $gather);
check_query(
	'the numeric form',
	'SELECT dp_quantiles(age::numeric, ARRAY[0.1, 0.9], 1, 0, 100) IS NOT NULL FROM person',
	plan => $gather);
# Each value occurs 99 times, so a wrong answer is 24 ranks or more away from each of these quantiles. Lambda is 100 or
# more, or 8 for a joint draw. The probability of a wrong answer is below 2^55 e^-240.
check_query(
	"threat 16: method $_",
	"SELECT dp_quantiles(age, ARRAY[0.255, 0.755], 1000, 0, 100, dp_options('$_', 1)) = '{25,76}' FROM person",
	plan => $gather,
	charges => 1000) foreach 'joint', 'independent', 'tree', 'auto';
check_query(
	'threat 16: a synthetic sample',
	'SELECT dp_synthesize(age, 2, 1000, 0, 100, dp_options(granularity => 1)) FROM person',
	plan => $gather,
	outcome => '{33,67}',
	charges => 1000);
# Every level has an epsilon of 100 or more, so the probability that a count is wrong is below 2 e^-100. The
# probability that any count in these tests is wrong is below 1e-39.
my $cdf = 'dp_cdf(age, 100, 0, 101, dp_options(bins => 1))';
my $all = "dp_cdf_rows($cdf)";
my %charged_100 = (charges => 100);
check_query('threat 16: a CDF', "SELECT $all FROM person", plan => $gather, outcome => '10000', %charged_100);
check_query(
	'threat 16: the counts of a CDF', q{
	SELECT c::jsonb -> 'cumulative' = (
		SELECT jsonb_agg((SELECT count(*) FROM person WHERE age <= x) ORDER BY x) FROM generate_series(0, 100) x)
	FROM (SELECT dp_cdf(age, 500, 0, 100, dp_options('histogram', granularity => 1)) AS c FROM person) p},
	plan => $gather,
	charges => 500);
check_query(
	'threat 16: a CDF in several bins, of numeric values', q{
	SELECT dp_cdf_count(c, 0, 50) = (SELECT count(*) FROM person WHERE age < 50)
	FROM (SELECT dp_cdf(age::numeric, 500, 0, 100, dp_options(bins => 1000)) AS c FROM person) p},
	plan => $gather,
	charges => 500);
check_query(
	'threat 16: CDFs with GROUP BY',
	"SELECT string_agg(c, ' ' ORDER BY dept) FROM (SELECT dept, $all\::text AS c FROM person GROUP BY dept) d",
	plan => $gather_merge,
	outcome => '1428 1429 1429 1429 1429 1428 1428',
	%charged_100);
check_query(
	'threat 16: CDFs with a hashed GROUP BY',
	"SELECT string_agg(c, ' ' ORDER BY dept) FROM (SELECT dept, $all\::text AS c FROM person GROUP BY dept) d",
	settings => 'SET enable_sort = off;',
	plan => $gather_hashed,
	outcome => '1428 1429 1429 1429 1429 1428 1428',
	%charged_100);
check_query('threat 20: a CDF of an empty table', "SELECT $all FROM nobody", plan => $gather, outcome => '0', %charged_100);
check_query(
	'threat 20: CDFs of nothing but NULL', q{
	SELECT count(*) FROM (
		SELECT dp_cdf(NULLIF(age, age), 1, 0, 100) AS c FROM person GROUP BY dept) d WHERE dp_cdf_rows(c) >= 0},
	plan => $gather_merge,
	outcome => '7');
check_query(
	'a CDF beside a median',
	"SELECT $all, $near FROM person",
	plan => $gather,
	outcome => '10000|t',
	charges => 101);
# The interquartile range is 50. At an epsilon of 1000 the probability that an answer is wrong by one hundredth is
# below e^-40.
my $iqr = 'dp_iqr(age, 1000, 1e-6)';
my %charged_1000 = (charges => 1000);
check_query(
	'threat 16: an interquartile range', "SELECT abs($iqr - 50) < 0.5 FROM person",
	plan => $gather,
	%charged_1000);
like(
	outcome($node, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT $iqr FROM person"),
	qr/Workers Launched: [1-9]/, 'threat 16: workers run for an interquartile range');
$paid += 1000;
check_query(
	'threat 16: an interquartile range of numeric values',
	'SELECT abs(dp_iqr(age::numeric, 1000, 1e-6) - 50) < 0.5 FROM person',
	plan => $gather,
	%charged_1000);
check_query(
	'threat 16: interquartile ranges with GROUP BY',
	"SELECT count(*) FROM (SELECT dept, $iqr AS iqr FROM person GROUP BY dept) d WHERE abs(iqr - 50) < 2",
	plan => $gather_merge,
	outcome => '7',
	%charged_1000);
check_query(
	'threat 16: interquartile ranges with a hashed GROUP BY',
	"SELECT count(*) FROM (SELECT dept, $iqr AS iqr FROM person GROUP BY dept) d WHERE abs(iqr - 50) < 2",
	settings => 'SET enable_sort = off;',
	plan => $gather_hashed,
	outcome => '7',
	%charged_1000);
# The answer for n equal rows is 0 if the test finds a distance of n / 4. At this delta the test asks for 1404, with
# noise of scale 64/31. The distance is 2500 for all 10000 rows and 1250 for half of them. The probability of another
# outcome is below e^-70.
check_query(
	'threat 16: an interquartile range uses all rows', 'SELECT dp_iqr(0 * age, 1, 1e-300) FROM person',
	plan => $gather,
	outcome => '0');
# The quartiles are 23 ranks or more from the next cell, and lambda is 8. The probability of another answer is below
# 2^55 e^-240.
check_query(
	'threat 16: an interquartile range by quantiles',
	q{SELECT dp_iqr(age, 1000, 0, dp_options('quantiles', 1, lower => -10, upper => 200)) FROM person},
	plan => $gather,
	outcome => '50',
	%charged_1000);
check_query('threat 20: the interquartile range of an empty table', 'SELECT dp_iqr(age, 1, 1e-9) IS NULL FROM nobody',
	plan => $gather);
check_query(
	'threat 20: interquartile ranges of nothing but NULL', q{
	SELECT count(*) || ' ' || count(iqr) FROM (
		SELECT dp_iqr(NULLIF(age, age), 1, 1e-9) AS iqr FROM person GROUP BY dept) d},
	plan => $gather_merge,
	outcome => '7 0');
check_query(
	'a query of a released CDF in a worker costs nothing',
	"SELECT count(*) FROM person WHERE dp_cdf_probability((SELECT c FROM release), age) < 0.5",
	plan => qr/Finalize Aggregate.*Gather.*Partial Aggregate/,
	outcome => '5050',
	releases => 0,
	charges => 0);
check_query(
	'no worker available', "SELECT $near FROM person",
	settings => 'SET max_parallel_workers = 0;',
	plan => $gather);
check_query(
	'threat 8: an execution for each outer row', qq{
	SELECT count(m) FROM generate_series(1, 3) i,
		LATERAL (SELECT $median AS m FROM person WHERE dept <> -i) p},
	plan => qr/Nested Loop.*$release.*Aggregate.*Filter: \(dept <>/,
	outcome => '3',
	charges => 3);
my $loop = 'SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off;';
check_query(
	'threat 8: outer rows that change nothing see the same answer',
	"SELECT count(m) || ' ' || count(DISTINCT m) FROM generate_series(1, 3) i
		LEFT JOIN (SELECT $median AS m FROM person) p ON m >= i * 0",
	settings => $loop,
	plan => qr/Nested Loop Left Join.*$gather/,
	outcome => '3 1');
check_query(
	'threat 8: outer rows that change nothing see the same groups',
	"SELECT count(m) || ' ' || count(DISTINCT (dept, m)) FROM generate_series(1, 3) i
		LEFT JOIN (SELECT dept, $median AS m FROM person GROUP BY dept) p ON m >= i * 0",
	settings => $loop,
	plan => qr/Nested Loop Left Join.*$gather_merge/,
	outcome => '21 7');

# Groups without rows have no state. Their answers and charges come from the parameters alone.
my $of_three_cells = 'dp_median(age, 1, 0, 4, dp_options(granularity => 2)) IN (0, 2, 4)';
check_query('threat 20: an empty table', "SELECT $of_three_cells FROM nobody", plan => $gather);
check_query('threat 20: no row passes the WHERE clause', "SELECT $of_three_cells FROM person WHERE age < 0", plan => $gather);
check_query(
	'threat 20: groups of nothing but NULL', q{
	SELECT count(m) FROM (
		SELECT dp_median(NULLIF(age, age), 1, 0, 100) AS m FROM person GROUP BY dept) d},
	plan => $gather_merge,
	outcome => '7');
check_query(
	'threat 20: GROUP BY without any group',
	"SELECT count(m) FROM (SELECT $median AS m FROM nobody GROUP BY dept) d",
	plan => $gather_merge,
	outcome => '0');
foreach my $table ('person', 'nobody')
{
	check_query(
		"an InitPlan as a parameter, FROM $table",
		"SELECT dp_median(age, (SELECT 2.0::float8), 0, 100) IS NOT NULL FROM $table",
		plan => qr/InitPlan.*$release.*Finalize Aggregate.*Gather.*Partial Aggregate/,
		charges => 2);
}

foreach my $mode ('force_generic_plan', 'force_custom_plan')
{
	foreach my $table ('person', 'nobody')
	{
		my $name = "threat 10: $mode, FROM $table";
		my $prepare = qq{
			SET plan_cache_mode = $mode;
			PREPARE ask(float8, float8) AS SELECT dp_median(age, \$1, 0, \$2) IS NOT NULL FROM $table;};
		like(outcome($node, "$prepare EXPLAIN (COSTS OFF) EXECUTE ask(1, 100)"), $gather, "$name: the plan");
		is( outcome($node, qq{
				$prepare
				EXECUTE ask(1, 100); EXECUTE ask(3, 50); EXECUTE ask(NULL, 50); EXECUTE ask(1, 100)}),
			't t t 22004', "$name: the outcomes");
		$paid += 1 + 3 + 1;
		is(spent($node), $paid, "$name: each execution is charged its own epsilon");
	}
}

# Since PostgreSQL 19 the rows of one side of a join may be aggregated before they are joined. All that is charged and released is that of the
# joined rows.
if ($node->pg_version >= 19)
{
	$node->safe_psql('postgres', 'CREATE TABLE tag AS SELECT dept, n FROM generate_series(0, 6) dept, generate_series(1, 3) n;
		ANALYZE tag; GRANT SELECT ON tag TO analyst');
	my $eager = 'SET min_eager_agg_group_size = 0;';
	my $below_join = qr/$release.*Finalize \w*Aggregate.*Join.*Partial \w*Aggregate/;
	check_query("threat 246: a median, aggregated before a join$_->[0]", "SELECT $near FROM person JOIN tag USING (dept)",
		settings => "$eager $_->[1]", plan => $below_join) foreach [ '', $serial ], [ ' in parallel', '' ];
	check_query('threat 246: a number of joined rows', 'SELECT dp_count(500) = 30000 FROM person JOIN tag USING (dept)',
		settings => "$eager $serial", plan => $below_join, charges => 500);
	check_query('threat 246: numbers of joined rows by group',
		q{SELECT string_agg(c::text, ' ' ORDER BY n) FROM (SELECT n, dp_count(500) AS c FROM person JOIN tag USING (dept) GROUP BY n) g},
		settings => "$eager $serial", plan => $below_join, outcome => '10000 10000 10000', charges => 500);
	check_query('threat 246: a value that a cast made numeric',
		'SELECT abs(dp_sum(age::numeric, 500, 0, 100) - 3 * (SELECT sum(age) FROM person)) < 1 FROM person JOIN tag USING (dept)',
		settings => "$eager $serial", plan => $release, charges => 500);
}

# Partitions.
my $partitionwise = 'SET enable_partitionwise_aggregate = on;';
my $partial = qr/$release.*Finalize Aggregate.*Append.*Partial Aggregate.*Partial Aggregate/;
check_query(
	'threat 16: Parallel Append', "SELECT $near FROM part",
	plan => qr/$gather.*Parallel Append/);
check_query(
	'threat 16: partitions aggregated partially', "SELECT $near FROM part",
	settings => "$partitionwise $serial",
	plan => $partial);
check_query(
	'threat 16: an interquartile range uses all rows of partitions aggregated partially',
	'SELECT dp_iqr(0 * age, 1, 1e-300) FROM part',
	settings => "$partitionwise $serial",
	plan => $partial,
	outcome => '0');
check_query(
	'threat 16: partitions aggregated partially in parallel', "SELECT $near FROM part",
	settings => $partitionwise,
	plan => qr/$release.*Finalize Aggregate.*Gather.*Parallel Append.*Partial Aggregate.*Partial Aggregate/);
check_query(
	'threat 16: a CDF of partitions aggregated partially', "SELECT $all FROM part",
	settings => "$partitionwise $serial",
	plan => $partial,
	outcome => '10000',
	%charged_100);
check_query(
	'threat 16: partitions aggregated partially, without rows', "SELECT $of_three_cells FROM part WHERE age < 0",
	settings => "$partitionwise $serial",
	plan => $partial);
check_query(
	'threat 16: Merge Append of partial groups',
	"SELECT count(m) FROM (SELECT age, $median AS m FROM part GROUP BY age ORDER BY age) a",
	settings => "$partitionwise $serial SET enable_hashagg = off;",
	plan => qr/$release.*Finalize GroupAggregate.*Merge Append.*Partial GroupAggregate/,
	outcome => '101');
my $by_part = "SELECT count(*) FROM (SELECT dept, $near AS near FROM part GROUP BY dept) d WHERE near";
check_query(
	'threat 16: each partition aggregated by itself', $by_part,
	settings => "$partitionwise $serial",
	plan => qr/$release.*Append.*-> HashAggregate.*-> HashAggregate.*-> HashAggregate/,
	outcome => '3');
check_query(
	'threat 16: each partition aggregated by a worker', $by_part,
	settings => $partitionwise,
	plan => qr/$release.*Gather.*Parallel Append.*-> HashAggregate/,
	outcome => '3');

# A release stays in the leader, and what reads its answers stays there with it. In 700 people the answer is further from
# 50 than 10 years with a probability of 2^20 e^-60 < 1e-19.
my $about = "$median BETWEEN 40 AND 60";
my $join = qq{
	SELECT count(*) FROM person
	JOIN (SELECT dept, $median AS m FROM few GROUP BY dept) d USING (dept) WHERE m >= 0};
check_query(
	'threat 14: a join with private answers', $join,
	plan => qr/Hash Join.*Gather.*Parallel Seq Scan on person.*$release.*GroupedRows/,
	outcome => '10000');
check_query(
	'threat 14: a join with private answers, without workers', $join,
	settings => $serial,
	plan => qr/Hash Join.*$release.*GroupedRows/,
	outcome => '10000');
check_query(
	'threat 14: a join of private answers, all of them by workers', qq{
	SELECT count(*) FROM (SELECT dept, $near AS near FROM person GROUP BY dept) a
	JOIN (SELECT dept, $near AS near FROM person GROUP BY dept) b USING (dept) WHERE a.near AND b.near},
	plan => qr/Join.*$gather_merge.*$gather_merge/,
	outcome => '7',
	releases => 2,
	charges => 2);
check_query(
	'threat 14: a UNION ALL of private answers', "SELECT $about FROM few UNION ALL SELECT $about FROM few",
	plan => qr/^Append.*$release.*Aggregate.*$release.*Aggregate/,
	outcome => 't t',
	releases => 2,
	charges => 2);
check_query(
	'threat 14: a UNION ALL of private answers, each by workers',
	"SELECT $near FROM person UNION ALL SELECT $near FROM person",
	plan => qr/^Append.*$gather.*$gather/,
	outcome => 't t',
	releases => 2,
	charges => 2);
check_query(
	'threat 14: the leader finishes an InitPlan',
	"SELECT count(*) > 0 FROM person WHERE age > (SELECT $median FROM few)",
	plan => qr/Finalize Aggregate.*InitPlan.*$release.*Aggregate.*Gather/);

# PostgreSQL can be told to run every query in a worker for which this is safe.
my $for_all = 'SET ' . parallel_for_all($node) . ' = on;';
my @private = map { call_of($_, user => 'dept') } private_aggregates();
foreach my $call (@private)
{
	check_query(
		"threat 14: $call with every safe query in a worker", "SELECT $call IS NULL IN (true, false) FROM few",
		settings => $for_all,
		plan => qr/^(?:Result -> )?$release (?!.*Gather).*-> Aggregate -> Seq Scan/);
}

# Only a function that claims falsely to be safe takes a release into a worker.
$node->safe_psql(
	'postgres', q{
	CREATE FUNCTION mistaken(call text) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS $$
	DECLARE
		answered boolean;
	BEGIN
		EXECUTE format('SELECT %s IS NOT NULL FROM few', call) INTO answered;
		RETURN answered;
	END $$;
	CREATE TABLE one WITH (parallel_workers = 2) AS SELECT 1 AS row;
	GRANT SELECT ON one TO analyst;
	ANALYZE one});
my %refused = (outcome => '0A000', releases => 0, charges => 0);
foreach my $call (@private)
{
	check_query(
		"threat 14: $call in a function in a worker", 'SELECT mistaken($call$' . $call . '$call$)',
		settings => $for_all,
		plan => qr/^Gather.*Single Copy: true -> Result/,
		%refused);
}
my $mistaken = "SELECT count(*) FROM one WHERE mistaken('$median')";
my $in_workers = qr/Gather.*Parallel Seq Scan on one Filter: mistaken/;
check_query('threat 14: a function in a condition in a worker', $mistaken, plan => $in_workers, %refused);
# If the leader takes part, it or the worker gets the row.
my $participation = 'SET parallel_leader_participation = on;';
like(outcome($node, "$participation EXPLAIN (COSTS OFF) $mistaken"),
	$in_workers, 'threat 14: a function in a condition, and the leader takes part: the plan');
my $outcome = outcome($node, "$participation $mistaken");
like($outcome, qr/^(0A000|1)$/, 'threat 14: a function in a condition, and the leader takes part: refused in a worker');
is(spent($node), $paid + ($outcome eq '1'), 'threat 14: a function in a condition, and the leader takes part: charged for an answer');
$paid = spent($node);
$node->safe_psql('postgres', 'ALTER FUNCTION mistaken PARALLEL UNSAFE');
check_query(
	'threat 14: the function is declared as the hint says', $mistaken,
	plan => qr/^Aggregate -> Seq Scan on one Filter: mistaken/,
	outcome => '1',
	releases => 0);

# A user-level aggregate is charged once a group. There are 100 users with 100 rows each. The noise of a mean has the
# scale 101 * 100 / 10000 / epsilon, and exceeds 30 times that with a probability of 1e-13.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE trip AS SELECT (age::integer * 37 + dept) % 100 AS bus, 'cell ' || dept AS cell, age AS speed, dept FROM person;
	CREATE TABLE no_trip WITH (autovacuum_enabled = off) AS SELECT * FROM trip;
	GRANT SELECT ON trip, no_trip TO analyst;
	ANALYZE;
	DELETE FROM no_trip});
my $mean = 'dp_user_mean(bus, speed, 1, 0, 101)';
my $exact = "abs(50 - dp_user_mean(bus, speed, 10, 0, 101)) < 20";
check_query('user-level mean', "SELECT $exact FROM trip", plan => $gather, charges => 10);
check_query(
	'user-level means with GROUP BY: charged for each group',
	"SELECT count(m) FROM (SELECT dept, $mean AS m FROM trip GROUP BY dept) d",
	plan => $gather_merge,
	outcome => '7',
	charges => 7);
is(outcome($node, 'SELECT groups FROM dp_ledger ORDER BY number DESC LIMIT 2'),
	'6 1', 'user-level means with GROUP BY: one group is charged first and the others together');
check_query(
	'threat 20: user-level means with GROUP BY without any group',
	"SELECT count(m) FROM (SELECT dept, $mean AS m FROM no_trip GROUP BY dept) d",
	plan => $gather_merge,
	outcome => '0');
check_query(
	'user-level means beside medians: both are charged',
	"SELECT count(m) FROM (SELECT $mean + dp_median(speed, 1, 0, 100) AS m FROM trip GROUP BY dept) d",
	plan => $gather_merge,
	outcome => '7',
	charges => 8);
check_query(
	'user-level means of partitions: charged for each group',
	"SELECT count(m) FROM (SELECT dept, dp_user_mean(age::integer, age, 1, 0, 101) AS m FROM part GROUP BY dept) d",
	settings => $partitionwise,
	plan => qr/$release.*Gather.*Parallel Append.*-> HashAggregate/,
	outcome => '3',
	charges => 3);
check_query(
	'user-level means with a hashed GROUP BY',
	"SELECT count(m) FROM (SELECT dept, dp_user_variance(bus::text, speed::numeric, 1, 0, 101) AS m FROM trip GROUP BY dept) d",
	settings => 'SET enable_sort = off;',
	plan => $gather_hashed,
	outcome => '7',
	charges => 7);
check_query('threat 20: a user-level mean of an empty table', "SELECT $mean BETWEEN 0 AND 101 FROM no_trip", plan => $gather);
my $without_equality = 'SELECT dp_user_mean(point(bus, 1), speed, 1, 0, 101) FROM no_trip';
is(outcome($node, "EXPLAIN $without_equality; $without_equality"),
	'42883 42883', 'threat 20: users of a type without equality are refused');
is(spent($node), $paid, 'threat 20: users of a type without equality: not charged');
check_query(
	'one user in two workers is one user',
	"SELECT dp_user_variance(1, speed, 1, 0, 101, dp_options(max_contributions => '1')) FROM trip",
	plan => $gather,
	outcome => '0');
# Each grid has its own speed, which its mean shows.
check_query(
	'grids of several workers are combined by their names', q{
	SELECT string_agg((s).grid || ' ' || round((s).mean / 10) || ' ' || (s).users_kept, ', ') FROM unnest((
		SELECT dp_user_grid_stats(bus, cell, dept * 10, 1000, 0, 60) FROM trip)) s},
	plan => qr/Finalize Aggregate.*Gather.*Partial Aggregate/,
	outcome => join(', ', map { "cell $_ $_ 100" } 0 .. 6),
	charges => 1000);
check_query('threat 20: grids of an empty table', 'SELECT dp_user_grid_stats(bus, cell, speed, 1, 0, 101) FROM no_trip',
	plan => $gather, outcome => '{}');

done_testing();
