CREATE OR REPLACE FUNCTION dpquantile.check_protection(relation regclass, user_id name, max_rows integer, unit name, through regclass, max_groups integer) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  asked CONSTANT regclass := check_protection.relation;
  refusal CONSTANT text := dpquantile.unprotectable(check_protection.relation);
BEGIN
  IF refusal IS NOT NULL THEN
    RAISE EXCEPTION '% cannot be protected: %', asked, refusal
      USING ERRCODE = 'wrong_object_type',
            HINT = 'Tables, partitioned tables, materialized views and views can be protected. They must not be temporary or '
                   'have row security, foreign children, virtual generated columns, partial indexes by functions that are not PostgreSQL''s own, or the option security_invoker.';
  END IF;
  IF check_protection.max_rows IS NOT NULL AND check_protection.user_id IS NULL THEN
    RAISE EXCEPTION 'max_rows needs user_id, which is NULL'
      USING ERRCODE = 'invalid_parameter_value',
            HINT = format('Name the column that identifies the persons: SELECT dp_protect_table(%L, user_id => ..., max_rows => %s).',
                          asked, check_protection.max_rows);
  ELSIF NOT check_protection.max_rows BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'max_rows must be between 1 and 1000, or 0 for none, got %', check_protection.max_rows
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A query sees at most max_rows rows of each person. Each gets a part of the epsilon.';
  END IF;
  IF check_protection.max_groups IS NOT NULL AND check_protection.user_id IS NULL THEN
    RAISE EXCEPTION 'max_groups needs user_id, which is NULL'
      USING ERRCODE = 'invalid_parameter_value',
            HINT = format('Name the column that identifies the persons: SELECT dp_protect_table(%L, user_id => ..., max_groups => %s).',
                          asked, check_protection.max_groups);
  ELSIF NOT check_protection.max_groups BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'max_groups must be between 1 and 1000, or 0 for none, got %', check_protection.max_groups
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A number of persons by group counts each person in at most max_groups groups. Each gets a part of the epsilon.';
  END IF;
  IF check_protection.unit IS NOT NULL AND check_protection.user_id IS NULL THEN
    RAISE EXCEPTION 'unit needs user_id, which is NULL'
      USING ERRCODE = 'invalid_parameter_value',
            HINT = format('Name the column that identifies the persons: SELECT dp_protect_table(%L, user_id => ..., unit => %L).',
                          asked, check_protection.unit);
  END IF;
  PERFORM dpquantile.check_reference(asked, check_protection.user_id, check_protection.unit, check_protection.through);
END
$$;
CREATE OR REPLACE FUNCTION dpquantile.check_view(relation regclass) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  problem CONSTANT text[] := dpquantile.problem_of_view(check_view.relation, NULL);
BEGIN
  IF problem IS NOT NULL THEN
    RAISE EXCEPTION '% cannot be protected: %', check_view.relation, rtrim(problem[1], '.')
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = problem[2];
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.check_view(regclass) IS
  'relation: of dp_protect_table, whose protection is stored. An error if it is a view of which no query would be answered.';

COMMENT ON FUNCTION dpquantile.check_protection(regclass, name, integer, name, regclass, integer) IS
  'The arguments of dp_protect_table. An error for the first that no protected table can have.';

CREATE OR REPLACE FUNCTION dpquantile.check_reference(relation regclass, user_id name, unit name, through regclass) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  asked CONSTANT regclass := check_reference.relation;
  problem text;
