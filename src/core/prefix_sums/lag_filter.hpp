#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dpquantile {

// A linear filter with few whole coefficients: y_i = sum over p of coefficient[p] * x_(i - lag[p]),
// where x_i = 0 for i < 0. The lags ascend from 0, and the coefficient of lag 0 is positive, so the
// filter is invertible. Every function takes O(values * terms) time.
class LagFilter {
 public:
  LagFilter(std::vector<std::uint32_t> lags, std::vector<std::int64_t> coefficients);

  std::span<const std::uint32_t> lags() const { return lags_; }
  std::span<const std::int64_t> coefficients() const { return coefficients_; }

  // filtered = the filtered `values`, exactly, modulo 2^64. Both have the same size and do not
  // overlap.
  void apply(std::span<const std::uint64_t> values, std::span<std::uint64_t> filtered) const;

  // Replaces y by the x that the filter turns into y, in floating point.
  void invert(std::span<double> values) const;

  // Replaces y by the x that the transposed filter turns into y.
  void invert_transposed(std::span<double> values) const;

 private:
  std::vector<std::uint32_t> lags_;
  std::vector<std::int64_t> coefficients_;
  std::vector<double> factors_;  // the coefficients divided by the one of lag 0
  double inverse_;               // 1 / the coefficient of lag 0
  std::size_t near_;             // the number of lags below kBlock
};

}  // namespace dpquantile
