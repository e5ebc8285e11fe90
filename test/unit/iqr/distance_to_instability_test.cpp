#include "core/iqr/distance_to_instability.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "support/case_name.hpp"
#include "support/iqr_reference.hpp"

namespace dpquantile {
namespace {

using test::case_name;
using test::kLargestRecord;
using test::multisets;
using test::Records;
using test::records_apart;
using test::reference_bin;
using test::reference_distance;
using test::reference_iqr;
using test::runs;

const LogGrid kGrid(std::uint64_t{6});
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

std::int64_t distance(const Records& ascending, int discretisation) {
  CancelPoll cancel(nullptr);
  const OrderStatistics order(ascending);
  const IqrBin bin = kGrid.bin_of(order.interquartile_range(), discretisation);
  return static_cast<std::int64_t>(distance_to_instability(bin, order, cancel));
}

// --- Order statistics ----------------------------------------------------------------------------

TEST(OrderStatistics, HaveQuartilesAtTheRanksOfTheDefinition) {
  for (std::size_t n = 2; n < 1000; ++n) {
    const Records records(n);
    const OrderStatistics order(records);
    EXPECT_EQ(order.lower_quartile(), std::ceil(static_cast<double>(n) / 4));
    EXPECT_EQ(order.upper_quartile(), std::ceil(static_cast<double>(3 * n) / 4));
    EXPECT_LT(order.lower_quartile(), order.upper_quartile());
  }
}

TEST(OrderStatistics, HaveNoInterquartileRangeBelowTwoRecords) {
  EXPECT_EQ(OrderStatistics(Records{}).interquartile_range(), 0);
  EXPECT_EQ(OrderStatistics(Records{7}).interquartile_range(), 0);
  EXPECT_EQ(OrderStatistics(Records{}).spread(0, 1), kLargestRecord);
}

TEST(OrderStatistics, EndInTheLargestDoubles) {
  const Records records = {1, 2, 4};
  const OrderStatistics order(records);
  EXPECT_EQ(order.at(0), -kLargestRecord);
  EXPECT_EQ(order.at(1), 1);
  EXPECT_EQ(order.at(3), 4);
  EXPECT_EQ(order.at(4), kLargestRecord);
}

TEST(OrderStatistics, HaveFiniteSpreadsThatAreZeroOnlyForEqualRecords) {
  const Records records = {-kLargestRecord, 0, 0, kLeast, 2 * kLeast, kLargestRecord};
  const OrderStatistics order(records);
  EXPECT_EQ(order.spread(1, 6), kLargestRecord);
  EXPECT_EQ(order.spread(0, 7), kLargestRecord);
  EXPECT_EQ(order.spread(2, 3), 0);
  EXPECT_EQ(order.spread(3, 4), kLeast);
  EXPECT_EQ(order.spread(4, 5), kLeast);
  EXPECT_EQ(order.spread(5, 5), 0);
  EXPECT_EQ(order.spread(5, 2), 0);
}

// --- All data sets over a few values -------------------------------------------------------------

// The values that data sets consist of. They include the largest doubles of both signs and a data
// set's own values, so no other replacement does better: a replacement widens the interquartile
// range most at an end, and narrows it most at a record between the quartiles.
struct Universe {
  std::string name;
  Records values;
  std::size_t most_records;
};

void PrintTo(const Universe& universe, std::ostream* out) {
  *out << universe.name;
}

double edge(std::int64_t step) {
  return kGrid.value(step);
}

class ReplacementDistance : public ::testing::TestWithParam<Universe> {};

TEST_P(ReplacementDistance, IsTheDistanceToTheNearestDataSetInAnotherBin) {
  for (std::size_t n = 2; n <= GetParam().most_records; ++n) {
    const std::vector<Records> all = multisets(GetParam().values, n);
    for (int discretisation = 0; discretisation < kDiscretisations; ++discretisation) {
      std::vector<std::optional<std::int64_t>> bins;
      for (const Records& data : all) {
        bins.push_back(reference_bin(reference_iqr(data), kGrid, discretisation));
      }
      for (std::size_t i = 0; i < all.size(); ++i) {
        std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
        for (std::size_t j = 0; j < all.size(); ++j) {
          if (bins[i] != bins[j]) nearest = std::min(nearest, records_apart(all[i], all[j]));
        }
        ASSERT_EQ(distance(all[i], discretisation), nearest) << ::testing::PrintToString(all[i]);
        ASSERT_EQ(reference_distance(all[i], kGrid, discretisation), nearest);
      }
    }
  }
}

// The proof of privacy needs two properties of neighbours: the distance has sensitivity 1, and from
// a distance of 2 on both are in the same bin, so that their steps are less than a unit apart.
void expect_guarded(const Records& data, const Records& neighbour, int discretisation) {
  const std::int64_t here = distance(data, discretisation);
  const std::int64_t there = distance(neighbour, discretisation);
  ASSERT_GE(here, 1);
  ASSERT_LE(std::abs(here - there), 1)
      << ::testing::PrintToString(data) << ::testing::PrintToString(neighbour);
  if (std::max(here, there) == 1) return;
  const double one = OrderStatistics(data).interquartile_range();
  const double other = OrderStatistics(neighbour).interquartile_range();
  ASSERT_EQ(one == 0, other == 0);
  if (one == 0) return;
  ASSERT_LT(std::abs(kGrid.step_of(one) - kGrid.step_of(other)), LogGrid::kStepsPerUnit);
}

Records with_replaced(Records data, std::size_t replaced, double value) {
  data.erase(data.begin() + static_cast<std::ptrdiff_t>(replaced));
  return test::with(std::move(data), value);
}

// All data sets of 0 .. most_records records beside all that have one record more (or, the other
// way round, one less) or one replaced.
TEST_P(ReplacementDistance, HasSensitivityOneAndGuardsTheRelease) {
  const Records& values = GetParam().values;
  for (std::size_t n = 0; n <= GetParam().most_records; ++n) {
    for (const Records& data : multisets(values, n)) {
      for (const double value : values) {
        for (int discretisation = 0; discretisation < kDiscretisations; ++discretisation) {
          expect_guarded(data, test::with(data, value), discretisation);
          for (std::size_t i = 0; i < n; ++i) {
            if (i > 0 && data[i] == data[i - 1]) continue;
            expect_guarded(data, with_replaced(data, i, value), discretisation);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Universes, ReplacementDistance,
    ::testing::Values(
        Universe{"Positives", {-kLargestRecord, 0, 1, 1.3, 2, kLargestRecord}, 8},
        Universe{"BothSigns", {-kLargestRecord, -3, -1, -0.5, 2, 10, kLargestRecord}, 6},
        Universe{"Ties", {-kLargestRecord, 5, 5.1, kLargestRecord}, 12},
        Universe{"OneValue", {-kLargestRecord, 7, kLargestRecord}, 17},
        Universe{"CloseValues", {-kLargestRecord, 10, 10.9, 12, 13.7, 14, kLargestRecord}, 6},
        Universe{"Tiny", {-kLargestRecord, 0, kLeast, 1e-310, 1e-307, 2e-307, kLargestRecord}, 6},
        Universe{"Huge", {-kLargestRecord, -1e308, 0, 9e307, 1.1e308, kLargestRecord}, 7},
        Universe{"EdgesOfWholeBins",
                 {-kLargestRecord, 0, edge(0), std::nextafter(edge(1024), 0), edge(1024),
                  kLargestRecord},
                 6},
        Universe{"EdgesOfHalfBins",
                 {-kLargestRecord, 0, std::nextafter(edge(-512), 0), edge(-512),
                  std::nextafter(edge(512), 0), edge(512), kLargestRecord},
                 6},
        Universe{"NegativeEdges",
                 {-kLargestRecord, -edge(1024), -edge(512), -std::nextafter(edge(512), 0), 0,
                  kLargestRecord},
                 6}),
    case_name);

// --- Larger data ---------------------------------------------------------------------------------

Records random_records(std::mt19937_64& random, std::size_t n, double granularity) {
  std::normal_distribution<double> normal(0, 3);
  Records records(n);
  for (double& record : records) record = granularity * std::round(normal(random) / granularity);
  std::sort(records.begin(), records.end());
  return records;
}

TEST(DistanceToInstability, AgreesWithTheReferenceOnRandomData) {
  std::mt19937_64 random(5);
  for (std::size_t n = 2; n < 60; ++n) {
    for (const double granularity : {1e-6, 0.5, 4.0}) {
      const Records records = random_records(random, n, granularity);
      for (int discretisation = 0; discretisation < kDiscretisations; ++discretisation) {
        ASSERT_EQ(distance(records, discretisation),
                  reference_distance(records, kGrid, discretisation))
            << n << " " << granularity;
      }
    }
  }
}

// Quartiles lie deep inside data of these sizes.
TEST(DistanceToInstability, HasSensitivityOneAndGuardsTheReleaseOnRandomData) {
  std::mt19937_64 random(6);
  for (std::size_t n = 0; n < 60; ++n) {
    for (const double granularity : {1e-6, 0.5, 4.0}) {
      const Records records = random_records(random, n, granularity);
      for (int i = 0; i < 10; ++i) {
        const double value = random_records(random, 1, granularity)[0];
        const int discretisation = static_cast<int>(random() % kDiscretisations);
        expect_guarded(records, test::with(records, value), discretisation);
        if (n == 0) continue;
        expect_guarded(records, with_replaced(records, as_size(random() % n), value),
                       discretisation);
      }
    }
  }
}

TEST(DistanceToInstability, IsOneForAtMostTwoEqualRecords) {
  for (const double value : {-kLargestRecord, -1.0, 0.0, kLeast, kLargestRecord}) {
    for (int discretisation = 0; discretisation < kDiscretisations; ++discretisation) {
      EXPECT_EQ(distance({}, discretisation), 1);
      EXPECT_EQ(distance({value}, discretisation), 1);
      EXPECT_EQ(distance({value, value}, discretisation), 1);
    }
  }
}

// L = 25, H = 75.
TEST(DistanceToInstability, CountsRecordsAndNotValues) {
  EXPECT_EQ(distance(runs({{7, 100}}), 0), 25);
  EXPECT_EQ(distance(runs({{0, 50}, {10, 50}}), 0), 25);
  EXPECT_EQ(distance(runs({{0, 60}, {10, 40}}), 0), 15);
  EXPECT_EQ(distance(runs({{0, 74}, {10, 26}}), 0), 1);
  EXPECT_EQ(distance(runs({{0, 75}, {10, 25}}), 0), 1);
  EXPECT_EQ(distance(runs({{0, 76}, {10, 24}}), 0), 2);
  EXPECT_EQ(distance(runs({{-9, 10}, {0, 80}, {10, 10}}), 0), 15);
}

TEST(DistanceToInstability, StopsWhenCancelled) {
  CancelPoll cancel([] { return true; });
  const Records records(1'000'000);
  const OrderStatistics order(records);
  const IqrBin bin = LogGrid(records.size()).bin_of(0, 0);
  EXPECT_THROW(distance_to_instability(bin, order, cancel), Cancelled);
}

}  // namespace
}  // namespace dpquantile
