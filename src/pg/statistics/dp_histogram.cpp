// dp_histogram: the number of values in each bin.
#include <algorithm>
#include <optional>

#include "core/noisy_histogram/bin_bounds.hpp"
#include "core/noisy_histogram/noisy_histogram.hpp"
#include "pg/aggregate/aggregate.hpp"
#include "pg/release/group_release.hpp"
#include "pg/statistics/records_of_rows.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/array.h"
}

namespace dpquantile {

namespace {

Datum add_bin_of_row(FunctionCallInfo fcinfo, float8 value) {
  const Datum state = expanded_state(fcinfo, Family::kHistogram);
  add_to_bin(get_expanded(DatumGetPointer(state)), value);
  return state;
}

Datum draw_counts(const ChargedGroup& group) {
  const uint32 bins = group.parameters->bins;
  auto* counts = static_cast<int64*>(palloc(bins * sizeof(int64)));
  with_mechanism_context(group, [&](const MechanismContext& context) {
    const auto exact = group.counts(context);
    std::ranges::copy(release_histogram(exact, privacy_of(group.parameters), context), counts);
  });
  auto* values = static_cast<Datum*>(palloc(bins * sizeof(Datum)));
  for (uint32 i = 0; i < bins; ++i) values[i] = Int64GetDatum(counts[i]);
  return PointerGetDatum(construct_array(values, static_cast<int>(bins), INT8OID, sizeof(int64),
                                         FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value, epsilon, bounds [, options])
DPQ_FUNCTION(dpq_histogram_transition) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1)) return keep_state(fcinfo);
  const ValueType type = value_type_of_rows(fcinfo, Family::kHistogram);
  return add_bin_of_row(fcinfo, number_of_value(type, PG_GETARG_DATUM(1)));
}

// (state) returns bigint[]
DPQ_FUNCTION(dpq_histogram_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  return draw_counts(charged_group(fcinfo));
}

// (epsilon, confidence) returns bigint
DPQ_FUNCTION(dpq_histogram_error) {
  const PrivacyParameter privacy = pure(stated_amount(PG_GETARG_FLOAT8(0)));
  const float8 confidence = PG_GETARG_FLOAT8(1);
  uint64 error = 0;
  report(guarded([&] { error = histogram_error(privacy, confidence); }));
  PG_RETURN_INT64(static_cast<int64>(std::min<uint64>(error, PG_INT64_MAX)));
}
