#pragma once

#include <cstdint>
#include <span>

#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

// How quantiles are drawn. The numbers are stored in aggregate states.
enum class QuantilesMethod : std::uint8_t {
  kApproximate = 1,  // ApproximateQuantiles: level by level, one in each interval
  kJoint = 2,        // all at once by one exponential mechanism
  kIndependent = 3,  // each by itself
  kTree = 4,         // read off noisy counts on a tree
  kAuto = 5,         // whichever is most accurate by public parameters
};

// What is asked of a data set; the parameters are public.
struct QuantilesQuery {
  QuantilesMethod method;
  PrivacyParameter privacy;
  std::uint64_t cells;                // of the grid that the data are counted on
  std::span<const double> quantiles;  // in any order; one that repeats is drawn once
};

}  // namespace dpquantile
