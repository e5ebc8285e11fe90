#include "pg/parameters/zcdp_cost.hpp"

#include <algorithm>

#include "core/cdf/cdf.hpp"
#include "core/iqr/iqr_by_quantiles.hpp"
#include "core/privacy/zcdp.hpp"
#include "core/quantiles/quantiles.hpp"
#include "core/quantiles/tree_quantiles.hpp"
#include "pg/parameters/cdf_plan_cache.hpp"
#include "pg/server/boundary.hpp"

namespace dpquantile {

namespace {

double quantiles_cost(const QuantilesQuery& query) {
  if (resolved_method(query) != QuantilesMethod::kTree) return rho_of_quantiles(query);
  const std::uint32_t leaves = tree_quantiles_leaves(query.cells, query.privacy.measure);
  return rho_of_cdf(session_cdf_plan(CdfMethod::kTree, leaves, query.privacy));
}

double cdf_cost(const AggregateParameters* parameters) {
  return rho_of_cdf(session_cdf_plan(static_cast<CdfMethod>(parameters->method), parameters->bins,
                                     privacy_of(parameters)));
}

// What is known for the family's own mechanism.
double mechanism_cost(const AggregateParameters* parameters) {
  switch (parameters->family) {
    case Family::kQuantiles:
    case Family::kSynthesis:
      return quantiles_cost(quantiles_query_of(parameters));
    case Family::kIqr:
      return rho_of_iqr_by_quantiles(parameters->guarantee);
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
