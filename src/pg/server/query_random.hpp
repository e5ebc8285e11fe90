#pragma once

#include "core/privacy/random.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// Makes a stream of randomness that all groups of a release node share. A call of the generator for
// each group would take longer than drawing the group's noise. The stream lives in the query's
// memory context and is wiped with it. ereports if memory is short or the generator gives no
// randomness.
RandomStream* make_query_random(MemoryContext query_context);

// One number of a stream of randomness that the process keeps, for what decides nothing but time
// and memory. ereports if there is none.
uint64 draw_number();

}  // namespace dpquantile
