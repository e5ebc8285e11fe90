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

// Some of a group's cells in one cache line, and a link to the cells before them.
struct CellChunk {
  static constexpr std::size_t kCells =
      (kCacheLine - sizeof(void*) - 2 * sizeof(std::uint16_t)) / sizeof(std::uint32_t);

  CellChunk* previous;
  std::uint16_t chunks_before;
  std::uint16_t used;
  std::uint32_t cells[kCells];
};
static_assert(sizeof(CellChunk) == kCacheLine);

// Chunks that lie next to each other, so that reading them back waits for the memory only once.
struct alignas(kCacheLine) ChunkBundle {
  static constexpr std::size_t kChunks = 4;

  CellChunk chunks[kChunks];
};

// Memory for the chunks of very many groups, given out in bundles. Bundles that are given back are
// used again. The memory returns to the resource when the pool is destroyed.
class CellChunkPool {
 public:
  explicit CellChunkPool(std::pmr::memory_resource* memory) : blocks_(memory) {}
  CellChunkPool(const CellChunkPool&) = delete;
  CellChunkPool& operator=(const CellChunkPool&) = delete;

  // A bundle for the caller to fill, by its first chunk. Throws std::bad_alloc.
  CellChunk* take();
  // Takes back a bundle, by its first chunk.
  void give_back(CellChunk* first);

 private:
  void begin_block();

  std::pmr::vector<std::pmr::vector<ChunkBundle>> blocks_;
  std::size_t left_ = 0;  // unused bundles in the last block
  CellChunk* given_back_ = nullptr;
};

// The cells of a group's records while they are few, as a list of chunks. With many groups most of
// the time goes into access to memory: adding a record touches one or two cache lines, always the
// same ones. Not private: only for use as the input of a mechanism.
//
// Plain data; its chunks belong to a pool.
class CellChunks {
 public:
  static constexpr std::size_t kMostCells = 160 * CellChunk::kCells;

  // Whether make_room() must be called before the next add().
  bool full() const { return newest_.used == CellChunk::kCells; }
  // Requires full() and total() < kMostCells. Throws std::bad_alloc, and then nothing has changed.
  void make_room(CellChunkPool& pool);
  // Adds a record. Requires !full().
  void add(std::uint32_t cell) { newest_.cells[newest_.used++] = cell; }

  // The number of records.
  std::size_t total() const { return newest_.chunks_before * CellChunk::kCells + newest_.used; }

  // All cells, in no particular order.
  std::pmr::vector<std::uint32_t> list(std::pmr::memory_resource* memory) const;
  // The records, compressed. Throws Cancelled, std::bad_alloc.
  CellRuns encode(std::uint64_t cells, const Workspace& work) const;
  // The number of records in each of the cells. Throws std::bad_alloc.
  std::pmr::vector<std::uint64_t> counts(std::uint64_t cells,
                                         std::pmr::memory_resource* memory) const;
  // The histogram of the records. Throws Cancelled, std::bad_alloc.
  Histogram histogram(std::uint64_t cells, const Workspace& work) const;

  // Gives all chunks back to the pool and forgets all records.
  void clear(CellChunkPool& pool);

 private:
  static bool is_first_of_bundle(const CellChunk& chunk) {
    return chunk.chunks_before % ChunkBundle::kChunks == 0;
  }

  CellChunk newest_{};
};

}  // namespace dpquantile
