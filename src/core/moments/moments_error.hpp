#pragma once

#include <optional>

#include "core/moments/bernstein_sums.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

// The mean absolute errors on the worst data, in the units of the values: bounds on those of other
// data. They depend on public parameters only: the forecast reads no data and needs no charge.
struct MomentsError {
  double count;
  double sum;
  double mean;
  // For degree 2 only.
  std::optional<double> variance;
  std::optional<double> stddev;
  std::optional<double> sample_variance;
  std::optional<double> sample_stddev;
};

// The errors of Moments of this degree for the worst data with `rows` rows within the bounds.
//
// Those of count and sum are the same for all data (a count is rounded, which is included; that it
// is never below 0 makes the error of a count near the noise smaller). Mean and variance are to
// first order in noise / rows, at most the whole range: the formulas hold once `rows` is some ten
// times the noise. The worst data for them are those whose values all lie at one bound. The
// standard deviation is worst for data of hardly any spread, where its error falls only with the
// square root of the rows. Data of standard deviation s have an error of at most variance / (2 s)
// instead, to first order. The sample statistics are those of at least 2 rows.
//
// Throws ParameterError as check_privacy_parameter() does, and unless rows >= 1. Requires
// lower < upper, both finite.
MomentsError moments_expected_error(double rows, MomentsDegree degree,
                                    const PrivacyParameter& privacy, double lower, double upper);

}  // namespace dpquantile
