#pragma once

#include "pg/plain/plain_level.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// Rows of a public table that match no protected row, in public LEFT JOIN protected. SQL counts one
// row of NULLs for each, and so does dp_count of rows. In it there is no person, so answers that
// protect persons leave it out.
namespace dpquantile {

// What count(*) and the like answer, of a number of the rows with a person: the number, or at least
// 1 where each group has one row of the public table, by its columns in GROUP BY. ereports where
// the groups may have several, of which the number does not tell how many match no row.
Node* with_unmatched_row(const PlainLevel* level, const Aggref* call, Node* number);

}  // namespace dpquantile
