#pragma once

#include "core/user_rows.hpp"
#include "pg/aggregate_parameters.hpp"
#include "pg/grid_names.hpp"

// The aggregate state: one flat varlena (SQL type dpquantile.records_state), so that partial
// aggregates cross processes as they are.
//
//   | varlena header | kind | count | capacity | parameters with m quantiles | records[capacity] |
//   | names of the grids, for statistics over grids only |
//
// The records are held as cells, values or user rows, in no particular order. A final function may
// reorder them, but they stay: whether a state outlives an execution (a hash table that is read
// once more, one that spilled) depends on the data, so each execution of the aggregate draws anew
// and is charged anew.
namespace dpquantile {

struct RecordsState {
  int32 varlena_header;
  RecordKind kind;
  uint32 count;
  uint32 capacity;
  AggregateParameters parameters;

  char* records() {
    return reinterpret_cast<char*>(&parameters) + parameters_size(parameters.quantile_count);
  }
  uint32* cells() {
    Assert(kind == RecordKind::kCell);
    return reinterpret_cast<uint32*>(records());
  }
  float8* values() {
    Assert(kind == RecordKind::kValue);
    return reinterpret_cast<float8*>(records());
  }
  UserRow* user_rows() {
    Assert(kind == RecordKind::kUserRow);
    return reinterpret_cast<UserRow*>(records());
  }
  bool has_grid_names() const { return parameters.family == Family::kUserGrids; }
  GridNames* grid_names() {
    Assert(has_grid_names());
    return reinterpret_cast<GridNames*>(user_rows() + capacity);
  }
};

// In bytes.
inline std::size_t record_size(RecordKind kind) {
  switch (kind) {
    case RecordKind::kCell:
      return sizeof(uint32);
    case RecordKind::kValue:
      return sizeof(float8);
    default:
      return sizeof(UserRow);
  }
}

// The state behind a datum, detoasted if need be.
inline RecordsState* get_state(Datum datum) {
  auto* state = reinterpret_cast<RecordsState*>(PG_DETOAST_DATUM(datum));
  Assert(state->count <= state->capacity);
  return state;
}

// A state for these parameters without records, palloc'd.
RecordsState* make_state(const AggregateParameters* parameters);

// The state itself, or a larger copy of it, with room for so many more records. ereports where a
// state would exceed PostgreSQL's 1 GB for a value.
RecordsState* reserve(RecordsState* state, uint32 more);

// Finds the number of a grid, or gives it one: the state itself, or a larger copy of it. ereports
// as reserve does.
RecordsState* find_or_add_grid(RecordsState* state, GridName name, uint32* number);

// How many records without names fit into a state with these parameters.
uint32 largest_group(const AggregateParameters* parameters);

}  // namespace dpquantile
