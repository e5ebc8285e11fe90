# A database of an earlier version becomes one of this version: by ALTER EXTENSION UPDATE, or by a dump that is restored.
# Its objects are those that CREATE EXTENSION makes, and nothing spent is lost. `make upgrade` does the same with the library
# of the last version and with pg_upgrade.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $FILES = "$FindBin::Bin/../upgrade";

# The earlier versions. Each has a dump of a database that contents.sql has filled, and what summary.sql printed there.
my @VERSIONS = map { m{([\d.]+)\.dump\.sql$} } glob "$FILES/*.dump.sql";

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
	my ($from, $database) = @_;
	$node->command_ok(
		[ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', "$FILES/$from.dump.sql" ],
		"the dump of $from is restored into $database");
	return;
}

sub sql_version
{
	my ($database) = @_;
	return $node->safe_psql($database, q{SELECT extversion FROM pg_extension WHERE extname = 'dpquantile'});
}

# What is spent and released, after contents.sql.
sub old_summary
{
	my ($from) = @_;
	return slurp_file("$FILES/$from.summary") =~ s/\n$//r;
}

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
make_database('schema_fresh', 'CREATE SCHEMA "Private"; CREATE EXTENSION dpquantile SCHEMA "Private"');
my $fresh = catalog('fresh');
cmp_ok(scalar(split /\n/, $fresh), '>', 1900, 'the catalogs say a lot about the extension');
my $fresh_in_schema = catalog('schema_fresh');

sub check_update
{
	my ($from, $database) = @_;
	my $summary = old_summary($from);
	make_database($database, "CREATE EXTENSION dpquantile VERSION '$from'");
	restore($from, $database);
	is(sql_version($database), $from, "the dump leaves the version $from of the database");
	is(summary($database), $summary, "threat 56: the library of a later version shows what $from has spent");
	is(outcome($node, 'SELECT dp_median(age, 0.5, 0, 100) FROM person', database => $database, user => 'delta'),
		'55000', "threat 56: no private query before the update of $from");
	is(outcome($node, q{SELECT dp_grant_budget('delta', 9)}, database => $database, user => 'postgres'),
		'55000', "threat 56: no grant before the update of $from");
	# Version 0.1.0 does not check the version here. Neither gives an answer nor forgets spending.
	is(outcome($node, q{BEGIN; SELECT dp_revoke_budget('delta'); SELECT count(*) > 0 FROM dp_archive_ledger('infinity'); ROLLBACK},
			database => $database, user => 'postgres'),
		$from eq '0.1.0' ? 't' : '55000 25P02', "revocations and dp_archive_ledger before the update of $from");
	my $key = $node->safe_psql($database, 'SELECT key FROM dpquantile.user_key');
	$node->safe_psql($database, 'ALTER EXTENSION dpquantile UPDATE');
	is(sql_version($database), $version, "ALTER EXTENSION UPDATE of $from");
	is(summary($database), $summary, "threat 56: the update of $from keeps budgets, ledger and released values");
	is($node->safe_psql($database, 'SELECT key FROM dpquantile.user_key'), $key, "the update of $from keeps the key of user ids");
	is($node->safe_psql($database, 'SELECT DISTINCT neighbours FROM dp_budget'), 'add or remove', "an update of $from keeps what budgets promise");
	is(outcome($node, q{SELECT dp_grant_budget('analyst', 99, neighbours => 'replace')}, database => $database, user => 'postgres'),
		'55000', "threat 56: what $from has spent is not counted for other neighbours");
	is(differences($fresh, catalog($database)), '', "an update of $from makes the same objects as CREATE EXTENSION");
	is(outcome($node, "ALTER EXTENSION dpquantile UPDATE TO '$from'", database => $database, user => 'postgres'),
		'22023', "there is no way back to $from");
	return;
}

sub check_update_in_schema
{
	my ($from) = @_;
	$node->safe_psql('postgres', 'CREATE DATABASE schema_upgraded');
	$node->safe_psql('schema_upgraded', qq{
		CREATE SCHEMA "Private";
		CREATE EXTENSION dpquantile SCHEMA "Private" VERSION '$from';
		ALTER EXTENSION dpquantile UPDATE});
	is(differences($fresh_in_schema, catalog('schema_upgraded')), '', "an update of $from in another schema");
	$node->safe_psql('postgres', 'DROP DATABASE schema_upgraded');
	return;
}

# dp_grant_budget has another argument. Who could call it still can, also after a dump. What was made with the old one keeps it.
sub check_grants
{
	my ($from) = @_;
	make_database('granted', "CREATE EXTENSION dpquantile VERSION '$from'");
	$node->safe_psql('granted', q{
		GRANT EXECUTE ON FUNCTION dp_grant_budget(regrole, float8, float8, text, float8) TO "Second analyst" WITH GRANT OPTION;
		ALTER EXTENSION dpquantile UPDATE});
	is(outcome($node, q{SELECT dp_grant_budget('analyst', 3)}, database => 'granted', user => 'Second analyst') =~ s/^\s+//r, '',
		"the update of $from takes the right to grant budgets from nobody");
	my ($dump) = run_command([ 'pg_dump', '--schema-only', '-d', $node->connstr('granted') ]);
	like($dump, qr/GRANT ALL ON FUNCTION public\.dp_grant_budget\(.*on_table regclass\) TO "Second analyst" WITH GRANT OPTION/,
		"a dump after the update of $from has that right");
	$node->safe_psql('postgres', 'DROP DATABASE granted');
	make_database('granted', "CREATE EXTENSION dpquantile VERSION '$from'");
	$node->safe_psql('granted', q{
		CREATE FUNCTION small_budget(r regrole) RETURNS void LANGUAGE sql BEGIN ATOMIC SELECT dp_grant_budget(r, 1); END;
		ALTER EXTENSION dpquantile UPDATE});
	is($node->safe_psql('granted', q{SELECT small_budget('analyst'); SELECT epsilon_limit FROM dp_budget}), "\n1",
		"a function that was made with dp_grant_budget of $from grants budgets");
	$node->safe_psql('postgres', 'DROP DATABASE granted');
	return;
}

