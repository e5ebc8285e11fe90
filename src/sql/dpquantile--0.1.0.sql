\echo Use "CREATE EXTENSION dpquantile" to load this file. \quit

-- Names mean what they mean in pg_catalog: nobody's operator in the schema chosen by CREATE EXTENSION
-- gets into this script or into what it defines.
SET LOCAL search_path = pg_catalog, pg_temp;

-- Tables, the aggregates' state type and support functions live here; what users call is created in
-- the schema chosen by CREATE EXTENSION.
CREATE SCHEMA dpquantile;
COMMENT ON SCHEMA dpquantile IS
  'Internals of the dpquantile extension: budget and ledger tables, aggregate support.';

-- ---------------------------------------------------------------------------------------------
-- The budget
-- ---------------------------------------------------------------------------------------------

CREATE TABLE dpquantile.budget (
  role          regrole NOT NULL PRIMARY KEY,
  budget_id     uuid    NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  epsilon_limit numeric NOT NULL CHECK (epsilon_limit >= 0 AND epsilon_limit < 'Infinity'),
  epsilon_spent numeric NOT NULL DEFAULT 0 CHECK (epsilon_spent >= 0 AND epsilon_spent < 'Infinity'),
  delta_limit   numeric NOT NULL CHECK (delta_limit >= 0 AND delta_limit < 1),
  delta_spent   numeric NOT NULL DEFAULT 0 CHECK (delta_spent >= 0 AND delta_spent < 'Infinity'),
  accountant    text    NOT NULL DEFAULT 'pure' CHECK (accountant IN ('pure')),
  revoked       boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE dpquantile.budget IS
  'The privacy budget of each role. Changed by dp_grant_budget, dp_revoke_budget and the charge '
  'worker only; what is spent never goes down.';

CREATE TABLE dpquantile.ledger (
  charge_id         uuid        NOT NULL PRIMARY KEY DEFAULT gen_random_uuid(),
  charged_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  budget_id         uuid        NOT NULL,
  role_name         name        NOT NULL,
  session_role_name name        NOT NULL,
  function          name        NOT NULL,
  mechanism         text        NOT NULL,
  neighbours        text        NOT NULL,
  epsilon           numeric     NOT NULL,
  delta             numeric     NOT NULL,
  grouping_sets     integer     NOT NULL,
  groups            integer,
  query             text
);
CREATE INDEX ledger_budget_id ON dpquantile.ledger (budget_id, charged_at);
COMMENT ON TABLE dpquantile.ledger IS 'One row for each charge, written in the charge''s transaction.';

-- A dump carries the spending along. Budgets of dropped roles stay behind: their numbers could name
-- another role in the cluster that is restored to.
SELECT pg_catalog.pg_extension_config_dump(
  'dpquantile.budget', 'WHERE role IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_catalog.pg_extension_config_dump('dpquantile.ledger', '');

REVOKE ALL ON dpquantile.budget, dpquantile.ledger FROM PUBLIC;

CREATE FUNCTION dpquantile.charged_role() RETURNS oid
  LANGUAGE C STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'dpq_charged_role';
COMMENT ON FUNCTION dpquantile.charged_role() IS
  'The role whose budget this session spends: the session user or the role of SET ROLE, never the '
  'owner of a SECURITY DEFINER function. Tells nothing about any data.';

CREATE FUNCTION dpquantile.sees_all_budgets() RETURNS boolean
  LANGUAGE sql STABLE PARALLEL RESTRICTED
  BEGIN ATOMIC
    SELECT pg_catalog.pg_has_role(current_user, e.extowner, 'USAGE')
      FROM pg_catalog.pg_extension e WHERE e.extname = 'dpquantile';
  END;
COMMENT ON FUNCTION dpquantile.sees_all_budgets() IS
  'Whether the current user is (a member of) the owner of the extension. Tells nothing about any data.';

CREATE FUNCTION dpquantile.decimal(value float8) RETURNS numeric
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_decimal';
COMMENT ON FUNCTION dpquantile.decimal(float8) IS
  'value: any number. The shortest decimal that reads back as the same float8: what a charge of that '
  'epsilon adds to the spending. Tells nothing about any data.';

CREATE VIEW @extschema@.dp_budget WITH (security_barrier) AS
  SELECT b.role,
         trim_scale(b.epsilon_limit) AS epsilon_limit,
         trim_scale(b.epsilon_spent) AS epsilon_spent,
         trim_scale(greatest(b.epsilon_limit - b.epsilon_spent, 0)) AS epsilon_remaining,
         trim_scale(b.delta_limit) AS delta_limit,
         trim_scale(b.delta_spent) AS delta_spent,
         trim_scale(greatest(b.delta_limit - b.delta_spent, 0)) AS delta_remaining,
         b.accountant
    FROM dpquantile.budget b
   WHERE NOT b.revoked
     AND (b.role = dpquantile.charged_role() OR dpquantile.sees_all_budgets());
COMMENT ON VIEW @extschema@.dp_budget IS
  'Privacy budgets: limit, spent and remaining (epsilon, delta) under the accountant. A role sees its '
  'own budget, the owner of the extension all. Shows charges only; how many there were can depend on '
  'the data that a query ran on (docs/privacy.md).';

CREATE VIEW @extschema@.dp_ledger WITH (security_barrier) AS
  SELECT l.charged_at,
         l.role_name AS role,
         l.session_role_name AS session_role,
         l.function,
         l.mechanism,
         l.neighbours,
         trim_scale(l.epsilon) AS epsilon,
         trim_scale(l.delta) AS delta,
         l.grouping_sets,
         l.groups,
         l.query
    FROM dpquantile.ledger l
   WHERE dpquantile.sees_all_budgets()
      OR EXISTS (SELECT FROM dpquantile.budget b
                  WHERE b.budget_id = l.budget_id
                    AND b.role = dpquantile.charged_role());
COMMENT ON VIEW @extschema@.dp_ledger IS
  'One row for each charge: when, role, session role, function, mechanism, neighbour relation, epsilon '
  'and delta charged (for all grouping sets), number of grouping sets, number of groups (1 without '
  'GROUP BY; NULL with GROUP BY, where it would depend on the data), text of the query. A role sees '
  'its own charges, the owner of the extension all.';

GRANT SELECT ON @extschema@.dp_budget, @extschema@.dp_ledger TO PUBLIC;

CREATE FUNCTION @extschema@.dp_grant_budget(role regrole, epsilon float8, delta float8 DEFAULT 0) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  grantee CONSTANT regrole := dp_grant_budget.role;
BEGIN
  IF grantee IS NULL OR NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = grantee) THEN
    RAISE EXCEPTION 'role must be an existing role, got %', coalesce(grantee::text, 'NULL')
      USING ERRCODE = 'undefined_object', HINT = 'Create it first: CREATE ROLE analyst LOGIN.';
  END IF;
  IF NOT coalesce(dp_grant_budget.epsilon > 0 AND dp_grant_budget.epsilon < 'Infinity', false) THEN
    RAISE EXCEPTION 'epsilon must be a positive finite number, got %', coalesce(dp_grant_budget.epsilon::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'To take a budget away, use dp_revoke_budget.';
  END IF;
  IF NOT coalesce(dp_grant_budget.delta >= 0 AND dp_grant_budget.delta < 1, false) THEN
    RAISE EXCEPTION 'delta must be at least 0 and less than 1, got %', coalesce(dp_grant_budget.delta::text, 'NULL')
      USING ERRCODE = 'invalid_parameter_value',
            HINT = 'A useful delta is far below one over the number of rows, or 0.';
  END IF;
  -- A new row starts with what the ledger says was spent under this name: the row may have been lost
  -- by a restore in which roles were missing, or the role dropped and created again.
  INSERT INTO dpquantile.budget AS b (role, epsilon_limit, epsilon_spent, delta_limit, delta_spent)
  SELECT grantee,
         dpquantile.decimal(dp_grant_budget.epsilon), coalesce(sum(l.epsilon), 0),
         dpquantile.decimal(dp_grant_budget.delta), coalesce(sum(l.delta), 0)
    FROM dpquantile.ledger l
   WHERE l.role_name = (SELECT r.rolname FROM pg_roles r WHERE r.oid = grantee)
  ON CONFLICT ON CONSTRAINT budget_pkey
  DO UPDATE SET epsilon_limit = excluded.epsilon_limit, delta_limit = excluded.delta_limit, revoked = false;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_grant_budget(regrole, float8, float8) IS
  'Sets the limit of a role''s privacy budget. role: whom; epsilon: total limit, positive; delta: total '
  'limit, 0 or more and below 1 (no function of this version spends any). What the role has spent '
  'already stays spent, also if it was dropped and created again under its name. For the data owner: '
  'the limit is the privacy loss that all answers to the role together may reach.';

CREATE FUNCTION @extschema@.dp_revoke_budget(role regrole) RETURNS void
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  UPDATE dpquantile.budget AS b SET revoked = true
   WHERE b.role = dp_revoke_budget.role AND NOT b.revoked;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'role % has no privacy budget', coalesce(dp_revoke_budget.role::text, 'NULL')
      USING ERRCODE = 'undefined_object',
            HINT = 'The view dp_budget lists the budgets.';
  END IF;
END
$$;
COMMENT ON FUNCTION @extschema@.dp_revoke_budget(regrole) IS
  'Takes a role''s privacy budget away: it gets no more private answers. role: whose. What it has spent '
  'is kept, and counts again if a budget is granted later.';

REVOKE EXECUTE ON FUNCTION @extschema@.dp_grant_budget(regrole, float8, float8),
                           @extschema@.dp_revoke_budget(regrole) FROM PUBLIC;

-- ---------------------------------------------------------------------------------------------
-- Options
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION @extschema@.dp_options(method text DEFAULT 'approximate', granularity float8 DEFAULT NULL)
  RETURNS jsonb
  LANGUAGE C IMMUTABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_options';
COMMENT ON FUNCTION @extschema@.dp_options(text, float8) IS
  'Builds and checks the options argument of the private aggregates. method: the mechanism, '
  '''approximate'' (the default); granularity: the step between possible answers, for example 1 for '
  'whole numbers or 0.01 for cents (default: 2^20 cells from lower to upper). Options are public and '
  'cost no budget.';

-- ---------------------------------------------------------------------------------------------
-- Quantiles: state and support functions
-- ---------------------------------------------------------------------------------------------

CREATE TYPE dpquantile.quantiles_state;

CREATE FUNCTION dpquantile.quantiles_state_in(cstring) RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_in';
CREATE FUNCTION dpquantile.quantiles_state_out(dpquantile.quantiles_state) RETURNS cstring
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_out';
CREATE FUNCTION dpquantile.quantiles_state_recv(internal) RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_recv';
CREATE FUNCTION dpquantile.quantiles_state_send(dpquantile.quantiles_state) RETURNS bytea
  LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_state_send';

CREATE TYPE dpquantile.quantiles_state (
  INPUT = dpquantile.quantiles_state_in,
  OUTPUT = dpquantile.quantiles_state_out,
  RECEIVE = dpquantile.quantiles_state_recv,
  SEND = dpquantile.quantiles_state_send,
  INTERNALLENGTH = VARIABLE,
  ALIGNMENT = double,
  STORAGE = plain
);
COMMENT ON TYPE dpquantile.quantiles_state IS
  'Internal state of the quantile aggregates. Holds exact data: never to be shown to an analyst.';

CREATE FUNCTION dpquantile.quantiles_combine(dpquantile.quantiles_state, dpquantile.quantiles_state)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_combine';
CREATE FUNCTION dpquantile.quantiles_final(dpquantile.quantiles_state) RETURNS float8[]
  LANGUAGE C VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dpq_quantiles_final';
CREATE FUNCTION dpquantile.quantile_final(dpquantile.quantiles_state) RETURNS float8
  LANGUAGE C VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'dpq_quantile_final';

-- ---------------------------------------------------------------------------------------------
-- Quantiles: the aggregates, for float8 and for numeric values (a numeric beyond float8 is clamped
-- like any other value; an implicit cast would raise an error that depends on the data)
-- ---------------------------------------------------------------------------------------------

CREATE FUNCTION dpquantile.quantiles_transition(dpquantile.quantiles_state, float8, float8[], float8, float8, float8)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_quantiles(value float8, quantiles float8[], epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.quantiles_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantiles_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantiles(float8, float8[], float8, float8, float8) IS
'Differentially private quantiles. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
quantiles: 1 to 4096 numbers from 0 to 1, in any order.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments but value must be constant.';

CREATE FUNCTION dpquantile.quantiles_transition(dpquantile.quantiles_state, float8, float8[], float8, float8, float8, jsonb)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_quantiles(value float8, quantiles float8[], epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.quantiles_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantiles_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantiles(float8, float8[], float8, float8, float8, jsonb) IS
'Differentially private quantiles. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
quantiles: 1 to 4096 numbers from 0 to 1, in any order.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
options: built by dp_options().
All arguments but value must be constant.';

CREATE FUNCTION dpquantile.quantiles_transition(dpquantile.quantiles_state, numeric, float8[], float8, float8, float8)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition_numeric';
CREATE AGGREGATE @extschema@.dp_quantiles(value numeric, quantiles float8[], epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.quantiles_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantiles_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantiles(numeric, float8[], float8, float8, float8) IS
'Differentially private quantiles. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
quantiles: 1 to 4096 numbers from 0 to 1, in any order.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments but value must be constant.';

CREATE FUNCTION dpquantile.quantiles_transition(dpquantile.quantiles_state, numeric, float8[], float8, float8, float8, jsonb)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition_numeric';
CREATE AGGREGATE @extschema@.dp_quantiles(value numeric, quantiles float8[], epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.quantiles_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantiles_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantiles(numeric, float8[], float8, float8, float8, jsonb) IS
'Differentially private quantiles. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
quantiles: 1 to 4096 numbers from 0 to 1, in any order.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
options: built by dp_options().
All arguments but value must be constant.';

CREATE FUNCTION dpquantile.quantile_transition(dpquantile.quantiles_state, float8, float8, float8, float8, float8)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_quantile(value float8, quantile float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.quantile_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(float8, float8, float8, float8, float8) IS
'Differentially private quantile. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
quantile: a number from 0 to 1; 0.5 is the median.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments but value must be constant.';

CREATE FUNCTION dpquantile.quantile_transition(dpquantile.quantiles_state, float8, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_quantile(value float8, quantile float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.quantile_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(float8, float8, float8, float8, float8, jsonb) IS
'Differentially private quantile. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
quantile: a number from 0 to 1; 0.5 is the median.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
options: built by dp_options().
All arguments but value must be constant.';

CREATE FUNCTION dpquantile.quantile_transition(dpquantile.quantiles_state, numeric, float8, float8, float8, float8)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition_numeric';
CREATE AGGREGATE @extschema@.dp_quantile(value numeric, quantile float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.quantile_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(numeric, float8, float8, float8, float8) IS
'Differentially private quantile. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
quantile: a number from 0 to 1; 0.5 is the median.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments but value must be constant.';

CREATE FUNCTION dpquantile.quantile_transition(dpquantile.quantiles_state, numeric, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition_numeric';
CREATE AGGREGATE @extschema@.dp_quantile(value numeric, quantile float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.quantile_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_quantile(numeric, float8, float8, float8, float8, jsonb) IS
'Differentially private quantile. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
quantile: a number from 0 to 1; 0.5 is the median.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
options: built by dp_options().
All arguments but value must be constant.';

CREATE FUNCTION dpquantile.median_transition(dpquantile.quantiles_state, float8, float8, float8, float8)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_median(value float8, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.median_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(float8, float8, float8, float8) IS
'Differentially private median. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments but value must be constant.';

CREATE FUNCTION dpquantile.median_transition(dpquantile.quantiles_state, float8, float8, float8, float8, jsonb)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition';
CREATE AGGREGATE @extschema@.dp_median(value float8, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.median_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(float8, float8, float8, float8, jsonb) IS
'Differentially private median. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
options: built by dp_options().
All arguments but value must be constant.';

CREATE FUNCTION dpquantile.median_transition(dpquantile.quantiles_state, numeric, float8, float8, float8)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition_numeric';
CREATE AGGREGATE @extschema@.dp_median(value numeric, epsilon float8, lower float8, upper float8) (
  SFUNC = dpquantile.median_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(numeric, float8, float8, float8) IS
'Differentially private median. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
All arguments but value must be constant.';

CREATE FUNCTION dpquantile.median_transition(dpquantile.quantiles_state, numeric, float8, float8, float8, jsonb)
  RETURNS dpquantile.quantiles_state
  LANGUAGE C IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_quantiles_transition_numeric';
CREATE AGGREGATE @extschema@.dp_median(value numeric, epsilon float8, lower float8, upper float8, options jsonb) (
  SFUNC = dpquantile.median_transition,
  STYPE = dpquantile.quantiles_state,
  SSPACE = 256,
  FINALFUNC = dpquantile.quantile_final,
  FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = dpquantile.quantiles_combine,
  PARALLEL = SAFE
);
COMMENT ON AGGREGATE @extschema@.dp_median(numeric, float8, float8, float8, jsonb) IS
'Differentially private median. Answers lie on a public grid; an empty input gets an ordinary noisy answer.
Privacy: epsilon-differentially private for adding or removing one row. epsilon is the total
  charged, once for all groups of a GROUP BY (times the number of grouping sets).
value: the column. NULL and NaN are ignored, values outside the bounds count as the nearer bound.
epsilon: privacy parameter, 1e-6 to 1000; smaller is more private.
lower, upper: public bounds of the values.
options: built by dp_options().
All arguments but value must be constant.';

-- ---------------------------------------------------------------------------------------------
-- Support functions are for the aggregates only: anyone else could build aggregates of their own
-- from them and read the state.
-- ---------------------------------------------------------------------------------------------

DO $$
DECLARE
  support regprocedure;
BEGIN
  FOR support IN
    SELECT p.oid FROM pg_catalog.pg_proc p
     WHERE p.pronamespace = 'dpquantile'::regnamespace
       AND p.proname NOT IN ('charged_role', 'sees_all_budgets')
  LOOP
    EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', support);
    IF pg_catalog.obj_description(support, 'pg_proc') IS NULL THEN
      EXECUTE pg_catalog.format(
        'COMMENT ON FUNCTION %s IS %L', support,
        'Support function of the private quantile aggregates. Handles exact data, gives no privacy by '
        'itself, and cannot be called directly.');
    END IF;
  END LOOP;
END
$$;
