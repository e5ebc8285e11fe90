#include "core/noisy_histogram/bin_bounds.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/parameter_error.hpp"

namespace dpquantile {
namespace {

using test::expect_parameter_error;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(BinBounds, DivideValuesIntoBins) {
  const std::vector<double> bounds = {0, 18, 65, 120};
  EXPECT_EQ(bin_of(bounds, 0), 0U);
  EXPECT_EQ(bin_of(bounds, 17.9), 0U);
  EXPECT_EQ(bin_of(bounds, 18), 1U);
  EXPECT_EQ(bin_of(bounds, 65), 2U);
  EXPECT_EQ(bin_of(bounds, 119), 2U);
}

TEST(BinBounds, IncludeTheLastOne) {
  EXPECT_EQ(bin_of(std::vector<double>{0, 10, 20}, 20), 1U);
}

TEST(BinBounds, LeaveOutValuesOutside) {
  const std::vector<double> bounds = {0, 10, 20};
  for (const double value : {-0.1, 20.1, kInfinity, -kInfinity, kNaN}) {
    EXPECT_FALSE(bin_of(bounds, value)) << value;
  }
}

TEST(BinBounds, MayBeInfinite) {
  const std::vector<double> bounds = {-kInfinity, 0, kInfinity};
  check_bin_bounds(bounds);
  EXPECT_EQ(bin_of(bounds, -kInfinity), 0U);
  EXPECT_EQ(bin_of(bounds, -1e300), 0U);
  EXPECT_EQ(bin_of(bounds, 0), 1U);
  EXPECT_EQ(bin_of(bounds, kInfinity), 1U);
}

TEST(BinBounds, RefuseTooFew) {
  expect_parameter_error("bounds must have 2 to 65537 elements, got 1",
                         "ARRAY[0, 18, 65, 120] makes three bins.",
                         [] { check_bin_bounds(std::vector<double>{1}); });
}

TEST(BinBounds, RefuseTooMany) {
  std::vector<double> bounds(kMostBins + 2);
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = static_cast<double>(i);
  expect_parameter_error("bounds must have 2 to 65537 elements, got 65538",
                         "ARRAY[0, 18, 65, 120] makes three bins.",
                         [&] { check_bin_bounds(bounds); });
  bounds.pop_back();
  check_bin_bounds(bounds);
}

TEST(BinBounds, RefuseThoseThatDoNotAscend) {
  const char* hint = "Each bin goes from an element to the next one.";
  const std::vector<double> twice = {1, 2, 2};
  const std::vector<double> not_a_number = {kNaN, 2};
  expect_parameter_error("bounds must ascend, got 2 before 2", hint,
                         [&] { check_bin_bounds(twice); });
  expect_parameter_error("bounds must ascend, got NaN before 2", hint,
                         [&] { check_bin_bounds(not_a_number); });
}

}  // namespace
}  // namespace dpquantile
