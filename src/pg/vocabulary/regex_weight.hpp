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

// The most weight of a pattern whose value is not in the query. Rows are compared with a text that
// is as short as if it had this weight.
inline constexpr int kMostParameterWeight = 64;

// Which patterns regex_weight() accepts, as a hint.
inline constexpr char kRegexHint[] =
    "Use at most 64 characters, [], ., |, (), *, +, ?, {m,n}, \\d, \\w, \\s, ^ and $ that are not "
    "repeated; no other escapes of letters or digits, and no (?...). Or use LIKE, split_part or "
    "position.";

}  // namespace dpquantile
