#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/int128.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/moments/value_sums.hpp"

// What the state of covariances, correlations and regressions holds: sums over rows with two
// values, in constant memory. They do not depend on the order of the rows, or on how the rows are
// divided among partial states.
namespace dpquantile {

// The numbers of a variable's Bernstein weights of degree 2, and of the products of two variables'.
inline constexpr std::size_t kWeights = 3;
inline constexpr std::size_t kPairWeights = kWeights * kWeights;

// The Bernstein weights of degree 2 of a value in units, which add up to kOne^2.
inline std::array<std::uint64_t, kWeights> weights_of(std::uint32_t units) {
  constexpr std::uint64_t kOne = FixedPoint::kOne;
  const std::uint64_t rest = kOne - units;
  return {rest * rest, 2 * rest * units, std::uint64_t{units} * units};
}

// The sums over rows of the products of the weights of x and of the value, in units of 2^-31, with
// that of the i-th of x and the j-th of the value at 3 i + j. Not private: only for use as the
// input of a mechanism. No number of rows up to 2^62 overflows what a mechanism computes of them.
struct PairSums {
  std::uint64_t count = 0;
  std::array<WideSum, kPairWeights> parts{};

  // A row of two value_units(), 0 .. FixedPoint::kOne. Rounding the sums of the first 1, 2, ...
  // products, and not these, keeps each part at least 0 and all together at exactly kOne.
  void add(std::uint32_t value, std::uint32_t x) {
    constexpr unsigned kDropped = 3 * FixedPoint::kBits;
    constexpr uint128_t kHalf = uint128_t{1} << (kDropped - 1);
    const auto of_value = weights_of(value);
    const auto of_x = weights_of(x);
    uint128_t exact = kHalf;
    std::uint64_t before = 0;
    for (std::size_t k = 0; k < kPairWeights; ++k) {
      exact += uint128_t{of_x[k / kWeights]} * of_value[k % kWeights];
      const auto rounded = static_cast<std::uint64_t>(exact >> kDropped);
      parts[k].add(rounded - before);
      before = rounded;
    }
    ++count;
  }
  void add(const PairSums& other) {
    for (std::size_t k = 0; k < kPairWeights; ++k) parts[k].add(other.parts[k]);
    count += other.count;
  }
  // Whether the parts are those of `count` rows: what every state of this library fulfils.
  bool are_possible() const {
    uint128_t all = 0;
    const uint128_t expected = uint128_t{count} << FixedPoint::kBits;
    for (const WideSum& part : parts) {
      if (part.value() > expected) return false;
      all += part.value();
    }
    return all == expected;
  }
  bool operator==(const PairSums&) const = default;
};

}  // namespace dpquantile
