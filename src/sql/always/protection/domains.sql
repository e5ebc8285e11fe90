CREATE OR REPLACE FUNCTION dpquantile.set_domain(relation regclass, column_name name, column_type regtype, lower text, upper text,
                                      granularity text, keys text[]) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := set_domain.relation;
BEGIN
  PERFORM dpquantile.check_version();
  PERFORM FROM dpquantile.protected_table t WHERE t.relation = asked FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% is not protected', asked
      USING ERRCODE = 'undefined_object',
            HINT = format('Protect it first: SELECT dp_protect_table(%L);', asked);
  END IF;
  -- Of a column that has had another type, or is another one of the same name, all is forgotten.
  DELETE FROM dpquantile.column_domain d
   WHERE d.relation = asked AND d.column_name = set_domain.column_name
     AND (d.column_type <> set_domain.column_type
          OR d.column_number <> (SELECT a.attnum FROM pg_attribute a
                                  WHERE a.attrelid = asked AND a.attname = set_domain.column_name AND NOT a.attisdropped));
  INSERT INTO dpquantile.column_domain AS d (relation, column_name, column_type, lower, upper, granularity, keys)
  VALUES (asked, set_domain.column_name, set_domain.column_type, set_domain.lower, set_domain.upper, set_domain.granularity,
          set_domain.keys)
  ON CONFLICT ON CONSTRAINT column_domain_pkey DO UPDATE
     SET column_number = excluded.column_number,
         lower = CASE WHEN excluded.keys IS NULL THEN excluded.lower ELSE d.lower END,
         upper = CASE WHEN excluded.keys IS NULL THEN excluded.upper ELSE d.upper END,
         granularity = CASE WHEN excluded.keys IS NULL THEN excluded.granularity ELSE d.granularity END,
         keys = coalesce(excluded.keys, d.keys),
         other = CASE WHEN excluded.keys IS NULL THEN d.other END;
END
$$;

CREATE OR REPLACE FUNCTION dpquantile.set_other_key(relation regclass, column_name name, key text) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  PERFORM dpquantile.check_version();
  UPDATE dpquantile.column_domain d SET other = array_position(d.keys, set_other_key.key)
   WHERE d.relation = set_other_key.relation AND d.column_name = set_other_key.column_name;
END
$$;

CREATE OR REPLACE FUNCTION dpquantile.end_domain(relation regclass, column_name name) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  PERFORM dpquantile.check_version();
  DELETE FROM dpquantile.column_domain d
   WHERE d.relation = end_domain.relation AND d.column_name = end_domain.column_name;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'column "%" of % has no domain', coalesce(end_domain.column_name, 'NULL'), end_domain.relation
      USING ERRCODE = 'undefined_object', HINT = 'The view dp_protected_tables lists the domains.';
  END IF;
END
$$;

COMMENT ON FUNCTION dpquantile.set_domain(regclass, name, regtype, text, text, text, text[]) IS
  'What dp_set_domain does for the owner of the table. The texts are canonical. Bounds replace bounds, keys replace keys.';
COMMENT ON FUNCTION dpquantile.set_other_key(regclass, name, text) IS
  'What dp_set_other_key does for the owner of the table. The key is written as in the list.';
COMMENT ON FUNCTION dpquantile.end_domain(regclass, name) IS 'What dp_drop_domain does for the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_set_domain(relation regclass, column_name name, lower anycompatible, upper anycompatible,
                                           granularity text DEFAULT NULL) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_set_bounds';
COMMENT ON FUNCTION @extschema@.dp_set_domain(regclass, name, anycompatible, anycompatible, text) IS
  'States the publicly known bounds of a column of a protected table. Values outside count as the nearer bound. relation: a '
  'protected table; column_name: a column of numbers, dates or times; lower, upper: values of its type, lower below upper; '
  'granularity: the step of the values, a number or an interval above 0 (default: NULL, the default of the aggregate). The bounds '
  'are public: choose them without looking at the data. They replace the bounds that the column had. For the owner of the table.';
