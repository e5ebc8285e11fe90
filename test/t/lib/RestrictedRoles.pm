package RestrictedRoles;

# Shared by the tests of restricted roles: the analyst is restricted, and the role free does the same without a
# restriction, so that each leak is seen to exist.

use strict;
use warnings;

use Exporter 'import';
use DpQuantile;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(restricted_node told leak_is_closed);

# A server on which both roles may call approved functions about a table that they cannot read. Each role owns a schema
# of its name.
sub restricted_node
{
	my ($name) = @_;
	my $libraries = join ', ', $PRELOADED ? 'dpquantile' : (), 'auto_explain', 'pg_stat_statements';
	my $node = new_node($name, conf => qq{
		shared_preload_libraries = '$libraries'
		auto_explain.log_min_duration = 0
		auto_explain.log_analyze = on
		auto_explain.log_nested_statements = on
		log_temp_files = 0
		track_commit_timestamp = on
		log_statement = none});
	$node->safe_psql(
		'postgres', q{
		CREATE ROLE free LOGIN;
		CREATE ROLE team;
		GRANT team TO analyst;
		SELECT dp_grant_budget('free', 1000, smallest_charge => 1e-6);
		SELECT dp_grant_budget('analyst', 1000, smallest_charge => 1e-6);
		CREATE SCHEMA AUTHORIZATION analyst;
		CREATE SCHEMA AUTHORIZATION free;
		CREATE EXTENSION pg_stat_statements;
		CREATE TABLE staff AS SELECT 2 * i AS id, i::float8 AS salary FROM generate_series(1, 5000) i;
		CREATE INDEX staff_id ON staff (id);
		ANALYZE staff;
		CREATE FUNCTION median_of(person int) RETURNS boolean LANGUAGE sql SECURITY DEFINER
			RETURN (SELECT dp_median(salary, 1e-6, 0, 5000) IS NOT NULL FROM public.staff WHERE id = person);
		CREATE FUNCTION answers() RETURNS SETOF boolean LANGUAGE sql SECURITY DEFINER
			AS 'SELECT a > 0 FROM unnest((SELECT dp_quantiles(salary, ''{0.1, 0.5}'', 1e-6, 1, 5000) FROM public.staff)) a';
		CREATE FUNCTION size_by_owner() RETURNS bigint LANGUAGE sql SECURITY DEFINER
			RETURN pg_relation_size('public.staff');
		CREATE VIEW median_view AS
			SELECT dp_median(salary, 1e-6, 0, 5000) > 0 AS m FROM (SELECT salary FROM staff ORDER BY salary OFFSET 0) s;
		GRANT SELECT ON median_view TO PUBLIC;
		SELECT dp_restrict_role('analyst')});
	return $node;
}

# What the session prints besides answers and errors.
sub told
{
	my ($node, $sql, %params) = @_;
	my $session = start_psql($node, $sql, %params);
	my $outcome = finish_psql($session);
	my %seen = map { $_ => 1 } slurp_file("$session->{file}.err") =~ /\b(LOG|DEBUG|INFO):/g;
	return join ' ', grep { length } $outcome, sort keys %seen;
}

# Both roles do the same.
sub leak_is_closed
{
	my ($node, $name, $sql, $leak, $refusal, %params) = @_;
	is(told($node, $sql, %params, user => 'free'), $leak, "$name: an unrestricted role sees it");
	is(told($node, $sql, %params), $refusal, "$name: a restricted role does not");
	return;
}

1;
