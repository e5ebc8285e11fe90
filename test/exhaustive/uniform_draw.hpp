#pragma once

// What RandomStream::unit_real() returns here (random.hpp is src/core/privacy/random.hpp with this
// type in place of double, see the Makefile): a uniform real number that knows what it is compared
// with.
namespace dpquantile::exhaustive {

struct UniformDraw {
  // Whether the number is below `chance`.
  bool operator<(double chance) const;
  operator double() const;
};

}  // namespace dpquantile::exhaustive
