package ProtectedTables;

# Shared by the tests of protected tables. The schemas few and many have the same tables with different rows: a staff of 100, and
# one of 20000 with the same first 100. The analyst has private access and no SELECT. The role reader has SELECT, so that each
# channel is seen to exist.

use strict;
use warnings;

use Exporter 'import';
use DpQuantile;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw($COUNT $DEPARTMENTS protected_node seen summary channel_is_closed
	start_session answered);

# A private query whose answer is the same at every execution. Prints t.
our $COUNT = 'SELECT dp_count(1) IS NOT NULL FROM staff';

# The departments 1 to 5. In many there are others of one person each. One is shown with a probability below 1e-7.
our $DEPARTMENTS = 'SELECT department AS id, dp_count(1) IS NOT NULL AS n FROM staff GROUP BY department HAVING dp_keep_group(100, 1e-12)';

# The parameters are those of new_node. The analyst owns a schema, so that the library must be preloaded: otherwise no private query
# is answered (threat 102).
sub protected_node
{
	my ($name, %params) = @_;
	my $node = new_node($name, preloaded => 1, %params);
	$node->safe_psql(
		'postgres', q{
		CREATE ROLE owner LOGIN;
		CREATE ROLE reader LOGIN;
		SELECT dp_grant_budget('reader', 1e6, 0.5, smallest_charge => 0.001);
		CREATE SCHEMA AUTHORIZATION analyst;
		CREATE SCHEMA AUTHORIZATION reader;
		CREATE SCHEMA few AUTHORIZATION owner;
		CREATE SCHEMA many AUTHORIZATION owner;
		GRANT USAGE ON SCHEMA few, many TO PUBLIC;
		SELECT dp_restrict_role('analyst')});
	$node->safe_psql('postgres', q{SELECT dp_grant_budget('analyst', 1e6, 0.5, smallest_charge => 0.001)})
		unless defined $params{budget};
	add_tables($node, 'few', 100);
	add_tables($node, 'many', 20000);
	return $node;
}

# The first 100 are in five departments. Each of the others is in one of its own.
sub add_tables
{
	my ($node, $schema, $rows) = @_;
	$node->safe_psql(
		'postgres', qq{
		SET ROLE owner;
		SET search_path = $schema, public;
		CREATE TABLE department (id int PRIMARY KEY, name text NOT NULL UNIQUE);
		INSERT INTO department SELECT i, 'department ' || i FROM generate_series(1, 100) i;
		CREATE TABLE staff (id int PRIMARY KEY, name text NOT NULL, department int, salary float8);
		INSERT INTO staff SELECT i, 'name ' || i, CASE WHEN i <= 100 THEN 1 + i % 5 ELSE i END, 10 * i FROM generate_series(1, $rows) i;
		GRANT SELECT ON department TO analyst, reader;
		GRANT SELECT ON staff TO reader;
		SELECT dp_protect_table('staff'), dp_grant_private_access('staff', 'analyst');
		RESET ROLE;
		VACUUM ANALYZE department, staff});
	return;
}

# All that a session shows to its user. It works in a schema; user: by default the analyst. In the statements, :schema and :user are
# the names of both.
sub seen
{
	my ($node, $schema, $sql, %params) = @_;
	my $user = $params{user} // 'analyst';
	my $session = start_psql($node, "\\set VERBOSITY verbose\n\\set user $user\n\\set schema $schema\nSET search_path = $user, $schema, public;\n$sql", %params);
	finish_psql($session);
	# Where psql has read the statement, where the server has found the error in its own source, the number of the session's
	# schema of temporary objects, which depends on the sessions before it, and that of a relation that is locked, which the schemas
	# do not share.
	my $messages = slurp_file("$session->{file}.err") =~ s/^psql:[^:]*:\d+: //mgr =~ s/^LOCATION: .*\n//mgr =~ s/pg_temp_\d+/pg_temp/gr
		=~ s/(?<=Lock on relation )\d+/of another number/gr;
	return slurp_file("$session->{file}.out") . $messages;
}

# What is seen in short: rows, then the kinds of messages other than errors, then the SQLSTATEs of errors.
sub summary
{
	my ($seen) = @_;
	my ($rows) = $seen =~ /\A((?:(?!\w+:  \w{5}: ).*\n)*)/;
	my %messages = map { $_ => 1 } $seen =~ /^(LOG|DEBUG|INFO|NOTICE|WARNING):  /mg;
	my @states = $seen =~ /^(?:ERROR|FATAL):  (\w{5}): /mg;
	return join ' ', split(' ', $rows), sort(keys %messages), @states;
}

# The analyst sees the same in both schemas, of this summary. The reader sees a difference, with the same statements or with those
# of reader; reader => undef: it is not asked.
sub channel_is_closed
{
	my ($node, $name, $sql, $summary, %params) = @_;
	my $reader = exists $params{reader} ? delete $params{reader} : $sql;
	my ($few, $many) = map { seen($node, $_, $sql, %params) } 'few', 'many';
	is(summary($few), $summary, "$name: what the analyst sees");
	is($many, $few, "$name: the analyst sees the same of other rows");
	return unless defined $reader;
	isnt(seen($node, 'many', $reader, %params, user => 'reader'),
		seen($node, 'few', $reader, %params, user => 'reader'), "$name: a reader sees a difference");
	return;
}

# A session that stays open. It works in the schema few.
sub start_session
{
	my ($node, $user) = @_;
	my $session = $node->background_psql('postgres', extra_params => [ '-U', $user ], on_error_stop => 0);
	$session->query("\\set VERBOSITY sqlstate\nSET search_path = $user, few, public");
	return $session;
}

# What a statement prints in such a session, then the SQLSTATEs of errors.
sub answered
{
	my ($session, $sql) = @_;
	$session->{stderr} = '';
	# PostgreSQL 16 leaves its own end mark if the statement prints nothing.
	my $printed = $session->query($sql) =~ s/^background_psql: QUERY_SEPARATOR.*$//mgr;
	my @states = $session->{stderr} =~ /(?:ERROR|FATAL):\s+(\w{5})$/mg;
	return join ' ', split(' ', $printed), @states;
}

1;
