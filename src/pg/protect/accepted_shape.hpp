#pragma once

#include "pg/grants/refusal.hpp"

// Hints of refusals: shapes of queries that are accepted, with the name of the table and, if it
// protects users, of their column.
namespace dpquantile {

// For a query without private aggregates.
const char* accepted_aggregate(const RefusedQuery& query);

// For DISTINCT.
const char* accepted_distinct(const RefusedQuery& query);

// For GROUP BY.
const char* accepted_keys(const RefusedQuery& query);

}  // namespace dpquantile
