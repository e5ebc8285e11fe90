#include "pg/vocabulary/total_texts.hpp"

#include <algorithm>

#include "pg/server/collation.hpp"
#include "pg/vocabulary/regex_weight.hpp"

extern "C" {
#include "access/detoast.h"
#include "common/md5.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
}

namespace dpquantile::texts {

namespace {

// Functions that search take as many steps as the lengths of both texts multiplied, if the texts
// are chosen so.
constexpr Size kMostSteps = 1048576;

// The most % in a pattern.
constexpr int kMostWildcards = 100;

bool are_short(FunctionCallInfo fcinfo, unsigned texts) {
  for (int i = 0; texts >> i != 0; ++i) {
    if ((texts >> i & 1) != 0 && text_bytes(fcinfo, i) > kMostTextBytes) return false;
  }
  return true;
}

bool is_short_within(FunctionCallInfo fcinfo, Size most_steps) {
  return text_bytes(fcinfo, 0) <= most_steps / std::max<Size>(text_bytes(fcinfo, 1), 1);
}

}  // namespace

Size text_bytes(FunctionCallInfo fcinfo, int number) {
  return toast_raw_datum_size(PG_GETARG_DATUM(number)) - VARHDRSZ;
}

Datum value_of_texts(PGFunction original, FunctionCallInfo fcinfo, unsigned texts) {
  if (!are_short(fcinfo, texts)) return null_answer(fcinfo);
  if (OidIsValid(PG_GET_COLLATION())) open_collation(PG_GET_COLLATION());
  return call_or_null(original, fcinfo);
}

Datum text_of_texts(PGFunction original, FunctionCallInfo fcinfo, unsigned texts) {
  const Datum answer = value_of_texts(original, fcinfo, texts);
  if (fcinfo->isnull) return answer;
  return VARSIZE_ANY_EXHDR(DatumGetPointer(answer)) > kMostTextBytes ? null_answer(fcinfo) : answer;
}

bool is_short_search(FunctionCallInfo fcinfo) {
  return is_short_within(fcinfo, kMostSteps);
}

bool has_few_wildcards(FunctionCallInfo fcinfo) {
  if (!are_short(fcinfo, kSecond)) return false;
  const bytea* pattern = PG_GETARG_BYTEA_PP(1);
  const char* begin = VARDATA_ANY(pattern);
  return std::count(begin, begin + VARSIZE_ANY_EXHDR(pattern), '%') <= kMostWildcards;
}

bool has_light_pattern(FunctionCallInfo fcinfo) {
  if (!are_short(fcinfo, kSecond)) return false;
  const text* pattern = PG_GETARG_TEXT_PP(1);
  return regex_weight({VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern)}) > 0;
}

// (text, from text, to text): the answer may be long although all texts are short.
Datum replaced(FunctionCallInfo fcinfo) {
  const Size most_places = text_bytes(fcinfo, 0) / std::max<Size>(text_bytes(fcinfo, 1), 1);
  if (most_places > kMostSteps / std::max<Size>(text_bytes(fcinfo, 2), 1)) {
    return null_answer(fcinfo);
  }
  return found_text<replace_text, kFirst | kSecond | kThird>(fcinfo);
}

// (text, from characters, to characters): finds each character in both lists, in slower steps.
Datum translated(FunctionCallInfo fcinfo) {
  return is_short_within(fcinfo, kMostSteps / 16)
             ? text_of_texts(translate, fcinfo, kFirst | kSecond | kThird)
             : null_answer(fcinfo);
}

// repeat() takes a step for each time, also if the text is empty.
Datum repeated(FunctionCallInfo fcinfo) {
  const auto times = static_cast<Size>(std::max(PG_GETARG_INT32(1), 0));
  const Size bytes = text_bytes(fcinfo, 0);
  if (bytes == 0) return PG_GETARG_DATUM(0);
  if (times > kMostTextBytes / bytes) return null_answer(fcinfo);
  return text_of_texts(repeat, fcinfo, kFirst);
}

Datum filled(PGFunction original, FunctionCallInfo fcinfo) {
  if (PG_GETARG_INT32(1) > static_cast<int32>(kMostTextBytes)) return null_answer(fcinfo);
  return text_of_texts(original, fcinfo, kFirst | kThird);
}

Datum filled_with_spaces(PGFunction original, FunctionCallInfo fcinfo) {
  if (PG_GETARG_INT32(1) > static_cast<int32>(kMostTextBytes)) return null_answer(fcinfo);
  if (!are_short(fcinfo, kFirst)) return null_answer(fcinfo);
  LOCAL_FCINFO(call, 3);
  InitFunctionCallInfoData(*call, fcinfo->flinfo, 3, fcinfo->fncollation, nullptr, nullptr);
  call->args[0] = fcinfo->args[0];
  call->args[1] = fcinfo->args[1];
  call->args[2] = {PointerGetDatum(cstring_to_text(" ")), false};
  const Datum answer = text_of_texts(original, call, kFirst);
  fcinfo->isnull = call->isnull;
  return answer;
}

// The cast to char(n): (text, n with the bytes of a header, whether it is explicit)
Datum padded(FunctionCallInfo fcinfo) {
  if (PG_GETARG_INT32(1) > static_cast<int32>(kMostTextBytes + VARHDRSZ))
    return null_answer(fcinfo);
  return text_of_texts(bpchar, fcinfo, kFirst);
}

// OpenSSL refuses MD5 where FIPS 140 is enforced.
Datum md5_of(FunctionCallInfo fcinfo) {
  constexpr int kHexDigits = 32;
  if (!are_short(fcinfo, kFirst)) return null_answer(fcinfo);
  const text* value = PG_GETARG_TEXT_PP(0);
  char digits[kHexDigits + 1];
  const char* error = nullptr;
  const bool succeeded = pg_md5_hash(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), digits, &error);
  return succeeded ? PointerGetDatum(cstring_to_text(digits)) : null_answer(fcinfo);
}

}  // namespace dpquantile::texts

using namespace dpquantile;
using namespace dpquantile::texts;

// (value, most bytes): the value if it is not longer, and else NULL. Reads no longer one. What is
// compressed or out of line is read here once, and not by each function that uses it.
DPQ_FUNCTION(dpq_short_value) {
  const auto most = static_cast<Size>(std::max(PG_GETARG_INT32(1), 0));
  if (text_bytes(fcinfo, 0) > most) return null_answer(fcinfo);
  return PointerGetDatum(PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0)));
}

// (value): the value, or NULL if the row has a pointer to where it is stored (TOAST).
DPQ_FUNCTION(dpq_inline_value) {
  const Datum value = PG_GETARG_DATUM(0);
  if (get_typlen(get_fn_expr_argtype(fcinfo->flinfo, 0)) != -1) return value;
  return VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)) ? null_answer(fcinfo) : value;
}
