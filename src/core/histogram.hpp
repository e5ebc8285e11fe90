#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/cancel.hpp"

namespace dpquantile {

// Exact counts of records on a grid: the occupied cells in ascending order, with the number of
// records before each. Not private: it only ever feeds a mechanism.
//
// Memory comes from the given resource. Sparse, so its size follows the number of occupied cells
// and not the grid's.
class Histogram {
 public:
  // Counts the records' cells (each below `cells`), leaving `records` in another order. O(n) time;
  // scratch memory of at most twice the size of `records`.
  Histogram(std::span<std::uint32_t> records, std::uint64_t cells, CancelPoll& cancel,
            std::pmr::memory_resource* memory);

  // Number of occupied cells.
  std::size_t runs() const { return occupied_.size(); }
  // The run-th occupied cell; run < runs().
  std::uint32_t cell(std::size_t run) const { return occupied_[run]; }
  // Number of records in cells before the run-th occupied one; run <= runs().
  std::uint64_t before(std::size_t run) const { return before_[run]; }
  // Number of records in the run-th occupied cell.
  std::uint64_t count(std::size_t run) const { return before_[run + 1] - before_[run]; }
  // Number of records.
  std::uint64_t total() const { return before_.back(); }

  // The first run whose cell is at or after the given one; runs() if there is none.
  std::size_t first_run_from(std::uint64_t cell) const;

 private:
  void count_densely(std::span<const std::uint32_t> records, std::uint64_t cells,
                     CancelPoll& cancel);
  void count_sorted(std::span<std::uint32_t> records, std::uint64_t cells, CancelPoll& cancel);
  void reserve_runs(std::size_t runs);
  void add_run(std::uint32_t cell, std::uint64_t before);

  std::pmr::vector<std::uint32_t> occupied_;
  std::pmr::vector<std::uint64_t> before_;
};

}  // namespace dpquantile
