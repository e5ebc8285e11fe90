#pragma once

#include "core/moments/bernstein_sums.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// A released number, and how far off it may be: the exact statistic lies within `error` of `value`
// with a probability of at least 95 %. Both are finite, and functions of released numbers and
// public parameters.
struct Estimate {
  double value;
  double error;
};

inline constexpr double kEstimateTail = 0.05;

// Count, sum, mean, variance and standard deviation of values within public bounds, read off noisy
// Bernstein sums. Everything here is post-processing and costs no privacy. The exact statistics are
// those of the values clamped to the bounds.
//
// Every answer but the sum is one that is possible: the count at least 0, the mean within the
// bounds, the variance within 0 .. width^2 / 4, the sample variance within 0 .. width^2 / 2. A
// noisy sum of parts below 0 counts as 0 in a mean or variance. If all of them are 0, the mean is
// the middle of the bounds and the variance 0. If the noisy count is too small for its noise, the
// error is the whole possible range. The sum keeps its noise whatever its sign, so that the sums of
// several groups add up to one without bias.
//
// The errors hold for every number of rows and all values (docs/privacy.md, "Errors of moments").
// Each is for its own statistic: that two hold at once has a probability of at least 90 %.
class Moments {
 public:
  // The bounds are those of the ValueSums. Throws ParameterError unless (upper - lower)^2 is a
  // normal number, for degree 2.
  Moments(const NoisyBernsteinSums& sums, const FixedPoint& bounds);

  Estimate count() const;  // a whole number
  Estimate sum() const;
  Estimate mean() const;
  // The same with a larger error, up to twice that where no part is below 0, which is found at
  // once.
  Estimate mean_at_most() const;

  // For degree 2 only. The sample variance is the variance times n / (n - 1), where a count below 2
  // counts as 2. Its error is for data of at least 2 rows.
  Estimate variance() const { return spread().variance; }
  Estimate sample_variance() const { return sample_spread().variance; }
  Estimate stddev() const { return spread().stddev; }
  Estimate sample_stddev() const { return sample_spread().stddev; }

  // Both. Their errors, which take most of the time, follow from one another.
  struct Spread {
    Estimate variance;
    Estimate stddev;
  };
  Spread spread() const;
  Spread sample_spread() const;
  // The same with larger errors, which are found at once.
  Spread spread_at_most() const;
  Spread sample_spread_at_most() const;

  // The values of these estimates alone: finding an error takes far longer.
  double mean_value() const;
  double variance_value() const;
  double sample_variance_value() const;
  double stddev_value() const;
  double sample_stddev_value() const;

 private:
  struct Interval {
    double low;
    double high;
  };

  static Interval possible_interval(double estimate, double shift, double reach, double most);
  double scaled_mean() const;
  double scaled_unclipped_mean() const;
  Estimate with_error(double scaled_error) const;
  double scaled_variance() const;
  double scaled_sample_variance() const;
  double scaled_mean_error(double tail, int steps) const;
  Interval scaled_variance_interval(double variance_tail, int steps) const;
  Spread spread(int steps) const;
  Spread sample_spread(int steps) const;
  Interval sample_factors() const;
  double noise_of(double first, double second, double third, double tail) const;

  NoisyBernsteinSums sums_;
  double lower_;
  double upper_;
  double width_;
};

// Privacy: epsilon-differentially private or rho-zCDP, by the measure, for adding or removing one
// row. `values` has the value_units() of the bounds. Throws ParameterError (privacy; for degree 2
// also the bounds), RandomnessUnavailable, and std::overflow_error as the samplers do.
Moments release_moments(const ValueSums& values, const FixedPoint& bounds, MomentsDegree degree,
                        const PrivacyParameter& privacy, RandomStream& random);

}  // namespace dpquantile
