#include "core/base/radix_sort.hpp"

#include <algorithm>
#include <bit>

namespace dpquantile {

namespace {

constexpr std::size_t kSmall = 32;

std::uint32_t sort_key(std::uint32_t value) {
  return value;
}

// The bits of an IEEE 754 double are ordered as sign and magnitude. This turns them into an
// unsigned integer with the same order.
std::uint64_t sort_key(double value) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

// Sorts by the lowest `key_bits` bits of the keys. The other bits must be equal.
template <class Value>
void sort_by_digits(std::span<Value> values, unsigned key_bits, const Workspace& work) {
  if (values.size() <= kSmall) {
    std::sort(values.begin(), values.end(),
              [](Value a, Value b) { return sort_key(a) < sort_key(b); });
    return;
  }
  StableRadixSort<Value> sort(values, work);
  sort.by([](Value value) { return sort_key(value); }, key_bits);
  sort.finish();
}

}  // namespace

void radix_sort(std::span<std::uint32_t> keys, std::uint64_t bound, const Workspace& work) {
  sort_by_digits(keys, std::max(1U, static_cast<unsigned>(std::bit_width(bound - 1))), work);
}

void radix_sort(std::span<double> values, const Workspace& work) {
  sort_by_digits(values, 64, work);
}

}  // namespace dpquantile
