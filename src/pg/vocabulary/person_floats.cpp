#include <cfloat>
#include <cmath>
#include <limits>

#include "core/base/exact_sums.hpp"
#include "pg/vocabulary/person_variant.hpp"
#include "pg/vocabulary/total_call.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
}

// Variants of aggregates of real and double precision. PostgreSQL adds floats in the order of the
// rows and rounds each sum.
namespace dpquantile {

namespace {

constexpr int kRealBits = FLT_MANT_DIG;
constexpr int kDoubleBits = DBL_MANT_DIG;

// As many values take the room of their exact sums.
constexpr int64 kFewValues = sizeof(ExactSums) / sizeof(double);

struct FloatValues {
  int64 rows = 0;
  bool has_nan = false;
  bool has_infinity = false;
  bool has_minus_infinity = false;
  GrowingArray<double> few;  // finite ones, until there are many
  ExactSums* many = nullptr;
};

bool is_float(Oid type) {
  return type == FLOAT4OID || type == FLOAT8OID;
}

float8 value_of(FunctionCallInfo fcinfo, const PersonCallInfo* call) {
  const Datum value = fcinfo->args[kBeforeValue].value;
  return call->type == FLOAT4OID ? static_cast<float8>(DatumGetFloat4(value))
                                 : DatumGetFloat8(value);
}

Datum datum_of(const PersonCallInfo* call, float8 value) {
  return call->type == FLOAT4OID ? Float4GetDatum(static_cast<float4>(value))
                                 : Float8GetDatum(value);
}

void add_finite(const PersonCallInfo* call, FloatValues* kept, double value) {
  if (kept->many != nullptr) {
    kept->many->add(value);
    return;
  }
  kept->few.add(call->memory, value);
  if (kept->few.count <= kFewValues) return;
  kept->many = kept_or_empty<ExactSums>(call, nullptr);
  for (const double each : kept->few) kept->many->add(each);
  pfree(kept->few.values);
  kept->few = {};
}

void* add_float(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept) {
  auto* values = kept_or_empty<FloatValues>(call, kept);
  const float8 value = value_of(fcinfo, call);
  ++values->rows;
  if (std::isfinite(value)) {
    add_finite(call, values, value);
  } else if (std::isnan(value)) {
    values->has_nan = true;
  } else {
    (value > 0 ? values->has_infinity : values->has_minus_infinity) = true;
  }
  return values;
}

ExactSums sums_of(FloatValues* kept) {
  if (kept->many != nullptr) return *kept->many;
  ExactSums sums;
  for (const double value : kept->few) sums.add(value);
  return sums;
}

bool has_finite_values_only(const FloatValues* kept) {
  return !kept->has_nan && !kept->has_infinity && !kept->has_minus_infinity;
}

// The sum, and the mean, of values of which one is not finite.
float8 sum_of_infinities(const FloatValues* kept) {
  const bool is_nan = kept->has_nan || (kept->has_infinity && kept->has_minus_infinity);
  if (is_nan) return std::numeric_limits<float8>::quiet_NaN();
  const float8 infinity = std::numeric_limits<float8>::infinity();
  return kept->has_infinity ? infinity : -infinity;
}

Datum finite_or_null(FunctionCallInfo fcinfo, float8 value) {
  return std::isfinite(value) ? Float8GetDatum(value) : null_answer(fcinfo);
}

Datum real_sum(FunctionCallInfo fcinfo, const PersonCallInfo*, void* kept) {
  auto* values = static_cast<FloatValues*>(kept);
  if (!has_finite_values_only(values)) {
    return Float4GetDatum(static_cast<float4>(sum_of_infinities(values)));
  }
  const float8 sum = sums_of(values).sum().rounded(kRealBits).value();
  return std::fabs(sum) > static_cast<float8>(FLT_MAX) ? null_answer(fcinfo)
                                                       : Float4GetDatum(static_cast<float4>(sum));
}

Datum double_sum(FunctionCallInfo fcinfo, const PersonCallInfo*, void* kept) {
  auto* values = static_cast<FloatValues*>(kept);
  if (!has_finite_values_only(values)) return Float8GetDatum(sum_of_infinities(values));
  return finite_or_null(fcinfo, sums_of(values).sum().rounded(kDoubleBits).value());
}

Datum mean(FunctionCallInfo fcinfo, const PersonCallInfo*, void* kept) {
  auto* values = static_cast<FloatValues*>(kept);
  if (!has_finite_values_only(values)) return Float8GetDatum(sum_of_infinities(values));
  const auto rows = static_cast<float8>(values->rows);
  const ScaledDouble sum = sums_of(values).sum().rounded(kDoubleBits);
  return finite_or_null(fcinfo, sum.divided_by(rows).value());
}

enum class Spread { kVariance, kDeviation };

// kLess is 1 for that of a sample.
template <Spread kSpread, int kLess>
Datum spread(FunctionCallInfo fcinfo, const PersonCallInfo*, void* kept) {
  auto* values = static_cast<FloatValues*>(kept);
  if (values->rows <= kLess) return null_answer(fcinfo);
  if (!has_finite_values_only(values)) {
    return Float8GetDatum(std::numeric_limits<float8>::quiet_NaN());
  }
  const auto rows = static_cast<float8>(values->rows);
  const ScaledDouble variance =
      sums_of(values).deviations_times_count().divided_by(rows).divided_by(
          static_cast<float8>(values->rows - kLess));
  const bool is_root = kSpread == Spread::kDeviation;
  return finite_or_null(fcinfo, is_root ? variance.square_root() : variance.value());
}

bool is_above(float8 left, float8 right) {
  if (std::isnan(left)) return !std::isnan(right);
  return left > right;
}

template <bool kLargest>
void* add_to_extreme(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept) {
  const float8 value = plain_float(value_of(fcinfo, call));
  auto* extreme = kept_or_empty<float8>(call, kept);
  const bool is_first = kept == nullptr;
  if (is_first || (kLargest ? is_above(value, *extreme) : is_above(*extreme, value))) {
    *extreme = value;
  }
  return extreme;
}

Datum extreme(FunctionCallInfo, const PersonCallInfo* call, void* kept) {
  return datum_of(call, *static_cast<float8*>(kept));
}

bool is_real(Oid type) {
  return type == FLOAT4OID;
}

bool is_double(Oid type) {
  return type == FLOAT8OID;
}

}  // namespace

namespace persons {

const PersonVariant kRealSum = {add_float, real_sum, is_real};
const PersonVariant kDoubleSum = {add_float, double_sum, is_double};
const PersonVariant kMean = {add_float, mean, is_float};
const PersonVariant kSampleVariance = {add_float, spread<Spread::kVariance, 1>, is_float};
const PersonVariant kPopulationVariance = {add_float, spread<Spread::kVariance, 0>, is_float};
const PersonVariant kSampleDeviation = {add_float, spread<Spread::kDeviation, 1>, is_float};
const PersonVariant kPopulationDeviation = {add_float, spread<Spread::kDeviation, 0>, is_float};
const PersonVariant kLeastFloat = {add_to_extreme<false>, extreme, is_float};
const PersonVariant kLargestFloat = {add_to_extreme<true>, extreme, is_float};

}  // namespace persons

}  // namespace dpquantile
