#include "pg/release/call_cost.hpp"

#include "pg/server/trees.hpp"

extern "C" {
#include "executor/executor.h"
}

namespace dpquantile {

namespace {

// Whether an expression has a parameter without a value, before the query runs.
bool has_unknown_parameter(const List* expressions, const EState* state) {
  return any_node(expressions, [&](const Node* node) {
    return IsA(node, Param) &&
           (as<Param>(node)->paramkind != PARAM_EXTERN || state->es_param_list_info == nullptr);
  });
}

// Whether EXPLAIN shows a plan that is not run. Otherwise a call without checked parameters belongs
// to a node that was not executed. Its parameters may be wrong, and nobody asked for them.
bool is_plain_explain(const PlanState* node) {
  return (node->state->es_top_eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0;
}

}  // namespace

const PrivacyCost* known_cost(ReleaseNode* node, ReleaseCall* call) {
  PlanState* state = &node->scan.ss.ps;
  if (call->checked == nullptr) {
    if (!is_plain_explain(state) || has_unknown_parameter(call->parameters, state->state)) {
      return nullptr;
    }
    prepare_call(call, state->ps_ExprContext, state->state->es_query_cxt);
  }
  return &call->costs.own;
}

}  // namespace dpquantile
