// What dp_protected_tables and dp_health tell about processes without the library.
#include "pg/restricted/unrestricted_code.hpp"

#include "pg/server/version.hpp"

extern "C" {
#include "utils/builtins.h"
}

using namespace dpquantile;

// () returns text: which restricted role's code may run where nothing restricts it, or NULL.
DPQ_FUNCTION(dpq_unrestricted_code) {
  const char* code = unrestricted_code();
  if (code == nullptr) PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text(code));
}
