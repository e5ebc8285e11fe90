# A dump includes the spending. pg_upgrade.pl is about pg_upgrade.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $old = new_node('old', budget => 3);
my $dump = PostgreSQL::Test::Utils::tempdir();
my $source = $old->connstr('postgres');

$old->safe_psql(
	'postgres', q{
	CREATE ROLE "Second analyst";
	GRANT SELECT ON person TO "Second analyst";
	SELECT dp_grant_budget('"Second analyst"', 7.5);
	CREATE ROLE zcdp LOGIN;
	GRANT SELECT ON person TO zcdp;
	SELECT dp_grant_budget('zcdp', 5, 1e-6, 'zcdp');
	CREATE ROLE chooser LOGIN;
	GRANT SELECT ON person TO chooser;
	SELECT dp_grant_budget('chooser', 5, 1e-6, 'zcdp', charged_delta => 2e-8);
	CREATE ROLE revoked;
	SELECT dp_grant_budget('revoked', 1), dp_revoke_budget('revoked')});
is(outcome($old, "$ANSWER $ANSWER"), 't t', 'two answers before the dump');
is(outcome($old, qq{SET ROLE "Second analyst"; $ANSWER}, user => 'postgres'),
	't', 'one answer of another role before the dump');

is(outcome($old, $ANSWER, user => 'zcdp'), 't', 'one answer of a role with accountant zcdp before the dump');
my $CHOICE = 'SELECT count(k) FROM (SELECT dp_keep_group(0.1, 1e-8) AS k FROM person) s;';
is(outcome($old, $CHOICE, user => 'chooser'), '1', 'half of the delta that its charges may spend');

# The budget of a dropped role remains, under the role's former OID.
$old->safe_psql(
	'postgres', q{
	CREATE ROLE leaver LOGIN;
	GRANT SELECT ON person TO leaver;
	SELECT dp_grant_budget('leaver', 100)});
is(outcome($old, $ANSWER, user => 'leaver'), 't', 'one answer of a role that is dropped');
my $leaver = $old->safe_psql('postgres', "SELECT 'leaver'::regrole::oid");
$old->safe_psql('postgres', 'DROP OWNED BY leaver; DROP ROLE leaver');

# Charges before this are in the archive. A role got its budget under a first name and was charged under a second.
$old->safe_psql(
	'postgres', q{
	SELECT count(*) FROM dp_archive_ledger('infinity');
	CREATE ROLE first LOGIN;
	SELECT dp_grant_budget('first', 100);
	ALTER ROLE first RENAME TO second;
	GRANT SELECT ON person TO second});
is(outcome($old, $ANSWER, user => 'second'), 't', 'one answer of a renamed role');
$old->safe_psql('postgres', 'DROP OWNED BY second; DROP ROLE second');
is(outcome($old, $ANSWER, user => 'zcdp'), 't', 'one answer after the archiving');

# A table stores released values. A generated column and an index use them.
$old->safe_psql(
	'postgres', q{
	SELECT dp_grant_budget('postgres', 10);
	CREATE TABLE release (
		name text PRIMARY KEY,
		cdf dp_cdf NOT NULL CHECK (dp_cdf_rows(cdf) > 0),
		median float8 GENERATED ALWAYS AS (dp_cdf_quantile(cdf, 0.5)) STORED);
	CREATE INDEX ON release (dp_cdf_rows(cdf));
	INSERT INTO release SELECT 'bins', dp_cdf(age, 1, -0.1, 1e3) FROM person;
	INSERT INTO release SELECT 'steps', dp_cdf(age, 1, 0, 100, dp_options('binary', granularity => 0.3)) FROM person;
	INSERT INTO release SELECT 'large', dp_cdf(age, 1, 0, 100, dp_options('histogram', bins => 1048576)) FROM person});

# What every role has spent, the ledger, its texts and archive, the released values, and what the analyst sees of the ledger.
sub contents
{
	my ($node, $database) = @_;
	return $node->safe_psql(
		$database, q{
		SELECT role, budget_id, epsilon_limit, epsilon_spent, delta_limit, delta_spent, rho_limit, rho_spent,
			has_rho_alone, accountant, smallest_charge, charges, revoked, charged_delta, converted_delta
		FROM dpquantile.budget WHERE role IN (SELECT oid FROM pg_roles) ORDER BY role::text;
		SELECT * FROM dpquantile.ledger ORDER BY budget_id, number;
		SELECT * FROM dpquantile.query_text ORDER BY budget_id, query_hash;
		SELECT * FROM dpquantile.budget_name ORDER BY budget_id, role_name;
		SELECT name, md5(cdf::text), md5(dpquantile.cdf_send(cdf)), median FROM release ORDER BY name;
		SET ROLE analyst;
		SELECT count(*), count(query) FROM dp_ledger});
}
my $contents = contents($old, 'postgres');
like($contents, qr/\|first\|/, 'there are names without charges');

