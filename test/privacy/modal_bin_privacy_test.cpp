#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/noisy_histogram/modal_bin.hpp"
#include "support/context_testing.hpp"
#include "support/privacy_loss.hpp"

// Tries to refute that draw_modal_bin is epsilon-differentially private for adding or removing one
// record. The check must also refute twice the epsilon.
namespace dpquantile {
namespace {

using test::certain_delta;
using test::kFalseAlarm;
using test::Sample;
using test::take_sample;
using test::TestContext;

using Counts = std::vector<std::uint64_t>;

Sample sample(const Counts& counts, double epsilon) {
  constexpr int kDraws = 100'000;
  TestContext context;
  return take_sample(counts.size(), kDraws,
                     [&] { return draw_modal_bin(counts, epsilon, context); });
}

// Against the claim of epsilon 1. With two bins of as many records the probability of the one that
// gets no more falls by a factor of exactly e.
double excess_when_spending(double epsilon) {
  return certain_delta(sample({9, 9}, epsilon), sample({9, 10}, epsilon), 1, kFalseAlarm);
}

TEST(ModalBinDraw, KeepsItsGuarantee) {
  EXPECT_LE(excess_when_spending(1), 0);
  EXPECT_LE(certain_delta(sample({9, 10, 8}, 1), sample({9, 10, 9}, 1), 1, kFalseAlarm), 0);
}

TEST(ModalBinDraw, WouldNotKeepItWithTwiceTheEpsilon) {
  EXPECT_GT(excess_when_spending(2), 0);
}

}  // namespace
}  // namespace dpquantile
