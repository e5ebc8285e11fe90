#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <vector>

#include "core/privacy/mechanism_context.hpp"
#include "core/quantiles/quantiles_query.hpp"

namespace dpquantile {

// The most records that an error can be forecast for.
inline constexpr std::uint64_t kMaxForecastRecords = std::uint64_t{1} << 40;

// How far an answer may be from its quantile q, in records: the number of records between q n and
// the nearer end of the cell answered, 0 if q n falls inside it.
struct QuantileError {
  double mean;   // simulated, for records spread evenly over the grid
  double at_95;  // the same, 95 % quantile
  std::optional<double>
      bound;  // proved: of all quantiles at once with probability 95 %, on any data
};

// The errors of a query on so many records, for each of its quantiles in order. They depend on
// public parameters only; no data are read and nothing need be charged.
//
// The simulated figures come from the mechanism itself, run 3 to 200 times on at most 2^17
// records (more make no difference to errors in records), and vary a little from call to call. The
// bound is Theorem 4b of docs/privacy.md, the counterpart of Theorems 3.3, 3.5, 3.10 and 3.11 of
// Kaplan, Schnapp and Stemmer 2022 on a grid; counts on a tree have none.
//
// Throws ParameterError as check_quantiles_query and unless 1 <= records <= kMaxForecastRecords,
// RandomnessUnavailable, Cancelled, std::bad_alloc.
std::pmr::vector<QuantileError> forecast_quantiles_error(const QuantilesQuery& query,
                                                         std::uint64_t records,
                                                         const MechanismContext& context);

}  // namespace dpquantile
