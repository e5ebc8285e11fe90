# Protection and private access come along in a dump, and what is not restored as it was is closed. Concurrent changes of a
# table. (sql/protected_tables.sql: what the functions accept; pg_upgrade.pl: pg_upgrade.)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $old = new_node('old');
my $dump = PostgreSQL::Test::Utils::tempdir();

# Columns before the user column are dropped, so that it has another number after a restore. Some protected tables and
# granted roles are gone when the dump is made, one has come back, and one is renamed.
$old->safe_psql(
	'postgres', q{
	CREATE ROLE owner;
	CREATE ROLE team;
	CREATE ROLE "Second analyst" LOGIN;
	CREATE ROLE leaver LOGIN;
	CREATE ROLE reborn;
	CREATE ROLE first LOGIN;
	CREATE SCHEMA "Ward" AUTHORIZATION owner;
	SET ROLE owner;
	CREATE TABLE "Ward".visit (a int, b int, patient text, cost numeric);
	ALTER TABLE "Ward".visit DROP COLUMN a, DROP COLUMN b;
	CREATE VIEW "Ward".cheap AS SELECT * FROM "Ward".visit WHERE cost < 100;
	CREATE TABLE "Ward".event (at date, patient text) PARTITION BY RANGE (at);
	CREATE MATERIALIZED VIEW "Ward".copy AS SELECT 'x'::text AS patient;
	CREATE TABLE "Ward".event_now PARTITION OF "Ward".event DEFAULT;
	CREATE TABLE "Ward".dropped (id int);
	CREATE TABLE "Ward".stay (a int, number int PRIMARY KEY, patient text);
	ALTER TABLE "Ward".stay DROP COLUMN a;
	CREATE TABLE "Ward".bill (stay int REFERENCES "Ward".stay);
	SELECT dp_protect_table('"Ward".stay', 'patient', unit => 'patient'),
		dp_protect_table('"Ward".bill', 'stay', unit => 'patient', through => '"Ward".stay');
	SELECT dp_protect_table('"Ward".visit', 'patient', 20), dp_protect_table('"Ward".cheap', 'patient'),
		dp_protect_table('"Ward".copy'), dp_protect_table('"Ward".event'), dp_protect_table('"Ward".dropped');
	SELECT dp_grant_private_access('"Ward".visit', 'team', epsilon => 0.5, delta => 1e-6);
	SELECT dp_set_domain('"Ward".visit', 'cost', 0, 1000, 0.01), dp_set_domain('"Ward".visit', 'patient', '{"a, b",c,NULL}');
	SELECT dp_set_other_key('"Ward".visit', 'patient', 'c');
	SELECT dp_set_domain('"Ward".event', 'at', '2020-01-01', '2030-01-01'), dp_set_domain('"Ward".dropped', 'id', ARRAY[1, 2]);
	RESET ROLE;
	SET client_min_messages = warning;
	SELECT dp_grant_private_access('"Ward".visit', '"Second analyst"', 0.5);
	SELECT dp_grant_private_access('"Ward".visit', 'leaver'), dp_grant_private_access('"Ward".event', 'leaver'), dp_grant_private_access('"Ward".event', 'reborn');
	SELECT dp_grant_private_access('"Ward".cheap', 'first'), dp_grant_private_access('"Ward".cheap', 'team', 0.25);
	SELECT dp_grant_private_access('"Ward".dropped', '"Second analyst"');
	DROP ROLE leaver, reborn;
	CREATE ROLE reborn;
	DROP TABLE "Ward".dropped;
	ALTER ROLE first RENAME TO second});

# The protected tables, whether their user column is known, and the grants that are open.
sub contents
{
	my ($node, $database) = @_;
	return $node->safe_psql(
		$database, q{
		SELECT t.relation, t.user_column, t.through, t.max_rows, t.user_column IS NOT DISTINCT FROM a.attname
			FROM dpquantile.protected_table t LEFT JOIN pg_attribute a ON a.attrelid = t.relation AND a.attnum = t.user_number
			ORDER BY t.relation::text;
		SELECT d.relation, d.column_name, a.atttypid = d.column_type, d.lower, d.upper, d.granularity, d.keys, d.other
			FROM dpquantile.column_domain d LEFT JOIN pg_attribute a
				ON a.attrelid = d.relation AND a.attnum = d.column_number AND a.attname = d.column_name
			ORDER BY d.relation::text, d.column_name;
		SELECT g.relation, g.grantee, g.smallest_epsilon, g.epsilon, g.delta, g.granted_at, g.granted_by
			FROM dpquantile.private_grant g JOIN pg_roles r ON r.oid = g.grantee_oid AND r.rolname = g.grantee
			ORDER BY g.relation::text, g.grantee});
}

