#pragma once

#include "pg/grants/refusal.hpp"
#include "pg/query/level.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace dpquantile {

// Puts private aggregates in the place of standard ones, in each query level that aggregates
// protected rows of a relation on which the user has a grant with an epsilon. What has no private
// counterpart stays, and the validator refuses it. Nothing of what this function does is trusted:
// the validator looks at the result. `text` is the query's text. `epsilon`: what the session asks
// for instead of the grant's, not more; 0 for the grant's. `reasons`: gets all reasons why it is
// refused; null to raise the first. `parameters`: the values that the plan is made for, or null.
// Returns the statement as it has been read, which tells what was
// found. ereports where an aggregate needs bounds that its values do not have, or `epsilon` is
// above the grant's.
const Statement* translate_plain_query(Query* query, const char* text, double epsilon,
                                       Reasons* reasons, ParamListInfo parameters);

// Gives what a protected view reads the forms that the validator knows, and translates nothing:
// takes subqueries about persons, window functions and person groups apart, as in a query of an
// analyst. `query` reads the view, which counts as borrowed. Notes objects of others that it names;
// then it is left as it is.
void take_apart_view(Query* query, Oid view, Reasons* reasons);

}  // namespace dpquantile
