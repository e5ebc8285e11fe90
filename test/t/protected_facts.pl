# threat 31: statistics, sizes, locks and files of a protected table, after a private query. threat 53: serialization failures. threat 158: blocks of the
# session's memory.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use ProtectedTables;
use Test::More;

my $node = protected_node('protected_facts', conf => qq{
	shared_preload_libraries = 'dpquantile, pg_stat_statements'
	pg_stat_statements.track = all
	temp_file_limit = '64kB'
	log_statement = none});
$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements; ALTER TABLE few.staff ADD number serial; ALTER TABLE many.staff ADD number serial;
	GRANT SELECT ON few.staff_number_seq, many.staff_number_seq TO reader');

# ---- Statistics, sizes and locks ----

# In many, there is a row with this key. An index alone does not tell of it: PostgreSQL 19 marks pages as visible to all when it reads them.
my $ONE = "SET enable_seqscan = off; $COUNT WHERE id = 5000 AND salary > 0";
# Numbers are NULL for the analyst, and those of pg_class constants (sql/hidden_facts.sql has more ways).
channel_is_closed($node, "threat 31: $_->[0] of the transaction",
	"BEGIN; $ONE; SELECT $_->[0] FROM pg_stat_xact_user_tables t WHERE relid = 'staff'::regclass", $_->[1])
	for [ 'idx_tup_fetch', 't' ], [ q{jsonb_strip_nulls(to_jsonb(t) - 'relid' - 'schemaname')}, 't {"relname": "staff"}' ];
channel_is_closed($node, "threat 31: $_", "BEGIN; $ONE; SELECT $_", 't')
	for q{pg_stat_get_xact_tuples_fetched('staff_pkey'::regclass)}, q{pg_stat_get_live_tuples('staff'::regclass)};
channel_is_closed($node, "threat 31: $_->[0]", $_->[1], $_->[2] // '')
	for [ 'pg_stat_user_tables', q{SELECT n_live_tup FROM pg_stat_user_tables WHERE relid = 'staff'::regclass} ],
	[ 'pg_statio_user_tables', q{SELECT heap_blks_read + heap_blks_hit FROM pg_statio_user_tables WHERE relid = 'staff'::regclass} ],
	[ 'the size', q{SELECT pg_relation_size('staff')} ],
	[ 'the size of indexes', q{SELECT pg_indexes_size('staff')} ],
	[ 'reltuples', q{SELECT reltuples FROM pg_class WHERE oid = 'staff'::regclass}, '-1' ],
	[ 'relpages of the index', q{SELECT relpages FROM pg_class WHERE oid = 'staff_pkey'::regclass}, '0' ];
channel_is_closed($node, "threat 31: $_", $_, '', reader => undef)
	for 'SELECT tup_returned FROM pg_stat_database WHERE datname = current_database()', 'SELECT blks_hit FROM pg_stat_database',
	'SELECT pg_database_size(current_database())';
channel_is_closed($node, 'threat 31: numbers beside a private answer',
	"SELECT reltuples, ($COUNT) FROM pg_class WHERE oid = 'staff'::regclass", '-1|t', reader => undef);
channel_is_closed($node, "threat 31: $_", $_, '42501', reader => undef)
	for 'SELECT query FROM pg_stat_activity',
	q{SELECT mode FROM pg_locks WHERE relation = 'staff'::regclass}, 'SELECT name FROM pg_backend_memory_contexts',
	'SELECT pg_current_wal_lsn()', 'SELECT * FROM pg_stat_statements', 'SELECT stanumbers1 FROM pg_statistic';
# What PostgreSQL itself shows only to those who may read the table
channel_is_closed($node, "threat 31: $_->[0]", $_->[1], $_->[2])
	for [ 'pg_stats', q{SELECT n_distinct FROM pg_stats WHERE tablename = 'staff' AND schemaname = (current_schemas(false))[2]}, '42501' ],
	[ 'a sequence', q{SELECT last_value FROM pg_sequences WHERE sequencename = 'staff_number_seq' AND schemaname = (current_schemas(false))[2]}, '' ],
	[ 'a sequence itself', 'SELECT last_value FROM staff_number_seq', '42501' ];

# ---- Temporary files ----

# A sort of 20000 rows takes more than the limit. A restricted role has none.
channel_is_closed($node, 'threat 31: temp_file_limit', qq{
	SET work_mem = '64kB'; SELECT dp_count(1) IS NULL FROM staff GROUP BY name HAVING dp_keep_group(0.1, 1e-12)}, '');

# ---- The allocator of the session ----

# glibc raises the size from which the kernel gives a block when a larger block is freed, and a block from the kernel has a page fault for
# each of its pages. So the faults of later blocks would tell that a query has read many rows.
SKIP:
{
	skip 'needs the numbers of page faults in /proc', 2 unless -r '/proc/self/stat';
	my $BLOCKS = q{SELECT count(repeat('x', 200000 + i)) FROM generate_series(1, 100) i};
	my $faults = 0.9 * 100 * 200000 / POSIX::sysconf(POSIX::_SC_PAGESIZE());
	for my $schema ('few', 'many')
	{
		my $session = start_session($node, 'analyst');
		my $process = $session->query_safe('SELECT pg_backend_pid()');
		my $page_faults = sub { (split ' ', slurp_file("/proc/$process/stat") =~ s/.*\) //sr)[7] };
		answered($session, "SELECT dp_count(1) IS NULL FROM $schema.staff GROUP BY name HAVING dp_keep_group(0.1, 1e-12)");
		answered($session, $BLOCKS);
		my $before = $page_faults->();
		answered($session, $BLOCKS);
		cmp_ok($page_faults->() - $before, '>', $faults, "threat 158: blocks after a query of $schema rows come from the kernel");
		$session->quit;
	}
}

# ---- pg_stat_statements ----

# What the superuser sees of the blocks that a role's statements have read.
sub blocks_read
{
	my ($role) = @_;
	return $node->safe_psql('postgres', qq{
		SELECT coalesce(sum(shared_blks_hit + shared_blks_read), 0) > 10 FROM pg_stat_statements
		WHERE userid = '$role'::regrole AND query ~ '^SELECT dp_count'});
}
$node->safe_psql('postgres', 'SELECT pg_stat_statements_reset()');
seen($node, 'many', $COUNT, user => $_) for 'analyst', 'reader';
is(blocks_read('reader'), 't', 'threat 31: pg_stat_statements has the blocks of a query that a reader asks');
is(blocks_read('analyst'), 'f', 'threat 31: it has none of one over a protected table');

# ---- Serializable transactions ----

channel_is_closed($node, 'threat 53: SERIALIZABLE', qq{
	BEGIN ISOLATION LEVEL SERIALIZABLE; $ONE; SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND mode = 'SIReadLock' AND locktype = 'tuple'},
	'0A000 25P02');
channel_is_closed($node, "threat 53: $_", "$_; $ONE", '0A000', reader => undef)
	for 'SET default_transaction_isolation = serializable', 'BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE';
is(summary(seen($node, 'many', "BEGIN ISOLATION LEVEL REPEATABLE READ; $COUNT")), 't', 'REPEATABLE READ works');

done_testing();
