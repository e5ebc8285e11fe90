#pragma once

#include "pg/aggregate_parameters.hpp"

// The aggregate state of the functions that count rows on a grid: one flat varlena (SQL type
// dpquantile.cells_state), so that partial aggregates cross processes as they are.
//
//   | varlena header | content | count | capacity | parameters with m quantiles | cells[capacity] |
//
// The records are held as their grid cells, in no particular order. A final function may reorder
// them, but they stay: whether a state outlives an execution (a hash table that is read once more,
// one that spilled) depends on the data, so each execution of the aggregate draws anew and is
// charged anew.
namespace dpquantile {

enum class StateContent : uint8 {
  kRecords = 1,  // one cell a record
};

struct CellsState {
  int32 varlena_header;
  StateContent content;
  uint32 count;
  uint32 capacity;
  AggregateParameters parameters;

  uint32* cells() {
    return reinterpret_cast<uint32*>(reinterpret_cast<char*>(&parameters) +
                                     parameters_size(parameters.quantile_count));
  }
};

// The state behind a datum, detoasted if need be.
inline CellsState* get_state(Datum datum) {
  auto* state = reinterpret_cast<CellsState*>(PG_DETOAST_DATUM(datum));
  Assert(state->count <= state->capacity);
  return state;
}

// A state for these parameters without records, palloc'd.
CellsState* make_state(const AggregateParameters* parameters);

// The state itself, or a larger copy of it, with room for so many more records. ereports where a
// state would exceed PostgreSQL's 1 GB for a value.
CellsState* reserve(CellsState* state, uint32 more);

}  // namespace dpquantile
