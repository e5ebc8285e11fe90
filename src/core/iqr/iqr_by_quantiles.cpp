#include "core/iqr/iqr_by_quantiles.hpp"

namespace dpquantile {

namespace {

constexpr double kQuartiles[] = {0.25, 0.75};

QuantilesQuery quartiles_query(std::uint64_t cells, double epsilon) {
  return {QuantilesMethod::kAuto, pure(epsilon), cells, kQuartiles};
}

// The value grid of differences of two values.
ValueGrid differences_of(ValueGrid grid) {
  grid.upper -= grid.lower;
  grid.lower = 0;
  return grid;
}

ReleaseCosts costs_of_quartiles(double epsilon, std::pmr::memory_resource* memory) {
  constexpr std::uint64_t kAnyCells = 1;
  return QuantilesMechanism(quartiles_query(kAnyCells, epsilon), memory).costs();
}

}  // namespace

IqrByQuantiles::IqrByQuantiles(const ValueGrid& grid, double epsilon,
                               std::pmr::memory_resource* memory)
    : Mechanism(costs_of_quartiles(epsilon, memory)),
      quartiles_(quartiles_query(grid.cells, epsilon), memory),
      differences_(differences_of(grid)) {}

double IqrByQuantiles::release(const Histogram& data, const MechanismContext& context) const {
  const auto cells = quartiles_.release(data, context);
  return differences_.value_of(cells[1] - cells[0]);
}

}  // namespace dpquantile
