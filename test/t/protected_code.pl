# threats 32, 70: code of the analyst's own, functions with side effects, and expressions that fail only while a query runs, in a private
# query over a protected table. In many there are rows with a salary above 5000.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use ProtectedTables;
use Test::More;

my $node = protected_node('protected_code', conf => 'log_statement = none');
my $unsupported = '0A000';

# Prints that it sees one of them, and is declared to be as harmless as an owner can declare it.
my $SPY = q{
	CREATE FUNCTION pg_temp.told(what text) RETURNS boolean LANGUAGE plpgsql STABLE COST 0.0001 PARALLEL SAFE
		AS $$ BEGIN RAISE NOTICE '%', what; RETURN true; END $$;
	CREATE FUNCTION pg_temp.spy(value float8) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 PARALLEL SAFE
		AS $$ BEGIN IF value = 6000 THEN RAISE NOTICE '%', value; END IF; RETURN true; END $$;
	SET enable_hashagg = off;
};
my $RICH = 'dp_count(1) IS NOT NULL FROM staff WHERE salary > 5000';

# ---- Functions of one's own ----

channel_is_closed($node, "threat 32: a function in $_->[0]", "$SPY $_->[1]", $unsupported)
	for [ 'WHERE', "SELECT $RICH AND pg_temp.spy(salary)" ],
	[ 'FILTER', 'SELECT dp_count(1) FILTER (WHERE salary > 5000 AND pg_temp.spy(salary)) IS NOT NULL FROM staff' ],
	[ 'a value', 'SELECT dp_sum(CASE WHEN salary > 5000 THEN pg_temp.spy(salary)::int ELSE 0 END, 1, 0, 1) IS NOT NULL FROM staff' ],
	[ 'a key', 'SELECT dp_count(1) IS NOT NULL FROM staff GROUP BY pg_temp.spy(salary) HAVING dp_keep_group(1, 1e-12)' ],
	[ 'HAVING, over a key', 'SELECT dp_count(1) IS NOT NULL FROM staff GROUP BY id HAVING dp_keep_group(0.1, 1e-12) AND pg_temp.spy(id)' ],
	[ 'CASE', 'SELECT dp_count(1) IS NOT NULL FROM staff WHERE CASE WHEN salary = 6000 THEN pg_temp.told($$rich$$) END' ],
	[ 'a derived table', "SELECT dp_count(1) IS NOT NULL FROM (SELECT pg_temp.spy(salary) AS s FROM staff) t WHERE s" ],
	[ 'a join', 'SELECT dp_count(1) IS NOT NULL FROM staff s JOIN department d ON d.id = s.department AND pg_temp.spy(s.salary)' ],
	[ 'a view of its own', "CREATE TEMP VIEW v AS SELECT id, pg_temp.spy(salary) AS s FROM staff; SELECT dp_count(1) IS NOT NULL FROM v WHERE s" ],
	[ 'a CTE', "WITH t AS (SELECT pg_temp.spy(salary) AS s FROM staff) SELECT dp_count(1) IS NOT NULL FROM t WHERE s" ];
# Around a release: PostgreSQL would move such a condition below the aggregates, or evaluate it for groups that are not shown.
channel_is_closed($node, "threat 32: a function around the answers, in $_->[0]", "$SPY $_->[1]", $unsupported, reader => undef)
	for [ 'WHERE', "SELECT n FROM ($DEPARTMENTS) t WHERE pg_temp.spy(id)" ],
	[ 'the target list', "SELECT pg_temp.spy(id) FROM ($DEPARTMENTS) t" ],
	[ 'ORDER BY', "SELECT n FROM ($DEPARTMENTS) t ORDER BY pg_temp.spy(id)" ],
	[ 'HAVING', "$DEPARTMENTS AND pg_temp.spy(dp_count(1))" ],
	[ 'LIMIT', "SELECT n FROM ($DEPARTMENTS) t LIMIT pg_temp.spy(1)::int" ],
	[ 'a join', "SELECT n FROM ($DEPARTMENTS) t JOIN department d ON pg_temp.spy(t.id)" ],
	[ 'a subquery', "SELECT (SELECT n FROM ($DEPARTMENTS) t WHERE pg_temp.spy(id) LIMIT 1)" ],
	[ 'FROM', "SELECT n FROM ($DEPARTMENTS) t, pg_temp.spy(t.id)" ];
