# What the tables hold may be changed by their owner, and other tables may come in their place: the workers that charge
# are superusers, and must not run what others wrote.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('tables', conf => q{log_statement = 'none'});

# A trigger that asks a private query itself.
$node->safe_psql(
	'postgres', q{
	SELECT dp_grant_budget('postgres', 10);
	CREATE FUNCTION ask() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF NEW.role_name = 'analyst' THEN
			PERFORM public.dp_median(x, 1, 0, 1) FROM (VALUES (0.5::float8)) v (x);
		END IF;
		RETURN NEW;
	END $$;
	CREATE TRIGGER ask AFTER INSERT ON dpquantile.ledger FOR EACH ROW EXECUTE FUNCTION ask()});
is(outcome($node, "SET statement_timeout = '20s'; $ANSWER"), 't', 'a trigger may ask a private query');
is(spent($node), 1, 'which is charged');
$node->safe_psql('postgres', 'DROP FUNCTION ask CASCADE');

# A query that outlives DROP EXTENSION finds the schema of another.
$node->safe_psql('postgres', 'GRANT CREATE ON DATABASE postgres TO analyst');
my $analyst = $node->background_psql('postgres', extra_params => [ '-U', 'analyst' ], on_error_stop => 0);
$analyst->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT dp_median(x, 1, 0, 1) FROM (VALUES (0.5::float8)) v (x)');
$node->safe_psql('postgres', 'DROP EXTENSION dpquantile');
is(outcome($node, q{
	CREATE SCHEMA dpquantile;
	CREATE TABLE dpquantile.budget (role oid, budget_id uuid DEFAULT gen_random_uuid(), epsilon_limit numeric DEFAULT 9,
		epsilon_spent numeric DEFAULT 0, delta_limit numeric DEFAULT 0, delta_spent numeric DEFAULT 0, rho_limit numeric,
		rho_spent numeric DEFAULT 0, has_rho_alone boolean DEFAULT false, accountant text DEFAULT 'pure',
		revoked boolean DEFAULT false);
	INSERT INTO dpquantile.budget (role) VALUES ('analyst'::regrole);
	CREATE TABLE dpquantile.ledger (budget_id uuid, role_name name, session_role_name name, function name, mechanism text,
		neighbours text, epsilon numeric, delta numeric, rho numeric, accountant text, grouping_sets int, groups int,
		query text);
	CREATE FUNCTION dpquantile.evil() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN EXECUTE 'ALTER ROLE analyst SUPERUSER'; RETURN NEW; END $$;
	CREATE TRIGGER evil BEFORE INSERT ON dpquantile.ledger FOR EACH ROW EXECUTE FUNCTION dpquantile.evil()}),
	'', 'the analyst makes tables of those names');
my $answer = $analyst->query('FETCH c');
is($answer, '', 'threat 1: no answer is charged there');
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'analyst'}), 'f',
	'and no trigger there runs as a superuser');
$analyst->quit;

$node->stop;
done_testing();
