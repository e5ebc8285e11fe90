#include "pg/aggregate/aggregate.hpp"

#include <cmath>

#include "pg/aggregate/execution.hpp"
#include "pg/aggregate/query_random.hpp"
#include "pg/aggregate/user_hash.hpp"
#include "pg/charge/charge.hpp"
#include "pg/parameters/zcdp_cost.hpp"
#include "pg/state/group_pools.hpp"

extern "C" {
#include "access/parallel.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

StateRef state_argument(FunctionCallInfo fcinfo, int number) {
  return PG_ARGISNULL(number) ? StateRef{} : get_state(PG_GETARG_DATUM(number));
}

// DISTINCT makes the number of rows that count of a user depend on the values.
void check_distinct(const Aggref* call, const AggregateParameters* parameters) {
  if (call->aggdistinct == NIL || !is_user_level(parameters->family)) return;
  if (parameters->method == static_cast<Method>(UserMethod::kBounded)) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("DISTINCT does not go with a mechanism for which the rows per user are "
                         "public"),
                  errdetail("How many different rows a user has depends on the values."),
                  errhint("Leave DISTINCT out. The method bounded of dp_user_mean and "
                          "dp_user_variance goes with it.")));
}

const AggregateParameters* parameters_of_group(FunctionCallInfo fcinfo, Family family,
                                               const Aggref* call, uint64 user_key_check) {
  const AggregateParameters* parameters = read_parameters(
      family, received_parameters(call, row_arguments(family), fcinfo), user_key_check);
  check_distinct(call, parameters);
  return parameters;
}

// What a transition or combine function keeps for the query.
struct KeptForQuery {
  const Aggref* call;
  GroupPools pools;
};

KeptForQuery* kept_for_query(FunctionCallInfo fcinfo) {
  FmgrInfo* function = fcinfo->flinfo;
  if (function->fn_extra == nullptr) {
    function->fn_extra = MemoryContextAllocZero(function->fn_mcxt, sizeof(KeptForQuery));
  }
  return static_cast<KeptForQuery*>(function->fn_extra);
}

const Aggref* checked_call(FunctionCallInfo fcinfo, Family family) {
  KeptForQuery* kept = kept_for_query(fcinfo);
  if (kept->call == nullptr) {
    const Aggref* found = find_user_call(fcinfo);
    check_constant_parameters(found, row_arguments(family));
    kept->call = found;
  }
  return kept->call;
}

// Where the group's state lives.
MemoryContext group_context(FunctionCallInfo fcinfo) {
  MemoryContext context;
  (void)AggCheckCallContext(fcinfo, &context);
  return context;
}

Datum expanded_datum(ExpandedRecords* records) {
  return EOHPGetRWDatum(&records->header);
}

// A state for a group's first record. The parameters are constant, so one group of a pool reads
// them for all.
Datum start_state(FunctionCallInfo fcinfo, Family family) {
  const Aggref* call = checked_call(fcinfo, family);
  GroupPools* pools = &kept_for_query(fcinfo)->pools;
  MemoryContext groups = group_context(fcinfo);
  GroupPool* pool = find_pool(pools, groups);
  if (pool == nullptr) {
    const AggregateParameters* parameters = parameters_of_group(fcinfo, family, call, 0);
    if (record_kind(parameters) != RecordKind::kRuns) {
      return PointerGetDatum(make_state(parameters));
    }
    pool = get_pool(pools, groups, parameters);
  }
  return expanded_datum(make_expanded(pool));
}

// An expanded copy of a state on a grid.
Datum expand_into_group(FunctionCallInfo fcinfo, StateRef from) {
  GroupPool* pool =
      get_pool(&kept_for_query(fcinfo)->pools, group_context(fcinfo), from.parameters());
  ExpandedRecords* records = make_expanded(pool);
  add_all(records, from);
  return expanded_datum(records);
}

Datum add_value(RecordsState* state, float8 value) {
  if (unlikely(std::isnan(value))) return PointerGetDatum(state);
  if (unlikely(state->count == state->capacity)) state = reserve(state, 1);
  state->values()[state->count++] = value;
  return PointerGetDatum(state);
}

