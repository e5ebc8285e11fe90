#pragma once

#include "pg/plain/query_scope.hpp"

// The public lists of the values that keys of GROUP BY may have.
namespace dpquantile {

// The values of a key as constants, from the domains of its columns: a column with a list of keys,
// whole numbers and dates between bounds, date_trunc and extract of a column with bounds, CASE with
// constant results, and conditions. Each value once, none NULL. NIL if there is no such list, or if
// it has more than kMaxElements values.
List* public_values_of(const QueryScope* scope, Node* key);

}  // namespace dpquantile
