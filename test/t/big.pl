# Large inputs take bounded memory. Limits that do not depend on the data refuse what would take more.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('big', conf => "jit = off\n", budget => 10_000, delta => 0.1);
my $paid = 0;

# A sanitizer keeps freed memory for a while. `make sanitize` says so, and only what the queries answer is compared then.
my $limited = !$ENV{DPQ_SANITIZED};

# The most memory that a backend has had at any time, in MB.
sub peak_memory
{
	my ($backend) = @_;
	my ($peak) = slurp_file("/proc/$backend/status") =~ /^VmPeak:\s+(\d+) kB/m;
	return $peak / 1024;
}

# Runs the query in a new session. It must give t and take less than `megabytes` more than a small query. Returns the session.
sub check_memory
{
	my ($name, $query, %params) = @_;
	my $session = $node->background_psql('postgres', extra_params => [ '-U', 'analyst' ]);
	$session->{backend} = $session->query('SELECT pg_backend_pid()');
	$session->query_safe($ANSWER);
	$session->query_safe($params{small}) if $params{small};
	$session->{before} = peak_memory($session->{backend});
	is($session->query($query), 't', "threat 24: $name");
	my $used = peak_memory($session->{backend}) - $session->{before};
	note("$used MB");
	cmp_ok($used, '<', $params{megabytes}, "threat 24: $name, within $params{megabytes} MB") if $limited;
	$paid += ($params{small} ? 2 : 1) + $params{cost};
	is(spent($node), $paid, "threat 24: $name, charged once");
	return $session;
}

