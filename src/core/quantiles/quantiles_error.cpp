#include "core/quantiles/quantiles_error.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/as_size.hpp"
#include "core/base/error.hpp"
#include "core/exponential/rank.hpp"
#include "core/quantiles/quantiles.hpp"
#include "core/quantiles/quantiles_error_bound.hpp"

namespace dpquantile {

namespace {

constexpr double kConfidence = 0.95;
constexpr std::uint64_t kMostSimulatedRecords = std::uint64_t{1} << 17;

std::size_t simulated_releases(QuantilesMethod method, std::size_t quantiles) {
  switch (method) {
    case QuantilesMethod::kJoint:
      if (quantiles <= 16) return 100;
      return quantiles <= 32 ? 10 : 3;
    case QuantilesMethod::kAuto:
      return quantiles <= 64 ? 100 : 20;
    case QuantilesMethod::kTree:
      return 20;
    default:
      return 200;
  }
}

Histogram even_records(std::uint64_t records, std::uint64_t cells, const Workspace& work) {
  std::pmr::vector<std::uint32_t> record_cells(as_size(records), work.memory);
  const double spacing = static_cast<double>(cells) / static_cast<double>(records);
  for (std::size_t i = 0; i < record_cells.size(); ++i) {
    const double position = (static_cast<double>(i) + 0.5) * spacing;
    record_cells[i] =
        static_cast<std::uint32_t>(std::min<double>(position, static_cast<double>(cells - 1)));
  }
  return Histogram(record_cells, cells, work);
}

// The number of records between the rank of a quantile and the nearer end of a cell.
double rank_error(const SmearedRank& rank, std::uint32_t cell, double quantile) {
  const double target = quantile * static_cast<double>(rank.data().total());
  const auto records = [&](Position position) {
    return std::ldexp(static_cast<double>(rank.at(position)), -int{kPositionBits});
  };
  return std::max({0.0, records(cell_start(cell)) - target,
                   target - records(cell_start(std::uint64_t{cell} + 1))});
}

void check_records(std::uint64_t records) {
  if (records >= 1 && records <= kMaxForecastRecords) return;
  throw ParameterError(
      "the number of rows must be between 1 and 1099511627776, got " + std::to_string(records),
      "Give a public guess of the number of rows.");
}

void simulate(const QuantilesQuery& query, std::uint64_t records, const MechanismContext& context,
              std::span<QuantileError> errors) {
  const Histogram data =
      even_records(std::min(records, kMostSimulatedRecords), query.cells, context);
  const SmearedRank rank(data);
  const std::size_t releases = simulated_releases(resolved_method(query), query.quantiles.size());
  std::pmr::vector<double> drawn(releases * errors.size(), context.memory);
  for (std::size_t release = 0; release < releases; ++release) {
    const auto cells = draw_quantiles(data, query, context);
    for (std::size_t i = 0; i < errors.size(); ++i) {
      drawn[i * releases + release] = rank_error(rank, cells[i], query.quantiles[i]);
    }
  }
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const std::span<double> of_quantile = std::span(drawn).subspan(i * releases, releases);
    std::ranges::sort(of_quantile);
    double sum = 0;
    for (const double error : of_quantile) sum += error;
    errors[i].mean = sum / static_cast<double>(releases);
    errors[i].at_95 = of_quantile[static_cast<std::size_t>(
        std::ceil(kConfidence * static_cast<double>(releases)) - 1)];
  }
}

void set_bounds(const QuantilesQuery& query, std::uint64_t records,
                std::pmr::memory_resource* memory, std::span<QuantileError> errors) {
  const std::pmr::vector<double> distinct = sorted_distinct(query.quantiles, memory);
  const auto bounds =
      rank_error_bounds(query, distinct, static_cast<double>(records), 1 - kConfidence, memory);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const auto found = std::ranges::lower_bound(distinct, query.quantiles[i]);
    errors[i].bound = bounds[static_cast<std::size_t>(found - distinct.begin())];
  }
}

}  // namespace

std::pmr::vector<QuantileError> forecast_quantiles_error(const QuantilesQuery& query,
                                                         std::uint64_t records,
                                                         const MechanismContext& context) {
  check_quantiles_query(query);
  check_records(records);
  std::pmr::vector<QuantileError> errors(query.quantiles.size(), context.memory);
  simulate(query, records, context, errors);
  if (resolved_method(query) != QuantilesMethod::kTree)
    set_bounds(query, records, context.memory, errors);
  return errors;
}

}  // namespace dpquantile
