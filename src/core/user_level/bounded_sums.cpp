#include "core/user_level/bounded_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/int128.hpp"
#include "core/contributions/fixed_point.hpp"
#include "core/privacy/integer_noise.hpp"

namespace dpquantile {

namespace {

constexpr std::uint64_t kOne = FixedPoint::kOne;
constexpr int kBits = FixedPoint::kBits;

double rounded_up(double value) {
  return std::nextafter(value, std::numeric_limits<double>::infinity());
}

// Under epsilon the sums move by whole units, so by their l1 norm rounded up for each sum.
BoundedUnits laplace_units(unsigned parts, std::uint64_t contributions) {
  const std::uint64_t sensitivity = kOne + parts - 1;
  const std::uint64_t two_rows = (2 * kOne + contributions - 1) / contributions;
  const auto change = static_cast<double>(two_rows + parts - 1);
  return {parts, contributions, kBits, sensitivity,
          rounded_up(change / static_cast<double>(sensitivity))};
}

// Coarser units keep sigma^2 within the sampler's range. The parts of two rows differ by at most
// sqrt(2) in the l2 norm.
BoundedUnits gaussian_units(unsigned parts, std::uint64_t contributions, double rho) {
  constexpr double kMargin = 1 + 0x1p-40;
  const int bits = gaussian_sensitivity_bits(rho, kBits);
  const double one_user = std::ldexp(1, bits);
  const double change = std::sqrt(2) * one_user / static_cast<double>(contributions) +
                        std::sqrt(static_cast<double>(parts));
  const std::uint64_t sensitivity = (std::uint64_t{1} << bits) + 2;
  return {parts, contributions, bits, sensitivity,
          change / static_cast<double>(sensitivity) * kMargin};
}

// One row in units, at least 1.
std::uint64_t one_row(const BoundedUnits& units) {
  return std::max<std::uint64_t>((std::uint64_t{1} << units.bits) / units.contributions, 1);
}

BoundedSums mean_sums(const RowMoments& kept, const BoundedUnits& units) {
  const uint128_t unit = uint128_t{units.contributions} << (kBits - units.bits);
  const uint128_t rest = kept.count * kOne - kept.sum;
  return {
      {static_cast<std::uint64_t>(kept.sum / unit), static_cast<std::uint64_t>(rest / unit), 0}};
}

BoundedSums variance_sums(const RowMoments& kept, const BoundedUnits& units) {
  const uint128_t unit = uint128_t{units.contributions} << (2 * kBits - units.bits);
  const uint128_t sum = uint128_t{kept.sum} * kOne;
  const uint128_t all = uint128_t{kept.count} * kOne * kOne;
  const auto in_units = [&](uint128_t part) { return static_cast<std::uint64_t>(part / unit); };
  return {{in_units(kept.squares), in_units(2 * (sum - kept.squares)),
           in_units(all + kept.squares - 2 * sum)}};
}

// The sums with noise; a sum that is not among the parts stays 0.
struct NoisySums {
  int128_t parts[kVarianceParts];
  int128_t total;  // at least one row
};

NoisySums noisy_sums(const UserRows& rows, const BoundedUnits& units,
                     const PrivacyParameter& privacy, const MechanismContext& context) {
  const IntegerNoise noise(privacy, units.sensitivity);
  const BoundedSums sums = bounded_sums(rows, units, context.cancel);
  NoisySums noisy{};
  for (unsigned i = 0; i < units.parts; ++i) {
    noisy.parts[i] = int128_t{sums.parts[i]} + noise.draw(context.random);
    noisy.total += noisy.parts[i];
  }
  noisy.total = std::max<int128_t>(noisy.total, one_row(units));
  return noisy;
}

// part / total, between 0 and 1, in FixedPoint units.
std::uint32_t fraction(int128_t part, int128_t total) {
  const int128_t inside = std::clamp<int128_t>(part, 0, total);
  return static_cast<std::uint32_t>(inside * static_cast<int128_t>(kOne) / total);
}

}  // namespace

BoundedUnits bounded_units(unsigned parts, std::uint64_t contributions,
                           const PrivacyParameter& privacy) {
  return privacy.measure == PrivacyMeasure::kPure
             ? laplace_units(parts, contributions)
             : gaussian_units(parts, contributions, privacy.value);
}

BoundedSums bounded_sums(const UserRows& rows, const BoundedUnits& units, CancelPoll& cancel) {
  const RowMoments kept = rows.kept(units.contributions, cancel).moments;
  return units.parts == kMeanParts ? mean_sums(kept, units) : variance_sums(kept, units);
}

std::uint32_t bounded_mean(const UserRows& rows, std::uint64_t contributions,
                           const PrivacyParameter& privacy, const MechanismContext& context) {
  const BoundedUnits units = bounded_units(kMeanParts, contributions, privacy);
  const NoisySums noisy = noisy_sums(rows, units, privacy, context);
  return fraction(noisy.parts[0], noisy.total);
}

std::uint32_t bounded_variance(const UserRows& rows, std::uint64_t contributions,
                               const PrivacyParameter& privacy, const MechanismContext& context) {
  const BoundedUnits units = bounded_units(kVarianceParts, contributions, privacy);
  const auto [parts, total] = noisy_sums(rows, units, privacy, context);
  const auto& [squares, mixed, rest] = parts;
  const std::uint64_t mean = fraction(2 * squares + mixed, 2 * total);
  const std::uint64_t mean_square = fraction(squares, total);
  const std::uint64_t square_of_mean = mean * mean / kOne;
  const std::uint64_t variance = mean_square - std::min(mean_square, square_of_mean);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(variance, FixedPoint::kLargestVariance));
}

}  // namespace dpquantile
