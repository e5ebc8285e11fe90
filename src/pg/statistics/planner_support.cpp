// The planner support function of the final functions.
#include "pg/server/postgres.hpp"

// (internal) returns internal
// PostgreSQL calls it while it plans a query with a private aggregate. The call loads this library
// and so installs the hook of pg/release before the hook is needed. A null pointer is no answer:
// PostgreSQL uses the declared cost of the final function.
DPQ_FUNCTION(dpq_planner_support) {
  PG_RETURN_POINTER(nullptr);
}
