// dp_covar_pop, dp_covar_samp, dp_corr, dp_regr_slope, dp_regr_intercept and dp_regr_r2.
#include <cmath>
#include <optional>

#include "core/moments/pair_moments.hpp"
#include "pg/aggregate/sums_aggregate.hpp"
#include "pg/release/group_release.hpp"
#include "pg/statistics/records_of_rows.hpp"

namespace dpquantile {

namespace {

PairSums* pairs_of(Datum state, Family family) {
  auto* flat = reinterpret_cast<RecordsState*>(DatumGetPointer(state));
  require_family(flat, family);
  return flat->pairs();
}

// Adds a row: (state, value, x, parameters...) returns state. Ignores a row of which either is NULL
// or NaN. ereports as add_row() does.
Datum add_row_of_two(FunctionCallInfo fcinfo, Family family) {
  require_aggregate(fcinfo);
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) return keep_state(fcinfo);
  const Datum state = state_of_group(fcinfo, family);
  const KeptCall* kept = kept_call(fcinfo, family);
  const float8 value = number_of_value(kept->value_type, PG_GETARG_DATUM(1));
  const float8 x = number_of_value(kept->x_type, PG_GETARG_DATUM(2));
  if (std::isnan(value) || std::isnan(x)) return state;
  PairSums* pairs = pairs_of(state, family);
  add_pair(pairs, reinterpret_cast<RecordsState*>(DatumGetPointer(state))->parameters, value, x);
  return state;
}

// What statistic(const PairMoments&) gives of the noisy sums; NULL if nothing.
template <class Statistic>
Datum release_of_two(FunctionCallInfo fcinfo, const PairDegrees& degrees, Statistic statistic) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  std::optional<double> answer;
  with_mechanism_context(group, [&](const MechanismContext& context) {
    const PairSums pairs = group.state ? *group.state.flat->pairs() : PairSums{};
    const PairMoments moments = release_pair_moments(pairs, fixed_point_of(group.parameters),
                                                     fixed_point_of_x(group.parameters), degrees,
                                                     privacy_of(group.parameters), context.random);
    answer = statistic(moments);
    if (group.error != nullptr) *group.error = moments.error_of_covariance();
  });
  if (!answer) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(*answer);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value, x, epsilon, lower, upper, x_lower, x_upper [, options])
DPQ_FUNCTION(dpq_covariance_transition) {
  return add_row_of_two(fcinfo, Family::kCovariance);
}

// (state, value, x, epsilon, lower, upper, x_lower, x_upper [, options])
DPQ_FUNCTION(dpq_regression_transition) {
  return add_row_of_two(fcinfo, Family::kRegression);
}

// (state) returns float8, here and below
DPQ_FUNCTION(dpq_covar_pop_final) {
  return release_of_two(fcinfo, kDegreesOfCovariance,
                        [](const PairMoments& moments) { return moments.covariance(); });
}

DPQ_FUNCTION(dpq_covar_samp_final) {
  return release_of_two(fcinfo, kDegreesOfCovariance,
                        [](const PairMoments& moments) { return moments.sample_covariance(); });
}

DPQ_FUNCTION(dpq_regr_slope_final) {
  return release_of_two(fcinfo, kDegreesOfSlope,
                        [](const PairMoments& moments) { return moments.slope(); });
}

DPQ_FUNCTION(dpq_regr_intercept_final) {
  return release_of_two(fcinfo, kDegreesOfSlope,
                        [](const PairMoments& moments) { return moments.intercept(); });
}

DPQ_FUNCTION(dpq_corr_final) {
  return release_of_two(fcinfo, kDegreesOfCorrelation,
                        [](const PairMoments& moments) { return moments.correlation(); });
}

DPQ_FUNCTION(dpq_regr_r2_final) {
  return release_of_two(fcinfo, kDegreesOfCorrelation,
                        [](const PairMoments& moments) { return moments.determination(); });
}
