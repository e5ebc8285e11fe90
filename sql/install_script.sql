-- The install script runs as a superuser in a schema where other roles may have created objects. Neither the
-- script nor the objects that it defines may use them.
CREATE DATABASE regress_dpq_install;
CREATE ROLE regress_dpq_mallory;
SELECT current_database() AS regression \gset
\connect regress_dpq_install
GRANT CREATE ON SCHEMA public TO regress_dpq_mallory;
SET ROLE regress_dpq_mallory;
-- Operators that match expressions of the script better than pg_catalog's own operators
CREATE FUNCTION take_over() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    ALTER ROLE regress_dpq_mallory SUPERUSER;
  END IF;
  RETURN true;
END
$$;
CREATE FUNCTION compare(numeric, integer) RETURNS boolean LANGUAGE sql AS 'SELECT public.take_over()';
CREATE FUNCTION compare(oid, regnamespace) RETURNS boolean LANGUAGE sql AS 'SELECT public.take_over()';
CREATE FUNCTION compare(regrole, oid) RETURNS boolean LANGUAGE sql AS 'SELECT public.take_over()';
CREATE FUNCTION compare(name, text) RETURNS boolean LANGUAGE sql AS 'SELECT public.take_over()';
CREATE FUNCTION minus(numeric, numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 1e6 WHERE public.take_over()';
CREATE OPERATOR >= (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = compare);
CREATE OPERATOR < (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = compare);
CREATE OPERATOR = (LEFTARG = oid, RIGHTARG = regnamespace, FUNCTION = compare);
CREATE OPERATOR = (LEFTARG = regrole, RIGHTARG = oid, FUNCTION = compare);
CREATE OPERATOR = (LEFTARG = name, RIGHTARG = text, FUNCTION = compare);
CREATE OPERATOR <> (LEFTARG = name, RIGHTARG = text, FUNCTION = compare);
CREATE OPERATOR - (LEFTARG = numeric, RIGHTARG = numeric, FUNCTION = minus);
RESET ROLE;

CREATE EXTENSION dpquantile;
SELECT rolsuper FROM pg_roles WHERE rolname = 'regress_dpq_mallory';

-- The extension's objects refer to no other role's functions and operators.
SELECT count(*)
  FROM pg_depend d
 WHERE (d.refclassid, d.refobjid) IN (SELECT 'pg_proc'::regclass, oid FROM pg_proc
                                       WHERE proowner = 'regress_dpq_mallory'::regrole
                                      UNION ALL
                                      SELECT 'pg_operator'::regclass, oid FROM pg_operator
                                       WHERE oprowner = 'regress_dpq_mallory'::regrole)
   AND d.classid NOT IN ('pg_operator'::regclass);
SELECT dp_grant_budget('regress_dpq_mallory', 3);
SET ROLE regress_dpq_mallory;
SELECT dp_median(x, 1, 0, 1) IS NOT NULL AS answered FROM generate_series(0, 1, 0.5) x;
RESET ROLE;
SELECT rolsuper FROM pg_roles WHERE rolname = 'regress_dpq_mallory';
SELECT epsilon_remaining FROM dp_budget;

-- Default privileges give no role what is for the owner, and do not take from a role what all roles may do.
DROP EXTENSION dpquantile;
DROP OWNED BY regress_dpq_mallory;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO regress_dpq_mallory;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO regress_dpq_mallory, PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO regress_dpq_mallory WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT EXECUTE ON FUNCTIONS TO regress_dpq_mallory;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
CREATE FUNCTION granted_to(name) RETURNS TABLE (object text, privilege text) LANGUAGE sql AS $$
  SELECT p.oid::regprocedure::text, 'EXECUTE'
    FROM pg_proc p
   WHERE (p.prosecdef OR p.proname ~ '_(transition|final|combine)$' OR p.proname IN ('check_version', 'protect_tables'))
     AND p.oid IN (SELECT objid FROM pg_depend WHERE deptype = 'e') AND has_function_privilege($1, p.oid, 'EXECUTE')
  UNION ALL
  SELECT c.oid::regclass::text, privilege
    FROM pg_class c, unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) privilege
   WHERE c.relkind IN ('r', 'v') AND c.oid IN (SELECT objid FROM pg_depend WHERE deptype = 'e' AND classid = 'pg_class'::regclass)
     AND c.relnamespace <> 'information_schema'::regnamespace AND has_table_privilege($1, c.oid, privilege)
  UNION ALL
  SELECT 'dpquantile', privilege FROM unnest('{USAGE,CREATE}'::text[]) privilege
   WHERE has_schema_privilege($1, 'dpquantile', privilege)
   ORDER BY 1, 2
$$;
CREATE EXTENSION dpquantile;
SELECT * FROM granted_to('regress_dpq_mallory');
SELECT count(*) > 0 AS aggregates, bool_and(has_function_privilege('regress_dpq_mallory', p.oid, 'EXECUTE')) AS granted
  FROM pg_proc p WHERE p.prokind = 'a' AND p.pronamespace = 'public'::regnamespace;

\connect :regression
DROP DATABASE regress_dpq_install;
DROP ROLE regress_dpq_mallory;
