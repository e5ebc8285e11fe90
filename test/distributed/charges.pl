# Threat 89: 200 queries of many shapes, under settings of Citus that any user may change. Each private aggregate of each query
# level is charged once, on the coordinator, whatever plan Citus picks.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../t/lib";

use DistributedServers;
use DpQuantile;
use Test::More;

my ($coordinator, @workers) = new_servers();

# Each with the number of its private aggregates.
my @targets = (
	['dp_count(1) AS a', 1],
	['dp_median(p.age, 1, 0, 100) AS a', 1],
	['dp_avg(p.age, 1, 0, 100) AS a, dp_count(p.name, 1) AS b', 2],
	['dp_sum(p.income, 1, 0, 100) AS a, count(*) AS b, dp_stddev(p.age, 1, 0, 100) AS c', 2],
	['dp_quantiles(p.age, ARRAY[0.1, 0.9], 1, 0, 100) IS NOT NULL AS a, dp_count(1) + dp_count(1) AS b', 2]);
my @sources = (
	'person p', 'person p JOIN city USING (city)', 'person p JOIN person q USING (id)', 'person p JOIN here USING (id)', 'adults p',
	'(SELECT * FROM person ORDER BY id LIMIT 100) p', '(SELECT DISTINCT id, city, name, age, income FROM person) p',
	'(SELECT * FROM person UNION ALL SELECT * FROM copy_of_person) p', 'copy_of_person p',
	'person p LEFT JOIN city c ON p.city = c.city');
my @conditions = ('true', 'p.age < 50', 'p.id = 7', 'p.id IN (1, 2, 3)', 'false', 'p.id IN (SELECT id FROM here)');
my @groupings = ('', '', 'p.id % 3', 'p.name');
# %s: a query. Each executes it once.
my @wrappers = (
	'%s', 'SELECT * FROM (%s) AS s', 'WITH answer AS (%s) SELECT * FROM answer', 'CREATE TEMP TABLE kept AS %s',
	'PREPARE q AS %s; EXECUTE q', 'COPY (%s) TO STDOUT', 'SELECT 1 WHERE EXISTS (%s) OR true', '%s LIMIT 1');
my @settings = (
	'', "SET citus.coordinator_aggregation_strategy = 'disabled';", 'SET citus.enable_repartition_joins = on;',
	'SET citus.enable_router_execution = off;', 'SET citus.enable_fast_path_router_planner = off;', 'SET citus.enable_local_execution = off;',
	"SET citus.task_assignment_policy = 'round-robin';", 'SET citus.enable_binary_protocol = off;', 'SET citus.max_adaptive_executor_pool_size = 1;',
	'SET citus.force_max_query_parallelization = on;', "SET citus.multi_task_query_log_level = 'debug';", "SET citus.executor_slow_start_interval = 0;",
	"SET citus.local_table_join_policy = 'prefer-distributed';", "SET citus.multi_shard_modify_mode = 'sequential';");

# The same queries each time: a linear congruential generator.
my $random = 12345;

sub one_of
{
	my (@choices) = @_;
	$random = ($random * 1103515245 + 12345) % 2**31;
	return $choices[($random >> 8) % @choices];
}

my $answered = 0;
foreach my $number (1 .. 200)
{
	my ($target, $charges) = @{one_of(@targets)};
	my $keys = one_of(@groupings);
	my $query = "SELECT $target FROM " . one_of(@sources) . ' WHERE ' . one_of(@conditions) . ($keys ? " GROUP BY $keys" : '');
	my $wrapper = one_of(@wrappers);
	# PostgreSQL does not execute a subquery that decides nothing.
	$charges = 0 if $wrapper =~ /OR true/;
	my $setting = one_of(@settings);
	my $statement = "$setting " . sprintf $wrapper, $query;
	# In one session, because sessions take longer than queries.
	my $outcome = outcome($coordinator, "SELECT count(*) AS n FROM dp_ledger \\gset\n$statement;\n"
			. "SELECT 'charged ' || count(*) - :n || ':' FROM dp_ledger");
	my ($charged, $errors) = $outcome =~ /charged (\d+):(.*)\z/s;
	# Citus itself cannot plan some queries without its router. What is refused is free.
	$charges = 0 if $errors =~ / (0A000|XX000)$/ && $setting =~ /enable_router_execution/;
	++$answered if $errors eq '';
	is($charged, $charges, "query $number is charged $charges times: $statement") or note($outcome);
}
cmp_ok($answered, '>=', 180, 'most queries are answered');
is(charges_on_workers(@workers), 0, 'no charge is on a worker');
done_testing();
