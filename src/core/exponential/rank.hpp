#pragma once

#include <cstdint>

#include "core/base/partition_point.hpp"
#include "core/histogram/histogram.hpp"

namespace dpquantile {

// A position on the smeared axis of a value grid: cell * 2^24 + offset within the cell.
using Position = std::uint64_t;
inline constexpr unsigned kPositionBits = 24;
inline constexpr Position kCellPositions = Position{1} << kPositionBits;

inline constexpr Position cell_start(std::uint64_t cell) {
  return cell << kPositionBits;
}
inline constexpr std::uint64_t cell_at(Position position) {
  return position >> kPositionBits;
}

// A rank in units of 2^-24 records; with at most Histogram::kMaxRecords records it stays below
// 2^56.
using ScaledRank = std::int64_t;
inline double in_records(ScaledRank rank) {
  constexpr double kUnit = 1.0 / static_cast<double>(kCellPositions);
  return static_cast<double>(rank) * kUnit;
}

// Exact ranks on the smeared axis. Every record is spread evenly over the 2^24 positions of its
// cell, and R(p) is the mass before position p (docs/privacy.md, "Grid and smeared ranks"). The
// histogram must outlive this object. n is its number of records.
class SmearedRank {
 public:
  explicit SmearedRank(const Histogram& data) : data_(data) {}

  // R(p), exactly. Non-decreasing, R(0) = 0, R(end) = n.
  ScaledRank at(Position position) const {
    return at(position, data_.first_run_from(cell_at(position)));
  }
  // The same, where `run` is the first run whose cell is at or after the position's.
  ScaledRank at(Position position, std::size_t run) const {
    const ScaledRank whole = before(run);
    if (run == data_.runs() || data_.cell(run) != cell_at(position)) return whole;
    return whole + slope(run) * static_cast<ScaledRank>(position & (kCellPositions - 1));
  }

  // R at the start of the run-th occupied cell.
  ScaledRank before(std::size_t run) const {
    return static_cast<ScaledRank>(data_.before(run) << kPositionBits);
  }

  // By how much R grows at each position of the run-th occupied cell: the cell's number of records.
  ScaledRank slope(std::size_t run) const { return static_cast<ScaledRank>(data_.count(run)); }

  // A bound on the records at one position of begin .. end - 1. A cell inside has at most all
  // records inside. The first and the last cell may reach beyond, and one of their positions may
  // have more than that.
  double most_at_position(Position begin, Position end) const;

  // The last position with R at most `rank`, which must be >= 0. The largest Position if R exceeds
  // `rank` nowhere.
  Position last_within(ScaledRank rank) const;
  // The first position with R at least `rank`, which must be at most n.
  Position first_reaching(ScaledRank rank) const;

  // The first run that ends at a rank of at least `rank`, or runs() if there is none.
  std::size_t first_run_reaching(ScaledRank rank) const;
  // The first run that starts at a rank above `rank`, or runs() if there is none.
  std::size_t first_run_beyond(ScaledRank rank) const;
  // The same, where the answer is `from` or a later run. Takes less time for a near one.
  std::size_t first_run_beyond(ScaledRank rank, std::size_t from) const {
    return partition_point_from(from, data_.runs(),
                                [&](std::size_t run) { return before(run) > rank; });
  }

  const Histogram& data() const { return data_; }

 private:
  const Histogram& data_;
};

}  // namespace dpquantile
