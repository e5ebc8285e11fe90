# threat 67: a protected table is changed, revoked, renamed, dropped and indexed anew while several sessions ask. Each gets the right answer
# or one of the errors that it must expect. With epsilon 100, noise on a count is 0 except with a probability below 1e-40.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use ProtectedTables;
use Test::More;
use Time::HiRes 'usleep';

my $node = protected_node('protected_changes', conf => "log_statement = none\ndeadlock_timeout = 100ms");
$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 1e9, smallest_charge => 1)});
my $sessions = 4;
my $questions = 20;

# What a session asks again and again. All answers have the same number in a table of 100 rows.
my $ask = q{
	SELECT dp_count(100) FROM staff WHERE id <= 100;
	EXECUTE custom (100);
	EXECUTE generic (100);
	SELECT n FROM (SELECT dp_count(100) AS n FROM staff s JOIN department d ON d.id = s.department) t;
	SELECT sum(n) FROM (SELECT dp_count(s.id, 100) AS n FROM department d LEFT JOIN staff s ON s.department = d.id GROUP BY d.id) t;
	SELECT pg_temp.counted();
};
my $prepare = q{
	SET search_path = few, public;
	PREPARE custom (int) AS SELECT dp_count(100) FROM staff WHERE id <= $1;
	PREPARE generic (int) AS SELECT dp_count(100) FROM staff WHERE id <= $1;
	CREATE FUNCTION pg_temp.counted() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT dp_count(100) FROM few.staff); END';
	SET plan_cache_mode = force_generic_plan;
	EXECUTE generic (100);
	SET plan_cache_mode = force_custom_plan;
};

# A session waits at a gate without a transaction: some changes wait until all of them have ended.
my $gates = 0;

sub closed_gate
{
	return { path => PostgreSQL::Test::Utils::tempdir() . '/gate.' . $gates++ };
}

sub wait_at
{
	my ($gate, $session) = @_;
	return "\\! touch $gate->{path}.$session; until test -e $gate->{path}.open; do sleep 0.02; done\n";
}

sub all_wait_at
{
	my ($gate) = @_;
	return !grep { !-e "$gate->{path}.$_" } 1 .. $sessions;
}

sub open_gate
{
	my ($gate) = @_;
	append_to_file("$gate->{path}.open", '');
	return;
}

