#include "core/plot/axis_ticks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dpquantile {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

using Labels = std::vector<std::string>;

std::vector<double> values_of(const std::vector<AxisTick>& ticks) {
  std::vector<double> values;
  for (const AxisTick& tick : ticks) values.push_back(tick.value);
  return values;
}

Labels labels_of(const std::vector<AxisTick>& ticks) {
  Labels labels;
  for (const AxisTick& tick : ticks) labels.push_back(tick.label);
  return labels;
}

Labels labels(double lower, double upper, int most) {
  return labels_of(axis_ticks(lower, upper, most));
}

double number_in(const std::string& label) {
  double number = std::numeric_limits<double>::quiet_NaN();
  const char* const end = label.data() + label.size();
  EXPECT_EQ(std::from_chars(label.data(), end, number).ptr, end) << label;
  return number;
}

// The number of digits between the point and the power of ten.
std::string::size_type decimals_of(const std::string& label) {
  const auto point = label.find('.');
  const auto end = std::min(label.find('e'), label.size());
  return point == std::string::npos ? 0 : end - point - 1;
}

const std::vector<std::pair<double, double>> kRanges = {
    {0, 1},
    {0, 500000},
    {-100, 100},
    {0, 120},
    {18.5, 99.25},
    {0.1, 0.7},
    {-1.0 / 3, 2.0 / 3},
    {1e-300, 2e-300},
    {-1e-300, 1e-300},
    {1e15, 1e15 + 1},
    {-1e15 - 1, -1e15},
    {1e6, 1e6 + 1e-9},
    {1.7e12, 1.71e12},
    {0, 1e12},
    {9007199254740990, 9007199254741000},
    {1e22, 1.0001e22},
    {-1.7e308 / 2, 1.7e308 / 2},
    {-kLargest, kLargest},
    {-kLargest, std::nextafter(-kLargest, 0)},
    {std::nextafter(kLargest, 0), kLargest},
    {0, kLargest},
    {0, kSmallest},
    {-kSmallest, kSmallest},
    {7 * kSmallest, 19 * kSmallest},
    {-1, kSmallest},
    {1, std::nextafter(1.0, 2.0)},
    {std::nextafter(1.0, 0.0), 1},
    {std::nextafter(3.0, 0.0), std::nextafter(3.0, 4.0)},
    {0.3, std::nextafter(0.3, 1.0)},
};

// Calls check(ticks, lower, upper, most) for every range and every number of ticks.
template <class Check>
void for_all_ranges(Check check) {
  for (const auto& [lower, upper] : kRanges) {
    for (int most = 2; most <= 20; ++most) {
      SCOPED_TRACE(testing::Message() << lower << " .. " << upper << ", at most " << most);
      check(axis_ticks(lower, upper, most), lower, upper, most);
    }
  }
}

// --- Steps ---------------------------------------------------------------------------------------

