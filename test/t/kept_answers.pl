# Answers over protected tables that are kept (reuse): what counts as the same query, for whom, for how long, and that a charge is
# saved only where the answer is the same.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use ProtectedTables;
use Test::More;

my $node = protected_node('kept_answers', preloaded => 1, conf => 'dpquantile.kept_answers_memory = 256kB');
$node->safe_psql(
	'postgres', q{
	CREATE ROLE other LOGIN;
	CREATE SCHEMA AUTHORIZATION other;
	SELECT dp_restrict_role('other'), dp_grant_budget('other', 1e6);
	SET ROLE owner;
	SET search_path = few, public;
	GRANT SELECT ON department TO other;
	ALTER TABLE staff ALTER name SET NOT NULL, ALTER department SET NOT NULL;
	SELECT dp_set_domain('staff', 'salary', 0, 1000), dp_set_domain('staff', 'name', '{name 1,name 2}'),
		dp_set_domain('staff', 'department', '{1,2,3}')});

sub grant
{
	my ($reuse) = @_;
	$node->safe_psql('postgres', "SET ROLE owner; SELECT dp_grant_private_access('few.staff', role, epsilon => 1, reuse => $reuse)
		FROM unnest('{analyst,other}'::regrole[]) role");
	return;
}

# What statements print, and how many epsilons they are charged. In schema few.
sub asked
{
	my ($sql, %params) = @_;
	my $user = $params{user} // 'analyst';
	my $before = spent($node, role => $user);
	my $seen = seen($node, 'few', $sql, %params);
	return ($seen, spent($node, role => $user) - $before);
}

# Asks the first, then the second, and expects one charge, and equal answers, or two charges.
sub is_the_same
{
	my ($name, $first, $second, %params) = @_;
	my ($one, $paid) = asked($first, %params);
	my ($other, $paid_again) = asked($second, %params);
	is("$paid $paid_again", '1 0', "$name: one charge");
	is($other, $one, "$name: one answer");
	return;
}

# Asks the first, then the others, and expects the charges of the first, and the same rows in any order.
sub is_the_same_in_order
{
	my ($name, $charges, $first, @others) = @_;
	my ($rows, $paid) = asked($first);
	is($paid, $charges, "$name: charged");
	$rows = join '', sort split /^/, $rows;
	for my $sql (@others)
	{
		my ($again, $paid_again) = asked($sql);
		is($paid_again, 0, "$name: no charge for $sql");
		is(join('', sort split(/^/, $again)), $rows, "$name: the same rows");
	}
	return;
}

sub is_another
{
	my ($name, $first, $second, %params) = @_;
	my (undef, $paid) = asked($first, %params);
	my (undef, $paid_again) = asked($second, %params);
	is("$paid $paid_again", '1 1', "$name: two charges");
	return;
}

grant('NULL');
is_another('without reuse', 'SELECT count(*) FROM staff', 'SELECT count(*) FROM staff');
grant(q{'1 hour'});

# The same query
my ($answer, $paid);
is_the_same('comments, spaces and aliases', 'SELECT count(*) FROM staff', "select   count(*) as n -- again\n from staff s");
is_the_same('a private aggregate', 'SELECT dp_median(salary, 1, 0, 1000) FROM staff', 'SELECT dp_median(s.salary, 1, 0, 1000) m FROM staff s');
is_the_same('groups', 'SELECT name, count(*) FROM staff GROUP BY name', 'SELECT name AS who, count(*) FROM staff GROUP BY 1');
is_the_same('several groups', 'SELECT name, department, count(*) FROM staff GROUP BY name, department', 'SELECT name, department, count(*) FROM staff GROUP BY 1, 2');
is_the_same('ORDER BY and LIMIT', 'SELECT name, count(*) AS n FROM staff WHERE id > 100000 GROUP BY name ORDER BY name LIMIT 5',
	'SELECT name, count(*) FROM staff WHERE id > 100000 GROUP BY name ORDER BY name');
is_the_same('another order', 'SELECT name, sum(salary) AS n FROM staff GROUP BY name ORDER BY name', 'SELECT name, sum(salary) AS n FROM staff GROUP BY name ORDER BY name, n');
is_the_same_in_order('sorted by answers in a query around it', 1, 'SELECT name, avg(salary) AS n FROM staff GROUP BY name', 'SELECT * FROM (SELECT name, avg(salary) AS n FROM staff GROUP BY name) t ORDER BY n DESC');
my $named = 'name, count(*) FROM staff WHERE id < 200000 GROUP BY name';
is_the_same_in_order('one key', 1, "SELECT $named", map { "SELECT $named ORDER BY $_" } '2 DESC', 'count(*)', 'name DESC LIMIT 5', '1 NULLS FIRST',
	'1 DESC NULLS LAST, 2', 'name USING ~>~', 'name COLLATE "C"', 'length(name) DESC', 'count(*) / 2, name', 'name FETCH FIRST 2 ROWS WITH TIES');
is_the_same_in_order('DISTINCT', 0, "SELECT DISTINCT $named", "SELECT DISTINCT $named ORDER BY 2 DESC, 1", "SELECT DISTINCT ON (1) $named ORDER BY 1, 2");
my $two = 'name, department, count(*) FROM staff WHERE id < 200001 GROUP BY';
is_the_same_in_order('two keys', 1, "SELECT $two name, department", "SELECT $two name, department ORDER BY 2", "SELECT $two 1, 2 ORDER BY 2 DESC NULLS LAST, 1",
	"SELECT $two 2, 1 ORDER BY 3", "SELECT $two department, name");
is_the_same_in_order('grouping sets, of which one was asked', 2, "SELECT $two ROLLUP (1, 2)", "SELECT $two ROLLUP (1, 2) ORDER BY 3 DESC", "SELECT $two ROLLUP (1, 2) ORDER BY 2, 1 DESC");
is_the_same_in_order('a key that is not shown', 1, 'SELECT count(*) FROM staff WHERE id < 200002 GROUP BY name', 'SELECT count(*) FROM staff WHERE id < 200002 GROUP BY name ORDER BY name DESC',
	'SELECT count(*) FROM staff WHERE id < 200002 GROUP BY name ORDER BY 1');
my $private = 'SELECT department, dp_count(1) FROM staff WHERE id < 200003 GROUP BY department HAVING dp_keep_group(100, 1e-12)';
is_the_same_in_order('private aggregates', 101, $private, "$private ORDER BY 2 DESC", "$private ORDER BY department DESC", "$private ORDER BY dp_count(1), 1");
($answer) = asked("SELECT $two 1, 2 ORDER BY 2 DESC, 1");
is($answer =~ s/\|[^|\n]*$//mgr, join('', map { my $department = $_; map { "name $_|$department\n" } 1, 2 } 3, 2, 1), 'kept answers are in the order that is asked for');
is_the_same('a CDF', 'SELECT dp_cdf(salary, 1, 0, 1000) FROM staff', 'SELECT dp_cdf(salary, 1, 0, 1000) FROM staff');
is_the_same('inside of another query', 'SELECT count(*) + 0 FROM staff WHERE id > 1', 'SELECT c + 0 FROM (SELECT count(*) + 0 AS c FROM staff WHERE id > 1) t');
is_the_same_in_order('inside of WITH', 1, 'SELECT count(*) + 0 FROM staff WHERE id > 8', 'WITH x AS (SELECT count(*) + 0 AS c FROM staff WHERE id > 8) SELECT * FROM x',
	'WITH x AS MATERIALIZED (SELECT count(*) + 0 AS c FROM staff WHERE id > 8) SELECT a.c FROM x a WHERE a.c IN (SELECT c FROM x)',
	'WITH y AS (SELECT 1 AS i), x AS (SELECT count(*) + 0 AS c FROM staff WHERE id > 8) SELECT x.c FROM x, y');
is_the_same_in_order('groups inside of WITH', 1, 'WITH x AS (SELECT name, count(*) AS n FROM staff WHERE id > 9 GROUP BY name) SELECT * FROM x',
	'SELECT name, count(*) AS n FROM staff WHERE id > 9 GROUP BY name ORDER BY n');
is_the_same('values that a plan is made for, and a plan for any values', 'PREPARE p (int) AS SELECT count(*) FROM staff WHERE id < $1 + 1; EXECUTE p (7)',
	'SET plan_cache_mode = force_generic_plan; PREPARE p (int) AS SELECT count(*) FROM staff WHERE id < $1 + 1; EXECUTE p (7)');
is_the_same('a rounded clock', q{SELECT count(*) FROM staff WHERE date_trunc('year', now() + interval '100 years') > '2020-01-01'},
	q{SELECT count(*) FROM staff WHERE date_trunc('year', now() + interval '100 years') > '2020-01-01'});
is_the_same('a transaction that only reads and is rolled back', 'BEGIN READ ONLY; SELECT count(*) FROM staff WHERE id > 2; ROLLBACK',
	'BEGIN READ ONLY; SELECT count(*) FROM staff WHERE id > 2; ROLLBACK');
$node->safe_psql('postgres', 'DELETE FROM few.staff WHERE id > 50');
($answer, $paid) = asked('SELECT count(*) FROM staff');
is($paid, 0, 'whatever happened to the rows: no charge');
cmp_ok($answer, '>', 70, 'the answer is that of before');

# Other queries
is_another('another constant', 'SELECT count(*) FROM staff WHERE id > 3', 'SELECT count(*) FROM staff WHERE id > 4');
is_another('another parameter', 'PREPARE p (int) AS SELECT count(*) FROM staff WHERE id <= $1; EXECUTE p (7)',
	'PREPARE p (int) AS SELECT count(*) FROM staff WHERE id <= $1; EXECUTE p (8)');
is_another('another parameter of one prepared statement', 'SET plan_cache_mode = force_generic_plan; PREPARE p (int) AS SELECT count(*) FROM staff WHERE id >= $1; EXECUTE p (7)',
	'SET plan_cache_mode = force_generic_plan; PREPARE p (int) AS SELECT count(*) FROM staff WHERE id >= $1; EXECUTE p (8)');
is_another('NULL and a value', 'PREPARE p (int) AS SELECT count(*) FROM staff WHERE id = $1 OR id < 3; EXECUTE p (NULL)',
	'PREPARE p (int) AS SELECT count(*) FROM staff WHERE id = $1 OR id < 3; EXECUTE p (0)');
is_another('the clock', 'SELECT count(*) FROM staff WHERE id < extract(epoch FROM now())', 'SELECT count(*) FROM staff WHERE id < extract(epoch FROM now())');
is_another('the time zone', q{SET timezone = 'UTC'; SELECT count(*) FROM staff WHERE id > 5}, q{SET timezone = 'Asia/Tokyo'; SELECT count(*) FROM staff WHERE id > 5});
my $by_zone = q{SELECT count(*) FROM staff WHERE extract(hour FROM to_timestamp(salary) AT TIME ZONE 'EST') < 12};
is_another('the abbreviations of time zones', $by_zone, "SET timezone_abbreviations = 'Australia'; $by_zone");
my $keyed = sub { "SELECT $_[0], dp_count(1) FROM staff WHERE id < 200014 GROUP BY 1 HAVING dp_keep_group(1, 1e-6)" };
for ([ 'modifier', 'name::varchar(6)', 'name::varchar(7)' ], [ 'collation', 'name COLLATE "C"', 'name COLLATE "POSIX"' ], [ 'type', 'department::smallint', 'department::bigint' ])
{
	my ($what, @keys) = @$_;
	is(join(' ', map { (asked(&$keyed($_)))[1] } @keys), '2 2', "another $what of a key: two charges");
}
is(join(' ', map { (asked("SELECT dp_count(1)$_ FROM staff WHERE id < 200015"))[1] } '', ', dp_count(2)', ', dp_count(3)'), '1 3 4', 'other columns: charges');
is_another('a fresh answer', 'SELECT count(*) FROM staff WHERE id > 6', 'SET dpquantile.reuse = off; SELECT count(*) FROM staff WHERE id > 6');
is_another('another level of one query', 'SELECT dp_count(1) FROM staff', 'SELECT dp_count(salary, 1) FROM staff');
$private =~ s/200003/200004/;
(undef, $paid) = asked("$private ORDER BY dp_count(1) FILTER (WHERE id < 10)");
(undef, my $paid_again) = asked("$private ORDER BY dp_count(1) FILTER (WHERE id >= 10)");
is("$paid $paid_again", '102 102', 'sorted by an answer that is not shown: two charges');
is_another('another WITH query around it', 'WITH s AS (SELECT * FROM staff WHERE id < 200010) SELECT * FROM (SELECT count(*) FROM s) x',
	'WITH s AS (SELECT * FROM staff WHERE id < 200011) SELECT * FROM (SELECT count(*) FROM s) x');
is_another('another WITH query beside it', 'WITH s AS (SELECT * FROM staff WHERE id < 200010), x AS (SELECT dp_count(1) FROM (SELECT * FROM s) s) SELECT * FROM x',
	'WITH s AS (SELECT * FROM staff WHERE id < 200011), x AS (SELECT dp_count(1) FROM (SELECT * FROM s) s) SELECT * FROM x');
# What a setting or the clock says belongs to the expression that reads it, wherever that is in the statement.
my $above = sub { my ($alias, $factor, $setting) = @_; "$alias AS (SELECT count(*) * $factor AS $alias FROM staff WHERE id > current_setting('my.$setting')::int)" };
my ($x, $y) = ($above->('x', 2, 'a'), $above->('y', 3, 'b'));
($answer, $paid) = asked("SET my.a = 200001; SET my.b = 200002; WITH $x, $y SELECT x, y FROM x, y");
(my $swapped, $paid_again) = asked("SET my.a = 200001; SET my.b = 200002; WITH $y, $x SELECT x, y FROM x, y");
is("$paid $paid_again", '2 0', 'settings in another order of WITH queries: kept');
is($swapped, $answer, 'settings in another order of WITH queries: the same answers');
(undef, $paid) = asked("SET my.a = 200002; SET my.b = 200001; WITH $y, $x SELECT x, y FROM x, y");
is($paid, 2, 'settings that are swapped with the WITH queries: charged');
my $unprotected = "WITH o AS (SELECT dp_count(100) AS o FROM generate_series(1, current_setting('my.a')::int)), s AS (SELECT count(*) FROM staff WHERE id < 200012) SELECT o FROM o, s WHERE s.count IS NOT NULL";
(undef, $paid) = asked("SET my.a = 3; $unprotected");
(undef, $paid_again) = asked("SET my.a = 9; $unprotected");
is("$paid $paid_again", '101 100', 'a setting that an aggregate over no protected rows reads: charged');
# What another table beside protects does not count.
$node->safe_psql('postgres', q{CREATE TABLE few.rooms AS SELECT 1 AS room; ALTER TABLE few.rooms OWNER TO owner; SET ROLE owner;
	SELECT dp_protect_table('few.rooms', 'room', 3), dp_grant_private_access('few.rooms', 'analyst', epsilon => 1, reuse => '1 hour')});
($answer, $paid) = asked('SELECT count(*) FROM staff WHERE id < 200013');
($swapped, $paid_again) = asked('SELECT s.* FROM (SELECT count(*) FROM staff WHERE id < 200013) s, (SELECT dp_count(20) FROM few.rooms) r WHERE r.dp_count IS NOT NULL');
is("$paid $paid_again", '1 20', 'beside another protected table: kept');
is($swapped, $answer, 'beside another protected table: the same answer');
is_another('fewer rows of a person', 'SELECT dp_count(1) FROM few.rooms', 'SET dpquantile.max_rows = 2; SELECT dp_count(1) FROM few.rooms');
$node->safe_psql('postgres', 'DROP TABLE few.rooms');
# The condition stays above the answers, so all groups are kept.
($answer, $paid) = asked('WITH x AS (SELECT name, count(*) FROM staff WHERE id < 200009 GROUP BY name) SELECT * FROM x WHERE name = \'name 2\'');
is($paid . $answer =~ tr/\n//, '11', 'a condition on WITH: charged, one group');
($answer, $paid) = asked('SELECT name, count(*) FROM staff WHERE id < 200009 GROUP BY name');
is($paid . ' ' . $answer =~ tr/\n//, '0 2', 'the query without the condition: no charge, all groups');
is_another('the order inside of an aggregate', 'SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY salary) FROM staff WHERE id < 200005',
	'SELECT percentile_disc(0.25) WITHIN GROUP (ORDER BY -salary) FROM staff WHERE id < 200005');
is_another('a constant that is grouped by', 'SELECT 1, count(*) FROM staff WHERE id < 200006', 'SELECT 1, count(*) FROM staff WHERE id < 200006 GROUP BY name');
# PostgreSQL computes a column that takes long after LIMIT, of answers that come before those of the other columns.
my $few_and_all = 'SELECT dp_count(1) FILTER (WHERE id <= 3) + 1, dp_count(1) FILTER (WHERE id > 3) + ' . join(' + ', (0) x 12) . '
	FROM staff WHERE id < 200007 GROUP BY id / 1000 HAVING dp_keep_group(100, 1e-12)';
my $columns_of = sub { join ' ', map { $_ > 25 ? 'all' : 'few' } map { split /\|/ } @_ };
my ($sorted) = asked("$few_and_all ORDER BY 1 LIMIT 5");
($answer) = asked($few_and_all);
is(&$columns_of($sorted, $answer), 'few all few all', 'columns with one function are not confused');
my ($fresh) = asked('SET dpquantile.reuse = off; SELECT count(*) FROM staff WHERE id > 7');
my ($kept) = asked('SELECT count(*) FROM staff WHERE id > 7');
is($kept, $fresh, 'a fresh answer is the one that is kept');
# The outer query gives the block its parameter.
(undef, $paid) = asked('SELECT i, (SELECT dp_count(1) FROM staff WHERE id > i) FROM generate_series(1, 2) i');
(undef, $paid_again) = asked('SELECT i, (SELECT dp_count(1) FROM staff WHERE id > i) FROM generate_series(1, 2) i');
is($paid_again, $paid, 'no reuse where the query around it gives the parameters');
# A constant of the query around is not in the text of the block, and PostgreSQL may put it in the place of the column.
my $block = sub { my ($what, $i) = @_; "SELECT (SELECT $what) FROM (SELECT $i AS i) t" };
is_another("a constant of the query around $_", &$block($_, 1), &$block($_, 40))
	for 'dp_count(1) FROM staff WHERE id > i', 'dp_count(1) + i FROM staff', 'dp_count(1) FROM staff HAVING dp_count(1) > i';

# Aggregates beside, over rows that are not protected, may be of any types and take any values.
sub beside
{
	return "SELECT x.* FROM $_[0] x, (SELECT count(*) FROM staff WHERE id < 200016) y WHERE y.count IS NOT NULL";
}
asked(beside('(SELECT 1)'));
is_another('a constant of the query around an aggregate beside', beside('(SELECT (SELECT dp_count(1) FROM generate_series(1, i)) FROM (SELECT 1 AS i) i)'),
	beside('(SELECT (SELECT dp_count(1) FROM generate_series(1, i)) FROM (SELECT 50 AS i) i)'));
# An anonymous row has columns that only its session knows by their number. These two numbers are bytes of a pointer to a value that
# is stored apart: read as another type they would be followed.
my $rows = beside('(SELECT ROW(1635651090046718465, 5118059502721630208) AS row, dp_count(1) FROM generate_series(1, 9) GROUP BY 1)');
($answer, $paid) = asked($rows);
my $other_rows = q{SELECT ROW('a'::bytea, 'b'::bytea) AS row OFFSET 0};
(my $in_another_session, $paid_again) = asked("SELECT row IS NULL FROM ($other_rows) r; $rows");
is("$paid $paid_again", '1 1', 'threat 120: rows that only their session knows: charged again');
like($in_another_session, qr/^f\n\(1635651090046718465,5118059502721630208\)\|-?\d+\n$/, 'threat 120: the bytes of a kept answer are not read as another type');

# Of one level, the columns that the query around uses
my $columns = '(SELECT count(*) AS a, count(*) FILTER (WHERE id < 10) AS b, count(*) FILTER (WHERE id < 10000) AS c FROM staff) s';
my ($fewer) = asked("SELECT b FROM $columns");
my ($more) = asked("SELECT c FROM $columns");
cmp_ok($more, '>', $fewer + 10, 'another column of a level has its own answer');
# PostgreSQL does not compute the columns that are left out, and numbers the other aggregates in the order in which it meets them.
my $first_of = sub { "SELECT department FROM (SELECT department, dp_count(10) FILTER (WHERE department = 1), dp_count(10) FILTER (WHERE department = 2)
	FROM staff WHERE id < 200008 GROUP BY department HAVING dp_keep_group(100, 1e-12)
	ORDER BY dp_count(10) FILTER (WHERE department = $_[0]) + 0 DESC LIMIT 1) s" };
is(join('', map { (asked(&$first_of($_)))[0] } 1, 2), "1\n2\n", 'sorted by a column that the query around leaves out');
# A subquery may give a parameter, and depend on anything.
my $by_setting = q{SELECT dp_quantile(salary, (SELECT current_setting('x.q')::float8), 1, 0, 1000) FROM staff};
is_another('a setting in a parameter', "SET x.q = 0.1; $by_setting", "SET x.q = 0.9; $by_setting");

# Another role, another policy
(undef, $paid) = asked('SELECT count(*) FROM staff', user => 'other');
is($paid, 1, 'another role pays for its own answer');
asked('SELECT avg(salary) FROM staff');
$node->safe_psql('postgres', q{SET ROLE owner; SELECT dp_set_domain('few.staff', 'salary', 0, 2000)});
(undef, $paid) = asked('SELECT avg(salary) FROM staff');
is($paid, 1, 'other bounds make another query');
$node->safe_psql('postgres', q{SELECT dp_revoke_private_access('few.staff', 'other')});
is(summary(seen($node, 'few', 'SELECT count(*) FROM staff', user => 'other')), '42501', 'no answer without private access');
grant(q{'1 hour'});
(undef, $paid) = asked('SELECT count(*) FROM staff', user => 'other');
is($paid, 0, 'the answers are those of the role');

# A role and a table that get the OID of a dropped one, as after four thousand million others
sub give_oid
{
	my ($old, $new, @columns) = @_;
	my @updates = map { my ($catalog, $column) = split /\./; "UPDATE $catalog SET $column = $old WHERE $column = $new" } @columns;
	$node->safe_psql('postgres', join '; ', 'SET allow_system_table_mods = on', 'BEGIN', @updates, 'COMMIT');
	return;
}

sub oid_of
{
	my ($object) = @_;
	return $node->safe_psql('postgres', "SELECT $object\::oid");
}

sub let_ask
{
	my ($role) = @_;
	$node->safe_psql('postgres', qq{SELECT dp_restrict_role('$role'), dp_grant_budget('$role', 1e6);
		SET ROLE owner; SELECT dp_grant_private_access('few.staff', '$role', epsilon => 1, reuse => '1 hour')});
	return;
}

sub charges_of
{
	my ($role, $sql) = @_;
	my $count = q{SELECT count(*) FROM dpquantile.ledger};
	my $before = $node->safe_psql('postgres', $count);
	seen($node, 'few', $sql, user => $role);
	return $node->safe_psql('postgres', $count) - $before;
}

$node->safe_psql('postgres', 'CREATE ROLE guest LOGIN');
let_ask('guest');
is(charges_of('guest', 'SELECT count(*) FROM staff; SELECT count(*) FROM staff'), 1, 'a role keeps its answers');
my $guest = oid_of(q{'guest'::regrole});
$node->safe_psql('postgres', 'DROP ROLE guest; CREATE ROLE visitor LOGIN');
give_oid($guest, oid_of(q{'visitor'::regrole}), 'pg_authid.oid');
let_ask('visitor');
is(oid_of(q{'visitor'::regrole}), $guest, 'another role has the OID of the dropped one');
is(charges_of('visitor', 'SELECT count(*) FROM staff'), 1, 'threat 120: a role does not get the answers of a dropped one');
$node->safe_psql('postgres', q{SET ROLE owner; SELECT dp_revoke_private_access('few.staff', 'visitor')});

my $levels = q{CREATE TABLE few.levels (id int PRIMARY KEY); GRANT SELECT ON few.levels TO analyst; INSERT INTO few.levels SELECT generate_series};
my $joined = 'SELECT dp_count(10) FROM staff s JOIN levels l ON l.id = s.id';
$node->safe_psql('postgres', "SET ROLE owner; $levels(1, 2)");
($answer, $paid) = asked("$joined; $joined");
my $table = oid_of(q{'few.levels'::regclass});
$node->safe_psql('postgres', "SET ROLE owner; BEGIN; DROP TABLE few.levels; $levels(1, 40); COMMIT");
give_oid($table, oid_of(q{'few.levels'::regclass}), qw(pg_class.oid pg_type.typrelid pg_attribute.attrelid pg_index.indrelid
	pg_constraint.conrelid pg_depend.objid pg_depend.refobjid pg_shdepend.objid));
(my $of_another, $paid_again) = asked($joined);
is("$paid $paid_again", '10 10', 'threat 120: another table with the OID of a dropped one: charged');
cmp_ok($of_another, '>', $answer + 20, 'the answer is that of the other table');
$node->safe_psql('postgres', 'DROP TABLE few.levels');

# An enum is kept as the OID of its label.
my $by_mood = 'SELECT mood, dp_count(1) > 10 FROM staff GROUP BY mood HAVING dp_keep_group(100, 1e-12)';
my $make_mood = sub { my ($low, $high) = @_; "SET ROLE owner; CREATE TYPE few.mood AS ENUM ('$low', '$high')" };
my $set_mood = sub { my ($low, $high) = @_; "SET ROLE owner; ALTER TABLE few.staff ALTER mood TYPE few.mood
	USING (CASE WHEN id > 20 THEN '$high' ELSE '$low' END)::few.mood" };
$node->safe_psql('postgres', &$make_mood('low', 'high') . '; ALTER TABLE few.staff ADD mood text;' . &$set_mood('low', 'high'));
($answer, $paid) = asked($by_mood);
is($answer, "low|t\nhigh|t\n", 'groups by an enum');
my $mood = oid_of(q{'few.mood'::regtype});
$node->safe_psql('postgres', 'SET ROLE owner; ALTER TABLE few.staff ALTER mood TYPE text; DROP TYPE few.mood;' . &$make_mood('sad', 'glad'));
give_oid($mood, oid_of(q{'few.mood'::regtype}), qw(pg_type.oid pg_type.typelem pg_enum.enumtypid pg_depend.objid pg_depend.refobjid
	pg_shdepend.objid));
$node->safe_psql('postgres', &$set_mood('sad', 'glad'));
($of_another, $paid_again) = asked($by_mood);
is("$paid $paid_again", '101 101', 'threat 120: another type with the OID of a dropped one: charged');
is($of_another, "sad|t\nglad|t\n", 'the groups are those of the other type');
$node->safe_psql('postgres', 'ALTER TABLE few.staff DROP mood; DROP TYPE few.mood');

# The ledger
asked('SELECT count(*) FROM staff WHERE id > 8; SELECT count(*) FROM staff WHERE id > 8; SELECT count(*) FROM staff WHERE id > 8');
is(summary(seen($node, 'few', q{SELECT reuses FROM dp_ledger ORDER BY number DESC LIMIT 1})), '2', 'the ledger tells how often an answer was shown again');

# Time, and the owner
grant(q{'1 second'});
(undef, $paid) = asked('SELECT count(*) FROM staff WHERE id > 9; SELECT pg_sleep(1.1); SELECT count(*) FROM staff WHERE id > 9');
is($paid, 2, 'an answer that is too old is not shown again');
grant(q{'1 hour'});
like(summary(seen($node, 'few', q{SELECT dp_forget_answers('staff')})), qr/^42501$/, 'the analyst does not own the table');
cmp_ok($node->safe_psql('postgres', q{SET ROLE owner; SELECT dp_forget_answers('few.staff')}), '>', 10, 'the owner forgets the answers');
(undef, $paid) = asked('SELECT count(*) FROM staff');
is($paid, 1, 'after that a query is charged');
# An answer whose rows may have been read before is not kept after it.
my $holder = hold_budget($node);
my $reader = start_psql($node, 'SET search_path = few, public; SELECT count(*) IS NOT NULL FROM staff WHERE id > 10');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'analyst' AND state = 'active' AND wait_event = 'Extension'})
	or die 'the query does not wait for its charge';
$holder->query_safe(q{SET ROLE owner; SELECT dp_forget_answers('few.staff'); COMMIT});
$holder->quit;
is(finish_psql($reader), 't', 'a query that waits for its charge while answers are forgotten');
(undef, $paid) = asked('SELECT count(*) IS NOT NULL FROM staff WHERE id > 10');
is($paid, 1, 'is not kept');

# Little memory: the oldest answers go.
my $many = join '; ', map { "SELECT count(*) FROM staff WHERE id > $_" } 1000 .. 1400;
(undef, $paid) = asked($many);
is($paid, 401, 'more answers than there is memory for');
(undef, $paid) = asked('SELECT count(*) FROM staff WHERE id > 1400');
is($paid, 0, 'the newest is kept');
(undef, $paid) = asked('SELECT count(*) FROM staff WHERE id > 1000');
is($paid, 1, 'the oldest is not');
is_another('an answer that is too large', 'SELECT dp_cdf(salary, 1, 0, 1000, dp_options(bins => 262144)) FROM staff', 'SELECT dp_cdf(salary, 1, 0, 1000, dp_options(bins => 262144)) FROM staff');

# What is kept, and what goes for it, does not depend on groups that are hidden. The name of number 150 is only in many.
$node->safe_psql('postgres', q{SET ROLE owner; SELECT dp_grant_private_access('many.staff', 'analyst', reuse => '1 hour');
	SELECT dp_forget_answers('few.staff')});
my $keys = join ', ', map { qq{(name || repeat('$_', 2000)) COLLATE "C"} } 'a' .. 't';
my ($few, $many) = map { summary(seen($node, $_, "SELECT dp_count(0.1) FROM staff WHERE id BETWEEN 150 AND 150 GROUP BY $keys HAVING dp_keep_group(0.1, 1e-12); SELECT reuses FROM dp_ledger ORDER BY number DESC LIMIT 1")) } 'few', 'many';
is("$few $many", '0 0', 'threat 77: a hidden group makes no difference to what is kept');

# threat 305: the notice about answers that are smaller than their errors is made of what is shown. Of 200 counts of nothing one is
# not above its error of 3 with a probability of 99 %.
$node->safe_psql('postgres', q{SET ROLE owner; SELECT dp_set_domain('few.staff', 'name', array(SELECT 'nobody ' || i FROM generate_series(1, 200) i));
	SELECT dp_grant_private_access('many.staff', 'analyst', epsilon => 1, delta => 1e-6, reuse => '1 hour')});
my $notes = "SET client_min_messages = notice; SET dpquantile.note_errors = on;";
my $nobody = 'SELECT name, count(*) FROM staff GROUP BY name';

# How many answers a notice names, and those that are small.
sub noted
{
	my ($sql, %params) = @_;
	my $seen = seen($node, $params{schema} // 'few', "$notes $sql");
	return join ' ', map { s/, /+/gr } $seen =~ /answers are smaller than their errors(?:, or of few rows)?: (.*)/g;
}

my $noted = noted($nobody);
like($noted, qr/^(1\d\d|200) of 200 counts \(\+- 3\)$/, 'small answers are noted');
(my $again, $paid) = asked("$notes $nobody ORDER BY name");
like($again, qr/: \Q$noted\E$/m, 'of kept answers, too');
is($paid, 0, 'which cost nothing');
is(noted("BEGIN; DECLARE c CURSOR FOR $nobody; FETCH ALL FROM c; MOVE 0 FROM c; CLOSE c; COMMIT"), $noted, 'of a cursor');
is(noted("BEGIN; DECLARE c SCROLL CURSOR FOR $nobody ORDER BY 1 DESC; FETCH ALL FROM c; FETCH BACKWARD ALL FROM c; COMMIT"), $noted, 'of a cursor that goes back, once');
like(noted("$nobody LIMIT 50"), qr/^[345]\d of 50 counts/, 'of those that are shown');
is(noted("$nobody HAVING count(*) > 3"), '', 'not of those that HAVING leaves out');
like(noted('SELECT name, count(salary), avg(salary) FROM staff GROUP BY ROLLUP (name)'), qr/^\d+ of 201 counts \(\+- \d+\)\+\d+ of 201 means \(\+- [\d.]+ to \d+\)$/, 'of several kinds and releases together');
like(noted('SELECT name, variance(salary), stddev(salary) FROM staff GROUP BY name'), qr/^\d+ of 200 variances \(\+- [\d.]+ to [\d.]+\)\+\d+ of 200 deviations \(\+- [\d.]+ to [\d.]+\)$/, 'not of answers that are not asked');
is(noted("$nobody ORDER BY dp_error_of(count(*))"), '', 'not beside dp_error_of');

# threat 329: the mean of nothing is a bound or the middle. One in 200 has an error below half of the width of the bounds.
my $mean = 'SELECT name, avg(salary + 10000) FROM staff GROUP BY name';
$noted = noted($mean);
like($noted, qr/^(1[5-9]\d|200) of 200 means \(\+- \d+ to \d+\)$/, 'threat 329: a mean alone, which is above its error');
($again) = asked("$notes $mean ORDER BY 2 DESC");
like($again, qr/: \Q$noted\E$/m, 'of kept answers, too');
is(noted("$mean HAVING count(*) > 30"), '', 'not of those that HAVING leaves out');
like(noted('SELECT name, sum(salary) FROM staff GROUP BY name'), qr/^\d+ of 200 sums \(\+- \d+\)$/, 'a sum alone');
is(noted("SELECT $_(least(greatest(salary, 0), 1000)) FROM staff", schema => 'many'), '', "not of a large $_") for qw(sum avg);
is(noted('SELECT name, dp_count(1) FROM staff GROUP BY name'), '', 'not of private aggregates');

# threat 325: spreads, statistics of pairs and percentiles of nothing. Not one of them is noted with a probability below 1e-9 each that fewer than 100 are.
my $spread = 'SELECT name, stddev(salary) FROM staff GROUP BY name';
$noted = noted($spread);
like($noted, qr/^(1\d\d|200) of 200 deviations \(\+- [\d.]+ to [\d.]+\)$/, 'threat 325: a deviation alone');
($again) = asked("$notes $spread ORDER BY 2 DESC");
like($again, qr/: \Q$noted\E$/m, 'of kept answers, too');
is(noted("$spread HAVING stddev(salary) > 1e6"), '', 'not of those that HAVING leaves out');
like(noted('SELECT name, variance(salary) FROM staff GROUP BY name'), qr/^(1\d\d|200) of 200 variances /, 'a variance alone');
like(noted('SELECT name, covar_pop(salary, salary) FROM staff GROUP BY name'), qr/^(1\d\d|200) of 200 statistics of pairs$/, 'statistics of pairs');
my $median = 'percentile_cont(0.5) WITHIN GROUP (ORDER BY salary)';
like(noted("SELECT name, count(*), $median FROM staff GROUP BY name"), qr/^\d+ of 200 counts \(\+- 3\)\+(1\d\d|200) of 200 percentiles$/, 'percentiles beside a count of few rows');
is(noted("SELECT $_ FROM (SELECT least(greatest(salary, 0), 1000) AS salary FROM staff) s", schema => 'many'), '', "not of many rows: $_") for 'count(*), stddev(salary), variance(salary)', 'covar_pop(salary, salary), corr(salary, salary)', "count(*), $median";
my $alone = "SET dpquantile.epsilon = 0.1; SELECT $median FROM (SELECT least(greatest(salary, 0), 1000) AS salary FROM staff) s";
like(seen($node, $_, "$notes $alone"), qr/^NOTICE:  (00000: )?percentiles of fewer than 60 rows are mostly noise$/m, "threat 325: a percentile without a count, of $_ rows") for 'few', 'many';
unlike(seen($node, 'few', "$notes SET dpquantile.note_errors = off; $alone"), qr/percentiles of/, 'not where the setting is off');
is(noted('SELECT count(*) FROM staff'), '', 'not of a large answer');
is(noted("SET client_min_messages = warning; $nobody"), '', 'not below client_min_messages');
is(noted("SET dpquantile.note_errors = off; $nobody"), '', 'not where the setting is off');
my $chosen = 'SELECT department, count(*), count(*) FILTER (WHERE id < 0) FROM staff GROUP BY department';
my $groups = () = (my $shown = seen($node, 'many', "$notes $chosen")) =~ /^\d+\|/mg;
like($shown, qr/errors: \d+ of @{[ 2 * $groups ]} counts/, 'threat 305: hidden groups are not noted');

# threat 201: an answer is kept for the query in a view of several tables, not for the view's name.
my @views = map { "SET ROLE owner; SET search_path = few; CREATE OR REPLACE VIEW placed AS SELECT s.id, d.name FROM staff s JOIN department d ON d.id = s.department WHERE d.id > $_" } 1, 2;
$node->safe_psql('postgres', "$views[0]; SELECT public.dp_protect_table('placed');
	SELECT public.dp_grant_private_access('placed', 'analyst', epsilon => 1, reuse => '1 hour')");
is_the_same('a view of several tables', ('SELECT count(*) FROM placed') x 2);
$node->safe_psql('postgres', $views[1]);
(undef, $paid) = asked('SELECT count(*) FROM placed');
is($paid, 1, 'another view of the same name: another answer');
$node->safe_psql('postgres', 'DROP VIEW few.placed');

# A restart forgets them, also after a crash.
asked('SELECT count(*) FROM staff');
$node->stop('immediate');
$node->start;
(undef, $paid) = asked('SELECT count(*) FROM staff; SELECT count(*) FROM staff');
is($paid, 1, 'a crash forgets the answers');
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_health() WHERE detail LIKE '%not kept for reuse%'}), '0', 'dp_health has nothing to say');
# Then no role with private access may create tables (threat 102).
$node->safe_psql('postgres', 'DROP SCHEMA analyst, other CASCADE');
$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
$node->restart;
is_another('without the preloaded library', 'SELECT count(*) FROM staff', 'SELECT count(*) FROM staff');
is($node->safe_psql('postgres', q{SELECT count(*) FROM dp_health() WHERE detail LIKE '%not kept for reuse%'}), '3', 'dp_health tells it');
is(summary(seen($node, 'few', q{SELECT count(*) FROM dp_ledger WHERE reuses IS NOT NULL})), '0', 'the ledger knows of none');

done_testing();
