#pragma once

#include "pg/protect/judged_level.hpp"

// The person of a row, where a query does not name the user column. The limit of the rows of each
// person (max_rows) needs it, and a derived table may have left it out. So it is added to each
// query level between the table and the aggregates. Without it such a query would have no limit, or
// would have to be refused. What is chosen of a person's rows depends on these alone (Lemma 34f of
// docs/privacy/relations.md).
namespace dpquantile {

// The column of the users of the protected rows, as an expression of a source or release block:
// that of its user_entry. Derived tables and CTEs that leave it out get it as one more column. It
// is NULL where an outer join has no protected row. Null if the level reads it in a form that is
// not supported.
Node* user_of_row(JudgedLevel* level);

// Whether an expression is the person of the rows of a level, and not another column of persons,
// which an outer join may make NULL.
bool is_user_of_row(const JudgedLevel* level, const Node* expression);

// Adds a condition that leaves out the rows of nobody, which would be together as those of a person
// are. ereports if the level does not show the person of a row.
void leave_out_nobody(JudgedLevel* level);

}  // namespace dpquantile
