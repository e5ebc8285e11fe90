#include "core/noisy_histogram/bin_bounds.hpp"

#include <algorithm>
#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"

namespace dpquantile {

void check_bin_bounds(std::span<const double> bounds) {
  if (bounds.size() < 2 || bounds.size() > kMostBins + 1) {
    throw ParameterError("bounds must have 2 to " + std::to_string(kMostBins + 1) +
                             " elements, got " + std::to_string(bounds.size()),
                         "ARRAY[0, 18, 65, 120] makes three bins.");
  }
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    if (bounds[i - 1] < bounds[i]) continue;
    throw ParameterError("bounds must ascend, got " + shortest_decimal(bounds[i - 1]) + " before " +
                             shortest_decimal(bounds[i]),
                         "Each bin goes from an element to the next one.");
  }
}

std::optional<std::size_t> bin_of(std::span<const double> bounds, double value) {
  if (!(value >= bounds.front() && value <= bounds.back())) return std::nullopt;
  if (value == bounds.back()) return bounds.size() - 2;
  const auto above = std::ranges::upper_bound(bounds, value);
  return static_cast<std::size_t>(above - bounds.begin()) - 1;
}

}  // namespace dpquantile
