#include "core/quartile_difference.hpp"

#include "core/quantiles.hpp"

namespace dpquantile {

double quartile_difference(const Histogram& data, const Grid& grid, double epsilon,
                           RandomStream& random, CancelPoll& cancel,
                           std::pmr::memory_resource* memory) {
  constexpr double kQuartiles[] = {0.25, 0.75};
  const QuantilesQuery query{QuantilesMethod::kAuto, pure(epsilon), grid.cells, kQuartiles};
  const auto cells = draw_quantiles(data, query, random, cancel, memory);
  Grid differences = grid;
  differences.upper -= differences.lower;
  differences.lower = 0;
  return differences.value_of(cells[1] - cells[0]);
}

}  // namespace dpquantile
