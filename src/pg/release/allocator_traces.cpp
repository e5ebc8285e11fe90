#include "pg/release/allocator_traces.hpp"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

extern "C" {
#include "executor/executor.h"
}

namespace dpquantile {

namespace {

#ifdef __GLIBC__
// The size from which the kernel gives a block: what glibc begins with, and while rows are read.
// The first two blocks of a memory context are smaller, the others are not; and so is the array
// with which a tuplestore begins, of 16 kB and some bytes: below window functions there is one for
// each person, and the kernel would take longer for it than PostgreSQL for twenty rows.
constexpr int kUsualBlock = 128 * 1024;
constexpr int kBlockOfRead = 17 * 1024;
#endif

ExecutorEnd_hook_type previous_end = nullptr;
bool is_ending_query = false;
bool has_freed_memory = false;

// PostgreSQL frees the memory of a query just after this, and all that is below it has been freed.
// A query that fails frees the rest later, without telling.
void note_freed_memory(void*) {
  if (is_ending_query) {
    has_freed_memory = true;
  } else {
    end_read_memory();
  }
}

// Functions that are called while a query ends may end others.
void end_and_return_pages(QueryDesc* query) {
  const bool before = is_ending_query;
  is_ending_query = true;
  PG_TRY();
  (previous_end != nullptr ? previous_end : standard_ExecutorEnd)(query);
  PG_FINALLY();
  is_ending_query = before;
  PG_END_TRY();
  if (!has_freed_memory) return;
  has_freed_memory = false;
  end_read_memory();
}

}  // namespace

void fix_allocator_sizes() {
#ifdef __GLIBC__
  static bool is_fixed = false;
  if (is_fixed) return;
  is_fixed = true;
  // A size that is set is no longer adjusted.
  mallopt(M_MMAP_THRESHOLD, kUsualBlock);
  mallopt(M_TRIM_THRESHOLD, kUsualBlock);
#endif
}

void begin_read_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, kBlockOfRead);
#endif
}

void end_read_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, kUsualBlock);
  malloc_trim(0);
#endif
}

void return_pages_at_end(MemoryContext query) {
  auto* callback = static_cast<MemoryContextCallback*>(
      MemoryContextAllocZero(query, sizeof(MemoryContextCallback)));
  callback->func = note_freed_memory;
  MemoryContextRegisterResetCallback(query, callback);
}

void install_allocator_traces() {
  previous_end = ExecutorEnd_hook;
  ExecutorEnd_hook = end_and_return_pages;
}

}  // namespace dpquantile
