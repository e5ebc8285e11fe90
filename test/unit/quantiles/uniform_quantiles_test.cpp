#include "core/quantiles/quantiles_query.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/base/error.hpp"
#include "core/quantiles/quantiles.hpp"

namespace dpquantile {
namespace {

TEST(UniformQuantiles, AreEvenlySpread) {
  EXPECT_EQ(uniform_quantile(0, 1), 0.5);
  EXPECT_EQ(uniform_quantile(0, 3), 0.25);
  EXPECT_EQ(uniform_quantile(2, 3), 0.75);
}

TEST(UniformQuantiles, AreDistinctAndInRangeForAllSizes) {
  for (std::size_t size = 1; size <= kMaxQuantiles; ++size) {
    std::vector<double> quantiles;
    for (std::size_t i = 0; i < size; ++i) quantiles.push_back(uniform_quantile(i, size));
    for (std::size_t i = 1; i < size; ++i) ASSERT_LT(quantiles[i - 1], quantiles[i]) << size;
    ASSERT_NO_THROW(check_quantiles(quantiles));
    ASSERT_LT(quantiles.back(), 1);
  }
}

TEST(CheckSynthesisSize, AcceptsOneToTheMostQuantiles) {
  EXPECT_NO_THROW(check_synthesis_size(1));
  EXPECT_NO_THROW(check_synthesis_size(kMaxQuantiles));
  const std::int64_t wrong[] = {std::numeric_limits<std::int64_t>::min(), -1, 0, kMaxQuantiles + 1,
                                std::numeric_limits<std::int64_t>::max()};
  for (const std::int64_t size : wrong) {
    EXPECT_THROW(check_synthesis_size(size), ParameterError) << size;
  }
}

}  // namespace
}  // namespace dpquantile
