COMMENT ON SCHEMA dpquantile IS
  'Internals of the dpquantile extension: budget and ledger tables, aggregate support.';
