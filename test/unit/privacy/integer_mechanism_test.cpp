#include "core/privacy/integer_noise.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::TestContext;

class IntegerMechanism : public ::testing::Test {
 protected:
  RandomStream& random() { return context_.random; }

  TestContext context_;
};

// Both guarantees, shared by a thousand queries, give noise of a scale of some 10^6.
const PrivacyParameter kSmall[] = {pure(0.001), zcdp(5e-10)};
constexpr std::uint64_t kParts = 1000;

TEST_F(IntegerMechanism, ClampsToBounds) {
  for (const PrivacyParameter& privacy : kSmall) {
    EXPECT_EQ(integer_mechanism_within(20, {17, 0}, privacy, 1, random()), 17U);
    EXPECT_EQ(integer_mechanism_within(16, {17, 0}, privacy, 1, random()), 16U);
    // The noise stays between the ends with probability 5 * 10^-6.
    int at_zero = 0;
    int at_largest = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::uint32_t released =
          integer_mechanism_within(10, {5, 1}, privacy, kParts, random());
      EXPECT_LE(released, 10U);
      at_zero += released == 0;
      at_largest += released == 10;
    }
    // Ten standard deviations.
    EXPECT_NEAR(at_zero, 1000, 224);
    EXPECT_NEAR(at_largest, 1000, 224);
  }
}

// Four parts make the scale of Laplace noise four times as large. They double sigma of Gaussian
// noise, because each part has a quarter of rho.
TEST_F(IntegerMechanism, DividesTheGuaranteeAmongTheParts) {
  constexpr int kDraws = 4000;
  const auto outside = [&](const PrivacyParameter& privacy, std::uint64_t parts) {
    int ends = 0;
    for (int i = 0; i < kDraws; ++i) {
      const std::uint32_t drawn =
          integer_mechanism_within(200'000, {100'000, 10'000}, privacy, parts, random());
      ends += drawn == 0 || drawn == 200'000;
    }
    return static_cast<double>(ends) / kDraws;
  };
  // P[|noise| >= 100 000]: for Laplace noise of scale 10 000 * parts e^(-10 / parts), for Gaussian
  // noise of sigma = 10 000 sqrt(parts / (2 rho)) twice the normal tail. Eight standard deviations.
  EXPECT_NEAR(outside(pure(1), 4), 0.0821, 0.035);
  EXPECT_NEAR(outside(pure(1), 10), 0.3679, 0.062);
  EXPECT_NEAR(outside(zcdp(0.02), 1), 0.0455, 0.027);
  EXPECT_NEAR(outside(zcdp(0.02), 4), 0.3173, 0.059);
}

TEST_F(IntegerMechanism, RefusesASharedGuaranteeThatIsTooSmall) {
  EXPECT_THROW(integer_mechanism_within(9, {1, 1U << 31}, pure(1e-6), 1U << 24, random()),
               ParameterError);
  EXPECT_THROW(integer_mechanism_within(9, {1, 1U << 31}, zcdp(1e-12), 1U << 24, random()),
               ParameterError);
}

}  // namespace
}  // namespace dpquantile
