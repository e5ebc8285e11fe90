#include "core/moments/noisy_sum.hpp"

#include <algorithm>
#include <cmath>

#include "core/moments/finite.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/noise_error.hpp"

namespace dpquantile {

namespace {

constexpr int kMostGaussianBits = 31;

// Under rho coarser units keep sigma^2 within the sampler's range.
int unit_bits(const PrivacyParameter& privacy) {
  if (privacy.measure == PrivacyMeasure::kPure) return SumScale::kSumBits;
  return gaussian_sensitivity_bits(privacy.value, kMostGaussianBits);
}

// The sum in units of 2^-bits, rounded down.
int128_t sum_in_units(const ValueSums& values, int bits) {
  const auto shifted = static_cast<int128_t>(values.sum.value());
  const int128_t sum = shifted - int128_t{values.count} * int128_t{SumScale::kSumOne};
  const int128_t divisor = int128_t{1} << (static_cast<int>(SumScale::kSumBits) - bits);
  const int128_t quotient = sum / divisor;
  return quotient * divisor > sum ? quotient - 1 : quotient;
}

}  // namespace

double largest_change_of_sum(const SumScale& scale, const PrivacyParameter& privacy) {
  const int bits = unit_bits(privacy);
  const int dropped = static_cast<int>(SumScale::kSumBits) - bits;
  const std::uint64_t range = scale.shifted_units(scale.upper) - scale.shifted_units(scale.lower);
  // Sums that are rounded down to coarser units differ by at most their difference, rounded up.
  const std::uint64_t coarse = (range + (std::uint64_t{1} << dropped) - 1) >> dropped;
  return std::max(1.0, std::ldexp(static_cast<double>(coarse), -bits));
}

Estimate release_sum(const ValueSums& values, const SumScale& scale,
                     const PrivacyParameter& privacy, RandomStream& random) {
  check_privacy_parameter(privacy);
  const int bits = unit_bits(privacy);
  const IntegerNoise noise(privacy, std::uint64_t{1} << bits);
  const int128_t noisy = sum_in_units(values, bits) + noise.draw(random);
  const double spread[] = {noise.spread() + 1};
  const double error = noise_quantile(privacy.measure, spread, kEstimateTail);
  const auto in_values = [&](double units) {
    return finite(std::ldexp(units, -bits) * scale.largest);
  };
  return {in_values(static_cast<double>(noisy)), in_values(error + 1)};
}

}  // namespace dpquantile
