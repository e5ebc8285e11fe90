#include "core/plot/time_ticks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "core/plot/civil_date.hpp"

namespace dpquantile {
namespace {

using Labels = std::vector<std::string>;

constexpr double kHour = 3600e6;
constexpr double kDay = 24 * kHour;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

double date(int year, int month, int day) {
  return static_cast<double>(days_of({year, month, day}));
}

double moment(int year, int month, int day, double hours = 0) {
  return date(year, month, day) * kDay + hours * kHour;
}

Labels labels(AxisScale scale, double lower, double upper, int most) {
  Labels all;
  for (const AxisTick& tick : time_ticks(scale, lower, upper, most)) all.push_back(tick.label);
  return all;
}

// --- Steps ---------------------------------------------------------------------------------------

TEST(TimeTicks, StandAtFirstsOfYearsAndMonths) {
  EXPECT_EQ(labels(AxisScale::kDate, date(1920, 1, 1), date(2010, 1, 1), 6),
            (Labels{"1920", "1940", "1960", "1980", "2000"}));
  EXPECT_EQ(labels(AxisScale::kDate, date(2019, 5, 3), date(2024, 2, 1), 6),
            (Labels{"2020", "2021", "2022", "2023", "2024"}));
  EXPECT_EQ(labels(AxisScale::kDate, date(2023, 12, 15), date(2024, 5, 15), 6),
            (Labels{"2024-01", "2024-02", "2024-03", "2024-04", "2024-05"}));
  EXPECT_EQ(labels(AxisScale::kUtcTimestamp, moment(2024, 1, 1), moment(2025, 1, 1), 5),
            (Labels{"2024-01", "2024-04", "2024-07", "2024-10", "2025-01"}));
  EXPECT_EQ(labels(AxisScale::kDate, date(-100, 1, 1), date(101, 1, 1), 3),
            (Labels{"0101 BC", "0001 BC", "0100"}));
}

TEST(TimeTicks, StandAtMondaysAndDays) {
  EXPECT_EQ(labels(AxisScale::kDate, date(2024, 2, 27), date(2024, 3, 2), 6),
            (Labels{"2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"}));
  // 2024-03-04 is a Monday.
  EXPECT_EQ(labels(AxisScale::kTimestamp, moment(2024, 3, 1), moment(2024, 3, 31), 5),
            (Labels{"2024-03-04", "2024-03-11", "2024-03-18", "2024-03-25"}));
}

TEST(TimeTicks, StandAtFullHoursMinutesAndSeconds) {
  EXPECT_EQ(labels(AxisScale::kTimeOfDay, 0, kDay, 5),
            (Labels{"00:00", "06:00", "12:00", "18:00", "24:00"}));
  EXPECT_EQ(labels(AxisScale::kTimeOfDay, 9.5 * kHour, 10 * kHour, 4),
            (Labels{"09:30", "09:40", "09:50", "10:00"}));
  EXPECT_EQ(labels(AxisScale::kTimeOfDay, kHour, kHour + 2e6, 3),
            (Labels{"01:00:00", "01:00:01", "01:00:02"}));
  EXPECT_EQ(labels(AxisScale::kTimeOfDay, 0, 0.5e6, 3),
            (Labels{"00:00:00.0", "00:00:00.2", "00:00:00.4"}));
  EXPECT_EQ(labels(AxisScale::kTimeOfDay, 0, 3, 4),
            (Labels{"00:00:00.000000", "00:00:00.000001", "00:00:00.000002", "00:00:00.000003"}));
}

TEST(TimeTicks, OfDurationsAreDaysOrHours) {
  EXPECT_EQ(labels(AxisScale::kDuration, 0, 5 * kDay, 6),
            (Labels{"0 days", "1 day", "2 days", "3 days", "4 days", "5 days"}));
  EXPECT_EQ(labels(AxisScale::kDuration, 0, 2 * kDay, 5),
            (Labels{"00:00", "12:00", "24:00", "36:00", "48:00"}));
  EXPECT_EQ(labels(AxisScale::kDuration, -1.5 * kHour, 1.5 * kHour, 4),
            (Labels{"-01:00", "00:00", "01:00"}));
  EXPECT_EQ(labels(AxisScale::kDuration, -3 * kDay, 0, 4),
            (Labels{"-3 days", "-2 days", "-1 day", "0 days"}));
}

TEST(TimeTicks, AreLowerIfNoRoundMomentLiesBetweenTheBounds) {
  const double lower = moment(2024, 3, 1, 9.5) + 1;
  const auto ticks = time_ticks(AxisScale::kTimestamp, lower, std::nextafter(lower, kInfinite), 5);
  ASSERT_EQ(ticks.size(), 1U);
  EXPECT_EQ(ticks.front().value, lower);
  EXPECT_EQ(ticks.front().label, "2024-03-01 09:30:00.000001");
}

// --- Labels --------------------------------------------------------------------------------------

TEST(TimeLabels, HaveTheDateWhereItChanges) {
  EXPECT_EQ(labels(AxisScale::kTimestamp, moment(2024, 2, 29, 9), moment(2024, 3, 1, 9), 5),
            (Labels{"2024-02-29 12:00", "18:00", "2024-03-01", "06:00"}));
  const std::vector<double> values = {moment(2024, 2, 29, 9), moment(2024, 2, 29, 10),
                                      moment(2024, 3, 2, 10.5)};
  EXPECT_EQ(time_labels(AxisScale::kTimestamp, values),
            (Labels{"2024-02-29 09:00", "10:00", "2024-03-02 10:30"}));
}

TEST(TimeLabels, NameInfiniteEnds) {
  const std::vector<double> values = {-kInfinite, date(2024, 1, 1), date(2024, 1, 8), kInfinite};
  EXPECT_EQ(time_labels(AxisScale::kDate, values),
            (Labels{"-infinity", "2024-01-01", "2024-01-08", "infinity"}));
  const std::vector<double> ends = {-kInfinite, kInfinite};
  EXPECT_EQ(time_labels(AxisScale::kDuration, ends), (Labels{"-infinity", "infinity"}));
}

TEST(TimeLabels, OfSingleValuesAreWhole) {
  EXPECT_EQ(time_label(AxisScale::kDate, date(2024, 1, 1)), "2024-01-01");
  EXPECT_EQ(time_label(AxisScale::kTimestamp, moment(2024, 1, 1)), "2024-01-01");
  EXPECT_EQ(time_label(AxisScale::kUtcTimestamp, moment(2024, 1, 1, 0.5)), "2024-01-01 00:30");
  EXPECT_EQ(time_label(AxisScale::kTimeOfDay, kDay), "24:00");
  EXPECT_EQ(time_label(AxisScale::kDuration, 30 * kHour), "30:00");
}

// --- All ranges ----------------------------------------------------------------------------------

struct Range {
  AxisScale scale;
  double lower;
  double upper;
};

std::vector<Range> ranges() {
  std::vector<Range> all = {
      {AxisScale::kDate, -2'451'545, 2'145'031'948},
      {AxisScale::kTimestamp, -211'813'488'000'000'000, 9.2233713e18},
      {AxisScale::kDuration, -0x1p63, 0x1p63},
      {AxisScale::kDuration, -0x1p63, std::nextafter(-0x1p63, 0)},
      {AxisScale::kTimestamp, 9.2e18, std::nextafter(9.2e18, 1e19)},
      {AxisScale::kTimestamp, 9e18, 9e18 + 4096},
  };
  for (const AxisScale scale : {AxisScale::kTimestamp, AxisScale::kDuration}) {
    for (const double lower : {0.0, moment(2024, 2, 28, 23.5), -moment(2024, 2, 28) + 1}) {
      for (double width = 1; width < 1e18; width *= 3) {
        all.push_back({scale, lower, lower + std::floor(width)});
      }
    }
  }
  for (double width = 1; width < 1e9; width *= 3) {
    all.push_back({AxisScale::kDate, date(2024, 2, 28), date(2024, 2, 28) + std::floor(width)});
  }
  for (double width = 1; width < kDay; width *= 3) {
    all.push_back({AxisScale::kTimeOfDay, 0, std::floor(width)});
  }
  return all;
}

TEST(TimeTicks, AscendWithinAnyRangeAndAreDistinct) {
  for (const Range& range : ranges()) {
    for (int most = 2; most <= 20; ++most) {
      SCOPED_TRACE(testing::Message() << range.lower << " .. " << range.upper << ", " << most);
      const auto ticks = time_ticks(range.scale, range.lower, range.upper, most);
      ASSERT_GE(ticks.size(), 1U);
      EXPECT_LE(ticks.size(), static_cast<std::size_t>(most));
      EXPECT_GE(ticks.front().value, range.lower);
      EXPECT_LE(ticks.back().value, range.upper);
      EXPECT_TRUE(std::ranges::is_sorted(ticks, std::ranges::less_equal{}, &AxisTick::value));
      for (const AxisTick& tick : ticks) EXPECT_LE(tick.label.size(), 33U) << tick.label;
    }
  }
}

TEST(TimeTicks, AreAtLeastTwoIfThereIsRoomForTwelve) {
  for (const Range& range : ranges()) {
    if (range.upper - range.lower < 2 || range.lower < -9e18 || range.upper >= 9e18) continue;
    EXPECT_GE(time_ticks(range.scale, range.lower, range.upper, 12).size(), 2U)
        << range.lower << " .. " << range.upper;
  }
}

}  // namespace
}  // namespace dpquantile
