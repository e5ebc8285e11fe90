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

// Sorts keys below `bound` (1 .. 2^32) ascending, by least significant digit first. O(n) time,
// scratch memory of the size of `keys`.
void radix_sort(std::span<std::uint32_t> keys, std::uint64_t bound, const Workspace& work);

// Sorts doubles ascending in the same way: -0 before +0, infinities at the ends, NaNs beyond them
// on the side of their sign. Always the same number of passes, so that the time does not tell
// which bits of the values are in use.
void radix_sort(std::span<double> values, const Workspace& work);

// Sorts values by one integer key after the other, the most important one last, each by its least
// significant digit first: every pass keeps the order of equal digits. O(n) time, scratch memory of
// the size of `values`. The number of passes depends on the keys' widths and on how many values
// there are.
template <class Value>
class StableRadixSort {
 public:
  StableRadixSort(std::span<Value> values, const Workspace& work)
      : values_(values),
        scratch_(values.size(), work.memory),
        from_(values_),
        to_(scratch_),
        cancel_(work.cancel) {}

  // key(value) must be an unsigned integer below 2^bits.
  template <class Key>
  void by(Key key, unsigned bits) {
    const unsigned most_bits = from_.size() < kFew ? kMaxDigitBitsOfFew : kMaxDigitBits;
    const unsigned digits = (bits + most_bits - 1) / most_bits;
    if (digits == 0) return;
    const unsigned digit_bits = (bits + digits - 1) / digits;
    const unsigned mask = (1U << digit_bits) - 1;
    for (unsigned shift = 0; shift < bits; shift += digit_bits) {
      scatter_by([=](const Value& value) { return (key(value) >> shift) & mask; }, mask + 1);
    }
  }

  // Call it once, at the end: the values are in order where they were.
  void finish() {
    if (from_.data() != values_.data()) std::copy(from_.begin(), from_.end(), values_.begin());
  }

 private:
  // Going through the counters of all digits must not take longer than through the values.
  static constexpr unsigned kMaxDigitBits = 11;
  static constexpr unsigned kMaxDigitBitsOfFew = 7;
  static constexpr std::size_t kFew = 1024;

  // The digits are below `digits`.
  template <class Digit>
  void scatter_by(Digit digit, std::size_t digits) {
    std::array<std::size_t, std::size_t{1} << kMaxDigitBits> counters;
    const std::span<std::size_t> next(counters.data(), digits);
    std::ranges::fill(next, 0U);
    for (const Value& value : from_) {
      cancel_.tick();
      ++next[digit(value)];
    }
    std::size_t start = 0;
    for (std::size_t& counter : next) start += std::exchange(counter, start);
    for (const Value& value : from_) {
      cancel_.tick();
      to_[next[digit(value)]++] = value;
    }
    std::swap(from_, to_);
  }

  std::span<Value> values_;
  std::pmr::vector<Value> scratch_;
  std::span<Value> from_;
  std::span<Value> to_;
  CancelPoll& cancel_;
};

}  // namespace dpquantile
