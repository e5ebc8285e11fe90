#include "pg/release/release_explain.hpp"

#include "pg/server/decimal.hpp"

extern "C" {
#include DPQ_EXPLAIN_FORMAT_HEADER
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
}

namespace dpquantile {

namespace {

// Whether an expression has a parameter without a value, before the query runs. `state` is the
// executor's.
bool has_unknown_parameter(Node* node, void* state) {
  if (node == nullptr) return false;
  if (IsA(node, Param)) {
    return reinterpret_cast<Param*>(node)->paramkind != PARAM_EXTERN ||
           static_cast<EState*>(state)->es_param_list_info == nullptr;
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(has_unknown_parameter), state);
}

// Whether EXPLAIN shows a plan that is not run. Otherwise a call without checked parameters belongs
// to a node that was not executed. Its parameters may be wrong, and nobody asked for them.
bool is_plain_explain(const PlanState* node) {
  return (node->state->es_top_eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0;
}

// Null if it is unknown.
const PrivacyCost* known_cost(ReleaseNode* node, ReleaseCall* call) {
  PlanState* state = &node->scan.ss.ps;
  if (call->checked == nullptr) {
    auto* parameters = reinterpret_cast<Node*>(call->parameters);
    if (!is_plain_explain(state) || has_unknown_parameter(parameters, state->state)) return nullptr;
    prepare_call(call, state->ps_ExprContext, state->state->es_query_cxt);
  }
  return &call->mechanism.mechanism->cost();
}

const char* amounts(const PrivacyCost* cost) {
  if (cost == nullptr) return "unknown before execution";
  if (!cost->epsilon) return psprintf("rho %s", decimal_text(*cost->rho));
  const char* epsilon = psprintf("epsilon %s", decimal_text(*cost->epsilon));
  return cost->delta > 0 ? psprintf("%s and delta %s", epsilon, decimal_text(cost->delta))
                         : epsilon;
}

const char* times(const ReleasePlan& plan, const ReleaseCall& call) {
  if (is_charged_by_group(call) && plan.has_keys) return " for each group";
  if (plan.grouping_sets == 1) return "";
  return psprintf(" for each of %d grouping sets", plan.grouping_sets);
}

}  // namespace

void explain_prices(ReleaseNode* node, ExplainState* explain) {
  List* prices = NIL;
  for (int i = 0; i < node->call_count; ++i) {
    ReleaseCall* call = &node->calls[i];
    prices = lappend(prices, psprintf("%s: %s%s", call->name, amounts(known_cost(node, call)),
                                      times(node->plan, *call)));
  }
  ExplainPropertyList("Price", prices, explain);
}

}  // namespace dpquantile
