#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/cancel.hpp"
#include "core/base/workspace.hpp"
#include "core/histogram/cell_counters.hpp"
#include "core/histogram/cell_runs.hpp"
#include "core/histogram/histogram.hpp"

namespace dpquantile {

// Exact counts of records that arrive over time, in bounded memory. The representation changes with
// their number, the grid never does. Not private: only for use as the input of a mechanism.
//
//   few records:                      a list of their cells, 4 bytes each
//   an eighth as many as cells:       a counter for every cell (CellCounters), of a byte, unless
//                                     there are more than 2^22 cells
//   at least as many as cells:        counters of 5 bytes, for any number of records
//   many, but fewer than these:       compressed runs (CellRuns) and a list of the records since; a
//                                     list that is as long as the compressed part is merged into it
//
// On 2^20 cells the list takes 1 MiB at most, and half as much more while it grows; counters take 1
// MiB, and then 5 MiB for any number of records. On a fine grid a record takes less than 8 bytes
// while lists are sorted and merged, and one to five afterwards; fewer than a million records take
// up to 12 bytes each while their list doubles. Adding a record takes constant time, amortised;
// adding many records as runs, or encode(), may go through all records.
//
// After an exception the counts may be wrong.
//
// A change of the representation takes milliseconds for a million records. Whoever knows the number
// at which it comes learns by the time whether there is one record more. So the numbers are drawn:
// that of a list is a multiple, by a power of 2, of 2^12 to 2^13 - 1, that from which counters have
// 5 bytes between the number of cells and twice as many, and that from which there are counters an
// eighth of this.
class GrowingHistogram {
 public:
  // cells: 1 .. 2^32. `drawn` is a random number, which nobody else may know. Memory comes from the
  // given resource. All members that grow the histogram throw std::length_error above
  // Histogram::kMaxRecords records.
  GrowingHistogram(std::uint64_t cells, std::pmr::memory_resource* memory, std::uint64_t drawn = 0);

  // For how many calls of add(cell) there is room; more after make_room().
  std::size_t room() const { return list_.capacity() - list_.size(); }
  bool full() const { return room() == 0; }
  void make_room(CancelPoll& cancel);
  // Adds a record. Requires !full() and cell < cells.
  void add(std::uint32_t cell) {
    if (full()) __builtin_unreachable();  // removes the code by which a vector grows
    list_.push_back(cell);
  }

  // The same for several records, for which there must be room.
  template <std::size_t kCount>
  void add(std::span<const std::uint32_t, kCount> cells) {
    if (room() < kCount) __builtin_unreachable();
    list_.insert(list_.end(), cells.begin(), cells.end());
  }

  // Adds all of these. `records` is the number of records in the runs.
  void add(std::span<const std::uint32_t> records, CancelPoll& cancel);
  void add(CellRunsReader runs, std::uint64_t records, CancelPoll& cancel);
  void add(const GrowingHistogram& other, CancelPoll& cancel);

  // The number of records.
  std::uint64_t total() const { return counted_ + list_.size(); }

  // Compresses the records. encoded() is valid afterwards, until records are added.
  void encode(CancelPoll& cancel);
  const CellRuns& encoded() const { return runs_; }
  // Frees the memory that only encode() needed.
  void release_encoded();

  // The histogram. It has memory of its own, from `work`.
  Histogram histogram(const Workspace& work);

 private:
  bool has_counters() const { return counters_.are_set_up(); }
  std::pmr::memory_resource* memory() const { return list_.get_allocator().resource(); }

  // With so many records there are counters.
  std::uint64_t first_counted() const;
  void check_total(std::uint64_t more) const;
  void begin_list(std::size_t capacity);
  void prepare_for(std::uint64_t more, CancelPoll& cancel);
  void set_up_counters(bool wide, CancelPoll& cancel);
  void count_list();
  void count_all(CancelPoll& cancel);
  void compress_list(CancelPoll& cancel);
  void count_runs(CellRunsReader runs, CancelPoll& cancel);
  template <class Source>
  void merge_runs(Source source, CancelPoll& cancel);
  void list_runs(CellRunsReader runs, CancelPoll& cancel);

  std::uint64_t cells_;
  std::size_t first_list_;                // the capacity of the first list
  std::uint64_t first_wide_;              // with so many records counters are wide
  std::pmr::vector<std::uint32_t> list_;  // records that are counted nowhere else
  CellCounters counters_;
  CellRuns runs_;              // the counted records; with counters, a copy of them or nothing
  std::uint64_t counted_ = 0;  // records in the counters or runs
};

}  // namespace dpquantile
