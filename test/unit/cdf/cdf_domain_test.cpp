#include "core/cdf/cdf_domain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/tree/level_tree.hpp"
#include "support/parameter_error.hpp"

namespace dpquantile {
namespace {

using test::expect_parameter_error;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr std::uint32_t kMostBins = LevelTree::kMaxBins;

CdfDomain with_bins(double lower, double upper, double bins) {
  return CdfDomain::create(lower, upper, bins, std::nullopt);
}

CdfDomain with_granularity(double lower, double upper, double granularity) {
  return CdfDomain::create(lower, upper, std::nullopt, granularity);
}

std::uint32_t bin_of(const CdfDomain& domain, double x) {
  return domain.grid().cell_of(x);
}

// --- Bins ----------------------------------------------------------------------------------------

TEST(CdfBins, Are1024ByDefault) {
  const CdfDomain domain = CdfDomain::create(-5, 5, std::nullopt, std::nullopt);
  EXPECT_EQ(domain.bins, 1024U);
  EXPECT_EQ(domain.granularity, 0);
  EXPECT_FALSE(domain.discrete());
  EXPECT_EQ(domain.lower, -5);
  EXPECT_EQ(domain.upper, 5);
}

TEST(CdfBins, AreHalfOpenIntervalsOfEqualWidth) {
  const CdfDomain domain = with_bins(0, 10, 5);
  for (std::uint32_t i = 0; i <= 5; ++i) EXPECT_EQ(domain.point(i), 2 * i);
  EXPECT_EQ(bin_of(domain, 0), 0U);
  EXPECT_EQ(bin_of(domain, 1.999999), 0U);
  EXPECT_EQ(bin_of(domain, 2), 1U);
  EXPECT_EQ(bin_of(domain, 5), 2U);
  EXPECT_EQ(bin_of(domain, 7.999999), 3U);
  EXPECT_EQ(bin_of(domain, 8), 4U);
}

TEST(CdfBins, TakeTheUpperBoundAndOutliersIntoTheOuterBins) {
  const CdfDomain domain = with_bins(-1, 1, 4);
  for (const double x : {-1.0, -1.5, -kLargest, -kInfinity}) EXPECT_EQ(bin_of(domain, x), 0U) << x;
  for (const double x : {1.0, 1.5, kLargest, kInfinity}) EXPECT_EQ(bin_of(domain, x), 3U) << x;
}

TEST(CdfBins, MayBeOne) {
  const CdfDomain domain = with_bins(3, 4, 1);
  EXPECT_EQ(domain.point(0), 3);
  EXPECT_EQ(domain.point(1), 4);
  for (const double x : {-kInfinity, 3.0, 3.5, 4.0, kInfinity}) EXPECT_EQ(bin_of(domain, x), 0U);
}

TEST(CdfBins, MayBeTwoToThe20) {
  const CdfDomain domain = with_bins(0, 1, kMostBins);
  EXPECT_EQ(domain.point(kMostBins), 1);
  for (std::uint32_t i = 0; i < kMostBins; i += 997) ASSERT_EQ(bin_of(domain, domain.point(i)), i);
  EXPECT_EQ(bin_of(domain, domain.point(kMostBins - 1)), kMostBins - 1);
}

// Bounds and widths in units of 1 / scale; a quotient of two integers is the double that a decimal
// such as 0.07 reads as.
struct DecimalBins {
  int lower;
  int width;
  int scale;
  int bins;

