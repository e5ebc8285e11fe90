#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

namespace dpquantile {

// PostgreSQL makes a hash table as large as the number of rows or groups that it expects, if
// work_mem allows. Where work_mem is no limit, a wrong guess would take all memory of the server.
// So this lowers what a plan expects. Tables grow when more rows come.
void limit_expected_rows(const PlannedStmt* plan);

}  // namespace dpquantile
