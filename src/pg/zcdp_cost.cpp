#include "pg/zcdp_cost.hpp"

#include <algorithm>

#include "core/cdf.hpp"
#include "core/quantiles.hpp"
#include "core/quartile_difference.hpp"
#include "core/zcdp.hpp"
#include "pg/boundary.hpp"

namespace dpquantile {

namespace {

// What is added up may be rounded down, by less than this.
constexpr double kRounding = 1 + 0x1p-44;

double quantiles_cost(const AggregateParameters* parameters) {
  return rho_of_quantiles({static_cast<QuantilesMethod>(parameters->method),
                           pure(parameters->epsilon),
                           parameters->grid.cells,
                           {parameters->quantiles, parameters->quantile_count}}) *
         kRounding;
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

// What is known for the family's own mechanism.
double mechanism_cost(const AggregateParameters* parameters) {
  switch (parameters->family) {
    case Family::kQuantiles:
      return quantiles_cost(parameters);
    case Family::kIqr:
      return rho_of_quartile_difference(parameters->epsilon) * kRounding;
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
  // For a very large epsilon, pure privacy is the better bound of any.
  report(guarded(
      [&] { rho = std::min(mechanism_cost(parameters), rho_of_pure(parameters->epsilon)); }));
  return rho;
}

}  // namespace dpquantile
