#include "core/contributions/user_sensitivity.hpp"

#include <algorithm>

#include "core/base/int128.hpp"
#include "core/contributions/fixed_point.hpp"

namespace dpquantile {

namespace {

std::uint64_t divide_rounding_up(uint128_t dividend, uint128_t divisor) {
  return static_cast<std::uint64_t>((dividend + divisor - 1) / divisor);
}

// The largest variance of n values that are 0 or 1, with at most k ones.
double two_point_variance(std::uint64_t n, std::uint64_t k) {
  const double ones = static_cast<double>(std::min(k, n / 2)) / static_cast<double>(n);
  return ones * (1 - ones);
}

}  // namespace

std::uint64_t mean_sensitivity(std::uint64_t kept, std::uint64_t most) {
  return divide_rounding_up(uint128_t{most} * FixedPoint::kOne, kept);
}

std::uint64_t variance_sensitivity(std::uint64_t kept, std::uint64_t most) {
  const std::uint64_t k = std::min(most, kept / 2);
  return divide_rounding_up(uint128_t{k} * (kept - k) * FixedPoint::kOne, uint128_t{kept} * kept);
}

double mean_sensitivity_fraction(std::uint64_t kept, std::uint64_t most) {
  return static_cast<double>(most) / static_cast<double>(kept);
}

double variance_sensitivity_fraction(std::uint64_t kept, std::uint64_t most) {
  return two_point_variance(kept, most);
}

double mean_left_out_error(std::uint64_t all, std::uint64_t kept) {
  return static_cast<double>(all - kept) / static_cast<double>(all);
}

double variance_left_out_error(std::uint64_t all, std::uint64_t kept) {
  return two_point_variance(all, all - kept);
}

}  // namespace dpquantile
