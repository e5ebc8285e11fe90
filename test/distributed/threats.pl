# Threats 85 to 89, 91 and 110 to 114: what may be tried where tables are distributed over several servers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../t/lib";

use DistributedServers;
use DpQuantile;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my ($coordinator, @workers) = new_servers();
my $worker = $workers[0];
my $answer = 'SELECT dp_count(1) BETWEEN 5900 AND 6100 FROM person';

# ---- Threats 85 and 86: a worker -------------------------------------------------------------

$worker->safe_psql('postgres', q{
	SELECT dp_grant_budget('analyst', 100);
	SET citus.enable_ddl_propagation = off;
	CREATE TABLE own AS SELECT 1::float8 AS x; GRANT SELECT ON own TO analyst});
is(outcome($worker, $answer), '0A000', 'threat 85: a worker does not answer about a distributed table');
is(outcome($worker, 'SELECT dp_count(1) FROM city'), '0A000', 'threat 85: nor about a reference table');
is(outcome($worker, 'SELECT dp_count(1) FROM own'), '0A000', 'threat 86: nor about a table of its own');
my $shard = $worker->safe_psql('postgres', sprintf
	"SELECT shard_name FROM citus_shards WHERE table_name = 'person'::regclass AND nodeport = %d ORDER BY shardid LIMIT 1", $worker->port);
like($shard, qr/^person_\d+$/, 'the worker has a shard');
is(outcome($worker, "SELECT dp_count(1) FROM $shard"), '0A000', 'threat 85: nor about a shard');
is(outcome($worker, "SET application_name = 'citus_internal gpid=10000000001'; SELECT dp_count(1) FROM own"), '0A000',
	'threat 85: nor in a session that seems to be of Citus');
is(outcome($coordinator, "SET application_name = 'citus_internal gpid=10000000001'; SELECT dp_count(1) FROM here"), '0A000',
	'threat 85: nor the coordinator, in such a session');
is(outcome($worker, "SELECT success, result FROM run_command_on_coordinator('SELECT dp_count(1) FROM here')") =~ /^t\|/ ? 1 : 0, 0,
	'threat 85: nor the coordinator for a worker');
is(charges_on_workers(@workers), 0, 'threat 86: the budget of the worker is untouched');
is(spent($worker), 0, 'threat 86: also by its own figures');
is(charges($coordinator), 0, 'threat 85: nothing is charged on the coordinator');

# ---- Threat 87: the names of the aggregates --------------------------------------------------

# Citus takes the combining aggregate by its name from any schema, and finds those with argument anyelement first.
$coordinator->safe_psql('postgres', q{
	CREATE ROLE mallory LOGIN; CREATE SCHEMA mallory AUTHORIZATION mallory; GRANT USAGE ON SCHEMA mallory TO PUBLIC; SET ROLE mallory;
	CREATE FUNCTION mallory.steal(anyelement, anyelement) RETURNS anyelement LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'stolen' USING ERRCODE = 'P0099'; END $$;
	CREATE AGGREGATE mallory.topn_union_agg(anyelement) (SFUNC = mallory.steal, STYPE = anyelement)});
is(answers_of($coordinator, $answer), 't: 1', "threat 87: another aggregate with the name sees no state");
$coordinator->safe_psql('postgres', q{
	DROP AGGREGATE mallory.topn_union_agg(anyelement); SET ROLE mallory;
	CREATE FUNCTION mallory.tell(text, anyelement) RETURNS text LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'stolen' USING ERRCODE = 'P0099'; END $$;
	CREATE AGGREGATE mallory.topn_union_agg(anyelement) (SFUNC = mallory.tell, STYPE = text)});
is(answers_of($coordinator, $answer), 't: 1', 'threat 87: nor one with a state of another type');
$coordinator->safe_psql('postgres', 'DROP AGGREGATE mallory.topn_union_agg(anyelement)');
is(answers_of($coordinator, 'SELECT topn_add_agg(age, NULL) FROM copy_of_person'), '22004: 0', 'threat 87: parameters must be given');
is(answers_of($coordinator, "SELECT topn_add_agg(age, '\\x0400') FROM copy_of_person"), '22P03: 0', 'threat 87: bad bytes are refused');
is(answers_of($coordinator, 'SELECT topn_add_agg(age, NULL) FROM mallory_has_no_right'), '42P01: 0', 'threat 87: nothing else is read');
is(outcome($coordinator, "SET ROLE mallory; SELECT topn_add_agg(age, '\\x') FROM person", user => 'postgres'), '42501',
	'threat 87: states are shown of rows only that the role may read');
