#pragma once

#include "pg/server/postgres.hpp"

// The functions dpquantile.total_<name> answer what PostgreSQL's function of this name answers, and
// NULL where that raises an error about its arguments. So a query over protected rows can use them:
// an error would tell that a row with such arguments exists. They take any argument of their types,
// but answer NULL also for numerics with many digits (kMostNumericDigits) and long texts
// (total_texts.hpp), because time and memory would tell of them.
namespace dpquantile {

// Calls original with the arguments of fcinfo. Makes the answer NULL if it reports an error about
// their values: SQLSTATE class 22 (data exception), 0A000 (PostgreSQL reports it for units, NaN and
// infinities), 42601 (formats), 54000 (lengths) and 54001 (the depth of the stack). Any other
// error, such as a cancel, is raised.
//
// This leaves a transaction as it was only if original holds nothing when it reports the error: no
// lock, no buffer, no open file or relation, no cache entry. Each file that calls it says why that
// is so. Memory belongs to the caller's context, which is reset after the row.
Datum call_or_null(PGFunction original, FunctionCallInfo fcinfo);

// The same with two arguments that differ from those of fcinfo.
Datum call_or_null(PGFunction original, FunctionCallInfo fcinfo, Datum first, Datum second);

// Makes the answer of a function NULL.
inline Datum null_answer(FunctionCallInfo fcinfo) {
  fcinfo->isnull = true;
  return Datum{0};
}

}  // namespace dpquantile

// Defines dpq_total_<symbol> for SQL, with a body that uses fcinfo. The symbol is that of
// PostgreSQL's function, or its name and types if PostgreSQL has it in SQL.
#define DPQ_TOTAL(symbol, answer)    \
  DPQ_FUNCTION(dpq_total_##symbol) { \
    return answer;                   \
  }
