CREATE OR REPLACE FUNCTION dpquantile.check_version() RETURNS void
  LANGUAGE C STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_check_version';
COMMENT ON FUNCTION dpquantile.check_version() IS
  'Fails unless the library that this session has loaded is of the same version as the extension''s objects in this '
  'database. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.library_version() RETURNS text
  LANGUAGE C STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_library_version';
COMMENT ON FUNCTION dpquantile.library_version() IS
  'The version of the library that this session has loaded. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.advice_on_versions() RETURNS text
  LANGUAGE C STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_advice_on_versions';
COMMENT ON FUNCTION dpquantile.advice_on_versions() IS
  'What to do while the library that this session has loaded and the extension''s objects in this database are of '
  'different versions; otherwise NULL. Tells nothing about any data.';

CREATE OR REPLACE FUNCTION dpquantile.is_preloaded() RETURNS boolean
  LANGUAGE C STABLE PARALLEL SAFE
  AS 'MODULE_PATHNAME', 'dpq_is_preloaded';
COMMENT ON FUNCTION dpquantile.is_preloaded() IS
  'Whether the server preloads the library. Tells nothing about any data.';
