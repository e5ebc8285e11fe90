#include "core/noisy_histogram/learned_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/base/error.hpp"
#include "core/privacy/integer_noise.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::TestContext;

using Counts = std::vector<std::uint64_t>;
using Values = std::vector<double>;

constexpr OrdinalGrid kGrid(3, -123, 1024);
constexpr CountNoise kNoise{PrivacyMeasure::kPure, 1};

struct Repeated {
  std::size_t times;
  double value;
};

Values values_of(std::initializer_list<Repeated> groups) {
  Values values;
  for (const auto& [times, value] : groups) values.insert(values.end(), times, value);
  return values;
}

Counts counts_of(const Values& values) {
  Counts counts(kGrid.cells());
  for (const double value : values) ++counts[kGrid.cell_of(value)];
  return counts;
}

// What is found if all noise is 0.
std::optional<LearnedBounds> found_in(const Values& values) {
  const Counts counts = counts_of(values);
  const std::vector<std::int64_t> noisy(counts.begin(), counts.end());
  return bounds_of_noisy_counts(kGrid, noisy, kNoise, test::heap());
}

std::optional<LearnedBounds> learned(const Values& values, const PrivacyParameter& privacy) {
  TestContext context;
  return learn_bounds(kGrid, counts_of(values), privacy, context);
}

TEST(LearnedBounds, AreNoneWithoutEnoughRecordsInABlock) {
  EXPECT_FALSE(found_in({}));
  EXPECT_FALSE(found_in(values_of({{29, 5.0}})));
  EXPECT_EQ(found_in(values_of({{30, 5.0}})), (LearnedBounds{5, 5.5}));
  EXPECT_FALSE(learned({}, pure(1)));
}

TEST(LearnedBounds, ReachAsFarAsTheRecordsDo) {
  EXPECT_EQ(found_in(values_of({{100, 5.0}, {3, 5.9}})), (LearnedBounds{5, 6}));
  EXPECT_EQ(found_in(values_of({{100, 5.0}, {2, 5.9}})), (LearnedBounds{5, 5.5}));
  EXPECT_EQ(found_in(values_of({{100, -5.0}, {3, -5.9}})), (LearnedBounds{-6, -5}));
  EXPECT_EQ(found_in(values_of({{100, 1.0}, {50, -1.0}, {50, 1000.0}})),
            (LearnedBounds{-1.25, 1024}));
}

TEST(LearnedBounds, HaveNoDigitsThatOnlyTellHowCloseToZeroTheyAre) {
  EXPECT_EQ(found_in(values_of({{100, 1000.0}, {50, 1e-9}})), (LearnedBounds{0, 1024}));
  EXPECT_EQ(found_in(values_of({{100, 1000.0}, {50, -0.1}})), (LearnedBounds{-0.25, 1024}));
  EXPECT_EQ(found_in(values_of({{100, -1000.0}, {50, 3.1}})), (LearnedBounds{-1024, 3.25}));
}

