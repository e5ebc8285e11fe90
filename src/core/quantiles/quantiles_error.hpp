#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <vector>

#include "core/base/workspace.hpp"
#include "core/quantiles/quantiles_query.hpp"

namespace dpquantile {

// The largest number of records for which an error can be forecast.
inline constexpr std::uint64_t kMaxForecastRecords = std::uint64_t{1} << 40;

// The rank error of an answer for quantile q on n records: the number of records between q n and
// the nearer end of the released cell, or 0 if q n falls inside the cell. So it counts records on
// the value grid: those that are rounded to the answer are equal to it.
struct QuantileError {
  double mean;  // simulated, for records spread evenly over the value grid
  // The 95 % quantile of the same simulation, three standard errors higher. It is one record more
  // where fewer records are simulated on a fine grid.
  double at_95;
  // Proved for any data on the value grid: with probability 95 % all quantiles keep to their bounds
  // at once. Empty for quantiles read off a tree.
  std::optional<double> bound;
};

// The errors of a query on `records` records, for each of its quantiles in order. They depend on
// public parameters only: the forecast reads no data and needs no charge.
//
// The simulated figures come from the mechanism itself, run 100 to 1000 times with the same public
// bits. On a grid of more than 2^17 cells they are run on at most 2^17 records, and on a coarser
// one on so many that a cell holds more than the noise (more make no difference to errors in
// records). Where the noise reaches over more, or as far as an end of the simulated records, a
// record stands for several. Where Theorem 4b proves
// that the answer is in the cell of its quantile, they are 0. For a quantile near the end of a cell
// of more records than are simulated they may be too large, by as much as the noise reaches over.
// The bound is Theorem 4b of docs/privacy.md, the counterpart on a value grid of Theorems 3.3, 3.5,
// 3.10 and 3.11 of Kaplan, Schnapp and Stemmer 2022. There is none for quantiles read off a tree.
//
// Throws ParameterError as check_quantiles_query does, and unless
// 1 <= records <= kMaxForecastRecords. Throws Cancelled, std::bad_alloc.
std::pmr::vector<QuantileError> forecast_quantiles_error(const QuantilesQuery& query,
                                                         std::uint64_t records,
                                                         const Workspace& work);

}  // namespace dpquantile
