#pragma once

#include <optional>
#include <span>

#include "pg/server/postgres.hpp"

// What is known of the values of a computation from what is known of the values that it computes
// with: pure arithmetic of ranges. Ranges are those of numbers, and of dates and times as numbers
// (pg/server/value_type.hpp: days, or microseconds; a month of an interval counts as 30 days). A
// range may be wider than the values. One that is narrower would make an answer wrong, but never
// less private (value_bounds.hpp).
namespace dpquantile {

struct Range {
  double lower;
  double upper;
};
using MaybeRange = std::optional<Range>;

// An argument with its type, a base type.
struct TypedRange {
  MaybeRange range;
  Oid type;
};

// Whether values of the type are whole numbers.
bool is_whole_type(Oid type);

// The range of all numbers of a type of whole numbers.
MaybeRange range_of_whole_type(Oid type);

// The smallest range with both.
Range hull(const Range& one, const Range& other);

// The range of an operator with a name of one character, such as + and %.
MaybeRange range_of_operation(char name, const TypedRange& left, const TypedRange& right,
                              Oid result);

// The range of one of PostgreSQL's functions. `unit` is that of date_trunc, or null.
MaybeRange range_of_call(const char* name, std::span<const TypedRange> arguments, Oid result,
                         const char* unit);

// The range of extract(part FROM time), in any time zone. The part is in lower case. Some parts
// have the same range for all times. The epoch is not among them.
MaybeRange range_of_part(const char* part, const MaybeRange& time, Oid type);

}  // namespace dpquantile
