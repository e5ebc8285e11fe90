#include "core/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <new>
#include <random>
#include <vector>

#include "core/error.hpp"

namespace dpquantile {
namespace {

using Records = std::vector<std::uint32_t>;

constexpr std::uint64_t kWholeRange = std::uint64_t{1} << 32;

Histogram histogram_of(Records& records, std::uint64_t cells) {
  CancelPoll cancel(nullptr);
  return Histogram(records, cells, cancel, std::pmr::new_delete_resource());
}

TEST(Histogram, HasARunForEveryOccupiedCellInAscendingOrder) {
  Records records = {7, 2, 7, 0, 2, 7};
  const Histogram histogram = histogram_of(records, 10);
  ASSERT_EQ(histogram.runs(), 3U);
  EXPECT_EQ(histogram.cell(0), 0U);
  EXPECT_EQ(histogram.cell(1), 2U);
  EXPECT_EQ(histogram.cell(2), 7U);
}

TEST(Histogram, CountsTheRecordsOfARunAndThoseBeforeIt) {
  Records records = {7, 2, 7, 0, 2, 7};
  const Histogram histogram = histogram_of(records, 10);
  EXPECT_EQ(histogram.count(0), 1U);
  EXPECT_EQ(histogram.count(1), 2U);
  EXPECT_EQ(histogram.count(2), 3U);
  EXPECT_EQ(histogram.before(0), 0U);
  EXPECT_EQ(histogram.before(1), 1U);
  EXPECT_EQ(histogram.before(2), 3U);
  EXPECT_EQ(histogram.before(3), 6U) << "one more than the runs: all records";
  EXPECT_EQ(histogram.total(), 6U);
}

TEST(Histogram, FindsTheFirstRunAtOrAfterACell) {
  Records records = {7, 2, 7, 0, 2, 7};
  const Histogram histogram = histogram_of(records, 10);
  const std::vector<std::size_t> expected = {0, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3};
  for (std::uint64_t cell = 0; cell < expected.size(); ++cell) {
    EXPECT_EQ(histogram.first_run_from(cell), expected[cell]) << cell;
  }
}

TEST(Histogram, OfNoRecordsHasNoRuns) {
  Records none;
  const Histogram histogram = histogram_of(none, 10);
  EXPECT_EQ(histogram.runs(), 0U);
  EXPECT_EQ(histogram.before(0), 0U);
  EXPECT_EQ(histogram.total(), 0U);
  EXPECT_EQ(histogram.first_run_from(0), 0U);
  EXPECT_EQ(histogram.first_run_from(kWholeRange), 0U);
}

TEST(Histogram, OfTiesHasOneRun) {
  Records records(100'000, 3);
  const Histogram histogram = histogram_of(records, 4);
  ASSERT_EQ(histogram.runs(), 1U);
  EXPECT_EQ(histogram.cell(0), 3U);
  EXPECT_EQ(histogram.count(0), 100'000U);
}

TEST(Histogram, TakesTheHighestCellOfTheLargestGrid) {
  Records records = {0xffffffff, 0, 0xffffffff};
  const Histogram histogram = histogram_of(records, kWholeRange);
  ASSERT_EQ(histogram.runs(), 2U);
  EXPECT_EQ(histogram.cell(1), 0xffffffff);
  EXPECT_EQ(histogram.count(1), 2U);
  EXPECT_EQ(histogram.first_run_from(0xffffffff), 1U);
  EXPECT_EQ(histogram.first_run_from(kWholeRange), 2U) << "beyond the last cell";
}

TEST(Histogram, KeepsTheRecordsInSomeOrder) {
  const Records original = {7, 2, 7, 0, 2, 7, 1, 1};
  for (const std::uint64_t cells : {std::uint64_t{8}, kWholeRange}) {
    Records records = original;
    histogram_of(records, cells);
    EXPECT_TRUE(std::is_permutation(records.begin(), records.end(), original.begin()));
  }
}

// On both sides of as many cells as records, where the way of counting may change.
TEST(Histogram, AgreesWithAMapOfCounts) {
  std::mt19937 random(1);
  for (const std::uint32_t cells : {1U, 5U, 1000U, 19'999U, 20'000U, 20'001U, 1U << 20}) {
    std::uniform_int_distribution<std::uint32_t> uniform(0, cells - 1);
    Records records(20'000);
    std::generate(records.begin(), records.end(), [&] { return uniform(random); });
    std::map<std::uint32_t, std::uint64_t> counts;
    for (const std::uint32_t cell : records) ++counts[cell];

    const Histogram histogram = histogram_of(records, cells);
    ASSERT_EQ(histogram.runs(), counts.size());
    std::size_t run = 0;
    std::uint64_t before = 0;
    for (const auto& [cell, count] : counts) {
      ASSERT_EQ(histogram.cell(run), cell);
      ASSERT_EQ(histogram.count(run), count);
      ASSERT_EQ(histogram.before(run), before);
      before += count;
      ++run;
    }
    EXPECT_EQ(histogram.total(), before);
  }
}

TEST(Histogram, TakesItsMemoryFromTheGivenResource) {
  CancelPoll cancel(nullptr);
  for (const std::uint64_t cells : {std::uint64_t{4}, kWholeRange}) {
    Records records = {1, 2, 3, 3};
    EXPECT_THROW(Histogram(records, cells, cancel, std::pmr::null_memory_resource()),
                 std::bad_alloc);
  }
}

TEST(Histogram, StopsWhenCancelled) {
  CancelPoll cancel([] { return true; });
  for (const std::uint64_t cells : {std::uint64_t{4}, kWholeRange}) {
    Records records(100'000, 3);
    EXPECT_THROW(Histogram(records, cells, cancel, std::pmr::new_delete_resource()), Cancelled);
  }
}

}  // namespace
}  // namespace dpquantile
