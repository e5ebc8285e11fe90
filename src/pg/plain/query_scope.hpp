#pragma once

#include "pg/grants/protection_catalog.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

// Where the columns of a query level come from.
namespace dpquantile {

struct QueryScope {
  Query* query;
  const QueryScope* parent;  // null at the top
  int* lookups;              // how often the query of an entry of FROM has been looked up
};

// An expression and the query level that computes it.
struct ScopedExpression {
  const QueryScope* scope;  // palloc'd
  Node* expression;
};

// What a column of a derived table, a CTE or a join stands for, or nothing for a column of a table
// or of a query that computes it from several rows.
std::optional<ScopedExpression> definition_of(const QueryScope* scope, const Var* column);

// The relation and the number of the column that an expression shows as it is. The relation is a
// table, or a protected view.
struct ColumnOrigin {
  Oid relation;
  AttrNumber column;
};
std::optional<ColumnOrigin> origin_of(const QueryScope* scope, const Node* expression);

// The protected relations whose rows FROM has and that the user borrows, OIDs. No outer join with
// another leaves out rows of the first. NIL if there is none.
List* protected_rows_of(const QueryScope* scope);

// Whether an outer join in FROM keeps rows of public tables that match no protected row:
// "public LEFT JOIN protected".
bool has_public_side(const QueryScope* scope);

// Whether an entry of the range table is a protected relation that the user borrows.
bool is_protected_entry(const QueryScope* scope, int number);

// The query of an entry that is a derived table or a CTE, or null.
const QueryScope* query_of_entry(const QueryScope* scope, int number);

// A column of the scope that shows this column of a relation, or null if FROM has none.
Node* column_showing(const QueryScope* scope, const ColumnOrigin& origin);

}  // namespace dpquantile
