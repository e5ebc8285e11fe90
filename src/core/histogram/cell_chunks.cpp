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

void CellChunkPool::begin_block() {
  const std::size_t size =
      blocks_.empty() ? kFirstBlock : std::min(2 * blocks_.back().size(), kLargestBlock);
  blocks_.emplace_back(size);
  left_ = size;
}

CellChunk* CellChunkPool::take() {
  if (given_back_ != nullptr) return std::exchange(given_back_, given_back_->previous);
  if (left_ == 0) begin_block();
  return blocks_.back()[blocks_.back().size() - left_--].chunks;
}

void CellChunkPool::give_back(CellChunk* first) {
  first->previous = given_back_;
  given_back_ = first;
}

void CellChunks::make_room(CellChunkPool& pool) {
  CellChunk* chunk = is_first_of_bundle(newest_) ? pool.take() : newest_.previous + 1;
  *chunk = newest_;
  newest_.previous = chunk;
  ++newest_.chunks_before;
  newest_.used = 0;
}

std::pmr::vector<std::uint32_t> CellChunks::list(std::pmr::memory_resource* memory) const {
  std::pmr::vector<std::uint32_t> cells(memory);
  cells.reserve(total());
  for (const CellChunk* chunk = &newest_; chunk != nullptr; chunk = chunk->previous) {
    cells.insert(cells.end(), chunk->cells, chunk->cells + chunk->used);
  }
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
  for (const CellChunk* chunk = &newest_; chunk != nullptr; chunk = chunk->previous) {
    for (const std::uint32_t cell : std::span(chunk->cells).first(chunk->used)) ++counts[cell];
  }
  return counts;
}

Histogram CellChunks::histogram(std::uint64_t cells, const Workspace& work) const {
  std::pmr::vector<std::uint32_t> records = list(work.memory);
  return {std::span<std::uint32_t>(records), cells, work};
}

void CellChunks::clear(CellChunkPool& pool) {
  for (CellChunk* chunk = newest_.previous; chunk != nullptr;) {
    CellChunk* previous = chunk->previous;
    if (is_first_of_bundle(*chunk)) pool.give_back(chunk);
    chunk = previous;
  }
  newest_ = {};
}

}  // namespace dpquantile
