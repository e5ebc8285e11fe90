#pragma once

#include "pg/protect/query_level.hpp"

// The user of a row, where a query does not name it.
namespace dpquantile {

// The column of the users of the protected rows, as an expression of a source or release block:
// that of its user_entry. Derived tables and CTEs that leave it out get it as one more column. It
// is NULL where an outer join has no protected row. Null if the level reads it in an unknown way.
Node* user_of_row(QueryLevel* level);

}  // namespace dpquantile
