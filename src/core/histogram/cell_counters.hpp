#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "core/base/cancel.hpp"
#include "core/base/workspace.hpp"
#include "core/histogram/cell_runs.hpp"
#include "core/histogram/histogram.hpp"

namespace dpquantile {

// A counter for each cell of a grid. A byte of it is for the first 255 records, so that the
// counters of 2^20 cells fit in a processor's cache; it never becomes zero again. What a byte has
// no room for is carried in steps of 128 records: while there are few records to a list of cells,
// and from widen() on to a counter of four bytes for each cell. Not private: only for use as the
// input of a mechanism.
class CellCounters {
 public:
  explicit CellCounters(std::pmr::memory_resource* memory)
      : low_(memory), high_(memory), carried_(memory) {}

  // Makes counters, all zero, a byte for each cell. There is room for so many records, which takes
  // four bytes for 128 of them; for more call widen(). Throws std::bad_alloc.
  void set_up(std::uint64_t cells, std::uint64_t records);
  bool are_set_up() const { return !low_.empty(); }
  // Makes room for any number of records below 2^32 in a cell, which takes five bytes for each
  // cell. Throws std::bad_alloc.
  void widen();
  bool are_wide() const { return !high_.empty(); }

  // Tells the processor that the counter of the cell will be needed soon.
  void prefetch(std::uint32_t cell) const { __builtin_prefetch(&low_[cell], 1); }
  // Adds a record, or several of a cell. Requires a cell below the number of cells, and room.
  void add(std::uint32_t cell) {
    if (++low_[cell] == 0) carry(cell);
  }
  void add(CellRun run);
  // Adds the records of other counters of as many cells. Throws Cancelled.
  void add(const CellCounters& other, CancelPoll& cancel);

  // All records as runs. Throws Cancelled, std::bad_alloc.
  CellRuns runs(const Workspace& work);
  // The histogram of all records. Throws Cancelled, std::bad_alloc, and as the constructors of
  // Histogram.
  Histogram histogram(const Workspace& work);

 private:
  static constexpr std::uint32_t kCarried = 128;

  void carry(std::uint32_t cell) {
    low_[cell] = kCarried;
    add_high({cell, kCarried});
  }
  void add_high(CellRun run);
  // Calls visit(cell, records), also of cells without records, in order.
  template <class Visit>
  void visit_cells(const Workspace& work, Visit visit);

  std::pmr::vector<std::uint8_t> low_;
  std::pmr::vector<std::uint32_t> high_;     // of the cells, if wide
  std::pmr::vector<std::uint32_t> carried_;  // cells, each with 128 records more; none if wide
};

}  // namespace dpquantile
