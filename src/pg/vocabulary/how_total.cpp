// Whether a query may apply a function to values of protected rows.
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "utils/builtins.h"
}

// (function regprocedure) returns text: 'as it is', 'variant', or null for a function that may
// fail.
DPQ_FUNCTION(dpq_how_total) {
  const Oid function = PG_GETARG_OID(0);
  if (dpquantile::find_variant(function) != nullptr) {
    PG_RETURN_TEXT_P(cstring_to_text("variant"));
  }
  if (dpquantile::is_total(function)) PG_RETURN_TEXT_P(cstring_to_text("as it is"));
  PG_RETURN_NULL();
}
