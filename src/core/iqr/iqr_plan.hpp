#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/iqr/log_grid.hpp"
#include "core/privacy/noise.hpp"

// How the interquartile range by propose-test-release divides its budget, on which scales it is
// tried, and what that means for the number of records and the error. All of it is a function of
// the parameters and a private count. Proofs: docs/privacy.md, "Interquartile range".
namespace dpquantile {

inline constexpr double kMinIqrDelta = 1e-300;
inline constexpr double kMaxIqrDelta = 0.5;

// Throws ParameterError unless kMinIqrDelta <= delta <= kMaxIqrDelta.
void check_iqr_delta(double delta);

// The count of the records gets epsilon / kIqrCountShare. It only sets the scales: 64/epsilon
// records more or fewer, where it takes thousands/epsilon for an answer and ten times as many for
// one on the finer scale, change these by about a hundredth or less; so a larger share would do
// more harm to the test and the release than it helps. With a much smaller one the count of too few
// records might be taken for almost none, on whose wide grid anything is stable.
inline constexpr std::uint64_t kIqrCountShare = 64;

// One stage: the interquartile range is released on `grid` with what `release` may spend if the
// test, which spends `test`, finds it stable there.
struct IqrStage {
  LogGrid grid{LogGrid::kMinCount};
  Rational test{};
  std::int64_t margin = 0;  // T, in records: the test asks for a noisy distance above 1 + T
  Rational release{};
};

// The epsilon of the private count.
Rational iqr_count_epsilon(double epsilon);

// The least integer T >= 0 which the test's noise exceeds with probability at most delta (up to
// rounding, which can only make T larger). Requires 0 < delta < 1.
std::int64_t iqr_test_margin(Rational test, double delta);

// The stages for a private count: the next one is tried if the test of the one before fails.
//
// The last is on the scale of Dwork and Lei 2009, whose unit ln(1 + 1/ln(count)) falls so slowly
// that ten times the records hardly improve an answer. But the test needs only so many records,
// whatever their number; so where there are many, an interquartile range is stable on a far finer
// scale. The first stage is there: with the unit for which well-behaved data (iqr_min_records) need
// a third of the count, if that is at most half of the paper's unit. Its test gets a third of what
// the count leaves, and its release all the rest. Data that fail there because of their ties or
// gaps are still answered on the paper's scale, with half of that rest for either part.
//
// Privacy: never more than epsilon in all, whichever attempt succeeds, and half of delta for each
// of two stages (Theorem 11).
class IqrPlan {
 public:
  // Throws ParameterError (epsilon, delta). Requires count >= LogGrid::kMinCount.
  IqrPlan(std::uint64_t count, double epsilon, double delta);

  std::span<const IqrStage> stages() const { return {stages_.data(), stage_count_}; }

 private:
  std::array<IqrStage, 2> stages_;
  std::size_t stage_count_ = 0;
};

// How many records it takes for interquartile_range to answer with a probability of at least 19/20,
// whatever the scale of the data, if these are independent draws from a well-behaved density: a
// normal, uniform, Laplace or exponential one, or any other that is no thinner around its
// quartiles. From public parameters alone, so it costs no budget. Throws ParameterError (epsilon,
// delta).
//
// Reasoning. In one of the discretisations ln(IQR) is at least 7/16 w from both ends of its bin, w
// = ln(1 + 1/ln m). So the interquartile range must change by a factor e^(7w/16) for the bin to be
// left. Of the four distributions the exponential one is the thinnest around a quartile: replacing
// t n records moves its upper quartile, at ln 4, by -ln(1 - 4t) and its interquartile range is
// ln 3. So it takes about a = t n records with
//
//   t = (1 - 3^-(e^(7w/16) - 1)) / 4,
//
// and a sample's number of records in a stretch that expects a of them has a standard deviation of
// at most sqrt(a), the test's noise one of at most s = sqrt(2)/(its epsilon). The answer is the
// least n for which the noisy distance is above 1 + T even if it is two standard deviations of the
// sum, sqrt(a + s^2), too small, and the private count m four scales of its noise too large: for a
// normal deviation the probability of the former is 1/44, for a Laplace one 1/34, of the latter
// 1/109.
std::uint64_t iqr_min_records(double epsilon, double delta);

// The relative error that 19 of 20 answers keep, for so many records, if these are well-behaved as
// for iqr_min_records: such an answer is at most 1 + this times too large or too small. Nothing for
// fewer records than these, which are hardly ever answered. It allows for a private count that is
// six scales of its noise too small, which may miss the finer scale. From public parameters alone,
// so it costs no budget. Throws ParameterError (epsilon, delta, or records not at least 1).
std::optional<double> iqr_expected_error(double epsilon, double delta, double records);

}  // namespace dpquantile