TEST(LearnedBounds, EndAtZeroBesideFewRecordsThatAreHardlyBeyondIt) {
  EXPECT_EQ(found_in(values_of({{100, 1000.0}, {50, 0.0}, {29, -1e-37}})),
            (LearnedBounds{0, 1024}));
  EXPECT_EQ(found_in(values_of({{100, -1000.0}, {50, 0.0}, {29, 1e-37}})),
            (LearnedBounds{-1024, 0}));
  EXPECT_EQ(found_in(values_of({{100, 1000.0}, {50, 0.0}, {30, -1e-37}})),
            (LearnedBounds{-0.25, 1024}));
  EXPECT_EQ(found_in(values_of({{50, 1e6}, {100'000, -0.4}})), (LearnedBounds{-256, 0x1p20}));
  EXPECT_EQ(found_in(values_of({{50, -1e6}, {100'000, 0.4}})), (LearnedBounds{-0x1p20, 256}));
  // Too sparse for an octave, and more than noise makes of 64 cells.
  Values sparse = values_of({{100, 1e6}, {50, 0.0}});
  for (double octave = 0x1p-123; octave < 0x1p-115; octave *= 2) {
    for (int i = 0; i < 13; ++i) sparse.push_back(-octave * (1 + i / 13.0));
  }
  EXPECT_EQ(found_in(sparse), (LearnedBounds{-256, 0x1p20}));
}

TEST(LearnedBounds, AreNeverMinusZero) {
  const auto bounds = found_in(values_of({{100, -1000.0}, {50, -1e-30}}));
  ASSERT_TRUE(bounds);
  EXPECT_EQ(bounds->upper, 0);
  EXPECT_FALSE(std::signbit(bounds->upper));
}

// The farther, the surer.
TEST(LearnedBounds, LeaveOutFewRecordsThatAreFarAway) {
  EXPECT_EQ(found_in(values_of({{100, 5.0}, {4, 6.9}})), (LearnedBounds{5, 5.5}));
  EXPECT_EQ(found_in(values_of({{100, 5.0}, {6, 6.9}})), (LearnedBounds{5, 7}));
  EXPECT_EQ(found_in(values_of({{100, 5.0}, {29, 1e300}})), (LearnedBounds{5, 5.5}));
  const auto far = found_in(values_of({{100, 5.0}, {30, 1e300}}));
  ASSERT_TRUE(far);
  EXPECT_GE(far->upper, 1e300);
  EXPECT_EQ(far->lower, 0);
}

TEST(LearnedBounds, FindRecordsThatAreSpreadOverCells) {
  Values spread;
  for (double value = 32; value < 64; value += 0.25) spread.push_back(value);
  EXPECT_EQ(found_in(spread), (LearnedBounds{32, 64}));
}

// A column that is mostly 0: the other values are too sparse for any octave, and far from 0.
TEST(LearnedBounds, ReachRecordsThatAreSpreadOverManyOctaves) {
  Values spread = values_of({{700, 0.0}});
  for (double octave = 1; octave < 4096; octave *= 2) {
    for (int i = 0; i < 24; ++i) spread.push_back(octave * (1 + i / 24.0));
  }
  EXPECT_EQ(found_in(spread), (LearnedBounds{0, 4096}));
  for (double& value : spread) value = -value;
  EXPECT_EQ(found_in(spread), (LearnedBounds{-4096, 0}));
}

// Theorem 25d, with records in the place of noisy ones.
TEST(LearnedBounds, LeaveOutFewRecordsOfAnyBlock) {
  std::mt19937_64 random(1);
  const auto first = kGrid.cell_of(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::int64_t> noisy(kGrid.cells());
    noisy[kGrid.cell_of(0)] = 100;
    std::uniform_int_distribution<std::int64_t> count(0, i % 6);
    std::uniform_int_distribution<std::uint32_t> length(1, 400);
    for (std::uint32_t cell = length(random); cell > 0; --cell) noisy[first + cell] = count(random);
    const auto bounds = bounds_of_noisy_counts(kGrid, noisy, kNoise, test::heap());
    ASSERT_TRUE(bounds);
    const double most = noise_in_block(kWidestBlock, kFarLevel, kNoise);
    for (std::uint32_t begin = kGrid.cell_of(bounds->upper); begin < first + 400; ++begin) {
      std::int64_t outside = 0;
      for (int cell = 0; cell < kWidestBlock; ++cell) {
        outside += noisy[begin + static_cast<std::uint32_t>(cell)];
      }
      ASSERT_LT(static_cast<double>(outside), most);
    }
  }
}

TEST(LearnedBounds, HoldForValuesOfAnySize) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  for (const double value :
       {0.0, 4.9e-324, -4.9e-324, 1e-310, 1e-200, 1.0, -1e200, kLargest, -kLargest}) {
    for (const PrivacyParameter& privacy : {pure(1), zcdp(0.5)}) {
      const auto bounds = learned(values_of({{1000, value}}), privacy);
      ASSERT_TRUE(bounds) << value;
      EXPECT_LT(bounds->lower, bounds->upper);
      EXPECT_LE(bounds->lower, value);
      EXPECT_GE(bounds->upper, value);
      EXPECT_TRUE(std::isfinite(bounds->lower) && std::isfinite(bounds->upper));
    }
  }
}

// One more noise than the law allows would be seen: the probability of a sum of Laplace noises is
// computed by convolution.
TEST(LearnedBounds, TakeNoiseForRecordsWithNoMoreThanTheStatedProbability) {
  for (const double scale : {0.1, 1.0, 7.0}) {
    constexpr int kFar = 2000;
    std::vector<double> law(2 * kFar + 1);
    const double ratio = std::exp(-1 / scale);
    for (int y = -kFar; y <= kFar; ++y) {
      law[static_cast<std::size_t>(y + kFar)] =
          (1 - ratio) / (1 + ratio) * std::exp(-std::abs(y) / scale);
    }
    const std::vector<double> one = law;
    for (int width = 1; width <= 4; width *= 2) {
      for (const double level : {3.0, 10.0, 20.0}) {
        const double threshold = noise_in_block(width, level, {PrivacyMeasure::kPure, scale});
        double above = 0;
        for (int y = kFar; y > -kFar && y >= threshold; --y)
          above += law[static_cast<std::size_t>(y + kFar)];
        EXPECT_LE(above, std::exp(-level)) << scale << " " << width << " " << level;
      }
      std::vector<double> twice(law.size());
      for (int y = -kFar; y <= kFar; ++y) {
        if (law[static_cast<std::size_t>(y + kFar)] < 1e-18) continue;
        for (int z = std::max(-kFar, -kFar - y); z <= std::min(kFar, kFar - y); ++z) {
          twice[static_cast<std::size_t>(y + z + kFar)] +=
              law[static_cast<std::size_t>(y + kFar)] * law[static_cast<std::size_t>(z + kFar)];
        }
      }
      law = twice;
    }
  }
  EXPECT_DOUBLE_EQ(noise_in_block(8, 30, {PrivacyMeasure::kZcdp, 2}), 2 * std::sqrt(480));
}

// Theorem 25c: a bound is more than five octaves beyond all records with a probability below
// 1.3e-7, so two of these 200 are with a probability below 1e-9.
TEST(LearnedBounds, AreHardlyEverFarFromAllRecords) {
  std::mt19937_64 random(1);
  int absurd = 0;
  for (int i = 0; i < 200; ++i) {
    Values values = values_of({{35, 1.0}, {5, 8.0}, {1, 1e300}, {3, 1e9}});
    std::ranges::shuffle(values, random);
    const auto bounds = learned(values, pure(1));
    if (bounds) absurd += bounds->upper > 8 * 32 || bounds->lower < 0;
  }
  EXPECT_LT(absurd, 2);
}

// The same for records that no octave has enough of, and a wide block nearly has. An end beyond 48
// is 28 cells beyond the last record, with a probability below 7e-5, so eight of these 2000 are
// with one below 1e-11.
TEST(LearnedBounds, AreHardlyEverFarFromSparseRecords) {
  constexpr OrdinalGrid kSmallGrid(3, -20, 20);
  Counts counts(kSmallGrid.cells());
  counts[kSmallGrid.cell_of(0)] = 100;
  for (const double value : {1, 2, 4}) counts[kSmallGrid.cell_of(value)] = 27;
  const TestContext context;
  int far = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto bounds = learn_bounds(kSmallGrid, counts, pure(1), context);
    if (bounds) far += bounds->upper > 48;
  }
  EXPECT_LT(far, 8);
}

// The goal is that of a mean that costs the same epsilon again: the noise of bounds that are as
// wide, and what is lost outside of them.
TEST(LearnedBounds, LeaveLittleOutsideAndAreNotWide) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> salary(std::log(50'000), 0.5);
  double lost = 0;
  double width = 0;
  constexpr int kRuns = 100;
  for (int i = 0; i < kRuns; ++i) {
    Values values(1000);
    for (double& value : values) value = salary(random);
    const auto bounds = learned(values, pure(1));
    ASSERT_TRUE(bounds);
    for (const double value : values) {
      lost += std::abs(value - std::clamp(value, bounds->lower, bounds->upper)) / (1000 * kRuns);
    }
    width += (bounds->upper - bounds->lower) / kRuns;
  }
  // They are 173 +- 12 and 171 000 +- 2000.
  EXPECT_LT(lost, 300);
  EXPECT_LT(width, 195'000);
}

TEST(LearnedBounds, RefuseAGuaranteeOutOfRangeAndStopWhenCancelled) {
  EXPECT_THROW(learned({}, pure(0)), ParameterError);
  CsprngSource source;
  TestContext cancelled(source, [] { return true; });
  const Counts counts(200'000);
  EXPECT_THROW(learn_bounds(OrdinalGrid(6, 0, 1000), counts, pure(1), cancelled), Cancelled);
}

}  // namespace
}  // namespace dpquantile
