#pragma once

#include <cstdint>

#include "core/base/int128.hpp"
#include "core/privacy/noise.hpp"

namespace dpquantile {

// What rounded_quotient() returns for a quotient of 2^61 or more.
inline constexpr Rational kTooLargeQuotient{std::uint64_t{1} << 62, 1};

// dividend / divisor made larger by a relative 2^-40 to 2^-20, as a rational. The margin of 2^-40
// pays for charging the shortest decimal of epsilon or rho, which may lie a relative 2^-53 below
// the double. Requires 0 < dividend < 2^127 and divisor >= 1.
Rational rounded_quotient(uint128_t dividend, std::uint64_t divisor);

}  // namespace dpquantile
