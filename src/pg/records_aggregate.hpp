#pragma once

#include <span>

#include "pg/aggregate_parameters.hpp"
#include "pg/records_state.hpp"

// What the aggregates have in common: transition, combine, and the part of the final function up to
// the charge.
namespace dpquantile {

// Adds a row to the state: (state, value, parameters...) returns state. NULL and NaN are ignored;
// on a grid, infinities and values out of bounds go to its ends.
Datum add_row(FunctionCallInfo fcinfo, Family family);
// The same for numeric values: a number beyond float8 must not raise an error, it is clamped.
Datum add_numeric_row(FunctionCallInfo fcinfo, Family family);

// A state without records for a group that begins, made from the call's parameters as its
// transition function received them, and the check of the key of its user hashes or 0.
RecordsState* start_group(FunctionCallInfo fcinfo, Family family, const Aggref* call,
                          uint64 user_key_check);

// A group that has been charged and may be answered.
struct ChargedGroup {
  const AggregateParameters* parameters;
  void* records;          // which may be reordered
  uint32 count;           // 0: then records is null
  void** kept;            // what the family keeps for the query, in its memory; at first null
  GridNames* grid_names;  // of statistics over grids; null if there are no records

  // For parameters with records of that kind.
  std::span<uint32> cells() const { return {static_cast<uint32*>(records), count}; }
  std::span<float8> values() const { return {static_cast<float8*>(records), count}; }
  std::span<UserRow> user_rows() const { return {static_cast<UserRow*>(records), count}; }
};

// Charges for the group that the final function is called for, and gives it. Of the row-level
// aggregates the first group of an execution pays for all (they are disjoint: parallel composition,
// docs/privacy.md); of the user-level ones, where a user may be in several, each group pays for
// itself. ereports if it may not be answered; then nothing may be released.
ChargedGroup charge_group(FunctionCallInfo fcinfo, Family family);

}  // namespace dpquantile
