#include "pg/protect/judged_level.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
}

namespace dpquantile {

int most_rows_of_user(const JudgedLevel* level) {
  if (level->has_one_row) return 1;
  int most = 0;
  for (const auto* borrowed_relation : each<const BorrowedRelation>(level->limiting_relations)) {
    if (borrowed_relation->is_referenced) continue;
    const int of_relation = level->read->has_one_row_in_group ? borrowed_relation->max_groups
                                                              : borrowed_relation->max_rows;
    if (of_relation == 0) return 0;
    most = Max(most, of_relation);
  }
  return most;
}

// LIMIT NULL limits nothing.
void fence(Query* query) {
  if (query->limitCount != nullptr || query->limitOffset != nullptr) return;
  query->limitCount = as<Node>(makeNullConst(INT8OID, -1, InvalidOid));
}

}  // namespace dpquantile
