#include "core/exponential/rank.hpp"

#include <algorithm>
#include <limits>

#include "core/base/partition_point.hpp"

namespace dpquantile {

std::size_t SmearedRank::first_run_reaching(ScaledRank rank) const {
  return partition_point(data_.runs(), [&](std::size_t run) { return before(run + 1) >= rank; });
}

std::size_t SmearedRank::first_run_beyond(ScaledRank rank) const {
  return partition_point(data_.runs(), [&](std::size_t run) { return before(run) > rank; });
}

double SmearedRank::most_at_position(Position begin, Position end) const {
  double in_cell = in_records(at(end) - at(begin));
  for (const Position position : {begin, end - 1}) {
    const std::size_t run = data_.first_run_from(cell_at(position));
    if (run < data_.runs() && data_.cell(run) == cell_at(position)) {
      in_cell = std::max(in_cell, static_cast<double>(data_.count(run)));
    }
  }
  return in_cell / static_cast<double>(kCellPositions);
}

Position SmearedRank::last_within(ScaledRank rank) const {
  const std::size_t beyond = first_run_beyond(rank);
  if (before(beyond) <= rank) return std::numeric_limits<Position>::max();
  const std::size_t run = beyond - 1;
  return cell_start(data_.cell(run)) + static_cast<Position>((rank - before(run)) / slope(run));
}

Position SmearedRank::first_reaching(ScaledRank rank) const {
  if (rank <= 0) return 0;
  const std::size_t run = first_run_reaching(rank);
  const ScaledRank inside = rank - before(run);
  return cell_start(data_.cell(run)) +
         static_cast<Position>((inside + slope(run) - 1) / slope(run));
}

}  // namespace dpquantile
