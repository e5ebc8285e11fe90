#include "core/histogram/growing_histogram.hpp"

#include <algorithm>
#include <utility>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "core/base/radix_sort.hpp"
#include "core/histogram/cell_runs.hpp"

namespace dpquantile {

namespace {

constexpr std::size_t kFirstList = std::size_t{1} << 12;
// Shorter lists are not worth compressing.
constexpr std::size_t kLongList = std::size_t{1} << 20;
// With counters the list is a batch that is counted at once; it fits in the first-level cache.
constexpr std::size_t kBatch = std::size_t{1} << 11;
constexpr std::size_t kPrefetch = 24;
constexpr std::uint32_t kLowCounterValues = 256;

// Reads the counters that are not zero as runs.
class OccupiedCounters {
 public:
  explicit OccupiedCounters(std::span<const std::uint32_t> counters) : counters_(counters) {}

  bool next(CellRun& run) {
    while (cell_ < counters_.size() && counters_[cell_] == 0) ++cell_;
    if (cell_ == counters_.size()) return false;
    run = {static_cast<std::uint32_t>(cell_), counters_[cell_]};
    ++cell_;
    return true;
  }

 private:
  std::span<const std::uint32_t> counters_;
  std::size_t cell_ = 0;
};

// Appends the runs of two ascending sources in ascending order.
template <class Source, class Other>
void merge_into(CellRuns& merged, Source& source, Other& other, CancelPoll& cancel) {
  CellRun one;
  CellRun two;
  bool has_one = source.next(one);
  bool has_two = other.next(two);
  while (has_one && has_two) {
    cancel.tick();
    if (one.cell == two.cell) {
      one.count += two.count;
      has_two = other.next(two);
    } else if (one.cell < two.cell) {
      merged.append(one);
      has_one = source.next(one);
    } else {
      merged.append(two);
      has_two = other.next(two);
    }
  }
  for (; has_one; has_one = source.next(one)) {
    cancel.tick();
    merged.append(one);
  }
  for (; has_two; has_two = other.next(two)) {
    cancel.tick();
    merged.append(two);
  }
}

// Calls body(begin, end) for each block of cells in order.
template <class Body>
void for_blocks(std::size_t cells, CancelPoll& cancel, Body body) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  for (std::size_t begin = 0; begin < cells; begin += kBlock) {
    const std::size_t end = std::min(cells, begin + kBlock);
    cancel.tick(end - begin);
    body(begin, end);
  }
}

}  // namespace

GrowingHistogram::GrowingHistogram(std::uint64_t cells, std::pmr::memory_resource* memory,
                                   std::uint64_t drawn)
    : cells_(cells),
      first_list_(kFirstList + static_cast<std::size_t>(drawn % kFirstList)),
      most_listed_(cells + (drawn >> 16) % cells),
      list_(memory),
      counters_(memory),
      low_counters_(memory),
      runs_(memory) {
  begin_list(first_list_);
}

void GrowingHistogram::begin_list(std::size_t capacity) {
  list_ = std::pmr::vector<std::uint32_t>(memory());
  list_.reserve(capacity);
}

void GrowingHistogram::check_total(std::uint64_t more) const {
  if (total() + more > Histogram::kMaxRecords) throw TooManyRows(Histogram::kMaxRecords);
}

void GrowingHistogram::make_room(CancelPoll& cancel) {
  check_total(1);
  cancel.tick(list_.size());
  prepare_for(0, cancel);
  if (has_counters()) {
    count_list();
  } else if (list_.size() < std::max<std::uint64_t>(counted_, kLongList)) {
    list_.reserve(2 * list_.size());
  } else {
    compress_list(cancel);
  }
}

// When there are as many records as cells, or up to twice as many, a counter for each cell takes no
// more memory than a list, and less time.
void GrowingHistogram::prepare_for(std::uint64_t more, CancelPoll& cancel) {
  if (!has_counters() && total() + more >= most_listed_) set_up_counters(cancel);
}

void GrowingHistogram::set_up_counters(CancelPoll& cancel) {
  counters_.resize(as_size(cells_));
  low_counters_.resize(counters_.size());
  CellRunsReader counted(runs_);
  count_runs(counted, cancel);
  runs_ = CellRuns(memory());
  count_list();
  begin_list(kBatch);
}

