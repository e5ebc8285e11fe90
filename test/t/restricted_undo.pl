# threat 52: what an analyst may try to undo the restriction, and what the administrator may do.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use RestrictedRoles;
use Test::More;

my $node = restricted_node('restricted_undo');

my $FACT = q{SELECT pg_current_wal_lsn() > '0/0';};
$node->safe_psql('postgres', 'CREATE DATABASE of_analyst OWNER analyst');

# A session that tries, and the next session. Options may keep a session from beginning at all.
sub stays_restricted
{
	my ($name, $sql, %params) = @_;
	my $expected = $params{options} ? qr/^$|^(?!.*\bt\b).*42501$/s : qr/^(?!.*\bt\b).*42501$/s;
	like(outcome($node, "$sql;\nROLLBACK;\n$FACT", %params), $expected, "threat 52: $name");
	is(outcome($node, $FACT, database => $params{database}), '42501', "threat 52: $name, the next session");
	return;
}

stays_restricted("PGOPTIONS=$_", '', options => $_)
	for '-c dpquantile.restricted=off', '-c session_preload_libraries=', '-c role=team', '-c search_path=team',
	'-c dpquantile.restricted=off -c local_preload_libraries=', '-c dpquantile.restricted=off -c role=team';
stays_restricted($_, $_)
	for 'SET dpquantile.restricted = off', 'BEGIN; SET LOCAL dpquantile.restricted = off', 'RESET dpquantile.restricted',
	'RESET ALL', 'DISCARD ALL', q{SELECT set_config('dpquantile.restricted', 'off', false)},
	'SET session_preload_libraries = DEFAULT', 'SET ROLE team', 'SET SESSION AUTHORIZATION DEFAULT',
	'ALTER ROLE CURRENT_USER SET dpquantile.restricted = off', 'ALTER ROLE CURRENT_USER RESET dpquantile.restricted',
	q{ALTER ROLE CURRENT_USER SET session_preload_libraries = ''}, 'ALTER ROLE CURRENT_USER RESET session_preload_libraries',
	'ALTER ROLE CURRENT_USER RESET ALL', 'ALTER ROLE CURRENT_USER IN DATABASE postgres SET dpquantile.restricted = off',
	q{ALTER ROLE CURRENT_USER IN DATABASE postgres SET session_preload_libraries = ''},
	q{SELECT dp_unrestrict_role('analyst')}, q{DELETE FROM pg_db_role_setting},
	q{CREATE FUNCTION analyst.f() RETURNS boolean LANGUAGE sql SET dpquantile.restricted = off AS 'SELECT pg_current_wal_lsn() > ''0/0''';
	  SELECT analyst.f()},
	q{CREATE FUNCTION analyst.g() RETURNS boolean LANGUAGE sql SET role = team AS 'SELECT pg_current_wal_lsn() > ''0/0''';
	  SELECT analyst.g()};
stays_restricted($_, $_, database => 'of_analyst')
	for 'ALTER DATABASE of_analyst SET dpquantile.restricted = off', q{ALTER DATABASE of_analyst SET session_preload_libraries = ''},
	'ALTER ROLE CURRENT_USER IN DATABASE of_analyst SET dpquantile.restricted = off', 'ALTER DATABASE of_analyst RESET ALL';

# What the administrator may do.
is(outcome($node, "LOAD 'dpquantile'; SET ROLE analyst; $FACT RESET ROLE; $FACT", user => 'postgres'),
	't 42501', 'a superuser is restricted while it has the role of a restricted role');
is(outcome($node, "LOAD 'dpquantile'; SET SESSION AUTHORIZATION analyst; SET ROLE team; $FACT RESET SESSION AUTHORIZATION; $FACT",
		user => 'postgres'), 't 42501', 'and while it has its session authorization');
is(outcome($node, "LOAD 'dpquantile'; SET dpquantile.restricted = on; $FACT SET dpquantile.restricted = off; $FACT",
		user => 'postgres'), 't 42501', 'a superuser can try the restriction');
$node->safe_psql('postgres', q{
	ALTER ROLE free SET dpquantile.restricted = off;
	UPDATE pg_db_role_setting SET setconfig = '{dpquantile.restricted=perhaps}' WHERE setrole = 'free'::regrole});
is(outcome($node, "LOAD 'dpquantile'; SET SESSION AUTHORIZATION free; $FACT", user => 'postgres'),
	'42501', 'threat 52: a value that is no boolean restricts');
$node->safe_psql('postgres', 'ALTER ROLE free RESET dpquantile.restricted');
$node->safe_psql('postgres', q{SELECT dp_unrestrict_role('analyst')});
is(outcome($node, $FACT), 't', 'dp_unrestrict_role takes the restriction back');

done_testing();
