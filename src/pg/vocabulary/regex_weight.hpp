#pragma once

#include <string_view>

// Which regular expressions rows may be compared with. PostgreSQL answers x ~ pattern by one pass
// over x, if the pattern has no back references: for each character it follows the states in which
// the pattern may be, and from each of them the arcs to others. What may be left out or chosen (?,
// *, |) leads from each state before it to each behind it. So the time is bounded by the length of
// x times the number of states times that of such choices.
namespace dpquantile {

// A bound for the states of a pattern times its choices, or 0 for one of more than 64 states, or
// that is not supported: with back references, look-around, word boundaries, options, repeated ^
// and
// $, or other escapes than \d, \w, \s, their opposites and those of single characters that are no
// letter and no digit. What is accepted here need not be a valid pattern.
int regex_weight(std::string_view pattern);

}  // namespace dpquantile
