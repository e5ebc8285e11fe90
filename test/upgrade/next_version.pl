#!/usr/bin/perl
# next_version.pl TREE: makes of a copy of this tree one of a made-up next version, with a file of src/sql/updates that does what an
# update may have to do: a table gets a column, a function an argument, a view a column; a table, a function, a private aggregate and a
# function for the owner are new; a function goes; an event trigger, generated functions and comments change. Prints the new version.

use strict;
use warnings;

my ($tree) = @ARGV or die "usage: $0 TREE\n";
chdir $tree or die "$tree: $!";

sub slurp
{
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!";
	local $/;
	return <$file>;
}

sub spew
{
	my ($path, $content) = @_;
	open my $file, '>', $path or die "$path: $!";
	print $file $content;
	close $file or die "$path: $!";
	return;
}

# The first place that matches, which must be there.
sub change
{
	my ($path, $pattern, $by) = @_;
	my $content = slurp($path);
	$content =~ s/$pattern/$by/ or die "$path has nothing like $pattern";
	spew($path, $content);
	return;
}

my ($from) = slurp('dpquantile.control') =~ /^default_version = '(.+)'$/m or die 'dpquantile.control has no version';
my $to = $from =~ s/(\d+)$/$1 + 1/er . '~test';
change('dpquantile.control', qr/^default_version = .*/m, "default_version = '$to'");
change('dpquantile.control', qr/^comment = '/m, "comment = 'made up, ");

change('src/sql/once/budget.sql', qr/(?<=  converted_delta numeric NOT NULL DEFAULT 0,\n)/, "  note            text NOT NULL DEFAULT 'none',\n");
spew('src/sql/once/made_up.sql', "CREATE TABLE dpquantile.made_up (id int PRIMARY KEY, note text);\n");
change('src/sql/always/budget/view.sql', qr/(?<=AS published_delta)\n/, ", 'none' AS note\n");
change('src/sql/always/budget/add_charge.sql', qr/on_table regclass DEFAULT NULL\)/, 'on_table regclass DEFAULT NULL, reason text DEFAULT NULL)');
change('src/sql/always/budget/add_charge.sql', qr/^COMMENT ON FUNCTION .*dp_add_charge.*, regclass\)/m,
	'COMMENT ON FUNCTION @extschema@.dp_add_charge(regrole, numeric, numeric, numeric, text, regclass, text)');
change('src/sql/always/options/options.sql', qr/^CREATE OR REPLACE FUNCTION \@extschema\@\.dp_option\(name text, value text\).*?;\n/ms, '');
change('src/sql/always/options/options.sql', qr/^COMMENT ON FUNCTION \@extschema\@\.dp_option\(text, text\).*?;\n/ms, '');
change('src/sql/always/protection/event_triggers.sql', qr/'ALTER SCHEMA'\)/, "'ALTER SCHEMA', 'ALTER SEQUENCE')");
change('src/sql/always/aggregates/value_types.sql', qr/LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT/, 'LANGUAGE C VOLATILE PARALLEL SAFE COST 7 SUPPORT');
change('src/sql/always/ledger/tables.sql', qr/IS 'One row for each charge/, "IS 'Made up: one row for each charge");
spew('src/sql/always/made_up.sql', <<'SQL');
SELECT pg_catalog.pg_extension_config_dump('dpquantile.made_up', '');
CREATE OR REPLACE FUNCTION dpquantile.made_up() RETURNS int LANGUAGE sql RETURN 1;
CREATE OR REPLACE FUNCTION @extschema@.dp_made_up() RETURNS int LANGUAGE sql SECURITY DEFINER RETURN 1;
CREATE OR REPLACE AGGREGATE @extschema@.dp_made_up(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.mean_transition,
  STYPE = dpquantile.records_state,
  SSPACE = 512,
  FINALFUNC = dpquantile.mean_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.records_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_made_up(float8, float8, float8, float8) IS 'A mean.';
SQL
change('src/sql/README.md', qr/^\| `always\/schema\.sql`/m, "| `once/made_up.sql` | made up |\n| `always/schema.sql`");
change('src/sql/README.md', qr/^\| `always\/aggregates\/value_types\.sql`/m, "| `always/made_up.sql` | made up |\n| `always/aggregates/value_types.sql`");

spew("src/sql/updates/$from--$to.sql", <<'SQL');
ALTER TABLE dpquantile.budget ADD COLUMN note text NOT NULL DEFAULT 'none';
CREATE TABLE dpquantile.made_up (id int PRIMARY KEY, note text);
DROP EVENT TRIGGER dpquantile_note_renamed_tables;
DROP FUNCTION @extschema@.dp_option(text, text);

-- dp_add_charge has one more argument. Who may call it may call the new one (privileges.sql). Views and functions of users that were
-- made with it keep it, in schema dpquantile.
SELECT set_config('dpq_upgrade.kept_grants',
                  coalesce(jsonb_agg(jsonb_build_object(
                    'made', '@extschema@.dp_add_charge(regrole, numeric, numeric, numeric, text, regclass, text)',
                    'grantee', g.grantee::regrole::text || CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)), '[]')::text, true)
  FROM pg_proc p CROSS JOIN aclexplode(p.proacl) g
 WHERE p.oid = '@extschema@.dp_add_charge(regrole, numeric, numeric, numeric, text, regclass)'::regprocedure AND g.grantee NOT IN (0, p.proowner);
DO $$
BEGIN
  DROP FUNCTION @extschema@.dp_add_charge(regrole, numeric, numeric, numeric, text, regclass);
EXCEPTION WHEN dependent_objects_still_exist THEN
  ALTER FUNCTION @extschema@.dp_add_charge(regrole, numeric, numeric, numeric, text, regclass) SET SCHEMA dpquantile;
  CREATE OR REPLACE FUNCTION dpquantile.dp_add_charge(role regrole, epsilon numeric, delta numeric DEFAULT 0, rho numeric DEFAULT NULL,
                                                      note text DEFAULT NULL, on_table regclass DEFAULT NULL)
    RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
  AS 'BEGIN PERFORM @extschema@.dp_add_charge(role, epsilon, delta, rho, note, on_table); END';
END
$$;
SQL
print "$to\n";
