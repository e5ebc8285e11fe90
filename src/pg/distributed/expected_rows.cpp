#include "pg/distributed/expected_rows.hpp"

#include <algorithm>

#include "pg/distributed/plan_nodes.hpp"
#include "pg/server/nodes.hpp"

namespace dpquantile {

namespace {

constexpr int kMostRows = 100000;  // some megabytes of a hash table

template <class Number>
void limit(Number* number) {
  *number = std::min(*number, static_cast<Number>(kMostRows));
}

void limit_groups(Agg* node) {
  limit(&node->numGroups);
  for (auto* chained : each<Agg>(node->chain)) limit(&chained->numGroups);
}

// For visit_plan().
void limit_node(const Plan* visited, const void*) {
  auto* node = const_cast<Plan*>(visited);
  limit(&node->plan_rows);
  switch (nodeTag(node)) {
    case T_Agg:
      return limit_groups(as<Agg>(node));
    case T_SetOp:
      return limit(&reinterpret_cast<SetOp*>(node)->numGroups);
    case T_RecursiveUnion:
      return limit(&reinterpret_cast<RecursiveUnion*>(node)->numGroups);
    case T_Memoize:
      return limit(&reinterpret_cast<Memoize*>(node)->est_entries);
    case T_Hash:
      return limit(&as<Hash>(node)->rows_total);
    default:
      return;
  }
}

}  // namespace

void limit_expected_rows(const PlannedStmt* plan) {
  visit_plan(plan, limit_node, nullptr);
}

}  // namespace dpquantile
