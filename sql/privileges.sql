-- The privileges on the extension's objects. Every object is documented.
\set SHOW_CONTEXT never
CREATE ROLE regress_dpq_analyst;
CREATE ROLE regress_dpq_owner;
CREATE SCHEMA AUTHORIZATION regress_dpq_analyst;
SELECT dp_grant_budget('regress_dpq_analyst', 1);

-- Since PostgreSQL 17 the row types of tables and the array types are members as well. They need no comment.
CREATE TEMP VIEW implied_types AS
  SELECT t.oid FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
   WHERE typsubscript = 'array_subscript_handler'::regproc OR relkind <> 'c';
CREATE TEMP VIEW members AS
  SELECT classid::regclass AS catalog, objid, pg_describe_object(classid, objid, 0) AS description,
         obj_description(objid, classid::regclass::name) AS comment
    FROM pg_depend
   WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
     AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'dpquantile')
     AND (classid <> 'pg_type'::regclass OR objid NOT IN (SELECT oid FROM implied_types));
CREATE TEMP VIEW functions AS SELECT * FROM members JOIN pg_proc p ON catalog = 'pg_proc'::regclass AND objid = p.oid;
CREATE TEMP VIEW relations AS SELECT * FROM members JOIN pg_class c ON catalog = 'pg_class'::regclass AND objid = c.oid;

-- Every object has a comment. The comment of an aggregate states its charge. The comment of each function that
-- users call explains all arguments.
SELECT catalog, count(*) > 0 AS some FROM members GROUP BY catalog ORDER BY catalog::text COLLATE "C";
SELECT description AS without_comment FROM members WHERE coalesce(comment, '') = '';
SELECT count(*) > 0 AS aggregates, bool_and(comment ~ '\mPrivacy:') AS privacy,
       bool_and(comment ~ 'adding( or removing|, removing or replacing) one (row|person)') AS neighbours,
       bool_and(comment ~ 'charged') AS charge
  FROM functions WHERE prokind = 'a' AND proname NOT LIKE 'dp\_user\_%' AND proname NOT LIKE 'topn\_%' AND proname <> 'of_person';
SELECT count(*) > 0 AS aggregates, bool_and(comment ~ '\mPrivacy:') AS privacy,
       bool_and(comment ~ 'replacing the values of one person') AS neighbours, bool_and(comment ~ '\mpublic\M') AS public,
       bool_and(comment ~ 'WHERE, FILTER') AS conditions, bool_and(comment ~ 'charged for\s+each group') AS charge,
       bool_and(comment ~ '\mbounded\M') FILTER (WHERE proname <> 'dp_user_grid_stats') AS bounded
  FROM functions WHERE prokind = 'a' AND proname LIKE 'dp\_user\_%';
SELECT description AS unnamed_arguments FROM functions
 WHERE pronamespace <> 'dpquantile'::regnamespace
   AND coalesce(array_length(proargnames, 1), 0) <> coalesce(array_length(proallargtypes, 1), pronargs);
SELECT description, argument AS not_explained FROM functions, unnest(proargnames) argument
 WHERE pronamespace <> 'dpquantile'::regnamespace AND comment !~ ('\m' || argument || '\M');

-- Long functions are cut by subject.
SELECT proname AS too_long FROM functions WHERE array_length(string_to_array(prosrc, E'\n'), 1) > 45;

-- Every role may call the aggregates, dp_options, dp_budget_fits, dp_iqr_min_rows and the functions for expected
-- errors, ask a released CDF, protect its own tables, and read the three views. (The views and dp_budget_fits call eighteen of
-- the other functions and the type dp_cdf four.) Every role may call the two functions and the aggregate that answer NULL where
-- PostgreSQL's fail, those for lists beside protected rows, and those for distributed tables, which tell
-- what their caller may read.
SELECT count(*) > 0 AS aggregates, bool_and(has_function_privilege('regress_dpq_analyst', objid, 'EXECUTE')) AS execute,
       bool_or(prosecdef) AS definer
  FROM functions WHERE prokind = 'a';
SELECT proname, count(*) FROM functions WHERE has_function_privilege('regress_dpq_analyst', objid, 'EXECUTE')
    AND prokind <> 'a'
 GROUP BY proname ORDER BY proname COLLATE "C";
SELECT relname, privilege
  FROM relations, unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) privilege
 WHERE has_table_privilege('regress_dpq_analyst', objid, privilege) ORDER BY relname COLLATE "C";
SELECT has_schema_privilege('regress_dpq_analyst', 'dpquantile', 'USAGE') AS usage,
       has_schema_privilege('regress_dpq_analyst', 'dpquantile', 'CREATE') AS "create";
-- A function that runs as its owner has a fixed search_path. A view is a security barrier.
SELECT proname, proconfig FROM functions WHERE prosecdef ORDER BY proname COLLATE "C";
SELECT relname, reloptions FROM relations WHERE relkind = 'v' ORDER BY relname COLLATE "C";
-- The final functions change the state, so the aggregates cannot be window functions or share a state. All private ones
-- support partial aggregation. (What Citus calls gives states, and has no final function.)
SELECT DISTINCT proname = 'of_person' AS of_person, aggkind, aggfinalmodify, aggcombinefn <> 0 AS combines, aggmfinalfn <> 0 AS moves, proparallel
  FROM functions JOIN pg_aggregate ON objid = aggfnoid WHERE proname NOT LIKE 'topn\_%';
