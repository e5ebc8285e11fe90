// The variants of functions of text and bytea. PostgreSQL's functions compute with their arguments
// and the loaded collation, so call_or_null() is safe for them.

#include "pg/vocabulary/total_texts.hpp"

#include <algorithm>

#include "pg/server/collation.hpp"

extern "C" {
#include "access/detoast.h"
#include "common/md5.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

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

// Whether the first two arguments are short enough to search the second in the first.
bool is_short_search(FunctionCallInfo fcinfo, Size most_steps = kMostSteps) {
  return text_bytes(fcinfo, 0) <= most_steps / std::max<Size>(text_bytes(fcinfo, 1), 1);
}

Datum found(PGFunction original, FunctionCallInfo fcinfo) {
  return is_short_search(fcinfo) ? value_of_texts(original, fcinfo, kFirst | kSecond)
                                 : null_answer(fcinfo);
}

// The second argument is a pattern. LIKE calls itself for each % of it, and how deep the stack may
// be would tell whether there is a row for which it does.
bool has_few_wildcards(FunctionCallInfo fcinfo) {
  if (!are_short(fcinfo, kSecond)) return false;
  const bytea* pattern = PG_GETARG_BYTEA_PP(1);
  const char* begin = VARDATA_ANY(pattern);
  return std::count(begin, begin + VARSIZE_ANY_EXHDR(pattern), '%') <= kMostWildcards;
}

// (text, pattern)
Datum matched(PGFunction original, FunctionCallInfo fcinfo) {
  return has_few_wildcards(fcinfo) ? found(original, fcinfo) : null_answer(fcinfo);
}

// (name, pattern): a name is short.
Datum matched_name(PGFunction original, FunctionCallInfo fcinfo) {
  return has_few_wildcards(fcinfo) ? value_of_texts(original, fcinfo, kSecond)
                                   : null_answer(fcinfo);
}

Datum found_text(PGFunction original, FunctionCallInfo fcinfo, unsigned texts) {
  return is_short_search(fcinfo) ? text_of_texts(original, fcinfo, texts) : null_answer(fcinfo);
}

// (text, from text, to text): the answer may be long although all texts are short.
Datum replaced(FunctionCallInfo fcinfo) {
  const Size most_places = text_bytes(fcinfo, 0) / std::max<Size>(text_bytes(fcinfo, 1), 1);
  if (most_places > kMostSteps / std::max<Size>(text_bytes(fcinfo, 2), 1)) {
    return null_answer(fcinfo);
  }
  return found_text(replace_text, fcinfo, kFirst | kSecond | kThird);
}

// (text, from characters, to characters): finds each character in both lists, in slower steps.
Datum translated(FunctionCallInfo fcinfo) {
  return is_short_search(fcinfo, kMostSteps / 16)
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

// (text, length, fill)
Datum filled(PGFunction original, FunctionCallInfo fcinfo) {
  if (PG_GETARG_INT32(1) > static_cast<int32>(kMostTextBytes)) return null_answer(fcinfo);
  return text_of_texts(original, fcinfo, kFirst | kThird);
}

// (text, length)
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

}  // namespace dpquantile

using namespace dpquantile;

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

DPQ_TOTAL(lower, text_of_texts(lower, fcinfo, kFirst))
DPQ_TOTAL(upper, text_of_texts(upper, fcinfo, kFirst))
DPQ_TOTAL(initcap, text_of_texts(initcap, fcinfo, kFirst))
DPQ_TOTAL(textcat, text_of_texts(textcat, fcinfo, kFirst | kSecond))
DPQ_TOTAL(byteacat, text_of_texts(byteacat, fcinfo, kFirst | kSecond))
DPQ_TOTAL(text_left, text_of_texts(text_left, fcinfo, kFirst))
DPQ_TOTAL(text_right, text_of_texts(text_right, fcinfo, kFirst))
DPQ_TOTAL(text_substr, text_of_texts(text_substr, fcinfo, kFirst))
DPQ_TOTAL(text_substr_no_len, text_of_texts(text_substr_no_len, fcinfo, kFirst))
DPQ_TOTAL(textoverlay, text_of_texts(textoverlay, fcinfo, kFirst | kSecond))
DPQ_TOTAL(textoverlay_no_len, text_of_texts(textoverlay_no_len, fcinfo, kFirst | kSecond))
DPQ_TOTAL(text_reverse, text_of_texts(text_reverse, fcinfo, kFirst))
DPQ_TOTAL(btrim1, text_of_texts(btrim1, fcinfo, kFirst))
DPQ_TOTAL(ltrim1, text_of_texts(ltrim1, fcinfo, kFirst))
DPQ_TOTAL(rtrim1, text_of_texts(rtrim1, fcinfo, kFirst))
DPQ_TOTAL(chr, text_of_texts(chr, fcinfo, 0))
DPQ_TOTAL(like_escape, text_of_texts(like_escape, fcinfo, kFirst | kSecond))
DPQ_TOTAL(like_escape_bytea, text_of_texts(like_escape_bytea, fcinfo, kFirst | kSecond))
DPQ_TOTAL(repeat, repeated(fcinfo))
DPQ_TOTAL(lpad, filled(lpad, fcinfo))
DPQ_TOTAL(rpad, filled(rpad, fcinfo))
DPQ_TOTAL(lpad_text_int4, filled_with_spaces(lpad, fcinfo))
DPQ_TOTAL(rpad_text_int4, filled_with_spaces(rpad, fcinfo))
DPQ_TOTAL(bpchar, padded(fcinfo))
DPQ_TOTAL(varchar, text_of_texts(varchar, fcinfo, kFirst))
DPQ_TOTAL(md5_text, md5_of(fcinfo))
DPQ_TOTAL(md5_bytea, md5_of(fcinfo))

DPQ_TOTAL(btrim, found_text(btrim, fcinfo, kFirst | kSecond))
DPQ_TOTAL(ltrim, found_text(ltrim, fcinfo, kFirst | kSecond))
DPQ_TOTAL(rtrim, found_text(rtrim, fcinfo, kFirst | kSecond))
DPQ_TOTAL(split_part, found_text(split_part, fcinfo, kFirst | kSecond))
DPQ_TOTAL(translate, translated(fcinfo))
DPQ_TOTAL(replace_text, replaced(fcinfo))

DPQ_TOTAL(textlen, value_of_texts(textlen, fcinfo, kFirst))
DPQ_TOTAL(bpcharlen, value_of_texts(bpcharlen, fcinfo, kFirst))
DPQ_TOTAL(ascii, value_of_texts(ascii, fcinfo, kFirst))
DPQ_TOTAL(textpos, found(textpos, fcinfo))
DPQ_TOTAL(text_starts_with, value_of_texts(text_starts_with, fcinfo, kFirst | kSecond))

DPQ_TOTAL(textlike, matched(textlike, fcinfo))
DPQ_TOTAL(textnlike, matched(textnlike, fcinfo))
DPQ_TOTAL(texticlike, matched(texticlike, fcinfo))
DPQ_TOTAL(texticnlike, matched(texticnlike, fcinfo))
DPQ_TOTAL(bytealike, matched(bytealike, fcinfo))
DPQ_TOTAL(byteanlike, matched(byteanlike, fcinfo))
DPQ_TOTAL(namelike, matched_name(namelike, fcinfo))
DPQ_TOTAL(namenlike, matched_name(namenlike, fcinfo))
DPQ_TOTAL(nameiclike, matched_name(nameiclike, fcinfo))
DPQ_TOTAL(nameicnlike, matched_name(nameicnlike, fcinfo))
