# scripts/check-includes.pl accepts the tree as it is, and names each planted fault.
use strict;
use warnings;

use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

my $script = 'scripts/check-includes.pl';

# What the check prints for a tree, and its exit status.
sub check
{
	my ($root) = @_;
	my $printed = `$^X $script $root 2>&1`;
	return ($printed, $? >> 8);
}

my ($printed, $status) = check('.');
is("$printed$status", '0', 'the tree keeps to the table of rooms');

# A tree of three rooms that keeps to its table: paths and contents.
sub sound_tree
{
	return (
		'ARCHITECTURE.md' => join("\n",
			'| `core/base` | ground | – |',
			'| `core/tree` | trees | `core/base` |',
			'| `pg` | server | `core/tree` |', ''),
		'docs/rooms.svg'           => '<title>core/tree&#45;&gt;core/base</title><title>pg&#45;&gt;core/tree</title>',
		'src/core/base/README.md'  => '`error.hpp`',
		'src/core/tree/README.md'  => '`tree.cpp`, `level.hpp`, `branch.hpp`',
		'src/core/base/error.hpp'  => '',
		'src/core/tree/tree.hpp'   => qq(#include "core/base/error.hpp"\n),
		'src/core/tree/level.hpp'  => qq(#include "core/base/error.hpp"\n),
		'src/core/tree/tree.cpp'   => qq(#include "core/tree/tree.hpp"\n),
		'src/core/tree/branch.hpp' => qq(#include "core/tree/tree.hpp"\n),
		'src/pg/module.cpp'        => qq(#include "core/tree/tree.hpp"\n#include "postgres.h"\n),
		'test/unit/tree/tree_test.cpp' => '');
}

sub check_files
{
	my (%files) = @_;
	my $root = tempdir(CLEANUP => 1);
	for my $path (keys %files)
	{
		make_path($root . '/' . ($path =~ s{/[^/]*$}{}r)) if $path =~ m{/};
		open(my $file, '>', "$root/$path") or die "$path: $!";
		print $file $files{$path};
		close $file;
	}
	return check($root);
}

sub finds
{
	my ($name, $expected, %changed) = @_;
	my ($found, $exit) = check_files(sound_tree(), %changed);
	is($found, "$expected\n", "names $name");
	is($exit, 1, "fails for $name");
}

($printed, $status) = check_files(sound_tree());
is("$printed$status", '0', 'a tree that keeps to its table passes');

finds('a forbidden include',
	'src/core/base/error.hpp:2: includes core/tree/branch.hpp: core/base may not include core/tree',
	'src/core/base/error.hpp' => qq(// why\n#include "core/tree/branch.hpp"\n),
	'src/core/tree/tree.hpp' => '');
finds('an arrow that no include needs',
	'ARCHITECTURE.md: core/tree may include core/base, but does not',
	'src/core/tree/tree.hpp' => '', 'src/core/tree/level.hpp' => '');
finds('an include of pg in core',
	'src/core/tree/tree.hpp:1: includes pg/other.hpp: core/tree may not include pg',
	'src/pg/other.hpp' => '', 'src/core/tree/tree.hpp' => qq(#include "pg/other.hpp"\n));
finds('an include of PostgreSQL in core',
	'src/core/tree/tree.hpp:1: includes postgres.h, which is no file of core',
	'src/core/tree/tree.hpp' => qq(#include "postgres.h"\n));
finds('a cycle between headers',
	'cycle: src/core/tree/branch -> src/core/tree/tree -> src/core/tree/branch',
	'src/core/tree/tree.hpp' => qq(#include "core/tree/branch.hpp"\n));
finds('a cycle that a source file closes',
	'cycle: src/core/tree/branch -> src/core/tree/tree -> src/core/tree/branch',
	'src/core/tree/tree.cpp' => qq(#include "core/tree/branch.hpp"\n));
finds('a folder that the table lacks',
	'src/core/leaf: the table in ARCHITECTURE.md has no such room',
	'src/core/leaf/leaf.hpp' => '');
finds('a folder of tests that the table lacks',
	'test/unit/leaf: the table in ARCHITECTURE.md has no such room',
	'test/unit/leaf/leaf_test.cpp' => '');
finds('a room without a README',
	'src/core/leaf has no README.md',
	'src/core/leaf/leaf.hpp' => '',
	'ARCHITECTURE.md' => join("\n",
		'| `core/base` | ground | – |',
		'| `core/tree` | trees | `core/base` |',
		'| `core/leaf` | leaves | – |',
		'| `pg` | server | `core/tree` |', ''));
finds('a header that the README of its room does not name',
	'src/core/tree/README.md does not name level.hpp',
	'src/core/tree/README.md' => '`tree.hpp`, `levels.hpp`, `branch.hpp`');
finds('a file that does not exist',
	'src/core/tree/tree.hpp:1: includes core/base/missing.hpp, which does not exist',
	'src/core/tree/tree.hpp' => qq(#include "core/base/missing.hpp"\n));
finds('a room without a folder',
	'ARCHITECTURE.md: there is no folder src/core/leaf',
	'ARCHITECTURE.md' => join("\n",
		'| `core/base` | ground | – |',
		'| `core/tree` | trees | `core/base` |',
		'| `core/leaf` | leaves | – |',
		'| `pg` | server | `core/tree` |', ''));
finds('an arrow that the picture lacks',
	'docs/rooms.svg lacks the arrow pg->core/tree: run make rooms',
	'docs/rooms.svg' => '<title>core/tree&#45;&gt;core/base</title>');
finds('an arrow that only the picture has',
	'docs/rooms.svg has the arrow core/base->pg, which the table does not: run make rooms',
	'docs/rooms.svg' =>
	  '<title>core/tree&#45;&gt;core/base</title><title>pg&#45;&gt;core/tree</title><title>core/base&#45;&gt;pg</title>');

done_testing();
