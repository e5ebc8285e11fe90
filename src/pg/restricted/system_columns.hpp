#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

// The columns of users' tables that tell which transactions have written or locked a row, or where
// it is: foreign keys of other tables lock it.
namespace dpquantile {

// The name of such a column of the relation. Null for another one: tableoid, a column of
// PostgreSQL's own catalogs, and ctid of a temporary table or a materialized view.
const char* told_by_system_column(Oid relation, AttrNumber column);

[[noreturn]] void refuse_system_column(Oid relation, const char* column);

// ereports if the query reads such a column after rewriting. The permissions that PostgreSQL checks
// do not list what the conditions of policies and rules read.
void refuse_system_columns(Query* query);

// The same for the policies of an entry of the query's range table: those of SQL functions that are
// inlined come with planning.
void refuse_system_columns_of_policies(const Query* query, const RangeTblEntry* entry);

// The same for the condition (WHEN) of a trigger of the relation, which may be null.
void refuse_system_columns_of_trigger(Oid relation, Node* condition);

}  // namespace dpquantile
