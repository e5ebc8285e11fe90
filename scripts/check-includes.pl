#!/usr/bin/env perl
# check-includes.pl [--dot] [ROOT]: holds every #include of src against the table of rooms in ARCHITECTURE.md, and the
# picture of the rooms against the same table. Names each forbidden #include, each arrow that no #include needs, each
# cycle between files, each folder that the table lacks, each room without a README, each header that the README of its room
# does not name and each arrow in which picture and table differ; then exits with 1.
#   --dot   prints the picture's graph for Graphviz instead (make rooms)
use strict;
use warnings;

my $dot  = @ARGV && $ARGV[0] eq '--dot' ? shift : undef;
my $root = shift // '.';
my @faults;

sub slurp
{
	my ($path) = @_;
	open(my $file, '<', "$root/$path") or die "$path: $!\n";
	local $/;
	return scalar <$file>;
}

# The table: | `room` | what it holds | `room`, `room` |
my (%allowed, @rooms);
for (split /\n/, slurp('ARCHITECTURE.md'))
{
	my ($room, $may) = /^\|\s*`((?:core|pg)[\/\w]*)`\s*\|[^|]*\|([^|]*)\|\s*$/ or next;
	$allowed{$room} = { map { $_ => 1 } $may =~ /`([\/\w]+)`/g };
	push @rooms, $room;
}
die "ARCHITECTURE.md has no table of rooms\n" unless @rooms;

# The arrows that the others do not imply.
sub drawn_arrows
{
	my @arrows;
	for my $from (@rooms)
	{
		my %implied;
		my @next = map { keys %{ $allowed{$_} // {} } } keys %{ $allowed{$from} };
		while (defined(my $to = shift @next))
		{
			push @next, keys %{ $allowed{$to} // {} } unless $implied{$to}++;
		}
		push @arrows, map { "$from->$_" } grep { !$implied{$_} } sort keys %{ $allowed{$from} };
	}
	return @arrows;
}

if ($dot)
{
	print "digraph rooms {\n  bgcolor=white; ranksep=0.35; nodesep=0.25;\n",
	  "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=12];\n",
	  "  edge [color=\"#555555\", arrowsize=0.7];\n";
	printf qq(  "%s" [fillcolor="%s"];\n), $_, m{^core} ? '#dcebf7' : '#fbe8d3' for @rooms;
	print map { my ($from, $to) = split /->/; qq(  "$from" -> "$to";\n) } drawn_arrows();
	print "}\n";
	exit;
}

my @files = map { s{^\Q$root\E/}{}r } sort glob("$root/src/*/*.[hc]pp $root/src/*/*/*.[hc]pp");
my %exists = map { $_ => 1 } @files;
sub room_of { return $_[0] =~ m{^src/(.*)/[^/]*$} ? $1 : '' }

# foo.hpp and foo.cpp are one unit: a cycle between two of them is one, whichever of their files close it.
sub unit_of { return $_[0] =~ s/\.[hc]pp$//r }
my (%includes, %lacking, %used);

sub check_include
{
	my ($file, $line, $target) = @_;
	my ($from, $to) = (room_of($file), room_of("src/$target"));
	if ($target !~ m{^(?:core|pg)/})
	{
		push @faults, "$file:$line: includes $target, which is no file of core" if $from =~ /^core/;
		return;
	}
	push @faults, "$file:$line: includes $target, which does not exist" unless $exists{"src/$target"};
	push @faults, "$file:$line: includes $target: $from may not include $to"
	  if $allowed{$from} && $from ne $to && !$allowed{$from}{$to};
	$used{$from}{$to} = 1;
	$includes{ unit_of($file) }{ unit_of("src/$target") } = "$file:$line";
}

for my $file (@files)
{
	my $room = room_of($file);
	$lacking{"src/$room"} = 1 unless $allowed{$room};
	my $line = 0;
	for (split /\n/, slurp($file))
	{
		$line++;
		check_include($file, $line, $1) if /^\s*#\s*include\s*"([^"]+)"/;
	}
}

for (map { s{^\Q$root\E/}{}r } glob("$root/test/unit/*"))
{
	my ($room) = m{^test/unit/(\w+)$} or next;
	$lacking{$_} = 1 if -d "$root/$_" && !$allowed{"core/$room"};
}
push @faults, map { "$_: the table in ARCHITECTURE.md has no such room" } sort keys %lacking;
for my $room (@rooms)
{
	push @faults, map { "ARCHITECTURE.md: $room may include $_, but does not" }
	  grep { !$used{$room}{$_} } sort keys %{ $allowed{$room} };
}
push @faults, map { "ARCHITECTURE.md: there is no folder src/$_" } grep { !-d "$root/src/$_" } @rooms;
push @faults, map { "src/$_ has no README.md" } grep { m{/} && -d "$root/src/$_" && !-e "$root/src/$_/README.md" } @rooms;

# A reader finds each header of a room in its README, by its own name or that of its .cpp.
for my $header (grep { m{^src/\w+/\w+/\w+\.hpp$} } @files)
{
	my ($folder, $name) = $header =~ m{^(.*)/(\w+)\.hpp$};
	next unless -e "$root/$folder/README.md";
	push @faults, "$folder/README.md does not name $name.hpp" unless slurp("$folder/README.md") =~ /\b\Q$name\E\.[hc]pp\b/;
}

# Depth first; %state: 1 on the path, 2 done.
my %state;

sub visit
{
	my ($unit, @path) = @_;
	$state{$unit} = 1;
	for my $next (sort keys %{ $includes{$unit} // {} })
	{
		next if $next eq $unit || ($state{$next} // 0) == 2;
		if ($state{$next})
		{
			my @cycle = (@path, $unit);
			shift @cycle while $cycle[0] ne $next;
			push @faults, 'cycle: ' . join(' -> ', @cycle, $next);
			next;
		}
		visit($next, @path, $unit);
	}
	$state{$unit} = 2;
}
$state{$_} or visit($_) for sort keys %includes;

# Graphviz writes the ends of each arrow into its title.
my %drawn = map { s/&#45;/-/gr =~ s/&gt;/>/r => 1 } slurp('docs/rooms.svg') =~ m{<title>([^<]*&#45;&gt;[^<]*)</title>}g;
my %told = map { $_ => 1 } drawn_arrows();
push @faults, map { "docs/rooms.svg lacks the arrow $_: run make rooms" } grep { !$drawn{$_} } sort keys %told;
push @faults, map { "docs/rooms.svg has the arrow $_, which the table does not: run make rooms" }
  grep { !$told{$_} } sort keys %drawn;

print "$_\n" for @faults;
exit(@faults ? 1 : 0);
