#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// What keeps rows goes to disk when they pass work_mem, which a session sets in kilobytes: the time
// of a query would tell whether rows that are made a kilobyte wide are more than a number of one's
// choice.
//
// *Chosen rows, and states that wait* get a limit in bytes, drawn between 24 B and 40 B by the
// server's secure random numbers, where B is the largest power of 2 such that 40 B are no more than
// work_mem times hash_mem_multiplier, and no less than 2^16. A block of b bytes decides with a
// probability of b / 16 B.
//
// *Hash tables* never go to disk below a thousand times that. A single row decides whether
// PostgreSQL divides one into parts, or doubles its buckets, and that into how many parts the other
// side of a join is written. So a hash join begins with B buckets.
namespace dpquantile {

struct SessionMemory {
  int work_mem;
  double hash_mem_multiplier;
};

// Draws a limit, puts it in the place of work_mem, and gives the hash joins of the plan, if there
// is one, their buckets. Looks up where temporary files are made, which PostgreSQL would do for the
// first row that goes to disk. Returns the settings as they were. An error must not skip the end.
SessionMemory begin_spill_limit(PlannedStmt* plan);
void end_spill_limit(const SessionMemory& usual);

}  // namespace dpquantile
