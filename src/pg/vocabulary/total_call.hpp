#pragma once

#include "pg/server/postgres.hpp"

// A variant answers what a function of PostgreSQL answers for the same arguments, and NULL where
// that raises an error about them. So a query over protected rows can use it: an error would tell
// that a row with such arguments exists. It takes any argument of its types, but answers NULL also
// for numerics with many digits (kMostNumericDigits) and long texts (total_texts.hpp), because time
// and memory would tell of them. The table of functions (function_rule.hpp) says which variant
// stands for which function; SQL calls all of them by dpquantile.total() (total_variant.cpp).
namespace dpquantile {

// Whether an error is about the values of arguments: SQLSTATE class 22 (data exception), 0A000
// (PostgreSQL reports it for units, NaN and infinities), 42601 (formats), 54000 (lengths) and 54001
// (the depth of the stack).
bool is_about_values(int sqlstate);

// Calls original with the arguments of fcinfo. Makes the answer NULL if it reports an error about
// their values. Any other error, such as a cancel, is raised.
//
// This leaves a transaction as it was only if original holds nothing when it reports the error: no
// lock, no buffer, no open file or relation, no cache entry. Each file that calls it says why that
// is so. Memory belongs to the caller's context, which is reset after the row.
Datum call_or_null(PGFunction original, FunctionCallInfo fcinfo);

// The variant of a function for which no more is to be done.
template <PGFunction kOriginal>
Datum null_on_error(FunctionCallInfo fcinfo) {
  return call_or_null(kOriginal, fcinfo);
}

// The same with two arguments that differ from those of fcinfo.
Datum call_or_null(PGFunction original, FunctionCallInfo fcinfo, Datum first, Datum second);

// Makes the answer of a function NULL.
inline Datum null_answer(FunctionCallInfo fcinfo) {
  fcinfo->isnull = true;
  return Datum{0};
}

}  // namespace dpquantile
