#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <new>

namespace dpquantile::test {

// Memory that counts the bytes in use, and throws std::bad_alloc after `allocations` allocations.
class CountedMemory final : public std::pmr::memory_resource {
 public:
  explicit CountedMemory(std::size_t allocations = std::numeric_limits<std::size_t>::max())
      : left_(allocations) {}

  std::size_t used() const { return used_; }
  // The largest number of bytes in use since the last reset.
  std::size_t peak() const { return peak_; }
  void reset_peak() { peak_ = used_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (left_ == 0) throw std::bad_alloc();
    --left_;
    void* memory = std::pmr::new_delete_resource()->allocate(bytes, alignment);
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    used_ -= bytes;
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::size_t left_;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
};

}  // namespace dpquantile::test
