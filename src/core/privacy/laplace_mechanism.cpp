#include "core/privacy/laplace_mechanism.hpp"

#include <algorithm>

#include "core/privacy/rounded_quotient.hpp"

namespace dpquantile {

// discrete_laplace() refuses kTooLargeQuotient.
Rational laplace_scale(std::uint64_t sensitivity, Rational epsilon, std::uint64_t parts) {
  return rounded_quotient(uint128_t{sensitivity} * parts * epsilon.denominator, epsilon.numerator);
}

int128_t laplace_mechanism(const IntegerQuery& query, Rational epsilon, std::uint64_t parts,
                           RandomStream& random) {
  if (query.sensitivity == 0) return query.answer;
  const Rational scale = laplace_scale(query.sensitivity, epsilon, parts);
  return int128_t{query.answer} + discrete_laplace(random, scale);
}

std::uint32_t laplace_mechanism_within(std::uint32_t largest, const IntegerQuery& query,
                                       Rational epsilon, std::uint64_t parts,
                                       RandomStream& random) {
  const int128_t noisy = laplace_mechanism(query, epsilon, parts, random);
  return static_cast<std::uint32_t>(std::clamp<int128_t>(noisy, 0, largest));
}

}  // namespace dpquantile
