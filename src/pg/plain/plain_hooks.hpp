#pragma once

#include "pg/grants/refusal.hpp"
#include "pg/query/level.hpp"

extern "C" {
#include "nodes/parsenodes.h"
}

namespace dpquantile {

// Installs the settings dpquantile.epsilon and max_rows, and the hooks that answer standard
// aggregates over protected tables with private ones. Call it once, after install_protect_hooks():
// the validator looks at what this room has made.
void install_plain_hooks();

// What the planner hook does with a query: translate_plain_query() with the session's setting.
// `parameters`: the values that the plan is made for, or null.
const Statement* translate_for_session(Query* query, const char* text, Reasons* reasons,
                                       ParamListInfo parameters = nullptr);

}  // namespace dpquantile
