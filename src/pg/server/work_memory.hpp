#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "executor/nodeHash.h"
#include "miscadmin.h"
}

namespace dpquantile {

// What the session lets a hash table have, in bytes: work_mem times hash_mem_multiplier, also while
// others stand in their place.
Size session_memory();

// Whether others do.
bool session_memory_is_replaced();

// Says that others do from now on, in place of this memory of the session, or with 0 that none do.
// Returns what was said before, which an end of the others says again.
Size replace_session_memory(Size memory);

// PostgreSQL 19 keeps rows with NULL in the key of a hash join until the end of the join, on disk
// beyond this part of work_mem (ExecHashBuildNullTupleStore in executor/nodeHash.c).
inline constexpr int kPartsOfWorkMemory = PG_VERSION_NUM >= 190000 ? 16 : 1;

// The limit that is drawn for what a private query reads (pg/release/spill_limit.hpp), in
// kilobytes: what such rows get of work_mem, which stands in its place.
inline int drawn_work_memory() {
  return work_mem / kPartsOfWorkMemory;
}

// What is there for rows that are grouped, their groups and answers, in bytes: the limit that is
// drawn, where one is, and else the memory of a hash table.
inline Size memory_of_grouped_rows() {
  return session_memory_is_replaced() ? static_cast<Size>(drawn_work_memory()) * 1024
                                      : session_memory();
}

// What the answers of a query get in memory, in kilobytes: work_mem, but no more than half of the
// memory of a hash table, because the rows below may have the other half.
inline int answer_memory() {
  constexpr Size kKilobyte = 1024;
  return static_cast<int>(Min(static_cast<Size>(work_mem), session_memory() / (2 * kKilobyte)));
}

}  // namespace dpquantile