$coordinator->safe_psql('postgres', 'SET ROLE mallory; CREATE FUNCTION mallory.topn_union_agg(anyelement) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$');
is(answers_of($coordinator, $answer), '42501: 0', 'threat 87: a plain function with the name is refused for free');
$coordinator->safe_psql('postgres', 'DROP FUNCTION mallory.topn_union_agg(anyelement)');
is(answers_of($coordinator, 'SELECT dp_count(1) FILTER (WHERE c1) FROM dpquantile.distributed_groups() AS g (c1 boolean)',
		user => 'postgres'), '0A000: 0', 'threat 87: a placeholder that a query writes itself is refused for free');

# Settings that a caller may change before the query, or before a function with the rights of its owner.
foreach my $setting ('citus.subquery_pushdown = on', 'citus.max_intermediate_result_size = 1', "citus.propagate_set_commands = 'local'")
{
	is(answers_of($coordinator, "SET $setting; SELECT dp_count(100) FROM city LEFT JOIN person USING (city)"), '55000: 0',
		"threat 89: refused for free: SET $setting");
	is(answers_of($coordinator, "PREPARE p AS SELECT dp_count(1) FROM person; SET $setting; EXECUTE p"), '55000: 0',
		"threat 89: also for a prepared query: $setting");
}
is(answers_of($coordinator, "BEGIN; SET citus.subquery_pushdown = on; RESET citus.subquery_pushdown; $answer; COMMIT"), '55000: 0',
	'threat 89: also after RESET in the same transaction');

# ---- Threat 114: rows that were fetched before -----------------------------------------------

# Each city once for each of six shards, in a function's own table or rows.
$coordinator->safe_psql('postgres', q{
	CREATE FUNCTION fetched_cities() RETURNS SETOF int LANGUAGE plpgsql AS
		$$ BEGIN RETURN QUERY SELECT c.city FROM city c LEFT JOIN person p ON c.city = p.city AND p.age < -1; END $$;
	CREATE FUNCTION of_fetched() RETURNS text LANGUAGE plpgsql AS
		$$ BEGIN CREATE TEMP TABLE fetched ON COMMIT DROP AS SELECT fetched_cities() AS city; RETURN (SELECT dp_count(100) FROM fetched); END $$});
foreach my $query ('SELECT dp_count(100) FROM fetched_cities()', 'SELECT of_fetched()')
{
	is(answers_of($coordinator, $query), '5: 1', "threat 114: each row once: $query");
	is(answers_of($coordinator, "SET citus.subquery_pushdown = on; $query"), '55000: 0', "threat 114: refused for free, with a setting of one's own: $query");
}

# ---- Threat 89: settings in the middle -------------------------------------------------------

