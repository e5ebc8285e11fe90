# threat 30: what PostgreSQL tells of the plan of a private query over a protected table: EXPLAIN, printed plans, the choice of a
# generic plan, the order of rows that a join leaves.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils qw(slurp_file);
use ProtectedTables;
use Test::More;

my $node = protected_node('protected_plans', conf => qq{
	auto_explain.log_min_duration = 0
	auto_explain.log_analyze = on
	auto_explain.log_nested_statements = on
	auto_explain.log_timing = off
	log_temp_files = 0
	log_statement = none});
is(summary(seen($node, 'few', $COUNT)), 't', 'the analyst gets an answer');

# ---- EXPLAIN ----

channel_is_closed($node, "threat 30: $_", "$_ $COUNT", '0A000')
	for 'EXPLAIN', 'EXPLAIN ANALYZE', 'EXPLAIN (FORMAT json, VERBOSE)', 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off)',
	'EXPLAIN CREATE TEMP TABLE kept AS', 'EXPLAIN DECLARE c CURSOR FOR', "PREPARE p AS $COUNT; EXPLAIN EXECUTE p; --",
	"PREPARE p AS $COUNT; EXPLAIN (ANALYZE, TIMING off) EXECUTE p; --";
channel_is_closed($node, 'threat 30: EXPLAIN (COSTS off)', "EXPLAIN (COSTS off) $COUNT WHERE id = 50", '0A000');
channel_is_closed($node, 'threat 30: EXPLAIN of a view', "CREATE TEMP VIEW v AS $COUNT; EXPLAIN SELECT * FROM v", '0A000');
channel_is_closed($node, 'threat 30: EXPLAIN in a function', qq{
	DO \$\$ DECLARE line text; BEGIN FOR line IN EXECUTE 'EXPLAIN $COUNT' LOOP RAISE NOTICE '%', line; END LOOP; END \$\$}, '0A000');
channel_is_closed($node, 'threat 30: EXPLAIN of what is refused', 'EXPLAIN SELECT * FROM staff', '42501');
channel_is_closed($node, 'threat 30: EXPLAIN of a probe', 'EXPLAIN SELECT * FROM staff LIMIT 0', '0A000');
channel_is_closed($node, 'threat 30: EXPLAIN of a function with the rows', q{
	CREATE FUNCTION pg_temp.rows() RETURNS SETOF staff LANGUAGE sql STABLE AS 'SELECT * FROM staff'; EXPLAIN SELECT * FROM pg_temp.rows()},
	'42501');
channel_is_closed($node, 'threat 30: EXPLAIN (GENERIC_PLAN)', 'EXPLAIN (GENERIC_PLAN) SELECT dp_count(1) FROM staff WHERE id > $1', '0A000')
	if $node->pg_version >= 16;

# ---- Printed plans ----

# Both libraries put themselves around the executor. The one that is loaded later comes first.
sub load
{
	my ($libraries) = @_;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$libraries'");
	$node->restart;
	return;
}

my $log = 'SET client_min_messages = log';
foreach my $libraries ('auto_explain, dpquantile', 'dpquantile, auto_explain')
{
	load($libraries);
	my $name = "threat 30: $libraries";
	is(summary(seen($node, 'few', 'SHOW auto_explain.log_min_duration')), '0', "$name: auto_explain is loaded");
	channel_is_closed($node, "$name, client_min_messages in the session", "$log; $COUNT", 't 55000');
	channel_is_closed($node, "$name, client_min_messages from the start", $COUNT, '55000', options => '-c client_min_messages=log');
	channel_is_closed($node, "$name, client_min_messages at the end of a cursor", qq{
		SET client_min_messages = notice;
		BEGIN; DECLARE c CURSOR FOR $COUNT; RESET client_min_messages; CLOSE c; COMMIT}, '55000', options => '-c client_min_messages=log');
	channel_is_closed($node, "$name, the usual client_min_messages", $COUNT, 't', reader => undef);

	# A superuser may have made auto_explain print to clients.
	foreach my $level ('info', 'notice', 'warning')
	{
		$node->safe_psql('postgres', "ALTER ROLE $_ SET auto_explain.log_level = $level") for 'analyst', 'reader';
		channel_is_closed($node, "$name, auto_explain.log_level = $level", $COUNT, '55000');
		channel_is_closed($node, "$name, auto_explain.log_level = $level, a cursor that is not read",
			"BEGIN; DECLARE c CURSOR FOR $COUNT; CLOSE c", '55000 25P02');
	}
	$node->safe_psql('postgres', "ALTER ROLE $_ RESET auto_explain.log_level") for 'analyst', 'reader';
}

