// The variants of to_char. The format must be free of columns: what is wrong with it must not show
// which rows are asked. PostgreSQL's functions compute with their arguments, the names of months in
// memory and a cache of formats, in which they mark a format as valid when they have read it. So
// call_or_null() is safe for them.

#include "pg/server/numeric.hpp"
#include "pg/vocabulary/total_texts.hpp"

extern "C" {
#include "utils/fmgrprotos.h"
}

namespace dpquantile {

namespace {

Datum formatted_numeric(FunctionCallInfo fcinfo) {
  return has_few_digits(PG_GETARG_DATUM(0), kMostNumericDigits)
             ? text_of_texts(numeric_to_char, fcinfo, kSecond)
             : null_answer(fcinfo);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

DPQ_TOTAL(int4_to_char, text_of_texts(int4_to_char, fcinfo, kSecond))
DPQ_TOTAL(int8_to_char, text_of_texts(int8_to_char, fcinfo, kSecond))
DPQ_TOTAL(float4_to_char, text_of_texts(float4_to_char, fcinfo, kSecond))
DPQ_TOTAL(float8_to_char, text_of_texts(float8_to_char, fcinfo, kSecond))
DPQ_TOTAL(numeric_to_char, formatted_numeric(fcinfo))
DPQ_TOTAL(timestamp_to_char, text_of_texts(timestamp_to_char, fcinfo, kSecond))
DPQ_TOTAL(timestamptz_to_char, text_of_texts(timestamptz_to_char, fcinfo, kSecond))
DPQ_TOTAL(interval_to_char, text_of_texts(interval_to_char, fcinfo, kSecond))
