// dp_quantiles, dp_quantile and dp_median: transition, combine and final functions.
#include "core/quantiles.hpp"

#include <algorithm>
#include <cmath>

#include "core/histogram.hpp"
#include "pg/boundary.hpp"
#include "pg/charge.hpp"
#include "pg/execution.hpp"
#include "pg/quantiles_state.hpp"

extern "C" {
#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(dpq_quantiles_transition);
PG_FUNCTION_INFO_V1(dpq_quantiles_transition_numeric);
PG_FUNCTION_INFO_V1(dpq_quantiles_combine);
PG_FUNCTION_INFO_V1(dpq_quantiles_final);
PG_FUNCTION_INFO_V1(dpq_quantile_final);
DPQ_EXPORT Datum dpq_quantiles_transition(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_quantiles_transition_numeric(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_quantiles_combine(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_quantiles_final(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_quantile_final(PG_FUNCTION_ARGS);
}

namespace dpquantile {

namespace {

constexpr const char* kNeighbours = "add or remove one row";

QuantilesState* state_argument(FunctionCallInfo fcinfo, int number) {
  return PG_ARGISNULL(number) ? nullptr : get_state(PG_GETARG_DATUM(number));
}

// The first record of a group: the state is made from the call's parameters.
QuantilesState* start_state(FunctionCallInfo fcinfo) {
  if (fcinfo->flinfo->fn_extra == nullptr) {
    Aggref* found = find_user_call(fcinfo);
    check_constant_parameters(found);
    fcinfo->flinfo->fn_extra = found;
  }
  const auto* call = static_cast<const Aggref*>(fcinfo->flinfo->fn_extra);
  return make_state(read_parameters(received_parameters(call, fcinfo)));
}

// Adds one record. NaN is ignored, infinities and values out of bounds go to the grid's ends.
Datum add_record(FunctionCallInfo fcinfo, float8 value) {
  QuantilesState* state =
      PG_ARGISNULL(0) ? nullptr : reinterpret_cast<QuantilesState*>(PG_GETARG_POINTER(0));
  if (unlikely(state == nullptr)) state = start_state(fcinfo);
  if (unlikely(std::isnan(value))) PG_RETURN_POINTER(state);
  if (unlikely(state->count == state->capacity)) state = reserve(state, 1);
  state->cells()[state->count++] = state->parameters.grid.cell_of(value);
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
  QuantilesParameters* parameters;
  bool charged;
  uint64 execution;
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
  charge.mechanism = method_name(context->parameters->method);
  charge.neighbours = kNeighbours;
  charge.epsilon = context->parameters->epsilon;
  charge.delta = 0;
  charge.grouping_sets = count_grouping_sets(node);
  charge.groups = has_group_keys(node) ? -1 : 1;
  return charge;
}

// Reads the parameters and charges for them, once for each execution of the aggregate node: its
// groups are disjoint (parallel composition, docs/privacy.md).
const QuantilesParameters* charge_execution(FunctionCallInfo fcinfo) {
  auto* node = reinterpret_cast<AggState*>(fcinfo->context);
  FinalContext* context = final_context(fcinfo);
  const uint64 execution = current_execution(node);
  if (context->charged && context->execution == execution) return context->parameters;

  context->charged = false;
  const QuantilesParameters* parameters =
      read_parameters(evaluate_parameters(context->call, context->prepared, node));
  const std::size_t size = parameters_size(parameters->quantile_count);
  if (context->parameters != nullptr) pfree(context->parameters);
  context->parameters = nullptr;
  context->parameters =
      static_cast<QuantilesParameters*>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, size));
  memcpy(context->parameters, parameters, size);

  charge_budget(describe_charge(context, node));
  context->execution = execution;
  context->charged = true;
  return context->parameters;
}

void refuse_parallel_worker() {
  if (!IsParallelWorker()) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("a private aggregate cannot be finished inside a parallel worker"),
                  errdetail("Every worker would release and be charged for its own answer."),
                  errhint("SET max_parallel_workers_per_gather = 0 for this query.")));
}

// Draws the answer's cells. The budget must have been charged.
void draw_answer(const QuantilesParameters* parameters, uint32* records, uint32 count,
                 uint32* answer) {
  MemoryContext scratch =
      AllocSetContextCreate(CurrentMemoryContext, "dpquantile scratch", ALLOCSET_DEFAULT_SIZES);
  const Failure failure = guarded([&] {
    ContextMemory memory(scratch);
    CancelPoll cancel(cancel_requested);
    CsprngSource source;
    RandomStream random(source);
    const Histogram data({records, count}, parameters->grid.cells, cancel, &memory);
    const auto cells = approximate_quantiles(data, parameters->grid.cells,
                                             {parameters->quantiles, parameters->quantile_count},
                                             parameters->epsilon, random, cancel, &memory);
    std::copy(cells.begin(), cells.end(), answer);
  });
  report(failure);
  MemoryContextDelete(scratch);
}

struct Answer {
  const QuantilesParameters* parameters;
  const uint32* cells;
};

// The answer for a group, drawn once its execution has been charged.
Answer answer_group(FunctionCallInfo fcinfo) {
  require_aggregate(fcinfo);
  refuse_parallel_worker();
  QuantilesState* state = state_argument(fcinfo, 0);
  const QuantilesParameters* parameters = charge_execution(fcinfo);
  if (state != nullptr && !same_parameters(&state->parameters, parameters)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("the parameters of the aggregate changed during the query"),
                    errhint("Use literals or query parameters.")));
  }
  auto* cells = static_cast<uint32*>(palloc(parameters->quantile_count * sizeof(uint32)));
  if (state == nullptr) {
    draw_answer(parameters, nullptr, 0, cells);
  } else {
    draw_answer(parameters, state->cells(), state->count, cells);
  }
  return {parameters, cells};
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value float8, [quantiles float8[] | quantile float8,] epsilon, lower, upper [, options])
Datum dpq_quantiles_transition(PG_FUNCTION_ARGS) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  return add_record(fcinfo, PG_GETARG_FLOAT8(1));
}

