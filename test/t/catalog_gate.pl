# threat 122: a query over a protected table names and reaches PostgreSQL's own objects and this extension's, also by links between
# objects. For each reference between catalogs, and each expression in them, %COLUMNS says which of the checks below tries it with
# objects of the analyst's own, or why it leads to no code. A reference that a new version of PostgreSQL has fails until it is named.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('catalog_gate', preloaded => 1);
$node->safe_psql('postgres', q{
	CREATE ROLE owner;
	CREATE SCHEMA own AUTHORIZATION analyst;
	CREATE SCHEMA super;
	GRANT USAGE ON SCHEMA super TO PUBLIC;
	CREATE FUNCTION super.sample(internal) RETURNS tsm_handler LANGUAGE internal AS 'tsm_bernoulli_handler';
	CREATE OPERATOR super.= (LEFTARG = int, RIGHTARG = int, FUNCTION = pg_catalog.int4eq);
	CREATE TABLE staff (id int PRIMARY KEY, name text, salary int, weight float8);
	INSERT INTO staff SELECT i, 'name ' || i, 1000 + i, i FROM generate_series(1, 300) i;
	CREATE TABLE wage (salary int PRIMARY KEY);
	INSERT INTO wage SELECT 1000 + i FROM generate_series(0, 400) i;
	ALTER TABLE staff OWNER TO owner;
	ALTER TABLE wage OWNER TO owner;
	GRANT SELECT ON wage TO PUBLIC;
	CREATE TABLE bonus (number int PRIMARY KEY, id int, other int);
	CREATE FUNCTION high(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 > 5; END';
	ALTER TABLE bonus OWNER TO owner;
	ANALYZE staff, wage;
	SELECT dp_restrict_role('analyst');
	SET ROLE owner;
	SELECT dp_protect_table('staff'), dp_grant_private_access('staff', 'analyst');
	SELECT dp_protect_table('bonus'), dp_grant_private_access('bonus', 'analyst');
	RESET ROLE;
	CREATE INDEX ON bonus (other) WHERE id < 9 OR high(id)});

# All that the analyst's session shows. own is the schema of its objects: one that it owns, or pg_temp.
sub shown
{
	my ($schema, @statements) = @_;
	my $sql = join ";\nROLLBACK TO s;\n", @statements;
	$sql =~ s/\bown\./pg_temp./g if $schema eq 'pg_temp';
	my $session = start_psql($node, "\\set VERBOSITY default\nSET search_path = $schema, pg_catalog, public;\nBEGIN;\nSAVEPOINT s;\n$sql;\nROLLBACK");
	finish_psql($session);
	return slurp_file("$session->{file}.err") . slurp_file("$session->{file}.out");
}

# ---- Objects of the analyst's own that a query names ----

my $SPY = q{
	CREATE FUNCTION own.spies(int, int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'SAW %', $1; RETURN true; END $$;
	CREATE FUNCTION own.spy(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'SAW %', $1; RETURN true; END $$};
my $KIND = q{CREATE TYPE own.kind AS ENUM ('a')};
my $COLLATION = q{CREATE COLLATION own.order (provider = libc, locale = 'C')};
my $AROUND = 'FROM (SELECT dp_count(1)::int AS n FROM staff) t';
my $GATE = qr/is not PostgreSQL's own/;

# [ statements that make the objects, why they are refused, queries ]
my %REFUSED = (
	'a function' => [ $SPY, $GATE, 'SELECT dp_count(1) FROM staff WHERE own.spy(id)', "SELECT own.spy(n) $AROUND", 'SELECT dp_count(1) FROM staff WHERE id > 5 AND own.spy(1)' ],
	'a function with a default' => [
		q{CREATE FUNCTION own.more(a int, b int DEFAULT 5) RETURNS bool LANGUAGE sql IMMUTABLE RETURN a > b},
		$GATE, 'SELECT dp_count(1) FROM staff WHERE own.more(id)' ],
	'an aggregate' => [ q{
		CREATE FUNCTION own.add(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'SAW %', $2; RETURN $2; END $$;
		CREATE FUNCTION own.last(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'SAW %', $1; RETURN $1; END $$;
		CREATE AGGREGATE own.total(int) (SFUNC = own.add, STYPE = int, FINALFUNC = own.last, COMBINEFUNC = own.add, MSFUNC = own.add,
			MINVFUNC = own.add, MSTYPE = int, MFINALFUNC = own.last);
		CREATE AGGREGATE own.sum(int) (SFUNC = int4pl, STYPE = int)},
		$GATE, 'SELECT dp_count(1), own.total(id) FROM staff', 'SELECT own.sum(id) FROM staff', "SELECT own.sum(n) $AROUND", "SELECT own.total(n) OVER () $AROUND" ],
	'a sort operator' => [
		q{CREATE AGGREGATE own.least(int) (SFUNC = int4smaller, STYPE = int, SORTOP = OPERATOR(pg_catalog.<))},
		$GATE, 'SELECT own.least(id) FROM staff', "SELECT own.least(n) $AROUND" ],
	'a negator' => [ qq{$SPY;
		CREATE OPERATOR own.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = own.spies, NEGATOR = OPERATOR(own.<<<>));
		CREATE OPERATOR own.<<<> (LEFTARG = int, RIGHTARG = int, FUNCTION = pg_catalog.int4ne, NEGATOR = OPERATOR(own.===))},
		$GATE, 'SELECT dp_count(1) FROM staff WHERE NOT (id OPERATOR(own.<<<>) salary)', "SELECT n $AROUND WHERE NOT (n OPERATOR(own.<<<>) 5)",
		'SELECT dp_count(1) FILTER (WHERE NOT (id OPERATOR(own.<<<>) 5)) FROM staff', 'SELECT dp_count(1) FROM staff WHERE NOT (5 OPERATOR(own.<<<>) 5)',
		'SELECT dp_count(CASE WHEN NOT 5 OPERATOR(own.<<<>) 5 THEN 1 ELSE 2 END) FROM staff',
		'SELECT dp_count(1) FROM staff GROUP BY NOT (id OPERATOR(own.<<<>) 5) HAVING dp_keep_group(1, 1e-9)',
		'SELECT dp_count(1) FROM staff WHERE NOT (id OPERATOR(own.<<<>) ANY (ARRAY[1, 2]))',
		'SELECT dp_count(1) FROM (SELECT NOT (id OPERATOR(own.<<<>) 5) AS b FROM staff) t WHERE b',
		'WITH t AS (SELECT id FROM staff WHERE NOT (id OPERATOR(own.<<<>) 5)) SELECT dp_count(1) FROM t',
		'SELECT count(*) FROM wage WHERE NOT (salary OPERATOR(own.<<<>) (SELECT dp_count(1)::int FROM staff))',
		'SELECT dp_count(1)::int FROM staff UNION ALL SELECT salary FROM wage WHERE NOT (salary OPERATOR(own.<<<>) 5)',
		'SELECT dp_count(1) FROM staff LIMIT CASE WHEN NOT 5 OPERATOR(own.<<<>) 5 THEN 1 END',
		'SELECT dp_count(1) FROM staff LEFT JOIN wage w ON w.salary = staff.salary AND NOT (staff.id OPERATOR(own.<<<>) 5)' ],
	'a commutator' => [ qq{$SPY;
		CREATE OPERATOR own.>>>> (LEFTARG = int, RIGHTARG = int, FUNCTION = own.spies, COMMUTATOR = OPERATOR(own.<<<<));
		CREATE OPERATOR own.<<<< (LEFTARG = int, RIGHTARG = int, FUNCTION = pg_catalog.int4lt, COMMUTATOR = OPERATOR(own.>>>>),
			RESTRICT = scalarltsel, JOIN = scalarltjoinsel)},
		$GATE, 'SELECT dp_count(1) FROM staff WHERE 5 OPERATOR(own.<<<<) salary', "SELECT n $AROUND WHERE 5 OPERATOR(own.<<<<) n",
		'SELECT dp_count(1) FROM staff s JOIN wage w ON w.salary = s.salary AND w.salary OPERATOR(own.<<<<) s.id' ],
	'HASHES and MERGES without functions' => [ q{
		CREATE OPERATOR own.=#= (LEFTARG = int, RIGHTARG = int, FUNCTION = pg_catalog.int4eq, COMMUTATOR = OPERATOR(own.=#=), HASHES, MERGES);
		SET LOCAL enable_nestloop = off},
		$GATE, 'SELECT dp_count(1) FROM staff s JOIN wage w ON w.salary = s.salary AND w.salary OPERATOR(own.=#=) s.salary',
		"SELECT n $AROUND JOIN wage w ON w.salary OPERATOR(own.=#=) n" ],
	'an operator without a name in the text' => [ q{
		CREATE OPERATOR own.= (LEFTARG = int, RIGHTARG = int, FUNCTION = pg_catalog.int4eq)},
		$GATE, map { /^SELECT/ ? $_ : "SELECT dp_count(1) FROM staff $_" }
		  'JOIN wage USING (salary)', 'NATURAL JOIN wage', 'WHERE id IN (5, 6)', 'WHERE id IN (id, 6)', 'WHERE nullif(id, 5) IS NULL', 'WHERE id IS DISTINCT FROM 5',
		  'WHERE CASE id WHEN 5 THEN true END', "SELECT n IN (SELECT 5) $AROUND", "SELECT n = 5 $AROUND" ],
	'a collation' => [ $COLLATION, $GATE, q{SELECT dp_count(1) FROM staff WHERE name < 'n' COLLATE own.order},
		q{SELECT dp_count(1) FROM staff GROUP BY name COLLATE own.order HAVING dp_keep_group(1, 1e-9)}, "SELECT n $AROUND ORDER BY n::text COLLATE own.order",
		"SELECT n::text COLLATE own.order $AROUND UNION SELECT 'x'" ],
	'the collation of a column' => [ qq{$COLLATION; CREATE TABLE own.word (word text COLLATE own.order PRIMARY KEY)},
		$GATE, "SELECT n $AROUND JOIN own.word ON word = n::text", "SELECT n, word $AROUND, own.word ORDER BY word", "SELECT DISTINCT n, word $AROUND, own.word" ],
	'the collation of a domain' => [ qq{$COLLATION; CREATE DOMAIN own.word AS text COLLATE own.order; CREATE TABLE own.words (word own.word)},
		$GATE, "SELECT n $AROUND JOIN own.words ON word < n::text" ],
	'a range type' => [ q{
		CREATE FUNCTION own.far(float8, float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE 'SAW %', $1; RETURN 1; END $$;
		CREATE TYPE own.span AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = own.far);
		CREATE TABLE own.spans AS SELECT NULL::own.span AS span},
		$GATE, "SELECT n $AROUND JOIN own.spans ON span \@> n::float8", "SELECT n $AROUND JOIN own.spans ON ARRAY[span] = '{}'" ],
	'a cast' => [ qq{$KIND;
		CREATE FUNCTION own.kind(int) RETURNS own.kind LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN RAISE NOTICE 'SAW %', \$1; RETURN 'a'; END \$\$;
		CREATE CAST (int AS own.kind) WITH FUNCTION own.kind(int) AS IMPLICIT},
		$GATE, q{SELECT dp_count(1) FROM staff WHERE id::own.kind = 'a'}, "SELECT n::own.kind $AROUND", "SELECT ARRAY[n]::own.kind[] $AROUND" ],
	'a cast by text' => [ "$KIND; CREATE CAST (int AS own.kind) WITH INOUT", qr/expressions of type kind are not supported over protected rows/,
		q{SELECT dp_count(1) FROM staff WHERE id::own.kind = 'a'} ],
	'a domain' => [ qq{$SPY; CREATE DOMAIN own.checked AS int DEFAULT 5 CHECK (own.spy(VALUE))}, qr/casts? to (a )?domain/,
		'SELECT dp_count(1) FROM staff WHERE id::own.checked = 5', "SELECT n::own.checked $AROUND" ],
	'an array of a domain' => [ qq{$SPY; CREATE DOMAIN own.checked AS int CHECK (own.spy(VALUE))}, qr/casts to domain|code of the type's owner/,
		"SELECT ARRAY[n]::own.checked[] $AROUND", "SELECT ('{' || n || '}')::own.checked[] $AROUND" ],
	# The planner rechecks it for rows of pages that a bitmap does not tell apart.
	'the predicate of an index' => [ qq{$SPY;
		CREATE TABLE own.note (id int, other int);
		CREATE INDEX ON own.note (other) WHERE id < 9 OR own.spy(id);
		CREATE TABLE own.whole (id int, other int) PARTITION BY LIST (id);
		CREATE TABLE own.part PARTITION OF own.whole DEFAULT;
		CREATE INDEX ON own.part (other) WHERE id < 9 OR own.spy(id)}, qr/index \S+ leads to function \S+, which is not PostgreSQL's own/,
		"SELECT n $AROUND, own.note WHERE id < 9 AND other > 5", "SELECT n $AROUND, own.whole WHERE id < 9 AND other > 5" ],
	# The function would find operators of the analyst in search_path.
	'the predicate of an index of the protected table' => [ 'SELECT', qr/index \S+ leads to function \S+, which is not PostgreSQL's own/,
		'SELECT dp_count(1) FROM bonus WHERE id < 9 AND other > 5' ],
	# PostgreSQL asks for the rule in SQL.
	'an operator that shows a view' => [ qq{$SPY;
		CREATE FUNCTION own.same(oid, oid) RETURNS bool LANGUAGE plpgsql AS \$\$ BEGIN RAISE NOTICE 'SAW %', \$1; RETURN true; END \$\$;
		CREATE OPERATOR own.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = own.same);
		CREATE VIEW own.seen AS SELECT 1 AS one}, qr/runs what its arguments name/,
		"SELECT n, pg_get_viewdef('own.seen'::regclass) $AROUND", "SELECT dp_count(1) FROM staff WHERE name <> pg_get_viewdef('own.seen'::regclass)",
		"SELECT n, pg_get_ruledef(1) $AROUND" ],
	'a view' => [ qq{$SPY; CREATE VIEW own.seen AS SELECT salary, own.spy(salary) AS s FROM wage}, $GATE, "SELECT n $AROUND JOIN own.seen ON s" ],
	"an operator of a superuser" => [ 'SELECT', $GATE, 'SELECT dp_count(1) FROM staff WHERE id OPERATOR(super.=) 5' ],
	'a method of TABLESAMPLE of a superuser' => [ 'SELECT', $GATE, "SELECT n $AROUND, wage TABLESAMPLE super.sample(50)" ],
	'a policy' => [ qq{$SPY;
		CREATE TABLE own.note AS SELECT 5 AS id;
		ALTER TABLE own.note ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
		CREATE POLICY seen ON own.note USING (own.spy(id))}, $GATE, "SELECT n $AROUND, own.note" ],
);
$REFUSED{'a virtual generated column'} = [ qq{$SPY;
	CREATE OPERATOR own.=== (LEFTARG = int, RIGHTARG = int, FUNCTION = own.spies, NEGATOR = OPERATOR(own.<<<>));
	CREATE OPERATOR own.<<<> (LEFTARG = int, RIGHTARG = int, FUNCTION = pg_catalog.int4ne, NEGATOR = OPERATOR(own.===));
	CREATE TABLE own.note (id int, s bool GENERATED ALWAYS AS (id OPERATOR(own.<<<>) 5) VIRTUAL)}, $GATE, "SELECT n $AROUND JOIN own.note ON NOT s" ]
	if $node->pg_version >= 18;

foreach my $name (sort keys %REFUSED)
{
	my ($make, $why, @queries) = @{ $REFUSED{$name} };
	# PostgreSQL finds no operator in pg_temp without its schema.
	foreach my $schema ('own', $name =~ /without a name/ ? () : 'pg_temp')
	{
		my $shown = shown($schema, "$make;\nSAVEPOINT s", map { $_, "SELECT min(problem) FROM dp_explain(\$q\$$_\$q\$)" } @queries);
		my $refusals = () = $shown =~ /$why/g;
		is($refusals, 2 * @queries, "$name in $schema: refused, also by dp_explain") or diag($shown);
		unlike($shown, qr/SAW/, "$name in $schema: its code did not run");
	}
}
is(spent($node), '0', 'no refusal was charged');

# ---- Code of tables of the analyst's own ----

# [ statements, query, whether it is refused ]. The planner would evaluate them for constants of their own, and they could change its settings.
my %CONSTANT = (
	'the expression of an index' => [ qq{$SPY; CREATE TABLE own.note AS SELECT 7 AS id; CREATE INDEX ON own.note ((CASE WHEN own.spy(7) THEN id END))},
		"SELECT n > -1e6 $AROUND, own.note", 1 ],
	'the expression of an index, of columns' => [ qq{$SPY; CREATE TABLE own.note AS SELECT 7 AS id; CREATE INDEX ON own.note (own.spy(id)); ANALYZE own.note},
		"SELECT n > -1e6 $AROUND, own.note WHERE id < n OR id < 9" ],
	'a CHECK' => [ qq{$SPY; CREATE TABLE own.note (id int CHECK (id < 9 OR own.spy(7))); INSERT INTO own.note VALUES (5)},
		"SELECT n > -1e6 $AROUND, own.note WHERE id > 9", 1 ],
	'the key of partitions' => [ qq{$SPY; CREATE TABLE own.note (id int) PARTITION BY LIST ((CASE WHEN own.spy(7) THEN id END));
		CREATE TABLE own.part PARTITION OF own.note FOR VALUES IN (7); INSERT INTO own.note VALUES (7)}, "SELECT n > -1e6 $AROUND, own.note", 1 ],
	'extended statistics' => [ qq{$SPY; CREATE TABLE own.note AS SELECT 7 AS id; CREATE STATISTICS own.s ON (CASE WHEN own.spy(7) THEN id END), (id + 1) FROM own.note; ANALYZE own.note},
		"SELECT n > -1e6 $AROUND, own.note WHERE id < n OR id < 9", 1 ],
	'a default' => [ qq{$SPY; CREATE TABLE own.note (id int, s bool DEFAULT own.spy(7)); INSERT INTO own.note VALUES (5)}, "SELECT n > -1e6 $AROUND, own.note" ],
);
foreach my $name (sort keys %CONSTANT)
{
	my ($make, $query, $is_refused) = @{ $CONSTANT{$name} };
	# A session keeps what it has computed, so another one asks.
	my $session = start_psql($node, "BEGIN;\nDROP TABLE IF EXISTS own.note;\nDROP FUNCTION IF EXISTS own.spies, own.spy;\n$make;\nCOMMIT");
	finish_psql($session);
	my $shown = shown('own', "SET LOCAL constraint_exclusion = on;\nSAVEPOINT s", $query);
	if ($is_refused)
	{
		like($shown, qr/function spy\(integer\) must not run in a query over protected tables/, "$name: the query is refused") or diag($shown);
	}
	else
	{
		like($shown, qr/^t$/m, "$name: the query is answered") or diag($shown);
	}
	unlike($shown, qr/SAW/, "$name: its code does not run");
}
finish_psql(start_psql($node, 'DROP TABLE own.note'));

# ---- What PostgreSQL lets no ordinary role do ----

# [ statement, SQLSTATE ]
my %DENIED = (
	"the negator of PostgreSQL's operator" => [ q{CREATE OPERATOR own.!^@ (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_catalog.textne, NEGATOR = OPERATOR(pg_catalog.^@))}, '42501' ],
	"the commutator of PostgreSQL's operator" => [ q{CREATE OPERATOR own.@^ (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_catalog.textne, COMMUTATOR = OPERATOR(pg_catalog.^@))}, '42501' ],
	"the estimator of PostgreSQL's operator" => [ 'ALTER OPERATOR pg_catalog.^@ (text, text) SET (RESTRICT = NONE)', '42501' ],
	'an operator in pg_catalog' => [ 'CREATE OPERATOR pg_catalog.@^ (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_catalog.textne)', '42501' ],
	'an estimator' => [ q{CREATE FUNCTION own.half(internal, oid, internal, int) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN RETURN 0.5; END'}, '0A000' ],
	"PostgreSQL's function" => [ q{CREATE OR REPLACE FUNCTION pg_catalog.starts_with(text, text) RETURNS bool LANGUAGE sql RETURN true}, '42501' ],
	'a support function' => [ 'CREATE FUNCTION own.f(int) RETURNS int LANGUAGE sql SUPPORT generate_series_int4_support RETURN 1', '42501' ],
	"PostgreSQL's aggregate" => [ 'CREATE OR REPLACE AGGREGATE pg_catalog.sum(int) (SFUNC = int4pl, STYPE = int)', '42501' ],
	'a serial form of states' => [ q{CREATE FUNCTION own.bytes(internal) RETURNS bytea LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'}, '0A000' ],
	'a base type' => [ 'CREATE TYPE own.shell', '42501' ],
	"a cast of PostgreSQL's types" => [ 'CREATE CAST (int AS bytea) WITH INOUT', '42501' ],
	'a cast without a function' => [ q{CREATE TYPE own.kind AS ENUM ('a'); CREATE CAST (own.kind AS oid) WITHOUT FUNCTION}, '42501' ],
	'an operator class' => [ 'CREATE OPERATOR CLASS own.class DEFAULT FOR TYPE int USING hash AS OPERATOR 1 pg_catalog.=', '42501' ],
	'an operator family' => [ 'CREATE OPERATOR FAMILY own.family USING btree', '42501' ],
	"a member of PostgreSQL's family" => [ 'ALTER OPERATOR FAMILY pg_catalog.integer_ops USING btree ADD OPERATOR 1 pg_catalog.< (int, int), FUNCTION 1 (int, int) btint4cmp(int, int)', '42501' ],
	'an operator of an exclusion constraint' => [ q{
		CREATE OPERATOR own.=#= (LEFTARG = int, RIGHTARG = int, FUNCTION = pg_catalog.int4eq, COMMUTATOR = OPERATOR(own.=#=));
		CREATE TABLE own.note (id int, EXCLUDE USING btree (id WITH OPERATOR(own.=#=)))}, '42809' ],
	'an access method' => [ 'CREATE ACCESS METHOD own TYPE TABLE HANDLER heap_tableam_handler', '42501' ],
	'a language' => [ 'CREATE LANGUAGE own HANDLER plpgsql_call_handler', '42501' ],
	'a transform' => [ 'CREATE TRANSFORM FOR int LANGUAGE sql (FROM SQL WITH FUNCTION prsd_lextype(internal), TO SQL WITH FUNCTION int4recv(internal))', '42501' ],
	'a function of a conversion' => [ q{CREATE FUNCTION own.convert(int, int, cstring, internal, int, bool) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 0; END'}, '0A000' ],
	'a template of text search' => [ 'CREATE TEXT SEARCH TEMPLATE own.template (LEXIZE = dsimple_lexize)', '42501' ],
	'a parser of text search' => [ 'CREATE TEXT SEARCH PARSER own.parser (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype)', '42501' ],
	'a foreign-data wrapper' => [ 'CREATE FOREIGN DATA WRAPPER own', '42501' ],
	'an event trigger' => [ q{CREATE FUNCTION own.f() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; CREATE EVENT TRIGGER own ON ddl_command_start EXECUTE FUNCTION own.f()}, '42501' ],
);
foreach my $name (sort keys %DENIED)
{
	my ($statement, $state) = @{ $DENIED{$name} };
	is(outcome($node, "BEGIN; $statement"), $state, "PostgreSQL denies $name");
}

$node->safe_psql('postgres', q{
	CREATE FUNCTION foreign_links(catalog regclass, reference text) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		found bigint;
	BEGIN
		EXECUTE format('SELECT count(*) FROM %s, unnest(%s::oid[]) linked WHERE %s < 16384 AND linked >= 16384', catalog, reference,
			CASE catalog WHEN 'pg_aggregate'::regclass THEN 'aggfnoid' WHEN 'pg_range'::regclass THEN 'rngtypid' ELSE 'oid' END) INTO found;
		RETURN found;
	END $$});
# How many references of PostgreSQL's own objects there are to others, and whether many have been looked at.
sub foreign_links
{
	return $node->safe_psql('postgres', q{
		SELECT sum(foreign_links(fktable, CASE WHEN is_array THEN fkcols[1] ELSE format('ARRAY[%s]', fkcols[1]) END)), count(*) > 50
		FROM pg_get_catalog_foreign_keys()
		WHERE cardinality(fkcols) = 1 AND pktable::text IN ('pg_proc', 'pg_operator', 'pg_type', 'pg_collation', 'pg_opclass', 'pg_opfamily', 'pg_am')
			AND (fktable::text IN ('pg_aggregate', 'pg_range')
				OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = fktable AND attname = 'oid') AND fktable::text NOT IN ('pg_constraint', 'pg_class'))});
}
my $STARTS = q{SELECT dp_count(1) IS NOT NULL FROM staff WHERE name ^@ 'n'};
is(foreign_links(), '0|t', "PostgreSQL's own objects lead to its own only");
is(outcome($node, $STARTS), 't', 'an operator of PostgreSQL is answered');
$node->safe_psql('postgres', 'CREATE OPERATOR super.!^@ (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_catalog.textne, NEGATOR = OPERATOR(pg_catalog.^@))');
is(foreign_links(), '1|t', 'a superuser may change this');
like(shown('own', $STARTS), qr/operator pg_catalog\.\^\@\S+ leads to operator super\.!\^\@\S+, which is not PostgreSQL's own/,
	'then the operator is refused');

# ---- Objects that leave the extension while a session is open ----

# A session keeps what it found to be the extension's own. A function that left the extension is what it was until somebody replaces it.
my $LEAVING = 'dp_cdf_count(dp_cdf, double precision, double precision)';
my $session = session($node, 'analyst');
my $asked = 'SELECT dp_cdf_count(dp_cdf(id, 1, 0, 300), 0, 300) > 0 FROM staff';
is(outcome_in($session, $asked), 't', 'a function of the extension');
$node->safe_psql('postgres', qq{
	ALTER EXTENSION dpquantile DROP FUNCTION $LEAVING;
	CREATE OR REPLACE FUNCTION dp_cdf_count(cdf dp_cdf, from_value double precision, to_value double precision) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 1; END'});
is(outcome_in($session, $asked), '0A000', 'no more when it left it and was replaced');
$node->safe_psql('postgres', "ALTER EXTENSION dpquantile ADD FUNCTION $LEAVING");
is(outcome_in($session, $asked), 't', 'again when it is back');
$session->quit;

# ---- The references of the catalogs ----

my $ROWS = 'PostgreSQL runs it when rows are written';
my $GROUP = 'links objects of one kind';
my %COLUMNS = (
	(map { ("pg_aggregate.$_" => [ 'an aggregate', "PostgreSQL's aggregate" ]) } qw(aggfnoid aggtransfn aggfinalfn aggcombinefn aggmtransfn aggminvtransfn
		aggmfinalfn aggtranstype aggmtranstype)),
	(map { ("pg_aggregate.$_" => [ 'a serial form of states', "PostgreSQL's aggregate" ]) } qw(aggserialfn aggdeserialfn)),
	'pg_aggregate.aggsortop' => [ 'a sort operator', "PostgreSQL's aggregate" ],
	'pg_am.amhandler' => ['an access method'],
	(map { ($_ => [ 'an operator class', 'an operator family', "a member of PostgreSQL's family" ]) } qw(pg_amop.amopfamily pg_amop.amoplefttype pg_amop.amopmethod
		pg_amop.amopopr pg_amop.amoprighttype pg_amop.amopsortfamily pg_amproc.amproc pg_amproc.amprocfamily pg_amproc.amproclefttype
		pg_amproc.amprocrighttype pg_opclass.opcfamily pg_opclass.opcintype pg_opclass.opckeytype pg_opclass.opcmethod pg_opfamily.opfmethod
		pg_index.indclass pg_partitioned_table.partclass)),
	'pg_attrdef.adbin' => [ 'a default', $node->pg_version >= 18 ? 'a virtual generated column' : () ],
	'pg_attribute.attcollation' => ['the collation of a column'],
	'pg_attribute.atttypid' => [ 'a range type', 'the collation of a domain' ],
	'pg_cast.castfunc' => [ 'a cast', 'a cast without a function' ],
	'pg_cast.castsource' => [ "a cast of PostgreSQL's types", 'a cast by text' ],
	'pg_cast.casttarget' => [ "a cast of PostgreSQL's types", 'a cast by text' ],
	'pg_class.relam' => ['an access method'],
	'pg_class.relpartbound' => $ROWS,
	'pg_class.reltype' => 'the type of the rows of a table; whole rows of tables are refused where they would be computed with (threat 98)',
	'pg_class.reloftype' => 'a type that gives a table its columns',
	'pg_constraint.conbin' => [ 'a CHECK', 'a domain' ],
	'pg_constraint.contypid' => [ 'a domain', 'an array of a domain' ],
	'pg_constraint.conexclop' => ['an operator of an exclusion constraint'],
	(map { ("pg_constraint.$_" => 'PostgreSQL takes it from the operator class of the key to which a foreign key refers, and ' . lcfirst $ROWS) } qw(conffeqop conpfeqop conppeqop)),
	'pg_constraint.conparentid' => $GROUP,
	'pg_conversion.conproc' => ['a function of a conversion'],
	'pg_enum.enumtypid' => 'the labels of an enum, whose functions are those of PostgreSQL',
	'pg_event_trigger.evtfoid' => ['an event trigger'],
	(map { ($_ => ['a foreign-data wrapper']) } qw(pg_foreign_data_wrapper.fdwhandler pg_foreign_data_wrapper.fdwvalidator pg_foreign_server.srvfdw
		pg_foreign_table.ftserver pg_user_mapping.umserver)),
	(map { ($_ => 'subscriptions and their workers call its function, and no query') } qw(pg_foreign_data_wrapper.fdwconnection pg_subscription.subserver)),
	'pg_index.indcollation' => 'the planner takes the index where the collation is that of the query, which is looked at',
	'pg_index.indexprs' => ['the expression of an index'],
	'pg_index.indpred' => [ 'the predicate of an index', 'the predicate of an index of the protected table' ],
	(map { ("pg_language.$_" => ['a language']) } qw(laninline lanplcallfoid lanvalidator)),
	'pg_operator.oprcode' => [ 'a negator', 'an operator in pg_catalog' ],
	'pg_operator.oprcom' => [ 'a commutator', "the commutator of PostgreSQL's operator", 'HASHES and MERGES without functions', 'an operator without a name in the text' ],
	'pg_operator.oprnegate' => [ 'a negator', "the negator of PostgreSQL's operator" ],
	(map { ("pg_operator.$_" => [ 'a commutator', 'an estimator', "the estimator of PostgreSQL's operator" ]) } qw(oprrest oprjoin)),
	(map { ("pg_operator.$_" => [ 'a negator', 'an operator without a name in the text' ]) } qw(oprleft oprright oprresult)),
	'pg_partitioned_table.partcollation' => 'the planner leaves out partitions where the collation is that of the query, which is looked at',
	'pg_partitioned_table.partexprs' => ['the key of partitions'],
	'pg_policy.polqual' => ['a policy'],
	'pg_policy.polwithcheck' => $ROWS,
	(map { ("pg_proc.$_" => [ 'a function', "PostgreSQL's function" ]) } qw(prolang prorettype proargtypes proallargtypes provariadic prosqlbody)),
	'pg_proc.proargdefaults' => [ 'a function with a default', "PostgreSQL's function" ],
	'pg_proc.prosupport' => [ 'a support function', "PostgreSQL's function" ],
	'pg_proc.protrftypes' => [ 'a transform', "PostgreSQL's function" ],
	'pg_publication_rel.prqual' => $ROWS,
	'pg_range.rngsubdiff' => ['a range type'],
	'pg_range.rngcanonical' => [ 'a base type', 'a range type' ],
	'pg_range.rngsubopc' => [ 'an operator class', 'a range type' ],
	(map { ("pg_range.$_" => ['a range type']) } qw(rngcollation rngmultitypid rngsubtype rngtypid
		rngconstruct2 rngconstruct3 rngmltconstruct0 rngmltconstruct1 rngmltconstruct2)),
	'pg_rewrite.ev_action' => ['a view'],
	'pg_rewrite.ev_qual' => $ROWS,
	'pg_sequence.seqtypid' => 'an integer type of PostgreSQL',
	(map { ("pg_statistic.staop$_" => 'ANALYZE takes it from the default operator class of the type', "pg_statistic.stacoll$_" => 'ANALYZE takes it from the column') } 1 .. 5),
	'pg_statistic_ext.stxexprs' => ['extended statistics'],
	'pg_statistic_ext_data.stxoid' => $GROUP,
	(map { ("pg_transform.$_" => ['a transform']) } qw(trffromsql trftosql trflang trftype)),
	(map { ("pg_trigger.$_" => $ROWS) } qw(tgfoid tgqual tgconstraint tgparentid)),
	(map { ($_ => [ 'a template of text search', 'a parser of text search' ]) } qw(pg_ts_config.cfgparser pg_ts_config_map.mapcfg pg_ts_config_map.mapdict
		pg_ts_dict.dicttemplate pg_ts_parser.prsend pg_ts_parser.prsheadline pg_ts_parser.prslextype pg_ts_parser.prsstart pg_ts_parser.prstoken
		pg_ts_template.tmplinit pg_ts_template.tmpllexize)),
	(map { ("pg_type.$_" => ['a base type']) } qw(typanalyze typinput typoutput typreceive typsend typmodin typmodout typsubscript typelem typarray)),
	'pg_type.typbasetype' => [ 'a domain', 'an array of a domain' ],
	'pg_type.typcollation' => ['the collation of a domain'],
	'pg_type.typdefaultbin' => $ROWS,
);

# threat 317: the rows of a view that the analyst protects are borrowed below it, and not by it. Its column of persons became a key of groups for ever.
$node->safe_psql('postgres', q{
	CREATE TABLE visit (patient int);
	CREATE TABLE stay (id int PRIMARY KEY, patient int);
	CREATE TABLE meal (stay int REFERENCES stay);
	ALTER TABLE visit OWNER TO owner;
	ALTER TABLE stay OWNER TO owner;
	ALTER TABLE meal OWNER TO owner;
	SET ROLE owner;
	SELECT dp_protect_table('visit', 'patient', 2, 'patient'), dp_protect_table('stay', 'patient', 2, 'patient'),
	       dp_protect_table('meal', 'stay', 4, 'patient', through => 'stay');
	SELECT dp_grant_private_access(t, 'analyst', epsilon => 1, delta => 1e-6) FROM unnest('{visit,stay,meal}'::regclass[]) t});
like(
	shown('own', q{
	CREATE VIEW own.visits AS SELECT patient FROM visit;
	SELECT dp_protect_table('own.visits', 'patient', 2, 'patient');
	SET LOCAL statement_timeout = '30s';
	SELECT count(*) FROM (SELECT m.stay FROM own.visits v JOIN stay s ON s.patient = v.patient JOIN meal m ON m.stay = s.id GROUP BY m.stay) g}),
	qr/a group of one person is never shown/, 'threat 317: groups along a reference beside it are no groups of persons');

# References to roles, schemas, tables and the like are no code.
my @references = split /\n/, $node->safe_psql('postgres', q{
	SELECT format('%s.%s', fktable, array_to_string(fkcols, ',')) FROM pg_get_catalog_foreign_keys()
	WHERE pktable::text NOT IN ('pg_authid', 'pg_namespace', 'pg_class', 'pg_attribute', 'pg_database', 'pg_tablespace', 'pg_largeobject_metadata',
		'pg_subscription', 'pg_publication')
	UNION
	SELECT format('%s.%s', attrelid::regclass, attname) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
	WHERE atttypid = 'pg_node_tree'::regtype AND relkind = 'r' AND relnamespace = 'pg_catalog'::regnamespace});
cmp_ok(scalar @references, '>', 120, 'the catalogs have references');
is_deeply([ grep { !$COLUMNS{$_} } sort @references ], [], 'each reference is tried, or known to lead to no code');
my %checks = (%REFUSED, %CONSTANT, %DENIED);
my %named = map { $_ => 1 } map { ref $_ ? @$_ : () } values %COLUMNS;
is_deeply([ grep { !$checks{$_} } sort keys %named ], [], 'each check that a reference names is there');

done_testing();
