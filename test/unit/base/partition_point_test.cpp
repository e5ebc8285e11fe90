#include "core/base/partition_point.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace dpquantile {
namespace {

TEST(PartitionPoint, FindsTheFirstThatIsReached) {
  for (std::size_t count = 0; count < 40; ++count) {
    for (std::size_t first = 0; first <= count; ++first) {
      EXPECT_EQ(partition_point(count, [&](std::size_t i) { return i >= first; }), first);
    }
  }
}

TEST(PartitionPoint, FindsTheSameFromAnyIndexBefore) {
  for (std::size_t count = 0; count < 40; ++count) {
    for (std::size_t first = 0; first <= count; ++first) {
      for (std::size_t from = 0; from <= first; ++from) {
        const auto reached = [&](std::size_t i) {
          EXPECT_GE(i, from);
          EXPECT_LT(i, count);
          return i >= first;
        };
        EXPECT_EQ(partition_point_from(from, count, reached), first);
      }
    }
  }
}

}  // namespace
}  // namespace dpquantile
