#include "core/exponential/laplace_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <random>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/portable_wide_real.hpp"
#include "core/base/wide_real.hpp"

namespace dpquantile {
namespace {

using Points = std::vector<double>;

// The definition, with an error bound for each sum:
// out[i] = sum over k < i of in[k] exp(-lambda |x_i - x_k - shift|).
template <class Real>
void expect_direct_sums(const Points& points, const std::vector<Real>& in, double lambda,
                        double shift) {
  using std::exp;
  using std::fabs;
  CancelPoll cancel(nullptr);
  LaplaceFilter<Real> filter(points, lambda, std::pmr::new_delete_resource());
  std::vector<Real> out(points.size(), Real(-1));
  filter.apply(in, {0, points.size()}, shift, out, {0, points.size()}, cancel);
  for (std::size_t i = 0; i < points.size(); ++i) {
    WideReal sum = 0;
    for (std::size_t k = 0; k < i; ++k) {
      const WideReal departure = WideReal(points[i]) - points[k] - shift;
      sum += WideReal(in[k]) * exp(-lambda * fabs(departure));
    }
    // A decay below the least normal number is lost, whatever it is multiplied with.
    const WideReal lost = WideReal(std::numeric_limits<Real>::min()) * WideReal(points.size()) *
                          WideReal(*std::ranges::max_element(in));
    ASSERT_LE(fabs(WideReal(out[i]) - sum), 1e-10 * sum + lost) << i;
  }
}

class LaplaceFilterSums : public ::testing::Test {
 protected:
  // Ascending points with steps of very different lengths, some of them 0.
  Points random_points(std::size_t count, double least_log, double most_log) {
    Points points;
    double point = 0;
    std::uniform_real_distribution<double> log_step(least_log, most_log);
    for (std::size_t i = 0; i < count; ++i) {
      points.push_back(point);
      if (random_() % 4 != 0) point += std::exp(log_step(random_));
    }
    return points;
  }

  template <class Real>
  std::vector<Real> random_weights(std::size_t count, double most_log) {
    std::vector<Real> weights;
    std::uniform_real_distribution<double> log_weight(-most_log, most_log);
    for (std::size_t i = 0; i < count; ++i) {
      using std::exp;
      weights.push_back(random_() % 5 == 0 ? Real(0) : exp(Real(log_weight(random_))));
    }
    return weights;
  }

  std::mt19937_64 random_{20'261'121};
};

TEST_F(LaplaceFilterSums, AgreeWithDirectSums) {
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = as_size(1 + random_() % 40);
    const Points points = random_points(count, -3, 2);
    const double shift = static_cast<double>(random_() % 8) / 2;
    expect_direct_sums(points, random_weights<double>(count, 1), 0.5, shift);
    expect_direct_sums(points, random_weights<WideReal>(count, 1), 0.5, shift);
    expect_direct_sums(points, random_weights<PortableWideReal>(count, 1), 0.5, shift);
  }
}

// No sum is computed as a difference, so small sums are accurate beside large ones.
TEST_F(LaplaceFilterSums, HaveASmallRelativeErrorAtAnyMagnitude) {
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = as_size(2 + random_() % 40);
    const Points points = random_points(count, -8, 4);
    for (const double shift : {0.0, 0.3, 20.0, 500.0}) {
      expect_direct_sums(points, random_weights<double>(count, 150), 2, shift);
      expect_direct_sums(points, random_weights<WideReal>(count, 4000), 2, shift);
    }
  }
}

TEST_F(LaplaceFilterSums, CountEqualPointsInTheirOrder) {
  expect_direct_sums<double>({1, 1, 1, 1}, {1, 2, 4, 8}, 1, 0);
  expect_direct_sums<double>({0, 0, 3, 3, 3, 5, 5}, {1, 2, 4, 8, 16, 32, 64}, 1, 0);
  expect_direct_sums<double>({0, 0, 3, 3, 3, 5, 5}, {1, 2, 4, 8, 16, 32, 64}, 1, 3);
}

