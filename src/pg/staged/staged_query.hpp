#pragma once

#include "pg/staged/stage_rows.hpp"

// A query whose protected rows are compared with private answers: with those of the ten cities with
// the most visits, with a mean, with a total. It is asked in stages, as an analyst would by hand:
// each subquery of answers first, as a query of its own with a charge of its own, and then the
// query itself with the values that came, which are as public as a constant then. So no rule has to
// know answers beside rows, and adaptive composition (Lemma 34s of docs/privacy/relations.md) is
// all that has to hold.
namespace dpquantile {

// Takes the subqueries of answers out of a query, whose tree it changes, and those of public tables
// that no join with protected rows can take the place of: they cost nothing. Null, and leaves it as
// it is, if there is none. ereports if there are and it cannot be asked in stages.
StagedQuery* stage_query(Query* query, const char* text);

}  // namespace dpquantile
