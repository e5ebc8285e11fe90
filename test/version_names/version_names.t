# Each file that names the version of the extension names the one of dpquantile.control.
use strict;
use warnings;

use JSON::PP;
use Test::More;

sub content
{
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!";
	local $/;
	return <$file>;
}

# What the first match of a pattern captures in a file.
sub found
{
	my ($path, $pattern) = @_;
	my ($version) = content($path) =~ $pattern;
	return $version;
}

my $version = found('dpquantile.control', qr/^default_version = '(.+)'$/m);
like($version, qr/^\d+\.\d+\.\d+$/, 'dpquantile.control has a version of three numbers');

is(found('CHANGELOG.md', qr/^## (\S+)/m), $version, 'CHANGELOG.md: the newest entry');
is(found('debian/changelog', qr/^dpquantile \((.+)-\d+\)/), $version, 'debian/changelog: the newest entry');

my $meta     = decode_json(content('META.json'));
my $provided = $meta->{provides}{dpquantile};
is($meta->{version},     $version,                              'META.json: the distribution');
is($provided->{version}, $version,                              'META.json: the extension');
ok(-e $provided->{file}, 'META.json: a file of the extension that is there');

done_testing();
