# threat 97: what PostgreSQL looks up or tells while it reads rows for private answers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use ProtectedTables;
use Test::More;

my $node = protected_node('protected_lookups', conf => 'log_statement = none');

# ---- Messages ----

# Code that runs for rows of one's own tables says nothing either while a restricted session reads them for a private answer.
$node->safe_psql('postgres', q{
	CREATE FUNCTION analyst.told(id int, level text) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		IF level = 'warning' THEN RAISE WARNING 'row %', id; ELSE RAISE NOTICE 'row %', id; END IF;
		RETURN true;
	END $$;
	CREATE TABLE analyst.own AS SELECT id FROM generate_series(1, 3) id;
	ALTER TABLE analyst.own OWNER TO analyst});
is(summary(seen($node, 'few', "SELECT dp_count(1) IS NOT NULL FROM own WHERE told(id, '$_')")), 't', "threat 97: no $_ comes from rows")
  for 'notice', 'warning';
is(summary(seen($node, 'few', "SELECT bool_and(told(id, '$_')) FROM own")), 't ' . uc, "threat 97: a $_ comes as ever without a private answer")
  for 'notice', 'warning';
is(summary(seen($node, 'few', "SELECT dp_count(1) IS NOT NULL FROM own WHERE told(id, 'notice') AND 1 / (id - 2) > -5")), '22012',
	'threat 97: an error comes');
like(slurp_file($node->logfile), qr/WARNING:  row 1/, 'threat 97: the server log has the warnings');

done_testing();
