#include "pg/borrowed/outer_values.hpp"

#include "pg/borrowed/early_values.hpp"

extern "C" {
#include "executor/nodeSubplan.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

bool is_in_memory(Datum value, Oid type) {
  return get_typlen(type) != -1 || !(VARATT_IS_EXTERNAL(DatumGetPointer(value)) ||
                                     VARATT_IS_COMPRESSED(DatumGetPointer(value)));
}

// The copy is there as long as the value: until the query around has another one, which also needs
// a copy, or to the end of the query.
void read_value(ParamExecData* value, Oid type, Datum* copy, EState* state) {
  if (is_in_memory(value->value, type)) return;
  if (*copy != 0) pfree(DatumGetPointer(*copy));
  *copy = 0;
  const MemoryContext previous = MemoryContextSwitchTo(state->es_query_cxt);
  *copy = value_in_memory(value->value, type);
  MemoryContextSwitchTo(previous);
  value->value = *copy;
}

}  // namespace

void take_outer_values(ReleaseNode* node) {
  const PlanState* release = &node->scan.ss.ps;
  EState* state = release->state;
  const Bitmapset* numbers = node->child->plan->extParam;
  if (node->outer_copies == nullptr && !bms_is_empty(numbers)) {
    node->outer_copies = static_cast<Datum*>(MemoryContextAllocZero(
        state->es_query_cxt, sizeof(Datum) * static_cast<Size>(bms_num_members(numbers))));
  }
  int number = -1;
  for (int i = 0; (number = bms_next_member(numbers, number)) >= 0; ++i) {
    ParamExecData* value = &state->es_param_exec_vals[number];
    const Oid type = list_nth_oid(state->es_plannedstmt->paramExecTypes, number);
    if (value->execPlan != nullptr) {
      ExecSetParamPlan(static_cast<SubPlanState*>(value->execPlan), release->ps_ExprContext);
    }
    if (value->isnull || !OidIsValid(type)) continue;
    check_value_size(value->value, type);
    read_value(value, type, &node->outer_copies[i], state);
  }
}

}  // namespace dpquantile
