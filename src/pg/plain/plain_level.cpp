#include "pg/plain/plain_level.hpp"

extern "C" {
#include "utils/lsyscache.h"
}

namespace dpquantile {

const char* name_of_expression(const QueryScope* scope, Node* expression) {
  const auto origin = origin_of(scope, expression);
  const char* name = origin ? get_attname(origin->relation, origin->column, true) : nullptr;
  return name == nullptr ? "the expression" : psprintf("column \"%s\"", name);
}

}  // namespace dpquantile
