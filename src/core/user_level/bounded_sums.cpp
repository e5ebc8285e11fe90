#include "core/user_level/bounded_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/contributions/fixed_point.hpp"
#include "core/privacy/laplace_mechanism.hpp"

namespace dpquantile {

namespace {

constexpr std::uint64_t kOne = FixedPoint::kOne;

std::uint64_t one_row(std::uint64_t contributions) {
  return std::max<std::uint64_t>(kOne / contributions, 1);
}

int128_t noisy(std::uint64_t sum, unsigned parts, Rational epsilon, RandomStream& random) {
  return laplace_mechanism({sum, bounded_sensitivity(parts)}, epsilon, 1, random);
}

// part / total, between 0 and 1, in FixedPoint units.
std::uint32_t fraction(int128_t part, int128_t total) {
  const int128_t inside = std::clamp<int128_t>(part, 0, total);
  return static_cast<std::uint32_t>(inside * static_cast<int128_t>(kOne) / total);
}

}  // namespace

std::uint64_t bounded_sensitivity(unsigned parts) {
  return kOne + parts - 1;
}

double bounded_change_by_row(unsigned parts, std::uint64_t contributions) {
  const std::uint64_t exact = (2 * kOne + contributions - 1) / contributions;
  const double change = static_cast<double>(exact + parts - 1);
  const double multiple = change / static_cast<double>(bounded_sensitivity(parts));
  return std::nextafter(multiple, std::numeric_limits<double>::infinity());
}

BoundedSums bounded_mean_sums(const UserRows& rows, std::uint64_t contributions,
                              CancelPoll& cancel) {
  const RowMoments kept = rows.kept(contributions, cancel).moments;
  const std::uint64_t rest = kept.count * kOne - kept.sum;
  return {{kept.sum / contributions, rest / contributions, 0}};
}

BoundedSums bounded_variance_sums(const UserRows& rows, std::uint64_t contributions,
                                  CancelPoll& cancel) {
  const RowMoments kept = rows.kept(contributions, cancel).moments;
  const uint128_t unit = uint128_t{contributions} * kOne;
  const uint128_t sum = uint128_t{kept.sum} * kOne;
  const uint128_t all = uint128_t{kept.count} * kOne * kOne;
  const auto in_units = [&](uint128_t part) { return static_cast<std::uint64_t>(part / unit); };
  return {{in_units(kept.squares), in_units(2 * (sum - kept.squares)),
           in_units(all + kept.squares - 2 * sum)}};
}

std::uint32_t bounded_mean(const UserRows& rows, std::uint64_t contributions, double epsilon,
                           const MechanismContext& context) {
  const BoundedSums sums = bounded_mean_sums(rows, contributions, context.cancel);
  const Rational exact_epsilon = rational_epsilon(epsilon);
  const int128_t low = noisy(sums.parts[0], kMeanParts, exact_epsilon, context.random);
  const int128_t high = noisy(sums.parts[1], kMeanParts, exact_epsilon, context.random);
  return fraction(low, std::max<int128_t>(low + high, one_row(contributions)));
}

std::uint32_t bounded_variance(const UserRows& rows, std::uint64_t contributions, double epsilon,
                               const MechanismContext& context) {
  const BoundedSums sums = bounded_variance_sums(rows, contributions, context.cancel);
  const Rational exact_epsilon = rational_epsilon(epsilon);
  const int128_t squares = noisy(sums.parts[0], kVarianceParts, exact_epsilon, context.random);
  const int128_t mixed = noisy(sums.parts[1], kVarianceParts, exact_epsilon, context.random);
  const int128_t rest = noisy(sums.parts[2], kVarianceParts, exact_epsilon, context.random);
  const int128_t total = std::max<int128_t>(squares + mixed + rest, one_row(contributions));
  const std::uint64_t mean = fraction(2 * squares + mixed, 2 * total);
  const std::uint64_t mean_square = fraction(squares, total);
  const std::uint64_t square_of_mean = mean * mean / kOne;
  const std::uint64_t variance = mean_square - std::min(mean_square, square_of_mean);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(variance, FixedPoint::kLargestVariance));
}

}  // namespace dpquantile