BEGIN
  IF check_reference.through IS NULL THEN
    RETURN;
  ELSIF check_reference.user_id IS NULL OR check_reference.unit IS NULL THEN
    RAISE EXCEPTION 'through needs user_id and unit, and % is NULL', CASE WHEN check_reference.user_id IS NULL THEN 'user_id' ELSE 'unit' END
      USING ERRCODE = 'invalid_parameter_value',
            HINT = format('Name the column that refers to %s, and the unit of %1$s: SELECT dp_protect_table(%L, user_id => ..., unit => ..., through => %L).',
                          check_reference.through, asked, check_reference.through);
  ELSIF check_reference.through = asked THEN
    RAISE EXCEPTION '% cannot be protected through itself', asked
      USING ERRCODE = 'invalid_parameter_value', HINT = 'Name the table that has the persons, or leads to them.';
  END IF;
  PERFORM FROM dpquantile.protected_table t WHERE t.relation = check_reference.through FOR KEY SHARE;
  problem := dpquantile.problem_of_reference(asked, check_reference.user_id, check_reference.through, check_reference.unit);
  IF problem IS NOT NULL THEN
    RAISE EXCEPTION '% cannot be protected through %: its %', asked, check_reference.through, problem
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = CASE WHEN problem LIKE 'rows %'
                        THEN format('Protect that table first, with its persons and this unit: SELECT dp_protect_table(%L, user_id => ..., unit => %L).',
                                    check_reference.through, check_reference.unit)
                        ELSE format('It must refer to exactly this table by one foreign key, such as ALTER TABLE %s ADD FOREIGN KEY (%I) REFERENCES %s; makes.',
                                    asked, check_reference.user_id, check_reference.through) END;
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.check_reference(regclass, name, name, regclass) IS
  'relation, user_id, unit, through: of dp_protect_table. An error if through is stated, and the rows do not lead to persons through it.';

CREATE OR REPLACE FUNCTION dpquantile.number_of_users_column(relation regclass, user_id name) RETURNS smallint
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := number_of_users_column.relation;
  user_column pg_attribute;
BEGIN
  IF user_id IS NULL THEN
    RETURN NULL;
  END IF;
  SELECT * INTO user_column FROM pg_attribute a
   WHERE a.attrelid = asked AND a.attname = number_of_users_column.user_id AND a.attnum > 0 AND NOT a.attisdropped;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% has no column "%"', asked, number_of_users_column.user_id
      USING ERRCODE = 'undefined_column',
            HINT = format('Its columns are: %s.',
                          (SELECT string_agg(a.attname, ', ' ORDER BY a.attnum) FROM pg_attribute a
                            WHERE a.attrelid = asked AND a.attnum > 0 AND NOT a.attisdropped));
  END IF;
  IF NOT dpquantile.identifies_users(user_column.atttypid, user_column.attcollation) THEN
    RAISE EXCEPTION 'column "%" of % cannot identify persons: it is of type %', number_of_users_column.user_id, asked,
                    format_type(user_column.atttypid, user_column.atttypmod)
      USING ERRCODE = 'datatype_mismatch',
            HINT = 'Choose a column with an identifier, for example of type text, bigint or uuid.';
  END IF;
  RETURN user_column.attnum;
END
$$;
COMMENT ON FUNCTION dpquantile.number_of_users_column(regclass, name) IS
  'relation, user_id: of dp_protect_table. The number of the column, NULL without one. An error if it cannot identify persons.';

CREATE OR REPLACE FUNCTION dpquantile.check_tables_with_same_rows(relation regclass, user_id name, through regclass) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := check_tables_with_same_rows.relation;
  other record;
BEGIN
  -- A column has one name in all parents and children; a view may give it another one.
  FOR other IN
    SELECT t.relation, t.user_column, t.through FROM dpquantile.tables_with_same_rows(asked) s (relation)
      JOIN dpquantile.protected_table t ON t.relation = s.relation
     WHERE CASE WHEN check_tables_with_same_rows.user_id IS NULL OR t.user_column IS NULL THEN t.user_column IS DISTINCT FROM check_tables_with_same_rows.user_id
                ELSE (t.user_column, t.through) IS DISTINCT FROM (check_tables_with_same_rows.user_id::name, check_tables_with_same_rows.through)
                     AND (SELECT c.relkind FROM pg_class c WHERE c.oid = asked) IN ('r', 'p') END
     ORDER BY t.user_column IS NULL, t.relation
  LOOP
    IF check_tables_with_same_rows.user_id IS NULL THEN
      RAISE EXCEPTION '% cannot be protected without user_id: its rows are also rows of %, which protects persons', asked, other.relation
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = format('Name the column that identifies the persons: SELECT dp_protect_table(%L, user_id => ...).', asked);
    ELSIF other.user_column IS NOT NULL THEN
      RAISE EXCEPTION '% cannot be protected with user_id %: its rows are also rows of %, which protects the persons of its column "%"%',
                      asked, check_tables_with_same_rows.user_id, other.relation, other.user_column, coalesce(' through ' || other.through::text, '')
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = format('Name the same column: SELECT dp_protect_table(%L, user_id => %L%s).', asked, other.user_column,
                            ', unit => ..., through => ' || quote_literal(other.through::text));
    END IF;
    RAISE NOTICE 'private access to % is closed: its rows are also rows of %, which protects persons', other.relation, asked
      USING HINT = format('Protect it with the same column: SELECT dp_protect_table(%L, user_id => %L).', other.relation,
                          check_tables_with_same_rows.user_id);
  END LOOP;
