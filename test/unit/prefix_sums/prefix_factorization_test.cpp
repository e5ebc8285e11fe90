#include "core/prefix_sums/prefix_factorization.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

#include "core/base/int128.hpp"
#include "support/context_testing.hpp"
#include "support/prefix_factorization_testing.hpp"

namespace dpquantile {
namespace {

using test::columns_of;
using test::heap;

using Counts = std::vector<std::uint64_t>;

constexpr std::uint32_t kSizes[] = {1, 2, 3, 4, 5, 8, 11, 12, 13, 31, 64, 100, 257};

Counts skewed_counts(std::uint32_t bins) {
  Counts counts(bins);
  for (std::uint32_t j = 0; j < bins; ++j) counts[j] = j % 3 == 1 ? 0 : 1'000'000 / (j + 1);
  return counts;
}

// --- The matrix ----------------------------------------------------------------------------------

TEST(PrefixFactorization, MeasuresByALowerTriangularMatrixOfPositiveIntegers) {
  for (const std::uint32_t bins : kSizes) {
    const auto columns = columns_of(PrefixFactorization(bins, heap()));
    for (std::uint32_t j = 0; j < bins; ++j) {
      for (std::uint32_t i = 0; i < bins; ++i) {
        EXPECT_EQ(columns[j][i] > 0, i >= j) << i << " " << j;
        EXPECT_GE(columns[j][i], 0);
      }
    }
  }
}

// The norm of each column is an integer sum, so nothing is rounded here.
TEST(PrefixFactorization, HasNoColumnAboveItsSensitivityAndOneThatReachesIt) {
  for (const std::uint32_t bins : kSizes) {
    const PrefixFactorization factorization(bins, heap());
    const auto sensitivity = static_cast<std::int64_t>(factorization.sensitivity());
    std::int64_t largest = 0;
    for (const auto& column : columns_of(factorization)) {
      std::int64_t norm = 0;
      for (const std::int64_t value : column) norm += value * value;
      EXPECT_LE(norm, sensitivity * sensitivity);
      EXPECT_GE(static_cast<double>(norm), 0.98 * std::pow(sensitivity, 2));
      largest = std::max(largest, norm);
    }
    EXPECT_EQ(largest, sensitivity * sensitivity);
  }
}

// A record that is replaced changes what is measured by the difference of two columns.
TEST(PrefixFactorization, HasNoTwoColumnsFartherApartThanRightAngles) {
  for (const std::uint32_t bins : kSizes) {
    const PrefixFactorization factorization(bins, heap());
    const auto sensitivity = static_cast<std::int64_t>(factorization.sensitivity());
    const auto columns = columns_of(factorization);
    for (const auto& a : columns) {
      for (const auto& b : columns) {
        std::int64_t square = 0;
        for (std::uint32_t i = 0; i < bins; ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
        EXPECT_LE(square, 2 * sensitivity * sensitivity);
      }
    }
  }
}

// The same for many bins, column by column from the terms of the filter.
TEST(PrefixFactorization, HasNoColumnAboveItsSensitivityForManyBins) {
  for (const std::uint32_t bins : {1024U, 4095U, 65'537U, PrefixFactorization::kMaxBins}) {
    const PrefixFactorization factorization(bins, heap());
    const uint128_t most = uint128_t{factorization.sensitivity()} * factorization.sensitivity();
    ASSERT_LE(factorization.sensitivity(), std::uint64_t{1} << 23);
    const auto steps = test::steps_of(factorization);
    EXPECT_TRUE(std::ranges::is_sorted(steps, std::greater()));
    EXPECT_GE(steps.back(), 8);
    uint128_t norm = 0;
    for (std::uint32_t j = bins; j-- > 0;) {
      norm += static_cast<std::uint64_t>(steps[bins - 1 - j] * steps[bins - 1 - j]);
      const std::uint64_t weight = factorization.weights()[j];
      ASSERT_TRUE(weight * weight * norm <= most) << j;
    }
  }
}

TEST(PrefixFactorization, HasAFilterOfFewTerms) {
  EXPECT_LE(PrefixFactorization(1024, heap()).filter().lags().size(), 40U);
  EXPECT_LE(PrefixFactorization(1U << 20, heap()).filter().lags().size(), 80U);
}

TEST(PrefixFactorization, MeasuresTheProductOfItsMatrixAndTheCounts) {
  for (const std::uint32_t bins : kSizes) {
    const PrefixFactorization factorization(bins, heap());
    const auto columns = columns_of(factorization);
    const Counts counts = skewed_counts(bins);
    const auto measured = factorization.measure(counts, heap());
    for (std::uint32_t i = 0; i < bins; ++i) {
      std::int64_t sum = 0;
      for (std::uint32_t j = 0; j <= i; ++j) {
        sum += columns[j][i] * static_cast<std::int64_t>(counts[j]);
      }
      ASSERT_EQ(measured[i], static_cast<std::uint64_t>(sum)) << bins << " " << i;
    }
  }
}

TEST(PrefixFactorization, DoesNotWrapForTheMostRecords) {
  for (const std::uint32_t bins : {1U, 1024U, PrefixFactorization::kMaxBins}) {
    const PrefixFactorization factorization(bins, heap());
    for (const std::uint32_t j : {0U, bins / 2, bins - 1}) {
      Counts counts(bins);
      counts[j] = PrefixFactorization::kMostRecords;
      for (const std::uint64_t value : factorization.measure(counts, heap())) {
        ASSERT_LE(value, std::uint64_t{1} << 62);
      }
    }
  }
}

// --- The estimates -------------------------------------------------------------------------------

// Without noise an estimate is off by the rounding of doubles only.
TEST(PrefixFactorization, EstimatesThePrefixSumsOfWhatItMeasures) {
  for (const std::uint32_t bins : {1U, 2U, 7U, 100U, 1024U, PrefixFactorization::kMaxBins}) {
    const PrefixFactorization factorization(bins, heap());
    const Counts counts = skewed_counts(bins);
    std::vector<double> values;
    for (const std::uint64_t value : factorization.measure(counts, heap())) {
      values.push_back(static_cast<double>(value));
    }
    factorization.estimate(values);
    std::uint64_t sum = 0;
    for (std::uint32_t k = 0; k < bins; ++k) {
      sum += counts[k];
      ASSERT_NEAR(values[k], static_cast<double>(sum), 1e-6) << bins << " " << k;
    }
  }
}

TEST(PrefixFactorization, EstimatesWithItsWeights) {
  for (const std::uint32_t bins : {1U, 2U, 9U, 100U}) {
    const PrefixFactorization factorization(bins, heap());
    for (std::uint32_t i = 0; i < bins; ++i) {
      std::vector<double> unit(bins);
      unit[i] = 1;
      factorization.estimate(unit);
      for (std::uint32_t k = 0; k < bins; ++k) {
        const auto weights = factorization.estimate_weights(k, heap());
        ASSERT_EQ(weights.size(), k + 1);
        EXPECT_NEAR(i <= k ? weights[i] : 0, unit[k], 1e-15) << k << " " << i;
      }
    }
  }
}

// --- Failure -------------------------------------------------------------------------------------

TEST(PrefixFactorization, RefusesANumberOfBinsOutOfRange) {
  EXPECT_THROW(PrefixFactorization(0, heap()), std::invalid_argument);
  EXPECT_THROW(PrefixFactorization(PrefixFactorization::kMaxBins + 1, heap()),
               std::invalid_argument);
  EXPECT_THROW(PrefixFactorization(10, std::pmr::null_memory_resource()), std::bad_alloc);
}

}  // namespace
}  // namespace dpquantile