  double edge(double i) const { return (lower + width * i) / scale; }
};

const std::vector<DecimalBins> kDecimalBins = {
    {0, 1, 10, 10},           {0, 1, 10, 1000},       {0, 1, 100, 100},     {-100, 1, 100, 200},
    {7, 3, 100, 999},         {-1234, 7, 1000, 1024}, {0, 1, 1000, 100000}, {1, 1, 3, 7},
    {-50, 25, 1000, 4000},    {99999, 1, 100, 5000},  {0, 5, 1, 200},       {-40, 1, 10, 850},
    {1, 11, 1'000'000, 1024}, {19000, 365, 1, 100},   {0, 9, 100, 1024},    {5, 1, 10, 3},
};

TEST(CdfBins, BeginAtTheirDecimalEdges) {
  for (const DecimalBins& given : kDecimalBins) {
    const CdfDomain domain = with_bins(given.edge(0), given.edge(given.bins), given.bins);
    for (int i = 0; i < given.bins; ++i) {
      const auto bin = static_cast<std::uint32_t>(i);
      ASSERT_EQ(bin_of(domain, given.edge(i)), bin) << given.edge(i);
      ASSERT_EQ(bin_of(domain, domain.point(bin)), bin) << given.edge(i);
      ASSERT_EQ(bin_of(domain, given.edge(i + 0.999)), bin) << given.edge(i);
    }
  }
}

TEST(CdfBins, HaveExactDecimalEdges) {
  for (const DecimalBins& given : kDecimalBins) {
    const CdfDomain domain = with_bins(given.edge(0), given.edge(given.bins), given.bins);
    const bool decimal = given.scale % 3 != 0;
    for (int i = 0; i <= given.bins; ++i) {
      const double point = domain.point(static_cast<std::uint32_t>(i));
      if (decimal) {
        ASSERT_EQ(point, given.edge(i)) << i;
      } else {
        ASSERT_NEAR(point, given.edge(i), 1e-12) << i;
      }
    }
  }
}

TEST(CdfBins, HaveEdgesFromLowerToUpperInOrder) {
  for (const double upper : {0.1, 1.1, 1e9 / 3, 1e-9 / 7, 1e300}) {
    for (const std::uint32_t bins : {3U, 7U, 1024U, 99999U}) {
      const CdfDomain domain = with_bins(-upper / 3, upper, bins);
      EXPECT_NEAR(domain.point(0), domain.lower, 1e-14 * upper);
      EXPECT_EQ(domain.point(bins), upper);
      for (std::uint32_t i = 0; i < bins; i += 13) ASSERT_LT(domain.point(i), domain.point(i + 1));
    }
  }
}

// Milliseconds of one second in this century, as seconds: the edges are coarse in binary.
TEST(CdfBins, BeginAtTheirEdgesFarFromZero) {
  const CdfDomain domain = with_bins(1.7e9, 1.7e9 + 1, 1000);
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(bin_of(domain, domain.point(i)), i) << i;
}

// --- Values on a grid ----------------------------------------------------------------------------

TEST(CdfGranularity, GivesABinForEveryValue) {
  const CdfDomain domain = with_granularity(0, 120, 1);
  EXPECT_TRUE(domain.discrete());
  EXPECT_EQ(domain.bins, 121U);
  for (std::uint32_t i = 0; i < domain.bins; ++i) {
    EXPECT_EQ(domain.point(i), i);
    EXPECT_EQ(bin_of(domain, i), i);
  }
  EXPECT_EQ(bin_of(domain, 4.4), 4U);
  EXPECT_EQ(bin_of(domain, 4.6), 5U);
  EXPECT_EQ(bin_of(domain, -kInfinity), 0U);
  EXPECT_EQ(bin_of(domain, kInfinity), 120U);
}

TEST(CdfGranularity, GivesExactDecimals) {
  const CdfDomain domain = with_granularity(-1, 1, 0.01);
  EXPECT_EQ(domain.bins, 201U);
  for (int i = 0; i <= 200; ++i) {
    const auto bin = static_cast<std::uint32_t>(i);
    EXPECT_EQ(domain.point(bin), (i - 100) / 100.0);
    EXPECT_EQ(bin_of(domain, (i - 100) / 100.0), bin);
  }
}

TEST(CdfGranularity, NeedNotDivideTheRange) {
  const CdfDomain below = with_granularity(0, 10, 3);
  EXPECT_EQ(below.bins, 4U);
  EXPECT_EQ(below.point(3), 9);
  const CdfDomain above = with_granularity(0, 11, 3);
  EXPECT_EQ(above.bins, 5U);
  EXPECT_EQ(above.point(4), 11);
}

TEST(CdfGranularity, MayGiveOneBinOrTwoToThe20) {
  EXPECT_EQ(with_granularity(5, 6, 2.5).bins, 1U);
  EXPECT_EQ(with_granularity(0, kMostBins - 1, 1).bins, kMostBins);
}

// --- Errors --------------------------------------------------------------------------------------

TEST(CheckBins, AcceptsWholeNumbersFromOneToTwoToThe20) {
  EXPECT_EQ(check_bins(1), 1U);
  EXPECT_EQ(check_bins(1024), 1024U);
  EXPECT_EQ(check_bins(1048576), kMostBins);
  const auto expect_refused = [](double bins, const std::string& printed) {
    const std::string message = "bins must be a whole number from 1 to 1048576, got " + printed;
    const std::string hint =
        "More bins show more detail and cost a little accuracy; 1024 is the default.";
    expect_parameter_error(message, hint, [&] { check_bins(bins); });
    expect_parameter_error(message, hint, [&] { with_bins(0, 1, bins); });
  };
  expect_refused(0, "0");
  expect_refused(-1, "-1");
  expect_refused(0.5, "0.5");
  expect_refused(10.5, "10.5");
  expect_refused(1048577, "1048577");
  expect_refused(1e300, "1e+300");
  expect_refused(kInfinity, "Infinity");
  expect_refused(kNaN, "NaN");
}

TEST(CdfDomain, RefusesBinsTogetherWithGranularity) {
  expect_parameter_error("expected bins or granularity, got both",
                         "Give granularity for values on a grid, such as whole numbers, else bins.",
                         [] { CdfDomain::create(0, 1, 10, 0.1); });
}

TEST(CdfDomain, RefusesMoreThanTwoToThe20Values) {
  expect_parameter_error(
      "a CDF has at most 1048576 values, got (upper - lower) / granularity = 1048576",
      "Choose a larger granularity or narrower bounds.", [] { with_granularity(0, kMostBins, 1); });
  EXPECT_THROW(with_granularity(0, 1, 1e-30), ParameterError);
}

TEST(CdfDomain, RefusesBoundsThatAGridRefuses) {
  for (const auto create : {with_bins, with_granularity}) {
    expect_parameter_error("lower must be less than upper, got 1 and 1",
                           "Choose bounds from what is publicly known about the values.",
                           [&] { create(1, 1, 1); });
    expect_parameter_error("lower must be less than upper, got 2 and 1",
                           "Choose bounds from what is publicly known about the values.",
                           [&] { create(2, 1, 1); });
    expect_parameter_error("lower and upper must be finite numbers, got NaN and 1",
                           "Choose bounds from what is publicly known about the values.",
                           [&] { create(kNaN, 1, 1); });
    expect_parameter_error("lower and upper must be finite numbers, got 0 and Infinity",
                           "Choose bounds from what is publicly known about the values.",
                           [&] { create(0, kInfinity, 1); });
    EXPECT_THROW(create(-kLargest, kLargest, 1), ParameterError);
  }
}

TEST(CdfDomain, RefusesAGranularityThatIsNotPositiveAndFinite) {
  for (const double granularity : {0.0, -1.0, kInfinity, kNaN, 1e-320}) {
    EXPECT_THROW(with_granularity(0, 1, granularity), ParameterError) << granularity;
  }
}

TEST(CdfDomain, RefusesBinsThatAreTooNarrow) {
  EXPECT_THROW(with_bins(0, 1e-305, 1024), ParameterError);
  EXPECT_THROW(with_bins(0, 5e-303, kMostBins), ParameterError);
  EXPECT_NO_THROW(with_bins(0, 1e-300, 1024));
}

}  // namespace
}  // namespace dpquantile
