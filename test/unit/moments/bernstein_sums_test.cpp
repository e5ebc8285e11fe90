#include "core/moments/bernstein_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/privacy/integer_noise.hpp"

namespace dpquantile {
namespace {

constexpr MomentsDegree kMean = MomentsDegree::kMean;
constexpr MomentsDegree kVariance = MomentsDegree::kVariance;
constexpr std::uint32_t kOne = FixedPoint::kOne;

const std::vector<PrivacyParameter> kGuarantees = {pure(1e-6), pure(1),     zcdp(1e-12),
                                                   zcdp(1e-4), zcdp(0.005), zcdp(1000)};

ValueSums sums_of(const std::vector<std::uint32_t>& rows) {
  ValueSums sums;
  for (const std::uint32_t row : rows) sums.add(row);
  return sums;
}

double as_double(uint128_t value) {
  return static_cast<double>(value);
}

TEST(BernsteinSums, AreThePolynomialsOfTheValues) {
  const ValueSums sums = sums_of({0, kOne / 4, kOne / 2, kOne, kOne});
  const auto first = bernstein_sums(sums, bernstein_units(kMean, pure(1)));
  EXPECT_DOUBLE_EQ(std::ldexp(as_double(first[0]), -31), 5 - 2.75);
  EXPECT_DOUBLE_EQ(std::ldexp(as_double(first[1]), -31), 2.75);
  const auto second = bernstein_sums(sums, bernstein_units(kVariance, pure(1)));
  EXPECT_DOUBLE_EQ(std::ldexp(as_double(second[0]), -31), 1 + 0.5625 + 0.25);
  EXPECT_DOUBLE_EQ(std::ldexp(as_double(second[1]), -31), 0.375 + 0.5);
  EXPECT_DOUBLE_EQ(std::ldexp(as_double(second[2]), -31), 0.0625 + 0.25 + 2);
}

TEST(BernsteinSums, OfTwoToThe63RowsFit) {
  for (const std::uint32_t row : {0U, kOne / 2, kOne}) {
    ValueSums sums = sums_of({row});
    for (int i = 0; i < 63; ++i) sums.add(ValueSums(sums));
    for (const PrivacyParameter& privacy : {pure(1), zcdp(1000)}) {
      const BernsteinUnits units = bernstein_units(kVariance, privacy);
      const auto parts = bernstein_sums(sums, units);
      const double y = static_cast<double>(row) / kOne;
      const double c = units.stretched ? 239.0 / 128 : 1;
      const double rows = std::ldexp(1, 63 + units.bits);
      EXPECT_DOUBLE_EQ(as_double(parts[0]), rows * (1 - y) * (1 - y));
      EXPECT_DOUBLE_EQ(as_double(parts[1]), rows * c * 2 * y * (1 - y));
      EXPECT_DOUBLE_EQ(as_double(parts[2]), rows * y * y);
    }
  }
}

struct Change {
  double l1 = 0;
  double l2 = 0;
};

Change change_of(const ValueSums& others, std::uint32_t row, const BernsteinUnits& units) {
  ValueSums larger = others;
  larger.add(row);
  const auto before = bernstein_sums(others, units);
  const auto after = bernstein_sums(larger, units);
  Change change;
  for (std::size_t i = 0; i < kMostBernsteinParts; ++i) {
    const double difference = as_double(after[i]) - as_double(before[i]);
    change.l1 += std::abs(difference);
    change.l2 = std::hypot(change.l2, difference);
  }
  return change;
}

// The values where a norm may be largest: both ends, the middle, and what rounds badly.
std::vector<std::uint32_t> rows_to_add() {
  std::vector<std::uint32_t> rows = {0, 1, kOne / 2 - 1, kOne / 2, kOne - 1, kOne};
  for (std::uint32_t i = 1; i < 1000; ++i) rows.push_back(i * 2'147'483U);
  return rows;
}

TEST(BernsteinSums, ChangeByAtMostTheirSensitivityAndReachIt) {
  const std::vector<ValueSums> data = {sums_of({}), sums_of({7, kOne / 3, kOne - 5}),
                                       sums_of({1, 1, 1, kOne / 2 + 1})};
  for (const PrivacyParameter& privacy : kGuarantees) {
    for (const MomentsDegree degree : {kMean, kVariance}) {
      const BernsteinUnits units = bernstein_units(degree, privacy);
      const bool zcdp = privacy.measure == PrivacyMeasure::kZcdp;
      double most = 0;
      for (const ValueSums& others : data) {
        for (const std::uint32_t row : rows_to_add()) {
          const Change change = change_of(others, row, units);
          most = std::max(most, zcdp ? change.l2 : change.l1);
        }
      }
      EXPECT_LE(most, static_cast<double>(units.sensitivity));
      EXPECT_GE(most, static_cast<double>(units.sensitivity) - 4);
    }
  }
}

// A stretch of 15/8 would be too much: the test above sees the norm at the middle value exceed 1.
TEST(BernsteinSums, AreStretchedAlmostAsFarAsTheNormAllows) {
  const double stretch =
      static_cast<double>(kMiddleStretchNumerator) / static_cast<double>(kMiddleStretchDenominator);
  EXPECT_LE(stretch * stretch, 3.5);
  EXPECT_GT(stretch * stretch, 3.48);
  EXPECT_TRUE(bernstein_units(kVariance, zcdp(1)).stretched);
  EXPECT_FALSE(bernstein_units(kVariance, pure(1)).stretched);
  EXPECT_FALSE(bernstein_units(kMean, zcdp(1)).stretched);
}

TEST(BernsteinSums, HaveUnitsThatTheSamplersTake) {
  for (const PrivacyParameter& privacy : kGuarantees) {
    for (const MomentsDegree degree : {kMean, kVariance}) {
      const BernsteinUnits units = bernstein_units(degree, privacy);
      EXPECT_NO_THROW(IntegerNoise(privacy, units.sensitivity));
      EXPECT_GE(units.bits, 10);
    }
  }
}

}  // namespace
}  // namespace dpquantile
