#pragma once

#include "core/contributions/user_rows.hpp"
#include "core/moments/pair_sums.hpp"
#include "core/moments/value_sums.hpp"
#include "pg/parameters/aggregate_parameters.hpp"
#include "pg/state/grid_names.hpp"

// The aggregate state (SQL type dpquantile.records_state). Its flat form is one varlena, which a
// parallel plan passes between processes unchanged:
//
//   | varlena header | kind | library | count | capacity | parameters with m quantiles |
//   records[capacity] | | names of the grids, of dp_user_grid_stats only |
//
// The records are values or user rows in no particular order, one ValueSums or PairSums, hashes in
// ascending order, or, on a value grid, compressed runs;
// then `capacity` is their number of bytes. While rows are added on a value grid, an expanded
// object holds the records (expanded_records.hpp).
//
// A release may reorder the records but must keep them: the next execution of the release node may
// get the same state again, for example from a hash table that PostgreSQL reads a second time.
namespace dpquantile {

// The most rows of which a state keeps sums. The sums of two such states do not overflow.
inline constexpr uint64 kMostSummedRows = uint64{1} << 62;

struct RecordsState {
  int32 varlena_header;
  RecordKind kind;
  uint16 library;  // kLibraryMark of the library that made the state
  uint32 count;    // of records
  uint32 capacity;
  AggregateParameters parameters;

  char* records() { return reinterpret_cast<char*>(&parameters) + size_of(&parameters); }
  float8* values() {
    Assert(kind == RecordKind::kValue);
    return reinterpret_cast<float8*>(records());
  }
  UserRow* user_rows() {
    Assert(kind == RecordKind::kUserRow);
    return reinterpret_cast<UserRow*>(records());
  }
  // The only record of the state.
  ValueSums* sums() {
    Assert(kind == RecordKind::kSums);
    return reinterpret_cast<ValueSums*>(records());
  }
  // The same for rows with two values.
  PairSums* pairs() {
    Assert(kind == RecordKind::kPairs);
    return reinterpret_cast<PairSums*>(records());
  }
  uint64* hashes() {
    Assert(kind == RecordKind::kHashes);
    return reinterpret_cast<uint64*>(records());
  }
  std::span<uint8> runs() {
    Assert(kind == RecordKind::kRuns);
    return {reinterpret_cast<uint8*>(records()), capacity};
  }
  bool has_grid_names() const { return family_of(&parameters).has(Argument::kGrid); }
  GridNames* grid_names() {
    Assert(has_grid_names());
    return reinterpret_cast<GridNames*>(user_rows() + capacity);
  }
};

// PostgreSQL allocates powers of two.
static_assert(offsetof(RecordsState, parameters) + offsetof(AggregateParameters, grid) +
                  sizeof(ValueSums) ==
              128);

// The size of one record in bytes. Not for runs, which differ in size.
inline std::size_t record_size(RecordKind kind) {
  switch (kind) {
    case RecordKind::kValue:
      return sizeof(float8);
    case RecordKind::kUserRow:
      return sizeof(UserRow);
    case RecordKind::kSums:
      return sizeof(ValueSums);
    case RecordKind::kPairs:
      return sizeof(PairSums);
    case RecordKind::kHashes:
      return sizeof(uint64);
    case RecordKind::kRuns:
      break;
  }
  Assert(false);
  return 0;
}

// Makes a state without records, with room for `capacity` records and for names, palloc'd. Requires
// capacity <= largest_capacity(parameters, room). ereports if memory is short.
RecordsState* make_state(const AggregateParameters* parameters, uint32 capacity, GridRoom room);
// The same with room for a few records and names; with a ValueSums or PairSums of no rows as the
// only record, if the method keeps sums.
RecordsState* make_state(const AggregateParameters* parameters);

// The size in bytes of a state with this many bytes of compressed runs. ereports if it exceeds
// PostgreSQL's 1 GB for a value.
std::size_t runs_state_size(const AggregateParameters* parameters, std::size_t bytes);
// Sets up such a state in memory of that size, with `count` records. The caller fills in the runs.
void init_runs(RecordsState* state, const AggregateParameters* parameters, uint32 count,
               std::size_t bytes);
// The same in new memory, palloc'd. ereports as runs_state_size() does.
RecordsState* make_runs(const AggregateParameters* parameters, uint32 count, std::size_t bytes);

// The size in bytes of a state with this many hashes. ereports if it exceeds PostgreSQL's 1 GB for
// a value.
std::size_t hashes_state_size(const AggregateParameters* parameters, uint64 count);
// Sets up such a state in memory of that size. The caller fills in the hashes.
void init_hashes(RecordsState* state, const AggregateParameters* parameters, uint64 count);

// Returns the state itself, or a larger copy of it, with room for this many more records. ereports
// if the state would exceed PostgreSQL's 1 GB for a value.
RecordsState* reserve(RecordsState* state, uint32 more);

// Sets *number to the number of the grid, and adds the grid if it is new. Returns the state itself,
// or a larger copy of it. ereports as reserve() does.
RecordsState* find_or_add_grid(RecordsState* state, GridName name, uint32* number);

// The most records that fit into a state with these parameters and no grid names.
uint32 largest_group(const AggregateParameters* parameters);
// The same with this room for grid names.
uint32 largest_capacity(const AggregateParameters* parameters, GridRoom room);

}  // namespace dpquantile
