#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/nodes.h"
}

namespace dpquantile {

// Whether an expression or a subquery calls functions that may read data: all that are not
// immutable, except the clock, settings, and conversions of dates and times, which the session's
// time zone and date style decide. The clock and the settings are as public as a query parameter.
// The query reads them once, when it starts.
bool calls_changing_functions(const Node* expression);

}  // namespace dpquantile
