# What test/upgrade/catalog.sql says of the catalogs: it finds every kind of difference.

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
$node->safe_psql('postgres', 'CREATE ROLE analyst LOGIN');

sub make_database
{
	my ($name, $create_extension) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, $create_extension) if $create_extension;
	return;
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

make_database('fresh', 'CREATE EXTENSION dpquantile');
my $fresh = catalog('fresh');
cmp_ok(scalar(split /\n/, $fresh), '>', 1900, 'the catalogs say a lot about the extension');

# ---- The comparison finds every kind of difference --------------------------------------------------

# All of them in one transaction: the facts are many. Each has a line that shows it.
my %MUTANT = (
	'one more function' => [
		'CREATE FUNCTION dpquantile.more() RETURNS int LANGUAGE sql RETURN 1; ALTER EXTENSION dpquantile ADD FUNCTION dpquantile.more()',
		qr/^\+ function dpquantile\.more\(\) \| is / ],
	'one function less' => [ 'ALTER EXTENSION dpquantile DROP FUNCTION dp_options(bigint)', qr/^- function public\.dp_options\(bigint\) \| is / ],
	'another body' => [
		q{CREATE OR REPLACE FUNCTION dpquantile.is_library(entry text) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN false},
		qr/^\+ function dpquantile\.is_library\(text\) \| definition \| .* RETURN false/ ],
	'another comment' => [ q{COMMENT ON FUNCTION dpquantile.check_version() IS 'x'}, qr/^\+ function dpquantile\.check_version\(\) \| comment 0 \| x$/ ],
	'a comment on a column' => [ q{COMMENT ON COLUMN dpquantile.ledger.number IS 'x'}, qr/^\+ table dpquantile\.ledger \| comment 2 \| x$/ ],
	'another privilege' => [
		'GRANT EXECUTE ON FUNCTION dpquantile.check_version() TO PUBLIC',
		qr/^\+ function dpquantile\.check_version\(\) \| privilege \| EXECUTE to PUBLIC$/ ],
	'another volatility' => [
		'ALTER FUNCTION dpquantile.check_version() IMMUTABLE', qr/^\+ function dpquantile\.check_version\(\) \| definition \| .* IMMUTABLE / ],
	'another owner' => [ 'ALTER TABLE dpquantile.ledger OWNER TO analyst', qr/^\+ table dpquantile\.ledger \| is \| .*"relowner": "role analyst"/ ],
	'no support function' => [
		'CREATE OR REPLACE FUNCTION dpquantile.cdf_final(dpquantile.records_state) RETURNS dp_cdf '
		  . q{LANGUAGE C VOLATILE PARALLEL SAFE AS '$libdir/dpquantile', 'dpq_cdf_final'},
		qr/^- function dpquantile\.cdf_final\(dpquantile\.records_state\) \| definition \| .* SUPPORT / ],
	'another aggregate' => [
		q{UPDATE pg_aggregate SET aggtransspace = 7 WHERE aggfnoid = 'dp_iqr(float8, float8, float8)'::regprocedure},
		qr/^\+ function public\.dp_iqr\(double precision,double precision,double precision\) \| definition \| .*"aggtransspace": "7"/ ],
	'another output of a type' => [ 'ALTER TYPE dp_cdf SET (SEND = NONE)', qr/^\+ type public\.dp_cdf \| is \| .*"typsend": "-"/ ],
	'another cast' => [
		q{UPDATE pg_cast SET castcontext = 'a' WHERE casttarget = 'dp_number'::regtype},
		qr/^\+ cast from bigint to public\.dp_number \| is \| .*"castcontext": "a"/ ],
	'another view' => [
		'ALTER VIEW dp_ledger SET (security_barrier = off)', qr/^\+ view public\.dp_ledger \| is \| .*security_barrier=off/ ],
	'one more column' => [ 'ALTER TABLE dpquantile.ledger ADD COLUMN more int', qr/^\+ table dpquantile\.ledger \| column more \| / ],
	'another default' => [
		'ALTER TABLE dpquantile.budget ALTER COLUMN revoked SET DEFAULT true',
		qr/^\+ default value for column revoked of table dpquantile\.budget \| definition \| true$/ ],
	'no constraint' => [
		'ALTER TABLE dpquantile.budget DROP CONSTRAINT budget_accountant_check',
		qr/^- constraint budget_accountant_check on table dpquantile\.budget \| definition \| / ],
	'one more index' => [ 'CREATE INDEX ON dpquantile.ledger (role_name)', qr/^\+ index dpquantile\.ledger_role_name_idx \| definition \| / ],
	'no event trigger' => [
		'ALTER EXTENSION dpquantile DROP EVENT TRIGGER dpquantile_note_renamed_tables', qr/^- event trigger dpquantile_note_renamed_tables \| is \| / ],
	'another event trigger' => [
		'ALTER EVENT TRIGGER dpquantile_forget_dropped_tables ENABLE',
		qr/^\+ event trigger dpquantile_forget_dropped_tables \| is \| .*"evtenabled": "O"/ ],
	'another trigger' => [
		'ALTER TABLE dpquantile.ledger ENABLE TRIGGER skip_replicated',
		qr/^\+ trigger skip_replicated on table dpquantile\.ledger \| is \| .*"tgenabled": "O"/ ],
	'another replica identity' => [
		'ALTER TABLE dpquantile.user_key REPLICA IDENTITY NOTHING', qr/^\+ table dpquantile\.user_key \| is \| .*"relreplident": "n"/ ],
	'another condition of dumps' => [
		q{UPDATE pg_extension SET extcondition[2] = 'WHERE false' WHERE extname = 'dpquantile'},
		qr/^\+ extension dpquantile \| definition \| .* WHERE false/ ],
	'one table less in dumps' => [
		q{UPDATE pg_extension SET extconfig = extconfig[2:], extcondition = extcondition[2:] WHERE extname = 'dpquantile'},
		qr/^\+ extension dpquantile \| definition \| (?!.*dump dpquantile\.budget )/ ]);
my $found = differences($fresh, catalog('fresh', join ';', map { $MUTANT{$_}[0] } sort keys %MUTANT));
foreach my $name (sort keys %MUTANT)
{
	ok(scalar(grep { $_ =~ $MUTANT{$name}[1] } split /\n/, $found), "the comparison finds $name") or note($found);
}
is(differences($fresh, catalog('fresh')), '', 'all of that was rolled back');

$node->stop;
done_testing();
