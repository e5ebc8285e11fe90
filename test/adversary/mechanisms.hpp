#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/cdf/cdf_tree.hpp"
#include "core/iqr/iqr_method.hpp"
#include "core/moments/bernstein_sums.hpp"
#include "core/quantiles/quantiles_query.hpp"
#include "core/user_level/user_query.hpp"

namespace dpquantile::adversary {

// Every mechanism that draws answers, and every bound on contributions that one relies on. Each
// needs a check (checks.hpp).
enum class Mechanism : std::uint8_t {
  kApproximateQuantiles,
  kJointQuantiles,
  kIndependentQuantiles,
  kTreeQuantiles,
  kAutoQuantiles,
  kBlocksOfQuantiles,
  kDefaultQuantiles,
  kTreeCdf,
  kBinaryCdf,
  kHistogramCdf,
  kFactorizedCdf,
  kIqrByTest,
  kIqrByQuantiles,
  kBaselineOfUsers,
  kArrayOfUsers,
  kLevyOfUsers,
  kQuantileOfUsers,
  kAdaptiveQuantileOfUsers,
  kBoundedUsers,
  kAutoOfUsers,
  kGridsOfUsers,
  kCount,
  kDistinct,
  kSum,
  kMean,
  kVariance,
  kPairs,
  kHistogram,
  kModalBin,
  kLearnedBounds,
  kCloseBounds,
  kGroupsOfRows,
  kGroupsOfUsers,
  kLimitedRows,
  kIntegerNoise,
  kEnd,
};

// The mechanism of each method. A new method makes these an error of the compiler (-Wswitch), and a
// mechanism without a check fails the privacy tests.
Mechanism mechanism_of(QuantilesMethod method);
Mechanism mechanism_of(CdfMethod method);
Mechanism mechanism_of(IqrMethod method);
Mechanism mechanism_of(UserMethod method);
Mechanism mechanism_of(MomentsDegree degree);

// What the families of aggregates draw with, by the names in src/pg/parameters/family.hpp. A
// family that is not here fails the privacy tests.
struct FamilyMechanisms {
  std::string_view family;
  std::span<const Mechanism> mechanisms;
};
std::span<const FamilyMechanisms> mechanisms_of_families();

}  // namespace dpquantile::adversary
