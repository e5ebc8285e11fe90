#include "pg/protect/query_level.hpp"

namespace dpquantile {

int most_rows_of_user(const QueryLevel* level) {
  int most = 0;
  const ListCell* cell;
  foreach (cell, level->relations) {
    const int of_relation = static_cast<const BorrowedRelation*>(lfirst(cell))->max_rows;
    if (of_relation == 0) return 0;
    most = Max(most, of_relation);
  }
  return most;
}

CteOfLevel find_cte(const QueryLevel* level, const RangeTblEntry* entry) {
  for (Index i = 0; i < entry->ctelevelsup && level != nullptr; ++i) level = level->parent;
  ListCell* cell;
  foreach (cell, level == nullptr ? NIL : level->query->cteList) {
    auto* cte = static_cast<CommonTableExpr*>(lfirst(cell));
    if (strcmp(cte->ctename, entry->ctename) == 0) {
      return {cte, level->ctes[foreach_current_index(cell)]};
    }
  }
  return {nullptr, nullptr};
}

}  // namespace dpquantile