// The same for numeric values: a number beyond float8 must not raise an error, it is clamped.
Datum dpq_quantiles_transition_numeric(PG_FUNCTION_ARGS) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  return add_record(
      fcinfo, DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, PG_GETARG_DATUM(1))));
}

// (state, state) returns state
Datum dpq_quantiles_combine(PG_FUNCTION_ARGS) {
  require_aggregate(fcinfo);
  QuantilesState* into = state_argument(fcinfo, 0);
  QuantilesState* from = state_argument(fcinfo, 1);
  if (from == nullptr) return keep_state(fcinfo);
  if (into == nullptr) PG_RETURN_POINTER(from);
  if (!same_parameters(&into->parameters, &from->parameters)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("partial states of different aggregate calls cannot be combined")));
  }
  into = reserve(into, from->count);
  memcpy(into->cells() + into->count, from->cells(), from->count * sizeof(uint32));
  into->count += from->count;
  PG_RETURN_POINTER(into);
}

// (state) returns float8[]
Datum dpq_quantiles_final(PG_FUNCTION_ARGS) {
  const Answer answer = answer_group(fcinfo);
  const uint32 count = answer.parameters->quantile_count;
  auto* values = static_cast<Datum*>(palloc(count * sizeof(Datum)));
  for (uint32 i = 0; i < count; ++i) {
    values[i] = Float8GetDatum(answer.parameters->grid.value_of(answer.cells[i]));
  }
  PG_RETURN_ARRAYTYPE_P(construct_array(values, static_cast<int>(count), FLOAT8OID, sizeof(float8),
                                        FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

// (state) returns float8
Datum dpq_quantile_final(PG_FUNCTION_ARGS) {
  const Answer answer = answer_group(fcinfo);
  PG_RETURN_FLOAT8(answer.parameters->grid.value_of(answer.cells[0]));
}
