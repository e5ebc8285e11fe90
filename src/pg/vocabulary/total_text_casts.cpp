// dpquantile.total_<type>(text): what the input function of the type answers for the text, and NULL
// where it fails. The input functions compute with nothing but the text, so call_or_null() is safe
// for them.

#include <cctype>

#include "pg/server/numeric.hpp"
#include "pg/vocabulary/total_texts.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
}

namespace dpquantile {

namespace {

// No value of these types needs a longer text.
constexpr Size kMostBytes = 1024;

template <PGFunction kInput>
Datum parsed(PG_FUNCTION_ARGS) {
  const char* value = text_to_cstring(PG_GETARG_TEXT_PP(0));
  return DirectFunctionCall3(kInput, CStringGetDatum(value), ObjectIdGetDatum(InvalidOid),
                             Int32GetDatum(-1));
}

template <PGFunction kInput>
Datum cast(FunctionCallInfo fcinfo) {
  if (text_bytes(fcinfo, 0) > kMostBytes) return null_answer(fcinfo);
  return call_or_null(parsed<kInput>, fcinfo);
}

// The input functions of numbers skip spaces. Most texts that are no number need no error then.
bool starts_like_number(const text* value) {
  const char* at = VARDATA_ANY(value);
  const char* end = at + VARSIZE_ANY_EXHDR(value);
  while (at != end && isspace(static_cast<unsigned char>(*at)) != 0) ++at;
  return at != end && *at != '\0' && strchr("+-.0123456789iInN", *at) != nullptr;
}

template <PGFunction kInput>
Datum cast_to_number(FunctionCallInfo fcinfo) {
  if (text_bytes(fcinfo, 0) > kMostBytes) return null_answer(fcinfo);
  return starts_like_number(PG_GETARG_TEXT_PP(0)) ? cast<kInput>(fcinfo) : null_answer(fcinfo);
}

Datum cast_to_numeric(FunctionCallInfo fcinfo) {
  const Datum answer = cast_to_number<numeric_in>(fcinfo);
  if (fcinfo->isnull || has_few_digits(answer, kMostNumericDigits)) return answer;
  return null_answer(fcinfo);
}

// Digits and what separates them in dates and times. A word may be the name of a time zone.
// PostgreSQL would read the file of the zone and keep it for the session, which a later query could
// measure.
bool has_no_words(const text* value) {
  const char* start = VARDATA_ANY(value);
  for (const char* at = start; at != start + VARSIZE_ANY_EXHDR(value); ++at) {
    if (strchr("0123456789-:./ T", *at) == nullptr || *at == '\0') return false;
  }
  return true;
}

template <PGFunction kInput>
Datum cast_to_date(FunctionCallInfo fcinfo) {
  if (text_bytes(fcinfo, 0) > kMostBytes) return null_answer(fcinfo);
  return has_no_words(PG_GETARG_TEXT_PP(0)) ? cast<kInput>(fcinfo) : null_answer(fcinfo);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

DPQ_TOTAL(cast_to_bool, cast<boolin>(fcinfo))
DPQ_TOTAL(cast_to_int2, cast_to_number<int2in>(fcinfo))
DPQ_TOTAL(cast_to_int4, cast_to_number<int4in>(fcinfo))
DPQ_TOTAL(cast_to_int8, cast_to_number<int8in>(fcinfo))
DPQ_TOTAL(cast_to_float4, cast_to_number<float4in>(fcinfo))
DPQ_TOTAL(cast_to_float8, cast_to_number<float8in>(fcinfo))
DPQ_TOTAL(cast_to_numeric, cast_to_numeric(fcinfo))
DPQ_TOTAL(cast_to_uuid, cast<uuid_in>(fcinfo))
DPQ_TOTAL(cast_to_date, cast_to_date<date_in>(fcinfo))
DPQ_TOTAL(cast_to_timestamp, cast_to_date<timestamp_in>(fcinfo))
