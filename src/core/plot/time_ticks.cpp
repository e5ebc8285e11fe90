#include "core/plot/time_ticks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/plot/civil_date.hpp"

namespace dpquantile {

namespace {

constexpr std::int64_t kSecond = 1'000'000;  // microseconds
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kMicrosPerDay = 24 * kHour;
constexpr int kFractionDigits = 6;

std::int64_t floor_divide(std::int64_t dividend, std::int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

// Negating the result and adding to it cannot overflow.
std::int64_t whole(double number) {
  constexpr double kLargest = 9.2e18;
  return static_cast<std::int64_t>(std::clamp(number, -kLargest, kLargest));
}

bool has_dates(AxisScale scale) {
  return scale == AxisScale::kDate || scale == AxisScale::kTimestamp ||
         scale == AxisScale::kUtcTimestamp;
}

// The days of a date, timestamp or duration, and the microseconds after their beginning.
struct Moment {
  std::int64_t days;
  std::int64_t micros;  // 0 .. kMicrosPerDay - 1
};

Moment moment_of(AxisScale scale, double value) {
  if (scale == AxisScale::kDate) return {whole(value), 0};
  const std::int64_t micros = whole(value);
  const std::int64_t days = floor_divide(micros, kMicrosPerDay);
  return {days, micros - days * kMicrosPerDay};
}

// --- Ticks ---------------------------------------------------------------------------------------

enum class StepUnit { kMicrosecond, kDay, kMonth };

// Ticks are at origin + k * count units.
struct TimeStep {
  StepUnit unit;
  std::int64_t count;
  std::int64_t origin;
};

void add_decimal_steps(std::vector<TimeStep>& steps, StepUnit unit, std::int64_t first,
                       std::int64_t most) {
  for (std::int64_t power = first; power <= most; power *= 10) {
    for (const std::int64_t digit : {1, 2, 5}) steps.push_back({unit, digit * power, 0});
  }
}

void add_clock_steps(std::vector<TimeStep>& steps) {
  add_decimal_steps(steps, StepUnit::kMicrosecond, 1, kSecond / 10);
  for (const std::int64_t unit : {kSecond, kMinute}) {
    for (const std::int64_t count : {1, 2, 5, 10, 15, 30}) {
      steps.push_back({StepUnit::kMicrosecond, count * unit, 0});
    }
  }
  for (const std::int64_t hours : {1, 2, 3, 6, 12}) {
    steps.push_back({StepUnit::kMicrosecond, hours * kHour, 0});
  }
}

void add_calendar_steps(std::vector<TimeStep>& steps) {
  constexpr std::int64_t kMonday = 2;  // 2000-01-03
  constexpr std::int64_t kMostYears = 1'000'000;
  steps.push_back({StepUnit::kDay, 1, 0});
  steps.push_back({StepUnit::kDay, 2, 0});
  steps.push_back({StepUnit::kDay, 7, kMonday});
  steps.push_back({StepUnit::kDay, 14, kMonday});
  for (const std::int64_t months : {1, 2, 3, 6}) {
    steps.push_back({StepUnit::kMonth, months, 0});
  }
  for (std::int64_t power = 1; power <= kMostYears; power *= 10) {
    for (const std::int64_t digit : {1, 2, 5}) {
      steps.push_back({StepUnit::kMonth, 12 * digit * power, 0});
    }
  }
}

// Ascending.
std::vector<TimeStep> steps_of(AxisScale scale) {
  constexpr std::int64_t kMostDays = 100'000'000;
  std::vector<TimeStep> steps;
  if (scale != AxisScale::kDate) add_clock_steps(steps);
  if (has_dates(scale)) add_calendar_steps(steps);
  if (scale == AxisScale::kDuration) add_decimal_steps(steps, StepUnit::kDay, 1, kMostDays);
  return steps;
}

double units_in_day(AxisScale scale) {
  return scale == AxisScale::kDate ? 1 : static_cast<double>(kMicrosPerDay);
}

// The width of a step on the axis, that of a month being 28 days.
double least_width(AxisScale scale, const TimeStep& step) {
  constexpr double kShortMonth = 28;
  const auto count = static_cast<double>(step.count);
  switch (step.unit) {
    case StepUnit::kMicrosecond:
      return count;
    case StepUnit::kDay:
      return count * units_in_day(scale);
    case StepUnit::kMonth:
      return count * kShortMonth * units_in_day(scale);
  }
  return 0;
}

// The place of a number of step units on the axis; months count from year 0.
double place_of(AxisScale scale, StepUnit unit, std::int64_t units) {
  if (unit == StepUnit::kMicrosecond) return static_cast<double>(units);
  const std::int64_t days =
      unit == StepUnit::kDay
          ? units
          : days_of({floor_divide(units, 12),
                     static_cast<int>(units - 12 * floor_divide(units, 12)) + 1, 1});
  return static_cast<double>(days) * units_in_day(scale);
}

// The number of whole step units up to a place of the axis.
std::int64_t units_up_to(AxisScale scale, StepUnit unit, double place) {
  if (unit == StepUnit::kMicrosecond) return whole(std::floor(place));
  const std::int64_t days = moment_of(scale, std::floor(place)).days;
  if (unit == StepUnit::kDay) return days;
  const CivilDate date = date_of(days);
  return 12 * date.year + date.month - 1;
}

// Empty if there are more than `most`.
std::optional<std::vector<double>> places_of(AxisScale scale, const TimeStep& step, double lower,
                                             double upper, int most) {
  constexpr double kSlack = 1.2;  // months have up to 31 days
  if ((upper - lower) / least_width(scale, step) > kSlack * (most + 2)) return std::nullopt;
  std::vector<double> places;
  const std::int64_t first = units_up_to(scale, step.unit, lower) - step.origin;
  const std::int64_t last = units_up_to(scale, step.unit, upper) - step.origin;
  for (std::int64_t index = floor_divide(first, step.count);
       index <= floor_divide(last, step.count); ++index) {
    const double place = place_of(scale, step.unit, step.origin + index * step.count);
    const bool repeated = !places.empty() && places.back() == place;
    if (lower <= place && place <= upper && !repeated) places.push_back(place);
  }
  if (places.size() > static_cast<std::size_t>(most)) return std::nullopt;
  return places;
}

std::vector<double> tick_places(AxisScale scale, double lower, double upper, int most) {
  for (const TimeStep& step : steps_of(scale)) {
    const auto places = places_of(scale, step, lower, upper, most);
    if (places) return *places;
  }
  return {};
}

// --- Labels --------------------------------------------------------------------------------------

enum class DateDetail { kYear, kMonth, kDay };

struct Detail {
  DateDetail date;
  bool times;         // not all values are midnights
  std::int64_t unit;  // of the times: a minute, a second or a part of it
};

// The largest of a minute, a second and its decimal parts of which all the times are multiples.
std::int64_t clock_unit(const std::vector<Moment>& moments) {
  std::int64_t unit = kMinute;
  const auto fits = [&](const Moment& moment) { return moment.micros % unit == 0; };
  if (!std::ranges::all_of(moments, fits)) unit = kSecond;
  while (!std::ranges::all_of(moments, fits)) unit /= 10;
  return unit;
}

DateDetail date_detail(const std::vector<Moment>& moments) {
  if (moments.size() < 2) return DateDetail::kDay;
  DateDetail detail = DateDetail::kYear;
  for (const Moment& moment : moments) {
    const CivilDate date = date_of(moment.days);
    if (date.day != 1) return DateDetail::kDay;
    if (date.month != 1) detail = DateDetail::kMonth;
  }
  return detail;
}

Detail detail_of(AxisScale scale, const std::vector<Moment>& moments) {
  const bool times = scale == AxisScale::kTimeOfDay ||
                     std::ranges::any_of(moments, [](const Moment& m) { return m.micros != 0; });
  return {times || !has_dates(scale) ? DateDetail::kDay : date_detail(moments), times,
          clock_unit(moments)};
}

std::string two_digits(std::int64_t number) {
  return (number < 10 ? "0" : "") + std::to_string(number);
}

// "09:30", "09:30:05" or "09:30:05.250" for a number of microseconds that is at least 0.
std::string clock_text(std::int64_t micros, std::int64_t unit) {
  std::string text = two_digits(micros / kHour) + ":" + two_digits(micros / kMinute % 60);
  if (unit < kMinute) text += ":" + two_digits(micros / kSecond % 60);
  if (unit >= kSecond) return text;
  std::string fraction = std::to_string(kSecond + micros % kSecond).substr(1);
  int digits = kFractionDigits;
  for (std::int64_t part = 1; part < unit; part *= 10) --digits;
  return text + "." + fraction.substr(0, static_cast<std::size_t>(digits));
}

std::string date_text(std::int64_t days, DateDetail detail) {
  constexpr std::size_t kDayLength = 3;
  constexpr std::size_t kMonthAndDayLength = 6;
  std::string text = iso_date(date_of(days));
  const std::size_t end = std::min(text.find(' '), text.size());
  if (detail == DateDetail::kMonth) text.erase(end - kDayLength, kDayLength);
  if (detail == DateDetail::kYear) text.erase(end - kMonthAndDayLength, kMonthAndDayLength);
  return text;
}

std::string duration_text(const Moment& moment, const Detail& detail) {
  if (!detail.times) {
    return std::to_string(moment.days) + (std::abs(moment.days) == 1 ? " day" : " days");
  }
  const std::int64_t micros = moment.days * kMicrosPerDay + moment.micros;
  return (micros < 0 ? "-" : "") + clock_text(std::abs(micros), detail.unit);
}

std::string label_of(AxisScale scale, const Moment& moment, const Detail& detail, bool new_date) {
  if (scale == AxisScale::kTimeOfDay) {
    return clock_text(moment.days * kMicrosPerDay + moment.micros, detail.unit);
  }
  if (scale == AxisScale::kDuration) return duration_text(moment, detail);
  const std::string date = date_text(moment.days, detail.date);
  if (!detail.times || (new_date && moment.micros == 0)) return date;
  const std::string time = clock_text(moment.micros, detail.unit);
  return new_date ? date + " " + time : time;
}

}  // namespace

std::vector<std::string> time_labels(AxisScale scale, std::span<const double> values) {
  std::vector<Moment> finite;
  for (const double value : values) {
    if (std::isfinite(value)) finite.push_back(moment_of(scale, value));
  }
  const Detail detail = detail_of(scale, finite);
  std::vector<std::string> labels;
  std::size_t next = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      labels.emplace_back(value < 0 ? "-infinity" : "infinity");
      continue;
    }
    const bool new_date = next == 0 || finite[next].days != finite[next - 1].days;
    labels.push_back(label_of(scale, finite[next++], detail, new_date));
  }
  return labels;
}

std::string time_label(AxisScale scale, double value) {
  return time_labels(scale, std::span(&value, 1)).front();
}

std::vector<AxisTick> time_ticks(AxisScale scale, double lower, double upper, int most) {
  std::vector<double> places = tick_places(scale, lower, upper, most);
  if (places.empty()) places = {lower};
  const std::vector<std::string> labels = time_labels(scale, places);
  std::vector<AxisTick> ticks;
  for (std::size_t i = 0; i < places.size(); ++i) ticks.push_back({places[i], labels[i]});
  return ticks;
}

}  // namespace dpquantile
