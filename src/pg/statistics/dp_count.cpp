// dp_count, dp_count_distinct and dp_keep_group.
#include "core/moments/noisy_count.hpp"

#include <algorithm>

#include "pg/aggregate/sums_aggregate.hpp"
#include "pg/release/group_release.hpp"

extern "C" {
#include "access/htup_details.h"
#include "funcapi.h"
}

namespace dpquantile {

namespace {

uint64 rows_of(const ChargedGroup& group) {
  return group.state ? group.state.flat->sums()->count : 0;
}

Datum release_number(const ChargedGroup& group, uint64 exact) {
  std::uint64_t released = 0;
  with_mechanism_context(group, [&](const MechanismContext& context) {
    released = release_count(exact, privacy_of(group.parameters), context.random).count;
  });
  PG_RETURN_INT64(static_cast<int64>(std::min<std::uint64_t>(released, PG_INT64_MAX)));
}

// The families of dp_count(epsilon) and dp_count(value, epsilon) are told apart by the symbols of
// their final functions.
Datum rows_final(FunctionCallInfo fcinfo) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  return release_number(group, rows_of(group));
}

bool draw_keep(const ChargedGroup& group, uint64 size) {
  const auto& mechanism = static_cast<const GroupSelectionMechanism&>(*group.mechanism);
  bool kept = false;
  with_mechanism_context(group, [&](const MechanismContext& context) {
    kept = mechanism.selection.draw_keep(size, context.random);
  });
  return kept;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, epsilon [, options])
DPQ_FUNCTION(dpq_count_transition) {
  return count_row(fcinfo, Family::kCount);
}

// (state) returns bigint
DPQ_FUNCTION(dpq_count_final) {
  return rows_final(fcinfo);
}

// (state, value "any", epsilon [, options])
DPQ_FUNCTION(dpq_value_count_transition) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  return count_row(fcinfo, Family::kValueCount);
}

// (state) returns bigint
DPQ_FUNCTION(dpq_value_count_final) {
  return rows_final(fcinfo);
}

// (state, value anynonarray, epsilon [, options])
DPQ_FUNCTION(dpq_distinct_transition) {
  return add_hashed_row(fcinfo, Family::kDistinct);
}

// (state) returns bigint
DPQ_FUNCTION(dpq_distinct_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  return release_number(group, distinct_hashes(group.state));
}

// (state, epsilon, delta)
DPQ_FUNCTION(dpq_keep_group_transition) {
  return count_row(fcinfo, Family::kKeepGroup);
}

// (state) returns boolean
DPQ_FUNCTION(dpq_keep_group_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  PG_RETURN_BOOL(draw_keep(group, rows_of(group)));
}

// (state, user anynonarray, epsilon, delta, max_groups)
DPQ_FUNCTION(dpq_keep_user_group_transition) {
  return add_hashed_row(fcinfo, Family::kKeepUserGroup);
}

// (state) returns boolean
DPQ_FUNCTION(dpq_keep_user_group_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  if (group.bounded_users == nullptr) {
    ereport(ERROR,
            (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the users of the groups are not bounded")));
  }
  PG_RETURN_BOOL(draw_keep(group, *group.bounded_users));
}

// (epsilon, delta) returns (half_the_time bigint, always bigint)
DPQ_FUNCTION(dpq_keep_group_rows) {
  const float8 epsilon = stated_amount(PG_GETARG_FLOAT8(0));
  const float8 delta = stated_amount(PG_GETARG_FLOAT8(1));
  uint64 half = 0;
  uint64 always = 0;
  report(guarded([&] {
    const GroupSelection selection(epsilon, delta);
    half = selection.rows_kept_half_the_time();
    always = selection.rows_always_kept();
  }));
  TupleDesc row_type;
  if (get_call_result_type(fcinfo, nullptr, &row_type) != TYPEFUNC_COMPOSITE) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the function must return a row")));
  }
  Datum values[] = {Int64GetDatum(static_cast<int64>(half)),
                    Int64GetDatum(static_cast<int64>(always))};
  bool nulls[lengthof(values)] = {};
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row_type), values, nulls)));
}
