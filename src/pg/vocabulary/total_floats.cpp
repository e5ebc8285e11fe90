// The variants of functions of real and double precision. Arithmetic and casts report no error
// here. The other functions of PostgreSQL compute with nothing but their arguments, so
// call_or_null() is safe for them; arguments outside of the domain are found before it, because an
// error takes longer.

#include <cmath>
#include <limits>

#include "pg/vocabulary/total_call.hpp"

extern "C" {
#include "utils/fmgrprotos.h"
}

namespace dpquantile {

namespace {

template <class Float>
Float argument(FunctionCallInfo fcinfo, int number) {
  if constexpr (sizeof(Float) == sizeof(float4)) {
    return PG_GETARG_FLOAT4(number);
  } else {
    return PG_GETARG_FLOAT8(number);
  }
}

template <class Float>
Datum datum_of(Float value) {
  if constexpr (sizeof(Float) == sizeof(float4)) {
    return Float4GetDatum(value);
  } else {
    return Float8GetDatum(value);
  }
}

// PostgreSQL has the functions of two types compute in the wider one.
template <class Left, class Right>
struct Operands {
  using Result = decltype(Left{} + Right{});

  explicit Operands(FunctionCallInfo fcinfo)
      : left(argument<Left>(fcinfo, 0)), right(argument<Right>(fcinfo, 1)) {}

  bool overflows(Result result) const {
    return std::isinf(result) && !std::isinf(left) && !std::isinf(right);
  }