# Settings that every user may change
channel_is_closed($node, "threat 30: $_", "SET $_ = on; SET work_mem = '64kB';
	SELECT abs(id), dp_count(1) FROM staff GROUP BY 1 HAVING dp_keep_group(0.1, 1e-9)", '55000', options => '-c client_min_messages=log')
	for 'debug_print_plan', 'trace_sort';
channel_is_closed($node, "threat 30: $_ of what is refused", "SET $_ = on; SELECT salary FROM staff ORDER BY salary DESC OFFSET 19999",
	'55000', options => '-c client_min_messages=log') for 'debug_print_plan', 'trace_sort';
channel_is_closed($node, 'threat 30: log_temp_files', "SET work_mem = '64kB'; SELECT abs(id), dp_count(1) FROM staff
	GROUP BY 1 HAVING dp_keep_group(0.1, 1e-9)", '55000', options => '-c client_min_messages=log');

# ---- Decisions of the planner that show ----

# A custom plan knows $1, so that it expects fewer rows of staff than the generic plan. The generic plan is chosen if that is no
# gain. The reader's exact query shows how many rows there are.
sub chosen_plan
{
	my ($query) = @_;
	return "PREPARE p (int) AS $query;\n" . "EXECUTE p (1000000);\n" x 6
	  . "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE name = 'p'";
}
my $selected = 'SELECT FROM staff WHERE id > $1';
foreach my $query ("SELECT COUNT IS NULL FROM ($selected) s", "WITH s AS ($selected) SELECT COUNT IS NULL FROM s",
	"WITH s AS MATERIALIZED ($selected) SELECT COUNT IS NULL FROM s",
	"WITH s AS ($selected) SELECT COUNT IS NULL FROM s UNION SELECT COUNT IS NULL FROM s")
{
	channel_is_closed($node, "threat 30: the choice of a generic plan: $query", chosen_plan($query =~ s/COUNT/dp_count(1)/gr),
		'f f f f f f 5|1', reader => chosen_plan($query =~ s/COUNT/count(*)/gr));
}

# threat 129: a nested loop computes what is computed of a row for each row of the other side, so that the time of one row grows.
my $printed = -s $node->logfile;
is(summary(seen($node, 'few', 'SET debug_print_plan = on; SET enable_hashjoin = off; SET enable_mergejoin = off;
	SELECT dp_count(s.id, 1) IS NOT NULL FROM department d LEFT JOIN staff s ON d.id = s.department')), 't', 'threat 129: a join is answered');
like(slurp_file($node->logfile, $printed), qr/\{(HASH|MERGE)JOIN/, 'threat 129: its rows are hashed or sorted');
unlike(slurp_file($node->logfile, $printed), qr/\{NESTLOOP/, 'threat 129: not compared in a nested loop');

# threat 156: nobody chooses the hashes of keys that rows have. For those that are computed, each new key of a hash table could be compared with
# all before it, so that a hash under a secret is a key, too. threat 169: rows are never sorted.
sub plan_of_groups
{
	my ($key, $from, $schema) = @_;
	my $before = -s $node->logfile;
	is(summary(seen($node, $schema // 'few', "SET debug_print_plan = on; SELECT count(*) FROM (SELECT $key AS k, dp_count(1)
		FROM $from GROUP BY 1 HAVING dp_keep_group(100, 1e-12)) t WHERE k IS NULL")), '0', "threat 129: groups by $key are answered");
	return slurp_file($node->logfile, $before);
}
sub grouping
{
	my ($key, $from) = (@_, 'staff');
	my $plan = plan_of_groups($key, $from);
	unlike($plan, qr/\{(INCREMENTAL)?SORT/, "threat 169: nothing is sorted to group by $key");
	like($plan, qr/:methods\s+GroupedRows/, "threat 156: groups by $key are in a hash table");
	my @grouped = $plan =~ /:aggsplit\s+\d\s+:numCols\s+(\d)/g;
	return "@grouped";
}
is(grouping('department'), '1 0', 'threat 156: stored keys are hashed');
is(grouping('abs(id) * 4294967297'), '2 0', 'threat 156: computed keys have a secret hash');
sub with_list
{
	my ($factor, $count) = @_;
	my $list = join(',', map { $_ * $factor } 1 .. $count // 1001);
	return "staff JOIN unnest('{$list}'::bigint[]) l (k) ON l.k = id::bigint";
}
is(grouping('l.k', with_list(1)), '1 0', 'threat 156: keys of a list are hashed');
is(grouping('l.k', with_list(4294967297)), '2 0', 'threat 156: unless many of its values have one hash');

# threats 251, 290, 333: the text of the query decides whether rows are grouped part by part: they are unless it lists few keys. None is ever put aside.
sub in_parts
{
	my ($schema, $key, $from) = @_;
	my $plan = plan_of_groups($key, $from, $schema);
	like($plan, qr/may_put_aside\s+:arg\s+false.*:methods\s+GroupedRows/s, "threat 251: $schema rows are never put aside");
	unlike($plan, qr/\{(INCREMENTAL)?SORT/, "threat 251: none of $schema rows is sorted");
	return $plan =~ /in_parts\s+:arg\s+(\w+).*:methods\s+GroupedRows/s ? $1 : 'none';
}
foreach my $schema ('few', 'many')
{
	is(in_parts($schema, 'l.k', with_list(1, 1999)), 'false', "threat 290: $schema rows of few keys are grouped as they are read");
	is(in_parts($schema, 'l.k', with_list(1, 2000)), 'true', "threat 290: $schema rows of many keys are grouped part by part");
	is(in_parts($schema, 'department', 'staff'), 'true', "threat 333: so do $schema rows of keys without a list");
}

# Also beside columns that are no keys, or that PostgreSQL leaves out of the keys because they are fixed, and where rows are wide.
my $texts = join(', ', map { "department::text || '$_' AS t$_" } 1 .. 7);
foreach my $columns ("'x' AS c, department AS k", 'GROUPING(department) AS c, department AS k', 'abs(id) AS c, department AS k', "$texts, department AS k")
{
	my $fixed = $columns =~ /abs/ ? 'WHERE abs(id) = 7' : '';
	my $by = $columns =~ /GROUPING/ ? 2 : $columns =~ /t7/ ? join(', ', 1 .. 8) : '1, 2';
	my $before = -s $node->logfile;
	is(summary(seen($node, 'few', "SET debug_print_plan = on; SELECT count(*) FROM (SELECT $columns, dp_count(1) FROM staff $fixed GROUP BY $by
		HAVING dp_keep_group(100, 1e-12)) t WHERE k IS NULL")), '0', "threat 333: groups by $columns are answered");
	like(slurp_file($node->logfile, $before), qr/in_parts\s+:arg\s+true.*:methods\s+GroupedRows/s, "threat 333: part by part");
}

# threat 230: the text of the query decides whether the rows of persons are put in order below their groups. 0 is no grouping, 1 one of rows
# in order, 2 a hash table.
$node->safe_psql('postgres', q{
	SET ROLE owner;
	CREATE TABLE few.visits AS SELECT i % 20 AS person, i % 3 AS kind FROM generate_series(1, 100) i;
	SELECT dp_protect_table('few.visits', 'person', 10), dp_grant_private_access('few.visits', 'analyst')});
sub person_groups
{
	my ($groups) = @_;
	my $before = -s $node->logfile;
	is(summary(seen($node, 'few', "SET debug_print_plan = on; SELECT dp_count(1) IS NOT NULL FROM (SELECT $groups) p")), 't',
		"threat 230: an answer about $groups");
	my $plan = slurp_file($node->logfile, $before);
	unlike($plan, qr/\{(INCREMENTAL)?SORT/, "threat 230: nothing is sorted for $groups");
	my @grouped = $plan =~ /:aggstrategy\s+(\d)/g;
	return ($plan =~ /PersonOrder/ ? 'in order, ' : '') . "@grouped";
}
is(person_groups($_->[0]), $_->[1], "threat 230: the plan of $_->[0]")
	for [ 'count(*) FROM visits GROUP BY person', '2 0' ],
	[ 'sum(kind), max(kind) FROM visits GROUP BY person', '2 0' ],
	[ 'count(DISTINCT kind) FROM visits GROUP BY person', 'in order, 1 0' ],
	[ 'percentile_disc(0.5) WITHIN GROUP (ORDER BY kind) FROM visits GROUP BY person', 'in order, 1 0' ],
	[ 'DISTINCT person, kind FROM visits', 'in order, 1 0' ];

# Which side of the join is hashed decides the order of the rows. The planner expects as many groups as there are departments.
sub joined
{
	my ($groups) = @_;
	return qq{
	SET enable_mergejoin = off; SET enable_nestloop = off;
	CREATE TEMP TABLE list AS SELECT (i * 5) % 503 AS id FROM generate_series(1, 1000) i;
	ANALYZE list;
	SELECT string_agg(id::text, ' ') FROM (SELECT l.id FROM list l JOIN ($groups) g ON g.id = l.id) t};
}
channel_is_closed($node, 'threat 30: the order of the rows of a join', joined($DEPARTMENTS), '5 2 4 1 3 5 2 4 1 3',
	reader => joined('SELECT department AS id, count(*) FROM staff GROUP BY department'));

done_testing();
