# A database becomes one of the next version, which test/upgrade/next_version.pl makes up: by ALTER EXTENSION UPDATE, or by a dump that is
# restored. Its objects are those that CREATE EXTENSION makes, nothing spent is lost, and what the owner has granted and revoked stays.
# `make upgrade` does the same with pg_upgrade to another PostgreSQL.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $TREE = "$FindBin::Bin/../..";
my $FILES = "$TREE/test/upgrade";
my $work = PostgreSQL::Test::Utils::tempdir();

sub output_of
{
	my (@command) = @_;
	open my $pipe, '-|', @command or die "@command: $!";
	local $/;
	my $output = <$pipe>;
	close $pipe or die "@command failed";
	return $output =~ s/\n$//r;
}

# A copy of the server, where the next version can be installed.
$ENV{PG_CONFIG} //= 'pg_config';
$ENV{PG_CONFIG} = output_of("$TREE/scripts/private-server.sh", "$work/server", output_of($ENV{PG_CONFIG}, '--pkglibdir') . '/dpquantile.so');
$ENV{PATH} = output_of($ENV{PG_CONFIG}, '--bindir') . ":$ENV{PATH}";
my $extensions = output_of($ENV{PG_CONFIG}, '--sharedir') . '/extension';
my $library = output_of($ENV{PG_CONFIG}, '--pkglibdir') . '/dpquantile.so';

my $node = PostgreSQL::Test::Cluster->new('upgrade');
init_node($node);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dpquantile'") if $PRELOADED;
$node->start;
my $version = $node->safe_psql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'dpquantile'});
my $next;

# The library of the next version is this one with another version in it.
sub install_next
{
	mkdir "$work/next" or die $!;
	system('cp', '-r', "$TREE/src", "$TREE/dpquantile.control", "$work/next") == 0 or die 'cp failed';
	$next = output_of($^X, "$FILES/next_version.pl", "$work/next");
	my $content = slurp_file($library);
	my $found = $content =~ s/\Q@{[ pack 'a24', $version ]}\E/pack 'a24', $next/ge;
	die "the library has its version $found times" unless $found == 1;
	open(my $file, '>:raw', "$library.new") or die $!;
	print $file $content;
	close($file) or die $!;
	move("$library.new", $library) or die $!;
	copy("$work/next/dpquantile.control", "$extensions/dpquantile.control") or die $!;
	output_of("$TREE/scripts/sql.sh", $extensions, "$work/next");
	return;
}

sub make_database
{
	my ($name, $create_extension, @files) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, $create_extension);
	$node->safe_psql($name, slurp_file("$FILES/$_.sql")) foreach @files;
	return;
}

sub sql_version
{
	my ($database) = @_;
	return $node->safe_psql($database, q{SELECT extversion FROM pg_extension WHERE extname = 'dpquantile'});
}

# What is spent, released and protected. A restore may give other OIDs and numbers.
sub summary
{
	my ($database) = @_;
	return $node->safe_psql($database, slurp_file("$FILES/summary.sql"));
}
sub protection
{
	my ($database) = @_;
	# The made-up version has another event trigger.
	return $node->safe_psql($database, slurp_file("$FILES/protection_summary.sql")) =~ s/,"ALTER SEQUENCE"//r;
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
	my ($database, $charges) = @_;
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
			SELECT trim_scale(epsilon_spent) FROM dp_budget WHERE role = 'leaver';
			ROLLBACK}),
		"\n2", "threat 56: $database: a dropped role's spending counts");
	is($node->safe_psql($database, q{SELECT count(*) FROM dp_archive_ledger('infinity')}), $charges,
		"threat 56: $database: the ledger can be archived");
	return;
}

# ---- Databases of this version ------------------------------------------------------------------

make_database('kept', 'CREATE EXTENSION dpquantile', 'contents', 'protection');
make_database('in_schema', 'CREATE SCHEMA "Private"; CREATE EXTENSION dpquantile SCHEMA "Private"');

