# A database of version 0.1.0 becomes one of this version: by ALTER EXTENSION UPDATE, or by a dump that is restored. Its
# objects are those that CREATE EXTENSION makes, and nothing spent is lost. test/upgrade/pg_upgrade.sh does the same with
# a library of 0.1.0 and with pg_upgrade.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $FILES = "$FindBin::Bin/../upgrade";

my $node = PostgreSQL::Test::Cluster->new('upgrade');
$node->init(extra => [@INITDB]);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dpquantile'") if $PRELOADED;
$node->start;
$node->safe_psql('postgres', join ';', map { "CREATE ROLE $_ LOGIN" } 'analyst', '"Second analyst"', 'delta', 'zcdp', 'revoked', 'second');
my $version = $node->safe_psql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'dpquantile'});

sub make_database
{
	my ($name, $create_extension) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, $create_extension) if $create_extension;
	return;
}

sub restore
{
	my ($database) = @_;
	$node->command_ok(
		[ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', "$FILES/0.1.0.dump.sql" ],
		"the dump of 0.1.0 is restored into $database");
	return;
}

sub sql_version
{
	my ($database) = @_;
	return $node->safe_psql($database, q{SELECT extversion FROM pg_extension WHERE extname = 'dpquantile'});
}

# What is spent and released, after contents.sql.
my $summary = slurp_file("$FILES/0.1.0.summary");
chomp $summary;

sub summary
{
	my ($database) = @_;
	return $node->safe_psql($database, slurp_file("$FILES/summary.sql"));
}

# What the catalogs say about the extension after a statement that is rolled back.
sub catalog
{
	my ($database, $statement) = @_;
	my $sql = slurp_file("$FILES/catalog.sql");
	return $node->safe_psql($database, 'BEGIN; SET client_min_messages = error;' . ($statement // '') . ";$sql; ROLLBACK");
}

# The lines that only one of two catalogs has.
sub differences
{
	my %count;
	$count{$_}++ foreach split /\n/, $_[0];
	$count{$_}-- foreach split /\n/, $_[1];
	return join "\n", map { ($count{$_} > 0 ? '- ' : '+ ') . $_ } sort grep { $count{$_} } keys %count;
}

sub check_charges_go_on
{
	my ($database) = @_;
	my $median = 'SELECT dp_median(age, 0.5, 0, 100) IS NOT NULL FROM person;';
	my %as = (database => $database);
	is(outcome($node, $median, %as), '53400', "threat 56: $database: an exhausted budget stays exhausted");
	is(outcome($node, $median, %as, user => 'revoked'), '42501', "threat 56: $database: a revoked budget stays revoked");
	is(outcome($node, $median x 7, %as, user => 'second'), 't t t t t t 53400', "threat 56: $database: a renamed role spends what was left");
	is(outcome($node, 'SELECT dp_median(age, 0.1, 0, 100) FROM person', %as, user => 'Second analyst'),
		'22023', "threat 56: $database: the smallest charge is kept");
	is(outcome($node, $median, %as, user => 'zcdp'), 't', "threat 56: $database: rho goes on");
	is($node->safe_psql($database, q{SELECT max(number), count(*) FROM dp_ledger WHERE role = 'second'}),
		'8|7', "threat 56: $database: the numbers of charges go on");
	is($node->safe_psql($database, q{
			BEGIN;
			CREATE ROLE leaver;
			SELECT dp_grant_budget('leaver', 9);
			SELECT trim_scale(epsilon_spent) FROM dp_budget WHERE role = 'leaver'::regrole;
			ROLLBACK}),
		"\n2", "threat 56: $database: a dropped role's spending counts");
	is($node->safe_psql($database, q{SELECT count(*) FROM dp_archive_ledger('infinity')}), 19,
		"threat 56: $database: the ledger can be archived");
	return;
}

# ---- Both ways to this version ------------------------------------------------------------------

make_database('fresh', 'CREATE EXTENSION dpquantile');
make_database('upgraded', q{CREATE EXTENSION dpquantile VERSION '0.1.0'});
restore('upgraded');
is(sql_version('upgraded'), '0.1.0', 'the dump leaves the version of the database');
is(summary('upgraded'), $summary, 'threat 56: the library of a later version shows what 0.1.0 has spent');
is(outcome($node, 'SELECT dp_median(age, 0.5, 0, 100) FROM person', database => 'upgraded', user => 'delta'),
	'55000', 'threat 56: no private query before the update');
is(outcome($node, q{SELECT dp_grant_budget('delta', 9)}, database => 'upgraded', user => 'postgres'),
	'55000', 'threat 56: no grant before the update');
my $key = $node->safe_psql('upgraded', 'SELECT key FROM dpquantile.user_key');
$node->safe_psql('upgraded', 'ALTER EXTENSION dpquantile UPDATE');
is(sql_version('upgraded'), $version, 'ALTER EXTENSION UPDATE');
is(summary('upgraded'), $summary, 'threat 56: the update keeps budgets, ledger and released values');
is($node->safe_psql('upgraded', 'SELECT key FROM dpquantile.user_key'), $key, 'the update keeps the key of user ids');

my $fresh = catalog('fresh');
cmp_ok(scalar(split /\n/, $fresh), '>', 1900, 'the catalogs say a lot about the extension');
is(differences($fresh, catalog('upgraded')), '', 'an update makes the same objects as CREATE EXTENSION');

make_database('schema_fresh', 'CREATE SCHEMA "Private"; CREATE EXTENSION dpquantile SCHEMA "Private"');
make_database('schema_upgraded',
	q{CREATE SCHEMA "Private"; CREATE EXTENSION dpquantile SCHEMA "Private" VERSION '0.1.0'; ALTER EXTENSION dpquantile UPDATE});
is(differences(catalog('schema_fresh'), catalog('schema_upgraded')), '', 'the same in another schema');

is(outcome($node, q{ALTER EXTENSION dpquantile UPDATE TO '0.1.0'}, database => 'upgraded', user => 'postgres'),
	'22023', 'there is no way back to 0.1.0');

# ---- The comparison finds every kind of difference --------------------------------------------------

my %MUTANT = (
	'one more function' => 'CREATE FUNCTION dpquantile.more() RETURNS int LANGUAGE sql RETURN 1; ALTER EXTENSION dpquantile ADD FUNCTION dpquantile.more()',
	'one function less' => 'ALTER EXTENSION dpquantile DROP FUNCTION dp_options(bigint)',
	'another body' => q{CREATE OR REPLACE FUNCTION dpquantile.is_library(entry text) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN false},
	'another comment' => q{COMMENT ON FUNCTION dpquantile.check_version() IS 'x'},
	'a comment on a column' => q{COMMENT ON COLUMN dpquantile.ledger.number IS 'x'},
	'another privilege' => 'GRANT EXECUTE ON FUNCTION dpquantile.check_version() TO PUBLIC',
	'another volatility' => 'ALTER FUNCTION dpquantile.check_version() IMMUTABLE',
	'another owner' => 'ALTER TABLE dpquantile.ledger OWNER TO analyst',
	'no support function' => 'CREATE OR REPLACE FUNCTION dpquantile.cdf_final(dpquantile.records_state) RETURNS dp_cdf '
	  . q{LANGUAGE C VOLATILE PARALLEL SAFE AS '$libdir/dpquantile', 'dpq_cdf_final'},
	'another aggregate' => q{UPDATE pg_aggregate SET aggtransspace = 7 WHERE aggfnoid = 'dp_iqr(float8, float8, float8)'::regprocedure},
	'another output of a type' => 'ALTER TYPE dp_cdf SET (SEND = NONE)',
	'another cast' => q{UPDATE pg_cast SET castcontext = 'a' WHERE casttarget = 'dp_number'::regtype},
	'another view' => 'ALTER VIEW dp_ledger SET (security_barrier = off)',
	'one more column' => 'ALTER TABLE dpquantile.ledger ADD COLUMN more int',
	'another default' => 'ALTER TABLE dpquantile.budget ALTER COLUMN revoked SET DEFAULT true',
	'no constraint' => 'ALTER TABLE dpquantile.budget DROP CONSTRAINT budget_accountant_check',
	'one more index' => 'CREATE INDEX ON dpquantile.ledger (role_name)',
	'another trigger' => 'ALTER TABLE dpquantile.ledger ENABLE TRIGGER skip_replicated',
	'another replica identity' => 'ALTER TABLE dpquantile.user_key REPLICA IDENTITY NOTHING',
	'another condition of dumps' => q{UPDATE pg_extension SET extcondition[1] = 'WHERE false' WHERE extname = 'dpquantile'},
	'one table less in dumps' => q{UPDATE pg_extension SET extconfig = extconfig[2:], extcondition = extcondition[2:]
		WHERE extname = 'dpquantile'});
foreach my $name (sort keys %MUTANT)
{
	isnt(differences($fresh, catalog('upgraded', $MUTANT{$name})), '', "the comparison finds $name");
}
is(differences($fresh, catalog('upgraded')), '', 'all of that was rolled back');

check_charges_go_on('upgraded');

# ---- A dump of 0.1.0 that is restored where this version is installed ---------------------------

make_database('restored');
restore('restored');
is(sql_version('restored'), $version, 'a dump creates the version that is installed');
is(summary('restored'), $summary, 'threat 56: a restored dump of 0.1.0 has budgets, ledger and released values');
check_charges_go_on('restored');

$node->stop;
done_testing();
