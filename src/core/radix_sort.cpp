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

struct Digit {
  unsigned shift;
  unsigned bits;
  std::size_t of(std::uint32_t key) const { return (key >> shift) & ((1U << bits) - 1); }
};

void scatter_by(Digit digit, std::span<const std::uint32_t> from, std::span<std::uint32_t> to,
                CancelPoll& cancel) {
  std::array<std::size_t, std::size_t{1} << kMaxDigitBits> next{};
  for (const std::uint32_t key : from) {
    cancel.tick();
    ++next[digit.of(key)];
  }
  std::size_t start = 0;
  for (std::size_t& slot : next) start += std::exchange(slot, start);
  for (const std::uint32_t key : from) {
    cancel.tick();
    to[next[digit.of(key)]++] = key;
  }
}

}  // namespace

void radix_sort(std::span<std::uint32_t> keys, std::uint64_t bound, CancelPoll& cancel,
                std::pmr::memory_resource* memory) {
  if (keys.size() <= kSmall) {
    std::sort(keys.begin(), keys.end());
    return;
  }
  const unsigned key_bits = std::max(1U, static_cast<unsigned>(std::bit_width(bound - 1)));
  const unsigned digits = (key_bits + kMaxDigitBits - 1) / kMaxDigitBits;
  const unsigned digit_bits = (key_bits + digits - 1) / digits;

  std::pmr::vector<std::uint32_t> scratch(keys.size(), memory);
  std::span<std::uint32_t> from = keys;
  std::span<std::uint32_t> to = scratch;
  for (unsigned i = 0; i < digits; ++i) {
    scatter_by(Digit{i * digit_bits, digit_bits}, from, to, cancel);
    std::swap(from, to);
  }
  if (from.data() != keys.data()) std::copy(from.begin(), from.end(), keys.begin());
}

}  // namespace dpquantile