SKIP:
{
	skip 'no /proc', 37 unless -r '/proc/self/status';

	# The peak is where the counters become wide: 5 MB, and a quarter for the rows to be counted. The histogram of 1000 cells
	# takes hardly any memory.
	check_memory(
		'10 million rows in one call', q{
		SELECT dp_quantiles(i % 1000, ARRAY[0.1, 0.5, 0.9], 1, 0, 1000) IS NOT NULL
		FROM (SELECT generate_series(1, 10000000) i) s},
		megabytes => 20,
		cost => 1)->quit;

	# The peak is at the end: 5 MB for the counters, 8 MB for the histogram.
	check_memory(
		'10 million rows in all cells of the default value grid', q{
		SELECT dp_quantiles(i * 7919::bigint % 1048576, ARRAY[0.1, 0.5, 0.9], 1, 0, 1048575) IS NOT NULL
		FROM (SELECT generate_series(1, 10000000) i) s},
		megabytes => 32,
		cost => 1)->quit;

	# Most rows differ, so the histogram takes 4 bytes a row, and the runs that it is made from take 2. The state before
	# that takes less: half of the rows are a list of 4 bytes each, which is sorted beside the runs of the other half. The
	# rest is unused memory between the allocations.
	check_memory(
		'10 million different rows on a fine value grid', q{
		SELECT dp_median(i * 2654435761::bigint % 4294967296, 1, 0, 4294967295, dp_options(granularity => 1)) IS NOT NULL
		FROM (SELECT generate_series(1, 10000000) i) s},
		megabytes => 100,
		cost => 1)->quit;

	# Rows, and later answers, take work_mem times hash_mem_multiplier, 8 MB, however many there are; 8.9 MB with PostgreSQL 16. The rows alone have 24 bytes each.
	$node->safe_psql('postgres',
		q{CREATE TABLE visit AS SELECT i % 300000 AS k, i % 1000 AS x FROM generate_series(1, 1000000) i; ANALYZE visit; GRANT SELECT ON visit TO analyst});
	check_memory(
		'a million rows in 300000 groups', q{
		SELECT count(median) = 300000 FROM (SELECT dp_median(x, 1, 0, 1000) AS median FROM visit GROUP BY k) s},
		megabytes => 10,
		cost => 1)->quit;

	# Answers have no more than half of the memory of a hash table. 1 MB is for the plan and catalogs.
	my @many_groups = (
		'a million rows in 300000 groups, without a multiplier', q{
		SET hash_mem_multiplier = 1;
		SELECT count(median) = 300000 FROM (SELECT dp_median(x, 1, 0, 1000) AS median FROM visit GROUP BY k) s},
		megabytes => 6,
		cost => 1);
	check_memory(@many_groups)->quit;

	# The states of all groups take 20 MB in a hash table, and one at a time takes 1 MB.
	$node->safe_psql('postgres',
		q{CREATE TABLE stay AS SELECT i % 20 AS k, random() * 1000 AS x FROM generate_series(1, 3000000) i; ANALYZE stay; GRANT SELECT ON stay TO analyst});
	my @few_groups = (
		'three million rows in 20 groups', q{
		SET max_parallel_workers_per_gather = 0;
		SELECT count(median) = 20 FROM (SELECT dp_median(x, 1, 0, 1000) AS median FROM stay GROUP BY k) s},
		megabytes => 10,
		cost => 1);
	check_memory(@few_groups)->quit;

	# Rows, states of a part and answers, likewise, of protected rows: 7.9 MB. The states of all groups are 420 MB, and the answers of 100000 left 200 bytes each.
	$node->safe_psql(
		'postgres', q{
		CREATE TABLE protected_visit AS SELECT i % 1000000 AS k, i % 20000 AS few, (i % 1000)::float8 AS x FROM generate_series(1, 3000000) i;
		VACUUM ANALYZE protected_visit;
		CREATE TABLE one AS SELECT 1 AS k, 1::float8 AS x;
		SELECT dp_protect_table(t), dp_set_domain(t, 'x', 0, 1000), dp_grant_private_access(t, 'analyst', epsilon => 1, delta => 1e-6)
		FROM unnest('{one,protected_visit}'::regclass[]) t});
	check_memory(
		"$_->[0] groups of protected rows", qq{
		SELECT count(*) >= 0 FROM (SELECT $_->[1], count(x), avg(x) FROM protected_visit GROUP BY 1) s},
		small => 'SET client_min_messages = error; SELECT count(*) FROM (SELECT k, count(x), avg(x) FROM one GROUP BY 1) s',
		megabytes => 9,
		cost => 1)->quit
	  for [ '1000000', 'k' ], [ '20000', 'few' ];

	# The limits of hash tables are raised while sessions with private access read, and while queries over protected rows are planned. Own rows keep to those of the session.
	check_memory("in a session with private access, $_->[0]", @$_[ 1 .. $#$_ ])->quit for \@many_groups, \@few_groups;
	check_memory(
		'three million own rows in 20 groups, beside protected rows', q{
		SELECT count(median) = 20 AND (SELECT count(*) >= 0 FROM one) FROM (SELECT dp_median(x, 1, 0, 1000) AS median FROM stay GROUP BY k) s},
		small => 'SET client_min_messages = error; SELECT count(*) FROM one',
		megabytes => 10,
		cost => 2)->quit;

	# The peak is at the last doubling: 64 MB for the values, 64 MB for the executor's copy, 32 MB for the smaller state.
	# Sorting takes less. The rest is unused memory between the allocations, which differs from run to run: 101 to 187 MB in all were seen.
	# The interquartile range is 500. The probability of an error of 5 is below e^-70.
	check_memory(
		'an interquartile range of 5 million rows', q{
		SELECT dp_iqr(i % 1000, 1000, 1e-6) BETWEEN 495 AND 505
		FROM (SELECT generate_series(1, 5000000) i) s},
		megabytes => 220,
		cost => 1000)->quit;

	# The peak is at the end: 5 MB for the counters, and 8 MB each for the exact counts, the released counts and the
	# intermediate ones.
	my $session = check_memory(
		'a CDF of 10 million rows in 2^20 bins', q{
		CREATE TEMP TABLE release AS
		SELECT dp_cdf(i % 1000, 200, 0, 1000, dp_options(bins => 1048576)) AS cdf
		FROM (SELECT generate_series(1, 10000000) i) s;
		SELECT true},
		megabytes => 64,
		cost => 200);
	# Each level of the tree has an epsilon of 20 or more. The probability of an error of 1000 rows, or of a thousandth
	# of the rows at the median, is below e^-1000.
	is( $session->query(
			q{
			SELECT abs(dp_cdf_rows(cdf) - 10000000) < 1000 AND abs(dp_cdf_quantile(cdf, 0.5) - 500) < 2
				AND length(cdf::text) > 1048576 * 8 AND cdf::text::dp_cdf::text = cdf::text FROM release}),
		't', 'threat 24: the CDF can be queried, written and read');
	is($session->query('SELECT count(*) FROM release, dp_cdf_points(cdf)'), 1048577, 'the CDF has 2^20 + 1 points');
	my $used = peak_memory($session->{backend}) - $session->{before};
	note("$used MB");
	# The text and the jsonb of a million numbers.
	cmp_ok($used, '<', 400, 'threat 24: queries of the CDF, within 400 MB') if $limited;
	$session->quit;
}
$paid = spent($node);

sub refused
{
	my ($name, $sql) = @_;
	is(outcome($node, $sql), '22023', "threat 24: $name is refused");
	is(spent($node), $paid, "threat 24: $name is not charged");
	return;
}

sub accepted
{
	my ($name, $sql) = @_;
	is(outcome($node, $sql), 't', "threat 24: $name is accepted");
	is(spent($node), ++$paid, "threat 24: $name is charged");
	return;
}

my $quantiles = q{
	SELECT array_length(dp_quantiles(age, array_fill(0.5::float8, ARRAY[%d]), 1, 0, 100), 1) = %d
	FROM %s};
my $cells = q{
	SELECT dp_median(age, 1, 0, %s, dp_options(granularity => 1)) BETWEEN 0 AND 4294967295
	FROM %s};
my $bins = q{
	SELECT dp_cdf_rows(dp_cdf(age, 1, 0, 1048575, dp_options(%s))) >= 0 FROM %s};
foreach my $rows ('person', 'person WHERE false')
{
	accepted("an array of 4096 quantiles of $rows", sprintf $quantiles, 4096, 4096, $rows);
	refused("an array of 4097 quantiles of $rows", sprintf $quantiles, 4097, 4097, $rows);
	refused("an array of 10 million quantiles of $rows", sprintf $quantiles, 10_000_000, 10_000_000, $rows);
	accepted("a value grid of 2^32 cells for $rows", sprintf $cells, '4294967295', $rows);
	refused("a value grid of 2^32 + 1 cells for $rows", sprintf $cells, '4294967296', $rows);
	refused("a value grid of 10^300 cells for $rows", sprintf $cells, '1e300', $rows);
	accepted("a CDF of 2^20 bins for $rows", sprintf $bins, 'bins => 1048576', $rows);
	refused("a CDF of 2^20 + 1 bins for $rows", sprintf $bins, 'bins => 1048577', $rows);
	accepted("a CDF of 2^20 values for $rows", sprintf $bins, 'granularity => 1', $rows);
	refused("a CDF of 2^20 + 1 values or more for $rows", sprintf $bins, 'granularity => 0.999999', $rows);
}

done_testing();
