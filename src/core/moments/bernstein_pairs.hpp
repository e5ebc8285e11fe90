#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/int128.hpp"
#include "core/moments/bernstein_sums.hpp"
#include "core/moments/pair_sums.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/random.hpp"

// Several statistics of rows with two values for the price of one. The products of the Bernstein
// weights of x and of the value (bernstein_sums.hpp) are again at least 0 and add up to 1. So one
// row changes their sums together by at most 1 in the l1 and in the l2 norm, and each sum gets
// noise for the whole guarantee. Degree 1 of both, of four products, gives the covariance; degree 2
// of a variable also its variance. Proof: docs/privacy.md, "Pairs of values".
namespace dpquantile {

// The degrees of the Bernstein weights of each variable. A lower one has fewer sums, and so less
// noise.
struct PairDegrees {
  MomentsDegree value;
  MomentsDegree x;

  bool operator==(const PairDegrees&) const = default;
};

// The number of sums: (degree of x + 1) * (degree of value + 1).
int pair_parts(const PairDegrees& degrees);

// How the sums are measured: a function of the degrees and the guarantee.
struct PairUnits {
  PairDegrees degrees;
  int bits;                   // a unit is 2^-bits rows
  bool stretched;             // the middle weight of a degree 2 counts kMiddleStretch times
  std::uint64_t sensitivity;  // l1 under epsilon, l2 under rho, in units
};
PairUnits pair_units(const PairDegrees& degrees, const PrivacyParameter& privacy);

// The sums of the products in units, each rounded down, with that of the i-th weight of x and the
// j-th of the value at 3 i + j; the others are 0. Not private. Requires at most 2^62 rows.
std::array<uint128_t, kPairWeights> pair_sums(const PairSums& sums, const PairUnits& units);

// The same sums with noise, in rows (nothing is stretched any more). Everything that is computed
// from them is post-processing.
struct NoisyPairSums {
  PairDegrees degrees;
  std::array<double, kPairWeights> part;
  std::array<double, kPairWeights> deviation{};  // the standard deviation of the noise of each

  double rows() const;
};

// Privacy: epsilon-differentially private or rho-zCDP, by the measure, for adding or removing one
// row. Throws ParameterError as check_privacy_parameter() does, RandomnessUnavailable, and
// std::overflow_error as the samplers do.
NoisyPairSums release_pair_sums(const PairSums& sums, const PairDegrees& degrees,
                                const PrivacyParameter& privacy, RandomStream& random);

}  // namespace dpquantile
