#include "core/moments/bernstein_pairs.hpp"

#include <cmath>
#include <numeric>

#include "core/privacy/integer_noise.hpp"

namespace dpquantile {

namespace {

constexpr int kBits = FixedPoint::kBits;
constexpr int kStretchBits = 7;
static_assert(kMiddleStretchDenominator == std::uint64_t{1} << kStretchBits);

std::size_t weights(MomentsDegree degree) {
  return static_cast<std::size_t>(bernstein_parts(degree));
}

// Calls use(place) for each pair of weights of these degrees.
template <class Use>
void each_place(const PairDegrees& degrees, Use use) {
  for (std::size_t i = 0; i < weights(degrees.x); ++i) {
    for (std::size_t j = 0; j < weights(degrees.value); ++j) use(kWeights * i + j);
  }
}

// How many of the two weights at a place are stretched.
int stretched_weights(const PairUnits& units, std::size_t place) {
  if (!units.stretched) return 0;
  const bool of_x = units.degrees.x == MomentsDegree::kVariance && place / kWeights == 1;
  const bool of_value = units.degrees.value == MomentsDegree::kVariance && place % kWeights == 1;
  return static_cast<int>(of_x) + static_cast<int>(of_value);
}

double stretch_at(const PairUnits& units, std::size_t place) {
  constexpr double kStretch =
      static_cast<double>(kMiddleStretchNumerator) / kMiddleStretchDenominator;
  return std::pow(kStretch, stretched_weights(units, place));
}

// Twice the sums of three weights, or of the two of degree 1: 1 - y is the first of degree 2 and
// half of the second, y half of the second and the third.
void double_with_degree(MomentsDegree degree, uint128_t& first, uint128_t& second,
                        uint128_t& third) {
  if (degree == MomentsDegree::kVariance) {
    first *= 2;
    second *= 2;
    third *= 2;
    return;
  }
  first = 2 * first + second;
  second += 2 * third;
  third = 0;
}

}  // namespace

int pair_parts(const PairDegrees& degrees) {
  return bernstein_parts(degrees.x) * bernstein_parts(degrees.value);
}

double NoisyPairSums::rows() const {
  return std::accumulate(part.begin(), part.end(), 0.0);
}

// Rounding down k sums adds less than k units to the l1 norm of a change. To its l2 norm it adds at
// most 3, and less than 6 come from the products of a row, which are rounded to units of 2^-31.
PairUnits pair_units(const PairDegrees& degrees, const PrivacyParameter& privacy) {
  constexpr std::uint64_t kRoundingOfNorm = 9;
  const bool zcdp = privacy.measure == PrivacyMeasure::kZcdp;
  const int bits = zcdp ? gaussian_sensitivity_bits(privacy.value, kBits) : kBits;
  const auto rounding = static_cast<std::uint64_t>(pair_parts(degrees) - 1);
  return {degrees, bits, zcdp, (std::uint64_t{1} << bits) + (zcdp ? kRoundingOfNorm : rounding)};
}

std::array<uint128_t, kPairWeights> pair_sums(const PairSums& sums, const PairUnits& units) {
  std::array<uint128_t, kPairWeights> parts;
  for (std::size_t k = 0; k < kPairWeights; ++k) parts[k] = sums.parts[k].value();
  for (std::size_t i = 0; i < kWeights; ++i) {
    double_with_degree(units.degrees.value, parts[3 * i], parts[3 * i + 1], parts[3 * i + 2]);
  }
  for (std::size_t j = 0; j < kWeights; ++j) {
    double_with_degree(units.degrees.x, parts[j], parts[3 + j], parts[6 + j]);
  }
  // Below 2^95 for 2^62 rows, and stretched twice below 2^111.
  for (std::size_t k = 0; k < kPairWeights; ++k) {
    const int stretched = stretched_weights(units, k);
    for (int i = 0; i < stretched; ++i) parts[k] *= kMiddleStretchNumerator;
    parts[k] >>= kBits + 2 - units.bits + kStretchBits * stretched;
  }
  return parts;
}

NoisyPairSums release_pair_sums(const PairSums& sums, const PairDegrees& degrees,
                                const PrivacyParameter& privacy, RandomStream& random) {
  check_privacy_parameter(privacy);
  const PairUnits units = pair_units(degrees, privacy);
  const IntegerNoise noise(privacy, units.sensitivity);
  const auto exact = pair_sums(sums, units);
  const double laplace = privacy.measure == PrivacyMeasure::kPure ? std::sqrt(2.0) : 1;
  const double deviation = laplace * std::ldexp(noise.spread(), -units.bits);
  NoisyPairSums noisy{degrees, {}};
  each_place(degrees, [&](std::size_t place) {
    const int128_t answer = static_cast<int128_t>(exact[place]) + noise.draw(random);
    noisy.part[place] =
        static_cast<double>(answer) * std::ldexp(1, -units.bits) / stretch_at(units, place);
    noisy.deviation[place] = deviation / stretch_at(units, place);
  });
  return noisy;
}

}  // namespace dpquantile
