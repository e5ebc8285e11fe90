# threat 36: whose rights a query over a protected table has. Plans that are cached for one role, functions and views of others, and
# plans, cursors and sessions from before a change of the rights.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use ProtectedTables;
use Test::More;

# The partner has private access, too; the colleague has none. Both have budgets, and so has the team, which has private access.
my $node = protected_node('protected_roles', conf => 'log_statement = none');
$node->safe_psql(
	'postgres', q{
	CREATE ROLE partner LOGIN;
	CREATE ROLE colleague LOGIN;
	CREATE ROLE team;
	CREATE ROLE member LOGIN NOINHERIT;
	GRANT team TO member;
	GRANT colleague TO analyst;
	SELECT dp_grant_budget(r, 1e6, 0.5) FROM unnest('{partner,colleague,team,member,owner,postgres}'::regrole[]) r;
	SELECT dp_restrict_role(r) FROM unnest('{partner,colleague,member}'::regrole[]) r;
	SELECT dp_grant_private_access('few.staff', r) FROM unnest('{partner,team}'::regrole[]) r;
	CREATE SCHEMA AUTHORIZATION partner;
	CREATE SCHEMA AUTHORIZATION colleague;
	GRANT USAGE ON SCHEMA analyst, partner TO PUBLIC});
my $denied = '42501';

# ---- Roles of one session ----

my $session = start_session($node, 'analyst');
foreach my $mode ('force_generic_plan', 'force_custom_plan')
{
	my $name = "threat 36: $mode";
	is(answered($session, "SET plan_cache_mode = $mode; PREPARE p AS $COUNT; EXECUTE p"), 't', "$name: the analyst");
	is(answered($session, 'SET ROLE colleague; EXECUTE p'), $denied, "$name: its plan does not run for a role without access");
	is(answered($session, "PREPARE q AS $COUNT; EXECUTE q"), $denied, "$name: that role gets none itself");
	is(answered($session, 'RESET ROLE; EXECUTE q; EXECUTE p'), 't t', "$name: the analyst again");
	answered($session, 'DEALLOCATE ALL');
}
$session->quit;

# A superuser may become any role. What has been planned with SELECT shows exact numbers.
$session = start_session($node, 'postgres');
my $exact = 'SELECT count(*) FROM staff';
is(answered($session, q{LOAD 'dpquantile'; SET plan_cache_mode = force_generic_plan}), '', 'the library is loaded');
is(answered($session, "SET ROLE reader; PREPARE p AS $exact; PREPARE q AS $COUNT; EXECUTE p; EXECUTE q"), '100 t', 'a role with SELECT');
is(answered($session, 'SET ROLE analyst; EXECUTE p; EXECUTE q'), "t $denied", 'threat 36: its exact query is not for the analyst');
is(answered($session, 'SET ROLE reader; EXECUTE p; EXECUTE q'), '100 t', 'threat 36: nor the analyst\'s plan for it');
is(answered($session, 'SET ROLE colleague; EXECUTE p; EXECUTE q'), "$denied $denied", 'threat 36: a role without access');
is(answered($session, 'RESET ROLE; SET SESSION AUTHORIZATION partner; EXECUTE p; EXECUTE q; RESET SESSION AUTHORIZATION'), "t $denied",
	'threat 36: another analyst');
is(answered($session, "BEGIN; SET LOCAL ROLE analyst; DECLARE c CURSOR FOR $COUNT; SET LOCAL ROLE colleague; FETCH c"), $denied,
	'threat 36: a cursor does not run for another role');
is(answered($session, "ROLLBACK; BEGIN; SET LOCAL ROLE analyst; DECLARE c CURSOR WITH HOLD FOR $COUNT; SET LOCAL ROLE partner; COMMIT"), $denied,
	'threat 36: nor at the end of a transaction');
$session->quit;

# Private access of a group
is(summary(seen($node, 'few', $COUNT, user => 'member')), $denied, 'threat 36: a member that does not inherit has no access');
is(summary(seen($node, 'few', "SET ROLE team; $COUNT", user => 'member')), 't', 'but it may become the group');
is(spent($node, role => 'team') . ' ' . spent($node, role => 'member'), '1 0', 'which pays');

# ---- Functions and views of others ----

