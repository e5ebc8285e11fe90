# threat 35: statements around a query over a protected table. Private answers pass, rows do not; and what PostgreSQL itself denies to a
# role without SELECT stays denied.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use ProtectedTables;
use Test::More;

my $node = protected_node('protected_statements', conf => 'log_statement = none');
my $denied = '42501';

# ---- Statements around a query ----

# %s stands for a query with one column n.
my %around = (
	'COPY' => 'COPY (%s) TO STDOUT',
	'CREATE TABLE AS' => 'CREATE TEMP TABLE kept AS %s; TABLE kept',
	'CREATE TABLE AS EXECUTE' => 'PREPARE p AS %s; CREATE TEMP TABLE kept AS EXECUTE p; TABLE kept',
	'SELECT INTO' => 'SELECT * INTO TEMP kept FROM (%s) t; TABLE kept',
	'a cursor' => 'BEGIN; DECLARE c CURSOR FOR %s; FETCH ALL FROM c; COMMIT',
	'a scrollable cursor' => 'BEGIN; DECLARE c SCROLL CURSOR FOR %s; FETCH LAST FROM c; FETCH FIRST FROM c; MOVE ABSOLUTE 0 IN c; COMMIT',
	'a holdable cursor' => 'DECLARE c CURSOR WITH HOLD FOR %s; FETCH ALL FROM c; CLOSE c',
	'EXECUTE' => 'PREPARE p AS %s; EXECUTE p',
	'a simple subquery' => 'SELECT * FROM (%s) t LIMIT 1000',
	'VALUES' => 'VALUES ((%s))',
	'a view' => 'CREATE TEMP VIEW v AS %s; TABLE v',
	'a rule' => 'CREATE TEMP TABLE t (n int); CREATE RULE r AS ON UPDATE TO t DO INSTEAD %s; UPDATE t SET n = 1',
	'DO' => q{DO $$ DECLARE r record; BEGIN FOR r IN %s LOOP RAISE INFO '%%', r.n; END LOOP; END $$},
	'DO, and an exception' => q{DO $$ DECLARE r record; BEGIN FOR r IN %s LOOP RAISE INFO '%%', r.n; END LOOP;
		EXCEPTION WHEN division_by_zero THEN NULL; END $$},
	'a function in plpgsql' => q{CREATE FUNCTION pg_temp.ask() RETURNS SETOF record LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY %s; END $$;
		SELECT a::text FROM pg_temp.ask() AS a (n boolean)},
	'a cursor in plpgsql' => q{DO $$ DECLARE c CURSOR FOR %s; r record; BEGIN OPEN c; FETCH c INTO r; RAISE INFO '%%', r.n; CLOSE c; END $$},
	'a function in SQL' => q{CREATE FUNCTION pg_temp.ask() RETURNS SETOF record LANGUAGE sql AS $$ %s $$; SELECT a::text FROM pg_temp.ask() AS a (n boolean)},
	'a procedure' => q{CREATE PROCEDURE pg_temp.ask() LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN COMMIT; FOR r IN %s LOOP RAISE INFO '%%', r.n;
		END LOOP; END $$; CALL pg_temp.ask()},
	'a trigger' => q{CREATE TEMP TABLE t (a int); CREATE FUNCTION pg_temp.ask() RETURNS trigger LANGUAGE plpgsql
		AS $$ DECLARE r record; BEGIN FOR r IN %s LOOP RAISE INFO '%%', r.n; END LOOP; RETURN NULL; END $$;
		CREATE TRIGGER t AFTER INSERT ON t EXECUTE FUNCTION pg_temp.ask(); INSERT INTO t VALUES (1)},
	'query_to_xml' => q{SELECT query_to_xml($$ %s $$, true, true, '')},
	'cursor_to_xml' => q{BEGIN; DECLARE c CURSOR FOR %s; SELECT cursor_to_xml('c', 10, true, true, ''); COMMIT},
	'ts_stat' => q{SELECT word FROM ts_stat($$ SELECT to_tsvector('simple', n::text) FROM (%s) t $$)},
	'ts_rewrite' => q{SELECT ts_rewrite('a', $$ SELECT 'a'::tsquery, n::text::tsquery FROM (%s) t $$)},
	'crosstab-like SQL' => q{SELECT xpath('//n/text()', query_to_xml($$ %s $$, true, false, ''))::text},
);
my $private = 'SELECT dp_count(1) IS NOT NULL AS n FROM staff';
my $rows = 'SELECT salary > 9e9 AS n FROM staff';
foreach my $way (sort keys %around)
{
	my ($few, $many) = map { seen($node, $_, sprintf($around{$way}, $private)) } 'few', 'many';
	like($few, qr/\b(t|true)\b/, "threat 35: $way shows the answer");
	is($many, $few, "threat 35: $way shows the same of other rows");
	unlike($few, qr/ERROR/, "threat 35: $way is no error");
	my ($refused, $refused_too) = map { seen($node, $_, sprintf($around{$way}, $rows)) } 'few', 'many';
	like($refused, qr/^ERROR:  (42501: permission denied for table staff$|0A000: .* is not supported over protected rows: )/m, "threat 35: $way shows no rows");
	unlike($refused, qr/^f$|\bfalse\b/m, "threat 35: $way shows none of them");
	is($refused_too, $refused, "threat 35: $way refuses other rows alike");
}

# A deferred trigger runs for each row.
is(outcome($node, q{CREATE TEMP TABLE t (a int); CREATE FUNCTION pg_temp.ask() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		CREATE CONSTRAINT TRIGGER t AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.ask()}),
	'0A000', 'threat 100: the analyst makes no deferred trigger');

