# threat 37: sessions without the library. Nothing is open there, because the analyst has no right of its own.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use ProtectedTables;
use Test::More;

my $node = protected_node('protected_library', preloaded => 0, conf => 'log_statement = none');
my $denied = '42501';
my @rows = ('SELECT count(*) FROM staff', 'SELECT name FROM staff', 'SELECT * FROM staff LIMIT 0', 'SELECT 1 FROM staff WHERE id = 5000',
	'EXPLAIN SELECT * FROM staff WHERE salary > 5', 'EXPLAIN ANALYZE SELECT id FROM staff',
	'COPY (SELECT * FROM staff) TO STDOUT', 'PREPARE r AS SELECT count(*) FROM staff; EXECUTE r',
	'SELECT dp_count(1), count(*) FROM staff');
my $all = join ";\n", @rows;
my $all_denied = join ' ', ($denied) x @rows;

$node->safe_psql('postgres', q{ALTER ROLE analyst RESET session_preload_libraries});
is(summary(seen($node, 'few', q{SELECT count(*) FROM pg_settings WHERE name = 'dpquantile.restricted' AND category ~ 'Customized' AND vartype = 'bool'})),
	'0', 'the session begins without the library');
channel_is_closed($node, 'threat 37: without the library', $all, $all_denied, reader => undef);
# Planning a private aggregate loads the library. The session began without it, and so is not served.
channel_is_closed($node, 'threat 37: the library comes while a query is planned', "$COUNT; SELECT count(*) FROM staff; $COUNT", "$denied 55000 55000",
	reader => undef);
channel_is_closed($node, 'threat 37: plans from before the library',
	"SET plan_cache_mode = force_generic_plan; PREPARE p AS SELECT count(*) FROM staff; EXECUTE p; PREPARE q AS $COUNT; EXECUTE q; EXECUTE p; EXECUTE q",
	"$denied $denied 55000 55000", reader => undef);
channel_is_closed($node, 'threat 37: the analyst cannot load a library', "LOAD 'auto_explain'; $COUNT", "$denied $denied", reader => undef);

# A plan with SELECT from before the library
my $session = start_session($node, 'postgres');
is(answered($session, 'SET plan_cache_mode = force_generic_plan; SET ROLE reader; PREPARE p AS SELECT count(*) FROM staff; EXECUTE p'), '100',
	'an exact query of a role with SELECT');
# By the third statement the library is loaded, and finds that the analyst owns a schema (threat 102).
is(answered($session, "SET ROLE analyst; EXECUTE p; $COUNT; EXECUTE p"), "$denied $denied 55000", 'threat 37: not for the analyst');
$session->quit;

# The extension is gone.
$session = start_session($node, 'analyst');
is(answered($session, "PREPARE p AS $COUNT; EXECUTE p; EXECUTE p; $COUNT"), "$denied 55000 55000", 'a session that has loaded the library');
$node->safe_psql('postgres', 'DROP EXTENSION dpquantile CASCADE');
is(answered($session, "EXECUTE p; SELECT count(*) FROM staff; SELECT * FROM staff LIMIT 0"), "42883 $denied $denied", 'threat 37: without the extension');
$session->quit;
channel_is_closed($node, 'threat 37: without the extension', 'SELECT count(*) FROM staff; SELECT * FROM staff LIMIT 0', "$denied $denied", reader => undef);

done_testing();
