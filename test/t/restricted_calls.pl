# threat 31: ways to execute a function that a restricted role may not execute.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use RestrictedRoles;
use Test::More;

my $node = restricted_node('restricted_calls');

my %around = (
	'a view' => "CREATE VIEW v AS SELECT pg_relation_size('staff') AS s; SELECT s > 0 FROM v;",
	'a function in SQL' => "CREATE FUNCTION f() RETURNS bigint LANGUAGE sql RETURN pg_relation_size('staff'); SELECT f() > 0;",
	'a function in plpgsql' =>
		"CREATE FUNCTION f() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN pg_relation_size(''staff'') > 0; END'; SELECT f();",
	'an exception block' => q{
		CREATE FUNCTION f() RETURNS boolean LANGUAGE plpgsql AS
			'BEGIN RETURN pg_relation_size(''staff'') > 0; EXCEPTION WHEN division_by_zero THEN RETURN NULL; END';
		SELECT f();},
	'a parallel worker' => sprintf(q{
		CREATE FUNCTION f() RETURNS boolean LANGUAGE sql PARALLEL SAFE AS 'SELECT pg_relation_size(''staff'') > 0';
		SET %s = on; SELECT f();}, parallel_for_all($node)),
	'an operator' => q{
		CREATE FUNCTION f(regclass, int) RETURNS boolean LANGUAGE sql RETURN pg_relation_size($1) > $2;
		CREATE OPERATOR >>> (LEFTARG = regclass, RIGHTARG = int, FUNCTION = f); SELECT 'staff'::regclass OPERATOR(>>>) 0;},
	'an operator of the function itself' => q{
		CREATE OPERATOR ### (LEFTARG = regclass, RIGHTARG = text, FUNCTION = pg_relation_size);
		SELECT ('staff'::regclass OPERATOR(### ) 'main'::text) > 0;},
	'a default' => q{
		CREATE TABLE t (a int, b bigint DEFAULT pg_relation_size('public.staff')); INSERT INTO t VALUES (1);
		SELECT b > 0 FROM t;},
	'a check' => q{
		CREATE TABLE t (a regclass CHECK (pg_relation_size(a) > 0)); INSERT INTO t VALUES ('public.staff'); SELECT true FROM t;},
	'a domain' => q{
		CREATE DOMAIN d AS regclass CHECK (pg_relation_size(VALUE) > 0); SELECT 'public.staff'::regclass::d IS NOT NULL;},
	'an aggregate' => q{
		CREATE FUNCTION f(bigint, regclass) RETURNS bigint LANGUAGE sql RETURN pg_relation_size($2);
		CREATE AGGREGATE a (regclass) (SFUNC = f, STYPE = bigint); SELECT a('public.staff'::regclass) > 0;},
	'a window aggregate' => q{
		CREATE FUNCTION f(bigint, regclass) RETURNS bigint LANGUAGE sql RETURN pg_relation_size($2);
		CREATE AGGREGATE a (regclass) (SFUNC = f, STYPE = bigint); SELECT a('public.staff'::regclass) OVER () > 0;},
	'an index' => q{
		CREATE FUNCTION f(regclass) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT pg_relation_size($1)';
		CREATE TABLE t AS SELECT 'public.staff'::regclass AS a; CREATE INDEX ON t (f(a));
		SET LOCAL enable_seqscan = off; SELECT true FROM t WHERE f(a) > 0;},
	'a function in FROM' => q{SELECT s > 0 FROM pg_relation_size('staff') s;},
	'ORDER BY' => q{SELECT true WHERE 'staff'::regclass = (SELECT a FROM (VALUES ('pg_database'::regclass), ('staff')) v (a)
		ORDER BY pg_relation_size(a) DESC LIMIT 1);},
	'VALUES' => q{SELECT a > 0 FROM (VALUES (pg_relation_size('staff'))) v (a);},
	'a prepared statement' => q{PREPARE p AS SELECT pg_relation_size('staff') > 0; EXECUTE p;},
	'a cursor' => q{BEGIN; DECLARE c CURSOR FOR SELECT pg_relation_size('staff') > 0; FETCH c;},
	'statistics of a query' => q{SELECT count(*) > 0 FROM ts_stat('SELECT pg_relation_size(''staff'')::text::tsvector');},
	'COPY' => q{COPY (SELECT pg_relation_size('staff') > 0) TO STDOUT;},
	'DO' => q{DO $$ BEGIN ASSERT pg_relation_size('staff') > 0; END $$; SELECT true;},
	'a trigger' => q{
		CREATE TABLE t (a bigint);
		CREATE TABLE u ();
		CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO t VALUES (pg_relation_size(''public.staff'')); RETURN NULL; END';
		CREATE TRIGGER r AFTER INSERT ON u EXECUTE FUNCTION f(); INSERT INTO u DEFAULT VALUES; SELECT a > 0 FROM t;},
	'a rule' => q{
		CREATE TABLE t (a int);
		CREATE RULE r AS ON INSERT TO t DO INSTEAD SELECT pg_relation_size('public.staff') > 0; INSERT INTO t VALUES (0);},
);
# The size is hidden where the planner sees the function in a query. A volatile argument keeps it from being hidden.
my %hidden = map { $_ => 1 }
	'COPY', 'DO', 'ORDER BY', 'VALUES', 'a cursor', 'a default', 'a function in FROM', 'a function in plpgsql', 'a prepared statement',
	'a rule', 'a trigger', 'a view', 'a window aggregate', 'an aggregate', 'an exception block', 'an index', 'statistics of a query';
$node->safe_psql('postgres', 'CREATE FUNCTION public.same(oid) RETURNS oid LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN $1; END $$');

# The statement that fails is the first one that executes the function, and a transaction ends there.
sub seen_by
{
	my ($user, $sql) = @_;
	my $printed = outcome($node, "BEGIN; SET LOCAL search_path = $user, public; $sql", user => $user);
	return $printed =~ /\b42501\b/ ? 'denied' : $printed =~ /\bt\b/ ? 'the fact' : 'hidden';
}
for my $way (sort keys %around)
{
	my $sql = $around{$way};
	is(seen_by('free', $sql), 'the fact', "threat 31: $way shows it to an unrestricted role");
	is(seen_by('analyst', $sql), $hidden{$way} ? 'hidden' : 'denied', "threat 31: $way shows nothing to a restricted role");
	next unless $hidden{$way};
	$sql =~ s/pg_relation_size\((\$\d|a|''?[\w.]+''?)\)/pg_relation_size(public.same($1\::regclass))/g;
	is(seen_by('analyst', $sql), 'denied', "threat 31: $way does not get around the denial");
}

# The fastpath protocol (PQfn): calls a function without a query.
sub fastpath
{
	my ($user, $function, $argument) = @_;
	my $path = $node->host . '/.s.PGSQL.' . $node->port;
	my $socket = IO::Socket::UNIX->new(Peer => $path) or die "$path: $!";
	my $send = sub { my ($type, $body) = @_; print $socket $type, pack('N', 4 + length $body), $body; $socket->flush; };
	my $receive = sub {
		read($socket, my $head, 5) == 5 or die 'the server closed the connection';
		my ($type, $length) = unpack 'a N', $head;
		read($socket, my $body, $length - 4);
		return ($type, $body);
	};
	my $until_ready = sub {
		my %got;
		while (1)
		{
			my ($type, $body) = $receive->();
			$got{$type} = $body;
			return \%got if $type eq 'Z';
		}
	};
	$send->('', pack('N', 196608) . "user\0$user\0database\0postgres\0\0");
	$until_ready->();
	$send->('F', pack('N n n n N N n', $function, 1, 1, 1, 4, $argument, 1));
	my $got = $until_ready->();
	$send->('X', '');
	return $got->{E} ? ($got->{E} =~ /\0C(\w{5})\0/)[0] : unpack('x4 q>', $got->{V});
}

my ($function, $table) = split /\|/, $node->safe_psql('postgres',
	q{SELECT 'pg_stat_get_analyze_count'::regproc::oid, 'staff'::regclass::oid});
$node->poll_query_until('postgres', q{SELECT pg_stat_get_analyze_count('staff'::regclass) = 1}) or die;
is(fastpath('free', $function, $table), 1, 'threat 31: the fastpath protocol calls it for an unrestricted role');
is(fastpath('analyst', $function, $table), '42501', 'threat 31: the fastpath protocol does not get around the denial');

done_testing();
