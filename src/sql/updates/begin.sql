-- A library of another version, such as a preloaded one before the restart, must not meet the new objects. The database has the new
-- version already while this script runs.
SELECT dpquantile.check_version();
