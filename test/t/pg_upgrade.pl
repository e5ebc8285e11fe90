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
	init_node($node);
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dpquantile'") if $PRELOADED;
	return $node;
}

sub summary
{
	my ($node) = @_;
	return $node->safe_psql('kept', slurp_file("$FILES/summary.sql"));
}

sub protection
{
	my ($node) = @_;
	return $node->safe_psql('kept', slurp_file("$FILES/protection_summary.sql"));
}

my $old = make_cluster('old');
$old->start;
$old->safe_psql('postgres', 'CREATE DATABASE kept');
$old->safe_psql('kept', 'CREATE EXTENSION dpquantile');
$old->safe_psql('kept', slurp_file("$FILES/contents.sql"));
$old->safe_psql('kept', slurp_file("$FILES/protection.sql"));
my $old_protection = protection($old);
my $summary = summary($old);
my $roles = 'SELECT role::oid, budget_id FROM dpquantile.budget ORDER BY 1, 2';
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
is(protection($new), $old_protection, 'protected tables, private access, domains and budgets for tables are the same');
my $count = 'SELECT dp_count(1) IS NOT NULL FROM staff;';
is(outcome($new, $count x 2, database => 'kept', user => 'researcher'),
	't 53400', 'threat 13: what is left of a budget for a table can be spent, and no more');
is($new->safe_psql('kept', q{
		ALTER TABLE visit RENAME patient TO person;
		DROP VIEW visit_view;
		SELECT relation, user_column FROM dpquantile.protected_table ORDER BY relation::text}),
	"staff|\nvisit|person", 'renamed columns and dropped tables are followed');
is(outcome($new, $MEDIAN, database => 'kept'), '53400', 'threat 13: an exhausted budget stays exhausted');
is(outcome($new, $MEDIAN, database => 'kept', user => 'revoked'), '42501', 'threat 13: a revoked budget stays revoked');
is(outcome($new, "$MEDIAN SELECT age_median(0.5) IS NOT NULL", database => 'kept', user => 'second'), 't t', 'queries are answered');
is($new->safe_psql('kept', q{SELECT max(number) FROM dp_ledger WHERE role = 'second'}), 4, 'the numbers of charges go on');
is(outcome($new, 'SELECT dp_median(age, 0.5::real, 0::real, 100) IS NOT NULL FROM person', database => 'kept', user => 'zcdp'),
	't', 'parameters of other types work');

$new->stop;
done_testing();
