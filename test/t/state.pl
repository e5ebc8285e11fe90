# The aggregate state holds exact data: an analyst gets no hold of it, and no bytes in its place do harm.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('state');
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');

# Every support function with its arguments all NULL; sub-selects, because a call of a strict function
# with constants would not get so far.
my @calls = split /\n/, $node->safe_psql(
	'postgres', q{
	SELECT format('SELECT dpquantile.%I(%s)', proname,
		(SELECT string_agg(format('(SELECT NULL::%s)', type::regtype), ', ') FROM unnest(proargtypes) type))
	FROM pg_proc
	WHERE pronamespace = 'dpquantile'::regnamespace AND 'internal'::regtype <> ALL (proargtypes)
		AND 'dpquantile.quantiles_state'::regtype = ANY (prorettype || proargtypes::oid[])
	ORDER BY 1});
my @executor_calls = grep { /_(transition|combine|final)\(/ } @calls;
cmp_ok(@executor_calls, '>=', 4, 'there are support functions to try');
my $expose = q{
	CREATE AGGREGATE %s.expose(float8, float8, float8, float8)
		(SFUNC = dpquantile.median_transition, STYPE = dpquantile.quantiles_state)};

foreach my $schema_is ('closed', 'open')
{
	is(outcome($node, $_), '42501', "threat 15: an analyst may not call, with the schema $schema_is: $_")
	  foreach @calls;
	is(outcome($node, sprintf $expose, 'pg_temp'),
		'42501', "threat 15: an analyst may not build an aggregate, with the schema $schema_is");
	$node->safe_psql('postgres', 'GRANT USAGE ON SCHEMA dpquantile TO analyst');
}
$node->safe_psql('postgres', 'REVOKE USAGE ON SCHEMA dpquantile FROM analyst');
is(outcome($node, $_, user => 'postgres'), '0A000', "threat 15: refused even to a superuser: $_")
  foreach @executor_calls;
is( outcome($node, q{SELECT dpquantile.quantiles_final('\x00')}, user => 'postgres'),
	'22P03', 'threat 15: bytes are checked before that');

# A superuser may look into the state; what others could write there is tried on it.
$node->safe_psql('postgres', sprintf $expose, 'public');
$node->safe_psql(
	'postgres', q{
	CREATE AGGREGATE expose(float8, float8[], float8, float8, float8, jsonb)
		(SFUNC = dpquantile.quantiles_transition, STYPE = dpquantile.quantiles_state);
	CREATE AGGREGATE merge(dpquantile.quantiles_state)
		(SFUNC = dpquantile.quantiles_combine, STYPE = dpquantile.quantiles_state);

	-- Five records on the grid 0, 1, .. 100.
	CREATE TABLE valid AS
	SELECT expose(x, ARRAY[0.25, 0.5], 1, 0, 100, dp_options(granularity => 1))::text::bytea AS bytes
	FROM unnest(ARRAY[3.0, 1, 4, 1, 5]) x;
	CREATE TABLE received (state dpquantile.quantiles_state)});

is($node->safe_psql('postgres', 'SELECT length(bytes) FROM valid'), 3 + 4 * 8 + 4 + 2 * 8 + 4 + 5 * 4,
	'the state has the bytes that are expected');
is( $node->safe_psql(
		'postgres', q{
		SELECT right(merge(s)::text, 10 * 8) = repeat(right(min(s::text), 5 * 8), 2)
		FROM (SELECT bytes::text::dpquantile.quantiles_state FROM valid, generate_series(1, 2)) v(s)}),
	't', 'two states can be combined');
is( outcome($node, q{
		SELECT merge(s) FROM (SELECT expose(1, 1, 0, 10) UNION ALL SELECT expose(1, 1, 0, 20)) v(s)},
		user => 'postgres'),
	'22023', 'threat 15: states of different calls cannot');

# Bytes at an offset replaced, in text.
sub with_bytes
{
	my ($offset, $hex) = @_;
	my $changed = "overlay(bytes PLACING '\\x$hex'::bytea FROM $offset + 1)";
	return outcome($node, "SELECT $changed\::text::dpquantile.quantiles_state IS NOT NULL FROM valid",
		user => 'postgres');
}
my $records = 3 + 4 * 8 + 4 + 2 * 8;
is(with_bytes(0, '01'), 't', 'the version is the first byte');
is(with_bytes(0, '02'), '22P03', 'threat 15: an unknown version');
is(with_bytes(1, '02'), '22P03', 'threat 15: an unknown content');
is(with_bytes(2, '07'), '22P03', 'threat 15: an unknown method');
is(with_bytes(3, '7ff8000000000000'), '22023', 'threat 15: epsilon NaN');
is(with_bytes(3, 'bff0000000000000'), '22023', 'threat 15: a negative epsilon');
is(with_bytes(11, '7ff0000000000000'), '22023', 'threat 15: an infinite bound');
is(with_bytes(27, '0000000000000001'), '22023', 'threat 15: a subnormal granularity');
is(with_bytes(27, '3e10000000000000'), '22023', 'threat 15: more than 2^32 cells');
is(with_bytes(35, 'ffffffff'), '22P03', 'threat 15: more quantiles than bytes');
is(with_bytes(35, '00000000'), '22023', 'threat 15: no quantile');
is(with_bytes(39, '4000000000000000'), '22023', 'threat 15: the quantile 2');
is(with_bytes($records, 'ffffffff'), '22P03', 'threat 15: more records than bytes');
is(with_bytes($records, '00000004'), '22P03', 'threat 15: fewer records than bytes');
is(with_bytes($records + 4, '00000064'), 't', 'the last cell of the grid');
is(with_bytes($records + 4, '00000065'), '22P03', 'threat 15: a record just outside the grid');
is(with_bytes($records + 4, 'ffffffff'), '22P03', 'threat 15: a record far outside the grid');
foreach my $text ('', 'abc', '\x', '\x0', '\x01', '\xzz')
{
	like(outcome($node, "SELECT '$text'::dpquantile.quantiles_state", user => 'postgres'),
		qr/^(22P03|22P02|22023|08P01)$/, "threat 15: the text '$text'");
}

# Feeds bytes through the input function, as text or as binary COPY, and counts what becomes of them:
# an error, or a state that is written as the same bytes and can be combined.
my $exchange = PostgreSQL::Test::Utils::tempdir() . '/state';
$node->safe_psql(
	'postgres', qq{
	CREATE FUNCTION feed(bytes bytea, in_binary boolean) RETURNS text LANGUAGE plpgsql AS \$\$
	DECLARE
		fed dpquantile.quantiles_state;
	BEGIN
		IF in_binary THEN
			EXECUTE format('COPY (SELECT %L::bytea) TO %L (FORMAT binary)', bytes, '$exchange');
			TRUNCATE received;
			COPY received FROM '$exchange' (FORMAT binary);
			SELECT state INTO fed FROM received;
		ELSE
			fed := bytes::text;
		END IF;
		IF merge(s) IS NULL FROM (VALUES (fed), (fed)) v(s) THEN
			RETURN 'lost';
		END IF;
		RETURN CASE WHEN fed::text = bytes::text THEN 'valid' ELSE 'altered' END;
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
		FROM valid, generate_series(0, 8 * length(bytes) - 1) i},
	'each byte 0, 127 and 255' => q{
		SELECT set_byte(bytes, i, byte)
		FROM valid, generate_series(0, length(bytes) - 1) i, (VALUES (0), (127), (255)) v(byte)},
	'each shorter length' => q{
		SELECT substr(bytes, 1, length) FROM valid, generate_series(0, length(bytes) - 1) length},
	'some longer lengths' => q{
		SELECT bytes || decode(repeat('00', more), 'hex') FROM valid, generate_series(1, 20) more});
my $known = qr/^(valid|22P03|22023|08P01)$/;
foreach my $format ('text', 'binary')
{
	my $random = $format eq 'text' ? 10_000 : 1_000;
	my %all = (%changes,
		"$random random changes" => "SELECT randomly_changed(bytes) FROM valid, generate_series(1, $random)");
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
		ok(scalar(grep { $_ ne 'valid' } @outcomes), "$name: not all are taken");
	}
}

is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'),
	$started, 'threat 15: the server has run on');
is(spent($node), 0, 'threat 15: and nothing was charged');
is(outcome($node, $ANSWER), 't', 'threat 15: and a query works');

done_testing();
