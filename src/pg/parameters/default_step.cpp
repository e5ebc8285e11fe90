#include "pg/parameters/default_step.hpp"

#include <algorithm>
#include <iterator>

#include "core/histogram/value_grid.hpp"

namespace dpquantile {

namespace {

constexpr double kSecond = 1e6;  // microseconds
constexpr double kMinute = 60 * kSecond;
constexpr double kHour = 60 * kMinute;
constexpr double kDay = 24 * kHour;

// From one second to half a day
constexpr double kDurations[] = {
    kSecond, 2 * kSecond, 5 * kSecond, 10 * kSecond, 15 * kSecond, 30 * kSecond,
    kMinute, 2 * kMinute, 5 * kMinute, 10 * kMinute, 15 * kMinute, 30 * kMinute,
    kHour,   2 * kHour,   3 * kHour,   6 * kHour,    12 * kHour};

// The smallest of 1, 2, 5, 10, 20, ... that is not below `least`.
double round_number(double least) {
  double power = 1;
  while (10 * power < least) power *= 10;
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= least) return digit * power;
  }
  return 10 * power;
}

double round_duration(double least) {
  if (least <= kSecond / 2) return round_number(least);
  const double* found = std::ranges::lower_bound(kDurations, least);
  return found == std::end(kDurations) ? kDay * round_number(least / kDay) : *found;
}

}  // namespace

std::optional<double> default_step(ValueType type, double lower, double upper) {
  if (!is_whole(type)) return std::nullopt;
  const double least = (upper - lower) / static_cast<double>(ValueGrid::kDefaultCells - 1);
  const bool is_days = type == ValueType::kDate;
  return is_temporal(type) && !is_days ? round_duration(least) : round_number(least);
}

}  // namespace dpquantile
