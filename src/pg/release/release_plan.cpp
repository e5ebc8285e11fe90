#include "pg/release/release_plan.hpp"

#include "pg/server/nodes.hpp"

namespace dpquantile {

namespace {

List* part(const CustomScan* plan, int number) {
  return static_cast<List*>(list_nth(plan->custom_private, number));
}

}  // namespace

List* encode_release(const ReleasePlan& release) {
  List* const numbers =
      list_make3_int(release.has_keys ? 1 : 0, release.grouping_sets, release.knows_tables ? 1 : 0);
  List* const lists = list_make5(release.calls, release.sort_columns, release.operators,
                                 release.collations, release.nulls_first);
  return lappend(lappend(lappend(lists, numbers), release.identity), release.tables);
}

ReleasePlan decode_release(const CustomScan* plan) {
  const List* numbers = part(plan, 5);
  return {part(plan, 0),        part(plan, 1), part(plan, 2),
          part(plan, 3),        part(plan, 4), linitial_int(numbers) != 0,
          lsecond_int(numbers), part(plan, 6), lthird_int(numbers) != 0,
          part(plan, 7)};
}

const Aggref* call_in_column(const CustomScan* plan, int column) {
  const auto* entry = static_cast<TargetEntry*>(list_nth(plan->custom_scan_tlist, column - 1));
  return castNode(Aggref, as<Node>(entry->expr));
}

}  // namespace dpquantile
