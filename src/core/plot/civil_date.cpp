#include "core/plot/civil_date.hpp"

#include <algorithm>

namespace dpquantile {

namespace {

constexpr std::int64_t kYearsOfEra = 400;
constexpr std::int64_t kDaysOfEra = 146'097;
// From 0000-03-01 to 2000-01-01
constexpr std::int64_t kDaysTo2000 = 730'425;

std::int64_t floor_divide(std::int64_t dividend, std::int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

std::string padded(std::int64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

}  // namespace

// Years begin in March, which puts the leap day at their end: Hinnant, "chrono-Compatible Low-Level
// Date Algorithms".
std::int64_t days_of(const CivilDate& date) {
  const std::int64_t months = date.year * 12 + date.month - 3;
  const std::int64_t year = floor_divide(months, 12);
  const std::int64_t month = months - 12 * year;  // 0: March
  const std::int64_t leap_days =
      floor_divide(year, 4) - floor_divide(year, 100) + floor_divide(year, kYearsOfEra);
  return 365 * year + leap_days + (153 * month + 2) / 5 + date.day - 1 - kDaysTo2000;
}

CivilDate date_of(std::int64_t days) {
  const std::int64_t since_march = days + kDaysTo2000;
  const std::int64_t era = floor_divide(since_march, kDaysOfEra);
  const std::int64_t day = since_march - era * kDaysOfEra;
  const std::int64_t year = (day - day / 1460 + day / 36'524 - day / (kDaysOfEra - 1)) / 365;
  const std::int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
  const std::int64_t month = (5 * day_of_year + 2) / 153;
  const std::int64_t day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
  return {era * kYearsOfEra + year + (month >= 10 ? 1 : 0),
          static_cast<int>(month < 10 ? month + 3 : month - 9), static_cast<int>(day_of_month)};
}

std::string iso_date(const CivilDate& date) {
  const bool before_christ = date.year <= 0;
  const std::int64_t year = before_christ ? 1 - date.year : date.year;
  return padded(year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2) +
         (before_christ ? " BC" : "");
}

}  // namespace dpquantile
