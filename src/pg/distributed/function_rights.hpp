#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/nodes.h"
}

namespace dpquantile {

// Requires that the current role may execute all functions and aggregates of an expression or
// query. PostgreSQL asks for that when a node that calls them begins. But no node calls the private
// aggregates of a query level over Citus tables, and the nodes for the other functions begin on the
// workers, after the charge. ereports otherwise.
void require_function_rights(const Node* node);

}  // namespace dpquantile
