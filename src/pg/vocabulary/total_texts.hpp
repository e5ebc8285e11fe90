#pragma once

#include "pg/vocabulary/total_call.hpp"

// The variants of functions of text and bytea, and of to_char. PostgreSQL's functions compute with
// their arguments and the loaded collation; to_char also with the names of months in memory and a
// cache of formats, in which it marks a format as valid when it has read it. So call_or_null() is
// safe for them.
//
// They have limits, because memory and time must not show that one row has a very long text. A CASE
// may build one for one row, and a few derived tables that double it would exhaust the memory.
namespace dpquantile::texts {

// The most bytes of a text that such a variant reads or answers.
inline constexpr Size kMostTextBytes = 65536;

// Which arguments are texts (or of type bytea), as bits.
inline constexpr unsigned kFirst = 1;
inline constexpr unsigned kSecond = 2;
inline constexpr unsigned kThird = 4;

// The bytes of a text argument, without its header. Does not read a text that is stored elsewhere.
Size text_bytes(FunctionCallInfo fcinfo, int number);

// call_or_null() if each of these arguments is short, else NULL. Loads the collation before,
// because loading it reads a catalog.
Datum value_of_texts(PGFunction original, FunctionCallInfo fcinfo, unsigned texts);

// The same for a function that answers a text, or NULL if the answer is too long.
Datum text_of_texts(PGFunction original, FunctionCallInfo fcinfo, unsigned texts);

template <PGFunction kOriginal, unsigned kTexts>
Datum value_of(FunctionCallInfo fcinfo) {
  return value_of_texts(kOriginal, fcinfo, kTexts);
}

template <PGFunction kOriginal, unsigned kTexts>
Datum text_of(FunctionCallInfo fcinfo) {
  return text_of_texts(kOriginal, fcinfo, kTexts);
}

// Whether the first two arguments are short enough to search the second in the first.
bool is_short_search(FunctionCallInfo fcinfo);

template <PGFunction kOriginal>
Datum found(FunctionCallInfo fcinfo) {
  return is_short_search(fcinfo) ? value_of_texts(kOriginal, fcinfo, kFirst | kSecond)
                                 : null_answer(fcinfo);
}

template <PGFunction kOriginal, unsigned kTexts>
Datum found_text(FunctionCallInfo fcinfo) {
  return is_short_search(fcinfo) ? text_of_texts(kOriginal, fcinfo, kTexts) : null_answer(fcinfo);
}

// The second argument is a pattern. LIKE calls itself for each % of it, and how deep the stack may
// be would tell whether there is a row for which it does.
bool has_few_wildcards(FunctionCallInfo fcinfo);

// (text, pattern)
template <PGFunction kOriginal>
Datum matched(FunctionCallInfo fcinfo) {
  return has_few_wildcards(fcinfo) ? found<kOriginal>(fcinfo) : null_answer(fcinfo);
}

// (name, pattern): a name is short.
template <PGFunction kOriginal>
Datum matched_name(FunctionCallInfo fcinfo) {
  return has_few_wildcards(fcinfo) ? value_of_texts(kOriginal, fcinfo, kSecond)
                                   : null_answer(fcinfo);
}

// The second argument is a regular expression, whose compiled form PostgreSQL keeps for the
// session.
bool has_light_pattern(FunctionCallInfo fcinfo);

template <PGFunction kOriginal>
Datum matched_regex(FunctionCallInfo fcinfo) {
  return has_light_pattern(fcinfo) ? value_of_texts(kOriginal, fcinfo, kFirst)
                                   : null_answer(fcinfo);
}

Datum replaced(FunctionCallInfo fcinfo);
Datum translated(FunctionCallInfo fcinfo);
Datum repeated(FunctionCallInfo fcinfo);
Datum padded(FunctionCallInfo fcinfo);
Datum md5_of(FunctionCallInfo fcinfo);

// lpad() or rpad() of (text, length, fill), or of (text, length) with spaces.
Datum filled(PGFunction original, FunctionCallInfo fcinfo);
Datum filled_with_spaces(PGFunction original, FunctionCallInfo fcinfo);

template <PGFunction kOriginal>
Datum filled(FunctionCallInfo fcinfo) {
  return filled(kOriginal, fcinfo);
}

template <PGFunction kOriginal>
Datum filled_with_spaces(FunctionCallInfo fcinfo) {
  return filled_with_spaces(kOriginal, fcinfo);
}

}  // namespace dpquantile::texts
