#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// A join whose work does not depend on which rows match. PostgreSQL's joins stop as soon as no more
// pairs can come: a hash join does not read one side if the other is empty, nor the parts of it
// that no row of the other falls into; a nested loop does not read its inner side without an outer
// row. If the side that is not read is a table of millions of rows, the time of a query would tell
// whether one protected row is there.
//
// A full join has to read both sides to their ends, to compare each row with the other side, and to
// visit each row that has no partner. So all joins below a release node become full hash joins, of
// which a condition drops the pairs that the query does not ask for. What a protected row adds then
// is its own work. (Source of the idea: oblivious joins, Krastnikov, Kerschbaum and Stebila,
// "Efficient oblivious database joins", VLDB 2020. Theirs hides each access of memory, this one
// hides what takes longer than one row does.)
namespace dpquantile {

// Changes the joins below the release nodes of a plan that was made with
// begin_oblivious_planning() (oblivious_planning.hpp). A nested loop that looks up each outer row
// in an index stays: what it does for a row is bounded. ereports if there is a join of another
// kind.
void make_joins_oblivious(PlannedStmt* plan);

}  // namespace dpquantile
