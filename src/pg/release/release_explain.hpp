#pragma once

#include "pg/release/release_execution.hpp"

extern "C" {
#include "commands/explain.h"
}

namespace dpquantile {

// Tells in EXPLAIN the price of one execution of a release node: a text for each private aggregate.
// After executions with several prices it is the last one. Before an execution, a price is unknown
// if it depends on other parts of the plan. It shows nothing of the data. ereports as
// prepare_call() does.
void explain_prices(ReleaseNode* node, ExplainState* explain);

}  // namespace dpquantile
