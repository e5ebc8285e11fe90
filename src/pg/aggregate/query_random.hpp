#pragma once

#include "core/privacy/random.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// A stream of randomness for all groups of a query, which share its buffer: asking the generator
// for each group anew would take longer than to draw its noise. It lives in the query's memory
// context and is wiped with it. ereports if there is no randomness.
RandomStream* make_query_random(MemoryContext query_context);

}  // namespace dpquantile
