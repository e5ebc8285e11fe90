#include "pg/vocabulary/total_numerics.hpp"

#include <cmath>

#include "pg/vocabulary/total_texts.hpp"

extern "C" {
#include "utils/fmgrprotos.h"
}

namespace dpquantile::numerics {

namespace {

// Above 0 if the numeric is, below 0 if it is, 0 if it is 0. NaN is above.
int sign_of(Datum numeric) {
  const Numeric zero = int64_to_numeric(0);
  return DatumGetInt32(DirectFunctionCall2(numeric_cmp, numeric, NumericGetDatum(zero)));
}

// Whether 10^exponent has few digits before the point. An infinite power comes from an infinite
// operand.
bool is_short_power(float8 exponent) {
  return !(std::isfinite(exponent) && exponent > kMostDigitsOfSeries);
}

// Whether value, a float8, is infinite or 0 and the numeric is not.
bool leaves_range(float8 value, Datum numeric) {
  if (std::isinf(value)) return !numeric_is_inf(DatumGetNumeric(numeric));
  return value == 0 && sign_of(numeric) != 0;
}

}  // namespace

bool have_few_digits(FunctionCallInfo fcinfo, int arguments, int digits) {
  for (int i = 0; i < arguments; ++i) {
    if (!has_few_digits(PG_GETARG_DATUM(i), digits)) return false;
  }
  return true;
}

Datum natural_logarithm(FunctionCallInfo fcinfo) {
  return sign_of(PG_GETARG_DATUM(0)) > 0 ? called_for_series<numeric_ln, 1>(fcinfo)
                                         : null_answer(fcinfo);
}

Datum log_to_base_10(FunctionCallInfo fcinfo) {
  const Datum number = PG_GETARG_DATUM(0);
  if (!has_few_digits(number, kMostDigitsOfSeries) || sign_of(number) <= 0) {
    return null_answer(fcinfo);
  }
  return call_or_null(numeric_log, fcinfo, NumericGetDatum(int64_to_numeric(10)), number);
}

Datum exponential(FunctionCallInfo fcinfo) {
  constexpr float8 kDigitsPerUnit = 0.43429448190325176;
  if (!have_few_digits(fcinfo, 1, kMostDigitsOfSeries)) return null_answer(fcinfo);
  const float8 digits = float8_of_numeric(PG_GETARG_DATUM(0)) * kDigitsPerUnit;
  return is_short_power(digits) ? call_or_null(numeric_exp, fcinfo) : null_answer(fcinfo);
}

Datum power_of(FunctionCallInfo fcinfo) {
  if (!have_few_digits(fcinfo, 2, kMostDigitsOfSeries)) return null_answer(fcinfo);
  const float8 base = float8_of_numeric(PG_GETARG_DATUM(0));
  const float8 exponent = float8_of_numeric(PG_GETARG_DATUM(1));
  const float8 digits = exponent * std::log10(std::fabs(base));
  return is_short_power(digits) ? call_or_null(numeric_power, fcinfo) : null_answer(fcinfo);
}

Datum square_root(FunctionCallInfo fcinfo) {
  return sign_of(PG_GETARG_DATUM(0)) < 0 ? null_answer(fcinfo) : called<numeric_sqrt, 1>(fcinfo);
}

// The cast to numeric(precision, scale). A value that is clearly too large needs no error.
Datum with_precision(FunctionCallInfo fcinfo) {
  constexpr float8 kClearly = 1 + 1e-9;
  constexpr int kScaleBits = 11;
  constexpr int32 kScaleSign = 1 << (kScaleBits - 1);
  const int32 typmod = PG_GETARG_INT32(1) - static_cast<int32>(VARHDRSZ);
  const float8 value = float8_of_numeric(PG_GETARG_DATUM(0));
  if (typmod >= 0 && std::isfinite(value)) {
    const int32 scale = ((typmod & ((1 << kScaleBits) - 1)) ^ kScaleSign) - kScaleSign;
    const int32 precision = (typmod >> 16) & 0xffff;
    if (std::fabs(value) > std::pow(10.0, precision - scale) * kClearly) return null_answer(fcinfo);
  }
  return called<numeric, 1>(fcinfo);
}

Datum int4_of(FunctionCallInfo fcinfo) {
  bool failed = false;
  const int32 value = DPQ_SOFTLY(&failed, DPQ_SOFT_NUMERIC(numeric_int4), PG_GETARG_NUMERIC(0));
  return failed ? null_answer(fcinfo) : Int32GetDatum(value);
}

Datum int2_of(FunctionCallInfo fcinfo) {
  bool failed = false;
  const int32 value = DPQ_SOFTLY(&failed, DPQ_SOFT_NUMERIC(numeric_int4), PG_GETARG_NUMERIC(0));
  const auto narrow = static_cast<int16>(value);
  return failed || narrow != value ? null_answer(fcinfo) : Int16GetDatum(narrow);
}

Datum int8_of(FunctionCallInfo fcinfo) {
  constexpr float8 kMost = 9.3e18;
  const float8 value = float8_of_numeric(PG_GETARG_DATUM(0));
  return std::fabs(value) < kMost ? call_or_null(numeric_int8, fcinfo) : null_answer(fcinfo);
}

// Nearer to the numeric than PostgreSQL's cast, and faster (float8_of_numeric()).
Datum float8_of(FunctionCallInfo fcinfo) {
  const Datum number = PG_GETARG_DATUM(0);
  const float8 value = float8_of_numeric(number);
  return leaves_range(value, number) ? null_answer(fcinfo) : Float8GetDatum(value);
}

Datum float4_of(FunctionCallInfo fcinfo) {
  constexpr float8 kMost = 3.5e38;
  constexpr float8 kLeast = 1e-46;
  const Datum number = PG_GETARG_DATUM(0);
  const float8 value = float8_of_numeric(number);
  if (leaves_range(value, number)) return null_answer(fcinfo);
  const float8 magnitude = std::fabs(value);
  if (std::isfinite(value) && magnitude > kMost) return null_answer(fcinfo);
  if (value != 0 && magnitude < kLeast) return null_answer(fcinfo);
  return called<numeric_float4, 1>(fcinfo);
}

Datum formatted(FunctionCallInfo fcinfo) {
  return has_few_digits(PG_GETARG_DATUM(0), kMostNumericDigits)
             ? texts::text_of<numeric_to_char, texts::kSecond>(fcinfo)
             : null_answer(fcinfo);
}

}  // namespace dpquantile::numerics

using namespace dpquantile;

// (value, most bytes): the number if it has as few digits as the variants take, and else NULL.
// Those are at most 256 bytes, which each limit allows. But 1e100000, in 8 bytes, is a long text.
DPQ_FUNCTION(dpq_short_numeric) {
  if (!has_few_digits(PG_GETARG_DATUM(0), kMostNumericDigits)) return null_answer(fcinfo);
  return PointerGetDatum(PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0)));
}
