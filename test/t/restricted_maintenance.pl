# threat 90: code of a restricted role in an autovacuum worker, which has the library only if it is in shared_preload_libraries,
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
	return join "\n", map { 'analyst|warning|autovacuum runs code of the role without restriction, because the library is not in '
		. "shared_preload_libraries: the role $_" } @_;
}

$node->safe_psql('postgres', q{CREATE SCHEMA AUTHORIZATION analyst});
is(findings(), '', 'a role that is not restricted may create');
$node->safe_psql('postgres', q{DROP SCHEMA analyst; SELECT dp_restrict_role('analyst')});
is(findings(), '', 'a restricted role may not create');
$node->safe_psql('postgres', q{
	CREATE ROLE team NOLOGIN;
	CREATE SCHEMA "Own" AUTHORIZATION analyst;
	GRANT team TO analyst;
	GRANT CREATE ON SCHEMA public TO team;
	GRANT CREATE ON DATABASE postgres TO PUBLIC;
	CREATE TABLE public.b ();
	CREATE MATERIALIZED VIEW public.a AS SELECT 1;
	ALTER TABLE public.b OWNER TO team;
	ALTER MATERIALIZED VIEW public.a OWNER TO analyst});
is(findings(), found('may create in schema "Own"', 'may create in schema public', 'may create schemas', 'owns public.a and 1 more'),
	'threat 90: what a restricted role may do by itself, by PUBLIC, or as a member of another role');

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

is(told_by_autovacuum(), 'analyst|-1 postgres|10000', 'threat 90: autovacuum without the library tells exact facts, as dp_health warns');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'dpquantile'");
$node->restart;
is(findings(), '', 'nothing to warn of where the library is preloaded');
is(told_by_autovacuum(), 'analyst|-1 postgres|-1', 'threat 90: autovacuum with the library tells nothing');

done_testing();
