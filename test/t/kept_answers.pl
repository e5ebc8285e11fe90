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
is_the_same('comments, spaces and aliases', 'SELECT count(*) FROM staff', "select   count(*) as n -- again\n from staff s");
is_the_same('a private aggregate', 'SELECT dp_median(salary, 1, 0, 1000) FROM staff', 'SELECT dp_median(s.salary, 1, 0, 1000) m FROM staff s');
is_the_same('groups', 'SELECT name, count(*) FROM staff GROUP BY name', 'SELECT name AS who, count(*) FROM staff GROUP BY 1');
is_the_same('several groups', 'SELECT name, department, count(*) FROM staff GROUP BY name, department', 'SELECT name, department, count(*) FROM staff GROUP BY 1, 2');
is_the_same('ORDER BY and LIMIT', 'SELECT name, count(*) AS n FROM staff WHERE id > 100000 GROUP BY name ORDER BY name LIMIT 5',
	'SELECT name, count(*) FROM staff WHERE id > 100000 GROUP BY name ORDER BY name');
is_the_same('another order', 'SELECT name, sum(salary) AS n FROM staff GROUP BY name ORDER BY name', 'SELECT name, sum(salary) AS n FROM staff GROUP BY name ORDER BY name, n');
is_the_same('sorted by answers in a query around it', 'SELECT name, avg(salary) AS n FROM staff GROUP BY name ORDER BY name',
	'SELECT * FROM (SELECT * FROM (SELECT name, avg(salary) AS n FROM staff GROUP BY name) t ORDER BY n DESC LIMIT 1000) u ORDER BY name');
is_the_same('a CDF', 'SELECT dp_cdf(salary, 1, 0, 1000) FROM staff', 'SELECT dp_cdf(salary, 1, 0, 1000) FROM staff');
is_the_same('inside of another query', 'SELECT count(*) + 0 FROM staff WHERE id > 1', 'SELECT c + 0 FROM (SELECT count(*) + 0 AS c FROM staff WHERE id > 1) t');
is_the_same('values that a plan is made for, and a plan for any values', 'PREPARE p (int) AS SELECT count(*) FROM staff WHERE id < $1 + 1; EXECUTE p (7)',
	'SET plan_cache_mode = force_generic_plan; PREPARE p (int) AS SELECT count(*) FROM staff WHERE id < $1 + 1; EXECUTE p (7)');
is_the_same('a rounded clock', q{SELECT count(*) FROM staff WHERE date_trunc('year', now() + interval '100 years') > '2020-01-01'},
	q{SELECT count(*) FROM staff WHERE date_trunc('year', now() + interval '100 years') > '2020-01-01'});
is_the_same('a transaction that only reads and is rolled back', 'BEGIN READ ONLY; SELECT count(*) FROM staff WHERE id > 2; ROLLBACK',
	'BEGIN READ ONLY; SELECT count(*) FROM staff WHERE id > 2; ROLLBACK');
$node->safe_psql('postgres', 'DELETE FROM few.staff WHERE id > 50');
my ($answer, $paid) = asked('SELECT count(*) FROM staff');
is($paid, 0, 'whatever happened to the rows: no charge');
cmp_ok($answer, '>', 70, 'the answer is that of before');

# Other queries
is_another('another constant', 'SELECT count(*) FROM staff WHERE id > 3', 'SELECT count(*) FROM staff WHERE id > 4');
is_another('another parameter', 'PREPARE p (int) AS SELECT count(*) FROM staff WHERE id <= $1; EXECUTE p (7)',
	'PREPARE p (int) AS SELECT count(*) FROM staff WHERE id <= $1; EXECUTE p (8)');
is_another('another parameter of one prepared statement', 'SET plan_cache_mode = force_generic_plan; PREPARE p (int) AS SELECT count(*) FROM staff WHERE id >= $1; EXECUTE p (7)',
	'SET plan_cache_mode = force_generic_plan; PREPARE p (int) AS SELECT count(*) FROM staff WHERE id >= $1; EXECUTE p (8)');
is_another('NULL and a value', 'PREPARE p (int) AS SELECT count(*) FROM staff WHERE id = $1; EXECUTE p (NULL)',
	'PREPARE p (int) AS SELECT count(*) FROM staff WHERE id = $1; EXECUTE p (0)');
is_another('the clock', 'SELECT count(*) FROM staff WHERE id < extract(epoch FROM now())', 'SELECT count(*) FROM staff WHERE id < extract(epoch FROM now())');
is_another('the time zone', q{SET timezone = 'UTC'; SELECT count(*) FROM staff WHERE id > 5}, q{SET timezone = 'Asia/Tokyo'; SELECT count(*) FROM staff WHERE id > 5});
is_another('a fresh answer', 'SELECT count(*) FROM staff WHERE id > 6', 'SET dpquantile.reuse = off; SELECT count(*) FROM staff WHERE id > 6');
is_another('another level of one query', 'SELECT dp_count(1) FROM staff', 'SELECT dp_count(salary, 1) FROM staff');
my ($fresh) = asked('SET dpquantile.reuse = off; SELECT count(*) FROM staff WHERE id > 7');
my ($kept) = asked('SELECT count(*) FROM staff WHERE id > 7');
is($kept, $fresh, 'a fresh answer is the one that is kept');
# The outer query gives the block its parameter.
(undef, $paid) = asked('SELECT i, (SELECT dp_count(1) FROM staff WHERE id > i) FROM generate_series(1, 2) i');
(undef, my $paid_again) = asked('SELECT i, (SELECT dp_count(1) FROM staff WHERE id > i) FROM generate_series(1, 2) i');
is($paid_again, $paid, 'no reuse where the query around it gives the parameters');

# Of one level, the columns that the query around uses
my $columns = '(SELECT count(*) AS a, count(*) FILTER (WHERE id < 10) AS b, count(*) FILTER (WHERE id < 10000) AS c FROM staff) s';
my ($fewer) = asked("SELECT b FROM $columns");
my ($more) = asked("SELECT c FROM $columns");
cmp_ok($more, '>', $fewer + 10, 'another column of a level has its own answer');
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
my $keys = join ', ', map { "rpad(name, 20000, '$_')" } 'a' .. 'e';
my ($few, $many) = map { summary(seen($node, $_, "SELECT dp_count(0.1) FROM staff WHERE id = 150 GROUP BY $keys HAVING dp_keep_group(0.1, 1e-12); SELECT reuses FROM dp_ledger ORDER BY number DESC LIMIT 1")) } 'few', 'many';
is("$few $many", '0 0', 'threat 77: a hidden group makes no difference to what is kept');

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
