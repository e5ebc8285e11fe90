# threats 97, 123, 124: what PostgreSQL looks up when the first row needs it: collations, locales, long values that are stored elsewhere and
# the locks there. In many there is a row with the salary 200000, for which the query looks it up; in few there is none.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use ProtectedTables;
use Test::More;

# A locale whose codeset PostgreSQL does not know.
my $locales = PostgreSQL::Test::Utils::tempdir();
system("localedef -i hy_AM -f ARMSCII-8 $locales/hy_AM.armscii8 >/dev/null 2>&1");
my $has_locale = -d "$locales/hy_AM.armscii8";
local $ENV{LOCPATH} = $locales if $has_locale;

my $node = protected_node('protected_lookups', conf => 'log_statement = none');
my $RICH = 'salary = 200000';

# Each is seen in a session of its own, which opens everything anew.
sub is_looked_up_early
{
	my ($name, $sql, $summary, %params) = @_;
	channel_is_closed($node, $name, $sql, $summary, reader => undef, %params);
	return;
}

sub when_rich
{
	my ($condition) = @_;
	return "$COUNT WHERE CASE WHEN $RICH THEN $condition END";
}

# ---- Collations ----

# What an upgrade of the system leaves behind.
sub change_collation
{
	my ($collation, $columns) = @_;
	$node->safe_psql('postgres', "UPDATE pg_collation SET $columns WHERE collname = '$collation'");
	return;
}

SKIP:
{
	skip 'PostgreSQL is built without ICU', 24
	  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collname = 'sv-x-icu'}) eq '0';
	change_collation('sv-x-icu', q{collversion = '1.0'});
	my $NAME = 'name COLLATE "sv-x-icu"';
	is_looked_up_early("threat 123: another version of a collation, in $_->[0]", $_->[1], 't WARNING')
		for [ 'a comparison', when_rich("$NAME < 'x'") ],
		[ 'LIKE', when_rich("$NAME ILIKE '%x'") ],
		[ 'a function', when_rich("upper($NAME) = 'X'") ],
		[ 'GREATEST', when_rich("GREATEST($NAME, 'x') = 'x'") ],
		[ 'a list', when_rich("$NAME IN ('x', 'y', 'z')") ],
		[ 'a value', "SELECT dp_count_distinct($NAME, 1) IS NOT NULL FROM staff WHERE $RICH" ],
		[ 'a parameter', 'SET plan_cache_mode = force_generic_plan; PREPARE p(text) AS ' . when_rich("$NAME < \$1") . q{; EXECUTE p('x')} ];
	# Keys are compared if there are two rows. No group is shown.
	my $keys = "SELECT dp_count(1) IS NOT NULL FROM staff WHERE salary IN (190000, 200000) GROUP BY $NAME HAVING dp_keep_group(0.1, 1e-12)";
	is_looked_up_early("threat 123: another version of a collation, in $_->[0]", "SET enable_$_->[1] = off; $keys", 'WARNING')
		for [ 'sorted keys', 'hashagg' ], [ 'hashed keys', 'sort' ];
	$node->safe_psql('postgres', qq{
		ALTER TABLE $_.department ADD swedish text COLLATE "sv-x-icu" UNIQUE;
		UPDATE $_.department SET swedish = name}) for 'few', 'many';
	is_looked_up_early("threat 123: another version of a collation of a column, in a $_->[0] join",
		"SET enable_$_->[1] = off; SET enable_$_->[2] = off; SELECT dp_count(1) IS NOT NULL FROM staff s JOIN department d
		 ON d.swedish = s.name WHERE $RICH", 't WARNING')
		for [ 'merge', 'hashjoin', 'nestloop' ], [ 'hash', 'mergejoin', 'nestloop' ], [ 'nested', 'hashjoin', 'mergejoin' ];
}

# The locale is not there.
my $missing = $node->safe_psql('postgres', q{
	SELECT collname FROM pg_collation WHERE oid < 16384 AND collprovider = 'c' AND collname ~* '^c.utf-?8$' LIMIT 1});
