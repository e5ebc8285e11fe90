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
// On more cells a list is compressed before counters of a byte would take less memory.
constexpr std::uint64_t kMostCellsOfBytes = 4 * kLongList;
// With counters the list is a batch that is counted at once: some cells of each line of the
// processor's cache, which then comes from memory once for several records.
constexpr std::uint64_t kCellsPerRecordOfBatch = 16;
constexpr std::uint64_t kLeastBatch = std::uint64_t{1} << 11;
constexpr std::uint64_t kMostBatch = std::uint64_t{1} << 16;
constexpr std::size_t kPrefetch = 24;

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

}  // namespace

GrowingHistogram::GrowingHistogram(std::uint64_t cells, std::pmr::memory_resource* memory,
                                   std::uint64_t drawn)
    : cells_(cells),
      first_list_(kFirstList + static_cast<std::size_t>(drawn % kFirstList)),
      first_wide_(cells + (drawn >> 16) % cells),
      list_(memory),
      counters_(memory),
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
    list_.reserve(as_size(std::min<std::uint64_t>(2 * list_.size(), first_counted() - counted_)));
  } else {
    compress_list(cancel);
  }
}

std::uint64_t GrowingHistogram::first_counted() const {
  return cells_ <= kMostCellsOfBytes ? first_wide_ / 8 : first_wide_;
}

// Counters then take no more memory than a list, and less time.
void GrowingHistogram::prepare_for(std::uint64_t more, CancelPoll& cancel) {
  const std::uint64_t records = total() + more;
  if (records >= first_counted()) set_up_counters(records >= first_wide_, cancel);
}

void GrowingHistogram::set_up_counters(bool wide, CancelPoll& cancel) {
  const bool had_counters = has_counters();
  if (!had_counters) counters_.set_up(cells_, first_wide_);
  if (wide && !counters_.are_wide()) counters_.widen();
  if (had_counters) return;
  CellRunsReader counted(runs_);
  count_runs(counted, cancel);
  runs_ = CellRuns(memory());
  count_list();
  begin_list(as_size(std::clamp(cells_ / kCellsPerRecordOfBatch, kLeastBatch, kMostBatch)));
}

// The counters are spread over memory. Prefetching makes the processor wait for many of them at a
// time.
void GrowingHistogram::count_list() {
  const std::size_t size = list_.size();
  for (std::size_t i = 0; i < std::min(size, kPrefetch); ++i) counters_.prefetch(list_[i]);
  for (std::size_t i = 0; i < size; ++i) {
    if (i + kPrefetch < size) counters_.prefetch(list_[i + kPrefetch]);
    counters_.add(list_[i]);
  }
  counted_ += size;
  list_.clear();
}

// Requires counters.
void GrowingHistogram::count_all(CancelPoll& cancel) {
  prepare_for(0, cancel);
  count_list();
}

void GrowingHistogram::count_runs(CellRunsReader runs, CancelPoll& cancel) {
  for (CellRun run; runs.next(run);) {
    cancel.tick();
    counters_.add(run);
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
    // Other numbers may have been drawn for the other one.
    set_up_counters(total() + other.counted_ >= first_wide_, cancel);
    counters_.add(other.counters_, cancel);
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
  count_all(cancel);
  runs_ = counters_.runs({cancel, memory()});
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
  count_all(work.cancel);
  return counters_.histogram(work);
}

}  // namespace dpquantile
