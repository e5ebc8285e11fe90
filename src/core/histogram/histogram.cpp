#include "core/histogram/histogram.hpp"

#include "core/base/as_size.hpp"
#include "core/base/partition_point.hpp"
#include "core/base/radix_sort.hpp"
#include "core/histogram/cell_runs.hpp"

namespace dpquantile {

namespace {

// Below this number of runs the memory saved by ties_ is not worth the time it costs.
constexpr std::size_t kManyRuns = std::size_t{1} << 16;

std::span<const std::uint32_t> sort(std::span<std::uint32_t> records, std::uint64_t cells,
                                    const Workspace& work) {
  radix_sort(records, cells, work);
  return records;
}

}  // namespace

Histogram::Histogram(std::span<std::uint32_t> records, std::uint64_t cells, const Workspace& work)
    : Histogram(SortedRecords(sort(records, cells, work)), work) {}

void Histogram::reserve_runs(std::size_t runs, std::size_t ties) {
  occupied_.reserve(runs + 1);
  keeps_ties_ = runs > kManyRuns && ties <= runs / 2;
  if (keeps_ties_) {
    ties_.reserve(ties + 1);
  } else {
    before_.reserve(runs + 1);
    before_.push_back(0);
  }
}

void Histogram::add_run(CellRun run) {
  occupied_.push_back(run.cell);
  total_ += run.count;
  check_total();
  if (!keeps_ties_) {
    before_.push_back(static_cast<std::uint32_t>(total_));
  } else if (run.count > 1) {
    ties_.push_back(
        {static_cast<std::uint32_t>(runs() - 1), static_cast<std::uint32_t>(total_ - runs())});
  }
}

std::uint64_t Histogram::excess_before(std::size_t run) const {
  const std::size_t after =
      partition_point(ties_.size(), [&](std::size_t i) { return ties_[i].run >= run; });
  return after == 0 ? 0 : ties_[after - 1].excess;
}

std::pmr::vector<std::uint64_t> Histogram::counts(std::uint64_t cells,
                                                  std::pmr::memory_resource* memory) const {
  std::pmr::vector<std::uint64_t> counts(as_size(cells), memory);
  for (std::size_t run = 0; run < runs(); ++run) counts[cell(run)] = count(run);
  return counts;
}

}  // namespace dpquantile
