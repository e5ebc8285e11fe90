#pragma once

#include "pg/server/postgres.hpp"

namespace dpquantile {

// Whether a role's budget for a protected table has been revoked: then the role gets no answers
// about the table's rows, also if it has a general budget.
bool is_closed_table(Oid role, Oid relation);

}  // namespace dpquantile
