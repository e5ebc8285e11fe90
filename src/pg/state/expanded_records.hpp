#pragma once

#include <cmath>

#include "core/histogram/cell_chunks.hpp"
#include "core/histogram/growing_histogram.hpp"
#include "pg/server/boundary.hpp"
#include "pg/state/records_state.hpp"

extern "C" {
#include "utils/expandeddatum.h"
}

namespace dpquantile {

struct ExpandedRecords;

// What the groups of one aggregate call in one memory context share: its parameters, and a memory
// context for their records below that of the groups, so that PostgreSQL accounts for them and ends
// them together.
struct GroupPool {
  // First what every row needs.
  ValueGrid grid;
  const AggregateParameters* parameters;
  MemoryContext context;
  ContextMemory memory;
  CellChunkPool chunks{&memory};
  // A group of few records that is being flattened, and its records.
  const ExpandedRecords* flattened = nullptr;
  CellRuns runs{&memory};
};

// A pool for calls with these parameters, which are copied; it lives as long as the context of the
// groups is not reset. ereports.
GroupPool* make_group_pool(const AggregateParameters* parameters, MemoryContext groups);

// The records of a group on a grid while they come: an expanded object, together with the last few
// of them. It is allocated where the executor keeps the rest of the group, so that a row finds all
// it needs in neighbouring cache lines. It is flattened to a state of compressed runs.
struct ExpandedRecords {
  ExpandedObjectHeader header;
  GroupPool* pool;
  GrowingHistogram* many;  // null while they are few
  CellChunks few;

  // Adds a record, if it is not NaN. ereports.
  pg_attribute_always_inline void add(float8 value) {
    if (unlikely(std::isnan(value))) return;
    const uint32 cell = pool->grid.cell_of(value);
    if (many != nullptr) {
      if (unlikely(many->full())) return make_room_and_add(cell);
      many->add(cell);
    } else {
      if (unlikely(few.full())) return make_room_and_add(cell);
      few.add(cell);
    }
  }

  // The same for a cell; throws.
  void add(uint32 cell, CancelPoll& cancel);
  // Makes ready for many records; throws.
  void become_many(CancelPoll& cancel);

 private:
  void make_room_and_add(uint32 cell);
};

// A group of the pool without records. ereports.
ExpandedRecords* make_expanded(GroupPool* pool);

// A state in either form, or none.
struct StateRef {
  RecordsState* flat;
  ExpandedRecords* expanded;

  explicit operator bool() const { return flat != nullptr || expanded != nullptr; }
  const AggregateParameters* parameters() const {
    return expanded != nullptr ? expanded->pool->parameters : &flat->parameters;
  }
};

// Whether a state is expanded, and may be changed.
inline bool is_expanded(const void* state) {
  return VARATT_IS_EXTERNAL_EXPANDED_RW(state);
}
inline ExpandedRecords* get_expanded(const void* state) {
  varatt_expanded reference;
  memcpy(&reference, VARDATA_EXTERNAL(state), sizeof reference);
  return reinterpret_cast<ExpandedRecords*>(reference.eohptr);
}

// The state behind a datum, detoasted if need be.
StateRef get_state(Datum datum);

// Adds the records of another state on the same grid. ereports.
void add_all(ExpandedRecords* into, StateRef from);

// The state itself if it is flat, or a flat copy, palloc'd. ereports.
RecordsState* flatten(StateRef state);

// The histogram of a state on a grid, or of none. May throw.
Histogram histogram_of(StateRef state, std::uint64_t cells, const Workspace& work);

}  // namespace dpquantile
