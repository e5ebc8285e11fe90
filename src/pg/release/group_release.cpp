#include "pg/release/group_release.hpp"

#include "pg/aggregate/call_parameters.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// Its address distinguishes a ReleaseContext from all other nodes.
constexpr char kContextName[] = "dpquantile release";

const ReleaseContext* release_context(FunctionCallInfo fcinfo) {
  return reinterpret_cast<const ReleaseContext*>(fcinfo->context);
}

}  // namespace

ReleaseContext make_release_context(const ChargedCall& call) {
  return {{T_ExtensibleNode, kContextName}, call};
}

bool called_by_release(FunctionCallInfo fcinfo) {
  return fcinfo->context != nullptr && IsA(fcinfo->context, ExtensibleNode) &&
         release_context(fcinfo)->node.extnodename == kContextName;
}

Datum state_for_release(FunctionCallInfo fcinfo) {
  (void)find_released_call(fcinfo);
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

ValueType answer_type(FunctionCallInfo fcinfo) {
  const Oid declared = get_fn_expr_rettype(fcinfo->flinfo);
  const Oid element = get_element_type(declared);
  const auto type = find_value_type(OidIsValid(element) ? element : declared);
  if (type) return *type;
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("private answers cannot be of type %s", format_type_be(declared))));
}

ChargedGroup charged_group(FunctionCallInfo fcinfo) {
  const ChargedCall& call = release_context(fcinfo)->call;
  const StateRef state = PG_ARGISNULL(0) ? StateRef{} : get_state(PG_GETARG_DATUM(0));
  if (state && !same_parameters(state.parameters(), call.parameters)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("the parameters of the aggregate changed during the query"),
                    errhint("Use literals or query parameters.")));
  }
  return {call.drawn, state, call.mechanism, call.random, call.bounded_users, call.error};
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

std::pmr::vector<std::uint64_t> ChargedGroup::counts(const Workspace& work) const {
  return counts_of(state, parameters->grid.cells, work);
}

}  // namespace dpquantile