END
$$;
COMMENT ON FUNCTION dpquantile.check_tables_with_same_rows(regclass, name, regclass) IS
  'relation, user_id, through: of dp_protect_table. An error if another table with its rows protects more; a notice if one protects less.';

CREATE OR REPLACE FUNCTION dpquantile.change_limits(before dpquantile.protected_table, max_rows integer, unit name, max_groups integer) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := before.relation;
BEGIN
  IF (before.max_rows, before.unit, before.max_groups) IS NOT DISTINCT FROM (change_limits.max_rows, change_limits.unit, change_limits.max_groups) THEN
    RAISE NOTICE '% is protected already', asked;
    RETURN;
  END IF;
  UPDATE dpquantile.protected_table AS t
     SET max_rows = change_limits.max_rows, unit = change_limits.unit, max_groups = change_limits.max_groups,
         rows_left_out = CASE WHEN t.max_rows = change_limits.max_rows THEN t.rows_left_out END,
         rows_left_out_error = CASE WHEN t.max_rows = change_limits.max_rows THEN t.rows_left_out_error END,
         groups_left_out = CASE WHEN t.max_groups = change_limits.max_groups THEN t.groups_left_out END,
         groups_left_out_error = CASE WHEN t.max_groups = change_limits.max_groups THEN t.groups_left_out_error END
   WHERE t.relation = asked;
  IF before.max_rows IS DISTINCT FROM change_limits.max_rows THEN
    RAISE NOTICE '% is protected with max_rows % now; until now %', asked, coalesce(change_limits.max_rows::text, 'NULL'),
                 coalesce(before.max_rows::text, 'NULL');
  END IF;
  IF before.max_groups IS DISTINCT FROM change_limits.max_groups THEN
    RAISE NOTICE '% is protected with max_groups % now; until now %', asked, coalesce(change_limits.max_groups::text, 'NULL'),
                 coalesce(before.max_groups::text, 'NULL');
  END IF;
  IF before.unit IS DISTINCT FROM change_limits.unit THEN
    RAISE NOTICE '% is protected with unit % now; until now %', asked, coalesce(change_limits.unit, 'NULL'),
                 coalesce(before.unit, 'NULL');
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.change_limits(dpquantile.protected_table, integer, name, integer) IS
  'before: the row of a protected table, locked; max_rows, unit, max_groups: its new ones.';

CREATE OR REPLACE FUNCTION dpquantile.set_learned_limit(relation regclass, max_rows integer, rows_left_out bigint, rows_left_out_error bigint) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := set_learned_limit.relation;
  before dpquantile.protected_table;
BEGIN
  PERFORM dpquantile.check_version();
  SELECT * INTO before FROM dpquantile.protected_table t WHERE t.relation = asked FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% is not protected', asked
      USING ERRCODE = 'undefined_object',
            HINT = format('Protect it first: SELECT dp_protect_table(%L);', asked);
  END IF;
  IF before.max_rows IS DISTINCT FROM set_learned_limit.max_rows THEN
    PERFORM dpquantile.change_limits(before, set_learned_limit.max_rows, before.unit, before.max_groups);
  END IF;
  UPDATE dpquantile.protected_table AS t
     SET rows_left_out = set_learned_limit.rows_left_out, rows_left_out_error = set_learned_limit.rows_left_out_error
   WHERE t.relation = asked;
  PERFORM dpquantile.check_view(asked);
END
$$;
COMMENT ON FUNCTION dpquantile.set_learned_limit(regclass, integer, bigint, bigint) IS 'What dp_learn_limits does for the owner of the table.';

