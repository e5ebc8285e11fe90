#!/usr/bin/env perl
# check-docs.pl [ROOT]: names each link of a page that leads nowhere, to a file or to a heading; each page of docs that docs/README.md
# (of the proofs docs/privacy.md) does not list; each page or section of the proofs that a source, a script or a message names and that is not there; each
# setting of the library that docs/settings.md describes otherwise or not at all; and each SQLSTATE that sources raise and docs/errors.md
# does not list, or the other way round. Then exits with 1.
use strict;
use warnings;
use utf8;

use File::Basename 'dirname';
use File::Find;
use File::Spec::Functions qw(abs2rel canonpath);

my $root = shift // '.';
my @faults;

sub slurp
{
	my ($path) = @_;
	open(my $file, '<:encoding(UTF-8)', "$root/$path") or die "$path: $!\n";
	local $/;
	return scalar <$file>;
}

# Files of the tree, without what is built.
my @files;
find({
	no_chdir => 1,
	preprocess => sub { grep { !/^\.(?!ci$|\.?$)|^(packages|results|log|tmp_check.*|output_iso|node_modules)$/ } @_ },
	wanted => sub { push @files, abs2rel($_, $root) if -f && !/\.(o|d|so|png|svg|zip|gch)$/ } }, $root);
@files = sort @files;
my @pages = grep { /\.md$/ } @files;

