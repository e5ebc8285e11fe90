#include "core/tree/isotonic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory_resource>
#include <random>
#include <vector>

#include "support/min_max.hpp"

namespace dpquantile {
namespace {

using test::min_max;

using Values = std::vector<double>;

Values monotone(Values values) {
  make_monotone(values, std::pmr::new_delete_resource());
  return values;
}

void expect_min_max(const Values& values) {
  const Values expected = min_max(values);
  const Values actual = monotone(values);
  double scale = 1;
  for (const double value : values) scale = std::max(scale, std::abs(value));
  ASSERT_TRUE(std::ranges::is_sorted(actual));
  for (std::size_t k = 0; k < values.size(); ++k) {
    ASSERT_NEAR(actual[k], expected[k], 1e-12 * scale) << k;
  }
}

class RandomValues {
 public:
  Values uniform(std::size_t size) {
    return made(size, [&](std::size_t) { return part(); });
  }
  Values walk(std::size_t size) {
    double at = 0;
    return made(size, [&](std::size_t) { return at += part() - 0.4; });
  }
  Values ties(std::size_t size) {
    return made(size, [&](std::size_t) { return std::floor(4 * part()); });
  }
  Values noisy_line(std::size_t size) {
    return made(size, [&](std::size_t i) { return static_cast<double>(i) + 50 * part(); });
  }
  std::size_t size(std::size_t most) { return 1 + random_() % most; }
  double part() { return static_cast<double>(random_() % 1'000'003) / 1'000'003; }

 private:
  template <class Make>
  Values made(std::size_t size, Make make) {
    Values values;
    for (std::size_t i = 0; i < size; ++i) values.push_back(make(i));
    return values;
  }

  std::mt19937 random_{3};
};

TEST(MakeMonotone, AgreesWithTheMinMaxFormulaOnRandomValues) {
  RandomValues random;
  for (int i = 0; i < 500; ++i) {
    const std::size_t size = random.size(40);
    expect_min_max(random.uniform(size));
    expect_min_max(random.walk(size));
    expect_min_max(random.ties(size));
    expect_min_max(random.noisy_line(size));
  }
  expect_min_max(random.walk(1500));
  expect_min_max(random.noisy_line(1500));
}

TEST(MakeMonotone, AgreesWithTheMinMaxFormulaOnAllSmallSequences) {
  for (int code = 0; code < 4 * 4 * 4 * 4 * 4 * 4; ++code) {
    Values values;
    for (int digits = code, i = 0; i < 6; ++i, digits /= 4) values.push_back(digits % 4);
    expect_min_max(values);
  }
}

// One value, or every second one, pools all values before it.
TEST(MakeMonotone, AgreesWithTheMinMaxFormulaOnAdversarialSequences) {
  Values falling;
  Values saw;
  Values falls_at_the_end;
  Values growing_falls;
  for (int i = 0; i < 400; ++i) {
    falling.push_back(-i);
    saw.push_back(i % 2 == 0 ? i : -i);
    falls_at_the_end.push_back(i);
    growing_falls.push_back(i % 20 == 19 ? -i * i : i);
  }
  falls_at_the_end.push_back(-1e6);
  for (const Values& values : {falling, saw, falls_at_the_end, growing_falls}) {
    expect_min_max(values);
  }
}

TEST(MakeMonotone, KeepsAMonotoneSequence) {
  const Values values = {-3, -3, 0, 0.1, 0.1, 0.1, 7};
  EXPECT_EQ(monotone(values), values);
  EXPECT_EQ(monotone({5}), Values{5});
  EXPECT_EQ(monotone({}), Values{});
}

TEST(MakeMonotone, PoolsViolatorsToTheirMean) {
  EXPECT_EQ(monotone({2, 1}), (Values{1.5, 1.5}));
  EXPECT_EQ(monotone({1, 3, 2, 4}), (Values{1, 2.5, 2.5, 4}));
  EXPECT_EQ(monotone({3, 3, 0, 10}), (Values{2, 2, 2, 10}));
}

// The last two pools have the mean 1.4. Rounded, the quotient of the last one is the lesser.
TEST(MakeMonotone, IsMonotoneWhereRoundedMeansAreNot) {
  const Values values = {1.3, 1.4, 2.3, 1.8, 0.1};
  EXPECT_TRUE(std::ranges::is_sorted(monotone(values)));
}

TEST(MakeMonotone, PoolsAMillionFallingValues) {
  Values values(1'000'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = -static_cast<double>(i);
  EXPECT_NEAR(monotone(values).front(), -499'999.5, 1e-6);
}

// The band of a CDF relies on this: values within e of a monotone sequence stay within e of it.
TEST(MakeMonotone, NeverMovesFurtherFromAMonotoneSequence) {
  RandomValues random;
  for (int i = 0; i < 2000; ++i) {
    Values truth = random.uniform(random.size(60));
    std::ranges::sort(truth);
    Values noisy = truth;
    double error = 0;
    for (double& value : noisy) {
      const double noise = random.part() * (random.part() < 0.1 ? 3 : 0.3) - 0.2;
      value += noise;
      error = std::max(error, std::abs(noise));
    }
    const Values smooth = monotone(noisy);
    for (std::size_t k = 0; k < truth.size(); ++k) {
      ASSERT_LE(std::abs(smooth[k] - truth[k]), error + 1e-12);
    }
  }
}

}  // namespace
}  // namespace dpquantile