channel_is_closed($node, 'threat 32: a function in SQL that PostgreSQL inlines', q{
	CREATE FUNCTION pg_temp.third(value float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT 1 / (value - 50000)';
	SELECT dp_count(1) IS NOT NULL FROM staff WHERE pg_temp.third(salary) > 0}, $unsupported);
channel_is_closed($node, 'threat 32: a function with the rows, which PostgreSQL inlines', qq{
	$SPY CREATE FUNCTION pg_temp.rows() RETURNS SETOF staff LANGUAGE sql STABLE AS 'SELECT * FROM staff WHERE pg_temp.spy(salary)';
	SELECT dp_count(1) IS NOT NULL FROM pg_temp.rows()}, '42501');

# ---- Operators, casts, types, aggregates of one's own ----

channel_is_closed($node, "threat 32: $_->[0]", "$SPY $_->[1]", $unsupported)
	for [ 'an operator', q{
	CREATE FUNCTION pg_temp.more(float8, float8) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > $2 AND pg_temp.spy($1)';
	CREATE OPERATOR pg_temp.>>> (FUNCTION = pg_temp.more, LEFTARG = float8, RIGHTARG = float8);
	SELECT dp_count(1) IS NOT NULL FROM staff WHERE salary OPERATOR(pg_temp.>>>) 5000} ],
	[ 'a domain', q{
	CREATE DOMAIN pg_temp.seen AS float8 CHECK (pg_temp.spy(VALUE)); SELECT dp_count(1) IS NOT NULL FROM staff WHERE salary::pg_temp.seen > 5000} ],
	[ 'a cast', q{
	CREATE TYPE pg_temp.box AS (value float8);
	CREATE FUNCTION pg_temp.boxed(float8) RETURNS pg_temp.box LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN IF $1 = 6000 THEN RAISE NOTICE '%', $1; END IF; RETURN NULL; END $$;
	CREATE CAST (float8 AS pg_temp.box) WITH FUNCTION pg_temp.boxed(float8);
	SELECT dp_count(1) IS NOT NULL FROM staff WHERE (salary::pg_temp.box) IS NULL} ],
	[ 'an aggregate', q{
	CREATE FUNCTION pg_temp.add(float8, float8) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN IF $2 = 6000 THEN RAISE NOTICE '%', $2; END IF; RETURN $2; END $$;
	CREATE AGGREGATE pg_temp.sight(float8) (SFUNC = pg_temp.add, STYPE = float8); SELECT pg_temp.sight(salary), dp_count(1) IS NOT NULL FROM staff} ],
	[ 'an aggregate as a window function', q{
	CREATE FUNCTION pg_temp.add(float8, float8) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN IF $2 = 6000 THEN RAISE NOTICE '%', $2; END IF; RETURN $2; END $$;
	CREATE AGGREGATE pg_temp.sight(float8) (SFUNC = pg_temp.add, STYPE = float8);
	SELECT dp_count(1) IS NOT NULL FROM (SELECT pg_temp.sight(salary) OVER () AS s FROM staff) t WHERE s > 0} ];

# Names that come before PostgreSQL's in the search path. The new ones do as they should, and tell.
my $SHADOW = q{
	BEGIN;
	CREATE FUNCTION equal(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE
		AS $$ BEGIN IF $1 OPERATOR(pg_catalog.=) 19000 THEN RAISE NOTICE '%', $1; END IF; RETURN pg_catalog.int4eq($1, $2); END $$;
	CREATE OPERATOR = (FUNCTION = equal, LEFTARG = int, RIGHTARG = int);
	CREATE FUNCTION lower(text) RETURNS text LANGUAGE plpgsql IMMUTABLE
		AS $$ BEGIN IF pg_catalog.length($1) OPERATOR(pg_catalog.>) 9 THEN RAISE NOTICE '%', $1; END IF; RETURN $1; END $$;
	SET LOCAL search_path = :user, :schema, pg_catalog, public;
	SET LOCAL enable_hashjoin = off;
	SET LOCAL enable_mergejoin = off;
};
channel_is_closed($node, "threat 32: $_->[0] that is shadowed", "$SHADOW SELECT dp_count(1) IS NOT NULL FROM staff $_->[1]", $unsupported)
	for [ '=', 'WHERE id = 19999' ],
	[ 'IN', 'WHERE id IN (19999, 19998)' ],
	[ 'USING', 'JOIN department USING (id)' ],
	[ 'NULLIF', 'WHERE nullif(id, 7) IS NULL' ],
	[ 'CASE', 'WHERE CASE id WHEN 7 THEN true END' ],
	[ 'IS DISTINCT FROM', 'WHERE id IS DISTINCT FROM 7' ],
	[ 'lower()', q{WHERE lower(name) > 'x'} ];

# ---- Functions with side effects ----

# The analyst looks for the effects on a condition that is evaluated for the rows above 5000.
my $EFFECT = q{
	CREATE TEMP SEQUENCE counter;
	CREATE TEMP TABLE note AS SELECT 0::oid AS object;
	SET spy.seen = 'nothing';
};
channel_is_closed($node, "threat 32: $_->[0]", "$EFFECT SELECT $RICH AND $_->[1] IS NOT NULL; $_->[2]", $_->[3])
	for [ 'nextval', q{nextval('counter')}, 'SELECT last_value, is_called FROM counter', "1|f $unsupported" ],
	[ 'setval', q{setval('counter', id)}, 'SELECT last_value, is_called FROM counter', "1|f $unsupported" ],
	[ 'set_config', q{set_config('spy.seen', name, false)}, 'SHOW spy.seen', "nothing $unsupported" ],
	[ 'pg_advisory_lock', 'pg_advisory_lock(id)::text', 'SELECT pg_advisory_unlock(6000)', "f WARNING $unsupported" ],
	[ 'pg_try_advisory_lock', 'pg_try_advisory_lock(id)::text', 'SELECT pg_advisory_unlock(6000)', "f WARNING $unsupported" ],
	[ 'lo_create', 'lo_create((id + 100000)::oid)', 'SELECT lo_unlink(106000)', "$unsupported 42501" ],
	[ 'query_to_xml', q{query_to_xml(format('SELECT set_config(''spy.seen'', %L, false)', name), true, true, '')}, 'SHOW spy.seen', "nothing $unsupported" ];
channel_is_closed($node, "threat 32: $_", "SELECT $RICH AND $_ IS NOT NULL", $unsupported, reader => undef)
	for 'pg_sleep(salary)', 'random()', 'clock_timestamp()', q{pg_notify('told', name)}, 'pg_export_snapshot()', 'setseed(0)',
	'gen_random_uuid()', 'timeofday()', 'pg_cancel_backend(id)';

# ---- Expressions that fail later ----

# Expressions without columns are evaluated before the first row is read. If they were evaluated again for a row, one that fails by then
# would tell that there is such a row. The row has a large value, because reading that makes the session notice what others have changed.
foreach my $schema ('few', 'many')
{
	my $id = $schema eq 'many' ? 5000 : 1;
	$node->safe_psql('postgres', qq{
		SET ROLE owner;
		CREATE TABLE $schema.note (id int, words text);
		ALTER TABLE $schema.note ALTER words SET STORAGE EXTERNAL;
		INSERT INTO $schema.note VALUES ($id, repeat('x', 5000));
		SELECT dp_protect_table('$schema.note'), dp_grant_private_access('$schema.note', 'analyst')});
}
my $FOUND = q{words = repeat('x', 5000) AND id = 5000};

$node->safe_psql('postgres', 'CREATE TABLE public.gate (); GRANT SELECT ON public.gate TO analyst');

# What the analyst sees of a query with a parameter, if another of its sessions drops its table and its type while the query is charged.
sub dropped_while_charging
{
	my ($schema, $query, $value) = @_;
	outcome($node, q{CREATE TABLE analyst.own (id int); CREATE TYPE analyst.kind AS ENUM ('a', 'b'); ALTER TYPE analyst.kind ADD VALUE 'c' BEFORE 'a'});
	my $owner = hold_budget($node);
	$owner->query_safe('LOCK TABLE public.gate');
	my $waiting = start_psql($node, qq{
		SET search_path = $schema, public;
		SET plan_cache_mode = force_generic_plan;
		SET enable_hashjoin = off;
		SET enable_mergejoin = off;
		CREATE FUNCTION pg_temp.asked($value->[0]) RETURNS SETOF bool LANGUAGE plpgsql AS \$\$ BEGIN RETURN QUERY $query; END \$\$;
		SELECT pg_temp.asked($value->[1]);
		SELECT FROM public.gate});
	# A query that is refused is not charged.
	$node->poll_query_until('postgres', q{
		SELECT count(*) = 1 FROM pg_stat_activity
		WHERE backend_type = 'dpquantile session' AND wait_event_type = 'Lock' OR usename = 'analyst' AND wait_event = 'relation'})
	  or die 'the query is not charged';
	outcome($node, 'DROP TABLE analyst.own; DROP TYPE analyst.kind CASCADE');
	$owner->query_safe('COMMIT');
	$owner->quit;
	return finish_psql($waiting);
}
sub fails_for_no_row
{
	my ($name, $query, $value, $expected) = @_;
	is(dropped_while_charging($_, $query, $value), $expected, "threat 70: $name: $_") for 'few', 'many';
	return;
}
fails_for_no_row($_->[0], "SELECT dp_count(1) IS NOT NULL FROM note WHERE CASE WHEN $FOUND THEN $_->[0] END", [ 'text', q{'c'} ], $_->[1])
	for [ q{has_table_privilege('analyst.own', 'SELECT')}, 't' ],
	[ q{'analyst.own'::text::regclass::oid > 0}, 't' ],
	[ q{$1::analyst.kind < 'b'}, 't' ];
fails_for_no_row('a parameter of an aggregate', qq{SELECT dp_count(CASE WHEN \$1 < 'b' THEN 1 ELSE 2 END) FILTER (WHERE $FOUND) IS NOT NULL FROM note},
	[ 'analyst.kind', q{'c'} ], 't');
fails_for_no_row('a parameter with a subquery', qq{
	SELECT dp_count(CASE WHEN (SELECT \$1) < 'b' THEN 1 ELSE 2 END) FILTER (WHERE $FOUND) IS NOT NULL FROM note}, [ 'analyst.kind', q{'c'} ], 't');
fails_for_no_row('a list', qq{
	SELECT dp_count(1) IS NOT NULL FROM note LEFT JOIN unnest(ARRAY[5, CASE WHEN \$1 < 'b' THEN 1 ELSE 2 END]) u ON u = id WHERE $FOUND},
	[ 'analyst.kind', q{'c'} ], 't');
fails_for_no_row('a value of a type of the analyst', qq{
	SELECT dp_count(1) IS NOT NULL FROM note WHERE CASE WHEN $FOUND THEN 'c'::analyst.kind END < 'b'}, [ 'text', q{'c'} ], $unsupported);
fails_for_no_row('a column of a query around it', qq{
	SELECT (SELECT dp_count(1) IS NOT NULL FROM note WHERE CASE WHEN $FOUND THEN k < 'b' END)
	FROM (VALUES ('c'::analyst.kind)) v(k)}, [ 'text', q{'c'} ], $unsupported);

done_testing();
