#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

namespace dpquantile {

// The unit with which the text changes that a call of to_char gives for a moment: "year",
// "quarter", "month", "day", "hour" or "minute", as date_trunc names them; the smallest one in its
// format. Null for other expressions, and for a format that is not constant, or has anything that
// does not follow from these units, such as seconds, offsets of time zones, and names in the
// session's language (TM).
const char* unit_of_formatted_moment(const Node* expression);

// After how long parts of times have had all their values together: hours and minutes after a day,
// days of the week after a week, months and their days after a leap year, and weeks and days of a
// year, or several of these, after 28 years. Years never repeat. In the order of their lengths.
enum class Cycle { kDay, kWeek, kLeapYear, kYears, kEndless };

// That of two parts together: each combination is in one.
Cycle common_cycle(Cycle one, Cycle other);

// That of the text of such a call.
Cycle cycle_of_formatted_moment(const FuncExpr* call);

}  // namespace dpquantile