# An owner who is no superuser any more when another one updates.
$node->safe_psql('postgres', 'CREATE ROLE founder SUPERUSER LOGIN; CREATE DATABASE founded');
$node->safe_psql('founded', 'CREATE EXTENSION dpquantile', extra_params => [ '-U', 'founder' ]);
$node->safe_psql('founded', 'ALTER ROLE founder NOSUPERUSER; GRANT CREATE ON SCHEMA public TO founder');

# What the owner of the extension has granted and revoked, and objects of users that depend on the extension's.
make_database('granted', 'CREATE EXTENSION dpquantile');
$node->safe_psql('granted', q{
	GRANT EXECUTE ON FUNCTION dp_grant_budget(regrole, float8, float8, text, float8, text, interval, regclass, float8) TO "Second analyst" WITH GRANT OPTION;
	GRANT EXECUTE ON FUNCTION dp_add_charge(regrole, numeric, numeric, numeric, text, regclass) TO delta WITH GRANT OPTION;
	GRANT EXECUTE ON FUNCTION dp_health() TO delta;
	GRANT USAGE ON SCHEMA dpquantile TO delta;
	GRANT SELECT ON dpquantile.ledger TO delta;
	GRANT EXECUTE ON FUNCTION dpquantile.earlier_spending(name, text[]) TO PUBLIC;
	REVOKE EXECUTE ON FUNCTION dp_avg(float8, float8, float8, float8) FROM PUBLIC;
	GRANT EXECUTE ON FUNCTION dp_avg(float8, float8, float8, float8) TO delta;
	REVOKE SELECT ON dp_budget FROM PUBLIC;
	GRANT SELECT ON dp_budget TO delta, zcdp;
	ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO zcdp WITH GRANT OPTION;
	ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO zcdp, PUBLIC;
	CREATE VIEW budgets AS SELECT * FROM dp_budget;
	CREATE VIEW protected AS SELECT relation, problem FROM dp_protected_tables;
	CREATE FUNCTION small_budget(r regrole) RETURNS void LANGUAGE sql BEGIN ATOMIC SELECT dp_grant_budget(r, 1); END;
	CREATE FUNCTION small_charge(r regrole) RETURNS void LANGUAGE sql BEGIN ATOMIC SELECT dp_add_charge(r, 0.25); END;
	CREATE FUNCTION twice(x int) RETURNS int LANGUAGE sql RETURN 2 * x;
	CREATE FUNCTION twice(x dp_cdf) RETURNS float8 LANGUAGE sql RETURN 2 * dp_cdf_quantile(x, 0.5);
	COMMENT ON FUNCTION twice(int) IS 'of users';
	CREATE AGGREGATE expose(value float8, epsilon float8, lower float8, upper float8)
		(SFUNC = dpquantile.median_transition, STYPE = dpquantile.records_state)});

# What the catalogs say of privileges on what is not new in the next version.
sub privileges
{
	return $node->safe_psql('granted', q{
		SET search_path = pg_catalog;
		SELECT o.name, a.privilege_type, a.grantee::regrole, a.is_grantable
			FROM (SELECT oid::regprocedure::text, proacl, proowner FROM pg_proc
				UNION ALL SELECT oid::regclass::text, relacl, relowner FROM pg_class
				UNION ALL SELECT nspname, nspacl, nspowner FROM pg_namespace) o (name, acl, owner)
			CROSS JOIN aclexplode(o.acl) a
			WHERE a.grantee <> o.owner AND o.name !~ 'dp_add_charge|small_|twice|expose|public\.(budgets|protected)$|made_up|dp_option\('
			ORDER BY 1, 2, 3});
}

