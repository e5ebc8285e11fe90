#include "core/iqr/log_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace dpquantile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();
constexpr double kLeastNormal = std::numeric_limits<double>::min();

const std::vector<std::uint64_t> kCounts = {3,         4,          5,          10,   1000,
                                            1'000'000, 1ULL << 32, 1ULL << 62, ~0ULL};

constexpr double kUnits[] = {LogGrid::kLeastUnit, 1.3e-6, 0x1p-12, 0.01, 0.3, 1};

// Grids of both kinds.
std::vector<LogGrid> some_grids() {
  std::vector<LogGrid> grids;
  for (const std::uint64_t count : kCounts) grids.emplace_back(count);
  for (const double unit : kUnits) grids.push_back(LogGrid::of_unit(unit));
  return grids;
}

// Steps at both ends of the scale, around 1, evenly spread, and random ones.
std::vector<std::int64_t> some_steps(const LogGrid& grid) {
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < 3000; ++i) {
    steps.insert(steps.end(), {-grid.last() + i, i - 1500, grid.last() - i});
    steps.push_back(-grid.last() + 2 * grid.last() / 3000 * i);
  }
  std::mt19937_64 random(31);
  std::uniform_int_distribution<std::int64_t> anywhere(-grid.last(), grid.last() - 1);
  for (int i = 0; i < 3000; ++i) steps.push_back(anywhere(random));
  return steps;
}

TEST(LogGrid, HasPowersOfOneAndAnInverseLogarithm) {
  for (const std::uint64_t count : kCounts) {
    const LogGrid grid(count);
    const double base = 1 + 1 / std::log(static_cast<double>(count));
    EXPECT_EQ(grid.value(0), 1) << count;
    EXPECT_NEAR(grid.value(1024), base, 1e-14) << count;
    EXPECT_NEAR(grid.value(-2048), 1 / (base * base), 1e-14) << count;
    EXPECT_NEAR(grid.value(512), std::sqrt(base), 1e-14) << count;
  }
}

TEST(LogGrid, HasPowersOfTheExponentialOfItsUnit) {
  for (const double unit : kUnits) {
    const LogGrid grid = LogGrid::of_unit(unit);
    EXPECT_EQ(grid.unit(), unit);
    EXPECT_EQ(grid.value(0), 1);
    EXPECT_NEAR(std::log(grid.value(1024)) / unit, 1, 1e-9);
    EXPECT_NEAR(std::log(grid.value(-512)) / unit, -0.5, 1e-9);
    EXPECT_NEAR(std::log(grid.value(1024 * 100)) / unit, 100, 1e-7);
  }
}

TEST(LogGrid, IsThePapersGridForItsUnit) {
  for (const std::uint64_t count : kCounts) {
    const LogGrid grid(count);
    const double unit = std::log1p(1 / std::log(static_cast<double>(count)));
    const LogGrid same = LogGrid::of_unit(unit);
    EXPECT_EQ(grid.unit(), same.unit());
    EXPECT_EQ(grid.last(), same.last());
    EXPECT_GT(grid.unit(), 1.0 / 64);
  }
}

// Rounding errors are largest against the gaps between values at the largest exponents. Tests long
// stretches of consecutive steps there and around 1.
TEST(LogGrid, AscendsStrictlyForTheLeastUnit) {
  const LogGrid grid = LogGrid::of_unit(LogGrid::kLeastUnit);
  constexpr std::int64_t kStretch = 200'000;
  for (const std::int64_t first : {-grid.last(), -kStretch / 2, grid.last() - kStretch}) {
    double before = grid.value(first);
    for (std::int64_t step = first + 1; step <= first + kStretch; ++step) {
      const double value = grid.value(step);
      ASSERT_LT(before, value) << step;
      before = value;
    }
  }
}

TEST(LogGrid, SpansTheNormalDoubles) {
  for (const LogGrid& grid : some_grids()) {
    EXPECT_GE(grid.value(-grid.last()), kLeastNormal) << grid.unit();
    EXPECT_LT(grid.value(-grid.last()), 4e-308) << grid.unit();
    EXPECT_LE(grid.value(grid.last()), kLargest) << grid.unit();
    EXPECT_GT(grid.value(grid.last()), 3e307) << grid.unit();
  }
}

TEST(LogGrid, AscendsStrictly) {
  for (const std::uint64_t count : {3ULL, 4ULL, 10ULL, 1'000'000ULL}) {
    const LogGrid grid(count);
    for (std::int64_t step = -grid.last(); step < grid.last(); ++step) {
      ASSERT_LT(grid.value(step), grid.value(step + 1)) << count << " " << step;
    }
  }
  for (const LogGrid& grid : some_grids()) {
    for (const std::int64_t step : some_steps(grid)) {
      ASSERT_LT(grid.value(step), grid.value(step + 1)) << grid.unit() << " " << step;
    }
  }
}

TEST(LogGrid, FindsTheStepAtOrBelow) {
  for (const LogGrid& grid : some_grids()) {
    for (const std::int64_t step : some_steps(grid)) {
      ASSERT_EQ(grid.step_of(grid.value(step)), step) << grid.unit();
      if (step == -grid.last()) continue;
      ASSERT_EQ(grid.step_of(std::nextafter(grid.value(step), 0)), step - 1) << grid.unit();
    }
  }
}