CREATE OR REPLACE FUNCTION dpquantile.set_learned_groups(relation regclass, max_groups integer, groups_left_out bigint, groups_left_out_error bigint) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := set_learned_groups.relation;
  before dpquantile.protected_table;
BEGIN
  PERFORM dpquantile.check_version();
  SELECT * INTO before FROM dpquantile.protected_table t WHERE t.relation = asked FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% is not protected', asked
      USING ERRCODE = 'undefined_object',
            HINT = format('Protect it first: SELECT dp_protect_table(%L);', asked);
  END IF;
  IF before.max_groups IS DISTINCT FROM set_learned_groups.max_groups THEN
    PERFORM dpquantile.change_limits(before, before.max_rows, before.unit, set_learned_groups.max_groups);
  END IF;
  UPDATE dpquantile.protected_table AS t
     SET groups_left_out = set_learned_groups.groups_left_out, groups_left_out_error = set_learned_groups.groups_left_out_error
   WHERE t.relation = asked;
  PERFORM dpquantile.check_view(asked);
END
$$;
COMMENT ON FUNCTION dpquantile.set_learned_groups(regclass, integer, bigint, bigint) IS 'What dp_learn_groups does for the owner of the table.';

CREATE OR REPLACE FUNCTION dpquantile.least_granted_epsilon(relation regclass) RETURNS float8
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  BEGIN ATOMIC
    SELECT coalesce(min(g.epsilon), 0) FROM dpquantile.private_grant g WHERE g.relation = least_granted_epsilon.relation;
  END;
COMMENT ON FUNCTION dpquantile.least_granted_epsilon(regclass) IS
  'relation: of dp_learn_limits or dp_learn_groups. The least epsilon that a standard aggregate of it costs a role; 0 if no role may ask one.';

CREATE OR REPLACE FUNCTION dpquantile.change_users_column(before dpquantile.protected_table, user_id name, user_number smallint, max_rows integer, unit name,
                                               through regclass, max_groups integer) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := before.relation;
BEGIN
  -- What is granted must not become more than what its owner has granted: all rows of a user are more than one row, and the
  -- users of two columns have nothing in common.
  IF change_users_column.user_id IS NULL
     OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = asked AND a.attnum = before.user_number AND NOT a.attisdropped)
        AND (before.through IS DISTINCT FROM 0 OR change_users_column.through IS NULL)
  THEN
    RAISE EXCEPTION '% is protected already, with user_id %', asked, before.user_column || CASE WHEN before.through = 0 THEN ' through a table that is gone'
                                                                                                ELSE coalesce(' through ' || before.through::text, '') END
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('To change it, SELECT dp_unprotect_table(%L); this ends all private access. Then protect it again.', asked);
  END IF;
  UPDATE dpquantile.protected_table AS t
     SET user_column = change_users_column.user_id, user_number = change_users_column.user_number, max_rows = change_users_column.max_rows,
         unit = change_users_column.unit, through = change_users_column.through, max_groups = change_users_column.max_groups,
         rows_left_out = NULL, rows_left_out_error = NULL, groups_left_out = NULL, groups_left_out_error = NULL
   WHERE t.relation = asked;
  RAISE NOTICE '% is protected with user_id % now; until now %', asked, change_users_column.user_id,
               CASE WHEN before.user_column IS NULL THEN 'each row was protected by itself'
                    WHEN before.through = 0 THEN 'through a table that is gone'
                    ELSE format('with a column "%s" that is gone', before.user_column) END;
END
$$;
COMMENT ON FUNCTION dpquantile.change_users_column(dpquantile.protected_table, name, smallint, integer, name, regclass, integer) IS
  'before: the row of a protected table, locked; the others: its new user column, limits and reference. An error unless the old column, or the table that '
  'it referred to, is gone, or there was none.';

CREATE OR REPLACE FUNCTION dpquantile.notice_kept(before dpquantile.protected_table, max_rows integer, unit name, through regclass, max_groups integer) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  kept CONSTANT text := concat_ws(', ', 'max_rows ' || CASE WHEN notice_kept.max_rows IS NULL THEN before.max_rows END,
                                        'max_groups ' || CASE WHEN notice_kept.max_groups IS NULL THEN before.max_groups END,
                                        'unit ' || CASE WHEN notice_kept.unit IS NULL THEN before.unit END,
                                        'through ' || CASE WHEN notice_kept.through IS NULL THEN before.through END);
