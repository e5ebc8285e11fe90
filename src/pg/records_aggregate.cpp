#include "pg/records_aggregate.hpp"

#include <cmath>

#include "pg/boundary.hpp"
#include "pg/charge.hpp"
#include "pg/execution.hpp"

extern "C" {
#include "access/parallel.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(dpq_records_combine);
DPQ_EXPORT Datum dpq_records_combine(PG_FUNCTION_ARGS);
}

namespace dpquantile {

namespace {

RecordsState* state_argument(FunctionCallInfo fcinfo, int number) {
  return PG_ARGISNULL(number) ? nullptr : get_state(PG_GETARG_DATUM(number));
}

// The first record of a group: the state is made from the call's parameters.
RecordsState* start_state(FunctionCallInfo fcinfo, Family family) {
  if (fcinfo->flinfo->fn_extra == nullptr) {
    Aggref* found = find_user_call(fcinfo);
    check_constant_parameters(found);
    fcinfo->flinfo->fn_extra = found;
  }
  const auto* call = static_cast<const Aggref*>(fcinfo->flinfo->fn_extra);
  return make_state(read_parameters(family, received_parameters(call, fcinfo)));
}

Datum add_record(FunctionCallInfo fcinfo, Family family, float8 value) {
  RecordsState* state =
      PG_ARGISNULL(0) ? nullptr : reinterpret_cast<RecordsState*>(PG_GETARG_POINTER(0));
  if (unlikely(state == nullptr)) state = start_state(fcinfo, family);
  if (unlikely(std::isnan(value))) PG_RETURN_POINTER(state);
  if (unlikely(state->count == state->capacity)) state = reserve(state, 1);
  if (state->kind == RecordKind::kCell) {
    state->cells()[state->count++] = state->parameters.grid.cell_of(value);
  } else {
    state->values()[state->count++] = value;
  }
  PG_RETURN_POINTER(state);
}

Datum keep_state(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

// What a final function keeps for the query: the call, and the parameters of the execution that has
// been charged.
struct FinalContext {
  const Aggref* call;
  List* prepared;
  AggregateParameters* parameters;
  bool charged;
  uint64 execution;
  void* kept;
};

FinalContext* final_context(FunctionCallInfo fcinfo) {
  if (fcinfo->flinfo->fn_extra != nullptr) {
    return static_cast<FinalContext*>(fcinfo->flinfo->fn_extra);
  }
  const Aggref* call = find_user_call(fcinfo);
  check_constant_parameters(call);
  const MemoryContext previous = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
  auto* context = static_cast<FinalContext*>(palloc0(sizeof(FinalContext)));
  context->call = call;
  context->prepared = prepare_parameters(call, reinterpret_cast<AggState*>(fcinfo->context));
  MemoryContextSwitchTo(previous);
  fcinfo->flinfo->fn_extra = context;
  return context;
}

Charge describe_charge(const FinalContext* context, const AggState* node) {
  Charge charge;
  charge.function = get_func_name(context->call->aggfnoid);
  charge.mechanism = method_name(context->parameters->family, context->parameters->method);
  charge.neighbours = neighbours(context->parameters, has_group_keys(node));
  charge.epsilon = context->parameters->epsilon;
  charge.delta = context->parameters->delta;
  charge.grouping_sets = count_grouping_sets(node);
  charge.groups = has_group_keys(node) ? -1 : 1;
  return charge;
}

// Reads the parameters and charges for them, once for each execution of the aggregate node: its
// groups are disjoint (parallel composition, docs/privacy.md).
FinalContext* charge_execution(FunctionCallInfo fcinfo, Family family) {
  auto* node = reinterpret_cast<AggState*>(fcinfo->context);
  FinalContext* context = final_context(fcinfo);
  const uint64 execution = current_execution(node);
  if (context->charged && context->execution == execution) return context;

  context->charged = false;
  const AggregateParameters* parameters =
      read_parameters(family, evaluate_parameters(context->call, context->prepared, node));
  const std::size_t size = parameters_size(parameters->quantile_count);
  if (context->parameters != nullptr) pfree(context->parameters);
  context->parameters = nullptr;
  context->parameters =
      static_cast<AggregateParameters*>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, size));
  memcpy(context->parameters, parameters, size);

  charge_budget(describe_charge(context, node));
  context->execution = execution;
  context->charged = true;
  return context;
}

void refuse_parallel_worker() {
  if (!IsParallelWorker()) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("a private aggregate cannot be finished inside a parallel worker"),
                  errdetail("Every worker would release and be charged for its own answer."),
                  errhint("SET max_parallel_workers_per_gather = 0 for this query.")));
}

}  // namespace

Datum add_row(FunctionCallInfo fcinfo, Family family) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  return add_record(fcinfo, family, PG_GETARG_FLOAT8(1));
}

Datum add_numeric_row(FunctionCallInfo fcinfo, Family family) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  return add_record(
      fcinfo, family,
      DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, PG_GETARG_DATUM(1))));
}

ChargedGroup charge_group(FunctionCallInfo fcinfo, Family family) {
  require_aggregate(fcinfo);
  refuse_parallel_worker();
  RecordsState* state = state_argument(fcinfo, 0);
  FinalContext* context = charge_execution(fcinfo, family);
  const AggregateParameters* parameters = context->parameters;
  if (state == nullptr) return {parameters, nullptr, 0, &context->kept};
  if (!same_parameters(&state->parameters, parameters)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("the parameters of the aggregate changed during the query"),
                    errhint("Use literals or query parameters.")));
  }
  return {parameters, state->records(), state->count, &context->kept};
}

}  // namespace dpquantile

using namespace dpquantile;

// (state, state) returns state
Datum dpq_records_combine(PG_FUNCTION_ARGS) {
  require_aggregate(fcinfo);
  RecordsState* into = state_argument(fcinfo, 0);
  RecordsState* from = state_argument(fcinfo, 1);
  if (from == nullptr) return keep_state(fcinfo);
  if (into == nullptr) PG_RETURN_POINTER(from);
  if (!same_parameters(&into->parameters, &from->parameters)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("partial states of different aggregate calls cannot be combined")));
  }
  into = reserve(into, from->count);
  const std::size_t size = record_size(into->kind);
  memcpy(into->records() + into->count * size, from->records(), from->count * size);
  into->count += from->count;
  PG_RETURN_POINTER(into);
}
