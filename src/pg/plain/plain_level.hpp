#pragma once

#include "pg/plain/query_scope.hpp"
#include "pg/protect/refusal.hpp"

// A query level with standard aggregates over protected rows, while it is translated.
namespace dpquantile {

struct PlainLevel {
  QueryScope scope;
  Oid relation;          // the protected relation whose rows it aggregates
  double epsilon;        // of each aggregate
  double delta;          // of the choice of groups; 0: keys must be public
  RefusedQuery refused;  // how to refuse it
};

// The name of the column that an expression shows, or what else to call it in a refusal.
const char* name_of_expression(const QueryScope* scope, Node* expression);

}  // namespace dpquantile