BEGIN
  IF kept <> '' THEN
    RAISE NOTICE '% keeps what is not named: %', before.relation, kept
      USING HINT = 'max_rows => 0, max_groups => 0 or unit => '''' takes one away.';
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.notice_kept(dpquantile.protected_table, integer, name, regclass, integer) IS
  'before: the row of a table that is protected again with the same persons; the others: the arguments of dp_protect_table. Tells what stays as it is.';

CREATE OR REPLACE FUNCTION dpquantile.wanted_protection(relation regclass, user_id name, max_rows integer, unit name, through regclass, max_groups integer)
  RETURNS dpquantile.protected_table
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := wanted_protection.relation;
  before dpquantile.protected_table;
  wanted dpquantile.protected_table;
BEGIN
  wanted.max_rows := nullif(wanted_protection.max_rows, 0);
  wanted.max_groups := nullif(wanted_protection.max_groups, 0);
  wanted.unit := nullif(wanted_protection.unit, '');
  wanted.through := wanted_protection.through;
  SELECT * INTO before FROM dpquantile.protected_table t WHERE t.relation = asked FOR UPDATE;
  IF before.user_column = wanted_protection.user_id
     AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = asked AND a.attnum = before.user_number AND a.attname = before.user_column AND NOT a.attisdropped)
     AND coalesce(wanted_protection.through, before.through) IS NOT DISTINCT FROM before.through AND before.through IS DISTINCT FROM 0
  THEN
    PERFORM dpquantile.notice_kept(before, wanted_protection.max_rows, wanted_protection.unit, wanted_protection.through, wanted_protection.max_groups);
    wanted.max_rows := nullif(coalesce(wanted_protection.max_rows, before.max_rows), 0);
    wanted.max_groups := nullif(coalesce(wanted_protection.max_groups, before.max_groups), 0);
    wanted.unit := nullif(coalesce(wanted_protection.unit, before.unit), '');
    wanted.through := before.through;
  END IF;
  RETURN wanted;
END
$$;
COMMENT ON FUNCTION dpquantile.wanted_protection(regclass, name, integer, name, regclass, integer) IS
  'The arguments of dp_protect_table. max_rows, unit, through and max_groups as they are wanted: what is NULL stays as it is where the table is protected with these persons already.';

CREATE OR REPLACE FUNCTION dpquantile.set_protection(relation regclass, user_id name, max_rows integer, unit name, through regclass, max_groups integer, caller oid) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := set_protection.relation;
  number smallint;
  before dpquantile.protected_table;
  wanted dpquantile.protected_table;
BEGIN
  PERFORM dpquantile.check_version();
  wanted := dpquantile.wanted_protection(asked, set_protection.user_id, set_protection.max_rows, set_protection.unit, set_protection.through, set_protection.max_groups);
  PERFORM dpquantile.check_protection(asked, set_protection.user_id, wanted.max_rows, wanted.unit, wanted.through, wanted.max_groups);
  number := dpquantile.number_of_users_column(asked, set_protection.user_id);
  PERFORM dpquantile.check_tables_with_same_rows(asked, set_protection.user_id, wanted.through);
  INSERT INTO dpquantile.protected_table (relation, user_column, max_rows, unit, through, max_groups)
  VALUES (asked, set_protection.user_id, wanted.max_rows, wanted.unit, wanted.through, wanted.max_groups)
  ON CONFLICT ON CONSTRAINT protected_table_pkey DO NOTHING;
  IF FOUND THEN
    -- Of rows that somebody has deleted from the table of protected tables
    DELETE FROM dpquantile.private_grant g WHERE g.relation = asked;
    DELETE FROM dpquantile.failed_read f WHERE f.relation = asked;
    DELETE FROM dpquantile.column_domain d WHERE d.relation = asked;
    PERFORM dpquantile.note_table_name(asked);
    PERFORM dpquantile.check_view(asked);
    RETURN;
  END IF;
  SELECT * INTO STRICT before FROM dpquantile.protected_table t WHERE t.relation = asked FOR UPDATE;
  IF (before.user_column, before.user_number, before.through) IS NOT DISTINCT FROM (set_protection.user_id, number, wanted.through) THEN
    PERFORM dpquantile.change_limits(before, wanted.max_rows, wanted.unit, wanted.max_groups);
  ELSE
    PERFORM dpquantile.change_users_column(before, set_protection.user_id, number, wanted.max_rows, wanted.unit,
                                           wanted.through, wanted.max_groups);
  END IF;
  PERFORM dpquantile.check_view(asked);
END
$$;

CREATE OR REPLACE FUNCTION dpquantile.check_not_referred_to(relation regclass) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  other regclass := (SELECT t.relation FROM dpquantile.protected_table t WHERE t.through = check_not_referred_to.relation ORDER BY t.relation LIMIT 1);
BEGIN
  IF other IS NOT NULL THEN
    RAISE EXCEPTION 'the protection of % cannot be ended: % is protected through it', check_not_referred_to.relation, other
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('End that first: SELECT dp_unprotect_table(%L).', other);
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.check_not_referred_to(regclass) IS
  'relation: of dp_unprotect_table. An error if another table is protected through it.';

CREATE OR REPLACE FUNCTION dpquantile.end_protection(relation regclass, caller oid) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM dpquantile.check_version();
  DELETE FROM dpquantile.protected_table t WHERE t.relation = end_protection.relation;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% is not protected', end_protection.relation
      USING ERRCODE = 'undefined_object', HINT = 'The view dp_protected_tables lists the protected tables.';
  END IF;
  -- Protected with other persons again, it would change whom the grants on the others protect. (check_reference locks its row.)
  PERFORM dpquantile.check_not_referred_to(end_protection.relation);
  DELETE FROM dpquantile.private_grant g WHERE g.relation = end_protection.relation;
  DELETE FROM dpquantile.failed_read f WHERE f.relation = end_protection.relation;
  DELETE FROM dpquantile.column_domain d WHERE d.relation = end_protection.relation;
END
$$;
COMMENT ON FUNCTION dpquantile.set_protection(regclass, name, integer, name, regclass, integer, oid) IS 'What dp_protect_table does for caller.';
COMMENT ON FUNCTION dpquantile.end_protection(regclass, oid) IS 'What dp_unprotect_table does for caller.';

CREATE OR REPLACE FUNCTION @extschema@.dp_protect_table(relation regclass, user_id name DEFAULT NULL, max_rows integer DEFAULT NULL,
                                              unit name DEFAULT NULL, through regclass DEFAULT NULL, max_groups integer DEFAULT NULL) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_protect_table';
COMMENT ON FUNCTION @extschema@.dp_protect_table(regclass, name, integer, name, regclass, integer) IS
  'Protects a table: a role that has private access to it (dp_grant_private_access), and no other right, may ask it exactly the '
  'queries whose answers are differentially private. Nothing changes for other roles. relation: a table, partitioned table, '
  'materialized view or view without row security; user_id: the column that identifies the person, if a person may have several rows; '
  'then only aggregates that protect all rows of a person are allowed, with this column as user_id (default: NULL, each row is '
  'protected); max_rows: how many rows of each person a SELECT sees, 1 to 1000, chosen at random; then all other aggregates except those '
  'with a delta are allowed, too, and answer with epsilon / max_rows for each row, so that all rows of a person are protected with '
  'epsilon (default: NULL, they are refused); unit: a name for what user_id names, such as patient: a query may join the tables '
  'of one owner with the same unit by these columns, and then sees as many rows of each person as one of the tables allows, and '
  'protects the rows of a person in all of them together (default: NULL, no such joins); through: a protected table of the same owner and unit '
  'to which user_id refers by a foreign key: the person of a row is that of the row that it refers to, as a line of an order is about the customer of '
  'the order (default: NULL, user_id identifies the person itself); max_groups: in how many groups of one answer '
  'a person may count, 1 to 1000: a number of persons by group, such as count(DISTINCT user_id) with GROUP BY, then counts each person '
  'in at most so many groups, chosen at random, and answers with epsilon / max_groups (default: NULL, max_rows). Where all keys of GROUP BY have public lists that '
  'make fewer groups, their number takes its place. Of a table that is protected already with this user_id, what is not named stays as it is; max_rows => 0, '
  'max_groups => 0 and unit => '''' take it away. For the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_unprotect_table(relation regclass) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_unprotect_table';
