#include "pg/plain/plain_level.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

int most_of_relations(const PlainLevel* level, int ProtectedRelation::*limit) {
  if (level->select->has_one_row) return 1;
  int most = 0;
  for (const Oid relation : each_oid(level->relations)) {
    const ProtectedRelation* protection = find_protected_relation(relation);
    if (protection == nullptr || protection->*limit == 0) return 0;
    most = Max(most, protection->*limit);
  }
  return most;
}

}  // namespace

int most_rows_of_user(const PlainLevel* level) {
  return level->select->has_one_row_in_group
             ? most_groups_of_user(level)
             : most_of_relations(level, &ProtectedRelation::max_rows);
}

int most_groups_of_user(const PlainLevel* level) {
  return most_of_relations(level, &ProtectedRelation::max_groups);
}

const char* name_of_expression(const Level* level, Node* expression) {
  const auto origin = origin_of(level, expression);
  const char* name = origin ? get_attname(origin->relation, origin->column, true) : nullptr;
  return name == nullptr ? "the expression" : psprintf("column \"%s\"", name);
}

}  // namespace dpquantile
