#include "pg/release/release_call.hpp"

#include "core/privacy/group_privacy.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "pg/aggregate/call_parameters.hpp"
#include "pg/aggregate/user_hash.hpp"
#include "pg/aggregate/user_key.hpp"
#include "pg/limits/row_limit.hpp"
#include "pg/parameters/private_call.hpp"
#include "pg/release/answering_method.hpp"
#include "pg/release/group_release.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "parser/parse_agg.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

// A final function looks up the type of its answers, and the columns of a row, for the first group.
// Whether there is a group may depend on a row, so this comes first.
void look_up_answers(Oid type) {
  const Oid element = get_element_type(type);
  const Oid single = OidIsValid(element) ? element : type;
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(single, &length, &by_value, &alignment);
  if (!type_is_rowtype(single)) return;
  TupleDesc columns = lookup_rowtype_tupdesc(single, -1);
  ReleaseTupleDesc(columns);
}

// A final function may ask for its result type.
void look_up_final_function(ReleaseCall* call) {
  const Aggref* aggref = call->aggref;
  const Oid function = final_function_of(aggref);
  fmgr_info_cxt(function, &call->final_function, CurrentMemoryContext);
  Oid state_type = aggref->aggtranstype;
  Expr* expression = nullptr;
  build_aggregate_finalfn_expr(&state_type, 1, state_type, aggref->aggtype, aggref->inputcollid,
                               function, &expression);
  fmgr_info_set_expr(as<Node>(expression), &call->final_function);
  look_up_answers(aggref->aggtype);
}

// A call on no rows must fail with the same errors about the user as on rows.
uint64 user_key_check(const ReleaseCall* call) {
  if (!call->family->hashes_first_argument()) return 0;
  read_user_key();
  const UserHash* hash = call->family->hashes_users()
                             ? make_user_hash(call->aggref, CurrentMemoryContext)
                             : make_value_hash(call->aggref, CurrentMemoryContext);
  return hash->key_check;
}

// With the guarantee of one row, in the current memory context.
const AggregateParameters* parameters_of_row(const ReleaseCall& call,
                                             const AggregateParameters* stated) {
  if (call.most_rows == 0) return stated;
  PrivacyParameter of_row{};
  report(guarded([&] {
    of_row = guarantee_of_row(privacy_of(stated), static_cast<std::uint32_t>(call.most_rows));
  }));
  return with_guarantee(stated, of_row.value);
}

ReleaseCosts costs_of(const ReleaseCall& call, const AggregateParameters* stated,
                      const Mechanism& mechanism) {
  if (call.most_rows == 0) return mechanism.costs();
  ReleaseCosts costs;
  report(guarded([&] {
    costs = costs_of_person(mechanism.costs(), privacy_of(stated),
                            static_cast<std::uint32_t>(call.most_rows));
  }));
  return costs;
}

AggregateParameters* keep_copy(const AggregateParameters* parameters, MemoryContext lasting) {
  const std::size_t size = size_of(parameters);
  auto* kept = static_cast<AggregateParameters*>(MemoryContextAlloc(lasting, size));
  memcpy(kept, parameters, size);
  return kept;
}

void forget_parameters(ReleaseCall* call) {
  if (call->drawn != call->checked) pfree(call->drawn);
  pfree(call->checked);
  call->checked = nullptr;
  MemoryContextDelete(call->mechanism.context);
}

// Keeps a copy of the parameters and prepares their mechanism, unless the last execution had the
// same parameters and method.
void keep_parameters(ReleaseCall* call, const AggregateParameters* parameters,
                     MemoryContext lasting) {
  const AggregateParameters* of_row = parameters_of_row(*call, parameters);
  const Method method = answering_method(of_row);
  if (call->checked != nullptr) {
    if (same_parameters(call->checked, parameters) && call->method == method) return;
    forget_parameters(call);
  }
  const PreparedMechanism mechanism = prepare_mechanism(with_method(of_row, method), lasting);
  call->costs = costs_of(*call, parameters, *mechanism.mechanism);
  call->mechanism = mechanism;
  call->method = method;
  AggregateParameters* kept = keep_copy(parameters, lasting);
  call->drawn = of_row == parameters ? kept : keep_copy(of_row, lasting);
  call->checked = kept;
}

}  // namespace

ReleaseCall make_release_call(const CustomScan* plan, int column, PlanState* node) {
  ReleaseCall call{};
  call.aggref = call_in_column(plan, column);
  call.column = column;
  call.family = private_family(call.aggref);
  call.name = get_func_name(call.aggref->aggfnoid);
  if (call.family == nullptr || call.name == nullptr) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                    errmsg("a private aggregate changed after the query was planned")));
  }
  call.most_rows = most_rows_of(call.aggref);
  call.parameters = parameter_expressions(call.aggref, call.family->arguments_from_rows());
  call.arguments = prepare_arguments(call.parameters, node);
  look_up_final_function(&call);
  return call;
}

void prepare_call(ReleaseCall* call, ExprContext* expressions, MemoryContext lasting) {
  const CallArguments arguments = evaluate_arguments(call->arguments, expressions);
  const AggregateParameters* checked =
      checked_parameters(call->family->family, call->aggref, arguments, user_key_check(call));
  keep_parameters(call, checked, lasting);
}

namespace {

// Whether the costs cover a row that moves from a group to another: each group is charged, or the
// users are left in a few groups.
bool is_charged_alone(const ReleaseCall& call) {
  return is_charged_by_group(call) || call.family->bounds_groups_of_users();
}

}  // namespace

Charge charge_for(const ReleaseCall& call, const ChargedRows& rows, int times) {
  const MethodRow& method = *find_method(*call.family, call.method);
  Charge charge;
  charge.function = call.name;
  charge.mechanism = method.name.data();
  charge.neighbours = rows.have_persons || call.most_rows > 0 ? kOneUser
                      : rows.have_keys                        ? method.neighbours_in_groups
                                                              : method.neighbours;
  const ReleaseCosts& costs = call.costs;
  const bool may_move = rows.have_keys && !is_charged_alone(call);
  charge.costs = may_move || rows.are_joined ? costs_in_groups(costs) : costs;
  charge.times = times;
  const bool by_group = is_charged_by_group(call);
  charge.grouping_sets = by_group ? 1 : times;
  charge.groups = by_group ? times : rows.have_keys ? -1 : 1;
  return charge;
}

NullableDatum answer_call(ReleaseCall* call, RandomStream* random, NullableDatum state,
                          double* error) {
  ReleaseContext context =
      make_release_context({call->checked, call->drawn, call->mechanism.mechanism, random,
                            call->bounded_users, call->error_column == 0 ? nullptr : error});
  LOCAL_FCINFO(fcinfo, 1);
  InitFunctionCallInfoData(*fcinfo, &call->final_function, 1, call->aggref->inputcollid,
                           reinterpret_cast<Node*>(&context), nullptr);
  fcinfo->args[0] = state;
  NullableDatum answer;
  answer.value = FunctionCallInvoke(fcinfo);
  answer.isnull = fcinfo->isnull;
  return answer;
}

}  // namespace dpquantile
