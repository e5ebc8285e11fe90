# Each planted fault (test/*/mutants) fits the sources: scripts/mutants.sh refuses one that does not, and the suites that plant them are
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
		}
	}
	return $files == 0 ? 'no file' : undef;
}

my @patches = glob 'test/*/mutants/*.patch';
cmp_ok(@patches, '>', 50, 'there are mutants');
is(misfit($_), undef, $_) for @patches;

done_testing();
