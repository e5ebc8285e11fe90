#include "pg/release/release_prices.hpp"

#include "pg/release/call_cost.hpp"
#include "pg/release/release_execution.hpp"
#include "pg/release/release_node.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
}

namespace dpquantile {

namespace {

PricedCall priced(ReleaseNode* node, ReleaseCall* call, double rows) {
  const bool by_group = is_charged_by_group(*call) && node->plan.has_keys;
  const PrivacyCost* cost = known_cost(node, call);
  if (cost == nullptr) {
    return {call->name, nullptr,      nullptr, node->plan.grouping_sets,
            by_group,   std::nullopt, nullptr, node->plan.tables};
  }
  return {call->name,
          find_method(*call->family, call->method)->name.data(),
          cost,
          node->plan.grouping_sets,
          by_group,
          expected_error(call->drawn, call->method, call->name, rows),
          &method_of(call->checked),
          node->plan.tables};
}

struct Collected {
  List* calls;
  double rows;
};

// For planstate_tree_walker(). `context` is a Collected*.
bool collect_calls(PlanState* plan, void* context) {
  if (is_release_node(plan)) {
    auto* node = reinterpret_cast<ReleaseNode*>(plan);
    auto* collected = static_cast<Collected*>(context);
    for (int i = 0; i < node->call_count; ++i) {
      auto* call = static_cast<PricedCall*>(palloc(sizeof(PricedCall)));
      *call = priced(node, &node->calls[i], collected->rows);
      collected->calls = lappend(collected->calls, call);
    }
  }
  return planstate_tree_walker(plan, DPQ_PLAN_WALKER(collect_calls), context);
}

}  // namespace

List* priced_calls(PlanState* plan, double rows) {
  Collected collected = {NIL, rows};
  (void)collect_calls(plan, &collected);
  return collected.calls;
}

}  // namespace dpquantile
