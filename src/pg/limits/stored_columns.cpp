#include "pg/limits/stored_columns.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "optimizer/tlist.h"
}

namespace dpquantile {

namespace {

// All columns of the table, with the references to those of `columns`. Null if these are not
// columns of the table alone, or if PostgreSQL would have to make the rows.
PathTarget* columns_of_table(PlannerInfo* root, RelOptInfo* table, const PathTarget* columns) {
  const List* stored = build_physical_tlist(root, table);
  if (stored == NIL) return nullptr;
  PathTarget* all = create_empty_pathtarget();
  const ListCell* cell;
  for (const auto* entry : each<const TargetEntry>(stored)) {
    add_column_to_pathtarget(all, entry->expr, 0);
  }
  all->sortgrouprefs = static_cast<Index*>(palloc0(list_length(stored) * sizeof(Index)));
  foreach (cell, columns->exprs) {
    const Index reference = get_pathtarget_sortgroupref(columns, foreach_current_index(cell));
    const int column = find_column(all, lfirst(cell));
    if (column == 0) return nullptr;
    if (reference != 0) all->sortgrouprefs[column - 1] = reference;
  }
  return all;
}

}  // namespace

int find_column(const PathTarget* columns, const void* expression) {
  const ListCell* cell;
  foreach (cell, columns->exprs) {
    if (equal(lfirst(cell), expression)) return foreach_current_index(cell) + 1;
  }
  return 0;
}

Path* rows_as_stored(PlannerInfo* root, Path* rows) {
  RelOptInfo* table = rows->parent;
  if (!IsA(rows, Path) || rows->pathtype != T_SeqScan) return rows;
  if (table->reloptkind != RELOPT_BASEREL || table->rtekind != RTE_RELATION) return rows;
  PathTarget* columns = columns_of_table(root, table, rows->pathtarget);
  if (columns == nullptr) return rows;
  auto* copy = static_cast<Path*>(palloc(sizeof(Path)));
  *copy = *rows;
  copy->pathtarget = columns;
  return copy;
}

List* columns_left_out(const PathTarget* given, const PathTarget* used) {
  List* left_out = NIL;
  const ListCell* cell;
  foreach (cell, given->exprs) {
    if (!list_member(used->exprs, lfirst(cell))) {
      left_out = lappend_int(left_out, foreach_current_index(cell) + 1);
    }
  }
  return left_out;
}

}  // namespace dpquantile
