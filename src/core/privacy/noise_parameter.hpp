#pragma once

#include <cstdint>

#include "core/base/int128.hpp"

// The parameters of noise on the integers, as the numbers with which it is drawn.
namespace dpquantile {

// A non-negative rational number; the denominator is at least 1.
struct Rational {
  std::uint64_t numerator;
  std::uint64_t denominator;
};

// epsilon as a rational, rounded down: floor(epsilon * 2^52) / 2^52, in lowest terms. Rounding
// costs at most 2^-22 of epsilon and only adds noise. Throws ParameterError unless
// 2^-30 <= epsilon <= 2^10; NaN is refused as well.
Rational rational_epsilon(double epsilon);

// The variance 1 / (2 rho) of Gaussian noise that makes an integer query of sensitivity 1 rho-zCDP,
// as a rational, rounded up: 1 / (2 r) for r = floor(rho * 2^64) / 2^64, in lowest terms. Its
// numerator is a power of two. Rounding costs at most 2^-14 of rho, less than 2^-24 for
// rho >= 10^-12 and nothing for rho >= 1/2, and only adds noise. Throws ParameterError unless
// 2^-50 <= rho <= 2^10; NaN is refused as well.
Rational gaussian_variance(double rho);

// The same number in lowest terms. Requires a numerator or denominator above 0.
Rational reduced(Rational value);

// What rounded_quotient() returns for a quotient of 2^61 or more.
inline constexpr Rational kTooLargeQuotient{std::uint64_t{1} << 62, 1};

// dividend / divisor made larger by a relative 2^-40 to 2^-20, as a rational. The margin of 2^-40
// pays for charging the shortest decimal of epsilon or rho, which may lie a relative 2^-53 below
// the double. Requires 0 < dividend < 2^127 and divisor >= 1.
Rational rounded_quotient(uint128_t dividend, std::uint64_t divisor);

// The sigma^2 of Gaussian noise for a vector of integer queries that are measured in small units,
// so that their sensitivity is large: sensitivity^2 / (2 rho), rounded up to a whole number, by a
// relative 2^-40 at least. Takes every rho that check_rho() accepts.
//
// Privacy: independent draws, one added to each coordinate of the vector, make it rho-zCDP if its
// l2 sensitivity is at most `sensitivity` (docs/privacy.md, "Noise samplers").
//
// Throws ParameterError as check_rho() does, and std::invalid_argument unless
// 1 <= sensitivity <= 2^24.
uint128_t vector_noise_variance(double rho, std::uint64_t sensitivity);

// Throws ParameterError unless 0 < scale < 2^56. Noise of such a scale does not fit in 64 bits with
// a probability below 2^-184.
void check_laplace_scale(Rational scale);

// Throws ParameterError unless numerator and denominator are positive; sigma is then below 2^32.
void check_gaussian_variance(Rational sigma_squared);

// Throws ParameterError unless 1 <= sigma^2 < 2^110.
void check_gaussian_variance(uint128_t sigma_squared);

// The draw with this sign and magnitude. Throws std::overflow_error if it does not fit in 64 bits.
std::int64_t with_sign(bool negative, uint128_t magnitude);

}  // namespace dpquantile
