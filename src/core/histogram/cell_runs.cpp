#include "core/histogram/cell_runs.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace dpquantile {

namespace {

constexpr std::size_t kLeastBlockBytes = 256;
constexpr std::size_t kMostBlockBytes = std::size_t{1} << 18;
constexpr unsigned kMaxVarintBytes = 5;

// Takes a varint from the front of bytes that may be corrupt.
std::uint64_t take_varint(std::span<const std::uint8_t>& bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < kMaxVarintBytes && i < bytes.size(); ++i) {
    const std::uint8_t byte = bytes[i];
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    if (byte == 0 && i > 0) throw CorruptInput("a number ends in a zero byte");
    bytes = bytes.subspan(i + 1);
    return value;
  }
  throw CorruptInput("a number does not end");
}

}  // namespace

// Full blocks stay where they are, so that encoded bytes are never copied.
void CellRuns::begin_block() {
  const std::size_t size = std::clamp(bytes(), kLeastBlockBytes, kMostBlockBytes);
  blocks_.push_back({std::pmr::vector<std::uint8_t>(size, blocks_.get_allocator().resource())});
}

std::size_t CellRuns::bytes() const {
  std::size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.size;
  return bytes;
}

void check_cell_runs(std::span<const std::uint8_t> bytes, std::uint64_t cells,
                     std::uint64_t records, CancelPoll& cancel) {
  std::uint64_t next_cell = 0;
  while (!bytes.empty()) {
    cancel.tick();
    const std::uint64_t word = take_varint(bytes);
    const std::uint64_t count = (word & 1) == 0 ? 1 : take_varint(bytes) + 2;
    next_cell += (word >> 1) + 1;
    if (next_cell > cells) throw CorruptInput("a record lies outside the grid");
    if (count > records) throw CorruptInput("more records than are stated");
    records -= count;
  }
  if (records != 0) throw CorruptInput("fewer records than are stated");
}

}  // namespace dpquantile
