#include "pg/protect/judged_level.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
}

namespace dpquantile {

int most_rows_of_user(const JudgedLevel* level) {
  return level->has_one_row ? 1 : most_rows_of_person(level->read);
}

// LIMIT NULL limits nothing.
void fence(Query* query) {
  if (query->limitCount != nullptr || query->limitOffset != nullptr) return;
  query->limitCount = as<Node>(makeNullConst(INT8OID, -1, InvalidOid));
}

}  // namespace dpquantile
