#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// What a query may do with a function over values of protected rows. A function is total if it
// cannot fail for any row: an error would tell that a row with such a value exists.
enum class TotalKind {
  kAsItIs,   // total as PostgreSQL has it
  kVariant,  // to be replaced by total_variant(), which answers NULL where the original fails
};

struct TotalFunction {
  Oid function;
  TotalKind kind;
  // Bit i stands for argument i, counted from 0. These arguments must be free of columns, as the
  // unit of date_trunc and a time zone must.
  unsigned public_arguments;
};

// The reviewed entry of a function, or null. Leakproof functions have none, because is_total()
// knows them by a rule.
const TotalFunction* find_total_function(Oid function);

// Whether a leakproof function takes the longer, the longer a value is, as sha512(bytea) does. Not
// the comparison of two, which ends with the shorter.
bool is_unbounded(Oid function);

// Whether a function is total as it is, for all values of all its arguments: it is PostgreSQL's
// own, not volatile and leakproof, no exception and not is_unbounded(); or the table has it as
// kAsItIs.
bool is_total(Oid function);

// The function that replaces one of kind kVariant: dpquantile.total_<name>, with the same types of
// arguments and of the result. InvalidOid if the database does not have it; then refuse the query.
Oid total_variant(Oid function);

// Whether the conversion from one type to another by their output and input functions (CoerceViaIO)
// is total: to text, varchar or char, from a number, date, time, bool, uuid, name or enum. Casts
// with a function of their own, such as text(bool), are functions.
bool is_total_text_conversion(Oid from, Oid to);

// The function that replaces the conversion of a text to a type by its input function
// (CoerceViaIO): dpquantile.total_<type>(text), which answers NULL where the conversion fails.
// InvalidOid if there is none.
Oid total_text_cast(Oid type);

}  // namespace dpquantile