# What a dump grants and revokes of the extension's objects: what its script has done is not in it.
sub dumped_privileges
{
	my ($dump) = run_command([ 'pg_dump', '--schema-only', '-d', $node->connstr('granted') ]);
	return join "\n", sort grep { /^(GRANT|REVOKE) .*(dp_|dpquantile)/ && !/dp_add_charge|made_up/ } split /\n/, $dump;
}

my $summary = summary('kept');
my $protection = protection('kept');
my $key = $node->safe_psql('kept', 'SELECT key FROM dpquantile.user_key');
my $privileges = privileges();
my $dumped = dumped_privileges();
like($dumped, qr/^GRANT SELECT ON TABLE public\.dp_budget TO delta;$/m, 'a dump has what the owner has granted');
is($node->safe_psql('granted', q{SELECT small_budget('analyst')}), '', 'a function that grants budgets');
$node->command_ok([ 'pg_dump', '-Fp', '-d', $node->connstr('kept'), '-f', "$work/dump.sql" ], 'a dump of this version');

# ---- The next version is installed --------------------------------------------------------------

my $open = $node->background_psql('in_schema', on_error_stop => 0);
$open->query_safe('SELECT dpquantile.library_version()');
install_next();
$open->query('ALTER EXTENSION dpquantile UPDATE');
like($open->{stderr}, qr/ERROR:  dpquantile's SQL objects are version \Q$next\E, but its library is version \Q$version\E/,
	'threat 57: a session with the old library cannot update');
$open->quit;
is(sql_version('in_schema'), $version, 'its update was rolled back');
$node->restart if $PRELOADED;

is(sql_version('kept'), $version, 'the objects stay as they are until the update');
is(summary('kept'), $summary, 'threat 56: the library of a later version shows what is spent');
is(outcome($node, 'SELECT dp_median(age, 0.5, 0, 100) FROM person', database => 'kept', user => 'delta'),
	'55000', 'threat 56: no private query before the update');
is(outcome($node, 'SELECT dp_count(1) FROM staff', database => 'kept', user => 'researcher'), '55000', 'threat 56: nor over protected tables');
is(outcome($node, "SELECT $_", database => 'kept', user => 'postgres'), '55000', "threat 56: not before the update: $_")
	foreach q{dp_grant_budget('delta', 9)}, q{dp_revoke_budget('delta')}, q{dp_archive_ledger('infinity')}, q{dp_add_charge('delta', 1)};

# ---- The update ---------------------------------------------------------------------------------

make_database('fresh', 'CREATE EXTENSION dpquantile');
make_database('fresh_in_schema', 'CREATE SCHEMA "Private"; CREATE EXTENSION dpquantile SCHEMA "Private"');
my $fresh = catalog('fresh');
cmp_ok(scalar(split /\n/, $fresh), '>', 1900, 'the catalogs say a lot about the extension');

$node->safe_psql($_, 'ALTER EXTENSION dpquantile UPDATE') foreach 'kept', 'in_schema', 'granted';
is(sql_version('kept'), $next, 'ALTER EXTENSION UPDATE');
is(summary('kept'), $summary, 'threat 56: the update keeps budgets, ledger and released values');
is(protection('kept'), $protection, 'the update keeps protected tables, private access, domains and budgets for tables');
is($node->safe_psql('kept', 'SELECT key FROM dpquantile.user_key'), $key, 'the update keeps the key of user ids');
is(differences($fresh, catalog('kept')), '', 'the update makes the same objects as CREATE EXTENSION');
is(differences(catalog('fresh_in_schema'), catalog('in_schema')), '', 'the update in another schema');
is(outcome($node, "ALTER EXTENSION dpquantile UPDATE TO '$version'", database => 'kept', user => 'postgres'), '22023', 'there is no way back');
is($node->safe_psql('kept', 'SELECT DISTINCT note FROM dp_budget'), 'none', 'a view has its new column');
is(outcome($node, 'SELECT dp_count(1) IS NOT NULL FROM staff', database => 'kept', user => 'researcher'), 't', 'a protected table is asked');
check_charges_go_on('kept', 22);

