#pragma once

#include "pg/query/level.hpp"

// Which calls of functions give a value. Over protected rows a function is NULL where PostgreSQL's
// reports an error: for a division by 0, a text that is no number, a text that is too long
// (pg/vocabulary/total_functions.hpp). Which of them cannot be is a list.
namespace dpquantile {

// Of times without bounds: any, or such as are neither infinite nor near the end of time.
enum class TimesOf { kAny, kOrdinary };

// Whether a function, an operator, a cast or IN is not NULL for arguments that are not NULL, in
// rows whose columns are within their domains. False if nothing says so. Numerics of more than 400
// digits, and numbers in columns that are nearer to 0 than 1e-300 (real: 1e-30), are not looked
// for.
bool gives_value_for_values(const Level* level, const Node* call, TimesOf times = TimesOf::kAny);

// Whether what is known of a text says that it has at most 1000 characters: its type, the list of
// keys of its column, that its table is public, or of what it is computed.
bool is_short_text(const Level* level, const Node* text);

}  // namespace dpquantile
