#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// The limit of the rows of each user, as a condition in the FILTER of a private aggregate:
//
//   dp_count(0.1) FILTER (WHERE dpquantile.limited_row(patient, 20) AND cost > 100)
//
// is true for at most 20 rows of each patient. The planner puts a node below the grouping that
// gives the value of the condition for each row (limited_rows_path.hpp). The function itself, which
// would have to know the other rows, is an error. An aggregate with this condition answers with a
// part of its epsilon, so that the rest of the release must find it in the same way: a term of
// FILTER.
namespace dpquantile {

struct RowLimit {
  FuncExpr* condition;  // null without a limit
  Node* user;
  int most;  // rows of a user
};

// The limit of a call: the condition if it is the FILTER, or one of the terms that AND combines in
// it. ereports if the most rows are no positive constant.
RowLimit find_row_limit(const Aggref* call);

// The most rows of a user, for a call with a limit; otherwise 0.
int most_rows_of(const Aggref* call);

// Whether the FILTER of a call is false, whatever the row is.
bool sees_no_row(const Aggref* call);

}  // namespace dpquantile