# The text of a page without its blocks of code
sub prose { return slurp($_[0]) =~ s/^[ >]*(```+).*?^[ >]*\1 *$//gmsr; }

# Anchors as GitHub makes them of headings
my %anchors;
sub anchors_of
{
	my ($page) = @_;
	return $anchors{$page} //= do {
		my (%found, %number);
		for my $heading (prose($page) =~ /^#{1,6} +(.*?) *$/gm)
		{
			my $anchor = lc($heading =~ s/\[([^\]]*)\]\([^)]*\)/$1/gr) =~ s/[^\w\- ]//gr =~ tr/ /-/r;
			my $again = $number{$anchor}++;
			$found{ $again ? "$anchor-$again" : $anchor } = 1;
		}
		\%found;
	};
}

# Without "." and ".." in it
sub normal
{
	my ($path) = @_;
	1 while $path =~ s{(^|/)\./}{$1} || $path =~ s{(^|/)(?!\.\./)[^/]+/\.\.(/|$)}{$1};
	return canonpath($path);
}

my %listed;
for my $page (@pages)
{
	my $index = $page eq 'docs/README.md' ? '' : $page eq 'docs/privacy.md' ? 'privacy/' : undef;
	for my $link (prose($page) =~ /\]\(([^)\s]+)[^)]*\)/g)
	{
		next if $link =~ /^\w+:/;
		my ($path, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;
		my $target = $path eq '' ? $page : normal(dirname($page) . "/$path");
		if (!-e "$root/$target") { push @faults, "$page: there is no $link"; next; }
		$listed{$target} = 1 if defined $index && $target =~ m{^docs/\Q$index\E[^/]+$};
		next unless defined $anchor && $target =~ /\.md$/;
		push @faults, "$page: there is no heading for $link" unless anchors_of($target)->{$anchor};
	}
}
push @faults, map { "docs/" . (m{^docs/privacy/} ? 'privacy' : 'README') . ".md does not list $_" }
  grep { m{^docs/} && $_ ne 'docs/README.md' && !$listed{$_} } @pages;

# What sources say of docs: pages by their path, sections and theorems of the proofs by their names
my @proofs = grep { m{^docs/privacy(/\w+)?\.md$} } @pages;
my %sections = map { $_ => 1 } map { prose($_) =~ /^#{1,6} +(.*?) *$/gm } @proofs;
my %numbered = map { $_ => 1 } map { prose($_) =~ /\*\*((?:Theorem|Lemma) \w+)/g } @proofs;
for my $file (grep { /\.(?:[ch]pp|sql|pl|pm|py|sh|mk)$|Makefile$/ || (/\.md$/ && !m{^docs/|^CHANGELOG}) } @files)
{
	my $text = slurp($file) =~ s{\n\s*(?://|--|#|\*)? ?}{ }gr =~ s/\]\([^)]*\)//gr;
	push @faults, "$file names $_" for grep { !-e "$root/$_" } $text =~ m{\b(docs/[\w/]+\.md)\b}g;
	while ($text =~ m{docs/privacy\.md,((?: (?:and )?(?:"[^"]+"|(?:Theorems?|Lemmas?) \w+)[;,]?)+)}g)
	{
		my $names = $1;
		push @faults, "$file: the proofs have no section \"$_\"" for grep { !$sections{$_} } $names =~ /"([^"]+?)[.,]?"/g;
		push @faults, "$file: the proofs have no $_" for grep { !$numbered{$_} } $names =~ /((?:Theorem|Lemma) \w+)/g;
	}
	while ($text =~ m{\b(Theorem|Lemma)s? (\w+(?:(?:,| and) \w+)*) of (docs/privacy/\w+\.md)}g)
	{
		my ($kind, $numbers, $page) = ($1, $2, $3);
		next unless -e "$root/$page";
		push @faults, "$file: $page has no $kind $_" for grep { prose($page) !~ /\*\*$kind $_\b/ } split(/,? (?:and )?/, $numbers);
	}
}

# Settings: name, default and who may set it, as the library declares and the page tells them
my %who = (PGC_USERSET => 'everybody', PGC_SUSET => 'superusers', PGC_POSTMASTER => 'the server\'s configuration, at its start');
my %described = map { /^\| `(dpquantile\.\w+)` \| (.*?) \| (.*?) \|/ ? ($1 => "$2, $3") : () } -e "$root/docs/settings.md" ? split(/\n/, slurp('docs/settings.md')) : ();
for my $file (grep { m{^src/pg/.*\.cpp$} } @files)
{
	my $text = slurp($file);
	my %constant = $text =~ /constexpr (?:int|char) (k\w+)(?:\[\])? = ("?[\w.]+"?);/g;
	while ($text =~ /DefineCustom(\w+)Variable\((.*?)\);/gs)
	{
		my ($type, $declared) = ($1, $2);
		my ($name) = ($declared =~ /^\s*(k\w+)/ ? $constant{$1} : $declared) =~ /"(dpquantile\.\w+)"/ or next;
		my ($default) = $declared =~ /&\w+,\s*(\w+)/;
		$default = $constant{$default} // $default;
		$default = { true => 'on', false => 'off' }->{$default} // $default;
		$default = $default / 1024 . 'MB' if $declared =~ /GUC_UNIT_KB/;
		my ($context) = $declared =~ /\b(PGC_\w+)/;
		my $is = "$default, $who{$context}";
		my $said = delete $described{$name} // 'nothing';
		push @faults, "docs/settings.md says of $name: $said; it is: $is" if $said ne $is;
	}
}
push @faults, map { "docs/settings.md describes $_, which is no setting" } sort keys %described;

# SQLSTATEs: what sources raise, by PostgreSQL's names, and what the page lists
if (-e "$root/docs/errors.md")
{
	my $errors = slurp('docs/errors.md');
	my %meaning = map { $_ => 1 } $errors =~ /^\| \w{5} \| `(\w+)` \|/gm;
	my %state = map { $_ => 1 } $errors =~ /^\| (\w{5}) \| `\w+` \|/gm;
	my %raised;
	for my $file (grep { m{^src/.*\.(?:[ch]pp|sql)$} } @files)
	{
		my @names = slurp($file) =~ /(?:errcode\(|\bfailure\(|\brefuse\w*\([^;"]*?)\bERRCODE_(\w+)|ERRCODE = '(\w+)'/g;
		$raised{ lc($_) =~ s/^e_r_i_e_//r } //= $file for grep { defined } @names;
	}
	push @faults, map { "docs/errors.md does not list $_, which $raised{$_} raises" } grep { !$meaning{$_} } sort keys %raised;
	push @faults, map { "docs/errors.md lists $_, which nothing raises" } grep { !$raised{$_} } sort keys %meaning;
	my %said = map { $_ => 1 } map { /\b([0-9][0-9A-Z]{4})\b/g } $errors =~ /^\| ([0-9A-Z, ]+) \| (?!`\w+` \|)/gm;
	delete @said{qw(22003 22007 22008 23505)};    # PostgreSQL raises them
	push @faults, map { "docs/errors.md gives SQLSTATE $_ no meaning" } grep { !$state{$_} } sort keys %said;
}

binmode STDOUT, ':encoding(UTF-8)';
print map { "$_\n" } @faults;
exit(@faults > 0);
