#pragma once

#include <cmath>
#include <limits>

#include "pg/vocabulary/total_call.hpp"

// The variants of functions of real and double precision. Arithmetic and casts report no error
// here. The other functions of PostgreSQL compute with nothing but their arguments, so
// call_or_null() is safe for them; arguments outside of the domain are found before it, because an
// error takes longer.
namespace dpquantile::floats {

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

template <PGFunction kOriginal>
Datum logarithm(FunctionCallInfo fcinfo) {
  return PG_GETARG_FLOAT8(0) <= 0 ? null_answer(fcinfo) : call_or_null(kOriginal, fcinfo);
}

Datum narrow(FunctionCallInfo fcinfo);
Datum square_root(FunctionCallInfo fcinfo);
Datum exponential(FunctionCallInfo fcinfo);
Datum power_of(FunctionCallInfo fcinfo);

}  // namespace dpquantile::floats
