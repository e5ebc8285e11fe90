#include "core/exponential/joint_proposal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "core/base/portable_wide_real.hpp"
#include "core/base/wide_real.hpp"
#include "support/chi_square.hpp"
#include "support/context_testing.hpp"
#include "support/equally_spaced.hpp"
#include "support/random_testing.hpp"

// Every statistical check has a false-alarm probability of 10^-9 (see chi_square.hpp).
namespace dpquantile {
namespace {

using test::chi_square_p_value;
using test::equally_spaced;
using test::FailingSource;
using test::heap;
using test::kFalseAlarm;
using test::TestContext;
using test::TestWorkspace;

using Path = std::vector<std::size_t>;
using Quantiles = std::vector<double>;
using Slots = std::vector<RankSlot>;

// A slot with only the fields that a proposal reads.
RankSlot slot(double middle, double half_range, double measure) {
  return {{0, 1}, middle, half_range, measure};
}

struct Given {
  Slots slots;
  double records;
  Quantiles quantiles;
  double lambda;
};

// The logarithm of a path's weight, from its definition.
long double log_weight(const Given& given, const Path& path, double s) {
  long double sum = 0;
  double rank = 0;
  double quantile = 0;
  std::map<std::size_t, int> together;
  for (std::size_t k = 0; k < path.size(); ++k) {
    const RankSlot& here = given.slots[path[k]];
    const double expected = (given.quantiles[k] - quantile) * s;
    sum -= given.lambda * std::fabs(here.middle - rank - expected);
    sum += std::log(static_cast<long double>(here.measure)) + 2 * given.lambda * here.half_range;
    sum -= std::log(static_cast<long double>(++together[path[k]]));
    rank = here.middle;
    quantile = given.quantiles[k];
  }
  return sum - given.lambda * std::fabs(given.records - rank - (1 - quantile) * s);
}

template <class Visit>
void visit_paths(std::size_t slots, std::size_t length, Path& path, const Visit& visit) {
  if (path.size() == length) {
    visit(path);
    return;
  }
  for (std::size_t i = path.empty() ? 0 : path.back(); i < slots; ++i) {
    path.push_back(i);
    visit_paths(slots, length, path, visit);
    path.pop_back();
  }
}

// The logarithms of the weights of all paths.
std::map<Path, long double> all_log_weights(const Given& given, double s) {
  std::map<Path, long double> weights;
  Path path;
  visit_paths(given.slots.size(), given.quantiles.size(), path,
              [&](const Path& full) { weights[full] = log_weight(given, full, s); });
  return weights;
}

long double log_of_sum(const std::map<Path, long double>& logs) {
  long double largest = -std::numeric_limits<long double>::infinity();
  for (const auto& [path, log] : logs) largest = std::max(largest, log);
  long double sum = 0;
  for (const auto& [path, log] : logs) sum += std::exp(log - largest);
  return largest + std::log(sum);
}

constexpr double kNoLimit = 1e12;

// Whether every quantile of a path can lie within the limit of the ranks that s expects from both
// ends.
bool is_within(const Given& given, const Path& path, double s, double limit) {
  for (std::size_t k = 0; k < path.size(); ++k) {
    const RankSlot& here = given.slots[path[k]];
    const double before = given.quantiles[k] * s;
    const double behind = given.records - (1 - given.quantiles[k]) * s;
    const auto cost = [&](double rank) {
      return std::abs(rank - before) + std::abs(behind - rank);
    };
    const double low = here.middle - here.half_range;
    const double high = here.middle + here.half_range;
    if (std::min({cost(low), cost(high), cost(std::clamp(before, low, high))}) > limit)
      return false;
  }
  return true;
}

// A proposal and everything that it refers to.
template <class Real>
class Proposal {
 public:
  explicit Proposal(const Given& given)
      : slots_(given.slots),
        utility_(given.quantiles, given.lambda, heap()),
        proposal_(slots_, given.records, utility_, heap()) {}
  Proposal(const Proposal&) = delete;
  Proposal& operator=(const Proposal&) = delete;

  double filter(double s, double limit = kNoLimit) {
    return proposal_.filter(s, limit, work_.cancel);
  }
  Path draw(const MechanismContext& context) {
    Path path(utility_.quantiles());
    proposal_.draw(context, path);
    return path;
  }
  double cost(const Path& path) const { return proposal_.cost(path); }
  const JointUtility& utility() const { return utility_; }