# ---- Statements that change data ----

channel_is_closed($node, "threat 35: $_->[0]", "CREATE TEMP TABLE note (n float8); INSERT INTO note VALUES (50000); $_->[1]; SELECT count(*) FROM note",
	"1 $_->[2]")
	for [ 'INSERT', 'INSERT INTO note SELECT salary FROM staff', '0A000' ],
	[ 'INSERT of an answer', 'INSERT INTO note SELECT dp_count(1) FROM staff HAVING dp_count(100) > 1000', '0A000' ],
	[ 'DELETE', 'DELETE FROM note WHERE n IN (SELECT salary FROM staff)', '0A000' ],
	[ 'UPDATE', 'UPDATE note SET n = 1 FROM staff WHERE salary = n RETURNING n', '0A000' ],
	[ 'MERGE', 'MERGE INTO note USING staff ON salary = n WHEN MATCHED THEN DELETE', '0A000' ],
	[ 'a CTE that deletes', 'WITH d AS (DELETE FROM note WHERE n IN (SELECT salary FROM staff) RETURNING n) SELECT count(*) FROM d', '0A000' ],
	[ 'a rule that deletes', 'CREATE RULE r AS ON INSERT TO note DO INSTEAD DELETE FROM note WHERE n IN (SELECT salary FROM staff);
		INSERT INTO note VALUES (1)', '0A000' ];

# ---- What runs with the rights of the analyst in a statement of somebody else, or for maintenance ----

$node->safe_psql('postgres', q{
	SET ROLE analyst;
	SET search_path = analyst, few, public;
	CREATE FUNCTION ask(int) RETURNS bigint LANGUAGE plpgsql IMMUTABLE SET search_path FROM CURRENT AS 'BEGIN RETURN (SELECT dp_count(1) FROM few.staff); END';
	CREATE VIEW v AS SELECT dp_count(1) FROM staff;
	CREATE TABLE own AS SELECT 1 AS id;
	CREATE MATERIALIZED VIEW later AS SELECT dp_count(1) FROM staff WITH NO DATA});
channel_is_closed($node, "threat 35: $_", "$_; DROP MATERIALIZED VIEW IF EXISTS m", 'NOTICE 42501', reader => undef)
  for "CREATE MATERIALIZED VIEW m AS $private", "CREATE MATERIALIZED VIEW m AS $rows", 'CREATE MATERIALIZED VIEW m AS SELECT analyst.ask(1)';
is(outcome($node, 'REFRESH MATERIALIZED VIEW analyst.later', user => $_), '42501', "threat 35: REFRESH by $_") for 'analyst', 'postgres';
is(outcome($node, 'CREATE INDEX ON analyst.own (analyst.ask(id))', user => $_), '42501', "threat 35: an index on a function, by $_")
  for 'analyst', 'postgres';
is(outcome($node, 'SELECT * FROM analyst.v', user => 'postgres'), '42501', 'threat 36: a superuser does not get the private answers of a view');
is(spent($node) =~ s/\..*//r, spent($node) =~ s/\..*//r, 'nothing was charged');

# ---- What PostgreSQL denies without SELECT, or to all but the owner ----

my @denied = ('CREATE TEMP TABLE t (LIKE staff)', 'CREATE TEMP TABLE t (LIKE staff INCLUDING ALL)', 'CREATE TEMP TABLE t () INHERITS (staff)',
	'CREATE TABLE t (id int REFERENCES staff)', 'CREATE INDEX ON staff (id)', 'CREATE STATISTICS s ON id, salary FROM staff',
	'CREATE RULE r AS ON SELECT TO staff DO INSTEAD SELECT 1', 'CREATE POLICY p ON staff USING (true)',
	'CREATE TRIGGER t BEFORE INSERT ON staff EXECUTE FUNCTION suppress_redundant_updates_trigger()', 'ALTER TABLE staff ADD x int',
	'TRUNCATE staff', 'COPY staff TO STDOUT', 'COPY staff (id) TO STDOUT',
	'INSERT INTO staff (id) VALUES (5000) ON CONFLICT DO NOTHING', 'DELETE FROM staff', 'UPDATE staff SET id = 1',
	'REINDEX TABLE staff', 'CLUSTER staff', q{COMMENT ON TABLE staff IS ''}, q{SELECT currtid2('staff', '(0,1)')},
	'CREATE PUBLICATION p FOR TABLE staff', q{SELECT table_to_xml('staff', true, true, '')}, 'TABLE pg_statistic',
	q{SELECT dp_protect_table('staff')}, q{SELECT dp_grant_private_access('staff', 'analyst', 1e-9)}, q{TABLE dpquantile.private_grant},
	'COPY staff FROM STDIN');
channel_is_closed($node, 'threat 35: what PostgreSQL denies', join(";\n", @denied), join(' ', ($denied) x @denied), reader => undef);
channel_is_closed($node, "threat 35: $_", "BEGIN; $_", $denied, reader => undef) for 'LOCK staff IN ACCESS SHARE MODE', 'LOCK staff';
channel_is_closed($node, "threat 35: $_", $_, 'WARNING', reader => undef) for 'ANALYZE staff', 'VACUUM staff';
channel_is_closed($node, "threat 35: $_->[0]", $_->[1], $_->[2])
	for [ 'the rows of a schema as XML', q{SELECT length(schema_to_xml(:'schema', true, true, '')::text) > 100000}, 'f' ],
	[ 'a child of another table', 'CREATE TEMP TABLE parent (id int); CREATE TEMP VIEW v AS SELECT max(id) FROM staff; TABLE v', '42501' ];

done_testing();
