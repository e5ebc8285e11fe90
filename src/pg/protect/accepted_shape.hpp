#pragma once

#include "pg/grants/refusal.hpp"

// Hints of refusals: a query that is accepted instead, with the name of the table and, if it
// protects persons, of their column. Who reads the hint can copy it. Without it an analyst who may
// not read the rules has to guess.
namespace dpquantile {

// For a query without private aggregates.
const char* accepted_aggregate(const RefusedQuery& query);

// For DISTINCT.
const char* accepted_distinct(const RefusedQuery& query);

// For GROUP BY.
const char* accepted_keys(const RefusedQuery& query);

}  // namespace dpquantile
