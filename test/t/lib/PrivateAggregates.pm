package PrivateAggregates;

# The private aggregates of test/support/aggregates.tsv, and the types of values of value_types.tsv.

use strict;
use warnings;

use Exporter 'import';
use File::Basename;

our @EXPORT = qw(private_aggregates call_of);

sub rows_of
{
	my ($file) = @_;
	open my $lines, '<', dirname(__FILE__) . "/../../support/$file" or die "$file: $!";
	return map { chomp; [ split /\t/ ] } grep { !/^#/ } <$lines>;
}

my @types = map { { name => $_->[0], kind => $_->[1], lower => $_->[2], upper => $_->[3] } } rows_of('value_types.tsv');
my %type = map { $_->{name} => $_ } @types;

# A hash for each call: form, types, options and methods.
sub private_aggregates
{
	return map {
		my ($form, $values, undef, @lists) = @$_;
		my ($options, $methods) = map { [ grep { $_ ne '-' } split /, / ] } @lists;
		my %kinds = map { $_ => 1 } split / /, $values;
		{   form => $form, options => $options, methods => $methods,
			types => [ map { $_->{name} } grep { $kinds{all} || $kinds{ $_->{kind} } || $kinds{ $_->{name} } } @types ] }
	} rows_of('aggregates.tsv');
}

# The call of an aggregate. value, epsilon, user, grid, options: SQL; type: of the values, whose bounds it has.
sub call_of
{
	my ($aggregate, %terms) = @_;
	my $of = $type{ $terms{type} // 'float8' };
	my %sql = (VALUE => 'age', USER => 'id', GRID => q{'a'}, EPSILON => 1);
	foreach (grep { $terms{lc $_} } keys %sql) { $sql{$_} = $terms{lc $_} }
	@sql{ 'LOWER', 'UPPER' } = map { $of->{kind} eq 'numbers' ? $_ : "$of->{name} '$_'" } @$of{ 'lower', 'upper' };
	my $call = $aggregate->{form} =~ s/(VALUE|USER|GRID|EPSILON|LOWER|UPPER)/$sql{$1}/gr;
	$call =~ s/\)$/, $terms{options})/ if $terms{options};
	return $call;
}

1;
