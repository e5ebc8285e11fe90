#include "core/base/as_size.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace dpquantile {
namespace {

// On processors of 64 bits every number is a size.
TEST(AsSize, RefusesNumbersThatWouldWrap) {
  constexpr std::uint64_t kMostSize = std::numeric_limits<std::size_t>::max();
  for (const std::uint64_t count : {std::uint64_t{0}, kMostSize, kMostSize / 2 * 4 + 3,
                                    std::numeric_limits<std::uint64_t>::max()}) {
    if (count <= kMostSize) {
      EXPECT_EQ(as_size(count), count);
    } else {
      EXPECT_THROW(as_size(count), std::length_error);
    }
  }
}

}  // namespace
}  // namespace dpquantile
