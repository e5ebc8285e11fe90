#include "core/histogram/cell_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <random>
#include <vector>

#include "core/base/as_size.hpp"
#include "support/cell_runs_testing.hpp"
#include "support/context_testing.hpp"
#include "support/memory_testing.hpp"

namespace dpquantile {
namespace {

using test::bytes_of;
using test::CountedMemory;
using test::encoded;
using test::heap;
using test::runs_of;

using Records = std::vector<std::uint32_t>;

constexpr std::uint64_t kWholeRange = std::uint64_t{1} << 32;
constexpr std::size_t kMost = CellChunks::kMostCells;

CancelPoll never{nullptr};

Records random_records(std::size_t count, std::uint64_t cells) {
  std::mt19937_64 random(count);
  Records records(count);
  for (std::uint32_t& record : records) record = static_cast<std::uint32_t>(random() % cells);
  return records;
}

void add_each(CellChunks& chunks, const Records& records, CellBundlePool& pool) {
  for (const std::uint32_t record : records) {
    if (chunks.full()) chunks.make_room(pool);
    chunks.add(record);
  }
}

Records sorted(Records records) {
  std::ranges::sort(records);
  return records;
}

Records list_of(const CellChunks& chunks) {
  const auto list = chunks.list(heap());
  return {list.begin(), list.end()};
}

// Sizes around the borders of chunks and of bundles, and the largest.
class CellChunksOfSize : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, CellChunksOfSize,
                         testing::Values(0, 1, 6, 7, 8, 14, 15, 63, 64, 100, 119, 120, kMost - 1,
                                         kMost),
                         testing::PrintToStringParamName());

TEST_P(CellChunksOfSize, HoldAllRecords) {
  for (const std::uint64_t cells : {std::uint64_t{1}, std::uint64_t{100}, kWholeRange}) {
    const Records records = random_records(GetParam(), cells);
    CellBundlePool pool(heap());
    CellChunks chunks;
    add_each(chunks, records, pool);

    EXPECT_EQ(chunks.total(), records.size());
    EXPECT_EQ(sorted(list_of(chunks)), sorted(records));
    EXPECT_EQ(bytes_of(chunks.encode(cells, {never, heap()})),
              bytes_of(encoded(runs_of(sorted(records)))));

    Records by_histogram;
    const Histogram histogram = chunks.histogram(cells, {never, heap()});
    for (std::size_t run = 0; run < histogram.runs(); ++run) {
      by_histogram.insert(by_histogram.end(), as_size(histogram.count(run)), histogram.cell(run));
    }
    EXPECT_EQ(by_histogram, sorted(records));
  }
}

TEST_P(CellChunksOfSize, CountTheRecordsOfEachCell) {
  for (const std::uint64_t cells : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{5000}}) {
    const Records records = random_records(GetParam(), cells);
    CellBundlePool pool(heap());
    CellChunks chunks;
    add_each(chunks, records, pool);
    std::vector<std::uint64_t> expected(as_size(cells));
    for (const std::uint32_t record : records) ++expected[record];
    EXPECT_TRUE(std::ranges::equal(chunks.counts(cells, heap()), expected));
  }
}

TEST(CellChunks, KeepManyGroupsApart) {
  constexpr std::size_t kGroups = 500;
  CellBundlePool pool(heap());
  std::vector<CellChunks> groups(kGroups);
  std::vector<Records> expected(kGroups);
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < 100 * kGroups; ++i) {
    const std::size_t group = as_size(random() % kGroups);
    const auto cell = static_cast<std::uint32_t>(random());
    add_each(groups[group], {cell}, pool);
    expected[group].push_back(cell);
  }
  for (std::size_t group = 0; group < kGroups; ++group) {
    ASSERT_EQ(sorted(list_of(groups[group])), sorted(expected[group])) << "group " << group;
  }
}

TEST(CellChunks, GiveTheirMemoryBackToThePoolWhenCleared) {
  CountedMemory memory;
  CellBundlePool pool(&memory);
  std::size_t used = 0;
  for (int i = 0; i < 10; ++i) {
    CellChunks chunks;
    add_each(chunks, random_records(kMost, kWholeRange), pool);
    EXPECT_EQ(sorted(list_of(chunks)), sorted(random_records(kMost, kWholeRange)));
    chunks.clear(pool);
    if (i == 0) used = memory.used();
  }
  EXPECT_EQ(memory.used(), used);
}

TEST(CellChunks, TakeOtherRecordsWhenCleared) {
  CellBundlePool pool(heap());
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, CellChunks::kChunk, kMost}) {
    CellChunks chunks;
    add_each(chunks, random_records(size, kWholeRange), pool);
    chunks.clear(pool);
    EXPECT_EQ(chunks.total(), 0U);
    EXPECT_TRUE(chunks.latest().empty());
    const Records others = random_records(CellChunks::kChunk, kWholeRange);
    add_each(chunks, others, pool);
    EXPECT_TRUE(std::ranges::equal(chunks.latest(), others));
    EXPECT_EQ(list_of(chunks), others);
  }
}

TEST(CellChunks, TakeFiveBytesPerRecord) {
  CountedMemory memory;
  CellBundlePool pool(&memory);
  std::vector<CellChunks> groups(1000);
  for (CellChunks& group : groups) add_each(group, random_records(1300, kWholeRange), pool);
  EXPECT_LE(memory.used(), 1.1 * 1300 * 1000 * sizeof(CellBundle) / CellBundle::kCells);
}

TEST(CellBundlePool, AlignsBundlesToCacheLines) {
  std::pmr::monotonic_buffer_resource memory;
  (void)memory.allocate(16, kCacheLine);  // the next block is aligned only on request
  CellBundlePool pool(&memory);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(pool.take()) % kCacheLine, 0U);
  }
}

TEST(CellChunks, KeepTheirRecordsWhenMemoryRunsOut) {
  CellBundlePool pool(std::pmr::null_memory_resource());
  CellChunks chunks;
  const Records records = random_records(CellChunks::kChunk, kWholeRange);
  add_each(chunks, records, pool);
  EXPECT_THROW(chunks.make_room(pool), std::bad_alloc);
  EXPECT_TRUE(chunks.full());
  EXPECT_EQ(chunks.total(), records.size());
  EXPECT_EQ(sorted(list_of(chunks)), sorted(records));
}

}  // namespace
}  // namespace dpquantile
