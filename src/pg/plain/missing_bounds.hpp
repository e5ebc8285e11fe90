#pragma once

#include "pg/plain/plain_level.hpp"

// The refusal of a standard aggregate of values that have no public bounds: who can state them, and
// which private aggregate takes bounds of the analyst's own.
namespace dpquantile {

// `value` is what `call` aggregates.
[[noreturn]] void refuse_without_bounds(const PlainLevel* level, const Aggref* call, Node* value);

// A call of the private aggregate that takes the place of a standard one, such as dp_avg(column,
// 0.1, lower, upper).
const char* call_with_own_bounds(const PlainLevel* level, const Aggref* standard, Node* value);

}  // namespace dpquantile
