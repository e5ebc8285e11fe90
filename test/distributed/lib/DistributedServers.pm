package DistributedServers;

# Shared by these tests: three servers with Citus, of which the first is the coordinator, and tables of people. One private answer
# costs epsilon 1, so the charges count the answers.

use strict;
use warnings;

use Exporter 'import';
use FindBin;
use lib "$FindBin::Bin/../t/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(new_servers charges charges_on_workers answers_of);

# Returns the coordinator and the workers. preloaded: what follows citus in shared_preload_libraries.
sub new_servers
{
	my (%params) = @_;
	my $libraries = join ', ', 'citus', $params{preloaded} // 'dpquantile';
	my @servers = map { new_server($_, $libraries) } qw(coordinator worker_1 worker_2);
	my ($coordinator, @workers) = @servers;
	$coordinator->safe_psql('postgres', add_servers(@servers));
	$coordinator->safe_psql('postgres', tables());
	return @servers;
}

sub new_server
{
	my ($name, $libraries) = @_;
	my $server = PostgreSQL::Test::Cluster->new($name);
	init_node($server);
	my $host = $server->host;
	$server->append_conf('postgresql.conf', qq{
		shared_preload_libraries = '$libraries'
		wal_level = logical
		max_connections = 60
		citus.shard_count = 6
		citus.local_hostname = '$host'});
	$server->start;
	$server->safe_psql('postgres', 'CREATE EXTENSION citus; CREATE EXTENSION dpquantile');
	return $server;
}

sub add_servers
{
	my ($coordinator, @workers) = @_;
	my $add = sprintf "SELECT citus_set_coordinator_host('%s', %d);", $coordinator->host, $coordinator->port;
	return join ' ', $add, map { sprintf "SELECT citus_add_node('%s', %d);", $_->host, $_->port } @workers;
}

# person is distributed, city a reference table, here a local one, and copy_of_person has the rows of person.
sub tables
{
	return q{
		CREATE ROLE analyst LOGIN;
		SELECT dp_grant_budget('analyst', 100000, 0.1);
		CREATE TABLE person (id int, city int, name text, age float8, born date, income numeric, at timestamp);
		SELECT create_distributed_table('person', 'id');
		CREATE TABLE city (city int, size float8);
		SELECT create_reference_table('city');
		CREATE TABLE here AS SELECT i AS id, i::float8 AS size FROM generate_series(1, 50) i;
		CREATE TABLE copy_of_person AS
			SELECT i AS id, i % 5 AS city, 'n' || i % 9 AS name, sqrt(i * 7919 % 10007) AS age,
				date '2000-01-01' + i AS born, i * 1.5 AS income, timestamp '2020-01-01' + i * interval '1 hour' AS at
			FROM generate_series(1, 6000) i
			UNION ALL VALUES (6001, NULL::int, NULL, NULL::float8, NULL::date, NULL::numeric, NULL::timestamp),
				(6002, 0, 'n0', 'NaN', '-infinity', 'NaN', 'infinity');
		INSERT INTO person SELECT * FROM copy_of_person;
		INSERT INTO city SELECT i, i * 10 FROM generate_series(0, 4) i;
		GRANT SELECT ON person, city, here, copy_of_person TO analyst;
		CREATE VIEW adults AS SELECT * FROM person WHERE age >= 18;
		GRANT SELECT ON adults TO analyst;};
}

# The number of charges on a server.
sub charges
{
	my ($server) = @_;
	return $server->safe_psql('postgres', 'SELECT count(*) FROM dpquantile.ledger');
}

sub charges_on_workers
{
	my (@workers) = @_;
	my $sum = 0;
	$sum += charges($_) foreach @workers;
	return $sum;
}

# What the statements print or their SQLSTATE, a colon, and how many charges they cause on the server.
sub answers_of
{
	my ($server, $sql, %params) = @_;
	my $before = charges($server);
	my $outcome = outcome($server, $sql, %params);
	return "$outcome: " . (charges($server) - $before);
}

1;
