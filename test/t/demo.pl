# docs/demo.md shows what `make demo` prints. Answers are random. Everything else is the same each time: what is asked, what
# is refused, and what is left. README.md, docs/persons.md, docs/reference.md and docs/functions.md show what they say, too.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use Encode qw(decode encode);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $root = "$FindBin::Bin/../..";

# Has single spaces only, because random figures also decide how wide a column is. The tables of the last two steps show
# what was spent.
sub lines_without_answers
{
	my ($printed) = @_;
	my $about_spending = 0;
	my @lines;
	foreach my $line (split /\n/, $printed)
	{
		$about_spending = 1 if $line =~ /^11\. /;
		my $is_answer = $line =~ /│/ && $line =~ /\d/ && !$about_spending;
		my $is_plot = $line =~ /[─┤└━┏┛]|^rows \d|^ +0 +50000 |has the same plot as SVG/;
		push @lines, $line =~ s/ +/ /gr =~ s/^ | $//gr if $line =~ /\S/ && !$is_answer && !$is_plot;
	}
	return \@lines;
}

my $node = PostgreSQL::Test::Cluster->new('demo');
init_node($node);
$node->start;
my $printed;
IPC::Run::run(
	[ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-v', "svg=$PostgreSQL::Test::Utils::tmp_check/demo.svg", '-f', '-' ],
	'<', "$root/scripts/demo.sql",
	'>&', \$printed);
$printed = decode('UTF-8', $printed) =~ s/^psql:<stdin>:\d+: //gmr;

my ($shown) = decode('UTF-8', slurp_file("$root/docs/demo.md")) =~ /^(A table of .*?)^Try it: /ms;
my $lines = lines_without_answers($shown);
cmp_ok(scalar(@$lines), '>', 40, 'docs/demo.md shows the demo');
is_deeply(lines_without_answers($printed), $lines, 'the demo prints what docs/demo.md shows, except for random answers');

my ($left) = $printed =~ /^ analyst │(?:[^│]*│){2} +([0-9.]+) │/m;
my ($said) = slurp_file("$root/docs/languages.md") =~ /`make demo`, which leaves epsilon ([0-9.]+)\. /;
is($said, $left, 'docs/languages.md says what the demo leaves');

# What README.md and docs/persons.md show runs: blocks of SQL as a superuser, but for the questions of docs/persons.md, what follows a prompt
# as its role. An answer has the columns that the page shows, a refusal its text.
foreach my $page ('README.md', 'docs/persons.md')
{
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS guide');
	$node->safe_psql('postgres', 'CREATE DATABASE guide');
	my $run = sub {
		my ($role, $sql) = @_;
		my $output;
		IPC::Run::run([ 'psql', '-XqU', $role, '-v', 'ON_ERROR_STOP=1', $node->connstr('guide') ], '<', \$sql, '>&', \$output);
		return decode('UTF-8', $output) =~ s/^psql:<stdin>:\d+: //gmr;
	};
	my $text = decode('UTF-8', slurp_file("$root/$page")) =~ s/\banalyst\b/reader/gr;
	$run->('postgres', slurp_file("$root/examples/tables.sql"));
	my (%blocks, $prepared);
	while ($text =~ /^```(\w*)\n(.*?)^```$/msg) { push @{ $blocks{$1} }, $2; }
	$prepared = "CREATE EXTENSION dpquantile; SELECT dp_grant_budget('postgres', 10);\n" unless $page eq 'README.md';
	my @questions = $page eq 'README.md' ? () : splice @{ $blocks{sql} }, 1;
	unlike($run->('postgres', join '', $prepared // '', @{ $blocks{sql} }), qr/ERROR/, "$page: the blocks run");
	unlike($run->('postgres', q{SELECT dp_grant_budget('reader', 100)}), qr/ERROR/, "$page: the budget") if @questions;
	unlike($run->('reader', $_), qr/ERROR/, "$page: $_") foreach @questions;
	foreach my $session (@{ $blocks{''} })
	{
		while ($session =~ /^(owner|reader)=> (.*?;)\n(.*?)(?=^\w+=>|^\n|\z)/msg)
		{
			my ($role, $statement, $shown) = ($1, $2, $3);
			my $printed = $run->($role eq 'owner' ? 'postgres' : $role, encode('UTF-8', $statement));
			my $rows = $shown =~ /^ERROR/ ? 100 : 1;
			my @same = map { join("\n", grep { defined } (split /\n/, $_)[ 0 .. $rows - 1 ]) =~ s/ +/ /gr } $printed, $shown;
			if ($shown eq '') { unlike($printed, qr/ERROR/, "$page: $statement"); }
			else { is($same[0], $same[1], "$page: $statement"); }
		}
	}
}

# make reference writes these pages. Later versions of PostgreSQL have some functions more.
foreach my $page (qw(reference functions))
{
	next if $page eq 'functions' && $node->pg_version->major > 15;
	my $written;
	IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('demo'), '-f', "$root/scripts/$page.sql" ], '>', \$written, '2>&1');
	is_deeply([ split /\n/, $written ], [ split /\n/, slurp_file("$root/docs/$page.md") ], "docs/$page.md is what the database says");
}

done_testing();
