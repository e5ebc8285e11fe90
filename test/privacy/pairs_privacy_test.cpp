#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "core/moments/bernstein_pairs.hpp"
#include "support/case_name.hpp"
#include "support/claim.hpp"
#include "support/context_testing.hpp"
#include "support/privacy_loss.hpp"

// Tries to refute that the noisy sums of products of two values are epsilon-differentially private,
// or rho-zCDP, for adding or removing one row. The checks must also refute them with twice the
// claimed epsilon, or four times the rho, which is half the noise. A false alarm has a probability
// of at most kFalseAlarm for each case.
namespace dpquantile {
namespace {

using test::case_name;
using test::certain_delta;
using test::Claim;
using test::claim_of;
using test::kFalseAlarm;
using test::Sample;
using test::take_sample;
using test::TestContext;

constexpr int kDraws = 30'000;
constexpr std::uint32_t kOne = FixedPoint::kOne;
constexpr PairDegrees kFirst{MomentsDegree::kMean, MomentsDegree::kMean};
constexpr PairDegrees kSecond{MomentsDegree::kVariance, MomentsDegree::kVariance};

using Row = std::pair<std::uint32_t, std::uint32_t>;

struct Neighbours {
  std::string name;
  PairDegrees degrees;
  std::vector<Row> others;
  Row added;
  PrivacyParameter privacy;
};

void PrintTo(const Neighbours& neighbours, std::ostream* out) {
  *out << neighbours.name;
}

PairSums sums_of(const std::vector<Row>& rows) {
  PairSums sums;
  for (const auto& [value, x] : rows) sums.add(value, x);
  return sums;
}

class PairsRelease : public ::testing::TestWithParam<Neighbours> {
 protected:
  // How far the noisy sums lie in the direction of the change, in steps of a quarter of its length:
  // what tells neighbours apart best.
  std::size_t outcome_of(const NoisyPairSums& noisy) const {
    double along = 0;
    double length = 0;
    for (std::size_t k = 0; k < kPairWeights; ++k) {
      const double change = change_[k] * stretch_[k];
      along += (noisy.part[k] - without_[k]) * stretch_[k] * change;
      length += change * change;
    }
    const double steps = std::clamp(std::round(4 * along / length), -1.0 * kReach, 1.0 * kReach);
    return static_cast<std::size_t>(steps + kReach);
  }

  Sample sample(const PairSums& sums, const PrivacyParameter& spent) {
    return take_sample(2 * kReach + 1, kDraws, [&] {
      return outcome_of(release_pair_sums(sums, GetParam().degrees, spent, context_.random));
    });
  }

  // By how much the bound on delta exceeds the claim, for releases that spend `spent`.
  double excess_when_spending(const PrivacyParameter& spent) {
    const auto& [name, degrees, others, added, privacy] = GetParam();
    std::vector<Row> larger = others;
    larger.push_back(added);
    const PairUnits units = pair_units(degrees, privacy);
    const auto before = pair_sums(sums_of(others), units);
    const auto after = pair_sums(sums_of(larger), units);
    for (std::size_t k = 0; k < kPairWeights; ++k) {
      const bool of_x = degrees.x == MomentsDegree::kVariance && k / 3 == 1;
      const bool of_value = degrees.value == MomentsDegree::kVariance && k % 3 == 1;
      stretch_[k] = units.stretched ? (of_x ? 239.0 / 128 : 1) * (of_value ? 239.0 / 128 : 1) : 1;
      const double one = std::ldexp(1, -units.bits) / stretch_[k];
      without_[k] = static_cast<double>(before[k]) * one;
      change_[k] = static_cast<double>(after[k]) * one - without_[k];
    }
    const Claim claim = claim_of(privacy);
    return certain_delta(sample(sums_of(others), spent), sample(sums_of(larger), spent),
                         claim.epsilon, kFalseAlarm) -
           claim.delta;
  }

 private:
  static constexpr int kReach = 40;

  TestContext context_;
  double without_[kPairWeights] = {};
  double change_[kPairWeights] = {};
  double stretch_[kPairWeights] = {};
};

TEST_P(PairsRelease, KeepsItsGuarantee) {
  EXPECT_LE(excess_when_spending(GetParam().privacy), 0);
}

TEST_P(PairsRelease, WouldNotKeepItWithHalfTheNoise) {
  PrivacyParameter spent = GetParam().privacy;
  spent.value *= spent.measure == PrivacyMeasure::kPure ? 2 : 4;
  EXPECT_GT(excess_when_spending(spent), 0);
}

const std::vector<Row> kSome = {{0, 0}, {kOne / 2, kOne / 4}, {kOne, 0}, {kOne, kOne}};

const std::vector<Neighbours> kCases = {
    {"CornerOfFour", kFirst, kSome, {kOne, kOne}, pure(1)},
    {"CornerOfNine", kSecond, {}, {kOne, 0}, pure(2)},
    {"MiddleOfNineUnderRho", kSecond, kSome, {kOne / 2, kOne / 2}, zcdp(0.5)},
};

INSTANTIATE_TEST_SUITE_P(All, PairsRelease, ::testing::ValuesIn(kCases), case_name);

}  // namespace
}  // namespace dpquantile
