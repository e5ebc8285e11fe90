#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/base/cancel.hpp"

namespace dpquantile {

// A cell and the number of records in it, at least one.
struct CellRun {
  std::uint32_t cell;
  std::uint32_t count;
};

// Runs in ascending order of their cells, compressed. A record takes one to five bytes; further
// records of the same cell take hardly any.
//
//   run:     varint of 2 * (cells skipped since the last run) + (1 if the run has several records);
//            if it has several, then a varint of their number minus two
//   varint:  seven bits per byte, the least significant first; all bytes except the last have the
//            high bit set
//
// The same records always give the same bytes. Not private: only for use as the input of a
// mechanism.
class CellRuns {
 public:
  explicit CellRuns(std::pmr::memory_resource* memory) : blocks_(memory) {}

  // Requires a cell above that of the last run, and a count of at least 1. Throws std::bad_alloc.
  void append(CellRun run) {
    if (blocks_.empty() || blocks_.back().room() < kMaxRunBytes) begin_block();
    const bool several = run.count > 1;
    std::uint8_t* to = blocks_.back().end();
    to = put_varint(to, 2 * (run.cell - next_cell_) + (several ? 1 : 0));
    if (several) to = put_varint(to, run.count - 2);
    blocks_.back().size = static_cast<std::size_t>(to - blocks_.back().bytes.data());
    next_cell_ = std::uint64_t{run.cell} + 1;
    records_ += run.count;
    ++runs_;
    ties_ += several ? 1 : 0;
  }

  std::uint64_t records() const { return records_; }
  std::size_t runs() const { return runs_; }
  // The number of runs that have several records.
  std::size_t ties() const { return ties_; }
  std::size_t bytes() const;
  // The encoded bytes lie in blocks, one after the other.
  std::size_t blocks() const { return blocks_.size(); }
  std::span<const std::uint8_t> block(std::size_t i) const {
    return {blocks_[i].bytes.data(), blocks_[i].size};
  }

 private:
  static constexpr std::size_t kMaxRunBytes = 10;

  struct Block {
    std::pmr::vector<std::uint8_t> bytes;
    std::size_t size = 0;  // of the bytes in use

    std::size_t room() const { return bytes.size() - size; }
    std::uint8_t* end() { return bytes.data() + size; }
  };

  static std::uint8_t* put_varint(std::uint8_t* to, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *to++ = static_cast<std::uint8_t>(value | 0x80);
    *to++ = static_cast<std::uint8_t>(value);
    return to;
  }
  void begin_block();

  std::pmr::vector<Block> blocks_;
  std::uint64_t next_cell_ = 0;
  std::uint64_t records_ = 0;
  std::size_t runs_ = 0;
  std::size_t ties_ = 0;
};

// Reads encoded runs in order. The bytes must be those of a CellRuns from its first block on: whole
// blocks, put together.
class CellRunsReader {
 public:
  explicit CellRunsReader(std::span<const std::uint8_t> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  explicit CellRunsReader(const CellRuns& runs) : runs_(&runs) {}

  // Sets `run` to the next run; returns false if there is none.
  bool next(CellRun& run) {
    while (at_ == end_) {
      if (runs_ == nullptr || block_ == runs_->blocks()) return false;
      const std::span<const std::uint8_t> bytes = runs_->block(block_++);
      at_ = bytes.data();
      end_ = at_ + bytes.size();
    }
    const std::uint64_t word = read_varint();
    const std::uint64_t cell = next_cell_ + (word >> 1);
    next_cell_ = cell + 1;
    run.cell = static_cast<std::uint32_t>(cell);
    run.count = (word & 1) == 0 ? 1 : static_cast<std::uint32_t>(read_varint() + 2);
    return true;
  }

 private:
  std::uint64_t read_varint() {
    std::uint64_t value = *at_++;
    if (value < 0x80) return value;
    value &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
      const std::uint64_t byte = *at_++;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  const CellRuns* runs_ = nullptr;
  std::size_t block_ = 0;  // the next one to read
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::uint64_t next_cell_ = 0;
};

// Throws CorruptInput unless the bytes are the encoding of exactly `records` records on a grid of
// `cells` cells. Throws Cancelled.
void check_cell_runs(std::span<const std::uint8_t> bytes, std::uint64_t cells,
                     std::uint64_t records, CancelPoll& cancel);

// Reads sorted records as runs. `records` holds their cells in ascending order, fewer than 2^32,
// and must outlive this object.
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
