#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// Whether a role's budget for a protected table has been revoked: then the role gets no answers
// about the table's rows, also if it has a general budget.
bool is_closed_table(Oid role, Oid relation);

// What charges cost together; NULL is unknown.
struct ChargedTogether {
  NullableDatum epsilon;  // float8
  NullableDatum delta;
  NullableDatum rho;
};

// What is left of the role's budget for a table, or for InvalidOid of its general one, if these
// charges are more, such as "epsilon 0.3"; null if they are not, or there is no such budget.
const char* exceeded_budget(Oid role, Oid relation, const ChargedTogether& charges);

}  // namespace dpquantile
