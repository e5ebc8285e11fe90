#pragma once

#include "core/privacy/mechanism.hpp"
#include "pg/parameters/expected_error.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/execnodes.h"
}

// What one execution of a query costs, before it runs.
namespace dpquantile {

// A private aggregate of a query.
struct PricedCall {
  const char* function;                // the SQL function
  const char* method;                  // null if its cost is unknown
  const PrivacyCost* cost;             // for one time; null if it is unknown
  int times;                           // the number of grouping sets
  bool by_group;                       // whether it is charged for each group
  std::optional<ExpectedError> error;  // of an answer, if its cost is known
  const MethodRow* stated;             // the method as it is stated, such as auto
  const List* tables;                  // OIDs of the protected tables that its rows are of
};

// All private aggregates of a query that is started and does not run: PricedCall. palloc'd. `rows`
// is a public guess of the number of rows of a group, for the errors.
List* priced_calls(PlanState* plan, double rows);

}  // namespace dpquantile
