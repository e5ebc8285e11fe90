# threat 16: foreign tables. The rows of another server are fetched, and the private answers are released and charged here,
# also if the other server has the extension, too.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('foreign', budget => 100_000);
my ($host, $port) = ($node->host, $node->port);
# The server of the foreign table is the node itself. Only a charge of the remote user, postgres, would be one of the
# remote query.
$node->safe_psql(
	'postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE TABLE here AS SELECT i % 3 AS k, (i % 101)::float8 AS x FROM generate_series(1, 3030) i;
	CREATE SERVER there FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'dpquantile');
	CREATE USER MAPPING FOR analyst SERVER there OPTIONS (user 'postgres', password_required 'false');
	CREATE FOREIGN TABLE away (k integer, x float8) SERVER there OPTIONS (table_name 'here');
	GRANT SELECT ON away TO analyst;
	SELECT dp_grant_budget('postgres', 1)});

# The median is 50. In a group of 1010 rows, 10 for each value, an error of 20 is one of 200 rows, at lambda = 1 (1/2 with
# ROLLUP): its probability is below 2^20 e^-100.
my $near = 'abs(50 - dp_median(x, 1, 0, 100)) < 20';
my %queries = (
	"SELECT $near FROM away" => [ 't', 1 ],
	"SELECT $near FROM away WHERE k = 1" => [ 't', 1 ],
	"SELECT k, $near FROM away GROUP BY k" => [ '0|t 1|t 2|t', 1 ],
	"SELECT k, $near FROM away GROUP BY k ORDER BY k DESC" => [ '2|t 1|t 0|t', 1 ],
	"SELECT k, $near FROM away GROUP BY k HAVING count(*) > 5 LIMIT 2" => [ '0|t 1|t', 1 ],
	"SELECT k, $near FROM away GROUP BY ROLLUP (k)" => [ '0|t 1|t 2|t |t', 2 ],
	"SELECT a.k, $near FROM away a JOIN away b USING (k, x) WHERE b.k < 1 GROUP BY a.k" => [ '0|t', 1 ]);
my $paid = 0;
foreach my $query (sort keys %queries)
{
	my ($answer, $charge) = @{ $queries{$query} };
	like(
		outcome($node, "EXPLAIN (VERBOSE, COSTS OFF) $query"),
		qr/Custom Scan \(PrivateRelease\).*Remote SQL: (?!.*(?:dp_median|GROUP BY))/, "$query: the plan");
	is(outcome($node, $query), $answer, "$query: the answers");
	$paid += $charge;
	is(spent($node), $paid, "$query: the charge");
}
is(spent($node, role => 'postgres'), 0, 'nothing was charged to the remote user');

done_testing();
