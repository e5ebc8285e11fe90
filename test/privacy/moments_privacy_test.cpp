#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "core/moments/bernstein_sums.hpp"
#include "core/moments/noisy_count.hpp"
#include "core/moments/noisy_sum.hpp"
#include "support/case_name.hpp"
#include "support/claim.hpp"
#include "support/context_testing.hpp"
#include "support/privacy_loss.hpp"

// Tries to refute that noisy Bernstein sums, counts and sums are epsilon-differentially private, or
// rho-zCDP, for adding or removing one row. The checks must also refute each mechanism with twice
// the claimed epsilon, or four times the rho, which is half the noise.
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

using Rows = std::vector<double>;

enum class Released { degree_one, degree_two, count, sum };

struct Neighbours {
  std::string name;
  Released released;
  Rows others;
  double added;
  PrivacyParameter privacy;
};

void PrintTo(const Neighbours& neighbours, std::ostream* out) {
  *out << neighbours.name;
}

// The bounds of all values are -1 and 1.
ValueSums sums_of(const Rows& rows) {
  const FixedPoint bounds = FixedPoint::create(-1, 1);
  ValueSums sums;
  for (const double row : rows) sums.add(value_units(bounds, row));
  return sums;
}

ValueSums shifted_sums_of(const Rows& rows) {
  const SumScale scale = SumScale::create(-1, 1);
  ValueSums sums;
  for (const double row : rows) sums.add_shifted(scale.shifted_units(row));
  return sums;
}

// The sums that are released, without noise.
std::vector<double> exact_parts(Released released, const Rows& rows) {
  double count = 0;
  double sum = 0;
  double linear = 0;
  double square = 0;
  for (const double row : rows) {
    const double y = (row + 1) / 2;
    count += 1;
    sum += row;
    linear += y;
    square += y * y;
  }
  switch (released) {
    case Released::degree_one:
      return {count - linear, linear};
    case Released::degree_two:
      return {count - 2 * linear + square, 2 * (linear - square), square};
    case Released::count:
      return {count};
    default:
      return {sum};
  }
}

class MomentsRelease : public ::testing::TestWithParam<Neighbours> {
 protected:
  std::vector<double> draw(const ValueSums& sums, const PrivacyParameter& spent) {
    switch (GetParam().released) {
      case Released::count:
        return {static_cast<double>(release_count(sums.count, spent, context_.random).count)};
      case Released::sum:
        return {release_sum(sums, SumScale::create(-1, 1), spent, context_.random).value};
      default:
        const bool one = GetParam().released == Released::degree_one;
        const auto noisy = release_bernstein_sums(
            sums, one ? MomentsDegree::kMean : MomentsDegree::kVariance, spent, context_.random);
        return {noisy.part.begin(), noisy.part.begin() + noisy.parts()};
    }
  }

  // An outcome says of every part whether it is below where it would be without the added row,
  // above where it would be with it, or between; and how far the parts lie in the direction of the
  // change, in steps of one row.
  std::size_t outcome_of(const std::vector<double>& parts) const {
    std::size_t outcome = 0;
    double along = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double step = with_[i] - without_[i];
      const double low = std::min(without_[i], with_[i]);
      const double high = std::max(without_[i], with_[i]);
      outcome = 3 * outcome + (parts[i] <= low ? 0U : parts[i] >= high ? 2U : 1U);
      along += (parts[i] - without_[i]) * step;
    }
    const double steps = std::clamp(std::round(along), -1.0 * kReach, 1.0 * kReach);
    return outcome * (2 * kReach + 1) + static_cast<std::size_t>(steps + kReach);
  }

  Sample sample(const Rows& rows, const PrivacyParameter& spent) {
    const bool sum = GetParam().released == Released::sum;
    const ValueSums sums = sum ? shifted_sums_of(rows) : sums_of(rows);
    return take_sample(27 * (2 * kReach + 1), kDraws,
                       [&] { return outcome_of(draw(sums, spent)); });
  }

  // By how much the bound on delta exceeds the claim, for releases that spend `spent`.
  double excess_when_spending(const PrivacyParameter& spent) {
    const auto& [name, released, others, added, privacy] = GetParam();
    Rows larger = others;
    larger.push_back(added);
    without_ = exact_parts(released, others);
    with_ = exact_parts(released, larger);
    const Claim claim = claim_of(privacy);
    return certain_delta(sample(others, spent), sample(larger, spent), claim.epsilon, kFalseAlarm) -
           claim.delta;
  }

 private:
  static constexpr int kReach = 4;

  TestContext context_;
  std::vector<double> without_;
  std::vector<double> with_;
};

TEST_P(MomentsRelease, KeepsItsGuarantee) {
  EXPECT_LE(excess_when_spending(GetParam().privacy), 0);
}

TEST_P(MomentsRelease, WouldNotKeepItWithHalfTheNoise) {
  PrivacyParameter spent = GetParam().privacy;
  spent.value *= spent.measure == PrivacyMeasure::kPure ? 2 : 4;
  EXPECT_GT(excess_when_spending(spent), 0);
}

const Rows kSome = {-1, 0, 0.25, 1, 1};
const Rows kMany(300, 0.5);

const std::vector<Neighbours> kCases = {
    {"OneAtTheUpperBound", Released::degree_one, kSome, 1, pure(1)},
    {"OneAtTheLowerBoundOfMany", Released::degree_one, kMany, -1, pure(0.5)},
    {"OneInTheMiddle", Released::degree_one, kSome, 0, pure(1)},
    {"OneUnderRho", Released::degree_one, kSome, 1, zcdp(0.5)},
    {"TwoAtTheUpperBound", Released::degree_two, kSome, 1, pure(1)},
    {"TwoInTheMiddle", Released::degree_two, kSome, 0, pure(1)},
    {"TwoElsewhereOfMany", Released::degree_two, kMany, -0.4, pure(2)},
    {"TwoUnderRhoAtABound", Released::degree_two, kSome, -1, zcdp(0.5)},
    {"TwoUnderRhoInTheMiddle", Released::degree_two, kSome, 0, zcdp(0.5)},
    {"FirstRow", Released::degree_two, {}, 1, pure(1)},
    {"CountOfSome", Released::count, kSome, 0, pure(1)},
    {"CountOfNone", Released::count, {}, 0, pure(1)},
    {"CountUnderRho", Released::count, kMany, 0, zcdp(0.5)},
    {"SumUp", Released::sum, kSome, 1, pure(1)},
    {"SumDown", Released::sum, kMany, -1, pure(0.5)},
    {"SumUnderRho", Released::sum, kSome, 1, zcdp(0.5)},
};

INSTANTIATE_TEST_SUITE_P(All, MomentsRelease, ::testing::ValuesIn(kCases), case_name);

}  // namespace
}  // namespace dpquantile
