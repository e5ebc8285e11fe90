#pragma once

#include "pg/release/release_execution.hpp"

namespace dpquantile {

// The cost of a call of the node, under the mechanism's own neighbour relation; null if it is
// unknown, because it depends on other parts of a plan that did not run. ereports as prepare_call()
// does.
const PrivacyCost* known_cost(ReleaseNode* node, ReleaseCall* call);

}  // namespace dpquantile
