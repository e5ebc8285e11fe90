#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

// What only orders the answers of a query level. PostgreSQL's parser numbers what is sorted first
// and what is grouped after that, gives GROUP BY the direction of ORDER BY, and computes what is
// sorted without being shown. The release node above the groups answers the same in any case.
namespace dpquantile {

// Numbers for the columns to which the clauses of a level refer, from 1. Those of the group keys
// come first, in the order of the columns, and do not depend on ORDER BY as long as the keys are
// shown.
struct ReferenceNumbers {
  Index count;
  const Index* numbers;  // of each reference below `count`; 0 if it only orders the answers
};

ReferenceNumbers number_references(const Query* query);

inline Index number_of(const ReferenceNumbers& numbers, Index reference) {
  return reference < numbers.count ? numbers.numbers[reference] : 0;
}

// Changes the level so that ORDER BY, LIMIT, and the order and the directions in which the keys are
// grouped make no difference. What is sorted without being shown makes one if it needs an aggregate
// that the level has nowhere else, or any aggregate if a query around may leave columns out: what
// the level shows of it may not be computed then.
void forget_order(Query* query, bool shows_all_columns);

}  // namespace dpquantile
