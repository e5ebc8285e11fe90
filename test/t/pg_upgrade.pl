# pg_upgrade takes a database with the extension along, here to the same version of PostgreSQL: it makes each object of the
# extension anew, in an order of its own, with the installed library. `make upgrade` does it between versions.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $FILES = "$FindBin::Bin/../upgrade";
my $MEDIAN = 'SELECT dp_median(age, 0.5, 0, 100) IS NOT NULL FROM person;';

sub make_cluster
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(extra => [@INITDB]);
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dpquantile'") if $PRELOADED;
	return $node;
}

sub summary
{
	my ($node) = @_;
	return $node->safe_psql('kept', slurp_file("$FILES/summary.sql"));
}

my $old = make_cluster('old');
$old->start;
$old->safe_psql('postgres', 'CREATE DATABASE kept');
$old->safe_psql('kept', 'CREATE EXTENSION dpquantile');
$old->safe_psql('kept', slurp_file("$FILES/contents.sql"));
# The number of the user column stays, too.
$old->safe_psql('kept', q{
	CREATE ROLE team;
	CREATE ROLE leaver;
	CREATE TABLE visit (a int, patient text);
	ALTER TABLE visit DROP COLUMN a;
	CREATE VIEW visit_view AS SELECT * FROM visit;
	SELECT dp_protect_table('visit', 'patient'), dp_protect_table('visit_view', 'patient');
	SELECT dp_grant_private_access('visit', 'team'), dp_grant_private_access('visit_view', 'team', 0.5);
	SELECT dp_grant_private_access('visit', 'leaver');
	DROP ROLE leaver});
my $protection = q{
	SELECT relation, relation::oid, user_column, user_number FROM dpquantile.protected_table ORDER BY relation::text;
	SELECT relation, grantee, grantee_oid, smallest_epsilon, granted_at, granted_by FROM dpquantile.private_grant ORDER BY relation::text, 2;
	SELECT relation, role, problem FROM dp_protected_tables ORDER BY relation::text, 2;
	SELECT evtname, evtevent, evtenabled, evttags FROM pg_event_trigger ORDER BY 1;
	SELECT tgrelid::regclass, tgname, tgenabled FROM pg_trigger WHERE tgname ~ '^(supply|protection)_' ORDER BY tgrelid::regclass::text, 2};
my $old_protection = $old->safe_psql('kept', $protection);
my $summary = summary($old);
my $roles = 'SELECT role::oid, budget_id FROM dpquantile.budget ORDER BY 1';
my $key = 'SELECT key FROM dpquantile.user_key';
my $old_roles = $old->safe_psql('kept', $roles);
my $old_key = $old->safe_psql('kept', $key);
$old->stop;

my $new = make_cluster('new');
my $bin = $old->config_data('--bindir');
my @pg_upgrade = ('pg_upgrade', '-b', $bin, '-B', $bin, '-d', $old->data_dir, '-D', $new->data_dir, '-s', $new->host,
	'-p', $old->port, '-P', $new->port, '-U', 'postgres');
chdir PostgreSQL::Test::Utils::tempdir();
command_ok([ @pg_upgrade, '--check' ], 'pg_upgrade --check');
command_ok([@pg_upgrade], 'pg_upgrade');
$new->start;

is(summary($new), $summary, 'threat 13: pg_upgrade keeps budgets, ledger and released values');
is($new->safe_psql('kept', $roles), $old_roles, 'threat 13: budgets belong to the same roles, also those of dropped roles');
is($new->safe_psql('kept', $key), $old_key, 'the key of user ids is the same');
is($new->safe_psql('kept', $protection), $old_protection, 'protected tables and private access are the same');
is($new->safe_psql('kept', q{
		ALTER TABLE visit RENAME patient TO person;
		DROP VIEW visit_view;
		SELECT relation, user_column FROM dpquantile.protected_table}),
	'visit|person', 'renamed columns and dropped tables are followed');
is(outcome($new, $MEDIAN, database => 'kept'), '53400', 'threat 13: an exhausted budget stays exhausted');
is(outcome($new, $MEDIAN, database => 'kept', user => 'revoked'), '42501', 'threat 13: a revoked budget stays revoked');
is(outcome($new, "$MEDIAN SELECT age_median(0.5) IS NOT NULL", database => 'kept', user => 'second'), 't t', 'queries are answered');
is($new->safe_psql('kept', q{SELECT max(number) FROM dp_ledger WHERE role = 'second'}), 4, 'the numbers of charges go on');
is(outcome($new, 'SELECT dp_median(age, 0.5::real, 0::real, 100) IS NOT NULL FROM person', database => 'kept', user => 'zcdp'),
	't', 'parameters of other types work');

$new->stop;
done_testing();
