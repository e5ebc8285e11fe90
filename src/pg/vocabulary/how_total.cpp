// What a query may do with a function, for tests and documentation.
#include "pg/vocabulary/catalog_gate.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/person_aggregates.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

// Whether it gives a value of an early expression.
bool is_early_function(Oid function) {
  return SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(function)) &&
         passes_gate(ProcedureRelationId, function) && is_outside_function(function) &&
         get_func_prokind(function) == PROKIND_FUNCTION && !get_func_retset(function);
}

const char* how_total(Oid function) {
  if (const PersonAggregate* aggregate = find_person_aggregate(function)) {
    const bool is_variant =
        aggregate->call == PersonCall::kVariant || aggregate->call == PersonCall::kPercentile;
    return is_variant ? "variant of a person" : "of a person";
  }
  const FunctionRule* rule = find_rule(function);
  const CallPlace place = rule == nullptr ? CallPlace::kOutside : rule->place;
  switch (place) {
    case CallPlace::kInside:
      return rule->variant == nullptr ? "as it is" : "variant";
    case CallPlace::kFromText:
      return "from text";
    case CallPlace::kToText:
      return "to text";
    default:
      return is_early_function(function) ? "early only" : nullptr;
  }
}

}  // namespace

}  // namespace dpquantile

// (function regprocedure) returns text: 'as it is', 'variant', 'from text' and 'to text' for the
// input and output functions of casts, 'early only', 'of a person' and 'variant of a person' for
// aggregates of one person's rows, or null for a function that no expression over protected rows
// may call.
DPQ_FUNCTION(dpq_how_total) {
  const char* how = dpquantile::how_total(PG_GETARG_OID(0));
  if (how == nullptr) PG_RETURN_NULL();
  PG_RETURN_TEXT_P(cstring_to_text(how));
}
