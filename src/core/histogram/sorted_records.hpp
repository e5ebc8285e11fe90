#pragma once

#include <cstdint>
#include <span>

#include "core/histogram/cell_runs.hpp"

namespace dpquantile {

// Records in ascending order, read as runs of equal ones.
class SortedRecords {
 public:
  explicit SortedRecords(std::span<const std::uint32_t> records) : records_(records) {}

  // The next run; false if there is none.
  bool next(CellRun& run) {
    if (records_.empty()) return false;
    std::uint32_t count = 1;
    while (count < records_.size() && records_[count] == records_[0]) ++count;
    run = {records_[0], count};
    records_ = records_.subspan(count);
    return true;
  }

 private:
  std::span<const std::uint32_t> records_;
};

}  // namespace dpquantile
