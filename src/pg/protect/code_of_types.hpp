#pragma once

#include "pg/protect/judged_level.hpp"

// PostgreSQL's own functions may run code of the owner of a type. When they make a value from a
// text or from JSON, they check the domains in it: also in a field of a row, or in an element of an
// array. When they write a value as JSON, and in some other functions, they look for casts of its
// type.
namespace dpquantile {

// The type whose owner's code the node might run at its level; InvalidOid if there is none. Types
// are trusted that are PostgreSQL's own, of this extension, or base types of a superuser, and
// arrays of these. Values of all types may be read, compared and shown, by functions that take any
// type (pg/vocabulary/function_rule.hpp). It looks neither at the arguments of the node nor at the
// cast to a domain (outside.cpp).
Oid type_with_code(const JudgedLevel* level, Node* node);

}  // namespace dpquantile
