#pragma once

#include "pg/protect/judged_level.hpp"

// A release block: SELECT with private aggregates over protected rows. Its answers are private;
// what else it shows must not tell of rows. So the keys in GROUP BY are public, or dp_keep_group
// chooses the groups; HAVING, ORDER BY and LIMIT use keys and answers only. A group that appears
// because one row is there would tell of this row, whatever noise the answer has. What it shows
// costs what is charged (Lemma 34g of docs/privacy/relations.md).
namespace dpquantile {

// Checks and rewrites a release block whose entries are known. Its keys must be public, or HAVING
// must ask dp_keep_group.
void check_release_block(JudgedLevel* level);

}  // namespace dpquantile
