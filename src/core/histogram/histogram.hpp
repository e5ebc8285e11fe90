#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/cancel.hpp"
#include "core/base/error.hpp"
#include "core/base/partition_point.hpp"
#include "core/base/workspace.hpp"
#include "core/histogram/cell_runs.hpp"

namespace dpquantile {

// Exact counts of records on a grid: the occupied cells in ascending order, with the number of
// records before each. Not private: only for use as the input of a mechanism.
//
// Memory comes from the given resource: at most 8 bytes for each occupied cell on any grid, and
// about 4 on a fine grid with few ties.
class Histogram {
 public:
  // Every constructor throws std::length_error above this number of records.
  static constexpr std::uint64_t kMaxRecords = (std::uint64_t{1} << 32) - 1;

  // Counts the records' cells, each below `cells`, and changes the order of `records`. O(n) time;
  // scratch memory of the size of `records`. Throws Cancelled, std::bad_alloc.
  Histogram(std::span<std::uint32_t> records, std::uint64_t cells, const Workspace& work);

  // Reads at most `runs` runs in ascending order of their cells; at most `ties` of them may have
  // several records. source.next(run) sets the next run and returns false if there is none.
  template <class Source>
  Histogram(std::size_t runs, std::size_t ties, Source source, const Workspace& work)
      : Histogram(work.memory) {
    reserve_runs(runs, ties);
    CancelPoll& cancel = work.cancel;
    for (CellRun run; source.next(run);) {
      cancel.tick();
      add_run(run);
    }
  }

  // The same for a source with an unknown number of runs, which is copied and read twice.
  template <class Source>
  Histogram(Source source, const Workspace& work)
      : Histogram(count_runs(source, work.cancel), source, work) {}

  // The histogram of the counts of all cells: visit_cells(visit) calls visit(cell, records) for
  // each in order, also without records. `runs` of them have records, `ties` several. Which cells
  // these are makes no branch, which a processor would guess wrong. Throws std::bad_alloc, and what
  // visit_cells throws.
  template <class ForEachCell>
  static Histogram of_cells(std::size_t runs, std::size_t ties, ForEachCell visit_cells,
                            const Workspace& work) {
    Histogram histogram(work.memory);
    histogram.reserve_runs(runs, ties);
    if (histogram.keeps_ties_) {
      histogram.fill_with_ties(runs, ties, visit_cells);
    } else {
      histogram.fill(runs, visit_cells);
    }
    histogram.check_total();
    return histogram;
  }

  // The number of occupied cells.
  std::size_t runs() const { return occupied_.size(); }
  // The run-th occupied cell; run < runs().
  std::uint32_t cell(std::size_t run) const { return occupied_[run]; }
  // The number of records in cells before the run-th occupied one; run <= runs().
  std::uint64_t before(std::size_t run) const {
    return keeps_ties_ ? run + excess_before(run) : before_[run];
  }
  // The number of records in the run-th occupied cell.
  std::uint64_t count(std::size_t run) const { return before(run + 1) - before(run); }
  // The number of records.
  std::uint64_t total() const { return total_; }

  // The number of records in each cell of the grid, which has `cells` cells.
  std::pmr::vector<std::uint64_t> counts(std::uint64_t cells,
                                         std::pmr::memory_resource* memory) const;

  // The first run whose cell is at or after the given one; runs() if there is none.
  std::size_t first_run_from(std::uint64_t cell) const {
    return partition_point(runs(), [&](std::size_t run) { return occupied_[run] >= cell; });
  }
  // The same, where the answer is `from` or a later run. Takes less time for a near one.
  std::size_t first_run_from(std::uint64_t cell, std::size_t from) const {
    return partition_point_from(from, runs(),
                                [&](std::size_t run) { return occupied_[run] >= cell; });
  }

 private:
  struct Size {
    std::size_t runs = 0;
    std::size_t ties = 0;
  };

  template <class Source>
  static Size count_runs(Source source, CancelPoll& cancel) {
    Size size;
    for (CellRun run; source.next(run);) {
      cancel.tick();
      ++size.runs;
      if (run.count > 1) ++size.ties;
    }
    return size;
  }

  template <class Source>
  Histogram(Size size, Source source, const Workspace& work)
      : Histogram(size.runs, size.ties, source, work) {}

  // A run of several records.
  struct Tie {
    std::uint32_t run;
    std::uint32_t excess;  // records minus runs, up to and including this run
  };

  explicit Histogram(std::pmr::memory_resource* memory)
      : occupied_(memory), before_(memory), ties_(memory) {}

  // 1 if there are more records than that, otherwise 0. Compilers make a branch of a comparison.
  static std::size_t one_if_above(std::uint64_t least, std::uint32_t records) {
    return static_cast<std::size_t>((least - records) >> 63);
  }
  // Each cell writes the next run, which stays only if the cell has records.
  template <class ForEachCell>
  void fill(std::size_t runs, ForEachCell visit_cells) {
    occupied_.resize(runs + 1);
    before_.resize(runs + 1);
    std::uint32_t* const occupied = occupied_.data();
    std::uint32_t* const before = before_.data();
    std::size_t run = 0;
    std::uint64_t total = 0;
    visit_cells([&](std::uint32_t cell, std::uint32_t records) {
      occupied[run] = cell;
      run += one_if_above(0, records);
      total += records;
      before[run] = static_cast<std::uint32_t>(total);
    });
    occupied_.pop_back();
    total_ = total;
  }
  template <class ForEachCell>
  void fill_with_ties(std::size_t runs, std::size_t ties, ForEachCell visit_cells) {
    occupied_.resize(runs + 1);
    ties_.resize(ties + 1);
    std::uint32_t* const occupied = occupied_.data();
    Tie* const several = ties_.data();
    std::size_t run = 0;
    std::size_t tie = 0;
    std::uint64_t total = 0;
    visit_cells([&](std::uint32_t cell, std::uint32_t records) {
      occupied[run] = cell;
      total += records;
      several[tie] = {static_cast<std::uint32_t>(run), static_cast<std::uint32_t>(total - run - 1)};
      run += one_if_above(0, records);
      tie += one_if_above(1, records);
    });
    occupied_.pop_back();
    ties_.pop_back();
    total_ = total;
  }

  // Has room for one run and one tie more, too.
  void reserve_runs(std::size_t runs, std::size_t ties);
  void check_total() const {
    if (total_ > kMaxRecords) throw TooManyRows(kMaxRecords);
  }
  void add_run(CellRun run);
  std::uint64_t excess_before(std::size_t run) const;

  std::pmr::vector<std::uint32_t> occupied_;
  // If true, the number of records before a run follows from ties_; else before_ holds it.
  bool keeps_ties_ = false;
  std::pmr::vector<std::uint32_t> before_;
  std::pmr::vector<Tie> ties_;
  std::uint64_t total_ = 0;
};

}  // namespace dpquantile
