#include "pg/borrowed/ordered_persons.hpp"

#include "pg/release/below_release.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "nodes/nodes.h"
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

// Whether a column of a plan is one of the hashes. The secrets of no two are the same.
bool is_one_of(const List* hashes, const Plan* plan, AttrNumber number) {
  const Node* defined = definition_of(plan, number);
  if (defined == nullptr || !IsA(defined, FuncExpr)) return false;
  const auto* call = as<FuncExpr>(defined);
  for (const auto* hash : each<const FuncExpr>(hashes)) {
    if (call->funcid == hash->funcid && equal(lsecond(call->args), lsecond(hash->args)) &&
        equal(lthird(call->args), lthird(hash->args))) {
      return true;
    }
  }
  return false;
}

// Window functions of one order share it.
void order_window(Plan* window, const List* hashes) {
  Plan* rows = window->lefttree;
  if (IsA(rows, WindowAgg)) return;
  if (!IsA(rows, Sort) || !is_one_of(hashes, rows, as<Sort>(rows)->sortColIdx[0])) refuse_window();
  window->lefttree = sorted_by_persons(as<Sort>(rows));
}

// The number of the key of a grouping that is one of the hashes, or -1.
int number_of_hash(const Agg* grouping, const List* hashes) {
  for (int i = 0; i < grouping->numCols; ++i) {
    if (is_one_of(hashes, grouping->plan.lefttree, grouping->grpColIdx[i])) return i;
  }
  return -1;
}

void order_groups(Agg* grouping, const List* hashes) {
  const bool is_plain = grouping->aggstrategy == AGG_HASHED &&
                        grouping->aggsplit == AGGSPLIT_SIMPLE && grouping->groupingSets == NIL &&
                        grouping->chain == NIL;
  const int hash = is_plain ? number_of_hash(grouping, hashes) : -1;
  Plan* ordered = hash < 0 ? nullptr : grouped_by_persons(grouping, hash);
  if (ordered == nullptr) return;
  grouping->plan.lefttree = ordered;
  grouping->aggstrategy = AGG_SORTED;
}

// For visit_below_releases().
void order_node(Plan** place, void* hashes) {
  const auto* of_persons = static_cast<const List*>(hashes);
  if (IsA(*place, WindowAgg)) order_window(*place, of_persons);
  if (IsA(*place, Agg)) order_groups(as<Agg>(*place), of_persons);
}

}  // namespace

void order_persons(PlannedStmt* plan, const List* hashes) {
  visit_below_releases(plan, order_node, const_cast<List*>(hashes));
}

}  // namespace dpquantile
