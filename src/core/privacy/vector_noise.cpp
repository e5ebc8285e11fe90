#include "core/privacy/vector_noise.hpp"

#include <stdexcept>

#include "core/privacy/noise_parameter.hpp"
#include "core/privacy/privacy_parameter.hpp"

namespace dpquantile {

namespace {

constexpr std::uint64_t kMostSensitivity = std::uint64_t{1} << 24;
constexpr unsigned kMarginBits = 40;

// sensitivity^2 is at most 2^48 and the numerator at most 2^63: no overflow.
uint128_t variance_of(double rho, std::uint64_t sensitivity) {
  check_rho(rho);
  if (sensitivity < 1 || sensitivity > kMostSensitivity) {
    throw std::invalid_argument("the sensitivity is out of range");
  }
  const Rational unit = gaussian_variance(rho);
  const uint128_t square = uint128_t{sensitivity} * sensitivity;
  const uint128_t below = square * unit.numerator / unit.denominator;
  // The quotient is below + 1 at most; the last 1 rounds the margin up.
  return below + 1 + (below >> kMarginBits) + 1;
}

}  // namespace

VectorNoise::VectorNoise(double rho, std::uint64_t sensitivity)
    : variance_(variance_of(rho, sensitivity)) {}

}  // namespace dpquantile
