#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

namespace dpquantile {

// A set of hashes other than 0 in one stretch of memory: open addressing with linear probing,
// between 13/24 and 13/16 full once it has grown. The hashes must look random in bits 24 to 55.
class HashTable {
 public:
  explicit HashTable(std::pmr::memory_resource* memory) : buckets_(memory) {}

  // Adds a hash, and returns whether it is new. Throws std::bad_alloc and changes nothing then.
  bool add(std::uint64_t hash) {
    if (buckets_.empty()) grow();
    std::size_t bucket = find(hash);
    if (buckets_[bucket] == hash) return false;
    if (is_full()) {
      grow();
      bucket = find(hash);
    }
    buckets_[bucket] = hash;
    ++size_;
    return true;
  }

  std::size_t size() const { return size_; }
  // The bytes of memory in use.
  std::size_t bytes() const { return buckets_.size() * sizeof(std::uint64_t); }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const std::uint64_t bucket : buckets_) {
      if (bucket != 0) visit(bucket);
    }
  }

 private:
  static constexpr std::size_t kLeastBuckets = 16;

  bool is_full() const { return 16 * std::uint64_t{size_} >= 13 * std::uint64_t{buckets_.size()}; }

  // The bucket that has the hash, or the empty one where it belongs.
  std::size_t find(std::uint64_t hash) const {
    const std::uint64_t middle_bits = (hash >> 24) & 0xffffffff;
    auto bucket = static_cast<std::size_t>(middle_bits * buckets_.size() >> 32);
    while (buckets_[bucket] != 0 && buckets_[bucket] != hash) {
      if (++bucket == buckets_.size()) bucket = 0;
    }
    return bucket;
  }

  // Adds half of the buckets: doubling would leave more of them empty.
  void grow() {
    const std::size_t buckets =
        buckets_.empty() ? kLeastBuckets : buckets_.size() + buckets_.size() / 2;
    HashTable larger(buckets_.get_allocator().resource());
    larger.buckets_.resize(buckets);
    for_each([&](std::uint64_t hash) { larger.buckets_[larger.find(hash)] = hash; });
    buckets_.swap(larger.buckets_);
  }

  std::pmr::vector<std::uint64_t> buckets_;  // 0: empty; fewer than 2^32
  std::size_t size_ = 0;
};

}  // namespace dpquantile
