# docs/demo.md shows what `make demo` prints. Answers are random. Everything else is the same each time: what is asked, what
# is refused, and what is left.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use Encode 'decode';
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
$node->init(extra => [@INITDB]);
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

# make reference writes it.
my $reference;
IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('demo'), '-f', "$root/scripts/reference.sql" ], '>', \$reference, '2>&1');
is_deeply([ split /\n/, $reference ], [ split /\n/, slurp_file("$root/docs/reference.md") ], 'docs/reference.md is what the comments in the database say');

done_testing();
