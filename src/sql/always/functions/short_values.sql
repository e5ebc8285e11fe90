-- A private query puts this around a value of a row that a function reads.
DO $$
DECLARE
  type text;
BEGIN
  FOREACH type IN ARRAY '{text,varchar,bpchar,bytea,"bit",varbit,jsonb,anyarray,anyrange,anymultirange,numeric}'::text[] LOOP
    EXECUTE format('CREATE OR REPLACE FUNCTION dpquantile.short_value(value %1$s, most_bytes int) RETURNS %1$s LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE '
                   'AS ''MODULE_PATHNAME'', %2$L', type, CASE type WHEN 'numeric' THEN 'dpq_short_numeric' ELSE 'dpq_short_value' END);
    EXECUTE format('COMMENT ON FUNCTION dpquantile.short_value(%1$s, int) IS %2$L', type,
                   'The same value, or NULL if it is longer. So the time that a private query takes for one row is bounded.
  value: of a row. A number has at most 400 digits before and after the decimal point, whatever the other argument is.
  most_bytes: of the value.');
  END LOOP;
END
$$;

-- A private query puts this around a value of a joined public table.
CREATE OR REPLACE FUNCTION dpquantile.inline_value(value anyelement) RETURNS anyelement LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_inline_value';
COMMENT ON FUNCTION dpquantile.inline_value(anyelement) IS
'The same value, or NULL if the row has it stored out of line (TOAST). So what a private query reads of a joined table does not depend on which rows match.
  value: of a row.';

-- A private query groups by this, beside a key.
CREATE OR REPLACE FUNCTION dpquantile.group_hash(key "any", first_half bigint, second_half bigint) RETURNS bigint LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_group_hash';
COMMENT ON FUNCTION dpquantile.group_hash("any", bigint, bigint) IS
'A hash of a key under a secret. So the time that it takes to group rows does not depend on their order, and nobody finds keys with the same hash.
  key: of a group. first_half, second_half: of the secret, 128 random bits.';

CREATE OR REPLACE FUNCTION dpquantile.of_answers(condition boolean) RETURNS boolean LANGUAGE C VOLATILE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_of_answers';
COMMENT ON FUNCTION dpquantile.of_answers(boolean) IS
  'condition: a condition of HAVING. The same condition. Queries over protected tables get it, so that PostgreSQL, which takes it for volatile, '
  'does not compute the condition, or a part of it, for rows.';
