# The aggregate state holds exact data. An analyst cannot read it, and invalid bytes in its place do no harm.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use Math::BigInt;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('state');
# Each reading of bytes is a query of its own. One session for all of them saves the time to connect.
my %session = map { $_ => session($node, $_) } 'analyst', 'postgres';
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');

# Calls of all support functions with NULL arguments. The arguments are sub-selects, because the planner would
# simplify a call of a strict function with constants.
my @calls = split /\n/, $node->safe_psql(
	'postgres', q{
	SELECT format('SELECT dpquantile.%I(%s)', proname,
		(SELECT string_agg(format('(SELECT NULL::%s)', type::regtype), ', ') FROM unnest(proargtypes) type))
	FROM pg_proc
	WHERE pronamespace = 'dpquantile'::regnamespace AND 'internal'::regtype <> ALL (proargtypes)
		AND 'dpquantile.records_state'::regtype = ANY (prorettype || proargtypes::oid[])
	ORDER BY 1});
my @executor_calls = grep { /_(transition|combine|final)(_\w+)?\(/ } @calls;
cmp_ok(@executor_calls, '>=', 4, 'the extension has support functions');
my @finals = grep { /_final(_\w+)?\(/ } @calls;
cmp_ok(@finals, '>=', 21, 'the extension has final functions');
my $expose = q{
	CREATE AGGREGATE %s.expose(float8, float8, float8, float8)
		(SFUNC = dpquantile.median_transition, STYPE = dpquantile.records_state)};

foreach my $schema_is ('closed', 'open')
{
	is(outcome_in($session{analyst}, $_), '42501', "threat 15: an analyst may not call, with the schema $schema_is: $_")
	  foreach @calls;
	is(outcome_in($session{analyst}, sprintf $expose, 'pg_temp'),
		'42501', "threat 15: an analyst may not build an aggregate, with the schema $schema_is");
	$node->safe_psql('postgres', 'GRANT USAGE ON SCHEMA dpquantile TO analyst');
}
$node->safe_psql('postgres', 'REVOKE USAGE ON SCHEMA dpquantile FROM analyst');
is(outcome_in($session{postgres}, $_), '0A000', "threat 15: refused even to a superuser: $_")
  foreach @executor_calls;
foreach my $final (@finals)
{
	(my $call = $final) =~ s/\(SELECT NULL::dpquantile\.records_state\)/'\\x00'/ or die $final;
	is(outcome_in($session{postgres}, $call), '22P03', "threat 15: the input function checks bytes first: $call");
}

# A superuser may read the state. The test changes its bytes as others could.
$node->safe_psql('postgres', sprintf $expose, 'public');
$node->safe_psql(
	'postgres', q{
	CREATE AGGREGATE expose(float8, float8[], float8, float8, float8, jsonb)
		(SFUNC = dpquantile.quantiles_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE merge(dpquantile.records_state)
		(SFUNC = dpquantile.records_combine, STYPE = dpquantile.records_state);

	CREATE AGGREGATE expose_cdf(float8, float8, float8, float8, jsonb)
		(SFUNC = dpquantile.cdf_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_synthesis(float8, bigint, float8, float8, float8, jsonb)
		(SFUNC = dpquantile.synthesize_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_iqr(float8, float8, float8, jsonb)
		(SFUNC = dpquantile.iqr_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_histogram(float8, float8, float8[])
		(SFUNC = dpquantile.histogram_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_count(float8)
		(SFUNC = dpquantile.count_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_sum(float8, float8, float8, float8)
		(SFUNC = dpquantile.sum_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_avg(float8, float8, float8, float8)
		(SFUNC = dpquantile.mean_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_stats(float8, float8, float8, float8)
		(SFUNC = dpquantile.moments_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_keep(float8, float8)
		(SFUNC = dpquantile.keep_group_transition, STYPE = dpquantile.records_state);

	-- Five records on the value grid 0, 1, .. 100.
	CREATE TABLE valid AS
	SELECT expose(x, ARRAY[0.25, 0.5], 1, 0, 100, dp_options(granularity => 1))::text::bytea AS bytes
	FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	-- The same records in 50 bins.
	CREATE TABLE valid_cdf AS
	SELECT expose_cdf(x, 1, 0, 100, dp_options(bins => 50))::text::bytea AS bytes
	FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	-- The same records as values.
	CREATE TABLE valid_iqr AS
	SELECT expose_iqr(x, 1, 1e-6, NULL)::text::bytea AS bytes FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	-- The same records on the value grid, for quartiles.
	CREATE TABLE valid_range AS
	SELECT expose_iqr(x, 1, 0, dp_options('quantiles', 1, lower => 0, upper => 100))::text::bytea AS bytes
	FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	-- The same records for a synthetic sample of three, under zCDP.
	CREATE TABLE valid_synthesis AS
	SELECT expose_synthesis(x, 3, NULL, 0, 100, dp_options(granularity => 1, rho => 0.1))::text::bytea AS bytes
	FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	-- The same records in three bins.
	CREATE TABLE valid_histogram AS
	SELECT expose_histogram(x, 1, ARRAY[0, 2, 4, 6])::text::bytea AS bytes FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	-- The number of these records, for an answer and for a choice of groups.
	CREATE TABLE valid_count AS SELECT expose_count(1)::text::bytea AS bytes FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	CREATE TABLE valid_keep AS SELECT expose_keep(1, 1e-6)::text::bytea AS bytes FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	-- The sums of the same records, of which the last counts as 4.
	CREATE TABLE valid_sum AS
	SELECT expose_sum(x, 1, 0, 4)::text::bytea AS bytes FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	CREATE TABLE valid_avg AS
	SELECT expose_avg(x, 1, 0, 4)::text::bytea AS bytes FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	CREATE TABLE valid_stats AS
	SELECT expose_stats(x, 1, 0, 4)::text::bytea AS bytes FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	-- Too many records for a list when they are read: the ends of the largest value grid, and 3000 in cell 70.
	CREATE TABLE valid_many AS
	SELECT expose(x, ARRAY[0.5], 1, 0, 4294967295, dp_options(granularity => 1))::text::bytea AS bytes
	FROM (VALUES (0), (4294967295) UNION ALL SELECT 70 FROM generate_series(1, 3000)) v(x);
	CREATE TABLE received (state dpquantile.records_state)});

# The parts of a state: version, family, method, measure and type of values; epsilon, delta, lower, upper, granularity; bins; quantiles;
# records. Records on a value grid are runs of cells in ascending order. A run is twice the number of cells skipped since
# the last run, plus 1 if it has several records. Then the number of records minus two follows. Sums are one record: the number
# of rows in 8 bytes; the sum of their values and of the squares, in 16 bytes each. dp_sum counts a value in units of
# max(|lower|, |upper|) / 2^32, to which it adds 2^32; the others count it from 0 at the lower bound to 2^31 at the upper one.
my $header = 5 + 5 * 8 + 4;
my %offset = (
	valid => $header + 4 + 2 * 8,
	valid_cdf => $header + 4,
	valid_iqr => $header + 4,
	valid_range => $header + 4,
	valid_synthesis => $header + 4 + 3 * 8,
	valid_many => $header + 4 + 8,
	valid_histogram => $header + 4 + 4 * 8,
	map { $_ => $header + 4 } 'valid_count', 'valid_keep', 'valid_sum', 'valid_avg', 'valid_stats');
my $values = join '', '4008000000000000', '3ff0000000000000', '4010000000000000', '3ff0000000000000', '4014000000000000';
my $of_units = '00000001a0000000' . '0000000000000000' . 'ac00000000000000';
my $of_units_twice = '0000000340000000' . '0000000000000001' . '5800000000000000';
my %records = (
	(map { $_ => '00000005' . '0300020000' } 'valid', 'valid_range', 'valid_synthesis'),
	valid_cdf => '00000005' . '0100' . '00' . '0100',
	valid_iqr => '00000005' . $values,
	valid_many => '00000bba' . '00' . '8b01b617' . 'f0feffff1f',
	valid_histogram => '00000005' . '0100' . '00' . '0100',
	(map { $_ => '00000001' . '0000000000000005' . '0' x 64 } 'valid_count', 'valid_keep'),
	valid_sum => '00000001' . '0000000000000005' . '0000000000000000' . '0000000840000000' . '0' x 32,
	(map { $_ => '00000001' . '0000000000000005' . '0000000000000000' . $of_units } 'valid_avg', 'valid_stats'));
my %twice = (
	(map { $_ => '0000000a' . '0302030001000100' } 'valid', 'valid_range', 'valid_synthesis'),
	valid_cdf => '0000000a' . '0102' . '0100' . '0102',
	valid_iqr => '0000000a' . $values x 2,
	valid_many => '00001774' . '0100' . '8b01ee2e' . 'f1feffff1f00',
	valid_histogram => '0000000a' . '0102' . '0100' . '0102',
	(map { $_ => '00000001' . '000000000000000a' . '0' x 64 } 'valid_count', 'valid_keep'),
	valid_sum => '00000001' . '000000000000000a' . '0000000000000000' . '0000001080000000' . '0' x 32,
	(map { $_ => '00000001' . '000000000000000a' . '0000000000000000' . $of_units_twice } 'valid_avg', 'valid_stats'));
foreach my $table (sort keys %offset)
{
	is($node->safe_psql('postgres', "SELECT substr(bytes, 1 + $offset{$table}) FROM $table"),
		"\\x$records{$table}", "the state has the expected bytes: $table");
	is( $node->safe_psql(
			'postgres', qq{
			SELECT substr(merge(s)::text::bytea, 1 + $offset{$table})
			FROM (SELECT bytes::text::dpquantile.records_state FROM $table, generate_series(1, 2)) v(s)}),
		"\\x$twice{$table}", "two states can be combined: $table");
}
is( outcome($node, q{
		SELECT merge(s) FROM (SELECT expose(1, 1, 0, 10) UNION ALL SELECT expose(1, 1, 0, 20)) v(s)},
		user => 'postgres'),
	'22023', 'threat 15: states of different calls cannot be combined');
sub refuses_to_combine
{
	my ($one, $other) = @_;
	foreach my $order ('ASC', 'DESC')
	{
		is( outcome($node, qq{
				SELECT merge(bytes::text::dpquantile.records_state ORDER BY which $order)
				FROM (SELECT 1 AS which, bytes FROM $one UNION ALL SELECT 2, bytes FROM $other) v},
				user => 'postgres'),
			'22023', "threat 15: states of different functions cannot be combined, $one and $other $order");
	}
	return;
}
refuses_to_combine(@$_)
  foreach [ 'valid', 'valid_cdf' ], [ 'valid', 'valid_synthesis' ], [ 'valid', 'valid_iqr' ], [ 'valid_iqr', 'valid_range' ],
  [ 'valid_count', 'valid_keep' ], [ 'valid_count', 'valid_avg' ], [ 'valid_sum', 'valid_avg' ], [ 'valid_avg', 'valid_stats' ],
  [ 'valid', 'valid_avg' ], [ 'valid_iqr', 'valid_count' ], [ 'valid_cdf', 'valid_histogram' ];

# The outcome of reading the state with bytes at an offset replaced, as text.
sub with_bytes
{
	my ($offset, $hex, $table) = @_;
	$table //= 'valid';
	my $changed = "overlay(bytes PLACING '\\x$hex'::bytea FROM $offset + 1)";
	return outcome_in($session{postgres}, "SELECT $changed\::text::dpquantile.records_state IS NOT NULL FROM $table");
}
# The outcome of reading and writing the state with its records replaced by these bytes, as text.
sub with_records
{
	my ($table, $count, $hex) = @_;
	my $changed = "substr(bytes, 1, $offset{$table}) || int4send($count) || '\\x$hex'::bytea";
	return outcome_in($session{postgres},
		"SELECT ($changed)::text::dpquantile.records_state::text = ($changed)::text FROM $table");
}
my ($family, $method, $measure, $type, $epsilon, $delta, $lower, $upper, $granularity) = (1, 2, 3, 4, 5, 13, 21, 29, 37);
my ($bins, $quantiles) = (45, $header);
my %count = %offset;
my %record = map { $_ => $count{$_} + 4 } keys %count;
is(with_bytes(0, '04'), 't', 'the version is the first byte');
is(with_bytes(0, $_), '22P03', "threat 15: another version, $_") foreach '03', '05';
is(with_bytes($family, '00'), '22P03', 'threat 15: no function');
is(with_bytes($family, '11'), '22P03', 'threat 15: an unknown function');
is(with_bytes($family, '08'), '22P03', 'threat 15: quantiles, but a function of rows');
is(with_bytes($family, '0a'), '22P03', 'threat 15: quantiles, but a function of hashes');
is(with_bytes($family, '0c'), '22P03', 'threat 15: quantiles, but a function of sums');
is(with_bytes($family, '07'), '22P03', 'threat 15: quantiles, but a function of a number of quantiles');
is(with_bytes($family, '02'), '22P03', 'threat 15: quantiles, but a function of bins');
is(with_bytes($family, '0301'), '22023', 'threat 15: quantiles, but a function with a delta');
is(with_bytes($family, '0302'), '22P03', 'threat 15: quantiles, but a function of quartiles');
is(with_bytes($method, '08'), '22P03', 'threat 15: an unknown method');
is(with_bytes($measure, '02'), 't', 'rho in place of epsilon');
is(with_bytes($measure, '00'), '22P03', 'threat 15: no measure');
is(with_bytes($measure, '03'), '22P03', 'threat 15: an unknown measure');
is(with_bytes($measure, '02', 'valid_iqr'), '22P03', 'threat 15: rho of a function without rho');
is(with_bytes($type, '0a'), 't', 'the last type of values');
is(with_bytes($type, $_), '22P03', "threat 15: an unknown type of values, $_") foreach '00', '0b';
is(with_bytes($epsilon, '7ff8000000000000'), '22023', 'threat 15: epsilon NaN');
is(with_bytes($epsilon, 'bff0000000000000'), '22023', 'threat 15: a negative epsilon');
is(with_bytes($delta, '3eb0c6f7a0b5ed8d'), '22P03', 'threat 15: quantiles with a delta');
is(with_bytes($lower, '7ff0000000000000'), '22023', 'threat 15: an infinite bound');
is(with_bytes($granularity, '0000000000000001'), '22023', 'threat 15: a subnormal granularity');
is(with_bytes($granularity, '3e10000000000000'), '22023', 'threat 15: more than 2^32 cells');
is(with_bytes($bins, '00000001'), '22P03', 'threat 15: bins of quantiles');
is(with_bytes($quantiles, 'ffffffff'), '22P03', 'threat 15: more quantiles than bytes');
is(with_bytes($quantiles, '00000000'), '22023', 'threat 15: no quantile');
is(with_bytes($quantiles + 4, '4000000000000000'), '22023', 'threat 15: the quantile 2');
foreach my $table (sort keys %count)
{
	is(with_bytes($count{$table}, 'ffffffff', $table), '22P03', "threat 15: more records than bytes: $table");
	is(with_bytes($count{$table}, '20000001', $table), '22P03', "threat 15: many more records: $table");
	is(with_bytes($count{$table}, '00000004', $table), '22P03', "threat 15: fewer records than bytes: $table");
}
is(with_records('valid', 1, 'c801'), 't', 'the last cell of the value grid');
is(with_records('valid', 1, 'ca01'), '22P03', 'threat 15: a record just outside the value grid');
is(with_records('valid', 2, 'c80100'), '22P03', 'threat 15: a record after the last cell');
is(with_records('valid', 1, 'feffffff1f'), '22P03', 'threat 15: a record far outside the value grid');
is(with_records('valid_many', 1, 'feffffff1f'), 't', 'the last cell of the largest value grid');
is(with_records('valid_many', 2, 'feffffff1f00'), '22P03', 'threat 15: a record after the last cell of the largest value grid');
is(with_records('valid', 0, ''), 't', 'no records');
is(with_records('valid', 1, ''), '22P03', 'threat 15: a record, but no bytes');
is(with_records('valid', 2, '07'), '22P03', 'threat 15: bytes that end within a run');
is(with_records('valid', 1, '86'), '22P03', 'threat 15: bytes that end within a number');
is(with_records('valid', 1, '8600'), '22P03', 'threat 15: a superfluous byte in a number');
is(with_records('valid', 2, '078000'), '22P03', 'threat 15: a superfluous byte in the number of records');
is(with_records('valid', 1, '868080808001'), '22P03', 'threat 15: a number of too many bytes');
is(with_records('valid', 1, '0700'), '22P03', 'threat 15: a run of more records than there are');
is(with_records('valid', -1, '07fdffffff0f'), 't', 'the largest number of records');
is(with_records('valid', 0, '07feffffff0f'), '22P03', 'threat 15: one record more than the largest number');
is(with_records('valid', 1, '07ffffffff0f'), '22P03', 'threat 15: two records more than the largest number');
is(with_bytes($family, '01', 'valid_cdf'), '22023', 'threat 15: bins, but a function of quantiles');
is(with_bytes($method, '03', 'valid_cdf'), 't', 'the last method of a CDF with an epsilon');
is(with_bytes($method, '04', 'valid_cdf'), '22023', 'threat 15: a method of a CDF that needs rho, with an epsilon');
is(with_bytes($method, '05', 'valid_cdf'), '22P03', 'threat 15: an unknown method of a CDF');
is(with_bytes($delta, '0000000000000001', 'valid_cdf'), '22P03', 'threat 15: a CDF with a delta');
is(with_bytes($bins, '00100000', 'valid_cdf'), 't', 'the largest number of bins');
is(with_bytes($bins, '00100001', 'valid_cdf'), '22023', 'threat 15: more bins than the largest number');
is(with_bytes($bins, '00000000', 'valid_cdf'), '22023', 'threat 15: no bins');
is(with_bytes($bins, '00000002', 'valid_cdf'), '22P03', 'threat 15: a record outside of fewer bins');
is(with_bytes($granularity, '3ff0000000000000', 'valid_cdf'), '22P03', 'threat 15: bins and granularity');
is(with_bytes($quantiles, '00000001', 'valid_cdf'), '22P03', 'threat 15: a CDF with a quantile');
is(with_records('valid_cdf', 1, '62'), 't', 'the last bin');
is(with_records('valid_cdf', 1, '64'), '22P03', 'threat 15: a record just outside the bins');
# Values are any numbers except NaN.
is(with_bytes($record{valid_iqr}, $_, 'valid_iqr'), 't', "the value $_")
  foreach '7ff0000000000000', 'fff0000000000000', '7fefffffffffffff', '0000000000000001', '8000000000000000';
is(with_bytes($record{valid_iqr} + 4 * 8, $_, 'valid_iqr'), '22P03', "threat 15: NaN as the last value, $_")
  foreach '7ff8000000000000', 'fff8000000000000', '7ff0000000000001', 'ffffffffffffffff';
is(with_bytes($family, '01', 'valid_iqr'), '22023', 'threat 15: values, but a function of cells');
is(with_bytes($family, '02', 'valid_iqr'), '22023', 'threat 15: values, but a function of bins');
is(with_bytes($method, '02', 'valid_iqr'), '22023', 'threat 15: values, but a method of cells');
is(with_bytes($method, '03', 'valid_iqr'), '22P03', 'threat 15: an unknown method of an interquartile range');
is(with_bytes($delta, '3fe0000000000000', 'valid_iqr'), 't', 'the largest delta');
is(with_bytes($delta, $_, 'valid_iqr'), '22023', "threat 15: the delta $_")
  foreach '3fe0000000000001', '0000000000000000', '7ff8000000000000', 'beb0c6f7a0b5ed8d', '0000000000000001';
is(with_bytes($_, '3ff0000000000000', 'valid_iqr'), '22P03', "threat 15: values with a bound, at $_")
  foreach $lower, $upper;
is(with_bytes($granularity, '3ff0000000000000', 'valid_iqr'), '22023', 'threat 15: values with a granularity');
is(with_bytes($bins, '00000001', 'valid_iqr'), '22P03', 'threat 15: values with bins');
is(with_bytes($quantiles, '00000001', 'valid_iqr'), '22P03', 'threat 15: values with a quantile');
is(with_bytes($method, '01', 'valid_range'), '22023', 'threat 15: cells, but a method of values');
is(with_bytes($delta, '3eb0c6f7a0b5ed8d', 'valid_range'), '22023', 'threat 15: a delta that is not spent');
is(with_bytes($quantiles, '00000001', 'valid_range'), '22P03', 'threat 15: quartiles with a quantile');
is(with_records('valid_range', 1, 'c801'), 't', 'the last cell of the value grid of an interquartile range');
is(with_records('valid_range', 1, 'ca01'), '22P03', 'threat 15: a record just outside the value grid of an interquartile range');
is(with_bytes($measure, '01', 'valid_synthesis'), 't', 'epsilon in place of rho');
is(with_bytes($epsilon, '3d719799812dea11', 'valid_synthesis'), 't', 'the smallest rho');
is(with_bytes($epsilon, '3d719799812dea10', 'valid_synthesis'), '22023', 'threat 15: a smaller rho');
is(with_bytes($delta, '3eb0c6f7a0b5ed8d', 'valid_synthesis'), '22P03', 'threat 15: rho with a delta');
is(with_bytes($quantiles + 4, '3fd0000000000001', 'valid_synthesis'), '22P03', 'threat 15: a synthesis with quantiles that are not uniform');
is(with_bytes($quantiles, '00000002', 'valid_synthesis'), '22P03', 'threat 15: fewer quantiles than bytes');

# The records of a state of sums: the number of rows, the sum of their values, the sum of the squares.
sub hex_of
{
	my ($number, $digits) = @_;
	my $hex = substr(Math::BigInt->new($number)->as_hex, 2);
	return '0' x ($digits - length $hex) . $hex;
}
sub sums
{
	my ($rows, $sum, $squares) = @_;
	return hex_of($rows, 16) . hex_of($sum // 0, 32) . hex_of($squares // 0, 32);
}
sub power
{
	my ($exponent) = @_;
	return Math::BigInt->new(2)->bpow($exponent);
}
my $one = power(31);
my $most = power(62);
my %largest = (
	valid_count => sums($most),
	valid_keep => sums($most),
	valid_sum => sums($most, $most * power(33)),
	valid_avg => sums($most, $most * $one, $most * $one * $one),
	valid_stats => sums($most, $most * $one, $most * $one * $one));
foreach my $table (sort keys %largest)
{
	is(with_records($table, 1, sums(0)), 't', "no rows: $table");
	is(with_records($table, 1, $largest{$table}), 't', "the largest number of rows and the largest sums: $table");
	is(with_records($table, 1, sums($_)), '22P03', "threat 15: $_ rows: $table") foreach $most + 1, power(63), power(64) - 1;
	is(with_records($table, 1, sums(0, 1)), '22P03', "threat 15: a sum of no rows: $table");
	is(with_records($table, 1, sums(0, 0, 1)), '22P03', "threat 15: squares of no rows: $table");
	is(with_records($table, 1, sums(5, power(64))), '22P03', "threat 15: a sum of 2^64: $table");
	is(with_records($table, 1, sums(5, power(128) - 1)), '22P03', "threat 15: the largest sum in 16 bytes: $table");
	is(with_records($table, 1, sums(5, 5 * $one, $_)), '22P03', "threat 15: squares $_: $table") foreach power(127), power(128) - 1;
	is(with_records($table, 0, ''), '22P03', "threat 15: no sums: $table");
	is(with_records($table, 2, sums(1) x 2), '22P03', "threat 15: sums twice: $table");
	is(with_records($table, 1, substr(sums(1), 2)), '08P01', "threat 15: a byte less than sums: $table");
	is(with_records($table, 1, sums(1) . '00'), '08P01', "threat 15: a byte more than sums: $table");
	is(with_bytes($method, $_, $table), '22P03', "threat 15: the method $_: $table") foreach '00', '02';
	is(with_bytes($epsilon, '7ff8000000000000', $table), '22023', "threat 15: epsilon NaN: $table");
	is(with_bytes($bins, '00000001', $table), '22P03', "threat 15: bins: $table");
	is(with_bytes($quantiles, '00000001', $table), '22P03', "threat 15: a quantile: $table");
	is(with_bytes($quantiles, 'ffffffff', $table), '22P03', "threat 15: more quantiles than bytes: $table");

	# threat 24: sums of more rows could overflow. A state of more rows can neither be written nor combined any further.
	my $state = "(substr(bytes, 1, $offset{$table}) || int4send(1) || %s)::text::dpquantile.records_state";
	my %part = map { $_->[0] => sprintf $state, "'\\x$_->[1]'::bytea" }
	  [ none => sums(0) ], [ row => sums(1, $table eq 'valid_sum' ? power(32) : 0) ], [ most => $largest{$table} ];
	foreach my $case ([ 'none, most, none', 't' ], [ 'row, most', '54000' ], [ 'most, row', '54000' ], [ 'most, most', '54000' ],
		[ 'most, most, most, most', '54000' ])
	{
		my ($names, $expected) = @$case;
		my $parts = join ', ', map { $part{$_} } split /, /, $names;
		is( outcome_in($session{postgres},
				"SELECT (SELECT merge(s)::text FROM unnest(ARRAY[$parts]) s) = $part{most}::text FROM $table"),
			$expected, "threat 24: combined, $names: $table");
	}
}
foreach my $table ('valid_avg', 'valid_stats')
{
	is(with_records($table, 1, sums(1, $one, $one * $one)), 't', "a value at the upper bound: $table");
	is(with_records($table, 1, sums(5, 5 * $one, 5 * $one * $one)), 't', "five values at the upper bound: $table");
	is(with_records($table, 1, sums(5, 5 * $one + 1, 5 * $one * $one)), '22P03', "threat 15: a larger sum: $table");
	is(with_records($table, 1, sums(5, 5 * $one, 5 * $one * $one + 1)), '22P03', "threat 15: larger squares: $table");
	is(with_records($table, 1, sums(5, 5 * $one, 5 * $one * $one - 1)), '22P03', "threat 15: smaller squares: $table");
	is(with_records($table, 1, sums(5, 1, $one + 1)), '22P03', "threat 15: larger squares of a small sum: $table");
}
is(with_records('valid_sum', 1, sums(5, 5 * power(33))), 't', 'the largest sum of five rows');
is(with_records('valid_sum', 1, sums(5, 5 * power(33) + 1)), '22P03', 'threat 15: a larger sum of five rows');
is(with_records('valid_sum', 1, sums(5, 5 * power(32), 1)), '22P03', 'threat 15: squares of a function of a sum');
is(with_records($_, 1, sums(5, 1)), '22P03', "threat 15: a sum of rows without values: $_") foreach 'valid_count', 'valid_keep';
is(with_bytes($family, $_->[1], $_->[0]), $_->[2], "$_->[3]: $_->[0]")
  foreach [ 'valid_count', '09', 't', 'a function of the same records' ],
  [ 'valid_avg', '0d', 't', 'a function of the same records' ],
  [ 'valid_stats', '0c', 't', 'a function of the same records' ],
  [ 'valid_avg', '0b', '22P03', 'threat 15: squares, but a function without them' ],
  [ 'valid_sum', '0c', '22P03', 'threat 15: a sum from zero, but a function of one from the lower bound' ],
  [ 'valid_count', '0b', '22023', 'threat 15: no bounds, but a function of values' ],
  [ 'valid_sum', '08', '22P03', 'threat 15: bounds, but a function of rows' ],
  [ 'valid_count', '0e', '22023', 'threat 15: no delta, but a choice of groups' ],
  [ 'valid_keep', '08', '22P03', 'threat 15: a delta, but a number of rows' ],
  [ 'valid_keep', '03', '22P03', 'threat 15: sums, but a function of records' ],
  [ 'valid_keep', '10', '22P03', 'threat 15: sums, but a choice of groups of users' ],
  [ 'valid_count', '0a', '22P03', 'threat 15: sums, but a function of hashes' ],
  [ 'valid_avg', '04', '22P03', 'threat 15: sums, but a function of users' ],
  [ 'valid_avg', '02', '22023', 'threat 15: sums, but a function of bins' ],
  [ 'valid_avg', '0f', '22023', 'threat 15: sums, but a histogram' ],
  [ 'valid_histogram', '0c', '22023', 'threat 15: bins, but a function of sums' ],
  [ 'valid_histogram', '02', '22023', 'threat 15: bins of a histogram, but a CDF' ];
is(with_bytes($measure, '02', $_), 't', "rho in place of epsilon: $_") foreach 'valid_count', 'valid_sum', 'valid_avg', 'valid_stats';
is(with_bytes($measure, '02', 'valid_keep'), '22P03', 'threat 15: rho of a choice of groups');
is(with_bytes($delta, '3eb0c6f7a0b5ed8d', $_), '22P03', "threat 15: a delta that is not spent: $_")
  foreach 'valid_count', 'valid_sum', 'valid_avg', 'valid_stats';
is(with_bytes($delta, '3fe0000000000000', 'valid_keep'), 't', 'the largest delta of a choice of groups');
is(with_bytes($delta, $_, 'valid_keep'), '22023', "threat 15: the delta of a choice of groups $_")
  foreach '3fe0000000000001', '0000000000000000', '7ff8000000000000', 'beb0c6f7a0b5ed8d', '0000000000000001';
foreach my $table ('valid_count', 'valid_keep')
{
	is(with_bytes($_, '3ff0000000000000', $table), '22P03', "threat 15: rows with a bound or a granularity, at $_: $table")
	  foreach $lower, $upper, $granularity;
}
foreach my $table ('valid_sum', 'valid_avg', 'valid_stats')
{
	is(with_bytes($lower, $_, $table), '22023', "threat 15: the lower bound $_: $table")
	  foreach '4010000000000000', '7ff8000000000000', 'fff0000000000000';
	is(with_bytes($upper, $_, $table), '22023', "threat 15: the upper bound $_: $table")
	  foreach '0000000000000000', '7ff8000000000000', '7ff0000000000000';
	is(with_bytes($granularity, '3ff0000000000000', $table), 't', "a granularity: $table");
	is(with_bytes($granularity, $_, $table), '22023', "threat 15: the granularity $_: $table")
	  foreach '0000000000000001', '8000000000000000', '7ff8000000000000';
}
my $wide = unpack 'H*', pack 'd>', 1e200;
is(with_bytes($upper, $wide, 'valid_avg'), 't', 'a mean of numbers without squares');
is(with_bytes($upper, $wide, 'valid_stats'), '22023', 'threat 15: a variance of numbers without squares');
is(with_records('valid_histogram', 1, '04'), 't', 'the last bin of a histogram');
is(with_records('valid_histogram', 1, '06'), '22P03', 'threat 15: a record just outside the bins of a histogram');
is(with_bytes($bins, $_, 'valid_histogram'), '22P03', "threat 15: the number of bins $_") foreach '00000000', '00000002', '00000004';
is(with_bytes($quantiles, '00000006', 'valid_histogram'), '22P03', 'threat 15: more bounds of bins than bytes');
is(with_bytes($quantiles + 4, $_, 'valid_histogram'), '22023', "threat 15: the first bound $_ of the bins")
  foreach '4000000000000000', '7ff8000000000000';
is(with_bytes($quantiles + 4, 'fff0000000000000', 'valid_histogram'), 't', 'a bin from -Infinity on');
foreach my $text ('', 'abc', '\x', '\x0', '\x01', '\xzz')
{
	like(outcome($node, "SELECT '$text'::dpquantile.records_state", user => 'postgres'),
		qr/^(22P03|22P02|22023|08P01)$/, "threat 15: the text '$text'");
}

# feed reads bytes as a state, as text or through binary COPY. It returns an SQLSTATE, or `valid` for a state that is written
# as the same bytes and can be combined. The test counts these outcomes.
my $exchange = PostgreSQL::Test::Utils::tempdir() . '/state';
$node->safe_psql(
	'postgres', qq{
	CREATE VIEW states AS
		SELECT * FROM valid UNION ALL SELECT * FROM valid_cdf
		UNION ALL SELECT * FROM valid_iqr UNION ALL SELECT * FROM valid_range
		UNION ALL SELECT * FROM valid_synthesis UNION ALL SELECT * FROM valid_many
		UNION ALL SELECT * FROM valid_histogram UNION ALL SELECT * FROM valid_count
		UNION ALL SELECT * FROM valid_keep UNION ALL SELECT * FROM valid_sum
		UNION ALL SELECT * FROM valid_avg UNION ALL SELECT * FROM valid_stats;
	CREATE FUNCTION outcome(fed dpquantile.records_state, bytes text) RETURNS text LANGUAGE plpgsql AS \$\$
	BEGIN
		IF merge(s) IS NULL FROM (VALUES (fed), (fed)) v(s) THEN
			RETURN 'lost';
		END IF;
		RETURN CASE WHEN fed::text = bytes THEN 'valid' ELSE 'altered' END;
	END
	\$\$;
	-- Rows of received are not stored: the file of a table would take most of the time.
	CREATE FUNCTION receive() RETURNS trigger LANGUAGE plpgsql AS \$\$
	BEGIN
		PERFORM set_config('test.outcome', outcome(NEW.state, current_setting('test.bytes')), false);
		RETURN NULL;
	END
	\$\$;
	CREATE TRIGGER receive BEFORE INSERT ON received FOR EACH ROW EXECUTE FUNCTION receive();
	CREATE FUNCTION feed(bytes bytea, in_binary boolean) RETURNS text LANGUAGE plpgsql AS \$\$
	BEGIN
		IF NOT in_binary THEN
			RETURN outcome(bytes::text::dpquantile.records_state, bytes::text);
		END IF;
		PERFORM set_config('test.bytes', bytes::text, false), set_config('test.outcome', 'not received', false);
		EXECUTE format('COPY (SELECT %L::bytea) TO %L (FORMAT binary)', bytes, '$exchange');
		COPY received FROM '$exchange' (FORMAT binary);
		RETURN current_setting('test.outcome');
	EXCEPTION WHEN OTHERS THEN
		RETURN SQLSTATE;
	END
	\$\$;
	CREATE FUNCTION randomly_changed(bytes bytea) RETURNS bytea VOLATILE LANGUAGE plpgsql AS \$\$
	BEGIN
		FOR change IN 1 .. 1 + floor(3 * random()) LOOP
			bytes := set_byte(bytes, floor(length(bytes) * random())::integer, floor(256 * random())::integer);
		END LOOP;
		IF random() < 0.1 THEN
			bytes := substr(bytes, 1, floor((length(bytes) + 1) * random())::integer);
		END IF;
		RETURN bytes;
	END
	\$\$});

my %changes = (
	'each bit flipped' => q{
		SELECT set_bit(bytes, i, 1 - get_bit(bytes, i))
		FROM states, generate_series(0, 8 * length(bytes) - 1) i},
	'each byte 0, 127 and 255' => q{
		SELECT set_byte(bytes, i, byte)
		FROM states, generate_series(0, length(bytes) - 1) i, (VALUES (0), (127), (255)) v(byte)},
	'each shorter length' => q{
		SELECT substr(bytes, 1, length) FROM states, generate_series(0, length(bytes) - 1) length},
	'some longer lengths' => q{
		SELECT bytes || decode(repeat('00', more), 'hex') FROM states, generate_series(1, 20) more});
my $known = qr/^(valid|22P03|22023|08P01)$/;
# One function reads both formats. Each state in binary goes through a file.
sub changes_as
{
	my ($format) = @_;
	my $random = $format eq 'text' ? 2_000 : 200;
	my %all = (%changes,
		"$random random changes of each" => "SELECT randomly_changed(bytes) FROM states, generate_series(1, $random)");
	delete $all{'each bit flipped'} if $format eq 'binary';
	return %all;
}
foreach my $format ('text', 'binary')
{
	my %all = changes_as($format);
	foreach my $change (sort keys %all)
	{
		my @counts = split /\n/, $node->safe_psql(
			'postgres', qq{
			DO 'BEGIN PERFORM setseed(0.5); END';
			SELECT feed(bytes, '$format' = 'binary'), count(*) FROM ($all{$change}) c(bytes) GROUP BY 1});
		note("@counts");
		my @outcomes = map { /^(\w+)/ } @counts;
		my $name = "threat 15: $change, as $format";
		is_deeply([ grep { !/$known/ } @outcomes ], [], "$name: an error or a valid state");
		ok(scalar(grep { $_ ne 'valid' } @outcomes), "$name: some are refused");
	}
}

# The states of the user-level aggregates have rows of users and, for grids, the grids' names.
$node->safe_psql(
	'postgres', q{
	CREATE AGGREGATE expose_user(integer, float8, float8, float8, float8, jsonb)
		(SFUNC = dpquantile.user_mean_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_grids(text, text, float8, float8, float8, float8, jsonb)
		(SFUNC = dpquantile.user_grids_transition, STYPE = dpquantile.records_state);
	CREATE TABLE valid_user AS
	SELECT expose_user(u, u, 1, 0, 10, dp_options(max_contributions => '3'))::text::bytea AS bytes
	FROM generate_series(1, 4) u;
	-- Two grids, `a` and `bc`, with three rows each.
	CREATE TABLE valid_grids AS
	SELECT expose_grids(u::text, CASE u % 2 WHEN 0 THEN 'a' ELSE 'bc' END, u, 1, 0, 10, dp_options(suppress => true))::text::bytea AS bytes
	FROM generate_series(1, 6) u;
	CREATE AGGREGATE expose_distinct(anyelement, float8)
		(SFUNC = dpquantile.distinct_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_keep_user(anynonarray, float8, float8, bigint)
		(SFUNC = dpquantile.keep_user_group_transition, STYPE = dpquantile.records_state);
	-- Five records of four values, and five rows of four users who may be in two groups. With this key the outcomes do not vary.
	UPDATE dpquantile.user_key SET key = '\x000102030405060708090a0b0c0d0e0f';
	CREATE TABLE valid_distinct AS
	SELECT expose_distinct(x, 1)::text::bytea AS bytes FROM unnest(ARRAY[3, 1, 4, 1, 5]) x;
	CREATE TABLE valid_keep_user AS
	SELECT expose_keep_user(x, 1, 1e-6, 2)::text::bytea AS bytes FROM unnest(ARRAY[3, 1, 4, 1, 5]) x;
	CREATE OR REPLACE VIEW states AS
		SELECT * FROM valid_user UNION ALL SELECT * FROM valid_grids
		UNION ALL SELECT * FROM valid_distinct UNION ALL SELECT * FROM valid_keep_user});
# Version, family, method, measure, type of values; five numbers, bins, no quantiles; rule, suppress, number, check of the user key.
my $user_options = $header + 4;
my $user_rows = $user_options + 6 + 8;
is($node->safe_psql('postgres', 'SELECT length(bytes) FROM valid_user'), $user_rows + 4 + 4 * 16,
	'the state has the expected length: rows of users');
is($node->safe_psql('postgres', 'SELECT length(bytes) FROM valid_grids'),
	$user_rows + 4 + (4 + 2) + (4 + 1) + 4 + 6 * 16,
	'the state has the expected length: rows of users in grids');
is(with_bytes($user_options, '02', 'valid_user'), 't', 'max_contributions is a number');
is(with_bytes($user_options, '01', 'valid_user'), '22P03', 'threat 15: max_contributions is the median, but has a number');
is(with_bytes($user_options, '03', 'valid_user'), '22P03', 'threat 15: an unknown max_contributions');
is(with_bytes($user_options + 1, '01', 'valid_user'), '22P03', 'threat 15: suppression of a mean');
is(with_bytes($user_options + 2, '00000000', 'valid_user'), '22023', 'threat 15: max_contributions is 0');
is(with_bytes($user_options + 2, 'ffffffff', 'valid_user'), 't', 'the largest max_contributions');
is(with_bytes($user_rows, '00000005', 'valid_user'), '22P03', 'threat 15: more rows than bytes');
is(with_bytes($user_rows + 4, 'ffffffffffffffff', 'valid_user'), 't', 'any user');
is(with_bytes($user_rows + 12, '00000001', 'valid_user'), '22P03', 'threat 15: a grid in a state without grids');
is(with_bytes($user_rows + 16, '80000000', 'valid_user'), 't', 'a value at the upper bound');
is(with_bytes($user_rows + 16, '80000001', 'valid_user'), '22P03', 'threat 15: a value above the upper bound');
is(with_bytes(1, '11', 'valid_user'), '22P03', 'threat 15: an unknown aggregate of users');
is(with_bytes(1, '0a', 'valid_user'), '22P03', 'threat 15: rows of users for a function of hashes');
is(with_bytes(3, '02', 'valid_user'), 't', 'rho of an aggregate of users');
is(with_bytes(3, '03', 'valid_user'), '22P03', 'threat 15: an unknown measure of privacy');
is(with_bytes(3, '02', 'valid_keep_user'), '22P03', 'threat 15: rho of an aggregate that has none');
is(with_bytes(1, '06', 'valid_user'), '22P03', 'threat 15: rows without grids for a function of grids');
is(with_bytes(1, '04', 'valid_grids'), '22P03', 'threat 15: rows in grids for a function without grids');
my $grid_rows = $user_rows + 4 + (4 + 2) + (4 + 1);
is(with_bytes($user_rows, '00000003', 'valid_grids'), '22P03', 'threat 15: a larger number of names than there are');
is(with_bytes($user_rows, 'ffffffff', 'valid_grids'), '22P03', 'threat 15: more names than bytes');
is(with_bytes($user_rows + 4, 'ffffffff', 'valid_grids'), '22P03', 'threat 15: a name longer than the bytes');
is(with_bytes($user_rows + 4, '0000000161000000026263', 'valid_grids'), 't', 'names of other lengths');
is(with_bytes($user_rows + 4, '000000016100000002c3bc', 'valid_grids'), 't', 'a name that is not ASCII');
is(with_bytes($user_rows + 4, '000000016100000002c362', 'valid_grids'), '22P03', 'threat 15: a name that is not valid text');
is(with_bytes($user_rows + 4, '0000000261610000000100', 'valid_grids'), '22P03', 'threat 15: a zero byte in a name');
is(with_bytes($user_rows + 4, '0000000000000003616263', 'valid_grids'), 't', 'an empty name');
is(with_bytes($grid_rows + 4 + 8, '00000001', 'valid_grids'), 't', 'the last grid');
is(with_bytes($grid_rows + 4 + 8, '00000002', 'valid_grids'), '22P03', 'threat 15: a grid without a name');
is(with_bytes($grid_rows + 4 + 8, 'ffffffff', 'valid_grids'), '22P03', 'threat 15: the largest grid number, without a name');
is(with_bytes($user_rows + 4, '000000016100000001610000000600000000', 'valid_grids'), '22P03', 'threat 15: the same name twice');
is( outcome($node, q{
		SELECT merge(bytes::text::dpquantile.records_state)
		FROM (SELECT bytes FROM valid_user UNION ALL SELECT bytes FROM valid_grids) v},
		user => 'postgres'),
	'22023', 'threat 15: states of users with and without grids cannot be combined');

# Values and users are kept as keyed hashes. A state has the check of the key, for users in groups the largest number of groups,
# and the hashes in ascending order.
my $key_check = $header + 4;
$offset{valid_distinct} = $key_check + 8;
$offset{valid_keep_user} = $key_check + 8 + 4;
foreach my $table ('valid_distinct', 'valid_keep_user')
{
	is($node->safe_psql('postgres', "SELECT length(bytes) FROM $table"),
		$offset{$table} + 4 + 4 * 8, "the state has the expected length: $table");
	is( $node->safe_psql(
			'postgres', qq{
			SELECT substr(bytes, 1 + $offset{$table}, 4), count(DISTINCT hash), array_agg(hash ORDER BY i) = array_agg(hash ORDER BY hash)
			FROM $table, generate_series(0, 3) i, substr(bytes, 1 + $offset{$table} + 4 + 8 * i, 8) hash
			GROUP BY bytes}),
		'\x00000004|4|t', "four hashes in ascending order: $table");
	is( $node->safe_psql(
			'postgres', qq{
			SELECT merge(bytes::text::dpquantile.records_state)::text::bytea = bytes
			FROM $table, generate_series(1, 2)
			GROUP BY bytes}),
		't', "two states of the same values are combined to one of them: $table");
	is(with_bytes($key_check, 'ffffffffffffffff', $table), 't', "the check of another key: $table");
	is( outcome($node, qq{
			SELECT merge(s::text::dpquantile.records_state)
			FROM (SELECT bytes FROM $table UNION ALL SELECT set_bit(bytes, 8 * $key_check, 1 - get_bit(bytes, 8 * $key_check)) FROM $table) v(s)},
			user => 'postgres'),
		'22023', "threat 15: states under different keys cannot be combined: $table");

	my ($first, $second, $third) = map { hex_of($_, 16) } 0, power(63) - 1, power(63);
	my $last = hex_of(power(64) - 1, 16);
	is(with_records($table, 0, ''), 't', "no hashes: $table");
	is(with_records($table, 4, $first . $second . $third . $last), 't', "any hashes that ascend: $table");
	is(with_records($table, 2, $_ x 2), '22P03', "threat 15: a hash twice, $_: $table") foreach $first, $third, $last;
	is(with_records($table, 2, $third . $second), '22P03', "threat 15: hashes that descend: $table");
	is(with_records($table, 3, $second . $last . $third), '22P03', "threat 15: the last hash does not ascend: $table");
	is(with_bytes($offset{$table}, $_, $table), '22P03', "threat 15: four hashes, but the number $_: $table")
	  foreach '00000000', '00000003', '00000005', '20000004', 'ffffffff';
	is(with_records($table, 1, substr($last, 2)), '22P03', "threat 15: a byte less than a hash: $table");
	is(with_records($table, 1, "${last}00"), '22P03', "threat 15: a byte more than a hash: $table");
	is(with_bytes($method, $_, $table), '22P03', "threat 15: the method $_: $table") foreach '00', '02';
	is(with_bytes($epsilon, '7ff8000000000000', $table), '22023', "threat 15: epsilon NaN: $table");
	is(with_bytes($_, '3ff0000000000000', $table), '22P03', "threat 15: hashes with a bound or a granularity, at $_: $table")
	  foreach $lower, $upper, $granularity;
	is(with_bytes($bins, '00000001', $table), '22P03', "threat 15: hashes with bins: $table");
	is(with_bytes($quantiles, 'ffffffff', $table), '22P03', "threat 15: more quantiles than bytes: $table");
	is(with_bytes($family, $_, $table), '22P03', "threat 15: hashes, but a function of rows or users, $_: $table")
	  foreach '08', '04', '06';
	is(with_bytes($family, '0c', $table), '22023', "threat 15: hashes, but a function of values within bounds: $table");
}
is( $node->safe_psql(
		'postgres', q{
		SELECT merge(s)::text::bytea = (SELECT bytes FROM valid_distinct)
		FROM (SELECT expose_distinct(x, 1) FROM unnest(ARRAY[3, 1, 4]) x
			UNION ALL SELECT expose_distinct(x, 1) FROM unnest(ARRAY[4, 5]) x) v(s)}),
	't', 'states of some values are combined to the state of all');
is( outcome($node, q{
		BEGIN;
		UPDATE dpquantile.user_key SET key = '\x0f0e0d0c0b0a09080706050403020100';
		SELECT merge(s)
		FROM (SELECT bytes::text::dpquantile.records_state FROM valid_distinct
			UNION ALL SELECT expose_distinct(x, 1) FROM unnest(ARRAY[3, 1, 4, 1, 5]) x) v(s);
		ROLLBACK},
		user => 'postgres'),
	'22023', 'threat 15: a state under an earlier key cannot be combined with one under the new key');
is(with_bytes($quantiles, '00000001', 'valid_distinct'), '22P03', 'threat 15: hashes with a quantile');
is(with_bytes($measure, '02', 'valid_distinct'), 't', 'rho in place of epsilon: valid_distinct');
is(with_bytes($measure, '02', 'valid_keep_user'), '22P03', 'threat 15: rho of a choice of groups of users');
is(with_bytes($delta, '3eb0c6f7a0b5ed8d', 'valid_distinct'), '22P03', 'threat 15: a delta that is not spent: valid_distinct');
is(with_bytes($delta, $_, 'valid_keep_user'), '22023', "threat 15: the delta of a choice of groups of users $_")
  foreach '3fe0000000000001', '0000000000000000', '7ff8000000000000', 'beb0c6f7a0b5ed8d', '0000000000000001';
is(with_bytes($key_check + 8, '00000001', 'valid_keep_user'), 't', 'users in one group');
is(with_bytes($key_check + 8, $_, 'valid_keep_user'), '22023', "threat 15: users in $_ groups") foreach '00000000', 'ffffffff';
is(with_bytes($family, '10', 'valid_distinct'), '22023', 'threat 15: hashes without a delta, but a choice of groups');
is(with_bytes($family, '0a', 'valid_keep_user'), '22P03', 'threat 15: hashes with a delta, but a number of values');
is(with_bytes($family, '0e', 'valid_keep_user'), '22P03', 'threat 15: hashes, but a choice of groups by rows');
refuses_to_combine(@$_)
  foreach [ 'valid_distinct', 'valid_keep_user' ], [ 'valid_distinct', 'valid' ], [ 'valid_distinct', 'valid_count' ],
  [ 'valid_keep_user', 'valid_keep' ], [ 'valid_keep_user', 'valid_user' ];

foreach my $format ('text', 'binary')
{
	my %all = changes_as($format);
	foreach my $change (sort keys %all)
	{
		my @counts = split /\n/, $node->safe_psql(
			'postgres', qq{
			DO 'BEGIN PERFORM setseed(0.25); END';
			SELECT feed(bytes, '$format' = 'binary'), count(*) FROM ($all{$change}) c(bytes) GROUP BY 1});
		note("@counts");
		my @outcomes = map { /^(\w+)/ } @counts;
		my $name = "threat 15: states with keyed hashes, $change, as $format";
		is_deeply([ grep { !/$known/ } @outcomes ], [], "$name: an error or a valid state");
		ok(scalar(grep { $_ ne 'valid' } @outcomes), "$name: some are refused");
	}
}

# Each transition function, the types of its values and parameters, a row, and the state of another function with records of the
# same kind and of another kind.
my $bounded = 'float8, float8, float8, float8';
foreach my $case (
	[ 'median_transition', $bounded, 'x, 1, 0, 10', 'valid_user', 'valid_avg', 'valid_distinct', 'valid_cdf' ],
	[ 'count_transition', 'float8', '1', 'valid_keep', 'valid_distinct', 'valid' ],
	[ 'sum_transition', $bounded, 'x, 1, 0, 4', 'valid_avg', 'valid_iqr' ],
	[ 'mean_transition', $bounded, 'x, 1, 0, 4', 'valid_stats', 'valid_sum', 'valid_user' ],
	[ 'distinct_transition', 'anyelement, float8', 'x, 1', 'valid_keep_user', 'valid_count', 'valid' ],
	[ 'keep_user_group_transition', 'anynonarray, float8, float8, bigint', 'x, 1, 1e-6, 2', 'valid_distinct', 'valid_user' ])
{
	my ($transition, $types, $row, @others) = @$case;
	foreach my $other (@others)
	{
		my $state = $node->safe_psql('postgres', "SELECT bytes::text FROM $other");
		$node->safe_psql(
			'postgres', qq{
			CREATE AGGREGATE begun_${transition}_$other($types)
				(SFUNC = dpquantile.$transition, STYPE = dpquantile.records_state, INITCOND = '$state')});
		is(outcome($node, "SELECT begun_${transition}_$other($row) FROM generate_series(1, 5000) x", user => 'postgres'),
			'22023', "threat 15: $transition in an aggregate that begins with the state $other");
	}
}

is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'),
	$started, 'threat 15: the server has not restarted');
is(spent($node), 0, 'threat 15: nothing is charged');
is(outcome($node, $ANSWER), 't', 'threat 15: a median works afterwards');
is(outcome($node, 'SELECT dp_cdf(age, 1, 0, 100) IS NOT NULL FROM person'), 't', 'threat 15: a CDF works afterwards');

done_testing();