SKIP:
{
	skip 'the system has no locale C.UTF-8', 5 if $missing eq '';
	change_collation($missing, q{collcollate = 'xx_XX.utf8', collctype = 'xx_XX.utf8'});
	my $spent = spent($node);
	is_looked_up_early("threat 123: a collation without a locale, in $_->[0]", $_->[1], '22023')
		for [ 'a comparison', when_rich(qq{name < 'x' COLLATE "$missing"}) ], [ 'a function', when_rich(qq{upper(name COLLATE "$missing") = 'X'}) ];
	is(spent($node), $spent, 'threat 123: such a query is not charged');
}

# ---- lc_time, lc_numeric, lc_monetary ----

SKIP:
{
	skip 'localedef cannot make the locale', 8 unless $has_locale;
	my $cursor = 'BEGIN; DECLARE c CURSOR FOR ' . when_rich(q{to_char(id::timestamptz, 'TMMonth') = 'x'}) =~ s/id::timestamptz/to_timestamp(id)/r;
	is_looked_up_early("threat 123: $_->[0]", $_->[1], 't WARNING')
		for [ 'lc_time', q{SET lc_time = 'hy_AM.armscii8'; } . when_rich(q{to_char(to_timestamp(id), 'TMMonth') = 'x'}) ],
		[ 'lc_numeric', q{SET lc_numeric = 'hy_AM.armscii8'; } . when_rich(q{to_char(salary, '9G999D9') = 'x'}) ],
		[ 'lc_monetary', q{SET lc_monetary = 'hy_AM.armscii8'; } . when_rich(q{to_char(id, 'L999') = 'x'}) ],
		[ 'lc_time of a cursor', "$cursor; SET lc_time = 'hy_AM.armscii8'; FETCH c" ];
}

# ---- Enums, domains, time zones ----

# The second enum has values whose order the catalog tells.
$node->safe_psql('postgres', qq{
	CREATE TYPE $_.kind AS ENUM ('b', 'c');
	ALTER TYPE $_.kind ADD VALUE 'a' BEFORE 'b';
	CREATE DOMAIN $_.size AS text CHECK (VALUE <> '');
	ALTER TABLE $_.staff ADD kind $_.kind DEFAULT 'a', ADD size $_.size DEFAULT 'x'}) for 'few', 'many';
is_looked_up_early("threat 123: $_->[0]", when_rich($_->[1]), 't')
	for [ 'an enum', q{kind < 'b'} ], [ 'an enum as text', q{kind::text < 'b'} ], [ 'a domain', q{size < 'y'} ],
	[ 'a time zone', q{to_timestamp(id) AT TIME ZONE 'Asia/Tokyo' < '2000-01-01'} ],
	[ 'an unknown time zone', q{to_timestamp(id) AT TIME ZONE 'Nowhere' < '2000-01-01'} ];

# ---- Long values that are gone ----

# A parameter is a pointer to a value that is not there any more.
my $gone = q{
	CREATE TEMP TABLE big (v text);
	ALTER TABLE big ALTER v SET STORAGE EXTERNAL;
	CREATE FUNCTION pg_temp.ask() RETURNS text LANGUAGE plpgsql AS $$
	DECLARE v text;
	BEGIN
		INSERT INTO big VALUES (repeat('x', 50000));
		v := (SELECT b.v FROM big b);
		TRUNCATE big;
		PERFORM %s;
		RETURN 'answered';
	END $$;
	SET plan_cache_mode = %s;
	SELECT pg_temp.ask()};
