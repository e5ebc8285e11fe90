#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "core/noisy_histogram/noisy_histogram.hpp"
#include "support/case_name.hpp"
#include "support/claim.hpp"
#include "support/context_testing.hpp"
#include "support/privacy_loss.hpp"

// Tries to refute that release_histogram is epsilon-differentially private, or rho-zCDP, for adding
// or removing one record. The check must also refute half the noise.
namespace dpquantile {
namespace {

using test::case_name;
using test::certain_delta;
using test::Claim;
using test::claim_of;
using test::kFalseAlarm;
using test::Sample;
using test::take_sample;
using test::TestContext;

using Counts = std::vector<std::uint64_t>;

struct Neighbours {
  std::string name;
  Counts counts;
  std::size_t added;
  PrivacyParameter privacy;
};

void PrintTo(const Neighbours& neighbours, std::ostream* out) {
  *out << neighbours.name;
}

class HistogramRelease : public ::testing::TestWithParam<Neighbours> {
 protected:
  // The outcome is how far each of three bins is from the smaller dataset's count, within 2.
  Sample sample(const Counts& counts, const PrivacyParameter& spent) {
    constexpr int kDraws = 100'000;
    return take_sample(125, kDraws, [&] {
      const auto released = release_histogram(counts, spent, context_);
      std::size_t outcome = 0;
      for (std::size_t bin = 0; bin < 3; ++bin) {
        const auto exact = static_cast<std::int64_t>(GetParam().counts[bin]);
        const std::int64_t off = std::clamp<std::int64_t>(released[bin] - exact, -2, 2);
        outcome = 5 * outcome + static_cast<std::size_t>(off + 2);
      }
      return outcome;
    });
  }

  double excess_when_spending(const PrivacyParameter& spent) {
    const auto& [name, counts, added, privacy] = GetParam();
    Counts larger = counts;
    ++larger[added];
    const Claim claim = claim_of(privacy);
    return certain_delta(sample(counts, spent), sample(larger, spent), claim.epsilon, kFalseAlarm) -
           claim.delta;
  }

 private:
  TestContext context_;
};

TEST_P(HistogramRelease, KeepsItsGuarantee) {
  EXPECT_LE(excess_when_spending(GetParam().privacy), 0);
}

TEST_P(HistogramRelease, WouldNotKeepItWithHalfTheNoise) {
  PrivacyParameter spent = GetParam().privacy;
  spent.value *= spent.measure == PrivacyMeasure::kPure ? 2 : 4;
  EXPECT_GT(excess_when_spending(spent), 0);
}

const std::vector<Neighbours> kCases = {
    {"Some", {5, 9, 100}, 1, pure(0.5)},
    {"None", {0, 0, 0}, 0, pure(1)},
    {"FirstOfItsBin", {7, 0, 3}, 1, pure(1)},
    {"UnderRho", {5, 9, 100}, 2, zcdp(0.5)},
};

INSTANTIATE_TEST_SUITE_P(All, HistogramRelease, ::testing::ValuesIn(kCases), case_name);

}  // namespace
}  // namespace dpquantile
