#pragma once

// Citus sends constants to the workers as texts, in the formats of this session: a date as
// 01/02/2000 or a number with few digits, which the worker reads with its own settings.
namespace dpquantile {

// Has texts mean the same everywhere until the matching call of end_exact_texts(), or until the
// (sub)transaction aborts. Returns what that call needs. Then the settings of formats are again
// what they were before.
int begin_exact_texts();

void end_exact_texts(int level);

}  // namespace dpquantile
