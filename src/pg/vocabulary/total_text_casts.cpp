#include "pg/vocabulary/total_text_casts.hpp"

#include <cctype>

#include "pg/server/numeric.hpp"
#include "pg/vocabulary/total_texts.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
}

namespace dpquantile::text_casts {

namespace {

bool is_short(FunctionCallInfo fcinfo) {
  constexpr Size kMostBytes = 1024;  // no value of these types needs a longer text
  return texts::text_bytes(fcinfo, 0) <= kMostBytes;
}

// The input functions of numbers skip spaces. Most texts that are no number need no error then.
bool starts_like_number(const text* value) {
  const char* at = VARDATA_ANY(value);
  const char* end = at + VARSIZE_ANY_EXHDR(value);
  while (at != end && isspace(static_cast<unsigned char>(*at)) != 0) ++at;
  return at != end && *at != '\0' && strchr("+-.0123456789iInN", *at) != nullptr;
}

bool has_no_words(const text* value) {
  const char* start = VARDATA_ANY(value);
  for (const char* at = start; at != start + VARSIZE_ANY_EXHDR(value); ++at) {
    if (strchr("0123456789-:./ T", *at) == nullptr || *at == '\0') return false;
  }
  return true;
}

}  // namespace

Datum call_input(PGFunction input, FunctionCallInfo fcinfo) {
  const char* value = text_to_cstring(PG_GETARG_TEXT_PP(0));
  return DirectFunctionCall3(input, CStringGetDatum(value), ObjectIdGetDatum(InvalidOid),
                             Int32GetDatum(-1));
}

Datum parsed(PGFunction read_text, FunctionCallInfo fcinfo) {
  return is_short(fcinfo) ? call_or_null(read_text, fcinfo) : null_answer(fcinfo);
}

Datum parsed_number(PGFunction read_text, FunctionCallInfo fcinfo) {
  const bool may_be_one = is_short(fcinfo) && starts_like_number(PG_GETARG_TEXT_PP(0));
  return may_be_one ? call_or_null(read_text, fcinfo) : null_answer(fcinfo);
}

Datum parsed_date(PGFunction read_text, FunctionCallInfo fcinfo) {
  const bool may_be_one = is_short(fcinfo) && has_no_words(PG_GETARG_TEXT_PP(0));
  return may_be_one ? call_or_null(read_text, fcinfo) : null_answer(fcinfo);
}

Datum cast_to_numeric(FunctionCallInfo fcinfo) {
  const Datum answer = cast_to_number<numeric_in>(fcinfo);
  if (fcinfo->isnull || has_few_digits(answer, kMostNumericDigits)) return answer;
  return null_answer(fcinfo);
}

}  // namespace dpquantile::text_casts
