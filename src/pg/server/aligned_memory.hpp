#pragma once

#include "core/base/cache_line.hpp"
#include "pg/server/postgres.hpp"

namespace dpquantile {

// Zeroed memory that begins at a cache line; PostgreSQL aligns to MAXIMUM_ALIGNOF only. It lives as
// long as the context: pfree() does not know it. ereports if memory is short.
inline void* allocate_at_cache_line(MemoryContext context, Size size) {
  constexpr Size kSpare = kCacheLine - MAXIMUM_ALIGNOF;
  void* memory = MemoryContextAllocZero(context, size + kSpare);
  return reinterpret_cast<void*>(TYPEALIGN(kCacheLine, memory));
}

}  // namespace dpquantile
