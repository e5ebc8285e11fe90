# threat 50: a publication FOR ALL TABLES contains the budgets and the ledger. A subscriber must keep its own.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dump = PostgreSQL::Test::Utils::tempdir();
my $publisher = new_node('publisher', allows_streaming => 'logical');
my $subscriber = new_node('subscriber', allows_streaming => 'logical', budget => 10);

# One database of the subscriber has budgets, charges and an archive of its own. Another has the extension only.
$subscriber->safe_psql('postgres', 'TRUNCATE person; CREATE DATABASE bare');
$subscriber->safe_psql('bare', 'CREATE EXTENSION dpquantile; CREATE TABLE person (age float8, dept int); GRANT SELECT ON person TO analyst');
is(outcome($subscriber, $ANSWER x 3), 't t t', 'the subscriber answers from its own budget');
$subscriber->safe_psql('postgres', q{SELECT FROM dp_archive_ledger('infinity')});
is(outcome($subscriber, $ANSWER), 't', 'the subscriber has a charge in its ledger and an archive');

# What a database has in the tables of the extension.
sub contents
{
	my ($database) = @_;
	return $subscriber->safe_psql(
		$database, q{
		SELECT * FROM dpquantile.budget ORDER BY budget_id;
		SELECT * FROM dpquantile.ledger ORDER BY budget_id, number;
		SELECT * FROM dpquantile.query_text ORDER BY budget_id, query_hash;
		SELECT * FROM dpquantile.budget_name ORDER BY budget_id, role_name;
		SELECT * FROM dpquantile.protected_table ORDER BY relation;
		SELECT * FROM dpquantile.private_grant ORDER BY relation, grantee;
		SELECT * FROM dpquantile.failed_read ORDER BY failed_at;
		SELECT * FROM dpquantile.user_key});
}
my %before = map { $_ => contents($_) } 'postgres', 'bare';

$publisher->safe_psql('postgres', 'CREATE ROLE other LOGIN; GRANT SELECT ON person TO other');
$subscriber->safe_psql('postgres', 'CREATE ROLE other LOGIN');
$publisher->safe_psql('postgres', q{
	SELECT dp_grant_budget('other', 100);
	CREATE ROLE team;
	SELECT dp_protect_table('person', 'dept'), dp_grant_private_access('person', 'team');
	INSERT INTO dpquantile.failed_read (relation, grantee, failed_at, closes) VALUES ('person', 'team', now(), true)});
is(outcome($publisher, $ANSWER x 2), 't t', 'the publisher answers before there is a publication');
is(outcome($publisher, $ANSWER, user => 'other'), 't', 'another role gets an answer');
my $id = $publisher->safe_psql('postgres', q{SELECT budget_id FROM dpquantile.budget WHERE role = 'analyst'::regrole});

$publisher->safe_psql('postgres', 'CREATE PUBLICATION everything FOR ALL TABLES');
my $connection = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql($_, "CREATE SUBSCRIPTION $_\_s CONNECTION '$connection' PUBLICATION everything") foreach sort keys %before;
$subscriber->wait_for_subscription_sync($publisher, "$_\_s", $_) foreach sort keys %before;
is($subscriber->safe_psql($_, 'SELECT count(*) FROM person'), 10000, "the initial copy has the other tables: $_") foreach sort keys %before;
is(contents($_), $before{$_}, "threat 50: the initial copy leaves budgets, ledger and key alone: $_") foreach sort keys %before;

# The publisher changes every table: charges, grants, an archive, a revocation, deleted rows. Charges need a replica identity.
is(outcome($publisher, $ANSWER x 2), 't t', 'threat 50: the publisher answers with the publication');
is(outcome($publisher, 'SELECT dp_user_mean(dept, age, 1, 0, 100) IS NOT NULL FROM person'), 't', 'the publisher reads its key');
is(spent($publisher), 5, 'threat 50: the publisher charges');
$publisher->safe_psql(
	'postgres', q{
	SELECT count(*) FROM dp_archive_ledger('infinity');
	SELECT dp_grant_budget('analyst', 500), dp_revoke_budget('other');
	DELETE FROM dpquantile.budget WHERE role = 'other'::regrole;
	SELECT dp_grant_private_access('person', 'team', 1);
	SELECT dp_unprotect_table('person');
	CREATE ROLE team2;
	SELECT dp_protect_table('person'), dp_grant_private_access('person', 'team2');
	DELETE FROM dpquantile.user_key;
	INSERT INTO dpquantile.user_key VALUES ('\x00112233445566778899aabbccddeeff');
	UPDATE dpquantile.user_key SET key = '\xffeeddccbbaa99887766554433221100'});
is(outcome($publisher, $ANSWER), 't', 'the publisher answers after its archiving');
$publisher->safe_psql('postgres', 'INSERT INTO person VALUES (50, 1)');
$publisher->wait_for_catchup("$_\_s") foreach sort keys %before;
foreach my $database (sort keys %before)
{
	is($subscriber->safe_psql($database, 'SELECT count(*) FROM person'), 10001, "threat 50: the other tables are replicated: $database");
	is(contents($database), $before{$database}, "threat 50: changes leave budgets, ledger and key alone: $database");
}
is(outcome($subscriber, $ANSWER, database => 'bare'), '42501', 'threat 50: without a budget of its own the subscriber refuses');
is(outcome($subscriber, $ANSWER), 't', 'threat 50: the subscriber answers from its own budget');
is(spent($subscriber), 5, 'threat 50: the subscriber charges its own budget');

