# threats 30, 97: messages about plans and rows reach a client whose client_min_messages is below notice.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RestrictedRoles;
use Test::More;

my $node = restricted_node('restricted_messages');

my $QUIET = 'SET client_min_messages = notice; SET trace_sort = on;';
my $log = '-c client_min_messages=log';
leak_is_closed($node, ($_->[0] =~ /unseen/ ? 'threat 97: ' : 'threat 30: ') . $_->[0], $_->[1], $_->[2], $_->[3], options => $_->[4] // '')
	for
	[ 'auto_explain', "SET client_min_messages = log; SELECT median_of(8)", 't LOG', 't 55000' ],
	[ 'set_config', q{SELECT set_config('client_min_messages', 'debug1', false) IS NULL; SELECT median_of(8)},
		'f t LOG', 't 55000' ],
	[ 'a SET clause', q{
		CREATE FUNCTION pg_temp.f() RETURNS boolean LANGUAGE sql SET client_min_messages = log RETURN public.median_of(8);
		SELECT pg_temp.f()}, 't LOG', '55000 3F000' ],
	[ 'PGOPTIONS', 'SELECT median_of(8)', 't LOG', '55000', $log ],
	[ 'debug_print_plan', 'SET debug_print_plan = on; SELECT * FROM median_view', 't LOG', '55000', $log ],
	[ 'a level that falls during planning', "$QUIET SET debug_print_plan = on;
		CREATE FUNCTION pg_temp.low() RETURNS text LANGUAGE plpgsql IMMUTABLE
			AS \$\$ BEGIN RETURN set_config('client_min_messages', NULL, false); END \$\$;
		SELECT m FROM median_view WHERE pg_temp.low() IS NOT NULL", 't LOG', '55000', $log ],
	[ 'a cached plan', "$QUIET PREPARE p AS SELECT * FROM median_view; EXECUTE p; RESET client_min_messages; EXECUTE p;",
		't t LOG', 't 55000', $log ],
	[ 'a cursor', "$QUIET BEGIN; DECLARE c CURSOR FOR SELECT * FROM median_view;
		RESET client_min_messages; FETCH c; CLOSE c;", 't LOG', '55000 25P02', $log ],
	[ 'a cursor that ends', "$QUIET BEGIN; DECLARE c CURSOR FOR SELECT answers(); FETCH c;
		RESET client_min_messages; COMMIT;", 't LOG', 't 55000', $log ],
	[ 'a level that falls while a view is read', "$QUIET
		SELECT CASE WHEN set_config('client_min_messages', 'log', false) = 'log' THEN (SELECT m FROM median_view) END;", 't LOG', '55000' ],
	[ 'RESET while a view is read', "$QUIET
		CREATE FUNCTION pg_temp.lower(OUT done boolean) LANGUAGE plpgsql
			AS \$\$ BEGIN done := true; RESET client_min_messages; END \$\$;
		SELECT CASE WHEN pg_temp.lower() THEN (SELECT m FROM median_view) END;", 't LOG', '55000', $log ],
	# Nothing looks at a level that becomes that of the session's start.
	[ 'a level that is lowered unseen while a query runs', "$QUIET
		SELECT x FROM generate_series(1, 2000) x WHERE set_config('client_min_messages', NULL, true) IS NOT NULL ORDER BY -x LIMIT 1;",
		'2000 LOG', '55000', $log ],
	[ 'a level that is lowered unseen while a view is read', "$QUIET
		SELECT CASE WHEN set_config('client_min_messages', NULL, false) IS NOT NULL THEN (SELECT m FROM median_view) END;",
		't LOG', '55000', $log ];
# A role that is not restricted sees such messages of its own queries, and none of the rows of private answers.
my $UNSEEN = "\\set VERBOSITY terse\n$QUIET SET client_min_messages = log; SELECT dp_median(salary, 1e-6, 0, 5000) > 0 FROM (SELECT salary FROM staff ORDER BY salary OFFSET 0) s";
$node->safe_psql('postgres', q{GRANT SELECT ON staff TO free; ALTER ROLE free SET auto_explain.log_min_duration = -1});
my $sorted = start_psql($node, $UNSEEN =~ s/dp_median.*> 0/max(salary)/r, user => 'free');
is(finish_psql($sorted), '5000', 'a sort of the own query');
like(slurp_file("$sorted->{file}.err"), qr/performsort/, 'threat 97: the end of a sort is told');
$sorted = start_psql($node, $UNSEEN, user => 'free');
is(finish_psql($sorted), 't', 'a sort below a private answer');
unlike(slurp_file("$sorted->{file}.err"), qr/performsort/, 'threat 97: the end of a sort below a private answer is not told');
$node->safe_psql('postgres', q{REVOKE SELECT ON staff FROM free; ALTER ROLE free RESET auto_explain.log_min_duration});
is(told($node, "$QUIET SET debug_print_plan = on; SET client_min_messages = warning; SELECT median_of(8)"),
	't', 'threat 30: settings that print only to the log do not matter');
is(outcome($node, "SET client_min_messages = notice; SELECT median_of(8)", options => $log),
	't', 'a session that begins with a low level can raise it');

# A superuser may have made auto_explain print to clients.
my $levels = sub { $node->safe_psql('postgres', "ALTER ROLE $_ $_[0]") for 'free', 'analyst' };
$levels->('SET auto_explain.log_level = info');
leak_is_closed($node, 'threat 30: auto_explain.log_level', 'SELECT median_of(8)', 't INFO', '55000');
leak_is_closed($node, 'threat 30: auto_explain.log_level and a cursor that is not read',
	'BEGIN; DECLARE c CURSOR FOR SELECT * FROM median_view; CLOSE c', 'INFO', '55000 25P02');
$levels->('SET auto_explain.log_min_duration = -1');
is(told($node, 'SELECT median_of(8)'), 't', 'auto_explain that prints nothing does not matter');
$levels->('RESET auto_explain.log_level');
$levels->('RESET auto_explain.log_min_duration');

# log_min_messages decides what reaches the log, not what reaches the client.
$node->append_conf('postgresql.conf', 'log_min_messages = panic');
$node->reload;
leak_is_closed($node, 'threat 30: a log that takes no messages',
	"SELECT pg_sleep(0.1); SET client_min_messages = log; SELECT median_of(8)", 't LOG', 't 55000');
$node->append_conf('postgresql.conf', 'log_min_messages = warning');
$node->reload;

done_testing();
