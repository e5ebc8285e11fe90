#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// Calls of any function over answers. When they are computed, the query has been charged: an error
// would take the answers from who has paid for them. So a query has dpquantile.or_null(answer,
// original, arguments) in the place of a call that may fail. It answers what the original answers,
// and NULL, with a notice, where that raises an error about its arguments. Not for values of rows
// (total_functions.hpp): each call is a subtransaction, and the notice tells of the values.
namespace dpquantile {

// The call in the place of a FuncExpr, OpExpr or CoerceViaIO that gives no set. Checks that the
// user may call what it calls. Null if the database does not have dpquantile.or_null(); then refuse
// the query.
Expr* call_or_null_of(const Node* node);

// The value of a subquery whose rows, each of one value, are an array: NULL, with a notice, if
// there are several. Null if the database does not have dpquantile.only_element().
Expr* only_element_of(Node* array, Oid type, Oid collation);

}  // namespace dpquantile
