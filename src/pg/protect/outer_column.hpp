#pragma once

#include "pg/protect/judged_level.hpp"

// Columns of an outer query in expressions over protected rows, as in a subquery for each region.
// They are constants for one execution of the release block. But if the outer column is itself an
// expression, the planner computes it again for each row, where it may fail: the error would show
// that a row got so far.
namespace dpquantile {

// Has the value of the column computed before a release starts, and not again for each row. The
// planner would put the expression of a derived table into its place, which may fail for a row.
// ereports if the column is not one of which this is known. `around` is the level whose column it
// is.
void compute_before_rows(const JudgedLevel* level, const JudgedLevel* around, const Var* column);

}  // namespace dpquantile
