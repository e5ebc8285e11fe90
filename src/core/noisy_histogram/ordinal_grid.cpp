#include "core/noisy_histogram/ordinal_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dpquantile {

std::uint32_t OrdinalGrid::cell_of_magnitude(double magnitude) const {
  if (magnitude >= std::ldexp(1, end_)) return side() - 1;  // 2^1024 is infinite
  const int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), least_ - 1) : least_ - 1;
  // Below 2^least the cells have the width of those of the octave that begins there.
  const int width = std::max(exponent, least_) - digits_;
  const auto steps = static_cast<std::uint32_t>(std::ldexp(magnitude, -width));
  return steps + (static_cast<std::uint32_t>(std::max(exponent - least_, 0)) << digits_);
}

std::uint32_t OrdinalGrid::cell_of(double value) const {
  const std::uint32_t cell = cell_of_magnitude(std::abs(value));
  return value < 0 ? side() - 1 - cell : side() + cell;
}

double OrdinalGrid::edge_of_magnitude(std::uint32_t i) const {
  const int octave = std::max(static_cast<int>(i >> digits_) - 1, 0);
  const std::uint32_t steps = i - (static_cast<std::uint32_t>(octave) << digits_);
  return std::min(std::ldexp(static_cast<double>(steps), octave + least_ - digits_),
                  std::numeric_limits<double>::max());
}

double OrdinalGrid::edge(std::uint32_t i) const {
  return i < side() ? -edge_of_magnitude(side() - i) : edge_of_magnitude(i - side());
}

}  // namespace dpquantile
