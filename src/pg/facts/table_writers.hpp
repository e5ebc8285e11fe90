#pragma once

#include "pg/grants/refusal.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

// Reading a page of a table removes dead rows from it. Who writes the table sees afterwards by the
// places of new rows which pages were read, and so which keys protected rows have. So only those
// who may read the protected rows anyway may write what is joined with them.
namespace dpquantile {

// Refuses a query with joins unless everybody who may write the joined tables may also read the
// protected relations: the owner of each table and all roles with INSERT, UPDATE, DELETE or
// TRUNCATE on it or on a column of it; and those of the relations through which it is written (see
// write_paths). `tables` are the OIDs of the joined tables, `relations` those of the protected
// relations.
void check_writers(const RefusedQuery& query, const List* tables, const List* relations);

// The same for protected tables that are joined with each other, by OIDs: everybody who may write
// one of them, or a partition or child of it, may read the others.
void check_joined_writers(const RefusedQuery& query, const List* tables);

}  // namespace dpquantile
