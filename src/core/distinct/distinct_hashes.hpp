#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/distinct/hash_table.hpp"

namespace dpquantile {

// A set of 64-bit hashes, the state of a count of distinct values. A hash takes 10 to 15 bytes of
// the given memory resource once there are some thousand. Large sets are divided into 256 tables by
// the first byte of the hash, which grow one at a time: while one grows, only this one is in memory
// twice. Adding takes constant time on average, for hashes that look random (keyed hashes of
// values). Not private: only for use as the input of a mechanism, as size().
class DistinctHashes {
 public:
  explicit DistinctHashes(std::pmr::memory_resource* memory) : tables_(memory) {
    tables_.emplace_back(memory);
  }
  // The set of these hashes, which ascend strictly, as sorted() gives them. Throws CorruptInput if
  // they do not, std::bad_alloc.
  DistinctHashes(std::span<const std::uint64_t> sorted, std::pmr::memory_resource* memory);

  // Adds a hash. Throws std::bad_alloc; no hash that was added before is lost then.
  void add(std::uint64_t hash) {
    if (hash == 0) {
      has_zero_ = true;
    } else if (tables_[table_of(hash)].add(hash)) {
      ++others_;
      if (tables_.size() == 1 && is_time_to_divide(hash)) divide();
    }
  }
  void add(const DistinctHashes& other) {
    other.for_each([this](std::uint64_t hash) { add(hash); });
  }

  std::uint64_t size() const { return others_ + (has_zero_ ? 1 : 0); }
  // The bytes of memory in use.
  std::size_t bytes() const;

  // Visits every hash once, in no order.
  template <class Visit>
  void for_each(Visit visit) const {
    if (has_zero_) visit(std::uint64_t{0});
    for (const HashTable& table : tables_) table.for_each(visit);
  }

  // All hashes in ascending order. The order of adding does not matter.
  std::pmr::vector<std::uint64_t> sorted(std::pmr::memory_resource* memory) const;

 private:
  static constexpr std::size_t kTables = 256;
  static constexpr std::size_t kMostInOneTable = 4096;

  std::size_t table_of(std::uint64_t hash) const {
    return tables_.size() == 1 ? 0 : static_cast<std::size_t>(hash >> 56);
  }
  // One hash of 256 does it, so that nobody knows at which number the time of a division comes.
  bool is_time_to_divide(std::uint64_t hash) const {
    constexpr std::uint64_t kOneOf = 256;
    return others_ > kMostInOneTable || (others_ > kMostInOneTable / 4 && hash % kOneOf == 0);
  }
  void divide();

  std::pmr::vector<HashTable> tables_;  // one, or kTables in the order of the first byte
  std::uint64_t others_ = 0;            // hashes other than 0
  bool has_zero_ = false;
};

}  // namespace dpquantile
