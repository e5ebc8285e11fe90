#include "core/histogram/cell_chunks.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/base/as_size.hpp"
#include "core/base/radix_sort.hpp"
#include "core/histogram/cell_runs.hpp"

namespace dpquantile {

namespace {

// Sizes of blocks, in bundles. Each block has twice the size of the one before, so that few groups
// take little memory and many groups take few blocks.
constexpr std::size_t kFirstBlock = 1;
constexpr std::size_t kLargestBlock = 1024;

}  // namespace

void CellBundlePool::begin_block() {
  const std::size_t size =
      blocks_.empty() ? kFirstBlock : std::min(2 * blocks_.back().size(), kLargestBlock);
  blocks_.emplace_back(size);
  left_ = size;
}

CellBundle* CellBundlePool::take() {
  if (given_back_ != nullptr) return std::exchange(given_back_, given_back_->previous);
  if (left_ == 0) begin_block();
  return &blocks_.back()[blocks_.back().size() - left_--];
}

void CellBundlePool::give_back(CellBundle* bundle) {
  bundle->previous = given_back_;
  given_back_ = bundle;
}

void CellChunks::make_room(CellBundlePool& pool) {
  const std::size_t place = chunks_ % kChunksOfBundle;
  if (place == 0) {
    CellBundle* bundle = pool.take();
    bundle->previous = newest_bundle_;
    newest_bundle_ = bundle;
  }
  std::ranges::copy(latest_, newest_bundle_->cells + place * kChunk);
  ++chunks_;
  used_ = 0;
}

template <class Visit>
void CellChunks::visit_cells(Visit visit) const {
  visit(latest());
  std::size_t in_bundles = chunks_ * kChunk;
  for (const CellBundle* bundle = newest_bundle_; bundle != nullptr; bundle = bundle->previous) {
    // Only the newest bundle may have room.
    const std::size_t before = (in_bundles - 1) / CellBundle::kCells * CellBundle::kCells;
    visit(std::span(bundle->cells).first(in_bundles - before));
    in_bundles = before;
  }
}

std::pmr::vector<std::uint32_t> CellChunks::list(std::pmr::memory_resource* memory) const {
  std::pmr::vector<std::uint32_t> cells(memory);
  cells.reserve(total());
  visit_cells([&](std::span<const std::uint32_t> some) {
    cells.insert(cells.end(), some.begin(), some.end());
  });
  return cells;
}

CellRuns CellChunks::encode(std::uint64_t cells, const Workspace& work) const {
  std::pmr::vector<std::uint32_t> records = list(work.memory);
  radix_sort(records, cells, work);
  SortedRecords sorted(records);
  CellRuns runs(work.memory);
  for (CellRun run; sorted.next(run);) runs.append(run);
  return runs;
}

std::pmr::vector<std::uint64_t> CellChunks::counts(std::uint64_t cells,
                                                   std::pmr::memory_resource* memory) const {
  std::pmr::vector<std::uint64_t> counts(as_size(cells), memory);
  visit_cells([&](std::span<const std::uint32_t> some) {
    for (const std::uint32_t cell : some) ++counts[cell];
  });
  return counts;
}

Histogram CellChunks::histogram(std::uint64_t cells, const Workspace& work) const {
  std::pmr::vector<std::uint32_t> records = list(work.memory);
  return {std::span<std::uint32_t>(records), cells, work};
}

void CellChunks::clear(CellBundlePool& pool) {
  for (CellBundle* bundle = newest_bundle_; bundle != nullptr;) {
    pool.give_back(std::exchange(bundle, bundle->previous));
  }
  newest_bundle_ = nullptr;
  chunks_ = 0;
  used_ = 0;
}

}  // namespace dpquantile
