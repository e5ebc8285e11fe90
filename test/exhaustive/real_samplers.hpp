#pragma once

#include <cstdint>
#include <vector>

#include "core/privacy/noise_parameter.hpp"
#include "core/privacy/noise_table.hpp"
#include "core/privacy/random.hpp"

// The samplers of src/core/privacy under names that differ from those of primitives.cpp.
namespace dpquantile {

std::int64_t real_discrete_laplace(RandomStream& random, Rational scale);
std::int64_t real_discrete_gaussian(RandomStream& random, Rational sigma_squared);
std::int64_t real_draw_more_laplace(const NoiseTable& part, int parts, RandomStream& random);

namespace exhaustive {

// The item that one WeightedSampler takes, or -1.
std::int64_t real_scan(const std::vector<double>& weights, RandomStream& random);
// What draw_weighted_index() draws.
std::int64_t real_draw_index(const std::vector<double>& weights, RandomStream& random);

}  // namespace exhaustive

}  // namespace dpquantile
