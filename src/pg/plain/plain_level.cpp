#include "pg/plain/plain_level.hpp"

#include "pg/grants/protection_catalog.hpp"
#include "pg/server/nodes.hpp"

namespace dpquantile {

int most_rows_of_user(const PlainLevel* level) {
  int most = 0;
  for (const Oid relation : each_oid(level->relations)) {
    const ProtectedRelation* protection = find_protected_relation(relation);
    if (protection == nullptr || protection->max_rows == 0) return 0;
    most = Max(most, protection->max_rows);
  }
  return most;
}

}  // namespace dpquantile
