#include "core/moments/moments_error.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/noise_error.hpp"

namespace dpquantile {

namespace {

// The spreads of the noise of the parts, in rows.
struct PartNoise {
  PrivacyMeasure measure;
  double outer;
  double middle;

  double mean(double first, double second, double third) const {
    const double spreads[] = {first * outer, second * middle, third * outer};
    return mean_noise(measure, spreads);
  }
  // That of a count, which is rounded. Degree 1 has no middle part.
  double mean_of_count(double second) const {
    const double spreads[] = {outer, second * middle, outer};
    return mean_rounded_noise(measure, spreads);
  }
};

PartNoise part_noise(MomentsDegree degree, const PrivacyParameter& privacy) {
  const BernsteinUnits units = bernstein_units(degree, privacy);
  const double spread = std::ldexp(IntegerNoise(privacy, units.sensitivity).spread(), -units.bits);
  const double stretch =
      units.stretched ? static_cast<double>(kMiddleStretchNumerator) / kMiddleStretchDenominator
                      : 1;
  return {privacy.measure, spread, spread / stretch};
}

// Bounds E |sqrt(max(t + Y, 0)) - sqrt(t)| for all t >= 0 and Y of spread 1. The largest, near
// t = 0.4, is 0.489 for Laplace and 0.465 for Gaussian noise.
constexpr double kWorstRootError = 0.5;

// By how much more noise moves the sample variance than that of all rows (docs/privacy.md,
// "Errors of moments").
double sample_factor(double rows) {
  const double others = std::max(rows, 2.0) - 1;
  return (1 + 1 / others) * (1 + 9 / (others * (8 * others + 12)));
}

// The error of the deviation of values within 0 .. 1, whose variance may be as large as `largest`.
double stddev_error(double spread_over_rows, double largest) {
  return std::min(kWorstRootError * std::sqrt(spread_over_rows), std::sqrt(largest));
}

}  // namespace

MomentsError moments_expected_error(double rows, MomentsDegree degree,
                                    const PrivacyParameter& privacy, double lower, double upper) {
  check_privacy_parameter(privacy);
  if (!(rows >= 1)) {
    throw ParameterError("rows must be at least 1, got " + shortest_decimal(rows),
                         "Give a public guess of the number of rows with a value.");
  }
  const PartNoise noise = part_noise(degree, privacy);
  const double width = upper - lower;
  const double one = noise.mean(0, 0, 1) / rows;
  MomentsError error{};
  error.count = noise.mean_of_count(degree == MomentsDegree::kMean ? 0 : 1);
  if (degree == MomentsDegree::kMean) {
    error.sum = noise.mean(lower, 0, upper);
    error.mean = width * std::min(one, 1.0);
    return error;
  }
  constexpr double kLargest = 0.25;
  constexpr double kLargestOfSample = 0.5;
  const double spread = noise.outer / rows;
  const double factor = sample_factor(rows);
  error.sum = noise.mean(lower, lower + width / 2, upper);
  error.mean = width * std::min(noise.mean(0, 0.5, 1) / rows, 1.0);
  error.variance = width * width * std::min(one, kLargest);
  error.stddev = width * stddev_error(spread, kLargest);
  error.sample_variance = width * width * std::min(factor * one, kLargestOfSample);
  error.sample_stddev = width * stddev_error(factor * spread, kLargestOfSample);
  return error;
}

}  // namespace dpquantile
