# docs/operations.md: each block of SQL, shell and settings in it runs, and prints what the page shows. The word after the language of a
# block tells where it runs: a database, another server, or another user.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd 'getcwd';
use DpQuantile;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The blocks of the page: language, word, text, and the output that the page shows after it.
sub blocks_of
{
	my ($page) = @_;
	my @blocks;
	while ($page =~ /^( *)```(?:(\w+) ?(\w*))?\n(.*?)^ *```\n(?=(\n*)( *```\n)?)/msg)
	{
		my ($indent, $language, $word, $text) = ($1, $2, $3, $4);
		$text =~ s/^$indent//mg;
		if ($language) { push @blocks, { language => $language, word => $word, text => $text }; }
		else { $blocks[-1]{output} = $text; }
	}
	return @blocks;
}

# Dates, times, process ids, sizes and the version differ from run to run.
sub comparable
{
	my ($output) = @_;
	$output =~ s/\d{4}-\d\d-\d\d/DATE/g;
	$output =~ s/DATE [\d:.]+ \w+ \[\d+\]/TIME/g;
	$output =~ s/\d+ kB/SIZE/g;
	$output =~ s/\d+ of 8 max/SOME of 8 max/g;
	$output =~ s/\b\d+\.\d+\.\d+\b/VERSION/g;
	$output =~ s/\n+$//;
	return $output;
}

my @blocks = blocks_of(slurp_file("$FindBin::Bin/../../docs/operations.md"));
is(scalar(grep { $_->{output} } @blocks), 5, 'the page shows outputs');

my $settings = join '', map { $_->{text} } grep { $_->{language} eq 'ini' } @blocks;
my $node = new_node('app', preloaded => 0, allows_streaming => 1, budget => 3, conf => "${settings}fsync = off\nfull_page_writes = off\n");
my %answers = (database => 'app');
$node->safe_psql('postgres', 'CREATE DATABASE app TEMPLATE postgres');
$node->safe_psql(
	'app', q{
	CREATE ROLE reports LOGIN;
	GRANT SELECT ON person TO reports;
	SELECT dp_grant_budget('reports', 1, 1e-6, 'zcdp')});
sub ask { my ($epsilon) = @_; return "SELECT dp_median(age, $epsilon, 0, 100) IS NOT NULL FROM person;" }
is(outcome($node, ask(1.4), %answers), 't', 'an answer before the backup');
$node->backup('base');
is(outcome($node, ask(1.4), %answers), 't', 'an answer after the backup');
is(outcome($node, ask(0.1) x 2, %answers, user => 'reports'), 't t', 'two answers of another role');

sub budgets
{
	my ($server, $database) = @_;
	return $server->safe_psql($database, q{SELECT role, trim_scale(epsilon_spent), trim_scale(rho_spent), charges FROM dpquantile.budget ORDER BY role::text});
}

sub health
{
	my ($server, $database, $check) = @_;
	return $server->safe_psql($database, "SELECT subject, status FROM dp_health() WHERE check_name = '$check' AND subject <> 'size' ORDER BY 1");
}

is(health($node, 'app', 'durability'), "fsync|critical\nfull_page_writes|critical", 'threat 58: charges that are not durable are critical');

# Where the blocks with a word run. The first one makes the place.
my $restored;
my %place_of = (
	'' => sub { return { node => $node, database => 'app' } },
	app_restored => sub { return { node => $node, database => 'app_restored' } },
	monitor => sub { return { node => $node, database => 'app', user => 'monitor' } },
	copy => sub {
		$node->safe_psql('postgres', 'CREATE DATABASE staging TEMPLATE app');
		return { node => $node, database => 'staging' };
	},
	restored => sub {
		$restored = PostgreSQL::Test::Cluster->new('restored');
		$restored->init_from_backup($node, 'base');
		$restored->start;
		like(budgets($restored, 'app'), qr/^analyst\|1\.4\|/, 'threat 58: a restored backup has the spending of its time');
		return { node => $restored, database => 'app' };
	});
my %places;
sub place { my ($word) = @_; return $places{$word} //= $place_of{$word}->() }

# What happens before or after a block with this text.
my %before = (
	'DELETE FROM dpquantile.budget' => sub {
		is(budgets($node, 'app_restored'), budgets($node, 'app'), 'the restored database has the spending');
		$node->safe_psql('app_restored', 'UPDATE dpquantile.budget SET charges = 0, epsilon_spent = 0');
		is(health($node, 'app_restored', 'ledger'), "analyst|critical\nreports|critical", 'budgets that are older than the ledger are critical');
		is(outcome($node, ask(0.1), database => 'app_restored'), '23505', 'such a budget cannot be charged');
	},
	'dp_add_charge(%L' => sub {
		$node->safe_psql('staging', q{
			CREATE ROLE leaver;
			SELECT dp_grant_budget('leaver', 2), dp_add_charge('leaver', 1);
			DROP ROLE leaver;
			ALTER ROLE reports RENAME TO reporting;
			CREATE ROLE reports});
	},
	'SELECT * FROM dp_health();' => sub {
		$node->safe_psql('postgres', "ALTER SYSTEM SET $_ = on") foreach 'fsync', 'full_page_writes';
		$node->reload;
		$node->poll_query_until('app', q{SELECT bool_and(setting = 'on') FROM pg_settings WHERE name IN ('fsync', 'full_page_writes')})
			or die 'the settings do not change';
	},
	'server.log' => sub {
		my $offset = -s $node->logfile;
		is(outcome($node, ask(1), %answers), '53400', 'a query that costs too much');
		is(outcome($node, 'SELECT dp_median(i, 1, 0, 100) FROM generate_series(1, 100) AS i;', %answers, user => 'monitor'),
			'42501', 'a query of a role without a budget');
		is(outcome($node, 'TABLE dpquantile.user_key;', %answers), '42501', 'a refusal that has nothing to do with budgets');
		append_to_file('server.log', slurp_file($node->logfile, $offset));
	});
my %after = (
	'DELETE FROM dpquantile.budget' => sub {
		like(budgets($node, 'app_restored'), qr/^analyst\|2\.8\|/, 'a budget that is made again counts the ledger');
		is(outcome($node, ask(0.3) . ask(0.1), database => 'app_restored'), 't 53400', 'it answers within what is left');
		is(health($node, 'app_restored', 'ledger'), 'reports|critical', 'its health is restored');
	},
	'unknown after the failover' => sub {
		is(outcome($restored, ask(0.1), %answers), '53400', 'threat 58: nothing is left of what may have been spent');
		is(outcome($restored, ask(0.01), %answers, user => 'reports'), '53400', 'nothing is left of the other role');
	},
	'TRUNCATE' => sub {
		is(budgets($restored, 'app'), budgets($node, 'app'), 'threat 58: the spending is right after the budgets were moved');
		is(outcome($restored, ask(0.2) . ask(0.1), %answers), 't 53400', 'threat 58: only the rest can be spent');
	},
	'dp_revoke_budget' => sub {
		is(outcome($node, ask(0.01), database => 'staging'), '42501', 'threat 58: the copy refuses');
		is(outcome($node, ask(0.01), database => 'staging', user => 'reports'), '42501', 'threat 58: the copy refuses every role');
	},
	'dp_add_charge(%L' => sub {
		my ($block, $output) = @_;
		my $commands = join '', $output =~ /(SELECT dp_add_charge.*\n)/g;
		is(outcome($node, "\\set ON_ERROR_STOP on\nBEGIN; $commands COMMIT", database => 'app', user => 'postgres') =~ s/.* //r,
			'42704', 'threat 58: a role that the original lacks adds nothing of the copy');
		$commands =~ s/SELECT dp_add_charge\('leaver', .*\n//;
		is($node->safe_psql('app', qq{BEGIN; $commands; SELECT trim_scale(epsilon_spent) FROM dpquantile.budget ORDER BY role::text}),
			"\n\n5.8\n0.4", 'threat 58: the commands add the charges of the copy to the roles that made them');
		$node->safe_psql('postgres', 'DROP ROLE reports; ALTER ROLE reporting RENAME TO reports');
	},
	'budget_figures() ORDER' => sub {
		my ($block, $output) = @_;
		like($output, qr/analyst +\| +\| +2.9 \| +3 /, 'a monitoring role sees the figures');
		is(outcome($node, 'SELECT * FROM budget_figures()', %answers), '42501', 'an analyst does not');
	});

sub act
{
	my ($actions, $block, $output) = @_;
	foreach my $part (keys %$actions) { $actions->{$part}->($block, $output) if index($block->{text}, $part) >= 0; }
	return;
}

# Runs a block and returns whether it succeeded and what it printed.
sub run_block
{
	my ($block) = @_;
	my $place = place($block->{word});
	local $ENV{PGHOST} = $place->{node}->host;
	local $ENV{PGPORT} = $place->{node}->port;
	my @command = ('bash', '-e', '-c', $block->{text});
	my $input = '';
	if ($block->{language} eq 'sql')
	{
		@command = ('psql', '-X', '-v', 'ON_ERROR_STOP=1', '-U', $place->{user} // 'postgres', '-d', $place->{database});
		$input = $block->{text};
	}
	my $output;
	my $success = IPC::Run::run(\@command, '<', \$input, '>&', \$output);
	return ($success, $output);
}

my $tree = getcwd();
chdir PostgreSQL::Test::Utils::tempdir();
foreach my $block (grep { $_->{language} ne 'ini' } @blocks)
{
	my ($name) = $block->{text} =~ /^(?:BEGIN;\n)?(.*)/;
	act(\%before, $block);
	my ($success, $output) = run_block($block);
	ok($success, "runs: $name") or diag($output);
	is(comparable($output), comparable($block->{output}), "prints what the page shows: $name") if $block->{output};
	act(\%after, $block, $output);
}
chdir $tree;

$restored->stop;
$node->stop;
done_testing();
