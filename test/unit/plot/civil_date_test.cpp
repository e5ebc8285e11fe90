#include "core/plot/civil_date.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace dpquantile {
namespace {

std::string text_of(std::int64_t days) {
  return iso_date(date_of(days));
}

TEST(CivilDate, CountsDaysFromTheYear2000) {
  EXPECT_EQ(text_of(0), "2000-01-01");
  EXPECT_EQ(text_of(-1), "1999-12-31");
  EXPECT_EQ(text_of(59), "2000-02-29");
  EXPECT_EQ(text_of(60), "2000-03-01");
  EXPECT_EQ(text_of(366), "2001-01-01");
  EXPECT_EQ(text_of(8826), "2024-03-01");
}

TEST(CivilDate, KnowsTheLeapYearsOfTheGregorianCalendar) {
  for (const auto& [year, days] : {std::pair{1900, 365},
                                   {2000, 366},
                                   {2023, 365},
                                   {2024, 366},
                                   {2100, 365},
                                   {0, 366},
                                   {-100, 365},
                                   {-400, 366}}) {
    EXPECT_EQ(days_of({year + 1, 1, 1}) - days_of({year, 1, 1}), days) << year;
  }
}

TEST(CivilDate, CountsYearsBeforeChristFromOne) {
  EXPECT_EQ(iso_date({1, 1, 1}), "0001-01-01");
  EXPECT_EQ(iso_date({0, 12, 31}), "0001-12-31 BC");
  EXPECT_EQ(iso_date({-43, 3, 15}), "0044-03-15 BC");
  EXPECT_EQ(iso_date({5'874'897, 12, 31}), "5874897-12-31");
}

TEST(CivilDate, TakesTheMonthsOfNeighbouringYears) {
  EXPECT_EQ(days_of({2023, 13, 1}), days_of({2024, 1, 1}));
  EXPECT_EQ(days_of({2023, 0, 1}), days_of({2022, 12, 1}));
}

// Every day of 1200 years, and some of each century of PostgreSQL's range.
TEST(CivilDate, GivesBackEveryDay) {
  const auto expect_same = [](std::int64_t days) {
    const CivilDate date = date_of(days);
    EXPECT_EQ(days_of(date), days);
    EXPECT_TRUE(date.month >= 1 && date.month <= 12 && date.day >= 1 && date.day <= 31);
  };
  for (std::int64_t days = -800 * 365; days < 400 * 365; ++days) expect_same(days);
  for (std::int64_t days = -2'451'545; days < 2'145'031'948; days += 36'523) expect_same(days);
}

}  // namespace
}  // namespace dpquantile
