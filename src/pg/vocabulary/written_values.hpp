#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// Expressions that write values as texts, by functions and casts that rows may call.
namespace dpquantile {

// The collation of the texts, and where they stand in the query.
struct Writing {
  Oid collation;
  int location;
};

// A function of one or two texts
Node* text_call(const Writing& of, Oid function, Oid result, Node* first, Node* second);

Node* text_constant(const char* text);

// As the output function of the type writes it: of a boolean 't'.
Node* as_text(const Writing& of, Node* value);

// The text, or this one in the place of NULL.
Node* text_or(Node* text, const char* other);

// CASE WHEN value = 0 THEN 0 WHEN value = 'NaN' THEN 'NaN' ELSE value END, of a float8 or real: -0
// and 0 are equal, and so are NaNs of any bits.
Node* with_one_of_equals(Node* value);

// If the first argument of an aggregate is a row of values, (a, b), puts in its place a text that
// is the same for equal rows, and another one for others: what count(DISTINCT (a, b)) counts.
// Returns a value of a type for which that is not known, or null.
const Node* put_text_for_row(Aggref* call);

}  // namespace dpquantile