$node->safe_psql(
	'postgres', qq{
	SET ROLE analyst;
	SET search_path = analyst, few, public;
	CREATE FUNCTION lent() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = few, public AS 'BEGIN RETURN ($COUNT); END';
	CREATE FUNCTION lent_sql() RETURNS boolean LANGUAGE sql SECURITY DEFINER SET search_path = few, public RETURN ($COUNT);
	CREATE FUNCTION lent_rows() RETURNS SETOF boolean LANGUAGE sql SECURITY DEFINER STABLE SET search_path = few, public AS '$COUNT';
	CREATE FUNCTION run() RETURNS boolean LANGUAGE plpgsql SET search_path = few, public AS 'BEGIN RETURN ($COUNT); END';
	CREATE VIEW v (n) AS $COUNT;
	CREATE VIEW v_rows AS SELECT * FROM staff;
	CREATE VIEW v_invoker (n) WITH (security_invoker) AS $COUNT;
	GRANT SELECT ON v, v_rows, v_invoker TO PUBLIC;
	RESET ROLE;
	SET ROLE owner;
	SET search_path = few, public;
	CREATE FUNCTION approved() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = few, public AS 'BEGIN RETURN ($COUNT); END';
	CREATE VIEW approved_view (n) AS $COUNT;
	CREATE VIEW published AS SELECT department FROM staff WHERE id < 4;
	GRANT SELECT ON approved_view, published TO PUBLIC});
# What the analyst, the partner, the colleague, a reader and a superuser get.
my %expected = (
	'SELECT analyst.lent()' => "t $denied $denied $denied $denied",
	'SELECT analyst.lent_sql()' => "t $denied $denied $denied $denied",
	'SELECT * FROM analyst.lent_rows()' => "t $denied $denied $denied $denied",
	'SELECT analyst.run()' => "t t $denied t t",
	'SELECT n FROM analyst.v' => "t $denied $denied $denied $denied",
	'SELECT id FROM analyst.v_rows' => "$denied $denied $denied $denied $denied",
	'SELECT dp_count(1) IS NOT NULL FROM analyst.v_rows' => "t $denied $denied $denied $denied",
	'SELECT n FROM analyst.v_invoker' => "t t $denied t t",
	'SELECT few.approved()' => 't t t t t',
	'SELECT n FROM few.approved_view' => 't t t t t',
	'SELECT string_agg(department::text, $$,$$) FROM few.published' => '2,3,4 2,3,4 2,3,4 2,3,4 2,3,4',
);
foreach my $sql (sort keys %expected)
{
	my $got = join ' ', map { outcome($node, $sql, user => $_) } 'analyst', 'partner', 'colleague', 'reader', 'postgres';
	is($got, $expected{$sql}, "threat 36: $sql of the analyst, partner, colleague, reader, superuser");
}
is(outcome($node, q{
		CREATE TEMP TABLE t (a int);
		CREATE FUNCTION pg_temp.f() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
			AS 'BEGIN RAISE INFO ''%'', (SELECT dp_count(1) FROM few.staff); RETURN NEW; END';
		CREATE TRIGGER t BEFORE INSERT ON t EXECUTE FUNCTION pg_temp.f();
		GRANT INSERT ON t TO colleague;
		SET ROLE colleague;
		INSERT INTO t VALUES (1)}), $denied, 'threat 36: a trigger of the analyst does not serve others');

# ---- Sessions that were not restricted when they began ----

# They may have a cursor over statistics that is open, or a login role that may read them.
my $LOAD = 'SET client_min_messages = error; SELECT dp_histogram_error(1) IS NULL';
$node->safe_psql('postgres', q{
	CREATE ROLE unrestricted LOGIN IN ROLE analyst;
	CREATE ROLE early LOGIN;
	SELECT dp_grant_budget('early', 1e6, smallest_charge => 0.001)});
my $member = start_session($node, 'unrestricted');
is(answered($member, "$LOAD; SET ROLE analyst; $COUNT"), 'f 55000', 'threat 31: SET ROLE in a session that is not restricted');
is(answered($member, "RESET ROLE; $COUNT"), '55000', 'threat 31: a member that is not restricted');
$member->quit;
my $early = start_session($node, 'early');
is(answered($early, 'BEGIN; DECLARE c CURSOR FOR SELECT pg_stat_get_xact_numscans(0) FROM generate_series(1, 9); FETCH 1 FROM c'), '0', 'an open cursor');
$node->safe_psql('postgres', q{SELECT dp_restrict_role('early'), dp_grant_private_access('few.staff', 'early')});
is(answered($early, "$LOAD; $COUNT"), 'f 55000', 'threat 31: a session from before its role was restricted');
$early->quit;
$early = start_session($node, 'early');
is(answered($early, $COUNT), 't', 'its next session');
$early->quit;

