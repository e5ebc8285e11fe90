#include "core/user_level/window_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/user_level/budget_split.hpp"
#include "core/user_level/window_interval.hpp"
#include "support/interval_law.hpp"

namespace dpquantile {
namespace {

// The z with P[Z < z] = p for a standard normal Z.
double normal_quantile(double p) {
  double low = -10;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double z = (low + high) / 2;
    (std::erfc(-z / std::numbers::sqrt2) / 2 < p ? low : high) = z;
  }
  return low;
}

// Windows of less than this share of the weight so far take time only.
constexpr double kLeastShare = 1e-12;

std::vector<double> normal_means(std::uint64_t count, double middle, double spread) {
  std::vector<double> means;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    means.push_back(std::clamp(middle + spread * normal_quantile(p), 0.0, 1.0));
  }
  return means;
}

// E |shift + noise| by the law of the draw, for these array means.
double error_by_law(const std::vector<double>& means, const WindowPlan& plan, double epsilon,
                    double noise) {
  double weights = 0;
  double errors = 0;
  test::for_each_weighted_window(
      test::means_below_cells(means), plan, epsilon,
      [&](std::uint32_t begin, std::uint32_t end, double weight) {
        weights += weight;
        if (weight < kLeastShare * weights) return;
        const double low = static_cast<double>(begin) / test::kWindowCells;
        const double high = static_cast<double>(end) / test::kWindowCells;
        double shift = 0;
        for (const double mean : means) shift += std::clamp(mean, low, high) - mean;
        shift = std::abs(shift) / static_cast<double>(means.size());
        const double of_noise = noise * (high - low);
        errors += weight * (shift + of_noise * std::exp(-shift / of_noise));
      });
  return errors / weights;
}

// The mean over several places of the middle, which the windows begin at different distances from.
double error_by_laws(const NormalArrays& arrays, const WindowPlan& plan, double epsilon,
                     double noise) {
  double sum = 0;
  constexpr int kPlaces = 4;
  for (int i = 0; i < kPlaces; ++i) {
    const auto count = static_cast<std::uint64_t>(arrays.count);
    sum += error_by_law(normal_means(count, 0.5 + i * 0.0137, arrays.spread), plan, epsilon, noise);
  }
  return sum / kPlaces;
}

TEST(WindowError, IsThatOfTheLawOfTheDraw) {
  struct Case {
    std::uint64_t arrays;
    double spread;
    PrivacyParameter privacy;
  };
  const Case cases[] = {{120, 0.008, pure(2)},    {180, 0.0116, pure(0.5)},
                        {300, 0.19, pure(1)},     {300, 0.033, pure(1)},
                        {70, 0.006, zcdp(0.2)},   {235, 0.0164, zcdp(0.005)},
                        {500, 0.002, zcdp(0.005)}};
  for (const auto& [count, spread, privacy] : cases) {
    const WindowPlan plan =
        plan_windows(count, clipped_target(UserMethod::kQuantile, privacy), privacy);
    ASSERT_GT(plan.parts, 0U);
    const double epsilon = interval_epsilon(privacy, plan.parts);
    const NormalArrays arrays{static_cast<double>(count), spread};
    const double noise =
        expected_noise(share_of(privacy, kBudgetParts - plan.parts)) / arrays.count;
    const double expected = expected_window_error(arrays, plan, epsilon, noise);
    EXPECT_NEAR(expected / error_by_laws(arrays, plan, epsilon, noise), 1, 0.1)
        << count << " arrays, spread " << spread;
  }
}

// Most draws miss the arrays, wherever these are.
TEST(WindowError, CountsAThirdOfTheRangeForAMiss) {
  const WindowPlan plan{16, 2, 10, 1};
  const NormalArrays arrays{40, 0.01};
  constexpr double kEpsilon = 0.4;
  constexpr double kNoise = 0.01;
  constexpr int kPlaces = 16;
  double sum = 0;
  for (int i = 0; i < kPlaces; ++i)
    sum += error_by_law(normal_means(40, (i + 0.5) / kPlaces, 0.01), plan, kEpsilon, kNoise);
  EXPECT_GT(sum / kPlaces, 0.1);
  EXPECT_NEAR(expected_window_error(arrays, plan, kEpsilon, kNoise) / (sum / kPlaces), 1, 0.15);
}

// The whole range leaves out no array mean, however many there are and however far they spread.
TEST(WindowError, IsAtMostThatOfTheWholeRangeForMillionsOfArrays) {
  for (const PrivacyParameter& privacy : {pure(1), pure(100), zcdp(1)}) {
    for (const double spread : {0.05, 0.2, 1.0, 10.0}) {
      const WindowPlan plan =
          plan_windows(10'000'000, clipped_target(UserMethod::kQuantile, privacy), privacy);
      const double epsilon = interval_epsilon(privacy, plan.parts);
      const double error = expected_window_error({1e7, spread}, plan, epsilon, 1e-3);
      EXPECT_GT(error, 1e-4);
      EXPECT_LE(error, 1e-3 * (1 + 1e-9));
    }
  }
}

TEST(WindowError, FallsWithThePreferenceForNarrowWindows) {
  const NormalArrays arrays{500, 0.01};
  const double wide = expected_window_error(arrays, {7, 5, 10, 1}, 1, 1);
  const double narrow = expected_window_error(arrays, {7, 5, 10, 4}, 1, 1);
  EXPECT_GT(wide, 1.5 * narrow);
}

TEST(WindowError, IsAtMostThatOfTheWholeRangeForNarrowArrays) {
  for (const double spread : {1e-6, 0.001, 0.05}) {
    const WindowPlan plan = plan_windows(1000, 5, pure(1));
    const double epsilon = interval_epsilon(pure(1), plan.parts);
    EXPECT_LT(expected_window_error({1000, spread}, plan, epsilon, 0.001), 0.001 / 2);
  }
}

}  // namespace
}  // namespace dpquantile
