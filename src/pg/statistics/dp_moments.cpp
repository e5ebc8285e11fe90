// dp_sum, dp_avg, dp_variance and dp_stddev with their variants, and dp_stats.
#include "core/moments/moments.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/decimal_format.hpp"
#include "core/moments/noisy_sum.hpp"
#include "pg/aggregate/sums_aggregate.hpp"
#include "pg/release/group_release.hpp"
#include "pg/statistics/records_of_rows.hpp"

extern "C" {
#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

ValueSums sums_of(const ChargedGroup& group) {
  return group.state ? *group.state.flat->sums() : ValueSums{};
}

// The nearest multiple of the granularity, if one is given.
double rounded(double value, const AggregateParameters& parameters) {
  const double step = parameters.granularity;
  if (step == 0) return value;
  const double multiple = std::round(value / step) * step;
  return std::isfinite(multiple) ? decimal_of_step(multiple, step, std::abs(multiple)) : value;
}

// How often the step fits into the width. The quotient of decimals may lie just below a whole
// number.
double most_steps(double width, double step) {
  constexpr double kRelativeError = 1e-12;
  return std::floor(width / step * (1 + kRelativeError));
}

// The nearest of lower, lower + granularity, ... that is not above upper.
double rounded_mean(double mean, const AggregateParameters& parameters) {
  const auto [lower, upper] = fixed_point_of(&parameters);
  const double step = parameters.granularity;
  if (step == 0) return mean;
  const double steps = std::min(std::round((mean - lower) / step), most_steps(upper - lower, step));
  const double magnitude = std::max(std::abs(lower), std::abs(upper));
  return std::clamp(decimal_of_step(lower + steps * step, step, magnitude), lower, upper);
}

// The error of a rounded answer.
Estimate moved(const Estimate& estimate, double to) {
  return {to, estimate.error + std::abs(to - estimate.value)};
}

Estimate draw_sum(const ChargedGroup& group) {
  const AggregateParameters& parameters = *group.parameters;
  Estimate sum{};
  with_mechanism_context(group, [&](const MechanismContext& context) {
    sum = release_sum(sums_of(group), SumScale::create(parameters.lower, parameters.upper),
                      privacy_of(&parameters), context.random);
  });
  return sum;
}

// Calls use(const Moments&), inside guarded().
template <class Use>
void draw_moments(const ChargedGroup& group, MomentsDegree degree, Use use) {
  with_mechanism_context(group, [&](const MechanismContext& context) {
    use(release_moments(sums_of(group), fixed_point_of(group.parameters), degree,
                        privacy_of(group.parameters), context.random));
  });
}

// Leaves the error for the release node, if it asks.
Estimate noted(const ChargedGroup& group, const Estimate& estimate) {
  if (group.error != nullptr) *group.error = estimate.error;
  return estimate;
}

// A variance or deviation, of all rows or of a sample: alone, or with an error.
struct SpreadKind {
  double (Moments::*value)() const;
  Moments::Spread (Moments::*at_most)() const;
  Estimate Moments::Spread::*estimate;
};

double draw_spread(const ChargedGroup& group, const SpreadKind& kind) {
  Estimate drawn{};
  draw_moments(group, MomentsDegree::kVariance, [&](const Moments& moments) {
    drawn = group.error != nullptr ? (moments.*kind.at_most)().*kind.estimate
                                   : Estimate{(moments.*kind.value)(), 0};
  });
  return noted(group, moved(drawn, rounded(drawn.value, *group.parameters))).value;
}

Datum release_variance(FunctionCallInfo fcinfo, const SpreadKind& kind) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  const ValueType type = answer_type(fcinfo);
  return value_of_number(type, draw_spread(group, kind));
}

Datum release_stddev(FunctionCallInfo fcinfo, const SpreadKind& kind) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  const ValueType type = answer_type(fcinfo);
  return value_of_difference(group.parameters->value_type, draw_spread(group, kind), type);
}

constexpr int kStatisticsColumns = 10;

// In the order of the columns of dp_statistics, each a value and its error.
struct Statistics {
  Estimate count;
  Estimate sum;
  Estimate mean;
  Estimate variance;
  Estimate stddev;
};