# Runs the sessions while a superuser makes the changes of a loop. Then each asks once more. Returns the number of answers and of each
# SQLSTATE.
sub while_changing
{
	my (@changes) = @_;
	my $before = $node->safe_psql('postgres', q{SELECT count(*) FROM dpquantile.ledger});
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;
	my ($first, $last) = (closed_gate(), closed_gate());
	my @asking = map { start_psql($node, $prepare . wait_at($first, $_) . $ask x $questions . wait_at($last, $_) . "\\echo last\n$ask") }
	  1 .. $sessions;
	usleep(10_000) until all_wait_at($first) || time > $end;
	open_gate($first);
	# Of a deadlock, the session that asks is cancelled.
	my $loop = join ";\n", 'SET search_path = few, public', q{SET deadlock_timeout = '1h'}, (@changes, 'SELECT pg_sleep(0.01)') x 5;
	my $rounds = 0;
	do
	{
		$node->safe_psql('postgres', $loop);
		$rounds += 5;
	} until (all_wait_at($last) || time > $end);
	ok(all_wait_at($last), 'no session is stuck');
	open_gate($last);
	my %seen;
	foreach my $outcome (map { finish_psql($_) } @asking)
	{
		like($outcome, qr/ last(?: 100){6}(?: [0-9A-Z]{5})*$/, 'after the changes, the session gets the right answers');
		$seen{$_}++ for grep { $_ ne 'last' } split / /, $outcome;
	}
	note(join ', ', "$rounds rounds", map { "$_: $seen{$_}" } sort keys %seen);
	my $charges = $node->safe_psql('postgres', q{SELECT count(*) FROM dpquantile.ledger}) - $before;
	cmp_ok($seen{100} // 0, '<=', $charges, 'each answer was charged');
	return \%seen;
}

# The answers are right, and the errors are among those that are expected.
sub is_right
{
	my ($name, $seen, @errors) = @_;
	my %unexpected = map { $_ => $seen->{$_} } grep { my $got = $_; !grep { $got eq $_ } 100, @errors } keys %$seen;
	is_deeply(\%unexpected, {}, "threat 67: $name: right answers, or the expected errors");
	is(summary(seen($node, 'few', 'SELECT dp_count(100) FROM staff')), '100', "threat 67: $name: the next query works");
	return;
}

is_right('nothing', while_changing('SELECT 1'));
is_right('a column that is added and dropped',
	while_changing('ALTER TABLE staff ADD extra int DEFAULT 7', 'ALTER TABLE staff DROP extra'));
# (ALTER TABLE that changes a type would make the table look empty to older snapshots, as PostgreSQL documents.)
is_right('a table that is rewritten', while_changing('CLUSTER staff USING staff_pkey', 'VACUUM FULL staff', 'VACUUM FULL department'));
is_right('indexes that are made anew', while_changing('REINDEX TABLE staff', 'REINDEX TABLE department', 'REINDEX TABLE dpquantile.private_grant',
	'REINDEX INDEX CONCURRENTLY staff_pkey'), '40P01');
is_right('rows that are vacuumed and analyzed', while_changing('UPDATE staff SET salary = salary + 1', 'VACUUM ANALYZE staff', 'VACUUM ANALYZE department'));
# The joined table has no usable key at times.
is_right('a key that is dropped', while_changing('ALTER TABLE department DROP CONSTRAINT department_pkey', 'ALTER TABLE department ADD PRIMARY KEY (id)'), '0A000');
is_right('a child of the joined table', while_changing('CREATE TABLE child () INHERITS (department)', q{INSERT INTO child SELECT * FROM department},
	'DROP TABLE child', 'ANALYZE department'), '0A000');
is_right('private access that is revoked', while_changing(q{SELECT dp_revoke_private_access('staff', 'analyst')}, q{SELECT dp_grant_private_access('staff', 'analyst')}),
	'42501');
is_right('a protection that is taken back', while_changing(q{SELECT dp_unprotect_table('staff')},
	q{SELECT dp_protect_table('staff'), dp_grant_private_access('staff', 'analyst')}), '42501');
is_right('a table of another name', while_changing('ALTER TABLE staff RENAME TO personnel', 'ALTER TABLE personnel RENAME TO staff'), '42P01');
is_right('a column of another name', while_changing('ALTER TABLE staff RENAME id TO number', 'ALTER TABLE staff RENAME number TO id'), '42703');
# (The owner of the joined table may always read.)
is_right('another owner', while_changing('ALTER TABLE department OWNER TO postgres', 'ALTER TABLE staff OWNER TO postgres',
	'ALTER TABLE staff OWNER TO owner', 'ALTER TABLE department OWNER TO owner'));
# A writer of the joined table may not read at times.
is_right('another writer', while_changing('GRANT INSERT ON department TO reader', 'REVOKE SELECT ON staff FROM reader',
	'REVOKE INSERT ON department FROM reader', 'GRANT SELECT ON staff TO reader'), '55000');
is_right('row security', while_changing('ALTER TABLE staff ENABLE ROW LEVEL SECURITY', 'ALTER TABLE staff DISABLE ROW LEVEL SECURITY'), '0A000');
is_right('a table that is dropped and made again', while_changing('BEGIN', 'CREATE TABLE copy AS TABLE staff', 'DROP TABLE staff', 'ALTER TABLE copy RENAME TO staff', 'COMMIT',
	'ALTER TABLE staff OWNER TO owner', q{SELECT dp_protect_table('staff'), dp_grant_private_access('staff', 'analyst')}), '42501', '42P01');
is_right('another table of this name', while_changing('BEGIN', 'ALTER TABLE staff RENAME TO old', 'CREATE TABLE staff AS SELECT * FROM old WHERE id < 50', 'COMMIT',
	'BEGIN', 'DROP TABLE staff', 'ALTER TABLE old RENAME TO staff', 'COMMIT'), '42501', '42P01');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_activity WHERE usename = $$analyst$$'), 0, 'all sessions have ended');

done_testing();
