#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/plannodes.h"
}

// Sorts and hash tables go to disk when their rows pass work_mem, which a session sets in
// kilobytes: the time of a query would tell whether rows that are made a kilobyte wide are more
// than a number of one's choice. So a private query gets a limit in bytes, drawn between 24 B and
// 40 B by the server's secure random numbers, where B is the largest power of 2 such that 40 B are
// no more than work_mem times hash_mem_multiplier, and no less than 4 MB. One row of b bytes
// decides with a probability of b / 16 B, and less than three times that of a kilobyte.
//
// *Hash joins* double their buckets when there are more rows, which takes an eighth of the memory
// for one row. So each begins with B buckets: with rows of 32 bytes and more it never has more rows
// than that before it passes the limit.
//
// Hash tables of groups take their memory in large parts, so for these the probability may be a
// quarter (docs/privacy.md, "What remains").
namespace dpquantile {

struct SessionMemory {
  int work_mem;
  double hash_mem_multiplier;
};

// Draws a limit, puts it in the place of work_mem, and gives the hash joins of the plan, if there
// is one, their buckets. Returns the settings as they were. An error must not skip the end.
SessionMemory begin_spill_limit(PlannedStmt* plan);
void end_spill_limit(const SessionMemory& usual);

}  // namespace dpquantile
