#include "pg/borrowed/borrowed_plan.hpp"

#include "pg/reuse/secret_hash.hpp"

extern "C" {
#include "nodes/makefuncs.h"
}

namespace dpquantile {

namespace {

constexpr char kMark[] = "dpquantile borrowed rights";

}  // namespace

// The lists of a VALUES entry have room for all of the mark.
void mark_plan(PlannedStmt* plan, const BorrowedPlan& mark) {
  RangeTblEntry* entry = makeNode(RangeTblEntry);
  entry->rtekind = RTE_VALUES;
  char* time_zone = pstrdup(mark.time_zone == nullptr ? "" : mark.time_zone);
  entry->eref = makeAlias(
      kMark, lcons(makeString(time_zone), list_concat_copy(mark.units, mark.table_users)));
  entry->coltypes = list_concat_copy(mark.relations, mark.tables);
  entry->coltypmods =
      lcons_int(mark.own_parameters, list_concat_copy(mark.user_columns, mark.max_rows));
  entry->coltypmods = lcons_int(list_length(mark.joined), entry->coltypmods);
  entry->coltypmods = lcons_int(mark.most_early_bytes, entry->coltypmods);
  entry->coltypmods = lcons_int(mark.longest_value, entry->coltypmods);
  entry->coltypmods = list_concat(entry->coltypmods, mark.identities);
  entry->coltypmods = list_concat(entry->coltypmods, mark.short_values);
  entry->colcollations = lcons_oid(mark.user, list_concat_copy(mark.joined, mark.indexes));
  entry->values_lists = list_make2(mark.expressions, mark.samples);
  plan->rtable = lappend(plan->rtable, entry);
}

bool find_mark(const List* range_table, BorrowedPlan* mark) {
  if (range_table == NIL) return false;
  const auto* entry = static_cast<const RangeTblEntry*>(llast(range_table));
  // The planner takes the columns from the entries of a query, whatever their names are.
  const bool is_mark = entry->rtekind == RTE_VALUES && entry->coltypmods != NIL &&
                       strcmp(entry->eref->aliasname, kMark) == 0;
  if (!is_mark) return false;
  const int relations = list_length(entry->coltypes) / 2;
  mark->relations = list_truncate(list_copy(entry->coltypes), relations);
  mark->tables = list_copy_tail(entry->coltypes, relations);
  mark->longest_value = linitial_int(entry->coltypmods);
  mark->most_early_bytes = lsecond_int(entry->coltypmods);
  const int joined = lthird_int(entry->coltypmods);
  mark->own_parameters = lfourth_int(entry->coltypmods);
  mark->user_columns = list_truncate(list_copy_tail(entry->coltypmods, 4), relations);
  mark->max_rows = list_truncate(list_copy_tail(entry->coltypmods, 4 + relations), relations);
  const List* of_expressions = list_copy_tail(entry->coltypmods, 4 + 2 * relations);
  const char* time_zone = strVal(linitial(entry->eref->colnames));
  mark->time_zone = *time_zone == '\0' ? nullptr : time_zone;
  mark->units = list_truncate(list_copy_tail(entry->eref->colnames, 1), relations);
  mark->table_users = list_copy_tail(entry->eref->colnames, 1 + relations);
  mark->user = linitial_oid(entry->colcollations);
  mark->joined = list_truncate(list_copy_tail(entry->colcollations, 1), joined);
  mark->indexes = list_copy_tail(entry->colcollations, 1 + joined);
  mark->expressions = static_cast<List*>(linitial(entry->values_lists));
  mark->samples = static_cast<List*>(lsecond(entry->values_lists));
  const int integers = kIntegersOfHash * list_length(mark->expressions);
  mark->identities = list_truncate(list_copy(of_expressions), integers);
  mark->short_values = list_copy_tail(of_expressions, integers);
  return true;
}

}  // namespace dpquantile
