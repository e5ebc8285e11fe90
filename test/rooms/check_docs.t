# scripts/check-docs.pl accepts the tree as it is, and names each planted fault.
use strict;
use warnings;
use utf8;

use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

sub check
{
	my ($root) = @_;
	my $printed = `$^X scripts/check-docs.pl $root 2>&1`;
	return ($printed, $? >> 8);
}

my ($printed, $status) = check('.');
is("$printed$status", '0', 'the tree has no broken link');

# A tree without a fault: paths and contents.
sub sound_tree
{
	return (
		'README.md'            => "[guide](docs/guide.md#the-name-of-a-thing)\n```\n[x](nowhere.md)\n```\n",
		'docs/README.md'       => "[guide](guide.md), [settings](settings.md), [proofs](privacy.md)\n",
		'docs/guide.md'        => "# Guide\n\n## The name: of a `thing`\n\n## Ä?\n\n## Ä?\n\n[here](#ä), [again](#ä-1), [up](../README.md)\n",
		'docs/settings.md'     => "| `dpquantile.shown` | on | everybody | |\n| `dpquantile.kept` | 4MB | superusers | |\n",
		'docs/privacy.md'      => "# Proofs\n\n## Statement\n\n[noise](privacy/noise.md)\n",
		'docs/privacy/noise.md' => "# Noise\n\n## Samplers\n\n**Theorem 5.** Text.\n",
		'src/core/base/a.hpp'  => "// Text (docs/privacy.md,\n// \"Samplers\"; docs/privacy.md, Theorem 5).\n",
		'src/pg/a/a.cpp'       => "DefineCustomBoolVariable(\"dpquantile.shown\", \"Text.\", \"\", &shown, true, PGC_USERSET, 0);\n"
		  . "constexpr int kLeast = 4096;\nDefineCustomIntVariable(\"dpquantile.kept\", \"Text.\", \"\", &kept, kLeast, 1, 2, PGC_SUSET, GUC_UNIT_KB);\n");
}

sub finds
{
	my ($name, $fault, %changed) = @_;
	my $root = tempdir(CLEANUP => 1);
	my %tree = (sound_tree(), %changed);
	foreach my $path (keys %tree)
	{
		next unless defined $tree{$path};
		make_path("$root/$path" =~ s{/[^/]*$}{}r);
		open my $file, '>:encoding(UTF-8)', "$root/$path" or die "$path: $!";
		print $file $tree{$path};
		close $file;
	}
	my ($printed, $status) = check($root);
	is("$printed$status", $fault eq '' ? '0' : "${fault}\n1", $name);
	return;
}

finds('a sound tree', '');
finds('a link to no page', 'README.md: there is no docs/guid.md', 'README.md' => '[guide](docs/guid.md)');
finds('a link to no heading', 'README.md: there is no heading for docs/guide.md#guides', 'README.md' => '[guide](docs/guide.md#guides)');
finds('a page that the index lacks', 'docs/README.md does not list docs/new.md', 'docs/new.md' => '# New');
finds('a page that a source names', 'src/core/base/a.hpp names docs/new.md', 'src/core/base/a.hpp' => '// docs/new.md');
finds('a page of proofs that the index lacks', 'docs/privacy.md does not list docs/privacy/new.md', 'docs/privacy/new.md' => '# New');
finds('a section that a source names', 'src/core/base/a.hpp: the proofs have no section "Sampler"',
	'src/core/base/a.hpp' => "// docs/privacy.md,\n// \"Sampler\"");
finds('a theorem that a source names', 'src/core/base/a.hpp: the proofs have no Theorem 6', 'src/core/base/a.hpp' => '// docs/privacy.md, Theorem 6');
finds('a theorem that another page has', 'src/core/base/a.hpp: docs/privacy/noise.md has no Theorem 6',
	'src/core/base/a.hpp' => "// Theorems 5 and 6 of\n// docs/privacy/noise.md");
finds('a setting with another default', 'docs/settings.md says of dpquantile.shown: off, everybody; it is: on, everybody',
	'docs/settings.md' => "| `dpquantile.shown` | off | everybody | |\n| `dpquantile.kept` | 4MB | superusers | |\n");
finds('a setting that the page lacks', 'docs/settings.md says of dpquantile.kept: nothing; it is: 4MB, superusers',
	'docs/settings.md' => "| `dpquantile.shown` | on | everybody | |\n");
my %tree = sound_tree();
finds('a setting that is none', 'docs/settings.md describes dpquantile.old, which is no setting',
	'docs/settings.md' => $tree{'docs/settings.md'} . "| `dpquantile.old` | on | everybody | |\n");

my $raising = "ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED)));\n";
finds('an SQLSTATE that is listed', '', 'docs/errors.md' => "| 0A000 | `feature_not_supported` | a form |\n", 'src/pg/a/b.cpp' => $raising,
	'docs/README.md' => $tree{'docs/README.md'} . "[errors](errors.md)\n");
finds('an SQLSTATE that the page lacks', "docs/errors.md does not list feature_not_supported, which src/pg/a/b.cpp raises\n"
	  . "docs/errors.md does not list wrong_object_type, which src/sql/a.sql raises\ndocs/errors.md lists system_error, which nothing raises\n"
	  . 'docs/errors.md gives SQLSTATE 42501 no meaning',
	'docs/errors.md' => "| 58000 | `system_error` | an error |\n\n| 42501 | a message | what to do |\n", 'src/pg/a/b.cpp' => $raising,
	'src/sql/a.sql' => "RAISE EXCEPTION 'x' USING ERRCODE = 'wrong_object_type';\n", 'docs/README.md' => $tree{'docs/README.md'} . "[errors](errors.md)\n");

done_testing();
