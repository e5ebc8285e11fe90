#pragma once

#include <array>
#include <cstdint>

#include "core/base/int128.hpp"
#include "core/moments/value_sums.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/random.hpp"

// Several statistics of values for the price of one. A value y, scaled to [0, 1], is divided into
// parts that are at least 0 and add up to 1, its Bernstein weights
//
//   degree 1: 1 - y, y                        degree 2: (1 - y)^2, 2 y (1 - y), y^2.
//
// So one row changes the sums of the parts together by at most 1 in the l1 and in the l2 norm, and
// each sum gets noise for the whole guarantee. Number of rows, sum and mean follow from the two
// sums of degree 1; from the three of degree 2 also the variance. Proof: docs/privacy.md,
// "Moments".
namespace dpquantile {

enum class MomentsDegree : std::uint8_t {
  kMean = 1,      // number of rows, sum, mean
  kVariance = 2,  // these and the variance
};

inline constexpr int kMostBernsteinParts = 3;

// The number of sums: degree + 1.
int bernstein_parts(MomentsDegree degree);

// How the sums of the parts are measured: a function of the degree and the guarantee.
struct BernsteinUnits {
  MomentsDegree degree;
  int bits;                   // a unit is 2^-bits rows
  bool stretched;             // the middle part is counted kMiddleStretch times
  std::uint64_t sensitivity;  // l1 under epsilon, l2 under rho, in units
};

// Under rho the middle part of degree 2 is counted 239/128 times, and its sum divided by that
// again: the square of the l2 norm, (1 - y)^4 + 4 c^2 y^2 (1 - y)^2 + y^4, stays at most 1 for
// every y as long as c^2 <= 7/2. That makes the middle part's noise almost half as wide.
inline constexpr std::uint64_t kMiddleStretchNumerator = 239;
inline constexpr std::uint64_t kMiddleStretchDenominator = 128;

BernsteinUnits bernstein_units(MomentsDegree degree, const PrivacyParameter& privacy);

// The sums of the parts in units, each rounded down. Not private. Requires at most 2^63 rows.
std::array<uint128_t, kMostBernsteinParts> bernstein_sums(const ValueSums& sums,
                                                          const BernsteinUnits& units);

// The sums of the parts with noise, in rows (the middle part is not stretched any more), and the
// spread of the noise of each: its scale under epsilon, its sigma under rho. Everything that is
// computed from it is post-processing.
struct NoisyBernsteinSums {
  MomentsDegree degree;
  PrivacyMeasure measure;
  std::array<double, kMostBernsteinParts> part;
  std::array<double, kMostBernsteinParts> spread;

  int parts() const { return bernstein_parts(degree); }
  double rows() const;
};

// Privacy: epsilon-differentially private or rho-zCDP, by the measure, for adding or removing one
// row. Throws ParameterError as check_privacy_parameter() does, RandomnessUnavailable, and
// std::overflow_error as the samplers do.
NoisyBernsteinSums release_bernstein_sums(const ValueSums& sums, MomentsDegree degree,
                                          const PrivacyParameter& privacy, RandomStream& random);

}  // namespace dpquantile
