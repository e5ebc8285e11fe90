// topn_add_agg: the states of private aggregates over the rows of a shard (pg/distributed).
#include <cmath>

#include "pg/aggregate/sums_aggregate.hpp"
#include "pg/state/records_io.hpp"
#include "pg/statistics/records_of_rows.hpp"

extern "C" {
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

// Dates and times of another type than the parameters say would be other numbers.
void require_values_of_type(FunctionCallInfo fcinfo, const AggregateParameters* parameters) {
  const Aggref* call = kept_collecting_call(fcinfo)->call;
  if (family_of(parameters).kept == KeptOfRow::kNothing) return;
  const auto type = find_value_type(linitial_oid(call->aggargtypes));
  const bool are_numbers = type && !is_temporal(*type) && !is_temporal(parameters->value_type);
  if (are_numbers || (type && *type == parameters->value_type)) return;
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("the values are of type %s, but the parameters are for type %s",
                         format_type_be(linitial_oid(call->aggargtypes)),
                         format_type_be(oid_of(parameters->value_type))),
                  errhint("Private aggregates over distributed tables call this aggregate.")));
}

[[noreturn]] void refuse_hashes() {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("the persons or values of different shards cannot be hashed with one key"),
                  errhint("Private aggregates over distributed tables call this aggregate.")));
}

[[noreturn]] void refuse_pairs() {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("the shards give no states of two values of a row"),
                  errhint("Private aggregates over distributed tables call this aggregate.")));
}

Datum begin_collecting(FunctionCallInfo fcinfo) {
  if (PG_ARGISNULL(2)) {
    ereport(ERROR,
            (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("the parameters must not be NULL"),
             errhint("Private aggregates over distributed tables call this aggregate.")));
  }
  const RecordsState* empty = state_of_bytes(PG_GETARG_BYTEA_PP(2));
  if (family_of(&empty->parameters).hashes_first_argument()) refuse_hashes();
  if (family_of(&empty->parameters).has(Argument::kX)) refuse_pairs();
  require_values_of_type(fcinfo, &empty->parameters);
  return begin_group(fcinfo, &empty->parameters);
}

const AggregateParameters& parameters_of(Datum state) {
  const void* pointer = DatumGetPointer(state);
  if (is_expanded(pointer)) return *get_expanded(pointer)->pool->parameters;
  return static_cast<const RecordsState*>(pointer)->parameters;
}

template <class Add>
Datum add_to(Datum state, Family family, float8 value, Add add) {
  if (!std::isnan(value)) add(sums_of(state, family), parameters_of(state), value);
  return state;
}

float8 value_of_row(FunctionCallInfo fcinfo) {
  return number_of_value(kept_collecting_call(fcinfo)->value_type, PG_GETARG_DATUM(1));
}

// What the transition functions of the families do with a row.
Datum collect(FunctionCallInfo fcinfo) {
  const Datum state = PG_ARGISNULL(0) ? begin_collecting(fcinfo) : PG_GETARG_DATUM(0);
  const FamilyRow& row = family_of(&parameters_of(state));
  switch (row.kept) {
    case KeptOfRow::kNumber:
      return add_number(fcinfo, row.family, state, value_of_row(fcinfo));
    case KeptOfRow::kBin:
      add_to_bin(get_expanded(DatumGetPointer(state)), value_of_row(fcinfo));
      return state;
    case KeptOfRow::kOrdinal:
      add_to_cell(get_expanded(DatumGetPointer(state)), value_of_row(fcinfo));
      return state;
    case KeptOfRow::kNothing:
      ++sums_of(state, row.family)->count;
      return state;
    case KeptOfRow::kShiftedValue:
      return add_to(state, row.family, value_of_row(fcinfo), add_shifted);
    case KeptOfRow::kSquare:
      return add_to(state, row.family, value_of_row(fcinfo), add_units);
    case KeptOfRow::kPair:
      refuse_pairs();
    case KeptOfRow::kHash:
    case KeptOfRow::kUserRow:
      break;
  }
  refuse_hashes();
}

// Whether the state is one to which the number of a value is added in a cell of the value grid, as
// most are.
pg_attribute_always_inline bool counts_on_grid(Datum state) {
  if (!is_expanded(DatumGetPointer(state))) return false;
  return family_of(get_expanded(DatumGetPointer(state))->pool->parameters).kept ==
         KeptOfRow::kNumber;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value "any", parameters bytea) returns state. The parameters are a state without records.
DPQ_FUNCTION(dpq_collect_transition) {
  if (likely(is_in_aggregate(fcinfo) && !PG_ARGISNULL(0) && !PG_ARGISNULL(1) &&
             counts_on_grid(PG_GETARG_DATUM(0)))) {
    const ValueType type = kept_collecting_call(fcinfo)->value_type;
    get_expanded(PG_GETARG_POINTER(0))->add(number_of_value(type, PG_GETARG_DATUM(1)));
    return PG_GETARG_DATUM(0);
  }
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  return collect(fcinfo);
}

// () returns setof record. It stands for FROM while a query over distributed tables is
// planned, and has no rows.
DPQ_FUNCTION(dpq_distributed_groups) {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("distributed_groups is for the planner only"),
                  errhint("Leave distributed_groups out of queries.")));
}