COMMENT ON FUNCTION @extschema@.dp_unprotect_table(regclass) IS
  'Ends the protection of a table, and all private access to it: then only roles with a right of their own may use it. relation: '
  'a protected table. For the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_learn_limits(relation regclass, epsilon float8, answer_epsilon float8 DEFAULT NULL, apply boolean DEFAULT true,
                                           OUT max_rows integer, OUT all_rows bigint, OUT rows_left_out bigint, OUT rows_left_out_error bigint,
                                           OUT noise_of_count float8, OUT applied boolean)
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_learn_limits';
COMMENT ON FUNCTION @extschema@.dp_learn_limits(regclass, float8, float8, boolean) IS
  'Finds max_rows of a table that protects persons, where a count of the rows loses as little as it can by the rows that are left out and by noise together, and publishes it: it becomes '
  'max_rows, as by dp_protect_table, and is public from then on. relation: a table that is protected with user_id; epsilon: what this costs each person of the table, 1e-6 to 1000, for every role, '
  'beside what the role spends: dp_budget, dp_protected_tables and dp_health show the sum of a table. Means need fewer rows of a person than counts: sessions may lower the limit for themselves (dpquantile.max_rows). '
  'What it costs is noted durably before anything is drawn, and stays noted after a rollback; answer_epsilon: what a count will '
  'cost; of answers with k groups, state a k-th of that (default: NULL, the smallest epsilon of the grants); apply: whether it becomes max_rows (default: true). Without, look at it, and call dp_protect_table; '
  'max_rows: NULL if the table has too few persons, some 30 / epsilon, which is an ordinary private answer; all_rows: about how many rows there are; rows_left_out: about how many of them max_rows leaves out, of persons '
  'with up to four times as many rows as others surely have; persons with far more rows than these, up to some 30 / epsilon of them, are in no number, and neither are their rows in an error; rows_left_out_error: the noise in it, in 95 of 100 calls; noise_of_count: the '
  'mean absolute noise of a count with this max_rows; applied: whether it is max_rows now. Grants and budgets stay as they are. For the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_learn_groups(relation regclass, column_name name, epsilon float8, answer_epsilon float8 DEFAULT NULL, apply boolean DEFAULT true,
                                           OUT max_groups integer, OUT all_groups bigint, OUT groups_left_out bigint, OUT groups_left_out_error bigint,
                                           OUT noise_of_count float8, OUT applied boolean)
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_learn_groups';
COMMENT ON FUNCTION @extschema@.dp_learn_groups(regclass, name, float8, float8, boolean) IS
  'Finds max_groups of a table that protects persons, where the numbers of persons by the keys of a column lose as little as they can, all together, by the groups in which persons are not counted and by noise, and publishes it: '
  'it becomes max_groups, as by dp_protect_table, and is public from then on. relation: a table that is protected with user_id; column_name: a column with a list of keys (dp_set_domain, dp_learn_keys), or of which queries list the values themselves: of boolean, of an enum, and of at most 1000 whole numbers or dates between bounds; epsilon: what this costs each '
  'person of the table, as of dp_learn_limits; answer_epsilon: what an answer will cost (default: NULL, the smallest epsilon of the grants); apply: whether it becomes max_groups (default: true), which then holds for groups by all keys of the table: '
  'of a person in more groups of an answer, such as months, only so many are counted; a max_groups that is the number of keys is not applied, as groups by this column need none; max_groups: at most the number of keys; NULL if the '
  'table has too few persons, some 30 / epsilon, which is an ordinary private answer; all_groups: about how many groups persons have in all, a person in three groups as three; groups_left_out, groups_left_out_error: about how many of these '
  'max_groups leaves out, and the noise in it, in 95 of 100 calls, both 0 if max_groups is the number of keys; noise_of_count: the mean absolute noise of the number of persons of one group with this max_groups; applied: whether it is max_groups now. For the owner of the table.';
