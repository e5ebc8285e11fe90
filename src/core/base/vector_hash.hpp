#pragma once

#include <compare>
#include <cstdint>

#include "core/base/int128.hpp"

namespace dpquantile {

// A hash of 128 bits of a vector of numbers, which takes about a nanosecond a number. For any two
// vectors of one length that differ, the pair of their hashes is uniform over all pairs, if the
// factors are independent uniform numbers: the hashes are equal with probability 2^-128. This needs
// no assumption. (It says nothing of three vectors. Multilinear hashing: Dietzfelbinger 1996,
// "Universal hashing and k-wise independent random variables via integer arithmetic without
// primes"; the high half of the sum of 128 bits of factor times number, twice.)
struct VectorHash {
  std::uint64_t high;
  std::uint64_t low;

  auto operator<=>(const VectorHash&) const = default;
};

// Independent uniform numbers for one place of the vector.
struct VectorHashFactors {
  std::uint64_t of_high[2];
  std::uint64_t of_low[2];
};

class VectorHasher {
 public:
  // The factors of a place of their own begin the sums.
  explicit VectorHasher(const VectorHashFactors& first)
      : high_{first.of_high[0], first.of_high[1]}, low_{first.of_low[0], first.of_low[1]} {}

  // Adds the number at the place of these factors. Call it once for each place.
  void add(const VectorHashFactors& factors, std::uint64_t number) {
    add_product(high_, factors.of_high, number);
    add_product(low_, factors.of_low, number);
  }

  VectorHash hash() const { return {high_.high, low_.high}; }

 private:
  // Modulo 2^128. Not as a uint128_t, which may not wrap.
  struct Sum {
    std::uint64_t high;
    std::uint64_t low;
  };

  static void add_product(Sum& sum, const std::uint64_t (&factor)[2], std::uint64_t number) {
    const uint128_t product = uint128_t{factor[1]} * number;
    const auto low = static_cast<std::uint64_t>(product & ~std::uint64_t{0});
    sum.low += low;
    sum.high += static_cast<std::uint64_t>(product >> 64) + factor[0] * number;
    if (sum.low < low) ++sum.high;
  }

  Sum high_;
  Sum low_;
};

// A number of 64 bits for each number of 64 bits, no two of them the same, in which all bits depend
// on all (the finalizer of MurmurHash3). Not secret.
inline std::uint64_t scattered(std::uint64_t number) {
  number = (number ^ number >> 33) * 0xff51afd7ed558ccd;
  number = (number ^ number >> 33) * 0xc4ceb9fe1a85ec53;
  return number ^ number >> 33;
}

}  // namespace dpquantile
