#pragma once

#include <cstdint>

#include "core/privacy/privacy_parameter.hpp"

// Below which rank errors no mechanism can release quantiles (docs/experiments.md, "The limits").
// The rank error of an answer is the distance between q n and the number of rows below it, where
// rows equal to it count one half.
namespace dpquantile::test {

// What it costs to find a cell in a large grid. `filling` rows, an even number, are in one cell out
// of `cells`, each equally likely, and all other rows lie on either side, so that the quantile is
// the middle one of the `filling` rows.
struct HardQuantileLimit {
  double error;  // the mean absolute rank error over the cells and draws is at least this
  std::uint64_t filling;
};

// The limit for the filling that makes it largest, up to `most_filling`. It holds for each of
// several quantiles with cells and fillings of their own, however they are released. Throws
// std::invalid_argument unless cells >= 2.
HardQuantileLimit hard_quantile_limit(double cells, std::uint64_t most_filling,
                                      const PrivacyParameter& privacy);

// What it costs to count the rows between quantiles, for rows so close together that every rank can
// be answered: a limit for the root of the mean square of the rank errors of the quantiles
// i / (m + 1). It does not depend on the grid.
double spread_quantiles_limit(int m, const PrivacyParameter& privacy);

// The same for one quantile under epsilon, and the mean absolute rank error: a chain_limit() of
// chains with up to `most_added` rows at each end of the grid.
double spread_quantile_limit(double q, int most_added, double epsilon);

}  // namespace dpquantile::test
