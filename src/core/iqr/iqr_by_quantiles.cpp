#include "core/iqr/iqr_by_quantiles.hpp"

#include "core/quantiles/quantiles.hpp"

namespace dpquantile {

namespace {

constexpr double kQuartiles[] = {0.25, 0.75};

QuantilesQuery quartiles_query(std::uint64_t cells, double epsilon) {
  return {QuantilesMethod::kAuto, pure(epsilon), cells, kQuartiles};
}

}  // namespace

double rho_of_iqr_by_quantiles(double epsilon) {
  constexpr std::uint64_t kAnyCells = 1;
  return rho_of_quantiles(quartiles_query(kAnyCells, epsilon));
}

double iqr_by_quantiles(const Histogram& data, const ValueGrid& grid, double epsilon,
                        const MechanismContext& context) {
  const auto cells = draw_quantiles(data, quartiles_query(grid.cells, epsilon), context);
  ValueGrid differences = grid;
  differences.upper -= differences.lower;
  differences.lower = 0;
  return differences.value_of(cells[1] - cells[0]);
}

}  // namespace dpquantile
