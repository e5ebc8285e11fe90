#include "core/exponential/rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/histogram/histogram.hpp"
#include "support/dataset.hpp"
#include "support/quantiles_sampler.hpp"

namespace dpquantile {
namespace {

using test::Dataset;
using test::histogram_of;

constexpr std::uint32_t kHighestCell = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostCells = std::uint64_t{1} << 32;
constexpr ScaledRank kOneRecord = ScaledRank{1} << 24;

const std::vector<Dataset> kDatasets = {
    {10, {}},
    {1, {}},
    {1, {0, 0, 0}},
    {10, {0}},
    {10, {9}},
    {10, {0, 9}},
    {10, {3, 3, 3, 3}},
    {10, {1, 2, 3, 5, 8}},
    {10, {0, 0, 4, 4, 4, 5, 9, 9}},
    {kMostCells, {0, 0, 1U << 31, kHighestCell, kHighestCell}},
};

// A record's mass before p. Each position of its cell has one of its 2^24 units.
ScaledRank mass_before(Position p, std::uint32_t cell) {
  const auto start = static_cast<ScaledRank>(Position{cell} << 24);
  return std::clamp<ScaledRank>(static_cast<ScaledRank>(p) - start, 0, kOneRecord);
}

ScaledRank brute_force_rank(const Dataset& data, Position p) {
  ScaledRank rank = 0;
  for (const std::uint32_t cell : data.records) rank += mass_before(p, cell);
  return rank;
}

// Positions around both ends and in the middle of each occupied cell and of the axis.
std::vector<Position> interesting_positions(const Dataset& data) {
  std::vector<Position> positions;
  std::vector<std::uint64_t> cells = {0, data.cells / 2, data.cells - 1, data.cells};
  for (const std::uint32_t cell : data.records) {
    cells.push_back(cell);
    cells.push_back(std::uint64_t{cell} + 1);
  }
  for (const std::uint64_t cell : cells) {
    const Position start = cell << 24;
    for (const Position offset : {0U, 1U, 2U, 12345U, 1U << 23, (1U << 24) - 1}) {
      positions.push_back(std::min(start + offset, Position{data.cells} << 24));
      positions.push_back(start - std::min<Position>(start, offset));
    }
  }
  return positions;
}

TEST(Positions, AreTwoToThe24PerCell) {
  EXPECT_EQ(cell_start(0), 0U);
  EXPECT_EQ(cell_start(3), 3U << 24);
  EXPECT_EQ(cell_start(kMostCells), Position{1} << 56);
  EXPECT_EQ(cell_at((3U << 24) - 1), 2U);
  EXPECT_EQ(cell_at(3U << 24), 3U);
  EXPECT_EQ(cell_at((Position{1} << 56) - 1), kHighestCell);
}

TEST(SmearedRank, IsExactlyTheMassBeforeAPosition) {
  for (const Dataset& data : kDatasets) {
    const Histogram histogram = histogram_of(data);
    const SmearedRank rank(histogram);
    for (const Position p : interesting_positions(data)) {
      ASSERT_EQ(rank.at(p), brute_force_rank(data, p)) << p;
    }
  }
}

TEST(SmearedRank, IsExactAtRandomPositionsOfRandomData) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::uint32_t> cell(0, 99);
  std::uniform_int_distribution<Position> position(0, cell_start(100));
  Dataset data{100, {}};
  for (int i = 0; i < 150; ++i) data.records.push_back(cell(random));
  const Histogram histogram = histogram_of(data);
  const SmearedRank rank(histogram);
  for (int i = 0; i < 10'000; ++i) {
    const Position p = position(random);
    ASSERT_EQ(rank.at(p), brute_force_rank(data, p)) << p;
  }
}

TEST(SmearedRank, RunsFromZeroToTheNumberOfRecords) {
  for (const Dataset& data : kDatasets) {
    const Histogram histogram = histogram_of(data);
    const SmearedRank rank(histogram);
    EXPECT_EQ(rank.at(0), 0);
    EXPECT_EQ(rank.at(cell_start(data.cells)),
              static_cast<ScaledRank>(data.records.size()) * kOneRecord);
  }
}

TEST(SmearedRank, GivesTheRankAndTheSlopeOfEveryRun) {
  for (const Dataset& data : kDatasets) {
    const Histogram histogram = histogram_of(data);
    const SmearedRank rank(histogram);
    for (std::size_t run = 0; run < histogram.runs(); ++run) {
      const Position start = cell_start(histogram.cell(run));
      EXPECT_EQ(rank.before(run), brute_force_rank(data, start));
      EXPECT_EQ(rank.slope(run), brute_force_rank(data, start + 1) - brute_force_rank(data, start));
    }
    EXPECT_EQ(rank.before(histogram.runs()),
              static_cast<ScaledRank>(data.records.size()) * kOneRecord);
  }
}

// Ranks at and beside the ends of runs, also below 0 and above all records.
std::vector<ScaledRank> interesting_ranks(const Dataset& data) {
  std::vector<ScaledRank> ranks;
  for (ScaledRank whole = -1; whole <= static_cast<ScaledRank>(data.records.size()) + 1; ++whole) {
    for (const ScaledRank part : {-1, 0, 1, 1 << 23}) ranks.push_back(whole * kOneRecord + part);
  }
  return ranks;
}

TEST(SmearedRank, FindsTheFirstRunThatEndsAtARankOrAbove) {
  for (const Dataset& data : kDatasets) {
    const Histogram histogram = histogram_of(data);
    const SmearedRank rank(histogram);
    for (const ScaledRank wanted : interesting_ranks(data)) {
      std::size_t run = 0;
      while (run < histogram.runs() &&
             brute_force_rank(data, cell_start(histogram.cell(run) + std::uint64_t{1})) < wanted) {
        ++run;
      }
      EXPECT_EQ(rank.first_run_reaching(wanted), run) << wanted;
    }
  }
}

TEST(SmearedRank, FindsTheFirstRunThatStartsBeyondARank) {
  for (const Dataset& data : kDatasets) {
    const Histogram histogram = histogram_of(data);
    const SmearedRank rank(histogram);
    for (const ScaledRank wanted : interesting_ranks(data)) {
      std::size_t run = 0;
      while (run < histogram.runs() &&
             brute_force_rank(data, cell_start(histogram.cell(run))) <= wanted) {
        ++run;
      }
      EXPECT_EQ(rank.first_run_beyond(wanted), run) << wanted;
    }
  }
}

TEST(SmearedRank, FindsTheLastPositionWithinARank) {
  for (const Dataset& data : kDatasets) {
    const Histogram histogram = histogram_of(data);
    const SmearedRank rank(histogram);
    const auto all = static_cast<ScaledRank>(data.records.size()) * kOneRecord;
    for (const ScaledRank limit : interesting_ranks(data)) {
      if (limit < 0) continue;
      const Position last = rank.last_within(limit);
      if (limit >= all) {
        EXPECT_EQ(last, std::numeric_limits<Position>::max());
      } else {
        EXPECT_LE(rank.at(last), limit);
        EXPECT_GT(rank.at(last + 1), limit);
      }
    }
  }
}

TEST(SmearedRank, FindsTheFirstPositionThatReachesARank) {
  for (const Dataset& data : kDatasets) {
    const Histogram histogram = histogram_of(data);
    const SmearedRank rank(histogram);
    const auto all = static_cast<ScaledRank>(data.records.size()) * kOneRecord;
    for (const ScaledRank limit : interesting_ranks(data)) {
      if (limit > all) continue;
      const Position first = rank.first_reaching(limit);
      EXPECT_GE(rank.at(first), limit);
      if (first > 0) {
        EXPECT_LT(rank.at(first - 1), limit);
      }
    }
  }
}

// The largest step of R from a position of begin .. end - 1 to the next, in records. Steps are even
// inside each cell.
double largest_step(const SmearedRank& rank, Position begin, Position end) {
  ScaledRank largest = 0;
  for (Position p = begin; p < end; p = cell_start(cell_at(p) + 1)) {
    largest = std::max(largest, rank.at(p + 1) - rank.at(p));
  }
  return in_records(largest);
}

// threat 119: the records inside an interval do not bound those at a position of a cell of which it
// holds only a few positions.
TEST(SmearedRank, BoundsTheRecordsAtAPosition) {
  for (const Dataset& data : kDatasets) {
    if (data.cells > 10) continue;
    const Histogram histogram = histogram_of(data);
    const SmearedRank rank(histogram);
    const std::vector<Position> positions = interesting_positions(data);
    for (const Position begin : positions) {
      for (const Position end : positions) {
        if (begin >= end) continue;
        EXPECT_GE(rank.most_at_position(begin, end), largest_step(rank, begin, end));
      }
    }
  }
}

TEST(SmearedRank, TellsTheRecordsAtAPositionOfACellAtAnEnd) {
  const Histogram histogram = histogram_of({10, {3, 3, 3, 3, 8, 8}});
  const SmearedRank rank(histogram);
  const double position = in_records(1);
  const Position end = cell_start(10);
  EXPECT_EQ(rank.most_at_position(0, end), 6 * position);
  EXPECT_EQ(rank.most_at_position(cell_start(4) - 1, end), 4 * position);
  EXPECT_EQ(rank.most_at_position(0, cell_start(3) + 2), 4 * position);
  EXPECT_EQ(rank.most_at_position(cell_start(4), end), 2 * position);
  EXPECT_EQ(rank.most_at_position(cell_start(4), cell_start(8)), 0);
  EXPECT_EQ(rank.most_at_position(cell_start(9), end), 0);
}

}  // namespace
}  // namespace dpquantile