Datum statistics_row(TupleDesc row_type, const Statistics& statistics) {
  const Estimate fields[] = {statistics.count, statistics.sum, statistics.mean, statistics.variance,
                             statistics.stddev};
  Datum values[kStatisticsColumns];
  bool nulls[kStatisticsColumns] = {};
  for (int i = 0; i < kStatisticsColumns; ++i) {
    const Estimate& field = fields[i / 2];
    const ValueType type =
        find_value_type(TupleDescAttr(row_type, i)->atttypid).value_or(ValueType::kFloat8);
    values[i] = value_of_number(type, i % 2 == 0 ? field.value : field.error);
  }
  return HeapTupleGetDatum(heap_form_tuple(row_type, values, nulls));
}

// The composite type that the function returns. Only a superuser can declare another one.
TupleDesc row_type_of(FunctionCallInfo fcinfo) {
  const TupleDesc row_type = lookup_rowtype_tupdesc_copy(get_fn_expr_rettype(fcinfo->flinfo), -1);
  if (row_type->natts != kStatisticsColumns) {
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the final function must return a composite type of %d columns",
                           kStatisticsColumns)));
  }
  return row_type;
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// (state, value, epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_sum_transition) {
  return add_row_to_sums(fcinfo, Family::kSum, add_shifted);
}

// (state) returns the type of the sum
DPQ_FUNCTION(dpq_sum_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  const ValueType type = answer_type(fcinfo);
  const Estimate sum = draw_sum(group);
  return value_of_number(type,
                         noted(group, moved(sum, rounded(sum.value, *group.parameters))).value);
}

// (state, value, epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_mean_transition) {
  return add_row_to_sums(fcinfo, Family::kMean, add_units);
}

// (state) returns the type of the mean
DPQ_FUNCTION(dpq_mean_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  const ValueType type = answer_type(fcinfo);
  Estimate mean{};
  draw_moments(group, MomentsDegree::kMean, [&](const Moments& moments) {
    mean = group.error != nullptr ? moments.mean_at_most() : Estimate{moments.mean_value(), 0};
  });
  return value_of_number(
      type, noted(group, moved(mean, rounded_mean(mean.value, *group.parameters))).value);
}

// (state, value, epsilon, lower, upper [, options])
DPQ_FUNCTION(dpq_moments_transition) {
  return add_row_to_sums(fcinfo, Family::kMoments, add_units);
}

// (state) returns the type of the variance
DPQ_FUNCTION(dpq_var_pop_final) {
  return release_variance(
      fcinfo, {&Moments::variance_value, &Moments::spread_at_most, &Moments::Spread::variance});
}

DPQ_FUNCTION(dpq_var_samp_final) {
  return release_variance(fcinfo, {&Moments::sample_variance_value, &Moments::sample_spread_at_most,
                                   &Moments::Spread::variance});
}

// (state) returns the type of a difference of two values
DPQ_FUNCTION(dpq_stddev_pop_final) {
  return release_stddev(
      fcinfo, {&Moments::stddev_value, &Moments::spread_at_most, &Moments::Spread::stddev});
}

DPQ_FUNCTION(dpq_stddev_samp_final) {
  return release_stddev(fcinfo, {&Moments::sample_stddev_value, &Moments::sample_spread_at_most,
                                 &Moments::Spread::stddev});
}

// (state) returns dp_statistics
DPQ_FUNCTION(dpq_stats_final) {
  if (!called_by_release(fcinfo)) return state_for_release(fcinfo);
  const ChargedGroup group = charged_group(fcinfo);
  const TupleDesc row_type = row_type_of(fcinfo);
  Statistics statistics{};
  draw_moments(group, MomentsDegree::kVariance, [&](const Moments& moments) {
    const Moments::Spread spread = moments.sample_spread();
    statistics = {moments.count(), moments.sum(), moments.mean(), spread.variance, spread.stddev};
  });
  const AggregateParameters& parameters = *group.parameters;
  for (Estimate* estimate : {&statistics.sum, &statistics.variance, &statistics.stddev}) {
    *estimate = moved(*estimate, rounded(estimate->value, parameters));
  }
  statistics.mean = moved(statistics.mean, rounded_mean(statistics.mean.value, parameters));
  return statistics_row(row_type, statistics);
}