# ---- Rights that change while plans are cached and cursors are open ----

$session = start_session($node, 'analyst');
is(answered($session, "SET plan_cache_mode = force_generic_plan; PREPARE p AS $COUNT; EXECUTE p"), 't', 'a cached plan');
is(answered($session, q{CREATE FUNCTION pg_temp.ask() RETURNS boolean LANGUAGE plpgsql AS
	'BEGIN RETURN (SELECT dp_count(1) IS NOT NULL FROM few.staff); END'; SELECT pg_temp.ask()}), 't', 'a cached plan in a function');
foreach my $change (
	[ 'a revoke', q{SELECT dp_revoke_private_access('few.staff', 'analyst')}, q{SELECT dp_grant_private_access('few.staff', 'analyst')} ],
	[ 'the end of the protection', q{SELECT dp_unprotect_table('few.staff')},
		q{SELECT dp_protect_table('few.staff'), dp_grant_private_access('few.staff', 'analyst')} ],
	[ 'a higher smallest epsilon', q{SELECT dp_grant_private_access('few.staff', 'analyst', 1.5)},
		q{SELECT dp_grant_private_access('few.staff', 'analyst', 0.01)}, '22023' ],
	[ 'the protection of users', q{SELECT dp_protect_table('few.staff', 'name')},
		q{SELECT dp_unprotect_table('few.staff'), dp_protect_table('few.staff'), dp_grant_private_access('few.staff', 'analyst')}, '0A000' ],
	[ 'row security', 'ALTER TABLE few.staff ENABLE ROW LEVEL SECURITY', 'ALTER TABLE few.staff DISABLE ROW LEVEL SECURITY', '0A000' ],
	[ 'another name of the role', 'ALTER ROLE analyst RENAME TO former', 'ALTER ROLE former RENAME TO analyst' ],
	[ 'an owner who lost SELECT', 'REVOKE SELECT ON few.staff FROM owner', 'GRANT SELECT ON few.staff TO owner' ])
{
	my ($name, $do, $undo, $code) = @$change;
	$code //= $denied;
	$node->safe_psql('postgres', $do);
	is(answered($session, 'EXECUTE p; SELECT pg_temp.ask()'), "$code $code", "threat 36: a cached plan after $name");
	$node->safe_psql('postgres', $undo);
	is(answered($session, 'EXECUTE p; SELECT pg_temp.ask()'), 't t', 'threat 36: and when that is undone');
}
$node->safe_psql('postgres', 'ALTER TABLE few.staff OWNER TO partner');
is(answered($session, 'EXECUTE p; SELECT pg_temp.ask()'), 't t', 'a cached plan after another role owns the table');
$node->safe_psql('postgres', 'ALTER TABLE few.staff OWNER TO owner');

# What the transaction began with does not matter.
is(answered($session, 'BEGIN ISOLATION LEVEL REPEATABLE READ; EXECUTE p'), 't', 'a transaction with a snapshot');
is(answered($session, "DECLARE c CURSOR FOR $COUNT; DECLARE d CURSOR FOR $COUNT UNION ALL $COUNT; FETCH d"), 't', 'cursors, one of them read in part');
$node->safe_psql('postgres', q{SELECT dp_revoke_private_access('few.staff', 'analyst')});
is(answered($session, 'SAVEPOINT a; FETCH c'), $denied, 'threat 36: a cursor from before a revoke');
is(answered($session, 'ROLLBACK TO a; FETCH d'), $denied, 'threat 36: the second answer of a cursor from before a revoke');
is(answered($session, 'ROLLBACK TO a; EXECUTE p'), $denied, 'threat 36: a snapshot from before a revoke');
is(answered($session, 'ROLLBACK'), '', 'the end');
$node->safe_psql('postgres', q{SELECT dp_grant_private_access('few.staff', 'analyst')});

# A cursor that was opened while each row was protected, and not each person
is(answered($session, "BEGIN; DECLARE c CURSOR FOR $COUNT"), '', 'a cursor');
$node->safe_psql('postgres', q{SELECT dp_protect_table('few.staff', 'name')});
is(answered($session, 'FETCH c'), '55000', 'threat 36: a cursor from before users are protected');
$session->quit;

done_testing();
