#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "support/dataset.hpp"

namespace dpquantile::test {

// Every second record is in one cell, the others are anywhere. The records of a smaller data set
// are the first of a larger one.
inline Dataset half_tied(std::size_t records) {
  Dataset data{std::uint64_t{1} << 20, {}};
  std::mt19937 random(1);
  for (std::size_t i = 0; i < records; ++i) {
    data.records.push_back(i % 2 == 1 ? 500'000 : random() % (1U << 20));
  }
  return data;
}

}  // namespace dpquantile::test
