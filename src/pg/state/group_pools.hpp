#pragma once

#include "pg/state/expanded_records.hpp"

namespace dpquantile {

// The pools of an aggregate call, one for each memory context that has groups of it: with GROUPING
// SETS there are several at a time. It must outlive these contexts.
struct GroupPools {
  struct Entry;
  Entry* first;
};

// The newest pool of groups in this context, or null.
GroupPool* find_pool(const GroupPools* pools, MemoryContext groups);

// The newest pool of groups in this context if it has these parameters, else a new one. It is there
// until the context is reset. ereports.
GroupPool* get_pool(GroupPools* pools, MemoryContext groups, const AggregateParameters* parameters);

}  // namespace dpquantile
