// What dp_health asks the library.
#include "pg/charge/charge_queue.hpp"
#include "pg/server/version.hpp"

extern "C" {
#include "utils/builtins.h"
}

using namespace dpquantile;

// () returns text: the version of the library that this session has loaded.
DPQ_FUNCTION(dpq_library_version) {
  PG_RETURN_TEXT_P(cstring_to_text(kLibraryVersion));
}

// () returns text: what to do while library and SQL objects are of different versions, or NULL.
DPQ_FUNCTION(dpq_advice_on_versions) {
  const char* advice = advice_on_versions();
  if (advice == nullptr) PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text(advice));
}

// () returns boolean: whether the library was preloaded.
DPQ_FUNCTION(dpq_is_preloaded) {
  PG_RETURN_BOOL(charge_queue_exists());
}
