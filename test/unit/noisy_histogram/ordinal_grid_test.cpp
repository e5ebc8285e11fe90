#include "core/noisy_histogram/ordinal_grid.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace dpquantile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

// Four cells an octave from 1 to 16, and four from 0 to 1.
constexpr OrdinalGrid kSmall(2, 0, 4);
constexpr OrdinalGrid kAllDoubles(3, -1000, 1024);

TEST(OrdinalGrid, DividesOctavesAndMirrorsThem) {
  const std::vector<double> edges = {-16, -14,  -12, -10,   -8,   -7,    -6, -5,    -4,   -3.5,
                                     -3,  -2.5, -2,  -1.75, -1.5, -1.25, -1, -0.75, -0.5, -0.25};
  ASSERT_EQ(kSmall.cells(), 40U);
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    EXPECT_EQ(kSmall.edge(i), edges[i]);
    EXPECT_EQ(kSmall.edge(40 - i), -edges[i]);
  }
  EXPECT_EQ(kSmall.edge(20), 0);
}

TEST(OrdinalGrid, PutsEdgesIntoTheCellFartherFromZero) {
  EXPECT_EQ(kSmall.cell_of(0), 20U);
  EXPECT_EQ(kSmall.cell_of(-0.0), 20U);
  EXPECT_EQ(kSmall.cell_of(-kSmallest), 19U);
  EXPECT_EQ(kSmall.cell_of(1), 24U);
  EXPECT_EQ(kSmall.cell_of(-1), 15U);
  EXPECT_EQ(kSmall.cell_of(std::nextafter(1, 0)), 23U);
  EXPECT_EQ(kSmall.cell_of(2.5), 29U);
}

TEST(OrdinalGrid, KeepsWhatIsBeyondItInTheLastCells) {
  for (const double value : {16.0, 1e300, kInfinity}) {
    EXPECT_EQ(kSmall.cell_of(value), 39U);
    EXPECT_EQ(kSmall.cell_of(-value), 0U);
  }
  EXPECT_EQ(kAllDoubles.cell_of(kInfinity), kAllDoubles.cells() - 1);
  EXPECT_EQ(kAllDoubles.edge(kAllDoubles.cells()), kLargest);
  EXPECT_EQ(kAllDoubles.edge(0), -kLargest);
}

TEST(OrdinalGrid, HasAscendingFiniteEdges) {
  for (const OrdinalGrid& grid :
       {kSmall, kAllDoubles, OrdinalGrid(6, 13, 31), OrdinalGrid(0, 0, 0)}) {
    for (std::uint32_t i = 0; i < grid.cells(); ++i) {
      ASSERT_LT(grid.edge(i), grid.edge(i + 1)) << i;
      ASSERT_TRUE(std::isfinite(grid.edge(i)));
    }
  }
}

TEST(OrdinalGrid, HasEachDoubleWithinTheEdgesOfItsCell) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const std::uint32_t cell = kAllDoubles.cell_of(value);
    ASSERT_LE(kAllDoubles.edge(cell), value);
    ASSERT_GE(kAllDoubles.edge(cell + 1), value);
  }
  for (const double value : {0.0, kSmallest, 2.3e-308, kLargest, 0x1p-1000, 0x1p-1001}) {
    EXPECT_LE(kAllDoubles.edge(kAllDoubles.cell_of(value)), value);
    EXPECT_GE(kAllDoubles.edge(kAllDoubles.cell_of(value) + 1), value);
  }
}

}  // namespace
}  // namespace dpquantile