sub grants
{
	my ($node, $database) = @_;
	return $node->safe_psql($database, 'SELECT count(*) FROM dpquantile.private_grant');
}

# Stands for each change of names that protection follows.
sub check_event_triggers
{
	my ($name, $node, $database) = @_;
	is( $node->safe_psql($database, q{
			BEGIN;
			ALTER TABLE "Ward".visit RENAME patient TO person;
			SELECT user_column FROM dpquantile.protected_table WHERE relation = '"Ward".visit'::regclass;
			SELECT string_agg(column_name, ',' ORDER BY column_name) FROM dpquantile.column_domain WHERE relation = '"Ward".visit'::regclass;
			DROP TABLE "Ward".event;
			ALTER TABLE "Ward".visit DROP COLUMN cost CASCADE;
			SELECT string_agg(column_name, ',') FROM dpquantile.column_domain;
			SELECT count(*) FROM dpquantile.protected_table WHERE relation::text LIKE '%event%';
			SELECT relation FROM dpquantile.protected_table WHERE relation NOT IN (SELECT oid FROM pg_class);
			ROLLBACK}),
		"person\ncost,person\nperson\n0", "$name: renamed columns and dropped tables are followed");
	return;
}

sub check_triggers
{
	my ($name, $node, $database) = @_;
	is($node->safe_psql($database, q{
			SELECT string_agg(tgname || tgenabled::text, ' ' ORDER BY tgrelid::regclass::text, tgname COLLATE "C") FROM pg_trigger
				WHERE tgrelid IN ('dpquantile.protected_table'::regclass, 'dpquantile.private_grant'::regclass,
					'dpquantile.column_domain'::regclass) AND NOT tgisinternal}),
		'protection_changedA protection_truncatedA refuse_replicated_truncateR skip_replicatedR supply_column_numberA '
		  . 'protection_changedA protection_truncatedA refuse_replicated_truncateR skip_replicatedR supply_grantee_oidA '
		  . 'protection_changedA protection_truncatedA refuse_replicated_truncateR skip_replicatedR supply_user_numberA',
		"$name: the triggers fire in every session");
	return;
}

is(outcome($old, 'SELECT relation, role, smallest_epsilon, problem FROM dp_protected_tables', user => 'Second analyst'),
	'"Ward".visit|"Second analyst"|0.5|', 'a restricted session sees what it may ask');
my $contents = contents($old, 'postgres');
is($contents =~ s/\d{4}-\S+ [^|]*/NOW/gr, join("\n",
		'"Ward".bill|stay|"Ward".stay||t', '"Ward".cheap|patient|||t', '"Ward".copy||||t', '"Ward".event||||t', '"Ward".stay|patient|||t',
		'"Ward".visit|patient||20|t',
		'"Ward".event|at|t|2020-01-01|2030-01-01|||', '"Ward".visit|cost|t|0|1000|0.01||', '"Ward".visit|patient|t||||{"a, b",c,NULL}|2',
		'"Ward".cheap|team|0.25|||NOW|postgres', '"Ward".visit|Second analyst|0.5|||NOW|postgres',
		'"Ward".visit|team|0.01|0.5|1e-06|NOW|owner'),
	'what is protected and granted before the dump');
is(grants($old, 'postgres'), 7, 'grants of three roles that are gone');
check_event_triggers('the first database', $old, 'postgres');
check_triggers('the first database', $old, 'postgres');

sub dumped
{
	my ($file, @options) = @_;
	$old->command_ok([ 'pg_dump', '-d', $old->connstr('postgres'), '-f', "$dump/$file", @options ], "pg_dump @options");
	return "$dump/$file";
}

