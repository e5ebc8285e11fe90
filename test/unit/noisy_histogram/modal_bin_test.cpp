#include "core/noisy_histogram/modal_bin.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/error.hpp"
#include "support/chi_square.hpp"
#include "support/confidence.hpp"
#include "support/context_testing.hpp"
#include "support/random_testing.hpp"

namespace dpquantile {
namespace {

using test::TestContext;

using Counts = std::vector<std::uint64_t>;

TEST(ModalBin, IsTheFullestIfEpsilonIsLarge) {
  TestContext context;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(draw_modal_bin(Counts{3, 9, 0, 8}, 1000, context), 1U);
    EXPECT_EQ(draw_modal_bin(Counts{7}, 1e-6, context), 0U);
  }
}

TEST(ModalBin, TakesCountsThatAreFarApart) {
  TestContext context;
  const std::uint64_t most = std::uint64_t{1} << 62;
  EXPECT_EQ(draw_modal_bin(Counts{0, most, most - 1}, 100, context), 1U);
  EXPECT_EQ(draw_modal_bin(Counts{0, most}, 1e-6, context), 1U);
}

TEST(ModalBin, IsAnyOneWithoutRecords) {
  TestContext context;
  Counts observed(5);
  for (int i = 0; i < 50'000; ++i) ++observed[draw_modal_bin(Counts(5), 1, context)];
  EXPECT_GT(test::chi_square_p_value(observed, std::vector<double>(5, 0.2)), test::kFalseAlarm);
}

// With p = exp(-epsilon (m - n)) of a bin of n records, where the fullest has m, the law is
// p (1 - t p_2) (1 - t p_3) integrated over t from 0 to 1: here of 1, 1/e and 1/e.
TEST(ModalBin, HasTheLawOfPermuteAndFlip) {
  TestContext context;
  const double p = std::exp(-1.0);
  const double fullest = 1 - p + p * p / 3;
  Counts observed(3);
  for (int i = 0; i < 50'000; ++i) ++observed[draw_modal_bin(Counts{6, 8, 6}, 0.5, context)];
  const std::vector<double> law = {(1 - fullest) / 2, fullest, (1 - fullest) / 2};
  EXPECT_GT(test::chi_square_p_value(observed, law), test::kFalseAlarm);
}

// The next bits after it are the same.
TEST(ModalBin, DrawsTheSameWhateverTheCountsAre) {
  const auto next_bits = [](const Counts& counts) {
    test::SeededSource source;
    TestContext context(source);
    for (int i = 0; i < 20; ++i) draw_modal_bin(counts, 0.5, context);
    return context.random.bits64();
  };
  const std::uint64_t bits = next_bits({0, 0, 0});
  EXPECT_EQ(next_bits({3, 9, 8}), bits);
  EXPECT_EQ(next_bits({1000, 0, 5}), bits);
}

TEST(ModalBin, CostsTwiceEpsilonWhereAValueIsReplaced) {
  const ReleaseCosts costs = modal_bin_costs(0.5);
  EXPECT_EQ(costs.own.epsilon, 0.5);
  EXPECT_EQ(costs.replacing.epsilon, 1);
  EXPECT_EQ(costs.own.delta, 0);
  EXPECT_NEAR(*costs.own.rho, 0.5 * std::tanh(0.25), 1e-12);
  EXPECT_NEAR(*costs.replacing.rho, std::tanh(0.5), 1e-12);
}

TEST(ModalBin, RefusesAnEpsilonOutOfRange) {
  TestContext context;
  for (const double epsilon : {0.0, -1.0, 1e-7, 1001.0}) {
    EXPECT_THROW(draw_modal_bin(Counts{1, 2}, epsilon, context), ParameterError) << epsilon;
  }
}

}  // namespace
}  // namespace dpquantile
