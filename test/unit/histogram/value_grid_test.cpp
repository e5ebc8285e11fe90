#include "core/histogram/value_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/parameter_error.hpp"

namespace dpquantile {
namespace {

using test::expect_parameter_error;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

std::vector<double> values_of(const ValueGrid& grid) {
  std::vector<double> values;
  for (std::uint32_t cell = 0; cell < grid.cells; ++cell) values.push_back(grid.value_of(cell));
  return values;
}

// --- Cells ---------------------------------------------------------------------------------------

TEST(ValueGrid, SpacesCellsByTheGranularityFromLowerToUpper) {
  EXPECT_EQ(values_of(ValueGrid::create(0, 3, 1)), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(values_of(ValueGrid::create(-1, 1, 0.5)), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(ValueGrid::create(0, 120, 1).cells, 121U);
  EXPECT_EQ(ValueGrid::create(0, 100, 0.01).cells, 10001U);
}

TEST(ValueGrid, RoundsTheNumberOfCellsWhenTheGranularityDoesNotDivideTheRange) {
  EXPECT_EQ(values_of(ValueGrid::create(0, 10, 3)), (std::vector<double>{0, 3, 6, 9}));
  EXPECT_EQ(values_of(ValueGrid::create(0, 1, 0.75)), (std::vector<double>{0, 0.75}));
}

TEST(ValueGrid, HasNoValueAboveUpper) {
  EXPECT_EQ(values_of(ValueGrid::create(0, 11, 3)), (std::vector<double>{0, 3, 6, 9, 11}));
  EXPECT_EQ(values_of(ValueGrid::create(0, 1, 0.375)), (std::vector<double>{0, 0.375, 0.75, 1}));
  for (const double upper : {0.1, 0.3, 1.0, 1.1, 7.7, 1e9 / 3, 1e-9 / 7}) {
    for (const std::uint64_t cells : {3U, 11U, 1001U, 99999U}) {
      const ValueGrid grid =
          ValueGrid::create(-upper / 3, upper, upper / static_cast<double>(cells));
      const auto last = static_cast<std::uint32_t>(grid.cells - 1);
      ASSERT_LE(grid.value_of(last), upper);
      ASSERT_GT(grid.value_of(last), upper - grid.granularity);
      ASSERT_LT(grid.value_of(last - 1), grid.value_of(last));
    }
  }
}

// A whole number of hundredths as a user writes it, for example "-0.07".
std::string hundredths(int count) {
  const std::string digits = std::to_string(100 + std::abs(count) % 100).substr(1);
  return (count < 0 ? "-" : "") + std::to_string(std::abs(count) / 100) + "." + digits;
}

TEST(ValueGrid, HasExactDecimalsForDecimalBoundsAndGranularity) {
  const ValueGrid grid = ValueGrid::create(-100, 100, 0.01);
  for (int count = -10'000; count <= 10'000; ++count) {
    const std::string decimal = hundredths(count);
    ASSERT_EQ(grid.value_of(static_cast<std::uint32_t>(count + 10'000)), std::stod(decimal))
        << decimal;
  }
}

// 15 digits leave no decimals of 10^15, and eight of 10^6: 0.125 and 10^-9 must not become 0.
TEST(ValueGrid, KeepsAGranularityFinerThanTheDecimalsOfTheBounds) {
  const ValueGrid grid = ValueGrid::create(1e15, 1e15 + 1, 0.125);
  EXPECT_EQ(grid.value_of(1), 1e15 + 0.125);
  EXPECT_EQ(grid.value_of(7), 1e15 + 0.875);
  EXPECT_EQ(ValueGrid::create(1e6, 1e6 + 1, 1e-9).value_of(3), 1e6 + 3 * 1e-9);
  EXPECT_EQ(ValueGrid::create(0, 1e-300, 1e-303).value_of(7), 7e-303);
}

TEST(ValueGrid, HasNoNegativeZero) {
  EXPECT_FALSE(std::signbit(ValueGrid::create(-2.1, 2.1, 0.7).value_of(3)));
}

TEST(ValueGrid, HasTwoToThe20CellsFromLowerToUpperByDefault) {
  for (const auto& [lower, upper] : {std::pair{0.0, 1.0}, {-100.0, 100.0}, {0.1, 1e300}}) {
    const ValueGrid grid = ValueGrid::create(lower, upper, std::nullopt);
    EXPECT_EQ(grid.cells, std::uint64_t{1} << 20);
    EXPECT_EQ(grid.value_of(0), lower);
    EXPECT_LE(grid.value_of((1U << 20) - 1), upper);
    EXPECT_DOUBLE_EQ(grid.value_of((1U << 20) - 1), upper);
  }
}

TEST(ValueGrid, HasOneCellWhenTheGranularityIsMoreThanTwiceTheRange) {
  const ValueGrid grid = ValueGrid::create(5, 6, 2.5);
  EXPECT_EQ(values_of(grid), (std::vector<double>{5}));
  for (const double x : {-kInfinity, -1.0, 5.0, 5.9, 6.0, 100.0, kInfinity}) {
    EXPECT_EQ(grid.cell_of(x), 0U) << x;
  }
}

TEST(ValueGrid, HasUpToTwoToThe32Cells) {
  constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();
  const ValueGrid grid = ValueGrid::create(0, kLast, 1);
  EXPECT_EQ(grid.cells, std::uint64_t{1} << 32);
  for (const std::uint32_t cell : {0U, 1U, 1U << 31, kLast - 1, kLast}) {
    EXPECT_EQ(grid.value_of(cell), cell);
    EXPECT_EQ(grid.cell_of(cell), cell);
  }
  EXPECT_EQ(grid.cell_of(kInfinity), kLast);
}

// --- From values to cells ------------------------------------------------------------------------

TEST(ValueGrid, RoundsValuesToTheNearestCell) {
  const ValueGrid grid = ValueGrid::create(10, 20, 2);
  EXPECT_EQ(grid.cell_of(10), 0U);
  EXPECT_EQ(grid.cell_of(10.9), 0U);
  EXPECT_EQ(grid.cell_of(11.1), 1U);
  EXPECT_EQ(grid.cell_of(12.9), 1U);
  EXPECT_EQ(grid.cell_of(19.1), 5U);
  EXPECT_EQ(grid.cell_of(20), 5U);
}

TEST(ValueGrid, RoundsHalfwayValuesUp) {
  const ValueGrid grid = ValueGrid::create(-2, 2, 1);
  EXPECT_EQ(grid.cell_of(-1.5), 1U);
  EXPECT_EQ(grid.cell_of(0.5), 3U);
  EXPECT_EQ(grid.cell_of(1.5), 4U);
}

TEST(ValueGrid, ClampsValuesToTheEnds) {
  const ValueGrid grid = ValueGrid::create(-1, 1, 0.5);
  for (const double x : {-kInfinity, -kLargest, -2.0, std::nextafter(-1.0, -2.0), -1.0}) {
    EXPECT_EQ(grid.cell_of(x), 0U) << x;
  }
  for (const double x : {1.0, std::nextafter(1.0, 2.0), 2.0, kLargest, kInfinity}) {
    EXPECT_EQ(grid.cell_of(x), 4U) << x;
  }
}

TEST(ValueGrid, ClampsWhereTheDifferenceOverflows) {
  const ValueGrid grid = ValueGrid::create(-kLargest, -kLargest / 2, std::nullopt);
  EXPECT_EQ(grid.cell_of(kLargest), grid.cells - 1);
  EXPECT_EQ(ValueGrid::create(kLargest / 2, kLargest, std::nullopt).cell_of(-kLargest), 0U);
}

TEST(ValueGrid, RoundsTheSmallestNumbersToZero) {
  const ValueGrid grid = ValueGrid::create(-1, 1, 0.5);
  for (const double x : {0.0, -0.0, kSmallest, -kSmallest}) EXPECT_EQ(grid.cell_of(x), 2U) << x;
}

TEST(ValueGrid, RoundsMonotonically) {
  for (const double granularity : {0.01, 0.1, 1.0 / 3, 0.7}) {
    const ValueGrid grid = ValueGrid::create(-1, 2, granularity);
    std::uint32_t previous = 0;
    for (double x = -1.2; x < 2.2; x += 0.00037) {
      ASSERT_GE(grid.cell_of(x), previous) << x;
      previous = grid.cell_of(x);
    }
    EXPECT_EQ(previous, grid.cells - 1);
  }
}

TEST(ValueGrid, FindsTheCellOfEachOfItsValues) {
  struct Case {
    double lower;
    double upper;
    std::optional<double> granularity;
  };
  for (const Case& bounds : {
           Case{0, 120, 1},
           Case{0, 10000, 0.01},
           Case{-5000, 5000, 0.01},
           Case{0.01, 9999.99, 0.01},
           Case{1e9, 1e9 + 1000, 0.01},
           Case{0, 1, 0.1},
           Case{-1, 1, 1e-5},
           Case{0, 1, 1.0 / 3},
           Case{-1e-300, 1e-300, 1e-305},
           Case{0, 1e300, 1e295},
           Case{0, 7, 0.375},
           Case{-100, 100, std::nullopt},
           Case{0, 250000, std::nullopt},
           Case{0.1, 0.7, std::nullopt},
           Case{-kLargest / 2, kLargest / 2, std::nullopt},
       }) {
    const ValueGrid grid = ValueGrid::create(bounds.lower, bounds.upper, bounds.granularity);
    for (std::uint32_t cell = 0; cell < grid.cells; ++cell) {
      ASSERT_EQ(grid.cell_of(grid.value_of(cell)), cell) << bounds.lower << ", " << bounds.upper;
    }
  }
}

TEST(ValueGrid, FindsTheCellOfEveryDecimalWithTwoPlaces) {
  const ValueGrid cents = ValueGrid::create(0, 10000, 0.01);
  for (std::uint32_t cell = 0; cell < cents.cells; ++cell) {
    const std::string decimal = hundredths(static_cast<int>(cell));
    ASSERT_EQ(cents.cell_of(std::stod(decimal)), cell) << decimal;
  }
}

// --- Errors --------------------------------------------------------------------------------------

TEST(ValueGrid, RefusesBoundsThatAreNotFinite) {
  const std::string hint = "Choose bounds from what is publicly known about the values.";
  expect_parameter_error("lower and upper must be finite numbers, got NaN and 1", hint,
                         [] { ValueGrid::create(kNaN, 1, 1); });
  expect_parameter_error("lower and upper must be finite numbers, got 0 and NaN", hint,
                         [] { ValueGrid::create(0, kNaN, std::nullopt); });
  expect_parameter_error("lower and upper must be finite numbers, got -Infinity and 1", hint,
                         [] { ValueGrid::create(-kInfinity, 1, 1); });
  expect_parameter_error("lower and upper must be finite numbers, got 0.5 and Infinity", hint,
                         [] { ValueGrid::create(0.5, kInfinity, 1); });
}

TEST(ValueGrid, RefusesBoundsInTheWrongOrder) {
  const std::string hint = "Choose bounds from what is publicly known about the values.";
  expect_parameter_error("lower must be less than upper, got 2 and 1.5", hint,
                         [] { ValueGrid::create(2, 1.5, 1); });
  expect_parameter_error("lower must be less than upper, got 0 and 0", hint,
                         [] { ValueGrid::create(0, 0, std::nullopt); });
  expect_parameter_error("lower must be less than upper, got -0 and 0", hint,
                         [] { ValueGrid::create(-0.0, 0, 1); });
}

TEST(ValueGrid, RefusesARangeThatOverflows) {
  expect_parameter_error("upper - lower must be a finite number, got -1e+308 and 1e+308",
                         "Choose narrower bounds.",
                         [] { ValueGrid::create(-1e308, 1e308, 1e300); });
}

TEST(ValueGrid, RefusesAGranularityThatIsNotAPositiveNumber) {
  const std::string hint =
      "The granularity is the step between possible answers: 1 for whole numbers, 0.01 for cents.";
  const auto expect_refused = [&](double granularity, const std::string& printed) {
    const std::string message = "granularity must be a positive finite number, got " + printed;
    expect_parameter_error(message, hint, [&] { ValueGrid::create(0, 1, granularity); });
    expect_parameter_error(message, hint, [&] { check_granularity(granularity); });
  };
  expect_refused(0, "0");
  expect_refused(-0.5, "-0.5");
  expect_refused(kNaN, "NaN");
  expect_refused(kInfinity, "Infinity");
  expect_refused(-kInfinity, "-Infinity");
  expect_refused(kSmallest, "5e-324");
}

TEST(ValueGrid, RefusesARangeTooSmallForTheDefaultGranularity) {
  EXPECT_THROW(ValueGrid::create(0, kSmallest, std::nullopt), ParameterError);
  EXPECT_THROW(ValueGrid::create(0, 1e-305, std::nullopt), ParameterError);
}

TEST(ValueGrid, RefusesMoreThanTwoToThe32Cells) {
  const std::string message =
      "the grid must have at most 4294967296 cells, got (upper - lower) / granularity = ";
  const std::string hint = "Choose a larger granularity or narrower bounds.";
  expect_parameter_error(message + "4294967296", hint, [] { ValueGrid::create(0, 4294967296, 1); });
  expect_parameter_error(message + "1000000000000", hint, [] { ValueGrid::create(0, 1e12, 1); });
  expect_parameter_error(message + "Infinity", hint, [] { ValueGrid::create(0, 1e300, 1e-300); });
}

TEST(CheckGranularity, AcceptsNumbersWithAFiniteInverse) {
  for (const double granularity : {1e-300, 0.01, 1.0, 1e300, kLargest}) {
    EXPECT_NO_THROW(check_granularity(granularity)) << granularity;
  }
}

}  // namespace
}  // namespace dpquantile