CREATE OR REPLACE FUNCTION @extschema@.dp_set_domain(relation regclass, column_name name, lower anycompatible, upper anycompatible,
                                           granularity float8) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_set_bounds';
COMMENT ON FUNCTION @extschema@.dp_set_domain(regclass, name, anycompatible, anycompatible, float8) IS
  'States the publicly known bounds of a column of a protected table. Values outside count as the nearer bound. relation: a '
  'protected table; column_name: a column of numbers or dates; lower, upper: values of its type, lower below upper; granularity: the '
  'step of the values, a number above 0 (of days, for dates). The bounds are public: choose them without looking at the data. They '
  'replace the bounds that the column had. For the owner of the table.';
CREATE OR REPLACE FUNCTION @extschema@.dp_set_domain(relation regclass, column_name name, lower anycompatible, upper anycompatible,
                                           granularity interval) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_set_bounds';
COMMENT ON FUNCTION @extschema@.dp_set_domain(regclass, name, anycompatible, anycompatible, interval) IS
  'States the publicly known bounds of a column of a protected table. Values outside count as the nearer bound. relation: a '
  'protected table; column_name: a column of dates or times; lower, upper: values of its type, lower below upper; granularity: the '
  'step of the values. The bounds are public: choose them without looking at the data. They replace the bounds that the column '
  'had. For the owner of the table.';
CREATE OR REPLACE FUNCTION @extschema@.dp_set_domain(relation regclass, column_name name, keys anycompatiblearray) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_set_keys';
COMMENT ON FUNCTION @extschema@.dp_set_domain(regclass, name, anycompatiblearray) IS
  'Lists the keys by which private queries may group a protected table. relation: a protected table; column_name: a column of a '
  'type with equality and order; keys: 1 to 100000 different values of its type (more than 1000 of a type that can be hashed); NULL may be one of them. Rows with other values are in no group. '
  'The list is public: choose it without looking at the data. It replaces the list that the column had. For the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_set_other_key(relation regclass, column_name name, key anycompatible) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_set_other_key';
COMMENT ON FUNCTION @extschema@.dp_set_other_key(regclass, name, anycompatible) IS
  'Has one key of a list stand for all values that the list lacks, so that each row is in a group. relation: a protected table; '
  'column_name: a column with a list of keys (dp_set_domain); key: one of the list, which may be NULL. A list that replaces this one '
  'has no such key. For the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_learn_domain(relation regclass, column_name name, epsilon float8, apply boolean DEFAULT true, granularity anycompatible DEFAULT NULL::text,
                                           OUT lower text, OUT upper text, OUT most_outside bigint, OUT applied boolean)
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_learn_domain';
COMMENT ON FUNCTION @extschema@.dp_learn_domain(regclass, name, float8, boolean, anycompatible) IS
  'Finds bounds of a column of a protected table and publishes them: they become its domain, as by dp_set_domain, and are public from then on. '
  'relation: a protected table; column_name: a column of numbers, dates or times; epsilon: what this costs each row or person of the table, 1e-6 to '
  '1000 (from 2e-6 on where the table protects persons), for every role, beside what the role spends: dp_budget, dp_protected_tables and dp_health show the sum of a table. It is noted durably '
  'before anything is drawn, and stays noted after a rollback; apply: whether the bounds become the domain (default: true). Without, look at them, '
  'round them, and call dp_set_domain; granularity: the step of the values, as of dp_set_domain, to whose multiples the bounds are rounded outwards (default: NULL, that of the aggregate); lower, upper: the bounds, NULL if the table has too few values, which is an ordinary private answer; most_outside: '
  'about how many values of each 64 neighbouring cells, such as a factor of 256, or 18 years or more of dates, may lie outside each bound at most (sparse ones far away; near the bounds a thirtieth of it). Values that are close to each other and far from 0 are looked at more closely, in cells that are at least 32 times as narrow, if there are enough of them. '
  'Values that are spread over more cells may be as many again in each 64; applied: whether they are the domain now; bounds that hold no '
  'values but 0 are not, and a notice says so, as it says which bounds they replace. Of a table that protects persons '
  'the least and the largest finite value of each person counts, whatever max_rows is. NULL, NaN and infinities are ignored: they count as the nearer bound later. For the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_learn_expected_error(epsilon float8, persons boolean DEFAULT false, OUT least_values bigint, OUT most_outside bigint)
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_learn_expected_error';
COMMENT ON FUNCTION @extschema@.dp_learn_expected_error(float8, boolean) IS
  'What to expect of dp_learn_domain before anything is spent. epsilon: as there; persons: whether the table protects persons, so that each of two values of a person has half of it (default: false); '
  'least_values: so many values near each other have bounds, as a rule; most_outside: the most that dp_learn_domain will show, after a closer look: about how many values of each 64 neighbouring cells may lie outside each bound at most. least_values '
  'is also the number of persons that dp_learn_limits needs, with persons false; for dp_learn_keys see dp_keep_group_rows. Reads no data and costs no budget.';