 private:
  Slots slots_;
  JointUtility utility_;
  JointProposal<Real> proposal_;
  TestWorkspace work_;
};

const Given kFew{{slot(0.5, 0.5, 0.3), slot(2, 1, 0.2), slot(3, 0, 0.05), slot(4.5, 1.5, 0.45)},
                 6,
                 {0.2, 0.5, 0.6, 0.9},
                 0.7};
const Given kEnds{
    {slot(0, 0, 0.1), slot(0, 0, 0.5), slot(1, 1, 0.25), slot(2, 0, 0.15)}, 2, {0, 0.5, 1}, 1.3};
const Given kOneSlot{{slot(1.5, 1.5, 1)}, 3, {0.1, 0.2, 0.3, 0.4, 0.9}, 0.4};
const Given kOneQuantile{{slot(1, 1, 0.5), slot(3, 1, 0.5)}, 4, {0.3}, 1};
// Two slots of one position each on the largest grid, and a large slot far from them.
const Given kTiny{
    {slot(1, 0, 0x1p-56), slot(2, 0, 0x1p-56), slot(600, 0, 0.9)}, 1200, equally_spaced(16), 0.5};
// The same without the large slot.
const Given kOnlyTiny{{slot(1, 0, 0x1p-56), slot(2, 0, 0x1p-56)}, 3, equally_spaced(16), 0.5};

template <class Real>
void expect_total_weight(const Given& given) {
  Proposal<Real> proposal(given);
  for (const double s : {0.0, 1.0, given.records, 1.3 * given.records + 2}) {
    const auto expected = static_cast<double>(log_of_sum(all_log_weights(given, s)));
    EXPECT_NEAR(proposal.filter(s), expected, 1e-10 * (1 + std::abs(expected))) << s;
  }
}

TEST(JointProposalFilter, SumsTheWeightsOfAllPaths) {
  for (const Given& given : {kFew, kEnds, kOneSlot, kOneQuantile}) {
    expect_total_weight<double>(given);
    expect_total_weight<WideReal>(given);
    expect_total_weight<PortableWideReal>(given);
  }
}

TEST(JointProposalFilter, SumsTheWeightsOfAllPathsOfRandomSlots) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 60; ++round) {
    Given given{{}, 0, {}, 0.1 + uniform(random)};
    const std::size_t slots = as_size(1 + random() % 7);
    for (std::size_t i = 0; i < slots; ++i) {
      const double half = random() % 3 == 0 ? 0 : uniform(random);
      given.slots.push_back(slot(given.records + half, half, std::exp(-20 * uniform(random))));
      given.records += 2 * half + (random() % 2 == 0 ? 0 : 3 * uniform(random));
    }
    const std::size_t quantiles = as_size(1 + random() % 6);
    while (given.quantiles.size() < quantiles) given.quantiles.push_back(uniform(random));
    std::ranges::sort(given.quantiles);
    expect_total_weight<double>(given);
    expect_total_weight<WideReal>(given);
    expect_total_weight<PortableWideReal>(given);
  }
}

TEST(JointProposalFilter, SumsTheWeightsOfPathsWithinALimit) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 200; ++round) {
    Given given{{}, 0, {}, 0.5};
    for (int i = 0; i < 7; ++i) {
      const double half = uniform(random);
      given.slots.push_back(slot(given.records + half, half, 0.1 + uniform(random)));
      given.records += 2 * half + uniform(random);
    }
    for (int k = 0; k < 4; ++k) given.quantiles.push_back(uniform(random));
    std::ranges::sort(given.quantiles);
    const double s = given.records * (0.7 + 0.6 * uniform(random));
    const double limit = 4 * uniform(random);
    std::map<Path, long double> weights = all_log_weights(given, s);
    std::erase_if(weights,
                  [&](const auto& path) { return !is_within(given, path.first, s, limit); });
    const double filtered = Proposal<double>(given).filter(s, limit);
    if (weights.empty()) {
      EXPECT_EQ(filtered, -std::numeric_limits<double>::infinity());
    } else {
      EXPECT_NEAR(filtered, static_cast<double>(log_of_sum(weights)), 1e-9);
    }
  }
}

TEST(JointProposalFilter, DoesNotUnderflowForPowersOfTheLeastMeasure) {
  for (const Given& given : {kTiny, kOnlyTiny}) {
    expect_total_weight<double>(given);
    expect_total_weight<WideReal>(given);
    expect_total_weight<PortableWideReal>(given);
  }
}

