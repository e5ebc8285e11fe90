#include "core/histogram/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <new>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "support/cell_runs_testing.hpp"
#include "support/context_testing.hpp"
#include "support/memory_testing.hpp"

namespace dpquantile {
namespace {

using test::TestWorkspace;

using Records = std::vector<std::uint32_t>;

constexpr std::uint64_t kWholeRange = std::uint64_t{1} << 32;

Histogram histogram_of(Records& records, std::uint64_t cells) {
  return Histogram(records, cells, TestWorkspace());
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
    EXPECT_EQ(histogram.first_run_from(cell), expected[as_size(cell)]) << cell;
  }
}

TEST(Histogram, HasNoRunsWithoutRecords) {
  Records none;
  const Histogram histogram = histogram_of(none, 10);
  EXPECT_EQ(histogram.runs(), 0U);
  EXPECT_EQ(histogram.before(0), 0U);
  EXPECT_EQ(histogram.total(), 0U);
  EXPECT_EQ(histogram.first_run_from(0), 0U);
  EXPECT_EQ(histogram.first_run_from(kWholeRange), 0U);
}

TEST(Histogram, HasOneRunForTies) {
  Records records(100'000, 3);
  const Histogram histogram = histogram_of(records, 4);
  ASSERT_EQ(histogram.runs(), 1U);
  EXPECT_EQ(histogram.cell(0), 3U);
  EXPECT_EQ(histogram.count(0), 100'000U);
}

TEST(Histogram, CountsTheHighestCellOfTheLargestGrid) {
  Records records = {0xffffffff, 0, 0xffffffff};
  const Histogram histogram = histogram_of(records, kWholeRange);
  ASSERT_EQ(histogram.runs(), 2U);
  EXPECT_EQ(histogram.cell(1), 0xffffffff);
  EXPECT_EQ(histogram.count(1), 2U);
  EXPECT_EQ(histogram.first_run_from(0xffffffff), 1U);
  EXPECT_EQ(histogram.first_run_from(kWholeRange), 2U) << "beyond the last cell";
}

TEST(Histogram, OnlyReordersTheGivenRecords) {
  const Records original = {7, 2, 7, 0, 2, 7, 1, 1};
  for (const std::uint64_t cells : {std::uint64_t{8}, kWholeRange}) {
    Records records = original;
    histogram_of(records, cells);
    EXPECT_TRUE(std::is_permutation(records.begin(), records.end(), original.begin()));
  }
}

// The way of counting may change where the records are as many as the cells.
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

// Gives runs one by one.
class Given {
 public:
  explicit Given(test::Runs runs) : runs_(std::move(runs)) {}

  bool next(CellRun& run) {
    if (at_ == runs_.size()) return false;
    run = runs_[at_++];
    return true;
  }

 private:
  test::Runs runs_;
  std::size_t at_ = 0;
};

Histogram histogram_of_runs(const test::Runs& runs) {
  const auto ties = std::ranges::count_if(runs, [](const CellRun& run) { return run.count > 1; });
  return Histogram(runs.size(), static_cast<std::size_t>(ties), Given(runs), TestWorkspace());
}

TEST(Histogram, IsTheSameFromRunsAsFromRecords) {
  Records records = {7, 2, 7, 0, 2, 7};
  const Histogram expected = histogram_of(records, 10);
  const Histogram histogram = histogram_of_runs({{0, 1}, {2, 2}, {7, 3}});
  ASSERT_EQ(histogram.runs(), 3U);
  for (std::size_t run = 0; run < 3; ++run) {
    EXPECT_EQ(histogram.cell(run), expected.cell(run));
    EXPECT_EQ(histogram.count(run), expected.count(run));
    EXPECT_EQ(histogram.before(run), expected.before(run));
  }
  EXPECT_EQ(histogram.total(), 6U);
  EXPECT_EQ(histogram_of_runs({}).total(), 0U);
}

TEST(Histogram, ReadsCompressedRuns) {
  const CellRuns runs = test::encoded({{3, 1}, {0xffffffff, 1000}});
  const Histogram histogram(runs.runs(), runs.ties(), CellRunsReader(runs), TestWorkspace());
  ASSERT_EQ(histogram.runs(), 2U);
  EXPECT_EQ(histogram.cell(1), 0xffffffff);
  EXPECT_EQ(histogram.count(1), 1000U);
}

// With many runs the histogram stores only the ties to count the records before a run.
TEST(Histogram, CountsManyRunsWithAnyShareOfTies) {
  constexpr std::uint32_t kRuns = 70'000;
  for (const std::uint32_t period : {1U, 2U, 3U, 1000U, kRuns + 1}) {
    test::Runs runs;
    for (std::uint32_t i = 0; i < kRuns; ++i) {
      runs.push_back({3 * i, i % period == period - 1 ? 2 + i % 7 : 1});
    }
    const Histogram histogram = histogram_of_runs(runs);
    ASSERT_EQ(histogram.runs(), kRuns);
    std::uint64_t before = 0;
    for (std::size_t run = 0; run < kRuns; ++run) {
      ASSERT_EQ(histogram.cell(run), runs[run].cell);
      ASSERT_EQ(histogram.before(run), before) << "one tie in " << period;
      ASSERT_EQ(histogram.count(run), runs[run].count) << "one tie in " << period;
      before += runs[run].count;
    }
    EXPECT_EQ(histogram.before(kRuns), before);
    EXPECT_EQ(histogram.total(), before);
  }
}

// threat 24
TEST(Histogram, RefusesMoreThan32BitsOfRecords) {
  const Histogram most = histogram_of_runs({{0, 0xfffffffe}, {1, 1}});
  EXPECT_EQ(most.total(), Histogram::kMaxRecords);
  EXPECT_EQ(most.count(0), 0xfffffffeU);
  EXPECT_EQ(most.count(1), 1U);
  EXPECT_THROW(histogram_of_runs({{0, 0xfffffffe}, {1, 2}}), std::length_error);
  EXPECT_THROW(histogram_of_runs({{0, 0xffffffff}, {1, 0xffffffff}}), std::length_error);
}

TEST(Histogram, CountsTheRecordsOfEveryCell) {
  Records records = {7, 2, 7, 0, 2, 7};
  const auto counts = histogram_of(records, 10).counts(10, std::pmr::new_delete_resource());
  EXPECT_EQ(std::vector(counts.begin(), counts.end()),
            (std::vector<std::uint64_t>{1, 0, 2, 0, 0, 0, 0, 3, 0, 0}));
  Records none;
  EXPECT_EQ(histogram_of(none, 1).counts(1, std::pmr::new_delete_resource())[0], 0U);
}

TEST(Histogram, TakesEightBytesPerOccupiedCell) {
  test::CountedMemory memory;
  Records records(100'000);
  for (std::uint32_t i = 0; i < records.size(); ++i) records[i] = i / 2;
  const Histogram histogram(records, kWholeRange, TestWorkspace(nullptr, &memory));
  EXPECT_LE(memory.used(), 8 * histogram.runs() + 100);
}

TEST(Histogram, TakesItsMemoryFromTheGivenResource) {
  const TestWorkspace no_memory(nullptr, std::pmr::null_memory_resource());
  for (const std::uint64_t cells : {std::uint64_t{4}, kWholeRange}) {
    Records records = {1, 2, 3, 3};
    EXPECT_THROW(Histogram(records, cells, no_memory), std::bad_alloc);
  }
}

TEST(Histogram, StopsWhenCancelled) {
  const TestWorkspace cancelled([] { return true; });
  for (const std::uint64_t cells : {std::uint64_t{4}, kWholeRange}) {
    Records records(100'000, 3);
    EXPECT_THROW(Histogram(records, cells, cancelled), Cancelled);
  }
  EXPECT_THROW(Histogram(100'000, 0, Given(test::Runs(100'000, {3, 1})), cancelled), Cancelled);
}

}  // namespace
}  // namespace dpquantile
