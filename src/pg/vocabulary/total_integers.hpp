#pragma once

#include <limits>

#include "pg/vocabulary/total_call.hpp"

// The variants of arithmetic with integers. They report no error, so they need no call_or_null().
namespace dpquantile::integers {

template <class Integer>
Integer argument(FunctionCallInfo fcinfo, int number) {
  const Datum datum = PG_GETARG_DATUM(number);
  if constexpr (sizeof(Integer) == sizeof(int16)) {
    return DatumGetInt16(datum);
  } else if constexpr (sizeof(Integer) == sizeof(int32)) {
    return DatumGetInt32(datum);
  } else {
    return DatumGetInt64(datum);
  }
}

template <class Integer>
Datum datum_of(Integer value) {
  if constexpr (sizeof(Integer) == sizeof(int16)) {
    return Int16GetDatum(value);
  } else if constexpr (sizeof(Integer) == sizeof(int32)) {
    return Int32GetDatum(value);
  } else {
    return Int64GetDatum(value);
  }
}

// NULL if the result overflows. `compute` is one of the compiler's checked operations.
template <class Left, class Right, class Result, class Operation>
Datum checked(FunctionCallInfo fcinfo, Operation compute) {
  Result result;
  const bool overflows = compute(argument<Left>(fcinfo, 0), argument<Right>(fcinfo, 1), &result);
  return overflows ? null_answer(fcinfo) : datum_of(result);
}

template <class Left, class Right, class Result>
Datum sum(FunctionCallInfo fcinfo) {
  return checked<Left, Right, Result>(
      fcinfo, [](auto a, auto b, auto* result) { return __builtin_add_overflow(a, b, result); });
}

template <class Left, class Right, class Result>
Datum difference(FunctionCallInfo fcinfo) {
  return checked<Left, Right, Result>(
      fcinfo, [](auto a, auto b, auto* result) { return __builtin_sub_overflow(a, b, result); });
}

template <class Left, class Right, class Result>
Datum product(FunctionCallInfo fcinfo) {
  return checked<Left, Right, Result>(
      fcinfo, [](auto a, auto b, auto* result) { return __builtin_mul_overflow(a, b, result); });
}

template <class Left, class Right, class Result>
Datum quotient(FunctionCallInfo fcinfo) {
  const Result left = argument<Left>(fcinfo, 0);
  const Result right = argument<Right>(fcinfo, 1);
  if (right == 0) return null_answer(fcinfo);
  if (right == -1 && left == std::numeric_limits<Result>::min()) return null_answer(fcinfo);
  return datum_of(static_cast<Result>(left / right));
}

template <class Integer>
Datum remainder(FunctionCallInfo fcinfo) {
  const auto left = argument<Integer>(fcinfo, 0);
  const auto right = argument<Integer>(fcinfo, 1);
  if (right == 0) return null_answer(fcinfo);
  // The least integer divided by -1 overflows in the processor.
  if (right == -1) return datum_of(Integer{0});
  return datum_of(static_cast<Integer>(left % right));
}

template <class Integer>
Datum negative(FunctionCallInfo fcinfo) {
  const auto value = argument<Integer>(fcinfo, 0);
  if (value == std::numeric_limits<Integer>::min()) return null_answer(fcinfo);
  return datum_of(static_cast<Integer>(-value));
}

template <class Integer>
Datum magnitude(FunctionCallInfo fcinfo) {
  return argument<Integer>(fcinfo, 0) < 0 ? negative<Integer>(fcinfo) : PG_GETARG_DATUM(0);
}

template <class From, class To>
Datum cast(FunctionCallInfo fcinfo) {
  const auto value = argument<From>(fcinfo, 0);
  if (value < std::numeric_limits<To>::min() || value > std::numeric_limits<To>::max()) {
    return null_answer(fcinfo);
  }
  return datum_of(static_cast<To>(value));
}

inline Datum oid_of(FunctionCallInfo fcinfo) {
  const int64 value = PG_GETARG_INT64(0);
  if (value < 0 || value > std::numeric_limits<Oid>::max()) return null_answer(fcinfo);
  return ObjectIdGetDatum(static_cast<Oid>(value));
}

}  // namespace dpquantile::integers
