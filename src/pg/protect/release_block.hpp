#pragma once

#include "pg/protect/query_level.hpp"

// A release block: SELECT with private aggregates over protected rows.
namespace dpquantile {

// Checks and rewrites a release block whose entries are known. Its keys must be public, or HAVING
// must ask dp_keep_group.
void check_release_block(QueryLevel* level);

}  // namespace dpquantile
