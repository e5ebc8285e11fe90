#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// What keeps rows goes to disk when they pass work_mem, which a session sets in kilobytes: the time
// of a query would tell whether rows that are made a kilobyte wide are more than a number of one's
// choice.
//
// *Chosen rows, rows that are spread over parts, states that wait, and rows with NULL in the key of
// a join* (work_memory.hpp in pg/server) get a limit in bytes, drawn between 24 B and 40 B by the
// server's secure random numbers, where B is the largest power of 2 such that 40 B are no more than
// work_mem times hash_mem_multiplier, and no less than 2^16. A block of b bytes decides with a
// probability of b / 16 B, or b / 8 B where blocks have half of the limit (row_partitions.hpp).
//
// *Hash tables* never go to disk below a thousand times that. A single row decides whether
// PostgreSQL divides one into parts, or doubles its buckets, and that into how many parts the other
// side of a join is written. So a hash join begins with B buckets.
namespace dpquantile {

// Draws a limit, puts it in the place of work_mem until the end, and gives the hash joins of the
// plan, if one is to be read, their buckets; no scan of it begins where another one is. Looks up
// where temporary files are made, which PostgreSQL would do for the first row that goes to disk.
// Parallel workers that start in between get the limit with the other settings. B follows from what
// the session has set, also within another limit.
//
// The settings change as those of a function with SET: code that runs in between may set others and
// these. An error must not skip the end.
struct SpillLimit {
  int level;           // of PostgreSQL's stack of settings
  Size memory_before;  // as replace_session_memory() has it (work_memory.hpp)
};
SpillLimit begin_spill_limit(PlannedStmt* plan);
void end_spill_limit(const SpillLimit& limit);

}  // namespace dpquantile
