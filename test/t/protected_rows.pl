# threats 33, 34, 35, 68, 69: queries over a protected table that would multiply a row, choose rows by others, or tell of single rows; also
# where the answer changes because of a cached plan, a setting or another session. (sql/protected_refusals.sql has more shapes.)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use ProtectedTables;
use Test::More;

my $node = protected_node('protected_rows', conf => "log_statement = none\nshared_buffers = 1MB");
my $denied = '42501';
my $unsupported = '0A000';

# ---- Shapes ----

# The answer of a private count would be exact enough to tell.
my $of = 'SELECT round(dp_count(100), -1) FROM';
channel_is_closed($node, "threat 33: $_->[0]", "$of $_->[1]", $_->[2] // $unsupported)
	for [ 'a function with rows', 'staff, generate_series(1, 100)' ],
	[ 'itself', 'staff a JOIN staff b USING (department)' ],
	[ 'no key', 'staff s JOIN department d ON d.id <> s.department' ],
	[ 'UNION ALL', '(SELECT * FROM staff UNION ALL SELECT * FROM staff) t' ],
	[ 'LATERAL', 'staff s, LATERAL (SELECT s.id FROM generate_series(1, 100)) t' ],
	[ 'a recursive query', '(WITH RECURSIVE r AS (SELECT id FROM staff UNION ALL SELECT id + 1000000 FROM r WHERE id < 1000000) SELECT * FROM r) t' ],
	[ 'unnest', '(SELECT unnest(array_fill(1, ARRAY[100])) FROM staff) t' ],
	[ 'LIMIT', '(SELECT * FROM staff ORDER BY id LIMIT 150) t' ],
	[ 'OFFSET', '(SELECT * FROM staff ORDER BY id OFFSET 99) t WHERE id > 90' ],
	[ 'DISTINCT', '(SELECT DISTINCT department FROM staff) t' ],
	[ 'DISTINCT ON', '(SELECT DISTINCT ON (department) * FROM staff) t' ],
	[ 'TABLESAMPLE', 'staff TABLESAMPLE system (100)' ],
	[ 'a window function', '(SELECT count(*) OVER () AS n FROM staff) t WHERE n > 1000' ],
	[ 'GROUP BY below', '(SELECT department FROM staff GROUP BY department) t', $denied ],
	[ 'EXCEPT', '(SELECT id FROM staff EXCEPT SELECT id FROM department) t' ],
	[ 'a subquery', 'staff WHERE id <= 100 AND 1000 < (SELECT count(*) FROM staff s WHERE s.id = s.id OR s.id = staff.id)' ],
	[ 'EXISTS', 'staff WHERE EXISTS (SELECT FROM staff WHERE id = 5000)' ];
channel_is_closed($node, "threat 34: $_->[0]", $_->[1], $_->[2] // $denied)
	for [ 'lone keys', 'SELECT department FROM staff GROUP BY department HAVING dp_count(1) IS NOT NULL ORDER BY 1', $unsupported ],
	[ 'count(*)', 'SELECT count(*) FROM staff' ],
	[ 'count(*) in HAVING', "$of staff HAVING count(*) > 1000" ],
	[ 'count(*) in ORDER BY', 'SELECT least(department, 6) FROM staff GROUP BY 1 HAVING dp_keep_group(100, 1e-12) ORDER BY count(*) DESC' ],
	[ 'dp_keep_group OR', 'SELECT department FROM staff GROUP BY department HAVING dp_keep_group(1, 1e-12) OR dp_count(100) > 0.5', $unsupported ],
	[ 'NOT dp_keep_group', 'SELECT department FROM staff GROUP BY department HAVING NOT dp_keep_group(1, 1e-12)', $unsupported ],
	[ 'a constant key', "SELECT 'one', dp_count(1) IS NULL FROM staff WHERE id = 5000 GROUP BY 1", $unsupported ],
	[ 'EXISTS', 'SELECT EXISTS (SELECT FROM staff WHERE id = 5000)' ],
	[ 'IN', 'SELECT 5000 IN (SELECT id FROM staff)' ],
	[ 'ARRAY', 'SELECT ARRAY(SELECT id FROM staff)' ],
	[ 'a scalar subquery', 'SELECT (SELECT name FROM staff WHERE id = 5000)' ],
	[ 'a subquery over the keys', 'SELECT d.id, (SELECT max(salary) FROM staff) FROM department d WHERE id = 1' ],
	[ 'a join outside', "SELECT t.id FROM ($DEPARTMENTS) t JOIN staff s ON s.id = 5000", $unsupported ];
channel_is_closed($node, "threat 35: $_->[0]", $_->[1], $_->[2] // $unsupported)
	for [ 'ctid', "$of staff WHERE ctid >= '(1,1)'" ],
	[ 'xmin', "$of staff WHERE xmin::text = (SELECT xmin::text FROM staff WHERE id = 101)" ],
	[ 'tableoid', "SELECT tableoid FROM staff GROUP BY 1", $denied ],
	[ 'a whole row', "$of (SELECT staff AS r FROM staff) t WHERE r IS NOT NULL" ],
	[ 'a whole row as text', "SELECT staff::text FROM staff" ],
	[ 'to_jsonb of a row', "$of staff WHERE to_jsonb(staff) IS NOT NULL" ];
channel_is_closed($node, "threat 35: $_", "SELECT id FROM staff WHERE $_", $unsupported, reader => undef)
  for 'id = 5000 FOR SHARE', 'id = 5000 FOR UPDATE SKIP LOCKED', 'false FOR KEY SHARE';

# What PostgreSQL 19 added
if ($node->pg_version >= 19)
{
	channel_is_closed($node, "threat 247: $_->[0]", $_->[1], $_->[2], reader => $_->[3])
		for [ 'ON CONFLICT DO SELECT', q{INSERT INTO staff (id, name) VALUES (5000, '') ON CONFLICT (id) DO SELECT RETURNING name}, $unsupported ],
		[ 'ON CONFLICT DO SELECT FOR UPDATE', q{INSERT INTO staff (id, name) VALUES (5000, '') ON CONFLICT (id) DO SELECT FOR UPDATE RETURNING id}, $unsupported ],
		[ 'ON CONFLICT DO SELECT of a row of his own', 'CREATE TEMP TABLE own (id int PRIMARY KEY); INSERT INTO own VALUES (1);
			INSERT INTO own VALUES (1) ON CONFLICT (id) DO SELECT WHERE 1000 < (SELECT count(*) FROM staff) RETURNING id', $unsupported ],
		map { [ @$_, $_->[1] ] } [ 'COPY as JSON', 'COPY staff TO STDOUT (FORMAT json)', $denied ],
		[ 'COPY of a query as JSON', 'COPY (SELECT * FROM staff) TO STDOUT (FORMAT json)', $denied ],
		[ 'JSON_ARRAY', 'SELECT JSON_ARRAY(SELECT id FROM staff)', $denied ],
		[ 'error_on_null', "$of staff WHERE error_on_null(nullif(id, 5000)) > 0", $unsupported ],
		[ 'random dates', "$of staff WHERE random(date '2020-01-01', date '2020-01-01') + id > '2030-01-01'", $unsupported ],
		[ 'bytes as a uuid', "$of staff WHERE CASE WHEN id = 5000 THEN name::bytea::uuid IS NULL ELSE true END", $unsupported ],
		[ 'tid_block', "$of staff WHERE tid_block(ctid) > 0", $unsupported ];
}

# ---- The order of groups ----

# Three groups of 50 rows come after groups of one row each, which stay hidden. A hash table has another order with each number.
foreach my $hidden (0, 32, 128, 256)
{
	$node->safe_psql('postgres', qq{
		SET ROLE owner;
		CREATE TABLE few.crowd_$hidden AS SELECT 1000 + i AS k FROM generate_series(1, $hidden) i;
		INSERT INTO few.crowd_$hidden SELECT (i % 3) * 7919 FROM generate_series(1, 150) i;
		ANALYZE few.crowd_$hidden;
		GRANT SELECT ON few.crowd_$hidden TO reader;
		SELECT dp_protect_table('few.crowd_$hidden'), dp_grant_private_access('few.crowd_$hidden', 'analyst')});
}
my %orders;
foreach my $hidden (0, 32, 128, 256)
{
	is( summary(seen($node, 'few', "SELECT k FROM crowd_$hidden GROUP BY k HAVING dp_keep_group(100, 1e-12)")),
		'0 7919 15838', "threat 34: the order of groups beside $hidden hidden ones");
	$orders{summary(seen($node, 'few', "SELECT k FROM crowd_$hidden GROUP BY k HAVING count(*) > 1", user => 'reader'))} = 1;
}
cmp_ok(keys %orders, '>', 1, 'threat 34: a reader sees different orders');

# ---- Joins whose plan is cached, or made while the table changes ----

# 1000 rows of the same key would multiply those of the person with id 1.
$node->safe_psql('postgres', q{
	SET ROLE owner;
	CREATE TABLE few.list (id int PRIMARY KEY);
	CREATE TABLE few.other (id int PRIMARY KEY);
	INSERT INTO few.list VALUES (1);
	INSERT INTO few.other VALUES (1);
	CREATE TABLE few.child (id int NOT NULL);
	INSERT INTO few.child SELECT 1 FROM generate_series(1, 1000);
	GRANT SELECT ON few.list, few.other TO analyst});
my $JOIN = 'SELECT dp_count(100) FROM staff JOIN list USING (id) JOIN other USING (id)';
my $LEFT = 'SELECT list.id, dp_count(staff.id, 100) FROM list LEFT JOIN staff USING (id) GROUP BY list.id';
my $session = start_session($node, 'analyst');
is(answered($session, "SET plan_cache_mode = force_generic_plan; PREPARE p AS $JOIN; PREPARE q AS $LEFT; EXECUTE p; EXECUTE q"), '1 1|1',
	'a join in a cached plan');
foreach my $change (
	[ 'a child', 'ALTER TABLE list OWNER TO owner; ALTER TABLE child INHERIT list', 'ALTER TABLE child NO INHERIT list; ANALYZE list' ],
	[ 'a dropped key', 'ALTER TABLE list DROP CONSTRAINT list_pkey', 'ALTER TABLE list ADD PRIMARY KEY (id)' ],
	[ 'a deferrable key', 'ALTER TABLE list DROP CONSTRAINT list_pkey, ADD PRIMARY KEY (id) DEFERRABLE',
		'ALTER TABLE list DROP CONSTRAINT list_pkey, ADD PRIMARY KEY (id)' ],
	[ 'row security', 'ALTER TABLE list ENABLE ROW LEVEL SECURITY', 'ALTER TABLE list DISABLE ROW LEVEL SECURITY' ],
	[ 'no right to read', 'REVOKE SELECT ON list FROM analyst', 'GRANT SELECT ON list TO analyst', $denied ])
{
	$node->safe_psql('postgres', "SET search_path = few; $change->[1]");
	my $code = $change->[3] // $unsupported;
	is(answered($session, 'EXECUTE p; EXECUTE q'), "$code $code", "threat 33: a cached plan after $change->[0]");
	$node->safe_psql('postgres', "SET search_path = few; $change->[2]");
	is(answered($session, 'EXECUTE p; EXECUTE q'), '1 1|1', "threat 33: and without it again");
}
$session->quit;

# The table gets a child after it was found to have none, while the query waits for the index of another table.
my $owner = start_session($node, 'owner');
$owner->query_safe('BEGIN; REINDEX INDEX other_pkey');
my $waiting = start_psql($node, "SET search_path = few, public; $JOIN");
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'analyst' AND wait_event_type = 'Lock'})
  or die 'the query does not wait';
$node->safe_psql('postgres', 'ALTER TABLE few.child INHERIT few.list');
$owner->query_safe('COMMIT');
is(finish_psql($waiting), '1', 'threat 33: a child that appears while the query is planned');
$node->safe_psql('postgres', 'ALTER TABLE few.child NO INHERIT few.list; ANALYZE few.list');
$owner->quit;

# ---- Joined tables that somebody writes who may not read the protected rows ----

# Reading a page removes dead rows from it, so that who writes the table sees afterwards which pages were read: those whose keys some
# protected row has. The reader may read all that is protected.
$node->safe_psql('postgres', q{
	CREATE ROLE partner LOGIN;
	CREATE ROLE guest;
	CREATE ROLE member LOGIN NOINHERIT;
	GRANT guest TO analyst;
	GRANT reader TO member;
	CREATE TABLE analyst.own (id int PRIMARY KEY);
	CREATE TABLE analyst.lent (id int PRIMARY KEY);
	CREATE TABLE analyst.read (id int PRIMARY KEY);
	INSERT INTO analyst.own VALUES (1);
	INSERT INTO analyst.lent VALUES (1);
	INSERT INTO analyst.read VALUES (1);
	ALTER TABLE analyst.own OWNER TO analyst;
	ALTER TABLE analyst.lent OWNER TO partner;
	ALTER TABLE analyst.read OWNER TO reader;
	GRANT SELECT ON analyst.lent, analyst.read TO analyst});
my $foreign_writer = '55000';
sub joined
{
	my ($table, $join) = @_;
	return summary(seen($node, 'few', "SELECT dp_count(100) FROM $table l $join staff USING (id)"));
}
my @rights = ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'INSERT (id)', 'UPDATE (id)');
foreach my $join ('JOIN', 'LEFT JOIN', 'RIGHT JOIN')
{
	my $answer = $join eq 'RIGHT JOIN' ? '100' : '1';
	is(joined('analyst.own', $join), $foreign_writer, "threat 69: $join, a table of the analyst");
	is(joined('analyst.lent', $join), $foreign_writer, "threat 69: $join, a table of somebody else who may not read the protected rows");
	is(joined('analyst.read', $join), $answer, "threat 69: $join, a table of somebody who may");
	is(joined('list', $join), $answer, "threat 69: $join, a table of the same owner");
}
foreach my $right (@rights)
{
	foreach my $writer ('analyst', 'guest', 'partner', 'member', 'PUBLIC')
	{
		$node->safe_psql('postgres', "GRANT $right ON few.list TO $writer");
		is(joined('list', 'JOIN'), $foreign_writer, "threat 69: a table on which $writer has $right");
		$node->safe_psql('postgres', "REVOKE $right ON few.list FROM $writer");
	}
	$node->safe_psql('postgres', "GRANT $right ON few.list TO reader");
	is(joined('list', 'JOIN'), '1', "threat 69: a table on which a reader has $right");
	$node->safe_psql('postgres', "REVOKE $right ON few.list FROM reader");
}
$node->safe_psql('postgres', 'GRANT pg_write_all_data TO guest');
is(joined('list', 'JOIN'), $foreign_writer, 'threat 69: a role that may become one that writes all tables');
$node->safe_psql('postgres', 'REVOKE pg_write_all_data FROM guest');
like(seen($node, 'few', 'SELECT dp_count(100) FROM analyst.lent JOIN staff USING (id)'),
	qr/role partner may write "lent", which is joined with "staff", but may not read the latter/, 'threat 69: the error names the role');

# Everybody writes the catalog, for example by CREATE TABLE.
is(summary(seen($node, 'few', "SELECT dp_count(100) FROM staff s JOIN $_")), $unsupported, "threat 69: $_")
	for 'pg_class c ON c.oid = s.id::oid', q{pg_class c ON c.relname = s.name::name AND c.relnamespace = 2200}, 'pg_database d ON d.oid = s.id::oid';

# Rights that are given after the query was planned
$session = start_session($node, 'analyst');
is(answered($session, "SET plan_cache_mode = force_generic_plan; PREPARE p AS $JOIN; EXECUTE p; BEGIN; DECLARE c CURSOR FOR $JOIN"), '1',
	'a cached plan and a cursor');
my $charged = spent($node);
$node->safe_psql('postgres', 'GRANT UPDATE (id) ON few.list TO partner');
is(answered($session, 'FETCH c; ROLLBACK'), $foreign_writer, 'threat 69: a cursor from before a table has another writer');
is(answered($session, 'EXECUTE p'), $foreign_writer, 'threat 69: a cached plan from before');
$node->safe_psql('postgres', 'REVOKE UPDATE (id) ON few.list FROM partner; GRANT INSERT ON few.list TO reader');
is(spent($node), $charged, 'threat 69: neither was charged');
is(answered($session, 'EXECUTE p; BEGIN; DECLARE c CURSOR FOR ' . $JOIN), '1', 'a reader may write it');
$node->safe_psql('postgres', 'REVOKE SELECT ON few.staff FROM reader');
is(answered($session, 'FETCH c; ROLLBACK'), $foreign_writer, 'threat 69: a cursor from before a writer lost the right to read');
is(answered($session, 'EXECUTE p'), $foreign_writer, 'threat 69: a cached plan from before that');
$node->safe_psql('postgres', 'GRANT SELECT ON few.staff TO reader; REVOKE INSERT ON few.list FROM reader');
$session->quit;

# ---- Where a scan of a large table begins ----

# It begins where another scan of the table has stopped: the inner side of a join stops at the key that a protected row has.
foreach my $table (map { ("$_.wide", "$_.broad") } 'few', 'many')
{
	$node->safe_psql('postgres', qq{
		CREATE TABLE $table (id int PRIMARY KEY, pad text);
		ALTER TABLE $table ALTER pad SET STORAGE PLAIN, OWNER TO owner;
		GRANT SELECT ON $table TO analyst, reader;
		INSERT INTO $table SELECT i, repeat('x', 5000) FROM generate_series(1, 300) i;
		VACUUM ANALYZE $table});
}
my $nested = join ';', map { "SET enable_$_ = off" } 'indexscan', 'indexonlyscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'material', 'memoize';
channel_is_closed($node, 'threat 71: the position of synchronized scans',
	"$nested; SELECT dp_count(1) IS NOT NULL FROM staff s JOIN wide w ON w.id = s.id / 100 WHERE s.id = 20000; SELECT id FROM wide LIMIT 1", 't 1');

# Code of the analyst, in the query around the release, would switch that on again. Such a query is refused (threat 98).
channel_is_closed($node, 'threat 71: synchronized scans that a domain switches on', qq{
	CREATE FUNCTION pg_temp.switched(value int) RETURNS boolean LANGUAGE plpgsql
		AS 'BEGIN PERFORM set_config(''synchronize_seqscans'', ''on'', false); RETURN true; END';
	CREATE DOMAIN pg_temp.switch AS int CHECK (pg_temp.switched(VALUE));
	$nested;
	SELECT '{1}'::text::pg_temp.switch[] IS NOT NULL AND
		(SELECT dp_count(1) IS NOT NULL FROM staff s JOIN broad w ON w.id = s.id / 100 WHERE s.id = 20000);
	SELECT id FROM broad LIMIT 1}, "1 $unsupported");

# ---- How deep the stack is ----

# A function calls itself as often as a query without such rows can bear.
# The pattern is about the longest that is accepted (threat 129).
my $deep = q{
	SET plan_cache_mode = force_generic_plan;
	PREPARE p (int) AS SELECT dp_count(1) IS NOT NULL FROM staff
	  WHERE (CASE WHEN id = $1 THEN repeat('a', 370) ELSE '' END) LIKE repeat('%a', 369) || 'b';
	EXECUTE p (0);
	CREATE FUNCTION pg_temp.deep(n int, id int) RETURNS void LANGUAGE plpgsql AS $$
		BEGIN
			IF n > 0 THEN PERFORM pg_temp.deep(n - 1, id); ELSE EXECUTE format('EXECUTE p (%s)', id); END IF;
		END $$;
	DO $$
	DECLARE low int := 0; high int := 5000; n int;
	BEGIN
		WHILE high - low > 1 LOOP
			n := (low + high) / 2;
			BEGIN
				PERFORM pg_temp.deep(n, 0);
				low := n;
			EXCEPTION WHEN statement_too_complex THEN high := n;
			END;
		END LOOP;
		PERFORM pg_temp.deep(low, 20000);
	END $$};
channel_is_closed($node, 'threat 72: the depth of the stack', $deep, 't');

# ---- A setting by which the rows of an index scan depend on how many there are ----

$node->safe_psql('postgres', "ALTER TABLE $_.staff ADD tags text[]; UPDATE $_.staff SET tags = '{a}'; CREATE INDEX ON $_.staff USING gin (tags)")
  for 'few', 'many';
my $fuzzy = 'SET gin_fuzzy_search_limit = 10; SET enable_seqscan = off';
channel_is_closed($node, 'threat 68: gin_fuzzy_search_limit', "$fuzzy; $COUNT", '55000',
	reader => undef);
isnt(summary(seen($node, 'few', "$fuzzy; SELECT count(*) FROM staff WHERE tags \@> '{a}'", user => 'reader')), '100',
	'threat 68: a reader does not see all rows');
channel_is_closed($node, 'threat 68: gin_fuzzy_search_limit and a cached plan', "PREPARE p AS $COUNT; EXECUTE p; $fuzzy; EXECUTE p", 't 55000',
	reader => undef);

done_testing();