# An update by a superuser who does not own the extension, and in a subtransaction. Its owner is no superuser any more.
sub check_update_by_another
{
	my ($from) = @_;
	$node->safe_psql('postgres', 'CREATE ROLE founder SUPERUSER LOGIN');
	make_database('founded');
	$node->safe_psql('founded', "CREATE EXTENSION dpquantile VERSION '$from'", extra_params => [ '-U', 'founder' ]);
	$node->safe_psql('founded', 'ALTER ROLE founder NOSUPERUSER; GRANT CREATE ON SCHEMA public TO founder;
		BEGIN; SAVEPOINT before; ALTER EXTENSION dpquantile UPDATE; RELEASE before; COMMIT');
	is($node->safe_psql('founded', q{
			SELECT pg_describe_object(d.classid, d.objid, 0), s.refobjid::regrole
				FROM pg_extension e
				JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
				LEFT JOIN pg_shdepend s ON s.classid = d.classid AND s.objid = d.objid AND s.deptype = 'o'
					AND s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
				-- Only a superuser can own an event trigger.
				WHERE e.extname = 'dpquantile' AND d.classid NOT IN ('pg_cast'::regclass, 'pg_event_trigger'::regclass)
					-- The types of rows and arrays have no entry of their own.
					AND coalesce(s.refobjid, (SELECT typowner FROM pg_type t WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid))
						IS DISTINCT FROM 'founder'::regrole}),
		'', "an update of $from leaves all objects to the owner of the extension");
	is(outcome($node, $_, database => 'founded', user => 'founder') =~ s/^\s+//r, '', "the owner can still call it: $_")
		foreach q{SELECT dp_grant_budget('analyst', 3)}, q{SELECT dp_add_charge('analyst', 1)}, q{SELECT dp_revoke_budget('analyst')};
	my $workers = q{SELECT status FROM dp_health() WHERE check_name = 'workers'};
	is(outcome($node, $workers, database => 'founded', user => 'founder'), 'warning', 'dp_health tells the owner that the workers cannot be seen');
	$node->safe_psql('postgres', 'GRANT pg_read_all_stats TO founder');
	is(outcome($node, $workers, database => 'founded', user => 'founder'), 'ok', 'dp_health counts the workers for a role that may see them');
	# A trigger of the owner on the table of budgets runs with the owner's rights.
	is(outcome($node, q{
			CREATE FUNCTION runs_as() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING ERRCODE = CASE current_user WHEN ''founder'' THEN ''F0000'' ELSE ''X0000'' END; END';
			CREATE TRIGGER runs_as BEFORE UPDATE ON dpquantile.budget EXECUTE FUNCTION runs_as();
			SELECT dp_add_charge('analyst', 1)}, database => 'founded', user => 'founder'),
		'F0000', 'dp_add_charge has no more rights than the owner of the extension');
	# So do the owner of a table and its event triggers, here another role.
	$node->safe_psql('fresh', q{SELECT dp_restrict_role('second')});
	$node->safe_psql('founded', q{
		CREATE TABLE visit (patient text);
		ALTER TABLE visit OWNER TO delta});
	is(outcome($node, q{
			SELECT dp_protect_table('visit', 'patient'), dp_grant_private_access('visit', 'second');
			ALTER TABLE visit RENAME patient TO person;
			SELECT relation, user_id, role FROM dp_protected_tables;
			DROP TABLE visit;
			SELECT count(*) FROM dp_protected_tables}, database => 'founded', user => 'delta'),
		'| visit|person|second 0', 'the owner of a table protects it where the owner of the extension is no superuser');
	is(outcome($node, 'TABLE dpquantile.protected_table; TABLE dpquantile.private_grant', database => 'founded', user => 'founder'), '',
		'the owner of the extension has the tables, which are empty again');
	$node->safe_psql('postgres', 'ALTER ROLE second RESET ALL');
	$node->safe_psql('postgres', 'DROP DATABASE founded');
	$node->safe_psql('postgres', 'DROP ROLE founder');
	return;
}

# A dump of an earlier version that is restored where this version is installed.
sub check_restore
{
	my ($from, $database) = @_;
	make_database($database);
	restore($from, $database);
	is(sql_version($database), $version, "a dump of $from creates the version that is installed");
	is(summary($database), old_summary($from), "threat 56: a restored dump of $from has budgets, ledger and released values");
	return;
}

cmp_ok(scalar(@VERSIONS), '>=', 1, 'there are earlier versions');
foreach my $from (@VERSIONS)
{
	my $name = $from =~ tr/./_/r;
	check_update($from, "upgraded_$name");
	check_update_in_schema($from);
	check_update_by_another($from);
	check_grants($from);
	check_charges_go_on("upgraded_$name");
	check_restore($from, "restored_$name");
	check_charges_go_on("restored_$name");
}

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
