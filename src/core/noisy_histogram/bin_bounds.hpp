#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace dpquantile {

inline constexpr std::size_t kMostBins = 65536;

// Throws ParameterError unless the bounds are 2 to kMostBins + 1 numbers that ascend strictly. The
// first may be -Infinity and the last Infinity.
void check_bin_bounds(std::span<const double> bounds);

// The bin of a value: bin i goes from bounds[i], inclusive, to bounds[i + 1], exclusive; the last
// bin includes its end. Empty for a value outside all bins and for NaN. Requires bounds that
// check_bin_bounds() accepts.
std::optional<std::size_t> bin_of(std::span<const double> bounds, double value);

}  // namespace dpquantile
