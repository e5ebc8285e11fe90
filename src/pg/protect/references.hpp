#pragma once

#include "pg/protect/judged_level.hpp"

// Tables that are protected through another one: the person of a row is that of the row that it
// refers to. Before the rules look at a statement, it is changed so that they need not know more
// than whose rows a join has. Nothing here is trusted: they judge what comes of it.
namespace dpquantile {

// Puts a derived table in the place of each such table that the statement borrows. It joins the
// table with the one that it refers to, which the statement borrows for that, and shows the person
// as one more column after those of the table.
void lower_references(JudgedStatement* statement, Query* query);

}  // namespace dpquantile
