#pragma once

#include "pg/server/postgres.hpp"

// What is known of PostgreSQL's types over which a query computes. Columns of other built-in types
// may be named, too (is_inside_type() in catalog_gate.hpp), as far as functions take them. Enums,
// arrays and ranges follow from their kind and from the types of their elements.
namespace dpquantile {

struct TypeRule {
  Oid type;
  const char* ordinary;  // the text of an ordinary value; null: a text itself
  bool has_any_length;   // so that time and memory would tell of a long value
};

// The line of the table for a type, or null.
const TypeRule* find_type(Oid type);

}  // namespace dpquantile
