#include "core/moments/moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/moments/finite.hpp"
#include "core/privacy/noise_error.hpp"

namespace dpquantile {

namespace {

constexpr double kWholeRange = 1;  // of a mean, in units of the width
constexpr double kLargestVariance = 0.25;
constexpr double kLargestStddev = 0.5;

// A value may differ from its FixedPoint units by half a unit.
constexpr double kHalfUnit = 0x1p-32;

// The answers are rounded to doubles, in a few steps of at most 2^-53 of their operands.
constexpr double kRounding = 0x1p-50;
constexpr double kLastRounding = 0x1p-52;

// The noise of a variance has most of the tail. The rest is for its other two unknowns.
constexpr double kVarianceTail = 0.045;
constexpr double kSampleVarianceTail = 0.043;
constexpr double kMeanTail = 0.005;
constexpr double kCountTail = 0.002;

// Errors that depend on the unknown statistic are fixed points, approached from above. Every step
// is a valid bound. A few suffice unless the count is small.
constexpr int kSteps = 30;
constexpr int kAtOnce = 1;
constexpr double kShrinks = 0.999;

// Pays for rounding errors of doubles, for sums that are rounded down to their units, and for noise
// that lies on these units: they are below 2^-20 of any noise.
double widened(double error) {
  return error * (1 + 0x1p-16);
}

double farther_end(double value, double low, double high) {
  return std::max({value - low, high - value, 0.0});
}

double largest_magnitude(double a, double b) {
  return std::max(std::abs(a), std::abs(b));
}

}  // namespace

Moments::Moments(const NoisyBernsteinSums& sums, const FixedPoint& bounds)
    : sums_(sums), lower_(bounds.lower), upper_(bounds.upper), width_(bounds.upper - bounds.lower) {
  if (sums.degree == MomentsDegree::kVariance) bounds.check_variance_representable();
}

// A bound on the weighted sum of the parts' noises. The weights are the values of a polynomial's
// control points, in the order of the parts; degree 1 has two.
double Moments::noise_of(double first, double second, double third, double tail) const {
  const double spreads[] = {first * sums_.spread[0], second * sums_.spread[1],
                            third * sums_.spread[2]};
  const auto terms = static_cast<std::size_t>(sums_.parts());
  return widened(noise_quantile(sums_.measure, {spreads, terms}, tail));
}

Estimate Moments::count() const {
  const double count = std::max(std::round(sums_.rows()), 0.0);
  return {count, std::ceil(noise_of(1, 1, 1, kEstimateTail) - 0.5)};
}

// The weights of the parts are the control points of the value: lower, upper in degree 1 and lower,
// middle, upper in degree 2.
Estimate Moments::sum() const {
  const bool linear = sums_.degree == MomentsDegree::kMean;
  const double largest = largest_magnitude(lower_, upper_);
  const double first = lower_ / largest;
  const double second = linear ? upper_ / largest : (lower_ + width_ / 2) / largest;
  const double third = linear ? 0 : upper_ / largest;
  const double noisy = first * sums_.part[0] + second * sums_.part[1] + third * sums_.part[2];
  const double rows = std::max(sums_.rows() + noise_of(1, 1, 1, kCountTail), 0.0);
  const double noise = noise_of(first, second, third, kEstimateTail - kCountTail);
  return {finite(noisy * largest) + 0.0,
          finite(noise * largest + rows * (kHalfUnit * width_ + kRounding * largest))};
}

double Moments::scaled_mean() const {
  double all = 0;
  double weighted = 0;
  const double last = sums_.parts() - 1;
  for (int i = 0; i < sums_.parts(); ++i) {
    const double part = std::max(sums_.part[static_cast<std::size_t>(i)], 0.0);
    all += part;
    weighted += part * (i / last);
  }
  return all > 0 ? std::min(weighted / all, 1.0) : 0.5;
}

// From `reach` below an estimate to `reach` above estimate + shift, within 0 .. most. Noise may
// take the estimate so far out of this range that little or nothing of the interval would be left,
// as if the answer was certain. Then half of the reach is left.
Moments::Interval Moments::possible_interval(double estimate, double shift, double reach,
                                             double most) {
  const double low = std::min(estimate - reach, most - reach / 2);
  const double high = std::max(estimate + shift + reach, reach / 2);
  return {std::max(low, 0.0), std::min(high, most)};
}

double Moments::scaled_unclipped_mean() const {
  const bool linear = sums_.degree == MomentsDegree::kMean;
  return (linear ? sums_.part[1] : sums_.part[1] / 2 + sums_.part[2]) / sums_.rows();
}

// For the exact mean m, sum(y) - m n = 0. So the noisy sums give the noise with the weights of
// y - m. Its quantile grows with |m - 1/2|, and m is at most `error` farther from 1/2 than the
// released mean. Clipping parts at 0 may move the mean, so the interval is around the mean without
// clipping.
double Moments::scaled_mean_error(double tail, int steps) const {
  const double rows = sums_.rows();
  const double released = scaled_mean();
  const double most = farther_end(released, 0, 1);
  if (!(rows > 0)) return most;
  const bool linear = sums_.degree == MomentsDegree::kMean;
  const double unclipped = scaled_unclipped_mean();
  double error = std::numeric_limits<double>::infinity();
  for (int step = 0; step < steps; ++step) {
    const double mean = std::min(0.5 + std::abs(unclipped - 0.5) + error, 1.0);
    const double noise =
        linear ? noise_of(mean, 1 - mean, 0, tail) : noise_of(mean, mean - 0.5, 1 - mean, tail);
    const double next = noise / rows;
    const bool last = !(next < kShrinks * error);
    error = std::min(error, next);
    if (last) break;
  }
  const auto [low, high] = possible_interval(unclipped, 0, error, 1);
  return std::min(farther_end(released, low, high), most) + kHalfUnit;
}

double Moments::mean_value() const {
  return std::clamp(lower_ + width_ * scaled_mean(), lower_, upper_) + 0.0;
}

Estimate Moments::with_error(double scaled_error) const {
  const double mean = mean_value();
  const double error = scaled_error + kRounding;
  const double rounding = std::abs(mean) * kLastRounding;
  return {mean, std::min(error * width_ + rounding, kWholeRange * width_)};
}

Estimate Moments::mean() const {
  return with_error(scaled_mean_error(kEstimateTail, kSteps));
}

// The first step of scaled_mean_error(): for a mean at a bound.
Estimate Moments::mean_at_most() const {
  const double released = scaled_mean();
  double error = farther_end(released, 0, 1);
  if (sums_.rows() > 0) {
    const bool linear = sums_.degree == MomentsDegree::kMean;
    const double noise = noise_of(1, linear ? 0 : 0.5, 0, kEstimateTail) / sums_.rows();
    error = std::min(error, std::abs(released - scaled_unclipped_mean()) + noise);
  }
  return with_error(error + kHalfUnit);
}

// B0 B2 - B1^2 / 4 = n sum(y^2) - sum(y)^2.
double Moments::scaled_variance() const {
  const double low = std::max(sums_.part[0], 0.0);
  const double middle = std::max(sums_.part[1], 0.0);
  const double high = std::max(sums_.part[2], 0.0);
  const double all = low + middle + high;
  if (!(all > 0)) return 0;
  const double variance = (low / all) * (high / all) - (middle / all) * (middle / all) / 4;
  return std::clamp(variance, 0.0, kLargestVariance);
}

// For the exact mean m and variance v, sum((y - m)^2 - v) = 0. So the noisy sums give the noise
// with the weights of (y - m)^2 - v, whose control points are m^2 - v, -m (1 - m) - v and
// (1 - m)^2 - v. Divided by the noisy count it is (unclipped variance) + (mean's error)^2 - v.
Moments::Interval Moments::scaled_variance_interval(double variance_tail, int steps) const {
  const double rows = sums_.rows();
  if (!(rows > 0)) return {0, kLargestVariance};
  const double mean = (sums_.part[1] / 2 + sums_.part[2]) / rows;
  const double variance = sums_.part[2] / rows - mean * mean;
  const double reach = scaled_mean_error(kMeanTail, steps) + std::abs(scaled_mean() - mean);
  const double mean_low = std::clamp(mean - reach, 0.0, 1.0);
  const double mean_high = std::clamp(mean + reach, 0.0, 1.0);
  const double nearest_half = std::clamp(0.5, mean_low, mean_high);
  const double shift =
      std::max((mean - mean_low) * (mean - mean_low), (mean - mean_high) * (mean - mean_high));
  Interval interval{0, kLargestVariance};
  for (int step = 0; step < steps; ++step) {
    const double first = largest_magnitude(mean_low * mean_low - interval.high,
                                           mean_high * mean_high - interval.low);
    const double second = nearest_half * (1 - nearest_half) + interval.high;
    const double third = largest_magnitude((1 - mean_low) * (1 - mean_low) - interval.low,
                                           (1 - mean_high) * (1 - mean_high) - interval.high);
    const double noise = noise_of(first, second, third, variance_tail) / rows + 2 * kHalfUnit;
    const Interval possible = possible_interval(variance, shift, noise, kLargestVariance);
    const Interval next{std::clamp(possible.low, interval.low, interval.high),
                        std::clamp(possible.high, interval.low, interval.high)};
    const bool last = !(next.high - next.low < kShrinks * (interval.high - interval.low));
    interval = next;
    if (last) break;
  }
  return interval;
}

double Moments::variance_value() const {
  return width_ * width_ * scaled_variance();
}

double Moments::stddev_value() const {
  return width_ * std::sqrt(scaled_variance());
}

Moments::Spread Moments::spread(int steps) const {
  const double variance = scaled_variance();
  const auto [low, high] = scaled_variance_interval(kVarianceTail, steps);
  const double of_variance = farther_end(variance, low, high) + kRounding;
  const double of_stddev =
      farther_end(std::sqrt(variance), std::sqrt(low), std::sqrt(high)) + kRounding;
  return {{variance_value(), width_ * width_ * std::min(of_variance, kLargestVariance)},
          {stddev_value(), width_ * std::min(of_stddev, kLargestStddev)}};
}

namespace {

double sample_factor(double count) {
  const double rows = std::max(count, 2.0);
  return rows / (rows - 1);
}

}  // namespace

Moments::Interval Moments::sample_factors() const {
  const double noise = noise_of(1, 1, 1, kCountTail);
  return {sample_factor(sums_.rows() + noise), sample_factor(sums_.rows() - noise)};
}

double Moments::scaled_sample_variance() const {
  return scaled_variance() * sample_factor(sums_.rows());
}

double Moments::sample_variance_value() const {
  return width_ * width_ * scaled_sample_variance();
}

double Moments::sample_stddev_value() const {
  return width_ * std::sqrt(scaled_sample_variance());
}

Moments::Spread Moments::sample_spread(int steps) const {
  const double variance = scaled_sample_variance();
  const double stddev = std::sqrt(variance);
  const auto [low, high] = scaled_variance_interval(kSampleVarianceTail, steps);
  const auto [least, most] = sample_factors();
  const double square = width_ * width_;
  const double of_variance = farther_end(variance, low * least, high * most) + kRounding;
  const double of_stddev =
      farther_end(stddev, std::sqrt(low * least), std::sqrt(high * most)) + kRounding;
  return {{sample_variance_value(), square * std::min(of_variance, 2 * kLargestVariance)},
          {sample_stddev_value(), width_ * std::min(of_stddev, std::sqrt(2 * kLargestVariance))}};
}

Moments::Spread Moments::spread() const {
  return spread(kSteps);
}

Moments::Spread Moments::sample_spread() const {
  return sample_spread(kSteps);
}

Moments::Spread Moments::spread_at_most() const {
  return spread(kAtOnce);
}

Moments::Spread Moments::sample_spread_at_most() const {
  return sample_spread(kAtOnce);
}

Moments release_moments(const ValueSums& values, const FixedPoint& bounds, MomentsDegree degree,
                        const PrivacyParameter& privacy, RandomStream& random) {
  if (degree == MomentsDegree::kVariance) bounds.check_variance_representable();
  return {release_bernstein_sums(values, degree, privacy, random), bounds};
}

}  // namespace dpquantile
