#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "core/base/workspace.hpp"

namespace dpquantile {

// Sorts keys in ascending order, least significant digit first. All keys are below `bound`, which
// is 1 .. 2^32. O(n) time, scratch memory of the size of `keys`. Throws Cancelled, std::bad_alloc.
void radix_sort(std::span<std::uint32_t> keys, std::uint64_t bound, const Workspace& work);

// Sorts doubles in the same way: -0 before +0, infinities at the ends, NaNs beyond them on the side
// of their sign. The number of passes depends on the number of values only, so the time does not
// tell which bits of the values are in use. Throws Cancelled, std::bad_alloc.
void radix_sort(std::span<double> values, const Workspace& work);

// Sorts values by one integer key after another, the most important key last. Each key is sorted by
// its least significant digit first; every pass keeps the order of equal digits. O(n) time, scratch
// memory of the size of `values`. The number of passes depends on the widths of the keys and on the
// number of values. Throws Cancelled, std::bad_alloc.
template <class Value>
class StableRadixSort {
 public:
  StableRadixSort(std::span<Value> values, const Workspace& work)
      : values_(values),
        scratch_(values.size(), work.memory),
        from_(values_),
        to_(scratch_),
        cancel_(work.cancel) {}

  // Sorts by key(value), which must be an unsigned integer below 2^bits.
  template <class Key>
  void by(Key key, unsigned bits) {
    const unsigned most_bits = from_.size() < kFew ? kMaxDigitBitsOfFew : kMaxDigitBits;
    const unsigned digits = (bits + most_bits - 1) / most_bits;
    if (digits == 0) return;
    const unsigned digit_bits = (bits + digits - 1) / digits;
    const unsigned mask = (1U << digit_bits) - 1;
    for (unsigned shift = 0; shift < bits; shift += digit_bits) {
      const auto digit = [=](const Value& value) {
        return static_cast<std::size_t>((key(value) >> shift) & mask);
      };
      scatter_by(digit, mask + 1);
    }
  }

  // Puts the sorted values back into `values`. Call it once, at the end.
  void finish() {
    if (from_.data() != values_.data()) std::copy(from_.begin(), from_.end(), values_.begin());
  }

 private:
  // A pass over the counters of all digits must not take longer than one over the values.
  static constexpr unsigned kMaxDigitBits = 11;
  static constexpr unsigned kMaxDigitBitsOfFew = 7;
  static constexpr std::size_t kFew = 1024;

  // digit(value) must be below `digits`.
  template <class Digit>
  void scatter_by(Digit digit, std::size_t digits) {
    std::array<std::size_t, std::size_t{1} << kMaxDigitBits> counters;
    const std::span<std::size_t> next(counters.data(), digits);
    std::ranges::fill(next, 0U);
    for_each([&](const Value& value) { ++next[digit(value)]; });
    std::size_t start = 0;
    for (std::size_t& counter : next) start += std::exchange(counter, start);
    for_each([&](const Value& value) { to_[next[digit(value)]++] = value; });
    std::swap(from_, to_);
  }

  template <class Visit>
  void for_each(Visit visit) {
    constexpr std::size_t kBlock = 4096;
    for (std::span<const Value> left = from_; !left.empty();) {
      const auto block = left.first(std::min(left.size(), kBlock));
      cancel_.tick(block.size());
      for (const Value& value : block) visit(value);
      left = left.subspan(block.size());
    }
  }

  std::span<Value> values_;
  std::pmr::vector<Value> scratch_;
  std::span<Value> from_;
  std::span<Value> to_;
  CancelPoll& cancel_;
};

}  // namespace dpquantile