foreach my $plan ('force_generic_plan', 'force_custom_plan')
{
	my $spent = spent($node);
	foreach my $use ([ 'a condition', when_rich('name > v') ], [ 'an expression', when_rich(q{name > v || 'x'}) ],
		[ 'a value', "SELECT dp_count_distinct(CASE WHEN $RICH THEN v END, 1) IS NOT NULL FROM staff" ])
	{
		# The error has the number of the value.
		my $sql = sprintf($gone, $use->[1] =~ s/^SELECT //r, $plan);
		is(summary(seen($node, $_, $sql)), 'XX001', "threat 124: a parameter that is gone, $plan, $use->[0]: $_") for 'few', 'many';
	}
	is(spent($node), $spent, "threat 124: $plan: such a query is not charged");
}

# ---- Locks on the tables with long values ----

foreach my $table (map { ("$_.staff", "$_.department") } 'few', 'many')
{
	$node->safe_psql('postgres', qq{
		ALTER TABLE $table ADD long text;
		ALTER TABLE $table ALTER long SET STORAGE EXTERNAL;
		UPDATE $table SET long = repeat('x', 5000) WHERE id IN (100, 20000)});
}
$node->safe_psql('postgres', q{
	CREATE TABLE analyst.big (v text);
	ALTER TABLE analyst.big ALTER v SET STORAGE EXTERNAL, OWNER TO analyst;
	INSERT INTO analyst.big VALUES (repeat('x', 50000))});

# What is seen while somebody holds the lock of REINDEX on the index of these tables.
sub waits_for_no_row
{
	my ($name, $tables, $sql, $summary) = @_;
	my $holder = $node->background_psql('postgres', extra_params => [ '-U', 'postgres' ]);
	my $indexes = $node->safe_psql('postgres', "SELECT string_agg('REINDEX INDEX ' || i.indexrelid::regclass, ';') FROM pg_class c
		JOIN pg_index i ON i.indrelid = c.reltoastrelid WHERE c.oid IN ($tables)");
	$holder->query_safe("BEGIN; $indexes");
	my $spent = spent($node);
	is_looked_up_early("threat 124: $name", "SET lock_timeout = '300ms'; $sql", $summary);
	is(spent($node), $spent, "threat 124: $name: it is not charged");
	$holder->query_safe('ROLLBACK');
	$holder->quit;
	is_looked_up_early("threat 124: $name, without the lock", $sql, 't');
	return;
}
waits_for_no_row('a column of the query around', q{'analyst.big'::regclass},
	"SELECT s.* FROM big b, LATERAL (" . when_rich('name > b.v') . ') s', '55P03');
waits_for_no_row('a correlated column', q{'analyst.big'::regclass}, 'SELECT (' . when_rich('name > b.v') . ') FROM big b', '55P03');
waits_for_no_row('a column of a public table', q{'few.department'::regclass, 'many.department'::regclass},
	"SELECT dp_count(1) IS NOT NULL FROM staff s JOIN department d ON d.id = s.id / 200 WHERE CASE WHEN $RICH THEN d.long > 'a' END", '55P03');
waits_for_no_row('a column of the protected table', q{'few.staff'::regclass, 'many.staff'::regclass}, when_rich(q{long > 'a'}), '55P03');

# A value of the query around is read for each of its rows, and stays while an inner one changes.
is(outcome($node, q{
	SET search_path = few, public;
	SELECT count(*), sum(length(b.v)), max(length(n.v)) FROM (SELECT v FROM analyst.big, generate_series(1, 3)) b,
		LATERAL (SELECT b.v || i AS v FROM generate_series(1, 3) i) n,
		LATERAL (SELECT dp_count(100) AS n FROM staff WHERE b.v > 'a' AND n.v > 'a') s WHERE s.n BETWEEN 95 AND 105}), '9|450000|50001',
	'threat 124: values of two queries around');

# ---- Messages ----

# Code that runs for rows of one's own tables says nothing either while a restricted session reads them for a private answer.
$node->safe_psql('postgres', q{
	CREATE FUNCTION analyst.told(id int, level text) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		IF level = 'warning' THEN RAISE WARNING 'row %', id; ELSE RAISE NOTICE 'row %', id; END IF;
		RETURN true;
	END $$;
	CREATE TABLE analyst.own AS SELECT id FROM generate_series(1, 3) id;
	ALTER TABLE analyst.own OWNER TO analyst});
is(summary(seen($node, 'few', "SELECT dp_count(1) IS NOT NULL FROM own WHERE told(id, '$_')")), 't', "threat 97: no $_ comes from rows")
  for 'notice', 'warning';
is(summary(seen($node, 'few', "SELECT bool_and(told(id, '$_')) FROM own")), 't ' . uc, "threat 97: a $_ comes as ever without a private answer")
  for 'notice', 'warning';
is(summary(seen($node, 'few', "SELECT dp_count(1) IS NOT NULL FROM own WHERE told(id, 'notice') AND 1 / (id - 2) > -5")), '22012',
	'threat 97: an error comes');
like(slurp_file($node->logfile), qr/WARNING:  row 1/, 'threat 97: the server log has the warnings');

done_testing();
