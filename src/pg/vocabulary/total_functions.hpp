#pragma once

#include "pg/vocabulary/function_rule.hpp"

extern "C" {
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
}

// What a query may do with functions over values of protected rows. A function is total if it
// cannot fail for any row: an error would tell that a row with such a value exists. Some functions
// of PostgreSQL are total as they are. Others have a variant, which answers NULL where they fail
// (pg/vocabulary/total_call.hpp). The query calls it by dpquantile.total(answer, original,
// arguments), whose first argument is '{}' of an array type and says which type it answers, and
// whose second argument is the OID of PostgreSQL's function. Both are constants.
namespace dpquantile {

inline constexpr int kBeforeArguments = 2;  // arguments of dpquantile.total() before the original's

// The line of the table for a function, or null.
const FunctionRule* find_rule(Oid function);

// The same if it has a variant that stands for calls of the function, or null.
const FunctionRule* find_variant(Oid function);

// The same, or the cast that stands for the input or output function of a type.
const FunctionRule* find_variant_or_cast(Oid original);

// The arguments of a function with a variant.
int number_of_arguments(const FunctionRule& variant);

// The variant of a cast from text or varchar by the input function of a type, or of one to text by
// an output function, or null.
const FunctionRule* find_text_cast(Oid from, Oid to);

// How long a function takes; kOrdinary for one that is not listed.
CallTime time_of_function(Oid function);

// Whether a function is total as it is, for all values of all its arguments.
bool is_total(Oid function);

// The call of the variant that stands for a call of its function with these arguments. Null if the
// database does not have dpquantile.total(), or the call has other arguments; then refuse the
// query.
FuncExpr* call_of_variant(const FunctionRule& variant, const Node* call, const List* arguments);

// The call of the variant that stands for a cast by the input or output function of a type, from
// text or to the type `to`. Null if none does.
FuncExpr* cast_by_variant(const CoerceViaIO* cast, Oid to);

// The variant that a node calls, or null.
const FunctionRule* variant_of_call(const Node* node);

// Whether the conversion from one type to another by their output and input functions (CoerceViaIO)
// is total: to text, varchar or char, from a number, date, time, bool, uuid, name or enum. Casts
// with a function of their own, such as text(bool), are functions.
bool is_total_text_conversion(Oid from, Oid to);

}  // namespace dpquantile
