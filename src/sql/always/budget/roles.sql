CREATE OR REPLACE FUNCTION dpquantile.charged_role() RETURNS oid
  LANGUAGE C STABLE PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'dpq_charged_role';
COMMENT ON FUNCTION dpquantile.charged_role() IS
  'The role that is charged in this session: the session user or the role of SET ROLE, never the '
  'owner of a SECURITY DEFINER function. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.sees_all_budgets() RETURNS boolean
  LANGUAGE sql STABLE PARALLEL RESTRICTED
  BEGIN ATOMIC
    SELECT pg_catalog.pg_has_role(current_user, e.extowner, 'USAGE')
      FROM pg_catalog.pg_extension e WHERE e.extname = 'dpquantile';
  END;
COMMENT ON FUNCTION dpquantile.sees_all_budgets() IS
  'Whether the current user is (a member of) the owner of the extension. Tells nothing about any data.';
