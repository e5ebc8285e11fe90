#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "executor/nodeHash.h"
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

// What the answers of a query get in memory, in kilobytes: work_mem, but no more than half of the
// memory of a hash table, because the rows below may have the other half.
inline int answer_memory() {
  constexpr Size kKilobyte = 1024;
  return static_cast<int>(
      Min(static_cast<Size>(work_mem), get_hash_memory_limit() / (2 * kKilobyte)));
}

}  // namespace dpquantile