// 120 quantiles on three slots: 7381 paths.
TEST(JointProposalFilter, SumsTheWeightsOfAllPathsOf120Quantiles) {
  const Quantiles quantiles = equally_spaced(120);
  expect_total_weight<WideReal>(
      {{slot(2, 2, 0.3), slot(5, 1, 0x1p-30), slot(9, 3, 0.7)}, 12, quantiles, 0.5});
  expect_total_weight<WideReal>(
      {{slot(0, 0, 0x1p-56), slot(40, 0, 0x1p-56), slot(100, 0, 0x1p-50)}, 100, quantiles, 0.5});
}

template <class Real>
void expect_law(const Given& given, double s) {
  const std::map<Path, long double> logs = all_log_weights(given, s);
  const long double total = log_of_sum(logs);
  Proposal<Real> proposal(given);
  proposal.filter(s);
  const TestContext context;
  std::map<Path, std::uint64_t> counts;
  for (int i = 0; i < 30'000; ++i) ++counts[proposal.draw(context)];
  std::vector<std::uint64_t> observed;
  std::vector<double> law;
  for (const auto& [path, log] : logs) {
    observed.push_back(counts[path]);
    law.push_back(static_cast<double>(std::exp(log - total)));
  }
  EXPECT_LE(counts.size(), logs.size());
  EXPECT_GT(chi_square_p_value(observed, law), kFalseAlarm);
}

TEST(JointProposalDraw, IsProportionalToTheWeights) {
  expect_law<double>(kFew, 6);
  expect_law<double>(kFew, 1);
  expect_law<double>(kEnds, 2);
  expect_law<double>(kEnds, 4.5);
  expect_law<double>(kOneQuantile, 3);
  expect_law<WideReal>(kFew, 6);
  expect_law<WideReal>(kEnds, 4.5);
}

TEST(JointProposalDraw, IsProportionalToPowersOfTheLeastMeasure) {
  expect_law<double>(kOnlyTiny, 3);
  expect_law<double>(kOnlyTiny, 10);
  expect_law<WideReal>(kOnlyTiny, 3);
}

TEST(JointProposalDraw, IsTheOnlySlot) {
  Proposal<double> proposal(kOneSlot);
  proposal.filter(3);
  const TestContext context;
  EXPECT_EQ(proposal.draw(context), Path(5, 0));
}

TEST(JointProposalFilter, DoesNotDependOnEarlierCalls) {
  Proposal<double> once(kFew);
  Proposal<double> again(kFew);
  again.filter(100);
  EXPECT_EQ(again.filter(5), once.filter(5));
}

// lambda times a path's cost, less the logarithm of its volume, is the negative logarithm of its
// weight. The acceptance of proposals relies on it.
TEST(JointProposalCost, AgreesWithTheWeight) {
  Proposal<double> proposal(kFew);
  for (const double s : {0.0, 5.0}) {
    proposal.filter(s);
    for (const auto& [path, log] : all_log_weights(kFew, s)) {
      long double volume = 0;
      std::map<std::size_t, int> together;
      for (const std::size_t i : path) {
        volume += std::log(static_cast<long double>(kFew.slots[i].measure) / ++together[i]);
      }
      EXPECT_NEAR(proposal.cost(path), static_cast<double>((volume - log) / kFew.lambda), 1e-12);
    }
  }
}

// So no positions are proposed with less than their weight.
TEST(JointProposalCost, IsAtMostTheDepartureOfRanksInTheSlots) {
  std::mt19937_64 random(9);
  Proposal<double> proposal(kFew);
  double least_excess = 100;
  for (int round = 0; round < 20'000; ++round) {
    const double s = static_cast<double>(random() % 16);
    proposal.filter(s);
    Path path(4);
    std::vector<double> ranks;
    for (std::size_t& i : path) i = random() % 4;
    std::ranges::sort(path);
    for (const std::size_t i : path) {
      const double offset = static_cast<double>(random() % 3) - 1;
      ranks.push_back(kFew.slots[i].middle + offset * kFew.slots[i].half_range);
    }
    std::ranges::sort(ranks);
    std::vector<double> gaps;
    double previous = 0;
    for (const double rank : ranks) {
      gaps.push_back(rank - previous);
      previous = rank;
    }
    gaps.push_back(kFew.records - previous);
    const double excess = proposal.utility().departure(gaps, s) - proposal.cost(path);
    ASSERT_GE(excess, -1e-12);
    least_excess = std::min(least_excess, excess);
  }
  EXPECT_LT(least_excess, 1e-9);  // the two can be equal
}

TEST(JointProposalDraw, ThrowsWhenTheSourceFails) {
  Proposal<double> proposal(kFew);
  proposal.filter(3);
  FailingSource source;
  EXPECT_THROW(proposal.draw(TestContext(source)), RandomnessUnavailable);
}

}  // namespace
}  // namespace dpquantile
