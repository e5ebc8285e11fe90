# threat 31: each function of the running server that is not immutable has been reviewed, and the hook denies exactly
# those that tell exact facts. Executes none of them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Utils;
use Test::More;

my $reviewed = slurp_file("$FindBin::Bin/../restricted_functions.txt");
my %verdict = reverse $reviewed =~ /^(allowed|denied) +(\w+)$/mg;
my $lines = () = $reviewed =~ /^(?!#)./mg;
is(scalar keys %verdict, $lines, 'each line of restricted_functions.txt has a verdict and a name of its own');

my $node = new_node('restricted_functions');
my %server = map { split /\|/ } split /\n/, $node->safe_psql(
	'postgres', q{
	SELECT proname, CASE WHEN bool_and(denied) THEN 'denied' WHEN bool_or(denied) THEN 'both' ELSE 'allowed' END
	FROM (SELECT proname, dpquantile.told_by_function(oid) IS NOT NULL AS denied
			FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND provolatile <> 'i') f
	GROUP BY proname});
cmp_ok(scalar keys %server, '>', 600, 'the server has functions');
is_deeply([ grep { !$verdict{$_} } sort keys %server ], [], 'threat 31: each function has been reviewed');
is_deeply([ grep { $verdict{$_} && $verdict{$_} ne $server{$_} } sort keys %server ],
	[], 'threat 31: the hook denies what the review denies, and nothing else');
is( $node->safe_psql('postgres',
		q{SELECT string_agg(oid::regprocedure::text, ' ') FROM pg_proc
			WHERE provolatile = 'i' AND dpquantile.told_by_function(oid) IS NOT NULL}),
	'', 'no immutable function is denied');

# The other direction: an entry that matches no function of any version protects nothing.
my $source = slurp_file("$FindBin::Bin/../../src/pg/restricted/denied_functions.cpp");
my ($table) = $source =~ /\bkFunctions\[\] = \{(.*?)\n\};/s;
my @patterns = $table =~ /\{"([\w*]+)", k\w+\}/g;
cmp_ok(scalar @patterns, '>', 40, 'the table of the hook was found');
my @useless = grep {
	my $pattern = s/\*/\\w*/r;
	!grep { /^$pattern$/ && $verdict{$_} eq 'denied' } keys %verdict
} @patterns;
is_deeply(\@useless, [], 'each entry of the table of the hook denies a function of some version');

# Functions of extensions, by membership.
for my $extension (qw(pg_stat_statements pg_buffercache pgstattuple pageinspect pg_visibility pg_prewarm lo))
{
	$node->safe_psql('postgres', "CREATE EXTENSION $extension");
	is( $node->safe_psql(
			'postgres', qq{
			SELECT bool_and(dpquantile.told_by_function(objid) IS NOT NULL) FROM pg_depend
			WHERE classid = 'pg_proc'::regclass AND deptype = 'e' AND refclassid = 'pg_extension'::regclass
				AND refobjid = (SELECT oid FROM pg_extension WHERE extname = '$extension')}),
		't', "threat 31: all functions of $extension are denied");
}
# threat 336: the trigger function of extension lo, for which PostgreSQL checks no right when a row is deleted
$node->safe_psql('postgres', q{
	CREATE ROLE restricted LOGIN;
	SELECT dp_restrict_role('restricted'), lo_create(4242);
	CREATE TABLE document (content lo);
	CREATE TRIGGER manage BEFORE UPDATE OR DELETE ON document FOR EACH ROW EXECUTE FUNCTION lo_manage(content);
	CREATE VIEW shown AS SELECT * FROM document;
	CREATE TRIGGER manage INSTEAD OF DELETE ON shown FOR EACH ROW EXECUTE FUNCTION lo_manage(content);
	INSERT INTO document VALUES (4242), (4243);  -- of which there is the first
	CREATE TABLE cut (content lo);
	CREATE TRIGGER manage BEFORE TRUNCATE ON cut FOR EACH STATEMENT EXECUTE FUNCTION lo_manage(content);
	CREATE TABLE whole (content lo) PARTITION BY LIST ((content::oid));
	CREATE TABLE part PARTITION OF whole DEFAULT;
	CREATE TRIGGER manage AFTER TRUNCATE ON part FOR EACH STATEMENT EXECUTE FUNCTION lo_manage(content);
	CREATE TABLE filled (content lo);
	CREATE TRIGGER manage BEFORE INSERT ON filled FOR EACH ROW EXECUTE FUNCTION lo_manage(content);
	CREATE TABLE free (content lo);
	CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
	CREATE TRIGGER nothing BEFORE INSERT OR TRUNCATE ON free FOR EACH STATEMENT EXECUTE FUNCTION nothing();
	GRANT ALL ON document, shown, cut, whole, part, filled, free TO restricted});
foreach my $statement ('TRUNCATE cut', 'TRUNCATE whole', 'TRUNCATE free, cut', 'COPY filled FROM STDIN', 'DELETE FROM document WHERE content::oid = 4243', 'UPDATE document SET content = 1 WHERE content::oid = 4243', 'DELETE FROM shown WHERE content::oid = 4243',
	'CREATE TEMP TABLE own (content lo); CREATE TRIGGER manage BEFORE DELETE ON own FOR EACH ROW EXECUTE FUNCTION lo_manage(content)')
{
	is(outcome($node, $statement, user => 'restricted'), '42501', "threat 336: no large object is unlinked by $statement");
}
is(outcome($node, 'SELECT content::oid FROM document', user => 'restricted'), '4242 4243', 'threat 336: rows that refer to one may be read');
is(outcome($node, "COPY free FROM STDIN;\n1\n\\.\nSELECT count(*) FROM free; TRUNCATE free; SELECT count(*) FROM free", user => 'restricted'),
	'1 0', 'tables with other triggers may be filled and truncated');
is($node->safe_psql('postgres', 'DELETE FROM document WHERE content::oid = 4242 RETURNING 1'), '1', 'others go on');

is( $node->safe_psql('postgres', q{SELECT dpquantile.told_by_function('dp_option(text, text)') IS NULL}),
	't', 'functions of other extensions are allowed');
$node->safe_psql('postgres', 'CREATE FUNCTION pg_relation_size(text) RETURNS int LANGUAGE sql RETURN 1');
is( $node->safe_psql('postgres', q{SELECT dpquantile.told_by_function('public.pg_relation_size(text)') IS NULL}),
	't', 'functions of users are allowed, whatever their name');

done_testing();
