#pragma once

#include <optional>

#include "pg/parameters/aggregate_parameters.hpp"

namespace dpquantile {

// The rho of one release for these parameters, under the neighbours that its epsilon is for: an
// upper bound, as sharp as is known for its mechanism (docs/privacy.md, "zCDP"). Nothing for a
// mechanism with a delta. ereports.
std::optional<double> zcdp_cost(const AggregateParameters* parameters);

}  // namespace dpquantile
