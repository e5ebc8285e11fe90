#pragma once

#include "pg/protect/judged_level.hpp"

// How often the conditions of joins are computed for one protected row. A row matches at most one
// row of each list and public table (join_rule.hpp), but PostgreSQL may compare it with more: with
// all that have the same hash, or with all that fulfil some of the conditions. Who writes a list
// chooses how many these are.
namespace dpquantile {

// Counts the conditions of the joins of a release block and of its sources as often as the plan
// with the most comparisons computes them, where without this they are counted once. A list that
// one = chooses a row of, by a column in which few rows have one hash, is compared once; of any
// other list each row is. ereports if the time is too long, or if conditions compare a public table
// in a way in which a row may meet many of its rows. The queries of a UNION ALL are planned by
// themselves, and what joins their rows takes them for those of a table.
void count_comparisons(JudgedLevel* block);

}  // namespace dpquantile