TEST(AxisTicks, StandAtMultiplesOfOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_EQ(values_of(axis_ticks(0, 10, 11)),
            (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(values_of(axis_ticks(0, 500000, 6)),
            (std::vector<double>{0, 100000, 200000, 300000, 400000, 500000}));
  EXPECT_EQ(values_of(axis_ticks(-100, 100, 5)), (std::vector<double>{-100, -50, 0, 50, 100}));
  EXPECT_EQ(values_of(axis_ticks(17, 81, 4)), (std::vector<double>{20, 40, 60, 80}));
}

TEST(AxisTicks, AreAsManyAsRoundStepsAllow) {
  EXPECT_EQ(axis_ticks(0, 1, 11).size(), 11U);
  EXPECT_EQ(axis_ticks(0, 1, 10).size(), 6U);
  EXPECT_EQ(axis_ticks(0, 1, 6).size(), 6U);
  EXPECT_EQ(axis_ticks(0, 1, 5).size(), 3U);
  EXPECT_EQ(axis_ticks(0, 1, 3).size(), 3U);
  EXPECT_EQ(axis_ticks(0, 1, 2).size(), 2U);
}

TEST(AxisTicks, NumberAtLeastOneAndAtMostAsManyAsWanted) {
  for_all_ranges([](const std::vector<AxisTick>& ticks, double, double, int most) {
    EXPECT_GE(ticks.size(), 1U);
    EXPECT_LE(ticks.size(), static_cast<std::size_t>(most));
  });
}

TEST(AxisTicks, AscendWithinTheRange) {
  for_all_ranges([](const std::vector<AxisTick>& ticks, double lower, double upper, int) {
    const std::vector<double> values = values_of(ticks);
    EXPECT_GE(values.front(), lower);
    EXPECT_LE(values.back(), upper);
    EXPECT_TRUE(std::ranges::is_sorted(values, std::ranges::less_equal{}));
  });
}

TEST(AxisTicks, ReachBothBoundsIfTheseAreRound) {
  for (const auto& [lower, upper] : {std::pair{0.1, 0.7}, {-0.3, 0.3}, {1e-300, 2e-300}}) {
    const std::vector<double> values = values_of(axis_ticks(lower, upper, 11));
    EXPECT_EQ(values.front(), lower);
    EXPECT_EQ(values.back(), upper);
  }
}

// --- Labels --------------------------------------------------------------------------------------

TEST(AxisTickLabels, AreShortDecimals) {
  EXPECT_EQ(labels(0, 1, 6), (Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(0, 0.2, 5), (Labels{"0.00", "0.05", "0.10", "0.15", "0.20"}));
  EXPECT_EQ(labels(-100, 100, 3), (Labels{"-100", "0", "100"}));
  EXPECT_EQ(labels(-0.5, 0.5, 3), (Labels{"-0.5", "0.0", "0.5"}));
  EXPECT_EQ(labels(0, 1000000, 3), (Labels{"0", "500000", "1000000"}));
  EXPECT_EQ(labels(1e15, 1e15 + 1, 3),
            (Labels{"1000000000000000.0", "1000000000000000.5", "1000000000000001.0"}));
}

TEST(AxisTickLabels, ShareAPowerOfTenWherePlainNumbersWouldBeLong) {
  EXPECT_EQ(labels(1e-300, 2e-300, 3), (Labels{"1.0e-300", "1.5e-300", "2.0e-300"}));
  EXPECT_EQ(labels(-1.7e308 / 2, 1.7e308 / 2, 4), (Labels{"-5e307", "0", "5e307"}));
  EXPECT_EQ(labels(0, 1e12, 3), (Labels{"0", "0.5e12", "1.0e12"}));
  EXPECT_EQ(labels(0, 1e-7, 2), (Labels{"0", "1e-7"}));
  EXPECT_EQ(labels(0, kSmallest, 2), (Labels{"0", "5e-324"}));
}

TEST(AxisTickLabels, StateTheExactValue) {
  for_all_ranges([](const std::vector<AxisTick>& ticks, double, double, int) {
    for (const AxisTick& tick : ticks) EXPECT_EQ(number_in(tick.label), tick.value) << tick.label;
  });
}

TEST(AxisTickLabels, AreDistinct) {
  for_all_ranges([](const std::vector<AxisTick>& ticks, double, double, int) {
    const Labels all = labels_of(ticks);
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  });
}

TEST(AxisTickLabels, HaveTheSameNumberOfDecimals) {
  for_all_ranges([](const std::vector<AxisTick>& ticks, double, double, int) {
    std::set<std::string::size_type> decimals;
    for (const AxisTick& tick : ticks) {
      if (tick.label != "0") decimals.insert(decimals_of(tick.label));
    }
    EXPECT_LE(decimals.size(), 1U);
  });
}

TEST(AxisTickLabels, AreNeverLongerThanADoubleNeeds) {
  for_all_ranges([](const std::vector<AxisTick>& ticks, double, double, int) {
    for (const AxisTick& tick : ticks) EXPECT_LE(tick.label.size(), 24U) << tick.label;
  });
}

// --- Fitting -------------------------------------------------------------------------------------

// The ticks of 0 .. 1000.
std::vector<PlacedTick> up_to_1000(int most) {
  std::vector<PlacedTick> ticks;
  for (const AxisTick& tick : axis_ticks(0, 1000, most)) {
    ticks.push_back({tick.value / 1000, tick.label});
  }
  return ticks;
}

Labels labels_of(const std::vector<PlacedTick>& ticks) {
  Labels all;
  for (const PlacedTick& tick : ticks) all.push_back(tick.label);
  return all;
}

// Centred labels on an axis of this many characters.
auto centred_on(double characters) {
  return [=](const PlacedTick& tick) {
    const double half = static_cast<double>(tick.label.size()) / 2;
    const double middle = tick.across * characters;
    return LabelSpan{middle - half, middle + half};
  };
}

TEST(TicksThatFit, AreAsManyAsKeepTheGapBetweenLabels) {
  const auto fitting = [](double characters) {
    return labels_of(ticks_that_fit(up_to_1000, 20, 2, centred_on(characters)));
  };
  EXPECT_EQ(fitting(1000).size(), 11U);
  EXPECT_EQ(fitting(30), (Labels{"0", "200", "400", "600", "800", "1000"}));
  EXPECT_EQ(fitting(27), (Labels{"0", "500", "1000"}));
  EXPECT_EQ(fitting(11), (Labels{"0", "500", "1000"}));
  EXPECT_EQ(fitting(10), (Labels{"0", "1000"}));
}

TEST(TicksThatFit, AreOneWhereNoTwoFit) {
  EXPECT_EQ(labels_of(ticks_that_fit(up_to_1000, 20, 2, centred_on(3))), Labels{"0"});
}

TEST(AxisTicks, NumberAtLeastOneBetweenNeighbouringDoubles) {
  const double ulp = 0x1p-52;
  for (int i = 0; i < 64; ++i) {
    const double lower = 1 + i * ulp;
    const auto ticks = axis_ticks(lower, lower + ulp, 5);
    ASSERT_FALSE(ticks.empty()) << i;
    EXPECT_GE(ticks.front().value, lower);
    EXPECT_LE(ticks.back().value, lower + ulp);
  }
}

}  // namespace
}  // namespace dpquantile