// A point at exactly the distance of the shift belongs to either side of the kernel's peak.
TEST_F(LaplaceFilterSums, PeakAtTheShift) {
  expect_direct_sums<double>({0, 1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1, 1}, 3, 2);
  expect_direct_sums<double>({0, 1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1, 1}, 3, 2.5);
}

TEST_F(LaplaceFilterSums, AgreeForAShiftBeyondAllPoints) {
  for (int round = 0; round < 50; ++round) {
    const Points points = random_points(30, -3, 2);
    expect_direct_sums(points, random_weights<double>(30, 5), 0.01, 1e4);
    expect_direct_sums(points, random_weights<WideReal>(30, 5), 1, 1e4);
  }
}

TEST_F(LaplaceFilterSums, AreZeroWithoutEarlierPoints) {
  CancelPoll cancel(nullptr);
  const Points points = {5};
  LaplaceFilter<double> filter(points, 1, std::pmr::new_delete_resource());
  std::vector<double> out = {7};
  filter.apply(std::vector<double>{3}, {0, 1}, 0, out, {0, 1}, cancel);
  EXPECT_EQ(out, std::vector<double>{0});
}

// Terms outside their range do not count, even if they are no numbers. Sums outside their range are
// not written.
TEST_F(LaplaceFilterSums, UseOnlyTheGivenRanges) {
  CancelPoll cancel(nullptr);
  for (int round = 0; round < 300; ++round) {
    const Points points = random_points(30, -2, 2);
    LaplaceFilter<double> filter(points, 1, std::pmr::new_delete_resource());
    const IndexRange terms{as_size(random_() % 20), as_size(10 + random_() % 21)};
    const IndexRange sums{as_size(random_() % 20), as_size(10 + random_() % 21)};
    const double shift = static_cast<double>(random_() % 8) / 2;
    std::vector<double> zeroed = random_weights<double>(30, 1);
    for (std::size_t k = 0; k < 30; ++k) {
      if (k < terms.first || k >= terms.end) zeroed[k] = 0;
    }
    std::vector<double> in;
    for (std::size_t k = terms.first; k < terms.end; ++k) in.push_back(zeroed[k]);
    std::vector<double> all(30);
    std::vector<double> out(sums.size());
    filter.apply(zeroed, {0, 30}, shift, all, {0, 30}, cancel);
    filter.apply(in, terms, shift, out, sums, cancel);
    for (std::size_t i = 0; i < out.size(); ++i) {
      ASSERT_NEAR(out[i], all[sums.first + i], 1e-12 * (1 + out[i])) << i;
    }
  }
}

TEST_F(LaplaceFilterSums, AreTheSameWhenComputedAgain) {
  CancelPoll cancel(nullptr);
  const Points points = random_points(50, -2, 2);
  const std::vector<double> in = random_weights<double>(50, 3);
  LaplaceFilter<double> filter(points, 1, std::pmr::new_delete_resource());
  std::vector<double> first(50);
  std::vector<double> between(50);
  std::vector<double> again(50);
  filter.apply(in, {0, 50}, 2, first, {0, 50}, cancel);
  filter.apply(in, {0, 50}, 0.5, between, {0, 50}, cancel);
  filter.apply(in, {0, 50}, 2, again, {0, 50}, cancel);
  EXPECT_EQ(first, again);
}

TEST_F(LaplaceFilterSums, StopWhenCancelled) {
  CancelPoll cancel([] { return true; });
  const Points points = random_points(70'000, -2, 2);
  std::vector<double> out(points.size());
  LaplaceFilter<double> filter(points, 1, std::pmr::new_delete_resource());
  const IndexRange all{0, points.size()};
  EXPECT_THROW(filter.apply(std::vector<double>(points.size(), 1), all, 1, out, all, cancel),
               Cancelled);
}

}  // namespace
}  // namespace dpquantile
