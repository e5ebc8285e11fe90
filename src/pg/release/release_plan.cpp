#include "pg/release/release_plan.hpp"

#include "pg/server/nodes.hpp"

namespace dpquantile {

void ReleasePlan::each_field(MarkFields* fields) {
  fields->list("calls", T_IntList, &calls);
  fields->list("noted", T_IntList, &noted, list_length(calls));
  fields->list("sort_columns", T_IntList, &sort_columns);
  fields->list("operators", T_OidList, &operators, list_length(sort_columns));
  fields->list("collations", T_OidList, &collations, list_length(sort_columns));
  fields->list("nulls_first", T_IntList, &nulls_first, list_length(sort_columns));
  fields->truth("has_keys", &has_keys);
  fields->integer("grouping_sets", &grouping_sets);
  fields->text("identity", &identity);
  fields->truth("knows_tables", &knows_tables);
  fields->truth("joins_rows", &joins_rows);
  fields->truth("has_one_row", &has_one_row);
  fields->truth("protects_persons", &protects_persons);
  fields->list("tables", T_OidList, &tables);
}

const Aggref* call_in_column(const CustomScan* plan, int column) {
  const auto* entry = static_cast<TargetEntry*>(list_nth(plan->custom_scan_tlist, column - 1));
  return castNode(Aggref, as<Node>(entry->expr));
}

}  // namespace dpquantile
