#pragma once

#include "core/contributions/user_rows.hpp"
#include "pg/parameters/aggregate_parameters.hpp"
#include "pg/state/grid_names.hpp"

// The aggregate state (SQL type dpquantile.records_state). It is one flat varlena, so that partial
// aggregates cross processes as they are:
//
//   | varlena header | kind | count | capacity | parameters with m quantiles | records[capacity] |
//   | names of the grids, for statistics over grids only |
//
// The records are held as values or user rows, in no particular order, or, on a grid, as compressed
// runs, of which `capacity` is the number of bytes. While records on a grid are added, they are
// held by an expanded object (expanded_records.hpp).
//
// A final function may reorder the records, but they stay: whether a state outlives an execution (a
// hash table that is read once more, one that spilled) depends on the data, so each execution of
// the aggregate draws anew and is charged anew.
namespace dpquantile {

struct RecordsState {
  int32 varlena_header;
  RecordKind kind;
  uint32 count;  // of records
  uint32 capacity;
  AggregateParameters parameters;

  char* records() {
    return reinterpret_cast<char*>(&parameters) + parameters_size(parameters.quantile_count);
  }
  float8* values() {
    Assert(kind == RecordKind::kValue);
    return reinterpret_cast<float8*>(records());
  }
  UserRow* user_rows() {
    Assert(kind == RecordKind::kUserRow);
    return reinterpret_cast<UserRow*>(records());
  }
  std::span<uint8> runs() {
    Assert(kind == RecordKind::kRuns);
    return {reinterpret_cast<uint8*>(records()), capacity};
  }
  bool has_grid_names() const { return family_of(&parameters).has_grids(); }
  GridNames* grid_names() {
    Assert(has_grid_names());
    return reinterpret_cast<GridNames*>(user_rows() + capacity);
  }
};

// Of one record, in bytes.
inline std::size_t record_size(RecordKind kind) {
  switch (kind) {
    case RecordKind::kValue:
      return sizeof(float8);
    case RecordKind::kUserRow:
      return sizeof(UserRow);
    case RecordKind::kRuns:
      break;
  }
  Assert(false);  // runs differ in size
  return 0;
}

// A state for these parameters without records and with room for so many, palloc'd.
RecordsState* make_state(const AggregateParameters* parameters, uint32 capacity, GridRoom room);
// The same with room for a few.
RecordsState* make_state(const AggregateParameters* parameters);

// The size of a state of compressed runs that take so many bytes. ereports where it would exceed
// PostgreSQL's 1 GB for a value.
std::size_t runs_state_size(const AggregateParameters* parameters, std::size_t bytes);
// Sets up such a state in memory of that size; the runs are to be filled in.
void init_runs(RecordsState* state, const AggregateParameters* parameters, uint32 count,
               std::size_t bytes);
// The same, palloc'd.
RecordsState* make_runs(const AggregateParameters* parameters, uint32 count, std::size_t bytes);

// The state itself, or a larger copy of it, with room for so many more records. ereports where a
// state would exceed PostgreSQL's 1 GB for a value.
RecordsState* reserve(RecordsState* state, uint32 more);

// Finds the number of a grid, or gives it one: the state itself, or a larger copy of it. ereports
// as reserve does.
RecordsState* find_or_add_grid(RecordsState* state, GridName name, uint32* number);

// How many records without names fit into a state with these parameters.
uint32 largest_group(const AggregateParameters* parameters);
// The same beside the names of grids.
uint32 largest_capacity(const AggregateParameters* parameters, GridRoom room);

}  // namespace dpquantile