# Checks that a copy has the same spending, and that its budgets go on from there.
sub check_copy
{
	my ($name, $node, $database) = @_;
	is(contents($node, $database), $contents, "threat 13: $name: has the budgets, the ledger and the released values");
	is(outcome($node, "$ANSWER $ANSWER", database => $database),
		't 53400', "threat 13: $name: only the rest of epsilon can be spent");
	is(spent($node, database => $database), 3, "threat 13: $name: the rest of epsilon is charged");
	# The limit is worth rho 0.46. An answer costs 0.125.
	is(outcome($node, "$ANSWER $ANSWER", user => 'zcdp', database => $database),
		't 53400', "threat 13: $name: only the rest of rho can be spent");
	is(spent($node, role => 'zcdp', database => $database), 3, "threat 13: $name: the rest of rho is charged");
	is(outcome($node, "$CHOICE $CHOICE", user => 'chooser', database => $database),
		'1 53400', "threat 207: $name: only the rest of delta can be charged");
	is( $node->safe_psql($database, q{
			BEGIN;
			CREATE ROLE first;
			SELECT dp_grant_budget('first', 100);
			SELECT trim_scale(epsilon_spent) FROM dpquantile.budget WHERE role = 'first'::regrole;
			ROLLBACK}),
		"\n1", "threat 51: $name: a new role of the first name inherits what was charged under the second");
	is( $node->safe_psql($database, q{
			BEGIN;
			DELETE FROM dpquantile.budget;
			SELECT dp_grant_budget('analyst', 3), dp_grant_budget('zcdp', 5, 1e-6, 'zcdp');
			SELECT trim_scale(epsilon_spent) FROM dpquantile.budget ORDER BY role::text;
			ROLLBACK}),
		"|\n3\n3", "threat 13: $name: lost budgets count the archived charges");
	return;
}

sub restore_script
{
	my ($node, $database, $file) = @_;
	$node->command_ok(
		[ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', $file ],
		"$file is restored into $database");
	return;
}

$old->command_ok([ 'pg_dump', '-d', $source, '-f', "$dump/plain" ], 'pg_dump as a script');
$old->safe_psql('postgres', 'CREATE DATABASE plain');
restore_script($old, 'plain', "$dump/plain");
check_copy('a script, into a database of the same cluster', $old, 'plain');

$old->command_ok([ 'pg_dump', '-Fc', '-d', $source, '-f', "$dump/custom" ], 'pg_dump in custom format');
$old->safe_psql('postgres', 'CREATE DATABASE custom');
$old->command_ok(
	[ 'pg_restore', '-e', '-j', '2', '-d', $old->connstr('custom'), "$dump/custom" ],
	'pg_restore');
check_copy('the custom format', $old, 'custom');

$old->safe_psql('postgres', 'CREATE DATABASE sections');
foreach my $section ('pre-data', 'data', 'post-data')
{
	$old->command_ok(
		[ 'pg_dump', "--section=$section", '-d', $source, '-f', "$dump/$section" ],
		"pg_dump of $section");
	restore_script($old, 'sections', "$dump/$section");
}
check_copy('section by section', $old, 'sections');

$old->safe_psql('postgres', 'CREATE DATABASE clone TEMPLATE postgres');
check_copy('a database made with TEMPLATE', $old, 'clone');

# A dump does not include the key of the user hashes. A restored database has its own.
my $key = 'SELECT key FROM dpquantile.user_key';
like($old->safe_psql('plain', $key), qr/^\\x[0-9a-f]{32}$/, 'a restored database has one key for its users');
isnt($old->safe_psql($_, $key), $old->safe_psql('postgres', $key), "the key differs from that of the old database: $_")
  foreach 'plain', 'custom', 'sections';

# A new cluster, where the OIDs belong to other roles.
my $new = PostgreSQL::Test::Cluster->new('new');
init_node($new);
$new->start;
$new->safe_psql(
	'postgres', qq{
	DO \$\$
	DECLARE
		stranger text := '';
	BEGIN
		WHILE stranger = '' OR stranger::regrole::oid < $leaver LOOP
			stranger := format('stranger_%s', (SELECT count(*) FROM pg_roles));
			EXECUTE format('CREATE ROLE %I LOGIN', stranger);
		END LOOP;
	END
	\$\$});
my $stranger = $new->safe_psql('postgres', "SELECT $leaver\::regrole");
like($stranger, qr/^stranger_/, 'a stranger has the OID of the dropped role');

$old->command_ok(
	[ 'pg_dumpall', '--roles-only', '-d', $source, '-f', "$dump/roles" ],
	'pg_dumpall of the roles');
# The superuser exists already.
$new->safe_psql('postgres', "\\set ON_ERROR_STOP off\n\\i $dump/roles");
$new->safe_psql('postgres', 'CREATE DATABASE restored');
$new->command_ok(
	[ 'pg_restore', '-e', '-d', $new->connstr('restored'), "$dump/custom" ],
	'pg_restore in a new cluster');
check_copy('a new cluster', $new, 'restored');
$new->safe_psql('restored', "GRANT SELECT ON person TO $stranger");
is(outcome($new, $ANSWER, user => $stranger, database => 'restored'),
	'42501', 'threat 13: nobody inherits the budget of a dropped role');

done_testing();
