#pragma once

#include <cstdint>
#include <string>

namespace dpquantile {

// A date of the Gregorian calendar, extended to all years; the year before 1 is 0.
struct CivilDate {
  std::int64_t year;
  int month;  // 1 .. 12
  int day;    // 1 .. 31
};

// Between a date and the number of days since 2000-01-01, for up to 2^40 days. The month need not
// be within 1 .. 12: month 13 is January of the next year.
std::int64_t days_of(const CivilDate& date);
CivilDate date_of(std::int64_t days);

// "2024-03-01" in ISO form, a year before 1 as "0044-03-15 BC".
std::string iso_date(const CivilDate& date);

}  // namespace dpquantile