CREATE OR REPLACE FUNCTION @extschema@.dp_learn_keys(relation regclass, column_name name, epsilon float8, delta float8, apply boolean DEFAULT true,
                                         OUT keys text[], OUT number integer, OUT seldom_below bigint, OUT always_from bigint, OUT applied boolean)
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_learn_keys';
COMMENT ON FUNCTION @extschema@.dp_learn_keys(regclass, name, float8, float8, boolean) IS
  'Finds the keys of a column of a protected table and publishes them: they become its list, as by dp_set_domain, and are public from then on. So queries '
  'that group by the column show all of them, and choose none privately. relation: a protected table; column_name: a column that may have a list of keys; epsilon, delta: '
  'what this costs each row or person of the table, 1e-6 to 1000 and 1e-290 to 0.5, for every role, beside what the role spends: dp_budget, dp_protected_tables and dp_health show the sum of a '
  'table. They are noted durably before anything is drawn, and stay noted after a rollback; apply: whether the keys become the list (default: true). Without, look at them, '
  'and call dp_set_domain; keys, number: those that are found, in their order, and how many they are; seldom_below: a key of fewer rows, or persons, is found with a probability below 1/2; always_from: one of '
  'as many is always found; applied: whether they are the list now. A list has at most 100000 keys, and one that is not NULL, and a notice says if it is no list, and which list it replaces. Of a table that protects persons '
  'each person counts for one of the own keys, drawn at random. NULL is a key. A value of more than 64 kB is none. For the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_drop_domain(relation regclass, column_name name) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_drop_domain';
COMMENT ON FUNCTION @extschema@.dp_drop_domain(regclass, name) IS
  'Takes back the bounds and the keys that dp_set_domain has given a column. relation: a protected table; column_name: one of its '
  'columns. For the owner of the table.';

CREATE OR REPLACE VIEW dpquantile.column_domains WITH (security_barrier) AS
  SELECT d.relation, d.column_name,
         concat_ws('; ', d.lower || ' to ' || d.upper || coalesce(' by ' || d.granularity, ''),
                   CASE WHEN cardinality(d.keys) <= 20 THEN d.keys::text
                        WHEN d.keys IS NOT NULL THEN format('%s and so on, %s keys', trim_array(d.keys, cardinality(d.keys) - 20), cardinality(d.keys))
                   END,
                   CASE WHEN d.other IS NOT NULL THEN 'others as ' || coalesce(d.keys[d.other], 'NULL') END) AS domain,
         CASE WHEN a.attnum IS NULL THEN format('column "%s" is gone', d.column_name)
              WHEN a.atttypid <> d.column_type
                THEN format('column "%s" was of type %s when its domain was set', d.column_name, d.column_type) END AS problem
    FROM dpquantile.column_domain d
    LEFT JOIN pg_attribute a ON a.attrelid = d.relation AND a.attnum = d.column_number AND a.attname = d.column_name
                            AND NOT a.attisdropped;
COMMENT ON VIEW dpquantile.column_domains IS
  'What is publicly known of columns, to be read by people. problem: why it is not used, else NULL.';
