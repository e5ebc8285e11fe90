#include "pg/release/release_prices.hpp"

#include "pg/release/call_cost.hpp"
#include "pg/release/release_execution.hpp"
#include "pg/release/release_node.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
}

namespace dpquantile {

namespace {

PricedCall priced(ReleaseNode* node, ReleaseCall* call) {
  const PrivacyCost* cost = known_cost(node, call);
  const char* method =
      cost == nullptr ? nullptr : find_method(*call->family, call->method)->name.data();
  return {call->name, method, cost, node->plan.grouping_sets,
          is_charged_by_group(*call) && node->plan.has_keys};
}

// For planstate_tree_walker(). `calls` is a List**.
bool collect_calls(PlanState* plan, void* calls) {
  if (is_release_node(plan)) {
    auto* node = reinterpret_cast<ReleaseNode*>(plan);
    auto* list = static_cast<List**>(calls);
    for (int i = 0; i < node->call_count; ++i) {
      auto* call = static_cast<PricedCall*>(palloc(sizeof(PricedCall)));
      *call = priced(node, &node->calls[i]);
      *list = lappend(*list, call);
    }
  }
  return planstate_tree_walker(plan, DPQ_PLAN_WALKER(collect_calls), calls);
}

}  // namespace

List* priced_calls(PlanState* plan) {
  List* calls = NIL;
  (void)collect_calls(plan, &calls);
  return calls;
}

}  // namespace dpquantile
