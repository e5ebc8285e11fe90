#pragma once

#include <span>

#include "pg/server/postgres.hpp"

namespace dpquantile {

// The operator family of the default = of a type, that of its btree indexes. InvalidOid if it has
// none.
Oid equality_family(Oid type);

// A column of values that are compared by that =.
struct ComparedColumn {
  Oid type;
  Oid collation;
};

// Whether no two of the rows are equal in all columns. Each has a value for each column, none of
// them NULL. ereports if a type has no such =.
bool are_distinct_rows(Datum* const* rows, int count, std::span<const ComparedColumn> columns);

// The same for single values.
bool are_distinct(Datum* values, int count, Oid type, Oid collation);

// Whether at most two of the values have one hash: a hash join compares a row with each of them,
// and PostgreSQL's hashes are public, so who makes a list could give all of its values the same.
// And whether at most 1000 are in one bucket of a hash table, which a row looks through.
// True for a type without hashes and up to 1000 values.
bool are_spread_by_hash(Datum* values, int count, Oid type, Oid collation);

// The same of rows: a hash join combines the hashes of its columns in the order of the conditions,
// so it holds for each order. False for more than four columns, and if one has no hash.
bool are_spread_by_hash(Datum* const* rows, int count, std::span<const ComparedColumn> columns);

}  // namespace dpquantile
