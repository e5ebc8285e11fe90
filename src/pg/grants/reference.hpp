#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "access/attnum.h"
#include "nodes/pg_list.h"
}

// The foreign key by which the rows of a table refer to rows of another one, which say whose they
// are: a line of an order is about the customer of the order. Only catalogs decide, and no lock is
// taken.
namespace dpquantile {

struct Reference {
  Oid relation;     // whose rows refer
  Oid referenced;   // to whose rows
  bool is_checked;  // whether the constraint is valid, enforced, and checked by each statement
  int columns;
  AttrNumber own[INDEX_MAX_KEYS];  // the columns that refer
  AttrNumber key[INDEX_MAX_KEYS];  // the column of a key that each of them names
  Oid equality[INDEX_MAX_KEYS];    // key = own
};

// All foreign keys of a table, and those from the one to exactly the other table: Reference. A key
// to a partitioned table is none to its partitions.
List* references_of(Oid relation);
List* references_between(Oid relation, Oid referenced);

// The one of them that the column is of, or null with what is wrong: `*problem` goes on after the
// name of the column. Of several it is the one whose columns all others have, too: it chooses the
// row that they choose.
const Reference* find_reference(Oid relation, AttrNumber column, Oid referenced,
                                const char** problem);

// Whether a table has children with rows and keys of their own; partitions share those of their
// table. pg_class says that there are some until the next ANALYZE after the last one was dropped,
// and autovacuum analyzes when many rows have changed: that would tell of the rows.
bool has_children_besides_partitions(Oid table);

}  // namespace dpquantile
