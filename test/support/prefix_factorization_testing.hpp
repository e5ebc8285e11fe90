#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/prefix_sums/prefix_factorization.hpp"
#include "support/context_testing.hpp"

// The matrix of a PrefixFactorization, for tests.
namespace dpquantile::test {

// What its mechanism measures for one record in each bin: entry [j][i] is value i for a record in
// bin j.
inline std::vector<std::vector<std::int64_t>> columns_of(const PrefixFactorization& factorization) {
  std::vector<std::vector<std::int64_t>> columns;
  for (std::uint32_t j = 0; j < factorization.bins(); ++j) {
    std::vector<std::uint64_t> counts(factorization.bins());
    counts[j] = 1;
    const auto column = factorization.measure(counts, heap());
    columns.emplace_back(column.begin(), column.end());
  }
  return columns;
}

// The steps of a column without its weight: the running sums of the filter's coefficients.
inline std::vector<std::int64_t> steps_of(const PrefixFactorization& factorization) {
  const LagFilter& filter = factorization.filter();
  std::vector<std::int64_t> steps(factorization.bins());
  for (std::size_t p = 0; p < filter.lags().size(); ++p) {
    steps[filter.lags()[p]] += filter.coefficients()[p];
  }
  for (std::size_t i = 1; i < steps.size(); ++i) steps[i] += steps[i - 1];
  return steps;
}

}  // namespace dpquantile::test
