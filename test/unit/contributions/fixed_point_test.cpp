#include "core/contributions/fixed_point.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.hpp"

namespace dpquantile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(FixedPoint, MapsTheBoundsToTheEnds) {
  for (const auto& [lower, upper] : {std::pair{0.0, 65.0}, {-3.0, 7.1}, {-1e300, 1e300}}) {
    const FixedPoint fixed = FixedPoint::create(lower, upper);
    EXPECT_EQ(fixed.units_of(lower), 0U);
    EXPECT_EQ(fixed.units_of(upper), FixedPoint::kOne);
    EXPECT_EQ(fixed.value_of(0), lower);
    EXPECT_EQ(fixed.value_of(FixedPoint::kOne), upper);
  }
}

TEST(FixedPoint, ClampsValuesOutOfBounds) {
  const FixedPoint fixed = FixedPoint::create(0, 65);
  for (const double low : {-0.0, -1e-300, -1.0, -1e308, -kInfinity}) {
    EXPECT_EQ(fixed.units_of(low), 0U);
  }
  for (const double high : {65.0, 65.000001, 1e308, kInfinity}) {
    EXPECT_EQ(fixed.units_of(high), FixedPoint::kOne);
  }
}

TEST(FixedPoint, RoundsToTheNearestUnit) {
  const FixedPoint fixed = FixedPoint::create(0, FixedPoint::kOne);
  EXPECT_EQ(fixed.units_of(0.49), 0U);
  EXPECT_EQ(fixed.units_of(0.51), 1U);
  EXPECT_EQ(fixed.units_of(12345.4), 12345U);
  EXPECT_EQ(fixed.units_of(12345.6), 12346U);
}

TEST(FixedPoint, RestoresValuesWithinOneUnit) {
  const FixedPoint fixed = FixedPoint::create(-20, 45);
  for (double x = -20; x <= 45; x += 0.37) {
    EXPECT_NEAR(fixed.value_of(fixed.units_of(x)), x, 65.0 / FixedPoint::kOne);
  }
}

TEST(FixedPoint, IsMonotone) {
  const FixedPoint fixed = FixedPoint::create(-1, 1);
  std::uint32_t before = 0;
  for (double x = -1.1; x <= 1.1; x += 0.00037) {
    EXPECT_GE(fixed.units_of(x), before);
    before = fixed.units_of(x);
  }
}

TEST(FixedPoint, HasNoNegativeZero) {
  EXPECT_FALSE(std::signbit(FixedPoint::create(-1, 0).value_of(FixedPoint::kOne)));
  EXPECT_FALSE(std::signbit(FixedPoint::create(-0.0, 1).value_of(0)));
}

TEST(FixedPoint, ScalesVariancesByTheSquaredRange) {
  const FixedPoint fixed = FixedPoint::create(0, 10);
  EXPECT_EQ(fixed.variance_of(FixedPoint::kOne / 4), 25);
  EXPECT_EQ(fixed.variance_of(0), 0);
}

TEST(FixedPoint, RefusesInvalidBounds) {
  EXPECT_THROW(FixedPoint::create(1, 1), ParameterError);
  EXPECT_THROW(FixedPoint::create(2, 1), ParameterError);
  EXPECT_THROW(FixedPoint::create(0, kInfinity), ParameterError);
  EXPECT_THROW(FixedPoint::create(-1e308, 1e308), ParameterError);
  EXPECT_THROW(FixedPoint::create(std::nan(""), 1), ParameterError);
}

TEST(FixedPoint, RefusesBoundsWithoutARepresentableVariance) {
  EXPECT_NO_THROW(FixedPoint::create(0, 65).check_variance_representable());
  EXPECT_THROW(FixedPoint::create(0, 1e200).check_variance_representable(), ParameterError);
  EXPECT_THROW(FixedPoint::create(0, 1e-200).check_variance_representable(), ParameterError);
}

}  // namespace
}  // namespace dpquantile
