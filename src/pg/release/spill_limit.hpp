#pragma once

#include "pg/server/postgres.hpp"

// Sorts and hash tables go to disk when their rows pass work_mem, which a session sets in
// kilobytes: the time of a query would tell whether rows that are made a kilobyte wide are more
// than a number of one's choice. So a private query gets a limit that is drawn between half of
// work_mem and all of it, by the server's secure random numbers: one row of b bytes decides with a
// probability of 2b / work_mem.
namespace dpquantile {

// Draws a limit, and puts it in the place of work_mem. Returns work_mem as it was. An error must
// not skip the end.
int begin_spill_limit();
void end_spill_limit(int usual);

}  // namespace dpquantile
