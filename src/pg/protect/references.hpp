#pragma once

#include "pg/protect/judged_level.hpp"

// Tables that are protected through another one: the person of a row is that of the row that it
// refers to. Before the rules look at a statement, it is changed so that they need not know more
// than whose rows a join has. Nothing here is trusted: they judge what comes of it.
namespace dpquantile {

// Puts a derived table in the place of each such table that the statement borrows, unless FROM
// joins it with the one that it refers to. It joins the two, and shows the person as one more
// column after those of the table. The statement borrows the other table for that. `level` has been
// read, with those below; the statement is to be read again.
void lower_references(JudgedStatement* statement, const Level* level);

// Whether a query shows this column of a table that is not yet in such a derived table.
bool names_added_persons(const Query* query);

}  // namespace dpquantile
