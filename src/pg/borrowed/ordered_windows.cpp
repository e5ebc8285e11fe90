#include "pg/borrowed/ordered_windows.hpp"

#include "pg/release/below_release.hpp"
#include "pg/server/nodes.hpp"
#include "pg/vocabulary/own_function.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

[[noreturn]] void refuse_window() {
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("window functions would sort protected rows, which takes a time that depends on "
              "single rows"),
       errdetail("Nothing was charged."),
       errhint("Write the window functions in a derived table of their own: SELECT count(*) "
               "FROM (SELECT *, row_number() OVER (PARTITION BY person ORDER BY day) AS rn FROM "
               "visits) AS v WHERE rn = 1.")));
}

// The node of which a column of a plan is one, or null if the plan computes it of a table.
const Plan* source_of(const Plan* plan, const Var* column) {
  switch (nodeTag(plan)) {
    case T_SubqueryScan:
      return reinterpret_cast<const SubqueryScan*>(plan)->subplan;
    case T_Append:
      return static_cast<const Plan*>(linitial(reinterpret_cast<const Append*>(plan)->appendplans));
    case T_CustomScan: {
      const auto* scan = as<CustomScan>(plan);
      return scan->custom_plans == NIL ? nullptr
                                       : static_cast<const Plan*>(linitial(scan->custom_plans));
    }
    default:
      return column->varno == INNER_VAR ? plan->righttree : plan->lefttree;
  }
}

// What a column of a plan is computed as, through the nodes that hand it on.
const Node* definition_of(const Plan* plan, AttrNumber number) {
  while (plan != nullptr && number >= 1 && number <= list_length(plan->targetlist)) {
    const auto* entry = static_cast<const TargetEntry*>(list_nth(plan->targetlist, number - 1));
    const auto* expression = as<Node>(entry->expr);
    if (!IsA(expression, Var)) return expression;
    number = as<Var>(expression)->varattno;
    plan = source_of(plan, as<Var>(expression));
  }
  return nullptr;
}

bool is_order_of_persons(const Sort* sort) {
  const Oid types[] = {ANYOID, INT8OID, INT8OID};
  const Oid hash = own_function("group_hash", buildoidvector(types, lengthof(types)));
  const Node* first = definition_of(&sort->plan, sort->sortColIdx[0]);
  return OidIsValid(hash) && first != nullptr && IsA(first, FuncExpr) &&
         as<FuncExpr>(first)->funcid == hash;
}

// For visit_below_releases(). Window functions of one order share it.
void order_window(Plan** place, void*) {
  if (!IsA(*place, WindowAgg)) return;
  Plan** rows = &(*place)->lefttree;
  if (IsA(*rows, WindowAgg)) return;
  if (!IsA(*rows, Sort) || !is_order_of_persons(as<Sort>(*rows))) refuse_window();
  *rows = order_by_persons(as<Sort>(*rows));
}

}  // namespace

void order_windows(PlannedStmt* plan) {
  visit_below_releases(plan, order_window, nullptr);
}

}  // namespace dpquantile
