# Sessions that ask about a protected table: what other extensions print (threat 30), and without the library (threat 37).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use Test::More;

my $node = new_node('protected_sessions', preloaded => 0);
$node->safe_psql('postgres', q{
	REVOKE ALL ON person FROM analyst;
	SELECT dp_restrict_role('analyst'), dp_protect_table('person');
	SELECT dp_grant_private_access('person', 'analyst');
	ALTER ROLE analyst SET auto_explain.log_min_duration = 0;
	ALTER ROLE analyst SET auto_explain.log_analyze = on;
	ALTER ROLE analyst SET auto_explain.log_level = warning});

# What a client is told of its queries, besides answers.
sub messages
{
	my ($sql) = @_;
	my ($status, $answers, $messages) = $node->psql('postgres', $sql, connstr => $node->connstr('postgres') . ' user=analyst');
	return $messages;
}

my $protected = 'SELECT dp_count(1) FROM person';
for my $order ('auto_explain, dpquantile', 'dpquantile, auto_explain')
{
	$node->safe_psql('postgres', "ALTER ROLE analyst SET session_preload_libraries = $order");
	like(messages('SELECT 1'), qr/plan:/, "$order: auto_explain prints other queries");
	is(messages($protected), '', "threat 30: $order: nothing is printed");
	is(messages("BEGIN; DECLARE c CURSOR FOR $protected; FETCH c; COMMIT"), '', "threat 30: $order: nothing is printed of a cursor");
	is(messages("SET plan_cache_mode = force_generic_plan; PREPARE p AS $protected; EXECUTE p; EXECUTE p"), '',
		"threat 30: $order: nothing is printed of a cached plan");
}

# The first query that needs the library loads it while it is planned. The planner's hook comes too late for that query.
$node->safe_psql('postgres', 'ALTER ROLE analyst RESET session_preload_libraries');
is(outcome($node, 'SELECT age FROM person'), '42501', 'threat 37: without the library there is no right');
is(outcome($node, "$protected; SELECT age FROM person"), '42501 42501', 'threat 37: nor while it is being loaded');

done_testing();
