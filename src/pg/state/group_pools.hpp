#pragma once

#include "pg/state/expanded_records.hpp"

namespace dpquantile {

// The pools of an aggregate call, one for each memory context with groups of the call; GROUPING
// SETS have several contexts at a time. It must outlive these contexts. It starts with
// first = null.
struct GroupPools {
  struct Entry;
  Entry* first;
};

// The newest pool of groups in this context, or null.
GroupPool* find_pool(const GroupPools* pools, MemoryContext groups);

// The newest pool of groups in this context if it has these parameters, otherwise a new pool. The
// pool lives until the context is reset or deleted. ereports if memory is short.
GroupPool* get_pool(GroupPools* pools, MemoryContext groups, const AggregateParameters* parameters);

}  // namespace dpquantile
