#include "pg/zcdp_cost.hpp"

#include <algorithm>
#include <array>

#include "core/cdf.hpp"
#include "core/quantiles.hpp"
#include "core/zcdp.hpp"
#include "pg/boundary.hpp"

namespace dpquantile {

namespace {

// What the parts add up to may be rounded down, by less than this.
constexpr double kRounding = 1 + 0x1p-44;

// Every draw is bounded-range (Theorem Z5), and all together are private for epsilon, which is less
// for very large ones.
double quantiles_cost(const QuantilesQuery& query) {
  return std::min(rho_of_quantiles(query) * kRounding, rho_of_pure(query.privacy.value));
}

// The two quartiles that an interquartile range is the difference of.
double quartiles_cost(const AggregateParameters* parameters) {
  static constexpr std::array<double, 2> kQuartiles{0.25, 0.75};
  return quantiles_cost(
      {QuantilesMethod::kApproximate, privacy_of(parameters), parameters->grid.cells, kQuartiles});
}

// Choosing the tree takes as long as a charge, so the last one is kept for queries that run again.
double cdf_cost(const AggregateParameters* parameters) {
  static CdfLaw law{};
  const auto method = static_cast<CdfMethod>(parameters->method);
  const PrivacyParameter privacy = privacy_of(parameters);
  if (law.method != method || law.bins != parameters->bins || law.privacy != privacy) {
    law = choose_cdf_law(method, parameters->bins, privacy);
  }
  return rho_of_cdf(law) * kRounding;
}

double cost(const AggregateParameters* parameters) {
  switch (parameters->family) {
    case Family::kQuantiles:
    case Family::kSynthesis:
      return quantiles_cost(quantiles_query_of(parameters));
    case Family::kIqr:
      return quartiles_cost(parameters);
    case Family::kCdf:
      return cdf_cost(parameters);
    default:
      return rho_of_pure(parameters->budget);
  }
}

}  // namespace

std::optional<double> zcdp_cost(const AggregateParameters* parameters) {
  if (parameters->delta > 0) return std::nullopt;
  if (parameters->measure == PrivacyMeasure::kZcdp) return parameters->budget;
  double rho = 0;
  report(guarded([&] { rho = cost(parameters); }));
  return rho;
}

}  // namespace dpquantile
