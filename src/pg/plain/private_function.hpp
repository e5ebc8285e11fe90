#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// Calls of this extension's aggregates, as the parser would make them of their names and the types
// of their arguments. A function of another role with the same name and closer types must not take
// the place of the private one: then the call is an error.
namespace dpquantile {

// A call of the aggregate with this name. `arguments` are expressions, whose types choose the
// variant. The call has the place `location` in the query's text. ereports if there is none.
Aggref* call_private_aggregate(const char* name, List* arguments, int location);

// A call of another function of this extension, likewise.
Node* call_function(const char* name, List* arguments);

// A field of an expression of a composite type. ereports if it has none of this name.
Node* select_field(Node* composite, const char* field);

// The element of an array with this number, an int4.
Node* element_of(Node* array, Node* number);

// What implicit casts convert; the expression itself if it is none.
Node* without_implicit_cast(Node* expression);

// Constants.
Node* float8_constant(double value);
Node* bool_constant(bool value);
// The value that the type's input function makes of the text.
Node* constant_of_text(Oid type, int32 modifier, Oid collation, const char* text);

}  // namespace dpquantile
