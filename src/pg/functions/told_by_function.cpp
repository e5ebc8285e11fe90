// What a function tells that a restricted session may not execute.
#include "pg/restricted/denied_functions.hpp"

extern "C" {
#include "utils/builtins.h"
}

// (function regprocedure) returns text: what told_by_function() finds.
DPQ_FUNCTION(dpq_told_by_function) {
  const char* tells = dpquantile::told_by_function(PG_GETARG_OID(0));
  if (tells == nullptr) PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text(tells));
}
