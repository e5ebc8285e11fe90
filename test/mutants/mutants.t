# Each planted fault fits the sources, names the checks that find it, and has its row in README.md. make mutants, which plants them, is
# no part of make test.
use strict;
use warnings;

use Test::More;

sub content
{
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!";
	local $/;
	return <$file>;
}

# The first hunk of a patch whose old lines are not in the file that it changes, or nothing.
sub misfit
{
	my ($patch) = @_;
	my $files = 0;
	foreach my $part (split /^(?=--- a\/)/m, content($patch))
	{
		my ($path) = $part =~ m{\A--- a/(\S+)\n\+\+\+ b/\S+\n} or next;
		++$files;
		return $path if !-e $path;
		my $text = content($path);
		foreach my $hunk ($part =~ /^@@ .*\n((?:[ +-].*\n|[ +-].*\z|\n)+)/mg)
		{
			my $old = join '', map { s/^.//r } grep { /^(?:[ -]|$)/ } split /^/m, $hunk;
			chomp $old;
			return "$path: $old" if index($text, $old) < 0;
			# patch looks for one with fewer lines after the change than before it at the end of the file alone.
			my ($before, $after) = map { length s/[^\n]//gr } $hunk =~ /\A((?: .*\n|\n)*)/, $hunk =~ /((?:^(?: .*)?\n)*)\z/m;
			return "$path: more lines before a change than after it" if $before > $after;
		}
	}
	return $files == 0 ? 'no file' : undef;
}

# The rooms are the folders of the sources that a patch changes.
my @patches = glob 'test/mutants/*.patch';
my $table   = content('test/mutants/README.md');
my %has_mutant;
foreach my $patch (@patches)
{
	my $text = content($patch);
	my ($name) = $patch =~ m{([^/]+)\.patch$};
	$has_mutant{ m{^sql/} ? 'sql' : s{/[^/]+$}{}r } = 1 for $text =~ m{^\+\+\+ b/src/(\S+)}mg;
	like($text, qr/\A\S.*\n(CHECK: \S.*\n)+--- a\//, "$name says what it breaks, and which checks find it");
	is(misfit($patch), undef, "$name fits the sources");
	like($table, qr/^\| $name \|/m, "$name is in the table");
}
foreach my $room (grep { -d && glob "$_/*.cpp" } glob 'src/core/* src/pg/* src/pg')
{
	ok($has_mutant{ $room =~ s{^src/}{}r }, "$room has a mutant");
}
ok($has_mutant{sql}, 'src/sql has a mutant');

done_testing();
