#include "core/privacy/laplace_mechanism.hpp"

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

}  // namespace dpquantile
