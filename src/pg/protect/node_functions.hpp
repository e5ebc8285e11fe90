#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/nodes.h"
#include "nodes/pg_list.h"
}

// What one node of an expression calls, and with which types and collations. Its arguments are not
// looked at.
namespace dpquantile {

// The first function that the node calls and `allows` does not allow; invalid if there is none.
// Also the comparison of GREATEST, the functions of a cast by text, and aggregates.
Oid find_other_function(Node* node, bool (*allows)(Oid));

// Whether values of the type may be computed with inside: PostgreSQL's own types, enums, and arrays
// and domains of them.
bool is_inside_type(Oid type);

// Whether the collation is one of PostgreSQL's own and deterministic. A comparison with another one
// may run a program or fail.
bool is_inside_collation(Oid collation);

// The arguments of a call of functions, or NIL.
List* arguments_of(const Node* node);

// Whether a function may be called outside: it is PostgreSQL's own or a member of this extension,
// and not volatile.
bool is_outside_function(Oid function);

// Whether an aggregate is a member of this extension.
bool is_own_aggregate(Oid aggregate);

// Whether an object of pg_operator or pg_type is PostgreSQL's own or a member of this extension.
bool is_own_operator(Oid object);
bool is_own_type(Oid object);

}  // namespace dpquantile
