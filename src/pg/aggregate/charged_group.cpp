#include "pg/aggregate/charged_group.hpp"

#include "pg/aggregate/call_parameters.hpp"
#include "pg/aggregate/execution.hpp"
#include "pg/aggregate/query_random.hpp"
#include "pg/aggregate/user_hash.hpp"
#include "pg/charge/charge.hpp"

extern "C" {
#include "access/parallel.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// What a final function keeps for the query: the call, and the parameters and mechanism that it
// charged last.
struct FinalContext {
  const Aggref* call;
  List* prepared;
  uint64 user_key_check;
  AggregateParameters* parameters;
  PreparedMechanism mechanism;
  bool charged;
  uint64 execution;
  RandomStream* random;
};

FinalContext* final_context(FunctionCallInfo fcinfo, Family family) {
  if (fcinfo->flinfo->fn_extra != nullptr) {
    return static_cast<FinalContext*>(fcinfo->flinfo->fn_extra);
  }
  const FamilyRow& row = row_of(family);
  const Aggref* call = find_checked_call(fcinfo, row);
  // A call on no rows must fail with the same errors about the user as on rows.
  const uint64 user_key_check =
      row.protects_users() ? make_user_hash(call, CurrentMemoryContext)->key_check : 0;
  const MemoryContext previous = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
  auto* context = static_cast<FinalContext*>(palloc0(sizeof(FinalContext)));
  context->call = call;
  context->user_key_check = user_key_check;
  context->prepared = prepare_parameters(call, row.arguments_from_rows(),
                                         reinterpret_cast<AggState*>(fcinfo->context));
  MemoryContextSwitchTo(previous);
  fcinfo->flinfo->fn_extra = context;
  return context;
}

bool groups_share_charge(Family family) {
  return row_of(family).charged == ChargeRule::kOncePerExecution;
}

Charge describe_charge(const FinalContext* context, const AggState* node) {
  const bool shared = groups_share_charge(context->parameters->family);
  Charge charge;
  charge.function = get_func_name(context->call->aggfnoid);
  const MethodRow& method = method_of(context->parameters);
  charge.mechanism = method.name.data();
  charge.neighbours = has_group_keys(node) ? method.neighbours_in_groups : method.neighbours;
  const PrivacyCost& cost = context->mechanism.mechanism->cost();
  charge.epsilon = cost.epsilon;
  charge.delta = cost.delta;
  charge.rho = cost.rho;
  charge.grouping_sets = shared ? count_grouping_sets(node) : 1;
  charge.times = charge.grouping_sets;
  charge.groups = shared && has_group_keys(node) ? -1 : 1;
  return charge;
}

// Keeps a copy of the parameters and prepares their mechanism, unless the execution or group before
// had the same parameters.
void keep_parameters(FinalContext* context, const AggregateParameters* parameters,
                     MemoryContext query_context) {
  if (context->parameters != nullptr) {
    if (same_parameters(context->parameters, parameters)) return;
    pfree(context->parameters);
    context->parameters = nullptr;
    MemoryContextDelete(context->mechanism.context);
  }
  const PreparedMechanism mechanism = prepare_mechanism(parameters, query_context);
  const std::size_t size = parameters_size(parameters->quantile_count);
  auto* kept = static_cast<AggregateParameters*>(MemoryContextAlloc(query_context, size));
  memcpy(kept, parameters, size);
  context->mechanism = mechanism;
  context->parameters = kept;
}

// Evaluates the parameters and charges for them, unless another group of the execution has paid for
// all groups.
FinalContext* charge_once(FunctionCallInfo fcinfo, Family family) {
  auto* node = reinterpret_cast<AggState*>(fcinfo->context);
  FinalContext* context = final_context(fcinfo, family);
  const uint64 execution = groups_share_charge(family) ? current_execution(node) : 0;
  if (groups_share_charge(family) && context->charged && context->execution == execution) {
    return context;
  }

  const bool after_first_group =
      context->charged && !groups_share_charge(family) && has_group_keys(node);
  context->charged = false;
  const AggregateParameters* parameters = evaluate_call_parameters(
      family, context->call, context->prepared, node, context->user_key_check);
  keep_parameters(context, parameters, fcinfo->flinfo->fn_mcxt);

  const Charge charge = describe_charge(context, node);
  charge_budget({&charge, 1}, after_first_group);
  context->execution = execution;
  context->charged = true;
  return context;
}

void refuse_parallel_worker() {
  if (!IsParallelWorker()) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("a private aggregate cannot be finished inside a parallel worker"),
                  errdetail("Every worker would release its own answer and be charged for it."),
                  errhint("SET max_parallel_workers_per_gather = 0 for this query.")));
}

}  // namespace

ChargedGroup charge_group(FunctionCallInfo fcinfo, Family family) {
  require_aggregate(fcinfo);
  refuse_parallel_worker();
  const StateRef state = PG_ARGISNULL(0) ? StateRef{} : get_state(PG_GETARG_DATUM(0));
  FinalContext* context = charge_once(fcinfo, family);
  const AggregateParameters* parameters = context->parameters;
  if (state && !same_parameters(state.parameters(), parameters)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("the parameters of the aggregate changed during the query"),
                    errhint("Use literals or query parameters.")));
  }
  if (context->random == nullptr) context->random = make_query_random(fcinfo->flinfo->fn_mcxt);
  return {parameters, state, context->mechanism.mechanism, context->random};
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

Histogram ChargedGroup::histogram(const Workspace& work) const {
  return histogram_of(state, parameters->grid.cells, work);
}

}  // namespace dpquantile
