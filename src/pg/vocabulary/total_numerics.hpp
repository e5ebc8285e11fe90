#pragma once

#include "pg/server/numeric.hpp"
#include "pg/vocabulary/total_call.hpp"

extern "C" {
#include "utils/numeric.h"
}

// The variants of functions of numeric. An operand with more digits than below makes the answer
// NULL, because the time of a function grows with the square of the digits or faster: with 130000
// digits, one row would take a second. PostgreSQL's functions of numeric compute with nothing but
// their arguments, so call_or_null() is safe for them.
namespace dpquantile::numerics {

// For series and the greatest common divisor, which take more time.
inline constexpr int kMostDigitsOfSeries = 100;

// Whether the first arguments, as many as there are numerics, have few digits.
bool have_few_digits(FunctionCallInfo fcinfo, int arguments, int digits = kMostNumericDigits);

using Arithmetic = Numeric (*)(Numeric, Numeric, DPQ_SOFT_FAILURE*);

template <Arithmetic kOperation>
Datum computed(FunctionCallInfo fcinfo) {
  if (!have_few_digits(fcinfo, 2)) return null_answer(fcinfo);
  bool failed = false;
  const Numeric result =
      DPQ_SOFTLY(&failed, kOperation, PG_GETARG_NUMERIC(0), PG_GETARG_NUMERIC(1));
  return failed ? null_answer(fcinfo) : NumericGetDatum(result);
}

// PostgreSQL's function, the first arguments of which are so many numerics.
template <PGFunction kOriginal, int kArguments>
Datum called(FunctionCallInfo fcinfo) {
  return have_few_digits(fcinfo, kArguments) ? call_or_null(kOriginal, fcinfo)
                                             : null_answer(fcinfo);
}

template <PGFunction kOriginal, int kArguments>
Datum called_for_series(FunctionCallInfo fcinfo) {
  return have_few_digits(fcinfo, kArguments, kMostDigitsOfSeries) ? call_or_null(kOriginal, fcinfo)
                                                                  : null_answer(fcinfo);
}

// PostgreSQL's round and trunc of one argument are SQL functions.
template <PGFunction kOriginal>
Datum without_decimals(FunctionCallInfo fcinfo) {
  const Datum number = PG_GETARG_DATUM(0);
  return has_few_digits(number, kMostNumericDigits)
             ? call_or_null(kOriginal, fcinfo, number, Int32GetDatum(0))
             : null_answer(fcinfo);
}

Datum natural_logarithm(FunctionCallInfo fcinfo);
Datum log_to_base_10(FunctionCallInfo fcinfo);
Datum exponential(FunctionCallInfo fcinfo);
Datum power_of(FunctionCallInfo fcinfo);
Datum square_root(FunctionCallInfo fcinfo);
Datum with_precision(FunctionCallInfo fcinfo);
Datum int2_of(FunctionCallInfo fcinfo);
Datum int4_of(FunctionCallInfo fcinfo);
Datum int8_of(FunctionCallInfo fcinfo);
Datum float4_of(FunctionCallInfo fcinfo);
Datum float8_of(FunctionCallInfo fcinfo);

// (number, format)
Datum formatted(FunctionCallInfo fcinfo);

}  // namespace dpquantile::numerics
