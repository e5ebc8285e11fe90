#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "miscadmin.h"
}

namespace dpquantile {

// PostgreSQL 19 keeps rows with NULL in the key of a hash join until the end of the join, on disk
// beyond this part of work_mem (ExecHashBuildNullTupleStore in executor/nodeHash.c).
inline constexpr int kPartsOfWorkMemory = PG_VERSION_NUM >= 190000 ? 16 : 1;

// The limit that is drawn for what a private query reads (pg/release/spill_limit.hpp), in
// kilobytes: what such rows get of work_mem, which stands in its place.
inline int drawn_work_memory() {
  return work_mem / kPartsOfWorkMemory;
}

}  // namespace dpquantile
