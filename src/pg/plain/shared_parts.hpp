#pragma once

#include "pg/plain/group_keys.hpp"
#include "pg/plain/list_join.hpp"

// Keys of one part have their values together: of the number of a month and its name there are 12
// pairs, not 144. The part is a column, a moment, or the conditions of CASE. Its values are
// enumerated as they are for the list of one key, and the rows of what all keys are for each of
// them. A combination that no value of the part has is no group. Which there are follows from what
// the lists follow from.
namespace dpquantile {

// Makes one factor of those whose keys are computed of one part, also in derived tables. As they
// are stay keys of tables, keys with a value that stands for all others, and those of parts with
// more than 10000 values, or 13000 moments. So do those that have values of their lists together
// also where the column is beyond its bounds, as no value between them has: a condition or
// width_bucket, and a remainder. Not if the query has bounds itself, or one key tells the others.
void join_keys_of_one_part(const Level* level, Lists lists, Replacement* replacement);

}  // namespace dpquantile
