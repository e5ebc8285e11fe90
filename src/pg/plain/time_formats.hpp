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

}  // namespace dpquantile
