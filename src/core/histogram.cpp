#include "core/histogram.hpp"

#include <algorithm>

#include "core/radix_sort.hpp"

namespace dpquantile {

namespace {

std::size_t count_runs(std::span<const std::uint32_t> sorted, CancelPoll& cancel) {
  std::size_t runs = sorted.empty() ? 0 : 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    cancel.tick();
    runs += sorted[i] != sorted[i - 1];
  }
  return runs;
}

}  // namespace

Histogram::Histogram(std::span<std::uint32_t> records, std::uint64_t cells, CancelPoll& cancel,
                     std::pmr::memory_resource* memory)
    : occupied_(memory), before_(memory) {
  radix_sort(records, cells, cancel, memory);
  const std::size_t runs = count_runs(records, cancel);
  occupied_.reserve(runs);
  before_.reserve(runs + 1);
  for (std::size_t i = 0; i < records.size(); ++i) {
    cancel.tick();
    if (i > 0 && records[i] == records[i - 1]) continue;
    occupied_.push_back(records[i]);
    before_.push_back(i);
  }
  before_.push_back(records.size());
}

std::size_t Histogram::first_run_from(std::uint64_t cell) const {
  return static_cast<std::size_t>(std::lower_bound(occupied_.begin(), occupied_.end(), cell) -
                                  occupied_.begin());
}

}  // namespace dpquantile
