#include "core/privacy/nested_laplace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "support/chi_square.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::kFalseAlarm;
using test::sampled_p_value;
using test::TestContext;

TEST(NestedLaplace, HasTheScalesOfThePartsOfEpsilonAndNeverLess) {
  for (const double epsilon : {1e-6, 0.1, 1.0, 1000.0}) {
    for (const int parts : {2, 3, 4, 16}) {
      const NestedScales scales = nested_laplace_scales(epsilon, parts);
      const auto expect_scale = [&](Rational scale, double part) {
        const double found =
            static_cast<double>(scale.numerator) / static_cast<double>(scale.denominator);
        EXPECT_GE(found, (1 + 0x1p-41) / (epsilon * part));
        EXPECT_LE(found, (1 + 0x1p-18) / (epsilon * part));
      };
      expect_scale(scales.whole, 1);
      expect_scale(scales.part, 1.0 / parts);
      expect_scale(scales.rest, (parts - 1.0) / parts);
    }
  }
}

// With the probabilities of -far .. far and of everything beyond on either side.
TEST(NestedLaplace, HasTheNoiseOfAPartOnTopOfThatOfTheWhole) {
  const TestContext context;
  constexpr int kDraws = 50'000;
  for (const double epsilon : {0.5, 2.0, 8.0}) {
    for (const int parts : {2, 4}) {
      const NestedScales scales = nested_laplace_scales(epsilon, parts);
      const NoiseTable whole = NoiseTable::laplace(scales.whole);
      const NoiseTable part = NoiseTable::laplace(scales.part);
      const double q = std::exp(-1 / part.spread());
      const auto far = static_cast<std::int64_t>(3 * part.spread()) + 1;
      std::vector<double> law(static_cast<std::size_t>(2 * far + 3));
      for (std::int64_t y = -far; y <= far; ++y) {
        law[static_cast<std::size_t>(y + far + 1)] =
            (1 - q) / (1 + q) * std::pow(q, static_cast<double>(std::abs(y)));
      }
      law.front() = law.back() = std::pow(q, static_cast<double>(far + 1)) / (1 + q);
      EXPECT_GT(sampled_p_value(law, kDraws,
                                [&] {
                                  const std::int64_t drawn =
                                      whole.draw(context.random) +
                                      draw_more_laplace(part, parts, context.random);
                                  return static_cast<std::size_t>(
                                      std::clamp(drawn, -far - 1, far + 1) + far + 1);
                                }),
                kFalseAlarm)
          << epsilon << " " << parts;
    }
  }
}

TEST(NestedLaplace, RefusesAnEpsilonOutOfRange) {
  EXPECT_THROW(nested_laplace_scales(0, 4), ParameterError);
  EXPECT_THROW(nested_laplace_scales(NAN, 4), ParameterError);
}

}  // namespace
}  // namespace dpquantile