# Restores a script, or sections of one, into a new database. Returns what psql says.
sub restored
{
	my ($node, $database, $settings, @files) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	local $ENV{PGOPTIONS} = $settings;
	my $said = '';
	foreach my $file (@files)
	{
		my ($stdout, $stderr) = run_command([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', $file ]);
		unlike($stderr, qr/ERROR/, "$file is restored into $database");
		$said .= $stderr;
	}
	return $said;
}

my $plain = dumped('plain');
# The names of dropped tables stay: charges are found by them (threat 81).
unlike(slurp_file($plain) =~ s/^COPY dpquantile\.table_name .*?^\\\.\n//msr, qr/leaver|first|reborn|dropped/, 'a dump leaves out what is gone');
my @sections = map { dumped($_, "--section=$_") } 'pre-data', 'data', 'post-data';
my $custom = dumped('custom', '-Fc');

is(restored($old, 'plain', '', $plain), '', 'a restore says nothing');
is(restored($old, 'replica', '-c session_replication_role=replica', $plain), '', 'a restore as a replica says nothing');
restored($old, 'sections', '', @sections);
$old->safe_psql('postgres', 'CREATE DATABASE custom; ');
$old->command_ok([ 'pg_restore', '-e', '-j', '2', '-d', $old->connstr('custom'), $custom ], 'pg_restore');
$old->safe_psql('postgres', 'CREATE DATABASE clone TEMPLATE postgres');
foreach my $database ('plain', 'replica', 'sections', 'custom', 'clone')
{
	is(contents($old, $database), $contents, "$database: has the protected tables and the open grants");
	is(grants($old, $database), $database eq 'clone' ? 7 : 3, "$database: has no other grants");
	is($old->safe_psql($database, q{SELECT through, problem FROM dp_protected_tables WHERE relation = '"Ward".bill'::regclass}),
		'"Ward".stay|', "$database: threat 182: rows still lead to persons");
	check_event_triggers($database, $old, $database);
	check_triggers($database, $old, $database);
}

# Data alone, without triggers: a number of the user column that is wrong here closes private access.
$old->safe_psql('postgres', 'CREATE DATABASE untriggered');
$old->command_ok([ 'pg_restore', '-e', '-d', $old->connstr('untriggered'), '--section=pre-data', '--section=post-data', $custom ],
	'pg_restore without data');
$old->safe_psql('untriggered', 'TRUNCATE dpquantile.user_key');
$old->command_ok([ 'pg_restore', '-e', '-d', $old->connstr('untriggered'), '--data-only', '--disable-triggers', $custom ],
	'pg_restore --disable-triggers');
is($old->safe_psql('untriggered', q{SELECT relation, problem FROM dp_protected_tables ORDER BY relation::text, role}), join("\n",
		'"Ward".bill|private access is closed: its rows refer to "stay", which does not lead to persons', '"Ward".cheap|', '"Ward".copy|',
		'"Ward".event|', '"Ward".stay|private access is closed: its user column "patient" is gone',
		('"Ward".visit|private access is closed: its user column "patient" is gone') x 2),
	'a restore without triggers closes a table whose columns have other numbers');
$old->safe_psql('untriggered', 'SELECT dpquantile.protect_tables()');
check_triggers('after dpquantile.protect_tables()', $old, 'untriggered');

# A new cluster, where OIDs belong to others and a role is missing.
my $new = PostgreSQL::Test::Cluster->new('new');
init_node($new);
$new->start;
my $team = $old->safe_psql('postgres', q{SELECT 'team'::regrole::oid});
$new->safe_psql(
	'postgres', qq{
	DO \$\$
	DECLARE
		stranger text := '';
	BEGIN
		WHILE stranger = '' OR stranger::regrole::oid < $team LOOP
			stranger := format('stranger_%s', (SELECT count(*) FROM pg_roles));
			EXECUTE format('CREATE ROLE %I LOGIN', stranger);
		END LOOP;
	END
	\$\$;
	CREATE ROLE analyst;
	CREATE ROLE owner;
	CREATE ROLE "Second analyst"});
like($new->safe_psql('postgres', "SELECT $team\::regrole"), qr/^stranger_/, 'a stranger has the OID of the missing role');
my $said = restored($new, 'restored', '', $plain);
like($said, qr/WARNING:  role "team" does not exist, so its private access to "Ward".visit is closed\nHINT:/, 'a restore tells which role is missing');
is(() = $said =~ /WARNING/g, 2, 'it says nothing else');
is(contents($new, 'restored'), $contents =~ s/.*\|team\|.*\n?//gr =~ s/\n$//r, 'all other grants are open');
my $closed = 'SELECT role, relation, problem FROM dp_protected_tables WHERE problem IS NOT NULL ORDER BY relation::text';
is($new->safe_psql('restored', $closed), join("\n", map { qq{team|"Ward".$_|private access is closed: the role is gone} } 'cheap', 'visit'),
	'the owner sees that the grants of the missing role are closed');
$new->safe_psql('postgres', 'CREATE ROLE team');
is($new->safe_psql('restored', $closed),
	join("\n", map { qq{team|"Ward".$_|private access is closed: another role has this name now} } 'cheap', 'visit'),
	'a role that is made later has no grant');
is($new->safe_psql('restored', q{SELECT count(*) FROM dp_health() WHERE check_name = 'protection' AND subject LIKE 'team on %' AND status = 'warning'}),
	2, 'dp_health tells the same');
$new->safe_psql('restored', q{
	SET ROLE owner;
	SELECT dp_grant_private_access('"Ward".visit', 'team'), dp_revoke_private_access('"Ward".cheap', 'team')});
is($new->safe_psql('restored', $closed), '', 'they can be granted again, or revoked');
check_event_triggers('a new cluster', $new, 'restored');
check_triggers('a new cluster', $new, 'restored');

# ---- A table that is dropped, or given away, while its owner protects it ------------------------------

sub protect_beside
{
	my ($change, $user) = @_;
	my $other = $old->background_psql('postgres');
	$other->query_safe("BEGIN; $change");
	my $waiting = start_psql($old, q{SET lock_timeout = 0; SELECT dp_protect_table('beside')}, user => $user);
	$old->poll_query_until('postgres', q{
		SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%dp_protect_table%' AND pid <> pg_backend_pid()})
	  or die 'dp_protect_table does not wait';
	$other->query_safe('COMMIT');
	$other->quit;
	return finish_psql($waiting);
}

$old->safe_psql('postgres', 'CREATE ROLE keeper LOGIN; GRANT CREATE ON SCHEMA public TO keeper; CREATE TABLE beside (id int); ALTER TABLE beside OWNER TO keeper');
is(protect_beside('ALTER TABLE beside OWNER TO owner', 'keeper'), '42501', 'a former owner does not protect a table');
is(protect_beside('ALTER TABLE beside ENABLE ROW LEVEL SECURITY', 'postgres'), '42809', 'a table that gets row security is not protected');
$old->safe_psql('postgres', 'ALTER TABLE beside DISABLE ROW LEVEL SECURITY');
is(protect_beside('DROP TABLE beside', 'postgres'), '42P01', 'a table that is dropped is not protected');
is($old->safe_psql('postgres', q{SELECT count(*) FROM dpquantile.protected_table WHERE relation NOT IN (SELECT oid FROM pg_class)}),
	0, 'it leaves nothing');

# A table that is dropped beside a grant waits for the grant, and takes it along.
$old->safe_psql('postgres', q{CREATE TABLE beside (id int); SELECT dp_protect_table('beside')});
my $granting = $old->background_psql('postgres');
$granting->query_safe(q{BEGIN; SELECT dp_grant_private_access('beside', 'team')});
my $dropping = start_psql($old, 'DROP TABLE beside', user => 'postgres');
$old->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DROP TABLE%'})
  or die 'DROP TABLE does not wait';
$granting->query_safe('COMMIT');
$granting->quit;
is(finish_psql($dropping), '', 'the table is dropped after the grant');
is($old->safe_psql('postgres', q{SELECT count(*) FROM dpquantile.private_grant WHERE relation NOT IN (SELECT oid FROM pg_class)}),
	0, 'and the grant with it');

# ---- The end of the extension --------------------------------------------------------------------

$old->safe_psql('custom', 'DROP EXTENSION dpquantile CASCADE; DROP TABLE "Ward".visit CASCADE; CREATE EXTENSION dpquantile');
is(contents($old, 'custom'), '', 'DROP EXTENSION drops protection and grants');

done_testing();
