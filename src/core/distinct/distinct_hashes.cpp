#include "core/distinct/distinct_hashes.hpp"

#include <algorithm>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"

namespace dpquantile {

DistinctHashes::DistinctHashes(std::span<const std::uint64_t> sorted,
                               std::pmr::memory_resource* memory)
    : DistinctHashes(memory) {
  const auto not_ascending = [](std::uint64_t a, std::uint64_t b) { return a >= b; };
  if (std::ranges::adjacent_find(sorted, not_ascending) != sorted.end()) {
    throw CorruptInput("distinct hashes do not ascend");
  }
  for (const std::uint64_t hash : sorted) add(hash);
}

void DistinctHashes::divide() {
  std::pmr::memory_resource* const memory = tables_.get_allocator().resource();
  std::pmr::vector<HashTable> divided(memory);
  divided.reserve(kTables);
  for (std::size_t i = 0; i < kTables; ++i) divided.emplace_back(memory);
  tables_.front().for_each(
      [&](std::uint64_t hash) { divided[static_cast<std::size_t>(hash >> 56)].add(hash); });
  tables_.swap(divided);
}

std::size_t DistinctHashes::bytes() const {
  std::size_t bytes = tables_.capacity() * sizeof(HashTable);
  for (const HashTable& table : tables_) bytes += table.bytes();
  return bytes;
}

std::pmr::vector<std::uint64_t> DistinctHashes::sorted(std::pmr::memory_resource* memory) const {
  std::pmr::vector<std::uint64_t> hashes(memory);
  hashes.reserve(as_size(size()));
  if (has_zero_) hashes.push_back(0);
  for (const HashTable& table : tables_) {
    const auto first = static_cast<std::ptrdiff_t>(hashes.size());
    table.for_each([&](std::uint64_t hash) { hashes.push_back(hash); });
    std::sort(hashes.begin() + first, hashes.end());
  }
  return hashes;
}

}  // namespace dpquantile
