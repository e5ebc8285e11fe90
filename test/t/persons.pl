# threat 78: all rows of one person, seen through whole queries. Two tables differ in all rows of a person who has more than max_rows. The
# frequencies of their answers must not refute the stated epsilon. They must refute it for the law that answers would have if one row
# more than max_rows were let through: a table with max_rows + 1 and an epsilon that leaves each row its share.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use List::Util qw(max min sum);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $MAX_ROWS = 2;
my $EPSILON = 4;
# A query has many equal aggregates, each with a charge and noise of its own.
my $EXECUTIONS = 400;
my $AGGREGATES = 100;
my $DRAWS = $EXECUTIONS * $AGGREGATES;
# Each bound on a probability is wrong with less than this. A query has 40 cuts, 2 events each, 2 orders and 2 bounds: a false alarm has a
# probability below 1e-6 for all queries together, and so has an escape of the other law.
my $FALSE_ALARM = 1e-10;

my $node = new_node('persons', preloaded => 1);
$node->safe_psql(
	'postgres', q{
	CREATE ROLE owner LOGIN;
	CREATE SCHEMA absent AUTHORIZATION owner;
	CREATE SCHEMA present AUTHORIZATION owner;
	GRANT USAGE ON SCHEMA absent, present TO analyst;
	SELECT dp_grant_budget('analyst', 1e9, smallest_charge => 1), dp_restrict_role('analyst');
	SET ROLE owner});
# Ten persons have a visit each, in the first ward. Another has twelve, in two wards.
foreach my $schema ('absent', 'present')
{
	$node->safe_psql(
		'postgres', qq{
		SET ROLE owner;
		SET search_path = $schema, public;
		CREATE TABLE visits (patient int, ward int, hours int);
		INSERT INTO visits SELECT i, 1, 1 FROM generate_series(1, 10) i});
	$node->safe_psql('postgres', 'SET ROLE owner; INSERT INTO present.visits SELECT 11, 1 + i % 2, 1 FROM generate_series(1, 12) i') if $schema eq 'present';
	protect($schema, $MAX_ROWS, $EPSILON);
}

sub protect
{
	my ($schema, $max_rows, $epsilon) = @_;
	$node->safe_psql(
		'postgres', qq{
		SET ROLE owner;
		SELECT dp_protect_table('$schema.visits', user_id => 'patient', max_rows => $max_rows),
		       dp_set_domain('$schema.visits', 'ward', 1, 2), dp_set_domain('$schema.visits', 'hours', 0, 1, 1),
		       dp_grant_private_access('$schema.visits', 'analyst', epsilon => $epsilon)});
	return;
}

# How often an aggregate shows each number from -10 to 30, which is 10 or more without noise. Others count as the nearest.
sub frequencies
{
	my ($schema, $query) = @_;
	my $list = sub { join ', ', map { $_[0] =~ s/#/$_/gr } 1 .. $AGGREGATES };
	my $written = $query =~ s/\[(.*?)\]/$list->($1)/ger;
	my $shown = $node->safe_psql('postgres', "SET search_path = $schema, public;
		SELECT t.* FROM generate_series(1, $EXECUTIONS) g, LATERAL ($written) t", extra_params => [ '-U', 'analyst' ]);
	my @frequencies = (0) x 41;
	$frequencies[ max(0, min(40, sprintf('%.0f', $_) + 10)) ]++ foreach split /[|\n]/, $shown;
	is(sum(@frequencies), $DRAWS, "$schema: all answers");
	return \@frequencies;
}

# The least (side -1) or largest (side 1) probability of an event that was seen in a share of the draws, by Chernoff's bound: if p is its
# probability, the share is as far from p with a probability of at most exp(-draws * KL(share || p)).
sub bound
{
	my ($share, $side) = @_;
	my ($inside, $outside) = ($share, $side < 0 ? 0 : 1);
	foreach (1 .. 60)
	{
		my $p = ($inside + $outside) / 2;
		my $divergence = ($share > 0 ? $share * log($share / $p) : 0) + ($share < 1 ? (1 - $share) * log((1 - $share) / (1 - $p)) : 0);
		if ($DRAWS * $divergence > -log($FALSE_ALARM)) { $outside = $p; }
		else { $inside = $p; }
	}
	return $outside;
}

# The largest epsilon that the frequencies refute.
sub refuted
{
	my @tables = map { frequencies($_, $_[0]) } 'absent', 'present';
	my $largest = 0;
	foreach my $order (0, 1)
	{
		my ($one, $other) = @tables[ $order, 1 - $order ];
		foreach my $cut (1 .. 40)
		{
			foreach my $event ([ 0 .. $cut - 1 ], [ $cut .. 40 ])
			{
				my ($p, $q) = map { my $table = $_; my $n = 0; $n += $table->[$_] foreach @$event; $n / $DRAWS } $one, $other;
				my $ratio = bound($p, -1) / bound($q, 1);
				$largest = log($ratio) if $ratio > 0 && log($ratio) > $largest;
			}
		}
	}
	return $largest;
}

# [ ] is repeated for each #. Each execution has another g.
my %queries = (
	'a count' => 'SELECT [count(*) FILTER (WHERE hours < # + 1)] FROM visits WHERE hours < g + 1',
	'counts of groups, which the analyst adds up' =>
	  'SELECT [sum(n#)] FROM (SELECT ward, [count(*) FILTER (WHERE hours < # + 1) AS n#] FROM visits WHERE hours < g + 1 GROUP BY ward) t',
	'a count of a derived table without the person' => 'SELECT [count(*) FILTER (WHERE hours < # + 1)] FROM (SELECT hours FROM visits WHERE hours < g + 1) t');

foreach my $name (sort keys %queries)
{
	cmp_ok(refuted($queries{$name}), '<=', $EPSILON, "threat 78: $name: the epsilon of a person is not refuted");
}
protect($_, $MAX_ROWS + 1, $EPSILON * ($MAX_ROWS + 1) / $MAX_ROWS) foreach 'absent', 'present';
foreach my $name (sort keys %queries)
{
	cmp_ok(refuted($queries{$name}), '>', $EPSILON, "threat 78: $name: with a row more it would be");
}

done_testing();
