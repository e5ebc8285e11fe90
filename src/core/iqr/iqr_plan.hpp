#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/iqr/log_grid.hpp"
#include "core/privacy/noise.hpp"
#include "core/privacy/privacy_cost.hpp"

// How the interquartile range by propose-test-release divides its budget, the scales on which it is
// tried, and the number of records and the error that follow. Everything is a function of the
// parameters and a private count. Proofs: docs/privacy.md, "Interquartile range".
namespace dpquantile {

inline constexpr double kMinIqrDelta = 1e-300;
inline constexpr double kMaxIqrDelta = 0.5;

// Throws ParameterError unless kMinIqrDelta <= delta <= kMaxIqrDelta.
void check_iqr_delta(double delta);

// The count of the records gets epsilon / kIqrCountDivisor. It only sets the scales. An answer
// needs thousands/epsilon records. An answer on the finer scale needs ten times as many.
// 64/epsilon records more or fewer change the scales by about a hundredth or less. So a smaller
// divisor would harm the test and the release more than it helps. With a much larger divisor the
// count of too few records might be taken for almost none, and anything is stable on the wide grid
// of such a count.
inline constexpr std::uint64_t kIqrCountDivisor = 64;

// One stage. Its test spends `test`. If the test finds the interquartile range stable on `grid`,
// the interquartile range is released there and the release spends `release`.
struct IqrStage {
  LogGrid grid{LogGrid::kMinCount};
  Rational test{};
  std::int64_t margin = 0;  // T, in records: the noisy distance must exceed 1 + T
  Rational release{};
};

// The epsilon of the private count. Throws ParameterError (epsilon).
Rational iqr_count_epsilon(double epsilon);

// The least integer T >= 0 that the test's noise exceeds with probability at most delta (up to
// rounding, which can only make T larger). Requires 0 < delta < 1.
std::int64_t iqr_test_margin(Rational test, double delta);

// The stages for a private count. Each stage is tried if the test of the one before fails.
//
// The last stage is on the scale of Dwork and Lei 2009. Its unit ln(1 + 1/ln(count)) falls so
// slowly that ten times the records hardly improve an answer. But the number of records that the
// test needs does not grow with the count. So if there are many records, an interquartile range is
// stable on a far finer scale, and the first stage uses it: with the unit for which well-behaved
// data (iqr_min_records) need a third of the count, if that is at most half of the paper's unit.
// Its test gets a third of what the count leaves, and its release all the rest. Data that fail this
// test because of ties or gaps are still answered on the paper's scale, with half of that rest for
// the test and half for the release.
//
// Privacy: never more than epsilon in all, whichever stage answers, and half of delta for each
// of two stages (Theorem 11). Its rho is that of iqr_cost().
class IqrPlan {
 public:
  // Throws ParameterError (epsilon, delta). Requires count >= LogGrid::kMinCount.
  IqrPlan(std::uint64_t count, double epsilon, double delta);

  std::span<const IqrStage> stages() const { return {stages_.data(), stage_count_}; }

 private:
  std::array<IqrStage, 2> stages_;
  std::size_t stage_count_ = 0;
};

// The rho of tests and releases on these stages: of the stage that costs most with all tests
// before it (Lemma 10b).
double rho_of_stages(std::span<const IqrStage> stages);

// What an interquartile range by propose-test-release costs: epsilon, delta, and the rho of the
// count and of the plan that costs most, whatever the count is (Theorem 11b). It is little more
// than half of that of any (epsilon, delta)-differentially private mechanism. Throws ParameterError
// (epsilon).
PrivacyCost iqr_cost(double epsilon, double delta);

// How many records interquartile_range needs to answer with a probability of at least 19/20, on any
// scale of the data, if the records are independent draws from a well-behaved density: a normal,
// uniform, Laplace or exponential one, or any other that is no thinner around its quartiles.
// Computed from public parameters alone, so it costs no budget. Throws ParameterError (epsilon,
// delta).
//
// Reasoning. In one of the discretisations ln(IQR) is at least 7/16 w from both ends of its bin,
// where w = ln(1 + 1/ln m). So the interquartile range must change by a factor e^(7w/16) to leave
// the bin. Of the four distributions the exponential one is the thinnest around a quartile:
// replacing t n records moves its upper quartile, at ln 4, by -ln(1 - 4t), and its interquartile
// range is ln 3. So leaving the bin takes about a = t n records with
//
//   t = (1 - 3^-(e^(7w/16) - 1)) / 4.
//
// A sample's number of records in a stretch that expects a of them has a standard deviation of at
// most sqrt(a), and the test's noise one of at most s = sqrt(2)/(its epsilon). The answer is the
// least n for which the noisy distance is above 1 + T even if it is two standard deviations of the
// sum, sqrt(a + s^2), too small and the private count m is four scales of its noise too large. The
// probability of the former is 1/44 for a normal deviation and 1/34 for a Laplace one, that of the
// latter is 1/109.
std::uint64_t iqr_min_records(double epsilon, double delta);

// The relative error that 19 of 20 answers keep to, for `records` well-behaved records (as for
// iqr_min_records): such an answer is too large or too small by a factor of at most 1 + this.
// Nothing for fewer records than iqr_min_records, which are hardly ever answered. It allows for a
// private count that is six scales of its noise too small, which may miss the finer scale. Computed
// from public parameters alone, so it costs no budget. Throws ParameterError (epsilon, delta, or
// records not at least 1).
std::optional<double> iqr_expected_error(double epsilon, double delta, double records);

}  // namespace dpquantile
