#include "pg/zcdp_cost.hpp"

#include <algorithm>
#include <vector>

#include "core/cdf.hpp"
#include "core/quantiles.hpp"
#include "core/zcdp.hpp"
#include "pg/boundary.hpp"

namespace dpquantile {

namespace {

// What the levels add up to may be rounded down, by less than this.
constexpr double kRounding = 1 + 0x1p-44;

constexpr std::size_t kQuartiles = 2;

// Theorem Z5: every level of the recursion is (epsilon / depth)-bounded-range, and so that much
// private as well.
double quantiles_cost(std::size_t distinct_quantiles, double epsilon) {
  const unsigned depth = recursion_depth(distinct_quantiles);
  const double level = epsilon / depth;
  return depth * std::min(rho_of_bounded_range(level), rho_of_pure(level)) * kRounding;
}

std::size_t count_distinct(const AggregateParameters* parameters) {
  std::vector<double> quantiles(parameters->quantiles,
                                parameters->quantiles + parameters->quantile_count);
  std::sort(quantiles.begin(), quantiles.end());
  const auto end = std::unique(quantiles.begin(), quantiles.end());
  return static_cast<std::size_t>(end - quantiles.begin());
}

// Every level of the tree is private for its part of epsilon. Choosing the tree takes as long as a
// charge, so the last one is kept for queries that run again.
double cdf_cost(const AggregateParameters* parameters) {
  static CdfLaw law{};
  const auto method = static_cast<CdfMethod>(parameters->method);
  if (law.method != method || law.bins != parameters->bins || law.epsilon != parameters->epsilon) {
    law = choose_cdf_law(method, parameters->bins, parameters->epsilon);
  }
  double rho = 0;
  for (const double epsilon : law.level_epsilon()) rho += rho_of_pure(epsilon);
  return rho * kRounding;
}

double cost(const AggregateParameters* parameters) {
  switch (parameters->family) {
    case Family::kQuantiles:
      return quantiles_cost(count_distinct(parameters), parameters->epsilon);
    case Family::kIqr:
      return quantiles_cost(kQuartiles, parameters->epsilon);
    case Family::kCdf:
      return cdf_cost(parameters);
    default:
      return rho_of_pure(parameters->epsilon);
  }
}

}  // namespace

std::optional<double> zcdp_cost(const AggregateParameters* parameters) {
  if (parameters->delta > 0) return std::nullopt;
  double rho = 0;
  report(guarded([&] { rho = cost(parameters); }));
  return rho;
}

}  // namespace dpquantile
