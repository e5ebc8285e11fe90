#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/cache_line.hpp"
#include "core/base/workspace.hpp"
#include "core/histogram/cell_runs.hpp"
#include "core/histogram/histogram.hpp"

namespace dpquantile {

// Cells of a group's records that lie next to each other, so that reading them back waits for the
// memory only once, and a link to the bundle before.
struct alignas(kCacheLine) CellBundle {
  static constexpr std::size_t kCells = 56;

  CellBundle* previous;
  std::uint32_t cells[kCells];
};
static_assert(sizeof(CellBundle) == 4 * kCacheLine);

// Memory for the bundles of very many groups. Bundles that are given back are used again. The
// memory returns to the resource when the pool is destroyed.
class CellBundlePool {
 public:
  explicit CellBundlePool(std::pmr::memory_resource* memory) : blocks_(memory) {}
  CellBundlePool(const CellBundlePool&) = delete;
  CellBundlePool& operator=(const CellBundlePool&) = delete;

  // A bundle for the caller to fill. Throws std::bad_alloc.
  CellBundle* take();
  void give_back(CellBundle* bundle);

 private:
  void begin_block();

  std::pmr::vector<std::pmr::vector<CellBundle>> blocks_;
  std::size_t left_ = 0;  // unused bundles in the last block
  CellBundle* given_back_ = nullptr;
};

// The cells of a group's records while they are few. With many groups most of the time goes into
// access to memory. So the latest cells are in the object itself, which an owner can keep in one
// cache line with all else that a row needs; they move to a bundle a chunk at a time. Not private:
// only for use as the input of a mechanism.
//
// Plain data; its bundles belong to a pool.
class CellChunks {
 public:
  static constexpr std::size_t kChunk = 7;
  static constexpr std::size_t kMostCells = 300 * kChunk;

  // Whether make_room() must be called before the next add().
  bool full() const { return used_ == kChunk; }
  // Requires full() and total() < kMostCells. Throws std::bad_alloc, and then nothing has changed.
  void make_room(CellBundlePool& pool);
  // Adds a record. Requires !full().
  void add(std::uint32_t cell) { latest_[used_++] = cell; }

  // The number of records.
  std::size_t total() const { return chunks_ * kChunk + used_; }

  // The cells that are in no bundle.
  std::span<const std::uint32_t> latest() const { return std::span(latest_).first(used_); }
  // All cells, in no particular order.
  std::pmr::vector<std::uint32_t> list(std::pmr::memory_resource* memory) const;
  // The records, compressed. Throws Cancelled, std::bad_alloc.
  CellRuns encode(std::uint64_t cells, const Workspace& work) const;
  // The number of records in each of the cells. Throws std::bad_alloc.
  std::pmr::vector<std::uint64_t> counts(std::uint64_t cells,
                                         std::pmr::memory_resource* memory) const;
  // The histogram of the records. Throws Cancelled, std::bad_alloc.
  Histogram histogram(std::uint64_t cells, const Workspace& work) const;

  // Gives all bundles back to the pool and forgets all records.
  void clear(CellBundlePool& pool);

 private:
  static constexpr std::size_t kChunksOfBundle = CellBundle::kCells / kChunk;
  static_assert(kChunksOfBundle * kChunk == CellBundle::kCells);

  // Calls visit() with the cells of each bundle and with the latest.
  template <class Visit>
  void visit_cells(Visit visit) const;

  std::uint16_t chunks_ = 0;  // in bundles
  std::uint16_t used_ = 0;    // of latest_
  std::uint32_t latest_[kChunk];
  CellBundle* newest_bundle_ = nullptr;
};

}  // namespace dpquantile
