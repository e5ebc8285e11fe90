#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/plot/axis_ticks.hpp"

// Axes of dates and times. The calendar is the Gregorian one in all years, as in PostgreSQL.
namespace dpquantile {

// What the numbers of an axis stand for.
enum class AxisScale {
  kNumber,        // themselves
  kDate,          // days since 2000-01-01
  kTimestamp,     // microseconds since 2000-01-01 00:00
  kUtcTimestamp,  // the same in UTC
  kTimeOfDay,     // microseconds since midnight
  kDuration,      // microseconds
};

// Requires another scale than kNumber in all of these.

// Ticks at round moments from lower to upper, ascending: midnights, Mondays, firsts of months, full
// hours and the like, as many as possible, but at most `most`. If no round step gives a tick, the
// only tick is lower. Requires finite lower < upper and most >= 2.
std::vector<AxisTick> time_ticks(AxisScale scale, double lower, double upper, int most);

// Labels for ascending values on one axis, as short as tells them apart: "2024", "2024-03" or
// "2024-03-01" if all are firsts of a year, firsts of a month or midnights. Otherwise a value has
// its time, "09:30", and the first value of a day also or only its date. Durations are "3 days" or
// "36:00". Infinite values are "-infinity" and "infinity".
std::vector<std::string> time_labels(AxisScale scale, std::span<const double> values);

// The label of a value that stands alone, always with its date: "2024-03-01 09:30".
std::string time_label(AxisScale scale, double value);

}  // namespace dpquantile
