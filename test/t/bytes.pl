# threat 15: what a role may write. Random and changed bytes for every function that reads some: curves as text, jsonb and bytes, options,
# parameters of shards, queries to be explained, and arguments of all functions of the extension. Each gives an answer or an error
# that says what is wrong; none crashes the server or meets an internal error.
# The inputs are the same each time. BYTES_SEED chooses others, BYTES_ROUNDS=100 a hundred times as many.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PrivateAggregates;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{BYTES_SEED} // 1;
my $rounds = $ENV{BYTES_ROUNDS} // 1;
srand($seed);
note("BYTES_SEED=$seed BYTES_ROUNDS=$rounds");

my $node = new_node('bytes', conf => 'statement_timeout = 100s');
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
# In this encoding a text may have any bytes but zero.
$node->safe_psql('postgres', q{CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0});
my $exchange = PostgreSQL::Test::Utils::tempdir() . '/exchange';
my $setup = q{
	CREATE EXTENSION dpquantile;
	SELECT dp_grant_budget('analyst', 1000), dp_grant_budget('postgres', 1000, 1e-6, 'zcdp');
	CREATE TABLE secret AS SELECT (i % 101)::float8 AS age, i % 7 AS dept, i AS id, 'a' || i % 3 AS name, date '2024-01-01' + i AS day
		FROM generate_series(1, 500) AS i;
	SELECT dp_protect_table('secret'), dp_grant_private_access('secret', 'analyst');
	SELECT dp_set_domain('secret', 'age', 0.0, 100.0), dp_set_domain('secret', 'dept', ARRAY[0, 1, 2, 3, 4, 5, 6]);

	-- The outcome of a statement, whose effects are undone: its SQLSTATE, or what it answers.
	CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		answer text;
	BEGIN
		EXECUTE statement INTO answer;
		RAISE 'undo' USING ERRCODE = 'UNDO0';
	EXCEPTION
		WHEN SQLSTATE 'UNDO0' THEN RETURN answer;
		WHEN query_canceled OR assert_failure OR OTHERS THEN RETURN SQLSTATE;
	END
	$$;

	CREATE CAST (dp_cdf AS bytea) WITHOUT FUNCTION;
	CREATE CAST (bytea AS dp_cdf) WITHOUT FUNCTION;
	CREATE TABLE received (cdf dp_cdf, number float8);
	-- Reads a curve and a number as binary COPY does.
	CREATE FUNCTION received(cdf bytea, number bytea) RETURNS dp_cdf LANGUAGE plpgsql AS $$
	DECLARE
		read dp_cdf;
	BEGIN
		EXECUTE format('COPY (SELECT %L::bytea, %L::bytea) TO %L (FORMAT binary)', cdf, number, 'EXCHANGE');
		EXECUTE format('COPY received FROM %L (FORMAT binary)', 'EXCHANGE');
		SELECT r.cdf INTO read FROM received r WHERE r.number::text <> '';
		RETURN read;
	END
	$$;

	-- Every question to a curve has an answer in its range, and the curve is written as it was read. Curves of times have questions of
	-- their own.
	CREATE FUNCTION asked(c dp_cdf) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		lower float8;
		upper float8;
	BEGIN
		IF c::text::dp_cdf::text <> c::text OR c::bytea::dp_cdf::bytea <> c::bytea OR c::jsonb::dp_cdf::text <> c::text THEN
			RETURN 'altered';
		END IF;
		PERFORM dp_cdf_error(c), dp_cdf_plot(c), dp_cdf_svg(c);
		IF c::jsonb ? 'type' THEN
			PERFORM dp_cdf_time_quantiles(c, '{0,0.1,0.5,0.9,1}'), dp_cdf_time_points(c);
			RETURN 'valid';
		END IF;
		PERFORM dp_cdf_points(c);
		lower := c::jsonb ->> 'lower';
		upper := c::jsonb ->> 'upper';
		RETURN CASE WHEN dp_cdf_count(c, lower, upper) >= 0 AND (dp_cdf_rows(c) = 0
			OR dp_cdf_probability(c, lower) BETWEEN 0 AND 1 AND dp_cdf_probability(c, upper) BETWEEN 0 AND 1
			AND (SELECT bool_and(q BETWEEN lower AND upper) FROM unnest(dp_cdf_quantiles(c, '{0,0.1,0.5,0.9,1}')) AS q))
			THEN 'valid' ELSE 'outside' END;
	END
	$$;
	CREATE TABLE curve AS SELECT unnest(ARRAY[
		'{"lower": -1.5, "upper": 4, "bins": 4, "method": "tree", "epsilon": 0.5, "branching": [2, 2], "level_epsilon": [0.25, 0.25], "rows": 10, "cumulative": [1, 1, 4, 10]}',
		'{"lower": 0, "upper": 6, "granularity": 2, "bins": 4, "method": "binary", "epsilon": 0.5, "branching": [2, 2], "level_epsilon": [0.25, 0.25], "rows": 10, "cumulative": [1, 1, 4, 10]}',
		'{"lower": -8.9e307, "upper": 8.9e307, "bins": 2, "method": "tree", "epsilon": 1000, "branching": [2], "level_epsilon": [1000], "rows": 9007199254740992, "cumulative": [9007199254740992, 9007199254740992]}',
		'{"lower": 1e-320, "upper": 1e-300, "bins": 1, "method": "tree", "epsilon": 1, "branching": [1], "level_epsilon": [0.1], "rows": 1, "cumulative": [1]}',
		'{"lower": 0, "upper": 100, "bins": 6, "method": "binary", "epsilon": 1, "branching": [2, 2, 2], "level_epsilon": [0.333, 0.333, 0.333], "rows": 503, "cumulative": [86, 172, 252, 338, 425, 503]}',
		'{"lower": 0, "upper": 100, "bins": 5, "method": "histogram", "epsilon": 1, "branching": [5], "level_epsilon": [0.9999999999990905], "rows": 499, "cumulative": [98, 198, 299, 399, 499]}',
		'{"lower": 0, "upper": 100, "bins": 6, "method": "factorization", "rho": 0.1, "rows": 499, "cumulative": [85, 170, 254, 331, 420, 499]}',
		'{"type": "date", "lower": "2024-01-01", "upper": "2025-12-31", "bins": 6, "method": "tree", "epsilon": 1, "branching": [6], "level_epsilon": [0.999], "rows": 504, "cumulative": [123, 245, 366, 487, 503, 504]}']) AS written;

	-- Parameters of private aggregates, as a shard gets them: states without records.
	CREATE AGGREGATE expose(float8, float8[], float8, float8, float8, jsonb)
		(SFUNC = dpquantile.quantiles_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_histogram(float8, float8, float8[])
		(SFUNC = dpquantile.histogram_transition, STYPE = dpquantile.records_state);
	CREATE AGGREGATE expose_avg(float8, float8, float8, float8)
		(SFUNC = dpquantile.mean_transition, STYPE = dpquantile.records_state);
	CREATE TABLE state AS SELECT expose(NULL, ARRAY[0.25, 0.5], 1, 0, 100, dp_options(granularity => 1))::text FROM secret
		UNION ALL SELECT expose(age, ARRAY[0.25, 0.5], 1, 0, 100, NULL)::text FROM secret
		UNION ALL SELECT expose_histogram(NULL, 1, ARRAY[0, 2, 4, 6])::text FROM secret
		UNION ALL SELECT expose_avg(age, 1, 0, 4)::text FROM secret};
$node->safe_psql('bytes', $setup =~ s/EXCHANGE/$exchange/gr);

sub any_of { return $_[ int rand @_ ] }

# A literal of any bytes, for a statement within a statement
sub literal
{
	my ($bytes) = @_;
	$bytes =~ s/([^ -&(-\[\]-~])/sprintf '\\x%02x', ord $1/ge;
	return "E'$bytes'";
}

my @pieces = ('null', '1e400', '-', '"', '{', '}', '[', ']', ':', ',', 'NaN', 'Infinity', '1e-400', '99999999999999999999', '\\u0000', '\\ud800',
	'true', '""', '[[', "\xff", "\xc3\xa9", "\x01", ' ', '0', '-0', '1.5', '4294967296', 'tree', 'bins', 'lower', '"a"', '18446744073709551616');

# A few random changes of a text
sub changed_text
{
	my ($text, @others) = @_;
	foreach (1 .. int rand 4)
	{
		my $at = int rand(1 + length $text);
		my $length = int rand any_of(2, 8, 40);
		$length = length($text) - $at if $at + $length > length $text;
		my $other = any_of($text, @others);
		my $put = any_of('', any_of(@pieces), any_of(@pieces), chr(1 + int rand 255), any_of(0 .. 9), any_of('', '-') . int(rand 2**any_of(2, 8, 31, 53)),
			substr($other, int rand length $other, int rand 30));
		substr $text, $at, $length, $put;
	}
	return $text;
}

# A few random changes of bytes in hexadecimal
sub changed_bytes
{
	my $bytes = pack 'H*', shift;
	foreach (1 .. int rand 4)
	{
		my $at = int rand(1 + length $bytes);
		my $put = any_of(map { chr } 0, 1, 127, 128, 255, map { int rand 256 } 1 .. 5);
		any_of(sub { substr($bytes, $at, 1) = $put if $at < length $bytes }, sub { substr($bytes, $at, 0) = $put x int rand 9 },
			sub { substr($bytes, $at, any_of(1, 4, 8, 4096)) = '' if rand() < 0.3 && $at < length $bytes })->();
	}
	return unpack 'H*', $bytes;
}

# Tries all statements, and shows which outcomes are not right. Returns how often each outcome came.
sub try_all
{
	my ($name, $right, $role, @statements) = @_;
	my ($out, $err) = ('', '');
	my $input = join '', map { 'SELECT try(' . literal($_) . ");\n" } @statements;
	my $status = $node->psql('bytes', "SET client_min_messages = error;\n$input", stdout => \$out, stderr => \$err, on_error_stop => 0,
		connstr => $node->connstr('bytes') . " user=$role");
	my @outcomes = split /\n/, $out, -1;
	is(scalar @outcomes, scalar @statements, "threat 15: $name: each of " . @statements . ' statements has an outcome') or diag(substr $err, 0, 2000);
	my %count;
	my @wrong;
	foreach my $number (0 .. $#outcomes)
	{
		$count{ $outcomes[$number] }++;
		push @wrong, "$outcomes[$number]: $statements[$number]" if $outcomes[$number] !~ $right;
	}
	is(scalar @wrong, 0, "threat 15: $name: an answer or an error that says what is wrong") or diag(join "\n", @wrong[ 0 .. ($#wrong > 4 ? 4 : $#wrong) ]);
	note("$name: ", join ', ', map { "$_ $count{$_}" } sort { $count{$b} <=> $count{$a} } keys %count);
	return %count;
}

my @curves = split /\n/, $node->safe_psql('bytes', 'SELECT written FROM curve');
my @curve_bytes = split /\n/, $node->safe_psql('bytes', q{SELECT encode(written::dp_cdf::bytea, 'hex') FROM curve});
my @states = split /\n/, $node->safe_psql('bytes', q{SELECT substr(expose, 3) FROM state});
my $read = qr/^(valid|22P02|22P03|22023|08P01|22003|22P05|22007|22008)$/;

my %outcomes = try_all('curves as text', $read, 'postgres',
	map { 'SELECT asked(' . literal(changed_text(any_of(@curves), @curves)) . '::dp_cdf)' } 1 .. 200 * $rounds);
cmp_ok($outcomes{valid} // 0, '>', 20, 'some changed curves are accepted');
try_all('curves as jsonb', $read, 'postgres',
	map { 'SELECT asked(' . literal(changed_text(any_of(@curves), @curves)) . '::jsonb::dp_cdf)' } 1 .. 100 * $rounds);
%outcomes = try_all('curves as bytes', $read, 'postgres',
	map { q{SELECT asked('\x} . changed_bytes(any_of(@curve_bytes)) . q{'::bytea::dp_cdf)} } 1 .. 200 * $rounds);
cmp_ok($outcomes{valid} // 0, '>', 20, 'some changed bytes are accepted');
try_all('curves and numbers in binary', $read, 'postgres',
	map {
		my $number = any_of('3ff0000000000000', '7ff8000000000001', 'fff0000000000000', changed_bytes('3ff0000000000000'));
		q{SELECT asked(received('\x} . changed_bytes(any_of(@curve_bytes)) . "', '\\x$number'))"
	} 1 .. 60 * $rounds);

# The parameters must be of the type of the values.
%outcomes = try_all('parameters of shards', qr/^(valid|22P02|22P03|22023|08P01|22003|42804|0A000)$/, 'postgres',
	map {
		my $bytes = changed_bytes(any_of(@states));
		my $value = any_of('age', 'age', 'age', 'dept', 'name', 'day', 'NULL::float8');
		qq{SELECT 'valid' || left(coalesce(topn_add_agg($value, '\\x$bytes')::text, ''), 0) FROM secret}
	} 1 .. 200 * $rounds);
cmp_ok($outcomes{valid} // 0, '>', 20, 'some changed parameters are accepted');

# All tests know the private aggregates, with their types, options and methods, from one list.
my @aggregates = private_aggregates();
my @calls;
foreach my $aggregate (@aggregates)
{
	foreach my $type ($aggregate->{types}->@* ? $aggregate->{types}->@* : 'float8')
	{
		my %terms = (value => "NULL::$type", user => 'NULL::int4', type => $type);
		push @calls, call_of($aggregate, %terms);
		push @calls, call_of($aggregate, %terms, options => 'NULL::jsonb') if $aggregate->{options}->@*;
	}
}
$node->safe_psql('bytes', 'CREATE VIEW listed AS SELECT ' . join ', ', map { "$calls[$_] AS a$_" } 0 .. $#calls);
is($node->safe_psql(
		'bytes', q{
		SELECT string_agg(aggfnoid::oid::regprocedure::text, ', ' ORDER BY aggfnoid)
		FROM pg_aggregate JOIN pg_proc AS final ON final.oid = aggfinalfn AND prosupport = 'dpquantile.planner_support'::regproc
		WHERE aggfnoid NOT IN (SELECT refobjid FROM pg_depend JOIN pg_rewrite AS r ON r.oid = objid
			WHERE refclassid = 'pg_proc'::regclass AND ev_class = 'listed'::regclass)}),
	'', 'test/support/aggregates.tsv has a call of each private aggregate, for each of its types');
foreach my $aggregate (@aggregates)
{
	my %valid = (options => $aggregate->{options}, methods => $aggregate->{methods});
	foreach my $what ('options', $aggregate->{methods}->@* ? 'methods' : ())
	{
		my $unknown = $what eq 'options' ? q{jsonb '{"": 0}'} : q{jsonb '{"method": ""}'};
		my $asked = call_of($aggregate, value => 'NULL::float8', user => 'NULL::int4', options => $unknown);
		my (undef, undef, $error) = $node->psql('bytes', "SELECT $asked");
		like($error, $valid{$what}->@* ? qr/^HINT:  Valid $what: \Q@{[ join ', ', $valid{$what}->@* ]}\E\.$/m : qr/does not exist/,
			"test/support/aggregates.tsv has the $what of $aggregate->{form}");
	}
}

# Options by name and value. Some calls are right, and are charged.
my %methods = map { $_ => 1 } map { $_->{methods}->@* } @aggregates;
my %values = (method => [ map({"\"$_\""} sort keys %methods), '"optimal"' ], granularity => [ 1, 0.5, '"1 day"' ],
	bins => [ 8, 1, 1000 ], lower => [ 0, '"-Infinity"' ], upper => [100], max_contributions => [ '"8"', '"optimal"' ], suppress => [ 'true', 'false' ], rho => [ 0.5, 0.1 ],
	nonsense => [1], '' => [1]);
my @keys = sort keys %values;
my @values = ('null', '-1', '0', '1e-300', '1e300', '1e400', '9007199254740993', '"NaN"', '""', '[]', '{}', '[1]', '"\u00e9"', map { $_->@* } @values{@keys});
sub value_of_option { return rand() < 0.8 ? any_of($values{ $_[0] }->@*) : any_of(@values) }
sub options
{
	my %options = map { my $key = any_of(@keys); $key => value_of_option($key) } 1 .. int rand 4;
	return '{' . join(', ', map {"\"$_\": $options{$_}"} sort keys %options) . '}';
}
%outcomes = try_all('options', qr/^(valid|22P02|22023|22003|22P03|22004|53400|42883|0A000|22007|22008|22015|22P05)$/, 'postgres',
	map {
		my $json = options();
		$json = changed_text($json) if rand() < 0.2;
		my $options = literal($json) . '::jsonb';
		my $aggregate = any_of(grep { $_->{options}->@* } @aggregates);
		my $type = any_of('float8', 'float8', grep { $_ eq 'date' } $aggregate->{types}->@*);
		my $value = $type eq 'date' ? 'day' : 'age';
		my $asked = call_of($aggregate, value => $value, type => $type, epsilon => any_of(1, 1, 1, 'NULL'), options => $options);
		"SELECT 'valid' || left(coalesce(($asked)::text, ''), 0) FROM secret"
	} 1 .. 80 * $rounds);
cmp_ok($outcomes{valid} // 0, '>', 2, 'some options are accepted');

# Queries to be explained. PostgreSQL's parser has its own errors for most of them.
my @queries = ('SELECT dept, dp_avg(age, 0.1, 0, 100) FROM secret GROUP BY dept', 'SELECT count(*) FROM secret WHERE age BETWEEN 3 AND 50',
	'SELECT avg(age) FILTER (WHERE dept IN (1, 2)), sum(dept) FROM secret', 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM secret',
	'WITH s AS (SELECT dept, age FROM secret WHERE name LIKE \'a%\') SELECT dept, dp_median(age, 0.1, 0, 100) FROM s GROUP BY dept HAVING count(*) > 5');
my @words = ('SELECT', 'FROM', 'secret', 'WHERE', '(', ')', ',', 'age', 'dept', 'NULL', '*', '\'', '"', '$1', '::text', 'GROUP BY', 'UNION ALL', 'LATERAL', 'OVER ()', ';',
	'dp_avg(age, 0.1, 0, 100)', 'count(*)', 'EXISTS', 'ROLLUP (dept)', 'ORDER BY 1', 'DISTINCT', 'LIMIT 1', 'FOR UPDATE', '--', '/*', 'VALUES (1)', 'now()', "\xff", '%s', '1e400');
foreach my $function ('dp_explain', 'dp_private_query')
{
	try_all("queries for $function", qr/^(valid|[02345]\w{4})$/, 'analyst',
		map {
			my $query = any_of(@queries);
			foreach (0 .. int rand 3)
			{
				my @parts = split / /, $query;
				splice @parts, int rand @parts, int rand 3, any_of([], [ any_of(@words) ], [ any_of(@words) ], [ any_of(@words), any_of(@words) ])->@*;
				$query = join ' ', @parts;
			}
			$query = changed_text($query, @queries) if rand() < 0.2;
			"SELECT CASE WHEN count(a::text) >= 0 THEN 'valid' END FROM $function(" . literal($query) . ') AS a'
		} 1 .. 80 * $rounds);
}

# Every function of the extension, with arguments of its types.
my @numbers = ('0', '-0', '1', '-1', '0.5', 'NaN', 'Infinity', '-Infinity', '1e308', '-1e308', '4.9e-324', '1e-300', '0.1', '100', '1000', '0.95', '1e15');
my @integers = (0, 1, -1, 2, 3, 10, 80, 32767, -32768);
my @texts = (map({ literal($_) } @pieces, @curves, '', ' ', 'optimal', '2024-01-01', 'infinity', '1 hour', 'age', 'secret', 'add or remove', 'month'), 'repeat(\'a\', 70000)');
my %pool = (
	bool => [ 'true', 'false' ],
	bytea => [ map({"'\\x$_'"} '', '00', 'ff' x 40, @curve_bytes, @states) ],
	name => [ "'age'", "'dept'", "'name'", "'day'", "'nonsense'", "''" ],
	oid => [ 0, 4294967295, "'secret'::regclass", "'analyst'::regrole" ],
	regclass => [ "'secret'", '0', '4294967295', "'pg_class'", "'curve'" ],
	regrole => [ "'analyst'", "'postgres'", '0', '4294967295' ],
	regtype => [ "'float8'", "'text'", '0', '4294967295' ],
	jsonb => [ "'{}'", "'[]'", "'null'", "'1'", map { literal($_) } @curves, map { literal(options() =~ s/1e400/1/r) } 1 .. 40 ],
	date => [ map { "'$_'" } 'infinity', '-infinity', 'epoch', '5874897-12-31', '4713-01-01 BC', '2024-02-29' ],
	interval => [ map { "'$_'" } '0', '1 hour', '-1 day', '1 month', '178000000 years', '0.000001 s' ],
	uuid => ["'00000000-0000-0000-0000-000000000000'"],
	'dpquantile.records_state' => [ map({"'\\x$_'"} @states) ],
	dp_cdf => [ map { literal($_) } @curves ]);
$pool{timestamp} = $pool{timestamptz} = [ map { "'$_'" } 'infinity', '-infinity', 'epoch', '294276-12-31', '4713-01-01 BC', '2024-02-29 12:34:56.789' ];
$pool{$_} = [ map { "'$_'" } @numbers ] foreach 'float8', 'float4', 'numeric';
$pool{int2} = \@integers;
$pool{int4} = [ @integers, 2147483647, -2147483648 ];
$pool{int8} = [ @integers, 2147483648, '9223372036854775807', "'-9223372036854775808'" ];
$pool{$_} = \@texts foreach 'text', 'cstring', 'varchar', 'bpchar', 'unknown';
my @concrete = ('float8', 'numeric', 'int4', 'int8', 'text', 'date', 'timestamptz', 'bool', 'uuid', 'interval', 'dp_cdf', 'float8[]');
my %other_name = ('boolean' => 'bool', 'double precision' => 'float8', 'real' => 'float4', 'smallint' => 'int2', 'integer' => 'int4', 'bigint' => 'int8',
	'timestamp without time zone' => 'timestamp', 'timestamp with time zone' => 'timestamptz', 'character varying' => 'varchar', 'character' => 'bpchar');

# An expression of this type. One for a polymorphic type is of $concrete.
sub value_of
{
	my ($type, $concrete) = @_;
	$type = $other_name{$type} // $type;
	return value_of("${concrete}[]", $concrete) if $type =~ /^any(compatible)?array$/;
	return value_of($concrete, $concrete) if $type =~ /^"?any/;
	return "NULL::$type" if rand() < 0.06;
	if ($type =~ /^(.*)\[\]$/)
	{
		my $element = $other_name{$1} // $1;
		return value_of($element) . '' if $element =~ /\[\]$/;
		my @elements = map { value_of($element) } 1 .. int rand any_of(3, 6, 40);
		my $array = 'ARRAY[' . join(', ', @elements) . "]::${element}[]";
		return any_of($array, $array, $array, "ARRAY[$array, $array]", "'{}'::${element}[]", "('[5:6]=' || array_fill(@{[value_of($element)]}, ARRAY[2])::text)::${element}[]");
	}
	return any_of("'" . (rand() - 0.5) * 10**int(rand(40) - 20) . "'::$type", any_of($pool{$type}->@*) . "::$type") if $type =~ /^(float8|numeric)$/;
	return $pool{$type} ? any_of($pool{$type}->@*) . "::$type" : "NULL::$type";
}

my @functions = split /\n/, $node->safe_psql(
	'bytes', q{
	SELECT format('%I.%I|%s', n.nspname, proname, array_to_string(ARRAY(SELECT format_type(t, NULL) FROM unnest(proargtypes) WITH ORDINALITY u(t, i) ORDER BY i), '|'))
	FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
	WHERE prokind = 'f' AND 'internal'::regtype <> ALL (proargtypes) AND prorettype <> ALL (ARRAY['internal', 'trigger', 'event_trigger']::regtype[])
		AND pronargs > 0
	ORDER BY 1});
cmp_ok(scalar @functions, '>', 100, 'the extension has functions');
try_all('arguments of all functions', qr/^(answered|[02345]\w{4})$/, 'postgres',
	map {
		my ($name, @types) = split /\|/;
		map {
			my $concrete = any_of(@concrete);
			my @arguments = map { value_of($_, $concrete) } @types;
			@arguments = map {"(SELECT $_)"} @arguments if rand() < 0.5;
			"SELECT CASE WHEN count(q::text) >= 0 THEN 'answered' END FROM (SELECT $name(" . join(', ', @arguments) . ')) AS q'
		} 1 .. 2 * $rounds
	} @functions);

is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'threat 15: the server has not restarted');
unlike(slurp_file($node->logfile), qr/XX000|TRAP|terminated by signal/, 'threat 15: no internal error in the log');

done_testing();
