#include "pg/plain/plain_level.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "utils/lsyscache.h"
}

namespace dpquantile {

int most_rows_of_user(const PlainLevel* level) {
  if (level->select->has_one_row) return 1;
  int most = 0;
  for (const Oid relation : each_oid(level->select->limiting_rows)) {
    const ProtectedRelation* protection = find_protected_relation(relation);
    if (protection == nullptr || protection->max_rows == 0) return 0;
    most = Max(most, protection->max_rows);
  }
  return most;
}

const char* name_of_expression(const Level* level, Node* expression) {
  const auto origin = origin_of(level, expression);
  const char* name = origin ? get_attname(origin->relation, origin->column, true) : nullptr;
  return name == nullptr ? "the expression" : psprintf("column \"%s\"", name);
}

}  // namespace dpquantile
