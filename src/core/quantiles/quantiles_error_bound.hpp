#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/quantiles/quantiles_query.hpp"

namespace dpquantile {

// Bounds that the rank errors of ascending, distinct quantiles keep to all at once with probability
// 1 - beta, on any data of at most `records` records: Theorem 4b of docs/privacy.md. For the
// methods that draw positions: all but kTree.
std::pmr::vector<double> rank_error_bounds(const QuantilesQuery& query,
                                           std::span<const double> distinct_quantiles,
                                           double records, double beta,
                                           std::pmr::memory_resource* memory);

}  // namespace dpquantile
