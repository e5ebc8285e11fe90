#include "pg/plain/value_range.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

extern "C" {
#include "catalog/pg_type_d.h"
#include "datatype/timestamp.h"
#include "utils/datetime.h"
}

namespace dpquantile {

namespace {

constexpr double kDay = USECS_PER_DAY;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_moment(Oid type) {
  return type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

bool is_time(Oid type) {
  return is_moment(type) || type == TIMEOID || type == INTERVALOID;
}

Range widened(const Range& range, double by) {
  return {range.lower - by, range.upper + by};
}

Range scaled(const Range& range, double factor) {
  return {range.lower * factor, range.upper * factor};
}

Range sum(const Range& left, const Range& right) {
  return {left.lower + right.lower, left.upper + right.upper};
}

Range negative(const Range& range) {
  return {-range.upper, -range.lower};
}

Range product(const Range& left, const Range& right) {
  const double corners[] = {left.lower * right.lower, left.lower * right.upper,
                            left.upper * right.lower, left.upper * right.upper};
  return {*std::min_element(std::begin(corners), std::end(corners)),
          *std::max_element(std::begin(corners), std::end(corners))};
}

// Division of whole numbers cuts off what is behind the point.
MaybeRange quotient(const Range& left, const Range& right, Oid type) {
  if (right.lower <= 0 && right.upper >= 0) return std::nullopt;
  const double corners[] = {left.lower / right.lower, left.lower / right.upper,
                            left.upper / right.lower, left.upper / right.upper};
  Range range = {*std::min_element(std::begin(corners), std::end(corners)),
                 *std::max_element(std::begin(corners), std::end(corners))};
  if (!is_whole_type(type)) return range;
  // No -0, which a key would show
  return Range{std::trunc(std::nextafter(range.lower, -kInfinity)) + 0.0,
               std::trunc(std::nextafter(range.upper, kInfinity)) + 0.0};
}

// A remainder has the sign of what is divided, of which nothing else needs to be known.
Range remainder(const MaybeRange& divided, const Range& right, Oid type) {
  const Range left = divided.value_or(Range{-kInfinity, kInfinity});
  const double most =
      std::max(std::abs(right.lower), std::abs(right.upper)) - (is_whole_type(type) ? 1 : 0);
  return {left.lower < 0 ? std::max(-most, left.lower) : 0,
          left.upper > 0 ? std::min(most, left.upper) : 0};
}

MaybeRange power(const Range& base, const Range& exponent) {
  if (exponent.lower != exponent.upper || exponent.lower < 0) return std::nullopt;
  const double ends[] = {std::pow(base.lower, exponent.lower),
                         std::pow(base.upper, exponent.lower)};
  if (!std::isfinite(ends[0]) || !std::isfinite(ends[1])) return std::nullopt;
  // An even power is least at 0, and a power of a negative number may be NULL.
  const double zero = base.lower < 0 && base.upper > 0 ? 0 : ends[0];
  return Range{std::min({ends[0], ends[1], zero}), std::max({ends[0], ends[1], zero})};
}

// ---- Dates and times -----------------------------------------------------------------------

Range in_microseconds(const Range& range, Oid type) {
  return type == DATEOID ? scaled(range, kDay) : range;
}

// A month has 28 to 31 days, and a day with a change of the clock an hour more or less.
Range interval_of_moment(const Range& interval) {
  constexpr double kLongerMonth = 0.07;
  const double most = std::max(std::abs(interval.lower), std::abs(interval.upper));
  return widened(interval, kLongerMonth * most + 2.0 * USECS_PER_HOUR);
}

// + and - of dates and times, with each other or with days.
MaybeRange sum_of_times(const TypedRange& left, const TypedRange& right, bool adds, Oid result) {
  const bool is_of_days = (left.type == DATEOID || is_whole_type(left.type)) &&
                          (right.type == DATEOID || is_whole_type(right.type));
  const auto added = [&](const Range& one, const Range& other) {
    return sum(one, adds ? other : negative(other));
  };
  if (is_of_days) return added(*left.range, *right.range);
  if (!is_time(left.type) || !is_time(right.type)) return std::nullopt;
  Range one = in_microseconds(*left.range, left.type);
  Range other = in_microseconds(*right.range, right.type);
  if (is_moment(result) && right.type == INTERVALOID) other = interval_of_moment(other);
  if (is_moment(result) && left.type == INTERVALOID) one = interval_of_moment(one);
  if (result == TIMEOID) return Range{0, kDay};
  return added(one, other);
}

// The result has another zero where a time zone is between them.
MaybeRange cast_of_moment(const TypedRange& moment, Oid result) {
  if (!moment.range || !is_moment(moment.type)) return std::nullopt;
  if (result == TIMEOID) return Range{0, kDay};
  if (!is_moment(result)) return std::nullopt;
  Range range = in_microseconds(*moment.range, moment.type);
  const bool is_shifted = moment.type == TIMESTAMPTZOID || result == TIMESTAMPTZOID;
  if (is_shifted) range = widened(range, kDay);
  if (result != DATEOID) return range;
  return Range{std::floor(range.lower / kDay), std::ceil(range.upper / kDay)};
}

Range moment_of_epoch(const Range& seconds) {
  constexpr double kEpoch =
      static_cast<double>(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;
  return scaled({seconds.lower - kEpoch, seconds.upper - kEpoch}, USECS_PER_SEC);
}

MaybeRange truncated(const TypedRange& moment, const char* unit, Oid result) {
  constexpr std::pair<const char*, double> kUnits[] = {
      {"second", 1.0 / SECS_PER_DAY},
      {"minute", 1.0 / MINS_PER_HOUR / HOURS_PER_DAY},
      {"hour", 1.0 / HOURS_PER_DAY},
      {"day", 1},
      {"week", 7},
      {"month", 31},
      {"quarter", 92},
      {"year", 366}};
  const MaybeRange cast = cast_of_moment(moment, result);
  if (!cast || unit == nullptr) return std::nullopt;
  for (const auto& [name, days] : kUnits) {
    if (strcmp(unit, name) == 0) return Range{cast->lower - days * kDay, cast->upper};
  }
  return std::nullopt;
}

// Years and months of the calendar, which count as 360 and 30 days.
MaybeRange age_between(const TypedRange& end, const TypedRange& begin) {
  if (!end.range || !begin.range || !is_moment(end.type) || !is_moment(begin.type)) {
    return std::nullopt;
  }
  constexpr double kShorterYear = 360 / 366.0;
  constexpr double kFewDays = 3 * kDay;
  const Range days = sum(in_microseconds(*end.range, end.type),
                         negative(in_microseconds(*begin.range, begin.type)));
  return widened({days.lower >= 0 ? kShorterYear * days.lower : days.lower,
                  days.upper >= 0 ? days.upper : kShorterYear * days.upper},
                 kFewDays);
}

double year_of(double microseconds) {
  constexpr double kMostDays = 3e6;  // beyond the year 10000
  const double days = std::clamp(std::floor(microseconds / kDay), -kMostDays / 4, kMostDays);
  int year = 0;
  int month = 0;
  int day = 0;
  j2date(static_cast<int>(days) + POSTGRES_EPOCH_JDATE, &year, &month, &day);
  return year;
}

// In any time zone
MaybeRange years_of(const MaybeRange& time, Oid type) {
  if (!time) return std::nullopt;
  if (type == INTERVALOID) {
    constexpr double kYear = 360 * kDay;
    return Range{std::min(std::floor(time->lower / kYear), 0.0),
                 std::max(std::ceil(time->upper / kYear), 0.0)};
  }
  if (!is_moment(type)) return std::nullopt;
  const Range moments = in_microseconds(*time, type);
  const double shift = type == TIMESTAMPTZOID ? kDay : 0;
  return Range{year_of(moments.lower - shift), year_of(moments.upper + shift)};
}

// ---- Functions of numbers ------------------------------------------------------------------

MaybeRange absolute(const Range& range) {
  const double ends[] = {std::abs(range.lower), std::abs(range.upper)};
  const bool has_zero = range.lower <= 0 && range.upper >= 0;
  return Range{has_zero ? 0 : std::min(ends[0], ends[1]), std::max(ends[0], ends[1])};
}

bool is_one_of_names(const char* name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char* other) { return strcmp(name, other) == 0; });
}

// Values below the domain of a function give NULL.
MaybeRange range_of_number_function(const char* name, const Range& range) {
  if (strcmp(name, "abs") == 0) return absolute(range);
  if (is_one_of_names(name, {"floor", "ceil", "ceiling", "round", "trunc"})) {
    return Range{std::floor(range.lower), std::ceil(range.upper)};
  }
  if (is_one_of_names(name, {"sqrt", "dsqrt"}) && range.upper >= 0) {
    return Range{std::sqrt(std::max(range.lower, 0.0)), std::sqrt(range.upper)};
  }
  if (strcmp(name, "cbrt") == 0) return Range{std::cbrt(range.lower), std::cbrt(range.upper)};
  if (is_one_of_names(name, {"ln", "dlog1"}) && range.lower > 0) {
    return Range{std::log(range.lower), std::log(range.upper)};
  }
  if (is_one_of_names(name, {"log", "log10", "dlog10"}) && range.lower > 0) {
    return Range{std::log10(range.lower), std::log10(range.upper)};
  }
  if (is_one_of_names(name, {"exp", "dexp"})) {
    return Range{std::exp(range.lower), std::exp(range.upper)};
  }
  return std::nullopt;
}

// To digits behind the point: to the nearest such number, or to the next one towards 0.
MaybeRange rounded(const Range& range, const Range& digits, bool is_nearest) {
  if (digits.lower != digits.upper) return std::nullopt;
  const double step = std::pow(10.0, -digits.lower);
  if (is_nearest) return widened(range, step / 2);
  return Range{range.lower > 0 ? std::max(range.lower - step, 0.0) : range.lower,
               range.upper < 0 ? std::min(range.upper + step, 0.0) : range.upper};
}

}  // namespace

bool is_whole_type(Oid type) {
  return type == INT2OID || type == INT4OID || type == INT8OID;
}

MaybeRange range_of_whole_type(Oid type) {
  switch (type) {
    case INT2OID:
      return Range{PG_INT16_MIN, PG_INT16_MAX};
    case INT4OID:
      return Range{PG_INT32_MIN, PG_INT32_MAX};
    case INT8OID:
      return Range{-0x1p63, 0x1p63};
    default:
      return std::nullopt;
  }
}

Range hull(const Range& one, const Range& other) {
  return {std::min(one.lower, other.lower), std::max(one.upper, other.upper)};
}

MaybeRange range_of_operation(char name, const TypedRange& left, const TypedRange& right,
                              Oid result) {
  const bool is_of_times = is_time(left.type) || is_time(right.type);
  if (!right.range || (!left.range && name != '%')) return std::nullopt;
  switch (name) {
    case '+':
      return is_of_times ? sum_of_times(left, right, true, result) : sum(*left.range, *right.range);
    case '-':
      return is_of_times ? sum_of_times(left, right, false, result)
                         : sum(*left.range, negative(*right.range));
    case '*':
      return product(*left.range, *right.range);
    case '/':
      return quotient(*left.range, *right.range, result);
    case '%':
      return remainder(left.range, *right.range, result);
    case '^':
      return power(*left.range, *right.range);
    default:
      return std::nullopt;
  }
}

MaybeRange range_of_call(const char* name, std::span<const TypedRange> arguments, Oid result,
                         const char* unit) {
  if (strcmp(name, "sign") == 0) return Range{-1, 1};
  if (unit != nullptr) {
    return arguments.size() >= 2 ? truncated(arguments[1], unit, result) : std::nullopt;
  }
  if (strcmp(name, "timezone") == 0) {
    return arguments.size() == 2 ? cast_of_moment(arguments[1], result) : std::nullopt;
  }
  if (strcmp(name, "age") == 0) {
    return arguments.size() == 2 ? age_between(arguments[0], arguments[1]) : std::nullopt;
  }
  if (strcmp(name, "width_bucket") == 0) {
    const bool has_count =
        arguments.size() == 4 && arguments[3].range && arguments[3].range->upper >= 1;
    return has_count ? MaybeRange(Range{0, arguments[3].range->upper + 1}) : std::nullopt;
  }
  if (strcmp(name, "mod") == 0) {
    const bool has_divisor = arguments.size() == 2 && arguments[1].range;
    return has_divisor ? MaybeRange(remainder(arguments[0].range, *arguments[1].range, result))
                       : std::nullopt;
  }
  if (!std::all_of(arguments.begin(), arguments.end(),
                   [](const TypedRange& argument) { return argument.range.has_value(); })) {
    return std::nullopt;
  }
  if (arguments.size() == 1) {
    const TypedRange& argument = arguments[0];
    if (strcmp(name, "to_timestamp") == 0) return moment_of_epoch(*argument.range);
    return is_time(argument.type) ? cast_of_moment(argument, result)
                                  : range_of_number_function(name, *argument.range);
  }
  if (arguments.size() != 2 || is_time(arguments[0].type) || is_time(arguments[1].type)) {
    return std::nullopt;
  }
  if (strcmp(name, "div") == 0) {
    return quotient(*arguments[0].range, *arguments[1].range, INT8OID);
  }
  if (is_one_of_names(name, {"power", "pow", "dpow"})) {
    return power(*arguments[0].range, *arguments[1].range);
  }
  return is_one_of_names(name, {"round", "trunc"})
             ? rounded(*arguments[0].range, *arguments[1].range, is_one_of_names(name, {"round"}))
             : std::nullopt;
}

MaybeRange range_of_part(const char* part, const MaybeRange& time, Oid type) {
  struct Part {
    const char* name;
    Range range;
    bool is_of_days;  // and not of times of day
  };
  constexpr Part kParts[] = {{"microseconds", {0, 6e7}, false},
                             {"milliseconds", {0, 6e4}, false},
                             {"second", {0, 60}, false},
                             {"minute", {0, 59}, false},
                             {"hour", {0, 24}, false},
                             {"day", {1, 31}, true},
                             {"dow", {0, 6}, true},
                             {"isodow", {1, 7}, true},
                             {"doy", {1, 366}, true},
                             {"week", {1, 53}, true},
                             {"month", {1, 12}, true},
                             {"quarter", {1, 4}, true}};
  for (const Part& row : kParts) {
    if (strcmp(part, row.name) != 0) continue;
    // Those of an interval that are no whole year
    if (type == INTERVALOID && strcmp(part, "month") == 0) return Range{-11, 11};
    if (!is_moment(type) && (row.is_of_days || type != TIMEOID)) return std::nullopt;
    // 24:00 is a time of day.
    return is_moment(type) && strcmp(part, "hour") == 0 ? Range{0, 23} : row.range;
  }
  const MaybeRange years = years_of(time, type);
  if (!years || strcmp(part, "year") == 0) return years;
  if (strcmp(part, "isoyear") == 0) return widened(*years, 1);
  if (strcmp(part, "decade") == 0)
    return Range{std::floor(years->lower / 10), std::floor(years->upper / 10)};
  if (strcmp(part, "century") != 0) return std::nullopt;
  return Range{std::floor(years->lower / 100), std::floor(years->upper / 100) + 1};
}

}  // namespace dpquantile