Datum add_record(FunctionCallInfo fcinfo, Family family, float8 value) {
  Datum state = PG_ARGISNULL(0) ? start_state(fcinfo, family) : PG_GETARG_DATUM(0);
  if (!is_expanded(DatumGetPointer(state))) {
    auto* flat = reinterpret_cast<RecordsState*>(DatumGetPointer(state));
    require_family(flat, family);
    if (flat->kind == RecordKind::kValue) return add_value(flat, value);
    state = expand_into_group(fcinfo, {flat, nullptr});
  }
  get_expanded(DatumGetPointer(state))->add(value);
  return state;
}

// What a final function keeps for the query: the call, and the parameters of the execution that has
// been charged.
struct FinalContext {
  const Aggref* call;
  List* prepared;
  uint64 user_key_check;
  AggregateParameters* parameters;
  bool charged;
  uint64 execution;
  RandomStream* random;
  void* kept;
};

FinalContext* final_context(FunctionCallInfo fcinfo, Family family) {
  if (fcinfo->flinfo->fn_extra != nullptr) {
    return static_cast<FinalContext*>(fcinfo->flinfo->fn_extra);
  }
  const Aggref* call = find_user_call(fcinfo);
  check_constant_parameters(call, row_arguments(family));
  // What the transition function refuses is refused without rows as well.
  const uint64 user_key_check =
      is_user_level(family) ? make_user_hash(call, CurrentMemoryContext)->key_check : 0;
  const MemoryContext previous = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
  auto* context = static_cast<FinalContext*>(palloc0(sizeof(FinalContext)));
  context->call = call;
  context->user_key_check = user_key_check;
  context->prepared =
      prepare_parameters(call, row_arguments(family), reinterpret_cast<AggState*>(fcinfo->context));
  MemoryContextSwitchTo(previous);
  fcinfo->flinfo->fn_extra = context;
  return context;
}

// Whether one charge is for all groups of an execution.
bool groups_share_charge(Family family) {
  return !is_user_level(family);
}

Charge describe_charge(const FinalContext* context, const AggState* node) {
  const bool shared = groups_share_charge(context->parameters->family);
  Charge charge;
  charge.function = get_func_name(context->call->aggfnoid);
  charge.mechanism = method_name(context->parameters->family, context->parameters->method);
  charge.neighbours = neighbours(context->parameters, has_group_keys(node));
  const PrivacyParameter privacy = privacy_of(context->parameters);
  if (privacy.measure == PrivacyMeasure::kPure) charge.epsilon = privacy.value;
  charge.delta = context->parameters->delta;
  charge.rho = zcdp_cost(context->parameters);
  charge.grouping_sets = shared ? count_grouping_sets(node) : 1;
  charge.for_one_group = !shared && has_group_keys(node);
  charge.groups = shared && has_group_keys(node) ? -1 : 1;
  return charge;
}

