# Private aggregates over distributed, reference and local tables: which queries are answered, each with its charges on the
# coordinator, and which are refused for free.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../t/lib";

use DistributedServers;
use DpQuantile;
use PrivateAggregates;
use Test::More;

my ($coordinator, @workers) = new_servers();

sub answered
{
	my ($sql, $expected, $name) = @_;
	is(answers_of($coordinator, $sql), $expected, $name);
	return;
}

# ---- The states ------------------------------------------------------------------------------

# The parameters that the coordinator sends to the shards.
sub parameters_sent
{
	my ($call) = @_;
	my ($status, $output, $log) = $coordinator->psql('postgres', qq{
		SET ROLE analyst; SET citus.log_remote_commands = on; SELECT $call FROM person});
	die "$call: $log" unless $log =~ /topn_add_agg\(.*?'(\\x[0-9a-f]+)'::bytea/s;
	return $1;
}

# An aggregate that gives the states of that of a call
$coordinator->safe_psql('postgres', q{
	CREATE FUNCTION make_raw(call text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		of record;
	BEGIN
		EXECUTE 'CREATE VIEW called AS SELECT ' || call || ' FROM copy_of_person';
		SELECT aggtransfn, ARRAY(SELECT format_type(type, NULL) FROM unnest(proargtypes) AS type) AS types INTO STRICT of
		FROM pg_aggregate JOIN pg_proc AS p ON p.oid = aggfnoid WHERE aggfnoid IN (SELECT refobjid FROM pg_depend JOIN pg_rewrite AS r ON r.oid = objid
			WHERE refclassid = 'pg_proc'::regclass AND ev_class = 'called'::regclass);
		EXECUTE format('CREATE AGGREGATE raw(%s) (SFUNC = %s, STYPE = dpquantile.records_state)', array_to_string(of.types, ', '), of.aggtransfn);
	END
	$$});
# Citus takes no hashes of users or values, and without bounds dp_iqr keeps the values in the order in which they come.
my @listed = map { call_of($_) } grep { $_->{form} !~ /USER|^dp_count_distinct|^dp_iqr|VALUE, VALUE/ } private_aggregates();
foreach my $call ('dp_median(age, 1, 0, 100, dp_options(granularity => 0.5))', "dp_median(born, 1, '2000-01-01', '2020-01-01')",
	'dp_sum(income, 1, 0, 100)', 'dp_count(name, 1)', q{dp_iqr(age, 1, 0, dp_options(method => 'quantiles', lower => 0, upper => 100))}, @listed)
{
	my $sent = parameters_sent($call);
	my $raw = $call =~ s/^\w+/raw/r;
	my $value = $call =~ /^\w+\((age|born|income|name)/ ? $1 : 'true';
	my $same = $coordinator->safe_psql('postgres', qq{
		BEGIN;
		SET LOCAL client_min_messages = error;
		SELECT FROM make_raw(\$call\$$call\$call\$);
		SELECT s.state::text = d.state::text FROM (SELECT $raw AS state FROM copy_of_person) s,
			(SELECT state FROM (SELECT topn_add_agg($value, '$sent'::bytea) AS state FROM person OFFSET 0) p) d;
		ROLLBACK});
	like($same, qr/^t$/m, "the states of the shards combine to that of all rows, byte for byte: $call");
}

my $sent = parameters_sent('dp_median(age, 1, 0, 100)');
my $per_cell = $coordinator->safe_psql('postgres', qq{
	SELECT max(octet_length(dpquantile.records_state_send(state)) - octet_length('$sent'::bytea)) * 1.0 / min(cells)
	FROM (SELECT id % 6, topn_add_agg(age, '$sent'::bytea) AS state, count(DISTINCT age) AS cells FROM copy_of_person GROUP BY 1) s});
cmp_ok($per_cell, '<=', 2.1, "little more than 2 bytes a cell where 999 of 1000 cells are empty: $per_cell");
$per_cell = $coordinator->safe_psql('postgres', qq{
	SELECT (octet_length(dpquantile.records_state_send(topn_add_agg((i * 1e-4)::float8, '$sent'::bytea))) - octet_length('$sent'::bytea))
		* 1.0 / count(DISTINCT floor(i * 1e-4 * 10485.76))
	FROM generate_series(1, 1000000, 3) i});
cmp_ok($per_cell, '<=', 2, "at most 2 bytes an occupied cell: $per_cell");

# ---- What is answered ------------------------------------------------------------------------

my $about_half = 'BETWEEN 40 AND 60';
answered("SELECT dp_median(age, 1, 0, 100) BETWEEN 65 AND 76 FROM person", 't: 1', 'a distributed table');
answered("SELECT dp_count(1) BETWEEN 5900 AND 6100, dp_avg(age, 1, 0, 100) BETWEEN 60 AND 72, count(*) FROM person",
	't|t|6002: 2', 'two private aggregates beside one of PostgreSQL');
answered("SELECT dp_count(1) BETWEEN 5900 AND 6100 AND dp_count(1) > 0 FROM person", 't: 1', 'the same call twice is one release');
answered("SELECT dp_count(1) FILTER (WHERE age < 50) BETWEEN 1000 AND 2000 FROM person", 't: 1', 'FILTER');
answered("SELECT city, dp_count(1) BETWEEN 1100 AND 1300 FROM person WHERE city > 1 GROUP BY city ORDER BY city DESC",
	'4|t 3|t 2|t: 1', 'grouped by a column');
answered("SELECT id, dp_count(1) IS NOT NULL FROM person WHERE id < 4 GROUP BY id", '1|t 2|t 3|t: 1', 'grouped by the distribution column');
answered("SELECT id % 2 AS odd, dp_count(1) > 2000 FROM person GROUP BY id % 2", '0|t 1|t: 1', 'grouped by an expression');
answered("SELECT city FROM person GROUP BY city HAVING dp_keep_group(1, 1e-6) ORDER BY city", '0 1 2 3 4: 1', 'HAVING dp_keep_group');
answered("SELECT dp_avg(p.age, 1, 0, 100) BETWEEN 60 AND 72 FROM person p JOIN city USING (city)", 't: 1', 'joined with a reference table');
answered("SELECT dp_count(1) BETWEEN 20 AND 90 FROM person JOIN here USING (id)", 't: 1', 'joined with a local table');
answered("SELECT dp_count(1) BETWEEN 5900 AND 6100 FROM person a JOIN person b USING (id)", 't: 1', 'joined on the distribution column');
answered("SELECT dp_count(1) BETWEEN 0 AND 40 FROM city", 't: 1', 'a reference table');
answered("SELECT dp_count(1) BETWEEN 10 AND 90 FROM here", 't: 1', 'a local table');
answered("SELECT dp_count(1) BETWEEN 5500 AND 6100 FROM adults", 't: 1', 'a view');
answered("WITH old AS (SELECT age FROM person WHERE age > 50) SELECT dp_count(1) > 3000 FROM old", 't: 1', 'WITH below');
answered("WITH answer AS (SELECT dp_count(1) AS n FROM person) SELECT n > 5000, n > 1 FROM answer", 't|t: 1', 'WITH around');
answered("SELECT dp_count(1) > 5000 FROM person UNION ALL SELECT dp_count(1) < 50 FROM city", 't t: 2', 'UNION');
answered("SELECT dp_avg(m, 1, 0, 100) BETWEEN 0 AND 100 FROM (SELECT city, dp_median(age, 1, 0, 100) AS m FROM person GROUP BY city) s",
	't: 2', 'a private answer about private answers');
answered("SELECT city, rank() OVER (ORDER BY city) FROM person GROUP BY city HAVING dp_count(1) > 500", '0|1 1|2 2|3 3|4 4|5: 1',
	'a window function above');
answered("SELECT dp_count(1) BETWEEN 5 AND 95 FROM person WHERE id IN (SELECT id FROM here)", 't: 1', 'a subquery in WHERE');
answered("EXPLAIN (COSTS off) SELECT dp_count(1) FROM person",
	'Custom Scan (PrivateRelease) Price: dp_count: epsilon 1 -> Custom Scan (DistributedStates): 0', 'EXPLAIN is free');
is(answers_of($coordinator, "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on;
	SET auto_explain.log_nested_statements = on; SET ROLE analyst; SELECT dp_count(1) > 5000 FROM person", user => 'postgres'), 't: 1',
	'auto_explain with the rows of each node');
answered("CREATE TEMP TABLE kept AS SELECT dp_count(1) AS n FROM person; SELECT n > 5000, n > 0 FROM kept", 't|t: 1', 'CREATE TABLE AS');
answered("COPY (SELECT dp_count(1) > 5000 FROM person) TO STDOUT", 't: 1', 'COPY');
answered("BEGIN; DECLARE c SCROLL CURSOR FOR SELECT city, dp_count(1) > 500 FROM person GROUP BY city ORDER BY city;
	FETCH 1 FROM c; FETCH 1 FROM c; FETCH PRIOR FROM c; COMMIT", '0|t 1|t 0|t: 1', 'a cursor');
answered("PREPARE p(float8, int) AS SELECT dp_count(\$1) IS NOT NULL FROM person WHERE id < \$2;"
		. 'EXECUTE p(1, 9);' x 7 . 'SET plan_cache_mode = force_generic_plan; EXECUTE p(1, 9)',
	't t t t t t t t: 8', 'a prepared query, also with a generic plan');
answered("DO \$\$ DECLARE most int := 9; n bigint; BEGIN SELECT dp_count(1) INTO n FROM person WHERE id < most; END \$\$", ': 1',
	'PL/pgSQL with a variable in WHERE');
answered("CREATE FUNCTION pg_temp.f(epsilon float8) RETURNS boolean LANGUAGE sql AS 'SELECT dp_count(epsilon) > 5000 FROM person';
	SELECT pg_temp.f(1)", 't: 1', 'an SQL function with epsilon as its parameter');
answered("BEGIN; SELECT dp_count(1) > 5000 FROM person; ROLLBACK", 't: 1', 'ROLLBACK refunds nothing');

# Each row of a join is counted once, wherever its parts are: as the copies on the coordinator say.
$coordinator->safe_psql('postgres', 'CREATE TABLE copy_of_city AS SELECT * FROM city; GRANT SELECT ON copy_of_city TO analyst');
my @joins = (
	'%P a JOIN %P b USING (id)', '%P a JOIN %P b ON a.id = b.city', '%P p CROSS JOIN %C c', '%P p LEFT JOIN here USING (id)',
	'here LEFT JOIN %P p ON here.id = p.id', 'here LEFT JOIN %P p ON here.id = p.city', 'here FULL JOIN %P p USING (id)',
	'%C c LEFT JOIN %P p ON c.city = p.id', '%C c LEFT JOIN %P p ON c.city = p.city AND p.age < -1', '%C c FULL JOIN %P p ON c.city = p.city',
	'%C c LEFT JOIN (%P a JOIN %P b USING (id)) ON c.city = id',
	'(SELECT NULL::int AS city FROM %C UNION ALL SELECT city FROM %C) c LEFT JOIN %P p ON c.city = p.id',
	'(SELECT id FROM %P UNION SELECT city FROM %C) s', '%P p WHERE id NOT IN (SELECT city FROM %C)',
	'%P a WHERE EXISTS (SELECT FROM %P b WHERE b.id = a.id AND b.age > 50)',
	'(SELECT row_number() OVER (PARTITION BY city ORDER BY id) AS number FROM %P) s WHERE number < 3');
my %distributed = ('%P' => 'person', '%C' => 'city');
my $differences = join '; ', map { "SELECT dp_count(100) - (SELECT count(*) FROM " . s/(%.)/copy_of_$distributed{$1}/gr . ') FROM '
	. s/(%.)/$distributed{$1}/gr } @joins;
answered("SET citus.enable_repartition_joins = on; $differences", join(' ', ('0') x @joins) . ': ' . @joins, 'joins of all kinds');

# Constants go to the workers as texts.
my $conditions = "born > date '2000-02-03' AND born < date '2004-12-05' AND age > 18.76 AND name ~ E'^n\\\\d\$' AND born - date '2000-01-01' > 1.5"
	. " AND at > timestamp '2020-02-03 10:00' - interval '1 day -2 hours'";
my $right = $coordinator->safe_psql('postgres', "SELECT count(*) FROM copy_of_person WHERE $conditions");
cmp_ok($right, '>', 900, 'some people satisfy the conditions');
answered("SET standard_conforming_strings = on; PREPARE p AS SELECT dp_count(100) FROM person WHERE $conditions; SET $_; EXECUTE p", "$right: 1", "constants under $_")
	foreach "DateStyle = 'SQL, DMY'", "DateStyle = 'German'", "IntervalStyle = 'sql_standard'", 'extra_float_digits = -15', 'standard_conforming_strings = off';

# ---- Conditions on group keys ----------------------------------------------------------------

my $grouped = 'SELECT city, dp_count(1) > 500 AS many FROM person';
my $derived = "($grouped GROUP BY city)";
answered("$grouped GROUP BY city HAVING city > 2 ORDER BY city", '3|t 4|t: 1', 'HAVING about a key');
answered('SELECT dp_count(1) > 500 FROM person GROUP BY city HAVING city = 2', 't: 1', 'HAVING about a key that is not shown');
answered("$grouped GROUP BY city HAVING false", ': 1', 'HAVING that is never true');
answered("$grouped GROUP BY city HAVING dp_keep_group(1, 1e-6) AND city = 4", '4|t: 2', 'HAVING about a key and dp_keep_group');
answered("SELECT * FROM $derived s WHERE city = 2", '2|t: 1', 'a condition outside a derived table');
answered("SELECT * FROM $derived s WHERE city IN (1, 2) AND many ORDER BY city", '1|t 2|t: 1', 'also beside one about the answers');
answered("SELECT * FROM $derived s WHERE city = (SELECT max(id) - 47 FROM here)", '3|t: 1', 'a condition with a subquery');
answered("SELECT * FROM $derived s JOIN $derived r USING (city) WHERE city = 2", '2|t|t: 2', 'a condition on joined answers');
answered("PREPARE p(int) AS $grouped GROUP BY city HAVING city > \$1 ORDER BY city; EXECUTE p(2);
	SET plan_cache_mode = force_generic_plan; EXECUTE p(3); EXECUTE p(9)", '3|t 4|t 4|t: 3', 'a parameter in HAVING');
answered("SELECT dp_count(1) FROM person HAVING false", ': 1', 'HAVING that is never true, without groups');

# An empty input must look like any other.
answered("SELECT dp_median(age, 1, 0, 100) IS NOT NULL, dp_count(1) IS NOT NULL FROM person WHERE $_", 't|t: 2', "no rows: $_")
	foreach 'false', 'age = -1', 'id = 1 AND id = 2', 'id = -1', 'id IS NULL', 'id IN (SELECT id FROM here WHERE size < 0)';
answered("SELECT city, dp_count(1) FROM person WHERE age = -1 GROUP BY city", ': 1', 'no rows and so no groups');
answered("SELECT dp_count(1) IS NOT NULL FROM person WHERE id = 1 LIMIT 0", ': 0', 'what is not shown is not charged');

# ---- What is refused -------------------------------------------------------------------------

my %refused = (
	'dp_user_mean' => 'SELECT dp_user_mean(id, age, 1, 0, 100) FROM person',
	'dp_count_distinct' => 'SELECT dp_count_distinct(id, 1) FROM person',
	'dp_keep_group of users' => 'SELECT city FROM person GROUP BY city HAVING dp_keep_group(id, 1, 1e-6, 2)',
	'DISTINCT' => 'SELECT dp_sum(DISTINCT age, 1, 0, 100) FROM person',
	'grouping sets' => 'SELECT city, dp_count(1) FROM person GROUP BY ROLLUP (city)',
	# threat 115
	'a set as a key' => 'SELECT unnest(ARRAY[city, id]) AS key, dp_count(1) FROM person GROUP BY key',
	'ordered aggregates' => 'SELECT dp_count(1), array_agg(age ORDER BY id) FROM person',
	'columns of outer queries' => 'SELECT (SELECT dp_count(1) FROM person WHERE person.id = here.id) FROM here',
	'WITH of an outer query' => 'WITH old AS (SELECT * FROM person) SELECT (SELECT dp_count(1) FROM old)',
	'a WITH query in SELECT' => 'WITH one AS (SELECT 1 AS n) SELECT dp_count(1), (SELECT n FROM one) FROM person',
	'columns of the rows in a subquery' => 'SELECT city, (SELECT max(size) FROM here WHERE here.id = city), dp_count(1) FROM person GROUP BY city',
	'aggregates in a subquery' => 'SELECT dp_count(1), (SELECT min(size) FROM here WHERE id < max(age)) FROM person',
	'other rows beside' => 'SELECT id, (SELECT dp_count(1) FROM person) FROM person',
	'other rows in HAVING' => 'SELECT dp_count(1) FROM person HAVING dp_count(1) > (SELECT min(size) FROM city)',
	'answers that are not used' => 'SELECT count(*) FROM (SELECT city, dp_count(1) FROM person GROUP BY city) s',
	'EXPLAIN of a distributed query around' => 'EXPLAIN ANALYZE SELECT id FROM person WHERE age > (SELECT dp_count(1) FROM here)');
answered($refused{$_}, '0A000: 0', "refused for free: $_") foreach sort keys %refused;

# The error names the WITH of an outer query where the rows come from one, and other rows where they do not.
my $with = 'WITH p AS (SELECT * FROM person), q AS (SELECT * FROM p), h AS (SELECT * FROM here)';
my %messages = (
	'SELECT dp_count(1) FROM p UNION ALL SELECT dp_count(1) FROM p' => 'WITH queries of an outer query',
	'SELECT * FROM (SELECT dp_count(1) FROM q) s' => 'WITH queries of an outer query',
	'SELECT (SELECT dp_count(1) FROM here WHERE id IN (SELECT id FROM p))' => 'WITH queries of an outer query',
	'SELECT id, (SELECT dp_count(1) FROM h) FROM p' => 'with other rows of distributed tables');
foreach my $query (sort keys %messages)
{
	my (undef, undef, $error) = $coordinator->psql('postgres', "$with $query");
	like($error, qr/$messages{$query}/, "the error names the reason: $query");
}
# Names of WITH queries that each read the one before twice are read once.
my $doubled = join(', ', 'w0 AS (SELECT id FROM here)', map { my $before = $_ - 1; "w$_ AS (SELECT a.id FROM w$before a, w$before b)" } 1 .. 40);
answered("WITH $doubled SELECT id, (SELECT dp_count(1) FROM w40) FROM person", '0A000: 0', 'refused for free: names of WITH queries that double');

# The other levels of a statement are not charged before it is known that Citus can plan all of them.
my $unplanned = 'SELECT dp_count(1) FROM person p JOIN person q ON p.age = q.age';
foreach my $statement ("$unplanned UNION ALL $unplanned", "SELECT dp_count(1) FROM person UNION ALL $unplanned", "SELECT dp_count(1), ($unplanned) FROM here",
	"SELECT dp_count(1) FROM here WHERE size > ($unplanned)", "SELECT dp_avg(n, 1, 0, 100) FROM ($unplanned GROUP BY p.city) AS s (n)",
	"SELECT dp_count(1) FROM person UNION ALL SELECT dp_sum(n, 1, 0, 100) FROM ($unplanned GROUP BY p.city) AS s (n)")
{
	answered($statement, 'XX000: 0', "refused for free: a level that Citus cannot plan: $statement");
}
answered("SELECT dp_count(1) FROM ($grouped GROUP BY city) AS s", '0A000: 0', 'refused for free: answers that another private aggregate does not use');
answered("SELECT dp_count(1) FROM person UNION ALL SELECT dp_count(1) FROM ($grouped GROUP BY city) AS s", '0A000: 0',
	'refused for free: the same below another level');
answered("CREATE FUNCTION pg_temp.g() RETURNS SETOF bigint STABLE LANGUAGE sql AS 'SELECT dp_count(1) FROM person';
	SELECT * FROM pg_temp.g()", '55000: 0', 'refused for free: functions that PostgreSQL puts into the query');
answered('SELECT dp_median(age, 1, 0, id) FROM person', '22023: 0', 'refused for free: a column as parameter');
answered('SELECT dp_median(age, 1, 0, (SELECT max(size) FROM here)) FROM person', '22023: 0', 'refused for free: a subquery as parameter');
answered('SELECT dp_median(age, -1, 0, 100) FROM person', '22023: 0', 'refused for free: epsilon');
is(answers_of($coordinator, "CREATE ROLE other LOGIN; SELECT dp_grant_budget('other', 10); SET ROLE other;
	SELECT dp_count(1) FROM person", user => 'postgres'), '42501: 0', 'refused for free: without SELECT');

# A role without SELECT calls a function with the rights of its owner. The caller pays.
is(outcome($coordinator, q{CREATE ROLE caller LOGIN; SELECT dp_grant_budget('caller', 10);
	CREATE FUNCTION number_of_people() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
		AS $$ BEGIN RETURN (SELECT dp_count(1) FROM person); END $$}, user => 'postgres'), '', 'a function with the rights of its owner');
is(answers_of($coordinator, 'SELECT number_of_people() > 5000', user => 'caller'), 't: 1', 'answers a role without SELECT');
is(spent($coordinator, role => 'caller'), 1, 'which pays');
is(answers_of($coordinator, 'SELECT dp_count(1) FROM person', user => 'caller'), '42501: 0', 'and may not ask the table itself');

# ---- Protected tables ------------------------------------------------------------------------

is(outcome($coordinator, "SELECT dp_protect_table('person'); CREATE ROLE stranger LOGIN; SELECT dp_grant_private_access('person', 'stranger')",
	user => 'postgres'), '0A000', 'private access cannot be granted where Citus is');

is(outcome($coordinator, "SELECT dp_restrict_role('stranger')", user => 'postgres'), '0A000', 'nor can a role be restricted');

# Access that was granted before. The coordinator is the only server of this database, and has the shards.
my $host = $coordinator->host;
my $port = $coordinator->port;
is(outcome($coordinator, q{
	CREATE DATABASE alone; }, user => 'postgres'), '', 'a database without Citus');
is(outcome($coordinator, qq{
	CREATE EXTENSION dpquantile; CREATE TABLE staff AS SELECT i AS id, i::float8 AS pay FROM generate_series(1, 100) i;
	CREATE TABLE room AS SELECT i AS id FROM generate_series(1, 100) i;
	SELECT dp_grant_budget('stranger', 100), dp_grant_budget('analyst', 100);
	SELECT dp_protect_table(t) FROM unnest('{staff,room}'::regclass[]) t;
	SELECT dp_grant_private_access(t, 'stranger') FROM unnest('{staff,room}'::regclass[]) t;
	GRANT SELECT ON staff TO analyst;
	CREATE EXTENSION citus;
	SELECT citus_set_coordinator_host('$host', $port), citus_set_node_property('$host', $port, 'shouldhaveshards', true);
	SET client_min_messages = error;
	SELECT create_distributed_table('staff', 'id')}, user => 'postgres', database => 'alone'), '| |', 'Citus comes later');
my %alone = (database => 'alone', user => 'stranger');
is(outcome($coordinator, 'SELECT dp_count(1) FROM staff', %alone), '0A000', 'a protected distributed table is refused');
is(outcome($coordinator, 'SELECT count(*) FROM staff', %alone), '0A000', 'also with a standard aggregate');
is(outcome($coordinator, 'SELECT dp_count(1) FROM room WHERE id IN (SELECT id FROM staff)', %alone), '0A000', 'also beside a local one');
is(outcome($coordinator, 'SELECT dp_count(1) IS NOT NULL FROM room', %alone), '0A000', 'threat 145: also a local one alone, which Citus could measure');
is(outcome($coordinator, q{SELECT * FROM worker_save_query_explain_analyze('SELECT count(*) FROM room', '{"format":"TEXT"}') AS (c bigint)}, %alone), '42501',
	'threat 145: also by a function of Citus, which ended the server');
is(outcome($coordinator, 'SELECT id FROM staff', %alone), '0A000', 'rows are not shown');
is(spent($coordinator, database => 'alone', role => 'stranger'), 0, 'what is refused is free');
is(outcome($coordinator, 'SELECT dp_count(1) BETWEEN 50 AND 150 FROM staff', database => 'alone'), 't', 'shards on the coordinator');
my $shard = $coordinator->safe_psql('alone', q{SELECT shard_name FROM citus_shards ORDER BY shardid LIMIT 1});
is(outcome($coordinator, "SELECT dp_count(1) FROM $shard", database => 'alone', user => 'postgres'), '0A000', 'but no shard by itself');
is(spent($coordinator, database => 'alone'), 1, 'exactly one charge');

is(charges_on_workers(@workers), 0, 'no charge is on a worker');
done_testing();
