#pragma once

#include "pg/protect/query_level.hpp"

// Columns of a query around, in expressions over protected rows.
namespace dpquantile {

// Has the value of the column computed before a release starts, and not again for each row. The
// planner would put the expression of a derived table into its place, which may fail for a row.
// ereports if the column is not one of which this is known. `around` is the level whose column it
// is.
void compute_before_rows(const QueryLevel* level, const QueryLevel* around, const Var* column);

}  // namespace dpquantile
