#include "core/moments/bernstein_sums.hpp"

#include <cmath>
#include <numeric>

#include "core/privacy/integer_noise.hpp"

namespace dpquantile {

namespace {

constexpr int kBits = FixedPoint::kBits;

double stretch_of(const BernsteinUnits& units, int part) {
  if (!units.stretched || part != 1) return 1;
  return static_cast<double>(kMiddleStretchNumerator) / kMiddleStretchDenominator;
}

std::array<uint128_t, kMostBernsteinParts> first_degree(const ValueSums& sums, int bits) {
  const uint128_t high = sums.sum.value();
  const uint128_t low = (uint128_t{sums.count} << kBits) - high;
  const int shift = kBits - bits;
  return {low >> shift, high >> shift, 0};
}

// The exact sums are integers in units of 2^-62. Dropping the middle one's last bits before it is
// stretched keeps it below 2^128.
std::array<uint128_t, kMostBernsteinParts> second_degree(const ValueSums& sums,
                                                         const BernsteinUnits& units) {
  constexpr int kDropped = 8;
  const uint128_t high = sums.squares.value();
  const uint128_t sum = sums.sum.value() << kBits;
  const uint128_t middle = 2 * (sum - high);
  const uint128_t low = (uint128_t{sums.count} << 2 * kBits) - high - middle;
  const int shift = 2 * kBits - units.bits;
  if (!units.stretched) return {low >> shift, middle >> shift, high >> shift};
  const uint128_t stretched =
      (middle >> kDropped) * kMiddleStretchNumerator / kMiddleStretchDenominator;
  return {low >> shift, stretched >> (shift - kDropped), high >> shift};
}

}  // namespace

int bernstein_parts(MomentsDegree degree) {
  return static_cast<int>(degree) + 1;
}

double NoisyBernsteinSums::rows() const {
  return std::accumulate(part.begin(), part.end(), 0.0);
}

// Rounding down k sums adds less than k units to the l1 norm of a change, and less than 2 to its l2
// norm.
BernsteinUnits bernstein_units(MomentsDegree degree, const PrivacyParameter& privacy) {
  const bool zcdp = privacy.measure == PrivacyMeasure::kZcdp;
  const int bits = zcdp ? gaussian_sensitivity_bits(privacy.value, kBits) : kBits;
  const bool stretched = zcdp && degree == MomentsDegree::kVariance;
  const auto rounding = static_cast<std::uint64_t>(degree);
  return {degree, bits, stretched, (std::uint64_t{1} << bits) + (zcdp ? 2 : rounding)};
}

std::array<uint128_t, kMostBernsteinParts> bernstein_sums(const ValueSums& sums,
                                                          const BernsteinUnits& units) {
  return units.degree == MomentsDegree::kMean ? first_degree(sums, units.bits)
                                              : second_degree(sums, units);
}

NoisyBernsteinSums release_bernstein_sums(const ValueSums& sums, MomentsDegree degree,
                                          const PrivacyParameter& privacy, RandomStream& random) {
  check_privacy_parameter(privacy);
  const BernsteinUnits units = bernstein_units(degree, privacy);
  const IntegerNoise noise(privacy, units.sensitivity);
  const auto exact = bernstein_sums(sums, units);
  NoisyBernsteinSums noisy{degree, privacy.measure, {}, {}};
  for (int i = 0; i < bernstein_parts(degree); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double rows_per_unit = std::ldexp(1, -units.bits) / stretch_of(units, i);
    const int128_t answer = static_cast<int128_t>(exact[k]) + noise.draw(random);
    noisy.part[k] = static_cast<double>(answer) * rows_per_unit;
    noisy.spread[k] = noise.spread() * rows_per_unit;
  }
  return noisy;
}

}  // namespace dpquantile
