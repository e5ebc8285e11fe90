#pragma once

#include "pg/protect/judged_level.hpp"

// PostgreSQL's own aggregates below private ones: over the rows of one person, or over public rows
// (Lemmas 34p and 34q of docs/privacy/relations.md).
namespace dpquantile {

// The call in the place of one, which neither fails nor depends on the order of rows. ereports if
// there is none.
Node* rewrite_exact_aggregate(JudgedLevel* level, Aggref* call);

}  // namespace dpquantile
