#pragma once

#include "pg/aggregate_parameters.hpp"
#include "pg/cells_state.hpp"

// What the aggregates that count rows on a grid have in common: transition, combine, and the part
// of the final function up to the charge.
namespace dpquantile {

// Adds a row to the state: (state, value, parameters...) returns state. NULL and NaN are ignored,
// infinities and values out of bounds go to the grid's ends.
Datum add_row(FunctionCallInfo fcinfo, Family family);
// The same for numeric values: a number beyond float8 must not raise an error, it is clamped.
Datum add_numeric_row(FunctionCallInfo fcinfo, Family family);

// A group that has been charged and may be answered.
struct ChargedGroup {
  const AggregateParameters* parameters;
  uint32* records;  // their cells, which may be reordered; null if there are none
  uint32 count;
  void** kept;  // what the family keeps for the query, in its memory; at first null
};

// Charges for the execution that the final function is called in, if this has not been done for
// another group of it (the groups are disjoint: parallel composition, docs/privacy.md), and gives
// the group. ereports if it may not be answered; then nothing may be released.
ChargedGroup charge_group(FunctionCallInfo fcinfo, Family family);

}  // namespace dpquantile
