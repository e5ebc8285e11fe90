#include "core/prefix_sums/lag_filter.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>

namespace dpquantile {

namespace {

// The values of a block depend on each other by lags below kBlock only, so the compiler can
// vectorise the sums over larger lags.
constexpr std::size_t kBlock = 8;

}  // namespace

LagFilter::LagFilter(std::vector<std::uint32_t> lags, std::vector<std::int64_t> coefficients)
    : lags_(std::move(lags)), coefficients_(std::move(coefficients)) {
  if (lags_.empty() || lags_.size() != coefficients_.size() || lags_.front() != 0 ||
      coefficients_.front() <= 0 ||
      std::ranges::adjacent_find(lags_, std::greater_equal()) != lags_.end()) {
    throw std::invalid_argument("the filter is not invertible");
  }
  inverse_ = 1 / static_cast<double>(coefficients_.front());
  for (const std::int64_t coefficient : coefficients_) {
    factors_.push_back(static_cast<double>(coefficient) * inverse_);
  }
  near_ = static_cast<std::size_t>(std::ranges::lower_bound(lags_, kBlock) - lags_.begin());
}

void LagFilter::apply(std::span<const std::uint64_t> values,
                      std::span<std::uint64_t> filtered) const {
  std::ranges::fill(filtered, 0);
  for (std::size_t p = 0; p < lags_.size(); ++p) {
    const auto coefficient = static_cast<std::uint64_t>(coefficients_[p]);
    const std::size_t lag = lags_[p];
    for (std::size_t i = lag; i < values.size(); ++i) filtered[i] += coefficient * values[i - lag];
  }
}

void LagFilter::invert(std::span<double> values) const {
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const std::size_t size = std::min(kBlock, values.size() - begin);
    std::array<double, kBlock> sums{};
    for (std::size_t t = 0; t < size; ++t) sums[t] = values[begin + t] * inverse_;
    for (std::size_t p = near_; p < lags_.size(); ++p) {
      const std::size_t lag = lags_[p];
      if (lag <= begin && size == kBlock) {
        const double* const from = &values[begin - lag];
        for (std::size_t t = 0; t < kBlock; ++t) sums[t] -= factors_[p] * from[t];
        continue;
      }
      for (std::size_t t = lag > begin ? lag - begin : 0; t < size; ++t) {
        sums[t] -= factors_[p] * values[begin + t - lag];
      }
    }
    for (std::size_t t = 0; t < size; ++t) {
      for (std::size_t p = 1; p < near_ && lags_[p] <= begin + t; ++p) {
        sums[t] -= factors_[p] * values[begin + t - lags_[p]];
      }
      values[begin + t] = sums[t];
    }
  }
}

// The transposed filter is the filter of the reversed sequence.
void LagFilter::invert_transposed(std::span<double> values) const {
  std::ranges::reverse(values);
  invert(values);
  std::ranges::reverse(values);
}

}  // namespace dpquantile
