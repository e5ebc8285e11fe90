#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/nodes.h"
}

// Utility statements that tell exact facts about data.
namespace dpquantile {

// ereports if a restricted session may not run the utility statement: EXPLAIN with what it measures
// while it plans or runs a query, and VACUUM, ANALYZE, CLUSTER and REINDEX with messages about
// rows.
void refuse_statement(const Node* statement);

}  // namespace dpquantile
