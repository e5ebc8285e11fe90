# The session user or the role of SET ROLE pays, whoever owns the functions that it calls.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('roles');
$node->safe_psql(
	'postgres', q{
	CREATE ROLE team;
	CREATE ROLE "Group ""7""" LOGIN;
	CREATE ROLE newcomer LOGIN;
	CREATE ROLE root LOGIN SUPERUSER;
	GRANT team TO analyst;
	GRANT SELECT ON person TO team, "Group ""7""", newcomer;
	SELECT dp_grant_budget(role, 100)
		FROM unnest(ARRAY['team', '"Group ""7"""', 'postgres']::regrole[]) role;

	CREATE FUNCTION approved_median() RETURNS boolean LANGUAGE sql SECURITY DEFINER
		AS 'SELECT dp_median(age, 1, 0, 100) IS NOT NULL FROM public.person';
	CREATE FUNCTION approved_median_as_set() RETURNS boolean
		LANGUAGE plpgsql SECURITY DEFINER SET search_path = public
		AS 'BEGIN RETURN (SELECT dp_median(age, 1, 0, 100) IS NOT NULL FROM person); END';
	CREATE VIEW approved_view AS SELECT dp_median(age, 1, 0, 100) IS NOT NULL FROM person;
	GRANT SELECT ON approved_view TO PUBLIC});

my %paid = ('analyst' => 0, 'team' => 0, '"Group ""7"""' => 0, 'postgres' => 0);

sub all_spent
{
	return { map { $_ => spent($node, role => $_) } keys %paid };
}

# Checks that one answer is seen, and charged to the payer alone.
sub charged_to
{
	my ($payer, $name, $sql, %params) = @_;
	is(outcome($node, $sql, %params), 't', "$name: the answer is seen");
	$paid{$payer}++;
	is_deeply(all_spent(), \%paid, "$name: $payer is charged");
	return;
}

charged_to('analyst', 'threat 11: a plain session', $ANSWER);
charged_to('team', 'threat 11: SET ROLE', "SET ROLE team; $ANSWER");
charged_to('team', 'threat 11: SET LOCAL ROLE', "BEGIN; SET LOCAL ROLE team; $ANSWER COMMIT");
charged_to('analyst', 'threat 11: RESET ROLE', "SET ROLE team; RESET ROLE; $ANSWER");
charged_to('analyst', 'threat 11: SECURITY DEFINER', 'SELECT approved_median()');
charged_to('analyst', 'threat 11: SECURITY DEFINER in plpgsql', 'SELECT approved_median_as_set()');
charged_to('team', 'threat 11: SECURITY DEFINER after SET ROLE', 'SET ROLE team; SELECT approved_median()');
charged_to('analyst', 'threat 11: a view of another owner', 'SELECT * FROM approved_view');
charged_to('postgres', 'threat 11: a superuser', $ANSWER, user => 'postgres');
charged_to('analyst', 'threat 11: SET SESSION AUTHORIZATION', "SET SESSION AUTHORIZATION analyst; $ANSWER",
	user => 'root');
charged_to('team', 'threat 11: SET ROLE of a superuser', "SET ROLE team; $ANSWER", user => 'root');
charged_to('"Group ""7"""', 'threat 11: a role whose name needs quotes', $ANSWER, user => 'Group "7"');

is(outcome($node, $ANSWER, user => 'newcomer'), '42501', 'threat 11: a role without a budget gets no answer');
is(outcome($node, 'SELECT approved_median()', user => 'newcomer'),
	'42501', 'threat 11: a role without a budget gets no answer through a SECURITY DEFINER function of a role with one');
is(outcome($node, $ANSWER, user => 'root'), '42501', 'threat 11: a superuser needs a budget, too');
is(outcome($node, "SET ROLE team; $ANSWER", user => 'newcomer'),
	'42501 42501', 'threat 11: a role that is not a member cannot use the budget of another role');
is_deeply(all_spent(), \%paid, 'threat 11: refused queries are not charged');

my $by_role = 'SELECT role, session_role, count(*) FROM dp_ledger GROUP BY 1, 2 ORDER BY 1, 2';
is( outcome($node, $by_role, user => 'root'),
	'Group "7"|Group "7"|1 analyst|analyst|6 postgres|postgres|1 team|analyst|3 team|root|1',
	'threat 11: the ledger names the role and the session user');

# What each role sees.
my $roles = 'SELECT role FROM dp_budget ORDER BY role';
my $entries = 'SELECT DISTINCT role FROM dp_ledger ORDER BY 1';
is(outcome($node, "$roles; $entries"),
	'analyst analyst', 'threat 11: an analyst sees only their own budget and ledger');
is(outcome($node, "SET ROLE team; $roles; $entries"),
	'team team', 'threat 11: after SET ROLE the session sees only those of that role');
is(outcome($node, "$roles; $entries", user => 'newcomer'),
	'', 'threat 11: a role without a budget sees nothing');
is( outcome($node, "$roles; $entries", user => 'root'),
	'"Group ""7""" analyst postgres team Group "7" analyst postgres team',
	'threat 11: the owner of the extension sees all');
foreach my $forbidden (
	'SELECT * FROM dpquantile.budget',
	'SELECT * FROM dpquantile.ledger',
	"SELECT dp_grant_budget('analyst', 1000000)",
	"SELECT dp_revoke_budget('team')",
	'SET ROLE postgres')
{
	is(outcome($node, $forbidden), '42501', "threat 11: an analyst may not $forbidden");
}
is(outcome($node, $_), '55000', "threat 11: nobody may $_") foreach 'DELETE FROM dp_ledger', "UPDATE dp_budget SET accountant = 'none'";
# The views are security_barrier, so an analyst's cheap function is not called for the rows of others.
is( outcome($node, q{
		CREATE FUNCTION pg_temp.spy(name) RETURNS boolean COST 0.0000001 LANGUAGE plpgsql
			AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''22000''; END';
		SELECT count(*) FROM dp_ledger WHERE role <> 'analyst' AND pg_temp.spy(role)}),
	'0', 'threat 11: an analyst cannot spy on the ledger of others');

# A budget belongs to a role, not to a name.
$node->safe_psql(
	'postgres', q{
	ALTER ROLE analyst RENAME TO senior;
	CREATE ROLE analyst LOGIN;
	GRANT SELECT ON person TO analyst});
is(spent($node, role => 'senior'), $paid{analyst}, 'threat 11: a renamed role keeps its spending');
is(outcome($node, $ANSWER), '42501', 'threat 11: a new role of the old name has no budget');
is(outcome($node, $entries), '', 'threat 11: a new role of the old name does not see the old ledger');
is(outcome($node, $ANSWER, user => 'senior'), 't', 'threat 11: the renamed role still gets answers');

done_testing();
