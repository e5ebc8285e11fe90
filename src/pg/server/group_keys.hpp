#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace dpquantile {

// PostgreSQL 18 keeps the keys of GROUP BY in an entry of the range table, to which the expressions
// of the query level refer. This puts a copy of each key in the place of each column that refers to
// it, with copies of the queries in it, unless there is none such. Without grouping sets the entry
// is forgotten then: PostgreSQL computes what is constant in its keys when it plans, and rules put
// total functions into the copies only. Returns whether the query changed.
bool resolve_group_keys(Query* query);

// Whether an = is that by which GROUP BY tells values of a column apart, so that what it is
// compared with is equal to the column in one group of a person at most. Texts compared as
// character, or times in a time zone, are equal to several.
bool tells_groups_apart(const OpExpr* equality, const Var* column);

}  // namespace dpquantile