  Result left;
  Result right;
};

template <class Left, class Right>
Datum sum(FunctionCallInfo fcinfo) {
  const Operands<Left, Right> operands(fcinfo);
  const auto result = operands.left + operands.right;
  return operands.overflows(result) ? null_answer(fcinfo) : datum_of(result);
}

template <class Left, class Right>
Datum difference(FunctionCallInfo fcinfo) {
  const Operands<Left, Right> operands(fcinfo);
  const auto result = operands.left - operands.right;
  return operands.overflows(result) ? null_answer(fcinfo) : datum_of(result);
}

template <class Left, class Right>
Datum product(FunctionCallInfo fcinfo) {
  const Operands<Left, Right> operands(fcinfo);
  const auto result = operands.left * operands.right;
  const bool underflows = result == 0 && operands.left != 0 && operands.right != 0;
  return underflows || operands.overflows(result) ? null_answer(fcinfo) : datum_of(result);
}

template <class Left, class Right>
Datum quotient(FunctionCallInfo fcinfo) {
  const Operands<Left, Right> operands(fcinfo);
  if (operands.right == 0 && !std::isnan(operands.left)) return null_answer(fcinfo);
  const auto result = operands.left / operands.right;
  const bool overflows = std::isinf(result) && !std::isinf(operands.left);
  const bool underflows = result == 0 && operands.left != 0 && !std::isinf(operands.right);
  return overflows || underflows ? null_answer(fcinfo) : datum_of(result);
}

Datum narrow(FunctionCallInfo fcinfo) {
  const float8 value = PG_GETARG_FLOAT8(0);
  const auto result = static_cast<float4>(value);
  const bool overflows = std::isinf(result) && !std::isinf(value);
  return overflows || (result == 0 && value != 0) ? null_answer(fcinfo) : Float4GetDatum(result);
}

// The least value of an integer type is a power of 2, and so exact. The largest one is not.
template <class Float, class Integer>
bool fits(Float value) {
  constexpr auto kLeast = static_cast<Float>(std::numeric_limits<Integer>::min());
  return value >= kLeast && value < -kLeast;
}

template <class Float>
Float rounded(FunctionCallInfo fcinfo) {
  return std::rint(argument<Float>(fcinfo, 0));
}

template <class Float>
Datum int2_of(FunctionCallInfo fcinfo) {
  const auto value = rounded<Float>(fcinfo);
  return fits<Float, int16>(value) ? Int16GetDatum(static_cast<int16>(value)) : null_answer(fcinfo);
}

template <class Float>
Datum int4_of(FunctionCallInfo fcinfo) {
  const auto value = rounded<Float>(fcinfo);
  return fits<Float, int32>(value) ? Int32GetDatum(static_cast<int32>(value)) : null_answer(fcinfo);
}

template <class Float>
Datum int8_of(FunctionCallInfo fcinfo) {
  const auto value = rounded<Float>(fcinfo);
  return fits<Float, int64>(value) ? Int64GetDatum(static_cast<int64>(value)) : null_answer(fcinfo);
}

Datum square_root(FunctionCallInfo fcinfo) {
  return PG_GETARG_FLOAT8(0) < 0 ? null_answer(fcinfo) : call_or_null(dsqrt, fcinfo);
}

Datum logarithm(PGFunction original, FunctionCallInfo fcinfo) {
  return PG_GETARG_FLOAT8(0) <= 0 ? null_answer(fcinfo) : call_or_null(original, fcinfo);
}

// Whether 2^exponent is neither 0 nor infinite. It may be, too, if the exponent is close to a
// limit.
bool may_be_finite(float8 exponent) {
  constexpr float8 kMost = 1025;
  constexpr float8 kLeast = -1076;
  return !(exponent > kMost || exponent < kLeast);
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

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

#define DPQ_TOTAL_ARITHMETIC(prefix, Left, Right)          \
  DPQ_TOTAL(prefix##pl, (sum<Left, Right>(fcinfo)))        \
  DPQ_TOTAL(prefix##mi, (difference<Left, Right>(fcinfo))) \
  DPQ_TOTAL(prefix##mul, (product<Left, Right>(fcinfo)))   \
  DPQ_TOTAL(prefix##div, (quotient<Left, Right>(fcinfo)))

DPQ_TOTAL_ARITHMETIC(float4, float4, float4)
DPQ_TOTAL_ARITHMETIC(float48, float4, float8)
DPQ_TOTAL_ARITHMETIC(float84, float8, float4)
DPQ_TOTAL_ARITHMETIC(float8, float8, float8)

DPQ_TOTAL(dtof, narrow(fcinfo))
DPQ_TOTAL(ftoi2, int2_of<float4>(fcinfo))
DPQ_TOTAL(ftoi4, int4_of<float4>(fcinfo))
DPQ_TOTAL(ftoi8, int8_of<float4>(fcinfo))
DPQ_TOTAL(dtoi2, int2_of<float8>(fcinfo))
DPQ_TOTAL(dtoi4, int4_of<float8>(fcinfo))
DPQ_TOTAL(dtoi8, int8_of<float8>(fcinfo))

DPQ_TOTAL(dsqrt, square_root(fcinfo))
DPQ_TOTAL(dlog1, logarithm(dlog1, fcinfo))
DPQ_TOTAL(dlog10, logarithm(dlog10, fcinfo))
DPQ_TOTAL(dexp, exponential(fcinfo))
DPQ_TOTAL(dpow, power_of(fcinfo))

#define DPQ_TOTAL_CALL(name) DPQ_TOTAL(name, call_or_null(name, fcinfo))

DPQ_TOTAL_CALL(dcbrt)
DPQ_TOTAL_CALL(degrees)
DPQ_TOTAL_CALL(radians)
DPQ_TOTAL_CALL(dsin)
DPQ_TOTAL_CALL(dcos)
DPQ_TOTAL_CALL(dtan)
DPQ_TOTAL_CALL(dcot)
DPQ_TOTAL_CALL(dasin)
DPQ_TOTAL_CALL(dacos)
DPQ_TOTAL_CALL(datan)
DPQ_TOTAL_CALL(datan2)
DPQ_TOTAL_CALL(dsind)
DPQ_TOTAL_CALL(dcosd)
DPQ_TOTAL_CALL(dtand)
DPQ_TOTAL_CALL(dcotd)
DPQ_TOTAL_CALL(dasind)
DPQ_TOTAL_CALL(dacosd)
DPQ_TOTAL_CALL(datand)
DPQ_TOTAL_CALL(datan2d)
DPQ_TOTAL_CALL(dsinh)
DPQ_TOTAL_CALL(dcosh)
DPQ_TOTAL_CALL(dtanh)
DPQ_TOTAL_CALL(dasinh)
DPQ_TOTAL_CALL(dacosh)
DPQ_TOTAL_CALL(datanh)
DPQ_TOTAL_CALL(width_bucket_float8)
