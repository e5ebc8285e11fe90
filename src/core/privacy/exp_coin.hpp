#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

#include "core/base/int128.hpp"
#include "core/privacy/random.hpp"

// Coins that show true with probability exp(-gamma), exactly, for a rational gamma (CKS20,
// Algorithm 1; docs/privacy.md, "Noise samplers"). Requires denominators of at least 1.
namespace dpquantile {

// The Gaussian's acceptance test needs 2 * (63 + 64 + 33) bits for its 64-bit parameters, and one
// digit of bernoulli() needs 64 more. A checked type throws on overflow and never wraps.
using Wide = boost::multiprecision::checked_uint512_t;

// True with probability numerator/denominator. Requires numerator <= denominator.
inline bool bernoulli(RandomStream& random, uint128_t numerator, uint128_t denominator) {
  return random.uniform_below_128(denominator) < numerator;
}

// Whether a uniform real is below numerator/denominator. It compares the binary expansions of both,
// 64 bits at a time, until they differ. `drawn` is the first digit of the uniform real.
inline bool bernoulli_from(std::uint64_t drawn, RandomStream& random, Wide numerator,
                           const Wide& denominator) {
  for (;;) {
    numerator <<= 64;
    const Wide digit = numerator / denominator;
    if (digit != drawn) return digit > drawn;
    numerator %= denominator;
    drawn = random.bits64();
  }
}

// Returns the same as the first without a uniform draw below a wide bound.
inline bool bernoulli(RandomStream& random, const Wide& numerator, const Wide& denominator) {
  return bernoulli_from(random.bits64(), random, numerator, denominator);
}

// The trials k, k + 1, ... of CKS20, Algorithm 1, for gamma = numerator/denominator <= 1, of which
// the first one that fails decides. A trial of probability gamma/k is drawn as two independent
// trials, of probability gamma and 1/k, so that no product is formed.
template <class Integer>
bool bernoulli_exp_trials(std::uint64_t k, RandomStream& random, const Integer& numerator,
                          const Integer& denominator) {
  while (random.uniform_below(k) == 0 && bernoulli(random, numerator, denominator)) ++k;
  return k % 2 == 1;
}

template <class Integer>
bool bernoulli_exp_up_to_one(RandomStream& random, const Integer& numerator,
                             const Integer& denominator) {
  return bernoulli_exp_trials(1, random, numerator, denominator);
}

// The same as bernoulli_exp_up_to_one(), for a uniform real in its first trial that begins with
// this digit.
inline bool bernoulli_exp_from(std::uint64_t digit, RandomStream& random, const Wide& numerator,
                               const Wide& denominator) {
  if (!bernoulli_from(digit, random, numerator, denominator)) return true;
  return bernoulli_exp_trials(2, random, numerator, denominator);
}

inline bool bernoulli_exp_one(RandomStream& random) {
  return bernoulli_exp_up_to_one(random, uint128_t{1}, uint128_t{1});
}

// exp(-gamma) = exp(-1)^floor(gamma) * exp(-fraction). A large gamma takes little time, because the
// first trial that fails ends the draw.
template <class Integer>
bool bernoulli_exp_of_any(RandomStream& random, const Integer& numerator,
                          const Integer& denominator) {
  for (Integer whole = numerator / denominator; whole > 0; --whole) {
    if (!bernoulli_exp_one(random)) return false;
  }
  return bernoulli_exp_up_to_one(random, Integer(numerator % denominator), denominator);
}

}  // namespace dpquantile
