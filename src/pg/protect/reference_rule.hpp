#pragma once

#include "pg/protect/judged_level.hpp"

// Joins along a reference by which a table is protected through another one. Each row is joined
// with the row that it refers to, so both are of one person (Lemma 34h of
// docs/privacy/relations.md). If it were joined with another row, a row would be of two persons.
namespace dpquantile {

// Two parts of FROM with protected rows.
struct ReferenceJoin {
  const Bitmapset* left;  // entries of FROM
  const Bitmapset* right;
  const List* conditions;  // which AND combines, and without which there is no joined row
  JoinType type;
};

// Whether the conditions say that rows of the one part refer to the rows of the other that they are
// joined with, or that rows of both refer to one row. The statement will rely on the unique index
// of the latter.
bool joins_by_reference(const JudgedLevel* level, const ReferenceJoin& join);

}  // namespace dpquantile
