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
  explicit HashTable(std::pmr::memory_resource* memory) : slots_(memory) {}

  // Adds a hash, and returns whether it is new. Throws std::bad_alloc and changes nothing then.
  bool add(std::uint64_t hash) {
    if (slots_.empty()) grow();
    std::size_t slot = find(hash);
    if (slots_[slot] == hash) return false;
    if (is_full()) {
      grow();
      slot = find(hash);
    }
    slots_[slot] = hash;
    ++size_;
    return true;
  }

  std::size_t size() const { return size_; }
  // The bytes of memory in use.
  std::size_t bytes() const { return slots_.size() * sizeof(std::uint64_t); }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const std::uint64_t slot : slots_) {
      if (slot != 0) visit(slot);
    }
  }

 private:
  static constexpr std::size_t kLeastSlots = 16;

  bool is_full() const { return 16 * std::uint64_t{size_} >= 13 * std::uint64_t{slots_.size()}; }

  // The slot that has the hash, or the empty one where it belongs.
  std::size_t find(std::uint64_t hash) const {
    const std::uint64_t middle_bits = (hash >> 24) & 0xffffffff;
    auto slot = static_cast<std::size_t>(middle_bits * slots_.size() >> 32);
    while (slots_[slot] != 0 && slots_[slot] != hash) {
      if (++slot == slots_.size()) slot = 0;
    }
    return slot;
  }

  // By a half: of twice as many slots more would be empty.
  void grow() {
    const std::size_t slots = slots_.empty() ? kLeastSlots : slots_.size() + slots_.size() / 2;
    HashTable larger(slots_.get_allocator().resource());
    larger.slots_.resize(slots);
    for_each([&](std::uint64_t hash) { larger.slots_[larger.find(hash)] = hash; });
    slots_.swap(larger.slots_);
  }

  std::pmr::vector<std::uint64_t> slots_;  // 0: empty; fewer than 2^32
  std::size_t size_ = 0;
};

}  // namespace dpquantile