SELECT proname, aggfinalfn, aggcombinefn FROM functions JOIN pg_aggregate ON objid = aggfnoid WHERE proname LIKE 'topn\_%'
 ORDER BY proname COLLATE "C";

SET ROLE regress_dpq_analyst;
-- An analyst cannot read or change the tables of budgets and charges.
SELECT * FROM dpquantile.budget;
SELECT * FROM dpquantile.ledger;
SELECT * FROM dpquantile.query_text;
UPDATE dpquantile.budget SET epsilon_spent = 0;
DELETE FROM dpquantile.ledger;
UPDATE dp_budget SET accountant = 'none';
DELETE FROM dp_budget;
INSERT INTO dp_ledger (role) VALUES ('regress_dpq_analyst');
-- threat 6: an analyst cannot lock them.
SELECT * FROM dp_budget FOR KEY SHARE;
BEGIN;
LOCK TABLE dp_budget IN ROW SHARE MODE;
ROLLBACK;
ALTER TABLE dpquantile.budget DISABLE TRIGGER ALL;
-- An analyst cannot read or choose the key of the user hashes.
SELECT * FROM dpquantile.user_key;
UPDATE dpquantile.user_key SET key = '\x00';
DROP EXTENSION dpquantile;
SELECT dp_grant_budget('regress_dpq_analyst', 1000);
SELECT dp_revoke_budget('regress_dpq_analyst');
CREATE FUNCTION dpquantile.mine() RETURNS int LANGUAGE sql RETURN 1;

-- threat 15: an analyst cannot call the support functions or build aggregates from them.
SELECT dpquantile.quantiles_final(NULL, 1, '{0.5}', 1, 0, 1);
SELECT dpquantile.quantiles_transition(NULL, 1::float8, '{0.5}', 0.1, 0, 1);
SELECT dpquantile.cdf_final(NULL);
SELECT dpquantile.cdf_transition(NULL, 1::float8, 0.1, 0, 1);
SELECT dpquantile.iqr_final(NULL);
SELECT dpquantile.iqr_transition(NULL, 1::float8, 0.1, 1e-6);
SELECT dpquantile.user_mean_final(NULL);
SELECT dpquantile.user_mean_transition(NULL, 1, 1::float8, 0.1, 0, 1);
SELECT dpquantile.user_grids_final(NULL);
SELECT '\x00'::dpquantile.records_state;
CREATE AGGREGATE thief (float8, float8, float8, float8) (
  SFUNC = dpquantile.median_transition, STYPE = dpquantile.records_state);
RESET ROLE;
-- USAGE on the schema does not help.
GRANT USAGE ON SCHEMA dpquantile TO regress_dpq_analyst;
SET ROLE regress_dpq_analyst;
SELECT dpquantile.quantiles_final(NULL, 1, '{0.5}', 1, 0, 1);
SELECT dpquantile.quantiles_transition(NULL, 1::float8, '{0.5}', 0.1, 0, 1);
SELECT dpquantile.cdf_final(NULL);
SELECT dpquantile.cdf_transition(NULL, 1::float8, 0.1, 0, 1);
SELECT dpquantile.iqr_final(NULL);
SELECT dpquantile.iqr_transition(NULL, 1::float8, 0.1, 1e-6);
SELECT * FROM dpquantile.user_key;
SELECT dpquantile.user_mean_final(NULL);
SELECT dpquantile.user_mean_transition(NULL, 1, 1::float8, 0.1, 0, 1);
SELECT dpquantile.user_variance_transition(NULL, 'a'::text, 1::numeric, 0.1, 0, 1, '{}');
SELECT dpquantile.user_grids_final(NULL);
SELECT dpquantile.records_state_in('\x00');
CREATE AGGREGATE thief (float8, float8, float8, float8) (
  SFUNC = dpquantile.median_transition, STYPE = dpquantile.records_state);
CREATE FUNCTION thief(internal) RETURNS float8 LANGUAGE c AS '$libdir/dpquantile', 'dpq_quantile_final';
RESET ROLE;
REVOKE USAGE ON SCHEMA dpquantile FROM regress_dpq_analyst;
SELECT epsilon_spent FROM dp_budget WHERE role = 'regress_dpq_analyst';

-- An owner of tables without superuser rights can get the right to grant budgets, and gets no other right with it.
GRANT EXECUTE ON FUNCTION dp_grant_budget(regrole, float8, float8, text, float8, text, interval, regclass, float8), dp_revoke_budget(regrole) TO regress_dpq_owner;
SET ROLE regress_dpq_owner;
SELECT dp_grant_budget('regress_dpq_analyst', 2);
SELECT count(*) AS budgets FROM dp_budget;
SELECT * FROM dpquantile.budget;
SET ROLE regress_dpq_analyst;
SELECT epsilon_limit FROM dp_budget;
RESET ROLE;

DROP OWNED BY regress_dpq_analyst, regress_dpq_owner;
DROP ROLE regress_dpq_analyst, regress_dpq_owner;
