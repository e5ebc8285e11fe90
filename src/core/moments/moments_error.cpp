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
  if (degree == MomentsDegree::kMean) {
    return {
        noise.mean_of_count(0), noise.mean(lower, 0, upper), width * std::min(one, 1.0), {}, {}};
  }
  const double mean = noise.mean(0, 0.5, 1) / rows;
  return {noise.mean_of_count(1), noise.mean(lower, lower + width / 2, upper),
          width * std::min(mean, 1.0), width * width * std::min(one, 0.25),
          width * std::min(kWorstRootError * std::sqrt(noise.outer / rows), 0.5)};
}

}  // namespace dpquantile
