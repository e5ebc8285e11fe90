# threat 102: code of a restricted role in an autovacuum worker, which has the library only if it is in shared_preload_libraries,
# and what dp_health tells of it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use Test::More;

my $node = new_node('restricted_maintenance', preloaded => 0, conf => 'autovacuum_naptime = 1s');

sub findings
{
	return $node->safe_psql('postgres', q{SELECT subject, status, detail FROM dp_health() WHERE check_name = 'restriction' ORDER BY detail});
}

sub found
{
	my ($who_can) = @_;
	return "autovacuum|warning|$who_can, and autovacuum would run its code without restriction: dpquantile is not in shared_preload_libraries";
}

$node->safe_psql('postgres', q{CREATE SCHEMA AUTHORIZATION analyst});
is(findings(), '', 'a role that is not restricted may create');
$node->safe_psql('postgres', q{DROP SCHEMA analyst; SELECT dp_restrict_role('analyst')});
is(findings(), '', 'a restricted role may not create');
$node->safe_psql('postgres', q{CREATE SCHEMA "Own" AUTHORIZATION analyst});
is(findings(), found('restricted role analyst may create tables in schema "Own"'), 'threat 102: dp_health names a restricted role that may');

# An index, whose function autovacuum calls for ANALYZE
$node->safe_psql('postgres', q{
	CREATE TABLE "Own".facts (session_role name, rows real);
	CREATE TABLE "Own".bait (x integer) WITH (autovacuum_analyze_threshold = 1, autovacuum_analyze_scale_factor = 0);
	CREATE FUNCTION "Own".tell() RETURNS void LANGUAGE sql AS
		$$INSERT INTO "Own".facts SELECT session_user, reltuples FROM pg_class WHERE oid = 'public.person'::regclass$$;
	CREATE FUNCTION "Own".told(x integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS
		$$BEGIN PERFORM "Own".tell(); RETURN x; END$$;
	ALTER TABLE "Own".facts OWNER TO analyst;
	ALTER TABLE "Own".bait OWNER TO analyst;
	ALTER FUNCTION "Own".tell OWNER TO analyst;
	ALTER FUNCTION "Own".told OWNER TO analyst});
is(outcome($node, 'CREATE INDEX ON "Own".bait ("Own".told(x))'), '', 'an index of the restricted role');

# What it tells to the owner of the table.
sub told_by_autovacuum
{
	is(outcome($node, 'TRUNCATE "Own".facts; INSERT INTO "Own".bait SELECT generate_series(1, 100)'), '', 'rows for autovacuum');
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM "Own".facts WHERE session_role = 'postgres'})
		or die 'autovacuum does not analyze the table';
	return outcome($node, 'SELECT DISTINCT session_role, rows FROM "Own".facts ORDER BY 1');
}

is(told_by_autovacuum(), 'analyst|-1 postgres|10000', 'threat 102: autovacuum without the library tells exact facts, as dp_health warns');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dpquantile'");
$node->restart;
is(findings(), '', 'nothing to warn of where the library is preloaded');
is(told_by_autovacuum(), 'analyst|-1 postgres|-1', 'threat 102: autovacuum with the library tells nothing');

done_testing();
