CREATE OR REPLACE FUNCTION dpquantile.keeps_answers() RETURNS boolean
  LANGUAGE C STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'dpq_keeps_answers';
COMMENT ON FUNCTION dpquantile.keeps_answers() IS
  'Whether there is memory for answers that are kept for reuse: if the library is in shared_preload_libraries.';

CREATE OR REPLACE FUNCTION dpquantile.kept_answers(OUT role oid, OUT first_charge bigint, OUT charges integer, OUT reuses bigint)
  RETURNS SETOF record
  LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
  AS 'MODULE_PATHNAME', 'dpq_kept_answers';
COMMENT ON FUNCTION dpquantile.kept_answers() IS
  'The answers that are kept for reuse: of the role of this session, or of all roles if the current user owns the extension. Tells '
  'nothing about any data.';
