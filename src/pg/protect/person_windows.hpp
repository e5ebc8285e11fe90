#pragma once

#include "pg/protect/judged_level.hpp"

// Window functions over protected rows, below a private aggregate, of which each computes within
// the rows of one person. So what they give is a function of the rows of this person: columns of
// rows of persons (Lemma 34j of docs/privacy/relations.md). A plan has the rows in an order that
// depends on these rows alone (pg/limits/person_order_node.hpp).
namespace dpquantile {

// Checks and rewrites the window functions of a source whose FROM is known and whose columns have
// not been looked at. They must have their plain form (pg/plain/person_windows.hpp).
void check_windows(JudgedLevel* level);

// Checks and rewrites a column of such a level that is a window function.
Node* rewrite_window_function(JudgedLevel* level, WindowFunc* call);

// The keys of the windows, when the columns have been rewritten.
void check_window_keys(JudgedLevel* level);

}  // namespace dpquantile
