#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "core/prefix_sums/lag_filter.hpp"

namespace dpquantile {

// A factorization A = L R of the matrix A of prefix sums over K bins. A mechanism measures R x of
// the counts x with Gaussian noise and estimates all prefix sums by L (the matrix mechanism: Li,
// Miklau, Hay, McGregor, Rastogi 2015; Denisov, McMahan, Rush, Smith, Thakurta 2022).
//
// R is the square root of A (Fichtenberger, Henzinger, Upadhyay 2023) with columns scaled to one
// norm (Henzinger, Kalinin, Upadhyay 2025), made integer and fast: column j holds
// weight(j) * step(i - j) for i >= j. The steps follow 2^b f_i for the coefficients
// f_i = C(2i, i) / 4^i of (1 - z)^(-1/2), constant on runs whose widths grow with i. So R x is a
// LagFilter of some 4 log2 K terms over the prefix sums of weight(j) x_j, and its inverse is exact.
//
// The mean variance of a prefix is within 3 % of the least that any factorization reaches at
// K = 1024 (docs/privacy.md, "Factorization of the prefix sums").
class PrefixFactorization {
 public:
  static constexpr std::uint32_t kMaxBins = std::uint32_t{1} << 20;
  // measure() does not wrap for this number of records.
  static constexpr std::uint64_t kMostRecords = std::uint64_t{1} << 39;

  // O(bins) time and memory. Throws std::invalid_argument unless 1 <= bins <= kMaxBins,
  // std::bad_alloc.
  PrefixFactorization(std::uint32_t bins, std::pmr::memory_resource* memory);

  std::uint32_t bins() const { return static_cast<std::uint32_t>(weights_.size()); }

  // The largest norm of a column of R, exactly: a power of two, at most 2^23. This is the l2
  // sensitivity of measure() for adding or removing one record.
  std::uint64_t sensitivity() const { return sensitivity_; }

  // The terms of the filter, and the weight of each bin: with them R is public.
  const LagFilter& filter() const { return filter_; }
  std::span<const std::uint32_t> weights() const { return weights_; }

  // R x, exactly, modulo 2^64. Up to kMostRecords records its values are below 2^62. `counts` holds
  // the number of records of each bin.
  //
  // Privacy: this is not private. Add noise for sensitivity() to each value.
  std::pmr::vector<std::uint64_t> measure(std::span<const std::uint64_t> counts,
                                          std::pmr::memory_resource* memory) const;

  // Replaces measurements of R x by estimates of the prefix sums: value k becomes the estimated
  // number of records in the bins 0 .. k. O(bins log bins).
  void estimate(std::span<double> measurements) const;

  // The weights with which estimate() sums up the measurements for value k, k < bins: row k of L up
  // to its last entry that is not zero.
  std::pmr::vector<double> estimate_weights(std::uint32_t k,
                                            std::pmr::memory_resource* memory) const;

 private:
  LagFilter filter_;
  std::pmr::vector<std::uint32_t> weights_;
  std::uint64_t sensitivity_;
};

}  // namespace dpquantile
