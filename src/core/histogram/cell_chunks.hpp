#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/workspace.hpp"
#include "core/histogram/cell_runs.hpp"
#include "core/histogram/histogram.hpp"

namespace dpquantile {

// A processor's cache fetches memory in lines of so many bytes.
inline constexpr std::size_t kCacheLine = 64;

// Some of a group's cells in one cache line, and a link to those before.
struct CellChunk {
  static constexpr std::size_t kCells = 13;

  CellChunk* previous;
  std::uint16_t chunks_before;
  std::uint16_t used;
  std::uint32_t cells[kCells];
};
static_assert(sizeof(CellChunk) == kCacheLine);

// Chunks that lie next to each other: who reads them back waits for the memory once.
struct alignas(kCacheLine) ChunkBundle {
  static constexpr std::size_t kChunks = 4;

  CellChunk chunks[kChunks];
};

// Memory for the chunks of very many groups, in bundles, one after the other. It goes back to the
// resource when the pool ends; bundles that are given back are taken again before that.
class CellChunkPool {
 public:
  explicit CellChunkPool(std::pmr::memory_resource* memory) : blocks_(memory) {}
  CellChunkPool(const CellChunkPool&) = delete;
  CellChunkPool& operator=(const CellChunkPool&) = delete;

  // A bundle to be filled in, by its first chunk. May throw std::bad_alloc.
  CellChunk* take();
  void give_back(CellChunk* first);

 private:
  void begin_block();

  std::pmr::vector<std::pmr::vector<ChunkBundle>> blocks_;
  std::size_t left_ = 0;  // in the last block
  CellChunk* given_back_ = nullptr;
};

// The cells of a group's records while they are few, as a list of chunks. Where there are many
// groups, memory is what takes time: adding a record touches one cache line or two, always the
// same. Not private: it only ever feeds a mechanism.
//
// Plain data; its chunks are those of a pool.
class CellChunks {
 public:
  static constexpr std::size_t kMostCells = 160 * CellChunk::kCells;

  // Whether make_room() is due before the next record.
  bool full() const { return newest_.used == CellChunk::kCells; }
  // Requires full() and total() < kMostCells. May throw std::bad_alloc; then nothing has changed.
  void make_room(CellChunkPool& pool);
  // Adds a record. Requires !full().
  void add(std::uint32_t cell) { newest_.cells[newest_.used++] = cell; }

  // Number of records.
  std::size_t total() const { return newest_.chunks_before * CellChunk::kCells + newest_.used; }

  // All cells, in no particular order.
  std::pmr::vector<std::uint32_t> list(std::pmr::memory_resource* memory) const;
  // The records compressed.
  CellRuns encode(std::uint64_t cells, const Workspace& work) const;
  // Their histogram.
  Histogram histogram(std::uint64_t cells, const Workspace& work) const;

  // Gives all chunks back; no records are left.
  void clear(CellChunkPool& pool);

 private:
  static bool is_first_of_bundle(const CellChunk& chunk) {
    return chunk.chunks_before % ChunkBundle::kChunks == 0;
  }

  CellChunk newest_{};
};

}  // namespace dpquantile
