#include "core/histogram/cell_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "support/cell_runs_testing.hpp"
#include "support/memory_testing.hpp"

namespace dpquantile {
namespace {

using test::Bytes;
using test::bytes_of;
using test::encoded;
using test::records_in;
using test::Runs;
using test::runs_from;

constexpr std::uint32_t kMost = 0xffffffff;
constexpr std::uint64_t kWholeRange = std::uint64_t{1} << 32;

bool is_accepted(const Bytes& bytes, std::uint64_t cells, std::uint64_t records) {
  CancelPoll cancel(nullptr);
  try {
    check_cell_runs(bytes, cells, records, cancel);
    return true;
  } catch (const CorruptInput&) {
    return false;
  }
}

std::string refusal(const Bytes& bytes, std::uint64_t cells, std::uint64_t records) {
  CancelPoll cancel(nullptr);
  try {
    check_cell_runs(bytes, cells, records, cancel);
    return "";
  } catch (const CorruptInput& error) {
    return error.what();
  }
}

TEST(CellRuns, HaveTheDocumentedEncoding) {
  const struct {
    Runs runs;
    Bytes bytes;
  } examples[] = {
      {{}, {}},
      {{{0, 1}}, {0}},
      {{{1, 1}}, {2}},
      {{{5, 1}}, {10}},
      {{{0, 2}}, {1, 0}},
      {{{0, 3}}, {1, 1}},
      {{{5, 4}}, {11, 2}},
      {{{0, 1}, {1, 1}, {2, 1}}, {0, 0, 0}},
      {{{0, 2}, {1, 3}, {7, 1}}, {1, 0, 1, 1, 10}},
      {{{63, 1}}, {126}},
      {{{63, 2}}, {127, 0}},
      {{{64, 1}}, {0x80, 1}},
      {{{8191, 1}}, {0xfe, 0x7f}},
      {{{8192, 1}}, {0x80, 0x80, 1}},
      {{{0, 129}}, {1, 127}},
      {{{0, 130}}, {1, 0x80, 1}},
      {{{0, kMost}}, {1, 0xfd, 0xff, 0xff, 0xff, 0x0f}},
      {{{kMost, 1}}, {0xfe, 0xff, 0xff, 0xff, 0x1f}},
      {{{kMost, kMost}}, {0xff, 0xff, 0xff, 0xff, 0x1f, 0xfd, 0xff, 0xff, 0xff, 0x0f}},
      {{{kMost - 1, 1}, {kMost, 1}}, {0xfc, 0xff, 0xff, 0xff, 0x1f, 0}},
  };
  for (const auto& [runs, bytes] : examples) {
    EXPECT_EQ(bytes_of(encoded(runs)), bytes);
    EXPECT_EQ(runs_from(CellRunsReader(bytes)), runs);
    EXPECT_TRUE(is_accepted(bytes, kWholeRange, records_in(runs)));
  }
}

TEST(CellRuns, CountRunsRecordsAndBytes) {
  const CellRuns none = encoded({});
  EXPECT_EQ(none.runs(), 0U);
  EXPECT_EQ(none.records(), 0U);
  EXPECT_EQ(none.bytes(), 0U);
  const CellRuns several = encoded({{0, 2}, {7, 1}, {200, kMost}});
  EXPECT_EQ(several.runs(), 3U);
  EXPECT_EQ(several.records(), std::uint64_t{kMost} + 3);
  EXPECT_EQ(several.bytes(), bytes_of(several).size());
}

// Gaps and counts have all sizes, and the runs fill many blocks.
TEST(CellRuns, AreReadAsTheyWereAppended) {
  std::mt19937_64 random(1);
  for (const std::size_t size : {1U, 100U, 255U, 256U, 257U, 300'000U}) {
    for (const unsigned most_bits : {1U, 8U, 32U}) {
      Runs runs;
      std::uint64_t cell = random() % 3;
      while (runs.size() < size && cell <= kMost) {
        const std::uint64_t count = (random() % kWholeRange) >> random() % 33;
        runs.push_back({static_cast<std::uint32_t>(cell),
                        static_cast<std::uint32_t>(std::max<std::uint64_t>(count, 1))});
        // Long gaps are rare, so that the runs do not soon reach the end of the value grid.
        const unsigned bits = random() % 1000 == 0 ? most_bits : most_bits / 2;
        cell += 1 + ((random() % kWholeRange) >> (32 - bits));
      }
      const CellRuns appended = encoded(runs);
      EXPECT_EQ(runs_from(CellRunsReader(appended)), runs) << "block by block";
      const Bytes bytes = bytes_of(appended);
      EXPECT_EQ(runs_from(CellRunsReader(bytes)), runs) << "put together";
      EXPECT_EQ(appended.bytes(), bytes.size());
      EXPECT_EQ(appended.runs(), runs.size());
      EXPECT_EQ(appended.records(), records_in(runs));
      EXPECT_TRUE(is_accepted(bytes, std::uint64_t{runs.back().cell} + 1, records_in(runs)));
      EXPECT_FALSE(is_accepted(bytes, runs.back().cell, records_in(runs)));
    }
  }
}

TEST(CellRuns, TakeOneBytePerRecordOnConsecutiveCells) {
  CellRuns runs(std::pmr::new_delete_resource());
  for (std::uint32_t cell = 0; cell < 100'000; ++cell) runs.append({cell, 1});
  EXPECT_EQ(runs.bytes(), 100'000U);
}

TEST(CellRuns, TakeLittleMoreMemoryThanTheirBytes) {
  test::CountedMemory memory;
  CellRuns runs(&memory);
  const auto most = [&] { return 2 * runs.bytes() + runs.bytes() / 16 + 1024; };
  for (std::uint32_t cell = 0; cell < 3'000'000; cell += 3) {
    runs.append({cell, 1});
    ASSERT_LE(memory.peak(), most()) << cell;
  }
  EXPECT_LT(memory.used(), runs.bytes() + (std::size_t{1} << 18) + 1024) << "of one block";
}

TEST(CellRuns, StayInPlaceWhenMoreAreAppended) {
  CellRuns runs(std::pmr::new_delete_resource());
  std::vector<const std::uint8_t*> blocks;
  std::uint32_t cell = 0;
  for (std::uint32_t i = 0; i < 500'000; ++i) {
    // Runs of one to ten bytes.
    const std::uint32_t skipped = i % 20'000 == 0 ? 100'000'000 : 0;
    cell += 1 + skipped;
    runs.append({cell, kMost >> i % 32});
    const std::uint8_t* last = runs.block(runs.blocks() - 1).data();
    if (runs.blocks() > blocks.size()) blocks.push_back(last);
    ASSERT_EQ(last, blocks.back());
  }
  EXPECT_GT(blocks.size(), 4U);
  for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_EQ(runs.block(i).data(), blocks[i]);
}

TEST(CellRuns, LeakNothingWhenMemoryRunsOut) {
  for (std::size_t allocations = 0;; ++allocations) {
    test::CountedMemory memory(allocations);
    bool done = false;
    try {
      CellRuns runs(&memory);
      for (std::uint32_t cell = 0; cell < 20'000; ++cell) runs.append({cell, 1});
      done = true;
    } catch (const std::bad_alloc&) {
    }
    EXPECT_EQ(memory.used(), 0U);
    if (done) break;
  }
}

// threat 15: bytes may come from anywhere
TEST(CheckCellRuns, SaysWhatIsWrong) {
  const struct {
    Bytes bytes;
    std::uint64_t records;
    const char* refusal;
  } examples[] = {
      {{}, 1, "fewer records than are stated"},
      {{0}, 0, "more records than are stated"},
      {{0}, 2, "fewer records than are stated"},
      {{1, 0}, 1, "more records than are stated"},
      {{1, 0}, 3, "fewer records than are stated"},
      {{0x80}, 1, "a number does not end"},
      {{1}, 2, "a number does not end"},
      {{1, 0x80}, 2, "a number does not end"},
      {{0x80, 0}, 1, "a number ends in a zero byte"},
      {{0x82, 0x80, 0}, 1, "a number ends in a zero byte"},
      {{1, 0x80, 0}, 2, "a number ends in a zero byte"},
      {{0x80, 0x80, 0x80, 0x80, 0x80, 1}, 1, "a number does not end"},
      {{1, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 2, "a number does not end"},
      {{18}, 1, ""},
      {{20}, 1, "a record lies outside the grid"},
      {{0, 16}, 2, ""},
      {{0, 18}, 2, "a record lies outside the grid"},
      {{0xff, 0xff, 0xff, 0xff, 0x7f, 0}, 2, "a record lies outside the grid"},
      {{18, 0}, 2, "a record lies outside the grid"},
  };
  for (const auto& [bytes, records, expected] : examples) {
    EXPECT_EQ(refusal(bytes, 10, records), expected)
        << testing::PrintToString(bytes) << " of " << records;
  }
}

TEST(CheckCellRuns, AcceptsTheMostRecordsAndRefusesCountsThatOverflow) {
  EXPECT_TRUE(is_accepted({1, 0xfd, 0xff, 0xff, 0xff, 0x0f}, 1, kMost));
  EXPECT_FALSE(is_accepted({1, 0xfe, 0xff, 0xff, 0xff, 0x0f}, 1, kMost)) << "2^32";
  EXPECT_FALSE(is_accepted({1, 0xfe, 0xff, 0xff, 0xff, 0x0f}, 1, 0)) << "2^32 as none";
  EXPECT_FALSE(is_accepted({1, 0xff, 0xff, 0xff, 0xff, 0x0f}, 1, 1)) << "2^32 + 1 as one";
  EXPECT_FALSE(is_accepted({1, 0xff, 0xff, 0xff, 0xff, 0x7f}, 1, 1)) << "the largest number";
  // 2^31 + 1 twice, which is 2 modulo 2^32.
  EXPECT_FALSE(is_accepted({1, 0xff, 0xff, 0xff, 0xff, 7, 1, 0xff, 0xff, 0xff, 0xff, 7}, 2, 2));
}

TEST(CheckCellRuns, AcceptsTheLastCellOfTheLargestGridAndNoneBeyond) {
  const Bytes last = {0xfe, 0xff, 0xff, 0xff, 0x1f};
  EXPECT_TRUE(is_accepted(last, kWholeRange, 1));
  EXPECT_FALSE(is_accepted(last, kWholeRange - 1, 1));
  EXPECT_FALSE(is_accepted({0xfe, 0xff, 0xff, 0xff, 0x1f, 0}, kWholeRange, 2)) << "cell 2^32";
  EXPECT_FALSE(is_accepted({0x80, 0x80, 0x80, 0x80, 0x20}, kWholeRange, 1)) << "cell 2^32";
}

void for_all_strings(const Bytes& alphabet, std::size_t most, auto body) {
  Bytes bytes;
  const auto extend = [&](auto self) -> void {
    body(bytes);
    if (bytes.size() == most) return;
    for (const std::uint8_t byte : alphabet) {
      bytes.push_back(byte);
      self(self);
      bytes.pop_back();
    }
  };
  extend(extend);
}

// The encodings of all ways to place the records on the cells.
std::set<Bytes> all_encodings(std::uint32_t cells, std::uint32_t records) {
  std::set<Bytes> encodings;
  Runs runs;
  const auto place = [&](auto self, std::uint32_t cell, std::uint32_t left) -> void {
    if (left == 0) encodings.insert(bytes_of(encoded(runs)));
    if (left == 0 || cell == cells) return;
    self(self, cell + 1, left);
    for (std::uint32_t count = 1; count <= left; ++count) {
      runs.push_back({cell, count});
      self(self, cell + 1, left - count);
      runs.pop_back();
    }
  };
  place(place, 0, records);
  return encodings;
}

// Tries all short strings of bytes on value grids so small that all encodings are known.
TEST(CheckCellRuns, AcceptsExactlyTheEncodings) {
  Bytes all(256);
  for (std::size_t byte = 0; byte < all.size(); ++byte) all[byte] = static_cast<std::uint8_t>(byte);
  const Bytes some = {0, 1, 2, 3, 4, 5, 127, 128, 255};
  const auto expect_exact = [](const Bytes& alphabet, std::size_t most, std::uint32_t cells,
                               std::uint32_t records) {
    const std::set<Bytes> encodings = all_encodings(cells, records);
    std::size_t accepted = 0;
    for_all_strings(alphabet, most, [&](const Bytes& bytes) {
      const bool is_encoding = encodings.contains(bytes);
      ASSERT_EQ(is_accepted(bytes, cells, records), is_encoding) << testing::PrintToString(bytes);
      accepted += is_encoding ? 1 : 0;
    });
    EXPECT_GT(accepted, 0U) << cells << " cells, " << records << " records";
  };
  expect_exact(all, 2, 1, 1);
  expect_exact(all, 2, 3, 2);
  expect_exact(all, 2, 70, 1);
  expect_exact(all, 2, 2, 129);
  for (std::uint32_t records = 0; records <= 3; ++records) expect_exact(all, 2, 11, records);
  for (std::uint32_t cells = 1; cells <= 3; ++cells) {
    for (std::uint32_t records = 0; records <= 3; ++records) {
      expect_exact(some, 4, cells, records);
    }
  }
}

// How many records the bytes would hold if they were accepted.
std::uint64_t read_leniently(const Bytes& bytes) {
  std::uint64_t records = 0;
  std::size_t at = 0;
  const auto number = [&] {
    std::uint64_t value = 0;
    unsigned shift = 0;
    while (at < bytes.size()) {
      const std::uint64_t byte = bytes[at++];
      if (shift < 64) value += byte % 128 << shift;
      shift += 7;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < bytes.size()) records += number() % 2 == 0 ? 1 : number() + 2;
  return records;
}

TEST(CheckCellRuns, AcceptsRandomBytesOnlyIfTheyAreAnEncoding) {
  std::mt19937_64 random(2);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (int i = 0; i < 100'000; ++i) {
    Bytes bytes(random() % 16);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() >> random() % 8);
    const std::uint64_t cells = 1 + (random() % kWholeRange >> random() % 32);
    const std::uint64_t records = read_leniently(bytes);
    if (records > kMost || !is_accepted(bytes, cells, records)) {
      ++refused;
      continue;
    }
    ++accepted;
    const Runs runs = runs_from(CellRunsReader(bytes));
    ASSERT_EQ(bytes_of(encoded(runs)), bytes);
    ASSERT_EQ(records_in(runs), records);
    ASSERT_TRUE(runs.empty() || runs.back().cell < cells);
  }
  EXPECT_GT(accepted, 1000U);
  EXPECT_GT(refused, 1000U);
}

TEST(CheckCellRuns, StopsWhenCancelled) {
  CancelPoll cancel([] { return true; });
  EXPECT_THROW(check_cell_runs(Bytes(100'000, 0), kWholeRange, 100'000, cancel), Cancelled);
}

}  // namespace
}  // namespace dpquantile
