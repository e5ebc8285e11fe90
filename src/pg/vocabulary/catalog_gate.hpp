#pragma once

#include "pg/grants/refusal.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

// The gate for objects of the catalogs. A name in the text of an analyst can lead to any of them,
// and PostgreSQL follows links between them after the validator has looked: from an operator to its
// negator, commutator and estimators, from a type to its functions. An object passes if it is
// PostgreSQL's own or a member of this extension. Roles cannot change what such an object leads to,
// except that a superuser may.
namespace dpquantile {

// ereports unless all objects pass that the expressions of a query, also of its views, subqueries,
// keys and set operations, name and lead to: functions, aggregates, operators and what they are
// linked with, operator families, collations by which values are compared or sorted, the functions
// of the types of arguments, and what tables evaluate when they are read: predicates of indexes,
// virtual generated columns.
void check_catalog_objects(const RefusedQuery& refused, Query* query);

// Why the predicate of an index has queries of its table refused, or null. It takes no lock.
const char* problem_of_predicate(Oid index);

// Whether an object of a catalog passes.
bool passes_gate(Oid catalog, Oid object);

// Whether values of the type may be computed with inside: PostgreSQL's own types, enums, and arrays
// and domains of them.
bool is_inside_type(Oid type);

// Whether the collation passes and is deterministic. A comparison with another one may run a
// program or fail.
bool is_inside_collation(Oid collation);

}  // namespace dpquantile
