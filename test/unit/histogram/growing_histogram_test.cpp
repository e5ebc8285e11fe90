#include "core/histogram/growing_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "support/cell_runs_testing.hpp"
#include "support/context_testing.hpp"
#include "support/memory_testing.hpp"

namespace dpquantile {
namespace {

using test::bytes_of;
using test::CountedMemory;
using test::encoded;
using test::heap;
using test::records_in;
using test::Runs;
using test::runs_from;
using test::runs_of;

using Records = std::vector<std::uint32_t>;

constexpr std::uint64_t kWholeRange = std::uint64_t{1} << 32;
constexpr std::uint32_t kMost = 0xffffffff;
constexpr std::uint64_t kDefaultCells = std::uint64_t{1} << 20;
// The length at which a list is compressed.
constexpr std::size_t kLong = std::size_t{1} << 20;
constexpr std::size_t kMebibyte = std::size_t{1} << 20;

CancelPoll never{nullptr};

Records random_records(std::size_t count, std::uint64_t cells, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Records records(count);
  for (std::uint32_t& record : records) record = static_cast<std::uint32_t>(random() % cells);
  return records;
}

// Adds one record at a time, as rows arrive.
void add_each(GrowingHistogram& histogram, std::span<const std::uint32_t> records) {
  for (const std::uint32_t record : records) {
    if (histogram.full()) histogram.make_room(never);
    histogram.add(record);
  }
}

Runs runs_in(const Histogram& histogram) {
  Runs runs;
  for (std::size_t run = 0; run < histogram.runs(); ++run) {
    runs.push_back({histogram.cell(run), static_cast<std::uint32_t>(histogram.count(run))});
  }
  return runs;
}

// Reads the histogram in every way, several times and in several orders: it always holds these
// records.
void expect_holds(GrowingHistogram& histogram, const Runs& runs) {
  const auto expect_encoded = [&] {
    histogram.encode(never);
    EXPECT_EQ(histogram.encoded().records(), records_in(runs));
    EXPECT_EQ(histogram.encoded().runs(), runs.size());
    EXPECT_TRUE(bytes_of(histogram.encoded()) == bytes_of(encoded(runs)));
  };
  EXPECT_EQ(histogram.total(), records_in(runs));
  EXPECT_TRUE(runs_in(histogram.histogram({never, heap()})) == runs);
  expect_encoded();
  EXPECT_TRUE(runs_in(histogram.histogram({never, heap()})) == runs);
  expect_encoded();
  histogram.release_encoded();
  expect_encoded();
  EXPECT_EQ(histogram.total(), records_in(runs));
}

TEST(GrowingHistogram, IsEmptyWithoutRecords) {
  for (const std::uint64_t cells : {std::uint64_t{1}, kDefaultCells, kWholeRange}) {
    GrowingHistogram histogram(cells, heap());
    EXPECT_FALSE(histogram.full());
    expect_holds(histogram, {});
  }
}

TEST(GrowingHistogram, AgreesWithAMapOfCounts) {
  for (const std::uint32_t cells : {1U, 7U, 3000U, 100'000U}) {
    const Records records = random_records(20'000, cells);
    std::map<std::uint32_t, std::uint32_t> counts;
    for (const std::uint32_t cell : records) ++counts[cell];
    GrowingHistogram histogram(cells, heap());
    add_each(histogram, records);

    Runs expected;
    for (const auto& [cell, count] : counts) expected.push_back({cell, count});
    expect_holds(histogram, expected);
  }
}

// `count` records on at most a thousand cells, which are spread over the value grid. spread_runs()
// gives their runs.
Records spread_records(std::size_t count, std::uint64_t cells) {
  const std::uint64_t occupied = std::min<std::uint64_t>(cells, 1000);
  Records records(count);
  for (std::size_t i = 0; i < count; ++i) {
    records[i] = static_cast<std::uint32_t>((count - i) % occupied * (cells / occupied));
  }
  return records;
}
Runs spread_runs(std::size_t count, std::uint64_t cells) {
  const std::uint64_t occupied = std::min<std::uint64_t>(cells, 1000);
  Runs runs;
  for (std::uint64_t i = 0; i < occupied; ++i) {
    const std::uint64_t here = count / occupied + (i > 0 && i <= count % occupied ? 1 : 0);
    const std::uint64_t cell = i * (cells / occupied);
    if (here > 0)
      runs.push_back({static_cast<std::uint32_t>(cell), static_cast<std::uint32_t>(here)});
  }
  return runs;
}

void expect_agreement(std::size_t count, std::uint64_t cells) {
  SCOPED_TRACE(std::to_string(count) + " records on " + std::to_string(cells) + " cells");
  const Records records = spread_records(count, cells);
  const Runs expected = spread_runs(count, cells);
  GrowingHistogram one_by_one(cells, heap());
  add_each(one_by_one, records);
  expect_holds(one_by_one, expected);
  GrowingHistogram at_once(cells, heap());
  at_once.add(records, never);
  expect_holds(at_once, expected);
}

// Borders: a full list, an eighth as many records as cells, as many as cells, and a batch that is
// added to the counters.
TEST(GrowingHistogram, IsExactWhereAListTurnsIntoCounters) {
  constexpr std::size_t kList = 4096;
  constexpr std::size_t kBatch = 2048;
  for (const std::uint64_t cells : {1U, 1000U, 4095U, 4096U, 4097U, 10'000U, 100'000U}) {
    for (const std::size_t border :
         {kList, kList + kBatch, 2 * kList, 2 * kList + kBatch, static_cast<std::size_t>(cells) / 8,
          static_cast<std::size_t>(cells)}) {
      if (border == 0) continue;
      for (std::size_t n = border - 1; n <= border + 1; ++n) expect_agreement(n, cells);
    }
  }
}

// Borders: as many records as cells, and an eighth of them.
TEST(GrowingHistogram, IsExactWhereCountersBecomeWide) {
  for (const std::uint64_t cells : {kDefaultCells, kDefaultCells + 1}) {
    for (const std::size_t border : {kLong, kLong / 8}) {
      for (std::size_t n = border - 1; n <= border + 1; ++n) expect_agreement(n, cells);
    }
  }
  expect_agreement(kLong + (1 << 16) + 1, kDefaultCells);
}

// Borders: a list long enough to be compressed for the first and the second time.
TEST(GrowingHistogram, IsExactWhereAListTurnsIntoRuns) {
  for (const std::uint64_t cells : {8 * kDefaultCells, kWholeRange}) {
    for (std::size_t n = 2 * kLong; n <= 2 * kLong + 1; ++n) expect_agreement(n, cells);
  }
}

// One record more than a number that is known must not take another form, which takes time.
TEST(GrowingHistogram, ChangesItsFormAtADrawnNumber) {
  constexpr std::size_t kList = 4096;
  for (const std::uint64_t drawn : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{kList - 1},
                                    std::uint64_t{kList}, ~std::uint64_t{0} - 7}) {
    const std::size_t first = kList + drawn % kList;
    const Records records = random_records(4 * first, kWholeRange);
    GrowingHistogram histogram(kWholeRange, heap(), drawn);
    for (std::size_t n = 0; n < records.size(); ++n) {
      ASSERT_EQ(histogram.full(), n == first || n == 2 * first) << n << " of " << first;
      if (histogram.full()) histogram.make_room(never);
      histogram.add(records[n]);
    }
    expect_holds(histogram, runs_of(records));
  }
}

// The list does not become longer than that, so that it has no counters later.
TEST(GrowingHistogram, BeginsToCountAtADrawnNumber) {
  constexpr std::uint64_t kCells = 100'000;
  for (const std::uint64_t drawn :
       {std::uint64_t{0}, std::uint64_t{20'000} << 16, (kCells - 1) << 16}) {
    const std::uint64_t first = (kCells + (drawn >> 16)) / 8;
    const Records records = random_records(first + 1, kCells);
    CountedMemory memory;
    GrowingHistogram histogram(kCells, &memory, drawn);
    add_each(histogram, std::span(records).first(first));
    EXPECT_TRUE(histogram.full()) << first;
    EXPECT_LT(memory.used(), 4 * first + 1000);
    add_each(histogram, std::span(records).last(1));
    EXPECT_GT(memory.used(), kCells);
    expect_holds(histogram, runs_of(records));
  }
}

// A byte never counts zero of a cell with records, so that these are found by the bytes alone.
TEST(GrowingHistogram, CarriesWhatAByteHasNoRoomFor) {
  constexpr std::uint64_t kCells = 80'000;
  for (const std::uint32_t count :
       {127U, 128U, 129U, 255U, 256U, 257U, 383U, 384U, 385U, 70'000U}) {
    GrowingHistogram histogram(kCells, heap());
    const Records spread = random_records(10'001, 100);
    add_each(histogram, spread);
    Records records(count, 79'999);
    add_each(histogram, records);
    records.insert(records.end(), spread.begin(), spread.end());
    expect_holds(histogram, runs_of(records));
    const CellRuns run = encoded({{500, count}});
    histogram.add(CellRunsReader(run), count, never);
    records.insert(records.end(), count, 500);
    expect_holds(histogram, runs_of(records));
  }
}

// One of two has counters, and the other one would have none yet with as many records.
TEST(GrowingHistogram, TakesTheRecordsOfAnotherWithAnotherDrawnNumber) {
  constexpr std::uint64_t kCells = 10'000;
  constexpr std::uint64_t kLate = (kCells - 1) << 16;
  const Records records = random_records(18'000, kCells);
  for (const std::size_t own : {0U, 100U, 5000U}) {
    for (const bool is_late : {false, true}) {
      GrowingHistogram other(kCells, heap(), is_late ? kLate : 0);
      GrowingHistogram histogram(kCells, heap(), is_late ? 0 : kLate);
      add_each(other, std::span(records).subspan(own));
      add_each(histogram, std::span(records).first(own));
      histogram.add(other, never);
      expect_holds(histogram, runs_of(records));
    }
  }
}

TEST(GrowingHistogram, IsExactForManyRandomRecords) {
  for (const std::uint64_t cells : {kDefaultCells, kWholeRange}) {
    const Records records = random_records(kLong + 300'000, cells);
    GrowingHistogram histogram(cells, heap());
    add_each(histogram, records);
    histogram.encode(never);
    EXPECT_TRUE(bytes_of(histogram.encoded()) == bytes_of(encoded(runs_of(records))));
  }
}

TEST(GrowingHistogram, CountsAnyNumberOfTies) {
  for (const std::size_t count : {255U, 256U, 257U, 511U, 512U, 513U, 65'535U, 65'536U, 70'000U}) {
    for (const std::uint64_t cells : {std::uint64_t{1}, std::uint64_t{300}, kWholeRange}) {
      GrowingHistogram histogram(cells, heap());
      const auto last = static_cast<std::uint32_t>(cells - 1);
      add_each(histogram, Records(count, last));
      expect_holds(histogram, {{last, static_cast<std::uint32_t>(count)}});
    }
  }
}

TEST(GrowingHistogram, CountsTheFirstAndTheLastCell) {
  for (const std::uint64_t cells : {kDefaultCells, kWholeRange}) {
    const auto last = static_cast<std::uint32_t>(cells - 1);
    GrowingHistogram histogram(cells, heap());
    for (std::size_t i = 0; i <= kLong; ++i) add_each(histogram, Records{i % 2 == 0 ? last : 0});
    expect_holds(histogram, {{0, kLong / 2}, {last, kLong / 2 + 1}});
  }
}

// A histogram is read and encoded while it grows, for windows and serialized states.
TEST(GrowingHistogram, TakesMoreRecordsAfterItWasRead) {
  for (const std::uint64_t cells : {std::uint64_t{50}, std::uint64_t{6000}, kWholeRange}) {
    GrowingHistogram histogram(cells, heap());
    Records records;
    for (const std::size_t more : {1U, 10U, 4085U, 1U, 3000U, 6000U}) {
      const Records added = random_records(more, cells, more);
      add_each(histogram, added);
      records.insert(records.end(), added.begin(), added.end());
      expect_holds(histogram, runs_of(records));
    }
  }
}

TEST(GrowingHistogram, HasTheSameEncodingInAnyOrderOfRecords) {
  for (const std::uint64_t cells : {std::uint64_t{2000}, kWholeRange}) {
    Records records = random_records(10'000, std::min<std::uint64_t>(cells, 100'000));
    const test::Bytes expected = bytes_of(encoded(runs_of(records)));
    std::mt19937 random(3);
    for (int i = 0; i < 5; ++i) {
      std::shuffle(records.begin(), records.end(), random);
      GrowingHistogram histogram(cells, heap());
      add_each(histogram, records);
      histogram.encode(never);
      EXPECT_TRUE(bytes_of(histogram.encoded()) == expected);
    }
  }
}

Runs together(const Runs& one, const Runs& other) {
  std::map<std::uint32_t, std::uint32_t> counts;
  for (const CellRun& run : one) counts[run.cell] += run.count;
  for (const CellRun& run : other) counts[run.cell] += run.count;
  Runs runs;
  for (const auto& [cell, count] : counts) runs.push_back({cell, count});
  return runs;
}

constexpr std::uint64_t kFormCells = kDefaultCells + 3000;
// So many that records are compressed before they are counted.
constexpr std::uint64_t kFineCells = 8 * kDefaultCells;

// A form in which a histogram holds records.
struct Form {
  const char* name;
  std::function<void(GrowingHistogram&, Runs&)> fill;
  std::uint64_t cells = kFormCells;
};

void list(GrowingHistogram& histogram, Runs& held, std::size_t count, std::uint64_t seed) {
  const Records records = random_records(count, kFormCells, seed);
  add_each(histogram, records);
  held = together(held, runs_of(records));
}

// Adds 1000 runs, on every third cell up to the last.
void compress(GrowingHistogram& histogram, Runs& held, std::size_t records) {
  const std::size_t count = records / 1000;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    held.push_back({static_cast<std::uint32_t>(kFormCells - 3 * (1000 - i)),
                    static_cast<std::uint32_t>(count)});
  }
  const CellRuns runs = encoded(held);
  histogram.add(CellRunsReader(runs), runs.records(), never);
}

const std::vector<Form> kForms = {
    {"nothing", [](GrowingHistogram&, Runs&) {}},
    {"list", [](GrowingHistogram& h, Runs& held) { list(h, held, 100, 4); }},
    {"full list", [](GrowingHistogram& h, Runs& held) { list(h, held, 4096, 5); }},
    {"few runs",
     [](GrowingHistogram& h, Runs& held) {
       list(h, held, 100, 6);
       h.encode(never);
     }},
    {"few runs and a list",
     [](GrowingHistogram& h, Runs& held) {
       list(h, held, 100, 7);
       h.encode(never);
       list(h, held, 50, 8);
     }},
    {"counters of a byte",
     [](GrowingHistogram& h, Runs& held) { list(h, held, kFormCells / 8 + 100, 9); }},
    {"counters of a byte, of which many are carried",
     [](GrowingHistogram& h, Runs& held) {
       compress(h, held, kLong - 1000);
       list(h, held, 900, 13);
     }},
    {"many records on a fine grid",
     [](GrowingHistogram& h, Runs& held) { list(h, held, 5000, 14); }, kFineCells},
    {"many runs", [](GrowingHistogram& h, Runs& held) { compress(h, held, kLong + 1000); },
     kFineCells},
    {"many runs and a list",
     [](GrowingHistogram& h, Runs& held) {
       compress(h, held, kLong + 1000);
       list(h, held, 100, 15);
     },
     kFineCells},
    {"counters", [](GrowingHistogram& h, Runs& held) { compress(h, held, 2 * kLong); }},
    {"counters, low ones and a list",
     [](GrowingHistogram& h, Runs& held) {
       compress(h, held, 2 * kLong);
       list(h, held, 2048 + 1000, 10);
     }},
    {"counters and what they were written as",
     [](GrowingHistogram& h, Runs& held) {
       compress(h, held, 2 * kLong);
       h.encode(never);
       list(h, held, 2048 + 1000, 11);
     }},
};

TEST(GrowingHistogram, TakesTheRecordsOfAnotherInAnyForm) {
  for (const Form& form : kForms) {
    for (const Form& other_form : kForms) {
      if (other_form.cells != form.cells) continue;
      SCOPED_TRACE(std::string(other_form.name) + " into " + form.name);
      Runs held;
      GrowingHistogram histogram(form.cells, heap());
      form.fill(histogram, held);
      Runs added;
      GrowingHistogram other(form.cells, heap());
      other_form.fill(other, added);
      histogram.add(other, never);
      const Runs expected = together(held, added);
      EXPECT_EQ(histogram.total(), records_in(expected));
      histogram.encode(never);
      EXPECT_TRUE(bytes_of(histogram.encoded()) == bytes_of(encoded(expected)));
      other.encode(never);
      EXPECT_TRUE(runs_from(CellRunsReader(other.encoded())) == added) << "the other keeps its own";
    }
  }
}

TEST(GrowingHistogram, TakesRunsInAnyForm) {
  for (const Form& form : kForms) {
    for (const Runs& added : {Runs{}, Runs{{5, 1}}, Runs{{0, 300}, {7, 1}, {kFormCells - 1, 9}},
                              Runs{{0, 10}, {1, kLong - 11}}, Runs{{0, 10}, {1, kLong - 10}},
                              Runs{{0, 10}, {kFormCells - 1, 4 * kLong}}}) {
      SCOPED_TRACE(std::to_string(records_in(added)) + " into " + form.name);
      Runs held;
      GrowingHistogram histogram(form.cells, heap());
      form.fill(histogram, held);
      const CellRuns runs = encoded(added);
      histogram.add(CellRunsReader(runs), runs.records(), never);
      const Runs expected = together(held, added);
      EXPECT_EQ(histogram.total(), records_in(expected));
      histogram.encode(never);
      EXPECT_TRUE(bytes_of(histogram.encoded()) == bytes_of(encoded(expected)));
    }
  }
}

TEST(GrowingHistogram, HoldsItsRecordsInAnyForm) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    Runs held;
    GrowingHistogram histogram(form.cells, heap());
    form.fill(histogram, held);
    expect_holds(histogram, held);
    list(histogram, held, 5000, 12);
    expect_holds(histogram, held);
  }
}

TEST(GrowingHistogram, HoldsTheMostRecords) {
  const CellRuns most = encoded({{0, kMost}});
  for (const std::uint64_t cells : {std::uint64_t{1}, kDefaultCells, kWholeRange}) {
    GrowingHistogram histogram(cells, heap());
    histogram.add(CellRunsReader(most), kMost, never);
    expect_holds(histogram, {{0, kMost}});
    GrowingHistogram none(cells, heap());
    histogram.add(none, never);
    none.add(histogram, never);
    expect_holds(none, {{0, kMost}});
  }
}

TEST(GrowingHistogram, HoldsTheMostRecordsAddedOneByOne) {
  const CellRuns almost = encoded({{0, kMost - 5000}});
  for (const std::uint64_t cells : {std::uint64_t{10}, kWholeRange}) {
    GrowingHistogram histogram(cells, heap());
    histogram.add(CellRunsReader(almost), kMost - 5000, never);
    histogram.add(Records(5000, 3), never);
    expect_holds(histogram, {{0, kMost - 5000}, {3, 5000}});
    EXPECT_THROW(histogram.add(Records(5000, 3), never), std::length_error);
  }
}

// threat 24. One record too many is refused at the latest when the records are read.
TEST(GrowingHistogram, RefusesMoreThanTheMostRecords) {
  const CellRuns most = encoded({{0, kMost}});
  const CellRuns one = encoded({{1, 1}});
  for (const std::uint64_t cells : {std::uint64_t{2}, kDefaultCells, kWholeRange}) {
    GrowingHistogram full(cells, heap());
    full.add(CellRunsReader(most), kMost, never);
    EXPECT_THROW(full.add(CellRunsReader(one), 1, never), std::length_error);
    EXPECT_THROW(full.add(CellRunsReader(most), kMost, never), std::length_error);
    GrowingHistogram other(cells, heap());
    other.add(CellRunsReader(most), kMost, never);
    EXPECT_THROW(full.add(other, never), std::length_error);
    expect_holds(full, {{0, kMost}});

    full.add(Records{1}, never);
    EXPECT_THROW(full.encode(never), std::length_error);
    EXPECT_THROW(full.histogram({never, heap()}), std::length_error);
    EXPECT_THROW(add_each(full, Records(100'000, 1)), std::length_error);
  }
}

TEST(GrowingHistogram, StatesTheMostRecordsInItsError) {
  const CellRuns most = encoded({{0, kMost}});
  GrowingHistogram full(2, heap());
  full.add(CellRunsReader(most), kMost, never);
  try {
    full.add(CellRunsReader(most), kMost, never);
    ADD_FAILURE() << "no length_error";
  } catch (const std::length_error& error) {
    EXPECT_STREQ(error.what(), "a private aggregate takes at most 4294967295 rows in one group");
  }
}

// threat 24: memory is bounded
TEST(GrowingHistogram, TakesAFewMebibytesOnTheDefaultGrid) {
  std::mt19937_64 random(13);
  CountedMemory memory;
  GrowingHistogram histogram(kDefaultCells, &memory);
  for (std::size_t i = 0; i < 4'000'000; ++i) {
    if (histogram.full()) histogram.make_room(never);
    histogram.add(static_cast<std::uint32_t>(random() % kDefaultCells));
    if (i == 1'000'000) {
      EXPECT_LE(memory.peak(), 1.9 * kMebibyte) << "counters of a byte beside a list";
    }
  }
  EXPECT_LE(memory.peak(), 5.4 * kMebibyte) << "counters";
  histogram.encode(never);
  EXPECT_LE(memory.peak(), 9.4 * kMebibyte) << "with the records encoded";
  histogram.release_encoded();
  EXPECT_LE(memory.used(), 5.4 * kMebibyte);
}

TEST(GrowingHistogram, TakesNoMoreMemoryWhenItIsEncodedEarly) {
  for (const std::size_t count : {1'000'000U, 1'048'575U, 1'048'576U}) {
    CountedMemory memory;
    GrowingHistogram histogram(kDefaultCells, &memory);
    histogram.add(random_records(count, kDefaultCells), never);
    histogram.encode(never);
    EXPECT_LE(memory.peak(), 7.5 * kMebibyte) << count;
    add_each(histogram, Records(200'000, 7));
    EXPECT_LE(memory.peak(), 7.5 * kMebibyte) << count;
    histogram.release_encoded();
    EXPECT_LE(memory.used(), 5.4 * kMebibyte) << count << ": counters only";
  }
}

TEST(GrowingHistogram, TakesAtMostEightBytesPerRecordOnAFineGrid) {
  constexpr std::size_t kRecords = 3'000'000;
  for (const std::uint64_t cells : {8 * kDefaultCells, kWholeRange}) {
    CountedMemory memory;
    GrowingHistogram histogram(cells, &memory);
    for (std::size_t i = 0; i < kRecords; ++i) {
      if (histogram.full()) histogram.make_room(never);
      // The multiples of an odd number are scattered and all different.
      histogram.add(static_cast<std::uint32_t>(i * 2'654'435'761 % cells));
      if (i % 4096 == 0 && i > kLong) {
        ASSERT_LT(memory.peak(), 8.05 * static_cast<double>(i)) << i;
      }
    }
    histogram.encode(never);
    EXPECT_LT(memory.peak(), 8 * kRecords);
    EXPECT_LT(memory.used(), 3 * kRecords) << "compressed";
  }
}

TEST(GrowingHistogram, TakesLittleMemoryForTies) {
  CountedMemory memory;
  GrowingHistogram histogram(kWholeRange, &memory);
  for (std::size_t i = 0; i <= kLong; ++i) add_each(histogram, Records{kMost});
  EXPECT_LT(memory.used(), 20'000U);
}

TEST(GrowingHistogram, GivesAnIndependentHistogram) {
  for (const std::uint64_t cells : {std::uint64_t{100}, kWholeRange}) {
    CountedMemory memory;
    auto histogram = std::make_unique<GrowingHistogram>(cells, heap());
    const Records records = random_records(10'000, cells);
    add_each(*histogram, records);
    const Histogram alone = histogram->histogram({never, &memory});
    EXPECT_GT(memory.used(), 0U);
    histogram.reset();
    EXPECT_EQ(runs_in(alone), runs_of(records));
  }
}

TEST(GrowingHistogram, StopsWhenCancelled) {
  CancelPoll cancelled([] { return true; });
  const Records many = random_records(2 * kLong, kWholeRange);
  EXPECT_THROW(GrowingHistogram(kWholeRange, heap()).add(many, cancelled), Cancelled);

  GrowingHistogram list(kWholeRange, heap());
  list.add(std::span(many).first(100'000), never);
  EXPECT_THROW(list.encode(cancelled), Cancelled);
  EXPECT_THROW(list.histogram({cancelled, heap()}), Cancelled);

  GrowingHistogram counters(100'000, heap());
  counters.add(random_records(1'000'000, 100'000), never);
  EXPECT_THROW(counters.encode(cancelled), Cancelled);
  EXPECT_THROW(counters.histogram({cancelled, heap()}), Cancelled);

  Runs runs;
  for (std::uint32_t cell = 0; cell < 100'000; ++cell) runs.push_back({cell, 20});
  const CellRuns more = encoded(runs);
  GrowingHistogram into_list(kWholeRange, heap());
  EXPECT_THROW(into_list.add(CellRunsReader(more), more.records(), cancelled), Cancelled);
  GrowingHistogram into_counters(100'000, heap());
  EXPECT_THROW(into_counters.add(CellRunsReader(more), more.records(), cancelled), Cancelled);
}

TEST(GrowingHistogram, LeaksNothingWhenMemoryRunsOut) {
  const CellRuns many = encoded({{0, 10}, {5, kLong}});
  const Records records = random_records(10'000, 6000);
  const auto use = [&](std::uint64_t cells, std::pmr::memory_resource* memory) {
    GrowingHistogram histogram(cells, memory);
    histogram.add(records, never);
    histogram.encode(never);
    histogram.add(CellRunsReader(many), many.records(), never);
    GrowingHistogram other(cells, memory);
    other.add(records, never);
    other.add(histogram, never);
    other.encode(never);
    other.release_encoded();
    const Histogram result = other.histogram({never, memory});
    EXPECT_EQ(result.total(), 2 * records.size() + many.records());
  };
  for (const std::uint64_t cells : {std::uint64_t{6000}, std::uint64_t{100'000}, kWholeRange}) {
    for (std::size_t allocations = 0;; ++allocations) {
      ASSERT_LT(allocations, 1000U);
      CountedMemory memory(allocations);
      bool done = false;
      try {
        use(cells, &memory);
        done = true;
      } catch (const std::bad_alloc&) {
      }
      EXPECT_EQ(memory.used(), 0U);
      if (done) break;
    }
  }
}

}  // namespace
}  // namespace dpquantile