TEST(LogGrid, ClampsValuesBeyondItsEnds) {
  for (const LogGrid& grid : some_grids()) {
    EXPECT_EQ(grid.step_of(kLargest), grid.last());
    EXPECT_EQ(grid.step_of(kLeast), -grid.last());
    EXPECT_EQ(grid.step_of(std::nextafter(grid.value(-grid.last()), 0)), -grid.last());
  }
}

TEST(IqrBins, EndAtWholeOrHalfUnitsInTheInterior) {
  for (const LogGrid& grid : some_grids()) {
    const auto expect = [&](std::int64_t step, std::int64_t whole, std::int64_t half) {
      const double iqr = grid.value(step);
      EXPECT_EQ(grid.bin_of(iqr, 0), (IqrBin{grid.value(whole), grid.value(whole + 1024)}));
      EXPECT_EQ(grid.bin_of(iqr, 4), (IqrBin{grid.value(half), grid.value(half + 1024)}));
    };
    expect(0, 0, -512);
    expect(511, 0, -512);
    expect(512, 0, 512);
    expect(1023, 0, 512);
    expect(1024, 1024, 512);
    expect(-1, -1024, -512);
    expect(-512, -1024, -512);
    expect(-513, -1024, -1536);
    expect(-1024, -1024, -1536);
  }
}

TEST(IqrBins, BeginAtEveryEighthOfAUnit) {
  const LogGrid grid(1000);
  const double iqr = grid.value(1000);
  for (int discretisation = 0; discretisation < 8; ++discretisation) {
    const std::int64_t begin = discretisation == 0 ? 0 : 1024 - 128 * discretisation;
    EXPECT_EQ(grid.bin_of(iqr, discretisation),
              begin <= 1000 ? (IqrBin{grid.value(begin), grid.value(begin + 1024)})
                            : (IqrBin{grid.value(begin - 1024), grid.value(begin)}));
  }
}

// iqr_min_records relies on 7/16 of a unit, up to the rounding to a step.
TEST(IqrBins, IncludeOneWithTheValueNearItsMiddle) {
  for (const LogGrid& grid : {LogGrid(1000), LogGrid::of_unit(LogGrid::kLeastUnit)}) {
    for (const std::int64_t around : {std::int64_t{0}, grid.last() / 3, -grid.last() / 2}) {
      for (std::int64_t step = around - 1500; step < around + 1500; ++step) {
        std::int64_t farthest = 0;
        for (int discretisation = 0; discretisation < kDiscretisations; ++discretisation) {
          const IqrBin bin = grid.bin_of(grid.value(step), discretisation);
          farthest = std::max(
              farthest, std::min(step - grid.step_of(bin.lower), grid.step_of(bin.upper) - step));
        }
        ASSERT_GE(farthest, 448) << step;
        ASSERT_LE(farthest, 512 + 64) << step;
      }
    }
  }
}

TEST(IqrBins, ContainTheirValueAndSpanAtMostAUnit) {
  for (const LogGrid& grid : some_grids()) {
    for (const std::int64_t step : some_steps(grid)) {
      for (int discretisation = 0; discretisation < kDiscretisations; ++discretisation) {
        const double iqr = std::nextafter(grid.value(step), kInfinity);
        const IqrBin bin = grid.bin_of(iqr, discretisation);
        ASSERT_LE(bin.lower, iqr);
        ASSERT_LT(iqr, bin.upper);
        const double last_inside = std::nextafter(bin.upper, 0);
        ASSERT_EQ(grid.bin_of(bin.lower, discretisation), bin);
        ASSERT_EQ(grid.bin_of(last_inside, discretisation), bin);
        ASSERT_LT(grid.step_of(last_inside) - grid.step_of(bin.lower), 1024);
        if (bin.upper < kInfinity) {
          ASSERT_EQ(grid.bin_of(bin.upper, discretisation).lower, bin.upper);
        }
      }
    }
  }
}

TEST(IqrBins, ContainOnlyZeroForZero) {
  for (int discretisation = 0; discretisation < kDiscretisations; ++discretisation) {
    const LogGrid grid(100);
    EXPECT_EQ(grid.bin_of(0, discretisation), (IqrBin{0, kLeast}));
    EXPECT_EQ(grid.bin_of(-0.0, discretisation), (IqrBin{0, kLeast}));
    EXPECT_EQ(grid.bin_of(kLeast, discretisation).lower, kLeast);
  }
}

TEST(IqrBins, ReachBeyondTheScaleAtItsEnds) {
  for (const LogGrid& grid : some_grids()) {
    for (int discretisation = 0; discretisation < kDiscretisations; ++discretisation) {
      EXPECT_EQ(grid.bin_of(kLargest, discretisation).upper, kInfinity);
      EXPECT_EQ(grid.bin_of(grid.value(grid.last()), discretisation),
                grid.bin_of(kLargest, discretisation));
      EXPECT_EQ(grid.bin_of(grid.value(-grid.last()), discretisation),
                grid.bin_of(kLeast, discretisation));
    }
  }
}

}  // namespace
}  // namespace dpquantile