# ---- What the owner has granted -----------------------------------------------------------------

is(privileges(), $privileges, 'threat 108: the update takes and gives no privilege');
is(dumped_privileges(), $dumped, 'a dump has the same grants after the update');
is(outcome($node, q{SELECT dp_grant_budget('delta', 3)}, database => 'granted', user => 'Second analyst'), '', 'a role with the right grants budgets');
is(outcome($node, q{SELECT dp_add_charge('delta', 1, reason => 'test')}, database => 'granted', user => 'delta'), '',
	'who could call a function can call it with its new argument');
my ($dump) = run_command([ 'pg_dump', '--schema-only', '-d', $node->connstr('granted') ]);
like($dump, qr/GRANT ALL ON FUNCTION public\.dp_add_charge\(.*reason text\) TO delta WITH GRANT OPTION/, 'and a dump has that right');
is($node->safe_psql('granted', q{
		SELECT small_charge('analyst'), small_budget('analyst');
		SELECT epsilon_spent, epsilon_limit FROM budgets WHERE role = 'analyst';
		SELECT count(*) FROM protected}), "|\n0.25|1\n0", 'functions and views of users go on');
is($node->safe_psql('granted', q{
		SELECT string_agg(coalesce(obj_description(p.oid, 'pg_proc'), 'none'), ', ' ORDER BY p.oid::regprocedure::text)
			FROM pg_proc p WHERE p.proname IN ('twice', 'expose')}), 'none, none, of users', 'objects of users are left alone');
is($node->safe_psql('granted', q{
		SELECT p.oid::regprocedure::text FROM pg_proc p
			WHERE p.proname LIKE '%made\_up' AND p.prokind = 'f' AND has_function_privilege('zcdp', p.oid, 'EXECUTE')
		UNION ALL
		SELECT c.oid::regclass::text FROM pg_class c
			WHERE c.relname = 'made_up' AND (has_table_privilege('zcdp', c.oid, 'SELECT') OR has_table_privilege('analyst', c.oid, 'SELECT'))}),
	'', 'threat 108: default privileges give no role what is new and for the owner');
is(outcome($node, "SELECT has_function_privilege('analyst', 'dp_made_up(float8, float8, float8, float8)', 'EXECUTE')", database => 'granted',
		user => 'postgres'), 't', 'all roles may use a new aggregate');

# ---- An update by another superuser, in a subtransaction ----------------------------------------

$node->safe_psql('founded', 'BEGIN; SAVEPOINT before; ALTER EXTENSION dpquantile UPDATE; RELEASE before; COMMIT');
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
	'', 'the update leaves all objects to the owner of the extension');
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

# ---- A dump of this version that is restored where the next is installed ------------------------

$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$work/dump.sql" ], 'the dump is restored');
is(sql_version('restored'), $next, 'a dump creates the version that is installed');
is(summary('restored'), $summary, 'threat 56: a restored dump has budgets, ledger and released values');
check_charges_go_on('restored', 21);

# ---- The comparison finds every kind of difference --------------------------------------------------

# All of them in one transaction: the facts are many. Each has a line that shows it.
my %MUTANT = (
	'one more function' => [
		'CREATE FUNCTION dpquantile.more() RETURNS int LANGUAGE sql RETURN 1; ALTER EXTENSION dpquantile ADD FUNCTION dpquantile.more()',
		qr/^\+ function dpquantile\.more\(\) \| is / ],
	'one function less' => [ 'ALTER EXTENSION dpquantile DROP FUNCTION dp_option(text, "any")', qr/^- function public\.dp_option\(text, ?"any"\) \| is / ],
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
		q{UPDATE pg_cast SET castcontext = 'a' WHERE casttarget = 'dp_cdf'::regtype},
		qr/^\+ cast from jsonb to public\.dp_cdf \| is \| .*"castcontext": "a"/ ],
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
