# The outcome of the query's own transaction does not affect the charge.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use DpQuantile;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('rollback', conf => "max_prepared_transactions = 1\n");
my $paid = 0;

# Checks the outcome of statements in which the analyst sees one answer, and that it is charged.
sub charged_for
{
	my ($name, $sql, $expected) = @_;
	is(outcome($node, $sql), $expected // 't', "$name: the answer is seen");
	is(spent($node), ++$paid, "$name: charged");
	return;
}

charged_for('threat 1: ROLLBACK', "BEGIN; $ANSWER ROLLBACK");
charged_for('threat 1: ROLLBACK TO SAVEPOINT',
	"BEGIN; SAVEPOINT before; $ANSWER ROLLBACK TO SAVEPOINT before; COMMIT");
charged_for('threat 1: an error later in the transaction', "BEGIN; $ANSWER SELECT 1 / 0; COMMIT",
	't 22012');
charged_for('threat 1: an error in the same statement after the answer is known', q{
	SELECT CASE WHEN answer IS NOT NULL THEN 1 / (dept - dept) END
	FROM (SELECT min(dept) AS dept, dp_median(age, 1, 0, 100) AS answer FROM person) known
}, '22012');
charged_for('threat 1: a plpgsql EXCEPTION block', q{
	CREATE FUNCTION pg_temp.peek() RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE
		answer float8;
	BEGIN
		BEGIN
			SELECT dp_median(age, 1, 0, 100) INTO answer FROM person;
			RAISE EXCEPTION 'take the charge back';
		EXCEPTION WHEN raise_exception THEN
			RETURN answer IS NOT NULL;
		END;
	END
	$$;
	SELECT pg_temp.peek()});
charged_for('threat 1: ROLLBACK inside a DO block', q{
	DO $$
	DECLARE
		answer float8;
	BEGIN
		SELECT dp_median(age, 1, 0, 100) INTO answer FROM person;
		ROLLBACK;
		PERFORM set_config('seen.answer', (answer IS NOT NULL)::text, false);
	END
	$$;
	SELECT current_setting('seen.answer')::boolean});
charged_for('threat 1: ROLLBACK PREPARED',
	"BEGIN; $ANSWER PREPARE TRANSACTION 'query'; ROLLBACK PREPARED 'query'");
charged_for('threat 1: a cursor that is closed after the first row',
	'BEGIN; DECLARE answers CURSOR FOR SELECT dp_median(age, 1, 0, 100) IS NOT NULL FROM person GROUP BY dept;'
	. ' FETCH answers; CLOSE answers; ROLLBACK');

charged_for('a READ ONLY transaction', "BEGIN READ ONLY; $ANSWER COMMIT");
charged_for('a SERIALIZABLE READ ONLY DEFERRABLE transaction',
	"BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE; $ANSWER COMMIT");
charged_for('a session of read-only transactions', "SET default_transaction_read_only = on; $ANSWER");

# The settings of a database apply to the charge's own session, too.
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET default_transaction_read_only = on');
charged_for('a database of read-only transactions', $ANSWER);
$node->safe_psql('postgres',
	'SET default_transaction_read_only = off; ALTER DATABASE postgres RESET default_transaction_read_only');

$node->safe_psql(
	'postgres', q{
	CREATE SCHEMA shadow;
	CREATE FUNCTION shadow.first(numeric, numeric) RETURNS numeric IMMUTABLE LANGUAGE sql AS 'SELECT $1';
	CREATE OPERATOR shadow.+ (LEFTARG = numeric, RIGHTARG = numeric, FUNCTION = shadow.first);
	ALTER DATABASE postgres SET search_path = shadow, pg_catalog, public});
charged_for('a database whose search_path hides the addition of numbers', $ANSWER);
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET search_path');

# Only a superuser may write the budget, so the charge's session must stay a superuser's.
$node->safe_psql('postgres',
	'CREATE ROLE team; GRANT team TO analyst; ALTER DATABASE postgres SET role = team');
my $outcome = outcome($node, "SET ROLE analyst; $ANSWER");
$node->safe_psql('postgres', 'SET ROLE NONE; ALTER DATABASE postgres RESET role');
is($outcome, 't', 'a database with a default role: the answer is seen');
is(spent($node), ++$paid, 'a database with a default role: charged');

# The charge is made outside the transaction, so it cannot use tables that are not committed.
$node->safe_psql('postgres', 'CREATE DATABASE unfinished');
is( outcome($node, q{
		BEGIN;
		CREATE EXTENSION dpquantile;
		SELECT dp_grant_budget('postgres', 1) IS NULL;
		SELECT dp_median(1, 1, 0, 100);
		COMMIT}, user => 'postgres', database => 'unfinished'),
	'f 42P01', 'there is no answer in the transaction that creates the extension');

# Later statements of the analyst's transaction see the charge, like any commit of another session.
is(outcome($node, "BEGIN; SELECT trim_scale(epsilon_spent) FROM dp_budget; $ANSWER"
		. ' SELECT trim_scale(epsilon_spent) FROM dp_budget; ROLLBACK;'
		. ' SELECT trim_scale(epsilon_spent) FROM dp_budget'),
	join(' ', $paid, 't', $paid + 1, $paid + 1),
	'the view shows the charge at once and after the rollback');

done_testing();