# Rows that exist on both sides are not changed or deleted either.
$subscriber->safe_psql('postgres', "UPDATE dpquantile.$_ SET budget_id = '$id' WHERE budget_id <> '$id'") foreach 'ledger', 'query_text', 'budget_name', 'budget';
$before{postgres} = contents('postgres');
is(outcome($publisher, $ANSWER x 2), 't t', 'the publisher answers');
$publisher->safe_psql('postgres', q{SELECT count(*) FROM dp_archive_ledger('infinity'); DELETE FROM dpquantile.budget});
$publisher->wait_for_catchup("$_\_s") foreach sort keys %before;
is(contents($_), $before{$_}, "threat 50: rows with the same keys are neither changed nor deleted: $_") foreach sort keys %before;
like(slurp_file($subscriber->logfile), qr/LOG: .*rows of table "dpquantile\.\w+" are not replicated/, 'the log of the subscriber tells');
unlike(slurp_file($subscriber->logfile), qr/WARNING: .*role "team/, 'and looks for no role that only the publisher has');

# A replicated TRUNCATE is an error of the subscription.
my $log = -s $subscriber->logfile;
$publisher->safe_psql('postgres', 'TRUNCATE dpquantile.ledger');
$subscriber->wait_for_log(qr/ERROR: .*a replicated TRUNCATE cannot empty table "dpquantile.ledger"/, $log);
is(contents($_), $before{$_}, "threat 50: a replicated TRUNCATE does not empty a table: $_") foreach sort keys %before;

# A restore with --disable-triggers turns the triggers off for replication workers. Then a subscriber refuses to charge.
foreach my $open ('budget', 'ledger', 'query_text')
{
	$subscriber->safe_psql('postgres', "ALTER TABLE dpquantile.$open $_ TRIGGER ALL") foreach 'DISABLE', 'ENABLE';
	is(outcome($subscriber, $ANSWER), '55000', "threat 50: a subscriber refuses to charge if a table is not protected: $open");
	$subscriber->safe_psql('postgres', "ALTER TABLE dpquantile.$open ENABLE REPLICA TRIGGER skip_replicated");
	is(outcome($subscriber, $ANSWER), '55000', "threat 50: it refuses if TRUNCATE could empty it: $open");
	$subscriber->safe_psql('postgres', 'SELECT dpquantile.protect_tables()');
	is(outcome($subscriber, $ANSWER), 't', "threat 50: it answers when the tables are protected again: $open");
}

# The switch-over of docs/operations.md: the tables are dumped and restored. The dump works with --disable-triggers, and
# with session_replication_role = replica, too.
$publisher->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 20)});
is(outcome($publisher, $ANSWER), 't', 'a last answer of the publisher');
my $epsilon = q{SELECT trim_scale(epsilon_spent) FROM dpquantile.budget WHERE role = 'analyst'::regrole};
my $total = $publisher->safe_psql('postgres', $epsilon);
$publisher->command_ok(
	[ 'pg_dump', '--data-only', $_ ? '--disable-triggers' : '--no-comments', (map { ('-t', "dpquantile.$_") } 'budget', 'budget_name', 'ledger', 'query_text'),
		'-d', $connection, '-f', "$dump/$_" ],
	'pg_dump of the tables') foreach 0, 1;
$subscriber->safe_psql('bare', 'DROP SUBSCRIPTION bare_s');
$subscriber->safe_psql('postgres', 'CREATE DATABASE again');
$subscriber->safe_psql('again', 'CREATE EXTENSION dpquantile; CREATE TABLE person AS SELECT 1.0::float8 AS age; GRANT SELECT ON person TO analyst');
foreach my $restore ([ 'bare', 0, 'origin' ], [ 'again', 1, 'origin' ], [ 'again', 0, 'replica' ])
{
	my ($database, $disable, $role) = @$restore;
	$subscriber->safe_psql($database, 'TRUNCATE dpquantile.budget, dpquantile.ledger, dpquantile.query_text, dpquantile.budget_name');
	$subscriber->command_ok(
		[ 'psql', '-Xq1', '-v', 'ON_ERROR_STOP=1', '-d', $subscriber->connstr($database),
			'-c', "SET session_replication_role = $role", '-f', "$dump/$disable" ],
		"the tables are restored: $database, $role");
	is($subscriber->safe_psql($database, $epsilon), $total, "threat 50: the spending moves: $database, $role");
	is(outcome($subscriber, $ANSWER, database => $database), 't', "an answer after the restore: $database, $role");
	is($subscriber->safe_psql($database, $epsilon), $total + 1, "threat 50: it is charged on top: $database, $role");
}

$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION postgres_s DISABLE; ALTER SUBSCRIPTION postgres_s SET (slot_name = NONE)');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION postgres_s');
$subscriber->stop;
$publisher->stop;
done_testing();
