#include "pg/state/group_pools.hpp"

namespace dpquantile {

struct GroupPools::Entry {
  MemoryContextCallback on_reset;
  GroupPools* pools;
  Entry* next;
  GroupPool* pool;
};

namespace {

using Entry = GroupPools::Entry;

void remove(void* ended) {
  auto* entry = static_cast<Entry*>(ended);
  Entry** link = &entry->pools->first;
  while (*link != entry) link = &(*link)->next;
  *link = entry->next;
}

GroupPool* add_pool(GroupPools* pools, MemoryContext groups,
                    const AggregateParameters* parameters) {
  GroupPool* pool = make_group_pool(parameters, groups);
  auto* entry = static_cast<Entry*>(MemoryContextAlloc(pool->context, sizeof(Entry)));
  *entry = {{remove, entry, nullptr}, pools, pools->first, pool};
  pools->first = entry;
  MemoryContextRegisterResetCallback(pool->context, &entry->on_reset);
  return pool;
}

}  // namespace

GroupPool* find_pool(const GroupPools* pools, MemoryContext groups) {
  for (const GroupPools::Entry* entry = pools->first; entry != nullptr; entry = entry->next) {
    if (MemoryContextGetParent(entry->pool->context) == groups) return entry->pool;
  }
  return nullptr;
}

GroupPool* get_pool(GroupPools* pools, MemoryContext groups,
                    const AggregateParameters* parameters) {
  GroupPool* pool = find_pool(pools, groups);
  if (pool != nullptr && same_parameters(pool->parameters, parameters)) return pool;
  return add_pool(pools, groups, parameters);
}

}  // namespace dpquantile
