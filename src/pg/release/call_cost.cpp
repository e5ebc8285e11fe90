#include "pg/release/call_cost.hpp"

#include "pg/server/trees.hpp"

extern "C" {
#include "executor/executor.h"
#include "nodes/params.h"
}

namespace dpquantile {

namespace {

// Whether a parameter has no value before the query runs: one within a plan, one that EXPLAIN has
// no value for, or, in dp_explain, that of a subquery which is asked first. That is NULL, and no
// constant as parameters of a statement are.
bool is_unknown(const Param* parameter, ParamListInfo given) {
  if (parameter->paramkind != PARAM_EXTERN || given == nullptr) return true;
  if (given->paramFetch != nullptr || parameter->paramid > given->numParams) return false;
  const ParamExternData& value = given->params[parameter->paramid - 1];
  return value.isnull && (value.pflags & PARAM_FLAG_CONST) == 0;
}

bool has_unknown_parameter(const List* expressions, const EState* state) {
  return any_node(expressions, [&](const Node* node) {
    return IsA(node, Param) && is_unknown(as<Param>(node), state->es_param_list_info);
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