// Reads the parameters and charges for them, unless another group of the execution has done so for
// all.
FinalContext* charge_once(FunctionCallInfo fcinfo, Family family) {
  auto* node = reinterpret_cast<AggState*>(fcinfo->context);
  FinalContext* context = final_context(fcinfo, family);
  const uint64 execution = groups_share_charge(family) ? current_execution(node) : 0;
  if (groups_share_charge(family) && context->charged && context->execution == execution) {
    return context;
  }

  context->charged = false;
  const AggregateParameters* parameters = read_parameters(
      family, evaluate_parameters(context->call, row_arguments(family), context->prepared, node),
      context->user_key_check);
  check_distinct(context->call, parameters);
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

RecordsState* append(RecordsState* into, RecordsState* from) {
  into = reserve(into, from->count);
  const std::size_t size = record_size(into->kind);
  memcpy(into->records() + into->count * size, from->records(), from->count * size);
  into->count += from->count;
  return into;
}

// Appends the rows of `from` under the numbers that their grids have in `into`.
RecordsState* append_with_grids(RecordsState* into, RecordsState* from) {
  const GridNames* names = from->grid_names();
  auto* number = static_cast<uint32*>(palloc(names->count() * sizeof(uint32) + 1));
  for (uint32 i = 0; i < names->count(); ++i) {
    CHECK_FOR_INTERRUPTS();
    into = find_or_add_grid(into, names->name(i), &number[i]);
  }
  into = reserve(into, from->count);
  for (uint32 i = 0; i < from->count; ++i) {
    CHECK_FOR_INTERRUPTS();
    UserRow row = from->user_rows()[i];
    row.grid = number[row.grid];
    into->user_rows()[into->count++] = row;
  }
  pfree(number);
  return into;
}

Datum combine_runs(FunctionCallInfo fcinfo, StateRef into, StateRef from) {
  const bool in_place = into.expanded != nullptr && is_expanded(PG_GETARG_POINTER(0));
  const Datum result = in_place ? PG_GETARG_DATUM(0) : expand_into_group(fcinfo, into);
  add_all(get_expanded(DatumGetPointer(result)), from);
  return result;
}

bool is_on_grid(StateRef state) {
  return record_kind(state.parameters()) == RecordKind::kRuns;
}

// A group that begins with this state. A flat one is copied by the executor.
Datum begin_group_with(FunctionCallInfo fcinfo, StateRef from) {
  return is_on_grid(from) ? expand_into_group(fcinfo, from) : PointerGetDatum(from.flat);
}

void refuse_parallel_worker() {
  if (!IsParallelWorker()) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("a private aggregate cannot be finished inside a parallel worker"),
                  errdetail("Every worker would release and be charged for its own answer."),
                  errhint("SET max_parallel_workers_per_gather = 0 for this query.")));
}

}  // namespace

void require_family(const RecordsState* state, Family family) {
  if (likely(state->parameters.family == family)) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("the state of a private aggregate is that of another function")));
}

RecordsState* start_group(FunctionCallInfo fcinfo, Family family, const Aggref* call,
                          uint64 user_key_check) {
  return make_state(parameters_of_group(fcinfo, family, call, user_key_check));
}

Datum add_row_to_any(FunctionCallInfo fcinfo, Family family) {
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
  const StateRef state = state_argument(fcinfo, 0);
  FinalContext* context = charge_once(fcinfo, family);
  const AggregateParameters* parameters = context->parameters;
  if (state && !same_parameters(state.parameters(), parameters)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("the parameters of the aggregate changed during the query"),
                    errhint("Use literals or query parameters.")));
  }
  if (context->random == nullptr) context->random = make_query_random(fcinfo->flinfo->fn_mcxt);
  return {parameters, state, context->random, &context->kept};
}

std::span<float8> ChargedGroup::values() const {
  if (!state) return {};
  return {state.flat->values(), state.flat->count};
}

std::span<UserRow> ChargedGroup::user_rows() const {
  if (!state) return {};
  return {state.flat->user_rows(), state.flat->count};
}

GridNames* ChargedGroup::grid_names() const {
  return state && state.flat->has_grid_names() ? state.flat->grid_names() : nullptr;
}

Histogram ChargedGroup::histogram(CancelPoll& cancel, std::pmr::memory_resource* memory) const {
  return histogram_of(state, parameters->grid.cells, cancel, memory);
}

}  // namespace dpquantile

using namespace dpquantile;

// (state, state) returns state
DPQ_FUNCTION(dpq_records_combine) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  const StateRef from = state_argument(fcinfo, 1);
  if (PG_ARGISNULL(0)) return begin_group_with(fcinfo, from);
  const StateRef into = state_argument(fcinfo, 0);
  if (!same_parameters(into.parameters(), from.parameters())) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("partial states of different aggregate calls cannot be combined")));
  }
  if (is_on_grid(into)) return combine_runs(fcinfo, into, from);
  if (into.flat->has_grid_names()) PG_RETURN_POINTER(append_with_grids(into.flat, from.flat));
  PG_RETURN_POINTER(append(into.flat, from.flat));
}
