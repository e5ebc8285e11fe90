#include "core/exponential/joint_utility.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory_resource>
#include <random>
#include <vector>

#include "core/base/as_size.hpp"
#include "support/joint_law.hpp"

namespace dpquantile {
namespace {

using test::JointDeparture;
using test::Real;

using Gaps = std::vector<double>;
using Quantiles = std::vector<double>;

JointUtility utility_of(const Quantiles& quantiles, double lambda) {
  return {quantiles, lambda, std::pmr::new_delete_resource()};
}

// The least departure over all lattice points up to far beyond the records.
double least_departure(const JointUtility& utility, const Gaps& gaps) {
  double records = 0;
  for (const double gap : gaps) records += gap;
  double least = utility.departure(gaps, 0);
  for (std::uint64_t i = 1; utility.lattice_point(i) < 2 * records + 100 / utility.lambda(); ++i) {
    least = std::min(least, utility.departure(gaps, utility.lattice_point(i)));
  }
  return least;
}

const std::vector<Quantiles> kQuantiles = {{0.5},
                                           {0},
                                           {1},
                                           {0.25, 0.75},
                                           {0, 1},
                                           {0.1, 0.2, 0.9},
                                           {0.9, 0.95, 0.99},
                                           {0, 0.5, 1.0},
                                           {0.2, 0.4, 0.6, 0.8}};

class LeastDeparture : public ::testing::Test {
 protected:
  Gaps random_gaps(std::size_t quantiles) {
    Gaps gaps;
    for (std::size_t k = 0; k <= quantiles; ++k) {
      gaps.push_back(random_() % 3 == 0 ? 0 : uniform_(random_) * 20);
    }
    return gaps;
  }

  // Adds `part` of a record to consecutive gaps.
  Gaps with_record(Gaps gaps, double part) {
    std::size_t k = as_size(random_() % gaps.size());
    while (part > 0) {
      const bool last = k + 1 == gaps.size() || random_() % 2 == 0;
      const double here = last ? part : part * uniform_(random_);
      gaps[k++] += here;
      part -= here;
    }
    return gaps;
  }

  std::mt19937_64 random_{5};
  std::uniform_real_distribution<double> uniform_{0, 1};
};

TEST_F(LeastDeparture, ChangesByAtMostTheRecordsPart) {
  double most = 0;
  for (const Quantiles& quantiles : kQuantiles) {
    const JointUtility utility = utility_of(quantiles, 1);
    for (int round = 0; round < 300; ++round) {
      const Gaps gaps = random_gaps(quantiles.size());
      const double part = round % 2 == 0 ? 1 : uniform_(random_);
      const double change = std::abs(least_departure(utility, with_record(gaps, part)) -
                                     least_departure(utility, gaps));
      ASSERT_LE(change, part + 1e-9);
      most = std::max(most, change / part);
    }
  }
  EXPECT_GT(most, 0.99);  // the bound is tight
}

TEST_F(LeastDeparture, AgreesWithTheReference) {
  for (const Quantiles& quantiles : kQuantiles) {
    const Real epsilon = 1.7L;
    const JointDeparture reference(quantiles, epsilon);
    const JointUtility utility = utility_of(quantiles, static_cast<double>(reference.lambda()));
    EXPECT_NEAR(utility.lattice_step(), static_cast<double>(reference.step()), 1e-12);
    for (int round = 0; round < 100; ++round) {
      const Gaps gaps = random_gaps(quantiles.size());
      const std::vector<Real> real_gaps(gaps.begin(), gaps.end());
      EXPECT_NEAR(least_departure(utility, gaps), static_cast<double>(reference.least(real_gaps)),
                  1e-9);
    }
  }
}

// min over s of |a - q s| + |c - (1 - q) s| is |a - q n| / max(q, 1 - q), the departure of one
// quantile.
TEST_F(LeastDeparture, AgreesWithOneQuantileUpToTheLattice) {
  for (const double q : {0.0, 0.1, 0.5, 0.7, 1.0}) {
    const JointUtility utility = utility_of({q}, 3);
    for (int round = 0; round < 300; ++round) {
      const Gaps gaps = random_gaps(1);
      const double one = std::abs(gaps[0] - q * (gaps[0] + gaps[1])) / std::max(q, 1 - q);
      const double joint = least_departure(utility, gaps);
      EXPECT_GE(joint, one - 1e-9);
      EXPECT_LE(joint, one + utility.lattice_step() / 2 + 1e-9);
    }
  }
}

// A quantile that is too low by D gives a departure of at least D, for every s.
TEST_F(LeastDeparture, IsAtLeastTheMissOfAnyQuantile) {
  for (const Quantiles& quantiles : kQuantiles) {
    const JointUtility utility = utility_of(quantiles, 1);
    for (int round = 0; round < 100; ++round) {
      const Gaps gaps = random_gaps(quantiles.size());
      double records = 0;
      for (const double gap : gaps) records += gap;
      const double departure = least_departure(utility, gaps);
      double rank = 0;
      for (std::size_t k = 0; k < quantiles.size(); ++k) {
        rank += gaps[k];
        EXPECT_GE(departure, std::abs(rank - quantiles[k] * records) - 1e-9);
      }
    }
  }
}

TEST(JointUtilityLattice, DependsOnlyOnTheNumberOfQuantilesAndLambda) {
  EXPECT_DOUBLE_EQ(utility_of({0.5}, 1).lattice_step(), 0.4);
  EXPECT_DOUBLE_EQ(utility_of({0.1}, 1).lattice_step(), 0.4);
  EXPECT_DOUBLE_EQ(utility_of({0.25, 0.75}, 2).lattice_step(), 0.45);
  EXPECT_DOUBLE_EQ(utility_of(Quantiles(9, 0.5), 0.1).lattice_step(), 100);
  EXPECT_DOUBLE_EQ(utility_of(Quantiles(19, 0.5), 0.1).lattice_step(), 200);
  EXPECT_DOUBLE_EQ(utility_of({0.25, 0.75}, 2).lattice_point(10), 4.5);
  EXPECT_EQ(utility_of({0.25, 0.75}, 2).lattice_point(0), 0);
}

TEST(JointUtilityDeparture, SumsTheDifferencesFromTheExpectedGaps) {
  const JointUtility utility = utility_of({0.125, 0.5}, 1);
  EXPECT_EQ(utility.quantiles(), 2U);
  EXPECT_DOUBLE_EQ(utility.expected(0, 8), 1);
  EXPECT_DOUBLE_EQ(utility.expected(1, 8), 3);
  EXPECT_DOUBLE_EQ(utility.expected(2, 8), 4);
  EXPECT_DOUBLE_EQ(utility.departure(Gaps{1, 3, 4}, 8), 0);
  EXPECT_DOUBLE_EQ(utility.departure(Gaps{2, 1, 4}, 8), 3);
  EXPECT_DOUBLE_EQ(utility.departure(Gaps{1, 3, 4}, 0), 8);
}

}  // namespace
}  // namespace dpquantile
