CREATE OR REPLACE FUNCTION dpquantile.check_private_terms(smallest_epsilon float8, epsilon float8, delta float8, reuse interval, most_cancels integer,
                                                          max_epsilon float8) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NOT coalesce(check_private_terms.smallest_epsilon > 0 AND check_private_terms.smallest_epsilon <= 100, false) THEN
    RAISE EXCEPTION 'smallest_epsilon must be above 0 and at most 100, got %',
                    coalesce(check_private_terms.smallest_epsilon::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'An aggregate with a smaller epsilon is refused. Leave it out for 0.01.';
  END IF;
  IF NOT coalesce(check_private_terms.epsilon >= check_private_terms.smallest_epsilon AND check_private_terms.epsilon <= 100, true) THEN
    RAISE EXCEPTION 'epsilon must be between smallest_epsilon (%) and 100, got %', check_private_terms.smallest_epsilon,
                    check_private_terms.epsilon
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'epsilon is what each standard aggregate costs, such as count(*). Without it only private aggregates may be asked.';
  END IF;
  IF check_private_terms.delta IS NOT NULL
     AND NOT (check_private_terms.delta > 0 AND check_private_terms.delta < 1 AND check_private_terms.epsilon IS NOT NULL) THEN
    RAISE EXCEPTION 'delta must be above 0 and below 1 and needs an epsilon, got delta % and epsilon %', check_private_terms.delta,
                    coalesce(check_private_terms.epsilon::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'delta is what the choice of groups costs, where the keys of GROUP BY come from the rows. It should be far below one '
                   'over the number of rows.';
  END IF;
  IF check_private_terms.reuse IS NOT NULL
     AND NOT coalesce(check_private_terms.reuse > '0' AND check_private_terms.reuse <= '10 years', false) THEN
    RAISE EXCEPTION 'reuse must be above 0 and at most 10 years, got %', check_private_terms.reuse
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'reuse is how long answers are shown again without a charge, for example ''1 day''.';
  END IF;
  IF NOT coalesce(check_private_terms.most_cancels >= 0, false) THEN
    RAISE EXCEPTION 'most_cancels must be 0 or more, got %', coalesce(check_private_terms.most_cancels::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'most_cancels is how many queries may end early while they read rows. Leave it out for 100.';
  END IF;
  IF NOT coalesce(check_private_terms.max_epsilon BETWEEN greatest(check_private_terms.smallest_epsilon, check_private_terms.epsilon) AND 1000, true) THEN
    RAISE EXCEPTION 'max_epsilon must be between % and 1000, got %',
                    greatest(check_private_terms.smallest_epsilon, check_private_terms.epsilon), check_private_terms.max_epsilon
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'An aggregate with a larger epsilon is refused, so it must be at least smallest_epsilon and epsilon. Leave it out if only budgets '
                   'limit it.';
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.check_private_terms(float8, float8, float8, interval, integer, float8) IS
  'The terms of dp_grant_private_access. An error for the first that no grant can have.';

CREATE OR REPLACE FUNCTION dpquantile.check_rights_of_grantee(asked regclass, grantee oid) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  own record;
BEGIN
  SELECT * INTO own FROM dpquantile.own_right(asked, grantee);
  IF own.reason IS NOT NULL THEN
    RAISE EXCEPTION 'role % cannot have private access to %: %', grantee::regrole, asked, own.reason
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'With this right it learns exact facts about the table without private queries.',
            HINT = coalesce('Take it away first: ' || own.remedy, 'Take it away first, or grant private access to another role.');
  END IF;
  SELECT * INTO own FROM dpquantile.rights_of_members(asked, grantee) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'role % cannot have private access to %: its member %', grantee::regrole, asked, own.member::regrole || substr(own.reason, 3)
      USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'With this right the member learns exact facts about the table without private queries.',
            HINT = coalesce('Take it away first: ' || own.remedy, 'Take it away first, or take the member from the role.');
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.check_rights_of_grantee(regclass, oid) IS
  'asked: a protected table; grantee: a role. An error if the role, or a member of it, learns exact facts about the table without private '
  'queries.';

CREATE OR REPLACE FUNCTION dpquantile.restrict_grantee(asked regclass, grantee oid, caller oid) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF (SELECT r.rolcanlogin FROM pg_roles r WHERE r.oid = grantee) AND NOT dpquantile.is_restricted(grantee) THEN
    IF NOT (SELECT r.rolsuper FROM pg_roles r WHERE r.oid = restrict_grantee.caller) THEN
      RAISE EXCEPTION 'role % cannot have private access to %: it is not restricted', grantee::regrole, asked
        USING ERRCODE = 'object_not_in_prerequisite_state',
              DETAIL = 'Its sessions could read exact facts about the table from statistics.',
              HINT = format('An administrator restricts it: SELECT dp_restrict_role(%L);', grantee::regrole);
    END IF;
    PERFORM @extschema@.dp_restrict_role(grantee::regrole);
    RAISE NOTICE 'role % is now restricted, in sessions that begin from now on', grantee::regrole
      USING HINT = 'dp_unrestrict_role takes it back, and closes private access.';
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.restrict_grantee(regclass, oid, oid) IS
  'What dp_grant_private_access does with a role that logs in and is not restricted: for a superuser it restricts the role, else it is an error.';

CREATE OR REPLACE FUNCTION dpquantile.tell_dropped_terms(asked regclass, grantee oid, smallest_epsilon float8, epsilon float8, delta float8,
                                                         reuse interval, most_cancels integer, max_epsilon float8) RETURNS void
  LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET intervalstyle = postgres
AS $$
#variable_conflict use_column
DECLARE
  had dpquantile.private_grant;
  dropped text;
BEGIN
  SELECT g.* INTO had FROM dpquantile.private_grant g JOIN pg_roles r ON r.oid = g.grantee_oid AND r.rolname = g.grantee
   WHERE g.relation = tell_dropped_terms.asked AND g.grantee_oid = tell_dropped_terms.grantee;
  dropped := concat_ws(', ', CASE WHEN tell_dropped_terms.epsilon IS NULL THEN 'epsilon ' || had.epsilon END,
                             CASE WHEN tell_dropped_terms.delta IS NULL THEN 'delta ' || had.delta END,
                             CASE WHEN tell_dropped_terms.reuse IS NULL THEN 'reuse ' || had.reuse END,
                             CASE WHEN tell_dropped_terms.max_epsilon IS NULL THEN 'max_epsilon ' || had.max_epsilon END,
                             -- A larger one may be meant as epsilon, which is not the first argument.
                             CASE WHEN tell_dropped_terms.smallest_epsilon > had.smallest_epsilon
                                       OR tell_dropped_terms.smallest_epsilon < had.smallest_epsilon AND tell_dropped_terms.smallest_epsilon = 0.01
                                  THEN 'smallest_epsilon ' || had.smallest_epsilon END,
                             CASE WHEN tell_dropped_terms.most_cancels = 100 THEN 'most_cancels ' || nullif(had.most_cancels, 100) END);
  IF dropped <> '' THEN
    RAISE NOTICE 'the private access of role % to % has lost what it had: %', tell_dropped_terms.grantee::regrole, tell_dropped_terms.asked, dropped
      USING HINT = 'A grant replaces the one before, with defaults for what it leaves out. Without epsilon plain SQL is refused, without delta keys '
                   'that have no public list, and without reuse each query is charged.';
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.tell_dropped_terms(regclass, oid, float8, float8, float8, interval, integer, float8) IS
  'asked: a protected table; grantee: a role; the others: of its new grant. A notice if the grant before had one of these, and the new one '
  'has not, or another smallest_epsilon or most_cancels that may not be meant.';

CREATE OR REPLACE FUNCTION dpquantile.set_private_grant(relation regclass, role regrole, smallest_epsilon float8, epsilon float8,
                                                        delta float8, reuse interval, most_cancels integer, max_epsilon float8, caller oid)
  RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  asked CONSTANT regclass := set_private_grant.relation;
  grantee pg_roles;
BEGIN
  PERFORM dpquantile.check_version();
  IF EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'citus') THEN
    RAISE EXCEPTION 'private access cannot be granted in a database with the extension citus'
      USING ERRCODE = 'feature_not_supported',
            DETAIL = 'The restrictions of the role would not hold on the workers.',
            HINT = 'Wrap a query in a function with SECURITY DEFINER, or keep the protected tables in a database without citus.';
  END IF;
  PERFORM FROM dpquantile.protected_table t WHERE t.relation = asked FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% is not protected', asked
      USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('Protect it first: SELECT dp_protect_table(%L);', asked);
  END IF;
  SELECT * INTO grantee FROM pg_roles r WHERE r.oid = set_private_grant.role;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role must be an existing role, got %', coalesce(set_private_grant.role::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Create it first: CREATE ROLE analyst LOGIN.';
  END IF;
  PERFORM dpquantile.check_private_terms(set_private_grant.smallest_epsilon, set_private_grant.epsilon, set_private_grant.delta,
                                         set_private_grant.reuse, set_private_grant.most_cancels, set_private_grant.max_epsilon);
  PERFORM dpquantile.check_rights_of_grantee(asked, grantee.oid);
  PERFORM dpquantile.restrict_grantee(asked, grantee.oid, set_private_grant.caller);
  PERFORM dpquantile.tell_dropped_terms(asked, grantee.oid, set_private_grant.smallest_epsilon, set_private_grant.epsilon, set_private_grant.delta,
                                        set_private_grant.reuse, set_private_grant.most_cancels, set_private_grant.max_epsilon);

  -- What was granted under an earlier name of the role is closed.
  DELETE FROM dpquantile.private_grant g
   WHERE g.relation = asked AND g.grantee_oid = grantee.oid AND g.grantee <> grantee.rolname;
  INSERT INTO dpquantile.private_grant AS g (relation, grantee, grantee_oid, smallest_epsilon, epsilon, delta, reuse, most_cancels,
                                             max_epsilon, granted_by)
  VALUES (asked, grantee.rolname, grantee.oid, set_private_grant.smallest_epsilon, set_private_grant.epsilon,
          set_private_grant.delta, set_private_grant.reuse, set_private_grant.most_cancels, set_private_grant.max_epsilon, (SELECT r.rolname FROM pg_roles r WHERE r.oid = set_private_grant.caller))
  ON CONFLICT ON CONSTRAINT private_grant_pkey DO UPDATE
     SET grantee_oid = excluded.grantee_oid, smallest_epsilon = excluded.smallest_epsilon, epsilon = excluded.epsilon,
         delta = excluded.delta, reuse = excluded.reuse, most_cancels = excluded.most_cancels, max_epsilon = excluded.max_epsilon,
         granted_at = excluded.granted_at, granted_by = excluded.granted_by;
  PERFORM dpquantile.grant_use(grantee.oid, set_private_grant.caller);
END
$$;

CREATE OR REPLACE FUNCTION dpquantile.end_private_grant(relation regclass, role text, caller oid) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  names CONSTANT text[] := parse_ident(end_private_grant.role);
BEGIN
  PERFORM dpquantile.check_version();
  DELETE FROM dpquantile.private_grant g
   WHERE g.relation = end_private_grant.relation AND names = ARRAY[g.grantee::text];
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role % has no private access to %', coalesce(end_private_grant.role, 'NULL'),
                    end_private_grant.relation
      USING ERRCODE = 'undefined_object', HINT = 'The view dp_protected_tables lists who has it.';
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION dpquantile.open_private_access(relation regclass, role regrole, caller oid) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM dpquantile.check_version();
  IF NOT EXISTS (SELECT FROM dpquantile.protected_table t WHERE t.relation = open_private_access.relation) THEN
    RAISE EXCEPTION '% is not protected', open_private_access.relation
      USING ERRCODE = 'undefined_object', HINT = 'The view dp_protected_tables lists the protected tables.';
  END IF;
  IF open_private_access.role IS NULL THEN
    RAISE EXCEPTION 'role must be an existing role, got NULL'
      USING ERRCODE = 'undefined_object',
            HINT = 'Column problem of dp_protected_tables names the role whose access is closed.';
  END IF;
  DELETE FROM dpquantile.failed_read f
   WHERE f.relation = open_private_access.relation AND f.grantee_oid = open_private_access.role;
  IF NOT FOUND THEN
    RAISE NOTICE 'no query of role % over % has ended early', open_private_access.role, open_private_access.relation
      USING HINT = 'Column problem of dp_protected_tables names the role whose access is closed.';
  END IF;
END
$$;
COMMENT ON FUNCTION dpquantile.open_private_access(regclass, regrole, oid) IS 'What dp_open_private_access does for caller.';
COMMENT ON FUNCTION dpquantile.set_private_grant(regclass, regrole, float8, float8, float8, interval, integer, float8, oid) IS 'What dp_grant_private_access does for caller.';
COMMENT ON FUNCTION dpquantile.end_private_grant(regclass, text, oid) IS 'What dp_revoke_private_access does for caller.';

CREATE OR REPLACE FUNCTION @extschema@.dp_grant_private_access(relation regclass, role regrole, smallest_epsilon float8 DEFAULT 0.01,
                                                     epsilon float8 DEFAULT NULL, delta float8 DEFAULT NULL,
                                                     reuse interval DEFAULT NULL, most_cancels integer DEFAULT 100,
                                                     max_epsilon float8 DEFAULT NULL)
  RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_grant_private_access';
COMMENT ON FUNCTION @extschema@.dp_grant_private_access(regclass, regrole, float8, float8, float8, interval, integer, float8) IS
  'Lets a role ask private queries of a protected table, in restricted sessions and within its budget. relation: a protected '
  'table; role: a role without any right on the table; one that logs in must be restricted (dp_restrict_role), which this '
  'function does itself for a superuser; not PUBLIC; members of a role have its private access; smallest_epsilon: an aggregate '
  'with a smaller epsilon is refused, above 0 and at most 100 (default: 0.01); epsilon: lets the role also ask standard aggregates, '
  'such as count(*) and avg(salary), each at this price (default: NULL, only private aggregates); delta: lets it group by keys '
  'that come from the rows, each query at epsilon and this delta more (default: NULL, only by public keys); reuse: how long the answers of a query are shown again, '
  'without a charge, when the role asks it once more (default: NULL, each query is charged); most_cancels: how many queries of the role may be cancelled, or '
  'run out of time or memory, while they read rows, before its private access closes until dp_open_private_access: each may tell one bit '
  '(default: 100); max_epsilon: an aggregate with a larger epsilon is refused, at least smallest_epsilon and epsilon and at most 1000; a rho counts as the '
  'epsilon of which it is half the square (default: NULL, only budgets limit it). A second grant to the role replaces the first; a notice tells what goes. '
  'The grant holds for this role: it is closed if the role is renamed, or dropped and made again. For the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_open_private_access(relation regclass, role regrole) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_open_private_access';
COMMENT ON FUNCTION @extschema@.dp_open_private_access(regclass, regrole) IS
  'Opens private access again that has closed because a query failed, or many were cancelled, while they read rows, and counts from 0. '
  'relation: a protected table; role: the role that asked (dp_protected_tables names it). Look first at the server log, which has the error: it may '
  'be raised by some rows only, and then each query that meets it tells its user one exact fact about them. For the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_forget_answers(relation regclass) RETURNS integer
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_forget_answers';
COMMENT ON FUNCTION @extschema@.dp_forget_answers(regclass) IS
  'Forgets all answers over a protected table that are kept for reuse (dp_grant_private_access), so that the next queries are charged. '
  'relation: a protected table. Returns the number of answers. For the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_revoke_private_access(relation regclass, role text) RETURNS void
  LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'dpq_revoke_private_access';
COMMENT ON FUNCTION @extschema@.dp_revoke_private_access(regclass, text) IS
  'Takes back what dp_grant_private_access has granted. relation: a protected table; role: the name of a role, as in SQL, also if '
  'the role is gone. For the owner of the table.';

CREATE OR REPLACE FUNCTION @extschema@.dp_revoke_private_access(relation regclass, role regrole) RETURNS void
  LANGUAGE sql VOLATILE
  BEGIN ATOMIC
    SELECT @extschema@.dp_revoke_private_access(dp_revoke_private_access.relation, dp_revoke_private_access.role::text);
  END;
COMMENT ON FUNCTION @extschema@.dp_revoke_private_access(regclass, regrole) IS
  'Takes back what dp_grant_private_access has granted. relation: a protected table; role: a role. For the owner of the table.';
