#include "pg/plain/plain_level.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/server/nodes.hpp"

namespace dpquantile {

namespace {

int most_of_relations(const PlainLevel* level, int ProtectedRelation::*limit) {
  if (level->select->has_one_row) return 1;
  int most = 0;
  for (const Oid relation : each_oid(level->select->limiting_rows)) {
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

}  // namespace dpquantile
