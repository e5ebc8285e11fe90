#include "core/moments/pair_moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/moments/finite.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/noise_error.hpp"

namespace dpquantile {

namespace {

constexpr double kLargestVariance = 0.25;
constexpr double kLargestCovariance = 0.25;

double width_of(const FixedPoint& bounds) {
  return bounds.upper - bounds.lower;
}

// n / (n - 1).
double sample_factor(double count) {
  const double rows = std::max(count, 2.0);
  return rows / (rows - 1);
}

double place(MomentsDegree degree, std::size_t weight) {
  return static_cast<double>(weight) / static_cast<double>(degree);
}

// The standard deviation of the noise of a sum over the rows of a function that is linear in each
// variable: the noises of the parts with its values at the control points as weights.
template <class Function>
double deviation_of_sum(const NoisyPairSums& sums, Function function) {
  double square = 0;
  for (std::size_t k = 0; k < kPairWeights; ++k) {
    if (sums.deviation[k] == 0) continue;
    const double weight =
        function(place(sums.degrees.x, k / kWeights), place(sums.degrees.value, k % kWeights));
    square += weight * weight * sums.deviation[k] * sums.deviation[k];
  }
  return std::sqrt(square);
}

// How the rows are spread over the control points of two variables, which are their weights'
// places: 0 and 1, or 0, 1/2 and 1. All of it is 0 without rows.
class Shares {
 public:
  explicit Shares(const NoisyPairSums& sums) : degrees_(sums.degrees), shares_(sums.part) {
    double all = 0;
    for (double& share : shares_) all += share = std::max(share, 0.0);
    for (double& share : shares_) share = all > 0 ? share / all : 0;
  }

  // The means of functions of x and the value at the control points. For functions that are linear
  // in each variable they are those of the rows.
  template <class Function>
  double mean(Function function) const {
    double sum = 0;
    for (std::size_t k = 0; k < kPairWeights; ++k) {
      sum += shares_[k] == 0 ? 0
                             : shares_[k] * function(place(degrees_.x, k / kWeights),
                                                     place(degrees_.value, k % kWeights));
    }
    return sum;
  }
  // B0 B2 - B1^2 / 4, as in Moments.
  double variance_of_x() const { return variance(share_of_x(0), share_of_x(1), share_of_x(2)); }
  double variance_of_value() const {
    return variance(share_of_value(0), share_of_value(1), share_of_value(2));
  }

 private:
  static double variance(double low, double middle, double high) {
    return std::clamp(low * high - middle * middle / 4, 0.0, kLargestVariance);
  }
  double share_of_x(std::size_t i) const {
    return shares_[3 * i] + shares_[3 * i + 1] + shares_[3 * i + 2];
  }
  double share_of_value(std::size_t j) const {
    return shares_[j] + shares_[3 + j] + shares_[6 + j];
  }

  PairDegrees degrees_;
  std::array<double, kPairWeights> shares_;
};

}  // namespace

PairMoments::PairMoments(const NoisyPairSums& sums, const FixedPoint& value, const FixedPoint& x)
    : value_(value), x_(x), rows_(sums.rows()) {
  const Shares shares(sums);
  mean_of_x_ = shares.mean([](double a, double) { return a; });
  mean_of_value_ = shares.mean([](double, double b) { return b; });
  covariance_ =
      shares.mean([&](double a, double b) { return (a - mean_of_x_) * (b - mean_of_value_); });
  variance_of_x_ = shares.variance_of_x();
  variance_of_value_ = shares.variance_of_value();
  noise_ = deviation_of_sum(sums, [&](double a, double b) {
    return (a - mean_of_x_) * (b - mean_of_value_) - covariance_;
  });
}

double PairMoments::error_of_covariance() const {
  constexpr double kDeviations = 2;
  if (!(rows_ > 0) || covariance_ == 0) return std::numeric_limits<double>::infinity();
  return kDeviations * noise_ / rows_ / std::abs(covariance_);
}

double PairMoments::covariance() const {
  return width_of(x_) * width_of(value_) *
             std::clamp(covariance_, -kLargestCovariance, kLargestCovariance) +
         0.0;
}

double PairMoments::sample_covariance() const {
  return covariance() * sample_factor(rows_);
}

// The covariance is at most the product of both deviations, and values between 0 and 1 with mean m
// have a variance of at most m (1 - m).
double PairMoments::scaled_slope() const {
  const double rest = std::max(mean_of_value_ * (1 - mean_of_value_), 0.0);
  const double most = std::sqrt(variance_of_x_ * rest);
  return std::clamp(covariance_, -most, most) / variance_of_x_;
}

std::optional<double> PairMoments::slope() const {
  if (!(variance_of_x_ > 0)) return std::nullopt;
  return finite(scaled_slope() * (width_of(value_) / width_of(x_))) + 0.0;
}

std::optional<double> PairMoments::intercept() const {
  if (!(variance_of_x_ > 0)) return std::nullopt;
  const double mean_of_value = value_.lower + width_of(value_) * mean_of_value_;
  const double mean_of_x = x_.lower + width_of(x_) * mean_of_x_;
  return finite(mean_of_value - finite(*slope() * mean_of_x)) + 0.0;
}

std::optional<double> PairMoments::correlation() const {
  if (!(variance_of_x_ > 0) || !(variance_of_value_ > 0)) return std::nullopt;
  const double deviations = std::sqrt(variance_of_x_) * std::sqrt(variance_of_value_);
  return std::clamp(covariance_ / deviations, -1.0, 1.0) + 0.0;
}

std::optional<double> PairMoments::determination() const {
  const auto found = correlation();
  return found ? std::optional(*found * *found) : std::nullopt;
}

void check_pair_bounds(const FixedPoint& value, const FixedPoint& x) {
  const double product = width_of(value) * width_of(x);
  const double quotient = width_of(value) / width_of(x);
  if (std::isnormal(product) && std::isnormal(quotient)) return;
  throw ParameterError(
      "the product and the quotient of upper - lower and x_upper - x_lower must be finite numbers "
      "above 0, got the widths " +
          shortest_decimal(width_of(value)) + " and " + shortest_decimal(width_of(x)),
      "Choose other bounds, or other units for the values.");
}

PairMoments release_pair_moments(const PairSums& sums, const FixedPoint& value, const FixedPoint& x,
                                 const PairDegrees& degrees, const PrivacyParameter& privacy,
                                 RandomStream& random) {
  check_pair_bounds(value, x);
  return {release_pair_sums(sums, degrees, privacy, random), value, x};
}

// The worst data have both values at one corner of the bounds (docs/privacy.md, "Errors of pairs").
CovarianceError covariance_expected_error(double rows, const PrivacyParameter& privacy,
                                          const FixedPoint& value, const FixedPoint& x) {
  check_privacy_parameter(privacy);
  if (!(rows >= 1)) {
    throw ParameterError("rows must be at least 1, got " + shortest_decimal(rows),
                         "Give a public guess of the number of rows with a value.");
  }
  const PairUnits units = pair_units(kDegreesOfCovariance, privacy);
  const double spread[] = {
      std::ldexp(IntegerNoise(privacy, units.sensitivity).spread(), -units.bits)};
  const double one = mean_noise(privacy.measure, spread) / rows;
  const double factor = sample_factor(rows);
  const double product = width_of(value) * width_of(x);
  return {product * std::min(one, kLargestCovariance),
          product * std::min(factor * factor * one, 2 * kLargestCovariance)};
}

}  // namespace dpquantile
