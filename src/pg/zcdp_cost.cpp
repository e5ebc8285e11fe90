#include "pg/zcdp_cost.hpp"

#include <algorithm>

#include "core/cdf.hpp"
#include "core/quantiles.hpp"
#include "core/quartile_difference.hpp"
#include "core/zcdp.hpp"
#include "pg/boundary.hpp"

namespace dpquantile {

namespace {

// Choosing the tree takes as long as a charge, so the last one is kept for queries that run again.
double cdf_cost(const AggregateParameters* parameters) {
  static CdfLaw law{};
  const auto method = static_cast<CdfMethod>(parameters->method);
  const PrivacyParameter privacy = privacy_of(parameters);
  if (law.method != method || law.bins != parameters->bins || law.privacy != privacy) {
    law = choose_cdf_law(method, parameters->bins, privacy);
  }
  return rho_of_cdf(law);
}

// What is known for the family's own mechanism.
double mechanism_cost(const AggregateParameters* parameters) {
  switch (parameters->family) {
    case Family::kQuantiles:
    case Family::kSynthesis:
      return rho_of_quantiles(quantiles_query_of(parameters));
    case Family::kIqr:
      return rho_of_quartile_difference(parameters->guarantee);
    case Family::kCdf:
      return cdf_cost(parameters);
    default:
      return rho_of_pure(parameters->guarantee);
  }
}

}  // namespace

std::optional<double> zcdp_cost(const AggregateParameters* parameters) {
  if (parameters->delta > 0) return std::nullopt;
  if (parameters->measure == PrivacyMeasure::kZcdp) return parameters->guarantee;
  double rho = 0;
  // For a very large epsilon, pure privacy is the better bound of any.
  report(guarded(
      [&] { rho = std::min(mechanism_cost(parameters), rho_of_pure(parameters->guarantee)); }));
  return rho;
}

}  // namespace dpquantile
