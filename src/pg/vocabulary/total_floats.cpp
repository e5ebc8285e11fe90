#include "pg/vocabulary/total_floats.hpp"

extern "C" {
#include "utils/fmgrprotos.h"
}

namespace dpquantile::floats {

namespace {

// Whether 2^exponent is neither 0 nor infinite. It may be, too, if the exponent is close to a
// limit.
bool may_be_finite(float8 exponent) {
  constexpr float8 kMost = 1025;
  constexpr float8 kLeast = -1076;
  return !(exponent > kMost || exponent < kLeast);
}

}  // namespace

Datum narrow(FunctionCallInfo fcinfo) {
  const float8 value = PG_GETARG_FLOAT8(0);
  const auto result = static_cast<float4>(value);
  const bool overflows = std::isinf(result) && !std::isinf(value);
  return overflows || (result == 0 && value != 0) ? null_answer(fcinfo) : Float4GetDatum(result);
}

Datum square_root(FunctionCallInfo fcinfo) {
  return PG_GETARG_FLOAT8(0) < 0 ? null_answer(fcinfo) : call_or_null(dsqrt, fcinfo);
}

Datum exponential(FunctionCallInfo fcinfo) {
  constexpr float8 kBitsPerUnit = 1.4426950408889634;
  const float8 value = PG_GETARG_FLOAT8(0);
  if (std::isfinite(value) && !may_be_finite(value * kBitsPerUnit)) return null_answer(fcinfo);
  return call_or_null(dexp, fcinfo);
}

Datum power_of(FunctionCallInfo fcinfo) {
  const float8 base = PG_GETARG_FLOAT8(0);
  const float8 exponent = PG_GETARG_FLOAT8(1);
  if (std::isfinite(base) && std::isfinite(exponent)) {
    if (base == 0 && exponent < 0) return null_answer(fcinfo);
    if (base < 0 && std::floor(exponent) != exponent) return null_answer(fcinfo);
    const float8 bits = exponent * std::log2(std::fabs(base));
    if (base != 0 && !may_be_finite(bits)) return null_answer(fcinfo);
  }
  return call_or_null(dpow, fcinfo);
}

}  // namespace dpquantile::floats
