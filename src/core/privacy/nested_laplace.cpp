#include "core/privacy/nested_laplace.hpp"

#include "core/privacy/integer_noise.hpp"

namespace dpquantile {

namespace {

// The denominator is at most 2^40, so there is room.
Rational divided(Rational scale, int parts) {
  return {scale.numerator, scale.denominator * static_cast<unsigned>(parts)};
}

// With the probability (1 - q) q^k, where that of k is in proportion to q^|k| in the table.
std::int64_t draw_geometric(const NoiseTable& table, RandomStream& random) {
  for (;;) {
    const std::int64_t drawn = table.draw(random);
    if (drawn >= 0) return drawn;
  }
}

}  // namespace

NestedScales nested_laplace_scales(double epsilon, int parts) {
  const Rational part =
      laplace_scale(1, rational_epsilon(epsilon), static_cast<std::uint64_t>(parts));
  return {divided(part, parts), part, divided(part, parts - 1)};
}

// The noise is the difference of two sides. Each of them is nothing or a geometric number.
std::int64_t draw_more_laplace(const NoiseTable& part, int parts, RandomStream& random) {
  const auto draw_side = [&] {
    const bool nothing = draw_geometric(part, random) % parts == parts - 1;
    return nothing ? 0 : draw_geometric(part, random);
  };
  const std::int64_t up = draw_side();
  return up - draw_side();
}

}  // namespace dpquantile