// The counters are spread over memory. Prefetching makes the processor wait for many of them at a
// time.
void GrowingHistogram::count_list() {
  const std::size_t size = list_.size();
  for (std::size_t i = 0; i < std::min(size, kPrefetch); ++i) prefetch(list_[i]);
  for (std::size_t i = 0; i < size; ++i) {
    if (i + kPrefetch < size) prefetch(list_[i + kPrefetch]);
    const std::uint32_t cell = list_[i];
    if (++low_counters_[cell] == 0) counters_[cell] += kLowCounterValues;
  }
  counted_ += size;
  list_.clear();
}

// Counts the list and moves all counts to the larger counters. Returns how many of these are not
// zero.
std::size_t GrowingHistogram::settle_counters(CancelPoll& cancel) {
  count_list();
  std::size_t occupied = 0;
  for_blocks(counters_.size(), cancel, [&](std::size_t begin, std::size_t end) {
    for (std::size_t cell = begin; cell < end; ++cell) {
      counters_[cell] += std::exchange(low_counters_[cell], std::uint8_t{0});
      occupied += counters_[cell] != 0 ? 1U : 0U;
    }
  });
  return occupied;
}

void GrowingHistogram::count_runs(CellRunsReader runs, CancelPoll& cancel) {
  for (CellRun run; runs.next(run);) {
    cancel.tick();
    counters_[run.cell] += run.count;
  }
}

template <class Source>
void GrowingHistogram::merge_runs(Source source, CancelPoll& cancel) {
  CellRuns merged(memory());
  CellRunsReader counted(runs_);
  merge_into(merged, counted, source, cancel);
  runs_ = std::move(merged);
}

void GrowingHistogram::compress_list(CancelPoll& cancel) {
  if (list_.empty()) return;
  radix_sort(list_, cells_, {cancel, memory()});
  merge_runs(SortedRecords(list_), cancel);
  counted_ += list_.size();
  begin_list(first_list_);
}

void GrowingHistogram::add(std::span<const std::uint32_t> records, CancelPoll& cancel) {
  for (const std::uint32_t cell : records) {
    if (full()) make_room(cancel);
    add(cell);
  }
}

void GrowingHistogram::add(CellRunsReader runs, std::uint64_t records, CancelPoll& cancel) {
  check_total(records);
  prepare_for(records, cancel);
  if (!has_counters() && records < kLongList / kFirstList * first_list_)
    return list_runs(runs, cancel);
  if (has_counters()) {
    count_runs(runs, cancel);
  } else {
    merge_runs(runs, cancel);
  }
  counted_ += records;
}

void GrowingHistogram::list_runs(CellRunsReader runs, CancelPoll& cancel) {
  for (CellRun run; runs.next(run);) {
    for (std::uint32_t i = 0; i < run.count; ++i) {
      if (full()) make_room(cancel);
      add(run.cell);
    }
  }
}

void GrowingHistogram::add(const GrowingHistogram& other, CancelPoll& cancel) {
  if (other.has_counters()) {
    check_total(other.counted_);
    // Another number may have been drawn for the other one.
    if (!has_counters()) set_up_counters(cancel);
    for_blocks(counters_.size(), cancel, [&](std::size_t begin, std::size_t end) {
      for (std::size_t cell = begin; cell < end; ++cell) {
        counters_[cell] += other.counters_[cell] + other.low_counters_[cell];
      }
    });
    counted_ += other.counted_;
  } else {
    add(CellRunsReader(other.runs_), other.counted_, cancel);
  }
  add(other.list_, cancel);
}

void GrowingHistogram::encode(CancelPoll& cancel) {
  check_total(0);
  if (!has_counters()) return compress_list(cancel);
  if (list_.empty() && runs_.records() == counted_) return;
  settle_counters(cancel);
  runs_ = CellRuns(memory());
  OccupiedCounters occupied(counters_);
  for (CellRun run; occupied.next(run);) {
    cancel.tick();
    runs_.append(run);
  }
}

void GrowingHistogram::release_encoded() {
  if (has_counters()) runs_ = CellRuns(memory());
}

Histogram GrowingHistogram::histogram(const Workspace& work) {
  check_total(0);
  if (!has_counters()) {
    if (counted_ == 0) return Histogram(std::span(list_), cells_, work);
    compress_list(work.cancel);
    return Histogram(runs_.runs(), runs_.ties(), CellRunsReader(runs_), work);
  }
  const std::size_t runs = settle_counters(work.cancel);
  return Histogram(runs, runs, OccupiedCounters(counters_), work);
}

}  // namespace dpquantile
