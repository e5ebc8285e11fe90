#pragma once

#include <cmath>

#include "core/growing_histogram.hpp"
#include "pg/boundary.hpp"
#include "pg/records_state.hpp"

extern "C" {
#include "utils/expandeddatum.h"
}

namespace dpquantile {

// The records of a larger group on a grid while they come: an expanded object in a memory context
// of its own, so that it grows in place and PostgreSQL accounts for it. It is flattened to a state
// of compressed runs.
struct ExpandedRecords {
  ExpandedObjectHeader header;
  const AggregateParameters* parameters;
  GrowingHistogram* histogram;

  // Adds a record, if it is not NaN.
  pg_attribute_always_inline void add(float8 value) {
    if (unlikely(std::isnan(value))) return;
    if (unlikely(histogram->full())) return make_room_and_add(value);
    histogram->add(parameters->grid.cell_of(value));
  }

 private:
  void make_room_and_add(float8 value);
};

// A state in either form, or none.
struct StateRef {
  RecordsState* flat;
  ExpandedRecords* expanded;

  explicit operator bool() const { return flat != nullptr || expanded != nullptr; }
  const AggregateParameters* parameters() const {
    return expanded != nullptr ? expanded->parameters : &flat->parameters;
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

// An expanded object below the given context with the records of a state on a grid.
ExpandedRecords* expand(StateRef state, MemoryContext parent);

// Adds the records of another state on the same grid.
void add_all(ExpandedRecords* into, StateRef from);

// The same records as a flat state of compressed runs, palloc'd or the state itself.
RecordsState* flatten_to_runs(StateRef state);

// The histogram of a state on a grid, or of none; a list of cells may be reordered. May throw.
Histogram histogram_of(StateRef state, std::uint64_t cells, CancelPoll& cancel,
                       std::pmr::memory_resource* memory);

}  // namespace dpquantile
