#pragma once

#include "pg/vocabulary/total_call.hpp"

// What the variants of functions of text have in common: limits, because memory and time must not
// show that one row has a very long text. A CASE may build one for one row, and a few derived
// tables that double it would exhaust the memory.
namespace dpquantile {

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

}  // namespace dpquantile
