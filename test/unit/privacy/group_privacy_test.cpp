#include "core/privacy/group_privacy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "core/base/error.hpp"
#include "core/privacy/integer_noise.hpp"
#include "core/privacy/privacy_cost.hpp"
#include "core/privacy/zcdp.hpp"

namespace dpquantile {
namespace {

constexpr double kAmounts[] = {0.01, 0.1, 0.3, 0.7, 1, 3, 100};

TEST(GuaranteeOfRow, IsAPartOfThatOfThePerson) {
  EXPECT_EQ(guarantee_of_row(pure(1), 4), pure(0.25));
  EXPECT_EQ(guarantee_of_row(zcdp(1), 4), zcdp(0.0625));
  EXPECT_EQ(guarantee_of_row(pure(0.3), 1), pure(0.3));
}

// The rows together never get more than is charged.
TEST(GuaranteeOfRow, IsRoundedDown) {
  for (const double amount : kAmounts) {
    for (std::uint32_t rows = 1; rows <= 1000; ++rows) {
      const double of_row = guarantee_of_row(pure(amount), rows).value;
      ASSERT_LE(static_cast<long double>(of_row) * rows, static_cast<long double>(amount));
      ASSERT_GE(of_row, amount / rows * (1 - 0x1p-50));
      const double rho = guarantee_of_row(zcdp(amount), rows).value;
      ASSERT_LE(static_cast<long double>(rho) * rows * rows, static_cast<long double>(amount));
      ASSERT_GE(rho, amount / rows / rows * (1 - 0x1p-50));
    }
  }
}

TEST(GuaranteeOfRow, MustBeOneThatMechanismsTake) {
  EXPECT_THROW(guarantee_of_row(pure(9e-4), 1000), ParameterError);
  EXPECT_NO_THROW(guarantee_of_row(pure(1.1e-3), 1000));
  EXPECT_THROW(guarantee_of_row(zcdp(9e-7), 1000), ParameterError);
}

TEST(CostsOfPerson, AreWhatIsStated) {
  for (const double amount : kAmounts) {
    for (std::uint32_t rows = 1; rows <= 1000; ++rows) {
      const PrivacyCost of_row = integer_noise_cost(guarantee_of_row(pure(amount), rows));
      const ReleaseCosts costs = costs_of_person(vector_noise_costs(of_row), pure(amount), rows);
      ASSERT_EQ(*costs.own.epsilon, amount);
      const double by_rows = *of_row.rho * rows * rows;
      ASSERT_LE(*costs.own.rho, rho_of_pure(amount));
      ASSERT_GE(*costs.own.rho, std::min(by_rows, rho_of_pure(amount)) * (1 - 0x1p-50));
      ASSERT_GE(*costs.replacing.epsilon, 2 * *of_row.epsilon);
      const PrivacyCost gaussian = integer_noise_cost(guarantee_of_row(zcdp(amount), rows));
      const ReleaseCosts in_rho = costs_of_person(same_costs(gaussian), zcdp(amount), rows);
      ASSERT_EQ(*in_rho.own.rho, amount);
      ASSERT_FALSE(in_rho.own.epsilon.has_value());
    }
  }
}

// A mechanism may cost more than its guarantee for one row.
TEST(CostsOfPerson, AreThoseOfTheMechanismIfTheyAreMore) {
  const ReleaseCosts costs = costs_of_person(same_costs(pure_cost(0.5)), pure(1), 4);
  EXPECT_EQ(*costs.own.epsilon, 2);
}

TEST(CostsOfPerson, OfOneRowAreThoseOfTheMechanism) {
  const ReleaseCosts costs = costs_of_person(vector_noise_costs(pure_cost(0.5)), pure(0.5), 1);
  EXPECT_EQ(*costs.own.epsilon, 0.5);
  EXPECT_EQ(*costs.replacing.epsilon, 1);
}

TEST(CostsOfPerson, NeedAMechanismWithoutDelta) {
  EXPECT_THROW(costs_of_person(same_costs(approximate_cost(0.5, 1e-6)), pure(1), 2),
               ParameterError);
}

}  // namespace
}  // namespace dpquantile
