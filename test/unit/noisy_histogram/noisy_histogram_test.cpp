#include "core/noisy_histogram/noisy_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "support/chi_square.hpp"
#include "support/confidence.hpp"
#include "support/context_testing.hpp"

namespace dpquantile {
namespace {

using test::lower_confidence_bound;
using test::TestContext;

using Counts = std::vector<std::uint64_t>;

TEST(NoisyHistogram, HasACountForEachBinInTheirOrder) {
  TestContext context;
  for (const PrivacyParameter& privacy : {pure(1000), zcdp(1000)}) {
    const auto released = release_histogram(Counts{3, 0, 1'000'000, 7}, privacy, context);
    EXPECT_TRUE(std::ranges::equal(released, std::vector<std::int64_t>{3, 0, 1'000'000, 7}));
  }
  EXPECT_TRUE(release_histogram(Counts{}, pure(1), context).empty());
}

TEST(NoisyHistogram, IsNeverNegativeAndDoesNotOverflow) {
  TestContext context;
  const auto released = release_histogram(Counts(1000), pure(0.01), context);
  EXPECT_GE(*std::ranges::min_element(released), 0);
  EXPECT_GT(*std::ranges::max_element(released), 50);
  const std::uint64_t most = std::uint64_t{1} << 62;
  EXPECT_GT(release_histogram(Counts{most}, pure(1), context)[0], std::int64_t{1} << 61);
}

// A count of 40 keeps its law, as clipping at 0 has a probability below e^-40.
TEST(NoisyHistogram, HasIndependentDiscreteLaplaceNoiseInEachBin) {
  TestContext context;
  std::vector<double> law;
  for (int y = -4; y <= 4; ++y) law.push_back(std::tanh(0.5) * std::exp(-std::abs(y)));
  const double beyond = std::exp(-5) / (1 + std::exp(-1));
  law.insert(law.begin(), beyond);
  law.push_back(beyond);
  Counts observed(law.size());
  const auto released = release_histogram(Counts(100'000, 40), pure(1), context);
  for (const std::int64_t count : released) {
    ++observed[static_cast<std::size_t>(std::clamp<std::int64_t>(count - 40, -5, 5) + 5)];
  }
  EXPECT_GT(test::chi_square_p_value(observed, law), test::kFalseAlarm);
  double products = 0;
  for (std::size_t i = 1; i < released.size(); ++i) {
    products += static_cast<double>((released[i] - 40) * (released[i - 1] - 40));
  }
  // Independent noises of variance 1.84 give a standard deviation of 1.84 sqrt(100000) = 582.
  EXPECT_LT(std::abs(products), 6.5 * 582);
}

TEST(NoisyHistogram, IsWithinItsError) {
  constexpr double kFalseAlarm = 1e-9;
  TestContext context;
  for (const PrivacyParameter& privacy : {pure(0.1), pure(1), zcdp(0.05)}) {
    for (const std::uint64_t exact : {0U, 1000U}) {
      constexpr std::size_t kBins = 20;
      constexpr std::uint64_t kReleases = 2000;
      std::uint64_t missed = 0;
      for (std::uint64_t i = 0; i < kReleases; ++i) {
        for (const std::int64_t count : release_histogram(Counts(kBins, exact), privacy, context)) {
          const auto off =
              static_cast<std::uint64_t>(std::abs(count - static_cast<std::int64_t>(exact)));
          missed += off > histogram_error(privacy, 0.95);
        }
      }
      EXPECT_LE(lower_confidence_bound(missed, kReleases * kBins, kFalseAlarm), 0.05);
    }
  }
  EXPECT_EQ(histogram_error(pure(1), 0.95), 3);
}

TEST(NoisyHistogram, RefusesAGuaranteeOutOfRangeAndStopsWhenCancelled) {
  TestContext context;
  EXPECT_THROW(release_histogram(Counts{1}, pure(0), context), ParameterError);
  EXPECT_THROW(histogram_error(zcdp(NAN), 0.95), ParameterError);
  EXPECT_THROW(histogram_error(pure(1), 1), ParameterError);
  CsprngSource source;
  TestContext cancelled(source, [] { return true; });
  EXPECT_THROW(release_histogram(Counts(200'000), pure(1), cancelled), Cancelled);
}

}  // namespace
}  // namespace dpquantile
