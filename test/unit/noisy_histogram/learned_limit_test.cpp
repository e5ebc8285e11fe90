#include "core/noisy_histogram/learned_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::TestContext;

constexpr CountNoise kNoise{PrivacyMeasure::kPure, 1};
constexpr std::uint64_t kMost = 1000;

struct Persons {
  std::uint64_t number;
  std::uint64_t rows;  // of each
};
using Data = std::vector<Persons>;

std::vector<std::uint64_t> cells_of(const Data& data) {
  std::vector<std::uint64_t> cells(kRowCells);
  for (const auto& [number, rows] : data) cells[cell_of_rows(rows)] += number;
  return cells;
}

// What is found if all noise is 0.
std::optional<LearnedLimit> found_in(const Data& data, double noise_of_one,
                                     std::uint64_t most = kMost) {
  const auto cells = cells_of(data);
  const std::vector<std::int64_t> noisy(cells.begin(), cells.end());
  return limit_of_noisy_counts(noisy, kNoise, noise_of_one, most, test::heap());
}

double rows_beyond(const Data& data, std::uint64_t limit) {
  double rows = 0;
  for (const auto& [number, own] : data) {
    rows += static_cast<double>(number) * static_cast<double>(own - std::min(own, limit));
  }
  return rows;
}

TEST(RowCells, HoldEachNumberOfRows) {
  EXPECT_EQ(cell_of_rows(1), 0U);
  for (std::uint32_t i = 0; i < kRowCells; ++i) {
    EXPECT_EQ(cell_of_rows(least_rows(i)), i);
    EXPECT_EQ(cell_of_rows(least_rows(i + 1) - 1), i);
  }
  for (std::uint64_t rows = 1; rows <= 15; ++rows) EXPECT_EQ(least_rows(cell_of_rows(rows)), rows);
  EXPECT_EQ(cell_of_rows(UINT64_MAX), kRowCells - 1);
}

TEST(LearnedLimit, IsNoneOfFewPersons) {
  EXPECT_FALSE(found_in({}, 1));
  EXPECT_FALSE(found_in({{29, 5}}, 1));
  EXPECT_TRUE(found_in({{30, 5}}, 1));
}

// One more row of each person costs noise_of_one, and saves a row of each person who has it.
TEST(LearnedLimit, BalancesNoiseAndRowsThatAreLeftOut) {
  const Data data{{1000, 1}, {300, 2}, {200, 5}, {100, 9}, {50, 12}};
  for (const double noise_of_one : {0.5, 49.0, 51.0, 120.0, 149.0, 349.0, 400.0, 1000.0}) {
    const auto found = found_in(data, noise_of_one);
    ASSERT_TRUE(found);
    const auto loss = [&](std::uint64_t limit) {
      return rows_beyond(data, limit) + noise_of_one * static_cast<double>(limit);
    };
    for (std::uint64_t limit = 1; limit <= 20; ++limit) EXPECT_LE(loss(found->limit), loss(limit));
    EXPECT_EQ(found->left_out, rows_beyond(data, found->limit));
    EXPECT_EQ(found->rows, rows_beyond(data, 0));
  }
}

TEST(LearnedLimit, IsAtMostWhatIsAllowed) {
  EXPECT_EQ(found_in({{1000, 15}}, 1)->limit, 15U);
  EXPECT_EQ(found_in({{1000, 15}}, 1, 10)->limit, 10U);
  EXPECT_EQ(found_in({{1000, 15}}, 1, 10)->left_out, 5000);
  EXPECT_EQ(found_in({{1000, 1 << 20}}, 1)->limit, kMost);
}

// Noise would make very many rows of them.
TEST(LearnedLimit, IgnoresFewPersonsWithFarMoreRows) {
  const Data alike{{1000, 5}};
  const auto found = found_in(alike, 1);
  EXPECT_EQ(found_in({{1000, 5}, {29, 1 << 30}}, 1)->limit, found->limit);
  EXPECT_EQ(found_in({{1000, 5}, {29, 1 << 30}}, 1)->left_out, found->left_out);
  EXPECT_EQ(found_in({{1000, 5}, {2, 12}}, 1)->left_out, 14);
}

TEST(LearnedLimit, TellsItsError) {
  const double one = found_in({{1000, 5}}, 1)->left_out_error;
  const auto cells = cells_of({{1000, 5}});
  const std::vector<std::int64_t> noisy(cells.begin(), cells.end());
  const auto gaussian =
      limit_of_noisy_counts(noisy, {PrivacyMeasure::kZcdp, 1}, 1, kMost, test::heap());
  EXPECT_NEAR(one, std::sqrt(2) * gaussian->left_out_error, 1e-9);
  EXPECT_GT(one, 2 * 16 * std::sqrt(2));  // that of the last cell, of 20 and 21 rows, alone
}

// With this epsilon there is noise with a probability below 1e-40.
TEST(LearnedLimit, AddsNoiseForOnePerson) {
  TestContext context;
  const Data data{{1000, 1}, {300, 2}, {200, 5}, {100, 9}};
  const auto cells = cells_of(data);
  const auto found = learn_limit(cells, pure(100), 120, kMost, context);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->limit, 5U);
  EXPECT_EQ(found->left_out, 400);
  EXPECT_THROW(learn_limit(cells, pure(0), 120, kMost, context), ParameterError);
  bool differs = false;
  for (int i = 0; i < 100 && !differs; ++i) {
    differs = learn_limit(cells, pure(0.5), 120, kMost, context)->left_out != 400;
  }
  EXPECT_TRUE(differs);  // each answer is 400 with a probability below 1/2
}

}  // namespace
}  // namespace dpquantile
