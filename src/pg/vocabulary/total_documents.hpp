#pragma once

#include "pg/vocabulary/total_call.hpp"
#include "pg/vocabulary/total_texts.hpp"

// The variants of functions of jsonb. PostgreSQL's functions compute with their arguments only, so
// call_or_null() is safe for them. A jsonb or an array of texts has the limits of a text
// (total_texts.hpp), and so has what is answered.
//
// The text of a jsonb may be far longer than its bytes: 1e100000 takes 16 of them. So one that is
// longer than most_written_bytes() is NULL, and is not written.
namespace dpquantile::documents {

// The most bytes of the text of a jsonb of so many bytes, or of a part of it. Numbers that float8
// has, and texts in which not most characters need an escape sequence, are shorter.
template <class Number>
constexpr Number most_written_bytes(Number bytes) {
  return 2 * bytes + 512;
}

// The text that kText answers for the part that kPart answers, unless it is long.
Datum written_part(PGFunction part, PGFunction original, FunctionCallInfo fcinfo, unsigned texts);

template <PGFunction kPart, PGFunction kText, unsigned kTexts>
Datum text_of_part(FunctionCallInfo fcinfo) {
  return written_part(kPart, kText, fcinfo, kTexts);
}

// The cast of a jsonb to text
Datum written(FunctionCallInfo fcinfo);

// Whether the arguments are short enough to look for parts of one in the other. A search in jsonb
// for jsonb calls itself for each level of both, and how deep the stack may be would tell whether
// there is a row for which it does. One of two that are short enough has at most 1024 bytes, and so
// 128 levels.
bool is_short_search(FunctionCallInfo fcinfo);

template <PGFunction kOriginal>
Datum searched(FunctionCallInfo fcinfo) {
  return is_short_search(fcinfo)
             ? texts::value_of<kOriginal, texts::kFirst | texts::kSecond>(fcinfo)
             : null_answer(fcinfo);
}

// The casts to numbers. A number with many digits is NULL, as in total_numerics.hpp.
Datum numeric_of(FunctionCallInfo fcinfo);
Datum number_of(PGFunction from_numeric, FunctionCallInfo fcinfo);

template <PGFunction kFromNumeric>
Datum cast_to_number(FunctionCallInfo fcinfo) {
  return number_of(kFromNumeric, fcinfo);
}

}  // namespace dpquantile::documents
