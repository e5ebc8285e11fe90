#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/quantiles/quantiles_query.hpp"

namespace dpquantile {

// Bounds on the rank errors of ascending, distinct quantiles, in records: with probability 1 - beta
// all errors keep to their bounds at once, on any data of at most `records` records. Source:
// Theorem 4b of docs/privacy.md. For the methods that draw positions: all except kTree. Throws
// std::bad_alloc.
std::pmr::vector<double> rank_error_bounds(const QuantilesQuery& query,
                                           std::span<const double> distinct_quantiles,
                                           double records, double beta,
                                           std::pmr::memory_resource* memory);

// A rank error, in records, that the answer to one of these quantiles exceeds with a probability of
// `tail` where many records are spread evenly over the grid, if it gets all of the guarantee: with
// a part of it, and on other data, errors are larger. That of the quantile for which it is largest.
// For the methods that draw positions.
double rank_error_at_least(const QuantilesQuery& query, double tail);

}  // namespace dpquantile
