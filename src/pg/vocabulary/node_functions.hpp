#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/nodes.h"
#include "nodes/pg_list.h"
}

// What one node of an expression calls, and with which types and collations. Its arguments are not
// looked at. Some nodes call functions that the query does not name, such as the comparison of
// GREATEST or the input function of a cast; a check that missed one would let it run over rows.
namespace dpquantile {

// The first function that the node calls and `allows` does not allow; invalid if there is none.
// Also the comparison of GREATEST, the functions of a cast by text, and aggregates.
Oid find_other_function(Node* node, bool (*allows)(Oid));

// The arguments of a call of functions, or NIL.
List* arguments_of(const Node* node);

// Puts the arguments into a call that it leaves out, and in their order where it names them, as the
// planner does: who computes a call before would read behind its arguments. Other nodes stay.
void complete_arguments(Node* node);

// The function that the node calls with them, or InvalidOid.
Oid function_of(const Node* node);

// The place among them of the first argument of the function: a call of a variant has two others
// before it (total_functions.hpp).
int first_argument(const Node* node);

// An argument of the function by its number from 0, or null.
Node* argument_of(const Node* node, int number);

// Whether one of the names, which are separated by blanks, is this. Null is none.
bool is_one_of(const char* name, const char* names);

// Whether a function that passes the gate (catalog_gate.hpp) may be called outside: it is not
// volatile, and runs no code that its arguments name.
bool is_outside_function(Oid function);

}  // namespace dpquantile
