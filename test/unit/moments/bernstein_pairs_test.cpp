#include "core/moments/bernstein_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/privacy/integer_noise.hpp"

namespace dpquantile {
namespace {

constexpr MomentsDegree kOneDegree = MomentsDegree::kMean;
constexpr MomentsDegree kTwo = MomentsDegree::kVariance;
constexpr std::uint32_t kOne = FixedPoint::kOne;

const std::vector<PairDegrees> kDegrees = {
    {kOneDegree, kOneDegree}, {kOneDegree, kTwo}, {kTwo, kOneDegree}, {kTwo, kTwo}};
const std::vector<PrivacyParameter> kGuarantees = {pure(1e-6), pure(1),     zcdp(1e-12),
                                                   zcdp(1e-4), zcdp(0.005), zcdp(1000)};

using Row = std::pair<std::uint32_t, std::uint32_t>;

PairSums sums_of(const std::vector<Row>& rows) {
  PairSums sums;
  for (const auto& [value, x] : rows) sums.add(value, x);
  return sums;
}

double as_double(uint128_t value) {
  return static_cast<double>(value);
}

double weight(MomentsDegree degree, std::size_t i, double y) {
  if (degree == kOneDegree) return i == 0 ? 1 - y : i == 1 ? y : 0;
  return i == 0 ? (1 - y) * (1 - y) : i == 1 ? 2 * y * (1 - y) : y * y;
}

// What rounds badly, both ends and the middle.
std::vector<Row> rows_to_add() {
  const std::vector<std::uint32_t> numbers = {0,    1,        kOne / 3, kOne / 2,    kOne - 1,
                                              kOne, kOne / 4, 12345,    kOne / 2 - 1};
  std::vector<Row> rows;
  for (const std::uint32_t value : numbers) {
    for (const std::uint32_t x : numbers) rows.emplace_back(value, x);
  }
  for (std::uint32_t i = 1; i < 40; ++i) {
    for (std::uint32_t j = 1; j < 40; ++j) rows.emplace_back(i * 53'687'091U, j * 53'687'091U + 7U);
  }
  return rows;
}

TEST(PairSums, AreNotNegativeAndAddUpToOneForEachRow) {
  for (const Row& row : rows_to_add()) {
    const PairSums sums = sums_of({row});
    EXPECT_TRUE(sums.are_possible());
    for (const WideSum& part : sums.parts) EXPECT_LE(part.value(), uint128_t{kOne});
  }
}

TEST(PairSums, OfStatesThatNobodyMadeAreRefused) {
  PairSums sums = sums_of({{5, 7}, {kOne, 9}});
  ++sums.count;
  EXPECT_FALSE(sums.are_possible());
  sums.parts[4].add(kOne);
  EXPECT_TRUE(sums.are_possible());
  sums.parts[4].add(WideSum{0, ~std::uint64_t{0}});
  EXPECT_FALSE(sums.are_possible());
}

TEST(PairSums, DoNotDependOnHowRowsAreDivided) {
  const std::vector<Row> rows = rows_to_add();
  const auto cut = rows.begin() + 700;
  PairSums first = sums_of({rows.begin(), cut});
  first.add(sums_of({cut, rows.end()}));
  EXPECT_EQ(first, sums_of(rows));
}

TEST(BernsteinPairs, AreProductsOfThePolynomialsOfBothValues) {
  const std::vector<Row> rows = {
      {0, kOne / 4}, {kOne / 2, kOne}, {kOne, kOne}, {kOne / 8, kOne / 2}};
  for (const PairDegrees& degrees : kDegrees) {
    for (const PrivacyParameter& privacy : {pure(1), zcdp(1000)}) {
      const PairUnits units = pair_units(degrees, privacy);
      const auto parts = pair_sums(sums_of(rows), units);
      for (std::size_t k = 0; k < kPairWeights; ++k) {
        double expected = 0;
        for (const auto& [value, x] : rows) {
          expected += weight(degrees.x, k / 3, std::ldexp(x, -31)) *
                      weight(degrees.value, k % 3, std::ldexp(value, -31));
        }
        const bool middle_of_x = units.stretched && degrees.x == kTwo && k / 3 == 1;
        const bool middle_of_value = units.stretched && degrees.value == kTwo && k % 3 == 1;
        expected *= (middle_of_x ? 239.0 / 128 : 1) * (middle_of_value ? 239.0 / 128 : 1);
        EXPECT_NEAR(std::ldexp(as_double(parts[k]), -units.bits), expected,
                    std::ldexp(40, -units.bits));
      }
    }
  }
}

TEST(BernsteinPairs, OfTwoToThe62RowsFit) {
  for (const std::uint32_t row : {0U, kOne / 2, kOne}) {
    PairSums sums = sums_of({{row, row}});
    for (int i = 0; i < 62; ++i) sums.add(PairSums(sums));
    EXPECT_TRUE(sums.are_possible());
    for (const PairDegrees& degrees : kDegrees) {
      const PairUnits units = pair_units(degrees, pure(1));
      double all = 0;
      for (const uint128_t part : pair_sums(sums, units)) all += as_double(part);
      EXPECT_DOUBLE_EQ(all, std::ldexp(1, 62 + units.bits));
      const PairUnits stretched = pair_units(degrees, zcdp(1000));
      for (const uint128_t part : pair_sums(sums, stretched)) {
        EXPECT_LE(as_double(part), std::ldexp(1, 62 + stretched.bits));
      }
    }
  }
}

// The law that the noise is for, on rows that are hard for rounding.
TEST(BernsteinPairs, ChangeByAtMostTheirSensitivityAndReachIt) {
  const std::vector<PairSums> data = {sums_of({}), sums_of({{7, 1}, {kOne / 3, kOne - 5}}),
                                      sums_of({{1, 1}, {kOne / 2 + 1, 3}})};
  for (const PrivacyParameter& privacy : kGuarantees) {
    for (const PairDegrees& degrees : kDegrees) {
      const PairUnits units = pair_units(degrees, privacy);
      const bool is_zcdp = privacy.measure == PrivacyMeasure::kZcdp;
      double most = 0;
      for (const PairSums& others : data) {
        const auto before = pair_sums(others, units);
        for (const auto& [value, x] : rows_to_add()) {
          PairSums larger = others;
          larger.add(value, x);
          const auto after = pair_sums(larger, units);
          double norm = 0;
          for (std::size_t k = 0; k < kPairWeights; ++k) {
            const double change = as_double(after[k]) - as_double(before[k]);
            norm = is_zcdp ? std::hypot(norm, change) : norm + std::abs(change);
          }
          most = std::max(most, norm);
        }
      }
      EXPECT_LE(most, static_cast<double>(units.sensitivity));
      EXPECT_GE(most, static_cast<double>(units.sensitivity) - 16);
    }
  }
}

TEST(BernsteinPairs, HaveUnitsThatTheSamplersTake) {
  for (const PrivacyParameter& privacy : kGuarantees) {
    for (const PairDegrees& degrees : kDegrees) {
      const PairUnits units = pair_units(degrees, privacy);
      EXPECT_NO_THROW(IntegerNoise(privacy, units.sensitivity));
      EXPECT_GE(units.bits, 10);
    }
  }
}

}  // namespace
}  // namespace dpquantile
