#include "core/exponential/joint_preparation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/base/wide_real.hpp"
#include "core/exponential/joint_mechanism.hpp"
#include "core/exponential/rank.hpp"
#include "core/exponential/small_joint_mechanism.hpp"
#include "support/cell_runs_testing.hpp"
#include "support/context_testing.hpp"
#include "support/dataset.hpp"
#include "support/equally_spaced.hpp"
#include "support/half_tied.hpp"
#include "support/quantiles_sampler.hpp"
#include "support/random_testing.hpp"

// threat 25: one record does not change the passes. The steps of a preparation are counted, not
// timed. Data and randomness are fixed, so that these tests give no false alarms.
namespace dpquantile {
namespace {

using test::Dataset;
using test::equally_spaced;
using test::half_tied;
using test::histogram_of;
using test::ScriptedSource;
using test::TestContext;

constexpr double kEpsilon = 1;

// The steps that the preparation takes if the random part of the number of filtered lattice points
// is about 1/2.
double steps_of(const Dataset& data, const std::vector<double>& quantiles) {
  const Histogram histogram = histogram_of(data);
  const SmearedRank rank(histogram);
  ScriptedSource source({std::uint64_t{1} << 63});
  const TestContext context(source);
  const JointUtility utility(quantiles, joint_lambda(kEpsilon), context.memory);
  const JointPreparation<double> preparation(rank, {0, cell_start(data.cells)}, utility, context);
  return static_cast<double>(context.cancel.elements());
}

Dataset without_last(Dataset data) {
  data.records.pop_back();
  return data;
}

// The relative difference between the steps for the data with and without the last record.
double difference(const Dataset& data, const std::vector<double>& quantiles) {
  const double with = steps_of(data, quantiles);
  const double without = steps_of(without_last(data), quantiles);
  return std::abs(with - without) / std::min(with, without);
}

// With a second pass for one of two neighbours they differed by a factor of more than two.
TEST(JointPreparation, TakesAboutAsManyStepsForNeighboursNearACriterion) {
  EXPECT_LT(difference(half_tied(133), equally_spaced(32)), 0.1);
  EXPECT_LT(difference(half_tied(103), equally_spaced(16)), 0.1);
  EXPECT_LT(difference(half_tied(104), equally_spaced(16)), 0.1);
}

// Records of one of several shapes.
Dataset random_data(std::mt19937& random) {
  Dataset data{std::uint64_t{1} << (8 + random() % 16), {}};
  const auto anywhere = [&] { return static_cast<std::uint32_t>(random() % data.cells); };
  const std::uint32_t values[] = {anywhere(), anywhere(), anywhere()};
  const auto tied_of_ten = static_cast<unsigned>(random() % 11);
  const std::size_t records = 20 + random() % 1000;
  for (std::size_t i = 0; i < records; ++i) {
    const bool tied = random() % 10 < tied_of_ten;
    data.records.push_back(tied ? values[random() % 3] : anywhere());
  }
  return data;
}

// A few neighbours differ by one filtered lattice point on each side, which is a large part where
// few are filtered. The random part of their number makes it a matter of chance where that happens.
TEST(JointPreparation, TakesAboutAsManyStepsForNeighbours) {
  std::mt19937 random(17);
  int by_a_tenth = 0;
  for (int pair = 0; pair < 1000; ++pair) {
    const Dataset data = random_data(random);
    const std::size_t quantiles = 2 + random() % 15;
    const double by = difference(data, equally_spaced(quantiles));
    EXPECT_LT(by, 0.5) << data.records.size() << " records, " << quantiles << " quantiles";
    if (by > 0.1) ++by_a_tenth;
  }
  EXPECT_LT(by_a_tenth, 50);
}

// The number of filtered lattice points does not depend on where n lies between them, and its
// expectation moves little with the data.
TEST(JointPreparation, FiltersAsManyLatticePointsOnAverageForNeighbours) {
  const std::vector<double> quantiles = equally_spaced(32);
  const auto average = [&](const Dataset& data) {
    const Histogram histogram = histogram_of(data);
    const SmearedRank rank(histogram);
    constexpr std::uint64_t kParts = 16;
    double sum = 0;
    for (std::uint64_t part = 0; part < kParts; ++part) {
      ScriptedSource source({(2 * part + 1) << 59});
      const TestContext context(source);
      const JointUtility utility(quantiles, joint_lambda(kEpsilon), context.memory);
      const JointPreparation<double> preparation(rank, {0, cell_start(data.cells)}, utility,
                                                 context);
      const LatticeRange& filtered = preparation.filtered();
      sum += static_cast<double>(filtered.last - filtered.first + 1);
    }
    return sum / static_cast<double>(kParts);
  };
  EXPECT_NEAR(average(half_tied(133)), average(half_tied(132)), 0.3);
}

// --- What doubles can represent ------------------------------------------------------------------

// Sixteen quantiles on the last two positions of a cell with 5 * 10^8 records and on the cells
// after it: the least departure is some 200 records.
struct HeavyPositions {
  static constexpr PositionInterval kInterval{kCellPositions - 4, kCellPositions + 4};

  explicit HeavyPositions(const Workspace& work)
      : runs(test::encoded({{0, 270'000'000}, {1, 260'000'000}})),
        data(2, 2, CellRunsReader(runs), work) {}

  CellRuns runs;
  Histogram data;
  SmearedRank rank{data};
};

template <class Real>
bool covers_least(const HeavyPositions& heavy, double lambda, const TestContext& context) {
  const JointUtility utility(equally_spaced(16), lambda, context.memory);
  return JointPreparation<Real>(heavy.rank, HeavyPositions::kInterval, utility, context)
      .covers_least();
}

// threat 119: proposals without weight would be drawn for ever.
TEST(JointPreparation, SaysThatDoublesDoNotHoldTheWeightsOfVeryHeavyPositions) {
  const TestContext context;
  const HeavyPositions heavy(context);
  EXPECT_TRUE(covers_least<double>(heavy, 0.1, context));
  EXPECT_FALSE(covers_least<double>(heavy, 8, context));
  EXPECT_TRUE(covers_least<WideReal>(heavy, 8, context));
}

TEST(SmallJointMechanism, SaysThatDoublesDoNotHoldTheWeightsOfVeryHeavyPositions) {
  const TestContext context;
  const HeavyPositions heavy(context);
  std::vector<Position> positions(4, 0);
  const auto draws = [&](double lambda) {
    return draw_small_joint_positions(heavy.rank, HeavyPositions::kInterval, equally_spaced(4),
                                      lambda, context, positions);
  };
  EXPECT_FALSE(draws(8));
  EXPECT_EQ(positions, std::vector<Position>(4, 0));
  EXPECT_TRUE(draws(0.1));
  EXPECT_GE(positions.front(), HeavyPositions::kInterval.begin);
}

}  // namespace
}  // namespace dpquantile
