#include "core/radix_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

namespace dpquantile {

namespace {

constexpr unsigned kMaxDigitBits = 11;
constexpr std::size_t kSmall = 256;

std::uint32_t sort_key(std::uint32_t value) {
  return value;
}

// IEEE 754 doubles are ordered like their bits read as sign and magnitude; this orders them like an
// unsigned integer.
std::uint64_t sort_key(double value) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

struct Digit {
  unsigned shift;
  unsigned bits;
  template <class Value>
  std::size_t of(Value value) const {
    return (sort_key(value) >> shift) & ((1U << bits) - 1);
  }
};

template <class Value>
void scatter_by(Digit digit, std::span<const Value> from, std::span<Value> to, CancelPoll& cancel) {
  std::array<std::size_t, std::size_t{1} << kMaxDigitBits> next{};
  for (const Value value : from) {
    cancel.tick();
    ++next[digit.of(value)];
  }
  std::size_t start = 0;
  for (std::size_t& slot : next) start += std::exchange(slot, start);
  for (const Value value : from) {
    cancel.tick();
    to[next[digit.of(value)]++] = value;
  }
}

// Sorts by the lowest `key_bits` bits of the keys, of which the others are equal.
template <class Value>
void sort_by_digits(std::span<Value> values, unsigned key_bits, CancelPoll& cancel,
                    std::pmr::memory_resource* memory) {
  if (values.size() <= kSmall) {
    std::sort(values.begin(), values.end(),
              [](Value a, Value b) { return sort_key(a) < sort_key(b); });
    return;
  }
  const unsigned digits = (key_bits + kMaxDigitBits - 1) / kMaxDigitBits;
  const unsigned digit_bits = (key_bits + digits - 1) / digits;

  std::pmr::vector<Value> scratch(values.size(), memory);
  std::span<Value> from = values;
  std::span<Value> to = scratch;
  for (unsigned i = 0; i < digits; ++i) {
    scatter_by<Value>(Digit{i * digit_bits, digit_bits}, from, to, cancel);
    std::swap(from, to);
  }
  if (from.data() != values.data()) std::copy(from.begin(), from.end(), values.begin());
}

}  // namespace

void radix_sort(std::span<std::uint32_t> keys, std::uint64_t bound, CancelPoll& cancel,
                std::pmr::memory_resource* memory) {
  sort_by_digits(keys, std::max(1U, static_cast<unsigned>(std::bit_width(bound - 1))), cancel,
                 memory);
}

void radix_sort(std::span<double> values, CancelPoll& cancel, std::pmr::memory_resource* memory) {
  sort_by_digits(values, 64, cancel, memory);
}

}  // namespace dpquantile
