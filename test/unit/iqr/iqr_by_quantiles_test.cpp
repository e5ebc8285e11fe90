#include "core/iqr/iqr_by_quantiles.hpp"
#include "support/context_testing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace dpquantile {
namespace {

using test::TestContext;

double release(const ValueGrid& grid, const std::vector<double>& values, double epsilon) {
  const TestContext context;
  std::vector<std::uint32_t> cells;
  for (const double value : values) cells.push_back(grid.cell_of(value));
  const Histogram data(cells, grid.cells, context);
  return IqrByQuantiles(grid, epsilon, context.memory).release(data, context);
}

// With this epsilon each quartile is off by three records or more with a probability below e^-250.
constexpr double kLittleNoise = 1000;

std::vector<double> runs(double low, double high) {
  std::vector<double> values(40, low);
  values.insert(values.end(), 40, high);
  return values;
}

TEST(IqrByQuantiles, IsTheUpperMinusTheLowerQuartile) {
  EXPECT_EQ(release(ValueGrid::create(0, 100, 1), runs(20, 50), kLittleNoise), 30);
  EXPECT_EQ(release(ValueGrid::create(-100, 100, 1), runs(-20, 50), kLittleNoise), 70);
  EXPECT_EQ(release(ValueGrid::create(1000, 2000, 0.5), runs(1000, 2000), kLittleNoise), 1000);
  EXPECT_EQ(release(ValueGrid::create(5, 6, 0.01), runs(5.5, 5.5), kLittleNoise), 0);
}

// 0.7 - 0.4 would be 0.29999999999999993.
TEST(IqrByQuantiles, IsADecimalOfTheGrid) {
  EXPECT_EQ(release(ValueGrid::create(0, 1, 0.1), runs(0.4, 0.7), kLittleNoise), 0.3);
  EXPECT_EQ(release(ValueGrid::create(-1, 1, 0.01), runs(-0.07, 0.07), kLittleNoise), 0.14);
}

TEST(IqrByQuantiles, IsAnyDifferenceOfTheGridWithoutRecords) {
  const ValueGrid grid = ValueGrid::create(-3, 1, 1);
  std::vector<int> seen(5);
  for (int i = 0; i < 2000; ++i) {
    const double answer = release(grid, {}, 1);
    ASSERT_GE(answer, 0);
    ASSERT_LE(answer, 4);
    ASSERT_EQ(answer, static_cast<int>(answer));
    ++seen[static_cast<std::size_t>(answer)];
  }
  // Each answer has a probability of 1/25 or more, and is missed with a probability below 10^-35.
  EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 0);
}

}  // namespace
}  // namespace dpquantile
