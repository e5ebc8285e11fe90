# A standby cannot write, so it cannot charge. After its promotion it has the spending of the primary.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = new_node('primary', allows_streaming => 1, budget => 3);
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

is(outcome($primary, "$ANSWER $ANSWER"), 't t', 'the primary answers');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));

is(outcome($standby, $ANSWER), '25006', 'threat 7: a standby refuses');
is(outcome($standby, 'SELECT dp_median(age, 1, 0, 100) FROM person WHERE false'),
	'25006', 'threat 7: a standby refuses a query without rows, too');
is( outcome($standby, 'SELECT trim_scale(epsilon_remaining) FROM dp_budget; SELECT count(*) FROM dp_ledger'),
	'1 2', 'threat 7: a standby shows the budget and the ledger');

my $standbys = q{SELECT subject, status FROM dp_health() WHERE check_name = 'standby'};
is($primary->safe_psql('postgres', $standbys), 'standby|warning', 'dp_health: an asynchronous standby is a warning');
is($standby->safe_psql('postgres', $standbys), 'this server|ok', 'dp_health: a standby says so');
$primary->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = 'standby'});
$primary->reload;
$primary->poll_query_until('postgres', q{SELECT sync_state = 'sync' FROM pg_stat_replication}) or die 'the standby does not become synchronous';
is($primary->safe_psql('postgres', $standbys), 'standby|ok', 'dp_health: a synchronous standby is not');

$primary->stop('immediate');
$standby->promote;
is(spent($standby), 2, 'threat 7: the promoted standby has the spending');
is(outcome($standby, "$ANSWER $ANSWER"), 't 53400', 'threat 7: only the rest of the budget can be spent after the promotion');
is(spent($standby), 3, 'threat 7: only the rest of the budget is charged');

done_testing();