# A setting that changes in the middle. subquery_pushdown counts each city once for each of six shards.
my $cities = 'SELECT dp_count(100) BETWEEN 4 AND 6 FROM city c LEFT JOIN person p ON c.city = p.city AND p.age < -1';
$coordinator->safe_psql('postgres', q{
	CREATE FUNCTION early(setting text, value text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS
		$$ BEGIN PERFORM set_config(setting, value, true); RETURN true; END $$;
	CREATE FUNCTION late(setting text, value text) RETURNS boolean VOLATILE LANGUAGE plpgsql AS
		$$ BEGIN PERFORM set_config(setting, value, true); RETURN true; END $$});
is(answers_of($coordinator, $cities), 't: 1', 'threat 89: each row of a reference table is counted once');
is(answers_of($coordinator, "$cities WHERE early('citus.subquery_pushdown', 'on')"), '55000: 0',
	'threat 89: refused for free: a function that changes a setting while the query is planned');
is(answers_of($coordinator, "$cities WHERE early('citus.subquery_pushdown', 'on') AND early('citus.subquery_pushdown', 'off')"), '55000: 0',
	'threat 89: also one that changes it back');
is(answers_of($coordinator, "BEGIN; DECLARE c CURSOR FOR $cities WHERE early('citus.subquery_pushdown', 'on'); FETCH c; COMMIT"), '55000: 0',
	'threat 89: also when a cursor is read first');
is(answers_of($coordinator, "PREPARE p(text) AS $cities WHERE early('citus.subquery_pushdown', \$1); SET plan_cache_mode = force_generic_plan;
	EXECUTE p('on')"), '55000: 0', 'threat 89: also in a prepared query');
my $local_rows = 'SELECT dp_count(1) FROM person WHERE id IN (SELECT id FROM here';
is(answers_of($coordinator, "$local_rows WHERE late('citus.max_intermediate_result_size', '9'))"), '55000: 1',
	'threat 89: a function that changes a setting for a row: no answer');
is(answers_of($coordinator, "$local_rows WHERE late('citus.max_intermediate_result_size', '9') AND late('citus.max_intermediate_result_size', '1048576'))"),
	'55000: 1', 'threat 89: also one that changes it back');
is(answers_of($coordinator, "SELECT m, (SELECT dp_count(1) FROM person WHERE id IN (SELECT id FROM here WHERE m > 1 AND late('citus.subquery_pushdown', 'on')))
	FROM generate_series(1, 2) AS m"), '0A000: 0', 'threat 89: an execution for each row of an outer query is refused');
$coordinator->safe_psql('postgres', 'ALTER DATABASE postgres SET citus.subquery_pushdown = on');
is(answers_of($coordinator, $cities), '0A000: 0', 'threat 89: refused for free: a setting of the database that counts rows more than once');
$coordinator->safe_psql('postgres', 'ALTER DATABASE postgres RESET citus.subquery_pushdown');

# Citus can be made to send settings to the workers, where they outlive a function or a savepoint. The names in the text of a shard's
# query are then looked up in the schema of the caller, with the rights of the function's owner.
$coordinator->safe_psql('postgres', q{
	SET ROLE mallory;
	CREATE FUNCTION mallory.lower(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'as %', current_user USING ERRCODE = 'P0099'; END $$;
	CREATE FUNCTION mallory.send() RETURNS void LANGUAGE plpgsql SET citus.propagate_set_commands = 'local' AS
		$$ BEGIN SET LOCAL search_path = mallory, pg_catalog, public; END $$;
	GRANT EXECUTE ON FUNCTION mallory.send() TO PUBLIC; RESET ROLE;
	CREATE VIEW names AS SELECT lower(name) AS name FROM person;
	CREATE FUNCTION of_table() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
		$$ BEGIN RETURN (SELECT dp_count(1) IS NOT NULL FROM person WHERE lower(name) = 'n1'); END $$;
	CREATE FUNCTION of_rows() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
		$$ BEGIN RETURN (SELECT dp_count(1) IS NOT NULL FROM (SELECT DISTINCT lower(name) FROM person ORDER BY 1 LIMIT 5) s); END $$;
	CREATE FUNCTION of_view() RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS
		$$ BEGIN RETURN (SELECT dp_count(1) IS NOT NULL FROM (SELECT DISTINCT name FROM names ORDER BY 1 LIMIT 5) s); END $$;
	SELECT dp_grant_budget('mallory', 1000, 0.1), dp_grant_budget('postgres', 1000, 0.1)});
my %as_mallory = (user => 'mallory');
my %sending = (
	'in the session' => "SET LOCAL citus.propagate_set_commands = 'local'; SET LOCAL search_path = mallory, pg_catalog, public; RESET citus.propagate_set_commands",
	'in a function' => 'DO $$ BEGIN PERFORM mallory.send(); END $$',
	'in a savepoint' => 'SAVEPOINT a; DO $$ BEGIN PERFORM mallory.send(); END $$; RELEASE a');
foreach my $asked ('of_table()', 'of_rows()', 'of_view()')
{
	is(answers_of($coordinator, "BEGIN; $sending{$_}; SELECT $asked; COMMIT", %as_mallory), '55000: 0',
		"threat 87: refused for free after a search_path was sent to the workers $_: $asked") foreach sort keys %sending;
	is(answers_of($coordinator, "BEGIN; $sending{'in a function'}; COMMIT; SELECT $asked", %as_mallory), 't: 1',
		"threat 87: answered in the next transaction: $asked");
}

# Views. Citus asks the workers with the rights of the role that asks, not with those of the view's owner.
$coordinator->safe_psql('postgres', q{
	CREATE VIEW all_people AS SELECT * FROM person; CREATE VIEW barred WITH (security_barrier) AS SELECT * FROM person WHERE age > 18;
	CREATE VIEW invoked WITH (security_invoker) AS SELECT * FROM person; CREATE VIEW of_one AS SELECT * FROM person WHERE id = 7;
	CREATE VIEW cities AS SELECT * FROM city; CREATE VIEW nested AS SELECT p.age FROM all_people p JOIN cities USING (city);
	CREATE VIEW rooms AS SELECT * FROM here; CREATE VIEW answer AS SELECT dp_count(1) AS n FROM person;
	GRANT SELECT ON all_people, barred, invoked, of_one, cities, nested, rooms, answer, names TO PUBLIC});
foreach my $view (qw(all_people barred invoked of_one cities nested names))
{
	is(answers_of($coordinator, "SELECT dp_count(1) FROM $view", %as_mallory), '42501: 0',
		"threat 87: refused for free: a view of a table without rights on the table: $view");
	is(answers_of($coordinator, "SELECT dp_count(1) IS NOT NULL FROM $view"), 't: 1', "answered with rights on the table: $view");
}
is(answers_of($coordinator, 'SELECT n FROM answer', %as_mallory), '42501: 0', 'threat 87: also a view of an answer');
is(answers_of($coordinator, 'SELECT dp_count(1) IS NOT NULL FROM rooms', %as_mallory), 't: 1', 'a view of a local table needs no rights on it');
is(answers_of($coordinator, "PREPARE p AS SELECT dp_count(1) IS NOT NULL FROM all_people; EXECUTE p; SET ROLE mallory; EXECUTE p", user => 'postgres'),
	't 42501: 1', 'threat 87: a prepared query asks for the rights of the role that executes it');

# The rights are those of the role that opens a cursor, and are checked when it does.
$coordinator->safe_psql('postgres', q{
	CREATE TABLE secret (id int, x float8); SELECT create_distributed_table('secret', 'id'); INSERT INTO secret VALUES (1, 42);
	CREATE FUNCTION fetch_one(c refcursor) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS
		$$ DECLARE r record; BEGIN FETCH c INTO r; RETURN r::text; END $$;
	CREATE FUNCTION open_one() RETURNS refcursor LANGUAGE plpgsql SECURITY DEFINER AS
		$$ DECLARE c refcursor := 'd'; BEGIN OPEN c FOR SELECT max(x), dp_count(1) FROM secret; RETURN c; END $$});
is(answers_of($coordinator, 'BEGIN; DECLARE c CURSOR FOR SELECT max(x), dp_count(1) FROM secret; COMMIT'), '42501: 0',
	'threat 87: a cursor cannot be opened without the rights');
is(answers_of($coordinator, "BEGIN; DECLARE c CURSOR FOR SELECT max(age), dp_count(1) FROM person; SELECT fetch_one('c'); COMMIT"),
	'42501: 0', 'threat 87: nor is it read with the rights of another role');
is(answers_of($coordinator, 'BEGIN; SELECT open_one(); FETCH ALL FROM d; COMMIT'), 'd 42501: 0',
	'threat 87: nor by one without the rights of the role that opened it');

# A cursor that is open keeps its tables as they are, as other cursors do.
$coordinator->safe_psql('postgres', q{
	CREATE TABLE passing (id int, x float8); SELECT create_distributed_table('passing', 'id'); INSERT INTO passing VALUES (1, 2)});
foreach my $change ('DROP TABLE passing', 'ALTER TABLE passing ALTER COLUMN x TYPE text', 'ALTER TABLE passing DROP COLUMN x', 'TRUNCATE passing',
	"SELECT undistribute_table('passing')")
{
	is(answers_of($coordinator, "BEGIN; DECLARE c CURSOR FOR SELECT dp_median(x, 1, 0, 100) FROM passing; $change; FETCH c", user => 'postgres'),
		'55006 25P02: 0', "threat 89: refused while a cursor is open: $change");
}
is(answers_of($coordinator, "PREPARE p AS SELECT dp_median(x, 1, 0, 100) BETWEEN 0 AND 100 FROM passing; SET plan_cache_mode = force_generic_plan; EXECUTE p;
		SELECT undistribute_table('passing'); EXECUTE p; SELECT create_distributed_table('passing', 'id'); EXECUTE p;
		ALTER TABLE passing RENAME x TO y; EXECUTE p; DROP TABLE passing; EXECUTE p", user => 'postgres'), 't t t 42703 42P01: 3',
	'threat 89: a prepared query is planned anew when its table is distributed, changed or dropped');

$coordinator->safe_psql('postgres', 'REVOKE EXECUTE ON FUNCTION dp_count(float8) FROM PUBLIC');
is(answers_of($coordinator, 'SELECT dp_count(1) FROM person'), '42501: 0', 'threat 87: the right to call a private aggregate is asked for');
is(answers_of($coordinator, 'SELECT dp_sum(age, 1, 0, 100) FROM person UNION ALL SELECT dp_count(1) FROM person'), '42501: 0',
	'threat 87: before another level is charged');
is(answers_of($coordinator, 'SELECT of_table()', %as_mallory), 't: 1', 'threat 87: a function has the rights of its owner');
$coordinator->safe_psql('postgres', q{CREATE FUNCTION forbidden(int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$;
	REVOKE EXECUTE ON FUNCTION forbidden(int) FROM PUBLIC});
is(answers_of($coordinator, 'SELECT dp_sum(age, 1, 0, 100) FROM person WHERE forbidden(id)'), '42501: 0',
	'threat 87: the right to call a function on the workers is asked for before the charge');
$coordinator->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION dp_count(float8) TO PUBLIC');

# ---- Threat 91: sizes and statistics of shards -----------------------------------------------

# What a statement writes to temporary files of the coordinator. The session reports it between statements.
sub temporary_bytes
{
	my ($sql) = @_;
	my $bytes = "SELECT pg_stat_force_next_flush(); SELECT temp_bytes FROM pg_stat_database WHERE datname = 'postgres';";
	my $shown = $coordinator->safe_psql('postgres', "SET client_min_messages = error; SET work_mem = '64kB'; $bytes \\echo before\n$sql;\n$bytes");
	my ($before, $after) = $shown =~ /^(\d+)\nbefore\n.*^(\d+)\z/ms or die "no bytes: $shown";
	return $after - $before;
}
my $hidden = 'SELECT id, dp_sum(age, 1, 0, 100) FROM person GROUP BY id HAVING dp_keep_group(1e-3, 1e-9)';
cmp_ok(temporary_bytes('SELECT id FROM copy_of_person ORDER BY age'), '>', 0, 'threat 91: a sort with little work_mem writes temporary files');
is(temporary_bytes($_), 0, "threat 91: states and hidden groups do not: $_")
	foreach 'SELECT dp_median(age, 1, 0, 100), array_agg(name) IS NULL FROM person', $hidden, "DO \$\$ BEGIN PERFORM * FROM ($hidden) s; END \$\$",
	"PREPARE p AS $hidden; SET plan_cache_mode = force_generic_plan; EXECUTE p";
is($coordinator->safe_psql('postgres', "SET work_mem = '64kB'; $hidden; SHOW work_mem"), '64kB', 'threat 91: work_mem is as before');

# ---- Threat 113: the number of a transaction --------------------------------------------------

# Citus names the file of the rows that it fetches to the coordinator after the role and this number. Two sessions with one number
# would count the rows of both.
my $choosing = 'assign_distributed_transaction_id(0, 7, now())';
is(answers_of($coordinator, "$_; SELECT of_rows(); COMMIT; SELECT of_rows()", %as_mallory), 't 55000: 1',
	"threat 113: refused for free until a chosen number ends with its transaction: $_")
	foreach "BEGIN; SELECT $choosing", "BEGIN; SAVEPOINT a; SELECT $choosing; ROLLBACK TO a", "BEGIN; DO \$\$ BEGIN PERFORM $choosing; END \$\$";

# A session that got its number from Citus has a file with one that chose it, also if that one asks nothing private.
$coordinator->safe_psql('postgres', q{CREATE FUNCTION number_of_names() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, public, pg_temp AS
		$$ BEGIN RETURN (SELECT count(*) FROM (SELECT DISTINCT lower(name) FROM person ORDER BY 1 LIMIT 5) s); END $$});
is(outcome($coordinator, "SELECT number_of_names(); BEGIN; SELECT $choosing; SELECT number_of_names(); COMMIT; SELECT number_of_names()", %as_mallory),
	'5 5 55000', 'threat 113: under a chosen number no rows are fetched for any function of another role');
is(outcome($coordinator, "BEGIN; SELECT $choosing; SELECT count(*) FROM (SELECT DISTINCT name FROM person ORDER BY 1 LIMIT 5) s"), '5',
	'threat 113: rows that the role may read are');

# ---- Threat 111: what the query around does not use -------------------------------------------

# Its errors, and those of a call without parameters, would tell whether there is a row.
foreach my $rows ('true', 'id = 7', 'id = -1')
{
	is(answers_of($coordinator, "SELECT n IS NOT NULL FROM (SELECT dp_count(1) AS n, dp_sum(age, 1, 0, 100), sum(1 / (city - city)) FROM person WHERE $rows) s"),
		't: 1', "threat 111: aggregates that are not shown are left out: $rows");
	is(answers_of($coordinator, "SELECT dp_count(1) IS NOT NULL FROM person WHERE $rows HAVING dp_sum(age, 1, 0, 100) > 0 OR true"), 't: 1',
		"threat 111: also those that decide nothing: $rows");
}
is(answers_of($coordinator, 'SELECT city FROM (SELECT city, dp_count(1) AS n, max(name), dp_sum(age, 1, 0, 100) FROM person GROUP BY city) s
	WHERE n > 0 AND city > 2 ORDER BY city'), '3 4: 1', 'threat 111: also in groups');

# ---- Threat 112: memory --------------------------------------------------------------------------

# PostgreSQL expects 12 million rows of this subquery on the coordinator, and there are none.
my $guessed = 'SELECT DISTINCT a.id, b.id AS other FROM copy_of_person a, copy_of_person b WHERE a.id < (SELECT min(id) - 5 FROM here) OFFSET 0';
my ($megabytes) = $coordinator->safe_psql('postgres', qq{SET jit = off; ANALYZE copy_of_person;
	SELECT dp_count(1) IS NOT NULL FROM person JOIN ($guessed) s USING (id);
	SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')::int / 1024}) =~ /^t\n(\d+)\z/m;
cmp_ok($megabytes, '<', 200, "threat 112: a hash table is not as large as PostgreSQL expects: $megabytes MB");

# The blocks of the guide.
my $guide = slurp_file("$FindBin::Bin/../../docs/citus.md");
my ($revoking) = $guide =~ /^(REVOKE EXECUTE ON FUNCTION run_command_on_workers.*?)^```/ms or die 'the guide has no REVOKE';
my ($rejecting) = $guide =~ /^(local all \+untrusted.*?)^```/ms or die 'the guide has no lines for pg_hba.conf';
$coordinator->safe_psql('postgres', 'CREATE ROLE untrusted; GRANT untrusted TO mallory');
my @sizes = (
	"SELECT max(result) FROM run_command_on_workers('SELECT sum(reltuples) FROM pg_class')",
	"SELECT max(result) FROM run_command_on_all_nodes('SELECT 1') WHERE nodeid > 1",
	"SELECT max(result) FROM run_command_on_shards('person', 'SELECT pg_relation_size(''%s'')')",
	"SELECT max(result) FROM run_command_on_placements('person', 'SELECT pg_relation_size(''%s'')')",
	"SELECT citus_table_size('person')", "SELECT citus_relation_size('person')", "SELECT citus_total_relation_size('person')",
	"SELECT max(shard_size) FROM citus_shards WHERE table_name = 'person'::regclass",
	"SELECT table_size FROM citus_tables WHERE table_name = 'person'::regclass",
	"SELECT citus_shard_cost_by_disk_size(min(shardid)) FROM pg_dist_shard WHERE logicalrelid = 'person'::regclass",
	"SELECT citus_update_shard_statistics(min(shardid)) FROM pg_dist_shard WHERE logicalrelid = 'person'::regclass");
my %shown = map { $_ => outcome($coordinator, $_, %as_mallory) } @sizes;
like($shown{$_}, qr/^[\d.e+]+( kB)?$/, "threat 91: shown without precautions: $_") foreach @sizes;
my %hba = map { $_ => slurp_file($_->data_dir . '/pg_hba.conf') } @workers;

sub set_hba
{
	my ($node, $lines) = @_;
	open my $file, '>', $node->data_dir . '/pg_hba.conf' or die $!;
	print $file $lines;
	close $file;
	$node->reload;
	return;
}
set_hba($_, $rejecting . $hba{$_}) foreach @workers;
$workers[0]->poll_query_until('postgres', "SELECT count(*) > 1 FROM pg_hba_file_rules WHERE 'reject' = auth_method") or die 'the rules are not read';
isnt(outcome($coordinator, $_, %as_mallory), $shown{$_}, "threat 91: not shown to a role that the workers reject: $_") foreach @sizes;
is(answers_of($coordinator, 'SELECT of_table()', %as_mallory), 't: 1', 'threat 91: which is answered by functions');
set_hba($_, $hba{$_}) foreach @workers;
$coordinator->safe_psql('postgres', $revoking);
is(outcome($coordinator, $_, %as_mallory), '42501', "threat 91: not shown without the rights: $_") foreach @sizes;
is(outcome($coordinator, $_, %as_mallory), '42501', "threat 91: nor sizes that others found: $_")
	foreach 'SELECT max(shardlength) FROM pg_dist_placement', 'SELECT max(shardlength) FROM pg_dist_shard_placement', 'SELECT get_rebalance_progress()';
is(outcome($coordinator, $_, %as_mallory), '42501', "threat 91: nor the bytes of temporary files: $_")
	foreach 'SELECT temp_bytes FROM pg_stat_database', "SELECT pg_tablespace_size('pg_default')", 'SELECT citus_local_disk_space_stats()';
is(answers_of($coordinator, 'SELECT of_table()', %as_mallory), 't: 1', 'threat 91: a role without the rights is answered by functions');

# ---- Threat 88: crashes ----------------------------------------------------------------------

# Each row of the shards sleeps, so that the query runs for some seconds.
my $slow = 'SELECT dp_count(1) IS NOT NULL FROM person WHERE id < 400 AND pg_sleep(0.05) IS NOT NULL';

sub wait_for_slow
{
	$worker->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
		or die 'the shards do not sleep';
	return;
}

my $before = charges($coordinator);
my $query = start_psql($coordinator, $slow);
wait_for_slow();
$worker->stop('immediate');
isnt(finish_psql($query), 't', 'threat 88: no answer if a worker crashes in the middle');
is(charges($coordinator) - $before, 1, 'threat 88: the charge is kept');
my $failed = outcome($coordinator, $answer);
unlike($failed, qr/^t/, "threat 88: no answer while a worker is down ($failed)");
$worker->start;
is(answers_of($coordinator, $answer), 't: 1', 'threat 88: the next query is answered, and charged once');

# ---- Threat 110: a shard on several servers ---------------------------------------------------

# The first worker to be asked sends nine groups and then crashes. Citus asks another server for all, and keeps the nine.
$_->append_conf('postgresql.conf', 'enable_hashagg = off') foreach @workers;
$_->reload foreach @workers;
$coordinator->safe_psql('postgres', q{
	CREATE TABLE everywhere (number int, x float8); SELECT create_reference_table('everywhere');
	INSERT INTO everywhere SELECT i % 9, i / 150.0 FROM generate_series(1, 15000) i UNION ALL SELECT 9, i FROM generate_series(1, 50) i;
	GRANT SELECT ON everywhere TO analyst});
my $groups = 'SELECT number, dp_median(x, 1, 0, 100) FILTER (WHERE number < 9 OR pg_sleep(0.05) IS NOT NULL) IS NOT NULL FROM everywhere GROUP BY number';
$before = charges($coordinator);
$query = start_psql($coordinator, "SET citus.enable_local_execution = off; SET citus.task_assignment_policy = 'round-robin'; $groups");
my $asked;
foreach (1 .. 600)
{
	($asked) = grep { $_->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) > 0 } @workers;
	last if $asked;
	usleep(100_000);
}
$asked or die 'no worker is asked';
$asked->stop('immediate');
is(finish_psql($query), '08006', 'threat 110: no answer if another server gives the rows again');
is(charges($coordinator) - $before, 1, 'threat 110: the charge is kept');
is(answers_of($coordinator, "SET citus.enable_local_execution = off; SET citus.task_assignment_policy = 'round-robin';
	SELECT dp_count(1) IS NOT NULL FROM city; SELECT dp_count(1) IS NOT NULL FROM city"), 't t: 2',
	'threat 110: a server that cannot be reached is left out');
$asked->start;

$before = charges($coordinator);
$query = start_psql($coordinator, $slow);
wait_for_slow();
$coordinator->stop('immediate');
unlike(finish_psql($query), qr/t/, 'threat 88: no answer if the coordinator crashes in the middle');
$coordinator->start;
is(charges($coordinator) - $before, 1, 'threat 88: the charge is durable');
is(answers_of($coordinator, $answer), 't: 1', 'threat 88: the next query is answered, and charged once');

$before = charges($coordinator);
$query = start_psql($coordinator, $slow);
wait_for_slow();
$coordinator->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(0.05)%' AND usename = 'analyst'});
is(finish_psql($query), '57014', 'threat 88: a cancel ends the query');
is(charges($coordinator) - $before, 1, 'threat 88: and refunds nothing');

# A shard moves while it is counted, and its rows are counted once.
my $quick = 'SELECT dp_count(100) FROM person WHERE id < 100 AND pg_sleep(0.15) IS NOT NULL';
$query = start_psql($coordinator, $quick);
wait_for_slow();
my ($from, $to) = map { sprintf "'%s', %d", $_->host, $_->port } @workers;
my ($number) = $shard =~ /(\d+)/;
$coordinator->safe_psql('postgres', "SELECT citus_move_shard_placement($number, $from, $to, 'block_writes')");
my $counted = finish_psql($query);
cmp_ok(abs($counted - 99), '<=', 1, 'threat 88: a shard that moves during a query is counted once');
is(answers_of($coordinator, $answer), 't: 1', 'threat 88: and where it is then');

# ---- Threat 89: the order of the hooks -------------------------------------------------------

# Where the library is not preloaded, Citus sees the first query of a session alone.
$coordinator->append_conf('postgresql.conf', "shared_preload_libraries = 'citus'");
$coordinator->restart;
foreach my $first ($answer, 'SELECT dp_count(1) FROM person WHERE id = 7', 'SELECT id, dp_count(1) FROM person GROUP BY id',
	'SELECT dp_count(1) FROM city', 'SELECT (SELECT dp_count(1) FROM person) FROM here')
{
	my $outcome = answers_of($coordinator, $first);
	like($outcome, qr/^[0-9A-Z]{5}: 0$/, "threat 89: the first query of a session is refused for free: $first: $outcome");
}
is(answers_of($coordinator, 'SELECT dp_count(1) IS NOT NULL FROM here; ' . $answer), 't t: 2', 'threat 89: the second is answered');
$coordinator->safe_psql('postgres', 'GRANT SELECT ON here TO mallory');
is(answers_of($coordinator, "BEGIN; $sending{'in a function'}; SELECT dp_count(1) IS NOT NULL FROM here; SELECT of_rows(); COMMIT; SELECT of_rows()",
	%as_mallory), 't t 55000: 2', 'threat 87: a search_path that was sent before the library was loaded');
is(charges_on_workers(@workers), 0, 'no charge is on a worker');
done_testing();
