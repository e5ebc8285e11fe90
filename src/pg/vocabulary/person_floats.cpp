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

struct FloatValues {
  int64 rows = 0;
  bool has_nan = false;
  bool has_infinity = false;
  bool has_minus_infinity = false;
};

// The sums of the finite values: narrow until one has no room there.
template <class Narrow, class Wide>
struct FloatSums : FloatValues {
  Narrow narrow;
  Wide* wide = nullptr;
};

using Sum = FloatSums<NarrowSum, ExactSum>;
using SumAndSquares = FloatSums<NarrowSums, ExactSums>;

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

template <class Sums>
void add_finite(const PersonCallInfo* call, Sums* sums, double value) {
  if (sums->wide == nullptr) {
    if (sums->narrow.try_add(value)) return;
    sums->wide = new_in(call->memory, sums->narrow.widened());
  }
  sums->wide->add(value);
}

template <class Sums>
void* add_float(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept) {
  auto* sums = kept_or_empty<Sums>(call, kept);
  const float8 value = value_of(fcinfo, call);
  ++sums->rows;
  if (std::isfinite(value)) {
    add_finite(call, sums, value);
  } else if (std::isnan(value)) {
    sums->has_nan = true;
  } else {
    (value > 0 ? sums->has_infinity : sums->has_minus_infinity) = true;
  }
  return sums;
}

ScaledDouble rounded(const Sum* sums, int bits) {
  return sums->wide != nullptr ? sums->wide->rounded(bits) : sums->narrow.rounded(bits);
}

ScaledDouble deviations_times_count(const SumAndSquares* sums) {
  return sums->wide != nullptr ? sums->wide->deviations_times_count()
                               : sums->narrow.deviations_times_count();
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
  const auto* values = static_cast<Sum*>(kept);
  if (!has_finite_values_only(values)) {
    return Float4GetDatum(static_cast<float4>(sum_of_infinities(values)));
  }
  const float8 sum = rounded(values, kRealBits).value();
  return std::fabs(sum) > static_cast<float8>(FLT_MAX) ? null_answer(fcinfo)
                                                       : Float4GetDatum(static_cast<float4>(sum));
}

Datum double_sum(FunctionCallInfo fcinfo, const PersonCallInfo*, void* kept) {
  const auto* values = static_cast<Sum*>(kept);
  if (!has_finite_values_only(values)) return Float8GetDatum(sum_of_infinities(values));
  return finite_or_null(fcinfo, rounded(values, kDoubleBits).value());
}

Datum mean(FunctionCallInfo fcinfo, const PersonCallInfo*, void* kept) {
  const auto* values = static_cast<Sum*>(kept);
  if (!has_finite_values_only(values)) return Float8GetDatum(sum_of_infinities(values));
  const auto rows = static_cast<float8>(values->rows);
  const ScaledDouble sum = rounded(values, kDoubleBits);
  return finite_or_null(fcinfo, sum.divided_by(rows).value());
}

enum class Spread { kVariance, kDeviation };

// kLess is 1 for that of a sample.
template <Spread kSpread, int kLess>
Datum spread(FunctionCallInfo fcinfo, const PersonCallInfo*, void* kept) {
  const auto* values = static_cast<SumAndSquares*>(kept);
  if (values->rows <= kLess) return null_answer(fcinfo);
  if (!has_finite_values_only(values)) {
    return Float8GetDatum(std::numeric_limits<float8>::quiet_NaN());
  }
  const auto rows = static_cast<float8>(values->rows);
  const ScaledDouble variance = deviations_times_count(values).divided_by(rows).divided_by(
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

const PersonVariant kRealSum = {add_float<Sum>, real_sum, is_real};
const PersonVariant kDoubleSum = {add_float<Sum>, double_sum, is_double};
const PersonVariant kMean = {add_float<Sum>, mean, is_float};
const PersonVariant kSampleVariance = {add_float<SumAndSquares>, spread<Spread::kVariance, 1>,
                                       is_float};
const PersonVariant kPopulationVariance = {add_float<SumAndSquares>, spread<Spread::kVariance, 0>,
                                           is_float};
const PersonVariant kSampleDeviation = {add_float<SumAndSquares>, spread<Spread::kDeviation, 1>,
                                        is_float};
const PersonVariant kPopulationDeviation = {add_float<SumAndSquares>, spread<Spread::kDeviation, 0>,
                                            is_float};
const PersonVariant kLeastFloat = {add_to_extreme<false>, extreme, is_float};
const PersonVariant kLargestFloat = {add_to_extreme<true>, extreme, is_float};

}  // namespace persons

}  // namespace dpquantile
