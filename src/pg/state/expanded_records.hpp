#pragma once

#include <cmath>
#include <cstddef>

#include "core/base/cache_line.hpp"
#include "core/distinct/distinct_hashes.hpp"
#include "core/histogram/cell_chunks.hpp"
#include "core/histogram/growing_histogram.hpp"
#include "pg/server/boundary.hpp"
#include "pg/state/records_state.hpp"

extern "C" {
#include "utils/expandeddatum.h"
}

namespace dpquantile {

struct ExpandedRecords;

// What the groups of one aggregate call in one memory context share: the call's parameters, and a
// child of that memory context for their records. PostgreSQL accounts for the records and frees
// them together.
struct GroupPool {
  // The fields that every row needs come first.
  ValueGrid grid;
  const AggregateParameters* parameters;
  MemoryContext context;
  ContextMemory memory;
  // Decides with how many records a group is kept in another way (growing_histogram.hpp).
  uint64 drawn;
  CellBundlePool bundles{&memory};
  // The group of few records that was encoded last, or null, and its records as runs.
  const ExpandedRecords* flattened = nullptr;
  CellRuns runs{&memory};
};

// Makes a pool for groups with these parameters, which it copies. The pool lives until the context
// `groups` is reset or deleted. ereports if memory is short.
GroupPool* make_group_pool(const AggregateParameters* parameters, MemoryContext groups);

// The records of a group on a value grid, or the hashes of its values, while rows are added: an
// expanded object, which is flattened to a state of compressed runs or of hashes. It is allocated
// where the executor keeps the rest of the group, so that a row finds what it needs in neighbouring
// cache lines.
struct alignas(kCacheLine) ExpandedRecords {
  // What most rows need is in the first cache line. The datum of the state points to
  // read_write_pointer, which is a copy of the header's.
  char read_write_pointer[EXPANDED_POINTER_SIZE];
  CellChunks few;  // all records if they are few, otherwise the latest, a chunk at most
  GroupPool* pool;
  alignas(kCacheLine) ExpandedObjectHeader header;
  GrowingHistogram* many;  // all records but the latest if they are many, otherwise null
  DistinctHashes* hashes;  // null unless the method keeps hashes; then there are no other records

  // Adds the record of a value; ignores NaN. ereports if memory is short, if the group has too many
  // records, or for a cancel.
  pg_attribute_always_inline void add(float8 value) {
    if (unlikely(std::isnan(value))) return;
    if (unlikely(few.full())) make_room();
    few.add(pool->grid.cell_of(value));
  }

  // Adds a hash. ereports if memory is short. Requires a method that keeps hashes.
  void add_hash(uint64 hash) {
    report(guarded([&] { hashes->add(hash); }));
  }

  // Adds a record by its cell of the value grid. Throws what CellChunks and GrowingHistogram throw,
  // and Cancelled.
  void add(uint32 cell, CancelPoll& cancel);
  // Moves the records from `few` to `many`, which it makes if there is none. Throws the same.
  void become_many(CancelPoll& cancel);
  // All records, which must be many. Throws the same.
  GrowingHistogram* all_of_many(CancelPoll& cancel) {
    become_many(cancel);
    return many;
  }

 private:
  void make_room();
  void make_room(CancelPoll& cancel);
};
static_assert(offsetof(ExpandedRecords, header) == kCacheLine);

inline ExpandedRecords* records_of(ExpandedObjectHeader* header) {
  return reinterpret_cast<ExpandedRecords*>(reinterpret_cast<char*>(header) -
                                            offsetof(ExpandedRecords, header));
}

// Makes a group of the pool without records. ereports if memory is short.
ExpandedRecords* make_expanded(GroupPool* pool);

// A state in its flat or its expanded form, or no state (both null).
struct StateRef {
  RecordsState* flat;
  ExpandedRecords* expanded;

  explicit operator bool() const { return flat != nullptr || expanded != nullptr; }
  const AggregateParameters* parameters() const {
    return expanded != nullptr ? expanded->pool->parameters : &flat->parameters;
  }
};

// Whether the state is an expanded object that the caller may change.
inline bool is_expanded(const void* state) {
  return VARATT_IS_EXTERNAL_EXPANDED_RW(state);
}

// The expanded object that an expanded state refers to.
inline ExpandedRecords* get_expanded(const void* state) {
  varatt_expanded reference;
  memcpy(&reference, VARDATA_EXTERNAL(state), sizeof reference);
  return records_of(reference.eohptr);
}

// The state behind a datum, detoasted if necessary. ereports if memory is short, if a library of
// another version made the state (its bytes may have another meaning), and if the state has sums of
// more than kMostSummedRows rows: combined any further, they could overflow.
StateRef get_state(Datum datum);

// Adds the records of another state with the same parameters. ereports as
// ExpandedRecords::add(value) does.
void add_all(ExpandedRecords* into, StateRef from);

// The state itself if it is flat, otherwise a flat copy, palloc'd. ereports if the flat state would
// exceed PostgreSQL's 1 GB for a value, if memory is short, or for a cancel.
RecordsState* flatten(StateRef state);

// The number of hashes in a state of hashes, 0 without a state.
uint64 distinct_hashes(StateRef state);

// The histogram of a state's records on a value grid of this many cells. No state gives an empty
// histogram. Throws what the constructors of Histogram throw.
Histogram histogram_of(StateRef state, std::uint64_t cells, const Workspace& work);

// The number of the state's records in each cell of this grid. Takes less time than a histogram if
// there are few cells. Throws what histogram_of() throws.
std::pmr::vector<std::uint64_t> counts_of(StateRef state, std::uint64_t cells,
                                          const Workspace& work);

}  // namespace dpquantile
