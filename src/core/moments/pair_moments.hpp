#pragma once

#include <optional>

#include "core/contributions/fixed_point.hpp"
#include "core/moments/bernstein_pairs.hpp"
#include "core/privacy/privacy_parameter.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// The degrees that the statistics below need.
inline constexpr PairDegrees kDegreesOfCovariance{MomentsDegree::kMean, MomentsDegree::kMean};
inline constexpr PairDegrees kDegreesOfSlope{MomentsDegree::kMean, MomentsDegree::kVariance};
inline constexpr PairDegrees kDegreesOfCorrelation{MomentsDegree::kVariance,
                                                   MomentsDegree::kVariance};

// Covariance, correlation and the least-squares line of values within public bounds, read off noisy
// sums of products. Everything here is post-processing and costs no privacy. The exact statistics
// are those of the values clamped to the bounds.
//
// Every answer is one that is possible: the covariance within a quarter of the product of the
// widths, that of a sample within half of it, the correlation within -1 .. 1, and the slope such
// that the line explains no more than the largest variance of values with their mean. Noisy sums
// below 0 count as 0. A statistic that is divided by a variance is none if that variance is not
// above 0 in the noisy sums, whatever it is in the rows.
class PairMoments {
 public:
  // The bounds are those of the PairSums. Requires what check_pair_bounds() accepts.
  PairMoments(const NoisyPairSums& sums, const FixedPoint& value, const FixedPoint& x);

  double covariance() const;
  // The covariance times n / (n - 1), where a count below 2 counts as 2.
  double sample_covariance() const;

  // About how far the covariance is off in 95 of 100 answers, as a part of it: two standard
  // deviations of its noise, to first order in noise / rows, with the weights that the noisy sums
  // tell. Infinite without rows.
  double error_of_covariance() const;

  // These need the sums of x with degree 2.
  std::optional<double> slope() const;
  std::optional<double> intercept() const;  // of the line at x = 0

  // These need the sums of x and of the value with degree 2.
  std::optional<double> correlation() const;
  std::optional<double> determination() const;  // the square of the correlation

 private:
  double scaled_slope() const;

  FixedPoint value_;
  FixedPoint x_;
  double rows_;
  double noise_;  // the standard deviation of the noise of rows * covariance
  // In units of the widths:
  double mean_of_value_;
  double mean_of_x_;
  double covariance_;
  double variance_of_value_;
  double variance_of_x_;
};

// Throws ParameterError unless the product and the quotient of the widths are normal numbers.
void check_pair_bounds(const FixedPoint& value, const FixedPoint& x);

// Privacy: epsilon-differentially private or rho-zCDP, by the measure, for adding or removing one
// row. `sums` has the value_units() of the bounds. Throws ParameterError (privacy, bounds),
// RandomnessUnavailable, and std::overflow_error as the samplers do.
PairMoments release_pair_moments(const PairSums& sums, const FixedPoint& value, const FixedPoint& x,
                                 const PairDegrees& degrees, const PrivacyParameter& privacy,
                                 RandomStream& random);

// A bound on the mean absolute error of a covariance, or of that of a sample, on the worst data
// with `rows` rows, in the products of both values. It is to first order in noise / rows, at most
// the whole range. It depends on public parameters only: the forecast reads no data and needs no
// charge. Throws ParameterError as moments_expected_error() does.
struct CovarianceError {
  double covariance;
  double sample_covariance;
};
CovarianceError covariance_expected_error(double rows, const PrivacyParameter& privacy,
                                          const FixedPoint& value, const FixedPoint& x);

}  // namespace dpquantile
