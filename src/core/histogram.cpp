#include "core/histogram.hpp"

#include <algorithm>

#include "core/partition_point.hpp"
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
  // With at least as many records as cells, a counter for every cell is affordable and takes a
  // single pass over the records.
  if (cells <= records.size()) {
    count_densely(records, cells, cancel);
  } else {
    count_sorted(records, cells, cancel);
  }
  before_.push_back(records.size());
}

void Histogram::count_densely(std::span<const std::uint32_t> records, std::uint64_t cells,
                              CancelPoll& cancel) {
  std::pmr::vector<std::uint64_t> counts(cells, occupied_.get_allocator().resource());
  for (const std::uint32_t record : records) {
    cancel.tick();
    ++counts[record];
  }
  reserve_runs(cells - static_cast<std::size_t>(std::count(counts.begin(), counts.end(), 0U)));
  std::uint64_t before = 0;
  for (std::uint64_t cell = 0; cell < cells; ++cell) {
    cancel.tick();
    if (counts[cell] == 0) continue;
    add_run(static_cast<std::uint32_t>(cell), before);
    before += counts[cell];
  }
}

void Histogram::count_sorted(std::span<std::uint32_t> records, std::uint64_t cells,
                             CancelPoll& cancel) {
  radix_sort(records, cells, cancel, occupied_.get_allocator().resource());
  reserve_runs(count_runs(records, cancel));
  for (std::size_t i = 0; i < records.size(); ++i) {
    cancel.tick();
    if (i == 0 || records[i] != records[i - 1]) add_run(records[i], i);
  }
}

void Histogram::reserve_runs(std::size_t runs) {
  occupied_.reserve(runs);
  before_.reserve(runs + 1);
}

void Histogram::add_run(std::uint32_t cell, std::uint64_t before) {
  occupied_.push_back(cell);
  before_.push_back(before);
}

std::size_t Histogram::first_run_from(std::uint64_t cell) const {
  return partition_point(runs(), [&](std::size_t run) { return occupied_[run] >= cell; });
}

}  // namespace dpquantile
